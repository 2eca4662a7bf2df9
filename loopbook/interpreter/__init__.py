"""Program trees run without a compiler: on numbers, to see whether a program is right and its
result defined, and on intervals, to see how far it reaches.

::

    Interpreted     a program that can be run: on exact numbers (Modular) or on C's (Floating)
"""

from loopbook.interpreter.faults import FaultError, NotInterpretedError, TooLongError
from loopbook.interpreter.floating import Floating
from loopbook.interpreter.modular import MODULUS, ROUNDED, Modular
from loopbook.interpreter.writer import Interpreted

__all__ = [
    "MODULUS",
    "ROUNDED",
    "FaultError",
    "Floating",
    "Interpreted",
    "Modular",
    "NotInterpretedError",
    "TooLongError",
]
