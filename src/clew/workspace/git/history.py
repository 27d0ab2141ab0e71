"""History from git: commits with the paths they touched, and the commit of each line."""

# Implements: REQ-d00361

import os
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from clew.errors import Refused, Unavailable
from clew.text.hashing import content_hash
from clew.workspace.git import parse
from clew.workspace.git.find import find_work_tree
from clew.workspace.git.objects import objects
from clew.workspace.git.run import QUESTION_SECONDS, WORK_SECONDS, answer, command, run
from clew.workspace.paths import display, raw
from clew.workspace.regular import ANY_BYTES, contents

NOT_COMMITTED = "0" * 40
"""Stands for the commit of a line that is in no commit yet."""
LONGEST_MESSAGE = 8_000
_MOST_RENAMED = 400
"""Git compares at most so many new files with removed ones to find renames with changes."""
_MOST_MERGES = 6
"""Merges behind a commit that are looked at: the one that brought it in is among the first."""
_UPDATES = re.compile(r"Merge (?:remote-tracking )?branch(?:es)? '(?:[\w-]+/)?(?:main|master|trunk|develop)'")
"""Subjects of merges that brought a branch up to date."""
_HEADER = re.compile(rb"([0-9a-f]{40,64}) (\d+) (\d+)(?: \d+)?")


class PathChange(msgspec.Struct, frozen=True, gc=False):
    status: str
    """A, M, D, R, C or T, as git has it."""
    path: str
    old: str | None = None
    """The former path of a file that was renamed or copied."""


class CommitRecord(msgspec.Struct, frozen=True, gc=False):
    id: str
    parents: tuple[str, ...]
    time: int
    """When it was committed, in seconds since 1970."""
    author: str
    """By `.mailmap`, as is the address."""
    email: str
    message: str
    changes: tuple[PathChange, ...] = ()
    """Of a merge, those that none of its parents has."""


class BlamedLine(msgspec.Struct, frozen=True, gc=False, array_like=True):
    line: int
    commit: str
    """`NOT_COMMITTED` for a line that is not committed yet."""
    path: str
    """The path of the file in that commit."""
    is_boundary: bool = False
    """True if the history that is here begins with that commit, so that an earlier one may have made the line."""
    origin: int = 0
    """The number of the line in that commit."""


def commit_ids(root: Path, head: str, without: Iterable[str] = (), *, seconds: float = WORK_SECONDS) -> list[str]:
    """The commits up to `head`, children before their parents, without those up to `without`. Unavailable if git cannot
    tell."""
    excluded = [f"^{commit}" for commit in without]
    result = run(root, "rev-list", "--topo-order", head, *excluded, seconds=seconds)
    if result.code:
        raise Unavailable(f"git rev-list failed: {result.message}.", hint="Repair the repository first.")
    return result.output.decode().split()


def newest_ids(root: Path, head: str, limit: int) -> list[str]:
    """Some of the newest commits up to `head`, found without reading the others."""
    result = run(root, "rev-list", f"--max-count={limit}", head)
    return result.output.decode().split() if result.code == 0 else []


def commits(root: Path, ids: Sequence[str], *, compares: bool = True) -> list[CommitRecord]:
    """These commits with their messages and paths, as seen from the folder. With `compares`, files that were renamed
    and changed at once are found as well, which needs their contents."""
    token = secrets.token_hex(16)
    fields = "%x00".join((token, "%H", "%P", "%ct", "%aN", "%aE", "%B"))
    renames = ("--find-renames", f"-l{_MOST_RENAMED}") if compares else ("--find-renames=100%",)
    result = run(
        root,
        *("log", "--stdin", "--no-walk=unsorted", "-z", "--name-status", "--relative"),
        *("--diff-merges=combined", "--combined-all-paths"),
        *(*renames, f"--format={fields}"),
        stdin="".join(f"{id}\n" for id in ids).encode(),
    )
    if result.code:
        raise Unavailable(f"git log failed: {result.message}.", hint="Repair the repository first.")
    return list(_records(result.output, token))


def _records(output: bytes, token: str) -> Iterator[CommitRecord]:
    for block in output.split(token.encode() + b"\0")[1:]:
        fields = block.split(b"\0")
        id, parents, time, author, email, message = fields[:6]
        yield CommitRecord(
            id=id.decode(),
            parents=tuple(parents.decode().split()),
            time=int(time or 0),
            author=_text(author),
            email=_text(email),
            message=_text(message)[:LONGEST_MESSAGE].strip(),
            changes=tuple(_changes(fields[6:])),
        )


def _changes(fields: Sequence[bytes]) -> Iterator[PathChange]:
    place = 0
    while place < len(fields) - 1:
        letters = fields[place].strip(b"\n0123456789").decode("ascii", "replace")
        if len(letters) > 1:
            # A merge that is like none of its parents: what the file was called in each of them comes first.
            names = [_path(name) for name in fields[place + 1 : place + 2 + len(letters)]]
            path = names[-1] if names else ""
            old = next((name for letter, name in zip(letters, names, strict=False) if letter == "R"), None)
            yield PathChange("R" if old else "A" if set(letters) == {"A"} else "M", path, old)
            place += 2 + len(letters)
        elif letters in ("R", "C"):
            yield PathChange(letters, _path(fields[place + 2]), _path(fields[place + 1]))
            place += 3
        elif letters:
            yield PathChange(letters, _path(fields[place + 1]))
            place += 2
        else:
            place += 1


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\0", "\ufffd")


def _path(data: bytes) -> str:
    return display(os.fsdecode(data))


def renaming(root: Path) -> str:
    """Identifies the content of `.mailmap` and the replacements of commits: another text whenever one of them changed.
    Read without git, because every question asks for it."""
    tree = find_work_tree(root)
    if tree is None:
        return ""
    packed = [line for line in _content(tree.common / "packed-refs").splitlines() if b" refs/replace/" in line]
    with suppress(OSError):
        packed += [
            each.name.encode() + b" " + _content(each) for each in sorted((tree.common / "refs" / "replace").iterdir())
        ]
    mail = _content(tree.top / ".mailmap")
    # What a shallow clone begins with changes when it is deepened, though HEAD does not.
    cut = _content(tree.common / "shallow")
    return content_hash(b"\n".join((mail, *packed, *((cut,) if cut else ())))) if mail or packed or cut else ""


def _content(file: Path) -> bytes:
    try:
        return contents(file, ANY_BYTES)
    except OSError:
        return b""


def is_shallow(root: Path) -> bool:
    """True if the clone holds only the latest part of the history."""
    with suppress(Refused):
        tree = find_work_tree(root)
        return tree is not None and (tree.common / "shallow").is_file()
    return False


def is_partial(root: Path) -> bool:
    """True if the clone left contents out, to be fetched when they are needed. Clew fetches nothing."""
    return bool((answer(root, "config", "--get-regexp", r"^remote\..*\.promisor$") or b"").strip())


def resolved_commits(root: Path, names: Iterable[str], *, seconds: float = QUESTION_SECONDS) -> dict[str, str]:
    """The full ids of those names, such as beginnings of ids, that mean a commit here. Unavailable where git cannot
    tell."""
    asked = list(dict.fromkeys(names))
    if not asked:
        return {}
    output = command(
        root, "cat-file", "--batch-check", stdin="".join(f"{name}\n" for name in asked).encode(), seconds=seconds
    )
    rows = (row.split() for row in output.decode("utf-8", "replace").splitlines())
    return {name: row[0] for name, row in zip(asked, rows, strict=False) if len(row) == 3 and row[1] == "commit"}


def blame(
    root: Path,
    path: str,
    ranges: Sequence[tuple[int, int]],
    *,
    without_spaces: bool = False,
    ignored: Iterable[str] = (),
    moved: bool = False,
    revision: str | None = None,
    seconds: float = WORK_SECONDS,
) -> tuple[BlamedLine, ...] | None:
    """The last commit of each line in these ranges of the file in the folder; None if git does not know the file.
    `without_spaces` skips changes of white space alone, and `ignored` the named commits. With `moved`, lines that were
    moved or copied belong to the commit that first wrote them. With `revision`, the file is that of a commit.
    Unavailable if it takes too long."""
    options = ["--porcelain", *(f"-L{first},{last}" for first, last in ranges)]
    options += ["-w"] if without_spaces else []
    options += [f"--ignore-rev={commit}" for commit in ignored]
    options += ["-M", "-C", "-C"] if moved else []
    options += [revision] if revision is not None else []
    try:
        result = run(root, "blame", *options, "--", raw(path), seconds=seconds)
    except Refused:
        return None
    return tuple(_blamed(result.output)) if result.code == 0 else None


def _blamed(output: bytes) -> Iterator[BlamedLine]:
    names: dict[str, str] = {}
    boundaries: set[str] = set()
    commit, line, origin = "", 0, 0
    for row in output.split(b"\n"):
        if row.startswith(b"\t"):
            yield BlamedLine(line, commit, names.get(commit, ""), commit in boundaries, origin)
        elif header := _HEADER.fullmatch(row):
            commit, origin, line = header[1].decode(), int(header[2]), int(header[3])
        elif row.startswith(b"filename "):
            names[commit] = parse.unquoted(os.fsdecode(row[9:]))
        elif row == b"boundary":
            boundaries.add(commit)


def parents_of(root: Path, commit: str, *, seconds: float = QUESTION_SECONDS) -> tuple[str, ...]:
    """The parents of a commit; empty for the first one. Unavailable where git cannot tell."""
    return tuple(command(root, "rev-list", "--parents", "--max-count=1", commit, seconds=seconds).decode().split()[1:])


def ancestor(root: Path, revision: str, *, seconds: float = QUESTION_SECONDS) -> str | None:
    """The full id of a commit that leads to HEAD; None for any other. Unavailable where git cannot tell."""
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    found = run(root, *words, seconds=seconds)
    id = found.output.decode().strip()
    if found.code or not id:
        return None
    leads = run(root, "merge-base", "--is-ancestor", id, "HEAD", seconds=seconds)
    if leads.code not in (0, 1):
        raise Unavailable(f"git merge-base failed: {leads.message}.", hint="Repair the repository first.")
    return id if leads.code == 0 else None


def newest_of(root: Path, ids: Sequence[str], *, seconds: float = QUESTION_SECONDS) -> tuple[str, ...]:
    """Those of the commits that lead to no other one of them. Unavailable where git cannot tell."""
    return tuple(command(root, "merge-base", "--independent", *ids, seconds=seconds).decode().split())


def paths_between(root: Path, before: str, after: str, *, seconds: float = WORK_SECONDS) -> tuple[str, ...]:
    """The files that differ between two commits. Unavailable where git cannot tell."""
    return tuple(parse.names(command(root, "diff", "--name-only", "-z", before, after, seconds=seconds)))


def commits_between(
    root: Path, first: str | None, last: str, path: str | None, limit: int, *, seconds: float = QUESTION_SECONDS
) -> tuple[str, ...]:
    """The newest commits that lead to `last` and not to `first` and touch the folder; only those that touch a file or
    folder in it, where one is named. Unavailable where git cannot tell."""
    excluded = (f"^{first}",) if first is not None else ()
    words = ("rev-list", "--no-merges", f"--max-count={limit}", last, *excluded, "--", raw(path or "."))
    return tuple(command(root, *words, seconds=seconds).decode().split())


def merge_of(root: Path, commit: str, *, seconds: float = QUESTION_SECONDS) -> str | None:
    """The merge that brought a commit, on a branch of its own, into another branch; None if it was made where it is.
    Unavailable where git cannot tell."""
    words = ("log", "--ancestry-path", "--merges", "--reverse", "--format=%H %P %x00%s", f"{commit}..HEAD")
    merges = command(root, *words, seconds=seconds).decode("utf-8", "replace").splitlines()
    looked_at = 0
    for row in merges:
        ids, _, subject = row.partition("\0")
        if looked_at == _MOST_MERGES or _UPDATES.match(subject):
            continue
        looked_at += 1
        first = ids.split()[1]
        is_before = run(root, "merge-base", "--is-ancestor", commit, first, seconds=seconds)
        if is_before.code not in (0, 1):
            raise Unavailable(f"git merge-base failed: {is_before.message}.", hint="Repair the repository first.")
        if is_before.code == 1:
            return ids.split()[0]
    return None


def contents_at(root: Path, places: Sequence[tuple[str, str]], *, seconds: float = WORK_SECONDS) -> list[bytes | None]:
    """Contents of files in commits, by pairs of commit and path; None for one that was not there or is not in this
    clone. Unavailable where git fails or takes too long."""
    return objects(root, [f"{commit}:./{raw(path)}" for commit, path in places], seconds=seconds)
