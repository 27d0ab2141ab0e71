"""Implicit links: a unit whose body mentions the title of another is linked to it.

A title is compared by its *key*: its runs of letters and digits in lower case, without accents, leading articles and a
remark in brackets at the end ("Mercury (planet)" is mentioned as Mercury). Of several titles that begin at the same
word the longest is meant. A title of one word is mentioned only where the word has a capital, so that a unit called
"Search" is not mentioned wherever somebody searches.

Nothing is kept but the keys. What a unit mentions is found when a walk asks for it, from its body and the titles of
that moment, so that a new, changed or deleted title counts at once, and there is nothing to keep consistent. A walk
asks for a few dozen units; each takes time linear in its body and a few questions to the store:

1. with which of some beginnings does any title begin (`Titles.title_beginnings`)? First of two words, then of three
   where two did, and so on: most texts are done with after the second time;
2. which of the keys that are left are titles, and of which units (`Titles.units_titled`)?

`VisibleTitles` answers them from a table of (key, unit), which is all that is kept. A search expands like this:

    graph = MentionGraph(VisibleTitles(reading, condition), body_of, units_with, all_units)
    seeds = seeds_from(ranked, expansion.seeds, graph.named(query), expansion.named)
    ranks = personalised_pagerank(seeds, graph.neighbours, alpha=..., eps=..., max_edges=...)
    results = expand(fused, ranks.scores, expansion.weight)

A mention weighs at most 1, so a link that somebody did draw may join in with that weight.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from clew.search.lexical.plan import rarity
from clew.text.keywords import STOP_WORDS
from clew.text.stem import stem

MAX_BEARERS = 20
"""A title that more units bear than this, like "Introduction", names none of them."""
MAX_TITLE_WORDS = 12
"""A longer title is a sentence, which is rarely repeated word by word."""
MAX_CHARACTERS = 20_000
"""The characters of a body that are read for mentions."""

_TRAIL = " > "
_MIN_CHARACTERS = 3
_ARTICLES = frozenset(("a", "an", "the"))
_REMARK = re.compile(r"\s*\([^()]*\)\s*\Z")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")
# Scripts without blanks between words: Thai, Lao, Burmese, Khmer, kana and ideographs give single characters.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_MARK = re.compile(r"[\u0300-\u036f]+")


class Titles(Protocol):
    """Look-ups among the titles of all units."""

    def title_beginnings(self, beginnings: Sequence[str]) -> Iterable[str]:
        """The beginnings, of two words or more, with which a key begins (whole words)."""
        ...

    def units_titled(self, keys: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """The keys that are titles, with the units that bear each; MAX_BEARERS + 1 of them are enough."""
        ...


class TitleMention(NamedTuple):
    key: str
    units: Sequence[int]
    """The units that bear the title."""


def title_key(title: str) -> str | None:
    """The key by which a title is compared; None for one that cannot be recognised in a text, such as a path of
    headings."""
    if _TRAIL in title:
        return None
    shortened = _REMARK.sub("", title)
    found = [word.lower() for word in _words(shortened if shortened.strip() else title)]
    while found and found[0] in _ARTICLES:
        del found[0]
    if not 1 <= len(found) <= MAX_TITLE_WORDS:
        return None
    return " ".join(found) if len(found) > 1 or _is_name(found[0]) else None


def mentions(text: str, titles: Titles, *, lower_case: bool = False) -> list[TitleMention]:
    """The titles that the text mentions, in its order, none inside another.

    In a query, where people do not care for capitals, `lower_case` lets titles of one word pass without.
    """
    found = _words(text[:MAX_CHARACTERS])
    terms = [word.lower() for word in found]
    capital = [lower_case or not word.islower() for word in found]
    keys: dict[int, list[str]] = {at: [term] for at, term in enumerate(terms) if capital[at] and _is_name(term)}
    growing = [at for at, term in enumerate(terms) if capital[at] or term not in STOP_WORDS]
    for length in range(2, MAX_TITLE_WORDS + 1):
        beginnings = {at: " ".join(terms[at : at + length]) for at in growing if at + length <= len(terms)}
        begun = set(titles.title_beginnings(list(dict.fromkeys(beginnings.values())))) if beginnings else ()
        growing = [at for at, beginning in beginnings.items() if beginning in begun]
        if not growing:
            break
        for at in growing:
            keys.setdefault(at, []).append(beginnings[at])
    borne = titles.units_titled(list(dict.fromkeys(key for some in keys.values() for key in some)))
    return _longest(keys, borne)


class MentionGraph:
    """Mentions of titles by units, as edges of a walk: for one search, while the titles stay as they are."""

    def __init__(
        self,
        titles: Titles,
        body_of: Callable[[int], str | None],
        units_with: Callable[[Iterable[str]], Mapping[str, int]],
        all_units: int,
    ) -> None:
        """`units_with` gives the number of units with each of some stems, as the lexical index counts them."""
        self._titles = titles
        self._body_of = body_of
        self._units_with = units_with
        self._all_units = all_units
        self._weights: dict[str, float] = {}

    def named(self, query: str) -> list[int]:
        """The units whose title the query contains."""
        found = mentions(query, self._titles, lower_case=True)
        return list(dict.fromkeys(unit for mention in found for unit in mention.units))

    def neighbours(self, unit: int) -> list[tuple[int, float]]:
        """The units whose titles the unit's body mentions, with weights."""
        found = {mention.key: mention.units for mention in mentions(self._body_of(unit) or "", self._titles)}
        self._weigh([key for key in found if key not in self._weights], found)
        targets: dict[int, float] = {}
        for key, bearers in found.items():
            for target in bearers:
                if target != unit:
                    targets[target] = targets.get(target, 0.0) + self._weights[key]
        return list(targets.items())

    def _weigh(self, keys: Sequence[str], bearers: Mapping[str, Sequence[int]]) -> None:
        stems = {key: [stem(word) for word in key.split()] for key in keys}
        units = self._units_with(dict.fromkeys(term for some in stems.values() for term in some)) if keys else {}
        for key, terms in stems.items():
            rarest = min((units[term] for term in terms if term in units), default=1)
            self._weights[key] = mention_weight(len(bearers[key]), rarest, self._all_units)


def mention_weight(bearers: int, units: int, all_units: int) -> float:
    """The weight of a mention: above 0, and at most 1.

    `bearers` units bear the title, and `units` of `all_units` hold its rarest word. What every other unit mentions
    ("United States") tells little about any of them, hence the square.
    """
    share = rarity(min(units, all_units), all_units) / rarity(1, max(all_units, 1))
    return min(share, 1.0) ** 2 / bearers


def _words(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_WORD.findall(text)
    return _WORD.findall(_MARK.sub("", unicodedata.normalize("NFKD", text)))


def _is_name(word: str) -> bool:
    """True if a word alone can be recognised as a title: one character of Chinese tells more than a letter."""
    return (len(word) >= _MIN_CHARACTERS or not word.isascii()) and word not in STOP_WORDS and not word.isdigit()


def _longest(keys: Mapping[int, Sequence[str]], borne: Mapping[str, Sequence[int]]) -> list[TitleMention]:
    chosen: list[TitleMention] = []
    free = 0
    for at in sorted(keys):
        if at < free:
            continue
        key = next((key for key in reversed(keys[at]) if 0 < len(borne.get(key, ())) <= MAX_BEARERS), None)
        if key is not None:
            free = at + key.count(" ") + 1
            chosen.append(TitleMention(key, borne[key]))
    return chosen
