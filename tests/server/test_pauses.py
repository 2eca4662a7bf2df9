"""What the server spares Python's collector."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import gc, weakref
from loopbook.server.pauses import spare_pauses

class Node:
    pass

def ring():
    node = Node()
    node.itself = node
    return node

stays, gone = ring(), weakref.ref(ring())
spare_pauses()
assert gone() is None, "garbage was kept for good"
assert not any(found is stays for found in gc.get_objects()), "still searched at each collection"
late = weakref.ref(ring())
gc.collect()
assert late() is None, "cycles of later are not found"
"""


def test_what_stays_is_not_searched_and_what_comes_later_is():
    subprocess.run([sys.executable, "-c", CODE], check=True, timeout=600)
