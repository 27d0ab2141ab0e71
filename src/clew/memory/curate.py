"""Curation: merging, forgetting, restoring, annotating and weighing memories. Every one of these can be undone."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from clew.errors import Forgotten, InvalidArgument, NotFound, PriorsIncompatible, SemanticCancer
from clew.memory.admit import check_rationale, check_text, title_of
from clew.memory.changes import Changes
from clew.memory.library import Library, normal_id
from clew.memory.model import (
    LONGEST_NAME,
    LONGEST_NOTES,
    LONGEST_TEXT,
    Cite,
    Link,
    LinkKind,
    Memory,
    Trust,
    linked,
    new_id,
)
from clew.memory.places import Places
from clew.memory.priors import COMPATIBLE_FROM, compare
from clew.memory.scope import Filters
from clew.memory.scrub import scrub
from clew.memory.summary import summarized
from clew.memory.units import MemoryUnits
from clew.text.shortening import shortened
from clew.text.words import storable

Strategy = Literal["summarize", "keep_highest", "keep_newest", "concatenate"]
Reason = Literal["obsolete", "duplicate", "incorrect", "user_requested", "semantic_cancer", "adversarial_injection"]
SEPARATOR = "\n\n---\n\n"
CANCER_IMPORTANCE, CANCER_ENTROPY, CANCER_DEGREE = 0.8, 0.7, 5
_TRUST_ORDER = list(Trust)
_FORGOTTEN = Filters(forgotten=True)


class MergedNode(msgspec.Struct, frozen=True):
    name: str
    source_count: int
    strategy_used: str
    created_at: str
    importance: float
    total_access_count: int


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    success: bool = True
    merged_id: str
    merged_node: MergedNode
    reversal_hash: str
    recoverable_until: str
    summarized_by: str | None = None
    """The model's name, or `extractive`; null for the other strategies."""
    priors_similarity: float
    kept_source_ids: tuple[str, ...] = ()
    """Sources with other priors, which were linked as Relational instead of being merged away."""


class Deleted(msgspec.Struct, frozen=True, kw_only=True):
    deleted: bool = True
    node_id: str
    soft: bool
    reversal_hash: str | None
    deleted_at: str
    recoverable_until: str | None
    edges_affected: int
    notes: tuple[str, ...] = ()


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    restored_node_ids: tuple[str, ...]
    operation: str
    restored_at: str
    reversal_hash: str
    """Undoes the restoration."""


class Annotations(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    tags: tuple[str, ...] = ()
    domain: Literal["Code", "Medical", "Legal", "Creative", "Research", "General"] | None = None
    confidence: Annotated[float, Meta(ge=0, le=1)] | None = None
    notes: Annotated[str, Meta(max_length=LONGEST_NOTES)] | None = None
    related_concepts: tuple[str, ...] = ()


class AnnotatedMemory(msgspec.Struct, frozen=True, kw_only=True):
    node_id: str
    tags: tuple[str, ...]
    domain: str
    confidence: float | None
    notes: str
    related_concepts: tuple[str, ...]
    version: int
    reversal_hash: str


class Boosted(msgspec.Struct, frozen=True, kw_only=True):
    node_id: str
    old_importance: float
    delta: float
    new_importance: float
    clamped: bool
    reversal_hash: str


class Curator:
    def __init__(
        self, library: Library, units: MemoryUnits, changes: Changes, places: Callable[[], Places], actor: str
    ) -> None:
        self._library = library
        self._units = units
        self._changes = changes
        self._places = places
        self._actor = actor

    # Merging

    def merge(
        self,
        ids: Sequence[str],
        name: str,
        strategy: Strategy,
        rationale: str | None,
        *,
        force: bool,
        model: Any = None,
        check: Callable[[], None] = lambda: None,
    ) -> Merged:
        why = scrub(check_rationale(rationale)).text
        name = scrub(check_text("target_name", name, LONGEST_NAME)).text
        unique = list(dict.fromkeys(normal_id(id) for id in ids))
        if len(unique) < 2 or len(unique) != len(ids):
            raise InvalidArgument(
                f"'source_node_ids' names {len(unique)} different memories among {len(ids)}; 2 or more different ones"
                " are needed.",
                hint="Name each memory once.",
            )
        sources = [self._library.get(id) for id in unique]
        priors = compare(sources, self._units)[0]
        if priors.similarity < COMPATIBLE_FROM and not force:
            raise PriorsIncompatible(
                f"{priors.one} and {priors.other} rest on different assumptions: {', '.join(priors.reasons)}; their"
                f" priors are {priors.similarity:.2f} alike, and {COMPATIBLE_FROM} is needed.",
                hint="Look at both, or pass force_merge=true: what differs is then linked instead of merged.",
                data={"nodes": [priors.one, priors.other], "similarity": priors.similarity},
            )
        best = max(sources, key=lambda source: (source.importance, source.recorded_at))
        text, by = self._merged_text(sources, best, strategy, model, check)
        kept = self._other_priors(best, sources) if priors.similarity < COMPATIBLE_FROM else []
        gone = [source for source in sources if source not in kept]
        rows = self._library.index.visible(unique, self._library.asker)
        with self._changes.make("merge", self._actor, why) as change:
            merged = _merged_memory(sources, gone, best, name, text, change.at)
            self._refuse_cancer(merged.importance, gone)
            change.put(merged)
            links = self._library.index.links([source.id for source in gone])
            for link in _repointed(links, {source.id for source in gone}, merged.id):
                change.link(link)
            for link in links:
                change.unlink(link)
            for source in gone:
                change.delete(source.id)
            for source in kept:
                change.link(linked(merged.id, source.id, LinkKind.RELATED, "merge"))
            change.details = {"merged": merged.id, "sources": unique, "strategy": strategy, "name": name}
        self._units.engine()
        return Merged(
            merged_id=merged.id,
            merged_node=MergedNode(
                name, len(sources), strategy, change.at, merged.importance, sum(row.shown for row in rows.values())
            ),
            reversal_hash=change.hash,
            recoverable_until=self._until(change.hash),
            summarized_by=by,
            priors_similarity=priors.similarity,
            kept_source_ids=tuple(source.id for source in kept),
        )

    def _merged_text(
        self, sources: list[Memory], best: Memory, strategy: Strategy, model: Any, check: Callable[[], None]
    ) -> tuple[str, str | None]:
        if strategy == "keep_highest":
            return best.text, None
        if strategy == "keep_newest":
            return max(sources, key=lambda source: source.recorded_at).text, None
        if strategy == "concatenate":
            joined = SEPARATOR.join(source.text for source in sources)
            return check_text("the concatenated text", joined, LONGEST_TEXT), None
        return summarized([source.text for source in sources], model, check)

    def _other_priors(self, best: Memory, sources: list[Memory]) -> list[Memory]:
        return [
            source
            for source in sources
            if source is not best and compare([best, source], self._units)[0].similarity < COMPATIBLE_FROM
        ]

    # Forgetting and restoring

    def forget(self, id: str, reason: Reason, rationale: str | None, *, soft: bool) -> Deleted:
        why = scrub(check_rationale(rationale)).text
        if not soft and reason != "user_requested":
            raise InvalidArgument(
                f"A memory is deleted for good only for the reason 'user_requested', not '{reason}'.",
                hint="Leave soft_delete out, so that it can be restored for 30 days.",
            )
        memory = self._library.get(id)
        with self._changes.make("forget" if soft else "erase", self._actor, why) as change:
            links = self._library.index.links([memory.id])
            for link in links:
                change.unlink(link)
            change.delete(memory.id)
            change.details = {"reason": reason}
        self._units.engine()
        note = "`clew memory purge` removes its text from every file as well."
        return Deleted(
            node_id=memory.id,
            soft=soft,
            reversal_hash=change.hash if soft else None,
            deleted_at=change.at,
            recoverable_until=self._until(change.hash) if soft else None,
            edges_affected=len(links) + len(memory.cites),
            notes=() if soft else (note,),
        )

    def restore(self, hash: str) -> Restored:
        if not hash.strip():
            raise InvalidArgument("The argument 'reversal_hash' is empty.", hint="search_tombstones lists them.")
        record = self._changes.get(hash)
        seen = self._library.index
        for id in record.memories:
            there = seen.visible((id,), self._library.asker)
            if not there and id not in seen.visible((id,), self._library.asker, _FORGOTTEN):
                raise NotFound(
                    f"No change of this memory has the reversal hash '{shortened(hash)}'.",
                    hint="search_tombstones lists those of forgotten memories.",
                )
        if record.operation == "erase":
            raise Forgotten(
                f"This memory was deleted for good at {record.at} on the user's request.",
                hint="Store what is still needed again.",
            )
        record, change = self._changes.undo(hash, self._actor)
        self._units.engine()
        there = seen.visible(record.memories, self._library.asker)
        return Restored(
            restored_node_ids=tuple(there),
            operation=record.operation,
            restored_at=change.at,
            reversal_hash=change.hash,
        )

    # Annotating and weighing

    def annotate(self, id: str, given: Annotations) -> AnnotatedMemory:
        if given == Annotations():
            raise InvalidArgument(
                "'annotations' is empty.", hint="Give tags, domain, confidence, notes or related_concepts."
            )
        id = self._library.get(id).id
        notes = None if given.notes is None else scrub(storable(given.notes)).text
        others = [self._library.named(other) for other in given.related_concepts]
        with self._changes.make("annotate", self._actor, "annotated") as change:
            memory = change.memory(id)
            changed = msgspec.structs.replace(
                memory,
                tags=tuple(dict.fromkeys((*memory.tags, *(scrub(storable(tag)).text for tag in given.tags)))),
                domain=given.domain or memory.domain,
                confidence=memory.confidence if given.confidence is None else given.confidence,
                notes=memory.notes if notes is None else notes,
            )
            change.put(changed)
            for other in others:
                change.link(linked(id, other.id, LinkKind.RELATED, "annotate"))
        self._units.engine()
        links = self._library.index.links([id], (LinkKind.RELATED,), inward=False)
        return AnnotatedMemory(
            node_id=id,
            tags=changed.tags,
            domain=changed.domain,
            confidence=changed.confidence,
            notes=changed.notes,
            related_concepts=tuple(link.target for link in links),
            version=next(version for _, touched, version in reversed(change.touched) if touched == id),
            reversal_hash=change.hash,
        )

    def boost(self, id: str, delta: float, rationale: str | None) -> Boosted:
        why = scrub(check_rationale(rationale)).text
        if not math.isfinite(delta) or not -0.5 <= delta <= 0.5:
            raise InvalidArgument(
                f"The argument 'delta' is {delta}; -0.5 to 0.5 is allowed.", hint="Pass a smaller step."
            )
        memory = self._library.get(id)
        with self._changes.make("boost", self._actor, why) as change:
            memory = change.memory(memory.id)
            wanted = memory.importance + delta
            importance = round(min(max(wanted, 0.0), 1.0), 6)
            if delta > 0:
                self._refuse_cancer(importance, [memory])
            change.put(msgspec.structs.replace(memory, importance=importance))
        return Boosted(
            node_id=memory.id,
            old_importance=memory.importance,
            delta=delta,
            new_importance=importance,
            clamped=not 0.0 <= wanted <= 1.0,
            reversal_hash=change.hash,
        )

    def edit(self, id: str, text: str, rationale: str) -> Memory:
        """Another text under the same id, for people who correct a memory."""
        memory = self._library.named(id)
        said = scrub(check_text("text", text, LONGEST_TEXT)).text
        with self._changes.make("edit", self._actor, rationale) as change:
            changed = msgspec.structs.replace(change.memory(memory.id), text=said, title=title_of(said))
            change.put(changed)
        self._units.engine()
        return changed

    def _refuse_cancer(self, importance: float, memories: Sequence[Memory]) -> None:
        ids = [memory.id for memory in memories]
        entropy, degree = neighbour_entropy(self._library, ids)
        if importance > CANCER_IMPORTANCE and entropy > CANCER_ENTROPY and degree >= CANCER_DEGREE:
            raise SemanticCancer(
                f"An importance of {importance:.2f} would make {ids[0]} weigh on everything: its {degree} neighbours"
                f" are about different things (entropy {entropy:.2f}).",
                hint="Split it, or link it to fewer memories, before it is made more important.",
                data={"importance": importance, "entropy": entropy, "degree": degree},
            )

    def _until(self, hash: str) -> str:
        return self._changes.get(hash).expires_at


def neighbour_entropy(library: Library, ids: Sequence[str]) -> tuple[float, int]:
    """How mixed the domains of the neighbours are, from 0 (one domain) to 1, and how many neighbours there are."""
    links = library.index.links(list(ids))
    others = {end for link in links for end in (link.source, link.target)} - set(ids)
    rows = library.index.visible(others, library.asker)
    domains = Counter(row.domain for row in rows.values())
    total = sum(domains.values())
    if len(domains) < 2:
        return 0.0, total
    entropy = -sum(n / total * math.log(n / total) for n in domains.values())
    return round(entropy / math.log(len(domains)), 3), total


def _merged_memory(sources: list[Memory], gone: list[Memory], best: Memory, name: str, text: str, at: str) -> Memory:
    """The one memory that stands for the sources: nothing that they cited, tagged or restricted is lost."""
    cites: dict[str, Cite] = {}
    for source in gone:
        for cite in source.cites:
            cites.setdefault(cite.node, cite)
    private = any(source.scope.visibility == "private" for source in sources)
    folders = {source.scope.folder for source in sources}
    agents = {source.scope.agent for source in sources}
    scope = msgspec.structs.replace(
        best.scope,
        visibility="private" if private else "team",
        folder=best.scope.folder if len(folders) == 1 else "",
        agent=best.scope.agent if private or len(agents) == 1 else None,
    )
    trust = max((source.origin.trust for source in sources), key=_TRUST_ORDER.index)
    confidences = [source.confidence for source in sources if source.confidence is not None]
    return msgspec.structs.replace(
        best,
        id=new_id(),
        title=name,
        text=text,
        rationale=best.rationale,
        recorded_at=at,
        scope=scope,
        origin=msgspec.structs.replace(best.origin, trust=trust),
        tags=tuple(dict.fromkeys(tag for source in sources for tag in source.tags)),
        importance=max(source.importance for source in sources),
        confidence=min(confidences) if confidences else None,
        pinned=any(source.pinned for source in sources),
        notes="\n".join(dict.fromkeys(source.notes for source in sources if source.notes))[:LONGEST_NOTES],
        cites=tuple(cites.values()),
        flags=tuple(dict.fromkeys(flag for source in sources for flag in source.flags)),
        valid_to=None,
        retired_at=None,
    )


def _repointed(links: Sequence[Link], gone: set[str], merged: str) -> list[Link]:
    """The links of what was merged, at the merged memory; those between the sources are left out."""
    moved: dict[str, Link] = {}
    for link in links:
        source = merged if link.source in gone else link.source
        target = merged if link.target in gone else link.target
        if source != target:
            new = msgspec.structs.replace(link, source=source, target=target)
            if new.id not in moved or moved[new.id].weight < new.weight:
                moved[new.id] = new
    return list(moved.values())
