"""Section "proved by": tests, their last results, and which lines a run executed."""

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property

from clew.graph.code.region import WHOLE
from clew.graph.model import EdgeKind, Node, NodeKind
from clew.text.display import counted, one_line
from clew.trace.read.resolve import Subject
from clew.trace.reports.impact import Proof, impact
from clew.why.answer import Basis, EvidenceSection, Fact, section
from clew.why.changes.unreached import SITES, note_on
from clew.why.inquiry import Inquiry, day
from clew.why.sections.asked import TargetCitations
from clew.workspace.paths import raw
from clew.workspace.regular import beginning

_MOST_TESTS = 40
_AFFIXES = re.compile(r"^test_|[._-](?:test|tests|spec)$|Tests?$")
_STAMP = re.compile(rb"""(?:\btimestamp=|"created"\s*:\s*|"timestamp"\s*:\s*)["']?([0-9][0-9T:.+Z -]{7,39}[0-9Z])""")
_STAMP_WITHIN = 8_192
"""A report says when it was made in its first lines."""
_SECONDS = re.compile(r"\d{9,11}(?:\.\d+)?")
_TESTED = (NodeKind.REQUIREMENT, NodeKind.ASSERTION, NodeKind.TEST, NodeKind.USER_JOURNEY)


def proved(inquiry: Inquiry, cited: TargetCitations) -> EvidenceSection:
    reports = Reports(inquiry)
    citations = list(by_citation(inquiry, cited, reports))
    facts = [*by_lines(inquiry, reports), *citations]
    node = inquiry.target.node
    is_verified = node is not None and node.kind in (NodeKind.REQUIREMENT, NodeKind.ASSERTION) and bool(citations)
    doubt = note_on(inquiry.project, node, inquiry.call.check, SITES) if is_verified and node is not None else ""
    note = " ".join(filter(None, (doubt, without_results(inquiry))))
    return section("proved_by", facts, absent="Not known: no test was found.", note=note)


def without_results(inquiry: Inquiry) -> str:
    return "" if inquiry.graph.evidence.has_results() else "No test report was found, so results are not known."


class Reports:
    """Age of test reports, compared with the target."""

    def __init__(self, inquiry: Inquiry) -> None:
        self._inquiry = inquiry
        self._times: dict[str, float | None] = {}

    @cached_property
    def _changed_at(self) -> float:
        """When the target's file changed last: when it was committed, or written where it is not committed."""
        inquiry, path = self._inquiry, self._inquiry.target.path
        if path is None or inquiry.readiness.head is None:
            # The time of a file alone says when it was copied or checked out.
            return 0.0
        if is_edited(inquiry):
            return self._written(path) or 0.0
        touches = inquiry.history.of_path(path, 1)
        return float(touches[0].commit.time) if touches else 0.0

    def result(self, test: str) -> str:
        """The verdict of a test with the age of its report."""
        verdict = self._inquiry.graph.evidence.verdict(test)
        if verdict is None:
            return "no result"
        recorded = self._inquiry.graph.get_node(test)
        if recorded is not None and recorded.get_field("evidence"):
            # A register says itself when it was tested, and at which commit.
            return f"{verdict}{self._when(_moment(recorded.get_field('at')), str(recorded.get_field('commit') or ''))}"
        results = self._inquiry.graph.iter_children(test, (EdgeKind.YIELDS,))
        paths = {node.source.path for node in results if node.source is not None}
        return f"{verdict}{self.age(paths)}"

    def age(self, paths: set[str]) -> str:
        times = [at for path in paths if (at := self._ran(path)) is not None]
        return self._when(max(times, default=None))

    def _when(self, at: float | None, commit: str = "") -> str:
        if at is None:
            return ""
        if not commit and self._inquiry.readiness.head is not None:
            newest = self._inquiry.history.at(int(at))
            commit = newest.id if newest is not None else ""
        where = f" at {one_line(commit, 12)}" if commit else ""
        late = ", before this change" if at < self._changed_at else ""
        return f" ({day(int(at))}{where}{late})"

    def _ran(self, path: str) -> float | None:
        """The time of a test run: from its report; else the time of the report's file or of its commit, whichever is
        earlier, because a checkout sets the file's time."""
        if path not in self._times:
            self._times[path] = self._stated(path) or self._written_or_committed(path)
        return self._times[path]

    def _stated(self, path: str) -> float | None:
        try:
            found = _STAMP.search(beginning(self._inquiry.root / raw(path), _STAMP_WITHIN))
        except OSError:
            return None
        return _moment(found[1].decode()) if found else None

    def _written_or_committed(self, path: str) -> float | None:
        inquiry, written = self._inquiry, self._written(path)
        if written is None or inquiry.readiness.head is None:
            return written
        touches = inquiry.history.of_path(path, 1)
        if not touches or _differs(inquiry, path):
            return written
        return min(written, float(touches[0].commit.time))

    def _written(self, path: str) -> float | None:
        try:
            return (self._inquiry.root / raw(path)).stat().st_mtime
        except OSError:
            return None


def is_edited(inquiry: Inquiry) -> bool:
    """True if the target's file differs from its last commit."""
    return inquiry.target.path is not None and _differs(inquiry, inquiry.target.path)


def _differs(inquiry: Inquiry, path: str) -> bool:
    from clew.workspace.git import api as git

    changed = git.uncommitted(inquiry.root, (path,))
    return changed is not None and bool(changed.ranges)


def _moment(written: object) -> float | None:
    """A time as reports write it; one without a zone is that of this machine."""
    try:
        text = str(written)
        return float(text) if _SECONDS.fullmatch(text) else datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def by_citation(inquiry: Inquiry, cited: TargetCitations, reports: Reports) -> Iterator[Fact]:
    """Tests that cite the target, or what the target cites."""
    graph, target = inquiry.graph, inquiry.target
    if target.node is not None and target.node.kind in _TESTED:
        subject = Subject(target.name, target.kind, "", (target.node.id,))
        for proof in impact(graph, subject, (), limit=_MOST_TESTS).proofs:
            yield _proof(inquiry, proof, "stated", reports)
        return
    ids = tuple(node.id for node in inquiry.nodes_here() if node.kind is NodeKind.TEST and _is_in(inquiry, node))
    for proof in impact(graph, Subject(target.name, "file", "", ids), (), limit=_MOST_TESTS).proofs if ids else ():
        yield _proof(inquiry, proof, "stated", reports)
    for requirement in cited.requirements[:8]:
        labels = {label for edge, _, _ in cited.edges if edge.target == requirement for label in edge.labels}
        for edge in graph.memory.iter_incoming_edges(requirement):
            test = graph.get_node(edge.source)
            if (
                test is None
                or test.kind is not NodeKind.TEST
                or (labels and edge.labels and not labels & {*edge.labels})
            ):
                continue
            yield _fact(inquiry, test, f"verifies {requirement}", "inferred", reports)


def _is_in(inquiry: Inquiry, node: Node) -> bool:
    first, last = inquiry.span
    return node.source is not None and node.source.line <= last and node.source.end_line >= first


def _proof(inquiry: Inquiry, proof: Proof, basis: Basis, reports: Reports) -> Fact:
    what = one_line(proof.proves.removeprefix("verifies "), 80)
    proves = f" verifies {what}" if what else ""
    return Fact(f"{_name(proof.id)}{proves}: {reports.result(proof.id)}", basis, f"{proof.path}:{proof.line}")


def _fact(inquiry: Inquiry, test: Node, how: str, basis: Basis, reports: Reports) -> Fact:
    place = f"{test.source.path}:{test.source.line}" if test.source is not None else ""
    return Fact(f"{_name(test.id)} {how}: {reports.result(test.id)}", basis, place)


def _name(id: str) -> str:
    return one_line(id.rpartition("::")[2] if "::" in id else id.removeprefix("test:"), 100)


def by_lines(inquiry: Inquiry, reports: Reports) -> Iterator[Fact]:
    """Facts from coverage reports about these lines."""
    path = inquiry.target.path
    count = inquiry.graph.evidence.lines(path, *inquiry.span) if path is not None else None
    if count is None or not count.executable:
        return
    executed = f"{count.executed} of {counted(count.executable, 'line')} executed by the tests"
    yield Fact(executed + reports.age({*inquiry.graph.evidence.line_reports()}), "recorded", inquiry.target.place)
    for id in count.tests[:_MOST_TESTS]:
        test = inquiry.graph.get_node(id)
        if test is not None:
            yield _fact(inquiry, test, "executed these lines", "recorded", reports)


def by_import(inquiry: Inquiry, reports: Reports) -> Iterator[Fact]:
    """Test files that import the target's file or symbol."""
    path = inquiry.target.path
    if path is None:
        return
    name = inquiry.target.symbol.qualname if inquiry.target.symbol is not None else ""
    found = inquiry.code.importing(path, name) or (inquiry.code.importing(path, WHOLE) if name else [])
    seen: set[str] = set()
    for each in found:
        if each.path in seen:
            continue
        seen.add(each.path)
        tests = [node for node in inquiry.graph.memory.nodes_in_file(each.path) if node.kind is NodeKind.TEST]
        if inquiry.project.uses.tests.holds(each.path):
            said = f"{each.path} imports {each.name or 'it'}"
            verdicts = {inquiry.graph.evidence.verdict(node.id) for node in tests} - {None}
            if verdicts:
                worst = "failed" if verdicts & {"failed", "error"} else sorted(str(each) for each in verdicts)[0]
                said += f": {counted(len(tests), 'test')}, {worst}{reports.age(_reports_of(inquiry, tests))}"
            yield Fact(said, "inferred", f"{each.path}:{each.line}")


def called_after(inquiry: Inquiry, how: str) -> Iterator[Fact]:
    """Test files that are called after the target's file."""
    path = inquiry.target.path or ""
    stem = _stem(path)
    holds_tests = inquiry.project.uses.tests.holds
    if len(stem) > 2 and not holds_tests(path):
        for other in inquiry.project.code.file.paths_with(stem):
            if other != path and holds_tests(other) and _tested_stem(other) == stem:
                yield Fact(f"{other} is {how}", "inferred", other)


def is_named_after(test: str, path: str) -> bool:
    return _tested_stem(test) == _stem(path)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].lower()


def _tested_stem(path: str) -> str:
    return _AFFIXES.sub("", path.rpartition("/")[2].partition(".")[0]).lower()


def _reports_of(inquiry: Inquiry, tests: list[Node]) -> set[str]:
    results = (node for test in tests[:20] for node in inquiry.graph.iter_children(test.id, (EdgeKind.YIELDS,)))
    return {node.source.path for node in results if node.source is not None}
