"""The records of all source files of a project, kept: what each defines, imports and uses."""

# Implements: REQ-d00363

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import msgspec

from clew.cache import Cache
from clew.derived.code_indexed import INDEXED_TABLES, IndexedPlaces, count_write
from clew.derived.file import DerivedFile, FileSchema
from clew.derived.sealed import checksum, sealed, unsealed
from clew.formats.code.facts.model import SCOPES, Facts, Reading, Symbol
from clew.formats.code.outline import OUTLINE_VERSION
from clew.store.sqlite.connections import SqliteConnection
from clew.store.sqlite.faults import damaged

FILE = "code.db"
STUBS = (".pyi", ".d.ts", ".d.mts", ".d.cts")
"""Endings of files that only declare what others define."""

_STATEMENTS = (
    """CREATE TABLE files (
        number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mtime_ns TEXT NOT NULL,
        content_hash TEXT NOT NULL, package TEXT NOT NULL, symbols INTEGER NOT NULL, checked INTEGER NOT NULL
    )""",
    "CREATE INDEX files_by_package ON files (package) WHERE package != ''",
    "CREATE TABLE records (file INTEGER PRIMARY KEY, symbols BLOB NOT NULL, facts BLOB NOT NULL, names BLOB NOT NULL)",
    """CREATE TABLE names (
        name INTEGER NOT NULL, file INTEGER NOT NULL, defines INTEGER NOT NULL, PRIMARY KEY (name, file)
    ) WITHOUT ROWID""",
    """CREATE TABLE imports (
        file INTEGER NOT NULL, line INTEGER NOT NULL, module TEXT NOT NULL, name TEXT NOT NULL, whole TEXT NOT NULL,
        checked INTEGER NOT NULL
    )""",
    "CREATE INDEX imports_of_file ON imports (file)",
    "CREATE INDEX imports_by_module ON imports (module, name)",
    "CREATE INDEX imports_by_whole ON imports (whole)",
    "CREATE TABLE marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    *INDEXED_TABLES,
)
"""`checked` is the checksum of a row, with the path of its file in place of the number. `records` are sealed. `names`
has a number for each name that a file defines or uses (`number_of`): a file that is found by it is read, so one that
only has the same number does no harm."""
_LAYOUT = 4
"""Changes when a table does."""
SCHEMA = FileSchema(
    "The records of source files", OUTLINE_VERSION * 100 + _LAYOUT, _STATEMENTS, "the files are read again"
)
_FILE = "path, size, mtime_ns, content_hash, package, symbols, checked"
_IMPORT = "files.path, line, module, name, imports.checked"
_OF_NAME = "FROM names JOIN files ON files.number = names.file WHERE names.name = ?"
_FACTS_BYTES = 24_000_000
"""Bytes of records, as they are packed, that are kept decoded; decoded they take about eight times as much."""
_FACTS_IDLE_SECONDS = 900.0

_encode = msgspec.msgpack.Encoder().encode
_decode_symbols: Callable[[bytes], list[Symbol]] = msgspec.msgpack.Decoder(list[Symbol]).decode
_decode_facts: Callable[[bytes], Facts] = msgspec.msgpack.Decoder(Facts).decode


def number_of(name: str) -> int:
    """The number by which files with a name are found."""
    return crc32(name.encode("utf-8", "replace")) - (1 << 31)


class Record(NamedTuple):
    """The record of one file: its symbols and facts."""

    path: str
    symbols: tuple[Symbol, ...]
    facts: Facts


class SourceFile(msgspec.Struct, frozen=True):
    path: str
    size: int
    mtime_ns: int
    content_hash: str


class FiledSymbol(Symbol, frozen=True, gc=False, array_like=True, kw_only=True):
    path: str
    place: int
    """The number of the symbol in its file, from 0."""


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
        self._records: Cache[tuple[str, str], tuple[Record, int]] = Cache(
            _FACTS_BYTES, size_of=lambda kept: kept[1], idle_seconds=_FACTS_IDLE_SECONDS
        )

        self.indexed = IndexedPlaces(self._file, number_of)
        """Uses that the index files of other programs know."""

    def close(self) -> None:
        self._file.close()

    @property
    def size(self) -> int:
        """Bytes on the disk."""
        path = self._file.path
        parts = (path, path.with_name(f"{path.name}-wal"))
        return sum(part.stat().st_size for part in parts if part.exists())

    @property
    def opening(self) -> object:
        """Another one whenever the file was rebuilt."""
        self._file.keep_up()
        return self._file.opening

    def holding(self) -> AbstractContextManager[None]:
        """One state of the file for a question, which reads hundreds of records."""
        return self._file.holding()

    def put(self, read: Sequence[tuple[SourceFile, Reading]], gone: Iterable[str] = ()) -> None:
        """Replace the records of files."""
        with self._file.writing_latest() as connection:
            count_write(connection)
            for path in (*gone, *(file.path for file, _ in read)):
                self._forget(connection, path)
            names: list[tuple[int, int, int]] = []
            for file, reading in read:
                outline = reading.outline
                own_values = (file.path, file.size, str(file.mtime_ns), file.content_hash, outline.package)
                values = (*own_values, sum(each.kind in SCOPES for each in outline.symbols))
                number = connection.execute(
                    f"INSERT INTO files ({_FILE}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - names of columns
                    (*values, checksum(*values)),
                ).lastrowid
                assert number is not None  # noqa: S101 - a row was inserted
                own = _names_in(reading)
                names.extend((name, number, defines) for name, defines in own.items())
                connection.execute(
                    "INSERT INTO records VALUES (?, ?, ?, ?)",
                    (
                        number,
                        sealed(_encode(outline.symbols), file.path, "symbols"),
                        sealed(_encode(reading.facts), file.path, "facts"),
                        sealed(array("i", own).tobytes(), file.path, "names"),
                    ),
                )
                connection.executemany(
                    "INSERT INTO imports VALUES (?, ?, ?, ?, ?, ?)",
                    [
                        (number, *parts, _whole(each.module, each.name), checksum(file.path, *parts))
                        for each in outline.imports
                        for parts in ((each.line, each.module, each.name),)
                    ],
                )
            # In order, so that each page of the table is written once.
            names.sort()
            connection.executemany("INSERT INTO names VALUES (?, ?, ?)", names)

    def files(self) -> list[SourceFile]:
        with self._file.reading_latest() as connection:
            rows = self._file.checked(connection.execute(f"SELECT {_FILE} FROM files"))  # noqa: S608
            return [SourceFile(path, size, int(mtime), digest) for path, size, mtime, digest, *_ in rows]

    def has(self, paths: Iterable[str]) -> set[str]:
        """The source files among the paths."""
        with self._file.reading_latest() as connection:
            return {
                path for path in paths if connection.execute("SELECT 1 FROM files WHERE path=?", (path,)).fetchone()
            }

    def ending_with(self, end: str) -> list[str]:
        """The files whose path is, or ends with, some folders and a name; at most two."""
        query = "SELECT path FROM files WHERE path = ? OR substr(path, -?) = ? LIMIT 2"
        with self._file.reading_latest() as connection:
            return [path for (path,) in connection.execute(query, (end, len(end) + 1, f"/{end}"))]

    def script_configs(self) -> list[str]:
        """Configuration files that may name targets of imports in scripts."""
        query = "SELECT path FROM files WHERE path LIKE '%sconfig%.json' OR path LIKE '%package.json' ORDER BY path"
        with self._file.reading_latest() as connection:
            return [path for (path,) in connection.execute(query)]

    def named_so(self, end: str, limit: int = 50) -> list[FiledImport]:
        """Imports in scripts of a name with this ending that is not the name of a package, or that has a folder before
        it."""
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

    def in_package(self, package: str) -> list[str]:
        """The files of a package."""
        with self._file.reading_latest() as connection:
            rows = connection.execute("SELECT path FROM files WHERE package = ? ORDER BY path", (package,))
            return [path for (path,) in rows]

    def in_folder(self, folder: str) -> list[str]:
        """The source files directly in a folder."""
        start = f"{folder}/" if folder else ""
        query = "SELECT path FROM files WHERE path >= ? AND path < ? ORDER BY path"
        with self._file.reading_latest() as connection:
            rows = connection.execute(query, (start, f"{start}\U0010ffff"))
            return [path for (path,) in rows if "/" not in path[len(start) :]]

    def has_folder(self, folder: str) -> bool:
        """True if there are source files somewhere below a folder."""
        with self._file.reading_latest() as connection:
            query = "SELECT 1 FROM files WHERE path >= ? AND path < ?"
            return connection.execute(query, (f"{folder}/", f"{folder}/\U0010ffff")).fetchone() is not None

    def called(self, name: str) -> list[str]:
        """The source files with this name, in any folder."""
        query = "SELECT path FROM files WHERE path LIKE ? ESCAPE '!' ORDER BY path"
        pattern = "%/" + name.replace("_", "!_")
        with self._file.reading_latest() as connection:
            return [path for (path,) in connection.execute(query, (pattern,))]

    def declared(self, package: str, name: str) -> list[FiledSymbol]:
        """Top-level symbols with a name in files of a package."""
        found = self._defining(name, "files.package = ?", package)
        return [each for each in found if each.name == name and each.parent < 0]

    def writes(self) -> int:
        """Counts the writes."""
        with self._file.reading_latest() as connection:
            row = connection.execute("SELECT value FROM marks WHERE name = 'writes'").fetchone()
            return int(row[0]) if row else 0

    def mark(self, name: str) -> int:
        """The number stored under a name; 0 if there is none."""
        with self._file.reading_latest() as connection:
            row = connection.execute("SELECT value FROM marks WHERE name = ?", (f"of {name}",)).fetchone()
            return int(row[0]) if row else 0

    def set_mark(self, name: str, value: int) -> None:
        with self._file.writing_latest() as connection:
            connection.execute("INSERT OR REPLACE INTO marks VALUES (?, ?)", (f"of {name}", value))

    def count(self) -> tuple[int, int]:
        """The number of functions and classes, and of files."""
        with self._file.reading_latest() as connection:
            symbols, files = connection.execute("SELECT ifnull(sum(symbols), 0), count(*) FROM files").fetchone()
        return int(symbols), int(files)

    def symbol_counts(self) -> dict[str, int]:
        """The number of functions and classes in each source file."""
        with self._file.reading_latest() as connection:
            return dict(connection.execute("SELECT path, symbols FROM files").fetchall())

    def symbols_of(self, path: str) -> list[FiledSymbol]:
        return self._symbols("files.path = ?", path)

    def symbol(self, path: str, qualname: str) -> FiledSymbol | None:
        return next((each for each in self.symbols_of(path) if each.qualname == qualname), None)

    def named(self, name: str, limit: int = 50) -> list[FiledSymbol]:
        """The symbols of this name, alone or with the names around it, those without names around it first;
        declarations of what is written elsewhere after the others, tests last."""
        tail = name.rpartition(".")[2]
        same = [each for each in self._defining(tail) if each.name == tail or each.qualname == name]
        found = same if "." not in name else [each for each in same if each.qualname == name]
        if not found:
            found = [each for each in same if f".{each.qualname}".endswith(f".{name}")]
        found.sort(key=lambda each: (each.is_test, _is_stub(each), each.qualname != name, each.path, each.line))
        return found[:limit]

    def with_last_name(self, name: str) -> list[FiledSymbol]:
        """The symbols of this name, whatever is around them."""
        return [each for each in self._defining(name) if each.name == name]

    def all_symbols(self) -> Iterator[FiledSymbol]:
        yield from self._symbols("1")

    # Facts

    def record(self, path: str) -> Record | None:
        """The record of a file; None for one that is not a source file."""
        return self.records((path,)).get(path)

    def records(self, paths: Iterable[str]) -> dict[str, Record]:
        """The records of the source files among the paths."""
        found: dict[str, Record] = {}
        wanted = "SELECT number, path, content_hash FROM files WHERE path = ?"
        with self._file.reading_latest() as connection:
            for path in paths:
                row = connection.execute(wanted, (path,)).fetchone()
                if row is not None:
                    found[path] = self._record(connection, *row)
        return found

    def with_name(self, name: str) -> list[Record]:
        """The records of the files that define or use a name, in the order of their paths."""
        query = f"SELECT files.number, files.path, files.content_hash {_OF_NAME} ORDER BY files.path"
        with self._file.reading_latest() as connection:
            return [self._record(connection, *row) for row in connection.execute(query, (number_of(name),)).fetchall()]

    def paths_using(self, name: str) -> list[str]:
        """The files that define or use a name."""
        with self._file.reading_latest() as connection:
            rows = connection.execute(f"SELECT files.path {_OF_NAME} ORDER BY files.path", (number_of(name),))
            return [path for (path,) in rows]

    def _record(self, connection: SqliteConnection, number: int, path: str, content_hash: str) -> Record:
        key = (path, content_hash)
        known = self._records.get(key)
        if known is not None and content_hash:
            return known[0]
        row = connection.execute("SELECT symbols, facts FROM records WHERE file = ?", (number,)).fetchone()
        symbols, facts = (self._unsealed(row, at, path, part) for at, part in enumerate(("symbols", "facts")))
        record = Record(path, tuple(_decode_symbols(symbols)), _decode_facts(facts))
        self._records.put(key, (record, len(symbols) + len(facts)))
        return record

    def _unsealed(self, row: Sequence[object] | None, at: int, path: str, part: str) -> bytes:
        found = unsealed(row[at], path, part) if row is not None else None
        if found is None:
            raise damaged(self._file.path, "a record is not the one that was written")
        return found

    def imports_of(self, path: str) -> list[FiledImport]:
        return self._imports("files.path = ? ORDER BY line", path)

    def importing(self, modules: Sequence[str], limit: int = 500) -> list[FiledImport]:
        """The imports of a module, or of something out of it, under any of its names."""
        marks = ", ".join("?" * len(modules))
        own = f"module IN ({marks}) OR whole IN ({marks})"
        return self._imports(f"({own}) ORDER BY files.path, line LIMIT ?", *modules, *modules, limit)

    def _forget(self, connection: SqliteConnection, path: str) -> None:
        row = connection.execute("SELECT number FROM files WHERE path = ?", (path,)).fetchone()
        if row is None:
            return
        (number,) = row
        kept = connection.execute("SELECT names FROM records WHERE file = ?", (number,)).fetchone()
        numbers = array("i", self._unsealed(kept, 0, path, "names"))
        connection.executemany("DELETE FROM names WHERE name = ? AND file = ?", [(each, number) for each in numbers])
        for table, column in (("records", "file"), ("imports", "file"), ("files", "number")):
            connection.execute(f"DELETE FROM {table} WHERE {column} = ?", row)  # noqa: S608

    def _defining(self, name: str, where: str = "1", *values: object) -> list[FiledSymbol]:
        """The symbols of the files that define a name."""
        files = f"SELECT names.file FROM names WHERE names.name = {number_of(name)} AND defines"  # noqa: S608
        return self._symbols(f"files.number IN ({files}) AND {where}", *values)

    def _symbols(self, where: str, *values: object) -> list[FiledSymbol]:
        own = ", ".join(f"files.{column}" for column in _FILE.split(", "))
        query = f"SELECT {own}, records.symbols FROM files JOIN records ON records.file = files.number "  # noqa: S608
        found: list[FiledSymbol] = []
        with self._file.reading_latest() as connection:
            for *row, packed in connection.execute(f"{query} WHERE {where} ORDER BY files.path", values):
                ((path, *_),) = self._file.checked([tuple(row)])
                symbols = _decode_symbols(self._unsealed((packed,), 0, path, "symbols"))
                found += [_filed(symbol, path, place) for place, symbol in enumerate(symbols)]
        return found

    def _imports(self, where: str, *values: object) -> list[FiledImport]:
        query = f"SELECT {_IMPORT} FROM imports JOIN files ON files.number = imports.file WHERE {where}"  # noqa: S608
        with self._file.reading_latest() as connection:
            rows = connection.execute(query, values).fetchall()
            return [FiledImport(*row) for row in self._file.checked(rows)]


def _is_stub(symbol: FiledSymbol) -> bool:
    return symbol.path.endswith(STUBS)


def _whole(module: str, name: str) -> str:
    joint = "/" if module.startswith("/") else "."
    return f"{module.rstrip('/')}{joint}{name}" if name else module


def _names_in(reading: Reading) -> dict[int, int]:
    """The numbers of the names that a file defines or uses, each with 1 where it defines it."""
    names = reading.facts.names
    found = {number_of(names[name]): 0 for name, _ in reading.facts.sites}
    if reading.facts.flaw:
        found.update((number_of(name), 0) for name in names)
    found.update((number_of(each.alias), 0) for each in reading.facts.imports if each.alias)
    found.update((number_of(each.name), 1) for each in reading.outline.symbols)
    return found


def _filed(symbol: Symbol, path: str, place: int) -> FiledSymbol:
    return FiledSymbol(*msgspec.structs.astuple(symbol), path=path, place=place)
