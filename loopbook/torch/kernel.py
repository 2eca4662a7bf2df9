"""A compiled graph, called with tensors: addresses in, new tensors out, nothing copied."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from loopbook.errors import RunError, SdfgError
from loopbook.sdfg.from_torch import Translated
from loopbook.toolchain import blas
from loopbook.toolchain.memory import RELEASE


class Kernel:
    """The library of a translated graph.

    Args:
        inputs: tensors like those that it will be called with. Those that do not lie in C order
            are copied to it at each call.
        outputs: what the graph returns for them. Its own will lie in memory in the same way.
        threads: see `loopbook.torch.options.Options`.

    Raises:
        SdfgError: if the library gives other outputs.
        RunError: if it cannot be loaded.
    """

    def __init__(
        self,
        translated: Translated,
        library: Path,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        threads: int | None = None,
    ) -> None:
        shapes = tuple(tuple(output.shape) for output in outputs)
        if shapes != translated.shapes:
            raise SdfgError(f"docc-ai gives outputs of shapes {translated.shapes}, not {shapes}")
        try:
            self._library = blas.program(library)
            function = getattr(self._library, translated.name)
        except (OSError, AttributeError) as error:
            raise RunError(f"cannot load the compiled graph: {error}") from None
        function.argtypes = [ctypes.c_void_p] * (len(inputs) + len(outputs))
        function.restype = None
        self._function = function
        self._release = getattr(self._library, RELEASE, None)
        self._set_threads = None
        if threads is not None:
            with contextlib.suppress(AttributeError):
                self._set_threads = self._library.omp_set_num_threads
        self._threads = threads
        self._foreign = [n for n, tensor in enumerate(inputs) if not tensor.is_contiguous()]
        self._made = [(tuple(output.shape), output.dtype) for output in outputs]
        self._strides = [None if output.is_contiguous() else output.stride() for output in outputs]
        self._plain = not any(self._strides)

    def __call__(self, *inputs: Tensor) -> list[Tensor]:
        """What the graph returns for tensors like those that it was made with."""
        given: Sequence[Tensor] = inputs
        if self._foreign:
            given = list(inputs)
            for place in self._foreign:
                given[place] = inputs[place].contiguous()
        outputs = [torch.empty(shape, dtype=dtype) for shape, dtype in self._made]
        if self._set_threads is not None:
            self._set_threads(self._threads)
        self._function(*[t.data_ptr() for t in given], *[t.data_ptr() for t in outputs])
        if self._release is not None:
            self._release()
        return outputs if self._plain else self._laid_out(outputs)

    def _laid_out(self, outputs: Sequence[Tensor]) -> list[Tensor]:
        """As eager lays them out."""
        laid = []
        for output, strides in zip(outputs, self._strides, strict=True):
            if strides is None:
                laid.append(output)
            else:
                room = torch.empty_strided(output.shape, strides, dtype=output.dtype)
                laid.append(room.copy_(output))
        return laid
