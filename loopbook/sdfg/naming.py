"""What steps call the loops of a nest, while steps make, move and remove loops.

docc gives loops new element ids whenever it moves them. After each step the loops before and after
are compared: survivors keep their names, moved loops get those of their old selves, and what a step
made is named after the loop that it was made of, as the step's class says (``makes``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopbook.sdfg.transformations import is_split, made_loop


class LoopNames:
    """Names of a nest's loops.

    Args:
        ids: name to element id.
        loops: element id to variable, in preorder; nothing for a loop that counts nothing.
    """

    def __init__(self, ids: Mapping[str, int], loops: Mapping[int, str]) -> None:
        self._ids = dict(ids)
        self._loops = loops

    @property
    def ids(self) -> dict[str, int]:
        """Name to element id of every loop, in preorder."""
        by_id = {element: name for name, element in self._ids.items()}
        return {by_id[i]: i for i in self._loops if i in by_id}

    @property
    def indvars(self) -> list[str]:
        """The loops' variables; none for one that counts nothing."""
        return [name for name in self._loops.values() if name]

    def id_of(self, name: str) -> int:
        """The element id of a loop; 0, which no loop has, for one that there is not."""
        return self._ids.get(name, 0)

    def copies(self, base: str) -> list[str]:
        """The loop of this name and its ``.rest`` and ``.part`` copies, in preorder."""
        return [name for name in self.ids if name == base or _is_copy(name, base)]

    def rewritten(self, loops: Mapping[int, str], made: Mapping[int, str]) -> None:
        """Go on after a rewriting, which leaves element ids as they are.

        Args:
            loops: as they are now.
            made: element id to wanted name of the loops that it made.
        """
        self._ids = {name: element for name, element in self._ids.items() if element in loops}
        self._loops = loops
        for element, wanted in made.items():
            self._ids[self._free(wanted)] = element

    def transformed(self, loops: Mapping[int, str], label: str, transformation: Any) -> None:
        """Go on after one of docc's transformations.

        Args:
            loops: as they are now.
            label: name of a loop that it made.
        """
        fresh = [element for element in loops if element not in self._loops]
        made = made_loop(transformation)
        if made in fresh:
            fresh.remove(made)
            self._ids[self._free(label)] = made
        lost: dict[str, list[str]] = {}
        for name, element in self.ids.items():
            if element not in loops:
                lost.setdefault(self._loops.get(element, ""), []).append(name)
                del self._ids[name]
        self._loops = loops
        unnamed = self._hand_on(fresh, lost)
        orphans = [name for names in lost.values() for name in names]
        for element in unnamed:
            if orphans and is_split(transformation):
                self._ids[orphans.pop(0)] = element
            else:
                self._ids[self._free(self._label_new(label, element))] = element

    def _hand_on(self, fresh: list[int], lost: dict[str, list[str]]) -> list[int]:
        """Give new loops the names of lost ones with their variables, and name further loops with
        the same variable as copies; what is left has no name yet."""
        unnamed = []
        copies: dict[str, str] = {}
        for element in fresh:
            indvar = self._loops[element]
            if waiting := lost.get(indvar):
                name = waiting.pop(0)
                copies.setdefault(indvar, name)
                self._ids[name] = element
            elif indvar in copies:
                self._ids[self._free(f"{copies[indvar]}.rest")] = element
            else:
                unnamed.append(element)
        return unnamed

    def _label_new(self, label: str, element: int) -> str:
        if "_wb_" in self._loops[element]:
            return label.removesuffix(".load") + ".store"
        return label

    def _free(self, wanted: str) -> str:
        """`wanted`, with a number behind it if that name is taken."""
        if not wanted:
            wanted = "X"
        if wanted not in self._ids:
            return wanted
        number = 1 if wanted.endswith((".load", ".store")) else 2
        while f"{wanted}{number}" in self._ids:
            number += 1
        return f"{wanted}{number}"


def _is_copy(name: str, base: str) -> bool:
    rest = name.removeprefix(base)
    return rest != name and rest.startswith((".rest", ".part"))
