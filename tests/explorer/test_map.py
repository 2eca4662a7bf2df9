"""Vectors to places: near stays near, and what comes later moves nothing."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.explorer import projection
from loopbook.explorer.clusters import clusters
from loopbook.explorer.layout import Layouts


def crowds(count: int = 40, number: int = 3) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Names, vectors, and to which of some crowds, far from each other, they belong."""
    random = np.random.default_rng(0)
    centres = np.eye(8)[:number]
    group = np.repeat(np.arange(number), count)
    vectors = centres[group] + random.normal(0, 0.02, (len(group), 8))
    names = [f"{place:032x}" for place in range(len(group))]
    return names, vectors.astype(np.float32), group


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "loopbook" / "maps"


def source(names, vectors):
    """As `Catalogue.vectors`, and what it was asked for."""
    asked = []

    def of(wanted):
        asked.append(wanted)
        rows = [r for r, name in enumerate(names) if wanted is None or name in set(wanted)]
        return [names[row] for row in rows], vectors[rows]

    return of, asked


@pytest.mark.parametrize("method", [projection.PCA, projection.TSNE])
def test_crowds_stay_crowds(method):
    if method == projection.TSNE:
        pytest.importorskip("openTSNE")
    _, vectors, group = crowds()
    places = projection.project(vectors, method)
    assert places.shape == (len(vectors), 2)
    assert np.abs(places).max() == pytest.approx(1.0)
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
    same = group[:, None] == group[None]
    np.fill_diagonal(gaps, np.inf)
    assert (same[np.arange(len(gaps)), gaps.argmin(axis=1)]).all()
    assert np.array_equal(places, projection.project(vectors, method)), "always the same"


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_vectors_have_places_too(count):
    vectors = np.ones((count, 5), np.float32)
    assert projection.project(vectors, projection.TSNE).shape == (count, 2)


def test_a_known_vector_is_placed_where_it_lies():
    _, vectors, _ = crowds()
    places = projection.project(vectors, projection.PCA)
    found = projection.placed(vectors[:5], vectors, places)
    assert found == pytest.approx(places[:5], abs=1e-3)


def test_what_was_projected_is_kept_and_later_nests_move_nothing(kept):
    names, vectors, _ = crowds()
    of, asked = source(names, vectors)
    first = Layouts(["book"], "gnn", patient=True, method="pca").of(
        names[:-5], source(names[:-5], vectors[:-5])[0]
    )
    before = first.places_of(names[:-5])
    again = Layouts(["book"], "gnn", patient=True, method="pca").of(names, of)
    assert asked == [sorted(names[-5:])], "only the new ones are read"
    assert np.array_equal(again.places_of(names[:-5]), before)
    assert not np.isnan(again.places_of(names)).any()
    assert np.isnan(again.places_of(["nobody"])).all()


def test_a_map_that_was_outgrown_is_made_anew(kept):
    names, vectors, _ = crowds(count=100)
    few = Layouts(["book"], "gnn", patient=True, method="pca")
    few.of(names[:70], source(names[:70], vectors[:70])[0])
    of, asked = source(names, vectors)
    few.of(names, of)
    assert asked == [None]


def test_a_damaged_file_is_made_anew(kept):
    names, vectors, _ = crowds()
    Layouts(["book"], "gnn", patient=True, method="pca").of(names, source(names, vectors)[0])
    (path,) = kept.glob("*.npz")
    path.write_bytes(path.read_bytes()[:100])
    found = Layouts(["book"], "gnn", patient=True, method="pca").of(
        names, source(names, vectors)[0]
    )
    assert not np.isnan(found.places_of(names)).any()


def test_the_principal_axes_are_served_until_there_is_better(kept):
    pytest.importorskip("openTSNE")
    names, vectors, _ = crowds(count=100)
    layouts = Layouts(["book"], "gnn")
    of, _ = source(names, vectors)
    assert layouts.of(names, of).method == projection.PCA
    maker = layouts._maker
    assert maker is not None
    maker.join()
    assert layouts.of(names, of).method == projection.TSNE
    assert Layouts(["book"], "gnn").of(names, of).method == projection.TSNE, "it is kept"


def test_crowds_are_named_after_what_most_of_them_is():
    _, vectors, group = crowds()
    places = projection.project(vectors, projection.PCA)
    found = clusters(places, group, ["sums", "stencils", "products"])
    assert {one.name for one in found} == {"sums", "stencils", "products"}
    assert sum(one.size for one in found) <= len(places)
    assert clusters(np.zeros((0, 2)), np.zeros(0, int), []) == []
