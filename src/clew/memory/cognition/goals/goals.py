"""Goals: the topic that most of the memory is about, and the topics inside it. Nobody sets them by hand."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from clew.errors import NotFound
from clew.memory.cognition.compare import Comparer, contents
from clew.memory.cognition.goals.requests import TopicQuery
from clew.memory.cognition.goals.topics import SAMPLE, SMALLEST, Topic, Topics, find_topics
from clew.memory.cognition.records import INSUFFICIENT, CognitionRecords, SampledAnswer
from clew.memory.model import Memory
from clew.memory.navigation.spaces import SPACES
from clew.memory.scope import Viewer
from clew.memory.storage.library import MemoryReader
from clew.text.hashing import content_hash

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

_RECORD = "north star"
_DOMINANT = 3


class Goal(msgspec.Struct, frozen=True, kw_only=True):
    goal_id: str
    goal_text: str
    level: str
    confidence: float
    coherence_score: float
    member_count: int
    exemplars: tuple[str, ...]
    dominant_embedders: tuple[str, ...]
    """The spaces in which its memories are most alike."""
    made_at: str


class Bootstrap(SampledAnswer, frozen=True, kw_only=True):
    status: str
    """bootstrapped, already_bootstrapped, no_coherent_topic or insufficient data."""
    bootstrap_result: Goal | None
    discovery_metadata: dict[str, Any]
    recommendations: tuple[str, ...]
    reversal_hash: str | None = None


class SubGoals(SampledAnswer, frozen=True, kw_only=True):
    discovered_goals: tuple[Goal, ...]
    hierarchy_relationships: tuple[dict[str, str], ...]
    cluster_analysis: dict[str, Any]
    truncated: bool = False


def shared(view: "MemoryView") -> MemoryReader:
    """The library with the memories that everybody may see, because a goal is shown to all."""
    return MemoryReader(view.service.home, Viewer(folder=view.viewer.folder))


def north_star(view: "MemoryView") -> Goal | None:
    return CognitionRecords(view).get(_RECORD, Goal)


def exemplars(view: "MemoryView", goal: Goal | None) -> list[Memory]:
    """The existing memories that represent the goal."""
    return [] if goal is None else list(shared(view).get_many(goal.exemplars).values())


def bootstrap(view: "MemoryView", confidence: float, most: int) -> Bootstrap:
    known = north_star(view)
    topics = find_topics(view, [memory for memory, _ in shared(view).latest(SAMPLE)])
    found = {
        "analyzed": topics.analyzed,
        "clusters_found": len(topics.topics),
        "goals_discovered": sum(topic.confidence >= confidence for topic in topics.topics),
        "algorithm": f"spherical k-means over {topics.space}",
        "candidates": [
            {"terms": list(topic.terms), "members": len(topic.members), "confidence": topic.confidence}
            for topic in topics.topics[:most]
        ],
    }
    if known is not None:
        return _bootstrap("already_bootstrapped", topics, known, found, ("restore_from_hash takes a goal back.",))
    if topics.analyzed < SMALLEST:
        return _bootstrap(INSUFFICIENT, topics, None, found, (f"Store at least {SMALLEST} memories first.",))
    # Of the topics that are clear enough, the one that most of the memory is about.
    clear = [topic for topic in topics.topics[:most] if topic.confidence >= confidence]
    if not clear:
        advice = "Lower confidence_threshold, or store more about what the project is for."
        return _bootstrap("no_coherent_topic", topics, None, found, (advice,))
    goal = _goal(view, clear[0], "north_star")
    hash = CognitionRecords(view).update(
        _RECORD, Goal, lambda _: goal, "auto_bootstrap_north_star", f"goal found in {topics.analyzed} memories"
    )
    advice = "get_alignment_drift compares what is stored from now on with it; discover_sub_goals looks inside."
    return _bootstrap("bootstrapped", topics, goal, found, (advice,), hash)


def _bootstrap(
    status: str,
    topics: Topics,
    goal: Goal | None,
    found: dict[str, Any],
    advice: tuple[str, ...],
    hash: str | None = None,
) -> Bootstrap:
    return Bootstrap(
        sufficient_data=status != INSUFFICIENT,
        samples=topics.analyzed,
        note=INSUFFICIENT if status == INSUFFICIENT else "The topic that most of the latest memories are about.",
        status=status,
        bootstrap_result=goal,
        discovery_metadata=found,
        recommendations=advice,
        reversal_hash=hash,
    )


def _goal(view: "MemoryView", topic: Topic, level: str) -> Goal:
    members = list(shared(view).get_many(topic.exemplars).values())
    values = Comparer(view, members).mean(members, members)[0]
    strong = sorted(
        ((value, space.id) for space, value in zip(SPACES, values, strict=True) if value), key=lambda each: -each[0]
    )
    return Goal(
        goal_id=f"goal-{content_hash(' '.join(sorted(topic.exemplars)).encode(), 8)}",
        goal_text=topic.label,
        level=level,
        confidence=topic.confidence,
        coherence_score=topic.coherence,
        member_count=len(topic.members),
        exemplars=topic.exemplars,
        dominant_embedders=tuple(space for _, space in strong[:_DOMINANT]),
        made_at=view.changes.now(),
    )


def sub_goals(view: "MemoryView", asked: TopicQuery) -> SubGoals:
    """The topics among some memories: those named, or the latest; under the goal where there is one."""
    star = north_star(view)
    if asked.parent_goal_id is not None and (star is None or star.goal_id != asked.parent_goal_id):
        raise NotFound(
            f"There is no goal '{asked.parent_goal_id[:80]}'.",
            hint="auto_bootstrap_north_star and get_autonomous_status give ids.",
        )
    library = shared(view)
    memories = (
        [library.get(id) for id in dict.fromkeys(asked.memory_ids)]
        if asked.memory_ids
        else [memory for memory, _ in library.latest(SAMPLE)]
    )
    topics = find_topics(view, memories)
    clear = [topic for topic in topics.topics if topic.confidence >= asked.min_confidence][: asked.max_goals]
    goals = tuple(_goal(view, topic, _level(len(topic.members), topics.analyzed)) for topic in clear)
    enough = topics.analyzed >= SMALLEST
    return SubGoals(
        sufficient_data=enough,
        samples=topics.analyzed,
        note="Topics of the memories, named by their words."
        if enough
        else f"{INSUFFICIENT}: topics need at least {SMALLEST} memories.",
        discovered_goals=goals,
        hierarchy_relationships=tuple(
            {"parent": star.goal_id, "child": goal.goal_id} for goal in goals if star is not None
        ),
        cluster_analysis={
            "clusters_found": len(topics.topics),
            "below_confidence": len(topics.topics) - len(clear),
            "space": topics.space,
        },
    )


def _level(members: int, analyzed: int) -> str:
    """By how much of the memory a topic is about."""
    share = members / analyzed
    return "strategic" if share >= 0.5 else "tactical" if share >= 0.2 else "immediate"


def alignments(view: "MemoryView", memories: Sequence[Memory]) -> dict[str, float]:
    """The similarity of each memory to those of the goal, relative to the similarity among these; empty without a
    goal."""
    ideals = exemplars(view, north_star(view))
    if len(ideals) < 2:
        return {}
    comparer = Comparer(view, [*memories, *ideals])
    usual = _level_of(comparer.mean(ideals, ideals)[0])
    if not usual:
        return {}
    found = {memory.id: _level_of(comparer.mean([memory], ideals)[0]) for memory in memories}
    return {id: round(min(value / usual, 1.0), 4) for id, value in found.items()}


def _level_of(values: tuple[float | None, ...]) -> float:
    present = contents(values)
    return sum(present) / len(present) if present else 0.0
