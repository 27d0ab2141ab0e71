"""Opening a project for a command, and the options that most commands have."""

import argparse
import os
import sys
from pathlib import Path

from clew.errors import InvalidArgument
from clew.project import Project


def add_folder(parser: argparse.ArgumentParser, *, positional: bool = True) -> None:
    if positional:
        parser.add_argument("folder", nargs="?", default=".", help="the project's folder (default: this one)")
        add_place(parser)
    else:
        parser.add_argument(
            "-C", "--folder", default=".", metavar="FOLDER", help="the project's folder (default: this one)"
        )


def add_place(parser: argparse.ArgumentParser) -> None:
    """-C for a command that takes its folder in another way, or none."""
    parser.add_argument("-C", dest="in_folder", metavar="FOLDER", help="do it in this folder (default: this one)")


def go_to_place(args: argparse.Namespace) -> argparse.Namespace:
    """Enter the folder of -C, where one was given."""
    place = getattr(args, "in_folder", None)
    if place is not None:
        try:
            os.chdir(place)
        except OSError as error:
            raise InvalidArgument(f"-C names '{place}', which is not a folder.", hint="Name a folder.") from error
    return args


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the data as JSON")


def open_project(folder: str, *, drafts: bool = False, report_root: bool = True) -> Project:
    """The project at or above a folder. Without `drafts` it is what the files say, and nothing that is not saved. If
    its folder is not the given one, standard error says so, unless `report_root` is false."""
    project = Project.open(folder, drafts=drafts)
    if report_root and project.config.root != Path(folder).resolve():
        print(f"clew: the project is {project.config.root}", file=sys.stderr)
    return project
