"""The names in a question, and their share of it.

A question that names something expects the name in the answer; one that describes it in everyday words does not. A
question about a neighbouring product consists of names, some of which stand somewhere in almost any documentation.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from clew.search.lexical.query import telling_words
from clew.text.keywords import STOP_WORDS
from clew.text.stem import stem
from clew.text.words import split

if TYPE_CHECKING:
    from clew.search.embed.word_vectors import WordVectors

_PARTS = re.compile(r"[^\W_]+")
_WRITTEN_AS_CODE = re.compile(
    r"(?<![\w-])--(?P<option>\w[\w-]*)"
    r"|(?<![\w.])(?P<dotted>[^\W\d]\w+(?:\.[^\W\d]\w+)+)"
    r"|(?<![\w-])(?P<set>[^\W\d][\w-]*\w)(?=\s?=\s?\S)"
)
"""`--no-color`, `session.install`, `mode = fast`."""
_WORD_OR_MARK = re.compile(r"\w[\w'.+-]*|[^\w\s]")
_CAPITALS = re.compile(r"\b[A-Z][a-z]+(?:'[a-z]+)?(?: [A-Z][a-z]+)+\b")
_OPENING = " \t\n\"'([*_"
"""May stand between the end of a sentence and the first word of the next."""
_KINDS = frozenset(
    stem(word)
    for word in (
        *("argument", "attribute", "class", "command", "decorator", "directive", "field", "flag", "function"),
        *("keyword", "method", "module", "option", "parameter", "property", "section", "setting", "switch", "variable"),
    )
)
_KIND = 0.25
"""The weight of a word for a kind of thing beside a name."""
_UNCOMMON = 0.5
"""The weight of an uncommon word against a name: it may be either."""
_ENOUGH = 0.25
"""A question is a named one from this share of names on."""


def names_in(question: str, known: "WordVectors | None") -> dict[str, bool]:
    """The names in a question: names and identifiers (True), and words that are not common (False). Only word vectors
    tell which words are common."""
    found: dict[str, bool] = {}
    for written in _WRITTEN_AS_CODE.finditer(question):
        found[written[written.lastgroup or 0]] = True
        # What it belongs to is named as well.
        found |= dict.fromkeys((written["dotted"] or "").split(".")[:-1], False)
    found.pop("", None)
    for word, is_name in telling_words(question):
        if is_name or (known is not None and not _is_common(word, known)):
            found[word] = found.get(word, False) or is_name
    if known is not None:
        found |= dict.fromkeys(_names_of_common_words(question, known), True)
    return found


def _names_of_common_words(question: str, known: "WordVectors") -> Iterator[str]:
    """Names such as Time Machine: capital words one after the other, each of which is common. Two names side by side
    are not joined, because each is a name by itself."""
    for run in _CAPITALS.finditer(question):
        words = run[0].split()
        if question[: run.start()].rstrip(_OPENING)[-1:] in ("", ".", "?", "!"):
            # It begins a sentence, so that its capital says nothing.
            words = words[1:]
        while words and words[0].lower() in STOP_WORDS:
            words = words[1:]
        if len(words) > 1 and all(_is_common(word, known) for word in words):
            yield " ".join(words)


def term_weights(question: str, rarities: Mapping[str, float], known: "WordVectors | None") -> dict[str, float]:
    """The weights of a question's terms. Beside a name, its category hardly counts: a text about `depends_on` need not
    say that it is an argument."""
    if not names_in(question, known):
        return dict(rarities)
    return {term: weight * (_KIND if term in _KINDS else 1.0) for term, weight in rarities.items()}


def word_pairs(question: str, known: "WordVectors | None") -> tuple[str, ...]:
    """Adjacent words that are not names, in a question with a name: `thread group` in `How do I add a thread group in
    Locust?`. They are the subject of the question, because the name is often only that of the product, which is
    everywhere in its documentation."""
    names = {part for name, is_name in names_in(question, known).items() if is_name for part in name.split()}
    # What is written as code is no product, and is looked for by itself.
    is_named = names.difference(written[written.lastgroup or 0] for written in _WRITTEN_AS_CODE.finditer(question))
    return tuple(_beside_each_other(question, names)) if is_named else ()


def _beside_each_other(question: str, names: Collection[str]) -> Iterator[str]:
    before = None
    for match in _WORD_OR_MARK.finditer(question):
        word = match[0].rstrip(".'")
        tells = word[:1].isalnum() and word not in names and word.lower() not in STOP_WORDS
        if tells and before is not None:
            yield f"{before} {word.lower()}"
        before = word.lower() if tells else None


def naming(question: str, rarities: Mapping[str, float], known: "WordVectors | None") -> float:
    """The share of names in a question, by the rarity of its terms: from 0 to 1, which is reached by a quarter."""
    counts: dict[str, float] = {}
    for word, is_name in names_in(question, known).items():
        parts, compounds = split(word)
        for term in (*map(stem, parts), *compounds):
            counts[term] = max(counts.get(term, 0.0), 1.0 if is_name else _UNCOMMON)
    named = sum(rarity * counts.get(term, 0.0) for term, rarity in rarities.items())
    whole = sum(rarities.values())
    return min(1.0, named / whole / _ENOUGH) if whole > 0 else 0.0


def _is_common(word: str, known: "WordVectors") -> bool:
    """`somebody's` and `spreadsheet-like` are as common as their parts."""
    return all(known.knows(part) or known.knows(stem(part)) for part in _PARTS.findall(word.lower()))
