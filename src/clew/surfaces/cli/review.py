"""`clew review`."""

import argparse
from pathlib import Path

import msgspec

from clew.errors import InvalidArgument
from clew.project import Project
from clew.surfaces.cli.opening import add_folder, add_json, opened
from clew.surfaces.cli.output import end_progress, print_json, progress
from clew.text.counting import counted
from clew.text.terminal import coloured
from clew.trace.read.resolve import Resolver
from clew.trace.read.subject import Subject, subject_of
from clew.trace.reports.citations import Link, links, links_citing, links_made_by
from clew.trace.reports.reviewing import ReviewReport, record
from clew.trace.reports.suspect import Suspect, suspects

EXAMPLE = """clew review --list
clew review REQ-d00001-A
clew review REQ-d00001 --by tests/test_clock.py"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", nargs="*", metavar="ID|FILE", help="review the links that cite this, and those it makes itself"
    )
    parser.add_argument("--by", metavar="ID|FILE", help="only the links that this makes")
    parser.add_argument("--all", action="store_true", help="review every link, and forget those that are gone")
    parser.add_argument("--list", action="store_true", help="list the suspect links; exit code 1 if there are any")
    add_folder(parser, positional=False)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    if sum((bool(args.what), args.all, args.list)) != 1:
        raise InvalidArgument(
            "Name what was reviewed, or pass --all, or --list; one of the three.",
            hint="`clew review --help` has examples.",
        )
    with opened(args) as project:
        project.ensure_graph(progress())
        end_progress()
        with project.lock.reading():
            if args.list:
                return _list(suspects(project.graph, project.store), as_json=args.json)
            chosen = _chosen(project, args)
            config, drop_gone = project.config, args.all and not args.by
            report = record(config.root, config.reviews, project.graph, project.store, chosen, drop_gone=drop_gone)
    if args.json:
        print_json(report)
    else:
        _print(report)
    return 0


def _chosen(project: Project, args: argparse.Namespace) -> list[Link]:
    graph = project.graph
    if args.all:
        found = links(graph)
    else:
        ids = [id for text in args.what for id in _meant(project, text).ids]
        found = tuple(dict.fromkeys((*links_citing(graph, ids), *links_made_by(graph, ids))))
    if not args.by:
        return list(found)
    makers = set(_meant(project, args.by).ids)
    return [link for link in found if link.citing_id in makers]


def _meant(project: Project, text: str) -> Subject:
    resolver = Resolver(project.graph, project.grammar)
    return subject_of(project.graph, resolver, project.config.root, text, Path.cwd())


def _list(found: tuple[Suspect, ...], *, as_json: bool) -> int:
    if as_json:
        print_json({"suspect": [msgspec.to_builtins(suspect) for suspect in found], "count": len(found)})
    else:
        for suspect in found:
            since = "its review" if suspect.reviewed else "it was first seen here"
            link = suspect.link
            print(f"{link.citing_id} {link.kind} {coloured(link.cited, 'yellow')}, changed since {since}")
        print(counted(len(found), "suspect link"))
    return 1 if found else 0


def _print(report: ReviewReport) -> None:
    for link in report.recorded:
        print(f"{link.citing_id} {link.kind} {coloured(link.cited, 'cyan')}")
    parts = [f"{len(report.recorded)} recorded in {report.file}", f"{report.unchanged} were there already"]
    if report.dropped:
        parts.append(f"{report.dropped} of links that are gone removed")
    print(", ".join(parts))
