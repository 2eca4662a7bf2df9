"""A program of array operations in the form that loops would have been written in.

What docc's front end makes of NumPy is a chain of small nests that hand temporaries to each other:
one for each operation, with memory allocated where Python would. The same program written as loops
has none of that. `normal_form` brings the first one near the second one, each change legal by what
`loopbook.dependence` says of the order:

::

    local        sizes of what is made for a call are told by sizes of other arguments
    views        pointers into arrays are indices of these arrays
    products     products with a vector, or of two, are loops, not a `gemm` of one column
    dead         what nobody reads is not stored
    inlining     a cheap temporary is computed where it is used
    snapshots    rows that are overwritten before they are read are copied, not whole arrays
    reuse        a temporary is written where its values end up, or are copied to
    sinking      a scalar that one loop alone reads is computed in it
    allocations  what remains is allocated once, not in loops, and freed
    singles      what is summed up of floats of 32 bits is one

Nothing but what the program has made for itself changes, apart from stores that come to nothing:
arrays that are allocated in it, or for one call of it (`loopbook.program.local`: what our own
front end makes of NumPy). For what the book has nothing for, two more forms follow the look-up:
`loopbook.normal_form.rolling` makes one sweep of several and keeps a few rows of what they hand
over, and `loopbook.normal_form.rows` makes one loop for neighbours over the same rows (of PyTorch's
graphs).
"""

from loopbook.normal_form.passes import normal_form

__all__ = ["normal_form"]
