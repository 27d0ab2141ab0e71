"""The shortlist: the results of a search, never whole texts."""

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec
from msgspec import UNSET

from clew.errors import Unavailable
from clew.kb.answer import results
from clew.kb.answer.passages import Caller, fitting, flagged
from clew.kb.answer.requests import Mode, SearchRequest
from clew.kb.answer.section_search import FoundSection, FoundSections, contents
from clew.kb.boundary import Boundary
from clew.kb.ingest.library import Library
from clew.kb.limits import LimitReason
from clew.operation.paging import KeptRankings, Pages
from clew.search.quote.evidence import preview
from clew.text.hashing import content_hash

if TYPE_CHECKING:
    from clew.kb.service import KnowledgeBase

_BYTES_KEPT = 8 * 1024 * 1024
"""Of the sections that further pages are made from: about two hundred answers."""
_OVERHEAD_BYTES = 3_000
"""The size of a section besides its text, roughly: its records, its preview and the reasons why it was found."""
_GRAPH_OFF = "The graph is switched off (kb.graph = false): searched by words and meaning only."


class PageOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options for showing the results of a search."""

    offset: int
    page_size: int
    max_snippet_chars: int
    debug: bool
    scores: bool = False
    """With the scores of each signal beside the fused one."""
    mode: Mode
    """By which the results were found."""
    choice: str | None = None
    """The reason for the mode, if the documents decided it."""


class Shortlist:
    def __init__(self, kb: "KnowledgeBase", *, graph: bool, idle_seconds: float) -> None:
        self._kb = kb
        self._graph = graph
        self._kept: KeptPages[FoundSections] = KeptPages(idle_seconds)

    def keep(self, cursor: str | None, found: FoundSections, caller: Caller) -> None:
        """Remember the results of a page under the cursor that follows it."""
        self._kept.keep(cursor, caller.boundary, found)

    def ranked(self, request: SearchRequest, caller: Caller, pages: Pages) -> FoundSections:
        """Everything that the pages of a search show, best first."""
        known = self._kept.before(pages, self._kb.library, caller.boundary)
        if known is not None:
            return known
        mode, note = chosen_mode(request.mode, graph=self._graph)
        caller.check.step = "search"
        wanted = msgspec.structs.replace(request, mode=mode)
        found = self._kb.finder.find(wanted, boundary=caller.boundary, check=caller.check)
        return msgspec.structs.replace(found, notes=(*note, *found.notes))

    def page(
        self, query: str, found: FoundSections, shown: PageOptions, caller: Caller
    ) -> tuple[tuple[results.SearchResult, ...], LimitReason]:
        """The results from an offset on, as many as a page and the budget hold, each kept in scratch space."""
        best = found.sections[0].score if found.sections else 0.0
        chosen = found.sections[shown.offset : shown.offset + shown.page_size]
        # What was found is shown, however late it is.
        items = [
            self._result(query, each, rank, best, shown, caller)
            for rank, each in enumerate(chosen, start=shown.offset + 1)
        ]
        kept, reason = fitting(items)
        if reason == "none" and shown.offset + len(kept) < len(found.sections):
            reason = "page_size"
        return kept, reason

    def _result(
        self, query: str, found: FoundSection, rank: int, best: float, shown: PageOptions, caller: Caller
    ) -> results.SearchResult:
        excerpt = preview(query, found.text, max_chars=shown.max_snippet_chars)
        span = excerpt.anchor
        anchor = (span.start, span.end) if span is not None else (0, 0)
        passage = self._kb.passages.keep(found.section, found.document, found.text, anchor, caller)
        return results.SearchResult(
            passage_id=passage.id,
            section_id=passage.section_id,
            doc_tag=passage.doc_tag,
            title=passage.title,
            rank=rank,
            score=_relative(found.score, best),
            source=source_of(found),
            preview=contents(found.text, found.below, shown.max_snippet_chars) or excerpt.text,
            scratch_uri=caller.uri(passage),
            size_bytes=passage.size_bytes,
            anchor=found.section.anchor or None,
            flags=flagged(excerpt.text, passage.title),
            scores=_scores(found) if shown.scores else UNSET,
            debug=msgspec.to_builtins(_debug(found, shown)) if shown.debug else UNSET,
        )


def chosen_mode(asked: Mode, *, graph: bool) -> tuple[Mode, tuple[str, ...]]:
    """The mode of a search, and the notes on it."""
    if graph:
        return asked, ()
    if asked is Mode.HYBRID_LOCAL:
        raise Unavailable(
            "hybrid_local was asked for, but the graph is switched off.",
            hint="Pass mode auto or vector_only, or set kb.graph = true in clew.toml.",
            data={"reason": "graph_disabled", "neo4j_disabled": True},
        )
    return Mode.VECTOR_ONLY, (_GRAPH_OFF,) if asked is Mode.AUTO else ()


def fingerprint(found: Sequence[FoundSection], quotes: Sequence[tuple[int, int, int]] = ()) -> str:
    """Identifies a ranking of sections, and of quotes: a page continues only the ranking of the pages before it."""
    ranked = [(each.section.id, each.section.version) for each in found]
    return content_hash(msgspec.json.encode((ranked, quotes)), size=12)


class SectionAnswer(Protocol):
    """An answer with sections: its pages show them, or quote from them."""

    @property
    def sections(self) -> tuple[FoundSection, ...]: ...


L = TypeVar("L", bound=SectionAnswer)


class KeptPages(KeptRankings[tuple[str, Boundary], L]):
    """Sections of the pages before a cursor, by the cursor. An encoder that was too busy may answer again meanwhile."""

    def __init__(self, idle_seconds: float, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        super().__init__(_BYTES_KEPT, size_of=_bytes, idle_seconds=idle_seconds, clock=monotonic)

    def keep(self, cursor: str | None, boundary: Boundary, listed: L) -> None:
        if cursor is not None:
            self.put((cursor, boundary), listed)

    def before(self, pages: Pages, library: Library, boundary: Boundary) -> L | None:
        """The ranking that a page continues. None for a first page, and if the ranking is unknown or the documents
        changed."""
        key = None if pages.cursor is None else (pages.cursor, boundary)
        return self.current(key, lambda listed: _is_unchanged(listed, library, boundary))


def _is_unchanged(listed: SectionAnswer, library: Library, boundary: Boundary) -> bool:
    with library.reading(boundary) as reading:
        now = [reading.section(each.section.id) for each in listed.sections]
    versions = [None if there is None else there.version for there in now]
    return versions == [each.section.version for each in listed.sections]


def _bytes(listed: SectionAnswer) -> int:
    return _OVERHEAD_BYTES + sum(_OVERHEAD_BYTES + sys.getsizeof(each.text) for each in listed.sections)


def source_of(found: FoundSection) -> str:
    """By which signals a section was found."""
    signals = {each.signal for each in found.why}
    if found.expanded:
        return "graph_expanded"
    if {"lexical", "dense"} <= signals:
        return "hybrid"
    return "vector" if "dense" in signals else "bm25"


def _relative(score: float, best: float) -> float:
    return round(min(1.0, max(0.0, score / best)), 4) if best > 0 else 0.0


def _scores(found: FoundSection) -> dict[str, float]:
    return {"fused": round(found.score, 6), **{each.signal: round(each.score, 6) for each in found.why}}


def _debug(found: FoundSection, shown: PageOptions) -> results.ResultDebug:
    section = found.section
    return results.ResultDebug(
        mode=shown.mode.value,
        choice=shown.choice or UNSET,
        fused_score=found.score,
        signals=tuple(
            results.SignalContribution(each.signal, each.rank, round(each.score, 6), round(each.value, 6))
            for each in found.why
        ),
        path=section.document,
        line=section.line,
        end_line=section.end_line,
        tokens=section.tokens,
        version=section.version,
        updated_at=found.document.updated_at,
    )
