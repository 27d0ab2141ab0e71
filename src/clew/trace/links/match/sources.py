"""The files of a project that hold tests and code, and the units in them."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from clew.config import WHOLE_PROJECT, Config
from clew.errors import ClewError, NotFound
from clew.formats.code.markers import MarkerRecords
from clew.graph.build.reading import Reader
from clew.graph.graph import Graph
from clew.graph.readers.markers import MarkerReader
from clew.text.hashing import content_hash
from clew.trace.links.match.evidence import cited_by
from clew.trace.links.match.units import LinkUnit, UnitFile, linked_to, read_units
from clew.workspace.files import path_inside, read_bytes
from clew.workspace.find import scan

CODE_READER, TEST_READER = "code", "tests"


class KnownFile(msgspec.Struct, frozen=True):
    path: str
    is_test: bool


class ProjectSources:
    def __init__(self, graph: Graph, config: Config, readers: Callable[[], Sequence[Reader]]) -> None:
        """`readers` are those that the graph is built with; they change when the project gets a register."""
        self._graph = graph
        self._config = config
        self._readers = readers
        self._read: dict[str, UnitFile] = {}

    def files(self) -> dict[str, KnownFile]:
        """Every file of tests or code, by path. A file that both name is one of tests."""
        return self._graph.derived("link_files", lambda graph: self._scanned())

    def _scanned(self) -> dict[str, KnownFile]:
        found: dict[str, KnownFile] = {}
        for name in (CODE_READER, TEST_READER):
            reader = self._reader(name)
            for entry in scan(self._config.root, reader.selection).files if reader is not None else ():
                found[entry.path] = KnownFile(entry.path, name == TEST_READER)
        return found

    def asked(self, path: str | None, *, tests_only: bool = False) -> list[KnownFile]:
        """The files that a path means: one, or all below a folder."""
        files = {name: file for name, file in self.files().items() if file.is_test or not tests_only}
        if path is None:
            return list(files.values())
        root = self._config.root
        spelled = path_inside(root, path)
        found = [files[spelled]] if spelled in files else []
        if not found:
            prefix = "" if spelled == "." else f"{spelled}/"
            found = [file for name, file in files.items() if name.startswith(prefix)]
        if not found:
            raise NotFound(f"'{path}' is not a file of tests or code, nor a folder with any.", hint=self.where())
        return found

    def where(self) -> str:
        """A sentence about the folders in which tests and code are looked for."""
        read = [
            "the whole project" if folders == WHOLE_PROJECT else ", ".join(folders) or "no folder"
            for folders in (self._config.tests.folders, self._config.code.folders)
        ]
        return f"Tests are read in {read[0]}, by their usual names, and code in {read[1]}; see clew.toml."

    def source(self, file: KnownFile) -> UnitFile | None:
        """The units of a file, computed again only after it changed; None if it cannot be read."""
        path = file.path
        try:
            data = read_bytes(self._config.root, path, limit=self._config.max_file_bytes)
        except ClewError:
            return None
        version = content_hash(data)
        known = self._read.get(path)
        if known is None or known.version != version:
            nodes = self._graph.nodes_in_file(path)
            known = self._read[path] = read_units(data, path, nodes, version, is_test=file.is_test)
        return known

    def records(self, file: KnownFile, data: bytes) -> MarkerRecords:
        """The markers that the project reads in a file with this content."""
        reader = self._reader(TEST_READER if file.is_test else CODE_READER)
        return MarkerRecords() if reader is None else reader.markers(data, file.path)

    def _reader(self, name: str) -> MarkerReader | None:
        markers = (reader for reader in self._readers() if isinstance(reader, MarkerReader))
        return next((reader for reader in markers if reader.name == name), None)

    def unlinked(self, source: UnitFile) -> Iterator[LinkUnit]:
        """The units of a file that cite nothing."""
        nodes = list(self._graph.nodes_in_file(source.path))
        for unit in source.units:
            if not any(cited_by(self._graph, node) for node in linked_to(unit, nodes)):
                yield unit
