"""The program tree: a whole program as typed, immutable data, between docc's front end and its code
generator.

`load.load_json` takes docc's JSON out of text, `read.read` makes a tree of it and `write.write`
makes JSON of a tree; what is read and written again is what it was. Everything in between works on
the tree:

=============  =======================================================================
`tree`         the nodes: `Program`, `Loop`, `While`, `Branch`, `Sequence`, `Jump`…
`dataflow`     the leaves that compute: `Statement`, `LibraryCall`, `Allocation`…
`types`        what containers are made of
`extent_names` docc's names for the extents of arrays
`expr`         index expressions, bounds and conditions
`bounds`       what a loop's header says: where it begins, ends, and its step
`walk`         going through a tree, and putting something else in a place of it
`accesses`     what a node reads, writes and names
`signed`       loops that count in signed numbers; `canonical_order`: of statements;
               `memory_order`: of loads and stores in a block
`rename`       other names for loop variables, containers and symbols
`redirect`     dataflow on other elements; `copies`: blocks that only copy
`nests`        outermost loops numbered through, with canonical names (see `nest.Nest`);
               `canonical_form`: what they do, whoever wrote them
`trips`        how often loops run
=============  =======================================================================

Nodes are frozen dataclasses: a changed program is made with `dataclasses.replace` or
`walk.replaced`, and shares all that is not changed with the old one. Nothing here knows docc
itself, nor anything of loopbook but its errors.
"""
