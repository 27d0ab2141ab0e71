"""Index files of other programs (SCIP) over the records of source files: read when they changed, and believed only
about files that are as the indexer read them.

A file is so if the index has its whole text and it is the same; or else if the index is kept in git and the file did
not change since the commit that wrote it; or else if the file is not newer than the index. In each case the names in it
must stand where the index says.
"""

# Implements: REQ-d00788

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from clew.derived.code_file import CodeFile
from clew.derived.code_indexed import CALLED, IndexedFile, KnownIndex
from clew.errors import ClewError
from clew.formats.code.outline import decoded
from clew.formats.code.scip import UTF8, UTF32, ScipDocument, documents_in, name_of
from clew.text.display import counted
from clew.text.hashing import content_hash
from clew.workspace.files import read_bytes, resolve
from clew.workspace.git import api as git
from clew.workspace.paths import raw

USUAL = "index.scip"
"""The name of an index at the top of a project that is read without being configured."""
LARGEST = 100_000_000
AT_ONCE = 3_000_000
"""Bytes of an index that an answer waits for; a larger one is read in the background."""
_FEWEST_RIGHT = 0.98
"""Share of names that must stand where the index says."""
_UNREAD = "not read: "


class IndexOverlay:
    def __init__(self, root: Path, configured: tuple[str, ...], limit: int) -> None:
        self._root = root
        self._configured = configured
        self._limit = limit

    def changed(self, file: CodeFile) -> dict[str, str]:
        """The index files that are to be read, with their stamps; an empty one for an index that is gone."""
        there = {path: stamp for path in (*self._configured, USUAL) if (stamp := self._stamp(path)) is not None}
        known = {each.path: each.stamp for each in file.indexed.indexes()}
        found = {path: stamp for path, stamp in there.items() if known.get(path) != stamp}
        return {**found, **{path: "" for path in known if path not in there}}

    def size(self, changed: Mapping[str, str]) -> int:
        return sum(int(stamp.partition(":")[0]) for stamp in changed.values() if stamp)

    def _stamp(self, path: str) -> str | None:
        try:
            found = resolve(self._root, path).stat()
        except (ClewError, OSError, ValueError):
            return None
        return f"{found.st_size}:{found.st_mtime_ns}"

    def read(self, file: CodeFile, changed: Mapping[str, str], check: Callable[[], None] = lambda: None) -> None:
        """Keep what changed index files know. The records of source files must be in step."""
        gone = [path for path, stamp in changed.items() if not stamp]
        if gone:
            file.indexed.forget(gone)
        for path, stamp in changed.items():
            if not stamp:
                continue
            try:
                data = read_bytes(self._root, path, limit=LARGEST)
                said, found = self._of_index(file, path, data, int(stamp.partition(":")[2]), check)
            except ClewError as error:
                said, found = f"{_UNREAD}{error.message}", []
            file.indexed.put(KnownIndex(path, stamp, said), found)

    def notes(self, file: CodeFile) -> Iterator[str]:
        """Sentences on indexes that answers cannot use, or not wholly."""
        known = file.indexed.indexes()
        for each in known:
            if each.said.startswith(_UNREAD):
                yield f"{each.path} is {each.said}"
        missing = [path for path in self._configured if path not in {each.path for each in known}]
        if missing:
            yield f"Named in the configuration and not there: {', '.join(missing)}."
        files, changed = file.indexed.counts() if known else (0, 0)
        if changed:
            names = ", ".join(each.path for each in known)
            of = counted(files, "file")
            yield f"{changed:,} of {of} are not as {names} knows them: uses in them are those of the source."

    def _of_index(
        self, file: CodeFile, path: str, data: bytes, written_ns: int, check: Callable[[], None]
    ) -> tuple[str, list[IndexedFile]]:
        now = {each.path: each for each in file.files()}
        said, paths = "", []
        for each in documents_in(data):
            check()
            if isinstance(each, str):
                said = each
            elif each.path:
                paths.append(each.path)
        base = _base(posixpath.dirname(path), paths, now.keys())
        differing = self._differing(path)
        found = []
        # Read again instead of kept: all documents of an index take many times its size.
        for document in documents_in(data):
            check()
            if isinstance(document, str) or not document.path:
                continue
            own = posixpath.normpath(posixpath.join(base, document.path))
            source = now.get(own)
            if source is None or not source.content_hash:
                continue
            is_same = self._is_older(own, written_ns) if differing is None else own not in differing
            found.append(self._of_document(own, source.content_hash, document, is_same=is_same))
        return said or "an unnamed program", found

    def _is_older(self, path: str, written_ns: int) -> bool:
        try:
            return (self._root / raw(path)).stat().st_mtime_ns <= written_ns
        except OSError:
            return False

    def _differing(self, path: str) -> frozenset[str] | None:
        """The files that changed since the commit that wrote an index; None for one that git does not keep."""
        commit = git.last_commit_of(self._root, path)
        if commit is None:
            return None
        changed = frozenset(git.changed_paths(self._root, commit, (".",)))
        return None if path in changed else changed

    def _of_document(self, path: str, hash: str, document: ScipDocument, *, is_same: bool) -> IndexedFile:
        """What an index knows of a file, with an empty hash where it is about another content."""
        stale = IndexedFile(path, "", (), ())
        try:
            data = read_bytes(self._root, path, limit=self._limit)
        except ClewError:
            return stale
        text = decoded(data)
        if document.text is not None:
            is_same = decoded(document.text.encode("utf-8", "replace")) == text
        if not is_same or content_hash(data) != hash:
            return stale
        lines = text.split("\n")
        symbols: dict[str, int] = {}
        places: list[int] = []
        right = wrong = 0
        for line, column, end, symbol, roles in document.occurrences:
            name = name_of(symbol)
            if not name:
                continue
            row = lines[line] if line < len(lines) else ""
            first, last = (_characters(row, each, document.encoding) for each in (column, end))
            token = row[first:last]
            if token != name:
                # Another name of the symbol is no sign of another text, what is no name is one.
                wrong += not token.replace("$", "_").isidentifier()
                continue
            right += 1
            roles |= CALLED if row[last : last + 1] == "(" else 0
            places += (line + 1, first, roles, symbols.setdefault(symbol, len(symbols)))
        if right + wrong and right / (right + wrong) < _FEWEST_RIGHT:
            return stale
        return IndexedFile(path, hash, tuple(symbols), tuple(places))


def _base(folder: str, paths: Iterable[str], known: Iterable[str]) -> str:
    """The folder that the paths of an index begin at: that of the index, or the project's own."""
    there, named = set(known), list(paths)

    def found(base: str) -> int:
        return sum(posixpath.normpath(posixpath.join(base, each)) in there for each in named)

    return max(("", folder), key=found)


def _characters(row: str, column: int, encoding: int) -> int:
    """A column in characters."""
    if encoding == UTF32 or row.isascii():
        return column
    if encoding == UTF8:
        return len(row.encode("utf-8", "replace")[:column].decode("utf-8", "ignore"))
    return len(row.encode("utf-16-le", "replace")[: 2 * column].decode("utf-16-le", "ignore"))
