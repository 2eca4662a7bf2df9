"""A PyTorch MLP through ``torch.compile(backend="docc")``, its schedule from a loopbook server.

    python -m venv ai && ai/bin/pip install torch==2.13.0 docc-ai torch-mlir
    python benchmarks/mlp.py [--python ai/bin/python] [--target sequential] [--rounds 20]

Starts ``loopbook serve`` with the starter book. docc compiles the model with and without remote
tuning; both must give PyTorch's numbers, and their runs are timed in turn. The model runs in a
process of its own: docc-ai is no requirement of loopbook, and may be installed elsewhere.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.serving import serve
from loopbook.targets import DEFAULT

CHILD = """
import json, sys, time
import torch
import docc.torch  # registers the backend

target, rounds = sys.argv[1], int(sys.argv[2])
torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256), torch.nn.ReLU(),
    torch.nn.Linear(256, 64),
).eval()
x = torch.randn(128, 256)
told = {}
with torch.no_grad():
    want = model(x)
    ways = {}
    for way, remote in (("docc", False), ("remote", True)):
        options = {"target": target, "remote_tuning": remote}
        torch._dynamo.reset()
        ways[way] = torch.compile(model, backend="docc", options=options)
        begun = time.perf_counter()
        got = ways[way](x)
        told[way] = {
            "first_call_s": time.perf_counter() - begun,
            "right": torch.allclose(got, want, rtol=1e-4, atol=1e-5),
            "largest_difference": float((got - want).abs().max()),
            "seconds": float("inf"),
        }
    for _ in range(rounds):
        for way, compiled in ways.items():
            begun = time.perf_counter()
            compiled(x)
            told[way]["seconds"] = min(told[way]["seconds"], time.perf_counter() - begun)
print(json.dumps(told))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description="A PyTorch MLP with remote tuning.")
    parser.add_argument("--python", default=sys.executable, help="one with torch and docc-ai")
    parser.add_argument("--target", default=DEFAULT)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    from loopbook.toolchain import compiler

    compiler.activate()  # for the child, too: docc calls a compiler that may not be here
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "book.db")
        server, url, token = serve(store)
        surroundings = {
            **os.environ,
            "RPC_SERVER": f"{url}/docc",
            "DOCC_ACCESS_TOKEN": token,
            "DOCC_TMP": folder,  # docc keeps what it compiled, and would not ask again
        }
        try:
            words = [options.python, "-c", CHILD, options.target, str(options.rounds)]
            done = subprocess.run(
                words, capture_output=True, text=True, env=surroundings, check=False, timeout=900
            )
            asked = httpx.get(f"{url}/metrics").text
        finally:
            server.terminate()
            server.wait(60)
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        return 1
    told = json.loads(done.stdout.splitlines()[-1])
    for way, row in told.items():
        print(way, *(f"{key} {value}" for key, value in row.items()), sep="  ")
    counts = [
        line for line in asked.splitlines() if line.startswith("loopbook_") and "docc" in line
    ]
    print(*(line for line in counts if "_seconds" not in line), sep="\n")
    return 0 if all(row["right"] for row in told.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
