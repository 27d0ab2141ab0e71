"""The history of a project's files: commits, the paths they touched, renames and messages, read from git once.

Commits are numbered so that a child has a higher number than its parents, whatever their dates say. All commits are
noted first, without their content; readers then fill them in from the newest on, so that the history can be asked while
it is still being read.
"""

# Implements: REQ-d00362

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from clew.derived.file import DerivedFile, FileSchema
from clew.derived.sealed import checksum, sealed, unsealed
from clew.store.sqlite.connections import SqliteConnection
from clew.store.sqlite.faults import damaged
from clew.text.hashing import content_hash
from clew.workspace.git.history import CommitRecord, PathChange

FILE = "history.db"
_MOST_NAMES = 20
"""Former names of one file that are followed."""
_MOST_KEPT = 5_000
_MOST_TOUCHED = 100
"""Files of a commit that counts for how busy a file is."""
_LOOKED_AT = 50
"""Commits of which each is checked for whether it was there at a time."""
_PROVISIONAL = 1 << 40
"""Numbers from here on belong to commits that were noted before it was known how many there are."""

T = TypeVar("T")

_STATEMENTS = (
    "CREATE TABLE marks (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE commits (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, is_read INTEGER NOT NULL DEFAULT 0, time INTEGER,
        author TEXT, email TEXT, message TEXT, parents TEXT, changed INTEGER, checked INTEGER
    )""",
    "CREATE INDEX unread_commits ON commits (number) WHERE is_read = 0",
    "CREATE TABLE paths (number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE)",
    """CREATE TABLE changes (
        path INTEGER NOT NULL, commit_number INTEGER NOT NULL, status TEXT NOT NULL, old INTEGER,
        checked INTEGER NOT NULL, PRIMARY KEY (path, commit_number)
    ) WITHOUT ROWID""",
    "CREATE INDEX changes_by_commit ON changes (commit_number)",
    "CREATE INDEX changes_by_old_name ON changes (old) WHERE old IS NOT NULL",
    "CREATE TABLE kept (key TEXT PRIMARY KEY, made INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID",
)
"""`changed` is the number of paths that a commit changed, `checked` the checksum of what a row says, with ids and paths
in the place of numbers."""
SCHEMA = FileSchema("The history of the files", 3, _STATEMENTS, "it is read again")
_COMMIT = "commits.number, id, time, author, email, message, parents, changed, commits.checked"


class Commit(msgspec.Struct, frozen=True):
    number: int
    id: str
    time: int
    author: str
    email: str
    message: str
    parents: tuple[str, ...]

    @property
    def subject(self) -> str:
        return self.message.partition("\n")[0].strip()


class FileTouch(msgspec.Struct, frozen=True):
    """A commit that touched a file, under the name that the file had."""

    commit: Commit
    status: str
    path: str
    old: str | None


class HistoryState(msgspec.Struct, frozen=True):
    head: str | None
    """The commit up to which all commits are noted."""
    total: int
    unread: int
    names: str | None
    """The value of `history.renaming` (git's settings for names of authors and replaced commits) at the time when all
    commits were noted; None before that."""
    back_to: int | None
    """The time of the oldest commit behind which something is not read yet; None where all is read, or nothing."""

    @property
    def is_complete(self) -> bool:
        return self.head is not None and not self.unread


class CommitHistory:
    """Any number of threads and processes may ask and fill it."""

    def __init__(self, folder: Path) -> None:
        self._file = DerivedFile(folder / FILE, SCHEMA)

    def close(self) -> None:
        self._file.close()

    @property
    def opening(self) -> object:
        """Another one whenever the file was opened again: what was asked before may be gone from it."""
        return self._file.opening

    # Filling it

    def begin(self, newest: Sequence[str]) -> None:
        """Note the newest commits of a history of which nothing is noted yet, so that they can be shown at once."""
        with self._file.writing_latest() as connection:
            if connection.execute("SELECT 1 FROM marks WHERE name = 'head'").fetchone() is None:
                rows = ((_PROVISIONAL + len(newest) - place, id) for place, id in enumerate(newest))
                connection.executemany("INSERT OR IGNORE INTO commits (number, id) VALUES (?, ?)", rows)

    def plan(self, head: str, new: Sequence[str], gone: Iterable[str], names: str = "") -> None:
        """Note the commits that lead to `head`: the `new` ones, children before their parents, and those that are
        `gone`. `names` stands for the mapping of authors and the replacements of commits; if it differs from the noted
        one, everything noted is dropped, and `new` has to hold all commits."""
        with self._file.writing_latest() as connection:
            before = connection.execute("SELECT value FROM marks WHERE name = 'names'").fetchone()
            if before is not None and before[0] != names:
                for table in ("changes", "commits", "kept"):
                    connection.execute(f"DELETE FROM {table}")  # noqa: S608
            connection.execute("INSERT OR REPLACE INTO marks VALUES ('names', ?)", (names,))
            for chunk in _chunks(list(gone)):
                marks = ", ".join("?" * len(chunk))
                numbers = f"SELECT number FROM commits WHERE id IN ({marks})"  # noqa: S608
                connection.execute(f"DELETE FROM changes WHERE commit_number IN ({numbers})", chunk)  # noqa: S608
                connection.execute(f"DELETE FROM commits WHERE id IN ({marks})", chunk)  # noqa: S608
            query = "SELECT coalesce(max(number), 0) FROM commits WHERE number < ?"
            (last,) = connection.execute(query, (_PROVISIONAL,)).fetchone()
            rows = [(last + len(new) - place, id) for place, id in enumerate(new)]
            _settle(connection, {id: number for number, id in rows})
            connection.executemany("INSERT OR IGNORE INTO commits (number, id) VALUES (?, ?)", rows)
            connection.execute("INSERT OR REPLACE INTO marks VALUES ('head', ?)", (head,))

    def known(self) -> set[str]:
        """The ids of all commits that are noted."""
        with self._file.reading_latest() as connection:
            return {id for (id,) in connection.execute("SELECT id FROM commits")}

    def unread(self, limit: int) -> list[str]:
        """The newest commits that are not read yet."""
        query = "SELECT id FROM commits WHERE is_read = 0 ORDER BY number DESC LIMIT ?"
        with self._file.reading_latest() as connection:
            return [id for (id,) in connection.execute(query, (limit,))]

    def put(self, records: Sequence[CommitRecord], asked: Sequence[str]) -> None:
        """Fill in commits. A commit that was asked for and did not come counts as read, because git does not have
        it."""
        with self._file.writing_latest() as connection:
            names = {path for each in records for change in each.changes for path in (change.path, change.old) if path}
            connection.executemany("INSERT OR IGNORE INTO paths (path) VALUES (?)", [(name,) for name in sorted(names)])
            paths = _numbers(connection, "SELECT path, number FROM paths WHERE path IN ({})", names)
            commits = _numbers(connection, "SELECT id, number FROM commits WHERE id IN ({})", asked)
            update = (
                "UPDATE commits SET is_read=1, time=?, author=?, email=?, message=?, parents=?, changed=?, checked=? "
                "WHERE id=?"
            )
            connection.executemany(update, [_row(each) for each in records])
            connection.executemany(
                "INSERT OR REPLACE INTO changes VALUES (?, ?, ?, ?, ?)",
                [
                    (
                        *(paths[change.path], commits[each.id], change.status),
                        *(paths[change.old] if change.old else None, _checksum(each.id, change)),
                    )
                    for each in records
                    if each.id in commits
                    for change in each.changes
                ],
            )
            missing = set(asked) - {each.id for each in records}
            connection.executemany(update, [_row(CommitRecord(id, (), 0, "", "", "")) for id in sorted(missing)])

    # Asking it

    def state(self) -> HistoryState:
        with self._file.reading_latest() as connection:
            head = connection.execute("SELECT value FROM marks WHERE name = 'head'").fetchone()
            names = connection.execute("SELECT value FROM marks WHERE name = 'names'").fetchone()
            (total,) = connection.execute("SELECT count(*) FROM commits").fetchone()
            unread, last = connection.execute("SELECT count(*), max(number) FROM commits WHERE is_read = 0").fetchone()
            back_to = None
            if head is None:
                (back_to,) = connection.execute("SELECT min(time) FROM commits WHERE time > 0").fetchone()
            elif unread:
                query = "SELECT time FROM commits WHERE number > ? AND time > 0 ORDER BY number LIMIT 1"
                row = connection.execute(query, (last,)).fetchone()
                back_to = row[0] if row else None
        return HistoryState(head[0] if head else None, total, unread, names[0] if names else None, back_to)

    def of_path(self, path: str, limit: int = 100) -> list[FileTouch]:
        """The commits that touched a file, newest first, also under the names that it had before."""
        with self._file.reading_latest() as connection:
            found = list(self._touches(connection, path, limit))
            if not found and self._is_left_out(connection, path):
                raise damaged(self._file.path, "what is there of a path is not found")
            return found

    # Implements: REQ-d00645-B
    def _is_left_out(self, connection: SqliteConnection, path: str) -> bool:
        """True if a path is there without the index, and the file is damaged: two pages of an index in each other's
        place lead to nothing, and to no error."""
        there = connection.execute("SELECT 1 FROM paths WHERE +path = ?", (path,)).fetchone()
        return there is not None and connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",)

    def renamed_to(self, path: str) -> FileTouch | None:
        """The last commit that gave a file of this name another one."""
        query = """
            SELECT later.path, changes.commit_number FROM paths JOIN changes ON changes.old = paths.number
            JOIN paths AS later ON later.number = changes.path
            WHERE paths.path = ? AND changes.status = 'R' ORDER BY changes.commit_number DESC LIMIT 1
            """
        with self._file.reading_latest() as connection:
            row = connection.execute(query, (path,)).fetchone()
            found = self._named(connection, row[0], row[1] + 1, 1) if row else []
        return found[0] if found else None

    def changed_since(self, path: str, number: int) -> list[FileTouch]:
        """The commits behind a commit's number that touched the file, oldest first."""
        with self._file.reading_latest() as connection:
            found = [touch for touch in self._named(connection, path, 1 << 62, 500) if touch.commit.number > number]
        return found[::-1]

    def commits(self, ids: Iterable[str]) -> dict[str, Commit]:
        """The commits with these ids, as far as they are read."""
        found: dict[str, Commit] = {}
        with self._file.reading_latest() as connection:
            for chunk in _chunks(list(dict.fromkeys(ids))):
                marks = ", ".join("?" * len(chunk))
                query = f"SELECT {_COMMIT} FROM commits WHERE is_read = 1 AND id IN ({marks})"  # noqa: S608
                found.update((row[1], self._commit(row)) for row in connection.execute(query, chunk))
        return found

    def touched_by(self, id: str) -> list[PathChange]:
        """The paths that a commit changed. As many as the commit says: a damaged index leaves rows out."""
        one = f"SELECT {_COMMIT} FROM commits WHERE is_read = 1 AND id = ?"  # noqa: S608
        query = """
            SELECT changes.status, paths.path, earlier.path, changes.checked FROM changes
            JOIN paths ON paths.number = changes.path LEFT JOIN paths AS earlier ON earlier.number = changes.old
            WHERE changes.commit_number = ? ORDER BY paths.path
            """
        with self._file.reading_latest() as connection:
            commit = connection.execute(one, (id,)).fetchone()
            if commit is None:
                return []
            number = self._commit(commit).number
            found = [self._change(id, *row) for row in connection.execute(query, (number,))]
            if len(found) != commit[-2]:
                raise damaged(self._file.path, "changes of a commit are missing")
            return found

    def naming(self, text: str, limit: int) -> list[Commit]:
        """The newest commits whose message holds a text."""
        query = f"""
            SELECT {_COMMIT} FROM commits WHERE is_read = 1 AND instr(message, ?) ORDER BY number DESC LIMIT ?
            """  # noqa: S608
        with self._file.reading_latest() as connection:
            return [self._commit(row) for row in connection.execute(query, (text, limit))]

    def author_count(self) -> int:
        """The number of names of authors."""
        with self._file.reading_latest() as connection:
            query = "SELECT count(DISTINCT author) FROM commits WHERE is_read = 1 AND time > 0"
            (number,) = connection.execute(query).fetchone()
        return int(number)

    def latest(self, limit: int) -> list[Commit]:
        query = f"SELECT {_COMMIT} FROM commits WHERE is_read = 1 ORDER BY number DESC LIMIT ?"  # noqa: S608
        with self._file.reading_latest() as connection:
            return [self._commit(row) for row in connection.execute(query, (limit,))]

    def latest_here(self, limit: int) -> list[Commit]:
        """The newest commits that touched a file of the project, which may be one folder of its repository."""
        query = f"""
            SELECT {_COMMIT} FROM commits
            WHERE is_read = 1 AND EXISTS (SELECT 1 FROM changes WHERE commit_number = number)
            ORDER BY number DESC LIMIT ?
            """  # noqa: S608
        with self._file.reading_latest() as connection:
            return [self._commit(row) for row in connection.execute(query, (limit,))]

    def busiest(self, commits: int, limit: int) -> list[tuple[str, int]]:
        """The paths that the newest commits touched most often, each with how many of them did. A commit that touches
        very many files, such as an import, says nothing about any of them."""
        query = """
            WITH recent AS (SELECT number FROM commits WHERE is_read = 1 ORDER BY number DESC LIMIT ?),
            narrow AS (
                SELECT commit_number FROM changes WHERE commit_number IN (SELECT number FROM recent)
                GROUP BY commit_number HAVING count(*) <= ?
            )
            SELECT paths.path, count(*) AS times FROM changes JOIN paths ON paths.number = changes.path
            WHERE commit_number IN (SELECT commit_number FROM narrow) AND status != 'D'
            GROUP BY paths.path ORDER BY times DESC, max(commit_number) DESC, paths.path LIMIT ?
            """
        with self._file.reading_latest() as connection:
            return connection.execute(query, (commits, _MOST_TOUCHED, limit)).fetchall()

    def at(self, moment: int) -> Commit | None:
        """The newest commit that was there at a time. The newest of all are looked at one by one: a damaged time would
        only leave its commit out of a search by time."""
        newest = f"SELECT {_COMMIT} FROM commits WHERE is_read = 1 ORDER BY number DESC LIMIT {_LOOKED_AT}"  # noqa: S608
        query = f"SELECT {_COMMIT} FROM commits WHERE is_read = 1 AND time <= ? ORDER BY number DESC LIMIT 1"  # noqa: S608
        with self._file.reading_latest() as connection:
            for row in connection.execute(newest).fetchall():
                commit = self._commit(row)
                if commit.time <= moment:
                    return commit
            row = connection.execute(query, (moment,)).fetchone()
            return self._commit(row) if row else None

    def mark(self, name: str) -> str | None:
        """A value that was set beside the history."""
        with self._file.reading_latest() as connection:
            row = connection.execute("SELECT value FROM marks WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def set_mark(self, name: str, value: str) -> None:
        with self._file.writing_latest() as connection:
            connection.execute("INSERT OR REPLACE INTO marks VALUES (?, ?)", (name, value))

    # What git was asked before

    def kept(self, type_: type[T], *about: str) -> T | None:
        """The value stored under these words; None also if it is damaged."""
        with self._file.reading_latest() as connection:
            row = connection.execute("SELECT value FROM kept WHERE key = ?", (_key(about),)).fetchone()
        value = unsealed(row[0], _key(about)) if row else None
        return msgspec.msgpack.decode(value, type=type_) if value is not None else None

    def keep(self, value: object, *about: str) -> None:
        with self._file.writing_latest() as connection:
            key = _key(about)
            row = (key, time.time_ns(), sealed(msgspec.msgpack.encode(value), key))
            connection.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", row)
            (count,) = connection.execute("SELECT count(*) FROM kept").fetchone()
            if count > _MOST_KEPT:
                oldest = "SELECT key FROM kept ORDER BY made LIMIT ?"
                connection.execute(f"DELETE FROM kept WHERE key IN ({oldest})", (count // 2,))  # noqa: S608

    # Reading rows

    def _touches(self, connection: SqliteConnection, path: str, limit: int) -> Iterator[FileTouch]:
        before, left = 1 << 62, limit
        for _ in range(_MOST_NAMES):
            renamed = None
            for touch in self._named(connection, path, before, left):
                left -= 1
                yield touch
                if touch.old is not None and touch.status in "RC":
                    renamed = touch
                    break
            if renamed is None or renamed.old is None or left <= 0:
                return
            path, before = renamed.old, renamed.commit.number

    def _named(self, connection: SqliteConnection, path: str, before: int, limit: int) -> list[FileTouch]:
        """The commits that touched a path, under this name, before a commit's number; newest first."""
        query = f"""
            SELECT {_COMMIT}, changes.status, paths.path, earlier.path, changes.checked
            FROM paths JOIN changes ON changes.path = paths.number
            JOIN commits ON commits.number = changes.commit_number
            LEFT JOIN paths AS earlier ON earlier.number = changes.old
            WHERE paths.path = ? AND changes.commit_number < ? ORDER BY changes.commit_number DESC LIMIT ?
            """  # noqa: S608
        rows = connection.execute(query, (path, before, limit)).fetchall()
        found = []
        for row in rows:
            change = self._change(row[1], *row[9:])
            found.append(FileTouch(self._commit(row[:9]), change.status, change.path, change.old))
        return found

    def _commit(self, row: Sequence[Any]) -> Commit:
        number, *said = row
        ((id, at, author, email, message, parents, _),) = self._file.checked([tuple(said)])
        return Commit(number, id, at, author, email, message, tuple(parents.split()))

    def _change(self, id: str, status: str, path: str, old: str | None, expected: int) -> PathChange:
        self._file.checked([(id, status, path, old, expected)])
        return PathChange(status, path, old)


def _settle(connection: SqliteConnection, numbers: dict[str, int]) -> None:
    """Renumber the commits that were noted first, now that all are known."""
    query = "SELECT id, number FROM commits WHERE number >= ?"
    for id, before in connection.execute(query, (_PROVISIONAL,)).fetchall():
        if id in numbers:
            connection.execute("UPDATE changes SET commit_number = ? WHERE commit_number = ?", (numbers[id], before))
            connection.execute("UPDATE commits SET number = ? WHERE number = ?", (numbers[id], before))


def _row(record: CommitRecord) -> tuple[object, ...]:
    parents = " ".join(record.parents)
    changed = len({change.path for change in record.changes})
    said = record.time, record.author, record.email, record.message, parents, changed
    return *said, checksum(record.id, *said), record.id


def _checksum(id: str, change: PathChange) -> int:
    return checksum(id, change.status, change.path, change.old or None)


def _numbers(connection: SqliteConnection, query: str, names: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for chunk in _chunks(list(names)):
        found.update(connection.execute(query.format(", ".join("?" * len(chunk))), chunk).fetchall())
    return found


def _chunks(values: list[str], size: int = 500) -> Iterator[list[str]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _key(about: Sequence[str]) -> str:
    return content_hash("\0".join(about).encode("utf-8", "surrogatepass"))
