"""The relation of two statements, with the reason in words.

Every tool that compares two memories asks `judge`. Statements that differ in a quantity, a version, a name, a negation,
an opposite, a subject or a quantifier are never called the same. The weights of a denial were fitted to one half of the
pairs of SICK; the rules were made on the development half of the benchmark's pairs of notes, and `make bench-memory`
measures both on the other halves. A relation that nobody measured has no confidence.
"""

import math
import re
from typing import Literal

import msgspec

from clew.memory.judging.differences import PairDifferences, compare
from clew.memory.judging.reading import ReadStatement, read
from clew.text.keywords import STOP_WORDS
from clew.text.stem import stem

Relation = Literal["same", "says_more", "contradicts", "replaces", "other_thing", "unrelated"]

JOINABLE: frozenset[Relation] = frozenset(("same", "says_more"))
"""Relations of which a tool may join the statements without being forced to."""
SPOKEN: dict[Relation, str] = {
    "same": "they say the same",
    "says_more": "one says more",
    "contradicts": "they contradict each other",
    "replaces": "one replaces the other",
    "other_thing": "they are about different things",
    "unrelated": "each says something of its own",
}
_MEASURED: dict[Relation, float] = {
    "same": 0.97, "says_more": 0.96, "contradicts": 0.91, "replaces": 0.92, "other_thing": 0.93,
}  # fmt: skip
"""Share of such verdicts that were right, on the held out pairs of notes of the benchmark."""
_READ = 1_500
"""Characters of a text that are read: a note is short, and the time for a pair grows with the square of its length."""
CONTRADICTS_FROM = 0.55
_BY_MEANING = (-2.65, 6.74, -6.96, 1.8, 0.36)
"""A constant, then what counts: the cosine, the share of the denied words that the other statement lacks, the share of
its own words that are not denied, and whether both begin with the same word."""
_BY_WORDS = (2.78, 0.0, -8.3, -0.34, 0.01)
"""The same where there is no cosine."""
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_CHANGE = re.compile(
    r"\b(?:instead of|rather than|any ?more|any longer|replaced|replaces|superseded|supersedes|now|from now on|as of|"
    r"(?<!then )(?<!are )(?<!is )(?<!be )(?:switched|moved|migrated|ported|changed|went)"
    rf" (?:\w+ ){{0,4}}?(?:from|to|over)\b|since (?:\w+day|{_MONTHS}|last|then|v?\d)|used to|deprecated|obsolete|"
    r"retired|decommissioned|dismantled|(?:was|were|been) (?:shut down|switched off|dropped|given up|stopped|removed)|"
    r"gave up|given up|rewritten|(?:is|are) gone)\b",
    re.IGNORECASE,
)
_NO_LONGER = re.compile(
    r"^(?!.*\b(?:after|once|when|until)\b.*\bno longer\b).*\bno longer\b", re.IGNORECASE | re.DOTALL
)
_RELATED, _TOUCHING = 0.5, 0.25
_SAME_COSINE, _SAME_COVERED = 0.80, 0.6
_LIKE_COSINE, _LIKE_COVERED = 0.70, 0.75
_MORE_COVERED = 0.8
_SAME_SCENE = 0.9
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|without|cannot|neither|nor)\b|n ?['\u2019]t\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]+")


class Judgement(msgspec.Struct, frozen=True):
    kind: Relation
    confidence: float | None
    """Share of such pairs of which it is true, as far as it was measured; null otherwise."""
    reasons: tuple[str, ...] = ()

    @property
    def is_joinable(self) -> bool:
        return self.kind in JOINABLE


def judge(old: str, new: str, cosine: float | None) -> Judgement:
    """The relation of a new statement to an old one. `cosine` is that of their vectors, None without vectors."""
    one, other = read(old[:_READ]), read(new[:_READ])
    pair = compare(one, other)
    near = cosine if cosine is not None else pair.overlap
    told = [f"{pair.overlap:.0%} of the words shared"]
    if cosine is not None:
        told.append(f"similarity {cosine:.2f}")
    kind, confidence, reason = _relation(one, other, pair, cosine, near)
    if confidence is None and cosine is not None and not (one.is_scene or other.is_scene):
        confidence = _MEASURED.get(kind)
    if kind in JOINABLE and max(len(old), len(new)) > _READ and old[_READ:] != new[_READ:]:
        # What was not read may differ in anything.
        kind, confidence, reason = (
            "unrelated",
            None,
            f"they are read up to {_READ:,} characters, and differ behind that",
        )
    return Judgement(kind, confidence, (reason, *told) if reason else tuple(told))


_Found = tuple[Relation, float | None, str]


def _relation(
    one: ReadStatement, other: ReadStatement, pair: PairDifferences, cosine: float | None, near: float
) -> _Found:
    if one.is_scene or other.is_scene:
        return _of_scenes(one, other, pair, cosine, near)
    if (near < _RELATED and pair.overlap < _RELATED) or pair.overlap < _TOUCHING:
        return "unrelated", None, ""
    if _says_change(other.text) and not _says_change(one.text):
        return "replaces", None, "the new one says that something changed"
    if pair.reach:
        return "contradicts", None, pair.reach
    if pair.subjects:
        return "other_thing", None, f"one is about {pair.subjects[0]}, the other about {pair.subjects[1]}"
    has_other_names = bool(pair.names[0] and pair.names[1]) and not pair.alternatives
    if not has_other_names and (conflict := _conflict(one, other, pair, cosine)):
        return "contradicts", conflict[0], conflict[1]
    if has_other_names:
        return "other_thing", None, f"one names {_list(pair.names[0])}, the other {_list(pair.names[1])}"
    if pair.is_continued:
        return "says_more", None, f"one goes on with {_list(pair.extra)}"
    if difference := pair.difference:
        return "unrelated", None, difference
    return _alike(pair, near)


def _says_change(text: str) -> bool:
    return _CHANGE.search(text) is not None or _NO_LONGER.match(text) is not None


def _conflict(
    one: ReadStatement, other: ReadStatement, pair: PairDifferences, cosine: float | None
) -> tuple[float | None, str] | None:
    """The reason why two statements about the same thing cannot both hold."""
    if pair.swapped:
        return None, pair.swapped
    if one.denies != other.denies:
        denied, claimed = (one, other) if one.denies else (other, one)
        likely = _contradiction(denied, claimed, cosine)
        if likely >= CONTRADICTS_FROM:
            return round(likely, 3), "one of them denies it"
        return (None, "one of them denies it") if pair.denied else None
    for reason in (pair.bounds, pair.quantities, pair.opposites, pair.alternatives):
        if reason:
            return None, reason
    return None


def _alike(pair: PairDifferences, near: float) -> _Found:
    """Same, more, or neither: the two differ in nothing that was read."""
    least = min(pair.covered)
    if pair.extra_sides == 1 and pair.covered_by_more >= _MORE_COVERED:
        return "says_more", None, f"one says all of the other, and {_list(pair.extra)}"
    if pair.is_longer and pair.extra:
        return "says_more", None, f"one says all of the other, and {_list(pair.extra)}"
    if pair.substituted:
        return "unrelated", None, pair.substituted
    if near >= _LIKE_COSINE and pair.same_numbers and len(pair.extra) <= 1:
        return "same", None, "they agree in their numbers and all but a word"
    if (near >= _SAME_COSINE and least >= _SAME_COVERED) or (near >= _LIKE_COSINE and least >= _LIKE_COVERED):
        return "same", None, "they differ in no number, name, negation or quantifier"
    return "unrelated", None, ""


def _of_scenes(
    one: ReadStatement, other: ReadStatement, pair: PairDifferences, cosine: float | None, near: float
) -> _Found:
    """Statements about what goes on: each may be about something of its own, so only a denial contradicts."""
    denies_one, denies_other = (_NEGATION.search(each.text) is not None for each in (one, other))
    if denies_one != denies_other:
        likely = _contradiction(*((one, other) if denies_one else (other, one)), cosine)
        if likely >= CONTRADICTS_FROM:
            return "contradicts", round(likely, 3), "one of them denies it"
        return "unrelated", None, "one of them denies something else"
    if difference := pair.opposites or pair.quantities or pair.difference or pair.swapped:
        return "other_thing", None, difference
    if near >= _SAME_SCENE:
        return "same", None, "they differ in no number, name, negation or quantifier"
    return "unrelated", None, ""


def _contradiction(denied: ReadStatement, claimed: ReadStatement, cosine: float | None) -> float:
    """The probability that a statement denies what another one claims."""
    constant, by_cosine, by_missing, by_further, by_subject = _BY_WORDS if cosine is None else _BY_MEANING
    no, yes = _plain_words(denied.text), _plain_words(claimed.text)
    missing = len(set(no) - set(yes)) / max(len(set(no)), 1)
    further = len(set(yes) - set(no)) / max(len(set(yes)), 1)
    weighed = constant + by_cosine * (cosine or 0.0) + by_missing * missing + by_further * further
    return 1 / (1 + math.exp(-(weighed + by_subject * (no[:1] == yes[:1]))))


def _plain_words(text: str) -> list[str]:
    """The stems of the words with meaning, in order, without negations: what the weights were fitted to."""
    words = (word.lower() for word in _WORD.findall(_NEGATION.sub(" ", text)))
    return [stem(word) for word in words if word not in STOP_WORDS and len(word) > 1]


def _list(words: tuple[str, ...]) -> str:
    return ", ".join(f"'{word}'" for word in words[:4])
