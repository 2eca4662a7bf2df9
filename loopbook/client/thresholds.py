"""The numbers that decide which recipe a nest gets, and where each value was seen.

Those without such a place were chosen, and not varied one by one: all that is known of them is how
they do together, which `loopbook evaluate` measures (``benchmarks/results/evaluate*.md``).
"""

from __future__ import annotations

# -- looking -----------------------------------------------------------------------------------

MAX_DISTANCE = 1.4
"""Nests of which the nearest neighbour is farther than this are left to docc, if no cost model
decides. Vectors have length 1, so at 1.41 they have nothing in common: geometry, not measured."""

LOOKED_AT = 24
"""Neighbours whose recipes are thought about. Chosen."""

RARE_ONES = 8
"""Farther neighbours looked at for recipes of rare rules. Chosen."""

RENAMED = 8
"""Neighbours whose recipes are renamed. Chosen."""

REFITTED = 2
"""Rules that are refitted to a neighbour's parameters. Chosen."""

REMEMBERED = 512
"""Nests of which the candidates are kept, and recipes of which it is kept what is legal. Chosen."""

TRIED = {False: 4, True: 5}
"""Whether a target is for several threads, to the ports that are tried for each choice wanted. See
`HOPE`."""

HOPE = {False: 2**0.2, True: 2.0}
"""Whether a target is for several threads, to how many times as good as it promises what has not
been tried is taken for: before the tree after it is known, promises are cautious, and tell least of
who runs what. With several threads 5 and 2.0 served 68 % of what there was to gain, 4 and 2**0.2
66 %, of tuners' candidates on nests of synthetic families that the forests had not seen. They were
chosen by these same nests among many settings, the difference is within what families vary by, and
planning takes a third longer (docs/evaluation.md). For one thread no table is kept."""

WAYS = 3
"""Other ways to share among threads what is about to be served. Of 486 recipes that were measured
with several, on the same nests, the way that promises most gains 3.3 times, one of them as good as
another 2.5 times, the best 3.7 times; among all that is tried it changed nothing there."""

FIT_SECONDS = 2.0
"""Processor time that a recipe may take: what else the machine does changes no plan. Most are found
legal or not within milliseconds, but of nests that are deep and have many statements there may be a
great many dependences. ``benchmarks/planning.py`` times this."""

TRYING_SECONDS = 5.0
"""How long recipes are tried on the nests of a large program; those that come later get none.
Chosen, for first calls (``benchmarks/first_calls.py``)."""

# -- what neighbours say (`loopbook.client.ports`, `loopbook.client.evidence`) -------------------

WIDTH = 0.35
"""Of the weights: a neighbour this much farther than the nearest (in the root of the difference of
squares) counts 1/e of it. This and `OTHER_RULES` are those of some tried that tell best what
recipes of synthetic nests gained on others; no table of that is kept."""

OTHER_RULES = 0.7
"""How much farther away a neighbour is for which none of the same rules applies. See `WIDTH`."""

CLOSER = 0.7
"""Neighbours that fit the same rare rule are nearer than they seem to the encoder. Chosen."""

NEGLIGIBLE = 1e-3
"""Weight of a neighbour that is not asked any more. Chosen."""

THOROUGH = 64
"""Candidates that must have been measured in vain before a neighbour speaks against recipes with
all its weight. Chosen."""

UNLIKE = 0.3
"""Recipes are this much alike by chance. Chosen."""

OTHER_BUILD = 0.4
"""How much of a renamed recipe is left where loops are nested in another way: those that have no
partner stay as they are. Chosen."""

STRIDED = 0.5
"""Recipes that only reorder loops gain by making strided accesses contiguous. A neighbour speaks
for them only if the nest strides through memory at least this much as often as its own does.
Chosen."""

SAME_FORM = 1e-3
"""Vectors that are no farther apart are of one canonical form. Of nests of the starter
book the shipped encoder makes what the book has within 3e-7 (32 of them looked at)."""

# -- what is worth it ---------------------------------------------------------------------------

WORTH_PORTING = 1.1
"""A neighbour that gained less than this is not worth the risk that its recipe does not suit.
Chosen."""

WORTH_TRYING = 1.2
"""A port that promises less than this is not worth that risk either. Chosen."""

SURE = 1.0
"""What a port promises, times what it reaches for sure, has to be this much: where one of them is
a loss, it is no greater than the other one's gain. With what is reached for sure alone, which it
was before, recipes that few nests have were declined where they gain much (cholesky without its own
records, 7 times; `loopbook evaluate` with the cost model of 2026-11-25)."""

WORTH_MEASURING = 0.8
"""Where it is measured before it is used, there is no risk; but measuring takes its time.
Chosen."""

WORTH_USING = 1.02
"""A record of the very nest is used from this speedup on: below, it is noise. Chosen; trisolv's
47 µs came out at 0.99 to 1.02 times docc's in four runs (docs/evaluation.md)."""

WORTH_BELIEVING = 1.2
"""A record from this machine is used for code of our own compile from this speedup on. A search
measures docc's code, which lacks some of what is done to ours last: an upwind scheme takes 1.65 ms
as docc compiles it, 1.46 with the recipe found, and 0.07 without in our own, 1.30 with it (AVX-512,
2026-11-28)."""

LEAST_SHARE = 0.05
"""Of a nest's iterations: what stands inside and runs fewer is not looked up by itself. Chosen."""

CLEARLY_MORE = 1.5
"""Times what a recipe for all of a nest promises that one for a nest inside of it has to: of the
heads of an attention, a record at other sizes promised 1.4 times as much and took twice as long
(AVX-512, 2026-11-27)."""

NEAR_REGION = 0.5
"""Distance up to which a region gets another one's recipe. Chosen: the same chain over other arrays
(0.0 to 0.43) is nearer, others of as many loops are 0.49 and more away (generated programs)."""

REGION_GAINS = {"exact": 1.05, "near": 1.2}
"""Times what the nests of a region promise one by one that its recipe has to, where it was measured
for this very region, and for one like it. Chosen."""

KEEP = 1.02
"""A choice that is measured has to be this many times faster than what it replaces. As
`WORTH_USING`."""

TRIES = 3
"""Choices of every nest that are measured. Chosen; tables of evaluations say what 5 give."""

VARIETY = 0.5
"""How much being like a recipe that is to be measured anyway counts against one, in logarithms of
speedups: one that promises e^0.5 times less, but does something else, is measured rather.
Chosen."""

WORTH_WAKING = 100_000
"""Iterations of a loop, those of loops inside counted, from which on threads are woken for it. A
sum down the columns of 3,000 by 3,000 takes 1.6 ms with one thread, and 7 where two are woken for
each 24,000 of them (AVX-512, 2026-11-27)."""

ASKED_TO_SHARE = 8
"""Loops of a nest that are asked for at most whether threads may share them. Chosen."""

UNTOLD_TRIP, REMAINDER = 1000, 16
"""Iterations of a loop of which nothing is known, and of one over what strips leave. Chosen: who
does not tell sizes has most likely large ones."""

# -- without the book ---------------------------------------------------------------------------

LEAST_PRODUCT = 8**3
"""Multiplications in a call of BLAS below which nothing is known to be gained. Of loops over 16 by
17 by 19 it takes as long as the book's recipe, of 32 by 33 by 35 1.2 times less, of larger ones 1.3
to 2.8 times less (OpenBLAS 0.3.21, AVX2, 2026-11-26)."""

LEAST_TILED = 32**3
"""The same of products of whole numbers, for tiles in registers. At 400 by 300 by 350, int32 and
int64, a ported recipe took 13.5 ms, loops along memory 2.1 and 4.4, such tiles 0.4 and 0.9
(AVX-512, 2026-11-28)."""

LEAST_PARTS, SURE_PARTS = 64**3, 200**3
"""The same where a nest is cut into parts, of which some are calls; and where these gain more than
recipes that were tuned for the very nest. At 220 rows a covariance takes 0.68 ms instead of 0.45, a
product with a triangle 0.58 instead of 0.68; at 1,000 rows 39 instead of 96 and 44 instead of 42.
Without such a recipe, at 100 rows and at 1,000: a triangular system with as many right-hand sides
0.30 to 0.07 ms and 542 to 38, a product with a triangle from outside of the book 0.11 to 0.06 and
92 to 36 (OpenBLAS 0.3.21, AVX2, 2026-11-26)."""

LEAST_MATRIX = 64**2
"""Elements of a matrix below which its products with vectors stay with what the book has. Chosen:
at 120 by 120 it makes no difference, beside what a call takes (AVX-512, 2026-11-26)."""

SWEEP = 2
"""Loops of a nest, up to which it is a sweep through memory: of such the order along memory is
believed rather than a search that found nothing. Centring the rows of 1,400 by 1,200 takes 2.5 ms
in docc's order, which the starter book's record has, and 1.0 along memory (AVX2, 2026-11-26)."""

FEWER_LINES = 2.0
"""So many times fewer cache lines an order has to touch to be worth an interchange. Chosen."""

COLUMNS = 16
"""Of a grid, that are gone along at the same time. NumPy's ADI of 200 by 200 takes 4.5 ms with 16
and with 32, 5.4 with 8, 5.9 with 4 and 10.4 with one (docc's order: 7.4 to 9.2); vertical advection
about the same with one, 8 and 16, and longer with 4 and 32 (AVX2, 2026-11-26)."""

TAKEN_APART = 2.0
"""What a neighbour's recipe has to promise to be preferred to an order that takes loops apart. Seen
at NPBench's programs, where symm's neighbour promises 1.6, and such an order gains 2.7 times; all
other such promises are over 3, and are kept (AVX2, 2026-11-26)."""

SHORTEST_INNERMOST = 8
"""Iterations below which a loop is no innermost one for the sake of its strides, where their number
is fixed: what is compiled for a first call serves others of other sizes. Chosen."""

ENOUGH_RECURRENCES = 8
"""Recurrences that a loop runs at the same time are enough to keep a processor busy: sinking loops
into it, so that several are run, would only take registers away. Chosen."""

ALIKE = 0.01
"""Distance below which a nest differs from a record's in nothing that matters to its recipe:
whether loops that add up in order are called sums, say. Chosen; other nests are 0.3 and more
away."""

SUM_ACROSS = 8.0
"""How many times as long a nest takes, with docc's own schedule, whose sums across memory are in
memory and not in scalars. On AVX2, lu of 220 rows took about 10 times as long."""

SUM_IN_ROWS = {True: 24.0, False: 12.0}
"""Whether a nest's rows stay in the core's own caches, to the same for sums along memory, which are
vectors' work in scalars. On AVX2, cholesky of 300 rows took about 26 times as long, of 600 rows 13,
of 1200 rows 9 and of 2000 rows 5 times."""
