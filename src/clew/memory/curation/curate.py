"""Curation: forgetting, restoring, annotating and weighing memories. Every one of these can be undone."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import cast, get_args

import msgspec

from clew.errors import Forgotten, InvalidArgument, NotFound
from clew.memory.curation.linking import MemoryLinker
from clew.memory.curation.requests import (
    AnnotationRequest,
    Annotations,
    BoostRequest,
    ForgetRequest,
    RestoreRequest,
    StatedLink,
)
from clew.memory.model import (
    LONGEST_TEXT,
    Memory,
    MemoryLinkKind,
)
from clew.memory.navigation.balance import refuse_cancer
from clew.memory.places import Places, each_once
from clew.memory.scope import BY_ID, FORGOTTEN_BY_ID
from clew.memory.storage.changes import ERASE, ChangeJournal
from clew.memory.storage.library import MemoryReader
from clew.memory.storage.units import MemoryUnits
from clew.memory.texts.admit import check_lists, check_rationale, check_text, title_of
from clew.memory.texts.scrub import scrub
from clew.text.display import shortened
from clew.text.instruction_like import flags_of
from clew.text.words import storable


class ForgottenMemory(msgspec.Struct, frozen=True, kw_only=True):
    deleted: bool = True
    node_id: str
    soft: bool
    reversal_hash: str | None
    deleted_at: str
    recoverable_until: str | None
    edges_affected: int
    notes: tuple[str, ...] = ()


class RestoredMemories(msgspec.Struct, frozen=True, kw_only=True):
    restored_node_ids: tuple[str, ...]
    operation: str
    restored_at: str
    reversal_hash: str
    """Undoes the restoration."""
    also_undone: int = 0
    """Later changes of the same memories."""


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


def _stated(concept: str) -> tuple[StatedLink, str]:
    """The link and the memory of a related concept: `ID` is related, `causes:ID` says how."""
    way, colon, id = concept.partition(":")
    if not colon:
        return "related", concept
    if way not in get_args(StatedLink):
        raise InvalidArgument(
            f"'{shortened(way)}' in related_concepts is no kind of link; {', '.join(get_args(StatedLink))} are.",
            hint="Pass an id, or KIND:ID.",
        )
    return cast("StatedLink", way), id.strip()


class Curator:
    def __init__(
        self,
        library: MemoryReader,
        units: MemoryUnits,
        changes: ChangeJournal,
        places: Callable[[], Places],
        actor: str,
        linker: MemoryLinker,
    ) -> None:
        self._library = library
        self._units = units
        self._changes = changes
        self._places = places
        self._actor = actor
        self._linker = linker

    # Forgetting and restoring

    def forget(self, asked: ForgetRequest) -> ForgottenMemory:
        why = scrub(check_rationale(asked.rationale)).text
        reason, soft = asked.reason, asked.soft_delete
        if not soft and reason != "user_requested":
            raise InvalidArgument(
                f"A memory is deleted for good only for the reason 'user_requested', not '{reason}'.",
                hint="Leave soft_delete out, so that it can be restored for 30 days.",
            )
        memory = self._library.get(asked.node_id)
        with self._changes.make("forget" if soft else ERASE, self._actor, why) as change:
            links = self._library.index.links([memory.id])
            for link in links:
                change.unlink(link)
            change.delete(memory.id)
            change.details = {"reason": reason}
        self._units.follow()
        note = "It cannot be restored. The history still holds its text; `clew memory purge` takes it out there too."
        return ForgottenMemory(
            node_id=memory.id,
            soft=soft,
            reversal_hash=change.hash if soft else None,
            deleted_at=change.at,
            recoverable_until=self._until(change.hash) if soft else None,
            edges_affected=len(links) + len(memory.cites),
            notes=() if soft else (note,),
        )

    def restore(self, asked: RestoreRequest) -> RestoredMemories:
        """Undo a change; with `cascade` also the later changes of the same memories."""
        hash = asked.reversal_hash
        if not hash.strip():
            raise InvalidArgument("The argument 'reversal_hash' is empty.", hint="search_tombstones lists them.")
        record = self._changes.get(hash)
        # After that time the memory itself may be gone for good; the change still tells when it was forgotten.
        self._changes.refuse_expired(record)
        seen = self._library.index
        later = self._changes.after(hash.strip(), seen.touched) if asked.cascade else []
        touched = dict.fromkeys(id for each in (record, *map(self._changes.get, later)) for id in each.memories)
        self._refuse_erased(touched)
        for id in touched:
            there = seen.visible((id,), self._library.viewer, BY_ID)
            if not there and id not in seen.visible((id,), self._library.viewer, FORGOTTEN_BY_ID):
                raise NotFound(
                    f"No change of this memory has the reversal hash '{shortened(hash)}'.",
                    hint="search_tombstones lists those of forgotten memories.",
                )
        record, change = self._changes.undo(hash, self._actor, later)
        self._units.follow()
        there = seen.visible(touched, self._library.viewer, BY_ID)
        return RestoredMemories(
            restored_node_ids=tuple(there),
            operation=record.operation,
            restored_at=change.at,
            reversal_hash=change.hash,
            also_undone=len(later),
        )

    def _refuse_erased(self, ids: Iterable[str]) -> None:
        """Refuse to bring back a memory that was purged, also by undoing a change before that."""
        for id in ids:
            last = self._changes.get(self._library.index.touched(id)[-1][1])
            if last.operation == ERASE:
                raise Forgotten(
                    f"This memory was deleted for good at {last.at} on the user's request.",
                    hint="Store what is still needed again.",
                )

    # Annotating and weighing

    def annotate(self, asked: AnnotationRequest) -> AnnotatedMemory:
        given = asked.annotations
        if given == Annotations():
            raise InvalidArgument(
                "'annotations' is empty.", hint="Give tags, domain, confidence, notes or related_concepts."
            )
        check_lists(tags=given.tags, related_concepts=given.related_concepts)
        id = self._library.get(asked.node_id).id
        notes = None if given.notes is None else scrub(storable(given.notes)).text
        others = [_stated(each) for each in given.related_concepts]
        named = [(way, self._library.named(other)) for way, other in others]
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
            for way, other in named:
                self._linker.write(change, changed, other, way, notes or "annotate")
        self._units.follow()
        links = self._library.index.links([id], (MemoryLinkKind.RELATED,), inward=False)
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

    def boost(self, asked: BoostRequest) -> Boosted:
        why, delta = scrub(check_rationale(asked.rationale)).text, asked.delta
        if not math.isfinite(delta) or not -0.5 <= delta <= 0.5:
            raise InvalidArgument(
                f"The argument 'delta' is {delta}; -0.5 to 0.5 is allowed.", hint="Pass a smaller step."
            )
        memory = self._library.get(asked.node_id)
        with self._changes.make("boost", self._actor, why) as change:
            memory = change.memory(memory.id)
            wanted = memory.importance + delta
            importance = round(min(max(wanted, 0.0), 1.0), 6)
            if delta > 0:
                refuse_cancer(self._library, importance, [memory])
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
        mentioned = self._places().mentioned(said)
        with self._changes.make("edit", self._actor, rationale) as change:
            before = change.memory(memory.id)
            # What it is about was said apart from the text; what the text mentions is read again.
            about = tuple(cite for cite in before.cites if cite.kind is MemoryLinkKind.ABOUT)
            cites = each_once((*about, *mentioned))
            changed = msgspec.structs.replace(
                before, text=said, title=title_of(said), cites=cites, flags=flags_of(said)
            )
            change.put(changed)
        self._units.follow()
        return changed

    def accept(self, ids: Sequence[str], rationale: str) -> list[Memory]:
        """Let memories from documents be injected; accepted ones stay as they are."""
        memories = [self._library.get(id) for id in ids]
        waiting = [memory for memory in memories if not memory.is_accepted]
        if not waiting:
            return []
        with self._changes.make("accept", self._actor, rationale) as change:
            accepted = []
            for memory in waiting:
                now = change.memory(memory.id)
                origin = msgspec.structs.replace(now.origin, accepted_at=change.at)
                accepted.append(msgspec.structs.replace(now, origin=origin))
                change.put(accepted[-1])
        return accepted

    def _until(self, hash: str) -> str:
        return self._changes.get(hash).expires_at
