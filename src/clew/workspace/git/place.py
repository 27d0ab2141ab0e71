"""Location of a work tree's repository, and the check that the repository names the work tree.

A `.git` may be a file or a link that leads elsewhere, and a `commondir` in it leads on. In a folder that somebody else
packed, either can name any repository of the user. A work tree that git made is named from the other side: by `gitdir`
in the repository's `worktrees`, or by `core.worktree` of a submodule.

A hook looks here with every prompt, so that little is imported.
"""

# Implements: REQ-d00636

import os

from clew.workspace.regular import beginning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LARGEST = 1 << 20
_LINKABLE = ("HEAD", "packed-refs", "refs", "objects", "objects/pack", "logs", "logs/HEAD", "logs/refs", "clew")
"""Parts of a repository that show the content of another one if they are links to it. So does anything in `refs`."""


class Located:
    """A work tree at or above a folder, and its repository."""

    __slots__ = ("common", "looks_bare", "own", "top")

    def __init__(self, top: str, own: str = "", common: str = "", *, looks_bare: bool = False) -> None:
        self.top = top
        """The folder that holds `.git`."""
        self.own = own
        """The folder in which git keeps what belongs to this work tree."""
        self.common = common
        """The folder in which git keeps what all work trees of the repository share."""
        self.looks_bare = looks_bare
        """True if the folder itself looks like a bare repository; then nothing else is known."""


def located(folder: str) -> Located | None:
    """The work tree that holds a folder; None outside of any."""
    return located_at(os.path.realpath(folder))


def located_at(top: str) -> Located | None:
    """The same for a path without links."""
    while True:
        if _looks_bare(top):
            return Located(top, looks_bare=True)
        own = _own_folder(os.path.join(top, ".git"))
        if own is not None:
            return Located(top, own, os.path.join(own, only_line(os.path.join(own, "commondir")) or "."))
        above = os.path.dirname(top)
        if above == top:
            return None
        top = above


def leads_to(tree: Located) -> tuple[str, ...]:
    """The places outside of the work tree to which its `.git` leads although they do not name it; none for a repository
    in its own folder, a linked work tree and a submodule."""
    own, common = os.path.realpath(tree.own), os.path.realpath(tree.common)
    found = [place for place in (own, common) if not _is_inside(place, tree.top) and os.path.exists(place)]
    if found and (_is_linked_tree(tree.top, own, common) or (own == common and _names(own, tree.top))):
        found = []
    for link in (*_links(common), *(_links(own) if own != common else ())):
        place = os.path.realpath(link)
        if not any(_is_inside(place, each) for each in (tree.top, own, common)):
            found.append(place)
    return tuple(sorted(set(found)))


def _is_linked_tree(top: str, own: str, common: str) -> bool:
    """True if the repository names this folder as one of its work trees."""
    if os.path.dirname(own) != os.path.join(common, "worktrees"):
        return False
    named = only_line(os.path.join(own, "gitdir"))
    return bool(named) and _is_same(os.path.join(own, named or ""), os.path.join(top, ".git"))


def _is_same(one: str, other: str) -> bool:
    """True if two paths are one, without following their last part: that may be the link that leads elsewhere."""
    first, second = (
        os.path.join(os.path.realpath(os.path.dirname(each)), os.path.basename(each)) for each in (one, other)
    )
    return os.path.normcase(first) == os.path.normcase(second)


def _names(own: str, top: str) -> bool:
    """True if `core.worktree` of a repository is this folder."""
    return any(
        os.path.realpath(os.path.join(own, value)) == top
        for name in ("config", "config.worktree")
        for value in _work_trees_in(os.path.join(own, name))
    )


def _work_trees_in(config: str) -> "Iterator[str]":
    is_core = False
    for line in _lines(config):
        stripped = line.strip()
        if stripped.startswith("["):
            section, _, stripped = stripped[1:].partition("]")
            is_core = section.strip().lower() == "core"
        key, equals, value = stripped.partition("=")
        if is_core and equals and key.strip().lower() == "worktree":
            yield _unquoted(value.strip())


def _unquoted(value: str) -> str:
    """A value of git's configuration without quotes and escapes."""
    text, is_quoted, rest = "", False, iter(value)
    for sign in rest:
        if sign == "\\":
            text += next(rest, "")
        elif sign == '"':
            is_quoted = not is_quoted
        elif sign in "#;" and not is_quoted:
            break
        else:
            text += sign
    return text


def _links(folder: str) -> "Iterator[str]":
    """Links in a repository that lead to contents of another one."""
    for name in _LINKABLE:
        path = os.path.join(folder, name)
        if os.path.islink(path):
            yield path
    yield from _links_below(os.path.join(folder, "refs"))


def _links_below(folder: str) -> "Iterator[str]":
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_symlink():
                    yield entry.path
                elif entry.is_dir(follow_symlinks=False):
                    yield from _links_below(entry.path)
    except OSError:
        return


def _is_inside(place: str, folder: str) -> bool:
    return place == folder or place.startswith(folder.rstrip(os.sep) + os.sep)


def _looks_bare(folder: str) -> bool:
    """True if git would take the folder for a repository. A folder called `.git` is the repository of the folder above
    it."""
    if os.path.basename(folder) == ".git" or not os.path.lexists(os.path.join(folder, "HEAD")):
        return False
    if os.path.exists(os.path.join(folder, "objects")) and os.path.exists(os.path.join(folder, "refs")):
        return True
    return os.path.exists(os.path.join(folder, "commondir"))


def _own_folder(place: str) -> str | None:
    """The folder that `.git` is or, as a file, names."""
    if os.path.isdir(place):
        return place if os.path.lexists(os.path.join(place, "HEAD")) else None
    named = only_line(place)
    if not named or not named.startswith("gitdir:"):
        return None
    return os.path.join(os.path.dirname(place), named.removeprefix("gitdir:").strip())


def only_line(path: str) -> str | None:
    """The text of a small file; None if it is empty or cannot be read."""
    return "\n".join(_lines(path)) or None


def _lines(path: str) -> list[str]:
    """The lines of a small file; none if it cannot be read."""
    try:
        if not os.path.isfile(path):
            return []
        return os.fsdecode(beginning(path, _LARGEST)).removesuffix("\n").split("\n")
    except OSError:
        return []
