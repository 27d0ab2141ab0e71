"""Merging the register of another branch as a whole, from what git has of both.

A register in one file is merged by the driver, which git calls with three versions of that file. One in a folder cannot
be: git merges its files one by one, but a new id, a link and the checksum concern several of them at once. There the
driver only reports a conflict, and this takes all versions of all files from git's own objects.
"""

import os
from collections.abc import Mapping

import msgspec

from clew.errors import ClewError, InvalidArgument
from clew.formats.register.model import Register
from clew.register.change.draft import Author
from clew.register.change.transaction import LockedRegister, RegisterFile
from clew.register.git.merge import Merged, merge
from clew.register.git.repository import Repository
from clew.register.git.revisions import register_at

_MERGING = "MERGE_HEAD"
_PICKING = ("CHERRY_PICK_HEAD", "REBASE_HEAD")
_REBASED = "ORIG_HEAD"
"""In the middle of a rebase, the end of the branch as it was."""
_NAMED = "GITHEAD_"
"""Begins the variables in which `git merge` names the commits that it merges."""


def merge_branch(file: RegisterFile, repository: Repository, theirs: str | None, by: Author) -> Merged:
    """Merge a revision, or what git is in the middle of merging, into the register of HEAD, and write it."""
    head = repository.head()
    if head is None:
        raise InvalidArgument("There is no commit to merge into.", hint="Commit first.")
    other, base = _sides(repository, head, theirs)
    # In the middle of a merge the work tree holds no side of it; otherwise it may hold what nobody committed yet.
    merging = any(repository.commit_of(name) is not None for name in (_MERGING, *_PICKING))
    try:
        before = register_at(file, repository, base) if base else None
    except ClewError:
        before = None
    further = register_at(file, repository, other)
    with file.held() as held:
        ours = register_at(file, repository, head) if merging else held.read()
        # Without a version that both go back to, everything is new on both sides.
        empty = msgspec.structs.replace(ours, requirements={}, hazards={}, safety_functions={}, safety_requirements={})
        merged = merge(before or empty, ours, further, by)
        kept = held.keep() if merging and _is_worth_keeping(held, ours, merged.register) else None
        held.write(merged.register)
    return msgspec.structs.replace(merged, kept=kept, other=other)


def side_of(
    repository: Repository, version: bytes, path: str, environment: Mapping[str, str] = os.environ
) -> str | None:
    """The commit of the side that a version of a file comes from. git gives a driver nothing but the version, so this
    looks at every commit that may be meant, and where none is named elsewhere, for one that brought the version."""
    blob = repository.blob_of(version)
    named = (name.removeprefix(_NAMED) for name in environment if name.startswith(_NAMED))
    for name in (*named, _MERGING, _REBASED, *_PICKING):
        commit = repository.commit_of(name)
        if commit is not None and repository.blob_at(commit, path) == blob:
            return commit
    return next(
        (each for each in repository.commits_around(blob, path) if repository.blob_at(each, path) == blob), None
    )


def _is_worth_keeping(held: LockedRegister, *known: Register) -> bool:
    """Whether the work tree holds a sound register that is none of these: somebody may have gone on from a conflict."""
    try:
        present = held.read().requirements
    except ClewError:
        return False
    return all(present != each.requirements for each in known)


def _sides(repository: Repository, head: str, theirs: str | None) -> tuple[str, str | None]:
    """The commit of the other side, and the one that both go back to."""
    for name in _PICKING if theirs is None else ():
        picked = repository.commit_of(name)
        if picked is not None:
            return picked, repository.commit_of(f"{name}~1")
    other = repository.revision(theirs) if theirs is not None else repository.commit_of(_MERGING)
    if other is None:
        raise InvalidArgument("git is not in the middle of a merge.", hint="Name the branch: clew req merge BRANCH.")
    return other, repository.common(head, other)
