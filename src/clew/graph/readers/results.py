"""Reports of test runs: a node for every result, and the lines that were executed."""

from collections.abc import Iterator
from typing import Any

import msgspec

from clew.formats.diagnostics import Diagnostic
from clew.formats.results.reader import RESULTS_VERSION, read_results
from clew.formats.results.records import Outcome, ResultRecords
from clew.graph.build.link import Contribution
from clew.graph.model import Node, NodeKind, Source
from clew.workspace.find import Selection


class ResultFile(msgspec.Struct, frozen=True, array_like=True):
    """Contribution and diagnostics of a report, in the form that the graph takes."""

    contribution: Contribution
    diagnostics: tuple[Diagnostic, ...]


class ResultsReader:
    """Reader of test reports. The test of a result is matched when all files are known; see
    `graph/evidence/runs.py`."""

    name = "results"
    version = str(RESULTS_VERSION)
    records_type: Any = ResultFile

    def __init__(self, globs: tuple[str, ...]) -> None:
        # Reports are products of a run, so git ignores them nearly everywhere; they are read nevertheless.
        self.selection = Selection(folders=(), patterns=(), globs=globs)

    def read(self, data: bytes, path: str) -> ResultFile:
        records = read_results(data)
        contribution = Contribution(results=tuple(_nodes(records, path)), lines=records.lines)
        return ResultFile(contribution, records.diagnostics)

    def diagnose(self, records: ResultFile) -> tuple[Diagnostic, ...]:
        return records.diagnostics

    def contribute(self, records: ResultFile, path: str) -> Contribution:
        return records.contribution


def _nodes(records: ResultRecords, path: str) -> Iterator[Node]:
    taken: dict[str, int] = {}
    for outcome in records.outcomes:
        id = f"result:{path}::{_identity(outcome)}"
        times = taken[id] = taken.get(id, 0) + 1
        # The same test again: another attempt, or another machine.
        yield _node(outcome, id if times == 1 else f"{id}#{times}", path, records.format)


def _identity(outcome: Outcome) -> str:
    """Name of a result within its report, without anything that only its machine knows."""
    name = outcome.name + outcome.parameters
    if outcome.file and "." not in outcome.classname:
        name = "::".join(filter(None, (_portable(outcome.file), outcome.classname, name)))
    elif outcome.classname:
        name = f"{_portable(outcome.classname)}::{name}"
    return name


def _portable(place: str) -> str:
    """A path without the folders above the project: only the last part is sure to be the same on other machines."""
    spelled = place.replace("\\", "/")
    if spelled.startswith("/") or spelled[1:3] == ":/":
        return spelled.rpartition("/")[2]
    return spelled.removeprefix("./")


def _node(outcome: Outcome, id: str, path: str, written_as: str) -> Node:
    optional = {
        "classname": outcome.classname,
        "parameters": outcome.parameters,
        "file": outcome.file,
        "line": outcome.test_line,
        "message": outcome.message,
        "suite": outcome.suite,
        "properties": dict(outcome.properties),
        "whole_file": outcome.whole_file,
    }
    fields: dict[str, Any] = {"status": outcome.status, "name": outcome.name, "format": written_as}
    fields.update((name, value) for name, value in optional.items() if value)
    if outcome.seconds is not None:
        fields["duration"] = outcome.seconds
    title = outcome.name + outcome.parameters
    return Node(id, NodeKind.TEST_RESULT, title, fields, Source(path, outcome.line, outcome.line))
