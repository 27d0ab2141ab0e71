"""Dreaming: one offline job that keeps the memory in order while nobody needs it.

A run is a list of steps. Each step commits what it found, and that it is done, in one transaction: a process that is
killed leaves whole steps, and the next dream goes on with those that are left. Between two things that it looks at, a
dream gives way to calls. At its end it compares recall on saved questions with that before; a drop beyond chance takes
the whole run back.
"""

import logging
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from itertools import takewhile
from typing import TYPE_CHECKING

import msgspec

from clew.errors import Cancelled, ClewError, Conflict
from clew.memory.cognition.dreams.dream_model import Aborted, Dreamed, DreamRecord, DreamStatus, phase_of
from clew.memory.cognition.dreams.dream_steps import NREM, REM, STEPS, Marks, write
from clew.memory.cognition.dreams.recall_check import compare, recall_of
from clew.memory.cognition.dreams.requests import DreamRequest
from clew.memory.cognition.records import COGNITION, INSUFFICIENT, CognitionRecords
from clew.memory.curation.expiry import Expiry
from clew.memory.storage.changes import moment_of
from clew.store.watched import renewed
from clew.workspace.keeping import start_thread

if TYPE_CHECKING:
    from clew.memory.service import MemoryService, MemoryView

log = logging.getLogger(__name__)

KIND = "dream"
COOLDOWN = timedelta(seconds=60)
WAKE_MS = 100
_RUN, _MARKS = "dream run", "dream marks"
_QUIET_SECONDS = 0.05
_PATIENCE_SECONDS = 0.5
_POLL_SECONDS = 0.02
_CLOSING_SECONDS = 5.0
_LOOK_SECONDS = 0.05
"""Interval at which a dream checks whether another process asked it to end."""
_RECENT = timedelta(minutes=10)


Report = Callable[[int, int, str], None]


class Dreams:
    """The dream of a process, and the signal to stop it."""

    def __init__(self, service: "MemoryService") -> None:
        self._service = service
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._ended = threading.Event()
        self._ended.set()
        self._why = ""
        self._abort_on_query = False
        self._looked_at = 0.0

    # For callers

    def queried(self) -> None:
        """Stop a dream because of a question, if it was started so; finished steps stay."""
        if self._abort_on_query and not self._ended.is_set():
            self.stop("a question came")

    def stop(self, why: str) -> None:
        self._why = why
        self._stop.set()

    def close(self) -> None:
        self.stop("the memory was closed")
        thread = self._thread
        if thread is not None:
            thread.join(_CLOSING_SECONDS)

    @property
    def is_here(self) -> bool:
        return not self._ended.is_set()

    # Starting

    def begin(self, view: "MemoryView", options: DreamRequest) -> tuple[DreamRecord, bool]:
        """The run to carry out, and whether it continues an earlier one. Conflict if one is under way."""
        store = self._service.home.store
        steps = tuple(NREM if options.phase == "nrem" else REM if options.phase == "rem" else STEPS)
        with self._lock:
            if self._running(view) is not None:
                raise _already_running()
            job = store.start_job(KIND, total=len(steps))
            fresh = DreamRecord(job=job.id, phase=options.phase, steps=steps, started_at=view.changes.now())
            try:
                with store.transaction(actor=view.actor, reason=options.rationale or "dream") as transaction:
                    record = transaction.get(COGNITION, _RUN)
                    before = None if record is None else msgspec.convert(record.data, DreamRecord)
                    # Another process may have begun one since.
                    if before is not None and self._is_alive(before):
                        raise _already_running()
                    is_left = before is not None and before.ended_at is None
                    run = msgspec.structs.replace(before, job=job.id) if before is not None and is_left else fresh
                    transaction.put(COGNITION, _RUN, run)
            except ClewError:
                store.finish_job(job.id, state="failed")
                raise
            self._stop.clear()
            self._ended.clear()
            self._abort_on_query = options.abort_on_query
        return run, run.done != ()

    def _running(self, view: "MemoryView") -> DreamRecord | None:
        run = CognitionRecords(view).get(_RUN, DreamRecord)
        return run if run is not None and self._is_alive(run) else None

    def _is_alive(self, run: DreamRecord) -> bool:
        """True while a process carries the run out."""
        if run.ended_at is not None:
            return False
        return any(job.id == run.job for job in self._service.home.store.jobs(state="running"))

    def start(self, run: DreamRecord, options: DreamRequest) -> None:
        """Carry out a run in a thread of its own."""

        def work() -> None:
            try:
                self.carry_out(run, options, lambda done, total, message: None)
            except Cancelled:
                log.info("The dream ended early: %s.", self._why)
            except ClewError as error:
                log.warning("The dream failed: %s", error)

        self._thread = start_thread("clew-dream", work)

    # Dreaming

    def carry_out(self, run: DreamRecord, options: DreamRequest, report: Report) -> DreamRecord:
        # A dream uses only what everybody may see: its proposals are shown to all.
        view = self._service.shared_view()
        until = time.monotonic() + options.duration_minutes * 60
        ending = "failed"

        def give_way() -> None:
            self._give_way(run.job, until)

        try:
            # A step may take long. Another machine must not take the dream for dead and start one.
            with renewed(self._service.home.store, run.job):
                if not run.done:
                    run = self._keep(msgspec.structs.replace(run, before=recall_of(view, give_way)))
                for step in run.left:
                    self._tell(run, step, report)
                    run = self._carried(view, run, step, options, give_way)
                run = self._checked(view, run, give_way)
                removed = Expiry(view).remove(give_way)
                run = msgspec.structs.replace(run, told={**run.told, "expired": msgspec.to_builtins(removed)})
            ending = "done"
        except Cancelled:
            ending = "cancelled"
            raise
        finally:
            self._finish(run, ending)
        return run

    def _tell(self, run: DreamRecord, step: str, report: Report) -> None:
        message = f"{phase_of(step)}: {step}"
        report(len(run.done), len(run.steps), message)
        self._service.home.store.advance_job(run.job, done=len(run.done), message=message)

    def _give_way(self, job: str, until: float) -> None:
        """Let calls go first, up to half a second; end where somebody asked for it or the time is over."""
        self._look(job)
        waited = time.monotonic() + _PATIENCE_SECONDS
        traffic = self._service.context.traffic
        while not self._stop.is_set() and traffic.quiet_for() < _QUIET_SECONDS and time.monotonic() < waited:
            self._stop.wait(_POLL_SECONDS)
        if time.monotonic() > until:
            self._why = "its time was over"
            raise Cancelled("The dream's time was over.", hint="The next one goes on where it stopped.")
        if self._stop.is_set():
            raise Cancelled(f"The dream was ended: {self._why}.", hint="The next one goes on where it stopped.")

    def _look(self, job: str) -> None:
        """End where another process asked for it."""
        now = time.monotonic()
        if now - self._looked_at >= _LOOK_SECONDS:
            self._looked_at = now
            running = self._service.home.store.jobs(state="running")
            if any(each.id == job and each.cancel_requested for each in running):
                self.stop("abort_dream")

    def _carried(
        self, view: "MemoryView", run: DreamRecord, step: str, options: DreamRequest, give_way: Callable[[], None]
    ) -> DreamRecord:
        """Carry out one step, and write its results together with a note that it is done."""
        marks = CognitionRecords(view).get(_MARKS, Marks) or Marks()
        found = STEPS[step](view, marks, options.synthetic_query_count, give_way)
        with view.changes.make(KIND, KIND, f"dream, step {step}") as change:
            write(view, change, found)
            run = msgspec.structs.replace(
                run,
                done=(*run.done, step),
                changes=(*run.changes, change.hash) if change.touched else run.changes,
                told={**run.told, **found.report},
            )
            change.note(COGNITION, _RUN, run)
            if found.marks is not None:
                change.note(COGNITION, _MARKS, found.marks)
        return run

    def _keep(self, run: DreamRecord) -> DreamRecord:
        self._service.home.store.put(COGNITION, _RUN, run, actor=KIND, reason="dream")
        return run

    def _checked(self, view: "MemoryView", run: DreamRecord, give_way: Callable[[], None]) -> DreamRecord:
        """Compare recall with that before the run, and take the run back if it dropped."""
        check, dropped = compare(run.before, recall_of(view, give_way))
        kept: list[str] = []
        for hash in reversed(run.changes) if dropped else ():
            try:
                view.changes.undo(hash, KIND)
            except Conflict:
                # Undone before the process was killed, or changed by somebody since, which stays as they left it.
                kept.append(hash)
        return msgspec.structs.replace(
            run,
            recall=check,
            changes=tuple(reversed(kept)) if dropped else run.changes,
            ended_at=view.changes.now(),
            ending="done",
        )

    def _finish(self, run: DreamRecord, ending: str) -> None:
        try:
            self._keep(run)
            store = self._service.home.store
            # A cancelled job has ended already.
            if any(job.id == run.job for job in store.jobs(state="running")):
                store.finish_job(run.job, state=ending)
        finally:
            self._ended.set()

    # Looking and stopping

    def watch(self, view: "MemoryView", report: Report, check: Callable[[], None]) -> None:
        """Report the steps of the running dream from where it is now, until it ends."""
        reported: str | None = None
        while (run := self._running(view)) is not None:
            check()
            step = run.left[0] if run.left else "recall"
            if step != reported:
                report(len(run.done), len(run.steps), f"{phase_of(step)}: {step}")
                reported = step
            if self.is_here:
                self._ended.wait(_POLL_SECONDS)
            else:
                time.sleep(_POLL_SECONDS)

    def abort(self, view: "MemoryView") -> Aborted:
        run = self._running(view)
        if run is None:
            return Aborted(
                aborted=False, abort_latency_ms=None, previous_state="awake", mandate_met=None, reason="not dreaming"
            )
        before = phase_of(run.left[0]) if run.left else "waking"
        began = time.perf_counter()
        if self.is_here:
            self.stop("abort_dream")
            ended = self._ended.wait(_CLOSING_SECONDS)
        else:
            # It runs in another process, which looks at its job all the time.
            self._service.home.store.cancel_job(run.job)
            ended = self._has_ended(run)
        took = (time.perf_counter() - began) * 1000
        return Aborted(
            aborted=ended,
            abort_latency_ms=round(took, 1) if ended else None,
            previous_state=before,
            mandate_met=took <= WAKE_MS if ended else None,
            reason="aborted; what was done stays, the next dream goes on"
            if ended
            else "it was asked to stop, and has not done so within five seconds",
        )

    def _has_ended(self, run: DreamRecord) -> bool:
        """True if the dream of another process ends soon."""
        until = time.monotonic() + _CLOSING_SECONDS
        while self._is_alive(run) and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
        return not self._is_alive(run)

    def status(self, view: "MemoryView") -> DreamStatus:
        run, running = CognitionRecords(view).get(_RUN, DreamRecord), self._running(view)
        now = view.service.context.clock()
        store = self._service.home.store
        finished = [job for job in store.jobs(limit=100) if job.kind == KIND and job.state == "done"]
        ended = run.ended_at if run is not None else None
        step = running.left[0] if running is not None and running.left else None
        return DreamStatus(
            state="awake" if running is None else phase_of(step) if step else "waking",
            is_dreaming=running is not None,
            current_step=step,
            steps_left=run.left if run is not None and run.ended_at is None else (),
            activity_level=activity(view),
            completed_cycles=len(finished),
            time_since_last_dream_secs=round((now - moment_of(ended)).total_seconds(), 3) if ended else None,
            scheduler={
                "decision": "started by trigger_dream only",
                "cooldown_remaining_secs": self.cooldown(view),
                "suggested": self._suggested(view),
            },
            expiry=Expiry(view).due(),
            last_report=run.told if run is not None else None,
            recall=run.recall if run is not None else None,
            note=f"{INSUFFICIENT}: no dream has run yet." if run is None else "What the last dream did and proposes.",
        )

    def give_up(self, view: "MemoryView") -> str:
        """Give up the rest of an unfinished dream; finished steps stay. Returns the hash that undoes it."""

        def given_up(run: DreamRecord | None) -> DreamRecord | None:
            return run and msgspec.structs.replace(run, ended_at=view.changes.now(), ending="given up")

        return CognitionRecords(view).update(
            _RUN, DreamRecord, given_up, "trigger_healing", "an unfinished dream was given up"
        )

    def _suggested(self, view: "MemoryView") -> bool:
        """True if something was written since the last dream."""
        marks = CognitionRecords(view).get(_MARKS, Marks) or Marks()
        everybody = self._service.shared_view().viewer
        return bool(view.library.index.written_after(marks.judged, everybody, 1))

    def is_available(self, view: "MemoryView") -> bool:
        """True if a dream would start now."""
        return self._running(view) is None and not self.cooldown(view)

    def cooldown(self, view: "MemoryView") -> float:
        run = CognitionRecords(view).get(_RUN, DreamRecord)
        if run is None or run.ended_at is None:
            return 0.0
        left = COOLDOWN - (view.service.context.clock() - moment_of(run.ended_at))
        return round(min(max(left.total_seconds(), 0.0), COOLDOWN.total_seconds()), 1)


def _already_running() -> Conflict:
    return Conflict("A dream is running already.", hint="get_dream_status tells how far it is.")


def activity(view: "MemoryView") -> int:
    """Questions and changes of the last ten minutes, a hundred at most."""
    since = view.service.context.clock() - _RECENT
    latest = view.service.home.happened(None, 100)
    return sum(1 for _ in takewhile(lambda each: moment_of(each[1].data["at"]) >= since, latest))


def trigger(
    view: "MemoryView", options: DreamRequest, *, blocking: bool, report: Report, check: Callable[[], None]
) -> Dreamed:
    """Start a dream; with `blocking`, report its steps until it ends, also those of a dream under way."""
    dreams = view.service.dreams
    wait = dreams.cooldown(view)
    if wait and not options.force:
        return _dreamed(view, options, error=f"The last dream ended less than a minute ago; wait {wait:g} s, or force.")
    try:
        run, resumed = dreams.begin(view, options)
    except Conflict as error:
        if blocking:
            with view.service.context.traffic.aside():
                dreams.watch(view, report, check)
        return _dreamed(view, options, error=None if blocking else error.message)
    if not blocking:
        dreams.start(run, options)
        return _dreamed(view, options, triggered=True, resumed=resumed)
    try:
        with view.service.context.traffic.aside():
            dreams.carry_out(run, options, report)
    except Cancelled as error:
        return _dreamed(view, options, triggered=True, resumed=resumed, error=error.message)
    return _dreamed(view, options, triggered=True, resumed=resumed)


def _duration(run: DreamRecord | None) -> float | None:
    if run is None or run.ended_at is None:
        return None
    return round((moment_of(run.ended_at) - moment_of(run.started_at)).total_seconds(), 3)


def _dreamed(
    view: "MemoryView",
    options: DreamRequest,
    *,
    triggered: bool = False,
    resumed: bool = False,
    error: str | None = None,
) -> Dreamed:
    dreams = view.service.dreams
    run, status = CognitionRecords(view).get(_RUN, DreamRecord), dreams.status(view)
    return Dreamed(
        triggered=triggered,
        phase=run.phase if run is not None and (triggered or status.is_dreaming) else options.phase,
        state=status.state,
        trigger_reason=options.rationale or "asked for",
        forced=options.force,
        resumed=resumed,
        steps=run.steps if run is not None else (),
        steps_done=run.done if run is not None else (),
        cooldown_remaining_secs=dreams.cooldown(view),
        error=error,
        duration_seconds=_duration(run),
        report=run.told if run is not None and not status.is_dreaming else None,
        recall=run.recall if run is not None else None,
        reversal_hashes=tuple(reversed(run.changes)) if run is not None and not status.is_dreaming else (),
    )
