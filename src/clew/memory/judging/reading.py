"""A statement as the judge reads it: its words by sort, what it denies, and how far it goes."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

import msgspec

from clew.memory.judging.quantities import Quantity, quantities
from clew.memory.judging.vocabulary import AUXILIARIES, BEFORE_A_SUBJECT, LIGHT, SUBORDINATE, VERBS, root

Modality = Literal["must", "may", ""]
Sort = Literal["word", "name", "light"]
Reach = Literal["all", "always", "only", "none", "some"]

_TOKEN = re.compile(
    r"`[^`]+`|[A-Za-z_][\w.]*(?:[/:@\\-]+[\w.]+)*\(\)|[^\W\d_][\w]*(?:[.'\u2019/_-]+\w+)*|\d[\w.:-]*|[;,.:!?()]|"
    r"-{1,2}\w[\w-]*"
)
_CLAUSE = frozenset(";,.:!?()")
_DENIAL = re.compile(r"^(?:not|never|no|none|nobody|nothing|without|cannot|neither|nor)$|n['\u2019]t$", re.IGNORECASE)
_REACHES: dict[str, Reach] = {
    "all": "all", "every": "all", "each": "all", "any": "all", "everything": "all", "always": "always",
    "only": "only", "solely": "only", "exclusively": "only",
    "none": "none", "never": "none", "nobody": "none", "nothing": "none",
    "some": "some", "sometimes": "some", "partly": "some", "several": "some",
}  # fmt: skip
_IRREGULAR = {
    "kept": "keep", "sent": "send", "written": "write", "wrote": "write", "held": "hold", "built": "build",
    "made": "make", "taken": "take", "given": "give", "done": "do", "shown": "show", "drawn": "draw", "hidden": "hide",
    "read": "read", "ran": "run", "chosen": "choose", "broken": "break", "known": "know", "thrown": "throw",
    "lost": "lose", "left": "leave", "paid": "pay", "told": "tell", "found": "find", "shut": "shut",
    "burned": "burn", "burnt": "burn", "children": "child", "data": "data", "indices": "index", "replicas": "replica",
}  # fmt: skip
_SPLIT_OFF = re.compile(r"(?<=n) (?=['\u2019]t\b)")
"""Of a negation in the spelling of corpora: `is n't`, `isn 't`."""
_THERE = re.compile(r"there (?:is|are)\b", re.IGNORECASE)
_SOMEBODY = re.compile(r"\b(?:somebody|someone|people|man|woman|men|women|boys?|girls?)\b", re.IGNORECASE)
_MUST = frozenset(("must", "shall", "required", "mandatory"))
_MAY = frozenset(("may", "can", "could", "optional", "optionally"))
_ARTICLES = frozenset(("the", "a", "an", "each"))
_COMPARED = frozenset(("more", "less", "fewer", "longer"))
_UNDER_WAY = re.compile(
    r"\b(?:is|are|isn ?'t|aren ?'t)\s+(?:not\s+)?(?:\w+ly\s+|also\s+|still\s+)?\w+ing\b", re.IGNORECASE
)


class ReadWord(msgspec.Struct, frozen=True):
    text: str
    low: str
    stem: str
    sort: Sort
    start: int
    clause: int


class ReadStatement(msgspec.Struct, frozen=True):
    text: str
    tokens: tuple[ReadWord, ...]
    words: tuple[str, ...]
    """Stems with meaning in order, names included, without quantities and what is light."""
    names: frozenset[str]
    """Code, identifiers, single letters and capitalised names, in lower case."""
    subject: frozenset[str]
    """The words before the first verb."""
    has_verb: bool
    verb_start: int
    """Where the first verb is in the text; 0 without one."""
    numbers: tuple[Quantity, ...]
    denied_clauses: frozenset[int]
    """Clauses whose verb is denied."""
    denied_words: frozenset[str]
    """What is denied beside what is said: `on A, not on B` denies B."""
    denied_below: frozenset[str]
    """What a subordinate clause denies: `when there is no answer`."""
    reach: frozenset[Reach]
    modality: Modality
    is_scene: bool
    """True for a picture of something under way: of two such statements, each may be about something of its own."""

    @property
    def denies(self) -> bool:
        return bool(self.denied_clauses)


@lru_cache(maxsize=4_096)
def read(text: str) -> ReadStatement:
    """A text as the judge reads it."""
    text = _SPLIT_OFF.sub("", text)
    numbers = tuple(quantities(text))
    spans = [(each.start, each.end) for each in numbers]
    tokens = tuple(_tokens(text, spans))
    begin, at_verb = _subject_span(tokens, numbers)
    words = tuple(token.stem for token in tokens if token.sort != "light")
    subject = frozenset(token.stem for token in tokens[begin : at_verb or 0] if token.sort != "light")
    clauses, beside, below = _denials(tokens)
    return ReadStatement(
        text=text,
        tokens=tokens,
        words=words,
        names=frozenset(token.stem for token in tokens if token.sort == "name"),
        subject=subject,
        has_verb=at_verb is not None,
        verb_start=0 if at_verb is None else tokens[at_verb].start if at_verb < len(tokens) else len(text),
        numbers=numbers,
        denied_clauses=clauses,
        denied_words=beside,
        denied_below=below,
        reach=frozenset(_reach(tokens, numbers)),
        modality=_modality(tokens),
        is_scene=_is_scene(text, tokens),
    )


def _is_scene(text: str, tokens: tuple[ReadWord, ...]) -> bool:
    if _THERE.match(text) is not None or _SOMEBODY.search(text) is not None:
        return True
    going_on = _UNDER_WAY.search(text)
    if going_on is None or any(token.sort == "name" for token in tokens):
        return False
    # `While a nurse is editing it, it is locked` is a rule, no picture.
    return not tokens or tokens[0].low not in SUBORDINATE


def _tokens(text: str, numbers: list[tuple[int, int]]) -> list[ReadWord]:
    found: list[ReadWord] = []
    clause, starts_sentence = 0, True
    for match in _TOKEN.finditer(text):
        raw = match[0]
        if raw in _CLAUSE:
            clause += 1
            starts_sentence = raw in ".!?:" or starts_sentence
            continue
        if any(start <= match.start() < end for start, end in numbers):
            starts_sentence = False
            continue
        start = match.start()
        for part in _parts(raw):
            token = _token(part, start, clause, starts_sentence=starts_sentence)
            is_rate = bool(found) and found[-1].low == "per"
            found.append(msgspec.structs.replace(token, sort="light") if is_rate else token)
            start += len(part) + 1
        starts_sentence = False
    return found


def _parts(raw: str) -> list[str]:
    """The words of `append-only`; other words with a hyphen stay whole."""
    return raw.split("-") if re.fullmatch(r"[A-Za-z]?[a-z]+-only", raw) else [raw]


def _token(raw: str, start: int, clause: int, *, starts_sentence: bool) -> ReadWord:
    bare = raw.strip("`").rstrip(".").removesuffix("()")
    low = bare.lower().replace("\u2019", "'").removesuffix("'s")
    if _is_name(raw, bare, starts_sentence=starts_sentence):
        return ReadWord(raw, low, low if not low.isalpha() else root(low), "name", start, clause)
    sort: Sort = "light" if low in LIGHT or _DENIAL.search(low) or len(low) < 2 else "word"
    return ReadWord(raw, low, root(_IRREGULAR.get(low, low)), sort, start, clause)


def _is_name(raw: str, bare: str, *, starts_sentence: bool) -> bool:
    if raw.startswith("`") or raw.endswith("()") or re.search(r"[_\d/\\@]|\w\.\w|^-", bare):
        return True
    if len(bare) == 1:
        return bare.isupper() and bare != "I" and not (starts_sentence and bare == "A")
    if bare.isupper() or re.search(r"[a-z][A-Z]", bare):
        return True
    return bare[0].isupper() and not starts_sentence and bare.lower() not in LIGHT


def _subject_span(tokens: tuple[ReadWord, ...], numbers: tuple[Quantity, ...]) -> tuple[int, int | None]:
    """The beginning and the end of the subject. What stands before it (`After signing, a result is ...`) is no part."""
    begin = 0
    if tokens and tokens[0].low in BEFORE_A_SUBJECT:
        comma = next((at for at, token in enumerate(tokens) if token.clause > tokens[0].clause), None)
        verb = _first_verb(tokens, 0)
        articles = [
            at for at, token in enumerate(tokens[: verb or 0]) if at and token.low in ("the", "a", "an", "each")
        ]
        begin = comma if comma is not None else articles[-1] if articles else 0
    verb = _first_verb(tokens, begin)
    if verb is None:
        # `Dock 4: returns`, `Worker B shard 2`: what is named first is what it is about.
        named = [at for at, token in enumerate(tokens[:4]) if token.sort == "name"]
        labels = [each for each in numbers if each.dimension == "label" and each.start < 32]
        if named:
            return begin, named[0] + 1
        if labels:
            return begin, next((at for at, token in enumerate(tokens) if token.start > labels[0].start), len(tokens))
    return begin, verb


def _first_verb(tokens: tuple[ReadWord, ...], begin: int) -> int | None:
    """The place of the first verb, by its form: an auxiliary, or a usual verb after a noun."""
    for at, token in enumerate(tokens[begin:], begin):
        if token.low in AUXILIARIES and (at > begin or token.low not in ("do", "can", "may", "will")):
            return at
        if at > begin and token.stem in VERBS and token.sort != "name" and _is_finite(token.low):
            return at
    return None


def _is_finite(low: str) -> bool:
    """True for a form that a verb has and a noun seldom: `passes`, `took`; not `passing`, `passage`, `passer`."""
    return not low.endswith(("ing", "ion", "er", "or", "ers", "ors", "ions", "ings", "ment", "ments", "able", "ance"))


def _reach(tokens: tuple[ReadWord, ...], numbers: tuple[Quantity, ...]) -> Iterator[Reach]:
    """How far the statement goes; `only five` and `every five minutes` belong to their number."""
    starts = {each.start for each in numbers}
    for token in tokens:
        if token.low in _REACHES and token.start + len(token.text) + 1 not in starts:
            yield _REACHES[token.low]


def _modality(tokens: tuple[ReadWord, ...]) -> Modality:
    said = {token.low for token in tokens}
    must, may = bool(said & _MUST), bool(said & _MAY)
    return "must" if must and not may else "may" if may and not must else ""


def _denials(tokens: tuple[ReadWord, ...]) -> tuple[frozenset[int], frozenset[str], frozenset[str]]:
    """Clauses of which the verb is denied; words that are denied beside others; words of subordinate denials."""
    clauses: set[int] = set()
    beside: set[str] = set()
    below: set[str] = set()
    for at, token in enumerate(tokens):
        after = tokens[at + 1].low if at + 1 < len(tokens) else ""
        if not _DENIAL.search(token.low) or (token.low in ("no", "not") and after in _COMPARED):
            continue
        rest = [each for each in tokens[at + 1 :] if each.clause == token.clause]
        meant = {each.stem for each in _until_verb(rest) if each.sort != "light"}
        earlier = [each.low for each in tokens[:at] if each.clause == token.clause]
        if token.low == "without" or (token.low in ("not", "never") and _is_beside(tokens, at, rest)):
            beside |= meant
        elif token.low in ("no", "none", "nobody", "nothing") and SUBORDINATE & set(earlier):
            below |= meant
        else:
            clauses.add(token.clause)
    return frozenset(clauses), frozenset(beside), frozenset(below)


def _is_beside(tokens: tuple[ReadWord, ...], at: int, rest: list[ReadWord]) -> bool:
    """True for the `not` of `on A, not on B`."""
    before = tokens[at - 1] if at else None
    if before is None or not (before.clause != tokens[at].clause or before.low in ("and", "but", "or")):
        return False
    return not any(each.low in AUXILIARIES for each in rest)


def _until_verb(tokens: list[ReadWord]) -> list[ReadWord]:
    """The words up to what is said of them."""
    while tokens and tokens[0].low in ("being", "having", "been"):
        tokens = tokens[1:]
    for at, token in enumerate(tokens):
        if token.low == "but" or token.low in AUXILIARIES or (at and token.low in ("get", "gets")):
            return tokens[:at]
    return tokens
