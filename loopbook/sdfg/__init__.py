"""The only code that imports docc: parse, prepare, schedule, build, bind."""

from loopbook.toolchain import traces

traces.shorten()  # before anything imports docc
