"""The answer of a hook to the agent after an event: a small block of memories, or nothing.

| event | what is shown |
|---|---|
| the session starts | decisions, preferences, pitfalls and procedures, those about uncommitted files first |
| a prompt | what cites a file, symbol or id that it names, then what is like it, if the gate lets it pass |
| a tool read or wrote files | what cites them |

Nothing is shown twice in a session.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

import msgspec

from clew.memory.hooks.cited import LONGEST_SAID, ids_citing
from clew.memory.hooks.event import HookEvent
from clew.memory.hooks.hosts import BUDGETS, PROMPT, START
from clew.memory.hooks.named import NamedPlaces, named_in, repository_paths
from clew.memory.model import LONGEST_QUERY, Memory, MemoryKind, TrustLevel
from clew.memory.places import CiteState
from clew.memory.recall.injection import inject
from clew.memory.scope import MemoryFilters
from clew.memory.service import MemoryView
from clew.memory.texts.block import Injected, cited, fitting, framed, is_injectable, line_of
from clew.text.display import one_line
from clew.workspace.git import api as git

_OF_A_BRIEF = (MemoryKind.DECISION, MemoryKind.PREFERENCE, MemoryKind.PITFALL, MemoryKind.PROCEDURE)
"""And facts that the user stated."""
_LOOKED_AT = 60
_CONSIDERED = 16


class HookAnswer(msgspec.Struct, frozen=True):
    context: str = ""
    shown: tuple[str, ...] = ()


def answer(
    view: MemoryView, event: HookEvent, shown: Iterable[str] = (), check: Callable[[], None] = lambda: None
) -> HookAnswer:
    """The block for an event; empty where nothing is worth it. `shown` are memories that the session was shown and that
    the index does not know yet."""
    budget = BUDGETS.get(event.kind)
    if budget is None:
        return HookAnswer()
    now = view.service.context.clock()
    seen = {*shown, *view.injected()}
    if event.kind == START:
        items = _lines(view, _for_a_brief(view), seen, now)
    else:
        items = _lines(view, _citing(view, _named(view, event)), seen, now)
    if event.kind == PROMPT:
        seen |= {item.node_id for item in items}
        query = event.text[:LONGEST_QUERY]
        items += inject(view.recall, query, now, max_tokens=budget, seen=seen, check=check).items
    kept = fitting(items, budget)
    return HookAnswer(framed(kept), tuple(item.node_id for item in kept)) if kept else HookAnswer()


def _named(view: MemoryView, event: HookEvent) -> NamedPlaces:
    inside = view.service.home.inside
    if event.paths:
        return NamedPlaces(repository_paths(event.paths, event.root, inside))
    return named_in(event.text, event.root, inside)


def _citing(view: MemoryView, named: NamedPlaces) -> list[Memory]:
    ids = ids_citing(view.library.index, named, view.viewer)
    return list(view.library.get_many(ids[:_LOOKED_AT]).values())


def _for_a_brief(view: MemoryView) -> list[Memory]:
    """The memories that an agent should know at the start, the most useful first."""
    context, home = view.service.context, view.service.home
    changed = git.uncommitted(context.root, (".",))
    paths = sorted(changed.ranges) if changed is not None else []
    near = {memory.id for memory in _citing(view, NamedPlaces(repository_paths(paths, str(context.root), home.inside)))}
    filters = MemoryFilters(kinds=tuple(kind.value for kind in (*_OF_A_BRIEF, MemoryKind.FACT)))
    latest = [memory for memory, _ in view.library.latest(_LOOKED_AT, filters) if _is_of_a_brief(memory)]
    found = {memory.id: memory for memory in (*view.library.get_many(near).values(), *latest)}
    # Sorting keeps the latest first among equals.
    return sorted(found.values(), key=lambda each: (each.id not in near, not each.pinned, -each.importance))


def _is_of_a_brief(memory: Memory) -> bool:
    return memory.kind in _OF_A_BRIEF or memory.origin.trust is TrustLevel.USER


def _lines(view: MemoryView, memories: Iterable[Memory], seen: set[str], now: datetime) -> list[Injected]:
    wanted = [memory for memory in memories if memory.id not in seen and is_injectable(memory)]
    current = [memory for memory in wanted if memory.retired_at is None][:_CONSIDERED]
    states = view.recall.standing_of(current)
    return [
        line_of(memory, one_line(memory.text, LONGEST_SAID), _about(cites), now)
        for memory, standing, _, cites in states
        if standing != "superseded"
    ]


def _about(cites: Sequence[CiteState]) -> list[str]:
    return [cited(cite.node, cite.state, cite.now) for cite in cites]
