"""The steps of a dream. Each looks at one thing after the other, gives way in between, and writes at its end at once.

Nothing is merged or deleted: what could be is proposed. Links are made, strengthened and weakened; a change takes each
step back.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import msgspec

from clew.memory.cognition.infer import SHORTCUT, shortcuts
from clew.memory.cognition.learning import thresholds
from clew.memory.cognition.learning.observations import observed
from clew.memory.judging.memories import judge_memories
from clew.memory.model import SIMILARITY, Link, Memory, MemoryLinkKind, linked
from clew.memory.navigation.spaces import entities
from clew.memory.places import each_once
from clew.memory.scope import BY_ID
from clew.memory.writing.remember import STATED, causal_links
from clew.text.keywords import keywords, overlap

if TYPE_CHECKING:
    from clew.memory.service import MemoryView
    from clew.memory.storage.changes import ChangeWriter

Yield = Callable[[], None]
"""Gives way to calls; raises Cancelled where the dream shall end."""
NEAREST = 20
_RATE, _DECAY = 0.01, 0.001
_LOWEST, _HIGHEST = 0.05, 1.0
_TOGETHER = 3
_CO_USE = "co-use"
_TOP = 5
_REPEATED = 3
_FAR = 0.3
_SHARED = 2
_LOOKED_AT = 100
_AT_ONCE = 50
_NUMBERS = re.compile(r"\b[0-9a-f]{7,40}\b|\d+")


class Marks(msgspec.Struct, frozen=True):
    """The progress of earlier dreams."""

    judged: int = 0
    replayed: int = 0


class StepResult(msgspec.Struct):
    """The result of a step: its writes, and its part of the report."""

    links: list[Link] = msgspec.field(default_factory=list)
    report: dict[str, Any] = msgspec.field(default_factory=dict)
    marks: Marks | None = None
    fitted: thresholds.StoredThresholds | None = None
    """Thresholds as observations make them."""


Step = Callable[["MemoryView", Marks, int, Yield], StepResult]


def judge_pairs(view: "MemoryView", marks: Marks, most: int, give_way: Yield) -> StepResult:
    """Compare memories written since the last dream with the nearest ones, now that they have vectors."""
    index = view.library.index
    written = index.written_after(marks.judged, view.viewer, most)
    # What is not looked at now is left for the next dream.
    found = StepResult(marks=Marks(written[-1][0] if written else marks.judged, marks.replayed))
    pairs, proposals = 0, []
    for id, memory in _each(view, [id for _, id in written], give_way):
        ranked, _ = view.units.alike(memory.text, view.viewer, memory.id)
        near = {each.id: each.dense for each in ranked[:NEAREST] if each.id != id}
        known = _settled(view, id)
        for other in view.library.get_many(near).values():
            old, new = sorted((memory, other), key=lambda each: (each.recorded_at, each.id))
            if memory.retired_at or other.retired_at or other.id in known:
                continue
            pairs += 1
            found.links += causal_links(((memory, other),), view.units.cosine_of)
            verdict = judge_memories(old, new, near[other.id])
            if verdict.kind == "contradicts":
                link = linked(new.id, old.id, MemoryLinkKind.CONTRADICTS, "; ".join(verdict.reasons))
                sure = verdict.confidence
                found.links.append(link if sure is None else msgspec.structs.replace(link, confidence=sure))
            elif verdict.kind in ("same", "says_more", "replaces"):
                proposals.append({"relation": verdict.kind, "old": old.id, "new": new.id, "why": list(verdict.reasons)})
    unique = {(each["old"], each["new"]): each for each in proposals}
    found.report = {
        "memories_judged": len(written),
        "pairs_judged": pairs,
        "contradictions_linked": len({link.id for link in found.links if link.kind is MemoryLinkKind.CONTRADICTS}),
        "causes_linked": len({link.id for link in found.links if link.kind is MemoryLinkKind.CAUSES}),
        "merge_proposals": list(unique.values())[:_LOOKED_AT],
    }
    return found


def _settled(view: "MemoryView", id: str) -> set[str]:
    """Memories whose relation to one is settled; similarity and order in time do not settle it."""
    links = view.library.index.links([id])
    return {
        end
        for link in links
        if link.kind is not MemoryLinkKind.NEXT and link.origin not in (SIMILARITY, _CO_USE)
        for end in (link.source, link.target)
    }


def _each(view: "MemoryView", ids: Sequence[str], give_way: Yield) -> Iterator[tuple[str, Memory]]:
    """The memories one by one, giving way before each."""
    for id in ids:
        give_way()
        for memory in view.library.get_many([id]).values():
            yield id, memory


def replay(view: "MemoryView", marks: Marks, most: int, give_way: Yield) -> StepResult:
    """Strengthen links between memories that were shown together, weaken the other links of these memories."""
    together = [shown for seq, shown in observed(view).together if seq > marks.replayed][-most:]
    last = max((seq for seq, _ in observed(view).together), default=marks.replayed)
    gain: Counter[frozenset[str]] = Counter()
    times: Counter[frozenset[str]] = Counter()
    for shown in together:
        give_way()
        for (i, one), (j, other) in combinations(enumerate(shown[:_TOP], start=1), 2):
            gain[frozenset((one, other))] += _RATE / (i * j)  # type: ignore[assignment]
            times[frozenset((one, other))] += 1
    met = list({id for pair in gain for id in pair})
    links = [link for link in view.library.index.links(met) if link.kind is MemoryLinkKind.RELATED]
    found = StepResult(marks=Marks(marks.judged, last))
    stronger = weaker = marked = 0
    for link in links:
        pair = frozenset((link.source, link.target))
        weight = min(link.weight + gain[pair], _HIGHEST) if pair in gain else max(link.weight - _DECAY, _LOWEST)
        stronger, weaker = stronger + (weight > link.weight), weaker + (weight < link.weight)
        marked += weight <= _LOWEST
        if weight != link.weight:
            found.links.append(msgspec.structs.replace(link, weight=round(weight, 6)))
    known = {frozenset((link.source, link.target)) for link in view.library.index.links(met)}
    seen = view.library.index.visible(met, view.viewer)
    new = [pair for pair, count in times.items() if count >= _TOGETHER and pair not in known and pair <= seen.keys()]
    found.links += [linked(min(pair), max(pair), MemoryLinkKind.RELATED, _CO_USE) for pair in new]
    found.report = {
        "memories_replayed": len(met),
        "edges_strengthened": stronger,
        "edges_weakened": weaker,
        "edges_at_the_floor": marked,
        "edges_from_co_use": len(new),
    }
    return found


def find_stale(view: "MemoryView", marks: Marks, most: int, give_way: Yield) -> StepResult:
    """List the memories used last that cite something which has changed."""
    stale: list[dict[str, Any]] = []
    for memory, _ in view.library.latest(most):
        give_way()
        if memory.cites:
            ((_, standing, _, cites),) = view.recall.standing_of([memory])
            changed = [cite.node for cite in cites if cite.state in ("changed", "gone")]
            if standing == "stale":
                stale.append({"memory_id": memory.id, "changed": changed})
    return StepResult(report={"stale": stale[:_LOOKED_AT], "stale_count": len(stale)})


def propose_links(view: "MemoryView", marks: Marks, most: int, give_way: Yield) -> StepResult:
    """Links to nodes of the graph that a memory names and does not cite yet, and between distant memories about the
    same nodes."""
    places, proposals = view.places(), []
    memories = [memory for memory, _ in view.library.latest(most)]
    for memory in memories:
        give_way()
        known = {cite.node for cite in memory.cites}
        cites = each_once((*memory.cites, *places.mentioned(memory.text)))
        proposals += [{"memory_id": memory.id, "node": cite.node} for cite in cites if cite.node not in known]
    named = {memory.id: entities(memory) for memory in memories[:_LOOKED_AT]}
    blind: list[dict[str, Any]] = []
    for at, one in enumerate(memories[:_LOOKED_AT]):
        give_way()
        linked_to = {end for link in view.library.index.links([one.id]) for end in (link.source, link.target)}
        for other in memories[at + 1 : _LOOKED_AT]:
            shared = {each for each in named[one.id] & named[other.id] if _is_subject(each)}
            if len(shared) >= _SHARED and other.id not in linked_to and overlap(one.text, other.text) <= _FAR:
                blind.append({"memories": [one.id, other.id], "shared": sorted(shared)[:_TOP]})
    return StepResult(report={"link_proposals": proposals[:_LOOKED_AT], "blind_spots": blind[:_LOOKED_AT]})


def _is_subject(entity: str) -> bool:
    """True if an entity is more than a number or a word that every text has."""
    return any(any(map(str.isalpha, word)) for word in keywords(entity))


def collapse_episodes(view: "MemoryView", marks: Marks, most: int, give_way: Yield) -> StepResult:
    """Episodes that repeat: proposed as one memory with a count. The episodes stay."""
    groups: dict[str, list[Memory]] = {}
    ids = [row.id for row in view.library.index.of_kind("episode", view.viewer, most * 5)]
    for start in range(0, len(ids), _AT_ONCE):
        give_way()
        for memory in view.library.get_many(ids[start : start + _AT_ONCE], BY_ID).values():
            groups.setdefault(_NUMBERS.sub("#", " ".join(memory.text.casefold().split())), []).append(memory)
    repeated = [
        {
            "text": several[0].text[:500],
            "count": len(several),
            "first": min(each.recorded_at for each in several),
            "last": max(each.recorded_at for each in several),
            "episodes": [each.id for each in several[:_TOP]],
        }
        for several in groups.values()
        if len(several) >= _REPEATED
    ]
    repeated.sort(key=lambda each: -each["count"])  # type: ignore[operator]
    return StepResult(report={"repeated_episodes": repeated[:_LOOKED_AT]})


def make_shortcuts(view: "MemoryView", marks: Marks, most: int, give_way: Yield) -> StepResult:
    """Direct links for paths that were walked often; the paths stay."""
    give_way()
    new = [each for each in shortcuts(view, 0.7, _LOOKED_AT).shortcuts if not each.is_linked]
    links = [
        Link(
            source=each.source,
            target=each.target,
            kind=MemoryLinkKind.CAUSES,
            weight=each.combined_weight,
            confidence=each.min_confidence,
            origin=SHORTCUT,
        )
        for each in new
    ]
    return StepResult(links=links, report={"shortcuts_created": len(links)})


def fit_thresholds(view: "MemoryView", marks: Marks, most: int, give_way: Yield) -> StepResult:
    give_way()
    known = observed(view).outcomes()
    new = thresholds.fit(view, known, give_way) if len(known) >= thresholds.ENOUGH else None
    return StepResult(report={"observations": len(known), "thresholds_fitted": new is not None}, fitted=new)


NREM: dict[str, Step] = {"judge": judge_pairs, "replay": replay, "stale": find_stale}
REM: dict[str, Step] = {
    "links": propose_links,
    "episodes": collapse_episodes,
    "shortcuts": make_shortcuts,
    "thresholds": fit_thresholds,
}
STEPS: dict[str, Step] = {**NREM, **REM}


def write(view: "MemoryView", change: "ChangeWriter", found: StepResult) -> None:
    """Write the results of a step; a link that somebody deleted is not brought back."""
    for link in {link.id: link for link in found.links}.values():
        is_stated = link.kind is MemoryLinkKind.CONTRADICTS or link.origin.startswith(STATED)
        is_new = link.origin in (SHORTCUT, _CO_USE) or is_stated
        if is_new or change.present("link", link.id) is not None:
            change.link(link)
    if found.fitted is not None:
        thresholds.fit_in(view, change, found.fitted)
