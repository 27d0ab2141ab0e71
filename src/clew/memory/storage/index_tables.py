"""The tables of the memory's index, and how an event of the store changes them."""

from collections.abc import Callable

import msgspec

from clew.derived.file import FileSchema
from clew.memory.model import CHANGES, EXCHANGES, LINKS, MEMORIES, Link, Memory
from clew.memory.storage.citations import VERSION
from clew.store.interface import Event
from clew.store.sqlite.connections import SqliteConnection
from clew.text.hashing import content_hash

_STATEMENTS = (
    "CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    """
    CREATE TABLE memories (
        id TEXT PRIMARY KEY, hex TEXT NOT NULL, kind TEXT NOT NULL, text_hash TEXT NOT NULL, folder TEXT NOT NULL,
        branch TEXT, agent TEXT, visibility TEXT NOT NULL, session TEXT, trust TEXT NOT NULL, domain TEXT NOT NULL,
        importance REAL NOT NULL, confidence REAL, flagged INTEGER NOT NULL,
        waits INTEGER NOT NULL, recorded_at TEXT NOT NULL, retired_at TEXT,
        made INTEGER NOT NULL, written INTEGER NOT NULL, written_at TEXT NOT NULL, deleted INTEGER, deleted_at TEXT,
        shown INTEGER NOT NULL DEFAULT 0, shown_at TEXT, shown_last INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID
    """,
    "CREATE INDEX memories_by_hex ON memories (hex)",
    "CREATE INDEX memories_by_text ON memories (text_hash)",
    "CREATE INDEX memories_by_use ON memories (max(made, shown_last))",
    "CREATE INDEX memories_by_write ON memories (written)",
    "CREATE INDEX memories_rewritten ON memories (written_at) WHERE written > made",
    "CREATE INDEX memories_by_deletion ON memories (deleted) WHERE deleted IS NOT NULL",
    "CREATE INDEX memories_by_age ON memories (made)",
    "CREATE INDEX memories_by_time ON memories (recorded_at)",
    "CREATE INDEX memories_by_importance ON memories (importance)",
    "CREATE INDEX memories_by_kind ON memories (kind, made)",
    "CREATE INDEX memories_episodes ON memories (recorded_at) WHERE kind = 'episode' AND deleted IS NULL",
    "CREATE INDEX memories_flagged ON memories (made) WHERE flagged",
    # Came from a document and were not accepted by anybody yet.
    "CREATE INDEX memories_waiting ON memories (made) WHERE waits",
    # Counted while events are read: who asks how much there is must not wait for a hundred thousand rows.
    """
    CREATE TABLE figures (
        deleted INTEGER, folder TEXT NOT NULL, visibility TEXT NOT NULL, agent TEXT, kind TEXT NOT NULL,
        domain TEXT NOT NULL, number INTEGER NOT NULL, importance REAL NOT NULL, squares REAL NOT NULL
    )
    """,
    """
    CREATE TABLE links (
        id TEXT PRIMARY KEY, source TEXT NOT NULL, target TEXT NOT NULL, kind TEXT NOT NULL, weight REAL NOT NULL,
        confidence REAL NOT NULL, origin TEXT NOT NULL, is_cite INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
    "CREATE INDEX links_by_source ON links (source)",
    "CREATE INDEX links_by_target ON links (target)",
    "CREATE INDEX links_by_kind ON links (kind, weight) WHERE is_cite = 0",
    "CREATE INDEX links_superseding ON links (target) WHERE kind = 'supersedes' AND is_cite = 0",
    "CREATE TABLE touched (memory TEXT NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL)",
    "CREATE INDEX touched_by_memory ON touched (memory)",
    "CREATE TABLE happened (seq INTEGER PRIMARY KEY, collection TEXT NOT NULL, id TEXT NOT NULL)",
    """
    CREATE TABLE shown (
        session TEXT NOT NULL, memory TEXT NOT NULL, seq INTEGER NOT NULL, injected INTEGER NOT NULL,
        PRIMARY KEY (session, memory)
    ) WITHOUT ROWID
    """,
)
SCHEMA = FileSchema("The index of the memory", VERSION, _STATEMENTS, "it is rebuilt from the store")

_PUT_MEMORY = """
    INSERT INTO memories (id, hex, kind, text_hash, folder, branch, agent, visibility, session, trust, domain,
        importance, confidence, flagged, waits, recorded_at, retired_at, made, written, written_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
        kind = excluded.kind, text_hash = excluded.text_hash, folder = excluded.folder, branch = excluded.branch,
        agent = excluded.agent, visibility = excluded.visibility, session = excluded.session, trust = excluded.trust,
        domain = excluded.domain, importance = excluded.importance, confidence = excluded.confidence,
        flagged = excluded.flagged, waits = excluded.waits, recorded_at = excluded.recorded_at,
        retired_at = excluded.retired_at,
        written = excluded.written, written_at = excluded.written_at, deleted = NULL, deleted_at = NULL
"""


def text_hash(text: str) -> str:
    return content_hash(" ".join(text.split()).casefold().encode("utf-8", "replace"))


def apply_event(connection: SqliteConnection, event: Event) -> None:
    """Bring the tables in step with one event."""
    apply = _APPLY.get(event.collection)
    if apply is not None:
        apply(connection, event)


def _apply_memory(connection: SqliteConnection, event: Event) -> None:
    connection.execute("DELETE FROM links WHERE source = ? AND is_cite", (event.id,))
    _tally(connection, event.id, -1)
    if event.after is None:
        connection.execute(
            "UPDATE memories SET deleted = ?, deleted_at = ?, written = ? WHERE id = ?",
            (event.seq, event.at, event.seq, event.id),
        )
        _tally(connection, event.id, 1)
        return
    memory = msgspec.convert(event.after, Memory)
    scope, origin = memory.scope, memory.origin
    connection.execute(
        _PUT_MEMORY,
        (
            *(memory.id, memory.id.replace("-", ""), memory.kind.value, text_hash(memory.text), scope.folder),
            *(scope.branch, scope.agent, scope.visibility, origin.session, origin.trust.value, memory.domain),
            *(memory.importance, memory.confidence, bool(memory.flags), not memory.is_accepted),
            *(memory.recorded_at, memory.retired_at),
            *(event.seq, event.seq, event.at),
        ),
    )
    _tally(connection, memory.id, 1)
    for cite in memory.cites:
        # One row for each way in which a node is cited, whatever the order.
        id = f"{memory.id}.{cite.kind.value}.{cite.node}"
        row = (id, memory.id, cite.node, cite.kind.value, 1.0, 1.0, "", True)
        connection.execute("INSERT OR REPLACE INTO links VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)


def drop_memory(connection: SqliteConnection, id: str) -> None:
    """Know nothing more of a memory that was erased from the store."""
    _tally(connection, id, -1)
    connection.execute("DELETE FROM memories WHERE id = ? AND deleted IS NOT NULL", (id,))


def _tally(connection: SqliteConnection, id: str, by: int) -> None:
    """Count a memory in the figures, or no longer."""
    row = connection.execute(
        "SELECT nullif(deleted IS NOT NULL, 0), folder, visibility, agent, kind, domain, importance FROM memories"
        " WHERE id = ?",
        (id,),
    ).fetchone()
    if row is None:
        return
    *group, importance = row
    added = (by, by * importance, by * importance * importance)
    done = connection.execute(
        "UPDATE figures SET number = number + ?, importance = importance + ?, squares = squares + ?"
        " WHERE deleted IS ? AND folder = ? AND visibility = ? AND agent IS ? AND kind = ? AND domain = ?",
        (*added, *group),
    )
    if not done.rowcount:
        connection.execute("INSERT INTO figures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*group, *added))


def _apply_link(connection: SqliteConnection, event: Event) -> None:
    if event.after is None:
        connection.execute("DELETE FROM links WHERE id = ?", (event.id,))
        return
    link = msgspec.convert(event.after, Link)
    row = (link.id, link.source, link.target, link.kind.value, link.weight, link.confidence, link.origin, False)
    connection.execute("INSERT OR REPLACE INTO links VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)


def _apply_change(connection: SqliteConnection, event: Event) -> None:
    connection.execute("INSERT INTO happened VALUES (?, ?, ?)", (event.seq, event.collection, event.id))
    for memory in (event.after or {}).get("memories", ()):
        connection.execute("INSERT INTO touched VALUES (?, ?, ?)", (memory, event.seq, event.id))


def _apply_exchange(connection: SqliteConnection, event: Event) -> None:
    exchange = event.after or {}
    connection.execute("INSERT INTO happened VALUES (?, ?, ?)", (event.seq, event.collection, event.id))
    for memory in exchange.get("shown", ()):
        connection.execute(
            "UPDATE memories SET shown = shown + 1, shown_at = ?, shown_last = ? WHERE id = ?",
            (exchange["at"], event.seq, memory),
        )
    if exchange.get("session"):
        if exchange.get("compacted"):
            # What the client no longer has in its context may be injected again.
            connection.execute("UPDATE shown SET injected = 0 WHERE session = ?", (exchange["session"],))
        injected = bool(exchange.get("injected"))
        rows = [(exchange["session"], memory, event.seq, injected) for memory in exchange["shown"]]
        connection.executemany(
            "INSERT INTO shown VALUES (?, ?, ?, ?) ON CONFLICT (session, memory) DO UPDATE SET"
            " seq = excluded.seq, injected = max(injected, excluded.injected)",
            rows,
        )


_APPLY: dict[str, Callable[[SqliteConnection, Event], None]] = {
    MEMORIES: _apply_memory,
    LINKS: _apply_link,
    CHANGES: _apply_change,
    EXCHANGES: _apply_exchange,
}
