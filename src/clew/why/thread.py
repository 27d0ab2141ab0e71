"""The thread through everything that is known about one target: the sections of the answer, gathered in one walk.

A commit has sections of its own: what it says, what it touched, and what it is there for.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from clew.derived.history import Commit
from clew.formats.code.facts.model import SCOPES
from clew.graph.model import EdgeKind, NodeKind
from clew.operation.call import Call
from clew.text.display import counted, one_line
from clew.why.answer import EvidenceSection, Fact, Thread, section
from clew.why.inquiry import Inquiry, commit_line, day, references_in
from clew.why.sections.asked import TargetCitations, asked
from clew.why.sections.asked_in import asked_in, asked_in_commit, recorded_decisions, recorded_in
from clew.why.sections.decided import decided, memory_lines
from clew.why.sections.definitions import definitions
from clew.why.sections.dependants import dependants
from clew.why.sections.made import around, begin_story, commits_of, made
from clew.why.sections.past import past_sections
from clew.why.sections.pending import pending
from clew.why.sections.proved import proved
from clew.why.sections.tested import tested_by
from clew.why.sections.used import used_by
from clew.why.sections.versions import versions
from clew.why.story.chain import REVERTS
from clew.why.story.sessions import SessionRecords

if TYPE_CHECKING:
    from clew.formats.code.comments import Comment

_HEAD_LINES = 60
_LEGAL = re.compile(
    r"copyright|licen[sc]e|\bSPDX\b|\(c\) \d{4}|all rights reserved|redistribution|warrant", re.IGNORECASE
)

_MOST_PATHS = 40


_CUT_OFF = "Git did not answer everything that belongs to this: there was no time, or contents are not in this clone."
PAST_KINDS = frozenset({"number", "commits", "removed symbol", "text"})
"""Kinds of targets that are in the history alone."""


def thread(call: Call, asked_for: str, *, is_text: bool = False) -> Thread:
    """All known facts about a target; with `is_text`, about a text in the history. The graph has to be in step with the
    files."""
    return thread_of(Inquiry(call, asked_for, is_text=is_text))


def thread_of(inquiry: Inquiry) -> Thread:
    target = inquiry.target
    if target.kind == "memory":
        sections: tuple[EvidenceSection, ...] = (section("what", memory_lines(inquiry), absent="Not known."),)
    elif target.commit is not None:
        sections = commit_sections(inquiry, target.commit)
    elif target.definitions:
        sections = definitions(inquiry)
    elif target.kind in PAST_KINDS:
        sections = past_sections(inquiry)
    else:
        sections = _sections(inquiry)
    sections = tuple(each for each in sections if each.facts or not _is_lacking(inquiry, each.name))
    inquiry.demand_same_files()
    if not inquiry.questions.is_whole:
        inquiry.notes.append(_CUT_OFF)
    if target.others:
        inquiry.notes.append(f"Others have this name too: {', '.join(target.others)}.")
    notes = tuple(dict.fromkeys(inquiry.notes))
    return Thread(target.name, target.kind, target.title, target.place, sections, notes)


_SUBJECTS: Mapping[str, tuple[NodeKind, ...]] = {
    "asked_for_by": (NodeKind.REQUIREMENT, NodeKind.SPEC),
    "open_changes": (NodeKind.REQUIREMENT, NodeKind.SPEC),
    "proved_by": (NodeKind.TEST,),
    "tested_by": (NodeKind.TEST,),
}
"""The kinds of nodes without which a section without facts says nothing."""


def _is_lacking(inquiry: Inquiry, name: str) -> bool:
    """True for a section about something that the whole project lacks: it is not mentioned. In a project that has it,
    the section says that nothing was found."""
    if name == "decided":
        return not inquiry.project.memory.exists
    counts = inquiry.graph.node_counts()
    kinds = _SUBJECTS.get(name, ())
    return bool(kinds) and not any(counts.get(kind, 0) for kind in kinds)


def decided_and_open(call: Call, asked_for: str) -> tuple[EvidenceSection, EvidenceSection]:
    """Decisions about a requirement and its pending changes: the thread without its history, which takes longest. The
    graph has to be up to date with the files."""
    inquiry = Inquiry(call, asked_for)
    _ = inquiry.readiness
    remembered = decided(inquiry)
    with inquiry.project.context.lock.reading():
        return remembered, pending(inquiry, [inquiry.target.name])


def _sections(inquiry: Inquiry) -> tuple[EvidenceSection, ...]:
    begin_story(inquiry)
    _read_ahead(inquiry)
    history = made(inquiry)
    records = SessionRecords(inquiry.root, inquiry.questions)
    sessions = asked_in(inquiry, history, records)
    remembered = decided(inquiry, recorded_decisions(inquiry, history.commits, records))
    with inquiry.project.context.lock.reading():
        cited = TargetCitations(inquiry)
        node = inquiry.target.node
        requirements = [*cited.requirements, node.id if node is not None else inquiry.target.name]
        found = (
            history.reason,
            section("what", _what(inquiry), absent="Not known.", most=4),
            asked(inquiry, cited, history.commits),
            history.made_by,
            sessions,
            versions(inquiry),
            remembered,
            *(
                (used_by(inquiry), tested_by(inquiry, cited))
                if inquiry.is_code
                else (proved(inquiry, cited), dependants(inquiry))
            ),
            pending(inquiry, requirements),
            history.authors,
        )
    return tuple(each for each in found if each is not None)


def _read_ahead(inquiry: Inquiry) -> None:
    """Read the history and the source files before the graph is locked."""
    _ = inquiry.readiness
    if inquiry.target.node is None and inquiry.target.path is not None:
        _ = inquiry.code


def _what(inquiry: Inquiry) -> Iterator[Fact]:
    target = inquiry.target
    if target.node is not None:
        yield from _of_node(inquiry)
        return
    symbols = inquiry.symbols
    if target.kind == "deleted file":
        yield Fact("a file that is no longer there", "recorded", target.path or "")
    elif target.kind == "file":
        lines = len(inquiry.text.lines) if inquiry.text is not None else 0
        outer = [each for each in symbols if each.parent < 0]
        outer = [each for each in outer if each.kind in SCOPES] or outer
        names = ", ".join(each.name for each in outer[:8]) + (", …" if len(outer) > 8 else "")
        defines = f", defines {names}" if outer else ""
        yield Fact(f"a file of {counted(lines, 'line')}{defines}", "recorded", target.path or "")
        if first := _first_words(inquiry):
            yield Fact(f"it says of itself: {first}", "stated", f"{target.path}:1")
    elif target.symbol is not None:
        symbol = target.symbol
        place = f"{target.path}:{symbol.at}"
        inside = "in " if target.kind == "lines" else ""
        yield Fact(f"{inside}{symbol.kind} {symbol.qualname}: {one_line(symbol.head, 120)}", "recorded", place)
        if symbol.parent >= 0:
            outer_one = symbols[symbol.parent]
            yield Fact(f"inside {outer_one.kind} {outer_one.qualname}", "recorded", f"{target.path}:{outer_one.line}")
    elif target.kind == "lines":
        yield Fact(
            f"{counted(target.last - target.first + 1, 'line')} outside of any function", "recorded", target.place
        )
    elif target.kind in ("section", "change"):
        yield Fact(f"the {target.kind} {target.title or target.name}", "recorded", target.place)
    elif target.kind == "spec":
        outline = inquiry.project.specs.library.spec(target.name).outline
        yield Fact(f"spec {outline.title}: {one_line(outline.purpose, 300)}", "stated", target.place)
        names = ", ".join(each.name for each in outline.requirements[:8])
        yield Fact(
            f"{counted(len(outline.requirements), 'requirement')}: {one_line(names, 300)}", "stated", target.place
        )


def _first_words(inquiry: Inquiry) -> str:
    """The first comment of a source file with a sentence, or its first heading."""
    if inquiry.text is None or inquiry.target.path is None:
        return ""
    from clew.formats.code.comments import comments
    from clew.formats.code.languages import family_for

    family = family_for(inquiry.target.path)
    if family is None or family.name == "markup":
        heading = next((line for line in inquiry.text.lines[:20] if line.startswith("#")), "")
        return one_line(heading.lstrip("# "), 160)
    head = "\n".join(inquiry.text.lines[:_HEAD_LINES])
    for paragraph in _paragraphs(comments(head, family), inquiry.text.lines):
        if not _LEGAL.search(paragraph) and not paragraph.startswith(("!", "-*-", "vim:", "eslint", "@flow", "@ts-")):
            return one_line(paragraph, 200)
    return ""


def _paragraphs(found: "Iterable[Comment]", lines: Sequence[str]) -> Iterator[str]:
    """The comments before the first line of code; those on adjacent lines are joined."""
    gathered, last = "", 0
    for each in found:
        between = lines[last : each.line - 1]
        if any(line.strip() for line in between):
            break
        if gathered and each.line > last + 1:
            yield gathered
            gathered = ""
        gathered = f"{gathered} {each.text}".strip()
        last = each.line + each.text.count("\n")
    if gathered:
        yield gathered


def _of_node(inquiry: Inquiry) -> Iterator[Fact]:
    node = inquiry.target.node
    if node is None:
        return
    place = inquiry.target.place
    if node.kind is NodeKind.ASSERTION:
        yield Fact(one_line(node.title, 300), "stated", place)
        owner = next(inquiry.graph.iter_parents(node.id, (EdgeKind.STRUCTURES,)), None)
        if owner is not None:
            yield Fact(f"part of {owner.id}: {one_line(owner.title, 120)}", "stated", owner.id)
        return
    about = [str(value) for name in ("level", "status") if (value := node.get_field(name))]
    yield Fact(
        f"{node.kind.value} {one_line(node.title, 160)}" + (f" ({', '.join(about)})" if about else ""), "stated", place
    )
    body = node.get_field("body")
    if isinstance(body, str) and body.strip():
        yield Fact(one_line(_statement(body), 300), "stated", place)
    labels = node.get_field("labels") or ()
    if labels:
        yield Fact(f"{counted(len(labels), 'assertion')}: {', '.join(map(str, labels[:12]))}", "stated", place)


def _statement(body: str) -> str:
    """The first paragraph that is neither a heading nor a line of metadata."""
    for paragraph in body.split("\n\n"):
        text = paragraph.strip()
        if text and not text.startswith(("#", "**", "---", "*End*")):
            return text
    return body.strip()


def commit_sections(inquiry: Inquiry, id: str) -> tuple[EvidenceSection, ...]:
    _ = inquiry.readiness
    commit = commits_of(inquiry, [id])[id]
    paths = _paths(inquiry, id)
    records = SessionRecords(inquiry.root, inquiry.questions)
    with inquiry.project.context.lock.reading():
        cited = list(_cited(inquiry, commit, paths))
        tests = list(_tests(inquiry, paths))
    requirements = [fact.place for fact in cited]
    later = [
        Fact(f"reverted by {commit_line(each)}", "stated", each.id[:12])
        for each in inquiry.history.naming(f"This reverts commit {id[:7]}", 5)
        if (undone := REVERTS.search(each.message)) and id.startswith(undone[1])
    ]
    found = (
        section("what", _commit_itself(commit), absent="Not known."),
        section("asked_for_by", cited, absent="Not known: its message names no requirement, and it touched none."),
        section(
            "made_by", [*_touched(inquiry, id), *around(inquiry, commit), *later], absent="It touched no file.", most=8
        ),
        asked_in_commit(inquiry, commit, records),
        recorded_in(inquiry, commit, records),
        section("proved_by", tests, absent="Not known: it touched no test."),
        pending(inquiry, requirements),
    )
    return tuple(each for each in found if each is not None)


def _commit_itself(commit: Commit) -> Iterator[Fact]:
    yield Fact(one_line(commit.subject, 200) or "(no message)", "recorded", commit.id[:12])
    rest = one_line(commit.message.partition("\n")[2], 600)
    if rest:
        yield Fact(rest, "recorded", commit.id[:12])
    numbers = references_in(commit.message)
    names = f"; its message names {', '.join(numbers)}" if numbers else ""
    yield Fact(f"{one_line(commit.author, 60)}, {day(commit.time)}{names}", "recorded", one_line(commit.email, 60))


def _paths(inquiry: Inquiry, id: str) -> list[str]:
    return [change.path for change in inquiry.history.touched_by(id)][:_MOST_PATHS]


def _touched(inquiry: Inquiry, id: str) -> Iterator[Fact]:
    changes = inquiry.history.touched_by(id)
    words = {"A": "added", "M": "changed", "D": "deleted", "R": "renamed", "C": "copied", "T": "changed the type of"}
    for change in changes[:6]:
        source = f" from {one_line(change.old, 100)}" if change.old else ""
        yield Fact(
            f"{words.get(change.status, 'touched')} {one_line(change.path, 120)}{source}", "recorded", change.path
        )
    if len(changes) > 6:
        yield Fact(f"touched {len(changes)} files in all", "recorded", id[:12])


def _cited(inquiry: Inquiry, commit: Commit, paths: list[str]) -> Iterator[Fact]:
    for node in inquiry.ids_in(commit.message):
        place = f"{node.source.path}:{node.source.line}" if node.source is not None else ""
        yield Fact(f"{node.id}: {one_line(node.title, 120)}, named in its message", "stated", place)
    for path in paths:
        for node in inquiry.graph.memory.nodes_in_file(path):
            if node.kind is NodeKind.CODE:
                for edge in inquiry.graph.memory.iter_outgoing_edges(node.id):
                    if edge.kind is not EdgeKind.STRUCTURES:
                        yield Fact(f"{edge.target}, cited in {path}, which it touched", "inferred", path)


def _tests(inquiry: Inquiry, paths: list[str]) -> Iterator[Fact]:
    for path in paths:
        number = sum(node.kind is NodeKind.TEST for node in inquiry.graph.memory.nodes_in_file(path))
        if number:
            yield Fact(f"it touched {path}, which holds {number} tests now", "inferred", path)
