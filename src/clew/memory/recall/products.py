"""The two products of recall: search, which shows all results, and injection, which shows only good ones."""

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument
from clew.memory.model import LONGEST_QUERY, Link, MemoryKind, MemoryLinkKind
from clew.memory.recall.injection import fits, inject
from clew.memory.recall.ranking import Branches, RecalledMemory, hit_of
from clew.memory.recall.requests import InjectionRequest, MemoryQuery
from clew.memory.scope import MemoryFilters
from clew.memory.storage.changes import spelled_time
from clew.memory.texts.admit import check_text
from clew.memory.views import MemoryHit
from clew.text.choices import explained

if TYPE_CHECKING:
    from clew.memory.service import MemoryView
    from clew.operation.call import Call

_BUDGETS = {0: 150, 1: 8_192, 2: 8_192}
"""Tokens at most by verbosity; max_tokens counts as well."""
_TENSE = 0.8
_MOST_CONFLICTS = 10
_TEXT = (None, "", "text", "code")


class SearchFilters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    min_importance: Annotated[float, Meta(ge=0, le=1)] = 0.0
    kinds: tuple[MemoryKind, ...] = ()
    tags: tuple[str, ...] | None = None
    created_after: str | None = None
    session: str | None = None
    branch: str | None = None
    domain: str | None = None
    as_of: str | None = None


class SearchAnswer(msgspec.Struct, frozen=True, kw_only=True):
    results: tuple[MemoryHit, ...]
    count: int
    """Results on all pages."""
    notes: tuple[str, ...] = ()
    truncated: bool = False
    next_cursor: str | None = None


class ConflictAlert(msgspec.Struct, frozen=True):
    has_conflict: bool
    conflicting_nodes: tuple[tuple[str, str], ...]
    suggested_action: str | None


class Injection(msgspec.Struct, frozen=True, kw_only=True):
    context: str
    """Empty where nothing is worth it; `reason` says why."""
    reason: str | None
    tokens_used: int
    tokens_before_distillation: int
    compression_ratio: float
    distillation_applied: str
    nodes_retrieved: tuple[str, ...]
    conflict_alert: ConflictAlert
    utl_metrics: dict[str, float]
    bundled_metadata: dict[str, Any]
    tool_gating_warning: str | None = None
    notes: tuple[str, ...] = ()
    truncated: bool = False


def search_graph(view: "MemoryView", asked: MemoryQuery, call: "Call") -> SearchAnswer:
    query = check_text("query", asked.query, LONGEST_QUERY)
    wanted = _checked(asked.filters)
    filters = filters_of(wanted, asked.perspective_lock)
    if asked.modality not in _TEXT:
        note = f"Memories are texts; there are none of modality '{asked.modality}'."
        return SearchAnswer(results=(), count=0, notes=(note,))
    ranked, notes = view.recall.rank(
        query,
        asked.top_k,
        filters,
        tags=wanted.tags,
        min_similarity=asked.min_similarity,
        about=asked.about_,
        check=call.check,
    )
    view.note_question(query, ranked)
    ranked, absent = _fitting(query, view.modulated(call, query, ranked))
    branches = Branches(view.library)
    count, ranked = len(ranked), ranked[call.offset :]
    hits = tuple(hit_of(each, branches, with_content=asked.include_content) for each in ranked)
    for number, hit in enumerate(hits, start=1):
        call.progress(number, len(hits), f"{hit.citation_tag} {hit.title or hit.snippet}")
    view.note_exchange("search_graph", query, [hit.node_id for hit in hits], scores=[hit.similarity for hit in hits])
    _note_coverage(view, ranked)
    return SearchAnswer(results=hits, count=count, notes=(*absent, *notes))


def _fitting(query: str, ranked: "list[RecalledMemory]") -> "tuple[list[RecalledMemory], tuple[str, ...]]":
    """The results, without those that have nothing to do with the question; none and a note where nothing fits."""
    related = [each for each in ranked if each.similarity > 0 or each.found.unit is None]
    if not related:
        return [], ("Nothing fits: no memory shares a word or a meaning with the question.",) if ranked else ()
    if any(fits(each, query) for each in related):
        return related, ()
    best = max(related, key=lambda each: each.similarity)
    note = f"Nothing fits: the nearest memory, {best.memory.tag} “{best.memory.title}”, is {best.similarity:.2f} alike."
    return [], (note,)


def _checked(given: Mapping[str, Any] | None) -> SearchFilters:
    try:
        return msgspec.convert(dict(given or {}), SearchFilters)
    except msgspec.ValidationError as error:
        names = ", ".join(SearchFilters.__struct_fields__)
        raise InvalidArgument(
            f"'filters': {explained(error, SearchFilters, given or {})}.", hint=f"It has: {names}."
        ) from error


def filters_of(given: SearchFilters, lock: Mapping[str, Any] | None) -> MemoryFilters:
    """The filters of a search, with those of its perspective."""
    locked = dict(lock or {})
    agents, without = locked.pop("agent_ids", None), locked.pop("exclude_agent_ids", ())
    domain = locked.pop("domain", None)
    if locked:
        raise InvalidArgument(
            f"'perspective_lock' has no field '{next(iter(locked))}'.",
            hint="It has: domain, agent_ids, exclude_agent_ids.",
        )
    return MemoryFilters(
        branch=given.branch,
        session=given.session,
        domain=domain or given.domain,
        kinds=tuple(kind.value for kind in given.kinds),
        agents=None if agents is None else _names("agent_ids", agents),
        without_agents=_names("exclude_agent_ids", without),
        min_importance=given.min_importance,
        since=spelled_time(given.created_after),
        as_of=spelled_time(given.as_of),
    )


def _names(field: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise InvalidArgument(f"'perspective_lock.{field}' is not a list of names.", hint='Pass ["planner"].')
    return tuple(value)


def inject_context(view: "MemoryView", asked: InjectionRequest, check: Callable[[], None]) -> Injection:
    query, mode = check_text("query", asked.query, LONGEST_QUERY), asked.distillation_mode
    doubt = view.service.home.doubt
    if doubt is not None:
        return _nothing(doubt)
    now = view.service.context.clock()
    block = inject(
        view.recall,
        query,
        now,
        max_tokens=min(asked.max_tokens, _BUDGETS[asked.verbosity_level]),
        seen=() if asked.again else view.injected(),
        mode="raw" if asked.verbosity_level == 2 and mode == "auto" else mode,
        asked=asked.strictness,
        about=asked.about_,
        check=check,
    )
    shown = tuple(item.node_id for item in block.items)
    view.note_question(query, block.ranked)
    alike = {each.memory.id: each.similarity for each in block.ranked}
    scores = [alike.get(id, 0.0) for id in shown]
    view.note_exchange("inject_context", query, shown, scores=scores, injected=True, reason=block.abstained or "")
    _note_coverage(view, block.ranked)
    pulse = view.service.pulses.get(view.viewer.session)
    tense = "Memory hardly covers this. generate_search_plan asks in other words, epistemic_action asks the user."
    return Injection(
        context=block.context,
        reason=block.abstained,
        tokens_used=block.tokens_used,
        tokens_before_distillation=block.tokens_before,
        compression_ratio=round(block.tokens_used / block.tokens_before, 3) if block.tokens_before else 0.0,
        distillation_applied=mode if shown else "none",
        nodes_retrieved=shown,
        conflict_alert=_conflicts(view, shown),
        utl_metrics={"entropy": pulse.entropy, "coherence": pulse.coherence, "learning_score": pulse.learning_score},
        bundled_metadata=_bundled(view, shown, asked.include_metadata),
        tool_gating_warning=tense if pulse.entropy > _TENSE else None,
        notes=(*block.unsure, *block.notes),
    )


def _nothing(reason: str) -> Injection:
    """The answer in place of memories that the user may never have seen."""
    return Injection(
        context="",
        reason=f"Nothing is injected. {reason}",
        tokens_used=0,
        tokens_before_distillation=0,
        compression_ratio=0.0,
        distillation_applied="none",
        nodes_retrieved=(),
        conflict_alert=ConflictAlert(False, (), None),
        utl_metrics={},
        bundled_metadata={},
    )


def _conflicts(view: "MemoryView", shown: tuple[str, ...]) -> ConflictAlert:
    links = view.library.index.links(shown, (MemoryLinkKind.CONTRADICTS,)) if shown else []
    pairs = tuple((link.source, link.target) for link in _seen(view, links)[:_MOST_CONFLICTS])
    return ConflictAlert(bool(pairs), pairs, "critique_context" if pairs else None)


def _bundled(view: "MemoryView", shown: tuple[str, ...], wanted: Collection[str]) -> dict[str, Any]:
    kinds = {
        "causal_links": (MemoryLinkKind.CAUSES,),
        "entailment_cones": (MemoryLinkKind.PART_OF,),
        "neighborhood": None,
        "conflicts": (MemoryLinkKind.CONTRADICTS,),
    }
    return {
        name: [
            {"source": link.source, "target": link.target, "link": link.kind.value, "weight": link.weight}
            for link in _seen(view, view.library.index.links(shown, kinds[name]))[:20]
        ]
        for name in wanted
    }


def _seen(view: "MemoryView", links: list[Link]) -> list[Link]:
    """The links between memories that may both be seen."""
    if not links:
        return []
    ends = view.library.index.visible({end for link in links for end in (link.source, link.target)}, view.viewer)
    return [link for link in links if link.source in ends and link.target in ends]


def _note_coverage(view: "MemoryView", ranked: Collection[RecalledMemory]) -> None:
    """Note how well memory covered a question."""
    best = max((each.similarity for each in ranked), default=0.0)
    current = sum(each.standing == "current" for each in ranked) / len(ranked) if ranked else 0.0
    view.service.pulses.note(view.viewer.session, 1.0 - best, best * current)
