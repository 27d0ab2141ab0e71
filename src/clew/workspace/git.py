"""What Clew asks git. A question is one or two calls of the git command, and a folder without git has plain answers.

No answer depends on how the user set git up: what a setting could change about the output is said with every call.
Paths are spelled like those of the files of a project, and the folders are those of a configuration, globs included.
Work that git has to do, or else has to say why not, goes through `command`.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from clew.errors import InvalidArgument, Unavailable
from clew.workspace.paths import display, is_glob, raw

_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_DIFF = (
    *("--relative", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short", "--find-renames"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--unified=0", "--inter-hunk-context=0"),
)
_BASES = (
    *("refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master"),
    *("refs/heads/main", "refs/heads/master"),
)
"""What may be the branch that others start from, the likeliest first."""
_TIMEOUT_SECONDS = 20
_WORK_SECONDS = 120
_PLACES = frozenset(
    {
        *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_NAMESPACE"),
        *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_LITERAL_PATHSPECS"),
    }
)
"""Variables by which a hook tells git where it is; work is done where the project is."""

Ranges = dict[str, tuple[tuple[int, int], ...]]


class ChangedLines(msgspec.Struct, frozen=True):
    """Lines of the working tree that differ from a revision, by file, as (first, last) pairs."""

    ranges: Ranges

    def touch(self, path: str, line: int, end_line: int) -> bool:
        return any(first <= end_line and last >= line for first, last in self.ranges.get(path, ()))


WHOLE_FILE = ((1, 2**31),)


def toplevel(root: Path) -> Path | None:
    """The root of the work tree that holds the folder; None without git or outside a work tree."""
    output = _git(root, "rev-parse", "--show-toplevel")
    return Path(output.removesuffix("\n")) if output else None


def branch(root: Path) -> str | None:
    """The current branch; None when detached or without git."""
    output = _git(root, "symbolic-ref", "--quiet", "--short", "HEAD")
    return output.strip() or None if output else None


def base_branch(root: Path) -> str | None:
    """The branch that work is measured against: the remote's default where it is known, or else main or master, there
    or here."""
    output = _git(root, "for-each-ref", "--format=%(refname)%09%(symref:short)%09%(refname:short)", *_BASES)
    found: dict[str, str] = {}
    for line in (output or "").splitlines():
        name, target, short = line.split("\t")
        found[name] = target or short
    return next((found[name] for name in _BASES if name in found), None)


def uncommitted(root: Path, folders: tuple[str, ...]) -> ChangedLines | None:
    """What differs from the last commit in these folders; None without git."""
    where = _pathspecs(folders)
    if not where:
        return ChangedLines({}) if toplevel(root) else None
    status = _git(root, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--", *where)
    if status is None:
        return None
    entries = [entry for entry in status.split("\0") if entry]
    if not entries:
        return ChangedLines({})
    prefix = _prefix(root)
    ranges = _whole(entry[3:].removeprefix(prefix) for entry in entries if entry.startswith("??"))
    if any(not entry.startswith("??") for entry in entries):
        diff = _git(root, "diff", "HEAD", *_DIFF, "--", *where)
        # Without a first commit there is no HEAD to compare with: everything added is new.
        added = (entry[3:].removeprefix(prefix) for entry in entries if "A" in entry[:2])
        ranges.update(parse_hunks(diff) if diff is not None else _whole(added))
    return ChangedLines(ranges)


def changed_since(root: Path, base: str, folders: tuple[str, ...]) -> ChangedLines | None:
    """What differs from where the branch left `base`, committed or not."""
    where = _pathspecs(folders)
    if not where:
        return ChangedLines({}) if toplevel(root) else None
    diff = _diff_from_fork(root, base, where)
    if diff is None:
        return None
    untracked = _git(root, "ls-files", "--others", "--exclude-standard", "-z", "--", *where) or ""
    return ChangedLines(parse_hunks(diff) | _whole(path for path in untracked.split("\0") if path))


def fork_of(root: Path, base: str) -> str | None:
    """The commit at which the branch left `base`; None where the two share none. InvalidArgument for no revision."""
    if base.startswith("-") or _git(root, "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}") is None:
        raise InvalidArgument(
            f"'{base}' is no branch, tag or commit of this repository.", hint="`git branch --all` lists the branches."
        )
    fork = _git(root, "merge-base", base, "HEAD")
    return fork.strip() if fork else None


def head(root: Path) -> str | None:
    """The last commit; None before the first, and without git."""
    output = _git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    return output.strip() if output else None


def changed_paths(root: Path, commit: str | None, folders: tuple[str, ...]) -> tuple[str, ...]:
    """Files in these folders that are not what they were in a commit: changed, removed or new. None: before any."""
    where = _pathspecs(folders)
    if not where:
        return ()
    others = ("--others", "--exclude-standard") if commit else ("--cached", "--others", "--exclude-standard")
    output = _git(root, "ls-files", *others, "-z", "--", *where) or ""
    if commit:
        output += _git(root, "diff", "--name-only", "-z", "--no-renames", "--relative", commit, "--", *where) or ""
    return tuple(sorted({display(path) for path in output.split("\0") if path}))


def content_at(root: Path, commit: str, path: str) -> bytes | None:
    """What a file held in a commit; None where it was not there."""
    try:
        return command(root, "cat-file", "blob", f"{commit}:{_prefix(root)}{raw(path)}")
    except Unavailable:
        return None


def command(
    root: Path, *arguments: str, stdin: bytes = b"", environment: Mapping[str, str] | None = None, says_no: int = 0
) -> bytes:
    """Standard output of a git command that has to succeed. Unavailable, in git's own words, where it does not.

    `says_no` is the exit code by which some commands answer that there is nothing.
    """
    inherited = {name: value for name, value in os.environ.items() if name not in _PLACES}
    settings = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            ["git", "-c", "core.quotepath=off", *arguments],
            cwd=root,
            capture_output=True,
            timeout=_WORK_SECONDS,
            check=False,
            env={**inherited, **settings, **(environment or {})},
            input=stdin,
        )
    except OSError as error:
        raise Unavailable(f"git cannot be run: {error.strerror or error}.", hint="Install git.") from error
    except subprocess.TimeoutExpired as error:
        raise Unavailable(
            f"git {arguments[0]} took longer than {_WORK_SECONDS} s.", hint="See what it waits for."
        ) from error
    if done.returncode not in (0, says_no):
        said = " ".join(done.stderr.decode("utf-8", "replace").split())[:400].rstrip(".")
        raise Unavailable(
            f"git {arguments[0]} failed: {said or f'exit code {done.returncode}'}.", hint="Mend the repository first."
        )
    return done.stdout


def _diff_from_fork(root: Path, base: str, where: Sequence[str]) -> str | None:
    diff = _git(root, "diff", "--merge-base", base, *_DIFF, "--", *where)
    if diff is not None:
        return diff
    # Git before 2.30 does not know the option, and no git takes it where branches were merged crosswise.
    fork = _git(root, "merge-base", base, "HEAD")
    return _git(root, "diff", fork.strip(), *_DIFF, "--", *where) if fork else None


def parse_hunks(diff: str) -> Ranges:
    """The new side of a zero-context diff."""
    found: dict[str, list[tuple[int, int]]] = {}
    path = ""
    in_header = True
    for line in diff.split("\n"):
        if line.startswith("diff --git "):
            in_header = True
        elif in_header and line.startswith("+++ "):
            path = _new_name(line[4:])
        elif (hunk := _HUNK.match(line)) is not None:
            in_header = False
            first, count = int(hunk[1]), int(hunk[2] or 1)
            # A pure deletion stands between two lines; it touches what surrounds it.
            found.setdefault(path, []).append((first, first + max(count, 1) - 1))
    return {path: tuple(ranges) for path, ranges in found.items() if path != "/dev/null"}


def _new_name(written: str) -> str:
    """The name in a `+++` line, which git quotes like C where it holds a quote, a backslash or a control character."""
    name = written.removesuffix("\t")
    if name.startswith('"') and name.endswith('"') and len(name) > 1:
        quoted = name[1:-1].encode("utf-8", "surrogateescape")
        name = _ESCAPE.sub(_unescape, quoted).decode("utf-8", "surrogateescape")
    return display(name.removeprefix("b/"))


def _unescape(match: re.Match[bytes]) -> bytes:
    sign: bytes = match[1]
    return bytes([int(sign, 8) & 0xFF]) if len(sign) == 3 else _ESCAPED.get(sign, sign)


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
    return (_git(root, "rev-parse", "--show-prefix") or "").removesuffix("\n")


def _git(root: Path, *arguments: str) -> str | None:
    """Standard output of a git command; None where git is absent or refuses."""
    try:
        done = subprocess.run(
            # Without optional locks: a question must never stand in the way of the user's own git commands.
            ["git", "--no-optional-locks", "-c", "core.quotepath=off", *arguments],
            cwd=root,
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    # Decoded here, because as text the pipe would turn a carriage return in a name or a line into a line feed.
    return done.stdout.decode("utf-8", "surrogateescape") if done.returncode == 0 else None
