"""A book as a whole: what is in it, and whether all of it can be read."""

from __future__ import annotations

from collections import Counter
from typing import Any

from loopbook.errors import BookError
from loopbook.recipes import schema
from loopbook.recipes.store import Store


def info(store: Store) -> dict[str, Any]:
    """What :meth:`loopbook.recipes.book.Book.info` tells."""
    entries = store.entries()
    profiles = store.hardware()
    machines = Counter(profiles[e.hardware_id].key for e in entries if e.hardware_id in profiles)
    return {
        "name": store.name,
        "readonly": store.readonly,
        "schema": schema.VERSION,
        "records": len(entries),
        "nests": len({entry.fingerprint for entry in entries}),
        "targets": dict(sorted(Counter(entry.target for entry in entries).items())),
        "kernels": dict(sorted(Counter(entry.kernel for entry in entries).items())),
        "encoders": store.encoders(),
        "hardware": dict(machines.most_common()),
        "misses": len(store.misses()),
        "bytes": store.path.stat().st_size if store.path is not None else None,
    }


def faults(store: Store) -> list[str]:
    """What :meth:`loopbook.recipes.book.Book.verify` finds."""
    store = store.afresh()
    try:
        found = store.faults()
        last = ""
        while ids := store.ids(last):
            store.records(ids, strict=False)
            last = ids[-1]
        nests = sorted({entry.fingerprint for entry in store.entries(strict=False)})
        store.hardware(strict=False)
        for encoder in store.encoders(strict=False):
            store.embeddings(nests, encoder, strict=False)
            for _ in store.vectors(encoder):
                pass
    except BookError as error:
        return [*store.damage.lines, str(error)]
    return [*found, *store.damage.lines]
