"""Links that nobody drew: a unit whose body mentions the title of another leads to it.

A title is compared by its *key*: its runs of letters and digits in lower case, without accents, leading articles and a
remark in brackets at the end ("Mercury (planet)" is mentioned as Mercury). Of several titles that begin at the same
word the longest is meant. A title of one word is mentioned only where the word has a capital, so that a unit called
"Search" is not mentioned wherever somebody searches.

Nothing is kept but the keys. What a unit mentions is found when a walk asks for it, from its body and the titles of
that moment, so that a new, changed or deleted title counts at once, and there is nothing to keep consistent. A walk
asks for a few dozen units; each takes time linear in its body and a few questions to the store:

1. with which of some beginnings does any title begin (`Titles.begun`)? First of two words, then of three where two did,
   and so on: most texts are done with after the second time;
2. which of the keys that are left are titles, and of which units (`Titles.borne`)?

`TitleTable` answers them from a table of (key, unit). A search expands like this:

    graph = MentionGraph(TitleTable(connection, condition), body_of, units_with, all_units)
    seeds = seeds_from(ranked, expansion.seeds, graph.named(query), expansion.named)
    ranks = personalised_pagerank(seeds, graph.neighbours, alpha=..., eps=..., max_edges=...)
    results = expand(fused, ranks.scores, expansion.weight)

A mention weighs at most 1, so a link that somebody did draw may join in with that weight.

What a walk meets: the units that a unit leads to, of those a search may see.
"""

import re
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import msgspec

from clew.search import index
from clew.search.lexical import tables as lexical_tables
from clew.search.lexical.plan import rarity
from clew.search.units import Condition
from clew.store.sqlite.connections import Connection
from clew.text.keywords import STOP_WORDS
from clew.text.stem import stem

MAX_BEARERS = 20
"""A title that more units bear than this, like "Introduction", names none of them."""
MAX_TITLE_WORDS = 12
"""A longer title is a sentence that nobody repeats word by word."""
MAX_CHARACTERS = 20_000
"""How much of a body is read for mentions."""

_MIN_CHARACTERS = 3
_ARTICLES = frozenset(("a", "an", "the"))
_REMARK = re.compile(r"\s*\([^()]*\)\s*\Z")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")
# Scripts without blanks between words: Thai, Lao, Burmese, Khmer, kana and ideographs give single characters.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_MARK = re.compile(r"[\u0300-\u036f]+")


class Titles(Protocol):
    """What the titles of all units are asked."""

    def begun(self, beginnings: Sequence[str]) -> Iterable[str]:
        """Those of the beginnings, of two words or more, with which a key begins (whole words)."""
        ...

    def borne(self, keys: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """Those of the keys that are titles, with the units that bear each; MAX_BEARERS + 1 of them are enough."""
        ...


class Mention(NamedTuple):
    key: str
    units: Sequence[int]
    """Those that bear the title."""


def title_key(title: str) -> str | None:
    """What a title is compared by, or None for one that cannot be recognised in a text."""
    shortened = _REMARK.sub("", title)
    found = [word.lower() for word in _words(shortened if shortened.strip() else title)]
    while found and found[0] in _ARTICLES:
        del found[0]
    if not 1 <= len(found) <= MAX_TITLE_WORDS:
        return None
    return " ".join(found) if len(found) > 1 or _is_name(found[0]) else None


def mentions(text: str, titles: Titles, *, lower_case: bool = False) -> list[Mention]:
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
        begun = set(titles.begun(list(dict.fromkeys(beginnings.values())))) if beginnings else ()
        growing = [at for at, beginning in beginnings.items() if beginning in begun]
        if not growing:
            break
        for at in growing:
            keys.setdefault(at, []).append(beginnings[at])
    borne = titles.borne(list(dict.fromkeys(key for some in keys.values() for key in some)))
    return _longest(keys, borne)


class MentionGraph:
    """What units mention, as edges of a walk: for one search, while the titles stay as they are."""

    def __init__(
        self,
        titles: Titles,
        body_of: Callable[[int], str | None],
        units_with: Callable[[Iterable[str]], Mapping[str, int]],
        all_units: int,
    ) -> None:
        """`units_with` says in how many units each of some stems occurs, as the lexical index does."""
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
        """The units whose titles the unit's body mentions, with the weights of the edges there."""
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
    """How much a mention says: above 0, and at most 1.

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
    """Whether a word alone can be recognised as a title: characters of Chinese and the like say more than letters."""
    return (len(word) >= _MIN_CHARACTERS or not word.isascii()) and word not in STOP_WORDS and not word.isdigit()


def _longest(keys: Mapping[int, Sequence[str]], borne: Mapping[str, Sequence[int]]) -> list[Mention]:
    chosen: list[Mention] = []
    free = 0
    for at in sorted(keys):
        if at < free:
            continue
        key = next((key for key in reversed(keys[at]) if 0 < len(borne.get(key, ())) <= MAX_BEARERS), None)
        if key is not None:
            free = at + key.count(" ") + 1
            chosen.append(Mention(key, borne[key]))
    return chosen


Adjacency: TypeAlias = Callable[[Sequence[str]], Mapping[str, Iterable[tuple[str, float]]]]
"""From the ids of units to the ids of units that each leads to, with weights above 0."""

# Words hold no blank, and nothing that a key can hold sorts between a blank and the exclamation mark.
_BEGUN = """
    SELECT value FROM json_each(?)
    WHERE EXISTS (SELECT 1 FROM unit_titles WHERE key >= value AND key < value || '!')
"""


class Neighbourhood:
    """Edges between the numbers of units: those of an adjacency, or the mentions of titles in texts."""

    def __init__(self, connection: Connection, condition: Condition | None, adjacency: Adjacency | None) -> None:
        """Without a condition, all units may be seen."""
        self._connection = connection
        self._condition = condition
        self._adjacency = adjacency
        self._known: dict[int, list[tuple[int, float]]] = {}
        self._mentions = MentionGraph(
            TitleTable(connection, condition),
            self._body,
            lambda terms: lexical_tables.units_with(connection, terms),
            lexical_tables.totals(connection).units,
        )

    def named_in(self, text: str) -> list[int]:
        """The units whose title a text holds. Who brings edges of their own has titles for reading, such as
        "Search": everybody uses such words, and nobody means the section by them."""
        return self._mentions.named(text) if self._adjacency is None else []

    def neighbours(self, number: int) -> list[tuple[int, float]]:
        if self._adjacency is None:
            return self._mentions.neighbours(number)
        self.load([number])
        return self._known[number]

    def load(self, numbers: Iterable[int]) -> None:
        """Look up at once where some units lead, which takes little longer than to look up one."""
        new = [number for number in numbers if number not in self._known]
        if self._adjacency is None or not new:
            return
        ids = index.ids_of(self._connection, new)
        leads = self._adjacency(list(ids.values()))
        seen = self._seen(dict.fromkeys(target for id in ids.values() for target, _ in leads.get(id, ())))
        for number in new:
            edges = leads.get(ids[number], ()) if number in ids else ()
            self._known[number] = [(seen[target], weight) for target, weight in edges if target in seen]

    def _seen(self, ids: Iterable[str]) -> dict[str, int]:
        """The numbers of those of the units that there are and that the search may see."""
        statement = "SELECT units.id, units.number FROM json_each(?) CROSS JOIN units ON units.id = value"
        numbers = dict(self._connection.execute(statement, (msgspec.json.encode(list(ids)).decode(),)).fetchall())
        if self._condition is None:
            return numbers
        allowed = set(index.allowed(self._connection, self._condition, list(numbers.values())))
        return {id: number for id, number in numbers.items() if number in allowed}

    def _body(self, number: int) -> str | None:
        row = self._connection.execute("SELECT body FROM unit_bodies WHERE number = ?", (number,)).fetchone()
        return None if row is None else str(row[0])


class TitleTable:
    """The titles of the units that `restrict`, a condition on the table `units`, lets through.

    The table is `unit_titles (key, number)`, sorted by key, where the key is `title_key(title)` and units without one
    are left out. It is the only thing that the finding of mentions keeps.
    """

    def __init__(self, connection: sqlite3.Connection, restrict: Condition | None = None) -> None:
        self._connection = connection
        self._parameters = restrict.parameters if restrict else ()
        join, condition = "", ""
        if restrict is not None:
            join, condition = "CROSS JOIN units USING (number)", f"AND ({restrict.sql})"
        # The condition is Clew's own text; every value is a parameter. A title that very many units bear is not read to
        # its end.
        self._borne = f"""
            SELECT asked.value, (
                SELECT json_group_array(number) FROM (
                    SELECT number FROM unit_titles {join} WHERE unit_titles.key = asked.value {condition}
                    LIMIT {MAX_BEARERS + 1}
                )
            ) FROM json_each(?) AS asked WHERE EXISTS (SELECT 1 FROM unit_titles WHERE key = asked.value)
        """  # noqa: S608

    def begun(self, beginnings: Sequence[str]) -> list[str]:
        return [row[0] for row in self._connection.execute(_BEGUN, (_json(beginnings),))]

    def borne(self, keys: Sequence[str]) -> Mapping[str, Sequence[int]]:
        rows = self._connection.execute(self._borne, (*self._parameters, _json(keys)))
        return {key: msgspec.json.decode(numbers, type=list[int]) for key, numbers in rows}


def _json(values: Sequence[str]) -> str:
    return msgspec.json.encode(values).decode("utf-8")
