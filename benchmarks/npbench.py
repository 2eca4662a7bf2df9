"""NPBench's programs, unchanged, through NumPy, docc, Numba, DaCe and loopbook.

    python benchmarks/npbench.py CHECKOUT --out FOLDER [--preset M paper] [--threads 1 2]
        [--only PROGRAM …] [--systems NAME …] [--resume] [--redo NAME …]
        [--coverage | --memory | --first-call]

CHECKOUT is one of github.com/spcl/npbench; nothing of it is kept here. docc and loopbook are given
NumPy's versions as they are; Numba and DaCe (``pip install 'loopbook[peers]'``, or in another
interpreter, which LOOPBOOK_PEERS_PYTHON names) NPBench's for them, the fastest of those that are
right. ``--systems numpy docc hand loopbook`` compares with C by hand for the programs that there is
some for (`benchmarks.npbench_suite.by_hand`).

Each runs in a process of its own, with the same data on the same pinned cores, in turn with NumPy;
nothing else should run on them. Nobody is timed before all that he leaves in arguments and returns
is what NumPy does, within NPBench's tolerances, or, where a program amplifies rounding beyond them,
within what arguments one unit in the last place off do to NumPy's results. Who fails, is wrong or
too slow is listed.

``--coverage`` only checks numbers and how programs ran; ``--memory`` reads the resident memory
after 10 to 1,000 calls; ``--first-call`` takes a first call apart and says what a warm one costs.
FOLDER gets a file of JSON lines, one as soon as a program is finished (``--resume`` goes on after
the last one; ``--redo`` runs some systems again, against NumPy, and keeps the others' results), a
table, and a figure for each size and number of threads.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks import lines  # noqa: E402
from benchmarks.npbench_suite import calls, programs, table  # noqa: E402
from benchmarks.npbench_suite.comparison import Setting, comparison  # noqa: E402
from benchmarks.npbench_suite.systems import DOCC, HAND, NUMPY, OURS, REMOTE, SYSTEMS  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from benchmarks.serving import serve  # noqa: E402
from benchmarks.systems.child import Failed  # noqa: E402
from benchmarks.systems.registry import PEERS  # noqa: E402
from loopbook.errors import InputError, LoopbookError  # noqa: E402

Result = table.Result
Key = tuple[str, int, str]
"""Preset, threads, program."""


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run NPBench's programs through loopbook.")
    parser.add_argument("checkout", type=Path, help="of github.com/spcl/npbench")
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--preset", nargs="+", choices=programs.PRESETS)
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--only", nargs="+", metavar="PROGRAM")
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS))
    parser.add_argument("--book", type=Path, help="the user's book; default as for loopbook bench")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each system")
    parser.add_argument(
        "--budget", type=float, default=20.0, help="seconds of measuring for one system and program"
    )
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for any run")
    parser.add_argument("--memory-limit", type=float, default=8.0, help="GiB for one process")
    parser.add_argument("--cores", type=int, nargs="+", help="the last ones, if not given")
    parser.add_argument("--resume", action="store_true", help="go on with the results in FOLDER")
    parser.add_argument("--redo", nargs="+", choices=list(SYSTEMS), help="run these once more")
    mode = parser.add_mutually_exclusive_group()
    for name in table.RENDER:
        mode.add_argument(f"--{name}", dest="mode", action="store_const", const=name)
    options = parser.parse_args(arguments)
    options.mode = options.mode or "times"
    options.preset = options.preset or (["M"] if options.mode == "times" else ["S"])
    options.systems = options.redo or options.systems or _usual(options.mode)
    options.cores = options.cores or sorted(os.sched_getaffinity(0), reverse=True)
    if min(options.threads) < 1 or max(options.threads) > len(options.cores):
        parser.error(f"--threads must be 1 to {len(options.cores)}, the number of cores here")
    try:
        options.programs = programs.find(options.checkout)
    except FileNotFoundError as error:
        parser.error(str(error))
    unknown = sorted(set(options.only or ()) - set(options.programs))
    if unknown:
        parser.error(f"NPBench has no program {unknown[0]!r}; it has {', '.join(options.programs)}")
    return options


def _usual(mode: str) -> list[str]:
    return [n for n in SYSTEMS if n not in (REMOTE, HAND)] if mode == "times" else [DOCC, OURS]


def measure(key: Key, options: argparse.Namespace, earlier: Result | None) -> Result:
    """One program, as one line of the results.

    Raises:
        Failed: if NumPy fails.
    """
    preset, threads, name = key
    setting = Setting(
        options.checkout,
        preset,
        threads,
        tuple(options.cores[:threads]),
        rounds=0 if options.mode == "coverage" else options.rounds,
        budget=options.budget,
        limit=options.limit,
        memory=int(options.memory_limit * 2**30),
    )
    program, begun = options.programs[name], time.time()
    known: dict[str, Any] = earlier["systems"] if earlier else {}
    if options.mode == "memory":
        found = calls.memory(program, options.systems, setting, options.limit)
    elif options.mode == "first-call":
        found = calls.first_calls(program, options.systems, setting)
    else:
        chosen = {n: o["version"] for n, o in known.items() if o["status"] == "ok"}
        outcomes = comparison(program, options.systems, setting, chosen)
        found = {system: outcome.to_json() for system, outcome in outcomes.items()}
        if NUMPY in known:
            del found[NUMPY]
    return {
        "program": name,
        "preset": preset,
        "threads": threads,
        "begun": begun,
        "systems": known | found,
    }


def finished(results: Iterable[Result]) -> dict[Key, Result]:
    """By key, the last result."""
    return {(r["preset"], r["threads"], r["program"]): r for r in results}


def write(results: Sequence[Result], options: argparse.Namespace) -> None:
    """The table, and figures of times."""
    names = options.only or list(options.programs)
    if options.mode == "times":
        body = table.times(results, names)
    else:
        body = table.RENDER[options.mode](results)
    title = f"NPBench: {options.mode.replace('-', ' ')}"
    text = f"# {title}\n\n{provenance()}\n\n{body}\n"
    (options.out / f"{options.mode}.md").write_text(text, encoding="utf-8")
    if options.mode != "times":
        return
    try:
        from benchmarks.npbench_suite.figure import draw

        for preset, threads in dict.fromkeys((r["preset"], r["threads"]) for r in results):
            some = [r for r in results if (r["preset"], r["threads"]) == (preset, threads)]
            draw(some, options.out / f"{preset}-{threads}.png")
    except InputError as error:
        _say(f"no figure: {error}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0; 1 if a program was left out or came out wrong with us; 2 on wrong usage."""
    options = parsed(arguments)
    if options.book:
        os.environ["LOOPBOOK_BOOK"] = str(options.book.resolve())
    absent = [name for name in options.systems if SYSTEMS[name].python() is None]
    if absent:
        _say(f"without {' and '.join(absent)}, which {PEERS} installs")
        options.systems = [name for name in options.systems if name not in absent]
    file = options.out / f"{options.mode}.jsonl"
    if file.exists() and not options.resume and not options.redo:
        _say(f"{file} exists: go on with --resume, or name another folder")
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    done = finished(lines.read(file))
    names = options.only or list(options.programs)
    order = [(p, t, n) for p in options.preset for t in options.threads for n in names]
    waiting = [key for key in order if options.redo or not _has(done.get(key), options.systems)]
    begun, left_out = time.monotonic(), []
    with _served(REMOTE in options.systems):
        for place, key in enumerate(waiting):
            try:
                result = measure(key, options, done.get(key))
            except Failed as failed:
                left_out.append(key)
                _say(f"{' '.join(map(str, key))}: left out, NumPy {failed.kind}: {failed.reason}")
                continue
            lines.append(file, result)
            done[key] = result
            _progress(result, place + 1, len(waiting), time.monotonic() - begun)
    results = [done[key] for key in sorted(done, key=_place)]
    write(results, options)
    wrong = [r for r in results if r["systems"].get(OURS, {}).get("status") == "wrong"]
    return 1 if left_out or wrong else 0


@contextlib.contextmanager
def _served(wanted: bool) -> Iterator[None]:
    """A server over the starter book, where docc's client looks for one, if it is wanted."""
    if not wanted:
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        server, url, token = serve(str(Path(folder) / "book.db"))
        os.environ |= {"RPC_SERVER": f"{url}/docc", "DOCC_ACCESS_TOKEN": token, "DOCC_TMP": folder}
        try:
            yield
        finally:
            server.terminate()
            server.wait(60)


def _has(result: Result | None, systems: Sequence[str]) -> bool:
    return result is not None and set(systems) <= set(result["systems"])


def _place(key: Key) -> tuple[int, int, str]:
    return programs.PRESETS.index(key[0]), key[1], key[2]


def _progress(result: Result, count: int, total: int, taken: float) -> None:
    words = []
    for name, outcome in result["systems"].items():
        gain = table.speedup(result, name)
        if name != NUMPY:
            words.append(f"{name} {outcome['status'] if gain is None else f'{gain:.2f}×'}")
    left = taken / count * (total - count)
    _say(
        f"{count}/{total} {result['program']} {result['preset']} {result['threads']}t: "
        f"{', '.join(words)}; {taken / 60:.0f} min, about {left / 60:.0f} min left"
    )


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LoopbookError as error:
        _say(str(error))
        sys.exit(2)
