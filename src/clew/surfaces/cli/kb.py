"""`clew kb`."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from clew.errors import InvalidArgument, NotFound
from clew.surfaces.cli.opening import add_folder, add_json, opened
from clew.surfaces.cli.output import coloured, end_progress, print_json, progress

if TYPE_CHECKING:
    from clew.graph.model import Edge
    from clew.project import Project

EXAMPLE = """clew kb index
clew kb search "how is the margin set"
clew kb ask "what is the default margin?"
clew kb show docs/guide.md
clew kb graph REQ-d00001"""

ACTIONS = ("status", "index", "reconcile", "search", "ask", "show", "graph")
_FOUND = 5
_SHOWN_PROBLEMS = 20


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="status", help="default: status")
    parser.add_argument(
        "what", nargs="*", help="search, ask: words; show: a document or section; graph: an id, a document or a term"
    )
    parser.add_argument("--full", action="store_true", help="index: read every document again")
    parser.add_argument("--dry-run", action="store_true", help="reconcile: only say what differs")
    parser.add_argument("--limit", type=int, default=_FOUND, metavar="N", help=f"search: at most (default: {_FOUND})")
    parser.add_argument("--tag", action="append", default=[], help="search, ask: only documents with this tag")
    add_folder(parser, positional=False)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    if args.action in ("search", "ask", "show", "graph") and not args.what:
        raise InvalidArgument(f"clew kb {args.action} needs to know what.", hint=f"Write `clew kb {args.action} WHAT`.")
    with opened(args) as project:
        return _ACTIONS[args.action](project, args)


def _brought_up_to_date(project: "Project") -> None:
    """What people ask is answered from the files as they are now."""
    try:
        project.ensure_graph(progress())
        project.kb.index(progress())
    finally:
        end_progress()


def _status(project: "Project", args: argparse.Namespace) -> int:
    found = project.kb.status()
    if args.json:
        print_json(found)
        return 0
    formats = ", ".join(f"{number} {name}" for name, number in sorted(found.formats.items())) or "none"
    print(coloured(f"{found.documents} documents ({formats})", "bold"))
    print(f"{found.sections} sections, {found.entities} entities, {found.edges} mentions and links")
    print(f"tags: {', '.join(f'{tag} {number}' for tag, number in sorted(found.tags.items())) or 'none'}")
    print(f"index: {found.indexed}" + (f"; {found.pending} documents wait" if found.pending else ""))
    for problem in found.problems[:_SHOWN_PROBLEMS]:
        print(
            coloured(f"{problem.path}:{problem.line}: {problem.severity} {problem.code}: {problem.message}", "yellow")
        )
    for note in found.notes:
        print(coloured(f"note: {note}", "yellow"))
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
        print(coloured(f"note: {problem}", "yellow"))
    return 0


def _reconcile(project: "Project", args: argparse.Namespace) -> int:
    try:
        report = project.kb.reconcile(progress(), repair=not args.dry_run)
    finally:
        end_progress()
    if args.json:
        print_json(report)
    else:
        print(f"{report.files} files, {report.documents} documents, {report.sections} sections")
        for each in report.differences:
            print(f"{each.kind.value.replace('_', ' ')}: {each.id}")
        total = sum(report.counts.values())
        mended = "all mended" if report.repaired and not report.left else f"{report.left} left"
        print(f"{total} differences, {mended}" if total else "no differences")
    return 1 if report.left else 0


def _search(project: "Project", args: argparse.Namespace) -> int:
    from clew.kb.finding import Narrowing

    if args.limit < 1:
        raise InvalidArgument(f"--limit is {args.limit}; it counts results.", hint="Pass 1 or more.")
    _brought_up_to_date(project)
    query = " ".join(args.what)
    found = project.kb.finder.find(query, limit=args.limit, narrowing=Narrowing(tags=tuple(args.tag)))
    if args.json:
        print_json(found)
    for each in () if args.json else found.sections:
        section = each.section
        print(f"{coloured(f'{section.document}:{section.line}', 'cyan')}  {section.trail}")
        print(f"    {each.preview}")
    if not args.json and not found.sections:
        print(found.reason or "Nothing found.")
    return 0 if found.sections else 1


def _ask(project: "Project", args: argparse.Namespace) -> int:
    from clew.kb.answering import answer
    from clew.kb.finding import Narrowing
    from clew.search.evidence import question_tokens

    _brought_up_to_date(project)
    question = " ".join(args.what)
    found = answer(project.kb.finder, question, narrowing=Narrowing(tags=tuple(args.tag)))
    if args.json:
        print_json(found)
    asked = question_tokens(question)
    for each in () if args.json else found.quotes:
        place = coloured(f"{each.path}:{each.line}", "cyan")
        print(f"{place}  {coloured(each.title, 'dim')}")
        words = " ".join(each.quote.split()).split(" ")
        print("    " + " ".join(coloured(word, "bold") if question_tokens(word) & asked else word for word in words))
    if not args.json and not found.quotes:
        print("No document says anything about that.")
    return 0 if found.quotes else 1


def _show(project: "Project", args: argparse.Namespace) -> int:
    """A document's outline, or one section in full."""
    from clew.kb import ids

    _brought_up_to_date(project)
    name = " ".join(args.what)
    id = name if ids.is_own(name) else f"{ids.DOCUMENT}{name}"
    with project.kb.library.reading() as reading:
        current = reading.current_id(id)
        section = reading.section(current) if current is not None else None
        document = reading.document_by_id(current) if current is not None else None
        text = reading.text(section.id) if section is not None else None
        outline = reading.sections_of(document.path) if document is not None else []
    if section is None and document is None:
        raise NotFound(f"There is no document or section '{name}'.", hint="`clew kb search WORDS` finds sections.")
    if args.json:
        print_json({"section": section, "text": text, "document": document, "outline": outline})
    elif section is not None:
        print(coloured(f"{section.document}:{section.line}-{section.end_line}  {section.trail}", "cyan"))
        print(text)
    elif document is not None:
        print(coloured(f"{document.path}  {document.title}", "bold"))
        for each in outline:
            print(f"{'  ' * each.level}{each.id}  {coloured(f'line {each.line}, {each.tokens} tokens', 'dim')}")
    return 0


def _graph(project: "Project", args: argparse.Namespace) -> int:
    """What stands around a node of the documents, or around one that documents mention."""
    _brought_up_to_date(project)
    region = project.kb.region
    with project.lock.reading():
        ids = _meant(project, " ".join(args.what))
        found = {id: {"out": [*region.iter_outgoing_edges(id)], "in": [*region.iter_incoming_edges(id)]} for id in ids}
    if not any(edges["out"] or edges["in"] for edges in found.values()):
        raise NotFound(f"No document mentions '{' '.join(args.what)}'.", hint="`clew kb search WORDS` finds sections.")
    if args.json:
        print_json(found)
        return 0
    for id, edges in found.items():
        print(coloured(id, "bold"))
        for line in (*_lines(edges["out"], "→"), *_lines(edges["in"], "←")):
            print(f"  {line}")
    return 0


def _meant(project: "Project", name: str) -> list[str]:
    """The ids that a name may mean: itself, a document, or entities of that name."""
    from clew.kb import ids

    with project.kb.library.reading() as reading:
        own = reading.current_id(name) or reading.current_id(f"{ids.DOCUMENT}{name}")
        named = [*reading.entities_named(name), *reading.entities_named(name.casefold())]
    known = own or (project.graph.get_node(name) is not None and name)
    return list(dict.fromkeys([*([known] if known else []), *named])) or [name]


def _lines(edges: "list[Edge]", arrow: str) -> list[str]:
    return [
        f"{arrow} {edge.kind.value} {edge.target if arrow == '→' else edge.source}"
        + (f" ({', '.join(edge.labels)})" if edge.labels else "")
        for edge in edges
    ]


_ACTIONS: dict[str, Callable[["Project", Any], int]] = {
    "status": _status,
    "index": _index,
    "reconcile": _reconcile,
    "search": _search,
    "ask": _ask,
    "show": _show,
    "graph": _graph,
}
