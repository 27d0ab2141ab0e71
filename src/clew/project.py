"""A project: the one place that connects configuration, graph, store and services.

Opening a project reads its configuration and nothing else. The graph is built at its first use, once for all callers,
and kept in step with the files after that.
"""

import logging
import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from clew.config import Config, load
from clew.context import Context
from clew.errors import Cancelled, ClewError, ConfigError, StoreCorrupt
from clew.once import close_parts, lazy
from clew.workspace.follow import KeptNames
from clew.workspace.keeping import Keeper

if TYPE_CHECKING:
    # What builds and answers is imported where it is first used: a server lists its tools before it needs any of it.
    from clew.code.service import CodeService
    from clew.compat.elspais.cursor import OpenCursors
    from clew.derived.history_reader import HistoryReader
    from clew.graph.build.builder import Builder, BuildReport
    from clew.graph.build.reading import Progress
    from clew.graph.code.keeper import CodeKeeper
    from clew.graph.code.region import CodeRegion
    from clew.graph.graph import Graph
    from clew.graph.model import Node
    from clew.kb.service import KnowledgeBase
    from clew.memory.service import MemoryService
    from clew.operation.call import Call
    from clew.project_index import ProjectIndex
    from clew.register.service import RegisterService
    from clew.search.engine import SearchEngine
    from clew.specs.service import SpecsService
    from clew.store.interface import Store
    from clew.trace.edit.at_once import RequirementFiles
    from clew.trace.edit.service import MutationService
    from clew.trace.links.service import LinkService
    from clew.trace.read.results import Unsaved
    from clew.trace.reports.finding import Finding
    from clew.trace.service import TraceService
    from clew.why.overview.holdings import Holdings

log = logging.getLogger(__name__)


class Project:
    """An open project: its services, and the graph in step with the files. Closing it closes the services, the one
    declared last first."""

    def __init__(self, config: Config, *, drafts: bool = True) -> None:
        """Without `drafts` unsaved mutations are no part of the graph: it is the files and nothing else."""
        self.config = config
        self.context = Context(config, self)
        self._drafts = drafts
        self.names: KeptNames[Holdings] = KeptNames(config.root)
        """The holdings of the folder, by the names of its files."""
        self._mutations: MutationService | None = None
        self._opening_register = threading.Lock()
        self._register: RegisterService | None = None
        self._background = Keeper("clew-start")

    @classmethod
    def open(cls, folder: Path | str, *, drafts: bool = True) -> "Project":
        """The project at or above a folder."""
        return cls(load(Path(folder)), drafts=drafts)

    # The graph

    @property
    def graph(self) -> "Graph":
        return self.context.graph

    def make_graph(self) -> "Graph":
        """An empty graph with the regions of documents, memories and source code; each is opened at its first use."""
        from clew.graph.graph import Graph
        from clew.graph.model import EdgeKind, NodeKind
        from clew.graph.region import LateRegion
        from clew.trace.coverage import annotate

        graph = Graph(annotate)
        documents = LateRegion(
            lambda: self.kb.region,
            prefixes=("doc:", "entity:", "file:"),
            kinds=frozenset({NodeKind.DOCUMENT, NodeKind.SECTION, NodeKind.ENTITY}),
            leads_out=frozenset({EdgeKind.MENTIONS}),
        )
        graph.attach(documents)
        memories = LateRegion(
            lambda: self.memory.region,
            prefixes=("memory:",),
            kinds=frozenset({NodeKind.MEMORY}),
            leads_out=frozenset({EdgeKind.CITES}),
        )
        graph.attach(memories)
        symbols = LateRegion(
            lambda: self.symbols, prefixes=("symbol:",), kinds=frozenset({NodeKind.SYMBOL}), leads_out=frozenset()
        )
        graph.attach(symbols)
        return graph

    @property
    def symbols(self) -> "CodeRegion":
        """Functions, classes and imports of source files, as far as they were read."""
        from clew.graph.code.region import CodeRegion

        return CodeRegion(
            lambda: self.code.file, lambda: self.graph.memory, lambda: self.code.aliases, self._sections_naming
        )

    def _sections_naming(self, name: str) -> list[str]:
        """The sections of documents that call a function or class by its name, if anybody read the documents."""
        from clew.graph.model import EdgeKind
        from clew.kb import ids
        from clew.kb.entities.model import EntityKind

        if not self.kb.was_read:
            return []
        entity = ids.entity_id(EntityKind.SYMBOL.value, name)
        return [step.id for step in self.graph.neighbours((entity,), (EdgeKind.MENTIONS,), "in", 20)]

    @property
    def store(self) -> "Store | None":
        """The project's store; None, with a note, where it cannot be used: reading the project works without."""
        return self.context.store

    # Services

    @lazy
    def trace(self) -> "TraceService":
        """Reads requirements and everything that cites them."""
        from clew.trace.service import TraceService

        return TraceService(
            self.context, lambda query, again, check: self.index.rank_requirements(query, check, again=again)
        )

    def findings(self, call: "Call") -> "tuple[Finding, ...]":
        """All findings of the graph, the specs, the register and the memory, sorted by place."""
        from clew.why.findings import all_findings

        return all_findings(call)

    @lazy
    def open_cursors(self) -> "OpenCursors":
        """The open result lists, one for each session, for clients of elspais that read them item by item."""
        from clew.compat.elspais.cursor import OpenCursors

        return OpenCursors()

    @lazy
    def index(self) -> "ProjectIndex":
        """The search index."""
        from clew.project_index import ProjectIndex

        return ProjectIndex(self.context)

    @lazy
    def specs(self) -> "SpecsService":
        """Specs and open changes."""
        from clew.specs.service import SpecsService

        return SpecsService(self.context)

    @lazy
    def kb(self) -> "KnowledgeBase":
        """The documents of the project."""
        from clew.kb.service import KnowledgeBase

        return KnowledgeBase(self.context)

    @lazy
    def memory(self) -> "MemoryService":
        """The memories of agents and people about the project."""
        from clew.memory.service import MemoryService

        return MemoryService(self.context)

    @lazy
    def links(self) -> "LinkService":
        """Suggests links, and writes them into files."""
        from clew.trace.links.service import LinkService

        return LinkService(self.context)

    @lazy
    def code(self) -> "CodeKeeper":
        """The functions, classes and imports of all source files."""
        from clew.graph.code.keeper import CodeKeeper

        folder, config = self.context.derived_folder, self.config
        return CodeKeeper(config.root, lambda: folder / "code", config.max_file_bytes, indexes=config.indexes)

    @lazy
    def uses(self) -> "CodeService":
        """Uses of functions, classes and constants, in tests too."""
        from clew.code.service import CodeService

        return CodeService(self.config.root, lambda: self.code)

    @lazy
    def history(self) -> "HistoryReader":
        """The commits of the repository."""
        from clew.derived.history_reader import HistoryReader

        return HistoryReader(self.config.root, lambda: self.context.derived_folder / "history")

    @property
    def mutations(self) -> "MutationService":
        """Changes requirements in the graph, and saves them."""
        _ = self.context.builder
        assert self._mutations is not None  # noqa: S101 - made with the builder
        return self._mutations

    @property
    def files(self) -> "RequirementFiles":
        """Changes requirements in their files."""
        from clew.trace.edit.at_once import RequirementFiles

        return RequirementFiles(self.context, self.mutations)

    @property
    def register(self) -> "RegisterService":
        """The register of managed requirements. It needs neither the graph nor the store. While there is none, it is
        looked for at each use, because somebody may create one."""
        from clew.register.service import RegisterService

        with self._opening_register:
            if self._register is None or not self._register.file.exists():
                self._register = RegisterService.of_project(self.config)
            return self._register

    # The parts that services need of each other, through the context

    def engine(self) -> "SearchEngine | None":
        return self.index.engine

    def make_vectors(self) -> None:
        if self.config.search.background:
            self.index.make_vectors_in_background()

    def renewed_after(self, error: StoreCorrupt) -> bool:
        return self.index.renewed_after(error) or self.memory.renewed_after(error)

    def rebuild_index(self) -> None:
        self.index.rebuild()

    def drafted_nodes(self) -> "Mapping[str, Node | None]":
        return self.mutations.as_filed()

    def drafted_paths(self) -> Collection[str]:
        return self.mutations.drafted_paths()

    def attach_drafts(self, builder: "Builder") -> None:
        from clew.trace.edit.service import open_mutations

        self._mutations = open_mutations(
            self.context, builder, with_drafts=self._drafts and self.context.believes_store
        )

    def sweep_register(self) -> None:
        from clew.edit.replacing import leftovers
        from clew.graph.readers.locations import SINGLE

        if leftovers(self.config.root / SINGLE):
            self.register.file.remove_leftovers()

    def symbols_meant(self, text: str) -> tuple[str, ...]:
        self.code.ensure()
        meaning = self.uses.meaning(text)
        found = meaning.found if meaning.symbol is None else (meaning.symbol,)
        return tuple(f"{each.path}::{each.qualname}" for each in found)

    def warm(self) -> None:
        self.trace.warm()

    # The state of the project

    def notes(self) -> tuple[str, ...]:
        """Notes on everything that limits the answers of this project, and on writes that were interrupted."""
        self.context.store, self.context.cursors  # noqa: B018 - opened, so that what is wrong with them is known
        problem = self.context.store_problem or self.context.team_problem
        opened = Project.index.if_made(self)
        index = opened.problem if opened is not None else None
        problems = ((str(problem),) if problem is not None else ()) + ((index,) if index else ())
        unsaved = self.unsaved().note
        try:
            said = self.context.live.now().notes
        except ConfigError as error:
            said = (str(error),)
        from clew.workspace.git import api as git

        more = (note for note in (git.unused(self.config.root), unsaved) if note)
        return (*said, *self.context.doubts(), *self.context.recovered, *problems, *more)

    def unsaved(self) -> "Unsaved":
        """The drafts that wait to be saved, whether or not this process shows them in its graph."""
        return self.mutations.unsaved()

    # Keeping the graph

    def ensure_graph(self, progress: "Progress | None" = None, *, current: bool = True) -> None:
        """Return once the graph is built and, with `current`, holds every change made before this call."""
        self.context.keeper.ensure(progress, current=current)

    def refresh(self, *, full: bool = False, progress: "Progress | None" = None) -> "BuildReport":
        """Read what changed now."""
        return self.context.keeper.refresh(full=full, progress=progress)

    def build_in_background(self) -> None:
        """Begin building unless that has begun already; returns at once."""
        if self._background.run is None:
            self._background.begin(self._start)

    def _start(self) -> None:
        with suppress(Cancelled):
            self.context.follow_team()
            self.context.keeper.start()
            if self.config.search.background:
                self._index_in_background()
            self._remember_changes()

    def _remember_changes(self) -> None:
        """Note what open changes touch as soon as a server sees them."""
        from clew.graph.model import NodeKind

        try:
            self.ensure_graph(current=False)
            with self.context.lock.reading():
                if any(node.get_field("change_id") for node in self.graph.nodes_by_kind(NodeKind.REMAINDER)):
                    self.specs.remember()
        except Cancelled:
            pass
        except ClewError as error:
            # Later calls report the same error.
            log.warning("What open changes touch could not be noted: %s", error)

    def _index_in_background(self) -> None:
        try:
            self.ensure_graph(current=False)
            with self.context.lock.reading():
                self.index.sync()
            self.index.make_vectors_in_background()
        except Cancelled:
            pass
        except ClewError as error:
            # Later searches report the same error.
            log.warning("The search index could not be made in the background: %s", error)

    def close(self) -> None:
        """Stop work in the background and close the store. The project cannot be used after that."""
        self._background.stop()
        self.context.stop()
        self._background.close()
        close_parts(self)
        if self._mutations is not None:
            self._mutations.close()
        self.context.close()
