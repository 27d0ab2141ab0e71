"""`clew status`."""

import argparse

from clew.surfaces.cli.opening import add_folder, add_json, answer, opened
from clew.surfaces.cli.output import print_json
from clew.trace.operations.read import GET_GRAPH_STATUS, GET_PROJECT_SUMMARY, GET_WORKSPACE_INFO

EXAMPLE = "clew status --json"


def configure(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as project:
        status = answer(project, GET_GRAPH_STATUS, {}).data
        summary = answer(project, GET_PROJECT_SUMMARY, {}).data
        workspace = answer(project, GET_WORKSPACE_INFO, {}).data
    if args.json:
        print_json({"graph": status, "summary": summary, "workspace": workspace})
        return 0
    print(f"{workspace['project_name']} in {workspace['repo_path']}")
    print("graph: " + ", ".join(f"{number} {kind}" for kind, number in status["node_counts"].items()))
    coverage, changes = summary["coverage"], summary["changes"]
    print(
        f"coverage: {coverage['full_coverage']} full, {coverage['partial_coverage']} partial, "
        f"{coverage['no_coverage']} none, of {coverage['total']} requirements"
    )
    print(
        f"findings: {summary['broken_reference_count']} broken references, {summary['stale_hash_count']} stale hashes, "
        f"{summary['uncovered_assertion_count']} assertions without a test"
    )
    if changes["uncommitted"] is not None:
        print(f"changes: {changes['uncommitted']} requirements differ from the last commit")
    for note in workspace["notes"]:
        print(f"note: {note}")
    return 0
