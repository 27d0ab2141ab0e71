"""`clew impact ID|FILE`."""

import argparse
from pathlib import Path

import msgspec

from clew.surfaces.cli.opening import add_folder, add_json, opened
from clew.surfaces.cli.output import end_progress, print_json, progress
from clew.text.terminal import coloured
from clew.trace.read.resolve import Resolver
from clew.trace.read.subject import subject_of
from clew.trace.reports.impact import Affected, Impact, documented, impact
from clew.trace.reports.suspect import suspects

EXAMPLE = """clew impact REQ-d00001-A
clew impact src/clock.py"""

_STYLES = {"passed": "green", "failed": "red", "error": "red"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="ID|FILE", help="a requirement, an assertion, a test, or any file that is read")
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="items of each list at most (default: 20)")
    add_folder(parser, positional=False)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as project:
        project.ensure_graph(progress())
        end_progress()
        graph = project.graph
        with project.lock.reading():
            resolver = Resolver(graph, project.grammar)
            subject = subject_of(graph, resolver, project.config.root, args.what, Path.cwd())
            limit = max(args.limit, 0)
            found = impact(graph, subject, suspects(graph, project.store), limit=limit)
            # Documents that were never read would have to be read now, all of them.
            pages = documented(graph, subject) if project.kb.was_read else []
            found = msgspec.structs.replace(found, documented=tuple(pages[:limit]), documented_total=len(pages))
    if args.json:
        print_json(found)
    else:
        _print(found)
    return 0


def _print(found: Impact) -> None:
    print(coloured(f"{found.subject}: {found.title}" if found.title else found.subject, "bold"))
    if found.stands_for_total:
        _list("stands for", found.stands_for, found.stands_for_total)
    counts = ", ".join(f"{number} {kind}" for kind, number in found.dependents_by_kind.items())
    _list(f"depends on it ({counts or 'nothing'})", found.dependents, found.dependents_total)
    if found.documented_total:
        _list(f"documents speak of it ({found.documented_total})", found.documented, found.documented_total)
    print(coloured(f"proves it ({found.proofs_total})", "dim"))
    for proof in found.proofs:
        result = proof.result or "no result"
        print(f"  {proof.id}  {proof.proves}  {coloured(result, _STYLES.get(result, 'dim'))}")
    _more(found.proofs_total - len(found.proofs))
    now = f", {found.suspect_now} are now" if found.suspect_now else ""
    print(coloured(f"becomes suspect when it changes ({found.becomes_suspect_total}{now})", "dim"))
    for doubt in found.becomes_suspect:
        mark = coloured("  suspect now", "yellow") if doubt.suspect_now else ""
        print(f"  {doubt.citing}  {doubt.kind} {doubt.cited}{mark}")
    _more(found.becomes_suspect_total - len(found.becomes_suspect))


def _list(heading: str, items: tuple[Affected, ...], total: int) -> None:
    print(coloured(heading, "dim"))
    for item in items:
        print(f"{'  ' * item.distance}{item.id}  {item.how}  {coloured(f'{item.path}:{item.line}', 'dim')}")
    _more(total - len(items))


def _more(number: int) -> None:
    if number > 0:
        print(coloured(f"  {number} more; --limit shows them", "dim"))
