"""Many recipes for one nest come to what each comes to by itself."""

from __future__ import annotations

from random import Random

import pytest
from client_kit import nests_of, product, stencil

from loopbook.program.write import write
from loopbook.rules import TuningContext, random_step
from loopbook.steps import Step, transformer
from loopbook.steps.transformer import Transformer
from loopbook.steps.workbench import transformed

Steps = tuple[Step, ...]


def recipes(kernel, count: int) -> list[Steps]:
    """Recipes of which many begin alike, and many steps are refused."""
    nest, random = nests_of(kernel)[0], Random(1)
    around = TuningContext("openmp", 8)
    found: list[Steps] = [()]
    while len(found) < count:
        begun = random.choice(found)
        found.append((*begun[: random.randint(0, 6)], random_step(nest, random, around)))
    return found


@pytest.mark.parametrize("kernel", [product, stencil])
@pytest.mark.parametrize("most", [transformer.MOST, 5])
def test_each_recipe_is_applied_as_if_it_were_alone(monkeypatch, kernel, most):
    monkeypatch.setattr(transformer, "MOST", most)
    nest = nests_of(kernel)[0]
    together, refused = Transformer(nest), 0
    for steps in recipes(kernel, 60):
        after, left = together(steps)
        alone, others = transformed(nest, steps)
        assert write(after.program) == write(alone.program)
        assert (after.names, left) == (alone.names, others)
        refused += len(left)
    assert refused > 5
