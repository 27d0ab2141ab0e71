"""`clew kb`."""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.errors import InvalidArgument, NotFound, StoreBusy
from clew.surfaces.cli.opening import add_folder, add_json, opened
from clew.surfaces.cli.output import end_progress, print_json, progress
from clew.text.counting import counted
from clew.text.terminal import coloured, linked, printable

if TYPE_CHECKING:
    from clew.kb.queries import Reading
    from clew.kb.walk.surroundings import Bonds
    from clew.project import Project

EXAMPLE = """clew kb index
clew kb search "how is the margin set"
clew kb ask "what is the default margin?"
clew kb show docs/guide.md
clew kb graph REQ-d00001"""

ACTIONS = ("status", "index", "reconcile", "search", "ask", "show", "graph")
_FOUND = 5
_AROUND = 25
_SHOWN_PROBLEMS = 20


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="status", help="default: status")
    parser.add_argument(
        "what", nargs="*", help="search, ask: words; show: a document or section; graph: an id, a document or a term"
    )
    parser.add_argument("--full", action="store_true", help="index: read every document again")
    parser.add_argument("--dry-run", action="store_true", help="reconcile: only say what differs")
    parser.add_argument(
        "--limit",
        type=int,
        metavar="N",
        help=f"search: results at most (default: {_FOUND}); graph: edges of each kind at most (default: {_AROUND})",
    )
    parser.add_argument("--tag", action="append", default=[], help="search, ask: only documents with this tag")
    add_folder(parser, positional=False)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    if args.action in ("search", "ask", "show", "graph") and not args.what:
        raise InvalidArgument(f"clew kb {args.action} needs to know what.", hint=f"Write `clew kb {args.action} WHAT`.")
    with opened(args) as project:
        return _ACTIONS[args.action](project, args)


def _brought_up_to_date(project: "Project") -> None:
    """What people ask is answered from the files as they are now. Where that cannot be had at once, because others
    write, the answer comes from what is there and says so."""
    try:
        project.ensure_graph(progress())
        note = project.kb.index(progress()).note
    except StoreBusy as error:
        note = error.message
    finally:
        end_progress()
    if note is not None:
        _note(f"{note} The answer may lack the latest changes.")


def _note(text: str) -> None:
    print(coloured(f"note: {text}", "yellow", stream=sys.stderr), file=sys.stderr)


def _status(project: "Project", args: argparse.Namespace) -> int:
    found = project.kb.status()
    if args.json:
        print_json(found)
        return 0
    formats = ", ".join(f"{number} {name}" for name, number in sorted(found.formats.items())) or "none"
    print(coloured(f"{counted(found.documents, 'document')} ({formats})", "bold"))
    entities = counted(found.entities, "entity", "entities")
    print(f"{counted(found.sections, 'section')}, {entities}, {found.edges} mentions and links")
    print(f"tags: {', '.join(f'{tag} {number}' for tag, number in sorted(found.tags.items())) or 'none'}")
    print(f"index: {found.indexed}" + (f"; {counted(found.pending, 'document')} to go" if found.pending else ""))
    for problem in found.problems[:_SHOWN_PROBLEMS]:
        place = _place(project, problem.path, problem.line)
        print(f"{place}: {problem.severity} {problem.code}: {printable(problem.message)}")
    if len(found.problems) > _SHOWN_PROBLEMS:
        print(f"and {len(found.problems) - _SHOWN_PROBLEMS} more; --json shows all")
    for note in found.notes:
        _note(note)
    return 0


def _index(project: "Project", args: argparse.Namespace) -> int:
    show = progress()
    try:
        report = project.kb.index(show, full=args.full)
        project.index.make_vectors(show)
    finally:
        end_progress()
    if args.json:
        print_json(report)
        return 0
    counts = ("added", "changed", "moved", "removed", "unchanged")
    print("documents: " + ", ".join(f"{getattr(report, name)} {name}" for name in counts))
    for problem in (*report.problems, *((report.note,) if report.note else ())):
        _note(printable(problem))
    return 0


def _reconcile(project: "Project", args: argparse.Namespace) -> int:
    try:
        report = project.kb.reconcile(progress(), repair=not args.dry_run)
    finally:
        end_progress()
    if args.json:
        print_json(report)
    else:
        files, documents = counted(report.files, "file"), counted(report.documents, "document")
        print(f"{files}, {documents}, {counted(report.sections, 'section')}")
        for each in report.differences:
            print(f"{each.kind.value.replace('_', ' ')}: {printable(each.id)}")
        total = sum(report.counts.values())
        if total > len(report.differences):
            print(f"and {total - len(report.differences)} more")
        mended = "all mended" if report.repaired and not report.left else f"{report.left} left"
        print(f"{counted(total, 'difference')}, {mended}" if total else "no differences")
    if report.note is not None:
        _note(report.note)
    return 1 if report.left else 0


def _search(project: "Project", args: argparse.Namespace) -> int:
    from clew.kb.answer.finding import Narrowing
    from clew.kb.answer.places import lines_in
    from clew.search.quote.evidence import question_tokens

    limit = _limit(args, _FOUND)
    _brought_up_to_date(project)
    query = " ".join(args.what)
    found = project.kb.finder.find(query, limit=limit, narrowing=Narrowing(tags=tuple(args.tag)))
    if args.json:
        print_json(found)
    asked = question_tokens(query)
    for each in () if args.json else found.sections:
        section = each.section
        line = lines_in(section, each.text, *each.anchor)[0] if each.anchor is not None else section.line
        print(f"{_place(project, section.document, line)}  {printable(section.trail)}")
        print(f"    {_marked(each.preview, asked)}")
    for note in found.notes:
        _note(note)
    if not args.json and not found.sections:
        print(found.reason or "Nothing found.")
    return 0 if found.sections else 1


def _limit(args: argparse.Namespace, usual: int) -> int:
    limit: int = usual if args.limit is None else args.limit
    if limit < 1:
        raise InvalidArgument(f"--limit is {limit}; it counts what is shown.", hint="Pass 1 or more.")
    return limit


def _place(project: "Project", path: str, line: int) -> str:
    """A line of a file, as terminals let people click on it."""
    from clew.workspace.paths import raw

    return linked(coloured(printable(f"{path}:{line}"), "cyan"), project.config.root / raw(path), line)


def _marked(text: str, asked: frozenset[str]) -> str:
    """The text on one line, with the words that were asked for in bold."""
    return _bold(" ".join(text.split()), asked)


def _marked_lines(text: str, asked: frozenset[str]) -> list[str]:
    """The same, with the lines of tables and code as they are."""
    return [_bold(line.rstrip(), asked) for line in text.splitlines() if line.strip()]


def _bold(line: str, asked: frozenset[str]) -> str:
    from clew.search.quote.evidence import question_tokens

    words = printable(line).split(" ")
    return " ".join(coloured(word, "bold") if question_tokens(word) & asked else word for word in words)


def _ask(project: "Project", args: argparse.Namespace) -> int:
    from clew.kb.answer.answering import EvidenceRequest, answer
    from clew.kb.answer.finding import Narrowing
    from clew.search.quote.evidence import question_tokens

    _brought_up_to_date(project)
    question = " ".join(args.what)
    found = answer(project.kb.finder, EvidenceRequest(question=question, narrowing=Narrowing(tags=tuple(args.tag))))
    if args.json:
        print_json(found)
    asked = question_tokens(question)
    for each in () if args.json else found.quotes:
        print(f"{_place(project, each.path, each.line)}  {coloured(printable(each.title), 'dim')}")
        for line in _marked_lines(each.quote, asked):
            print(f"    {line}")
    for note in found.notes:
        _note(note)
    if not args.json and not found.quotes:
        print("No document says anything about that.")
    return 0 if found.quotes else 1


def _show(project: "Project", args: argparse.Namespace) -> int:
    """A document's outline, or one section in full."""
    _brought_up_to_date(project)
    name = " ".join(args.what)
    with project.kb.library.reading(project.kb.boundary()) as reading:
        current = _named(project, reading, name)
        section = reading.section(current) if current is not None else None
        document = reading.document_by_id(current) if current is not None else None
        text = reading.text(section.id) if section is not None else None
        outline = reading.sections_of(document.path) if document is not None else []
    if section is None and document is None:
        raise NotFound(f"There is no document or section '{name}'.", hint="`clew kb search WORDS` finds sections.")
    if args.json:
        print_json({"section": section, "text": text, "document": document, "outline": outline})
    elif section is not None:
        print(f"{_place(project, section.document, section.line)}-{section.end_line}  {printable(section.trail)}")
        print(printable(text or ""))
    elif document is not None:
        print(coloured(printable(f"{document.path}  {document.title}"), "bold"))
        for each in outline:
            place = _place(project, each.document, each.line)
            print(f"{'  ' * each.level}{each.id}  {place} {coloured(f'{each.tokens} tokens', 'dim')}")
    return 0


def _named(project: "Project", reading: "Reading", name: str) -> str | None:
    """The id of the document or section that somebody means by an id, also an old one, or by a path as it may be
    written: from the project's folder or from where they are, with the name of a section or without."""
    from clew.kb import ids

    path, _, key = name.partition("#")
    here = Path(os.path.relpath(Path(path).resolve(), project.config.root))
    documents = [ids.document_id(each.as_posix()) for each in (Path(path), here)]
    for id in (name, ids.document_id(name), *(f"{document}#{key}" if key else document for document in documents)):
        if (current := reading.current_id(id)) is not None:
            return current
    return None


def _graph(project: "Project", args: argparse.Namespace) -> int:
    """What stands around a node of the documents, or around one that documents mention."""
    from clew.kb.walk.surroundings import bonds

    limit = _limit(args, _AROUND)
    _brought_up_to_date(project)
    name = " ".join(args.what)
    with project.lock.reading(), project.kb.walking(project.kb.boundary()) as ground:
        found = bonds(ground, _meant(project, ground.reading, name), limit)
    if not any(each.links for each in found.values()):
        raise NotFound(
            f"Nothing that documents are about is called '{name}'.", hint="`clew kb search WORDS` finds sections."
        )
    if args.json:
        print_json({id: each._asdict() for id, each in found.items()})
        return 0
    for id, each in found.items():
        print(coloured(printable(id), "bold"))
        for line in _lines(id, each):
            print(f"  {printable(line)}")
        if each.is_cut:
            print(f"  and more; --limit above {limit} shows them")
    return 0


def _meant(project: "Project", reading: "Reading", name: str) -> list[str]:
    """The ids that a name may mean: itself, a document, or entities of that name."""
    named = [*reading.entities_named(name), *reading.entities_named(name.casefold())]
    return list(dict.fromkeys([_named(project, reading, name) or name, *named]))


def _lines(id: str, found: "Bonds") -> list[str]:
    lines = []
    for link in found.links:
        arrow, other = ("→", link.dst) if link.src == id else ("←", link.src)
        labels = found.labels.get(other)
        lines.append(f"{arrow} {link.type} {other}" + (f" ({', '.join(labels)})" if labels else ""))
    # What is mentioned and who mentions it is what people ask for.
    return sorted(lines, key=lambda line: " MENTIONS " not in line)


_ACTIONS: dict[str, Callable[["Project", Any], int]] = {
    "status": _status,
    "index": _index,
    "reconcile": _reconcile,
    "search": _search,
    "ask": _ask,
    "show": _show,
    "graph": _graph,
}
