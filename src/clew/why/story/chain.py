"""The chain behind lines: from the commits that touched them last back to those that decided them.

A commit that moved, renamed, reformatted or annotated lines, or brought back what was removed, did not decide them. The
chain goes on behind it, at most ten steps, and keeps what each step did.
"""

# Implements: REQ-d00361

import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from clew.errors import ClewError
from clew.formats.code.outline import decoded
from clew.why.story.comparing import Passed, by_place, moved_within, passed
from clew.why.story.nesting import changed_block, depends_on_indentation
from clew.workspace.git import history as git_history
from clew.workspace.git.difference import ChangedBlock, FileDifference, differences, renamed_from
from clew.workspace.git.history import NOT_COMMITTED, BlamedLine

REVERTS = re.compile(r"This reverts commit ([0-9a-f]{7,64})")
_TAKES_BACK = re.compile(r"revert|reapply|back\s?out|undo|restore|re-?land", re.IGNORECASE)
_FIRST_LINES = 2
MOST_STEPS = 10
MOST_GROUPS = 6
"""Groups of lines that are followed, the largest first; the others keep the commit that touched them last."""
_MOST_CALLS = 60
_AROUND = 12
"""Lines around the wanted ones that are asked about as well, where moves are followed: git takes a few words that occur
elsewhere for a coincidence, and a whole passage for a move."""
_FEW_LINES = 2
_TELLING = 32
"""Letters and digits that a few lines have at least for being taken from another file."""
_MOST_FILES = 60
"""Files of a commit in which the definition of a renamed name is looked for."""


class ChainStep(msgspec.Struct, frozen=True, array_like=True):
    """A commit behind which the chain goes on."""

    commit: str
    action: str
    lines: int


class LinesAt(msgspec.Struct, frozen=True, array_like=True):
    """Lines as a commit had them."""

    commit: str
    path: str
    """The path that git has, from the root of the repository."""
    lines: tuple[int, ...]


class Chain(msgspec.Struct, frozen=True, array_like=True):
    decided: dict[str, int]
    """Number of lines that each commit decided, largest first."""
    steps: tuple[ChainStep, ...]
    """The commits in between, the newest first."""
    boundaries: frozenset[str]
    """Commits with which the history that is here begins."""
    not_committed: int
    not_followed: int = 0
    """Lines whose chain was not followed to its end."""
    places: tuple[LinesAt, ...] = ()
    """The lines where the commits decided them."""


class _Group(msgspec.Struct, frozen=True):
    commit: str
    path: str
    lines: tuple[int, ...]
    """Numbers in that commit."""
    weight: int
    """Number of the asked lines."""
    steps: tuple[str, ...]
    is_boundary: bool


class ChainWalk:
    """One walk back. `top` is the root of the repository, and paths are those of git. `ignored` names commits that the
    project lists as formatting."""

    def __init__(self, top: Path, ignored: Sequence[str], message: Callable[[str], str], seconds: int) -> None:
        self._top = top
        self._ignored = frozenset(ignored)
        self._message = message
        self._seconds = seconds
        self._calls = 0
        self._steps: dict[tuple[str, str], int] = {}

    def from_lines(self, blamed: Sequence[BlamedLine]) -> Chain:
        """The chain behind lines, whose last commits are known."""
        waiting = deque(sorted(_groups(blamed, ()), key=lambda each: -each.weight))
        decided: Counter[str] = Counter()
        boundaries: set[str] = set()
        places: list[LinesAt] = []
        not_followed = 0
        followed = 0
        while waiting:
            group = waiting.popleft()
            if not group.steps:
                followed += 1
            is_followed = followed <= MOST_GROUPS and self._calls < _MOST_CALLS and len(group.steps) < MOST_STEPS
            if not is_followed:
                not_followed += group.weight
            left = group.weight
            for further in self._behind(group) if is_followed else ():
                waiting.appendleft(further)
                left -= further.weight
            if left > 0:
                decided[group.commit] += left
                places.append(LinesAt(group.commit, group.path, group.lines))
                if group.is_boundary:
                    boundaries.add(group.commit)
        steps = tuple(ChainStep(commit, action, lines) for (commit, action), lines in self._steps.items())
        lost = sum(each.commit == NOT_COMMITTED for each in blamed)
        return Chain(dict(decided.most_common()), steps, frozenset(boundaries), lost, not_followed, tuple(places))

    def _behind(self, group: _Group) -> Iterator[_Group]:
        """The groups with which the chain goes on, for the lines that the commit did not decide."""
        parents = git_history.parents_of(self._top, group.commit)
        self._calls += 1
        if len(parents) != 1 or group.is_boundary:
            return
        difference = self._difference(parents[0], group)
        if difference is None:
            return
        for block in difference.blocks:
            lines = tuple(line for line in group.lines if 0 <= line - block.new_first < len(block.new))
            if lines:
                weight = round(group.weight * len(lines) / len(group.lines))
                part = msgspec.structs.replace(group, lines=lines, weight=max(weight, 1))
                yield from self._behind_block(part, block, parents[0], difference)

    def _behind_block(
        self, part: _Group, block: ChangedBlock, parent: str, difference: FileDifference
    ) -> Iterator[_Group]:
        found = passed(part.lines, block, difference.blocks, part.path)
        if found is None and block.old:
            found = passed(part.lines, block, self._everywhere(parent, part.commit), part.path)
        found = found or moved_within(part.lines, block, difference.blocks)
        if found is not None and self._is_in_another_block(part, found, parent, difference.old_path or part.path):
            found = None
        if found is None and block.old and part.commit in self._ignored:
            # The project says that the commit decided nothing: the lines at the same place go on.
            found = by_place(part.lines, block)
        if found is not None:
            yield from self._at(parent, difference.old_path or part.path, found.lines, part, found.action)
            return
        yield from self._brought_back(part) or self._from_elsewhere(part)

    def _is_in_another_block(self, part: _Group, found: Passed, parent: str, old_path: str) -> bool:
        """True where indentation says the block of a line, and the commit put the lines into another one: they run then
        where they did not run before."""
        if not depends_on_indentation(part.path):
            return False
        self._calls += 1
        texts = git_history.contents_at(
            self._top, [(parent, old_path), (part.commit, part.path)], seconds=self._seconds
        )
        before, after = (None if data is None else decoded(data) for data in texts)
        return before is None or after is None or changed_block(before, after, found.lines, part.lines)

    def _difference(self, parent: str, group: _Group) -> FileDifference | None:
        """The changes of the commit to the file, whose former path is found where it was renamed."""
        self._calls += 1
        found = next(iter(differences(self._top, parent, group.commit, (group.path,), seconds=self._seconds)), None)
        if found is None or found.old_path is not None:
            return found
        old = renamed_from(self._top, parent, group.commit, group.path, seconds=self._seconds)
        self._calls += 1
        if old is None:
            return found
        pair = differences(self._top, parent, group.commit, (old, group.path), seconds=self._seconds)
        self._calls += 1
        return next((each for each in pair if each.path == group.path), found)

    def _everywhere(self, parent: str, commit: str) -> tuple[ChangedBlock, ...]:
        """All blocks of a commit that touched few files."""
        self._calls += 1
        paths = git_history.paths_between(self._top, parent, commit, seconds=self._seconds)
        if len(paths) > _MOST_FILES:
            return ()
        files = differences(self._top, parent, commit, seconds=self._seconds)
        return tuple(block for each in files for block in each.blocks)

    def _at(self, commit: str, path: str, lines: Sequence[int], group: _Group, action: str) -> Iterator[_Group]:
        """The groups of old lines by the commits that touched them last before a step."""
        blamed = self._blame(path, min(lines), max(lines), commit)
        wanted = set(lines)
        kept = [each for each in blamed or () if each.line in wanted]
        if not kept:
            return
        self._note(group, action)
        yield from _shared(_groups(kept, (*group.steps, group.commit)), group.weight)

    def _brought_back(self, group: _Group) -> list[_Group]:
        """The groups from before the removal that the commit took back."""
        removed = reverted_by(self._top, self._message(group.commit))
        if removed is None:
            return []
        parents = git_history.parents_of(self._top, removed)
        self._calls += 2
        if not parents:
            return []
        texts = git_history.contents_at(
            self._top, [(group.commit, group.path), (parents[0], group.path)], seconds=self._seconds
        )
        if texts[0] is None or texts[1] is None:
            return []
        now, before = (data.decode("utf-8", "replace").split("\n") for data in texts if data is not None)
        lines = _same_lines(now, before, group.lines)
        if not lines:
            return []
        return list(self._at(parents[0], group.path, lines, group, f"brought it back, undoing {removed[:12]}"))

    def _from_elsewhere(self, group: _Group) -> Iterator[_Group]:
        """The groups of lines that the commit took from other files, or from elsewhere in this one."""
        first, last = min(group.lines), max(group.lines)
        blamed = self._blame(group.path, max(first - _AROUND, 1), last + _AROUND, group.commit, moved=True)
        if blamed is None:
            blamed = self._blame(group.path, first, last, group.commit, moved=True)
        wanted = set(group.lines)
        kept = [each for each in blamed or () if each.line in wanted]
        moved = [each for each in kept if each.commit != group.commit]
        if len(moved) * 2 <= len(kept) or self._is_common(group, moved):
            return
        sources = Counter(each.path for each in moved)
        source = sources.most_common(1)[0][0]
        action = "moved it inside the file" if source == group.path else f"moved or copied it from {source}"
        self._note(group, action)
        yield from _shared(_groups(moved, (*group.steps, group.commit)), group.weight)

    def _is_common(self, group: _Group, moved: Sequence[BlamedLine]) -> bool:
        """True for one short line that another file has too: many files may."""
        if len(group.lines) > _FEW_LINES or all(each.path == group.path for each in moved):
            return False
        (data,) = git_history.contents_at(self._top, [(group.commit, group.path)], seconds=self._seconds)
        rows = (data or b"").decode("utf-8", "replace").split("\n")
        text = "".join(rows[line - 1] for line in group.lines if line <= len(rows))
        return sum(each.isalnum() for each in text) < _TELLING

    def _note(self, group: _Group, action: str) -> None:
        if group.commit in self._ignored:
            action = f"{action} (listed in .git-blame-ignore-revs)"
        key = group.commit, action
        self._steps[key] = self._steps.get(key, 0) + group.weight

    def _blame(
        self, path: str, first: int, last: int, commit: str, *, moved: bool = False
    ) -> tuple[BlamedLine, ...] | None:
        self._calls += 1
        try:
            return git_history.blame(
                self._top,
                path,
                first,
                last,
                # Where indentation decides, a line of another block is another line.
                without_spaces=moved and not depends_on_indentation(path),
                moved=moved,
                revision=commit,
                seconds=self._seconds,
            )
        except ClewError:
            return None


def reverted_by(top: Path, message: str) -> str | None:
    """The commit that a message takes back. The message of a squash may name a commit that never came here."""
    found = REVERTS.search(message)
    if found is None or not (_TAKES_BACK.match(message) or message[: found.start()].count("\n") <= _FIRST_LINES):
        return None
    return git_history.ancestor(top, found[1])


def _groups(blamed: Sequence[BlamedLine], steps: tuple[str, ...]) -> list[_Group]:
    """Lines by the commit and the file that they come from. A commit that is in the chain already is not met again."""
    found: dict[tuple[str, str], list[BlamedLine]] = {}
    for each in blamed:
        if each.commit != NOT_COMMITTED:
            found.setdefault((each.commit, each.path), []).append(each)
    return [
        _Group(commit, path, tuple(each.origin for each in lines), len(lines), steps, lines[0].is_boundary)
        for (commit, path), lines in found.items()
    ]


def _shared(groups: Sequence[_Group], weight: int) -> Iterator[_Group]:
    """The groups with shares of the weight of the one that they come from: a line may have been several before."""
    total = sum(each.weight for each in groups)
    left = weight
    for place, each in enumerate(sorted(groups, key=lambda one: -one.weight)):
        share = left if place == len(groups) - 1 else min(round(weight * each.weight / total), left)
        if share:
            left -= share
            yield msgspec.structs.replace(each, weight=share)


def _same_lines(now: Sequence[str], before: Sequence[str], wanted: Sequence[int]) -> list[int]:
    """The numbers of lines in the text before that say the same as the wanted ones; none where less than half do."""
    places: dict[str, list[int]] = {}
    for number, line in enumerate(before, 1):
        places.setdefault(line.strip(), []).append(number)
    found = [places.get(now[line - 1].strip(), []) for line in wanted if line <= len(now) and now[line - 1].strip()]
    known = [each for each in found if each]
    if not known or len(known) * 2 < len(found):
        return []
    start = known[0][0]
    return sorted({min(each, key=lambda number: abs(number - start)) for each in known})
