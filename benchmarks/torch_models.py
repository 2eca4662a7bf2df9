"""PyTorch models: eager, ``torch.compile``'s default, docc's backend in three ways, and ours.

    python -m venv ai && ai/bin/pip install '.[torch,server]'
    ai/bin/python benchmarks/torch_models.py [MODEL…] [--seconds 3] [--without-docc] [--out FILE]

The ways:

    eager       PyTorch as it is
    inductor    torch.compile(model)
    docc        torch.compile(model, backend="docc"), docc alone
    target      the same with docc's target ``loopbook``
    remote      the same with remote tuning, from ``loopbook serve`` over the starter book
    loopbook    torch.compile(model, backend="loopbook")

One thread. Each model has two processes (`TOGETHER`), and one more without the way that ended one.
The ways are called in turn for so many seconds; compared are the medians of the thread's time.
Errors are measured by the largest number that eager gives.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

TOGETHER = (("eager", "inductor", "loopbook"), ("eager", "docc", "target", "remote"))
"""Ways that one process calls in turn. docc's own programs do not give all memory back, for which
every later allocation of their process pays."""

SHOWN = ("inductor", "docc", "target", "remote", "loopbook")

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

MODEL_SECONDS = 1500.0

RIGHT = 1e-4
"""What errors may be: the models compute in single precision."""


def models() -> dict[str, Callable[[], tuple[Any, tuple[Any, ...]]]]:
    """Name to what makes a model and its inputs."""
    import torch
    from torch import nn, randn
    from torch.nn import functional

    from benchmarks.torch_resnet import Residual, ResNet18

    class Attention(nn.Module):
        def forward(self, q: Any, k: Any, v: Any) -> Any:
            weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), dim=-1)
            return weights @ v

    class Fused(nn.Module):
        def forward(self, q: Any, k: Any, v: Any) -> Any:
            return functional.scaled_dot_product_attention(q, k, v)

    def block(*layers: nn.Module) -> nn.Module:
        return nn.Sequential(*layers)

    images = (8, 32, 56, 56)
    heads = (1, 8, 256, 64)
    return {
        "linear": lambda: (block(nn.Linear(512, 1024), nn.ReLU()), (randn(256, 512),)),
        "mlp": lambda: (
            block(
                *(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU()),
                nn.Linear(512, 64),
            ),
            (randn(256, 512),),
        ),
        "softmax": lambda: (nn.Softmax(-1), (randn(1024, 1024),)),
        "norm-gelu": lambda: (block(nn.LayerNorm(768), nn.GELU()), (randn(1024, 768),)),
        "attention": lambda: (Attention(), (randn(*heads), randn(*heads), randn(*heads))),
        "sdpa": lambda: (Fused(), (randn(*heads), randn(*heads), randn(*heads))),
        "encoder": lambda: (
            nn.TransformerEncoderLayer(256, 8, 512, batch_first=True, activation="gelu"),
            (randn(4, 128, 256),),
        ),
        "conv": lambda: (block(nn.Conv2d(32, 32, 3, padding=1), nn.ReLU()), (randn(*images),)),
        "batch-norm": lambda: (block(nn.BatchNorm2d(32), nn.ReLU()), (randn(*images),)),
        "max-pool": lambda: (nn.MaxPool2d(3, 2, 1), (randn(*images),)),
        "avg-pool": lambda: (nn.AvgPool2d(2), (randn(*images),)),
        "residual": lambda: (Residual(32, 32), (randn(*images),)),
        "cnn": lambda: (
            block(
                *(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
                *(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
                *(nn.Flatten(), nn.Linear(32 * 8 * 8, 10)),
            ),
            (randn(32, 3, 32, 32),),
        ),
        "resnet18": lambda: (ResNet18(), (randn(1, 3, 224, 224),)),
    }


def made(name: str) -> tuple[Any, tuple[Any, ...]]:
    """A model as in use, with statistics as if it had been trained, and its inputs."""
    import torch

    torch.manual_seed(0)
    model, inputs = models()[name]()
    for part in model.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.get_buffer("running_mean").normal_(0, 0.1)
            part.get_buffer("running_var").uniform_(0.5, 1.5)
    return model.eval(), inputs


def compiled(model: Any, way: str) -> Callable[..., Any]:
    """The model in one of the ways."""
    import torch

    if way == "eager":
        return model
    if way == "inductor":
        return torch.compile(model)
    if way == "loopbook":
        return torch.compile(model, backend="loopbook")
    options: dict[str, Any] = {"target": "loopbook" if way == "target" else "sequential"}
    options["remote_tuning"] = way == "remote"
    return torch.compile(model, backend="docc", options=options)


def one(name: str, ways: list[str], seconds: float) -> None:
    """Compile a model in several ways and time them in turn; says before each what it begins."""
    warnings.simplefilter("ignore")
    from loopbook.toolchain import compiler

    compiler.activate()
    import torch

    import loopbook.sdfg  # before docc, whose stack traces would take seconds
    import loopbook.torch  # isort: skip
    import docc.torch  # noqa: F401  # type: ignore[import-not-found]  # isort: skip

    torch.set_num_threads(1)
    model, inputs = made(name)
    told: dict[str, dict[str, Any]] = {}
    calls: dict[str, Callable[..., Any]] = {}
    with torch.no_grad():
        want = model(*inputs)
        for way in ways:
            print(json.dumps({"begins": way}), flush=True)
            begun = time.perf_counter()
            try:
                call = compiled(model, way)
                call(*inputs)
                told[way] = {"first_call_s": time.perf_counter() - begun}
                got = call(*inputs)
            except Exception as error:  # a backend raises whatever it meets
                told[way] = {"failed": " ".join(f"{type(error).__name__}: {error}".split())[:300]}
                continue
            error = float((got - want).abs().max() / want.abs().max())
            told[way] |= {"error": error, "right": error <= RIGHT}
            calls[way] = call
        times: dict[str, list[float]] = {way: [] for way in calls}
        until = time.perf_counter() + seconds
        while time.perf_counter() < until or len(times["eager"]) < 7:
            for way, call in calls.items():
                call(*inputs)  # PyTorch looks first for what it ran last
                begun = time.thread_time()  # there is one thread, and others may share the core
                call(*inputs)
                times[way].append(time.thread_time() - begun)
    medians = {way: statistics.median(taken) for way, taken in times.items()}
    for way, median in medians.items():
        told[way] |= {"median_s": median, "calls": len(times[way])}
        told[way]["speed"] = medians["eager"] / median
    if decisions := loopbook.torch.decisions():
        told["loopbook"]["decision"] = repr(decisions[-1])
        told["loopbook"]["parts"] = [repr(part) for part in decisions[-1].parts]
    print(json.dumps({"model": name, "ways": told}), flush=True)


def measured(
    name: str, seconds: float, env: dict[str, str], together: Sequence[Sequence[str]] = TOGETHER
) -> dict[str, Any]:
    """One model in all ways."""
    told = [part(name, list(ways), seconds, env) for ways in together]
    return {
        "model": name,
        "ways": {way: row for ways in reversed(told) for way, row in ways.items()},
    }


def part(name: str, ways: list[str], seconds: float, env: dict[str, str]) -> dict[str, Any]:
    """One model, with those of the ways that do not end its process."""
    ended: dict[str, Any] = {}
    while True:
        words = [sys.executable, __file__, "--one", name, "--seconds", str(seconds)]
        done = subprocess.run(
            [*words, "--ways", ",".join(ways)],
            capture_output=True,
            text=True,
            env={**env, "DOCC_TMP": tempfile.mkdtemp(dir=env["DOCC_TMP"])},
            timeout=MODEL_SECONDS,
        )
        rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if rows and "model" in rows[-1]:
            return rows[-1]["ways"] | ended
        way = rows[-1]["begins"] if rows else ""
        if way not in ways or way == "eager":
            raise SystemExit(done.stderr[-3000:])
        ways.remove(way)
        ended[way] = {"failed": f"the process ended with {done.returncode}"}


def table(rows: list[dict[str, Any]]) -> str:
    """How many times as fast as eager each way is, and the geometric means."""
    head = ["model", "eager ms", *SHOWN, "loopbook ÷ inductor", "how ours runs"]
    lines = [head, ["---"] * len(head)]
    speeds: dict[str, list[float]] = {way: [] for way in (*SHOWN, "÷")}
    for row in rows:
        ways = row["ways"]
        line = [row["model"], f"{ways['eager']['median_s'] * 1e3:.3g}"]
        for way in SHOWN:
            told = ways.get(way)
            if told is None or "failed" in told:
                line.append("fails" if told else "")
                continue
            speeds[way].append(told["speed"])
            line.append(f"{told['speed']:.2f}" + ("" if told["right"] else " wrong"))
        ratio = ways["loopbook"].get("speed", math.nan) / ways["inductor"].get("speed", math.nan)
        if not math.isnan(ratio):
            speeds["÷"].append(ratio)
        how = ways["loopbook"].get("decision", "").partition(": ")[2].partition(",")[0]
        lines.append([*line, f"{ratio:.2f}", how.partition(";")[0].rstrip(">")])
    means = [
        f"{math.exp(statistics.fmean(map(math.log, s))):.2f}" if s else "" for s in speeds.values()
    ]
    lines.append(["geometric mean", "", *means, ""])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="PyTorch models in several ways.")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--seconds", type=float, default=3.0, help="for the calls of one model")
    parser.add_argument("--out", type=Path, help="where each model's row goes, as JSON")
    parser.add_argument("--without-docc", action="store_true", help="leave docc's own backend out")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--ways", default="eager", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one, options.ways.split(","), options.seconds)
        return 0
    from benchmarks.serving import serve

    rows = []
    together = TOGETHER[:1] if options.without_docc else TOGETHER
    with tempfile.TemporaryDirectory() as folder:
        server, url, token = serve(str(Path(folder) / "book.db"))
        env = {
            **os.environ,
            **ONE_THREAD,
            "RPC_SERVER": f"{url}/docc",
            "DOCC_ACCESS_TOKEN": token,
            "DOCC_TMP": folder,
            "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor",
        }
        try:
            for name in options.models or models():
                rows.append(measured(name, options.seconds, env, together))
                print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
                if options.out:
                    with options.out.open("a") as file:
                        file.write(json.dumps(rows[-1]) + "\n")
        finally:
            server.terminate()
            server.wait(60)
    packages = ("torch", "torch-mlir", "docc-ai", "docc-compiler")
    print(platform.machine(), *(f"{name} {version(name)}" for name in packages), sep=", ")
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
