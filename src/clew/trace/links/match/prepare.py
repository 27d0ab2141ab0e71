"""Getting ready to suggest: the requirements of one state of the graph, indexed by words and by meaning."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from clew.config import EmbedSettings
from clew.errors import Cancelled, ClewError
from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind
from clew.search.embed.embedder import Embedder
from clew.search.embed.opening import open_embedder
from clew.trace.links.match.matching import Candidates, encoded_texts
from clew.trace.links.match.meaning import Progress, Vectors
from clew.trace.links.match.sources import ProjectSources
from clew.trace.links.match.texts import LinkableText, requirement_artefact
from clew.trace.links.match.units import LinkUnit
from clew.workspace.keeping import Keeper

BACKGROUND = 150
"""So many units of the project are compared along with those in question: what a match is worth shows only beside
other matches."""
NEW_VECTORS_A_CALL = 50
"""More texts than this are not read for meaning while somebody waits, but in the background."""


class MatchCandidates(msgspec.Struct, frozen=True):
    candidates: Candidates
    requirements: tuple[Node, ...]
    background: tuple[LinkUnit, ...]
    vectors: Vectors | None
    notes: tuple[str, ...]
    settled: bool
    """True if asking again would give the same answer; otherwise more texts will have embeddings by then."""
    unread: int = 0
    """Tests and pieces of code that somebody would have to read for meaning first."""


class _Readiness(msgspec.Struct, frozen=True):
    """The vectors for a comparison by meaning, or the reason why there are none yet."""

    vectors: Vectors | None
    notes: tuple[str, ...] = ()
    settled: bool = True
    unread: int = 0


class _Reader(Keeper):
    """Reads texts for meaning. Suggestions by words work meanwhile; a caller that waits for the embeddings gets the
    error of a reading that failed."""

    name = "clew-links"
    failure = "Embeddings could not be computed"
    expected = (Exception,)


class Preparation:
    def __init__(
        self, graph: Graph, sources: ProjectSources, settings: Callable[[], EmbedSettings], folder: Path | None
    ) -> None:
        """`settings` names the present source of embeddings. `folder` stores them; None: they last as long as the
        process."""
        self._graph = graph
        self._sources = sources
        self._settings = settings
        self._opened_with: EmbedSettings | None = None
        self._folder = folder
        self._vectors: Vectors | None = None
        self.problem: str | None = None
        """The reason why meaning cannot be compared in this process."""
        self._state: str | None = None
        self._requirements: tuple[Node, ...] = ()
        self._background: tuple[LinkUnit, ...] = ()
        self._texts: tuple[list[LinkableText], list[LinkableText]] = [], []
        """Of the requirements, and of the background."""
        self._prepared: dict[bool, MatchCandidates] = {}
        """With meaning, and by words alone."""
        self._reader = _Reader()
        self._waiting: tuple[Vectors, Callable[[], Sequence[str]]] | None = None
        """The texts to embed once the answer is given."""

    def prepare(self, asked: Sequence[LinkUnit], patient: bool, progress: Progress | None) -> MatchCandidates:
        if self._state != self._graph.state.fingerprint:
            self._follow()
        artefacts, others = self._texts
        ready = self._readiness(asked, patient, progress)
        known = self._prepared.get(ready.vectors is not None)
        if known is None:
            candidates = Candidates(artefacts, others, ready.vectors, progress, state=True)
            known = MatchCandidates(candidates, self._requirements, self._background, ready.vectors, (), settled=True)
            self._prepared[ready.vectors is not None] = known
        return msgspec.structs.replace(
            known,
            requirements=self._requirements,
            background=self._background,
            notes=ready.notes,
            settled=ready.settled,
            unread=ready.unread,
        )

    def read_on(self) -> None:
        """Embed in the background the texts that the last answer had to do without."""
        if self._waiting is not None:
            (vectors, texts), self._waiting = self._waiting, None
            self._read_later(vectors, texts)

    def _follow(self) -> None:
        """Update to the present graph. Prepared texts stay as long as they are the same: most changes, such as a link
        that was accepted, do not touch them."""
        self._requirements, self._background = self._all_requirements(), self._some_units()
        texts = (
            [requirement_artefact(node) for node in self._requirements],
            [unit.artefact() for unit in self._background],
        )
        if texts != self._texts:
            self._texts, self._prepared = texts, {}
        self._state = self._graph.state.fingerprint

    def _all_requirements(self) -> tuple[Node, ...]:
        """The requirements that new code may cite, in the order of their files: neighbours are related."""
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

    def _encoded(self, asked: Sequence[LinkUnit]) -> list[str]:
        """The texts that meaning is compared by, each once."""
        artefacts, others = self._texts
        found = _texts_of(asked)
        if True not in self._prepared:
            found += [text for each in artefacts for text in encoded_texts(each, states=True)]
            found += [text for each in others for text in encoded_texts(each, states=False)]
        return list(dict.fromkeys(found))

    def _readiness(self, asked: Sequence[LinkUnit], patient: bool, progress: Progress | None) -> _Readiness:
        """Embeds texts as far as there is time, for a comparison by meaning."""
        vectors = self._opened()
        if vectors is None:
            return _Readiness(None, (self.problem,) if self.problem else ())
        try:
            # Cutting thousands of units into texts takes seconds; a few of them tell whether anything was read yet.
            some = asked[:: max(1, len(asked) // NEW_VECTORS_A_CALL)]
            if patient or len(vectors.missing(_texts_of(some))) <= NEW_VECTORS_A_CALL:
                missing = vectors.missing(self._encoded(asked))
                if patient or len(missing) <= NEW_VECTORS_A_CALL:
                    vectors.of(missing, progress)
                    return _Readiness(vectors)
        except Cancelled:
            raise
        except (ClewError, ImportError) as error:
            return _Readiness(None, (f"Compared by keywords only: {error}",), settled=False)
        self._waiting = vectors, lambda: vectors.missing(self._encoded(asked))
        return _Readiness(None, settled=False, unread=len(asked))

    def _read_later(self, vectors: Vectors, texts: Callable[[], Sequence[str]]) -> None:
        """Embed texts in the background. Finished ones are stored, so it may end at any time."""
        opened_with = self._opened_with

        def stop(*_: object) -> None:
            self._reader.check_open()
            if self._settings() != opened_with:
                raise Cancelled("Another process computes embeddings now.")

        def read() -> None:
            vectors.of(texts(), stop)

        self._reader.begin(read)

    def close(self) -> None:
        """Stop after the present batch: a process that ends while the encoder works would crash."""
        self._reader.close()

    def _opened(self) -> Vectors | None:
        settings = self._settings()
        if settings != self._opened_with:
            self._opened_with, self._vectors, self.problem, self._prepared = settings, None, None, {}
        if self._vectors is None and self.problem is None:
            try:
                embedder: Embedder | None = open_embedder(settings)
            except (ClewError, ImportError) as error:
                embedder = None
                self.problem = f"Compared by keywords only: {error}"
            if embedder is not None:
                self._vectors = Vectors(embedder, self._folder)
            elif self.problem is None:
                self.problem = "Compared by keywords only: embeddings are switched off in the configuration."
        return self._vectors


def _texts_of(units: Sequence[LinkUnit]) -> list[str]:
    return [text for unit in units for text in encoded_texts(unit.artefact(), states=False)]
