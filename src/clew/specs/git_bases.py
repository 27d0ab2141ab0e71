"""The bases of open changes, as git knows them: the specs in the commit that first added a delta.

Every clone has that, and so has a branch: the commit stands where the branch was when the delta was written. Where the
history does not reach back so far, the base is unknown, and nobody pretends to know it.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from clew.cache import Cache
from clew.formats.openspec.apply.touches import NO_PROMISES, Baseline, record
from clew.formats.openspec.reader import read_spec
from clew.formats.openspec.records import Spec
from clew.specs.library import ChangeEntry
from clew.workspace.git import api as git

_MOST_REMEMBERED = 10_000

SpecPath = Callable[[ChangeEntry, str], str]


class GitBase(msgspec.Struct, frozen=True):
    """The base of a change: the requirements that it touches, as they were when the change was written."""

    baselines: tuple[Baseline, ...] = ()
    """Of the deltas that are in the history."""
    unknown: tuple[str, ...] = ()
    """Files of deltas whose first commit the history no longer has."""
    squashed: tuple[str, ...] = ()
    """Files of deltas whose first commit also changed or added what they touch: nobody can tell which came first."""


class GitBases:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._first: Cache[tuple[str, str], str] = Cache(_MOST_REMEMBERED)
        """The commit that first added a file, by the commit that was looked back from, and the path; empty for none."""

    def of(self, changes: Mapping[str, ChangeEntry], spec_path: SpecPath) -> dict[str, GitBase]:
        """The base of each change; empty where git does not know its files. `spec_path` leads to the file of a spec."""
        head = git.head(self._root) if changes else None
        if head is None:
            return dict.fromkeys(changes, GitBase())
        is_shallow = (git.answer(self._root, "rev-parse", "--is-shallow-repository") or b"").strip() == b"true"
        return {id: self._base(entry, spec_path, head, is_shallow=is_shallow) for id, entry in changes.items()}

    def _base(self, entry: ChangeEntry, spec_path: SpecPath, head: str, *, is_shallow: bool) -> GitBase:
        baselines: list[Baseline] = []
        unknown: list[str] = []
        squashed: list[str] = []
        for delta in entry.change.deltas:
            path = entry.delta_paths[delta.spec_id]
            commit = self._added(head, path)
            if commit is None:
                continue
            if is_shallow and not self._has_parents(commit):
                unknown.append(path)
                continue
            alone = msgspec.structs.replace(entry.change, deltas=(delta,))
            path_of_spec = spec_path(entry, delta.spec_id)
            there, before = (self._specs(at, delta.spec_id, path_of_spec) for at in (commit, f"{commit}^"))
            touched = record(alone, there, NO_PROMISES)
            if touched != record(alone, before, NO_PROMISES):
                squashed.append(path)
                continue
            baselines += touched
        return GitBase(tuple(baselines), tuple(unknown), tuple(squashed))

    def _added(self, head: str, path: str) -> str | None:
        """The commit that first added a file, also under an earlier name; None if it is not in the history."""
        first = self._first.get((head, path))
        if first is None:
            listed = git.answer(self._root, "log", "--follow", "--diff-filter=A", "--format=%H", head, "--", path)
            first = ((listed or b"").decode().split() or [""])[-1]
            self._first.put((head, path), first)
        return first or None

    def _has_parents(self, commit: str) -> bool:
        listed = git.answer(self._root, "rev-list", "--parents", "--max-count=1", commit) or b""
        return len(listed.split()) > 1

    def _specs(self, commit: str, spec_id: str, path: str) -> Mapping[str, Spec]:
        data = git.content_at(self._root, commit, path)
        return {spec_id: read_spec(data, spec_id)} if data is not None else {}
