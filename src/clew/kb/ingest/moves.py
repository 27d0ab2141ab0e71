"""Documents that are at another path than before."""

import posixpath
from collections import Counter
from collections.abc import Mapping

from clew.kb.ingest.library import KnownDocument, Library

ALIKE = 0.5
"""The share of its sections that a document has in common with the one it was before it was moved and edited."""


class MovedDocuments:
    """The documents whose files are gone. Those that appear at another path are taken out one by one."""

    def __init__(self, library: Library, gone: Mapping[str, KnownDocument]) -> None:
        self._library = library
        self._left = set(gone)
        self._by_content: dict[str, list[str]] = {}
        for path in sorted(gone):
            self._by_content.setdefault(gone[path].file.content_hash, []).append(path)
        self._by_section: dict[str, list[str]] | None = None
        """From the version of a section to the documents that have it; read when it is first needed."""
        self._sizes: Counter[str] = Counter()

    def paths(self) -> list[str]:
        return sorted(self._left)

    def same(self, path: str, content_hash: str) -> str | None:
        """The document with just this content, of several the one with the same name."""
        candidates = [each for each in self._by_content.get(content_hash, ()) if each in self._left]
        name = posixpath.basename(path)
        return min(candidates, key=lambda each: (posixpath.basename(each) != name, each), default=None)

    def alike(self, versions: Mapping[str, str]) -> str | None:
        """The document that has most sections in common with these, given by their ids and versions."""
        if not self._left or not versions:
            return None
        shared: Counter[str] = Counter()
        known = self._sections()
        for version in set(versions.values()):
            shared.update(path for path in known.get(version, ()) if path in self._left)
        best = min(shared, key=lambda path: (-shared[path], path), default=None)
        if best is None or shared[best] < ALIKE * max(len(versions), self._sizes[best]):
            return None
        return best

    def found(self, path: str) -> None:
        """It is known now where a document went."""
        self._left.discard(path)

    def _sections(self) -> Mapping[str, list[str]]:
        if self._by_section is None:
            self._by_section = {}
            with self._library.reading() as reading:
                for path in sorted(self._left):
                    sections = reading.sections_of(path)
                    self._sizes[path] = len(sections)
                    for version in {section.version for section in sections}:
                        self._by_section.setdefault(version, []).append(path)
        return self._by_section
