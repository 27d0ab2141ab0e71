"""Questions to git about a folder. A question is one or two calls of git; a folder without git has plain answers.

No answer depends on how the user set git up: what a setting could change about the output is said with every call.
Paths are spelled like those of the files of a project, and the folders are those of a configuration, globs included.
A revision is resolved once, and only the id of its commit is passed to other commands.
"""

import os
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import msgspec

from clew.errors import ClewError, InvalidArgument, Refused, Unavailable
from clew.workspace.git import parse
from clew.workspace.git.find import find_work_tree, refuse_elsewhere
from clew.workspace.git.objects import objects
from clew.workspace.git.run import WORK_SECONDS, Result, answer, command, configuration
from clew.workspace.paths import display, is_glob, raw

_DIFF = (
    *("--relative", "--find-renames", "--src-prefix=a/", "--dst-prefix=b/"),
    *("--unified=0", "--inter-hunk-context=0"),
)
_BASES = (
    *("refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master"),
    *("refs/heads/main", "refs/heads/master"),
)
"""Names of the branch that others start from, the likeliest first."""

Ranges = dict[str, tuple[tuple[int, int], ...]]


class ChangedLines(msgspec.Struct, frozen=True):
    """Lines of the working tree that differ from a revision, by file, as (first, last) pairs."""

    ranges: Ranges
    not_compared: tuple[str, ...] = ()
    """Files that may differ: git would have to run a filter to tell, and Clew runs none."""

    def touch(self, path: str, line: int, end_line: int) -> bool:
        return any(first <= end_line and last >= line for first, last in self.ranges.get(path, ()))


WHOLE_FILE = ((1, 2**31),)


def toplevel(root: Path) -> Path | None:
    """The root of the work tree that holds the folder; None without git or outside a work tree."""
    output = answer(root, "rev-parse", "--show-toplevel")
    return Path(os.fsdecode(output).removesuffix("\n")) if output else None


def common_folder(root: Path) -> Path | None:
    """The folder in which git stores a repository, the same for all its work trees; None without git. Refused if `.git`
    leads to a repository that does not name the work tree, which is somebody else's."""
    refuse_elsewhere(root)
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
    found = _base(root)
    return found[0] if found is not None else None


def _base(root: Path) -> tuple[str, str] | None:
    """That branch and its commit."""
    form = "--format=%(refname)%09%(symref:short)%09%(refname:short)%09%(objectname)"
    found: dict[str, tuple[str, str]] = {}
    for line in os.fsdecode(answer(root, "for-each-ref", form, *_BASES) or b"").splitlines():
        name, target, short, commit = line.split("\t")
        found[name] = (target or short, commit)
    return next((found[name] for name in _BASES if name in found), None)


def uncommitted(root: Path, folders: tuple[str, ...]) -> ChangedLines | None:
    """Changed lines since the last commit in these folders; None without git."""
    where = _pathspecs(folders)
    if not where:
        return ChangedLines({}) if toplevel(root) else None
    options = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
    status = answer(root, "status", *options, "--", *where, patterns=True)
    if status is None:
        return None
    entries = parse.names(status)
    if not entries:
        return ChangedLines({})
    prefix = prefix_of(root)
    new = _whole(entry[3:].removeprefix(prefix) for entry in entries if entry.startswith("??"))
    if all(entry.startswith("??") for entry in entries):
        return ChangedLines(new)
    diff = answer(root, "diff", "HEAD", *_DIFF, "--", *where, patterns=True)
    # Without a first commit there is no HEAD to compare with: everything added is new.
    added = (entry[3:].removeprefix(prefix) for entry in entries if "A" in entry[:2])
    return _compared(root, changed_lines(diff) if diff is not None else _whole(added), new)


def changed_since(root: Path, base: str, folders: tuple[str, ...]) -> ChangedLines | None:
    """Changed lines since the branch left `base`, committed or not."""
    if not _pathspecs(folders):
        return ChangedLines({}) if toplevel(root) else None
    commit = commit_of(root, base)
    return _changed_since_commit(root, commit, folders) if commit is not None else None


def changed_since_base(root: Path, folders: tuple[str, ...]) -> tuple[str | None, ChangedLines | None]:
    """The branch that work is measured against, and what differs from where the branch left it."""
    found = _base(root)
    return (found[0], _changed_since_commit(root, found[1], folders)) if found is not None else (None, None)


def _changed_since_commit(root: Path, commit: str, folders: tuple[str, ...]) -> ChangedLines | None:
    where = _pathspecs(folders)
    if not where:
        return ChangedLines({})
    diff = _diff_from_fork(root, commit, where)
    if diff is None:
        return None
    untracked = answer(root, "ls-files", "--others", "--exclude-standard", "-z", "--", *where, patterns=True)
    return _compared(root, changed_lines(diff), _whole(parse.names(untracked)))


def commit_of(root: Path, revision: str) -> str | None:
    """The full id of the commit that a revision means; None if it means none."""
    if not revision or "\0" in revision:
        return None
    output = answer(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    return output.decode().strip() if output else None


def fork_of(root: Path, base: str) -> str | None:
    """The commit at which the branch left `base`; None if the two share none. InvalidArgument for an unknown
    revision."""
    commit = commit_of(root, base)
    if commit is None:
        raise InvalidArgument(
            f"'{base}' is not a branch, tag or commit of this repository.",
            hint="`git branch --all` lists the branches.",
        )
    fork = answer(root, "merge-base", commit, "HEAD")
    return fork.decode().strip() if fork else None


def head(root: Path) -> str | None:
    """The last commit; None before the first, and without git."""
    return commit_of(root, "HEAD")


def changed_paths(root: Path, commit: str | None, folders: tuple[str, ...]) -> tuple[str, ...]:
    """Files in these folders that differ from a commit: changed, removed or new. Without a commit, all files."""
    where = _pathspecs(folders)
    if not where:
        return ()
    others = ("--others", "--exclude-standard") if commit else ("--cached", "--others", "--exclude-standard")
    paths = parse.names(answer(root, "ls-files", *others, "-z", "--", *where, patterns=True))
    if commit:
        names = ("--name-only", "-z", "--no-renames", "--relative")
        paths += parse.names(answer(root, "diff", *names, commit, "--", *where, patterns=True))
    return tuple(sorted(set(map(display, paths))))


def content_at(root: Path, commit: str, path: str) -> bytes | None:
    """The content of a file in a commit; None if it was not there."""
    return answer(root, "cat-file", "blob", f"{commit}:{prefix_of(root)}{raw(path)}", seconds=WORK_SECONDS)


def contents(root: Path, blobs: Iterable[str]) -> dict[str, bytes]:
    """Contents of blobs, by their ids, with one call of git however many there are."""
    ids = list(dict.fromkeys(blobs))
    found = {id: data for id, data in zip(ids, objects(root, ids), strict=True) if data is not None}
    if len(found) < len(ids):
        missing = next(id for id in ids if id not in found)
        raise Unavailable(
            f"git has no content {missing[:12]}.", hint="Repair the repository, or fetch what is missing."
        )
    return found


_IN_SUBMODULE = re.compile(r"is in submodule '([^']+)'")


def ignored(root: Path, paths: Iterable[str], *, also_tracked: bool = False) -> frozenset[str]:
    """The paths that git ignores, spelled as the operating system does; they need not exist. Tracked ones count only
    with `also_tracked`."""
    # This command takes no literal paths, but a colon means something only at the beginning.
    asked = [f"./{path}" for path in paths]
    if not asked:
        return frozenset()
    options = ("-z", "--stdin", *(("--no-index",) if also_tracked else ()))
    try:
        output = command(root, "check-ignore", *options, stdin=parse.as_input(asked), says_no=1, patterns=True)
    except Unavailable as error:
        if (inside := _IN_SUBMODULE.search(error.message)) is None:
            raise
        raise Refused(
            f"'{inside[1]}' is a submodule: a repository of its own, with its own history.",
            hint=f"Ask there, with `-C {inside[1]}` and the path below it.",
        ) from error
    return frozenset(name.removeprefix("./") for name in parse.names(output))


def is_tracked(root: Path, path: str) -> bool:
    """True if git tracks a file; False without git."""
    return bool(answer(root, "ls-files", "--cached", "-z", "--", raw(path)))


def last_commit_of(root: Path, path: str) -> str | None:
    """The newest commit that changed a file; None where git keeps none of it."""
    output = answer(root, "rev-list", "--max-count=1", "HEAD", "--", raw(path))
    return (output or b"").decode().strip() or None


def tracked_though_ignored(root: Path) -> tuple[str, ...]:
    """The files that git keeps although .gitignore files name them; none without git."""
    output = answer(root, "ls-files", "--cached", "--ignored", "--exclude-standard", "-z")
    return tuple(display(name) for name in parse.names(output)) if output is not None else ()


def folders_with_files(root: Path, names: Iterable[str]) -> frozenset[str]:
    """The names of folders in which git tracks a file, at any depth; none without git."""
    asked = frozenset(names)
    output = answer(root, "ls-files", "-z", "--", *(f":(glob)**/{name}/**" for name in sorted(asked)), patterns=True)
    return frozenset(part for path in parse.names(output or b"") for part in path.split("/")[:-1]) & asked


def filters_of(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """The paths that .gitattributes give a filter, such as `lfs`, with its name: their content in git differs from the
    file in the folder."""
    spelled = {raw(path): path for path in paths}
    output = answer(root, "check-attr", "-z", "--stdin", "filter", stdin=parse.as_input(list(spelled)))
    values = parse.fields(output or b"")
    named = zip(values[0::3], values[2::3], strict=True)
    return {spelled[path]: name for path, name in named if name not in ("unspecified", "unset", "set")}


def not_comparable(root: Path, paths: Iterable[str]) -> tuple[str, ...]:
    """The paths whose filter has a program. Clew does not run it, so it cannot tell whether they changed."""
    try:
        tree = find_work_tree(root)
        settings = configuration(tree) if tree is not None else None
    except ClewError:
        return ()
    if settings is None or isinstance(settings, Result) or not settings.filters:
        return ()
    return tuple(sorted(path for path, name in filters_of(root, paths).items() if name in settings.filters))


def refuse_filtered(root: Path, paths: Iterable[str]) -> None:
    """Refused if git has a filter for one of the paths: without the filter, a write would mix up the contents of the
    folder and of git, such as a file and its LFS pointer."""
    for path, name in sorted(filters_of(root, paths).items()):
        raise Refused(
            f"'{path}' has the git filter '{name}' in .gitattributes, and Clew runs no filters; nothing was written.",
            hint="Use git itself for this file, or take the filter from its path.",
        )


def hooks_folder(root: Path) -> Path | None:
    """The folder of the user's git hooks: shared by all worktrees, or the one in core.hooksPath."""
    tree = find_work_tree(root)
    if tree is None:
        return None
    scopes = answer(root, "config", "--type=path", "--show-scope", "-z", "--get-all", "core.hooksPath")
    values = parse.fields(scopes or b"")
    # The last one is Clew's own, by which it switches hooks off.
    named = [value for scope, value in zip(values[0::2], values[1::2], strict=True) if scope != "command"]
    return tree.top / named[-1] if named else tree.common / "hooks"


def _compared(root: Path, ranges: Ranges, new: Ranges) -> ChangedLines:
    unknown = not_comparable(root, ranges)
    return ChangedLines({path: ranges[path] for path in ranges if path not in unknown} | new, unknown)


def _diff_from_fork(root: Path, commit: str, where: Sequence[str]) -> bytes | None:
    diff = answer(root, "diff", "--merge-base", commit, *_DIFF, "--", *where, patterns=True)
    if diff is not None:
        return diff
    # Git does not take the option where branches were merged crosswise.
    fork = answer(root, "merge-base", commit, "HEAD")
    return answer(root, "diff", fork.decode().strip(), *_DIFF, "--", *where, patterns=True) if fork else None


def changed_lines(diff: bytes) -> Ranges:
    """The lines that a zero-context diff touches. A pure deletion is between two lines; it touches the one before."""
    found: dict[str, list[tuple[int, int]]] = {}
    for hunk in parse.hunks(diff):
        found.setdefault(hunk.path, []).append((hunk.first, hunk.first + max(hunk.count, 1) - 1))
    return {path: tuple(ranges) for path, ranges in found.items()}


def _whole(names: Iterable[str]) -> Ranges:
    return {display(name): WHOLE_FILE for name in names}


def _pathspecs(folders: tuple[str, ...]) -> list[str]:
    """The folders as pathspecs of git. A folder outside of the project is left out."""
    inside = [folder for folder in folders if not folder.startswith(("/", "../")) and folder != ".."]
    plain = [f":(literal){folder}" for folder in inside]
    return plain + [f":(glob){folder}/**" for folder in inside if is_glob(folder)]


@cache
def prefix_of(root: Path) -> str:
    """The path of the folder in the work tree: git's status names files from the work tree's root."""
    return os.fsdecode(answer(root, "rev-parse", "--show-prefix") or b"").removesuffix("\n")
