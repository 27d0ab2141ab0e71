"""Rules for the targets of links: they exist, are not the requirement itself, and form no circle."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from clew.formats.register.ids import sort_key
from clew.formats.register.model import LinkKind, Requirement
from clew.graph.walk import Direction, Step, shortest_path
from clew.register.rules.codes import RuleViolation, finding

DIRECTED = (LinkKind.PARENT, LinkKind.DEPENDS_ON, LinkKind.REFINES, LinkKind.VERIFIES)
"""Kinds in which a circle is a contradiction. A conflict has no direction: it may well be stated on both sides."""

Requirements = Mapping[str, Requirement]


def check_targets(requirement: Requirement, known: Requirements) -> Iterator[RuleViolation]:
    for link in requirement.links:
        if link.target == requirement.id:
            yield finding("0017", requirement.id, f"Its {link.kind.word} link leads to itself.")
        elif link.target not in known:
            yield finding(
                "0016", requirement.id, f"Its {link.kind.word} link leads to {link.target}, which does not exist."
            )


class _Links(msgspec.Struct, frozen=True):
    """The links between requirements, for a walk along them."""

    requirements: Requirements

    def neighbours(
        self, ids: Sequence[str], kinds: Collection[LinkKind] | None, direction: Direction, limit: int | None
    ) -> Iterator[Step[LinkKind]]:
        for id in ids:
            requirement = self.requirements.get(id)
            for kind in kinds or ():
                targets = requirement.targets(kind) if requirement is not None else ()
                yield from (Step(id, target, kind) for target in targets)


def path_between(requirements: Requirements, start: str, end: str, kind: LinkKind) -> list[str] | None:
    """The shortest path along links of one kind, both ends included; None without one."""
    return shortest_path(_Links(requirements), (start,), (end,), (kind,))


def check_cycles(requirements: Requirements) -> Iterator[RuleViolation]:
    """One finding for each group of requirements that reach each other. It belongs to the smallest id and spells out
    one cycle. Takes time linear in requirements and links."""
    for kind in DIRECTED:
        targets = {id: requirement.targets(kind) for id, requirement in requirements.items()}
        for group in _tangles({id: found for id, found in targets.items() if found}):
            owner = min(group, key=sort_key)
            inside = {id: requirements[id] for id in group}
            ways = (path_between(inside, target, owner, kind) for target in targets[owner] if target in group)
            shortest = min((way for way in ways if way), key=len)
            circle = " -> ".join((owner, *shortest))
            yield finding("0021", owner, f"Its {kind.word} links lead in a circle: {circle}.")


def _tangles(targets: Mapping[str, Sequence[str]]) -> Iterator[set[str]]:
    """Groups of two or more nodes each of which reaches all others: Tarjan's components, without recursion.

    A link to itself is another rule's business.
    """
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    for root in targets:
        if root in order:
            continue
        work = [(root, iter(targets[root]))]
        while work:
            id, rest = work[-1]
            if id not in order:
                order[id] = low[id] = len(order)
                stack.append(id)
                on_stack.add(id)
            for target in rest:
                if target not in targets:
                    continue
                if target not in order:
                    work.append((target, iter(targets[target])))
                    break
                if target in on_stack:
                    low[id] = min(low[id], order[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[id])
                if low[id] == order[id]:
                    group = _popped(stack, id)
                    on_stack -= group
                    if len(group) > 1:
                        yield group


def _popped(stack: list[str], id: str) -> set[str]:
    group: set[str] = set()
    while id not in group:
        group.add(stack.pop())
    return group
