"""Makes a book fit for a machine that nobody has tuned on, within minutes.

What a book knows was measured on other machines. `loopbook.farm.adopt.worklist` says of which nests
that is so and how much hangs on it, `loopbook.farm.adopt.gains` what is expected, and
`loopbook.farm.adopt.adoption` takes them one by one, by what measuring is worth a second: a few
promising recipes are compared (`loopbook.farm.adopt.comparison`), and where all of them fall short
of what was expected, others are searched for (`loopbook.farm.order`).

What was done is what is in the book, besides a journal of what failed: it can be stopped at any
time, and goes on.
"""
