"""The only code that imports docc: parse, prepare, apply, build, run."""

from loopbook.toolchain import traces

traces.shorten()  # before anything imports docc
