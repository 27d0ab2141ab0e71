"""The answer of a hook to the agent after an event: a small block of memories, or nothing.

| event | what is shown |
|---|---|
| the session starts | decisions, preferences, pitfalls and procedures, those about uncommitted files first |
| a prompt | what cites a file, symbol or id that it names, then what is like it, if the gate lets it pass |
| files are about to be edited | the requirement that must stay true, a decision or pitfall, the test that proves it |
| a tool read or wrote files | what cites them; once in a turn, what an edit made suspect and the tests to run |

Nothing is shown twice in a session, unless the session was compacted or resumed in between.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime

import msgspec

from clew.memory.hooks.cited import LONGEST_SAID, ids_citing
from clew.memory.hooks.event import HookEvent
from clew.memory.hooks.hosts import BUDGETS, EDIT, PROMPT, START
from clew.memory.hooks.named import LINES, SYMBOL, NamedPlaces, named_in, repository_paths
from clew.memory.hooks.pushed import EditFacts, EditGuard, PushedLine
from clew.memory.model import LONGEST_QUERY, Memory, MemoryKind, TrustLevel
from clew.memory.places import CiteState
from clew.memory.recall.injection import inject
from clew.memory.scope import MemoryFilters
from clew.memory.service import MemoryView
from clew.memory.texts.block import FOOT, HEAD, Injected, cited, fitting, framed, harmless, is_injectable, line_of
from clew.text.display import one_line
from clew.text.tokens import estimate_tokens
from clew.workspace.git import api as git

_OF_A_BRIEF = (MemoryKind.DECISION, MemoryKind.PREFERENCE, MemoryKind.PITFALL, MemoryKind.PROCEDURE)
"""And facts that the user stated."""
_LOOKED_AT = 60
_CONSIDERED = 16


_BEFORE_EDIT = (MemoryKind.DECISION, MemoryKind.PITFALL)
_MOST_BEFORE_EDIT = 3
_LONGEST_BEFORE_EDIT, _LONGEST_REASON, _LONGEST_RUN = 150, 90, 300
_SPAN = re.compile(r"lines:(?P<path>.+)#L(?P<first>\d+)-L(?P<last>\d+)")


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


def before_edit(view: MemoryView, event: HookEvent, guard: EditGuard, seen: Collection[str]) -> HookAnswer:
    """At most three lines about what is edited: what must stay true, what was decided or failed, what proves it."""
    on = guard.switches
    facts = guard.before(event.paths, event.parts)
    lines: list[Injected] = []
    proof: PushedLine | None = None
    if on.requirements:
        pairs = zip(facts.obligations, facts.proofs, strict=True)
        told = next(((line, proof) for line, proof in pairs if line.key not in seen), None)
        if told is not None:
            lines.append(_pushed(told[0]))
            proof = told[1]
    if on.memories:
        lines += list(_memories_before(view, event, facts, seen))[:1]
    of_commit = facts.history if on.history and len(lines) < _MOST_BEFORE_EDIT - 1 else None
    if of_commit is not None and of_commit.key not in seen:
        lines.append(_pushed(of_commit))
    if on.tests and proof is not None and proof.text and proof.key not in seen:
        lines.append(_pushed(proof))
    kept = fitting(lines[:_MOST_BEFORE_EDIT], BUDGETS[EDIT])
    return HookAnswer(framed(kept), tuple(item.node_id for item in kept)) if kept else HookAnswer()


def _pushed(line: PushedLine) -> Injected:
    text = harmless(f"- {' '.join(line.text.split())}")
    return Injected(line.key, "", text, estimate_tokens(text), estimate_tokens(line.text))


def _memories_before(view: MemoryView, event: HookEvent, facts: EditFacts, seen: Collection[str]) -> Iterator[Injected]:
    """Decisions and pitfalls about the lines, those about them alone first, with their reasons."""
    places = repository_paths(event.paths, event.root, view.service.home.inside)
    about = _citing(view, NamedPlaces(places, ids=facts.requirements))
    wanted = [each for each in about if each.kind in _BEFORE_EDIT and each.id not in seen and is_injectable(each)]
    near = [(rank, each) for each in wanted if (rank := _nearness(each, facts)) is not None and each.retired_at is None]
    near.sort(key=lambda item: item[0])
    now = view.service.context.clock()
    for memory, standing, _, cites in view.recall.standing_of([each for _, each in near][:_CONSIDERED]):
        if standing == "current":
            why = f" Because: {one_line(memory.rationale, _LONGEST_REASON)}" if memory.rationale else ""
            said = f"{one_line(memory.text, _LONGEST_BEFORE_EDIT)}{why}"
            yield line_of(memory, said, [cited(cite.node, cite.state, cite.now) for cite in cites][:1], now)


def _nearness(memory: Memory, facts: EditFacts) -> int | None:
    """0 for a memory about the lines or what is defined around them, 1 for one about the file or a requirement, None
    for one about other parts of the file."""
    known = any(first for _, first, _ in facts.spans)
    ranks = []
    for cite in memory.cites:
        if cite.node.startswith(SYMBOL):
            name = cite.node.partition("::")[2]
            ranks.append(0 if name in facts.symbols else None if known else 1)
        elif cite.node.startswith(LINES):
            ranks.append(_overlap(cite.node, facts) if known else 1)
        else:
            ranks.append(1)
    return min((rank for rank in ranks if rank is not None), default=None)


def _overlap(node: str, facts: EditFacts) -> int | None:
    found = _SPAN.fullmatch(node)
    if found is None:
        return None
    a, b = int(found["first"]), int(found["last"])
    is_there = any(found["path"].endswith(path) and a <= last and first <= b for path, first, last in facts.spans)
    return 0 if is_there else None


def suspects_line(lines: Sequence[PushedLine]) -> str:
    """What became suspect by an edit, and the tests to run; empty where nothing is known."""
    suspect = [line.key.removeprefix("requirement:") for line in lines if line.key != "run"]
    run = next((line.text for line in lines if line.key == "run"), "")
    said = f"suspect after this edit: {', '.join(suspect[:_MOST_BEFORE_EDIT])}." if suspect else ""
    return " ".join(filter(None, (said, f"Tests to run: {one_line(run, _LONGEST_RUN)}" if run else "")))


def with_line(said: HookAnswer, text: str) -> HookAnswer:
    """An answer with one more line in its block."""
    line = harmless(f"- {text}")
    block = said.context.removesuffix(FOOT) + f"{line}\n{FOOT}" if said.context else "\n".join((HEAD, line, FOOT))
    return HookAnswer(block, said.shown)


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
