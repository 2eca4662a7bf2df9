"""How a recipe does where it runs, judged from what many callers report.

A report is the logarithm of a ratio: the time of docc's own schedule over the time with the recipe.
All reports of one caller together are one opinion, their mean: a voice does not become louder by
speaking often. The posterior of a recipe's mean log speedup starts from the record's own
measurement, and moves with the median of the opinions, which the farthest of them does not move.

What follows has to follow without any one of the voices as well. So whatever one voice says, a
standing stays between the record's own measurement and what all others say without it, and nothing
is withdrawn that the others alone would not withdraw.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

from loopbook.recipes.record import LOSES

LEAST_LOG, MOST_LOG = math.log(0.5), math.log(4.0)
"""A report, or a record's own measurement, beyond these counts as the nearer one: there a recipe
loses, or wins, all the same, and what exaggerates shall neither carry more weight nor make the
others' opinions look farther apart than they are."""

VOICES = 3
"""So many voices have to speak before anything follows: the least of which a median is moved by no
single one. A machine that the owner trusts is as good as so many, once it has reported as often."""

PRIOR_SD = 0.35
"""How far the field may be from a record's own measurement on the same class of machines, in
logarithms: other sizes, other data, a busy machine. Two records in three are within 1.4×."""

ELSEWHERE = 2.0
"""On another class of machines it is so many times as far."""

VOICE_SD, VOICE_SD_WEIGHT = 0.15, 2.0
"""How far opinions are apart before one has seen many, and how many opinions that is worth. Ratios
of programs that are timed in turn are within 5 %, the sizes that people run them at are not."""

MEDIAN_LOSS = math.pi / 2
"""The variance of a median over that of a mean."""

ODD = 0.2
"""The share of the opinions, at least one, that may be odd, or lies, without that the rest is taken
to be less sure. Where more are far apart, a recipe may gain for some and lose for others."""

TRIMMED_TO_SD = 1.51
"""Of normal figures: the standard deviation over that of those nearest to the middle, a fifth left
out."""

SURE = 0.95
"""A recipe is withdrawn if it loses with more than this probability."""

EXPLORING = 1 / 16
"""The share of choices that try something else than the best recipe."""

WORTH_TRYING = 0.02
"""A recipe that is the better one with less probability is not tried: users pay for each try."""


class Opinion(NamedTuple):
    """All reports of one voice about one record on one class of machines.

    Attributes:
        mean: of the log speedups.
        count: of its reports.
        trusted: it is a machine of the owner's.
    """

    mean: float
    count: int = 1
    trusted: bool = False


class Posterior(NamedTuple):
    """What is known of a mean log speedup: a normal distribution."""

    mean: float
    sd: float

    def below(self, least: float) -> float:
        """With which probability it is less."""
        return 0.5 * math.erfc((self.mean - least) / (self.sd * math.sqrt(2.0)))


class Standing(NamedTuple):
    """How a record stands on one class of machines.

    Attributes:
        posterior: with all voices.
        voices: how many have spoken, a trusted one counted as up to `VOICES`.
        shift: what to add to the record's log speedup.
        loses: whether that it loses is sure, also without any one of the voices.
    """

    posterior: Posterior
    voices: int
    shift: float
    loses: bool


class Arm(NamedTuple):
    """A recipe to choose, or not."""

    id: str
    posterior: Posterior
    loses: bool = False


def clipped(log_speedup: float) -> float:
    """What a log speedup counts as."""
    return max(LEAST_LOG, min(log_speedup, MOST_LOG))


def standing(
    log_speedup: float, opinions: Iterable[Opinion], *, elsewhere: bool = False
) -> Standing:
    """How a record stands.

    Args:
        log_speedup: that the record itself tells.
        elsewhere: the reports are from another class of machines than the record.
    """
    prior = Posterior(clipped(log_speedup), PRIOR_SD * (ELSEWHERE if elsewhere else 1.0))
    values = sorted(
        clipped(one.mean)
        for one in opinions
        for _ in range(min(one.count, VOICES) if one.trusted else 1)
    )
    whole = _posterior(prior, values)
    if len(values) < VOICES:
        return Standing(whole, len(values), 0.0, False)
    without = [_posterior(prior, values[:n] + values[n + 1 :]) for n in range(len(values))]
    shifts = [one.mean - prior.mean for one in (whole, *without)]
    least, most = min(shifts), max(shifts)
    shift = least if least > 0.0 else most if most < 0.0 else 0.0
    loses = all(one.below(math.log(LOSES)) > SURE for one in (whole, *without))
    return Standing(whole, len(values), shift, loses)


def _posterior(prior: Posterior, values: Sequence[float]) -> Posterior:
    """With opinions of unknown spread, which is taken from how far they are from their median."""
    if not values:
        return prior
    middle = median(values)
    apart = sorted(abs(one - middle) for one in values)
    apart = apart[: len(apart) - max(1, math.ceil(ODD * len(apart)))]
    spread = TRIMMED_TO_SD * math.sqrt(math.fsum(one**2 for one in apart) / max(len(apart), 1))
    known = len(values) - 1
    variance = VOICE_SD_WEIGHT * VOICE_SD**2 + known * spread**2
    variance *= MEDIAN_LOSS / (VOICE_SD_WEIGHT + known)
    before, told = prior.sd**-2, len(values) / variance
    return Posterior(
        (prior.mean * before + middle * told) / (before + told), (before + told) ** -0.5
    )


def choose(arms: Sequence[Arm], seed: str, exploring: float = EXPLORING) -> str:
    """Which recipe to serve; the same for the same arms and seed, whatever their order.

    Mostly the one with the best posterior mean. A share of the choices is Thompson's: one drawn
    with the probability that it is the best, of those that may well be.

    Args:
        seed: of the choice, such as a digest of the question and the book's stamp.

    Returns:
        The id of an arm; empty if all of them lose.
    """
    ordered = sorted(
        (one for one in arms if not one.loses), key=lambda one: (-one.posterior.mean, one.id)
    )
    if not ordered:
        return ""
    best = ordered[0]
    numbers = random.Random(hashlib.sha256(seed.encode()).digest())
    if numbers.random() >= exploring:
        return best.id
    tried = [one for one in ordered if one is best or _better(one, best) >= WORTH_TRYING]
    drawn = [(numbers.gauss(*one.posterior), one.id) for one in tried]
    return max(drawn)[1]


def _better(one: Arm, other: Arm) -> float:
    """With which probability one arm is better than another."""
    sd = math.hypot(one.posterior.sd, other.posterior.sd)
    return Posterior(other.posterior.mean - one.posterior.mean, sd).below(0.0)
