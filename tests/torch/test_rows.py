"""Graphs of PyTorch with one loop over their rows give eager's numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopbook.sdfg import program
from loopbook.sdfg.build import build_tuned
from loopbook.sdfg.from_torch import translate
from loopbook.sdfg.rows import with_rows

pytestmark = [pytest.mark.heavy, pytest.mark.usefixtures("docc_ai")]


@pytest.mark.parametrize("shape", [(6, 64), (2, 3, 96)])
@pytest.mark.parametrize("kind", ["softmax", "layer_norm"])
def test_rows_of_a_graph_are_right(torch, kind: str, shape: tuple[int, ...], tmp_path: Path):
    from loopbook.torch.check import compare
    from loopbook.torch.form import TensorGraph, rewritten
    from loopbook.torch.kernel import Kernel

    operations = {
        "softmax": lambda a: torch.softmax(a * 3.0, -1),
        "layer_norm": lambda a: torch.layer_norm(a, shape[-1:]),
    }
    form = TensorGraph.of(torch.fx.symbolic_trace(operations[kind]))
    inputs = [torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)))]
    translated = translate(rewritten(form.module, inputs), inputs, "graph")
    text, _ = program.prepare_apart(translated.text)
    built = build_tuned(with_rows(text), "sequential", {}, tmp_path, vector_maths=True, arena=True)
    want = form.module(*inputs)
    run = Kernel(translated, built.library, inputs, want)
    for _ in range(2):  # the second call finds what the first one has left in its memory
        compare(run(*inputs)[0], want[0], kind)
