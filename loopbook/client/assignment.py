"""The best one-to-one assignment of rows to columns.

`scipy.optimize.linear_sum_assignment` gives the same answers (a test compares them), but importing
it takes longer than all else of porting a recipe, once a process, while its user waits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


def assign(similar: np.ndarray) -> list[int]:
    """The column of each row, such that the sum of their similarities is greatest.

    Shortest augmenting paths with dual variables: D. F. Crouse, "On implementing 2D rectangular
    assignment algorithms", IEEE Transactions on Aerospace and Electronic Systems 52 (2016). O(n²m).

    Args:
        similar: rows × columns, finite, with at least as many columns as rows.
    """
    costs = (-similar).tolist()
    state = _State([0.0] * similar.shape[0], [0.0] * similar.shape[1], {}, {})
    for row in range(similar.shape[0]):
        _augment(costs, state, row)
    return [state.column_of[row] for row in range(similar.shape[0])]


@dataclass
class _State:
    """Assigned so far, and the dual variables of rows and columns."""

    of_rows: list[float]
    of_columns: list[float]
    column_of: dict[int, int]
    row_of: dict[int, int]


def _augment(costs: list[list[float]], state: _State, start: int) -> None:
    """Assign one more row by the cheapest alternating path from it to a free column."""
    columns = len(state.of_columns)
    distance, before = [math.inf] * columns, [start] * columns
    open_columns = list(range(columns - 1, -1, -1))  # so that equal costs give the identity
    closed: list[int] = []
    row, reached = start, 0.0
    while True:
        nearest = place = -1
        least = math.inf
        for index, column in enumerate(open_columns):
            through = reached + costs[row][column] - state.of_rows[row] - state.of_columns[column]
            if through < distance[column]:
                distance[column], before[column] = through, row
            far = distance[column]
            if far < least or (far == least and column not in state.row_of):
                least, nearest, place = far, column, index
        reached = least
        closed.append(nearest)
        open_columns[place] = open_columns[-1]
        open_columns.pop()
        if nearest not in state.row_of:
            break
        row = state.row_of[nearest]
    state.of_rows[start] += reached
    for column in closed:
        slack = reached - distance[column]
        if column in state.row_of:
            state.of_rows[state.row_of[column]] += slack
        state.of_columns[column] -= slack
    column = closed[-1]
    while True:
        row = before[column]
        state.row_of[column] = row
        following = state.column_of.get(row, -1)
        state.column_of[row] = column
        if row == start:
            return
        column = following
