"""One search over requirements, specs, documents, code, memories and commits: one index, one ranking, the kind shown.

What is called exactly so comes first. Of the best twenty, each kind is among the first ten. What the caller may not see
takes no part in the ranking.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from clew.derived.code_file import FiledSymbol
from clew.errors import ClewError, StoreCorrupt, StoreError
from clew.graph.model import Node, NodeKind
from clew.kb.ingest.units import narrowed
from clew.search.question import Question, RankedUnit
from clew.search.quote.evidence import preview
from clew.search.quote.names import names_in
from clew.search.units import Filters, Scope, Unit
from clew.text.display import one_line
from clew.text.sentences import is_heading
from clew.trace.find.requests import SearchQuery
from clew.trace.find.texts import bare
from clew.why import code_units, commit_units
from clew.why.target import file_argument

if TYPE_CHECKING:
    from clew.operation.call import Call
    from clew.search.engine import SearchEngine

KINDS: dict[str, tuple[str, ...]] = {
    "requirement": ("requirement",),
    "spec": ("spec", "scenario", "spec_change"),
    "document": ("section",),
    "code": ("code",),
    "memory": ("memory",),
    "commit": ("commit",),
}
_SHOWN = {"spec": "spec", "scenario": "scenario", "spec_change": "change", "section": "document"}
_LETTERS = re.compile("[A-Za-z]+")
_WITH_ID = (NodeKind.REQUIREMENT.value, NodeKind.ASSERTION.value)
_NEAR = 0.3
"""The similarity from which a text without a word of the query is relevant, on the scale of Clew's encoder."""
_FIRST, _AMONG = 10, 20
_MOST_EXACT = 8
_PREVIEW = 160
_DOCUMENTS_MISSING = "The search index was reopened during the search, so documents may be missing. Ask again."
T = TypeVar("T")


class FoundItem(msgspec.Struct, frozen=True, omit_defaults=True):
    kind: str
    id: str
    title: str
    place: str
    preview: str = ""
    exact: bool = False
    """True if the query is its name."""
    related: bool = False
    """True if it is related to the query without holding all its words; only when requirements are searched alone."""


class FoundItems(msgspec.Struct, frozen=True):
    results: tuple[FoundItem, ...]
    total: int
    truncated: bool = False
    next_cursor: str | None = None
    notes: tuple[str, ...] = ()
    indexed: str | None = None
    """Texts in the search index, with and without embeddings; null without a search index."""


def read_documents(call: "Call") -> None:
    """Read changed documents before the graph is locked. If they cannot be stored, everything else is found."""
    try:
        call.notes = call.project.kb.refresh(call.progress, wait=call.surface == "cli")
    except StoreError as error:
        call.notes = (f"Documents are not searched: {error.message}",)


class ProjectSearch:
    """One search in everything: all parts are brought in step for it. The caller holds the graph's lock."""

    def __init__(self, call: "Call", kinds: Sequence[str] = ()) -> None:
        self._call = call
        self._project = call.project
        self._kinds = tuple(kinds) or tuple(KINDS)
        self.notes: list[str] = list(call.notes)
        self.indexed: str | None = None
        self._in_step: SearchEngine | None = None
        """The engine that was brought up to date for this question."""

    def find(self, query: str, *, offset: int = 0, limit: int = 10) -> FoundItems:
        if self._kinds == ("requirement",):
            return self._requirements(query, offset=offset, limit=limit)
        exact = list(self._exact(query))
        # Beside what has an id, only what holds all of that has to do with it.
        asked = next((f'"{item.id}"' for item in exact if _is_whole_id(query, item)), query)
        ranked = self.ranked(asked, again=offset > 0)
        if ranked is None:
            # Requirements that hold all words are found without an index.
            return self._requirements(query, offset=offset, limit=limit)
        known = {(item.kind, item.id) for item in exact}
        items = self._definitions_first(_joined(exact, [each for each in ranked if not self._is_known(each, known)]))
        page = items[offset : offset + limit]
        units = self.units([item.id for item in page if isinstance(item, RankedUnit)])
        shown = (item if isinstance(item, FoundItem) else self._item(units.get(item.id), query) for item in page)
        results = tuple(item for item in shown if item is not None)
        total = len(items)
        notes = tuple(dict.fromkeys(self.notes))
        return FoundItems(results, total, offset + limit < total, None, notes, self.indexed)

    def _requirements(self, query: str, *, offset: int, limit: int) -> FoundItems:
        """Requirements alone have a search that knows more about them."""
        page = self._project.trace.search(SearchQuery(query=query, limit=limit), offset=offset, check=self._call.check)
        # What is related comes after everything that holds the words.
        related = () if page.truncated else page.related
        both = [(each.id, False) for each in page.results] + [(each.id, True) for each in related]
        nodes = ((self._project.graph.get_node(id), is_related) for id, is_related in both)
        found = tuple(
            msgspec.structs.replace(_of_node(node), exact=False, related=is_related)
            for node, is_related in nodes
            if node is not None
        )
        notes = tuple(dict.fromkeys((*self.notes, *page.notes)))
        return FoundItems(found, page.total + len(related), page.truncated, None, notes, page.indexed)

    def ranked(self, query: str, *, again: bool = False) -> list[RankedUnit] | None:
        """Everything about the query, best first; None without an index."""
        asked = Question(text=query, scope=self._scope(self._kinds))
        ranking = self.answered(lambda engine: engine.rank(asked, again=again, check=self._call.check))
        if ranking is None:
            self.notes.append(self._project.index.problem or "There is no search index.")
            return None
        self.notes += ranking.notes
        self.indexed = ranking.indexed
        return self._visible([each for each in ranking.units if _is_relevant(each)])

    def units(self, ids: Collection[str]) -> dict[str, Unit]:
        """The indexed texts that exist, in the order of their ids."""
        found = self.answered(lambda engine: [(id, engine.units.get(id)) for id in ids]) or ()
        return {id: unit for id, unit in found if unit is not None}

    def unmentioned(self, question: str) -> tuple[str, ...]:
        """Names in a question that occur nowhere, source code included."""
        scope = self._scope(tuple(KINDS))
        absent = self.answered(
            lambda engine: engine.missing_names(names_in(question, engine.word_vectors()), scope, Filters())
        )
        return absent or ()

    def lacks_word_pairs(self, question: str) -> bool:
        """True if no word of a question occurs anywhere as written, names left aside."""
        scope = self._scope(tuple(KINDS))
        return bool(self.answered(lambda engine: engine.lacks_word_pairs(question, scope, Filters())))

    def answered(self, question: "Callable[[SearchEngine], T]") -> T | None:
        """Answer of the search index, which is brought up to date first."""

        def in_step(engine: "SearchEngine") -> T:
            if engine is not self._in_step:
                self._bring_in_step(engine)
            return question(engine)

        return self._project.index.persistently(in_step)

    def _scope(self, kinds: Sequence[str]) -> Scope:
        return Scope(
            parts=tuple(part for kind in kinds for part in KINDS[kind]),
            agents=self._agents(),
            unowned=True,
            within=(("section", narrowed(self._call.boundary, Filters())),),
        )

    # Bringing it in step

    def _bring_in_step(self, engine: "SearchEngine") -> None:
        project = self._project
        is_another, self._in_step = self._in_step is not None, engine
        if is_another and "document" in self._kinds:
            # They were read into the one before; reading them again would have all others wait for the graph.
            self.notes.append(_DOCUMENTS_MISSING)
        try:
            project.index.sync(self._call.check)
            if "spec" in self._kinds:
                project.specs.index.ensure(project.specs.library)
            if "memory" in self._kinds and project.memory.exists:
                project.memory.units.engine()
            if "code" in self._kinds:
                self.notes += project.code.ensure()
                code_units.sync(project.code.file, engine)
            if "commit" in self._kinds and (progress := project.history.ensure()).head is not None:
                self.notes += progress.notes
                commit_units.sync(project.history.history, engine)
        except ClewError as error:
            if isinstance(error, StoreCorrupt) and "index" in error.data:
                # The call is answered from an index rebuilt.
                raise
            self.notes.append(f"The search index is behind the files: {error.message}")

    # Who may see what

    def _agents(self) -> tuple[str, ...] | None:
        if not self._project.memory.exists:
            return ()
        viewer = self._project.memory.view(self._call).viewer
        return None if viewer.is_owner else ("", *((viewer.agent,) if viewer.agent else ()))

    def _visible(self, found: list[RankedUnit]) -> list[RankedUnit]:
        """The results without memories of folders that the caller does not see, and without memories of others unless
        only memories are asked for."""
        ids = [each.id.removeprefix("memory:") for each in found if each.id.startswith("memory:")]
        if not ids:
            return found
        doubt = self._project.memory.doubt
        if doubt is not None:
            self.notes.append(doubt)
        # Of one that is not the user's own, nothing is shown among other things.
        is_shown = doubt is None or len(self._kinds) == 1
        seen = self._project.memory.view(self._call).library.get_many(ids) if is_shown else ()
        return [each for each in found if not each.id.startswith("memory:") or each.id[7:] in seen]

    # What is called exactly so

    def _exact(self, query: str) -> Iterator[FoundItem]:
        word = query.strip()
        if not word or len(word) > 300:
            return
        trace = self._project.trace
        node = None
        if "requirement" in self._kinds or "spec" in self._kinds:
            node = trace.find_node(word)
            if node is None and any(map(str.isdigit, word)):
                node = self._project.graph.get_node(trace.meant(word) or "")
        if node is not None and node.kind is not NodeKind.MEMORY:
            yield _of_node(node)
        if "code" in self._kinds or "document" in self._kinds:
            path = file_argument(self._call, word).path
            if path is not None:
                yield FoundItem("file", path, path, path, exact=True)
        if "code" in self._kinds and " " not in word:
            with suppress(StoreError):
                # What keeps the outlines away is said by who brings the index in step.
                self._project.code.ensure()
                for symbol in self._project.uses.meaning(word).found[:_MOST_EXACT]:
                    yield _of_symbol(symbol, exact=True)

    def _is_known(self, ranked: RankedUnit, known: set[tuple[str, str]]) -> bool:
        part, _, rest = ranked.id.partition(":")
        if part == code_units.PART:
            return any(kind == part and id.partition("::")[0] == rest for kind, id in known)
        return (part, rest) in known

    # What is shown

    def _item(self, unit: Unit | None, query: str) -> FoundItem | None:
        if unit is None:
            return None
        text = one_line(preview(query, unit.body[:200_000], max_chars=_PREVIEW).text, _PREVIEW)
        if is_heading(unit.body):
            # The title says it.
            text = ""
        if unit.part == code_units.PART:
            return self._code(unit, query, text)
        if unit.part == "requirement":
            node = self._project.graph.get_node(unit.links[0])
            return msgspec.structs.replace(_of_node(node), preview=text, exact=False) if node is not None else None
        if unit.part == commit_units.PART:
            id = unit.links[0]
            return FoundItem("commit", id[:12], one_line(unit.title, 120), id[:12], text)
        if unit.part == "memory":
            return FoundItem("memory", unit.id, one_line(unit.title or unit.body, 100), unit.id[:15], text)
        place = unit.path or ""
        if unit.part == "section":
            node = self._project.graph.get_node(unit.id)
            place = f"{place}:{node.source.line}" if node is not None and node.source is not None else place
        return FoundItem(_SHOWN.get(unit.part, unit.part), unit.links[0], one_line(unit.title, 120), place, text)

    def _code(self, unit: Unit, query: str, text: str) -> FoundItem:
        path = unit.path or ""
        symbol = code_units.best_symbol(self._project.code.file.symbols_of(path), query)
        if symbol is None:
            return FoundItem("code", path, path, path, text)
        return _of_symbol(symbol)

    def _definitions_first(self, items: "list[FoundItem | RankedUnit]") -> "list[FoundItem | RankedUnit]":
        """The items, those about source code in the order that has tests after what they test."""
        places = [at for at, item in enumerate(items) if _path_of_code(item)]
        code = sorted(
            (items[at] for at in places), key=lambda item: self._project.uses.tests.holds(_path_of_code(item))
        )
        mixed = list(items)
        for at, item in zip(places, code, strict=True):
            mixed[at] = item
        return mixed


def _path_of_code(item: "FoundItem | RankedUnit") -> str:
    """The file of a result that is code; empty for every other."""
    if isinstance(item, FoundItem):
        return item.id.partition("::")[0] if item.kind == code_units.PART else ""
    part, _, path = item.id.partition(":")
    return path if part == code_units.PART else ""


def _of_symbol(symbol: FiledSymbol, *, exact: bool = False) -> FoundItem:
    name, place = f"{symbol.path}::{symbol.qualname}", f"{symbol.path}:{symbol.at}"
    return FoundItem("code", name, symbol.head, place, symbol.about, exact=exact)


def _joined(exact: Sequence[FoundItem], ranked: Sequence[RankedUnit]) -> list[FoundItem | RankedUnit]:
    """Exact names before the ranking. If there are many, some come later: each kind among the best twenty is among the
    first ten."""
    kinds = {_kind(each) for each in ranked[:_AMONG]}
    lead = max(_FIRST - len(kinds), 1)
    mixed = varied(ranked, _FIRST - min(lead, len(exact)))
    behind = _FIRST - len(exact[:lead])
    return [*exact[:lead], *mixed[:behind], *exact[lead:], *mixed[behind:]]


def varied(found: Sequence[RankedUnit], among: int = _FIRST) -> list[RankedUnit]:
    """The ranking, with each kind of the best twenty among the first few."""
    first: dict[str, RankedUnit] = {}
    for each in found[:_AMONG]:
        first.setdefault(_kind(each), each)
    wanted = {each.id for each in first.values()}
    room = among - len(wanted)
    for each in found[:_AMONG]:
        if each.id not in wanted and room > 0:
            wanted.add(each.id)
            room -= 1
    head = [each for each in found[:_AMONG] if each.id in wanted]
    return [*head, *(each for each in found if each.id not in wanted)]


def _is_whole_id(query: str, item: FoundItem) -> bool:
    """True if a query is the id of a requirement with its prefix: 404 alone may be anything."""
    prefix = _LETTERS.match(item.id)
    if item.kind not in _WITH_ID or prefix is None or not any(map(str.isdigit, query)):
        return False
    return bare(query).startswith(prefix[0].casefold())


def _kind(ranked: RankedUnit) -> str:
    part = ranked.id.partition(":")[0]
    return "section" if part == "doc" else part


def _is_relevant(ranked: RankedUnit) -> bool:
    return ranked.signal("lexical") is not None or (ranked.signal("dense") or 0.0) >= _NEAR


def _of_node(node: Node) -> FoundItem:
    place = f"{node.source.path}:{node.source.line}" if node.source is not None else ""
    return FoundItem(node.kind.value, node.id, one_line(node.title, 120), place, exact=True)


def as_lines(found: FoundItems, coloured: Any) -> Iterator[str]:
    width = max((len(item.kind) for item in found.results), default=0)
    apart = next((at for at, item in enumerate(found.results) if item.related), -1)
    for at, item in enumerate(found.results):
        if at == apart:
            yield coloured("related, without all the words:", "dim")
        yield f"{coloured(item.kind.ljust(width), 'dim')}  {coloured(item.id, 'cyan')}  {item.title}  " + coloured(
            item.place, "dim"
        )
        if item.preview and item.preview not in item.title:
            yield f"{' ' * width}    {item.preview}"
