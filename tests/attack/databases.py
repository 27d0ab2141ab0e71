"""Damaged and crafted databases: bytes change below `.clew`, or a file is there that somebody made.

Afterwards a user goes on as before. No command ends as a fault of Clew, and what is shown is what the whole project
shows, unless the answer says what is missing or what is made anew.
"""

import contextlib
import io
import os
import random
import re
import shutil
import sqlite3
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from tests.attack.outcome import Outcome

from clew.store.sqlite.note import note_of
from clew.surfaces.cli.main import main

DEMO = Path(__file__).parents[2] / "examples" / "demo"
_MAGIC = b"SQLite format 3\0"
_FAULT, _INTERRUPTED = 3, 130
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("status",),
    ("show", "REQ-d00001"),
    ("why", "src/fairwater/tables.py:3"),
    ("why", "read_table"),
    ("search", "water", "--limit", "5"),
    ("kb", "search", "harbour"),
    ("kb", "ask", "how much water is needed"),
    ("memory", "list"),
    ("recall", "harbour"),
    ("req", "list"),
)
_AUTHORED = {"clew.db", "memory.db"}
_SAYS_SO = re.compile(
    r"damaged|made anew|anew from|not complete|still being|read again|missing|left out|Not known|did not make"
    r"|another program|by another version|Update Clew to the version that wrote|not built yet|not looked for",
    re.IGNORECASE,
)
_STEADY = re.compile(r"\d+(?:\.\d+)? ?(?:ms|s)\b|\d{4}-\d\d-\d\d(?:[T ][0-9:.]+Z?)?|just now|\d+ \w+ ago")


class Said(NamedTuple):
    code: int
    output: str
    notes: str


def run(rounds: int) -> Outcome:
    """Damage one database after the other, so many times, and put each crafted file in the place of each."""
    with tempfile.TemporaryDirectory() as folder:
        project = Damaged(Path(folder))
        faults, counts = damaging(project, rounds, Path.write_bytes)
        crafted = [(craft, name) for craft in sorted(CRAFTED) for name in sorted(project.whole)]
        for craft, name in crafted:
            with project.restored():
                CRAFTED[craft](project.root / name)
                faults += [f"{craft} in {name}: {fault}" for fault in project.faults(name, crafted=True)]
            counts["crafted"] += 1
    return Outcome(rounds + len(crafted), tuple(faults), dict(counts))


def damaging(project: "Damaged", rounds: int, write: Callable[[Path, bytes], object]) -> tuple[list[str], Counter[str]]:
    """What got through when one database after the other was damaged, and how often each was."""
    faults: list[str] = []
    counts: Counter[str] = Counter()
    chance = random.Random(rounds)
    names = sorted(project.whole)
    for number in range(rounds):
        name = names[number % len(names)]
        what = chance.choice(sorted(DAMAGES))
        with project.restored():
            write(project.root / name, DAMAGES[what](chance, project.whole[name]))
            faults += [f"{what} in {name} (round {number}): {fault}" for fault in project.faults(name)]
        counts[Path(name).name] += 1
    return faults, counts


class Damaged:
    """A project whose databases are damaged, and put back."""

    def __init__(self, folder: Path, commands: tuple[tuple[str, ...], ...] = COMMANDS) -> None:
        self.root = folder / "project"
        self._commands = commands
        ignored = shutil.ignore_patterns(".clew", "__pycache__", ".pytest_cache")
        shutil.copytree(DEMO, self.root, ignore=ignored)
        for step in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Begin with REQ-d00001"]):
            who = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
            subprocess.run(["git", *who, *step], cwd=self.root, check=True, capture_output=True)
        with contextlib.chdir(self.root):
            for text in ("The harbour closes at night.", "Tables are in UTC because of the summer time bug."):
                say(("remember", text, "--why", "decided by the harbour master", "--about", "src/fairwater/tables.py"))
            # Twice: what is filled in the background is there then.
            for _ in range(2):
                self.expected = [say(command) for command in commands]
            files = [
                path
                for folder in (self.root / ".clew", self.root / ".git" / "clew")
                for path in sorted(folder.rglob("*.db"))
            ]
            self.whole = {str(path.relative_to(self.root)): _in_one_file(path) for path in files}
            self._times = {path: path.stat().st_mtime_ns for path in files}
            self._notes = {note: note.read_bytes() for note in map(note_of, files) if note.exists()}

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        """All databases as they were, before the block."""
        for folder in (self.root / ".clew", self.root / ".git" / "clew"):
            for path in folder.rglob("*"):
                if path.name.endswith(("-wal", "-shm", "-journal", "-note")) or path.name.startswith("clew-damaged"):
                    path.unlink()
        for name, content in self.whole.items():
            # In place, and with its time: it stays the file that it was.
            path = self.root / name
            path.write_bytes(content)
            os.utime(path, ns=(self._times[path],) * 2)
        for note, content in self._notes.items():
            note.write_bytes(content)
        with contextlib.chdir(self.root):
            yield

    def faults(self, name: str, *, crafted: bool = False) -> list[str]:
        found = []
        for command, expected in zip(self._commands, self.expected, strict=True):
            said = say(command)
            shown = f"clew {' '.join(command)}"
            words = f"{said.output}\n{said.notes}"
            if said.code == _FAULT or "fault in Clew" in words or "Traceback" in words:
                found.append(f"{shown} ended as a fault: {said.notes[-600:]}")
            elif "please report" in words:
                found.append(f"{shown} asked to report: {words[-600:]}")
            elif _STEADY.sub("", said.output) != _STEADY.sub("", expected.output) and not _SAYS_SO.search(words):
                if crafted and said.code and Path(name).name in _AUTHORED:
                    # Refused with words.
                    continue
                found.append(
                    f"{shown} (exit {said.code}) showed other things and did not say so: {_difference(said, expected)}"
                )
        return found


def say(command: tuple[str, ...]) -> Said:
    """What a user sees who types a command."""
    output, notes = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(notes):
        try:
            code = main(list(command)) or 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except Exception as error:
            code = _FAULT
            notes.write(f"Traceback: {error!r}")
    return Said(code, output.getvalue(), notes.getvalue())


def _difference(said: Said, expected: Said) -> str:
    before, after = expected.output.splitlines(), said.output.splitlines()
    gone = [line for line in before if line not in after][:3]
    new = [line for line in after if line not in before][:3]
    return f"lacks {gone}, has {new}; notes {said.notes[-300:]!r}"


def _in_one_file(path: Path) -> bytes:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


# Damage


def _flip_bits(most: int) -> Callable[[random.Random, bytes], bytes]:
    def damage(chance: random.Random, content: bytes) -> bytes:
        changed = bytearray(content)
        for _ in range(chance.randint(1, most)):
            # Where something is: most of a small file is empty.
            place = chance.choice(
                [at for at in (chance.randrange(len(changed)) for _ in range(50)) if changed[at]] or [0]
            )
            changed[place] ^= 1 << chance.randrange(8)
        return bytes(changed)

    return damage


def _flip_header(chance: random.Random, content: bytes) -> bytes:
    place = chance.randrange(100)
    return content[:place] + bytes([content[place] ^ 1 << chance.randrange(8)]) + content[place + 1 :]


def _flip_schema(chance: random.Random, content: bytes) -> bytes:
    place = chance.randrange(100, 1024)
    return content[:place] + bytes([content[place] ^ 1 << chance.randrange(8)]) + content[place + 1 :]


def _cut(chance: random.Random, content: bytes) -> bytes:
    return content[: chance.randrange(len(content))]


def _zero_page(chance: random.Random, content: bytes) -> bytes:
    place = chance.randrange(len(content) // 1024) * 1024
    return content[:place] + bytes(1024) + content[place + 1024 :]


def _swap_pages(chance: random.Random, content: bytes) -> bytes:
    size = int.from_bytes(content[16:18]) or 1024
    pages = [content[at : at + size] for at in range(0, len(content), size)]
    if len(pages) > 2:
        one, other = chance.sample(range(1, len(pages)), 2)
        pages[one], pages[other] = pages[other], pages[one]
    return b"".join(pages)


DAMAGES: dict[str, Callable[[random.Random, bytes], bytes]] = {
    "one bit": _flip_bits(1),
    "some bits": _flip_bits(8),
    "many bits": _flip_bits(200),
    "a bit of the header": _flip_header,
    "a bit of the schema": _flip_schema,
    "the end cut off": _cut,
    "an empty page": _zero_page,
    "two pages in each other's place": _swap_pages,
}


# Files that somebody made


def _tables(connection: sqlite3.Connection) -> list[str]:
    query = (
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%' AND name NOT LIKE 'sqlite%'"
    )
    return [name for (name,) in connection.execute(f"{query} ORDER BY name")]


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info('{table}')")]


def crafting(change: Callable[[sqlite3.Connection], None]) -> Callable[[Path], None]:
    def craft(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("PRAGMA journal_mode = DELETE")
            change(connection)

    return craft


def _triggers(connection: sqlite3.Connection) -> None:
    for number, table in enumerate(_tables(connection)):
        for event in ("INSERT", "UPDATE", "DELETE"):
            with contextlib.suppress(sqlite3.Error):
                connection.execute(
                    f"CREATE TRIGGER t{number}{event} BEFORE {event} ON {table}"
                    " BEGIN SELECT RAISE(ABORT, 'caught'); END"
                )


def _views(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA legacy_alter_table = ON")
    for table in _tables(connection):
        with contextlib.suppress(sqlite3.Error):
            columns = ", ".join(f"1 AS {column}" for column in _columns(connection, table)) or "1 AS a"
            connection.execute(f"DROP TABLE {table}")
            connection.execute(f"CREATE VIEW {table} AS SELECT {columns}")


def _endless(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA legacy_alter_table = ON")
    for table in _tables(connection):
        with contextlib.suppress(sqlite3.Error):
            columns = ", ".join(f"n AS {column}" for column in _columns(connection, table)) or "n"
            connection.execute(f"DROP TABLE {table}")
            connection.execute(
                f"CREATE VIEW {table} AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)"
                f" SELECT {columns} FROM c"
            )


def _virtual(connection: sqlite3.Connection) -> None:
    for table in _tables(connection):
        with contextlib.suppress(sqlite3.Error):
            columns = ", ".join(_columns(connection, table))
            connection.execute(f"DROP TABLE {table}")
            connection.execute(f"CREATE VIRTUAL TABLE {table} USING fts5({columns})")


def _generated(connection: sqlite3.Connection) -> None:
    for table in _tables(connection):
        with contextlib.suppress(sqlite3.Error):
            connection.execute(f"ALTER TABLE {table} ADD COLUMN more AS (hex(zeroblob(100000)))")


def _other_types(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_master SET sql = replace(replace(sql, 'INTEGER NOT', 'TEXT NOT'), 'BLOB', 'INT')")


def _functions(connection: sqlite3.Connection) -> None:
    for number, table in enumerate(_tables(connection)):
        for column in _columns(connection, table)[:1]:
            with contextlib.suppress(sqlite3.Error):
                connection.execute(f"CREATE INDEX f{number} ON {table} (abs({column}), hex({column}))")


def _wrong_values(connection: sqlite3.Connection) -> None:
    """Rows of the right tables with values that nobody would write."""
    for trigger, sql in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall():
        del sql
        connection.execute(f"DROP TRIGGER {trigger}")
    for table in _tables(connection):
        for column in _columns(connection, table):
            for value in ("CAST(x'fffe41' AS TEXT)", "x'c1'", "-9223372036854775808", "1e308"):
                with contextlib.suppress(sqlite3.Error):
                    connection.execute(
                        f"UPDATE {table} SET {column} = {value} WHERE rowid = (SELECT max(rowid) FROM {table})"
                    )


def _other_values(connection: sqlite3.Connection) -> None:
    """The same, with the triggers put back."""
    triggers = [sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger'")]
    _wrong_values(connection)
    for sql in triggers:
        connection.execute(sql)


def _other_program(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA application_id = 252006674")
    connection.execute("PRAGMA user_version = 2147483647")


def _shadows(connection: sqlite3.Connection) -> None:
    names = [name for name in _tables(connection) if name.endswith(("_data", "_idx", "_config"))]
    for name in names:
        with contextlib.suppress(sqlite3.Error):
            connection.execute(f"DELETE FROM {name}")


def _huge(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:28] + b"\xff\xff\xff\xfe" + content[32:])


def _of_no_sense(path: Path) -> None:
    path.write_bytes(_MAGIC + bytes(range(256)) * 40)


CRAFTED: dict[str, Callable[[Path], None]] = {
    "triggers": crafting(_triggers),
    "views in the place of tables": crafting(_views),
    "endless views": crafting(_endless),
    "virtual tables": crafting(_virtual),
    "computed columns": crafting(_generated),
    "columns of other types": crafting(_other_types),
    "functions in indexes": crafting(_functions),
    "values of other types": crafting(_wrong_values),
    "values of other types below sound triggers": crafting(_other_values),
    "another program's number": crafting(_other_program),
    "damaged shadow tables": crafting(_shadows),
    "a huge number of pages": _huge,
    "no sense": _of_no_sense,
}
