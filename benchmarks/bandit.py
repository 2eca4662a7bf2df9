"""How fast reports withdraw a recipe that loses, and what liars can do.

    python benchmarks/bandit.py simulate [--seeds 400]
    python benchmarks/bandit.py real [--clients 10]
    python benchmarks/bandit.py choices [--seeds 200]

``simulate`` counts reports until a planted loser is withdrawn, for several true speedups, claims,
numbers of voices and kinds of noise; then what one liar with 10,000 reports does to a good recipe;
then several liars among honest voices, to see where it breaks.

``real`` starts a server with a book in which two nests have a planted recipe that strides, one has
needless tiles of 2, and one a good recipe. Clients with tokens of their own compile the programs
with ``loopbook.native(report=True)`` by the server's book and run them; what they tell is what they
measure. Before that, one token reports 1,024 times that the good recipe loses.

``choices`` plays the bandit's choice rule against recipes whose speedups are not what was measured.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "kits"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from loopbook.recipes.standing import Arm, Opinion, Standing, choose, clipped, standing

ROOT = Path(__file__).resolve().parent.parent

MOST = 400
"""Reports after which a simulation gives up."""


class Field:
    """What voices have said of one record."""

    def __init__(self, claim: float) -> None:
        self.claim = claim
        self._said: defaultdict[object, list[float]] = defaultdict(lambda: [0.0, 0])

    def report(self, voice: object, speedup: float) -> None:
        said = self._said[voice]
        said[0] += clipped(math.log(speedup))
        said[1] += 1

    @property
    def standing(self) -> Standing:
        opinions = [Opinion(total / count, int(count)) for total, count in self._said.values()]
        return standing(math.log(self.claim), opinions)


def measured(true: float, noise: float, numbers: random.Random) -> float:
    """What a client measures: one report in ten is of a machine that is busy with something else,
    which disturbs one of the two programs more than the other."""
    busy = numbers.choice([0.3, -0.3]) if numbers.random() < 0.1 else 0.0
    return true * math.exp(numbers.gauss(0.0, noise) + busy)


def reports_until(
    true: float, claim: float, voices: int, noise: float, seed: int, liars: int = 0
) -> int | None:
    """Honest reports until a recipe is withdrawn, from voices at random; None if it is not.

    Args:
        liars: voices that praise it at every turn.
    """
    numbers = random.Random(seed)
    field = Field(claim)
    for count in range(1, MOST + 1):
        for liar in range(liars):
            field.report(f"liar {liar}", 100.0)
        field.report(numbers.randrange(voices), measured(true, noise, numbers))
        if field.standing.loses:
            return count
    return None


def told(found: list[int | None]) -> str:
    """Median and 95th percentile of reports, and the share within 10."""
    ordered = sorted(MOST + 1 if one is None else one for one in found)
    middle, late = ordered[len(ordered) // 2], ordered[int(0.95 * len(ordered))]
    within = sum(one <= 10 for one in ordered) / len(ordered)
    words = [f"{one:>4}" if one <= MOST else "   -" for one in (middle, late)]
    return f"median {words[0]}  95 % {words[1]}  within 10 reports {within:6.1%}"


def simulate(seeds: int) -> None:
    print("a planted loser, claimed 1.5x; voices speak at random, noise 5 %, one in ten disturbed")
    for true in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
        for voices in (5, 10, 30):
            found = [reports_until(true, 1.5, voices, 0.05, seed) for seed in range(seeds)]
            print(f"  true {true:4.2f}  voices {voices:3}  {told(found)}", flush=True)
    print("the same at 0.7x by what was claimed, and with more noise; 10 voices")
    for claim, noise in ((1.05, 0.05), (3.0, 0.05), (20.0, 0.05), (1.5, 0.15), (1.5, 0.3)):
        found = [reports_until(0.7, claim, 10, noise, seed) for seed in range(seeds)]
        print(f"  claim {claim:5.2f}  noise {noise:4.2f}  {told(found)}", flush=True)
    print("liars that praise a loser of 0.7x, among 10 honest voices")
    for liars in (0, 1, 2, 3, 5):
        found = [reports_until(0.7, 1.5, 10, 0.05, seed, liars) for seed in range(seeds)]
        print(f"  liars {liars}  {told(found)}", flush=True)
    print("winners that are withdrawn by noise alone, 30 voices, 400 reports")
    for true in (1.0, 1.02, 1.1, 1.5):
        found = [reports_until(true, 1.5, 30, 0.05, seed) for seed in range(seeds // 4)]
        lost = sum(one is not None for one in found)
        print(f"  true {true:4.2f}  withdrawn {lost} of {len(found)}", flush=True)
    liar_alone(seeds)
    conspiracy(seeds)


def liar_alone(seeds: int) -> None:
    """One token, 10,000 reports that a good recipe loses."""
    print("one liar with 10,000 reports against a recipe of 1.5x, honest voices beside it")
    for honest in (0, 1, 2, 3, 10):
        withdrawn, moved = 0, 0.0
        for seed in range(seeds):
            numbers = random.Random(seed)
            field, without = Field(1.5), Field(1.5)
            for voice in range(honest):
                for _ in range(3):
                    speedup = measured(1.5, 0.05, numbers)
                    field.report(voice, speedup)
                    without.report(voice, speedup)
            for count in range(10_000):
                field.report("liar", 0.01)
                withdrawn += count % 1000 == 0 and field.standing.loses
            withdrawn += field.standing.loses
            # Toward the record's own measurement is where a liar may move it.
            moved = max(moved, abs(field.standing.shift) - abs(without.standing.shift))
        print(f"  honest {honest:2}  withdrawn {withdrawn}  moved away by {moved:.4f}", flush=True)


def conspiracy(seeds: int) -> None:
    """Several tokens that say a good recipe loses."""
    print("liars that condemn a recipe of 1.5x: how often it is withdrawn (and measured again)")
    for honest in (0, 3, 10, 20):
        line = []
        for liars in (1, 2, 3, 4, 6, 10, 15, 25, 40):
            lost = 0
            for seed in range(seeds // 4):
                numbers = random.Random(seed)
                field = Field(1.5)
                for voice in range(honest):
                    field.report(voice, measured(1.5, 0.05, numbers))
                for liar in range(liars):
                    field.report(f"liar {liar}", 0.5)
                lost += field.standing.loses
            line.append(f"{liars}: {lost / (seeds // 4):4.0%}")
        print(f"  honest {honest:2}  {'  '.join(line)}", flush=True)


def choices(seeds: int) -> None:
    """The choice rule against always taking the best measured, over 1,000 uses of a nest."""
    print("mean log speedup of 1,000 choices among 4 recipes whose field differs from measurement")
    rules: dict[str, float] = {"best measured": 0.0, "standing only": 1e-9, "choice rule": 1 / 16}
    for name, exploring in rules.items():
        gained, best = [], []
        for seed in range(seeds):
            numbers = random.Random(seed)
            truth = [math.exp(numbers.gauss(0.4, 0.3)) for _ in range(4)]
            fields = [Field(max(1.02, one * math.exp(numbers.gauss(0, 0.35)))) for one in truth]
            total = 0.0
            chosen, arms = 0, [Arm(str(n), f.standing.posterior) for n, f in enumerate(fields)]
            for use in range(1000):
                if use and exploring:
                    now = fields[chosen].standing
                    arms[chosen] = Arm(str(chosen), now.posterior, now.loses)
                chosen = int(choose(arms, f"{seed} {use}", exploring) or 0)
                total += math.log(truth[chosen])
                if exploring:
                    speedup = measured(truth[chosen], 0.05, numbers)
                    fields[chosen].report(use % 20, speedup)
            gained.append(total / 1000)
            best.append(math.log(max(truth)))
        regret = statistics.mean(b - g for b, g in zip(best, gained, strict=True))
        print(
            f"  {name:<14} {statistics.mean(gained):.4f}  behind the best by {regret:.4f}",
            flush=True,
        )


# On real nests

PROGRAMS = """
import numpy as np


def doubled(A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] = 2.0 * A[i, j] + B[i, j]


def mixed(A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] = A[i, j] * (B[i, j] - 0.5) + 0.25 * A[i, j]


def product(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(B.shape[0]):
                C[i, j] += A[i, k] * B[k, j]


def dots(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(B.shape[1]):
                C[i, j] += A[i, k] * B[j, k]


def wide(n=1500):
    return np.full((n, n), 0.5), np.full((n, n), 0.25)


def matrices(n=200):
    return np.full((n, n), 0.5), np.full((n, n), 0.25), np.zeros((n, n))


ARGUMENTS = {"doubled": wide, "mixed": wide, "dots": matrices, "product": matrices}
"""

CLIENT = """
import sys
sys.path.insert(0, {folder!r})
import loopbook, programs
kernel = getattr(programs, {name!r})
run = loopbook.native(kernel, report=True)
arguments = programs.ARGUMENTS[{name!r}]()
run(*arguments)
nest = run.plan.nests[0]
print(nest.record if nest.recipe else "-")
"""

STRIDES = "interchange L0 L1\n"
TILES = "tile L0 2\ntile L1 2\ntile L2 2\n"
GOOD = "interchange L1 L2\nvectorize L1\n"


def real(clients: int) -> int:
    import client_kit
    from server_kit import serving, token

    from loopbook.client.remote.client import Client
    from loopbook.recipes.reports import Report

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "programs.py").write_text(PROGRAMS)
        sys.path.insert(0, name)
        import programs  # type: ignore[import-not-found]

        planted = {}
        recipes = {"doubled": STRIDES, "mixed": STRIDES, "dots": TILES, "product": GOOD}
        for kernel, recipe in recipes.items():
            function: Callable = getattr(programs, kernel)
            client_kit.ARGUMENTS[function] = programs.ARGUMENTS[kernel]
            planted[kernel] = client_kit.record(function, recipe, 1.5)
        store = str(client_kit.fill(folder / "book.db", planted.values()))
        good = planted["product"]
        with serving(store, "--workers", 1, "--deadline", 600) as server:
            with Client(server.url, token(store, name="liar")) as liar:
                report = Report(good.id, good.hardware.key, 1e-3, 1.0)
                answers = [one for _ in range(32) for one in liar.report([report] * 32)]
            print(f"liar: {len(answers)} reports, answered {sorted(set(answers))}", flush=True)
            for kernel, record in planted.items():
                used = told_ratios(folder, server.url, store, kernel, record.id, clients)
                for line in used:
                    print(f"{kernel:<8} {line}", flush=True)
        return 0


def told_ratios(
    folder: Path, url: str, store: str, kernel: str, record: str, clients: int
) -> Iterator[str]:
    """A line for each client, each with a token and a process of its own."""
    from server_kit import token

    from loopbook.recipes import Book

    for number in range(clients):
        secret = token(store, name=f"{kernel} {number}")
        home = folder / f"home {kernel} {number}"  # no client has another one's cache
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / "cache"),
            "LOOPBOOK_BOOK": str(home / "none.db"),
            "LOOPBOOK_STARTER": "",
            "LOOPBOOK_SERVER": url,
            "LOOPBOOK_TOKEN": secret,
        }
        code = CLIENT.format(folder=str(folder), name=kernel)
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        served = done.stdout.strip() or done.stderr.strip()[-200:]
        with Book.open(store, readonly=True) as book:
            opinions = [o for some in book.reports.opinions(record).values() for o in some]
            there = book.record(record) is not None
        means = sorted(round(math.exp(one.mean), 2) for one in opinions)
        what = "the planted recipe" if served == record else served
        yield f"client {number + 1:2}: served {what}; in the book {there}; voices say {means}"
        if not there:
            return


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=("simulate", "real", "choices"))
    parser.add_argument("--seeds", type=int, default=400)
    parser.add_argument("--clients", type=int, default=10)
    options = parser.parse_args()
    if options.what == "real":
        return real(options.clients)
    (simulate if options.what == "simulate" else choices)(options.seeds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
