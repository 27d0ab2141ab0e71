"""Classes of certainty: how often a quote of such a kind was right.

The words of the question decide: a quote that has all of them, with its headings, was nearly always right, one that has
some of them sometimes, and questions about something else seldom reach half. The bounds were chosen on the half of the
questions for tuning (`benchmarks/answers`), and `RATES` are what was measured on the other half.
"""

# Implements: REQ-d00402-B

from collections.abc import Iterable
from enum import StrEnum

import msgspec


class Certainty(StrEnum):
    SURE = "sure"
    LIKELY = "likely"
    UNSURE = "unsure"


RATES = {Certainty.SURE: 0.83, Certainty.LIKELY: 0.57, Certainty.UNSURE: 0.26}
"""Answers whose surest quote is of a class: the share that was right, of 100 answers that are held out."""
_SURE, _LIKELY = 0.95, 0.55
"""Least shares of the question's words, by their rarity, in a quote and the headings above it."""
_NEAR = 0.3
"""Least likeness in meaning, where that is known."""
_TELLING = 1.0
"""Least rarity of all shared words together: a quote that shares only words that most texts have tells nothing."""


class QuoteSupport(msgspec.Struct, frozen=True, gc=False):
    """What speaks for a quote."""

    same: float
    """The share of the question's words that it has with its headings, by rarity; from 0 to 1."""
    telling: float
    """The rarity of these words, added up."""
    near: float | None
    """Likeness in meaning; None if it is not known."""
    may_answer: bool
    """False if it is too far from the question to be an answer."""
    names: bool = False
    """True if the question names something: in a small project its name may stand in every text."""
    defines: bool = False
    """True if it says what the thing is that the question asks for."""

    @property
    def is_related(self) -> bool:
        return self.same > 0 or (self.near is not None and self.near >= _NEAR)

    @property
    def certainty(self) -> Certainty:
        is_far = self.near is not None and self.near < _NEAR
        says_little = self.telling < _TELLING and not self.names and not self.defines
        if not self.may_answer or is_far or says_little or (self.same < _LIKELY and not self.defines):
            return Certainty.UNSURE
        return Certainty.SURE if self.same >= _SURE else Certainty.LIKELY


def surest(found: Iterable[Certainty]) -> Certainty:
    """The class of an answer: that of its surest quote."""
    there = set(found)
    return next((each for each in Certainty if each in there), Certainty.UNSURE)
