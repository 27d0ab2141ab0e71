"""`clew fix`."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

from clew.errors import InvalidArgument
from clew.graph.model import Node, NodeKind, Source
from clew.project import Project
from clew.surfaces.cli.opening import add_folder, add_json, opened
from clew.surfaces.cli.output import end_progress, print_json, progress
from clew.text.terminal import coloured
from clew.trace.files.fixing import Fixes, Wanted, plan_fixes
from clew.trace.read.assertions import owner_of
from clew.trace.read.resolve import Resolver
from clew.trace.read.subject import subject_of
from clew.workspace.find import selects

EXAMPLE = """clew fix --dry-run
clew fix REQ-d00001 spec/clock.md --hashes --format"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="*", help="ids or files to mend (default: all requirements)")
    parser.add_argument(
        "--hashes", action="store_true", help="write the hashes that are stale or missing (the default)"
    )
    parser.add_argument("--format", action="store_true", help="mend End markers and the spelling of ids and references")
    parser.add_argument("--dry-run", action="store_true", help="print the difference, write nothing")
    add_folder(parser, positional=False)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as project:
        project.ensure_graph(progress())
        end_progress()
        with project.lock.reading():
            paths, wanted = _asked(project, args)
        config = project.config
        planned = plan_fixes(config.root, paths, project.grammar, wanted, max_bytes=config.max_file_bytes)
        diff = project.files.write(planned.edits, "fix", dry_run=args.dry_run)
    if args.json:
        print_json(
            {
                "fixes": msgspec.to_builtins(planned.fixes),
                "left": msgspec.to_builtins(planned.left),
                "files": [edit.path for edit in planned.edits],
                "diff": diff,
                "dry_run": args.dry_run,
            }
        )
    else:
        _print(planned, diff, dry_run=args.dry_run)
    return 1 if planned.left else 0


def _asked(project: Project, args: argparse.Namespace) -> tuple[list[str], Wanted]:
    """The files to look at, and what to mend in them."""
    if args.what:
        sources = [source for text in args.what for source in _meant(project, text)]
    else:
        sources = _in_spec_files(project, project.graph.nodes_by_kind(NodeKind.REQUIREMENT))
    places = {(source.path, source.line) for source in sources} if args.what else None
    wanted = Wanted(hashes=args.hashes or not args.format, formatting=args.format, places=places)
    return sorted({source.path for source in sources}), wanted


def _meant(project: Project, text: str) -> list[Source]:
    """Where the requirements stand that somebody names by their id, by that of an assertion, or by their file."""
    graph = project.graph
    subject = subject_of(graph, Resolver(graph, project.grammar), project.config.root, text, Path.cwd())
    nodes = [node for id in subject.ids if (node := graph.get_node(id)) is not None]
    owners = [owner_of(graph, node) if node.kind is NodeKind.ASSERTION else node for node in nodes]
    found = _in_spec_files(project, (node for node in owners if node is not None))
    if not found:
        raise InvalidArgument(
            f"'{subject.name}' is no requirement of a spec file, and holds none.",
            hint="Only those have hashes and End markers to mend. Pass an id such as REQ-d00001, or a spec file.",
        )
    return found


def _in_spec_files(project: Project, nodes: Iterable[Node]) -> list[Source]:
    """Where requirements stand, of those that stand in spec files."""
    config = project.config
    sources = [node.source for node in nodes if node.kind is NodeKind.REQUIREMENT and node.source is not None]
    paths = {path for path in {source.path for source in sources} if selects(config.root, config.requirements, path)}
    return [source for source in sources if source.path in paths]


def _print(planned: Fixes, diff: str, *, dry_run: bool) -> None:
    if dry_run:
        sys.stdout.write(diff)
    for fix in () if dry_run else planned.fixes:
        print(f"{fix.path}:{fix.line}: {coloured(fix.requirement_id, 'cyan')}: {', '.join(fix.what)}")
    for left in planned.left:
        print(f"{left.path}:{left.line}: {left.requirement_id} was left alone: {left.why}", file=sys.stderr)
    if not planned.fixes:
        print("Nothing to mend.")
