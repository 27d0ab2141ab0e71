"""The write path: from a text to a memory with its links, or to the existing memory that says the same.

scrub -> repeats of what was just recalled -> exact duplicates -> judge the nearest -> store with links -> reward.
Nothing is deleted or merged on the way: a contradiction becomes a link, and where subject and cited node agree, the
older memory is marked as superseded.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import msgspec

from clew.context import Context
from clew.errors import InvalidArgument
from clew.memory.judging.causes import leads_to
from clew.memory.judging.verdict import Judgement, judge
from clew.memory.model import (
    SIMILARITY,
    Cite,
    Link,
    Memory,
    MemoryKind,
    MemoryLinkKind,
    MemoryScope,
    Origin,
    linked,
    new_id,
)
from clew.memory.places import Places, each_once
from clew.memory.scope import PERSON, MemoryFilters, Viewer
from clew.memory.storage.changes import ChangeJournal, ChangeWriter, spelled_time
from clew.memory.storage.library import MemoryReader, normal_id
from clew.memory.storage.units import MemoryUnits
from clew.memory.texts.admit import Details, just_recalled, kind_of, title_of, transient
from clew.memory.texts.scrub import Redaction
from clew.memory.views import NearMemory
from clew.memory.writing.clean_note import CleanNote, cleaned
from clew.memory.writing.requests import Note
from clew.memory.writing.reward import Reward, reward
from clew.text.instruction_like import flags_of
from clew.text.keywords import overlap

JUDGED = 20
STATED = "stated"
"""Origin of a link between causes that memories state begins with this; the sentences follow."""
LINKED_FROM = 0.7
_SHOWN = 5
_RELATED_SHOWN_FROM = 0.5
_LOOKED_BACK = 10
_SAME_SUBJECT = 0.5


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    node_id: str
    citation_tag: str
    created: bool
    """False where the memory was there already."""
    kind: MemoryKind
    duplicate_of: str | None = None
    similarity: float | None = None
    """To the memory it repeats."""
    redactions: tuple[Redaction, ...] = ()
    """Secrets that were taken out, by kind, field and place."""
    flags: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()
    links: int = 0
    superseded: tuple[str, ...] = ()
    """Memories that the new one replaces."""
    conflicts: tuple[str, ...] = ()
    """Memories that it contradicts; somebody has to decide."""
    neighbours: tuple[NearMemory, ...] = ()
    steering_reward: Reward
    embedder_count: int = 0
    """In how many vector spaces it will be found, once its vectors are made in the background."""
    reversal_hash: str | None = None
    notes: tuple[str, ...] = ()


class Writer:
    def __init__(
        self,
        context: Context,
        library: MemoryReader,
        units: MemoryUnits,
        changes: ChangeJournal,
        places: Callable[[], Places],
    ) -> None:
        self._context = context
        self._library = library
        self._units = units
        self._changes = changes
        self._places = places

    def store(self, note: Note, origin: Origin, recent: Sequence[str] = ()) -> Stored:
        """Remember a text. `recent` are the memories shown in the same session, latest first."""
        clean = cleaned(note)
        text = clean.text
        known = self._library.index.with_text(text, self._library.viewer)
        repeated = None if known else just_recalled(text, self._library.get_many(recent[:_LOOKED_BACK]).values())
        if known is not None or repeated is not None:
            return self._nothing_new(known or (repeated.id if repeated else ""), clean.found, exact=bool(known))
        places = self._places()
        about = tuple(places.cite(each) for each in note.about_)
        links_to = [self._library.get(id) for id in note.link_to]
        cites = each_once((*about, *places.mentioned(text)))
        judged, notes = self._judged(text)
        count = self._library.index.count(self._library.viewer)
        with self._changes.make("store", origin.actor, clean.rationale) as change:
            memory = self._memory(note, clean, origin, cites, change.at)
            change.put(memory)
            replaced = links_to if note.link_type == "supersedes" else []
            links = _chosen_links(memory, [] if replaced else links_to, note.link_type)
            links += self._found_links(memory, judged)
            superseded, conflicts = self._resolve(change, memory, judged, [each.id for each in replaced])
            for link in links:
                change.link(link)
        behind = self._units.follow()
        nearest = _nearest(judged, text)
        problem = transient(text)
        return Stored(
            node_id=memory.id,
            citation_tag=memory.tag,
            created=True,
            kind=memory.kind,
            redactions=clean.found,
            flags=memory.flags,
            cites=tuple(cite.node for cite in cites),
            links=len(links) + len(superseded) + len(conflicts),
            superseded=superseded,
            conflicts=conflicts,
            neighbours=_neighbours(judged),
            steering_reward=reward(
                nearest=nearest,
                links=sum(link.kind is not MemoryLinkKind.NEXT for link in links),
                cites=len(cites),
                confidence=clean.details.confidence,
                memories=count,
                duplicate=next((each.memory.id for each in judged if each.verdict.kind == "same"), None),
            ),
            embedder_count=self._embedders(),
            reversal_hash=change.hash,
            notes=(*((problem,) if problem else ()), *notes, *behind),
        )

    def _nothing_new(self, id: str, redactions: tuple[Redaction, ...], *, exact: bool) -> Stored:
        memory = self._library.get(id)
        reason = "This is remembered already." if exact else "This only repeats what was just recalled."
        return Stored(
            node_id=id,
            citation_tag=memory.tag,
            created=False,
            kind=memory.kind,
            duplicate_of=id,
            similarity=1.0 if exact else None,
            redactions=redactions,
            flags=memory.flags,
            cites=tuple(cite.node for cite in memory.cites),
            steering_reward=reward(nearest=1.0, links=0, cites=0, confidence=None, memories=0, duplicate=id),
            notes=(f"{reason} Nothing was written.",),
        )

    def _memory(self, note: Note, clean: CleanNote, origin: Origin, cites: tuple[Cite, ...], at: str) -> Memory:
        home, viewer, details = self._library.home, self._library.viewer, clean.details
        return Memory(
            id=new_id(),
            kind=MemoryKind(note.kind) if note.kind else kind_of(clean.text),
            text=clean.text,
            title=clean.title or title_of(clean.text),
            rationale=clean.rationale,
            recorded_at=at,
            scope=MemoryScope(
                repository=home.repository,
                folder=home.inside,
                branch=home.branch(),
                agent=owner_of(viewer, details),
                visibility=details.visibility,
            ),
            origin=origin,
            tags=clean.tags,
            domain=details.domain,
            confidence=details.confidence,
            importance=note.importance,
            pinned=details.pinned,
            metadata=clean.metadata,
            valid_from=spelled_time(details.valid_from),
            cites=cites,
            flags=flags_of(clean.text),
        )

    def _judged(self, text: str) -> tuple[list["Judged"], tuple[str, ...]]:
        found, notes = self._units.alike(text, self._library.viewer)
        near = {each.id: each.dense for each in found[:JUDGED]}
        memories = self._library.get_many(near)
        return [Judged(memory, near[id], judge(memory.text, text, near[id])) for id, memory in memories.items()], notes

    def _found_links(self, memory: Memory, judged: "list[Judged]") -> list[Link]:
        """Links to similar memories, and to the one stored before in the same session."""
        links = [
            Link(
                source=memory.id,
                target=each.memory.id,
                kind=MemoryLinkKind.RELATED,
                weight=round(each.cosine, 3),
                origin=SIMILARITY,
            )
            for each in judged
            if each.cosine is not None and each.cosine >= LINKED_FROM
        ]
        links += causal_links(((memory, each.memory) for each in judged), self._units.cosine_of)
        if memory.origin.session is not None:
            before = self._library.latest(1, MemoryFilters(session=memory.origin.session))
            links += [linked(earlier.id, memory.id, MemoryLinkKind.NEXT, "session") for earlier, _ in before]
        return links

    def _resolve(
        self, change: ChangeWriter, memory: Memory, judged: "list[Judged]", named: list[str]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Mark what the memory supersedes, and link what it contradicts."""
        superseded, conflicts = dict.fromkeys(named), []
        for each in judged:
            if each.verdict.kind not in ("contradicts", "replaces") or each.memory.retired_at is not None:
                continue
            if _same_subject(each.memory, memory):
                superseded[each.memory.id] = None
            elif each.memory.id not in superseded:
                change.link(_explained(memory, each, MemoryLinkKind.CONTRADICTS))
                conflicts.append(each.memory.id)
        for id in superseded:
            supersede(change, memory, id)
        return tuple(superseded), tuple(conflicts)

    def _embedders(self) -> int:
        engine = self._context.parts.engine()
        return 1 if engine is not None and engine.spaces.wanted else 0


class Judged(msgspec.Struct, frozen=True):
    memory: Memory
    cosine: float | None
    verdict: Judgement


def causal_links(pairs: Iterable[tuple[Memory, Memory]], cosine: Callable[[str, str], float | None]) -> list[Link]:
    """Links from a memory whose stated effect is the cause that another one states, with the sentences as evidence."""
    links: list[Link] = []
    for one, other in pairs:
        for first, second in ((one, other), (other, one)):
            step = leads_to(first.text, second.text, cosine)
            if step is not None:
                link = linked(first.id, second.id, MemoryLinkKind.CAUSES, f"{STATED}: {step.evidence}")
                links.append(msgspec.structs.replace(link, confidence=step.sure))
    return links


def supersede(change: ChangeWriter, memory: Memory, id: str) -> None:
    """Mark a memory as replaced by another one; it stays, and is shown after current ones."""
    old = change.memory(normal_id(id))
    change.put(
        msgspec.structs.replace(
            old, valid_to=old.valid_to or memory.valid_from or change.at, retired_at=old.retired_at or change.at
        )
    )
    change.link(linked(memory.id, old.id, MemoryLinkKind.SUPERSEDES, "store"))


def _same_subject(old: Memory, new: Memory) -> bool:
    """True if two memories are about the same thing: they cite a node in common and share most of their words."""
    nodes = {cite.node for cite in old.cites} & {cite.node for cite in new.cites}
    return bool(nodes) and overlap(old.text, new.text) >= _SAME_SUBJECT


def _explained(memory: Memory, judged: Judged, kind: MemoryLinkKind) -> Link:
    link = linked(memory.id, judged.memory.id, kind, "; ".join(judged.verdict.reasons))
    # What nobody measured is as sure as the two are alike.
    near = judged.cosine if judged.cosine is not None else overlap(judged.memory.text, memory.text)
    sure = judged.verdict.confidence if judged.verdict.confidence is not None else round(max(near, 0.0), 3)
    return msgspec.structs.replace(link, confidence=sure)


_DIRECTIONS: dict[str, tuple[MemoryLinkKind, Literal["out", "in"]]] = {
    "caused_by": (MemoryLinkKind.CAUSES, "in"),
    "has_part": (MemoryLinkKind.PART_OF, "in"),
}
"""Links that lead from the other memory to the new one."""


def _chosen_links(memory: Memory, others: Sequence[Memory], link_type: str) -> list[Link]:
    kind, side = _DIRECTIONS.get(link_type) or (MemoryLinkKind(link_type), "out")
    pairs = [(memory.id, other.id) if side == "out" else (other.id, memory.id) for other in others]
    return [linked(source, target, kind, "link_to") for source, target in pairs]


def _nearest(judged: Sequence[Judged], text: str) -> float | None:
    """The similarity of the nearest memory: by meaning, or by shared words if it has no vector yet."""
    return max(
        (each.cosine if each.cosine is not None else overlap(each.memory.text, text) for each in judged), default=None
    )


def _neighbours(judged: Sequence[Judged]) -> tuple[NearMemory, ...]:
    """The memories worth looking at: related ones first, then similar ones."""
    shown = [
        each
        for each in judged
        if each.verdict.kind != "unrelated" or (each.cosine is not None and each.cosine >= _RELATED_SHOWN_FROM)
    ]
    shown.sort(key=lambda each: (each.verdict.kind == "unrelated", -(each.cosine or 0.0)))
    return tuple(
        NearMemory(
            each.memory.id,
            each.memory.title,
            None if each.cosine is None else round(each.cosine, 3),
            each.verdict.kind,
            each.verdict.reasons,
        )
        for each in shown[:_SHOWN]
    )


def owner_of(viewer: Viewer, details: Details) -> str | None:
    """Owner of a memory. A private one needs an owner: only the owner and a person at the command line see it."""
    if details.visibility == "private" and viewer.agent is None and not viewer.is_owner:
        raise InvalidArgument(
            "A private memory needs an owner, and 'agent_id' is missing.",
            hint="Pass agent_id, or leave visibility out.",
        )
    return viewer.agent or (PERSON if viewer.is_owner else None)
