"""The register's questions to git, one call for each. Outside of a repository every answer is empty."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from clew.errors import InvalidArgument
from clew.register.results import AuditedCommit
from clew.text.display import shortened
from clew.workspace.find import files_below
from clew.workspace.git import api as git
from clew.workspace.git import parse
from clew.workspace.git.run import WORK_SECONDS
from clew.workspace.paths import display, raw

_FULL_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REGISTER_ID = re.compile(r"REQ-[0-9]{4,}", re.IGNORECASE)
_INDEX = "GIT_INDEX_FILE"
_MOST_FILES = 500
_FIELD, _RECORD = "\x1f", "\x1e"
_SIGNATURES = {
    "G": "good",
    "B": "bad",
    "U": "good-unknown",
    "X": "expired",
    "Y": "expired-key",
    "R": "revoked",
    "E": "cannot-check",
    "N": "no-signature",
    "": "no-signature",
}
GOOD = ("good", "good-unknown")


class Repository:
    """The git repository around a folder, seen from that folder: all paths are relative to it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def exists(self) -> bool:
        return git.toplevel(self._folder) is not None

    def head(self) -> str | None:
        return git.head(self._folder)

    def commit_of(self, name: str) -> str | None:
        """The full name of a revision; None where there is no such revision."""
        return git.commit_of(self._folder, name)

    def revision(self, written: str) -> str:
        """The commit of a revision; raises InvalidArgument for an unknown one."""
        name = written.strip()
        if _REGISTER_ID.fullmatch(name):
            raise InvalidArgument(
                f"'{name}' is a requirement, not a revision.", hint="Name a branch, tag or commit, such as HEAD~1."
            )
        if not self.exists():
            raise InvalidArgument(
                "The register is in no git repository, so it has no older version.", hint="Run `git init` and commit."
            )
        commit = self.commit_of(name)
        if commit is None:
            raise InvalidArgument(
                f"'{shortened(name)}' is not a branch, tag or commit of this repository.",
                hint="`git branch --all` lists branches; a shallow clone needs `git fetch --unshallow` first.",
            )
        return commit

    def fork_of(self, commit: str) -> str:
        """The commit at which this branch left that of a commit; the commit itself if they have no common ancestor."""
        output = self._ask("merge-base", commit, "HEAD")
        return output.decode().strip() if output else commit

    def common(self, one: str, other: str) -> str | None:
        """The common ancestor of two commits; None if they share nothing."""
        output = self._ask("merge-base", one, other)
        return output.decode().strip() if output else None

    def add(self, path: str) -> None:
        """Stage the present content. Refused for files that git has a filter for."""
        place = self._folder / raw(path)
        held = files_below(place) if place.is_dir() else [place]
        git.refuse_filtered(self._folder, (display(str(each.relative_to(self._folder))) for each in held))
        git.command(self._folder, "add", "--all", "--", raw(path))

    def content_at(self, commit: str, path: str) -> bytes | None:
        return git.content_at(self._folder, commit, path)

    def contents_at(self, commit: str, *places: str) -> dict[str, bytes]:
        """The files of folders in a commit, with two questions to git however many there are."""
        named = (raw(place) for place in places)
        return self._contents(self._ask("ls-tree", "-r", "-z", commit, "--", *named))

    def staged_contents(self, folder: str) -> dict[str, bytes]:
        """The files of a folder as they are staged."""
        return self._contents(self._ask_index("ls-files", "--stage", "-z", "--", folder))

    def _contents(self, listing: bytes | None) -> dict[str, bytes]:
        blobs = {display(path): entry.blob for path, entry in parse.tree_entries(listing).items()}
        held = git.contents(self._folder, blobs.values())
        return {path: held[blob] for path, blob in blobs.items()}

    def blob_of(self, data: bytes) -> str:
        """The name under which git keeps a content."""
        return git.command(self._folder, "hash-object", "--stdin", stdin=data).decode().strip()

    def blob_at(self, commit: str, path: str) -> str | None:
        """The id of a file's content in a commit; the path is from the top of the work tree."""
        output = self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}:{raw(path)}")
        return output.decode().strip() if output else None

    def commits_around(self, blob: str, path: str) -> list[str]:
        """The newest commits of any branch in which a file got or lost a content, each with its parent."""
        asked = ("--all", "--max-count=4", "--format=%H %P", f"--find-object={blob}")
        output = self._ask("log", *asked, "--", f":(top,literal){raw(path)}", patterns=True)
        return (output or b"").decode().split()

    def files_that_say(self, commit: str, words: Iterable[str]) -> dict[str, bytes]:
        """The files of a commit that contain one of some words, in any case; it takes three questions to git."""
        patterns = [argument for word in words for argument in ("-e", word)]
        output = self._ask("grep", "-I", "-l", "-z", "-i", "-F", *patterns, commit, "--", ".")
        paths = [path.removeprefix(f"{commit}:") for path in _shown(output)]
        return self.contents_at(commit, *paths[:_MOST_FILES]) if paths else {}

    def changed_since(self, commit: str) -> frozenset[str] | None:
        """The files that differ from a commit, new ones included; None where git does not know the commit."""
        id = commit if _FULL_ID.fullmatch(commit) else self.commit_of(commit)
        output = self._ask("diff", "--name-only", "-z", "--no-renames", "--relative", id, "--") if id else None
        if output is None:
            return None
        others = self._ask("ls-files", "--others", "--exclude-standard", "-z")
        return frozenset((*_shown(output), *_shown(others)))

    def staged(self) -> tuple[str, ...]:
        """The staged files that differ from the last commit."""
        shown = ("--name-only", "-z", "--no-renames", "--relative", "--diff-filter=d")
        return tuple(sorted(_shown(self._ask_index("diff", "--cached", *shown))))

    def hunks(self, commit: str | None, *, staged: bool = False) -> dict[str, list[tuple[int, int]]]:
        """By file, the first and last line of each hunk in which the work tree, or the index, differs."""
        against = ("--cached",) if staged else (commit,) if commit else ()
        ask = self._ask_index if staged else self._ask
        output = ask(
            *("diff", "--unified=0", "--no-renames", "--relative"),
            *("--src-prefix=a/", "--dst-prefix=b/", *against, "--"),
        )
        found: dict[str, list[tuple[int, int]]] = {}
        for hunk in parse.hunks(output or b""):
            if hunk.count:
                found.setdefault(hunk.path, []).append((hunk.first, hunk.first + hunk.count - 1))
        return found

    def staged_content(self, path: str) -> bytes | None:
        return self._ask_index("cat-file", "blob", f":./{raw(path)}")

    def log(self, path: str, limit: int, span: str | None = None) -> list[AuditedCommit]:
        """The commits that changed a file, newest first, with git's verdict on their signatures."""
        fields = _FIELD.join(("%H", "%aI", "%aN", "%G?", "%GS", "%s"))
        follow = () if path == "." else ("--follow",)
        output = git.command(
            *(self._folder, "log", *follow, f"--max-count={limit}", f"--format={fields}{_RECORD}"),
            *((span,) if span else ()),
            *("--", raw(path)),
        )
        found = []
        for record in output.decode("utf-8", "replace").split(_RECORD):
            parts = record.strip("\n").split(_FIELD)
            if len(parts) == 6:
                commit, date, author, mark, signer, subject = parts
                found.append(AuditedCommit(commit, date, author, _SIGNATURES.get(mark, "unknown"), signer, subject))
        return found

    def count(self, path: str, span: str | None = None) -> int:
        """The number of commits that changed a file."""
        output = self._ask("rev-list", "--count", span or "HEAD", "--", raw(path))
        return int(output) if output else 0

    def last_change(self, path: str) -> str | None:
        """The time since a file was last committed, in words."""
        output = self._ask("log", "-1", "--format=%cr", "--", raw(path))
        return output.decode().strip() or None if output else None

    def setting(self, name: str) -> str | None:
        output = self._ask("config", "--get", name)
        return output.decode("utf-8", "replace").strip() if output is not None else None

    def hooks_folder(self) -> Path | None:
        """The folder in which git looks for hooks: shared by all worktrees, or the one of core.hooksPath."""
        return git.hooks_folder(self._folder) if self.exists() else None

    def own_folder(self) -> Path | None:
        """The folder that git keeps for itself, shared by all worktrees; nothing in it is ever committed."""
        return git.common_folder(self._folder)

    def attributes_file(self) -> Path | None:
        top = git.toplevel(self._folder)
        return top / ".gitattributes" if top else None

    def ignores(self, path: str) -> bool:
        """True if git ignores a file; the file need not exist."""
        return self.exists() and bool(git.ignored(self._folder, [raw(path)]))

    def _ask(self, *arguments: str, environment: dict[str, str] | None = None, patterns: bool = False) -> bytes | None:
        """The answer of git; None where it has none."""
        return git.answer(self._folder, *arguments, environment=environment, seconds=WORK_SECONDS, patterns=patterns)

    def _ask_index(self, *arguments: str) -> bytes | None:
        """The answer of git about the index. In a hook of `git commit --all` or `git commit FILE`, git names another
        index than that of the work tree."""
        named = os.environ.get(_INDEX)
        return self._ask(*arguments, environment={_INDEX: str(Path(named).absolute())} if named else None)


def _shown(output: bytes | None) -> list[str]:
    return [display(name) for name in parse.names(output)]
