"""Whatever a user may hand over by mistake: one clear line, exit code 2, and the book as it was."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import client_kit as kit
import pytest
from cli_kit import PRODUCT, Shell, make_shell, run_program, run_programs

from loopbook.cli import query, source
from loopbook.recipes.book import Book
from loopbook.sdfg import frontend
from loopbook.workloads import reference

LOOKUPS = ("nearest", "explain", "optimize")


def emptied(A):
    for i in range(A.shape[0]):  # noqa: B007
        pass


def assigned(A):
    A[0] = 1.0


def searched(A):
    i = 0
    while A[i] > 0.0:
        i = i + 1
    A[0] = 2.0


@pytest.fixture
def shell(tmp_path, monkeypatch, capfd) -> Iterator[Shell]:
    """A shell with a book of one record, which must be well and hold no other afterwards."""
    shell = make_shell(tmp_path, monkeypatch, capfd)
    record = kit.record(kit.product, kit.blocked())
    book = kit.fill(tmp_path / "own.db", [record])
    yield shell
    with Book.open(book) as opened:
        assert opened.verify() == []
        assert [one.id for one in opened.records()] == [record.id]


@pytest.fixture
def untouched(shell) -> Iterator[Shell]:
    """The same, and the book's file must stay as it is, byte for byte."""
    book = shell.folder / "own.db"
    before = book.read_bytes()
    yield shell
    assert book.read_bytes() == before


# -- SDFGs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [*LOOKUPS, "tune"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("for i in range(10):", "this is no JSON: "),
        ("", "this is no JSON: "),
        ("[" * 100_000, "this is no JSON: "),
        ("[1, 2]", "this JSON is no SDFG: it has no root, containers and arguments"),
        ('{"root": 1, "containers": 2, "arguments": 3}', "this SDFG is not accepted: "),
    ],
)
def test_text_that_is_no_sdfg(untouched, command, text, message):
    assert untouched(command, untouched.file("given.json", text)).refusal().startswith(message)


@pytest.mark.parametrize("command", [*LOOKUPS, "tune"])
@pytest.mark.parametrize("kernel", [emptied, assigned])
def test_an_sdfg_without_loops(untouched, command, kernel):
    given = untouched.file("given.json", frontend.trace(kernel, [kit.matrices()[0][0]]))
    message = untouched(command, given).refusal()
    assert message.startswith("given has no loops: there is nothing to ")


def test_a_loop_that_only_looks_for_its_end(shell):
    given = shell.file("given.json", frontend.trace(searched, [kit.matrices()[0][0]]))
    told = shell("nearest", given, "--json").good().document
    assert len(told["nests"]) == 1
    assert "cannot " in shell("tune", given, "--trials", "1").refusal()


@pytest.mark.parametrize("command", LOOKUPS)
def test_files_that_cannot_be_read(untouched, command):
    assert "cannot read" in untouched(command, untouched.folder / "none.json").refusal()
    (untouched.folder / "folder.json").mkdir()
    assert "cannot read" in untouched(command, untouched.folder / "folder.json").refusal()
    (untouched.folder / "bytes.json").write_bytes(b"\xff\xfe\x00")
    assert "no text in UTF-8" in untouched(command, untouched.folder / "bytes.json").refusal()
    assert "neither FILE.py" in untouched(command, "given.txt").refusal()


def test_a_file_that_is_too_large(untouched, monkeypatch):
    monkeypatch.setattr("loopbook.program.load.MAX_TEXT", 1000)
    given = untouched.file("given.json", kit.text_of(kit.product))
    assert "given.json has more than" in untouched("nearest", given).refusal()


def damaged(text: str, chance: random.Random) -> str:
    """`text` with a few of its values gone, replaced or exchanged, or a few characters so."""
    if chance.random() < 0.2:
        place = chance.randrange(len(text))
        return (
            text[:place] + chance.choice(("", "0", '"', "{", text[place:][:99])) + text[place + 9 :]
        )
    document = json.loads(text)
    for _ in range(chance.randint(1, 3)):
        here, key = document, chance.choice(list(document))
        while isinstance(here[key], dict | list) and here[key] and chance.random() < 0.9:
            here = here[key]
            key = chance.choice(list(here) if isinstance(here, dict) else range(len(here)))
        kind = chance.random()
        if kind < 0.3:
            del here[key]
        elif kind < 0.5:
            here[key] = [here[key], here[key]]
        else:
            here[key] = chance.choice((None, -1, 0, 2**70, 1.5, "", "i +", "x", [], {}, True))
        if not document:
            break
    return json.dumps(document)


LOOK_UP = """\
import json, sys
from pathlib import Path
from loopbook.cli import nearest, query, source
from loopbook.errors import LoopbookError
for text in json.loads(Path(sys.argv[1]).read_text())[int(sys.argv[2]):]:
    given = source.Source("given", "given", {}, None, text)
    try:
        asked = query.Query("given", given, "sequential", Path(sys.argv[3]), [], json=True)
        found = nearest._nearest(asked, 2)
    except LoopbookError as error:
        print(f"{type(error).__name__}: {error}", flush=True)
    else:
        print("found" if found else "nothing", flush=True)
"""


def test_damaged_sdfgs(shell):
    # docc starts a process for each line of the stack trace that it makes of an error. Look-ups are
    # therefore made in a process of their own, small to fork, and not more of them than these.
    # Where the checkout lies must not decide which of their characters are damaged.
    kernels = kit.product, kit.stencil, kit.chain
    texts = [kit.text_of(kernel).replace(kit.__file__, "kernels.py") for kernel in kernels]
    chance = random.Random(5)
    given = [damaged(texts[n % len(texts)], chance) for n in range(160)]
    file, book = shell.file("texts.json", json.dumps(given)), shell.folder / "own.db"
    outcomes: list[str] = []
    while len(outcomes) < len(given):
        words = [sys.executable, "-c", LOOK_UP, file, str(len(outcomes)), book]
        done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
        outcomes += done.stdout.splitlines()
        if done.returncode:
            assert done.returncode < 0, done.stderr  # a crash in docc's C++; no traceback of ours
            outcomes.append("death")
    assert len(outcomes) == len(given)
    refused = [outcome for outcome in outcomes if outcome.startswith("SdfgError: ")]
    assert len(refused) > 40
    assert outcomes.count("found") > 5
    deaths = [number for number, outcome in enumerate(outcomes) if outcome == "death"]
    assert len(refused) + outcomes.count("found") + len(deaths) == len(given), set(outcomes)
    for number in [*deaths[:5], 0, 1, 50, 51]:
        answer = shell("nearest", shell.file("given.json", given[number]))
        assert (outcomes[number] == "found") if answer.code == 0 else answer.refusal()


# -- workload files --------------------------------------------------------------------------------

COMMANDS = (
    ("nearest",),
    ("explain",),
    ("optimize",),
    ("bench", "--seconds", "0.05"),
    ("tune", "--trials", "1", "--target", "sequential"),
)

BROKEN = {
    "no Python": ("def kernel(:", "is no valid Python: SyntaxError"),
    "raises when run": ("1 / 0", "raised ZeroDivisionError: division by zero when it was run"),
    "no kernel": ("PARAMETERS = {}", "has no kernel function"),
    "no sizes": (PRODUCT.replace("PARAMETERS", "SIZES"), "has no PARAMETERS"),
    "initialize raises": (
        PRODUCT.replace("    random =", "    raise OSError('no disk')\n    random ="),
        "initialize raised OSError: no disk",
    ),
    "initialize ends the program": (
        PRODUCT.replace("    random =", "    raise SystemExit(0)\n    random ="),
        "initialize raised WorkloadError: it wanted to end the program",
    ),
    "argument missing": (PRODUCT.replace('"out":', '"oot":'), "nothing provides kernel's argument"),
    "kernel raises": (
        PRODUCT.replace(
            "    for col", "    if left[0, 0] > 2.0:\n        raise ValueError\n    for col"
        ),
        "kernel raises an exception in line 3; compiled code would go on there, so take it out",
    ),
    "docc cannot": (
        PRODUCT.replace("+= left[row, mid]", "+= str(mid)"),
        "docc cannot parse kernel: ",
    ),
}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_workload_files_with_mistakes(untouched, command):
    for mistake, (text, message) in BROKEN.items():
        if (command[0], mistake) == ("bench", "docc cannot"):
            message = "mistaken fails as Python: TypeError"  # what cannot be compiled is timed so
        given = untouched.file("mistaken.py", text)
        assert message in untouched(command[0], given, *command[1:]).refusal()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("where", ["file", "initialize"])
def test_code_that_never_ends(untouched, monkeypatch, command, where):
    monkeypatch.setattr(source, "SECONDS", 0.3)  # the loops below take a core all that time
    monkeypatch.setattr(query, "SECONDS", 300.0)
    endless = (
        "while True:\n{0}    try:\n{0}        pass\n{0}    except Exception:\n{0}        pass\n"
    )
    if where == "file":
        text = PRODUCT + endless.format("")
    else:
        text = PRODUCT.replace("    random =", "    " + endless.format("    ") + "    random =")
    given = untouched.file("endless.py", text)
    assert "did not end within 0.3 s" in untouched(command[0], given, *command[1:]).refusal()


@pytest.mark.parametrize("command", COMMANDS[3:], ids=lambda command: command[0])
def test_a_kernel_that_never_ends(shell, monkeypatch, command):
    monkeypatch.setattr(reference, "PYTHON_SECONDS", 0.5)
    text = PRODUCT.replace("for col in range(out.shape[1])", "for col in range(10**15)")
    text = text.replace("out[row, col] +=", "out[row, mid] = 0.5 * out[row, mid] +")
    text = text.replace("right[mid, col]", "right[mid, row]")
    given = shell.file("endless.py", text)
    message = shell(command[0], given, *command[1:], "--timeout", "1").refusal()
    assert message.endswith("the kernel did not end within 1 s")


def test_sizes_and_presets_that_there_are_not(untouched):
    given = untouched.file("mine.py", PRODUCT)
    for command in LOOKUPS:
        assert "has no size 'K'" in untouched(command, given, "--size", "K=3").refusal()
        assert "is not NAME=NUMBER" in untouched(command, given, "--size", "N=many").refusal()
        assert "has no preset 'XXL'" in untouched(command, given, "--preset", "XXL").refusal()
        assert "there is no target 'gpu'" in untouched(command, given, "--target", "gpu").refusal()
    assert "has no preset 'XXL'" in untouched("bench", given, "--preset", "XXL").refusal()
    message = untouched("bench", untouched.file("given.json", "{}")).refusal()
    assert message.endswith("given.json is an SDFG without data; give a workload file")
    assert "loopbook nearest --help" in untouched("nearest", given, "--nonsense").refusal()
    assert "loopbook --help" in untouched("bake").refusal()


# -- the machine -----------------------------------------------------------------------------------


def test_without_a_compiler_only_what_needs_none_works(shell, monkeypatch):
    given = shell.file("mine.py", PRODUCT)
    empty = shell.folder / "empty"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    for command in (["bench", given], ["tune", given], ["seed", "polybench", "--only", "mvt"]):
        message = shell(*command).refusal()
        assert message.startswith("no clang++ 17 or newer on PATH; install one with ")
    for command in LOOKUPS[:2]:
        assert shell(command, given).good().out
    out = shell.folder / "out.json"
    assert shell("optimize", given, "--out", out).good().out
    assert shell("hardware", "--json").good().document["compiler"] is None
    assert shell("book", "info", "--json").good().document["records"] == 1


# -- the book --------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.9])
def test_a_book_cut_short(tmp_path, monkeypatch, capfd, keep):
    shell = make_shell(tmp_path, monkeypatch, capfd)
    path = kit.fill(tmp_path / "own.db", [kit.record(kit.product, kit.blocked())])
    data = path.read_bytes()
    path.write_bytes(data[: int(keep * len(data))])
    before = path.read_bytes()
    given = shell.file("mine.py", PRODUCT)
    export = shell.file("empty.jsonl", "")
    for command in (*LOOKUPS, "bench"):  # what only reads goes on without it
        answer = shell(command, given)
        assert answer.code == 0
        assert str(path) in answer.err
        assert "cut short" in answer.err or "is not a loopbook book" in answer.err
        assert path.read_bytes() == before
    for words in (
        ["tune", given, "--trials", "1"],
        ["seed", "polybench", "--only", "mvt"],
        ["book", "info"],
        ["book", "verify"],
        ["book", "import", export],
    ):
        message = shell(*words).refusal()
        assert str(path) in message
        assert "cut short" in message or "is not a loopbook book" in message
        assert path.read_bytes() == before


AS_NOBODY = """\
import os, secrets, zoneinfo
import rich.console, rich.progress
import client_kit, loopbook.cli.app, loopbook.client.plan, loopbook.tuner.tune
client_kit.nests_of(client_kit.product)
client_kit.encoder()  # all that is imported late: Python's own folder may be root's alone
if os.getuid() == 0:
    os.setuid(65534)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another user can get to (pytest's own are private)."""
    folder = Path(tempfile.mkdtemp(prefix="loopbook-test-"))
    folder.chmod(0o755)
    yield folder
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)
    shutil.rmtree(folder)


def test_a_read_only_book_is_read_and_not_written(open_folder):
    path = kit.fill(open_folder / "own.db", [kit.record(kit.product, kit.blocked())])
    export = open_folder / "out.jsonl"
    with Book.open(path) as book:
        book.export(export)
    sdfg = open_folder / "given.json"
    sdfg.write_text(kit.text_of(kit.product_renamed))
    before = path.read_bytes()
    for file in (path, export, sdfg):
        file.chmod(0o444)
    open_folder.chmod(0o555)
    temporary = {"TMPDIR": "/tmp", "PYTHONPATH": str(Path(kit.__file__).parent)}

    nearest, imported, other, optimized, tuned = run_programs(
        open_folder,
        ("nearest", sdfg, "--json"),
        ("book", "import", export),
        ("book", "import", export, "--book", open_folder / "new.db"),
        ("optimize", sdfg, "--out", open_folder / "out.json"),
        ("tune", sdfg, "--size", "_s0=9", "--size", "_s1=9", "--size", "_s2=9"),
        before=AS_NOBODY,
        environment=temporary,
    )
    told = nearest.good().document
    assert told["nests"][0]["neighbours"][0]["kernel"] == "product"
    assert imported.refusal() == f"book {path} is read-only: open another one to write to"
    assert other.refusal().endswith("new.db: Permission denied")
    message = optimized.refusal()
    assert message == f"cannot write {open_folder / 'out.json'}: Permission denied"
    assert "read-only" in tuned.refusal()
    assert path.read_bytes() == before
    assert sorted(os.listdir(open_folder)) == ["given.json", "out.jsonl", "own.db"]


FULL = """\
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))
"""


def test_a_full_disk(tmp_path):
    """A limit on the size of files does what a full disk does: writes fail half way."""
    records = [kit.record(kit.product, kit.blocked())]
    path = kit.fill(tmp_path / "own.db", records)
    many = kit.fill(
        tmp_path / "many.db",
        [kit.record(kit.chain, kit.SIMPLE, float(n), name=f"k{n}") for n in range(2, 240)],
    )
    export = tmp_path / "out.jsonl"
    with Book.open(many) as book:
        assert book.export(export) == 238
    full = FULL.format(path.stat().st_size + 20_000)
    before = path.read_bytes()
    words = ["book", "import", export], ["book", "merge", many]
    for answer in run_programs(tmp_path, *words, before=full):
        assert "disk is full" in answer.refusal()
    assert path.read_bytes() == before
    words = (
        ["book", "export", tmp_path / "o.lines", "--book", many],
        ["optimize", "heat-3d", "-o", tmp_path / "o.json"],
    )
    exported, optimized = run_programs(tmp_path, *words, before=FULL.format(50_000))
    assert "o.lines" in exported.refusal()
    assert optimized.refusal() == f"cannot write {tmp_path / 'o.json'}: File too large"
    assert not list(tmp_path.glob("*o.*"))
    with Book.open(path) as book:
        assert book.verify() == []
        assert [r.id for r in book.records()] == [records[0].id]


def test_a_disk_that_fills_up_while_tuning(tmp_path):
    """The log of trials cannot be written: one line, and the book is well."""
    mounted = tmp_path / "small"
    mounted.mkdir()
    # An empty book takes 132 KiB, and what its readers share 32.
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(mounted)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk takes root")
    try:
        path = mounted / "own.db"
        with Book.open(path):
            pass
        with (mounted / "ballast").open("wb", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(bytes(4096))
            except OSError:
                pass
        workload = tmp_path / "mine.py"
        workload.write_text(PRODUCT)
        words = ["tune", workload, "--trials", "1", "--target", "sequential", "--book", path]
        message = run_program(tmp_path, words).refusal()
        assert "No space left" in message or "disk is full" in message
        (mounted / "ballast").unlink()
        with Book.open(path) as book:
            assert book.verify() == []
            assert len(book) == 0
    finally:
        subprocess.run(["umount", str(mounted)], check=True)
