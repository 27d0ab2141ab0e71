"""Making, finding and listing safety branches.

A safety branch holds the state of the project's folder at one moment, down to the byte: what was committed, staged,
changed and new, except what git ignores. Making one changes nothing but the list of branches: the user's index, files,
HEAD and stash stay as they are. Its second parent, where it has one, is what was staged.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from clew.errors import InvalidArgument, NotFound, Refused, Unavailable
from clew.text.display import shortened
from clew.trace.safety.snapshot import ProjectWorkTree, SavedTree, repository_of, take
from clew.workspace.git import api as git
from clew.workspace.paths import raw

PREFIX = "safety/"
_NAME = re.compile(r"safety/[A-Za-z0-9][A-Za-z0-9._-]{0,150}")
_HEADS = "refs/heads/"
_MARK = "Clew-Safety-Of"
"""Names the commit that the state was built on, or that there was none. No other branch carries it."""
_REASON = "Clew-Reason"
_NOTHING = "nothing"
_FIELDS = ("refname", "objectname", "creatordate:iso8601-strict", "contents")
_LONGEST_REASON = 60
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class SafetyBranch(msgspec.Struct, frozen=True):
    name: str
    reason: str
    """The change that it was made before: the id of a requirement, or a word such as `restore`."""
    created_at: str
    """ISO 8601, in UTC."""
    commit: str
    made_on: str | None
    """The last commit at that time; null before the first."""


def create(root: Path, reason: str, now: datetime, *, also: Iterable[str] = ()) -> SafetyBranch:
    """Save the present state of the project. `also` names files, relative to the project, to include even if git
    ignores them. Refused without git."""
    repository = repository_of(root)
    return keep(repository, take(repository, [repository.prefix + raw(path) for path in also]), reason, now)


def list_all(root: Path) -> tuple[SafetyBranch, ...]:
    """The safety branches that Clew made, latest first; none without git."""
    try:
        repository = repository_of(root)
    except Refused:
        return ()
    found = _branches(repository, f"{_HEADS}{PREFIX}")
    return tuple(sorted(found, key=lambda branch: (branch.created_at, branch.name), reverse=True))


def find(repository: ProjectWorkTree, name: str) -> SafetyBranch:
    """The safety branch of this name. Raises InvalidArgument for an impossible name, NotFound, or Refused for a branch
    that Clew did not make."""
    if not _NAME.fullmatch(name) or ".." in name or name.endswith((".", ".lock")):
        raise InvalidArgument(
            f"{shortened(name)!r} is not the name of a safety branch, which is `safety/` and letters, digits, `.`, "
            "`_`, `-`.",
            hint="list_safety_branches lists them.",
        )
    reference = f"{_HEADS}{name}"
    if not git.command(repository.top, "rev-parse", "--verify", "--quiet", reference, says_no=1):
        raise NotFound(f"There is no branch '{name}'.", hint="list_safety_branches lists what can be restored.")
    found = next((branch for branch in _branches(repository, reference) if branch.name == name), None)
    if found is None:
        raise Refused(
            f"The branch '{name}' was not made by Clew, or something was committed on it since.",
            hint="Use git to bring files back from it; list_safety_branches lists what can be restored.",
        )
    return found


def keep(repository: ProjectWorkTree, snapshot: SavedTree, reason: str, now: datetime) -> SafetyBranch:
    """Store a snapshot as a branch."""
    moment = now.astimezone(UTC)
    slug = re.sub(r"[^A-Za-z0-9_-]+", "-", reason)[:_LONGEST_REASON].strip("-") or "change"
    name = _free_name(repository, f"{PREFIX}{slug}-{moment:%Y%m%d-%H%M%S}")
    on = repository.branch or "no branch"
    title = f"Safety branch before {slug}"
    parents = [repository.head] if repository.head else []
    if snapshot.staged:
        parents.append(_commit(repository, snapshot.staged, parents, f"Staged on {on}: {title.lower()}", moment))
    message = f"{title}\n\nMade by Clew on {on}.\n\n{_REASON}: {slug}\n{_MARK}: {repository.head or _NOTHING}\n"
    commit = _commit(repository, snapshot.tree, parents, message, moment)
    try:
        # The zeros demand that there be no such branch yet.
        git.command(repository.top, "update-ref", f"{_HEADS}{name}", commit, "0" * repository.digits)
    except Unavailable as error:
        raise Refused(
            f"The branch '{name}' cannot be made: {error.message}",
            hint="A branch called 'safety' blocks all others; rename it.",
        ) from error
    return SafetyBranch(name, slug, moment.isoformat(timespec="seconds"), commit, repository.head)


def _commit(repository: ProjectWorkTree, tree: str, parents: Iterable[str], message: str, at: datetime) -> str:
    stamp = f"{int(at.timestamp())} +0000"
    who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _identity(stamp).items()}
    above = [option for parent in parents for option in ("-p", parent)]
    made = git.command(repository.top, "commit-tree", tree, *above, stdin=message.encode(), environment=who)
    return made.decode().strip()


def _identity(stamp: str) -> dict[str, str]:
    return {"NAME": "Clew", "EMAIL": "clew@localhost", "DATE": stamp}


def _free_name(repository: ProjectWorkTree, wanted: str) -> str:
    taken = git.command(repository.top, "for-each-ref", "--format=%(refname)", f"{_HEADS}{PREFIX}").decode()
    names = {line.removeprefix(_HEADS) for line in taken.splitlines()}
    number = 1
    name = wanted
    while name in names:
        number += 1
        name = f"{wanted}-{number}"
    return name


def _branches(repository: ProjectWorkTree, where: str) -> Iterator[SafetyBranch]:
    """The branches that carry Clew's mark."""
    pattern = "".join(f"%({field})%00" for field in _FIELDS)
    answer = git.command(repository.top, "for-each-ref", f"--format={pattern}", where).decode("utf-8", "replace")
    values = answer.split("\0")
    for start in range(0, len(values) - len(_FIELDS), len(_FIELDS)):
        name, commit, created, message = values[start : start + len(_FIELDS)]
        notes = dict(line.split(": ", 1) for line in message.splitlines() if line.startswith("Clew-") and ": " in line)
        # A message is anybody's text; what it calls a commit goes to git as one.
        if _MARK in notes and (notes[_MARK] == _NOTHING or _COMMIT.fullmatch(notes[_MARK])):
            at = datetime.fromisoformat(created).astimezone(UTC).isoformat(timespec="seconds")
            made_on = notes[_MARK]
            yield SafetyBranch(
                name=name.lstrip("\n").removeprefix(_HEADS),
                reason=notes.get(_REASON, ""),
                created_at=at,
                commit=commit,
                made_on=made_on if made_on != _NOTHING else None,
            )
