"""Thousands of damaged requests against a server: it answers or refuses each, and goes on.

    python benchmarks/hostile.py [--requests 2000] [--seed 1]
    python benchmarks/hostile.py nests [--nests 5000] [--seed 1]

The second form is about nests, see `hostile_nests.py`.

Prints how they ended and how many workers they cost; exit code 1 if one made the server fail.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import client_kit
import hostile_nests
import server_kit
from test_server_fuzz import mutated


def main() -> int:
    if sys.argv[1:2] == ["nests"]:
        return hostile_nests.main(sys.argv[2:])
    parser = argparse.ArgumentParser(description="Damaged requests against a server.")
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    numbers = random.Random(options.seed)
    kernels = (client_kit.product, client_kit.chain, client_kit.stencil)
    documents = [server_kit.message(kernel) for kernel in kernels]
    outcomes: Counter[str] = Counter()
    failed = 0
    with (
        server_kit.product_store() as store,
        server_kit.serving(store, "--workers", 2, "--deadline", 20) as server,
        server.client(server_kit.token(store)) as client,
    ):
        for _ in range(options.requests):
            body = json.dumps(mutated(numbers.choice(documents), numbers))
            path = numbers.choice(("transfertune_sdfg", "transfertune"))
            answer = client.post(f"/docc/{path}", content=body)
            words = answer.json().get("error", "a schedule")
            outcomes[f"{answer.status_code} {words[:50]}"] += 1
            failed += answer.status_code not in (200, 422)
        replaced = [
            line
            for line in client.get("/metrics").text.splitlines()
            if line.startswith("loopbook_workers_replaced_total")
        ]
    for words, count in outcomes.most_common(25):
        print(f"{count:6} {words}")
    print("\n".join(replaced) or "no worker was replaced")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
