"""What steps call the loops of a nest, while steps make, move and remove loops.

A loop keeps its number and its name wherever it goes. What a step makes is named after the loop
that it was made of, as the step's class says (``makes``).
"""

from __future__ import annotations

from collections.abc import Mapping


class LoopNames:
    """Names of a nest's loops.

    Args:
        ids: name to docc's number.
        loops: number to variable, in preorder; nothing for a loop that counts nothing.
    """

    def __init__(self, ids: Mapping[str, int], loops: Mapping[int, str]) -> None:
        self._ids = dict(ids)
        self._loops = loops

    @property
    def ids(self) -> dict[str, int]:
        """Name to number of every loop, in preorder."""
        by_id = {number: name for name, number in self._ids.items()}
        return {by_id[number]: number for number in self._loops if number in by_id}

    @property
    def variables(self) -> list[str]:
        """What the loops count with."""
        return [name for name in self._loops.values() if name]

    def copies(self, base: str) -> list[str]:
        """The loop of this name and its ``.rest`` and ``.part`` copies, in preorder."""
        return [name for name in self.ids if name == base or _is_copy(name, base)]

    def changed(self, loops: Mapping[int, str], made: Mapping[int, str]) -> LoopNames:
        """The names after a step.

        Args:
            loops: as they are now.
            made: number and wanted name of the loops that it made.
        """
        left = {name: number for name, number in self._ids.items() if number in loops}
        names = LoopNames(left, loops)
        for number in (number for number in loops if number in made):
            names._ids[names._free(made[number])] = number
        return names

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
