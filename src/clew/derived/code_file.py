"""The outlines of all source files of a project, kept: functions, classes, methods, and what each file imports."""

# Implements: REQ-d00363

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from clew.derived.file import DerivedFile, FileSchema
from clew.derived.sealed import checksum
from clew.formats.code.outline import OUTLINE_VERSION, Outline, Symbol
from clew.store.sqlite.connections import SqliteConnection

FILE = "code.db"
STUBS = (".pyi", ".d.ts", ".d.mts", ".d.cts")
"""Endings of files that only declare what others define."""

_STATEMENTS = (
    """CREATE TABLE files (
        number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mtime_ns TEXT NOT NULL,
        content_hash TEXT NOT NULL, package TEXT NOT NULL, checked INTEGER NOT NULL
    )""",
    "CREATE INDEX files_by_package ON files (package) WHERE package != ''",
    """CREATE TABLE symbols (
        file INTEGER NOT NULL, place INTEGER NOT NULL, qualname TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
        line INTEGER NOT NULL, end_line INTEGER NOT NULL, is_test INTEGER NOT NULL, parent INTEGER NOT NULL,
        head TEXT NOT NULL, checked INTEGER NOT NULL, PRIMARY KEY (file, place)
    ) WITHOUT ROWID""",
    "CREATE INDEX symbols_by_name ON symbols (name)",
    "CREATE INDEX symbols_by_qualname ON symbols (qualname)",
    """CREATE TABLE imports (
        file INTEGER NOT NULL, line INTEGER NOT NULL, module TEXT NOT NULL, name TEXT NOT NULL, whole TEXT NOT NULL,
        checked INTEGER NOT NULL
    )""",
    "CREATE INDEX imports_of_file ON imports (file)",
    "CREATE INDEX imports_by_module ON imports (module, name)",
    "CREATE INDEX imports_by_whole ON imports (whole)",
    "CREATE TABLE marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
)
"""`checked` is the checksum of a row, with the path of its file in place of the number."""
_LAYOUT = 2
"""Changes when a table does."""
SCHEMA = FileSchema(
    "The outlines of source files", OUTLINE_VERSION * 100 + _LAYOUT, _STATEMENTS, "the files are read again"
)
_KEPT = 8
"""Fields of a symbol that have columns."""
_FILE = "path, size, mtime_ns, content_hash, package, checked"
_SYMBOL = "qualname, name, kind, line, end_line, is_test, parent, head, files.path, place, symbols.checked"
_IMPORT = "files.path, line, module, name, imports.checked"
_FROM = "FROM symbols JOIN files ON files.number = symbols.file"


class SourceFile(msgspec.Struct, frozen=True):
    path: str
    size: int
    mtime_ns: int
    content_hash: str


class FiledSymbol(Symbol, frozen=True, gc=False, array_like=True, kw_only=True):
    path: str
    place: int
    """Which symbol of the file it is, counted from 0."""


class FiledImport(msgspec.Struct, frozen=True, gc=False):
    path: str
    """The file that imports."""
    line: int
    module: str
    name: str


class CodeFile:
    """Any number of threads and processes may use it."""

    def __init__(self, folder: Path) -> None:
        self._file = DerivedFile(folder / FILE, SCHEMA)

    def close(self) -> None:
        self._file.close()

    @property
    def opening(self) -> object:
        """Another one whenever the file was made anew."""
        self._file.keep_up()
        return self._file.opening

    def put(self, read: Sequence[tuple[SourceFile, Outline]], gone: Iterable[str] = ()) -> None:
        """Put outlines in place of those that the files had."""
        with self._file.writing_latest() as connection:
            connection.execute("INSERT INTO marks VALUES ('writes', 1) ON CONFLICT DO UPDATE SET value = value + 1")
            for path in (*gone, *(file.path for file, _ in read)):
                _forget(connection, path)
            for file, outline in read:
                values = (file.path, file.size, str(file.mtime_ns), file.content_hash, outline.package)
                number = connection.execute(
                    f"INSERT INTO files ({_FILE}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608 - names of columns
                    (*values, checksum(*values)),
                ).lastrowid
                connection.executemany(
                    "INSERT INTO symbols VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [
                        (number, place, *own, checksum(*own, file.path, place))
                        for place, symbol in enumerate(outline.symbols)
                        for own in (_columns(symbol),)
                    ],
                )
                connection.executemany(
                    "INSERT INTO imports VALUES (?, ?, ?, ?, ?, ?)",
                    [
                        (number, *own, _whole(each.module, each.name), checksum(file.path, *own))
                        for each in outline.imports
                        for own in ((each.line, each.module, each.name),)
                    ],
                )

    def files(self) -> list[SourceFile]:
        with self._file.reading_latest() as connection:
            rows = self._file.checked(connection.execute(f"SELECT {_FILE} FROM files"))  # noqa: S608
            return [SourceFile(path, size, int(mtime), digest) for path, size, mtime, digest, _ in rows]

    def has(self, paths: Iterable[str]) -> set[str]:
        """Those of the paths that are source files."""
        with self._file.reading_latest() as connection:
            return {
                path for path in paths if connection.execute("SELECT 1 FROM files WHERE path=?", (path,)).fetchone()
            }

    def ending_with(self, end: str) -> list[str]:
        """Two files at most whose path is, or ends with, some folders and a name."""
        query = "SELECT path FROM files WHERE path = ? OR substr(path, -?) = ? LIMIT 2"
        with self._file.reading_latest() as connection:
            return [path for (path,) in connection.execute(query, (end, len(end) + 1, f"/{end}"))]

    def script_configs(self) -> list[str]:
        """The files that may say where the names in imports of scripts lead."""
        query = "SELECT path FROM files WHERE path LIKE '%sconfig%.json' OR path LIKE '%package.json' ORDER BY path"
        with self._file.reading_latest() as connection:
            return [path for (path,) in connection.execute(query)]

    def named_so(self, end: str, limit: int = 50) -> list[FiledImport]:
        """The imports of scripts by a name with this end that no package can have, or that has a folder before it."""
        own = "module >= '?' AND module < '@' AND (substr(module, -?) = ? OR substr(module, 3) = ?)"
        return self._imports(f"{own} ORDER BY files.path, line LIMIT ?", len(end) + 1, f"/{end}", end, limit)

    def paths_with(self, text: str) -> list[str]:
        """The files whose path has a text somewhere, in lower case."""
        with self._file.reading_latest() as connection:
            rows = connection.execute("SELECT path FROM files WHERE instr(lower(path), ?) ORDER BY path", (text,))
            return [path for (path,) in rows]

    def package_of(self, path: str) -> str:
        """The package that a file says it belongs to; empty where it names none."""
        with self._file.reading_latest() as connection:
            row = connection.execute("SELECT package FROM files WHERE path = ?", (path,)).fetchone()
        return str(row[0]) if row else ""

    def declared(self, package: str, name: str) -> list[FiledSymbol]:
        """What files of a package define under a name, not inside of something else."""
        return self._symbols("files.package = ? AND name = ? AND parent < 0 ORDER BY files.path", package, name)

    def writes(self) -> int:
        """Counts the writes."""
        with self._file.reading_latest() as connection:
            row = connection.execute("SELECT value FROM marks WHERE name = 'writes'").fetchone()
            return int(row[0]) if row else 0

    def mark(self, name: str) -> int:
        """The number noted under a name; 0 if there is none."""
        with self._file.reading_latest() as connection:
            row = connection.execute("SELECT value FROM marks WHERE name = ?", (f"of {name}",)).fetchone()
            return int(row[0]) if row else 0

    def set_mark(self, name: str, value: int) -> None:
        with self._file.writing_latest() as connection:
            connection.execute("INSERT OR REPLACE INTO marks VALUES (?, ?)", (f"of {name}", value))

    def count(self) -> tuple[int, int]:
        """How many symbols and files there are."""
        with self._file.reading_latest() as connection:
            symbols = connection.execute("SELECT count(*) FROM symbols").fetchone()[0]
            files = connection.execute("SELECT count(*) FROM files").fetchone()[0]
        return int(symbols), int(files)

    def symbol_counts(self) -> dict[str, int]:
        """How many symbols each source file has."""
        query = "SELECT files.path, count(symbols.place) FROM files LEFT JOIN symbols ON files.number = symbols.file "
        with self._file.reading_latest() as connection:
            return dict(connection.execute(query + "GROUP BY files.path").fetchall())

    def symbols_of(self, path: str) -> list[FiledSymbol]:
        return self._symbols("files.path = ? ORDER BY place", path)

    def symbol(self, path: str, qualname: str) -> FiledSymbol | None:
        found = self._symbols("files.path = ? AND qualname = ?", path, qualname)
        return found[0] if found else None

    def named(self, name: str, limit: int = 50) -> list[FiledSymbol]:
        """The symbols of this name, alone or with the names around it; declarations of what is written elsewhere after
        the others, tests last."""
        stub = " OR ".join(f"files.path LIKE '%{ending}'" for ending in STUBS)
        order = f"ORDER BY is_test, {stub}, files.path, line LIMIT ?"
        found = self._symbols(f"qualname = ? {order}", name, limit) or self._symbols(f"name = ? {order}", name, limit)
        if not found and "." in name:
            tail = name.rpartition(".")[2]
            same = self._symbols(f"name = ? {order}", tail, 500)
            found = [each for each in same if f".{each.qualname}".endswith(f".{name}")][:limit]
        return found

    def all_symbols(self) -> Iterator[FiledSymbol]:
        yield from self._symbols("1 ORDER BY files.path, place")

    def imports_of(self, path: str) -> list[FiledImport]:
        return self._imports("files.path = ? ORDER BY line", path)

    def importing(self, modules: Sequence[str], limit: int = 500) -> list[FiledImport]:
        """The imports of a module, or of something out of it, under any of its names."""
        marks = ", ".join("?" * len(modules))
        own = f"module IN ({marks}) OR whole IN ({marks})"
        return self._imports(f"({own}) ORDER BY files.path, line LIMIT ?", *modules, *modules, limit)

    def _symbols(self, where: str, *values: object) -> list[FiledSymbol]:
        with self._file.reading_latest() as connection:
            rows = connection.execute(f"SELECT {_SYMBOL} {_FROM} WHERE {where}", values).fetchall()
            return [_symbol(row) for row in self._file.checked(rows)]

    def _imports(self, where: str, *values: object) -> list[FiledImport]:
        query = f"SELECT {_IMPORT} FROM imports JOIN files ON files.number = imports.file WHERE {where}"  # noqa: S608
        with self._file.reading_latest() as connection:
            rows = connection.execute(query, values).fetchall()
            return [FiledImport(*row) for row in self._file.checked(rows)]


def _forget(connection: SqliteConnection, path: str) -> None:
    row = connection.execute("SELECT number FROM files WHERE path = ?", (path,)).fetchone()
    if row is not None:
        for table, column in (("symbols", "file"), ("imports", "file"), ("files", "number")):
            connection.execute(f"DELETE FROM {table} WHERE {column} = ?", row)  # noqa: S608


def _whole(module: str, name: str) -> str:
    joint = "/" if module.startswith("/") else "."
    return f"{module.rstrip('/')}{joint}{name}" if name else module


def _columns(symbol: Symbol) -> tuple[object, ...]:
    """As SQLite gives them back: it has no truth values."""
    own = msgspec.structs.astuple(symbol)[:_KEPT]
    return tuple(int(value) if isinstance(value, bool) else value for value in own)


def _symbol(row: Sequence[Any]) -> FiledSymbol:
    qualname, name, kind, line, end_line, is_test, parent, head, path, place = row
    own = (qualname, name, kind, line, end_line, bool(is_test), parent, head)
    return FiledSymbol(*own, path=path, place=place)
