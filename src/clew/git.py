"""What Clew asks git. Every question is one call of the git command, and a folder without git has plain answers."""

import re
import subprocess
from functools import cache
from pathlib import Path

import msgspec

_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_TIMEOUT_SECONDS = 20


class ChangedLines(msgspec.Struct, frozen=True):
    """Lines of the working tree that differ from a revision, by file, as (first, last) pairs."""

    ranges: dict[str, tuple[tuple[int, int], ...]]

    def touch(self, path: str, line: int, end_line: int) -> bool:
        return any(first <= end_line and last >= line for first, last in self.ranges.get(path, ()))


WHOLE_FILE = ((1, 2**31),)


def toplevel(root: Path) -> Path | None:
    """The root of the work tree that holds the folder; None without git or outside a work tree."""
    output = _git(root, "rev-parse", "--show-toplevel")
    return Path(output.strip()) if output else None


def branch(root: Path) -> str | None:
    """The current branch; None when detached or without git."""
    output = _git(root, "symbolic-ref", "--quiet", "--short", "HEAD")
    return output.strip() or None if output else None


def base_branch(root: Path) -> str | None:
    """The branch that work is measured against: the remote's default, or main or master where one exists."""
    output = _git(
        root,
        "for-each-ref",
        "--format=%(refname:short)",
        "refs/remotes/origin/HEAD",
        "refs/heads/main",
        "refs/heads/master",
    )
    names = output.split() if output else []
    return names[0] if names else None


def uncommitted(root: Path, folders: tuple[str, ...]) -> ChangedLines | None:
    """What differs from the last commit in these folders; None without git."""
    status = _git(root, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--", *folders)
    if status is None:
        return None
    entries = [entry for entry in status.split("\0") if entry]
    if not entries:
        return ChangedLines({})
    ranges: dict[str, tuple[tuple[int, int], ...]] = {}
    prefix = _prefix(root)
    for entry in entries:
        if entry.startswith("??"):
            ranges[entry[3:].removeprefix(prefix)] = WHOLE_FILE
    if any(not entry.startswith("??") for entry in entries):
        diff = _git(root, "diff", "HEAD", "--relative", "--no-color", "--no-ext-diff", "-U0", "--", *folders)
        # Without a first commit there is no HEAD to compare with: everything added is new.
        ranges.update(parse_hunks(diff) if diff is not None else _added(entries, prefix))
    return ChangedLines(ranges)


def changed_since(root: Path, base: str, folders: tuple[str, ...]) -> ChangedLines | None:
    """What differs from where the branch left `base`, committed or not."""
    options = ("--relative", "--no-color", "--no-ext-diff", "-U0")
    diff = _git(root, "diff", "--merge-base", base, *options, "--", *folders)
    return ChangedLines(parse_hunks(diff)) if diff is not None else None


def parse_hunks(diff: str) -> dict[str, tuple[tuple[int, int], ...]]:
    """The new side of a zero-context diff."""
    found: dict[str, list[tuple[int, int]]] = {}
    path = ""
    for line in diff.split("\n"):
        if line.startswith("+++ "):
            path = line[4:].rstrip("\t").removeprefix("b/")
        elif (hunk := _HUNK.match(line)) is not None:
            first, count = int(hunk[1]), int(hunk[2] or 1)
            # A pure deletion stands between two lines; it touches what surrounds it.
            found.setdefault(path, []).append((first, first + max(count, 1) - 1))
    return {path: tuple(ranges) for path, ranges in found.items() if path != "/dev/null"}


def _added(entries: list[str], prefix: str) -> dict[str, tuple[tuple[int, int], ...]]:
    return {entry[3:].removeprefix(prefix): WHOLE_FILE for entry in entries if entry[0] == "A"}


@cache
def _prefix(root: Path) -> str:
    """Where the folder stands in the work tree: status names files from the work tree's root."""
    return (_git(root, "rev-parse", "--show-prefix") or "").strip()


def _git(root: Path, *arguments: str) -> str | None:
    """Standard output of a git command; None where git is absent or refuses."""
    try:
        done = subprocess.run(
            # Without optional locks: a question must never stand in the way of the user's own git commands.
            ["git", "--no-optional-locks", "-c", "core.quotepath=off", *arguments],
            cwd=root,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=_TIMEOUT_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
