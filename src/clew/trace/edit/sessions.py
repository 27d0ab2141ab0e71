"""Ownership of drafts.

Drafts belong to a session, and a session to the process that works on it. While that process lives, nobody else sees
its drafts; when it has ended, by a crash or by closing the project, the next process that opens the project takes the
session over with all that is in it.
"""

from collections.abc import Mapping
from uuid import uuid4

import msgspec

from clew.context import Context
from clew.errors import Conflict, StoreError
from clew.store.interface import Record, Store, Transaction
from clew.store.processes import Process, has_ended, this_process

SESSIONS = "draft_sessions"


class Owner(msgspec.Struct, frozen=True):
    process: Process
    token: str
    """Two projects may be open in one process."""


class Saving(msgspec.Struct, frozen=True):
    """A save under way. It is done if the store has the event of its transaction over files."""

    through: Mapping[str, int]
    """By session: the number of its last draft that is saved."""
    mutations: int
    """The number of saved mutations."""
    transaction: str = ""
    """The id of the transaction over files."""


class Session(msgspec.Struct, frozen=True):
    owner: Owner | None = None
    saved_through: int = 0
    """Drafts up to this number are in the files."""
    saved_count: int = 0
    """Mutations that were saved from here, in all."""
    saving: Saving | None = None


class Sessions:
    """The sessions of a project, as one process sees them."""

    def __init__(self, project: Context, store: Store) -> None:
        self._project = project
        self._store = store
        self._self = Owner(this_process(), uuid4().hex)
        self.own: list[str] = []
        """The ids of those that this process works on, in the order in which it came to them."""

    def all(self) -> list[tuple[str, Session]]:
        """Every session of every process."""
        return [(record.id, msgspec.convert(record.data, Session)) for record in self._records()]

    def abandoned(self) -> list[tuple[str, Session]]:
        """Sessions that nobody works on, the one used last at the end."""
        records = sorted(self._records(), key=lambda record: record.updated_at)
        found = ((record, msgspec.convert(record.data, Session)) for record in records)
        return [(record.id, session) for record, session in found if self._is_free(record, session)]

    def _records(self) -> list[Record]:
        return self._store.scan(SESSIONS, damaged=self._project.damage)

    def _is_free(self, record: Record, session: Session) -> bool:
        owner = session.owner
        return owner is None or (owner != self._self and has_ended(owner.process, last_word=record.updated_at))

    def new(self) -> str:
        """A session that nobody worked on before."""
        id = uuid4().hex
        self.claim(id)
        return id

    def claim(self, id: str) -> bool:
        """Work on a session from now on; False where another process was faster."""
        with self._store.transaction(actor=f"session {id}", reason="claim") as transaction:
            record = transaction.get(SESSIONS, id)
            session = msgspec.convert(record.data, Session) if record is not None else Session()
            if record is not None and not self._is_free(record, session):
                return False
            self.put(transaction, id, msgspec.structs.replace(session, owner=self._self))
        self.own.append(id)
        return True

    def read(self, id: str) -> Session:
        record = self._store.get(SESSIONS, id)
        return msgspec.convert(record.data, Session) if record is not None else Session()

    def put(self, transaction: Transaction, id: str, session: Session) -> None:
        transaction.put(SESSIONS, id, msgspec.to_builtins(session))

    def demand(self, transaction: Transaction, id: str) -> Session:
        """The session as the store has it. Conflict where another process took it over."""
        record = transaction.get(SESSIONS, id)
        session = msgspec.convert(record.data, Session) if record is not None else Session()
        if session.owner != self._self:
            raise Conflict(
                "Another process took over the drafts of this one, because it gave no sign of life for an hour.",
                hint="Restart the server to work on the drafts again. Nothing was changed.",
            )
        return session

    def release(self) -> None:
        """Leave the sessions to the next process."""
        if not self.own:
            return
        try:
            with self._store.transaction(actor="sessions", reason="release") as transaction:
                for id in self.own:
                    session = self.demand(transaction, id)
                    self.put(transaction, id, msgspec.structs.replace(session, owner=None))
        except (Conflict, StoreError):
            # The next process sees that this one has ended.
            pass
        self.own.clear()
