"""The chain behind lines: from the commits that touched them last back to those that decided them.

Each asked line is followed by itself: a commit that moved, renamed, reformatted or annotated it, or brought it back,
did not decide it. The chain goes on behind such a commit, at most ten steps, and keeps what each step did.
"""

# Implements: REQ-d00361

import re
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import msgspec

from clew.formats.code.outline import decoded
from clew.why.story.asking import GitQuestions
from clew.why.story.comparing import Before, LineBefore, by_place, moved_within, passed
from clew.why.story.moving import AROUND, came_from_elsewhere
from clew.why.story.nesting import Nesting, depends_on_indentation
from clew.workspace.git import history as git_history
from clew.workspace.git.difference import ChangedBlock, FileDifference, differences, renamed_from
from clew.workspace.git.history import NOT_COMMITTED, BlamedLine

REVERTS = re.compile(r"This reverts commit ([0-9a-f]{7,64})")
_TAKES_BACK = re.compile(r"revert|reapply|back\s?out|undo|restore|re-?land", re.IGNORECASE)
_FIRST_LINES = 2
MOST_STEPS = 10
MOST_GROUPS = 6
"""Groups of lines that are followed, the largest first; the others keep the commit that touched them last."""
MOST_QUESTIONS = 80
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
    """The commits in between."""
    boundaries: frozenset[str]
    """Commits with which the history that is here begins."""
    not_committed: int
    not_followed: int = 0
    """Lines whose chain was not followed to its end."""
    places: tuple[LinesAt, ...] = ()
    """The lines where the commits decided them."""
    is_whole: bool = True
    """False where git did not answer a question in time."""


class _Group(msgspec.Struct, frozen=True):
    """Lines that one commit touched last."""

    commit: str
    path: str
    lines: tuple[tuple[int, int], ...]
    """Each with its number among the asked lines, and in that commit."""
    steps: tuple[str, ...]
    is_boundary: bool

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(sorted({number for _, number in self.lines}))


class _End(msgspec.Struct, frozen=True):
    """A line where a commit decided it."""

    commit: str
    path: str
    line: int
    is_boundary: bool


class _Origin(msgspec.Struct, frozen=True):
    """The lines that a line was before a step."""

    action: str
    lines: tuple[BlamedLine, ...]


Origins = dict[int, _Origin]


class ChainWalk:
    """One walk back. `top` is the root of the repository, and paths are those of git; those that are told begin in the
    project's folder, whose path is `prefix`. `ignored` names commits that the project lists as formatting. A line that
    `defined` matches is followed through every change, to the commit that wrote the first such line."""

    def __init__(
        self,
        top: Path,
        ignored: Sequence[str],
        message: Callable[[str], str],
        questions: GitQuestions,
        prefix: str = "",
        *,
        defined: re.Pattern[str] | None = None,
    ) -> None:
        self._top = top
        self._ignored = frozenset(ignored)
        self._message = message
        self._questions = questions
        self._prefix = prefix
        self._defined = defined
        self._steps: dict[str, Counter[str]] = {}
        self._everywhere = lru_cache(maxsize=8)(self._blocks_of)

    def from_lines(self, blamed: Sequence[BlamedLine], silent: frozenset[int] = frozenset()) -> Chain:
        """The chain behind lines, whose last commits are known. The `silent` ones, which hold no word, go with the line
        above."""
        asked = {each.line: each for each in blamed if each.commit != NOT_COMMITTED}
        telling = {number: each for number, each in asked.items() if number not in silent} or asked
        ends, not_followed = self._walked([(number, each) for number, each in telling.items()])
        chosen = {number: self._last_of(found) for number, found in ends.items()}
        decided = Counter(each.commit for each in chosen.values())
        numbers = sorted(chosen)
        for number in asked.keys() - chosen.keys():
            above = numbers[max(bisect_left(numbers, number) - 1, 0)]
            decided[chosen[above].commit] += 1
        return Chain(
            dict(decided.most_common()),
            tuple(self._told_steps()),
            frozenset(each.commit for each in chosen.values() if each.is_boundary),
            len(blamed) - len(asked),
            len(not_followed),
            _places(chosen.values()),
            self._questions.is_whole,
        )

    def _walked(self, asked: Sequence[tuple[int, BlamedLine]]) -> tuple[dict[int, list[_End]], set[int]]:
        """The ends of each line, and the lines that were not followed to them. A line has several where it was several
        before."""
        waiting = deque(sorted(_groups(asked, ()), key=lambda each: -len(each.lines)))
        ends: dict[int, list[_End]] = {}
        not_followed: set[int] = set()
        begun = 0
        while waiting:
            group = waiting.popleft()
            begun += not group.steps
            origins: Origins = {}
            if begun > MOST_GROUPS or len(group.steps) >= MOST_STEPS or not self._questions.may_go_on():
                not_followed.update(number for number, _ in group.lines)
            else:
                origins = self._behind(group)
            waiting.extendleft(self._further(group, origins))
            for number, line in group.lines:
                if line not in origins:
                    end = _End(group.commit, group.path, line, group.is_boundary)
                    ends.setdefault(number, []).append(end)
        return ends, not_followed

    def _further(self, group: _Group, origins: Origins) -> list[_Group]:
        """The groups with which the chain goes on."""
        for _, line in group.lines:
            if line in origins:
                self._steps.setdefault(group.commit, Counter())[origins[line].action] += 1
        pairs = [(number, old) for number, line in group.lines if line in origins for old in origins[line].lines]
        return sorted(_groups(pairs, (*group.steps, group.commit)), key=lambda each: len(each.lines))

    def _told_steps(self) -> Iterable[ChainStep]:
        for commit, actions in self._steps.items():
            action = actions.most_common(1)[0][0]
            listed = " (listed in .git-blame-ignore-revs)" if commit in self._ignored else ""
            yield ChainStep(commit, f"{action}{listed}", actions.total())

    def _last_of(self, ends: Sequence[_End]) -> _End:
        """Of the lines that became one, the one that was decided last; of several the one with the most."""
        ids = tuple(dict.fromkeys(each.commit for each in ends))
        if len(ids) > 1:
            last = self._questions.ask(lambda left: git_history.newest_of(self._top, ids, seconds=left), ids)
            ends = [each for each in ends if each.commit in last] or ends
        counts = Counter(each.commit for each in ends)
        return max(ends, key=lambda each: counts[each.commit])

    def _behind(self, group: _Group) -> Origins:
        """The former lines of those that the commit did not decide."""
        ask = self._questions.ask
        parents = ask(lambda left: git_history.parents_of(self._top, group.commit, seconds=left), ())
        if len(parents) != 1 or group.is_boundary:
            return {}
        difference = self._difference(parents[0], group)
        if difference is None:
            return {}
        before = self._before(group, parents[0], difference)
        found = self._blamed_before(parents[0], difference.old_path or group.path, before)
        left = [number for number in group.numbers if number not in found]
        found |= self._brought_back(group, left)
        return found | self._from_elsewhere(
            group, parents[0], difference.old_path, [each for each in left if each not in found]
        )

    def _before(self, group: _Group, parent: str, difference: FileDifference) -> Before:
        """The former lines in the same file."""
        texts = _FileTexts(
            self._top, self._questions, (parent, difference.old_path or group.path), (group.commit, group.path)
        )
        found: Before = {}
        for block in difference.blocks:
            lines = [line for line in group.numbers if 0 <= line - block.new_first < len(block.new)]
            if lines:
                found |= self._before_block(group, lines, block, parent, difference, texts)
        if not found or not depends_on_indentation(group.path):
            return found
        # A line that indentation puts into another block runs where it did not run before.
        nesting = Nesting(texts.before, texts.after)
        return {
            line: each
            for line, each in found.items()
            if group.commit in self._ignored or self._defined is not None or nesting.is_kept(each.lines, line)
        }

    def _before_block(
        self,
        group: _Group,
        lines: Sequence[int],
        block: ChangedBlock,
        parent: str,
        difference: FileDifference,
        texts: "_FileTexts",
    ) -> Before:
        found = passed(lines, block, difference.blocks, group.path)
        if block.old and (left := _without(lines, found)):
            found |= passed(left, block, self._everywhere(parent, group.commit), group.path)
        if left := _without(lines, found):
            found |= moved_within(left, block, difference.blocks, texts.has_once)
        if self._defined is not None and (rows := _matching(self._defined, block)):
            found |= {line: LineBefore("rewrote it", rows) for line in _without(lines, found)}
        if block.old and group.commit in self._ignored:
            # The project says that the commit decided nothing: the lines at the same place go on.
            found |= by_place(_without(lines, found), block)
        return found

    def _difference(self, parent: str, group: _Group) -> FileDifference | None:
        """The changes of the commit to the file, whose former path is found where it was renamed."""

        def between(*paths: str) -> list[FileDifference]:
            ask = self._questions.ask
            return ask(lambda left: differences(self._top, parent, group.commit, paths, seconds=left), [])

        found = next(iter(between(group.path)), None)
        if found is None or found.old_path is not None:
            return found
        old = self._questions.ask(
            lambda left: renamed_from(self._top, parent, group.commit, group.path, seconds=left), None
        )
        return next((each for each in between(old, group.path) if each.path == group.path), found) if old else found

    def _blocks_of(self, parent: str, commit: str) -> tuple[ChangedBlock, ...]:
        """All blocks of a commit that touched few files."""
        ask = self._questions.ask
        paths = ask(lambda left: git_history.paths_between(self._top, parent, commit, seconds=left), ())
        if not 1 < len(paths) <= _MOST_FILES:
            return ()
        files = ask(lambda left: differences(self._top, parent, commit, seconds=left), [])
        return tuple(block for each in files for block in each.blocks)

    def _blamed_before(self, commit: str, path: str, before: Mapping[int, LineBefore]) -> Origins:
        """The former lines with the commits that touched them last before a step."""
        numbers = {line for each in before.values() for line in each.lines}
        blamed = {each.line: each for each in self._blame(path, numbers, commit)} if numbers else {}
        found = {}
        for line, each in before.items():
            lines = tuple(blamed[old] for old in each.lines if old in blamed)
            if lines:
                found[line] = _Origin(each.action, lines)
        return found

    def _brought_back(self, group: _Group, lines: Sequence[int]) -> Origins:
        """The lines as they were before the removal that the commit took back."""
        ask = self._questions.ask
        message = ask(lambda _: self._message(group.commit), "") if lines else ""
        undone = undone_by(message)
        if undone is None:
            return {}
        # One that never came here is no part of the story.
        removed = ask(lambda left: git_history.ancestor(self._top, undone, seconds=left), None)
        if removed is None:
            return {}
        parents = ask(lambda left: git_history.parents_of(self._top, removed, seconds=left), ())
        changed: list[FileDifference] | None
        changed = (
            ask(lambda left: differences(self._top, parents[0], group.commit, (group.path,), seconds=left), None)
            if parents
            else None
        )
        if changed is None or any(each.old_path is None for each in changed):
            return {}
        action = f"brought it back, undoing {removed[:12]}"
        blocks = changed[0].blocks if changed else ()
        before = {line: LineBefore(action, (old,)) for line in lines if (old := _unchanged(line, blocks)) is not None}
        return self._blamed_before(parents[0], group.path, before)

    def _from_elsewhere(self, group: _Group, parent: str, old_path: str | None, lines: Sequence[int]) -> Origins:
        """The lines that the commit took from other files, or from elsewhere in this one."""
        if not lines or not self._questions.may_go_on():
            return {}
        blamed = self._blame(group.path, lines, group.commit, moved=True)
        if all(each.commit == group.commit for each in blamed if each.line in lines):
            return {}
        texts = _FileTexts(self._top, self._questions, (parent, old_path or group.path), (group.commit, group.path))
        moved = came_from_elsewhere(blamed, group.commit, group.path, texts)
        return {each.line: _Origin(self._moving(each, group.path), (each,)) for each in moved if each.line in lines}

    def _moving(self, line: BlamedLine, path: str) -> str:
        if line.path == path:
            return "moved it inside the file"
        is_outside = not line.path.startswith(self._prefix)
        return f"moved or copied it from {'/' if is_outside else ''}{line.path.removeprefix(self._prefix)}"

    def _blame(self, path: str, lines: Iterable[int], commit: str, *, moved: bool = False) -> tuple[BlamedLine, ...]:
        ranges = _ranges(lines, AROUND if moved else 0)
        found = self._questions.ask(
            lambda left: git_history.blame(
                self._top,
                path,
                ranges,
                # Where indentation decides, a line of another block is another line.
                without_spaces=moved and not depends_on_indentation(path),
                moved=moved,
                revision=commit,
                seconds=left,
            ),
            None,
        )
        return found or ()


class _FileTexts:
    """A file before and after a commit, read when it is needed."""

    def __init__(self, top: Path, questions: GitQuestions, before: tuple[str, str], after: tuple[str, str]) -> None:
        self._top = top
        self._questions = questions
        self._places = before, after

    @cached_property
    def _read(self) -> tuple[str, str]:
        nothing: list[bytes | None] = [None, None]
        found = self._questions.ask(
            lambda left: git_history.contents_at(self._top, self._places, seconds=left), nothing
        )
        before, after = (decoded(data or b"") for data in found)
        return before, after

    @property
    def before(self) -> str:
        return self._read[0]

    @property
    def after(self) -> str:
        return self._read[1]

    @cached_property
    def _counts(self) -> tuple[Counter[str], Counter[str]]:
        before, after = (Counter(line.strip() for line in text.split("\n")) for text in self._read)
        return before, after

    def has_once(self, line: str) -> bool:
        """True for a line that stands once in the file before and after."""
        return all(each[line.strip()] == 1 for each in self._counts)


def undone_by(message: str) -> str | None:
    """The id, or the beginning of it, of the commit that a message takes back. That of a squash may name any."""
    found = REVERTS.search(message)
    if found is None or not (_TAKES_BACK.match(message) or message[: found.start()].count("\n") <= _FIRST_LINES):
        return None
    return found[1]


def _groups(lines: Sequence[tuple[int, BlamedLine]], steps: tuple[str, ...]) -> list[_Group]:
    """Lines by the commit and the file that they come from."""
    found: dict[tuple[str, str], list[tuple[int, BlamedLine]]] = {}
    for number, each in lines:
        found.setdefault((each.commit, each.path), []).append((number, each))
    return [
        _Group(commit, path, tuple((number, each.origin) for number, each in same), steps, same[0][1].is_boundary)
        for (commit, path), same in found.items()
    ]


def _places(ends: Iterable[_End]) -> tuple[LinesAt, ...]:
    found: dict[tuple[str, str], dict[int, None]] = {}
    for each in ends:
        found.setdefault((each.commit, each.path), {})[each.line] = None
    return tuple(LinesAt(commit, path, tuple(lines)) for (commit, path), lines in found.items())


def _matching(pattern: re.Pattern[str], block: ChangedBlock) -> tuple[int, ...]:
    """The number of the first old line of a block that matches a pattern."""
    return tuple(number for number, row in enumerate(block.old, block.old_first) if pattern.search(row))[:1]


def _without(lines: Iterable[int], found: Before) -> list[int]:
    return [line for line in lines if line not in found]


def _ranges(lines: Iterable[int], around: int) -> list[tuple[int, int]]:
    """Lines as ranges with the lines around them; ranges that meet become one."""
    found: list[tuple[int, int]] = []
    for line in sorted(lines):
        first, last = max(line - around, 1), line + around
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], last
        else:
            found.append((first, last))
    return found


def _unchanged(line: int, blocks: Sequence[ChangedBlock]) -> int | None:
    """The former number of a line; None for one that a block of the file wrote."""
    shift = 0
    for each in blocks:
        # A block without new lines has the number of the line before it.
        first = each.new_first if each.new else each.new_first + 1
        if line < first:
            break
        if line < first + len(each.new):
            return None
        shift += len(each.old) - len(each.new)
    return line + shift
