"""How two statements stand to each other: the same, contradicting, one replacing the other, or unrelated."""

import re
from typing import Literal

import msgspec

from clew.text.keywords import STOP_WORDS
from clew.text.stem import stem

Relation = Literal["same", "contradicts", "supersedes", "unrelated"]

SAME_FROM = 0.90
CONTRADICTS_FROM = 0.55
OVERLAP_FROM = 0.6

_NEGATION = re.compile(r"\b(?:not|no|never|none|nobody|nothing|without|cannot|neither)\b|n['\u2019]t\b", re.IGNORECASE)
_CHANGE = re.compile(
    r"\b(?:no longer|instead of|anymore|any more|replaced|replaces|switched (?:from|to)|moved (?:from|to)|now uses?|"
    r"from now on|deprecated)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD = re.compile(r"[^\W\d_]+")


class Verdict(msgspec.Struct, frozen=True):
    kind: Relation
    confidence: float
    reasons: tuple[str, ...] = ()


def judge(old: str, new: str, cosine: float | None) -> Verdict:
    """The relation of a new statement to an old one. `cosine` is that of their vectors, None where there are none."""
    shared = _overlap(old, new)
    near = cosine if cosine is not None else shared
    reasons = [f"{shared:.0%} of the words shared"]
    if cosine is not None:
        reasons.append(f"similarity {cosine:.2f}")
    if near < CONTRADICTS_FROM or shared < OVERLAP_FROM / 2:
        return Verdict("unrelated", round(1 - near, 3) if near < 1 else 0.0, tuple(reasons))
    if _CHANGE.search(new) and not _CHANGE.search(old):
        return Verdict("supersedes", 0.7, (*reasons, "the new one says that something changed"))
    if shared >= OVERLAP_FROM and bool(_NEGATION.search(old)) != bool(_NEGATION.search(new)):
        return Verdict("contradicts", 0.9, (*reasons, "only one of them is negated"))
    if set(_NUMBER.findall(old)) != set(_NUMBER.findall(new)):
        # Two facts about different numbers may both hold.
        return Verdict("unrelated", 0.5, (*reasons, "their numbers differ"))
    if near >= SAME_FROM:
        return Verdict("same", near, tuple(reasons))
    return Verdict("unrelated", round(1 - near, 3), tuple(reasons))


def _overlap(old: str, new: str) -> float:
    """Shared words of the shorter statement."""
    one, other = _words(old), _words(new)
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0


def _words(text: str) -> set[str]:
    words = {word.lower() for word in _WORD.findall(_NEGATION.sub(" ", text))}
    return {stem(word) for word in words if word not in STOP_WORDS and len(word) > 1}
