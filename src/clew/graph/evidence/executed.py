"""Executed lines: what reports on coverage say of the files of a project."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

import msgspec

from clew.formats.results.records import ExecutedLines
from clew.graph.evidence.matching import overlap

if TYPE_CHECKING:
    from clew.graph.build.link import Contribution, FileKey


T = TypeVar("T")


class LineCount(msgspec.Struct, frozen=True, gc=False):
    """How much of a stretch of code was executed."""

    executable: int
    executed: int
    tests: tuple[str, ...] = ()
    """The tests that executed it, as the report names them; empty where it does not tell them apart."""


class Executed:
    """What was executed, by source file. Reports spell paths as their machine had them; the end of a path decides."""

    def __init__(self) -> None:
        self._reported: dict[FileKey, tuple[ExecutedLines, ...]] = {}
        self._by_name: dict[str, list[ExecutedLines]] | None = None
        """What was reported, by the name of the file without its folders; None until somebody asks."""
        self._files: dict[str, list[str]] | None = None
        """The files of the graph, likewise."""
        self._by_path: dict[str, ExecutedLines | None] = {}

    def __bool__(self) -> bool:
        """Whether any report was read."""
        return bool(self._reported)

    def update(self, contributions: "Mapping[FileKey, Contribution | None]", *, moved: bool) -> bool:
        """Take what files contribute now; `moved` says that code or tests came or went. Returns whether answers that
        were given before may be others now."""
        told = False
        for file, contribution in contributions.items():
            lines = contribution.lines if contribution is not None else ()
            if lines:
                self._reported[file] = lines
            elif self._reported.pop(file, None) is None:
                continue
            told = True
        if not told and not (moved and self._reported):
            return False
        self._by_name = self._files = None
        self._by_path.clear()
        return True

    def count(self, path: str, first: int, last: int, files: Iterable[str]) -> LineCount | None:
        """How much of these lines of a file was executed; None where no report speaks of the file.

        `files` are the files that a report may mean.
        """
        if path not in self._by_path:
            self._by_path[path] = self._of_file(path, files)
        found = self._by_path[path]
        if found is None:
            return None
        executed = _within(found.executed, first, last)
        tests = tuple(test for test, lines in found.by_test if _within(lines, first, last))
        return LineCount(executed + _within(found.missing, first, last), executed, tests)

    def _of_file(self, path: str, files: Iterable[str]) -> ExecutedLines | None:
        """What all reports say together: a line that one of them saw executed was."""
        name = path.rpartition("/")[2]
        reported = self._named().get(name, ())
        if not reported:
            return None
        if self._files is None:
            self._files = _by_last_part(files, lambda file: file)
        rivals = [other for other in self._files.get(name, ()) if other != path]
        meant = [each for each in reported if _is_meant(each.path, path, rivals)]
        if len(meant) < 2:
            return meant[0] if meant else None
        executed = {line for each in meant for line in each.executed}
        missing = {line for each in meant for line in each.missing} - executed
        by_test: dict[str, set[int]] = {}
        for each in meant:
            for test, lines in each.by_test:
                by_test.setdefault(test, set()).update(lines)
        tests = tuple((test, tuple(sorted(lines))) for test, lines in sorted(by_test.items()))
        return ExecutedLines(path, tuple(sorted(executed)), tuple(sorted(missing)), tests)

    def _named(self) -> dict[str, list[ExecutedLines]]:
        if self._by_name is None:
            reported = (each for file in sorted(self._reported) for each in self._reported[file])
            self._by_name = _by_last_part(reported, lambda each: each.path)
        return self._by_name


def _by_last_part(items: Iterable[T], path_of: Callable[[T], str]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = {}
    for item in items:
        found.setdefault(path_of(item).replace("\\", "/").rpartition("/")[2], []).append(item)
    return found


def _is_meant(reported: str, path: str, rivals: Iterable[str]) -> bool:
    """Whether a reported path means this file, and no other just as well."""
    spelled = reported.replace("\\", "/")
    shared = overlap(spelled, path)
    return shared > 0 and (spelled == path or all(overlap(spelled, rival) < shared for rival in rivals))


def _within(numbers: tuple[int, ...], first: int, last: int) -> int:
    return bisect_right(numbers, last) - bisect_left(numbers, first)
