"""Toolset core: a project's identity, its problems, and the next calls."""

# Implements: REQ-d00014, REQ-d00440

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from clew.graph.model import NodeKind
from clew.operation.call import Call
from clew.operation.declare import Operation, Option, Toolset
from clew.text.display import counted, one_line, shortened
from clew.text.terminal import coloured, columns, shown_length
from clew.trace import coverage
from clew.trace.reports.finding import Finding
from clew.trace.reports.groups import Group, grouped
from clew.trace.totals import FindingCounts
from clew.why.overview.about import shown_about
from clew.why.overview.commands import next_commands, top_requirement
from clew.why.overview.overview import Overview, overview
from clew.why.overview.past import BusyFile, DecisiveCommit, Past

if TYPE_CHECKING:
    from clew.project import Project


EXAMPLES_PER_CODE = 3
_ROOMY = 3_000
"""Tokens from which on each kind of finding has so many examples; below, one, so that every kind can be named."""
_CRAMPED = 700
"""Tokens below which the findings matter more than the description of the folder."""
_LONGEST_EXAMPLE = 160
_KINDS_SHOWN = 3
"""Kinds of findings that a person sees; `clew check` lists all."""
_DECISIONS_SHOWN = 2
_WIDTH = 100
"""Columns where there is no terminal."""
_NARROWEST = 30


class Concern(msgspec.Struct, frozen=True):
    """One kind of finding, with how often it occurs and the first few places."""

    code: str
    severity: str
    count: int
    examples: tuple[str, ...]
    title: str = ""
    """The number and the kind in words, such as `187 scenarios without a test`."""
    help: str = ""
    """The command or step that helps with all of them."""


class NextCall(msgspec.Struct, frozen=True):
    call: str
    why: str


class LatestMemory(msgspec.Struct, frozen=True):
    id: str
    kind: str
    title: str


class ProjectBrief(msgspec.Struct, frozen=True):
    project: str
    node_counts: dict[str, int]
    levels: dict[str, int]
    assertions_tested: int
    assertions_total: int
    last_refresh: str | None
    assertions: coverage.AssertionCounts
    findings: FindingCounts
    """All findings of the graph, the specs, the register and the memory, however many kinds are listed."""
    kinds: int
    """Kinds of findings, of which `attention` may list fewer."""
    attention: tuple[Concern, ...]
    """Most severe and most frequent first."""
    next_calls: tuple[NextCall, ...]
    overview: Overview | None = None
    """The project by its files and its history."""
    index: str | None = None
    """Texts in the search index, with and without embeddings; null if there is no search index."""
    remembered: tuple[LatestMemory, ...] = ()
    """The latest decisions and pitfalls."""
    decided: tuple[DecisiveCommit, ...] = ()
    """The latest commits whose messages say what was chosen and why."""
    notes: tuple[str, ...] = ()
    """Limits of the answer, such as a store that could not be opened."""
    truncated: bool = False


def brief(call: Call, *, for_people: bool, examples: int = EXAMPLES_PER_CODE) -> ProjectBrief:
    project, graph = call.project, call.project.graph
    levels = coverage.coverage_by_level(graph)
    found = project.findings(call)
    concerns = grouped(found, graph)
    seen = overview(project)
    if for_people:
        commands = next_commands(project, seen, concerns)
        calls = tuple(NextCall(each.command, each.why) for each in commands)
    else:
        calls = _next_calls(project)
    return ProjectBrief(
        project=project.config.name,
        node_counts=graph.node_counts(),
        levels={level.level: level.requirements for level in levels},
        assertions_tested=sum(level.tested_assertions for level in levels),
        assertions_total=sum(level.assertions for level in levels),
        last_refresh=graph.state.last_refresh,
        assertions=coverage.assertion_counts(graph),
        findings=FindingCounts.of(found),
        kinds=len(concerns),
        attention=tuple(_concern(each, examples) for each in concerns),
        next_calls=calls,
        overview=msgspec.structs.replace(seen, about=shown_about(seen.about), past=_without_decisions(seen.past)),
        decided=seen.past.decisions if seen.past is not None else (),
        index=_indexed(project),
        notes=project.notes(),
    )


def _without_decisions(past: Past | None) -> Past | None:
    return msgspec.structs.replace(past, decisions=()) if past is not None else None


def _indexed(project: "Project") -> str | None:
    state = project.index.state()
    if state is None:
        return None
    if not state.units:
        return "nothing indexed yet; the first search or `clew index` does it"
    return f"{state.describe()} ({state.state.replace('_', ' ')})"


def _example(finding: Finding) -> str:
    place = f"{finding.path}:{finding.line} " if finding.path else ""
    return shortened(f"{place}{finding.message}", _LONGEST_EXAMPLE)


def _concern(group: Group, examples: int) -> Concern:
    return Concern(
        code=group.code,
        severity=group.severity,
        count=len(group.findings),
        examples=tuple(map(_example, group.findings[:examples])),
        title=group.title,
        help=group.help,
    )


def _next_calls(project: "Project") -> tuple[NextCall, ...]:
    """Calls that an agent should make next."""
    root = top_requirement(project)
    why = NextCall('why(target="...")', "why a line, symbol, id or commit is there, what proves it, what depends on it")
    tools = NextCall('tools_search(query="...")', "tools that are not listed")
    if root is None:
        everything = NextCall('search_everything(query="...")', "documents, code and memories by words")
        return (everything, why, tools)
    return (
        NextCall(f'get_hierarchy(req_id="{root}")', "the requirements below the top one"),
        NextCall('search(query="...")', "requirements by words of their id, title or text"),
        NextCall("get_project_summary()", "coverage and changes in figures"),
        why,
        tools,
    )


_NAMES = {
    NodeKind.CODE: ("place in code", "places in code"),
    NodeKind.TEST_RESULT: ("test result", "test results"),
    NodeKind.REMAINDER: ("text block", "text blocks"),
}


def _figures(result: ProjectBrief) -> str:
    """The number of all findings, and of their kinds where not all are listed."""
    left = result.kinds - len(result.attention)
    more = f"; {left} more of {counted(result.kinds, 'kind')}, which max_tokens leaves out" if left > 0 else ""
    return f"{result.findings.describe()} (`clew check` lists all){more}"


def _counted(number: int, kind: str) -> str:
    return counted(number, *_NAMES.get(NodeKind(kind), (kind,)))


class ShowBrief(
    Operation,
    tool="clew_brief",
    verb="brief",
    served=True,
    toolset=Toolset.CORE,
    title="Brief of this project",
    summary="what this project is, what needs attention, what to do next",
    epilog="clew\nclew brief",
    folder="argument",
    outlined=True,
    trim=("notes", "decided", "remembered", "attention", "next_calls"),
    example={"max_tokens": 600},
):
    """Start here. Says what this project is, what its graph holds, what needs attention (broken references, stale
    hashes, assertions without a test) and which call to make next. Not for details: get_requirement has those. Returns
    at most max_tokens (default 1,500)."""

    max_tokens: Annotated[
        int, Meta(ge=400, le=20_000, description="Size of the answer at most"), Option(hidden=True)
    ] = 1_500

    def run(self, call: Call) -> ProjectBrief:
        found = call.project.memory.decisions(call)
        remembered = tuple(LatestMemory(each.node_id, each.kind, each.title) for each in found)
        examples = EXAMPLES_PER_CODE if self.max_tokens >= _ROOMY else 1
        made = brief(call, for_people=call.surface == "cli" and not call.as_data, examples=examples)
        overview = made.overview if self.max_tokens >= _CRAMPED else None
        return msgspec.structs.replace(made, remembered=remembered, overview=overview)

    def text(self, result: ProjectBrief) -> str:
        """The brief as Markdown."""
        lines = [f"# {result.project}", ""]
        if result.overview is not None:
            lines.extend(f"- {label}: {said}" for label, said in _about(result, result.overview))
        counts = ", ".join(_counted(number, kind) for kind, number in result.node_counts.items())
        lines.append(f"- In the graph: {counts or 'no requirements, specs or tests'}.")
        if result.levels:
            counts = ", ".join(f"{level} {number}" for level, number in result.levels.items())
            lines.append(f"- Levels: {counts}{_without_level(result)}.")
        if result.index:
            lines.append(f"- Search: {result.index}.")
        lines.append("")
        if result.findings.total:
            lines.append(f"Needs attention: {_figures(result)}.")
            for concern in result.attention:
                lines.append(f"- {concern.title} ({concern.severity}, {concern.code})")
                lines.extend(f"  - {example}" for example in concern.examples)
        else:
            lines.append("Nothing needs attention.")
        if result.remembered:
            lines.extend(("", "Remembered:"))
            lines.extend(f"- {each.kind} {each.id[:8]}: {each.title}" for each in result.remembered)
        if result.decided:
            lines.extend(("", "Decided in commits:"))
            lines.extend(f"- {each.day} {each.commit[:7]}: {_with_reason(each)}" for each in result.decided)
        lines.extend(("", "Next:"))
        lines.extend(f"- {call.call}: {call.why}" for call in result.next_calls)
        lines.extend(f"Note: {note}" for note in result.notes)
        return "\n".join(lines) + "\n"

    def render(self, result: ProjectBrief) -> str:
        """The brief for a person, in about twenty lines."""
        seen, width = result.overview, columns() or _WIDTH
        blocks = [[_headline(result)]]
        if seen is not None:
            blocks[0].extend(textwrap.wrap(seen.about.summary, width, max_lines=2, placeholder=" …"))
            searched = [("Search", result.index)] if result.index and _has_texts(result, seen) else []
            blocks.append(list(_columns([*_about(result, seen)[1:-1], *searched], width, listing=True)))
        blocks += [list(_attention(result)), list(_decisions(result, width))]
        blocks.append([coloured("Try", "bold"), *_columns(_commands(result), width)])
        blocks.append([coloured(f"note: {note}", "yellow") for note in result.notes])
        return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _has_texts(result: ProjectBrief, seen: Overview) -> bool:
    return bool(seen.holds.documents or seen.holds.source_files or any(result.node_counts.values()))


def _headline(result: ProjectBrief) -> str:
    seen = result.overview
    if seen is None:
        return coloured(result.project, "bold")
    version = f" {seen.about.version}" if seen.about.version else ""
    facts = [seen.about.kind] if seen.about.kind else []
    if seen.past is not None and seen.past.commits:
        facts.append(_history(seen.past))
    line = coloured(f"  {'; '.join(facts)}", "dim") if facts else ""
    return coloured(f"{seen.about.name}{version}", "bold") + line


def _history(past: Past) -> str:
    people = f" by {counted(past.authors, 'person', 'people')}" if past.authors else ""
    commits = f"{past.commits:,} {'commit' if past.commits == 1 else 'commits'}"
    return f"{commits}{people}, the last on {past.latest}"


def _commands(result: ProjectBrief) -> Iterator[tuple[str, str]]:
    return ((coloured(each.call, "cyan"), each.why) for each in result.next_calls)


def _about(result: ProjectBrief, seen: Overview) -> list[tuple[str, str]]:
    """Rows about the project: first its own words, last its history."""
    holds, past = seen.holds, seen.past
    rows = [("About", one_line(seen.about.summary, 240) or "no README or description found")]
    if result.node_counts.get(NodeKind.REQUIREMENT):
        rows.append(("Requirements", _requirements(result)))
    languages = ", ".join(f"{number:,} {name}" for name, number in list(holds.languages.items())[:4])
    packages = f", in {counted(holds.packages, 'package')}" if holds.packages > 1 else ""
    files = "files" if holds.source_files != 1 else "file"
    rows.append(("Code", f"{languages} {files}{packages}" if languages else "no source files"))
    tests = result.node_counts.get(NodeKind.TEST, 0)
    if holds.test_files:
        named = f"{counted(tests, 'test')} in " if tests else ""
        rows.append(("Tests", f"{named}{_placed(holds.test_files, 'file', holds.test_places)}"))
    if holds.documents:
        rows.append(("Documents", _placed(holds.documents, "document", holds.document_places)))
    if past is not None and past.busy:
        rows.append(("Busiest", ", ".join(f"{each.path} ({', '.join(_busy(each))})" for each in past.busy)))
    rows.append(("History", _history(past) if past is not None and past.commits else "none that git tells"))
    return rows


def _busy(each: BusyFile) -> Iterator[str]:
    yield counted(each.commits, "commit")
    if each.used_by:
        yield f"used by {each.used_by}"
    if each.asked_by:
        more = f" and {len(each.asked_by) - 1} more" if len(each.asked_by) > 1 else ""
        yield f"for {each.asked_by[0]}{more}"


def _without_level(result: ProjectBrief) -> str:
    """The requirements that no figure of coverage counts, so that the sum of the levels is no riddle."""
    number, counted_ones = result.node_counts.get(NodeKind.REQUIREMENT, 0), sum(result.levels.values())
    others = number - counted_ones
    return f" ({counted_ones} of {counted(number, 'requirement')}; {others} owe no test)" if others > 0 else ""


def _requirements(result: ProjectBrief) -> str:
    specs = result.node_counts.get(NodeKind.SPEC, 0)
    within = f" in {counted(specs, 'spec')}" if specs and set(result.levels) == {"spec"} else ""
    number = result.node_counts[NodeKind.REQUIREMENT]
    return f"{counted(number, 'requirement')}{within}{_tested(result.assertions)}"


def _tested(counts: coverage.AssertionCounts) -> str:
    more = f", {counts.total - counts.expected:,} more need none" if counts.total > counts.expected else ""
    tested = f"; tests cover {counts.tested:,} of {counted(counts.expected, 'assertion')}{more}"
    return tested if counts.total else ""


def _placed(number: int, word: str, places: Sequence[str]) -> str:
    return f"{counted(number, word)}: {', '.join(places)}" if places else counted(number, word)


def _columns(rows: Iterable[tuple[str, str]], width: int, *, lines: int = 1, listing: bool = False) -> Iterator[str]:
    """Two columns; the second goes to the end of the line, or below the first if there is no room beside it. A listing
    is cut after an item that fits."""
    listed = list(rows)
    first = max((shown_length(label) for label, _ in listed), default=0)
    room = width - first - 4
    beside = room >= _NARROWEST
    for label, text in listed:
        shown = _whole_items(text, room if beside else width - 4) if listing else text
        wrapped = textwrap.wrap(shown, room if beside else width - 4, max_lines=lines, placeholder=" …") or [""]
        if beside:
            yield f"  {label}{' ' * (first - shown_length(label))}  {wrapped[0]}"
            yield from (f"{' ' * (first + 4)}{each}" for each in wrapped[1:])
        else:
            yield f"  {label}"
            yield from (f"    {each}" for each in wrapped)


def _whole_items(text: str, room: int) -> str:
    """As many items, separated by commas, as there is room for."""
    end = text.rfind(", ", 0, room + 1) if len(text) > room else -1
    return text[:end] if end > 0 else text


def _attention(result: ProjectBrief) -> Iterator[str]:
    if not result.attention:
        return
    yield coloured("Needs attention", "bold") + f"  {result.findings.describe()} (`clew check` lists all)"
    for concern in result.attention[:_KINDS_SHOWN]:
        style = {"error": "red", "warning": "yellow"}.get(concern.severity, "dim")
        yield f"  {coloured(concern.title, style)}"
    if (left := len(result.attention) - _KINDS_SHOWN) > 0:
        yield f"  and {counted(left, 'more kind')}"


def _with_reason(each: DecisiveCommit) -> str:
    return f"{each.subject.rstrip('.')}. {each.reason}" if each.reason else each.subject


def _decisions(result: ProjectBrief, width: int) -> Iterator[str]:
    """Recent decisions. Memories come before commit messages, because somebody chose to keep them."""
    rows = [(each.kind, each.title) for each in result.remembered[:_DECISIONS_SHOWN]]
    left = max(1, _DECISIONS_SHOWN - len(rows))
    rows += [(f"{each.day} {each.commit[:7]}", _with_reason(each)) for each in result.decided[:left]]
    if rows:
        yield coloured("Decided lately", "bold")
        yield from _columns(((coloured(label, "dim"), text) for label, text in rows), width, lines=2)
