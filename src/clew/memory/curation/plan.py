"""Suggested next steps: queries that look at a goal from several sides, and tools in a useful order."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from clew.memory.curation.gaps import curation_tasks
from clew.memory.curation.requests import SearchPlanQuery, SpaceName
from clew.memory.model import LONGEST_SNIPPET
from clew.memory.pulse import Pulse
from clew.memory.texts.admit import check_text
from clew.text.display import one_line, shortened
from clew.text.keywords import keywords
from clew.text.tokens import estimate_tokens
from clew.text.words import split

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

_USUAL: tuple[SpaceName, ...] = ("semantic", "causal", "code", "entity", "temporal")
_FOUND = 10
_GOAL = 1_000


class PlannedQuery(msgspec.Struct, frozen=True, kw_only=True):
    query: str
    type: str
    rationale: str
    expected_recall: float | None
    """Of all memories that the queries of this plan find now, the share that this one finds; null where none does."""


class SearchPlan(msgspec.Struct, frozen=True, kw_only=True):
    queries: tuple[PlannedQuery, ...]
    execution_strategy: Literal["parallel", "sequential", "cascade"]
    token_estimate: int
    """Tokens of what the queries find now, as search_graph shows it: titles and snippets."""


class SuggestedStep(msgspec.Struct, frozen=True, kw_only=True):
    step: int
    tool: str
    params: dict[str, Any]
    rationale: str


class Reflection(msgspec.Struct, frozen=True, kw_only=True):
    reasoning: str
    suggested_sequence: tuple[SuggestedStep, ...]
    utl_context: Pulse


def search_plan(view: "MemoryView", asked: SearchPlanQuery, check: Callable[[], None]) -> SearchPlan:
    """Queries for a goal, each from another side; the focused sides first."""
    goal = check_text("goal", asked.goal, _GOAL)
    sides = list(dict.fromkeys((*asked.focus_spaces, *_USUAL)))[: max(asked.max_queries, 1)]
    queries = [_query(goal, side) for side in sides]
    found = [{each.id for each in view.units.rank(query, view.viewer, check=check)[0][:_FOUND]} for query, _ in queries]
    together = view.library.get_many(set().union(*found))
    shown = {id: f"{memory.title}\n{one_line(memory.text, LONGEST_SNIPPET)}" for id, memory in together.items()}
    tokens = {id: estimate_tokens(text) for id, text in shown.items()}
    planned = tuple(
        PlannedQuery(
            query=query,
            type=side,
            rationale=why,
            expected_recall=round(len(own & together.keys()) / len(together), 3) if together else None,
        )
        for side, (query, why), own in zip(sides, queries, found, strict=True)
    )
    return SearchPlan(
        queries=planned,
        execution_strategy="parallel" if together else "cascade",
        token_estimate=sum(tokens.get(id, 0) for own in found for id in own),
    )


def _query(goal: str, side: SpaceName) -> tuple[str, str]:
    words = list(keywords(goal)) or goal.split()
    terms = " ".join(words)
    if side == "causal":
        return f"why {terms} cause because reason", "Finds what led to it and what follows from it."
    if side == "code":
        identifiers = re.findall(r"[\w./]+(?:_|\.|::)[\w./]+|\w+[a-z][A-Z]\w+", goal)
        parts = [word for each in identifiers for word in split(each).words]
        return " ".join(dict.fromkeys((*identifiers, *parts, *words))), "Finds symbols and files by their parts."
    if side == "temporal":
        return f"{terms} when before after changed now", "Finds what changed over time."
    if side == "entity":
        names = re.findall(r"\b(?:[A-Z][\w-]+|\d[\w.-]*)", goal)
        return " ".join(dict.fromkeys((*names, *words[:3]))), "Finds what is said about the names in the goal."
    return goal, "Finds what means the same, in whatever words."


def reflect(view: "MemoryView", goal: str, max_steps: int) -> Reflection:
    """A sequence of tools for a goal, with arguments that can be used as they are."""
    goal = check_text("goal", goal, _GOAL)
    pulse = view.service.pulses.get(view.viewer.session)
    steps = list(_steps(view, goal, pulse))[:max_steps]
    return Reflection(
        reasoning=_reasoning(view, pulse, steps),
        suggested_sequence=tuple(
            SuggestedStep(step=number, tool=tool, params=params, rationale=why)
            for number, (tool, params, why) in enumerate(steps, start=1)
        ),
        utl_context=pulse,
    )


_Step = tuple[str, dict[str, Any], str]


def _steps(view: "MemoryView", goal: str, pulse: Pulse) -> list[_Step]:
    lowered, query = goal.casefold(), goal[:4_096]
    if not view.library.index.count(view.viewer):
        return [("get_system_instructions", {}, "Nothing is remembered yet: learn how memory is meant to be used.")]
    steps: list[_Step] = []
    if re.search(r"\b(?:clean|merge|duplicat|tidy|curat|conflict|contradict)", lowered):
        steps.append(("critique_context", {"context_window": 50}, "Shows what contradicts or repeats what."))
        pair = next((task for task in curation_tasks(view) if task.task_type == "duplicate"), None)
        if pair is not None:
            params = {
                "source_node_ids": list(pair.target_nodes),
                "target_name": shortened(goal)[:256],
                "rationale": f"They say the same: {pair.reason}",
            }
            steps.append(("merge_concepts", params, pair.reason))
        steps.append(("get_memetic_status", {}, "Lists what else wants a decision."))
    if re.search(r"\b(?:forgot|forget|lost|restore|deleted|missing|undo)", lowered):
        steps.append(("search_tombstones", {"limit": 20}, "Lists what can be restored."))
        steps.append(("get_system_logs", {"limit": 50}, "Says what happened to the memory."))
    best = view.near(query)[:1]
    if re.search(r"\b(?:why|cause|reason|led to|because|lead)", lowered) and best:
        steps.append(("search_graph", {"query": query}, "Finds where to start."))
        steps.append(("get_neighborhood", {"node_id": best[0], "depth": 2}, "Shows what the best result is linked to."))
    if pulse.samples and pulse.coherence < 0.4:
        steps.append(("epistemic_action", {"force": True}, "The last exchanges hardly fitted in: ask the user."))
    steps += [
        ("search_graph", {"query": query}, "Finds what is known about the goal."),
        ("generate_search_plan", {"goal": goal}, "Looks at the goal from other sides."),
        ("get_recent_context", {"limit": 10}, "Shows what was worked on last."),
    ]
    unique = {tool: (tool, params, why) for tool, params, why in reversed(steps)}
    return [unique[tool] for tool in dict.fromkeys(tool for tool, _, _ in steps)]


def _reasoning(view: "MemoryView", pulse: Pulse, steps: Sequence[_Step]) -> str:
    count = view.library.index.count(view.viewer)
    felt = f"entropy {pulse.entropy}, coherence {pulse.coherence} over {pulse.samples} exchanges"
    return f"There are {count} memories; {felt}. {len(steps)} steps lead from what is known to what is missing."
