"""The thread through everything that is known about one target: the sections of the answer, gathered in one walk."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from clew.graph.model import EdgeKind, NodeKind
from clew.operation.call import Call
from clew.text.display import counted, one_line
from clew.why.answer import Fact, Section, Thread, section
from clew.why.inquiry import Inquiry
from clew.why.of_commit import commit_sections
from clew.why.sections.asked import Cited, asked
from clew.why.sections.decided import decided, memory_lines
from clew.why.sections.dependants import dependants
from clew.why.sections.made import made
from clew.why.sections.pending import pending
from clew.why.sections.proved import proved
from clew.why.sections.versions import versions

if TYPE_CHECKING:
    from clew.formats.code.comments import Comment


_HEAD_LINES = 60
_LEGAL = re.compile(
    r"copyright|licen[sc]e|\bSPDX\b|\(c\) \d{4}|all rights reserved|redistribution|warrant", re.IGNORECASE
)


def thread(call: Call, asked_for: str) -> Thread:
    """Everything that is known about a target. The graph has to be in step with the files."""
    return thread_of(Inquiry(call, asked_for))


def thread_of(inquiry: Inquiry) -> Thread:
    target = inquiry.target
    if target.kind == "memory":
        sections: tuple[Section, ...] = (section("what", memory_lines(inquiry), absent="Not known."),)
    elif target.commit is not None:
        sections = commit_sections(inquiry, target.commit)
    else:
        sections = _sections(inquiry)
    if target.others:
        inquiry.notes.append(f"Others have this name too: {', '.join(target.others)}.")
    notes = tuple(dict.fromkeys(inquiry.notes))
    return Thread(target.name, target.kind, target.title, target.place, sections, notes)


def decided_and_open(call: Call, asked_for: str) -> tuple[Section, Section]:
    """What was decided about a requirement, and what is about to change: the thread without its history, which takes
    longest. The graph has to be in step with the files."""
    inquiry = Inquiry(call, asked_for)
    _ = inquiry.readiness
    remembered = decided(inquiry)
    with inquiry.project.context.lock.reading():
        return remembered, pending(inquiry, [inquiry.target.name])


def _sections(inquiry: Inquiry) -> tuple[Section, ...]:
    _read_ahead(inquiry)
    history = made(inquiry)
    remembered = decided(inquiry)
    with inquiry.project.context.lock.reading():
        cited = Cited(inquiry)
        node = inquiry.target.node
        requirements = [*cited.requirements, node.id if node is not None else inquiry.target.name]
        found = (
            section("what", _what(inquiry), absent="Not known.", most=4),
            asked(inquiry, cited, history.commits),
            history.made_by,
            versions(inquiry),
            remembered,
            proved(inquiry, cited),
            pending(inquiry, requirements),
            history.authors,
            dependants(inquiry),
        )
    return tuple(each for each in found if each is not None)


def _read_ahead(inquiry: Inquiry) -> None:
    """Have the history and the source files read before the graph is held, where both need it."""
    _ = inquiry.readiness
    if inquiry.target.node is None and inquiry.target.path is not None:
        _ = inquiry.code


def _what(inquiry: Inquiry) -> Iterator[Fact]:
    target = inquiry.target
    if target.node is not None:
        yield from _of_node(inquiry)
        return
    symbols = inquiry.text.outline.symbols if inquiry.text is not None else ()
    if target.kind == "deleted file":
        yield Fact("a file that is no longer there", "recorded", target.path or "")
    elif target.kind == "file":
        lines = len(inquiry.text.lines) if inquiry.text is not None else 0
        outer = [each for each in symbols if each.parent < 0]
        names = ", ".join(each.name for each in outer[:8]) + (", …" if len(outer) > 8 else "")
        defines = f", defines {names}" if outer else ""
        yield Fact(f"a file of {counted(lines, 'line')}{defines}", "recorded", target.path or "")
        if first := _first_words(inquiry):
            yield Fact(f"it says of itself: {first}", "stated", f"{target.path}:1")
    elif target.symbol is not None:
        symbol = target.symbol
        place = f"{target.path}:{symbol.line}"
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
    """What a source file says at its very beginning."""
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
    """The comments in front of the first line of code, those on neighbouring lines put together."""
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
