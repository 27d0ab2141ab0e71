"""Evidence: results of test runs and executed lines, tied to their tests and to the code.

A report names tests in its own way and knows nothing of the files they are in, so its results are tied to tests only
when all files are known: each becomes an edge from the result to the test that yielded it. Nearly all name a test by
where it stands, and are tied to it at once. The others are *loose*: they are compared with all tests of their name,
and compared again when such a test comes or goes. Executed lines are kept by file and asked for when needed.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

import msgspec

from clew.formats.results.pytest_json import split_nodeid
from clew.formats.results.records import ERROR, FAILED, PASSED, SKIPPED, UNKNOWN, ExecutedLines
from clew.graph.evidence.matching import ReportedTest, TestIndex, exact_ids, file_fits, names_of_mention, overlap
from clew.graph.inverted import Inverted
from clew.graph.model import Edge, EdgeKind, Node, NodeKind

if TYPE_CHECKING:
    from clew.graph.build.link import Contribution, FileKey, Place
    from clew.graph.graph import Graph


T = TypeVar("T")


class LineCount(msgspec.Struct, frozen=True, gc=False):
    """Number of executed lines in a range of a file."""

    executable: int
    executed: int
    tests: tuple[str, ...] = ()
    """The tests that executed it, as the report names them; empty where it does not tell them apart."""


class Executed:
    """Executed lines by source file. Reports spell paths as their machine had them, so the end of a path decides."""

    def __init__(self) -> None:
        self._reported: dict[FileKey, tuple[ExecutedLines, ...]] = {}
        self._by_name: dict[str, list[ExecutedLines]] | None = None
        """Reported lines, by the name of the file without its folders; None until the first question."""
        self._files: dict[str, list[str]] | None = None
        """The files of the graph, likewise."""
        self._by_path: dict[str, ExecutedLines | None] = {}

    def __bool__(self) -> bool:
        """True if any report was read."""
        return bool(self._reported)

    @property
    def paths(self) -> frozenset[str]:
        """The reports with executed lines."""
        return frozenset(path for path, _ in self._reported)

    def update(self, contributions: "Mapping[FileKey, Contribution | None]", *, moved: bool) -> bool:
        """Take the present contributions of files; `moved` says that code or tests came or went. Returns whether
        earlier answers may be different now."""
        is_changed = False
        for file, contribution in contributions.items():
            lines = contribution.lines if contribution is not None else ()
            if lines:
                self._reported[file] = lines
            elif self._reported.pop(file, None) is None:
                continue
            is_changed = True
        if not is_changed and not (moved and self._reported):
            return False
        self._by_name = self._files = None
        self._by_path.clear()
        return True

    def count(self, path: str, first: int, last: int, files: Iterable[str]) -> LineCount | None:
        """Number of executed lines among these lines of a file; None if no report covers the file.

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
        """All reports of a file together: a line counts as executed if one of them executed it."""
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
    """True if a reported path means this file, and no other equally well."""
    spelled = reported.replace("\\", "/")
    shared = overlap(spelled, path)
    return shared > 0 and (spelled == path or all(overlap(spelled, rival) < shared for rival in rivals))


def _within(numbers: tuple[int, ...], first: int, last: int) -> int:
    return bisect_right(numbers, last) - bisect_left(numbers, first)


UNKNOWN_TEST, SEVERAL_TESTS = "unknown", "ambiguous"

_BADNESS = {UNKNOWN: 0, SKIPPED: 1, PASSED: 2, FAILED: 3, ERROR: 4}


class Evidence:
    """Belongs to one graph. It is written by the thread that reads files, under the same lock as the graph."""

    def __init__(self, graph: "Graph") -> None:
        self._graph = graph
        self._verdicts: dict[str, str] = {}
        self._reports: dict[FileKey, tuple[Node, ...]] = {}
        self._tied: dict[str, tuple[Edge, ...]] = {}
        """By result: the edges to what yielded it."""
        self._loose: dict[str, tuple[str, ...]] = {}
        """The names by which each loose result is looked up."""
        self._loose_by_name: Inverted[str, str, None] = Inverted()
        self._unusual: dict[str, None] = {}
        """Results that concern a whole file or a journey."""
        self._unmatched: dict[str, str] = {}
        self._tests: TestIndex | None = None
        """Made when it is first needed, and kept up from then on."""
        self._executed = Executed()
        self._had_results = False
        self._places: dict[str, Place] | None = None
        """Places of the results; computed at the first question, which is rare."""

    # Asking

    def verdict(self, test_id: str) -> str | None:
        """Verdict of a test's results: error, failed, passed, skipped or unknown; None if it has none.

        The worst counts: a test that failed with one set of parameters failed.
        """
        return self._verdicts.get(test_id)

    def has_results(self) -> bool:
        return self._graph.memory.count(NodeKind.TEST_RESULT) > 0

    def unmatched(self) -> Iterator[tuple[str, str]]:
        """Ids of the results that belong to no test, with the reason: unknown or ambiguous."""
        return iter(sorted(self._unmatched.items()))

    def lines(self, path: str, first: int, last: int) -> LineCount | None:
        """Number of executed lines among these, with the tests that executed them; None if no report covers the
        file."""
        count = self._executed.count(path, first, last, self._graph.memory.files())
        if count is None or not count.tests:
            return count
        tests = {id for name in count.tests for id in self._tests_called(name)}
        return LineCount(count.executable, count.executed, tuple(sorted(tests)))

    def line_reports(self) -> frozenset[str]:
        """The reports with executed lines."""
        return self._executed.paths

    def place_of(self, result: str) -> "Place | None":
        """Report that holds a result, and the result's position in it."""
        if self._places is None:
            self._places = {
                node.id: (*file, position)
                for file, results in self._reports.items()
                for position, node in enumerate(results)
            }
        return self._places.get(result)

    # Keeping up

    def update(self, contributions: "Mapping[FileKey, Contribution | None]", changed: Collection[str]) -> None:
        """Follow an update of the graph, given the present contributions of files and the ids of nodes that came, went
        or changed."""
        tests = [id for id in changed if id.startswith("test:")]
        sources = bool(tests) or any(id.startswith("code:") for id in changed)
        if self._executed.update(contributions, moved=sources):
            self._graph.touched(node.id for node in self._graph.nodes_by_kind(NodeKind.CODE))
        waiting = set(self._moved_by(tests))
        if changed:
            waiting.update(self._unusual)
        # What a test gave before is counted again; what is only added makes a verdict worse or leaves it.
        recount = {id for result in waiting for id in self._untie(result)}
        for file, contribution in contributions.items():
            results = contribution.results if contribution is not None else ()
            if results or file in self._reports:
                recount.update(self._replace(file, results))
        moved = [node for id in waiting if (node := self._graph.memory.get_node(id)) is not None]
        new = [node for each in contributions.values() if each is not None for node in each.results]
        affected = recount | self._tie(moved) | self._tie(new)
        self._recount(recount)
        region = self._graph.memory
        if self._had_results != self.has_results():
            # What nobody could know before is a figure now, or the other way round.
            self._had_results = self.has_results()
            self._graph.touched(node.id for node in region.nodes_by_kind(NodeKind.REQUIREMENT))
        # Figures are computed again for tests with other results than before, and for what they cite.
        self._graph.touched(affected)
        self._graph.touched(edge.target for id in affected for edge in region.outgoing.get(id, ()))
        self._graph.touched(waiting)
        self._graph.touched(node.id for node in new)

    def _replace(self, file: "FileKey", results: tuple[Node, ...]) -> Iterator[str]:
        """Replace the results of a report; yields the ids of the tests that had its former results."""
        region = self._graph.memory
        before = self._reports.pop(file, ())
        self._places = None
        for node in before:
            yield from self._untie(node.id)
            region.remove_node(node.id)
        self._graph.touched(node.id for node in before)
        if results:
            self._reports[file] = results
            region.put_nodes(results)

    def _moved_by(self, tests: Iterable[str]) -> Iterator[str]:
        """The results that may belong to another test now that these came, went or changed."""
        region = self._graph.memory
        if self._tests is None and not self._reports:
            return
        for id in tests:
            node = region.get_node(id)
            if node is None:
                self._verdicts.pop(id, None)
                yield from [edge.source for edge in region.incoming.get(id, ()) if edge.kind is EdgeKind.YIELDS]
            if self._tests is not None:
                for name in self._tests.note(id, node):
                    yield from self._loose_by_name.holders(name)

    # Results

    def _tie(self, results: Iterable[Node]) -> set[str]:
        """Link results to their tests or journeys; returns the ids of these."""
        verdicts = self._verdicts
        edges: list[Edge] = []
        for node in results:
            own = self._tied[node.id] = self._edges(node)
            edges.extend(own)
            status = node.fields["status"]
            for edge in own:
                known = verdicts.get(edge.target)
                if known is None or _BADNESS[status] > _BADNESS[known]:
                    verdicts[edge.target] = status
        self._graph.memory.put_edges(edges)
        return {edge.target for edge in edges}

    def _untie(self, id: str) -> Iterator[str]:
        """Unlink a result from its tests or journeys; yields the ids of these."""
        for edge in self._tied.pop(id, ()):
            self._graph.memory.remove_edge(edge)
            yield edge.target
        self._unmatched.pop(id, None)
        self._unusual.pop(id, None)
        self._loose_by_name.remove(id, self._loose.pop(id, ()))

    def _edges(self, node: Node) -> tuple[Edge, ...]:
        fields = node.fields
        if "whole_file" not in fields:
            for id in exact_ids(fields["name"], fields.get("classname", ""), fields.get("file", "")):
                test = self._graph.memory.get_node(id)
                if test is not None and test.kind is NodeKind.TEST:
                    return (Edge(EdgeKind.YIELDS, node.id, id),)
        return tuple(self._loose_edges(node, _mention(node)))

    def _loose_edges(self, node: Node, mention: ReportedTest) -> Iterator[Edge]:
        tests = self._index()
        whole_file = node.fields.get("whole_file")
        if whole_file or "JNY-" in node.title:
            self._unusual[node.id] = None
        names = self._loose[node.id] = names_of_mention(mention)
        self._loose_by_name.add(node.id, dict.fromkeys(names))
        if whole_file:
            targets, several = self._tests_of_file(mention, tests), False
        else:
            targets, several = tests.find(mention)
        if targets:
            yield from (Edge(EdgeKind.YIELDS, node.id, target) for target in targets)
        elif (journey := self._journey(node)) is not None:
            yield journey
        else:
            self._unmatched[node.id] = SEVERAL_TESTS if several else UNKNOWN_TEST

    def _tests_of_file(self, mention: ReportedTest, tests: TestIndex) -> list[str]:
        return [
            node.id
            for path in tests.files()
            if file_fits(mention, path)
            for node in self._graph.nodes_in_file(path)
            if node.kind is NodeKind.TEST
        ]

    def _tests_called(self, name: str) -> list[str]:
        """The tests that coverage.py calls so: by pytest's name, or dotted."""
        if "::" in name:
            classname, own, _ = split_nodeid(name)
            mention = ReportedTest(own, classname, name.partition("::")[0])
        else:
            classname, _, own = name.rpartition(".")
            mention = ReportedTest(own, classname)
        ids = exact_ids(mention.name, mention.classname, mention.file)
        exact = [id for id in ids if self._graph.get_node(id) is not None]
        return exact or self._index().find(mention)[0]

    def _index(self) -> TestIndex:
        if self._tests is None:
            self._tests = TestIndex(self._graph.nodes_by_kind(NodeKind.TEST))
        return self._tests

    def _journey(self, node: Node) -> Edge | None:
        """The journeys for a result whose name holds the id of a journey, or of one of its steps."""
        start = node.title.find("JNY-")
        if start < 0:
            return None
        written = node.title[start:].split(None, 1)[0].rstrip(".,:;)]")
        id, _, step = written.partition("/")
        journey = self._graph.get_node(id)
        if journey is None or journey.kind is not NodeKind.USER_JOURNEY:
            return None
        if not step:
            return Edge(EdgeKind.YIELDS, node.id, id)
        labels = journey.get_field("labels", ())
        return Edge(EdgeKind.YIELDS, node.id, id, (step,)) if step in labels else None

    def _recount(self, ids: Iterable[str]) -> None:
        """Compute the verdicts of tests and journeys whose results changed."""
        region = self._graph.memory
        for id in ids:
            results = (
                region.get_node(edge.source)
                for edge in region.incoming.get(id, ())
                if edge.kind is EdgeKind.YIELDS and region.get_node(id) is not None
            )
            statuses = [result.fields["status"] for result in results if result is not None]
            if statuses:
                self._verdicts[id] = max(statuses, key=_BADNESS.__getitem__)
            else:
                self._verdicts.pop(id, None)


def _mention(node: Node) -> ReportedTest:
    fields = node.fields
    return ReportedTest(fields["name"], fields.get("classname", ""), fields.get("file", ""), fields.get("line", 0))
