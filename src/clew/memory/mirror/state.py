"""The state of a work tree's mirror: how files and memories were when they were last in step. If it is lost,
no memory is lost: what differs is then a conflict."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from clew.derived.file import DerivedFile, FileSchema
from clew.memory.mirror.decide import InStep
from clew.store.sqlite.connections import SqliteConnection

FILE = "memory-mirror.db"
_STATEMENTS = (
    "CREATE TABLE in_step (id TEXT PRIMARY KEY, path TEXT NOT NULL, file TEXT NOT NULL, memory TEXT NOT NULL)",
    "CREATE TABLE conflicts (id TEXT PRIMARY KEY, path TEXT NOT NULL, said TEXT NOT NULL)",
    "CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
)
SCHEMA = FileSchema("What is known of the mirror", 1, _STATEMENTS, "files and memories are compared again")


class MirrorConflict(msgspec.Struct, frozen=True):
    node_id: str
    path: str
    said: str


class MirrorState:
    """The tables, inside of one transaction: only one process at a time brings a mirror in step."""

    def __init__(self, connection: SqliteConnection) -> None:
        self._connection = connection

    def in_step(self) -> dict[str, InStep]:
        rows = self._connection.execute("SELECT id, path, file, memory FROM in_step").fetchall()
        return {id: InStep(path, file, memory) for id, path, file, memory in rows}

    def settle(self, id: str, now: InStep) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO in_step VALUES (?, ?, ?, ?)", (id, now.path, now.file, now.memory)
        )
        self.agree(id)

    def drop(self, id: str) -> None:
        self._connection.execute("DELETE FROM in_step WHERE id = ?", (id,))
        self.agree(id)

    def conflicts(self) -> list[MirrorConflict]:
        rows = self._connection.execute("SELECT id, path, said FROM conflicts ORDER BY path").fetchall()
        return [MirrorConflict(*row) for row in rows]

    def disagree(self, conflict: MirrorConflict) -> None:
        row = (conflict.node_id, conflict.path, conflict.said)
        self._connection.execute("INSERT OR REPLACE INTO conflicts VALUES (?, ?, ?)", row)

    def agree(self, id: str) -> None:
        self._connection.execute("DELETE FROM conflicts WHERE id = ?", (id,))

    def get(self, name: str) -> str:
        row = self._connection.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
        return str(row[0]) if row else ""

    def set(self, name: str, value: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (name, value))


class MirrorFile(DerivedFile):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder / FILE, SCHEMA)

    @contextmanager
    def alone(self) -> Iterator[MirrorState]:
        self.follow()
        with self.writing() as connection:
            yield MirrorState(connection)

    def conflicts(self) -> list[MirrorConflict]:
        self.follow()
        with self.reading() as connection:
            return MirrorState(connection).conflicts()
