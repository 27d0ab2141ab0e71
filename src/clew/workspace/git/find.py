"""Where the work tree around a folder is. Clew looks for it itself, because git also takes a folder for a repository
that merely looks like one: a folder that anybody can commit, with a configuration that names programs.
"""

import os
from pathlib import Path

import msgspec

from clew.errors import Refused


class WorkTree(msgspec.Struct, frozen=True):
    top: Path
    """The folder that holds `.git`."""
    own: Path
    """Where git keeps what belongs to this work tree."""
    common: Path
    """Where git keeps what all work trees of the repository share."""


def find_work_tree(folder: Path) -> WorkTree | None:
    """The work tree that holds a folder; None outside of any. Refused in a folder that looks like a bare repository."""
    start = Path(os.path.realpath(folder))
    for candidate in (start, *start.parents):
        if _looks_bare(candidate):
            raise Refused(
                f"'{candidate}' looks like a bare git repository, which may name programs; git is not run there.",
                hint="Work in a clone with a work tree, or move the folder out of the project.",
            )
        if (own := _own_folder(candidate / ".git")) is not None:
            return WorkTree(candidate, own, own / (_line(own / "commondir") or "."))
    return None


def work_trees(common: Path) -> list[Path]:
    """The folders of all work trees of a repository that are there now, by what its common folder says."""
    named = [_line(place / "gitdir") for place in sorted((common / "worktrees").glob("*"))]
    linked = [(common / "worktrees" / name).parent for name in named if name]
    main = [common.parent] if common.name == ".git" else []
    return [tree for tree in (*main, *linked) if tree.is_dir()]


def _looks_bare(folder: Path) -> bool:
    """What git recognises a repository by. In a folder called `.git` it is the repository of the folder above."""
    if folder.name == ".git" or not os.path.lexists(folder / "HEAD"):
        return False
    own = (folder / "objects").exists() and (folder / "refs").exists()
    return own or (folder / "commondir").exists()


def _own_folder(place: Path) -> Path | None:
    """What `.git` is or, as a file, names."""
    if place.is_dir():
        return place if os.path.lexists(place / "HEAD") else None
    named = _line(place)
    return place.parent / named.removeprefix("gitdir:").strip() if named and named.startswith("gitdir:") else None


def _line(file: Path) -> str | None:
    try:
        return os.fsdecode(file.read_bytes()).removesuffix("\n") if file.is_file() else None
    except OSError:
        return None
