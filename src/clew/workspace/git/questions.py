"""What Clew asks git about a folder. A question is one or two calls of git; a folder without git has plain answers.

No answer depends on how the user set git up: what a setting could change about the output is said with every call.
Paths are spelled like those of the files of a project, and the folders are those of a configuration, globs included.
"""

import os
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import msgspec

from clew.errors import InvalidArgument
from clew.workspace.git import parse
from clew.workspace.git.run import WORK_SECONDS, answer, command
from clew.workspace.paths import display, is_glob, raw

_DIFF = (
    *("--relative", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short", "--find-renames"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--unified=0", "--inter-hunk-context=0"),
)
_BASES = (
    *("refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master"),
    *("refs/heads/main", "refs/heads/master"),
)
"""What may be the branch that others start from, the likeliest first."""

Ranges = dict[str, tuple[tuple[int, int], ...]]


class ChangedLines(msgspec.Struct, frozen=True):
    """Lines of the working tree that differ from a revision, by file, as (first, last) pairs."""

    ranges: Ranges

    def touch(self, path: str, line: int, end_line: int) -> bool:
        return any(first <= end_line and last >= line for first, last in self.ranges.get(path, ()))


WHOLE_FILE = ((1, 2**31),)


def toplevel(root: Path) -> Path | None:
    """The root of the work tree that holds the folder; None without git or outside a work tree."""
    output = answer(root, "rev-parse", "--show-toplevel")
    return Path(os.fsdecode(output).removesuffix("\n")) if output else None


def common_folder(root: Path) -> Path | None:
    """The folder in which git keeps a repository, the same for all its work trees; None without git."""
    output = answer(root, "rev-parse", "--git-common-dir")
    return (root / os.fsdecode(output).removesuffix("\n")).resolve() if output else None


def branches(root: Path, *states: str) -> frozenset[str]:
    """The local branches; with `--merged=HEAD`, only those that are part of the current one."""
    output = answer(root, "for-each-ref", *states, "--format=%(refname:short)", "refs/heads")
    return frozenset(os.fsdecode(output or b"").split())


def branch(root: Path) -> str | None:
    """The current branch; None when detached or without git."""
    output = answer(root, "symbolic-ref", "--quiet", "--short", "HEAD")
    return os.fsdecode(output).strip() or None if output else None


def base_branch(root: Path) -> str | None:
    """The branch that work is measured against: the remote's default where it is known, or else main or master, there
    or here."""
    output = answer(root, "for-each-ref", "--format=%(refname)%09%(symref:short)%09%(refname:short)", *_BASES)
    found: dict[str, str] = {}
    for line in os.fsdecode(output or b"").splitlines():
        name, target, short = line.split("\t")
        found[name] = target or short
    return next((found[name] for name in _BASES if name in found), None)


def uncommitted(root: Path, folders: tuple[str, ...]) -> ChangedLines | None:
    """What differs from the last commit in these folders; None without git."""
    where = _pathspecs(folders)
    if not where:
        return ChangedLines({}) if toplevel(root) else None
    status = answer(root, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--", *where)
    if status is None:
        return None
    entries = parse.names(status)
    if not entries:
        return ChangedLines({})
    prefix = _prefix(root)
    ranges = _whole(entry[3:].removeprefix(prefix) for entry in entries if entry.startswith("??"))
    if any(not entry.startswith("??") for entry in entries):
        diff = answer(root, "diff", "HEAD", *_DIFF, "--", *where)
        # Without a first commit there is no HEAD to compare with: everything added is new.
        added = (entry[3:].removeprefix(prefix) for entry in entries if "A" in entry[:2])
        ranges.update(changed_lines(diff) if diff is not None else _whole(added))
    return ChangedLines(ranges)


def changed_since(root: Path, base: str, folders: tuple[str, ...]) -> ChangedLines | None:
    """What differs from where the branch left `base`, committed or not."""
    where = _pathspecs(folders)
    if not where:
        return ChangedLines({}) if toplevel(root) else None
    diff = _diff_from_fork(root, base, where)
    if diff is None:
        return None
    untracked = answer(root, "ls-files", "--others", "--exclude-standard", "-z", "--", *where)
    return ChangedLines(changed_lines(diff) | _whole(parse.names(untracked)))


def fork_of(root: Path, base: str) -> str | None:
    """The commit at which the branch left `base`; None where the two share none. InvalidArgument for no revision."""
    if base.startswith("-") or answer(root, "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}") is None:
        raise InvalidArgument(
            f"'{base}' is no branch, tag or commit of this repository.", hint="`git branch --all` lists the branches."
        )
    fork = answer(root, "merge-base", base, "HEAD")
    return fork.decode().strip() if fork else None


def head(root: Path) -> str | None:
    """The last commit; None before the first, and without git."""
    output = answer(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    return output.decode().strip() if output else None


def changed_paths(root: Path, commit: str | None, folders: tuple[str, ...]) -> tuple[str, ...]:
    """Files in these folders that are not what they were in a commit: changed, removed or new. None: before any."""
    where = _pathspecs(folders)
    if not where:
        return ()
    others = ("--others", "--exclude-standard") if commit else ("--cached", "--others", "--exclude-standard")
    paths = parse.names(answer(root, "ls-files", *others, "-z", "--", *where))
    if commit:
        names = ("--name-only", "-z", "--no-renames", "--relative")
        paths += parse.names(answer(root, "diff", *names, commit, "--", *where))
    return tuple(sorted(set(map(display, paths))))


def content_at(root: Path, commit: str, path: str) -> bytes | None:
    """What a file held in a commit; None where it was not there."""
    return answer(root, "cat-file", "blob", f"{commit}:{_prefix(root)}{raw(path)}", seconds=WORK_SECONDS)


def contents(root: Path, blobs: Iterable[str]) -> dict[str, bytes]:
    """What blobs hold, by their ids, with one call of git however many there are."""
    ids = list(dict.fromkeys(blobs))
    if not ids:
        return {}
    output = command(root, "cat-file", "--batch", stdin="".join(f"{id}\n" for id in ids).encode())
    return dict(zip(ids, parse.blobs(output), strict=True))


def _diff_from_fork(root: Path, base: str, where: Sequence[str]) -> bytes | None:
    diff = answer(root, "diff", "--merge-base", base, *_DIFF, "--", *where)
    if diff is not None:
        return diff
    # Git before 2.30 does not know the option, and no git takes it where branches were merged crosswise.
    fork = answer(root, "merge-base", base, "HEAD")
    return answer(root, "diff", fork.decode().strip(), *_DIFF, "--", *where) if fork else None


def changed_lines(diff: bytes) -> Ranges:
    """The lines that a zero-context diff touches. A pure deletion is between two lines; it touches the one before."""
    found: dict[str, list[tuple[int, int]]] = {}
    for hunk in parse.hunks(diff):
        found.setdefault(hunk.path, []).append((hunk.first, hunk.first + max(hunk.count, 1) - 1))
    return {path: tuple(ranges) for path, ranges in found.items()}


def _whole(names: Iterable[str]) -> Ranges:
    return {display(name): WHOLE_FILE for name in names}


def _pathspecs(folders: tuple[str, ...]) -> list[str]:
    """The folders as git takes them. What lies outside of the project has no changes of the project's."""
    inside = [folder for folder in folders if not folder.startswith(("/", "../")) and folder != ".."]
    plain = [f":(literal){folder}" for folder in inside]
    return plain + [f":(glob){folder}/**" for folder in inside if is_glob(folder)]


@cache
def _prefix(root: Path) -> str:
    """Where the folder stands in the work tree: status names files from the work tree's root."""
    return os.fsdecode(answer(root, "rev-parse", "--show-prefix") or b"").removesuffix("\n")
