"""Opening a project for a command, and the options that most commands have."""

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from clew.errors import InvalidArgument, Refused
from clew.project import Project
from clew.surfaces.cli.groups import GroupOption
from clew.text.terminal import errors
from clew.trust import Grant, give
from clew.workspace.root import admitted


class Here(str):
    """The folder in which a command was started, as a default that nobody named."""

    __slots__ = ()


HERE = Here(".")


def add_folder(parser: argparse.ArgumentParser, *, positional: bool = True) -> None:
    if positional:
        parser.add_argument("folder", nargs="?", default=HERE, help="the project's folder (default: this one)")
        add_place(parser)
    else:
        parser.add_argument(
            "-C", "--folder", default=HERE, metavar="FOLDER", help="the project's folder (default: this one)"
        )


def add_place(parser: argparse.ArgumentParser) -> None:
    """The option -C, for a command that takes its folder in another way, or none."""
    parser.add_argument("-C", dest="in_folder", metavar="FOLDER", help="do it in this folder (default: this one)")


def go_to_place(args: argparse.Namespace, *, is_named: bool = False) -> argparse.Namespace:
    """Enter the folder of -C, if there is one. That folder, and with `is_named` the current one, counts as named by the
    user."""
    place = getattr(args, "in_folder", None)
    if place is not None:
        try:
            os.chdir(place)
        except OSError as error:
            raise InvalidArgument(f"-C names '{place}', which is not a folder.", hint="Name a folder.") from error
    if (is_named or place is not None) and isinstance(getattr(args, "folder", None), Here):
        args.folder = "."
    return args


def admit(args: argparse.Namespace, *, makes: bool = False, names: Sequence[GroupOption] = ()) -> None:
    """Refused where a command was started outside of any project and no folder was named, and for a folder that nobody
    confirmed; on a terminal, this asks. `makes` says that the command makes a project, `names` which options of its
    group name a file."""
    folder = getattr(args, "folder", None)
    if folder is None:
        return
    is_named = makes or not isinstance(folder, Here) or _names_a_file(args, names)
    try:
        admitted(Path(folder), named=is_named)
    except Refused as error:
        if "unconfirmed" not in error.data or not _confirms(error):
            raise


def _names_a_file(args: argparse.Namespace, names: Sequence[GroupOption]) -> bool:
    return bool(names) and any(
        getattr(args, each.name, None) or os.environ.get(f"REQ_{each.name.upper()}") for each in names
    )


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def _confirms(error: Refused) -> bool:
    """Ask a person at the terminal to confirm a folder; True if confirmed. The answer is kept as a grant."""
    if not _is_terminal():
        return False
    sys.stderr.write(f"{error.message}\nRead it? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        return False
    give(Path(error.data["unconfirmed"]), Grant.FOLDER, datetime.now(UTC))
    return True


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the data as JSON")


def open_project(folder: str, *, drafts: bool = False, report_root: bool = True) -> Project:
    """The project at or above a folder. Without `drafts` it shows only what is saved in files. If its folder is not the
    given one, standard error says so, unless `report_root` is false."""
    project = Project.open(folder, drafts=drafts)
    if report_root:
        tell_root(project, folder)
    return project


def tell_root(project: Project, folder: str) -> None:
    """Say where the project is, if that is not the folder that was given."""
    if project.config.root != Path(folder).resolve():
        print(f"clew: the project is {project.config.root}", file=errors())
