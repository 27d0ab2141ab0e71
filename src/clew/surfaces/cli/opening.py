"""Opening a project for a command, and calling tools in it, as every command does."""

import argparse
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clew.operation.call import Answer, Call, carry_out
from clew.operation.listing import Listed
from clew.project import Project
from clew.surfaces.cli.output import end_progress, progress


def add_folder(parser: argparse.ArgumentParser, *, positional: bool = True) -> None:
    if positional:
        parser.add_argument("folder", nargs="?", default=".", help="the project's folder (default: this one)")
    else:
        parser.add_argument(
            "-C", "--folder", default=".", metavar="FOLDER", help="the project's folder (default: this one)"
        )


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the data as JSON")


@contextmanager
def opened(args: argparse.Namespace, *, drafts: bool = False, told: bool = True) -> Iterator[Project]:
    """The project of a command, closed at the end."""
    project = open_project(args.folder, drafts=drafts, told=told)
    try:
        yield project
    finally:
        project.close()


def open_project(folder: str, *, drafts: bool = False, told: bool = True) -> Project:
    """The project at or above a folder. Without `drafts` it is what the files say, and nothing that is not saved. Where
    its folder is not the given one, standard error says so, unless `told` is false."""
    project = Project.open(folder, drafts=drafts)
    if told and project.config.root != Path(folder).resolve():
        print(f"clew: the project is {project.config.root}", file=sys.stderr)
    return project


def answer(project: Project, tool: Listed, arguments: Mapping[str, Any]) -> Answer:
    """Call a tool exactly as an MCP client would."""
    from clew.operation.listing import all_tools

    call = Call(project, all_tools(), progress=progress())
    try:
        return carry_out(tool, arguments, call)
    finally:
        end_progress()
