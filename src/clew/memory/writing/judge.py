"""The relation of two statements: the same, contradicting, one replacing the other, or unrelated.

Two statements contradict each other where one denies what the other says. How likely that is follows from how alike
they are and from how much of what is denied the other one says at all; the weights were fitted to one half of the pairs
of SICK, and `make bench-memory` measures them on the other half. What nobody measured has no confidence.
"""

import math
import re
from typing import Literal

import msgspec

from clew.text.keywords import STOP_WORDS
from clew.text.stem import stem

Relation = Literal["same", "contradicts", "supersedes", "unrelated"]

SAME_FROM = 0.90
CONTRADICTS_FROM = 0.55
_NEAR_FROM, _SHARED_FROM = 0.55, 0.3
"""Below these, two statements are about different things, unless one denies what the other says."""

_BY_MEANING = (-2.65, 6.74, -6.96, 1.8, 0.36)
"""A constant, then what counts: the cosine, the share of the denied words that the other statement lacks, the share of
its own words that are not denied, and whether both begin with the same word."""
_BY_WORDS = (2.78, 0.0, -8.3, -0.34, 0.01)
"""The same where there is no cosine."""
_SAME_SHARES = ((0.95, 0.89), (SAME_FROM, 0.85))
"""Share of pairs with this similarity that pass the guards and say the same, as measured on the half that was fitted
to."""

_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|without|cannot|neither|nor)\b|n ?['\u2019]t\b", re.IGNORECASE
)
_CHANGE = re.compile(
    r"\b(?:no longer|instead of|anymore|any more|replaced|replaces|switched (?:from|to)|moved (?:from|to)|now uses?|"
    r"from now on|deprecated)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*|\b(?:zero|two|three|four|five|six|seven|eight|nine|ten|both)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_PAIRS = """
    up/down on/off in/out into/out onto/off inside/outside near/far big/small large/small big/little large/little
    full/empty open/close open/shut start/stop begin/end add/remove enable/disable allow/forbid allow/deny
    allow/block accept/reject include/exclude before/after first/last always/never all/none true/false
    public/private required/optional old/new old/young hot/cold warm/cold wet/dry high/low long/short fast/slow
    light/dark light/heavy left/right front/back top/bottom above/below over/under push/pull increase/decrease
    raise/lower rise/fall win/lose pass/fail read/write lock/unlock install/uninstall encrypt/decrypt same/different
    safe/dangerous clean/dirty quiet/loud load/unload fill/empty sit/stand asleep/awake buy/sell friend/enemy
    happy/sad male/female man/woman boy/girl indoors/outdoors success/failure online/offline upper/lower most/least
    more/less cheap/expensive strong/weak hard/soft north/south east/west day/night summer/winter white/black
    present/absent
"""
_OPPOSITES = frozenset(frozenset(stem(word) for word in pair.split("/")) for pair in _PAIRS.split())
"""Two statements that differ by such a pair do not say the same. That they contradict each other does not follow: of
pairs in SICK that differ by one of these alone, a third does."""


class Judgement(msgspec.Struct, frozen=True):
    kind: Relation
    confidence: float | None
    """Share of similar pairs with the same relation, as far as it was measured; null otherwise."""
    reasons: tuple[str, ...] = ()


def judge(old: str, new: str, cosine: float | None) -> Judgement:
    """The relation of a new statement to an old one. `cosine` is that of their vectors, None without vectors."""
    one, other = _words(old), _words(new)
    shared = len(set(one) & set(other)) / min(len(set(one)), len(set(other))) if one and other else 0.0
    near = cosine if cosine is not None else shared
    reasons = [f"{shared:.0%} of the words shared"]
    if cosine is not None:
        reasons.append(f"similarity {cosine:.2f}")
    is_near = near >= _NEAR_FROM and shared >= _SHARED_FROM
    if is_near and _CHANGE.search(new) and not _CHANGE.search(old):
        return Judgement("supersedes", None, (*reasons, "the new one says that something changed"))
    denies_old, denies_new = _NEGATION.search(old) is not None, _NEGATION.search(new) is not None
    if denies_old != denies_new:
        likely = _contradiction(one if denies_old else other, other if denies_old else one, cosine)
        if likely >= CONTRADICTS_FROM:
            return Judgement("contradicts", round(likely, 3), (*reasons, "one of them denies it"))
        return Judgement("unrelated", None, (*reasons, "one of them denies something else"))
    if is_near and _numbers(old) != _numbers(new):
        # Two facts about different numbers may both hold.
        return Judgement("unrelated", None, (*reasons, "their numbers differ"))
    if is_near and near >= SAME_FROM:
        if opposite := _opposite(old, new):
            return Judgement("unrelated", None, (*reasons, f"they differ by {opposite}"))
        measured = next(share for least, share in _SAME_SHARES if near >= least)
        return Judgement("same", measured if cosine is not None else None, tuple(reasons))
    return Judgement("unrelated", None, tuple(reasons))


def _contradiction(denied: list[str], claimed: list[str], cosine: float | None) -> float:
    """The probability that a statement denies what another one claims."""
    constant, by_cosine, by_missing, by_further, by_subject = _BY_WORDS if cosine is None else _BY_MEANING
    missing = len(set(denied) - set(claimed)) / max(len(set(denied)), 1)
    further = len(set(claimed) - set(denied)) / max(len(set(claimed)), 1)
    same_subject = denied[:1] == claimed[:1]
    weighed = constant + by_cosine * (cosine or 0.0) + by_missing * missing + by_further * further
    return 1 / (1 + math.exp(-(weighed + by_subject * same_subject)))


def _numbers(text: str) -> list[str]:
    return sorted(match.lower() for match in _NUMBER.findall(text))


def _opposite(old: str, new: str) -> str | None:
    """The opposites by which two statements differ."""
    one, other = ({stem(word.lower()): word for word in _WORD.findall(text)} for text in (old, new))
    return next(
        (
            f"'{one[left]}' and '{other[right]}'"
            for left in one.keys() - other.keys()
            for right in other.keys() - one.keys()
            if frozenset((left, right)) in _OPPOSITES
        ),
        None,
    )


def _words(text: str) -> list[str]:
    """The stems of the words with meaning, in order, without negations."""
    words = (word.lower() for word in _WORD.findall(_NEGATION.sub(" ", text)))
    return [stem(word) for word in words if word not in STOP_WORDS and len(word) > 1]
