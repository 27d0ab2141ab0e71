"""Finding the work tree around a folder. Clew looks for it itself, because git also takes a folder for a repository
that merely looks like one: a folder that anybody can commit, with a configuration that names programs. And git follows
a `.git` to any repository of the user."""

import stat
from pathlib import Path

import msgspec

from clew.errors import Refused
from clew.grants import Grant, is_granted
from clew.workspace.git.place import Located, leads_to, located, only_line


class WorkTree(msgspec.Struct, frozen=True):
    top: Path
    """The folder that holds `.git`."""
    own: Path
    """The folder in which git keeps what belongs to this work tree."""
    common: Path
    """The folder in which git keeps what all work trees of the repository share."""


def find_work_tree(folder: Path) -> WorkTree | None:
    """The work tree that holds a folder; None outside of any. Refused in a folder that looks like a bare repository,
    and where `.git` leads to a repository that does not name the work tree."""
    tree = located(str(folder))
    if tree is None:
        return None
    if tree.looks_bare:
        raise Refused(
            f"'{tree.top}' looks like a bare git repository, which may name programs; git is not run there.",
            hint="Work in a clone with a work tree, or move the folder out of the project.",
        )
    _refuse_elsewhere(tree)
    return WorkTree(Path(tree.top), Path(tree.own), Path(tree.common))


_OWN_FILES = ("HEAD", "index", "commondir", "config.worktree")
_SHARED_FILES = ("config", "packed-refs", "shallow", "info/exclude", "info/attributes", "info/grafts")
_IN_THE_TREE = (".gitignore", ".gitattributes", ".gitmodules", ".mailmap")


def refuse_endless(tree: WorkTree) -> None:
    """Refused where a file that git reads at once is a device, a pipe or a socket: git would wait for it."""
    for folder, names in ((tree.own, _OWN_FILES), (tree.common, _SHARED_FILES), (tree.top, _IN_THE_TREE)):
        for name in names:
            try:
                # Git follows links in its own folder only.
                mode = (folder / name).stat(follow_symlinks=folder is not tree.top).st_mode
            except OSError:
                continue
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
                raise Refused(
                    f"'{folder / name}' is a device, a pipe or a socket; git would wait for it and is not run there.",
                    hint="Remove it.",
                )


def refuse_elsewhere(folder: Path) -> None:
    """Refused where the `.git` of a folder leads to a repository that does not name the work tree."""
    tree = located(str(folder))
    if tree is not None and not tree.looks_bare:
        _refuse_elsewhere(tree)


def elsewhere_note(folder: Path) -> str | None:
    """The reason why the repository of a folder is not used, if its `.git` leads elsewhere."""
    try:
        refuse_elsewhere(folder)
    except Refused as error:
        return str(error)
    return None


def repository_elsewhere(folder: Path) -> tuple[Path, str] | None:
    """The work tree that holds a folder, and the path to which the grant `repository` is bound; None if no grant is
    needed."""
    tree = located(str(folder))
    places = () if tree is None or tree.looks_bare else leads_to(tree)
    return (Path(tree.top), _bound(places)) if tree is not None and places else None


def is_allowed(tree: Located) -> bool:
    """True if the repository of a work tree may be used: it is its own, or the user gave a grant."""
    places = leads_to(tree)
    return not places or is_granted(Path(tree.top), Grant.REPOSITORY, bound=_bound(places))


def _refuse_elsewhere(tree: Located) -> None:
    if not is_allowed(tree):
        places = "', '".join(leads_to(tree))
        raise Refused(
            f"The .git of '{tree.top}' leads to '{places}', which does not name this folder as its work tree; nothing "
            "of that repository is read or written.",
            hint="If the folder came from somebody else, delete its .git. If the repository is yours: `clew trust "
            "--grant repository`, or `git worktree repair` in a work tree that was moved.",
        )


def _bound(places: tuple[str, ...]) -> str:
    return "\n".join(places)


def work_trees(common: Path) -> list[Path]:
    """The folders of all work trees of a repository that are there now, by what its common folder says."""
    named = [only_line(str(place / "gitdir")) for place in sorted((common / "worktrees").glob("*"))]
    linked = [(common / "worktrees" / name).parent for name in named if name]
    main = [common.parent] if common.name == ".git" else []
    return [tree for tree in (*main, *linked) if tree.is_dir()]
