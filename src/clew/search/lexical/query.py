"""Parser of a search query: from text to clauses.

- words are alternatives: a unit that holds more of them, and rarer ones, ranks higher;
- `"a phrase"` is found only where its words stand side by side;
- `start*` stands for every word that begins so;
- `+` before any of these makes it required, `-` excludes it (before a letter or a quote: `-5` and `--flag` are words).
  In a question, which ends with its mark, a word keeps its sign: `-Wall` is an option there. A single letter of ASCII
  keeps its minus anywhere, as `-v`; one of another script may be a word, and is excluded.

Everything else is plain text. Nothing in a query is ever an operator of the database.
"""

import re
from collections.abc import Iterator
from enum import Enum

import msgspec

from clew.text.keywords import STOP_WORDS
from clew.text.stem import stem
from clew.text.words import Word, words

MAX_QUERY_CHARACTERS = 20_000
MAX_OPERATORS = 16
"""The most phrases, beginnings, required and excluded clauses of a query; any more are read as plain words."""

_CURLY_QUOTES = str.maketrans("\u201c\u201d\u201e", '"""')
_CLAUSE = re.compile(r'(?<!\S)(?P<sign>[+-]?)"(?P<phrase>[^"]*)"|(?P<plain>[^\s"]+)')
_WORD_OR_END = re.compile(r"(?P<word>\w+(?:['.-]\w+)*)|[.?!:]")
_NAMED = re.compile(r"[0-9_]|[a-z][A-Z]")
_SIGN = re.compile(r"\+(?=\w)|-(?=[^\W\d_]\w|[^\W\d_\x00-\x7f])")


class ClauseKind(Enum):
    WORD = "word"
    PHRASE = "phrase"
    PREFIX = "prefix"


class Sign(Enum):
    SHOULD = ""
    MUST = "+"
    NOT = "-"


class Clause(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    """As it was written, without sign, quotes and star."""
    kind: ClauseKind
    sign: Sign
    words: tuple[str, ...]
    """In order, not stemmed; the beginning of a word for a prefix."""
    compounds: tuple[str, ...] = ()
    whole: str | None = None
    """The compound that stands for all the words together."""

    @property
    def terms(self) -> tuple[str, ...]:
        return tuple(stem(word) for word in self.words)


class LexicalQuery(msgspec.Struct, frozen=True):
    clauses: tuple[Clause, ...]
    named_share: float = 0.0
    """The share of its telling words that name something: capitals inside a sentence, identifiers, numbers."""
    cut: bool = False
    """The text was longer than is read."""

    @property
    def has_only_stop_words(self) -> bool:
        """Nothing is left to search for once the words that occur everywhere are set aside."""
        wanted = [clause for clause in self.clauses if clause.sign is not Sign.NOT]
        return bool(wanted) and not any(is_searchable(clause) for clause in wanted)


def parse_query(text: str) -> LexicalQuery:
    """The clauses of `text`. Any text is a query; what has no meaning as syntax is words."""
    read = text[:MAX_QUERY_CHARACTERS].translate(_CURLY_QUOTES)
    return LexicalQuery(tuple(_clauses(read)), _named_share(read), cut=len(text) > MAX_QUERY_CHARACTERS)


def is_searchable(clause: Clause) -> bool:
    """Stop-words are searched for only where they are required or part of a phrase."""
    return clause.kind is not ClauseKind.WORD or clause.sign is not Sign.SHOULD or bool(content_words(clause))


def content_words(clause: Clause) -> tuple[str, ...]:
    """The words of the clause without stop words, in order, repeats included."""
    return tuple(word for word in clause.words if word not in STOP_WORDS)


def _clauses(text: str) -> Iterator[Clause]:
    operators = 0
    is_question = text.rstrip().endswith("?")
    for match in _CLAUSE.finditer(text):
        written = match["phrase"] if match["plain"] is None else match["plain"]
        if operators == MAX_OPERATORS:
            clause = _clause(written, ClauseKind.WORD, Sign.SHOULD)
        elif match["plain"] is None:
            clause = _clause(written, ClauseKind.PHRASE, Sign(match["sign"]))
        else:
            clause = _plain(written, signed=not is_question)
        operators += clause.kind is not ClauseKind.WORD or clause.sign is not Sign.SHOULD
        if clause.words:
            yield clause


def _plain(text: str, *, signed: bool) -> Clause:
    sign = Sign.SHOULD
    if signed and (found := _SIGN.match(text)):
        sign = Sign(found[0])
        text = text[1:]
    if text.endswith("*"):
        beginning = text.rstrip("*")
        clause = _clause(beginning, ClauseKind.PREFIX, sign)
        start = clause.whole or (clause.words[0] if len(clause.words) == 1 else "")
        if len(start) > 1:
            return Clause(text=beginning, kind=ClauseKind.PREFIX, sign=sign, words=(start,))
    return _clause(text, ClauseKind.WORD, sign)


def _clause(text: str, kind: ClauseKind, sign: Sign) -> Clause:
    found = words(text)
    simple = [word for word in found if not word.compound]
    compounds = [word for word in found if word.compound]
    if kind is ClauseKind.PHRASE and len(simple) == 1:
        kind = ClauseKind.WORD
    return Clause(
        text=text,
        kind=kind,
        sign=sign,
        words=tuple(word.text for word in simple),
        compounds=tuple(dict.fromkeys(word.text for word in compounds)),
        whole=_whole(simple, compounds),
    )


def _whole(simple: list[Word], compounds: list[Word]) -> str | None:
    if not compounds:
        return None
    first, last = simple[0], simple[-1]
    return next((word.text for word in compounds if word.start <= first.start and word.end >= last.end), None)


def _named_share(text: str) -> float:
    named = [is_named for _, is_named in telling_words(text)]
    return sum(named) / len(named) if named else 0.0


def telling_words(text: str) -> Iterator[tuple[str, bool]]:
    """The words without stop words, each with whether it is a name: capitals inside a sentence, identifiers,
    numbers."""
    has_case = not text.isupper()
    starts_sentence = True
    for match in _WORD_OR_END.finditer(text):
        word = match["word"] or ""
        if word and word.lower() not in STOP_WORDS:
            capital = has_case and word[0].isupper() and not starts_sentence
            yield word, capital or _NAMED.search(word) is not None
        starts_sentence = not word
