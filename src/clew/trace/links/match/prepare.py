"""Getting ready to suggest: the requirements of one state of the graph, indexed by words and by meaning."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from clew.config import EmbedSettings
from clew.errors import Cancelled, ClewError
from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind
from clew.search.embed.embedder import Embedder
from clew.search.embed.opening import open_embedder
from clew.trace.links.match.matching import Candidates
from clew.trace.links.match.meaning import Progress, Vectors
from clew.trace.links.match.sources import ProjectSources
from clew.trace.links.match.texts import Artefact, passages, requirement_artefact
from clew.trace.links.match.units import LinkUnit

BACKGROUND = 150
"""So many units of the project are compared along with those in question: what a match is worth shows only beside
other matches."""
NEW_VECTORS_A_CALL = 200
"""More texts than this are not read for meaning while somebody waits."""
MANY_UNITS = 200
TOO_MANY = (
    "Compared by words alone: too many tests and pieces of code to read for meaning now. Name a file or folder, or run "
    "`clew links suggest`, which waits for it."
)


class Prepared(msgspec.Struct, frozen=True):
    candidates: Candidates
    requirements: tuple[Node, ...]
    background: tuple[LinkUnit, ...]
    vectors: Vectors | None
    notes: tuple[str, ...]
    settled: bool
    """Whether asking again would give the same; otherwise more texts will have been read for meaning by then."""


class _Readiness(msgspec.Struct, frozen=True):
    """Whether texts can be compared by meaning now, and if not, why."""

    vectors: Vectors | None
    notes: tuple[str, ...] = ()
    settled: bool = True


class Preparation:
    def __init__(self, graph: Graph, sources: ProjectSources, settings: EmbedSettings, folder: Path | None) -> None:
        """`folder` keeps vectors; None keeps them for as long as the process runs."""
        self._graph = graph
        self._sources = sources
        self._settings = settings
        self._folder = folder
        self._vectors: Vectors | None = None
        self.problem: str | None = None
        """Why meaning cannot be compared in this process."""
        self._state: str | None = None
        self._requirements: tuple[Node, ...] = ()
        self._background: tuple[LinkUnit, ...] = ()
        self._texts: tuple[list[Artefact], list[Artefact]] = [], []
        """Of the requirements, and of the background."""
        self._prepared: dict[bool, Prepared] = {}
        """With meaning, and by words alone."""

    def prepare(self, asked: Sequence[LinkUnit], patient: bool, progress: Progress | None) -> Prepared:
        if self._state != self._graph.state.fingerprint:
            self._follow()
        artefacts, others = self._texts
        in_question = [unit.artefact() for unit in asked]
        if True not in self._prepared:
            in_question += [*artefacts, *others]
        ready = self._readiness(in_question, patient, progress, many=len(asked) > MANY_UNITS)
        known = self._prepared.get(ready.vectors is not None)
        if known is None:
            candidates = Candidates(artefacts, others, ready.vectors, progress)
            known = Prepared(candidates, self._requirements, self._background, ready.vectors, (), settled=True)
            self._prepared[ready.vectors is not None] = known
        return msgspec.structs.replace(
            known,
            requirements=self._requirements,
            background=self._background,
            notes=ready.notes,
            settled=ready.settled,
        )

    def _follow(self) -> None:
        """See what the graph holds now. What is ready stays ready while the texts are the same: most changes, such as
        a link that was accepted, leave them alone."""
        self._requirements, self._background = self._all_requirements(), self._some_units()
        texts = (
            [requirement_artefact(node) for node in self._requirements],
            [unit.artefact() for unit in self._background],
        )
        if texts != self._texts:
            self._texts, self._prepared = texts, {}
        self._state = self._graph.state.fingerprint

    def _all_requirements(self) -> tuple[Node, ...]:
        """Those that something new may still cite, in the order of their files: neighbours are related."""
        nodes = [
            node
            for node in self._graph.nodes_by_kind(NodeKind.REQUIREMENT)
            if node.get_field("role") != "retired" and not node.get_field("is_duplicate")
        ]
        nodes.sort(key=lambda node: (node.source.path, node.source.line) if node.source is not None else ("", 0))
        return tuple(nodes)

    def _some_units(self) -> tuple[LinkUnit, ...]:
        """Some units of the project, spread evenly over its files."""
        files = list(self._sources.files().values())
        every = max(1, len(files) // BACKGROUND)
        sources = [self._sources.source(file) for file in files[::every]]
        units = [unit for source in sources if source is not None for unit in source.units]
        every = max(1, len(units) // BACKGROUND)
        return tuple(units[::every][:BACKGROUND])

    def _readiness(
        self, artefacts: Sequence[Artefact], patient: bool, progress: Progress | None, *, many: bool
    ) -> _Readiness:
        """Reads texts for meaning as far as there is time for it."""
        vectors = self._opened()
        if vectors is None:
            return _Readiness(None, (self.problem,) if self.problem else ())
        texts = list(dict.fromkeys(text for artefact in artefacts for text in passages(artefact)))
        try:
            missing = vectors.missing(texts)
            left = 0 if patient else max(0, len(missing) - NEW_VECTORS_A_CALL)
            if left and many:
                return _Readiness(None, (TOO_MANY,))
            vectors.of(missing[: len(missing) - left], progress)
        except Cancelled:
            raise
        except (ClewError, ImportError) as error:
            return _Readiness(None, (f"Compared by words alone: {error}",), settled=False)
        if not left:
            return _Readiness(vectors)
        note = (
            f"Compared by words alone: {left} texts are still to be read for meaning. Each call reads "
            f"{NEW_VECTORS_A_CALL} of them; `clew links suggest` reads all."
        )
        return _Readiness(None, (note,), settled=False)

    def _opened(self) -> Vectors | None:
        if self._vectors is None and self.problem is None:
            try:
                embedder: Embedder | None = open_embedder(self._settings)
            except (ClewError, ImportError) as error:
                embedder = None
                self.problem = f"Compared by words alone: {error}"
            if embedder is not None:
                self._vectors = Vectors(embedder, self._folder)
            elif self.problem is None:
                self.problem = "Compared by words alone: the configuration wants no embedder."
        return self._vectors
