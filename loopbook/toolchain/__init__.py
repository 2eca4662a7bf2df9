"""Compilers and processes: clang and its linker, children with limits, jails; running what was
compiled, and timing it. Nothing here imports docc, nor knows what is compiled.

::

    compiler, clang, linking    the compiler, and what it links
    batch, built                many programs in one compile; what came of one
    sandbox, worker, jail       children: with limits, that stay, that reach nothing
    run                         numbers and times of a library, checked
    runner, batch_runner        candidates in turn with a reference: one by one, or many
    interleaved                 programs that differ in more than their code, in turn
    timers, times               seconds of nests, and how often to measure
    scratch, stderr, traces     folders, and what others print
"""
