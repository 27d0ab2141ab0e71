"""`clew show ID`."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from clew.graph.model import NodeKind
from clew.surfaces.cli.opening import add_folder, add_json, answer, opened
from clew.surfaces.cli.output import print_json
from clew.text.terminal import coloured
from clew.trace.operations.read import GET_HIERARCHY, GET_REQUIREMENT

if TYPE_CHECKING:
    from clew.project import Project
    from clew.trace.reports.impact import Affected

EXAMPLE = "clew show REQ-d00001"

_MOST_PAGES = 50


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="a requirement's id; short forms such as d1 work")
    add_folder(parser, positional=False)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as project:
        detail = answer(project, GET_REQUIREMENT, {"req_id": args.id, "limit": 500, "max_tokens": 20_000}).data
        place = answer(project, GET_HIERARCHY, {"req_id": args.id}).data
        pages = _documented(project, detail["id"])
    if args.json:
        print_json({**detail, "ancestors": place["ancestors"], "siblings": place["siblings"], "documented": pages})
        return 0
    _print(detail, place)
    if pages:
        print(coloured("documents speak of it", "dim"))
    for page in pages:
        print(f"  {page.id}  {coloured(f'{page.path}:{page.line}', 'dim')}")
    return 0


def _documented(project: "Project", id: str) -> "list[Affected]":
    """The sections that mention the requirement, where somebody has read the documents before."""
    from clew.trace.read.subject import Subject
    from clew.trace.reports.impact import documented

    if not project.kb.was_read:
        return []
    with project.lock.reading():
        return documented(project.graph, Subject(id, NodeKind.REQUIREMENT.value, "", (id,)))[:_MOST_PAGES]


def _print(detail: Mapping[str, Any], place: Mapping[str, Any]) -> None:
    source = detail["source"]
    print(coloured(f"{detail['id']}: {detail['title']}", "bold"))
    print(f"{detail['level']}, {detail['status']}, hash {detail['hash_state']}, {source['path']}:{source['line']}")
    coverage = detail["coverage"]
    print(f"{coverage['tested']} of {coverage['total_assertions']} assertions tested")
    separator = "-"
    for assertion in detail["assertions"]:
        separator = assertion["id"].removeprefix(detail["id"]).removesuffix(assertion["label"])
        mark = coloured("+", "green") if assertion["tested"] else coloured("-", "yellow")
        print(f"  {mark} {assertion['label']}. {assertion['text']}")
    for heading, items in (("above", place["ancestors"]), ("cited by", detail["children"])):
        if items:
            print(coloured(heading, "dim"))
        for item in items:
            how = f"{item['edge_kind']} " if "edge_kind" in item else ""
            labels = separator + "+".join(item["assertion_targets"]) if item.get("assertion_targets") else ""
            print(f"  {item['id']}{'  ' + how + labels if how else ''}  {item['title']}")
    more = detail["children_total"] - len(detail["children"])
    if more > 0:
        print(coloured(f"  {more} more; `clew call get_requirement` pages through them", "dim"))
    for written in detail["broken_references"]:
        print(coloured(f"  cites {written}, which does not exist", "red"))
