"""Data that Clew derived from the files of one project, and the removal of purged text from it.

What a file of the project says now stays: it is the project's own text. What one said before it was edited or deleted
goes, and the file is read again at the next look.
"""

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from clew.context import DERIVED_FOLDERS
from clew.derived.file import throw_away
from clew.derived.packed import PackedText, earlier_names, packed_texts, packs_texts, take_out
from clew.derived.parse_cache import FILE as PARSED
from clew.errors import ClewError, StoreCorrupt
from clew.memory.purge.traces import SearchedFile, Traces, words_of
from clew.memory.storage.units import EPISODES, PART, unit_id
from clew.search.engine import INDEX_FILE
from clew.search.purging import PurgedText, PurgeProgress, is_held, purge_units
from clew.text.hashing import content_hash
from clew.workspace.find import files_below, paths_named
from clew.workspace.paths import raw
from clew.workspace.regular import ANY_BYTES, contents

_SEARCH, _DOCUMENTS = "search", "kb"
"""Derived folders that keep texts packed."""


class DerivedFiles:
    def __init__(self, folder: Path, root: Path, traces: Traces, staying: Collection[str] = ()) -> None:
        """`folder` is the state folder of the project at `root`; `staying` are the ids of memories that stay and
        contain some of the text."""
        self.folder = folder
        self._root = root
        self._traces = traces
        self._search = folder / _SEARCH
        self.sought = PurgedText((PART, EPISODES), frozenset(map(unit_id, staying)), traces.pieces_in, self._is_said)
        self._own: dict[str, frozenset[str]] = {}
        """Texts of the documents as their files are now, by path."""
        self._seen = PurgeProgress()
        self._numbers: dict[Path, tuple[int, int]] = {}
        """The identity and the last number of each file of documents that was looked through."""
        self._contents: dict[str, SearchedFile] = {}
        self._rest = traces

    def sought_in(self, file: Path) -> Traces:
        """The text to remove from a file of the state folder: from a derived one, only text that no file of the project
        has now."""
        return self._rest.inside_texts if self.is_derived(file) else self._traces

    def purge(self, ids: Collection[str], text_hashes: Collection[str] = ()) -> list[str]:
        """Remove memories and their traces from derived files; returns the traces found in documents."""
        done = [said for file in self._documents() if file.exists() for said in self._taken_out(file)]
        self._seen = purge_units(self._search, [unit_id(id) for id in ids], self.sought, text_hashes)
        self._rest = self._traces.without(self._seen.own.union(*self._own.values()))
        return done

    def _taken_out(self, file: Path) -> list[str]:
        """Remove former texts of files from the file of documents. One that cannot be read, or that an earlier Clew
        made, is deleted."""
        with suppress(StoreCorrupt):
            if packs_texts(file):
                outdated = {each.number: each.path for each in self._outdated(file)}
                names = self._names_before(file)
                take_out(file, outdated, names)
                paths = dict.fromkeys((*outdated.values(), *names.values()))
                return [f"took what {path or 'a file'} said before out of {file}" for path in paths]
        return [self.clean(file)]

    def is_indexed_in(self, search: Path | None) -> bool:
        """True if the search index with this folder is that of the project."""
        return search is not None and search.resolve() == self._search

    def is_derived(self, file: Path) -> bool:
        """True if a file was made from the project's files."""
        return self._part(file) in (*DERIVED_FOLDERS, PARSED)

    def clean(self, file: Path) -> str:
        """Delete a derived file that still has some of the text, with everything that belongs to it. The search index
        never goes as a whole, because its embeddings take long to make."""
        if file.name.startswith(INDEX_FILE) and file.parent == self._search:
            return ""
        place = self.folder / self._part(file)
        throw_away(place)
        return f"deleted {place}, which is made again from the project's files"

    def left(self, shared: Collection[str] = ()) -> Iterator[Path]:
        """The files that still contain some of the text, apart from text shared with memories that stay: all files are
        searched byte by byte, packed ones as far as that was not done yet."""
        self._contents.clear()
        derived, rest = self._rest.without(shared).inside_texts, self._traces.without(shared)
        for file in files_below(self.folder):
            if (derived if self.is_derived(file) else rest).in_file(file):
                yield file
        if is_held(self._search, self.sought, self._seen):
            yield self._search
        for file in self._documents():
            try:
                if any(True for _ in self._outdated(file)) or self._names_before(file):
                    yield file
            except ClewError:
                yield file

    def _part(self, file: Path) -> str:
        """The folder or the file that a derived file belongs to."""
        part = file.relative_to(self.folder).parts[0]
        return PARSED if part.startswith(PARSED) else part

    def _documents(self) -> list[Path]:
        return paths_named(self.folder / _DOCUMENTS, "*.db")

    def _outdated(self, file: Path) -> Iterator[PackedText]:
        """The documents that contain some of the text although their file does not, now."""
        identity = file.stat().st_ino
        before, last = self._numbers.get(file, (identity, 0))
        for each in packed_texts(file, after=last if before == identity else 0):
            last = max(last, each.number)
            held = self._traces.pieces_in(f"{each.path}\n{each.said}")
            if held and (self._is_unchanged(each) or self._is_said(each.path, held)):
                self._own[each.path] = self._own.get(each.path, frozenset()) | held
            elif held:
                yield each
        self._numbers[file] = (identity, last)

    def _names_before(self, file: Path) -> dict[str, str | None]:
        """The earlier names, as of headings, that hold some of it which their file does not say now, each with the path
        of the file. The words of a heading are set apart in another way in a name."""
        found = {}
        for name, path in earlier_names(file):
            held = self._traces.in_words.pieces_in("\n".join(map(words_of, name.split("#"))))
            if held and (path is None or not self._is_said(path, held)):
                found[name] = path
        return found

    def _is_unchanged(self, each: PackedText) -> bool:
        content = self._content(each.path)
        return content is not None and content_hash(content.data) == each.content_hash

    def _is_said(self, path: str, pieces: frozenset[str]) -> bool:
        """True if a file of the project contains all of these now."""
        content = self._content(path)
        said = self._own.get(path, frozenset())
        return content is not None and all(
            piece in said or piece in path.casefold() or content.says(piece) for piece in pieces
        )

    def _content(self, path: str) -> SearchedFile | None:
        """The content of a file now; None if it is gone."""
        if path not in self._contents:
            with suppress(OSError):
                self._contents[path] = SearchedFile(contents(self._root / raw(path), ANY_BYTES))
        return self._contents.get(path)
