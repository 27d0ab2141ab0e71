"""A project: the one place that wires configuration, graph, store and services together.

Opening a project reads its configuration and nothing else. The graph is built when somebody first needs it, once for
all who wait, and kept in step with the files after that.
"""

import logging
import secrets
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clew.config import Config, load
from clew.errors import Cancelled, ClewError, StoreError
from clew.graph.graph import Graph
from clew.graph.late_region import LateRegion
from clew.graph.lock import ReadWriteLock
from clew.graph.model import EdgeKind, NodeKind
from clew.once import Once
from clew.trace.coverage.annotate import annotate

if TYPE_CHECKING:
    # What builds and answers is imported where it is first used: a server lists its tools before it needs any of it.
    from clew.formats.elspais.ids.grammar import IdGrammar
    from clew.graph.build.builder import Builder, BuildReport
    from clew.graph.build.keeper import GraphKeeper
    from clew.graph.build.reading import Progress
    from clew.kb.service import KnowledgeBase
    from clew.operation.paging import Cursors
    from clew.project_index import ProjectIndex
    from clew.register.service import RegisterService
    from clew.specs.service import SpecsService
    from clew.store.interface import Store
    from clew.trace.edit.plans import Planner
    from clew.trace.edit.service import MutationService
    from clew.trace.edit.text.author import Author
    from clew.trace.files.service import RequirementFiles
    from clew.trace.find.search import Check, Relevance
    from clew.trace.links.service import LinkService
    from clew.trace.service import TraceService

log = logging.getLogger(__name__)

STATE_FOLDER = ".clew"
STORE_PATIENCE_SECONDS = 10.0
"""How long another process may hold the store before a write gives up."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a project is wired from once somebody needs it."""

    store: "Store | None"
    store_problem: StoreError | None
    builder: "Builder"
    keeper: "GraphKeeper"
    mutations: "MutationService"
    trace: "TraceService"
    cursors: "Cursors"
    grammar: "IdGrammar"


class Project:
    def __init__(self, config: Config, *, drafts: bool = True) -> None:
        self.config = config
        self._drafts = drafts
        """Whether unsaved mutations are part of the graph; without, it is the files and nothing else."""
        self.graph = Graph(annotate)
        self.graph.attach(self._documents())
        self.lock = ReadWriteLock()
        self._wiring = threading.Lock()
        self._made: _Parts | None = None
        self._index = Once(self._open_index)
        self._links = Once(self._open_links)
        self._specs = Once(self._open_specs)
        self._kb = Once(self._open_kb)
        self._opening_register = threading.Lock()
        self._register: RegisterService | None = None
        self._starting: threading.Thread | None = None
        self._closed = False

    @classmethod
    def open(cls, folder: Path | str, *, drafts: bool = True) -> "Project":
        """The project at or above a folder."""
        return cls(load(Path(folder)), drafts=drafts)

    # What is wired

    @property
    def store(self) -> "Store | None":
        """The project's store; None, with a note, where it cannot be used: reading the project works without."""
        return self._parts().store

    @property
    def builder(self) -> "Builder":
        return self._parts().builder

    @property
    def trace(self) -> "TraceService":
        return self._parts().trace

    @property
    def mutations(self) -> "MutationService":
        """Changes requirements in the graph, and saves them."""
        return self._parts().mutations

    @property
    def cursors(self) -> "Cursors":
        return self._parts().cursors

    @property
    def grammar(self) -> "IdGrammar":
        """The grammar of the project's ids."""
        return self._parts().grammar

    @property
    def files(self) -> "RequirementFiles":
        """Changes requirements in their files."""
        from clew.trace.files.service import RequirementFiles

        parts = self._parts()
        return RequirementFiles(
            self.config,
            self.graph,
            parts.grammar,
            self.lock,
            parts.store,
            ensure=self.ensure_graph,
            refresh=self.refresh,
            drafted=parts.mutations.drafted_paths,
        )

    @property
    def links(self) -> "LinkService":
        """Suggests links, and writes them into files."""
        return self._links.get()

    def _open_links(self) -> "LinkService":
        from clew.trace.links.service import LinkService

        parts, folder = self._parts(), self.config.root / STATE_FOLDER
        return LinkService(
            self.graph,
            self.config,
            parts.grammar,
            parts.store,
            self.lock,
            folder,
            readers=lambda: parts.builder.readers,
            refresh=self.refresh,
        )

    @property
    def register(self) -> "RegisterService":
        """The register of managed requirements. It needs neither the graph nor the store. As long as there is none, it
        is looked for again: somebody may make one where it was not looked for before."""
        from clew.register.service import RegisterService

        with self._opening_register:
            if self._register is None or not self._register.file.exists():
                self._register = RegisterService.of_project(self.config)
            return self._register

    @property
    def index(self) -> "ProjectIndex":
        """The search index, opened when it is first asked."""
        return self._index.get()

    def _open_index(self) -> "ProjectIndex":
        from clew.project_index import ProjectIndex

        parts, folder = self._parts(), self.config.root / STATE_FOLDER
        return ProjectIndex(
            folder, self.graph, parts.mutations.as_filed, parts.store, parts.cursors, self.config.embedder
        )

    @property
    def specs(self) -> "SpecsService":
        """Specs and open changes."""
        return self._specs.get()

    def _open_specs(self) -> "SpecsService":
        from clew.graph.readers.spec_roots import spec_roots
        from clew.specs.service import SpecsService, Surroundings

        around = Surroundings(
            root=self.config.root,
            max_file_bytes=self.config.max_file_bytes,
            roots=spec_roots(self.config),
            store=self._parts().store,
            engine=lambda: self.index.engine,
            wake=self._make_vectors,
            lock=self.lock,
            refresh=self.refresh,
            diagnostics=lambda: self.builder.diagnostics(),
        )
        return SpecsService(self.graph, around)

    def _documents(self) -> LateRegion:
        """The documents as a part of the graph, opened by the first who asks for one."""
        return LateRegion(
            lambda: self.kb.region,
            prefixes=("doc:", "entity:", "file:"),
            kinds=frozenset({NodeKind.DOCUMENT, NodeKind.SECTION, NodeKind.ENTITY}),
            leads_out=frozenset({EdgeKind.MENTIONS}),
        )

    @property
    def kb(self) -> "KnowledgeBase":
        """The documents of the project."""
        return self._kb.get()

    def _open_kb(self) -> "KnowledgeBase":
        from clew.kb.ingest.citing import Citations
        from clew.kb.ingest.corpus import Corpus
        from clew.kb.ingest.records import Origin
        from clew.kb.service import KnowledgeBase

        config, parts, folder = self.config, self._parts(), self.config.root / STATE_FOLDER
        citations = Citations(parts.grammar)
        origin = Origin(config.kb.environment or "dev", config.kb.repository or config.name)
        corpus = Corpus(config.root, config.documents, config.max_file_bytes, citations, repr(config.elspais), origin)
        return KnowledgeBase(
            *(folder, corpus, config.kb, self.graph, parts.store, lambda: self.index.engine, self._make_vectors),
            remake_index=lambda: self.index.rebuild(),
            follows_files=config.auto_refresh,
        )

    def _make_vectors(self) -> None:
        if self.config.search.background:
            self.index.make_vectors_in_background()

    def _rank(self, query: str, again: bool, check: "Check") -> "Relevance":
        return self.index.rank_requirements(query, check, again=again)

    def _parts(self) -> _Parts:
        """Everything is wired together, and once, whoever asks first: calls and the background build run in threads."""
        with self._wiring:
            if self._closed:
                raise Cancelled("The project was closed.")
            if self._made is None:
                self._made = self._wire()
            return self._made

    def _wire(self) -> _Parts:
        from clew.formats.elspais.ids.grammar import IdGrammar
        from clew.graph.build.builder import Builder
        from clew.graph.build.keeper import GraphKeeper
        from clew.graph.readers import ProjectReaders
        from clew.operation.paging import Cursors
        from clew.trace.service import TraceService

        config = self.config
        grammar = IdGrammar(config.elspais)
        store, problem = self._open_store()
        readers = ProjectReaders(config, grammar)
        builder = Builder(
            *(config.root, readers.now(), self.graph, store, self.lock),
            max_file_bytes=config.max_file_bytes,
            choose=readers.now,
        )
        key = secrets.token_bytes(32)
        if store is not None:
            try:
                key = store.setting("cursor_key", key)
            except StoreError as error:
                problem = error
        trace = TraceService(self.graph, builder, grammar, config, self._rank)
        keeper = GraphKeeper(self.graph, builder, trace.warm, auto_refresh=config.auto_refresh)
        mutations = self._wire_mutations(builder, keeper, store, grammar)
        return _Parts(store, problem, builder, keeper, mutations, trace, Cursors(key), grammar)

    def _wire_mutations(
        self, builder: "Builder", keeper: "GraphKeeper", store: "Store | None", grammar: "IdGrammar"
    ) -> "MutationService":
        from clew.graph.changes import History
        from clew.graph.readers.elspais import ElspaisReader
        from clew.graph.readers.markers import MarkerReader
        from clew.trace.edit.drafts import DraftLog
        from clew.trace.edit.pending import PendingDrafts
        from clew.trace.edit.reverts import Reverts
        from clew.trace.edit.saves import Saves
        from clew.trace.edit.service import MutationService
        from clew.trace.edit.text.author import Author

        config = self.config
        history = History(self.graph, lambda: builder.linker)
        drafts = DraftLog(store)
        saves = Saves(config.root, builder, keeper, history, drafts)

        def reader() -> ElspaisReader:
            return next(reader for reader in builder.readers if isinstance(reader, ElspaisReader))

        commenting = frozenset(reader.name for reader in builder.readers if isinstance(reader, MarkerReader))
        author = Author(self.graph, lambda: builder.linker, saves.original, reader, grammar, history, commenting)
        planner = Once(lambda: self._planner(author)).get
        reverts = Reverts(author, builder, drafts)
        pending = PendingDrafts(history, self.lock, planner, drafts, reverts, saves)
        if self._drafts:
            builder.attach(pending)
        return MutationService(self.graph, keeper, self.lock, planner, pending, drafts, reverts, saves)

    def _planner(self, author: "Author") -> "Planner":
        from clew.trace.edit.places import Places
        from clew.trace.edit.plans import Planner
        from clew.trace.edit.rules import Rules

        rules, places = Rules(self.graph, author.grammar), Places(self.config.root, author, self.config.requirements)
        return Planner(author, rules, places)

    def _open_store(self) -> "tuple[Store | None, StoreError | None]":
        from clew.store.sqlite import open_sqlite

        folder = self.config.root / STATE_FOLDER
        try:
            is_new = not folder.exists()
            store = open_sqlite(folder / "clew.db", busy_timeout=STORE_PATIENCE_SECONDS)
            if is_new:
                # Whoever looks at a project with Clew should not find it in `git status`.
                (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        except StoreError as error:
            log.warning("%s", error)
            return None, error
        return store, None

    def notes(self) -> tuple[str, ...]:
        """What limits the answers of this project."""
        problem = self._parts().store_problem
        opened = self._index.made
        index = opened.problem if opened is not None else None
        return (*self.config.notes, *((str(problem),) if problem is not None else ()), *((index,) if index else ()))

    # Keeping the graph

    def ensure_graph(self, progress: "Progress | None" = None, *, current: bool = True) -> None:
        """Return once the graph is built and, with `current`, holds every change made before this call."""
        self._parts().keeper.ensure(progress, current=current)

    def refresh(self, *, full: bool = False, progress: "Progress | None" = None) -> "BuildReport":
        """Read what changed now."""
        return self._parts().keeper.refresh(full=full, progress=progress)

    def build_in_background(self) -> None:
        """Begin building unless somebody did already; returns at once."""
        if self._starting is None:
            self._starting = threading.Thread(target=self._start, name="clew-start", daemon=True)
            self._starting.start()

    def _start(self) -> None:
        with suppress(Cancelled):
            self._parts().keeper.start()
            if self.config.search.background:
                self._index_in_background()
            self._remember_changes()

    def _remember_changes(self) -> None:
        """Note what open changes touch as soon as a server sees them."""
        try:
            self.ensure_graph(current=False)
            with self.lock.reading():
                if any(node.get_field("change_id") for node in self.graph.nodes_by_kind(NodeKind.REMAINDER)):
                    self.specs.remember()
        except Cancelled:
            pass
        except ClewError as error:
            # Whoever asks for the changes meets the same error, in a call that can report it.
            log.warning("What open changes touch could not be noted: %s", error)

    def _index_in_background(self) -> None:
        try:
            self.ensure_graph(current=False)
            with self.lock.reading():
                self.index.sync()
            self.index.make_vectors_in_background()
        except Cancelled:
            pass
        except ClewError as error:
            # Whoever searches meets the same error, in a call that can report it.
            log.warning("The search index could not be made in the background: %s", error)

    def close(self) -> None:
        """Stop what runs in the background and let go of the store. Nothing can be asked after that."""
        with self._wiring:
            self._closed = True
            made = self._made
        if made is not None:
            made.keeper.close()
        if self._starting is not None:
            self._starting.join()
        for opened in (self._kb.made, self._index.made):
            if opened is not None:
                opened.close()
        if made is not None:
            made.mutations.close()
            if made.store is not None:
                made.store.close()
