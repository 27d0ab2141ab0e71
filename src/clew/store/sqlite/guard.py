"""Guards against a database file that somebody made or damaged: limits on the functions that its schema may call, and
on its contents.

A file may come with a cloned project. A trigger, a view in the place of a table or a column that is computed would run
with every statement of Clew's own, so a schema is compared with the statements that Clew makes it with.
"""

import re
import sqlite3
import sys
from functools import lru_cache

SETTINGS = (
    # Nothing in a schema may call what was not made for that.
    "PRAGMA trusted_schema = OFF",
    # A damaged page is noticed when it is loaded, not where it misleads.
    "PRAGMA cell_size_check = ON",
)

_MADE = re.compile(r"\s*CREATE\s+(?:UNIQUE\s+|VIRTUAL\s+)?(TABLE|INDEX|VIEW|TRIGGER)\s+(\w+)")
_FULL_TEXT = re.compile(r"\s*CREATE\s+VIRTUAL\s+TABLE\s+(\w+)\s+USING\s+fts5\b")
_SHADOW = re.compile(
    r"CREATE TABLE '\w+_(?:data|idx|content|docsize|config)'\("
    r"(?:(?:id|INTEGER|PRIMARY|KEY|block|BLOB|segid|term|pgno|[cl]\d+|sz|origin|k|v)\b|[ ,()])+\)(?: WITHOUT ROWID)?"
)
"""Tables that FTS5 makes beside a table of its own. The words are listed because a computed column could stand among
them."""
_SQLITE_OWN = {
    "CREATE TABLE sqlite_sequence(name,seq)",
    "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
}

_HELD_AS = {"INTEGER": ("integer",), "TEXT": ("text",), "BLOB": ("blob",), "REAL": ("real", "integer")}

Made = dict[tuple[str, str], str]
"""SQL of the objects that statements make, by type and name."""
SchemaRows = tuple[tuple[bytes | None, bytes | None, bytes | None], ...]
"""The rows of a schema: type, name and text of each object. Their texts may be anything, so they are bytes."""


def guard(connection: sqlite3.Connection) -> None:
    """Let nothing in the file act by itself, before anything of it is read."""
    for setting in SETTINGS:
        connection.execute(setting)
    if sys.version_info >= (3, 12):
        # The tables that SQLite keeps for itself cannot be written by a statement.
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)


@lru_cache(maxsize=32)
def made_by(statements: tuple[str, ...]) -> Made:
    """The tables, indexes, views and triggers that these statements create, with the text that SQLite keeps of each."""
    found = ((_MADE.match(statement), statement) for statement in statements)
    return {(match[1].lower(), match[2]): _plain(statement) for match, statement in found if match}


def schema_of(connection: sqlite3.Connection) -> SchemaRows:
    """The schema of a file, without the indexes that SQLite makes for a constraint."""
    factory, connection.text_factory = connection.text_factory, bytes
    try:
        rows = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    finally:
        connection.text_factory = factory
    return tuple(
        row for row in rows if not (row[2] is None and row[0] == b"index" and row[1].startswith(b"sqlite_autoindex_"))
    )


# Nearly every file of a process has one of a few schemas.
@lru_cache(maxsize=16)
def foreign_objects(schema: SchemaRows, statements: tuple[str, ...]) -> tuple[str, ...]:
    """Objects in the schema of a file that these statements do not make, in words, sorted."""
    made = made_by(statements)
    found = (
        f"the {kind} {name!r}"
        for kind, name, sql in _objects(schema)
        if made.get((kind, name)) != _plain(sql) and not _is_of_sqlite(kind, name, sql, statements)
    )
    return tuple(sorted(found))


@lru_cache(maxsize=16)
def missing_objects(
    schema: SchemaRows, statements: tuple[str, ...], types: tuple[str, ...] = ("table", "view")
) -> tuple[str, ...]:
    """Objects that these statements make and the schema of a file lacks, of some types, in words, sorted."""
    lacking = made_by(statements).keys() - {(kind, name) for kind, name, _ in _objects(schema)}
    return tuple(sorted(f"the {kind} {name!r}" for kind, name in lacking if kind in types))


def unsound(connection: sqlite3.Connection) -> str | None:
    """The first fault found by reading all pages and all values of a file, types included, which SQLite's own quick
    check leaves out; None for a sound file. It takes as long as reading the file."""
    try:
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        return _of_another_type(connection) if found == "ok" else str(found)
    except sqlite3.DatabaseError as error:
        return str(error)


def _of_another_type(connection: sqlite3.Connection) -> str | None:
    """The first column of a table with a value of another type than declared."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    for (table,) in connection.execute(query).fetchall():
        for _, column, declared, *_ in connection.execute("SELECT * FROM pragma_table_info(?)", (table,)).fetchall():
            types = ", ".join(f"'{each}'" for each in _HELD_AS.get(declared, ()))
            wrong = f"""SELECT 1 FROM "{table}" WHERE typeof("{column}") NOT IN ({types}, 'null') LIMIT 1"""  # noqa: S608
            if types and connection.execute(wrong).fetchone():
                return f"{table}.{column} holds a value that is not {declared}"
    return None


def _objects(schema: SchemaRows) -> list[tuple[str, str, str]]:
    return [(_text(kind), _text(name), _text(sql)) for kind, name, sql in schema]


def _is_of_sqlite(kind: str, name: str, sql: str, statements: tuple[str, ...]) -> bool:
    """True if SQLite created the object for itself, for one of the tables of the statements."""
    if kind != "table":
        return False
    if sql in _SQLITE_OWN:
        return name.startswith("sqlite_")
    owners = (match[1] for statement in statements if (match := _FULL_TEXT.match(statement)))
    return (
        name.rpartition("_")[0] in owners and sql.startswith(f"CREATE TABLE '{name}'(") and bool(_SHADOW.fullmatch(sql))
    )


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


def _plain(statement: str) -> str:
    """SQLite keeps a statement as it was written, but for the blanks at its beginning."""
    return " ".join(statement.split())
