"""Tests that verify a requirement and from which no way leads to the code that implements it.

It is said only where it is certain by the source: a test that starts a program, or a way that cannot be followed, gives
no answer. No figure of a trace tool depends on it.
"""

# Implements: REQ-d00787

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from clew.derived.code_file import FiledSymbol
from clew.graph.model import Edge, EdgeKind, Node, NodeKind
from clew.text.display import counted

if TYPE_CHECKING:
    from clew.project import Project

SITES = 2_000
"""Sites that an answer about a requirement looks at."""
MANY_SITES = 60_000
"""Sites that a question about the impact looks at."""
_MOST_TESTS = 30
_SHOWN = 3


class UnreachedTest(NamedTuple):
    name: str
    place: str
    code: str
    """The code that it does not reach, such as `src/bell.py::ring`."""


def note_on(project: "Project", node: Node, check: Callable[[], None], sites: int) -> str:
    """A sentence about the tests of a requirement or assertion that cannot reach its code; empty where there are none.
    Hold the graph's lock."""
    owner, label = node.id, ""
    if node.kind is NodeKind.ASSERTION:
        parent = next(project.graph.iter_parents(node.id, (EdgeKind.STRUCTURES,)), None)
        owner, label = (parent.id if parent is not None else ""), str(node.get_field("label"))
    found = list(unreached(project, owner, check, sites, label))
    if not found:
        return ""
    shown = "; ".join(f"{each.name} ({each.place}) never reaches {each.code}" for each in found[:_SHOWN])
    more = f" and {counted(len(found) - _SHOWN, 'more test')}" if len(found) > _SHOWN else ""
    return f"Verifies it, but does not run the code that implements it: {shown}{more}."


def unreached(
    project: "Project", requirement: str, check: Callable[[], None], sites: int, label: str = ""
) -> Iterator[UnreachedTest]:
    """The tests of a requirement, or of one of its assertions, that cannot reach its code."""
    from clew.code.reach import ReachLimit

    graph, limit = project.graph, ReachLimit(sites)
    incoming = graph.memory.iter_incoming_edges(requirement)
    edges = [edge for edge in incoming if not label or not edge.labels or label in edge.labels]
    tests = [edge for edge in edges if edge.kind is EdgeKind.VERIFIES][:_MOST_TESTS]
    code = [edge for edge in edges if edge.kind is EdgeKind.IMPLEMENTS]
    if not tests or not code:
        return
    project.code.ensure(0.0)
    for edge in tests:
        test, node = _test_of(project, edge), graph.get_node(edge.source)
        wanted = {place: name for other in code if _same(edge, other) for place, name in _place_of(project, other)}
        if test is None or node is None or not wanted:
            continue
        if project.uses.reaches(test, wanted.keys(), check, limit) is False:
            yield UnreachedTest(test.qualname, f"{test.path}:{test.at}", " or ".join(sorted(set(wanted.values()))[:2]))


def _same(one: Edge, other: Edge) -> bool:
    """True if two citations can concern the same assertion."""
    return not one.labels or not other.labels or not set(one.labels).isdisjoint(other.labels)


def _test_of(project: "Project", edge: Edge) -> FiledSymbol | None:
    node = project.graph.get_node(edge.source)
    if node is None or node.kind is not NodeKind.TEST or node.source is None:
        return None
    name = node.id.partition("::")[2].partition("[")[0].replace("::", ".")
    return project.code.file.symbol(node.source.path, name) if name else None


def _place_of(project: "Project", edge: Edge) -> Iterator[tuple[FiledSymbol | str, str]]:
    """The definition around a citation, or the whole file."""
    from clew.code.targets import symbol_at

    node = project.graph.get_node(edge.source)
    if node is None or node.kind is not NodeKind.CODE or node.source is None:
        return
    symbol = symbol_at(project.code.file.symbols_of(node.source.path), node.source.line)
    if symbol is None:
        yield node.source.path, node.source.path
    else:
        yield symbol, f"{symbol.path}::{symbol.qualname}"
