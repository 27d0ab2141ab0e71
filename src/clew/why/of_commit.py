"""The thread of a commit: what it says, what it touched, and what it is there for."""

from collections.abc import Iterator

from clew.derived.history import Commit
from clew.graph.model import EdgeKind, NodeKind
from clew.text.display import one_line
from clew.why.answer import Fact, Section, section
from clew.why.inquiry import Inquiry, commit_line, day, references_in
from clew.why.sections.made import REVERTS, around, commits_of
from clew.why.sections.pending import pending

_MOST_PATHS = 40


def commit_sections(inquiry: Inquiry, id: str) -> tuple[Section, ...]:
    _ = inquiry.readiness
    commit = commits_of(inquiry, [id])[id]
    paths = _paths(inquiry, id)
    with inquiry.project.context.lock.reading():
        cited = list(_cited(inquiry, commit, paths))
        tests = list(_tests(inquiry, paths))
    requirements = [fact.place for fact in cited]
    later = [
        Fact(f"taken back by {commit_line(each)}", "stated", each.id[:12])
        for each in inquiry.history.naming(f"This reverts commit {id[:7]}", 5)
        if (undone := REVERTS.search(each.message)) and id.startswith(undone[1])
    ]
    return (
        section("what", _what(commit), absent="Not known."),
        section("asked_for_by", cited, absent="Not known: its message names no requirement, and it touched none."),
        section(
            "made_by", [*_touched(inquiry, id), *around(inquiry, commit), *later], absent="It touched no file.", most=8
        ),
        section("proved_by", tests, absent="Not known: it touched no test."),
        pending(inquiry, requirements),
    )


def _what(commit: Commit) -> Iterator[Fact]:
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
