"""Merging the register of another branch as a whole, from what git has of both.

A register in one file is merged by the driver, which git calls with three versions of that file. One in a folder cannot
be: git merges its files one by one, but a new id, a link and the checksum concern several of them at once. There the
driver only reports a conflict, and this takes all versions of all files from git's own objects.
"""

from collections.abc import Callable

from clew.errors import ClewError, InvalidArgument, Refused
from clew.formats.register.model import Layout, Register
from clew.register.merge import Merged, merge
from clew.register.occasion import Occasion
from clew.register.repository import Repository
from clew.register.revisions import register_at
from clew.register.transaction import RegisterFile

_MERGING = "MERGE_HEAD"
_PICKING = ("CHERRY_PICK_HEAD", "REBASE_HEAD")


def merge_branch(file: RegisterFile, repository: Repository, theirs: str | None, by: Occasion) -> Merged:
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
    done: list[Merged] = []

    def made(present: Callable[[], Register]) -> tuple[Register, bool]:
        ours = register_at(file, repository, head) if merging else present()
        # Without a version that both go back to, everything is new on both sides.
        empty = ours.replaced(requirements={}, hazards={}, safety_functions={}, safety_requirements={})
        done.append(merge(before or empty, ours, further, by))
        merged = done[0].register
        keep = merging and _is_worth_keeping(present, ours, merged)
        if keep and file.layout is Layout.DIRECTORY:
            raise Refused(
                f"{file.place} holds requirements that neither side of the merge has; merging would lose them.",
                hint="Finish the merge with what is there (git add, git commit), or restore the folder first.",
            )
        return merged, keep

    file.replace(made)
    return done[0]


def _is_worth_keeping(present: Callable[[], Register], *known: Register) -> bool:
    """Whether the work tree holds a sound register that is none of these: somebody may have gone on from a conflict."""
    try:
        held = present().requirements
    except ClewError:
        return False
    return all(held != each.requirements for each in known)


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
