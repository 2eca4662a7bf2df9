"""Every error that loopbook raises on purpose.

::

    LoopbookError
    ├── InputError           what was given cannot be used
    │   ├── SdfgError        the text or object is no usable SDFG
    │   │   └── MistranslationError  docc would make another program of this function
    │   ├── WorkloadError    the workload file is missing, broken or incomplete
    │   ├── LoweringError    a Python function that cannot be turned into loops
    │   └── RecipeError      the recipe's text or JSON is malformed
    ├── IllegalStepError     a step does not fit this nest, or docc refuses it
    ├── CompilerError        no usable C++ compiler, or it ends without a library
    │   └── GeneratedCodeError   it refuses the generated code
    ├── FolderError          a folder for what we build is not ours alone, or cannot be written
    ├── JailError            strangers' code would need a jail, and there can be none here
    ├── FarmError            a farm's cluster cannot be started or reached
    ├── RunError             a child process failed
    │   ├── KernelError      the kernel raised or crashed
    │   ├── DeadlineError    it did not end in time
    │   ├── MemoryLimitError it wanted more memory than it may have
    │   └── WrongResultError its numbers differ from the unoptimised program's
    ├── BookError            the book cannot be opened, read or written
    │   └── UnavailableError its database does not answer now, and may later
    ├── CorpusError          the corpus of measured candidates cannot be read or written
    ├── EncoderError         the encoder's weights are missing or do not fit
    ├── OverloadError        our server has more to do than it can
    │   └── ShareError       one caller asks for more than his share of it
    └── RemoteError          a server did not give what was asked for
        ├── OfflineError     it cannot be reached, or does not answer in time
        └── AccessError      it wants a token, another one, or one that may do more

Messages are one line: what is wrong and what to do about it. The command line prints that line and
exits with code 2.
"""

from __future__ import annotations


class LoopbookError(Exception):
    """Root of all errors that loopbook raises on purpose."""


class InputError(LoopbookError):
    """What was given cannot be used."""


class SdfgError(InputError):
    """The text or object is no usable SDFG."""


class MistranslationError(SdfgError):
    """docc would make a program of this function that computes something else."""


class WorkloadError(InputError):
    """The workload file is missing, broken or incomplete."""


class LoweringError(InputError):
    """A Python function holds what cannot be turned into loops.

    Attributes:
        what: the construct, and what to write instead, without the place.
        line: line of the file, 0 if it is not known.
        file: the file that the function is in, if it is known.
        statement: line of the statement of the function at hand, which may have called another one;
            0 if it is not known.
    """

    statement = 0

    def __init__(self, what: str, line: int = 0, file: str = "") -> None:
        super().__init__(f"{file}:{line}: {what}" if file else what)
        self.what, self.line, self.file = what, line, file

    def __reduce__(self) -> tuple[type[LoweringError], tuple[str, int, str]]:
        return type(self), (self.what, self.line, self.file)


class RecipeError(InputError):
    """The recipe's text or JSON is malformed."""


class IllegalStepError(LoopbookError):
    """A step does not fit this nest, or docc refuses it.

    Attributes:
        position: index of the step in its recipe, counted from 0.
    """

    def __init__(self, message: str, position: int = 0) -> None:
        super().__init__(message)
        self.position = position

    def __reduce__(self) -> tuple[type[IllegalStepError], tuple[str, int]]:
        return type(self), (str(self), self.position)


class DependenceError(IllegalStepError):
    """A step may turn a dependence between two statements round."""


class CompilerError(LoopbookError):
    """No usable C++ compiler, or it ends without a library."""


class GeneratedCodeError(CompilerError):
    """The compiler refuses the generated code: a fault of the code, not of the machine."""


class FolderError(LoopbookError):
    """A folder for what we build is not ours alone, or cannot be written."""


class JailError(LoopbookError):
    """Strangers' code would need a jail, and there can be none here."""


class FarmError(LoopbookError):
    """A farm's cluster cannot be started or reached, or is not what its labels say."""


class RunError(LoopbookError):
    """A child process failed."""


class KernelError(RunError):
    """The kernel raised or crashed."""


class DeadlineError(RunError):
    """It did not end in time."""


class MemoryLimitError(RunError):
    """It wanted more memory than it may have."""


class WrongResultError(RunError):
    """Its numbers differ from the unoptimised program's."""


class BookError(LoopbookError):
    """The book cannot be opened, read or written."""


class UnavailableError(BookError):
    """The book's database does not answer now, and may later."""


class CorpusError(LoopbookError):
    """The corpus of measured candidates cannot be read or written."""


class EncoderError(LoopbookError):
    """The encoder's weights are missing or do not fit."""


class OverloadError(LoopbookError):
    """Our server has more to do than it can."""


class ShareError(OverloadError):
    """One caller asks for more than his share of our server."""


class RemoteError(LoopbookError):
    """A server did not give what was asked for."""


class OfflineError(RemoteError):
    """The server cannot be reached, or does not answer in time."""


class AccessError(RemoteError):
    """The server wants a token, another one, or one that may do more."""


class InterpretedWarning(UserWarning):
    """A function that was to be compiled runs as plain Python, and why."""


class EagerWarning(InterpretedWarning):
    """A graph of PyTorch that was to be compiled runs as eager, and why."""


def kinds(*roots: type[LoopbookError]) -> dict[str, type[LoopbookError]]:
    """These errors and all below them, by their names."""
    found = {one.__name__: one for one in roots}
    for one in roots:
        found |= kinds(*one.__subclasses__())
    return found
