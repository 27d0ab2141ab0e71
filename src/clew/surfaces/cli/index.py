"""`clew index`."""

import argparse
from typing import Any

import msgspec

from clew.project import Project
from clew.search.dense.keeper import JOB
from clew.surfaces.cli.opening import add_folder, add_json, opened
from clew.surfaces.cli.output import end_progress, print_json, progress
from clew.text.terminal import coloured

EXAMPLE = """clew index
clew index --status"""


def configure(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--status", action="store_true", help="only say how much is indexed")
    what.add_argument("--rebuild", action="store_true", help="drop the index and make it anew")
    what.add_argument("--stop", action="store_true", help="stop the indexing that another process is doing")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as project:
        if args.stop:
            data = _stop(project)
        elif args.status:
            data = _state(project)
        else:
            data = _index(project, rebuild=args.rebuild)
    if args.json:
        print_json(data)
    else:
        _print(data)
    return 0


def _index(project: Project, *, rebuild: bool) -> dict[str, Any]:
    show = progress()
    try:
        project.ensure_graph(show)
        with project.lock.reading():
            written = project.index.rebuild() if rebuild else project.index.sync()
        report = project.index.make_vectors(show)
    finally:
        end_progress()
    return {**_state(project), "written": msgspec.to_builtins(written), "vectors": msgspec.to_builtins(report)}


def _stop(project: Project) -> dict[str, Any]:
    running = [job for job in project.store.jobs(state="running") if job.kind == JOB] if project.store else []
    for job in running:
        if project.store is not None:
            project.store.cancel_job(job.id)
    return {**_state(project), "stopped": [job.id for job in running]}


def _state(project: Project) -> dict[str, Any]:
    state = project.index.state()
    jobs = [job for job in project.store.jobs(state="running") if job.kind == JOB] if project.store else []
    return {
        "index": msgspec.to_builtins(state),
        "problem": project.index.problem,
        "jobs": [msgspec.to_builtins(job) for job in jobs],
    }


def _print(data: dict[str, Any]) -> None:
    index, vectors = data["index"], data.get("vectors")
    if index is None:
        print(data["problem"])
        return
    if "written" in data:
        written = data["written"]
        print(f"units: {written['added']} added, {written['changed']} changed, {written['removed']} removed")
    if vectors is not None:
        made = f"vectors: {vectors['embedded']} made, {vectors['reused']} reused"
        print(made + (", damaged ones written anew" if vectors["rebuilt"] else ""))
        if vectors["note"]:
            print(coloured(f"note: {vectors['note']}", "yellow"))
    for job in data["jobs"]:
        print(f"running: {job['done']} of {job['total'] or '?'} ({job['message']})")
    if "stopped" in data:
        print(f"stopped: {len(data['stopped'])}")
    parts = ", ".join(f"{number} {part}" for part, number in index["parts"].items()) or "nothing"
    print(f"indexed: {index['units']} units ({parts}) by words, {index['embedded']} of them by meaning")
    print(f"state: {index['state'].replace('_', ' ')}, embedder: {index['embedder'] or 'none'}")
    for note in index["notes"]:
        print(coloured(f"note: {note}", "yellow"))
