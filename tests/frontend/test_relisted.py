"""Lists that names are given anew in loops and branches."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import check, function

ANEW = {
    "a list filtered again and again": """
        o = [v for v in x]
        for t in y:
            z, o = o, []
            for i in range(len(z)):
                if z[i] > t: o.append(z[i])
        return np.array(o), len(z)""",
    "levels of a search": """
        level, new, d = np.full(len(k), -1), [0], 0
        level[0] = 0
        while new:
            found = []
            for u in new:
                for v in (k[u], (u * 3 + 1) % len(k)):
                    if level[v] < 0:
                        level[v] = d + 1
                        found.append(v)
            new = found
            d += 1
        return level, d""",
    "the list before and the next one": """
        old, cur = [0.0], [1.0]
        for i in range(5):
            new = []
            for j in range(len(cur)):
                new.append(cur[j] + x[i])
            new.append(0.5)
            cur, old = new, cur
        return np.array(cur), np.array(old)""",
    "begun again in a branch": """
        run, best, n = [], [x[0]], 0
        for v in x:
            if v < 0.3: run = []
            run.append(v)
            if len(run) > len(best): best = run[:]
            if len(run) == 3:
                n += 1
                run = [v]
        return np.array(best), len(run), n""",
    "one with another name": """
        o = [v for v in x]
        for t in range(3):
            keep = o
            o = []
            for v in keep:
                if v > 0.2 * t: o.append(v)
            if len(o) < 4: break
        return np.array(o), np.array(keep)""",
    "halves, and pairs of numbers": """
        p = [(v, v * v) for v in x]
        while len(p) > 2:
            h = len(p) // 2
            if p[0][1] < p[h][1]: p = p[:h]
            else: p = p[h:]
        return np.array(p)""",
    "of one length here and another there": """
        if x[0] > 0.5: o = [x[0], x[1]]
        else: o = [x[2]]
        o.append(x[3])
        return np.array(o)""",
}


@pytest.mark.parametrize("text", ANEW.values(), ids=ANEW)
@pytest.mark.parametrize("seed", range(4))
def test_a_name_is_given_another_list(text, seed):
    body = "\n".join(line[8:] for line in text.splitlines()[1:])
    rng = np.random.default_rng(seed)
    y = np.array([0.1, 0.4, 0.2, 0.3])  # an earlier list would do if these rose
    check(function(body, "x, y, k"), rng.random(17), y, rng.integers(0, 9, 9))


def test_a_list_that_is_changed_under_two_names_is_refused():
    body = "o = []\nfor v in x:\n    n = [v]\n    n.append(v)\n    o = n\n"
    body += "    if v > 0.5:\n        n.append(2.0)\nreturn np.array(o)"
    with pytest.raises(LoweringError, match="another name"):
        lower(function(body, "x"), [np.arange(5.0)])
