"""Outcomes of memories that were shown: used, ignored, corrected or undone. All learning comes from here.

Read from what the store notes of questions and changes, each event once. Every memory that a question showed is a
prediction: that it will be used. It is

- used, when it is read in full, annotated, weighed or merged afterwards,
- corrected, when it is edited or superseded, and undone, when it is forgotten or its storing is taken back,
- ignored, when three further questions of the session showed something without any of that,
- whatever observe_outcome says, where somebody says it.

Undoing what settled an outcome opens it again.
"""

import threading
from collections import Counter, deque
from collections.abc import Sequence
from copy import copy
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from clew.memory.model import CHANGES, EXCHANGES, MEMORIES
from clew.memory.storage.changes import ChangeRecord, moment_of
from clew.store.interface import Record
from clew.text.hashing import content_hash

if TYPE_CHECKING:
    from clew.memory.service import MemoryView
    from clew.memory.storage.home import Home

Kind = Literal["used", "ignored", "corrected", "undone", "told"]
FEWEST = 10
KEPT = timedelta(hours=24)
"""Time in which the outcome of a prediction can be reported."""
OBSERVED = "observe_outcome"
_ASKING = ("search_graph", "inject_context")
_READING = "hydrate_citation"
_USING = ("annotate", "boost", "merge")
_IGNORED_AFTER = 3
_PAGE = 500
_MOST_READ = 20_000
_MOST = 2_000
_MOST_WALKS = 2_000


class Prediction(msgspec.Struct):
    """A memory that a question showed."""

    id: str
    at: str
    session: str | None
    memory: str
    domain: str
    similarity: float
    novelty: float
    """1 / (1 + how often it was shown before)."""
    later: int = 0
    """Questions of the session since."""
    outcome: Kind | None = None
    actual: float | None = None
    settled_at: str | None = None
    settled_by: str | None = None
    """The change that did, if any."""
    before: "Prediction | None" = None
    """As it was before it was settled last."""


class MemoryUse(msgspec.Struct, frozen=True):
    """A prediction with a known outcome."""

    at: str
    domain: str
    similarity: float
    novelty: float
    actual: float
    kind: Kind


class Observations:
    """Everything that was observed, read again only where something happened since."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        self._seq = 0
        self._predictions: deque[Prediction] = deque(maxlen=_MOST)
        self._by_id: dict[str, Prediction] = {}
        self._shown: Counter[str] = Counter()
        self.walks: deque[tuple[str, ...]] = deque(maxlen=_MOST_WALKS)
        """Paths along which somebody walked from memory to memory."""
        self.together: deque[tuple[int, tuple[str, ...]]] = deque(maxlen=_MOST)
        """Memories that were shown together, with the number of the event."""

    def read(self, home: "Home") -> "Observations":
        with self._lock:
            for seq, record in reversed(self._news(home)):
                self._seq = seq
                if record.collection == EXCHANGES:
                    self._asked(home, seq, record.id, record.data)
                elif record.collection == CHANGES:
                    self._changed(home, record.id, msgspec.convert(record.data, ChangeRecord))
        return self

    def _news(self, home: "Home") -> list[tuple[int, Record]]:
        """The events since the last reading, latest first; at the first reading, those of as many days as predictions
        are stored."""
        if not self._seq:
            # What happened before the first of these questions says nothing about what they showed.
            first, last = home.index.exchanges_from(_MOST)
            self._seq = last if first is None else first - 1
        found: list[tuple[int, Record]] = []
        before, shown = None, 0
        while shown < _MOST and len(found) < _MOST_READ and (page := home.happened(before, _PAGE, after=self._seq)):
            found += page
            before = page[-1][0]
            shown += sum(len(record.data.get("scores") or ()) for _, record in page if record.collection == EXCHANGES)
        return found

    def _asked(self, home: "Home", seq: int, id: str, exchange: dict[str, Any]) -> None:
        tool, session, at = exchange.get("tool", ""), exchange.get("session"), exchange.get("at", "")
        shown: Sequence[str] = exchange.get("shown") or ()
        if path := exchange.get("path"):
            self.walks.append(tuple(path))
        if tool == _READING:
            self._settle(shown, "used", at, session=session)
        if tool not in _ASKING or not shown:
            return
        self.together.append((seq, tuple(shown)))
        for each in self._open(session=session):
            each.later += 1
            if each.later >= _IGNORED_AFTER:
                _settled(each, "ignored", 0.0, at)
        known = home.store.get_many(MEMORIES, shown)
        for memory, similarity in zip(shown, exchange.get("scores") or (), strict=False):
            domain = known[memory].data.get("domain", "General") if memory in known else "General"
            made = Prediction(
                id=content_hash(f"{id} {memory}".encode(), 8),
                at=at,
                session=session,
                memory=memory,
                domain=domain,
                similarity=min(max(float(similarity), 0.0), 1.0),
                novelty=1 / (1 + self._shown[memory]),
            )
            self._shown[memory] += 1
            self._add(made)

    def _add(self, made: Prediction) -> None:
        if len(self._predictions) == _MOST:
            self._by_id.pop(self._predictions[0].id, None)
        self._predictions.append(made)
        self._by_id[made.id] = made

    def _changed(self, home: "Home", hash: str, change: ChangeRecord) -> None:
        memories, at = change.memories, change.at
        if change.operation in _USING:
            self._settle(memories, "used", at, by=hash)
        elif change.operation in ("edit", "store"):
            self._settle(memories if change.operation == "edit" else memories[1:], "corrected", at, by=hash)
        elif change.operation in ("forget", "erase"):
            self._settle(memories, "undone", at, by=hash)
        elif change.operation == "restore":
            self._restored(home, hash, change)
        elif change.operation == OBSERVED and (prediction := self._by_id.get(change.details.get("prediction_id", ""))):
            _settled(prediction, "told", float(change.details["actual"]), at, hash)

    def _restored(self, home: "Home", hash: str, change: ChangeRecord) -> None:
        """Undo the effect of a change that was undone: its outcomes are open again, and its observations removed."""
        undone = {change.details.get("of"), *change.details.get("with", ())} - {None}
        for each in self._predictions:
            if each.settled_by in undone:
                _reopened(each)
        records = home.store.get_many(CHANGES, [each for each in undone if each])
        stored = [
            id
            for record in records.values()
            if record.data["operation"] == "store"
            for id in record.data["memories"][:1]
        ]
        self._settle(stored, "undone", change.at, by=hash)

    def _open(self, *, session: str | None) -> list[Prediction]:
        return [each for each in self._predictions if each.outcome is None and each.session == session]

    def _settle(
        self, memories: Sequence[str], kind: Kind, at: str, *, session: str | None = None, by: str | None = None
    ) -> None:
        """The outcomes of memories that were shown within a day."""
        wanted, oldest = set(memories), moment_of(at) - KEPT
        for each in self._predictions:
            if each.outcome is not None or each.memory not in wanted or moment_of(each.at) < oldest:
                continue
            if session is None or each.session == session:
                _settled(each, kind, 1.0 if kind == "used" else 0.0, at, by)

    def prediction(self, id: str) -> Prediction | None:
        with self._lock:
            return self._by_id.get(id)

    def latest_open(self, limit: int) -> list[Prediction]:
        with self._lock:
            return [each for each in reversed(self._predictions) if each.outcome is None][:limit]

    def outcomes(self, domain: str | None = None, since: datetime | None = None) -> list[MemoryUse]:
        """The known outcomes, in the order in which the memories were shown."""
        with self._lock:
            return [
                MemoryUse(each.at, each.domain, each.similarity, each.novelty, each.actual, each.outcome)
                for each in self._predictions
                if each.outcome is not None
                and each.actual is not None
                and (domain is None or each.domain == domain)
                and (since is None or moment_of(each.at) >= since)
            ]


def _settled(prediction: Prediction, kind: Kind, actual: float, at: str, by: str | None = None) -> None:
    prediction.before = copy(prediction)
    prediction.outcome, prediction.actual, prediction.settled_at, prediction.settled_by = kind, actual, at, by


def _reopened(prediction: Prediction) -> None:
    before = prediction.before
    if before is not None:
        prediction.outcome, prediction.actual, prediction.before = before.outcome, before.actual, before.before
        prediction.settled_at, prediction.settled_by = before.settled_at, before.settled_by


def observed(view: "MemoryView") -> Observations:
    """The observations, with everything that happened until now."""
    return view.service.observations.read(view.service.home)


def expected(outcome: MemoryUse | Prediction, lambda_s: float) -> float:
    """The probability with which the use of a memory was expected: similarity to the question and novelty, weighed by
    the lambdas."""
    return lambda_s * outcome.novelty + (1 - lambda_s) * outcome.similarity
