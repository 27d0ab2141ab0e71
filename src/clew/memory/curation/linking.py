"""Links between memories that are stored already: relations somebody states, and the word that both of two hold."""

from collections.abc import Sequence

import msgspec

from clew.errors import InvalidArgument, WouldCycle
from clew.memory.curation.requests import StatedLink, StatedLinkRequest
from clew.memory.judging.memories import KEPT
from clew.memory.model import Link, Memory, MemoryLinkKind, linked
from clew.memory.storage.changes import ChangeJournal, ChangeWriter
from clew.memory.storage.library import MemoryReader
from clew.memory.texts.admit import check_rationale
from clew.memory.texts.scrub import scrub
from clew.memory.writing.remember import supersede

_FORWARD: dict[str, MemoryLinkKind] = {
    "related": MemoryLinkKind.RELATED,
    "causes": MemoryLinkKind.CAUSES,
    "supports": MemoryLinkKind.SUPPORTS,
    "contradicts": MemoryLinkKind.CONTRADICTS,
    "part_of": MemoryLinkKind.PART_OF,
}
_BACKWARD: dict[str, MemoryLinkKind] = {"because_of": MemoryLinkKind.CAUSES, "has_part": MemoryLinkKind.PART_OF}
_NO_CIRCLES = (MemoryLinkKind.PART_OF, MemoryLinkKind.SUPERSEDES)
_FARTHEST = 500


class LinkedMemories(msgspec.Struct, frozen=True, kw_only=True):
    source_id: str
    target_id: str
    link_type: StatedLink
    cycle: tuple[str, ...] = ()
    """The memories of the circle that the link closes, where causes lead back to their beginning."""
    reversal_hash: str


class BothKept(msgspec.Struct, frozen=True, kw_only=True):
    node_ids: tuple[str, str]
    reversal_hash: str


class MemoryLinker:
    def __init__(self, library: MemoryReader, changes: ChangeJournal, actor: str) -> None:
        self._library = library
        self._changes = changes
        self._actor = actor

    def link(self, asked: StatedLinkRequest) -> LinkedMemories:
        why = scrub(check_rationale(asked.rationale)).text
        source, target = self._pair(asked.source_id, asked.target_id)
        with self._changes.make("link", self._actor, why) as change:
            cycle = self.write(change, source, target, asked.link_type, why)
        return LinkedMemories(
            source_id=source.id,
            target_id=target.id,
            link_type=asked.link_type,
            cycle=cycle,
            reversal_hash=change.hash,
        )

    def keep_both(self, id: str, other: str, rationale: str | None) -> BothKept:
        """Keep both of two memories that look contradictory or equal, and close the question about them for good."""
        made = self.link(
            StatedLinkRequest(
                source_id=id, target_id=other, link_type="both_hold", rationale=check_rationale(rationale)
            )
        )
        return BothKept(node_ids=(made.source_id, made.target_id), reversal_hash=made.reversal_hash)

    def write(
        self, change: ChangeWriter, source: Memory, target: Memory, link_type: StatedLink, why: str
    ) -> tuple[str, ...]:
        """Write a link with a change; returns the circle of causes that it closes."""
        # So that the history of both tells it.
        for each in (source, target):
            change.put(change.memory(each.id))
        if link_type == "both_hold":
            self._settle(change, (source.id, target.id), why)
            return ()
        if link_type == "replaces":
            self._refuse_circle(source.id, target.id, MemoryLinkKind.SUPERSEDES)
            supersede(change, source, target.id)
            return ()
        one, other = (source, target) if link_type in _FORWARD else (target, source)
        kind = _FORWARD.get(link_type) or _BACKWARD[link_type]
        if kind in _NO_CIRCLES:
            self._refuse_circle(one.id, other.id, kind)
        change.link(linked(one.id, other.id, kind, why))
        return tuple(self._way(other.id, one.id, kind)) if kind is MemoryLinkKind.CAUSES else ()

    def _pair(self, one: str, other: str) -> tuple[Memory, Memory]:
        source, target = self._library.named(one), self._library.named(other)
        if source.id == target.id:
            raise InvalidArgument(
                f"'{one}' and '{other}' are the same memory.", hint="Name two memories; get_recent_context lists ids."
            )
        return source, target

    def _settle(self, change: ChangeWriter, pair: tuple[str, str], why: str) -> None:
        """Take away what says that two memories contradict or repeat each other, and link them with the reason."""
        for link in self._library.index.links(pair, (MemoryLinkKind.CONTRADICTS, MemoryLinkKind.RELATED)):
            is_verdict = link.kind is MemoryLinkKind.CONTRADICTS or link.is_similarity
            if is_verdict and {link.source, link.target} == set(pair):
                change.unlink(link)
        change.link(linked(pair[0], pair[1], MemoryLinkKind.RELATED, f"{KEPT}: {why}"))

    def _refuse_circle(self, source: str, target: str, kind: MemoryLinkKind) -> None:
        way = self._way(target, source, kind)
        if way:
            raise WouldCycle(
                f"The link would lead in a circle: '{kind.value}' links lead from {target} to {source} already.",
                hint="Undo the other link with its reversal_hash from get_node_lineage, or link the other way round.",
                data={"cycle": list(way), "link": kind.value},
            )

    def _way(self, start: str, end: str, kind: MemoryLinkKind) -> Sequence[str]:
        """The memories along links of one kind from one memory to another one; empty where none lead there."""
        came_from: dict[str, str] = {start: ""}
        layer = [start]
        while layer and end not in came_from and len(came_from) < _FARTHEST:
            links: Sequence[Link] = self._library.index.links(layer, (kind,), inward=False)
            new = {link.target: link.source for link in links if link.target not in came_from}
            came_from |= new
            layer = list(new)
        if end not in came_from or start == end:
            return ()
        way = [end]
        while way[-1] != start:
            way.append(came_from[way[-1]])
        return way[::-1]
