"""Training: it learns, it is repeatable, it survives being stopped."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from loopbook.embed import weights
from loopbook.embed.corpus import Document, collect
from loopbook.embed.inference import Encoder

from . import kit

if TYPE_CHECKING:  # what imports torch is imported where it is used: see `heavy` in conftest.py
    import torch

    from loopbook.embed.train import Progress, TrainingReport

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
]


class Stopped(Exception):
    pass


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return kit.documents(classes=12)


@pytest.fixture(scope="module")
def few() -> list[Document]:
    """Enough for trainings of which only one thing is asked: most of their time is in graphs."""
    return kit.documents(classes=7)


def run(out: Path, documents: list[Document], **changes: Any) -> TrainingReport:
    from loopbook.embed.train import train

    settings: dict[str, Any] = {"epochs": 3, "views": 2, "steps": 4, "batch": 12, "rate": 3e-3}
    return train(out, documents=documents, **{**settings, **changes})


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, documents: list[Document]) -> TrainingReport:
    return run(tmp_path_factory.mktemp("train") / "weights.npz", documents)


def test_the_loss_falls(finished: TrainingReport) -> None:
    assert len(finished.losses) == 3
    assert finished.losses[-1] < 0.9 * finished.losses[0]


def test_the_result_is_a_working_encoder_with_its_history(finished: TrainingReport) -> None:
    encoder = Encoder.load(finished.path)
    assert encoder.version == finished.version
    metadata = encoder.metadata
    assert metadata["losses"] == [round(loss, 4) for loss in finished.losses]
    assert metadata["seed"] == 0
    assert metadata["nests"] == finished.nests > finished.classes
    assert "epochs=3" in metadata["command"]
    assert metadata["held_out"]["queries"] == finished.quality.queries > 0
    assert 0.0 <= finished.quality.top1 <= finished.quality.family1 <= 1.0


def test_a_stopped_training_goes_on_and_ends_the_same(
    tmp_path: Path, documents: list[Document], finished: TrainingReport
) -> None:
    def stop(progress: Progress) -> None:
        if progress.done == 2:
            raise Stopped

    with pytest.raises(Stopped):
        run(tmp_path / "weights.npz", documents, progress=stop)
    assert not (tmp_path / "weights.npz").exists()
    seen: list[Progress] = []
    resumed = run(tmp_path / "weights.npz", documents, progress=seen.append)
    assert [(p.stage, p.done, p.total) for p in seen] == [("training", 3, 3)]
    assert resumed.losses == pytest.approx(finished.losses, rel=1e-4)
    a, b = weights.load(resumed.path).arrays, weights.load(finished.path).arrays
    for name in a:
        np.testing.assert_allclose(a[name], b[name], atol=2e-3)


@pytest.mark.parametrize("left_over", [b"", b"no checkpoint"])
def test_a_damaged_checkpoint_means_starting_again(
    tmp_path: Path, few: list[Document], left_over: bytes
) -> None:
    (tmp_path / "weights.npz.checkpoint").write_bytes(left_over)
    report = run(tmp_path / "weights.npz", few, epochs=1, steps=1)
    assert len(report.losses) == 1


def test_other_settings_do_not_take_the_checkpoint_over(
    tmp_path: Path, few: list[Document]
) -> None:
    out = tmp_path / "weights.npz"
    first = run(out, few, epochs=1, steps=1)
    second = run(out, few, epochs=1, steps=1, seed=1)
    assert first.version != second.version


def test_traced_kernels_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopbook.embed.corpus.polybench_documents", lambda: iter(()))
    path, done = tmp_path / "nests.gz", []
    first = collect(path, 0, 3, 1, done.append)
    assert done == [1, 2, 3]
    assert collect(path, 0, 3, 1, done.append) == first
    assert done == [1, 2, 3], "nothing may be traced again"
    path.write_bytes(path.read_bytes()[:-20])
    again = collect(path, 0, 3, 1, done.append)
    assert len(done) == 6
    assert [d.label for d in again] == [d.label for d in first]


def unit(rows: list[list[float]]) -> torch.Tensor:
    import torch

    return torch.nn.functional.normalize(torch.tensor(rows))


def test_nest_loss_prefers_the_own_class_then_the_family() -> None:
    import torch

    from loopbook.embed.losses import nest_loss

    family, shape = torch.tensor([0, 0, 1]), torch.tensor([0, 1, 2])
    a = unit([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
    own = nest_loss(a, a, family, shape)
    relative = nest_loss(a, a[[1, 0, 2]], family, shape)
    stranger = nest_loss(a, a[[2, 1, 0]], family, shape)
    assert own < relative
    assert nest_loss(a[:1], a[:1], family[:1], shape[:1]) < stranger


def test_matching_loss_counts_only_where_there_is_a_choice() -> None:
    import torch

    from loopbook.embed.losses import matching_loss

    a = unit([[1.0, 0], [0, 1.0], [1.0, 1.0]])
    parts, owners = torch.tensor([1, 2, 3]), torch.tensor([0, 0, 1])
    family = torch.tensor([0, 1])
    right = matching_loss(a, a, (parts, parts), (owners, owners), family)
    wrong = matching_loss(a, a[[1, 0, 2]], (parts, parts), (owners, owners), family)
    alone = matching_loss(a[2:], a[2:], (parts[2:], parts[2:]), (owners[2:], owners[2:]), family)
    assert right < 0.01 < wrong
    assert alone == 0.0
