"""What two statements have in common, and each sort of difference between them."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

import msgspec

from clew.memory.judging.opposites import are_opposite, are_synonyms
from clew.memory.judging.quantities import Quantity
from clew.memory.judging.reading import ReadStatement, ReadWord

_EXCLUSIVE = frozenset(["in", "on", "at", "by", "from", "to"])
"""What follows one of these is where, when or by whom: it is one thing."""
_ORDERED = frozenset(["before", "after", "then", "than", "over", "under", "from", "to", "by"])
_FURTHER = frozenset(["and", "because", "since", "so", "which"])
_ENOUGH = 0.5
_PARTLY = 0.4
_FEW = 1
_MOST_OF_IT = 0.75
_SAME_FORM = 0.6
_SHORT = 3


class PairDifferences(msgspec.Struct, frozen=True):
    overlap: float
    """Share of the shorter one's words that the other has too."""
    covered: tuple[float, float]
    """Share of each one's words that the other says, in the same or another word."""
    extra: tuple[str, ...]
    extra_sides: int
    """How many of the two say something of weight that the other does not."""
    subjects: tuple[str, str] | None
    names: tuple[tuple[str, ...], tuple[str, ...]]
    """Names that only one of them has."""
    swapped: str
    bounds: str
    quantities: str
    reach: str
    opposites: str
    alternatives: str
    is_continued: bool
    """True if one is the other, with a further clause."""
    same_numbers: bool
    """True if both have numbers, and the same ones."""
    covered_by_more: float
    """Share of the words of the one that says less which the other has too."""
    denied: bool
    """True if one denies, about the same subject, what the other says."""
    substituted: str
    """Other words in the place of words."""
    is_longer: bool
    """True if one is the other with further words in between."""
    difference: str
    """Any difference which keeps the two from being the same, in words; empty where there is none."""


def compare(one: ReadStatement, other: ReadStatement) -> PairDifferences:
    left, right = _missing(one.words, other.words), _missing(other.words, one.words)
    numbers = _unmatched(one.numbers, other.numbers)
    names = (_names(one, left), _names(other, right))
    covered = (_share(one.words, left), _share(other.words, right))
    enough = min(covered) >= _ENOUGH
    subjects = _subjects(one, other, numbers)
    weight = [
        bool(len(missing) > _FEW or amounts or any_names)
        for missing, amounts, any_names in zip((left, right), numbers, names, strict=True)
    ]
    if len(one.tokens) != len(other.tokens) and _is_continued(one, other):
        weight = [len(one.tokens) > len(other.tokens), len(other.tokens) > len(one.tokens)]
    reach = _reach(one, other)
    certain = bool(reach) and "only" not in reach.split("'")
    opposites = _opposites(one, other)
    quantities = _quantities(numbers)
    return PairDifferences(
        overlap=_overlap(one, other),
        covered=covered,
        extra=tuple(dict.fromkeys(_shown(one, left) + _shown(other, right))),
        extra_sides=sum(weight),
        subjects=subjects,
        names=names,
        swapped=_swapped(one, other),
        bounds=_bounds(one, other) if enough else "",
        quantities=quantities if enough else "",
        reach=reach if certain and _same_predicate(one, other) else "",
        opposites=opposites if enough else "",
        alternatives=_alternatives(one, other, left, right),
        is_continued=_is_continued(one, other, whole=True),
        same_numbers=bool(one.numbers) and not numbers[0] and not numbers[1],
        covered_by_more=covered[1] if weight[0] else covered[0],
        denied=_is_denied(one, other),
        substituted=_substituted(one, other, left, right),
        is_longer=_is_longer(one, other) if bool(left) != bool(right) else False,
        difference=_difference(one, other, numbers, reach, opposites),
    )


def _overlap(one: ReadStatement, other: ReadStatement) -> float:
    first, second = set(one.words), set(other.words)
    return len(first & second) / min(len(first), len(second)) if first and second else 0.0


def _missing(words: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    known = set(others)
    # What both have stands for itself: `discarded` is not said by `lost` where both have `lost`.
    free = known - set(words)
    return tuple(
        word
        for word in dict.fromkeys(words)
        if word not in known and not any(are_synonyms(word, each) or _same_family(word, each) for each in free)
    )


def _same_family(one: str, other: str) -> bool:
    """True for words of one root that the stemmer keeps apart: `counted`, `count-based`; `hour`, `hourly`."""
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= 5 and longer.startswith(shorter)


def _share(words: Sequence[str], missing: Sequence[str]) -> float:
    unique = set(words)
    return 1 - len(set(missing)) / len(unique) if unique else 0.0


def _names(statement: ReadStatement, missing: Sequence[str]) -> tuple[str, ...]:
    return tuple(token.text for token in statement.tokens if token.sort == "name" and token.stem in missing)


def _shown(statement: ReadStatement, missing: Sequence[str]) -> tuple[str, ...]:
    return tuple(token.text for token in statement.tokens if token.stem in missing and token.sort != "light")


# Quantities


def _unmatched(ones: Sequence[Quantity], others: Sequence[Quantity]) -> tuple[list[Quantity], list[Quantity]]:
    """The quantities of each that the other has not."""
    right = list(others)
    left: list[Quantity] = []
    for one in ones:
        twin = next((other for other in right if one.equals(other)), None)
        if twin is None:
            left.append(one)
        else:
            right.remove(twin)
    return left, right


def _quantities(numbers: tuple[list[Quantity], list[Quantity]]) -> str:
    """Two values of one dimension where both have one."""
    for one in numbers[0]:
        for other in numbers[1]:
            if one.dimension == other.dimension:
                return f"'{one.text}' against '{other.text}'"
    return ""


def _bounds(one: ReadStatement, other: ReadStatement) -> str:
    for first in one.numbers:
        for second in other.numbers:
            if {first.bound, second.bound} == {"most", "least"} and first.dimension == second.dimension:
                return f"one says at {first.bound} {first.text}, the other at {second.bound} {second.text}"
    return ""


# Subjects and names


def _subjects(
    one: ReadStatement, other: ReadStatement, numbers: tuple[list[Quantity], list[Quantity]]
) -> tuple[str, str] | None:
    """The subjects, where each has a word that the other statement lacks altogether."""
    left = _missing(tuple(one.subject), other.words)
    right = _missing(tuple(other.subject), one.words)
    if left and right:
        return _first_shown(one, left), _first_shown(other, right)
    labels = [_label(statement, unmatched) for statement, unmatched in zip((one, other), numbers, strict=True)]
    if labels[0] is not None and labels[1] is not None:
        return f"'{labels[0].text}'", f"'{labels[1].text}'"
    return None


def _narrower(one: ReadStatement, other: ReadStatement) -> str:
    """What the subject of one has before its noun, and the other statement lacks: `live events` are not all events."""
    if not other.subject or not one.subject > other.subject or one.tokens[: len(other.subject)] == other.tokens:
        return ""
    extra = _missing(tuple(one.subject - other.subject), other.words)
    return f"only one speaks of {_quoted(one, frozenset(extra))}" if extra else ""


def _first_shown(statement: ReadStatement, stems: Sequence[str]) -> str:
    return next(f"'{token.text}'" for token in statement.tokens if token.stem in stems)


def _label(statement: ReadStatement, unmatched: Sequence[Quantity]) -> Quantity | None:
    labels = (each for each in unmatched if each.dimension in ("label", "version"))
    return next((each for each in labels if _in_subject(statement, each)), None)


def _in_subject(statement: ReadStatement, number: Quantity) -> bool:
    ends = [token.start for token in statement.tokens if token.stem in statement.subject]
    return bool(ends) and statement.has_verb and number.start <= max(ends) + 16 and number.start < statement.verb_start


# Negations, quantifiers, opposites


def _claimed(statement: ReadStatement) -> frozenset[str]:
    return (
        frozenset(
            token.stem
            for token in statement.tokens
            if token.sort != "light" and token.clause not in statement.denied_clauses
        )
        - statement.denied_words
        - statement.denied_below
    )


def _swapped(one: ReadStatement, other: ReadStatement) -> str:
    """`On A, not on B` against `on B, not on A`; and the same words the other way round."""
    for first, second in ((one, other), (other, one)):
        taken = first.denied_words & _claimed(second)
        if (
            taken
            and not taken & second.denied_words
            and _share(first.words, _missing(first.words, second.words)) >= _PARTLY
        ):
            return f"one denies {_quoted(first, taken)}, which the other says"
    if sorted(one.words) == sorted(other.words) and one.words != other.words and not _passive(one) ^ _passive(other):
        for relation in (token for token in one.tokens if token.low in _ORDERED or token.start == one.verb_start):
            sides = [_sides(statement, relation.low) for statement in (one, other)]
            if sides[0] and sides[1] and _are_exchanged(sides[0], sides[1]):
                return f"the sides of '{relation.low}' are exchanged"
    return ""


_Sides = tuple[frozenset[str], frozenset[str]]


def _are_exchanged(one: _Sides, other: _Sides) -> bool:
    return bool(one[0] & (other[1] - other[0]) and one[1] & (other[0] - one[0]))


def _passive(statement: ReadStatement) -> bool:
    return any(token.low == "by" for token in statement.tokens)


def _sides(statement: ReadStatement, word: str) -> _Sides | None:
    at = next((at for at, token in enumerate(statement.tokens) if token.low == word), None)
    if at is None:
        return None
    left, right = statement.tokens[:at], statement.tokens[at + 1 :]
    return _meant(left), _meant(right)


def _meant(tokens: Sequence[ReadWord]) -> frozenset[str]:
    return frozenset(token.stem for token in tokens if token.sort != "light")


def _quoted(statement: ReadStatement, stems: frozenset[str]) -> str:
    return ", ".join(f"'{token.text}'" for token in statement.tokens if token.stem in stems)


def _reach(one: ReadStatement, other: ReadStatement) -> str:
    first, second = one.reach - other.reach, other.reach - one.reach
    for left, right in ((first, second), (second, first)):
        if "all" in left and right & {"only", "some"}:
            return "one speaks of all, the other of some"
        if "all" in left and "none" in right:
            return "one speaks of all, the other of none"
    if "only" in first | second:
        return "one of them says 'only'"
    return ""


def _same_predicate(one: ReadStatement, other: ReadStatement) -> bool:
    """True if what is said of the two subjects is nearly the same."""
    for statement, against in ((one, other), (other, one)):
        own = [word for word in statement.words if word not in statement.subject]
        if not own or _share(own, _missing(own, against.words)) < _MOST_OF_IT:
            return False
    return True


def _is_denied(one: ReadStatement, other: ReadStatement) -> bool:
    if one.denies == other.denies:
        return False
    denied, claimed = (one, other) if one.denies else (other, one)
    words: list[str] = []
    for token in denied.tokens:
        if token.low == "but" and words:
            break
        if token.clause in denied.denied_clauses and token.sort != "light":
            words.append(token.stem)
    return len(set(words)) > 1 and _share(words, _missing(words, claimed.words)) >= _MOST_OF_IT


def _is_continued(one: ReadStatement, other: ReadStatement, *, whole: bool = False) -> bool:
    """True if one is the other, and goes on; with `whole`, with a clause of its own."""
    shorter, longer = sorted((one.tokens, other.tokens), key=len)
    if [token.low for token in longer[: len(shorter)]] != [token.low for token in shorter] or len(shorter) == len(
        longer
    ):
        return False
    further = longer[len(shorter)]
    return not whole or further.clause > longer[len(shorter) - 1].clause or further.low in _FURTHER


def _is_longer(one: ReadStatement, other: ReadStatement) -> bool:
    """True if the words of the shorter one come in the longer one, in the same order."""
    shorter, longer = sorted(([token.low for token in each.tokens] for each in (one, other)), key=len)
    rest = iter(longer)
    return all(word in rest for word in shorter)


def _substituted(one: ReadStatement, other: ReadStatement, left: Sequence[str], right: Sequence[str]) -> str:
    """Words of one in the place of words of the other, with the same words around them."""
    if not left or not right:
        return ""
    first, second = ([token.stem for token in each.tokens] for each in (one, other))
    ends = [next((token for token in reversed(each.tokens) if token.sort != "light"), None) for each in (one, other)]
    if ends[0] is not None and ends[1] is not None and ends[0].stem in left and ends[1].stem in right:
        return f"'{ends[0].text}' at the end of one, '{ends[1].text}' of the other"
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    if matcher.ratio() < _SAME_FORM:
        return ""
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        if kind != "replace":
            continue
        old, new = set(first[start:end]) & set(left), set(second[other_start:other_end]) & set(right)
        if old and new:
            return f"{_quoted(one, frozenset(old))} in one, {_quoted(other, frozenset(new))} in the other"
    return ""


def _opposites(one: ReadStatement, other: ReadStatement) -> str:
    left = {token.stem: token.text for token in one.tokens}
    right = {token.stem: token.text for token in other.tokens}
    for first in left.keys() - right.keys():
        for second in right.keys() - left.keys():
            if are_opposite(first, second):
                return f"'{left[first]}' against '{right[second]}'"
    return ""


def _alternatives(one: ReadStatement, other: ReadStatement, left: Sequence[str], right: Sequence[str]) -> str:
    """Another thing in the same place of the same statement: `kept in Redis` against `kept in Postgres`."""
    if not left or not right or len(left) > _SHORT or len(right) > _SHORT:
        return ""
    slots = [_slot(statement, missing) for statement, missing in zip((one, other), (left, right), strict=True)]
    if slots[0] is None or slots[1] is None or slots[0][0] != slots[1][0]:
        return ""
    return f"'{slots[0][1]}' against '{slots[1][1]}'"


def _slot(statement: ReadStatement, missing: Sequence[str]) -> tuple[str, str] | None:
    """The preposition before the words that the other lacks, where they are all behind it."""
    places = [at for at, token in enumerate(statement.tokens) if token.stem in missing and token.sort != "light"]
    if not places:
        return None
    at = places[0] - 1
    while at >= 0 and re.fullmatch(r"the|an?|our|its|their", statement.tokens[at].low):
        at -= 1
    if at < 1 or statement.tokens[at].low not in _EXCLUSIVE or statement.tokens[places[0]].stem in statement.subject:
        return None
    verb = statement.tokens[at - 1].stem
    return f"{verb} {statement.tokens[at].low}", " ".join(statement.tokens[place].text for place in places)


def _difference(
    one: ReadStatement, other: ReadStatement, numbers: tuple[list[Quantity], list[Quantity]], reach: str, opposites: str
) -> str:
    if one.denies != other.denies:
        return "one of them denies something"
    if (one.denied_words | one.denied_below) & _claimed(other) or (other.denied_words | other.denied_below) & _claimed(
        one
    ):
        return "one of them denies what the other says"
    if narrower := _narrower(one, other) or _narrower(other, one):
        return narrower
    if numbers[0] and numbers[1]:
        return f"their numbers differ: {numbers[0][0].text} and {numbers[1][0].text}"
    if _bounds(one, other):
        return "their bounds differ"
    if one.modality and other.modality and one.modality != other.modality:
        return "one says that it must be, the other that it may be"
    if reach:
        return reach
    return f"they differ by {opposites}" if opposites else ""
