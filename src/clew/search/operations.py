"""The command `clew index`: making the search index complete."""

import time
from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from clew.operation.call import Call
from clew.operation.declare import Freshness, HelpHeading, Operation, Option
from clew.search.dense.indexing import VectorReport
from clew.search.dense.keeper import JOB
from clew.search.question import IndexState
from clew.search.unit_store import WriteCounts
from clew.store.interface import Job
from clew.text.terminal import coloured

_LONGEST_READING = 600.0
_REPORT_SECONDS = 1.0


class IndexReport(msgspec.Struct, frozen=True):
    index: IndexState | None
    """None where there is no index; `problem` says why."""
    problem: str | None
    jobs: tuple[Job, ...]
    """Indexing that is going on."""
    written: WriteCounts | UnsetType = UNSET
    vectors: VectorReport | UnsetType = UNSET
    stopped: tuple[str, ...] | UnsetType = UNSET
    """The jobs that were asked to stop."""


class MakeIndex(
    Operation,
    verb="index",
    heading=HelpHeading.WORK,
    summary="complete the search index, or show its progress",
    epilog="clew index\nclew index --status",
    folder="argument",
    needs=Freshness.NONE,
):
    """Index everything by words and by meaning, or say how much is indexed."""

    status: Annotated[bool, Option(exclusive=True, about="only say how much is indexed")] = False
    rebuild: Annotated[bool, Option(exclusive=True, about="delete the index and build it again")] = False
    stop: Annotated[bool, Option(exclusive=True, about="stop the indexing that another process is doing")] = False

    def run(self, call: Call) -> IndexReport:
        if self.status:
            return _state(call)
        return _stop(call) if self.stop else self._index(call)

    def _index(self, call: Call) -> IndexReport:
        project = call.project
        project.ensure_graph(call.progress)
        with project.context.lock.reading():
            written = project.index.rebuild() if self.rebuild else project.index.sync()
        # Into the new index: what could not be read of a damaged one is missing there.
        call.notes = project.kb.refresh(call.progress, wait=True)
        # What `clew why` reads in the background otherwise.
        project.history.complete(call.progress)
        _read_code(call)
        vectors = project.index.make_vectors(call.progress)
        return msgspec.structs.replace(_state(call), written=written, vectors=vectors)

    def render(self, result: IndexReport) -> str:
        return "\n".join(_lines(result)) if result.index is not None else result.problem or ""


def _read_code(call: Call) -> None:
    """Read the outlines of source files, and report how far that is."""
    until = time.monotonic() + _LONGEST_READING
    while (notes := call.project.code.ensure(_REPORT_SECONDS)) and time.monotonic() < until:
        call.progress(0, 0, notes[0])
        if call.project.code.cannot_keep:
            call.notes = (*call.notes, *notes)
            return


def _running(call: Call) -> tuple[Job, ...]:
    store = call.project.store
    return tuple(job for job in store.jobs(state="running") if job.kind == JOB) if store is not None else ()


def _stop(call: Call) -> IndexReport:
    running, store = _running(call), call.project.store
    for job in running:
        if store is not None:
            store.cancel_job(job.id)
    return msgspec.structs.replace(_state(call), stopped=tuple(job.id for job in running))


def _state(call: Call) -> IndexReport:
    state = call.project.index.state()
    return IndexReport(state, call.project.index.problem, _running(call))


def _lines(report: IndexReport) -> Iterator[str]:
    if written := report.written:
        yield f"requirements: {written.added} added, {written.changed} changed, {written.removed} removed"
    if vectors := report.vectors:
        made = f"embeddings: {vectors.embedded} made, {vectors.reused} reused"
        yield made + (", damaged ones rewritten" if vectors.rebuilt else "")
        if vectors.note:
            yield coloured(f"note: {vectors.note}", "yellow")
    for job in report.jobs:
        yield f"running: {job.done} of {job.total or '?'} ({job.message})"
    if report.stopped is not UNSET:
        yield f"stopped: {len(report.stopped)}"
    if (index := report.index) is not None:
        parts = ", ".join(f"{number} {part}" for part, number in index.parts.items()) or "nothing"
        yield f"indexed: {index.units} texts ({parts}), {index.embedded} with embeddings"
        yield f"state: {index.state.replace('_', ' ')}, embedder: {index.embedder or 'none'}"
        yield from (coloured(f"note: {note}", "yellow") for note in index.notes)
