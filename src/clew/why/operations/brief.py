"""Toolset core: what a project is, what needs attention, and what to do next."""

# Implements: REQ-d00014

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from clew.graph.model import HIERARCHY, Node, NodeKind
from clew.operation.as_commands import as_commands
from clew.operation.call import Call
from clew.operation.declare import Operation, Option, Toolset
from clew.text.counting import counted
from clew.trace import coverage

if TYPE_CHECKING:
    from clew.project import Project
    from clew.trace.reports.finding import Finding


EXAMPLES_PER_CODE = 3


class Concern(msgspec.Struct, frozen=True):
    """One kind of finding, with how often it occurs and the first few places."""

    code: str
    severity: str
    count: int
    examples: tuple[str, ...]


class NextCall(msgspec.Struct, frozen=True):
    call: str
    why: str


class Remembered(msgspec.Struct, frozen=True):
    id: str
    kind: str
    title: str


class Brief(msgspec.Struct, frozen=True):
    project: str
    node_counts: dict[str, int]
    levels: dict[str, int]
    assertions_tested: int
    assertions_total: int
    last_refresh: str | None
    attention: tuple[Concern, ...]
    """Most severe and most frequent first."""
    next_calls: tuple[NextCall, ...]
    index: str | None = None
    """How much can be found by words and by meaning; null where there is no search index."""
    remembered: tuple[Remembered, ...] = ()
    """The latest decisions and pitfalls."""
    notes: tuple[str, ...] = ()
    """What limits the answer, such as a store that could not be opened."""
    truncated: bool = False


def brief(project: "Project") -> Brief:
    graph = project.graph
    levels = coverage.coverage_by_level(graph)
    concerns = _concerns(project.trace.findings())
    return Brief(
        project=project.config.name,
        node_counts=graph.node_counts(),
        levels={level.level: level.requirements for level in levels},
        assertions_tested=sum(level.tested_assertions for level in levels),
        assertions_total=sum(level.assertions for level in levels),
        last_refresh=graph.state.last_refresh,
        attention=concerns,
        next_calls=_next_calls(project),
        index=_indexed(project),
        notes=project.notes(),
    )


def _indexed(project: "Project") -> str | None:
    state = project.index.state()
    if state is None:
        return None
    if not state.units:
        return "nothing indexed yet; the first search or `clew index` does it"
    return f"{state.describe()} ({state.state.replace('_', ' ')})"


def _concerns(found: Sequence["Finding"]) -> tuple[Concern, ...]:
    by_code: dict[str, list[Finding]] = {}
    for finding in found:
        by_code.setdefault(finding.code, []).append(finding)
    concerns = [
        Concern(
            code=code,
            severity=items[0].severity,
            count=len(items),
            examples=tuple(f"{item.path}:{item.line} {item.message}" for item in items[:EXAMPLES_PER_CODE]),
        )
        for code, items in by_code.items()
    ]
    rank = {"error": 0, "warning": 1}
    return tuple(sorted(concerns, key=lambda concern: (rank.get(concern.severity, 2), -concern.count, concern.code)))


def _next_calls(project: "Project") -> tuple[NextCall, ...]:
    root = _top_requirement(project)
    why = NextCall('why(target="...")', "why a line, symbol, id or commit is there, what proves it, what depends on it")
    if root is None:
        return (
            NextCall("get_workspace_info()", "shows which folders were read; none of them holds a requirement"),
            why,
            NextCall('tools_search(query="...")', "finds tools by what they do"),
        )
    calls = [
        NextCall(f'get_hierarchy(req_id="{root}")', "what stands below the top requirement"),
        NextCall('search(query="...")', "requirements by words of their id, title or text"),
        NextCall("get_project_summary()", "coverage and changes in figures"),
    ]
    calls += (why, NextCall('tools_search(query="...")', "tools that are not listed"))
    return tuple(calls)


def _top_requirement(project: "Project") -> str | None:
    """The root of the highest level with the most below it."""
    ranks = {level.name: level.rank for level in project.config.elspais.levels}
    roots = [node for node in project.graph.iter_roots() if node.kind is NodeKind.REQUIREMENT]
    if not roots:
        return None

    def order(node: Node) -> tuple[int, int, str]:
        below = sum(1 for _ in project.graph.iter_children(node.id, HIERARCHY))
        return ranks.get(node.get_field("level", ""), len(ranks) + 1), -below, node.id

    return min(roots, key=order).id


_NAMES = {
    NodeKind.CODE: ("place in code", "places in code"),
    NodeKind.TEST_RESULT: ("test result", "test results"),
    NodeKind.REMAINDER: ("free text", "free texts"),
}


def _counted(number: int, kind: str) -> str:
    return counted(number, *_NAMES.get(NodeKind(kind), (kind,)))


class ShowBrief(
    Operation,
    tool="clew_brief",
    verb="brief",
    toolset=Toolset.CORE,
    title="Brief of this project",
    summary="what this project is, what needs attention, what to do next",
    epilog="clew brief",
    folder="argument",
    default=True,
    outlined=True,
    trim=("attention", "remembered", "next_calls", "notes"),
    example={"max_tokens": 600},
):
    """Start here. Says what this project is, what its graph holds, what needs attention (broken references, stale
    hashes, assertions without a test) and which call to make next. Not for details: get_requirement has those. Returns
    at most max_tokens (default 1,500)."""

    max_tokens: Annotated[
        int, Meta(ge=400, le=20_000, description="Size of the answer at most"), Option(metavar="N")
    ] = 1_500

    def run(self, call: Call) -> Brief:
        found = call.project.memory.decisions(call)
        remembered = tuple(Remembered(each.node_id, each.kind, each.title) for each in found)
        return msgspec.structs.replace(brief(call.project), remembered=remembered)

    def text(self, result: Brief) -> str:
        """The brief as Markdown."""
        lines = [f"# {result.project}", ""]
        counts = ", ".join(_counted(number, kind) for kind, number in result.node_counts.items())
        lines.append(f"In the graph: {counts or 'nothing yet'}.")
        if result.levels:
            lines.append("Levels: " + ", ".join(f"{level} {number}" for level, number in result.levels.items()) + ".")
        if result.assertions_total:
            lines.append(f"Tests name {result.assertions_tested} of {result.assertions_total} assertions.")
        if result.index:
            lines.append(f"Search: {result.index}.")
        lines.append("")
        if result.attention:
            lines.append("Needs attention:")
            for concern in result.attention:
                lines.append(f"- {concern.count} x {concern.code} ({concern.severity})")
                lines.extend(f"  - {example}" for example in concern.examples)
        else:
            lines.append("Nothing needs attention.")
        if result.remembered:
            lines.extend(("", "Remembered:"))
            lines.extend(f"- {each.kind} {each.id[:8]}: {each.title}" for each in result.remembered)
        lines.extend(("", "Next:"))
        lines.extend(f"- {call.call}: {call.why}" for call in result.next_calls)
        lines.extend(f"Note: {note}" for note in result.notes)
        return "\n".join(lines) + "\n"

    def render(self, result: Brief) -> str:
        commands = tuple(NextCall(as_commands(each.call), each.why) for each in result.next_calls)
        return self.text(msgspec.structs.replace(result, next_calls=commands))
