"""The encoder without torch: right, near what is alike, and clear about damage."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from loopbook.client.places import STARTER
from loopbook.embed import variants, weights
from loopbook.embed.corpus import trace_kernels
from loopbook.embed.graph import FEATURES, RELATIONS, heard, nest_graph, side_by_side
from loopbook.embed.inference import Encoder
from loopbook.embed.kernels import Kernel, kernels
from loopbook.errors import EncoderError
from loopbook.program.nest import Nest
from loopbook.program.nests import nests, read_nests
from loopbook.program.read import read
from loopbook.recipes import Book
from loopbook.workloads import polybench

from . import kit
from .kit import kernel_of


def product(order: str = "ijk", b: str = "k, j", names: str = "ABC") -> Kernel:
    """C[i, j] += A[i, k] * B[…] with loops and arrays as asked for."""
    first, second, result = names
    extents = {"i": f"{result}.shape[0]", "j": f"{result}.shape[1]", "k": f"{first}.shape[1]"}
    lines = [f"def kernel({', '.join(names)}):"]
    for depth, index in enumerate(order, 1):
        lines.append("    " * depth + f"for {index} in range({extents[index]}):")
    lines.append("    " * 4 + f"{result}[i, j] += {first}[i, k] * {second}[{b}]")
    shape_b = (17, 13) if b == "k, j" else (13, 17)
    source = "\n".join(lines) + "\n"
    return kernel_of(source, ((11, 17), shape_b, (11, 13)), source)


def document_of(kernel: Kernel) -> dict:
    (document,) = trace_kernels([kernel])
    return json.loads(document.text)


def nest_of(kernel: Kernel) -> Nest:
    return read_nests(document_of(kernel))[0]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder.load()


@pytest.fixture(scope="module")
def others() -> list[Nest]:
    """Nests that are no plain matrix product, of all families."""
    return _others(kit.CLASSES)


def _others(classes: int) -> list[Nest]:
    made = [d for d in kit.documents(classes, variants=1) if "_kj_ij" not in d.family]
    return [n for d in made for n in read_nests(json.loads(d.text))]


def test_vectors_have_unit_length_and_names(encoder: Encoder, others: list[Nest]) -> None:
    for nest in others:
        embedding = encoder.encode(nest)
        assert embedding.encoder == encoder.version
        assert embedding.nest.shape == (128,)
        assert embedding.loop_names == tuple(loop.name for loop in nest.loops)
        assert embedding.container_names == tuple(array.name for array in nest.arrays)
        rows = np.vstack([embedding.nest, embedding.loops, embedding.containers])
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)


def test_many_at_once_are_the_same(encoder: Encoder, others: list[Nest]) -> None:
    assert encoder.encode_many([]) == []
    for nest, together in zip(others, encoder.encode_many(others), strict=True):
        alone = encoder.encode(nest)
        np.testing.assert_allclose(alone.nest, together.nest, atol=1e-5)
        np.testing.assert_allclose(alone.loops, together.loops, atol=1e-5)
        np.testing.assert_allclose(alone.containers, together.containers, atol=1e-5)


@pytest.mark.heavy
def test_torch_gives_the_same(encoder: Encoder) -> None:
    pytest.importorskip("torch")
    from loopbook.embed.model import NestEncoder

    model = NestEncoder()
    model.take(weights.load().arrays)
    graph = side_by_side([nest_graph(nest) for nest in _others(12)])
    for ours, theirs in zip(encoder.forward(graph), model(graph), strict=True):
        np.testing.assert_allclose(ours, theirs.detach().numpy(), atol=1e-4)


def test_permuted_and_renamed_products_are_nearer_to_the_product_than_others(
    encoder: Encoder, others: list[Nest]
) -> None:
    assert len(others) >= 10
    query = encoder.encode(nest_of(product()))
    rng = random.Random(2)
    alike = [
        variants.permuted(document_of(product("kji", names="XYZ")), rng),
        variants.renamed(document_of(product("jik")), rng),
        variants.retyped(document_of(product())),
        variants.resized(document_of(product("ikj")), rng),
    ]
    far = max(float(e.nest @ query.nest) for e in encoder.encode_many(others))
    for document in alike:
        found = encoder.encode(read_nests(document)[0])
        assert float(found.nest @ query.nest) > far


def test_transposed_operand_is_near_but_different(encoder: Encoder, others: list[Nest]) -> None:
    plain, transposed = (encoder.encode(nest_of(product(b=b))) for b in ("k, j", "j, k"))
    similarity = float(plain.nest @ transposed.nest)
    stencils = [
        nest
        for d in trace_kernels(k for k in kernels(1, 33, 1) if k.family.startswith("stencil"))
        for nest in read_nests(json.loads(d.text))
    ]
    assert similarity < 0.999
    assert similarity > max(float(e.nest @ plain.nest) for e in encoder.encode_many(stencils))


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(6))
def test_assignment_finds_loops_and_arrays_of_a_permuted_product(
    encoder: Encoder, seed: int
) -> None:
    from scipy.optimize import linear_sum_assignment

    document = document_of(product())
    rng = random.Random(seed)
    changed = variants.permuted(variants.reordered(document, rng), rng)
    (a,), (b,) = read_nests(document), read_nests(changed)
    x, y = encoder.encode(a), encoder.encode(b)
    rows, columns = linear_sum_assignment(-(x.loops @ y.loops.T))
    for i, j in zip(rows, columns, strict=True):
        assert a.loops[i].indvar == b.loops[j].indvar
    rows, columns = linear_sum_assignment(-(x.containers @ y.containers.T))
    for i, j in zip(rows, columns, strict=True):
        assert a.arrays[i].data == b.arrays[j].data


def test_encoding_does_not_import_torch(tmp_path: Path) -> None:
    path = tmp_path / "product.json"
    path.write_text(json.dumps(document_of(product())))
    program = (
        "import json, sys\n"
        "from loopbook.embed.inference import Encoder\n"
        "from loopbook.program.nests import read_nests\n"
        f"nests = read_nests(json.load(open({str(path)!r})))\n"
        "assert Encoder.load().encode_many(nests)\n"
        "assert not {'torch', 'torch_geometric', 'docc', 'faiss'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600)


def test_shipped_weights_are_small_and_say_where_they_come_from() -> None:
    shipped = weights.load()
    assert weights.DEFAULT_PATH.stat().st_size < 1_000_000
    assert shipped.version.startswith("gnn1-")
    assert {"seed", "date", "nests", "losses", "command", "held_out"} <= shipped.metadata.keys()


def test_the_books_fingerprints_and_vectors_are_those_of_its_records_trees(
    encoder: Encoder,
) -> None:
    """They were made long ago: whoever reads nests, or finds their canonical form, in another way
    now gets the same. Seen on every nest of PolyBench, and on some of the others."""
    suite = polybench.names()
    with Book.open(STARTER, readonly=True) as book:
        chosen = {
            record.fingerprint: record.nest_json
            for number, record in enumerate(book.records())
            if number % 40 == 0 or record.provenance.kernel in suite
        }
        stored = [book.embedding(fingerprint, encoder.version) for fingerprint in chosen]
    read_again = [nests(read(json.loads(text)))[0] for text in chosen.values()]
    assert len(read_again) > 80
    assert [nest.fingerprint for nest in read_again] == [*chosen]
    for made, known in zip(encoder.encode_many(read_again), stored, strict=True):
        assert known is not None
        for part in ("nest", "loops", "containers"):
            assert np.allclose(getattr(made, part), getattr(known, part), atol=1e-4)


class TestDamage:
    """Whatever is wrong with the file, one line says so."""

    @pytest.fixture
    def stored(self) -> dict[str, np.ndarray]:
        with np.load(weights.DEFAULT_PATH) as file:
            return {name: file[name] for name in file.files}

    def refuse(self, path: Path) -> str:
        with pytest.raises(EncoderError) as caught:
            Encoder.load(path)
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)
        return str(caught.value)

    def test_missing(self, tmp_path: Path) -> None:
        assert "loopbook train" in self.refuse(tmp_path / "none.npz")

    @pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
    def test_cut_short(self, tmp_path: Path, share: float) -> None:
        whole = weights.DEFAULT_PATH.read_bytes()
        path = tmp_path / "short.npz"
        path.write_bytes(whole[: int(len(whole) * share)])
        self.refuse(path)

    def test_flipped_bytes(self, tmp_path: Path) -> None:
        whole = bytearray(weights.DEFAULT_PATH.read_bytes())
        middle = len(whole) // 2
        whole[middle : middle + 64] = bytes(64)
        path = tmp_path / "flipped.npz"
        path.write_bytes(whole)
        self.refuse(path)

    def test_no_archive(self, tmp_path: Path) -> None:
        path = tmp_path / "text.npz"
        path.write_text("these are no weights")
        self.refuse(path)

    def test_pickled_objects_are_not_run(self, tmp_path: Path) -> None:
        path = tmp_path / "pickle.npz"
        np.save(path.open("wb"), np.array([{"a": 1}], dtype=object), allow_pickle=True)
        self.refuse(path)

    def test_folder(self, tmp_path: Path) -> None:
        self.refuse(tmp_path)

    def test_missing_array(self, tmp_path: Path, stored: dict[str, np.ndarray]) -> None:
        del stored["loop.weight"]
        np.savez(tmp_path / "w.npz", **stored)  # type: ignore[arg-type]
        self.refuse(tmp_path / "w.npz")

    def test_wrong_shape(self, tmp_path: Path, stored: dict[str, np.ndarray]) -> None:
        stored["loop.weight"] = stored["loop.weight"][:-1]
        np.savez(tmp_path / "w.npz", **stored)  # type: ignore[arg-type]
        assert "loop.weight" in self.refuse(tmp_path / "w.npz")

    def test_not_a_number(self, tmp_path: Path, stored: dict[str, np.ndarray]) -> None:
        stored["nest.bias1"][3] = np.nan
        np.savez(tmp_path / "w.npz", **stored)  # type: ignore[arg-type]
        assert "nest.bias1" in self.refuse(tmp_path / "w.npz")

    def test_other_schema(self, tmp_path: Path, stored: dict[str, np.ndarray]) -> None:
        other = json.dumps({"schema": "00000000"}).encode()
        stored["metadata"] = np.frombuffer(other, np.uint8)
        np.savez(tmp_path / "w.npz", **stored)  # type: ignore[arg-type]
        assert "another version" in self.refuse(tmp_path / "w.npz")


class TestSchema:
    """Weights go on working when graphs gain or lose features and relations."""

    def saved(self, path: Path, change: Callable[[dict[str, np.ndarray], dict], None]) -> Path:
        """The shipped weights as if they had been trained on other graphs."""
        with np.load(weights.DEFAULT_PATH) as file:
            stored = {name: file[name] for name in file.files}
        metadata = json.loads(stored.pop("metadata").tobytes())
        change(stored, metadata["schema"])
        told = np.frombuffer(json.dumps(metadata).encode(), np.uint8)
        np.savez(path, **stored, metadata=told)  # type: ignore[arg-type]
        return path

    def test_what_graphs_have_no_longer_is_never_there(self, tmp_path: Path) -> None:
        def richer(stored: dict[str, np.ndarray], schema: dict) -> None:
            row = stored["input.weight"][:1]
            stored["input.weight"] = np.concatenate([row, stored["input.weight"]])
            schema["features"].insert(0, "operation warp")
            schema["relations"] = {"beside in time": "beside", **schema["relations"]}
            for number in range(weights.ROUNDS):
                known = stored[f"round{number}.relation"]
                stored[f"round{number}.relation"] = np.concatenate([known[:1], known])

        nest = nest_of(product())
        made = Encoder.load(self.saved(tmp_path / "w.npz", richer)).encode(nest)
        shipped = Encoder.load().encode(nest)
        assert np.array_equal(made.nest, shipped.nest)
        assert np.array_equal(made.loops, shipped.loops)

    def test_what_weights_have_not_met_is_not_heard(self, tmp_path: Path) -> None:
        def poorer(stored: dict[str, np.ndarray], schema: dict) -> None:
            place = schema["features"].index("loop children")
            del schema["features"][place]
            stored["input.weight"] = np.delete(stored["input.weight"], place, axis=0)
            place = list(schema["relations"]).index("next")
            del schema["relations"]["next"]
            for number in range(weights.ROUNDS):
                name = f"round{number}.relation"
                stored[name] = np.delete(stored[name], place, axis=0)

        nest = nest_of(product())
        made = Encoder.load(self.saved(tmp_path / "w.npz", poorer))
        graph = nest_graph(nest)
        without = graph.features.copy()
        without[:, FEATURES.index("loop children")] = 0.0
        silent = np.array([name != "next" for name in RELATIONS])
        expected = Encoder.load().forward(heard(replace(graph, features=without), silent))
        for mine, theirs in zip(made.forward(graph), expected, strict=True):
            assert np.allclose(mine, theirs, atol=1e-6)

    def test_names_with_another_meaning_are_refused(self, tmp_path: Path) -> None:
        def other(_: dict[str, np.ndarray], schema: dict) -> None:
            schema["meaning"] += 1

        with pytest.raises(EncoderError, match="another version"):
            Encoder.load(self.saved(tmp_path / "w.npz", other))


def test_saving_is_all_or_nothing(tmp_path: Path) -> None:
    shipped = weights.load()
    path = tmp_path / "weights.npz"
    saved = weights.save(path, shipped.arrays, {"seed": 1})
    assert saved.version == shipped.version
    assert saved.metadata["seed"] == 1
    broken = {**shipped.arrays, "loop.bias": np.array(["no number"])}
    with pytest.raises(ValueError, match="could not convert"):
        weights.save(path, broken, {})
    assert weights.load(path).version == shipped.version
    assert [p.name for p in tmp_path.iterdir()] == ["weights.npz"]
