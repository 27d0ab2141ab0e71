"""The context that every service of a project receives: configuration, graph, lock and stores, each opened at its first
use, and the parts of the project that services need of each other.

A service takes the context and nothing else, so nothing is handed down through constructors.
"""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from clew.config import Config, LiveConfig
from clew.edit.state_folder import SHARED_FOLDER, STATE_FOLDER, make_state_folder
from clew.errors import ConfigError, StoreCorrupt, StoreError, StoreUnreachable
from clew.graph.lock import ReadWriteLock
from clew.once import lazy
from clew.traffic import CallLog, Traffic

if TYPE_CHECKING:
    # What builds and answers is imported where it is first used: a server lists its tools before it needs any of it.
    from clew.derived.parse_cache import ParseCache
    from clew.derived.place import DerivedPlace
    from clew.edit.admission import FolderTrust
    from clew.formats.elspais.ids.grammar import IdGrammar
    from clew.graph.build.builder import Builder
    from clew.graph.build.keeper import GraphKeeper
    from clew.graph.graph import Graph
    from clew.graph.model import Node
    from clew.operation.paging import Cursors
    from clew.search.engine import SearchEngine
    from clew.store.interface import Damaged, Store

log = logging.getLogger(__name__)

DERIVED_FOLDERS = ("kb", "search", "code", "history")
"""Documents, the search index, outlines of source files and commits, in the state folder."""
STORE_PATIENCE_SECONDS = 10.0
"""A write gives up when another process holds the store for so long."""
_AGAIN_SECONDS = 2.0
"""After an attempt to open a team's store failed, the next one comes so much later at the earliest."""


class ProjectParts(Protocol):
    """The services of a project, as far as they need each other. `Project` has them all."""

    def make_graph(self) -> "Graph":
        """An empty graph, to which documents, memories and source code belong as regions."""
        ...

    def engine(self) -> "SearchEngine | None":
        """The search engine, opened at the first search; None where it cannot be used."""
        ...

    def make_vectors(self) -> None:
        """Make embeddings in the background for texts that were indexed."""
        ...

    def renewed_after(self, error: StoreCorrupt) -> bool:
        """True if the damaged derived file behind an error is rebuilt now, so that asking again helps."""
        ...

    def rebuild_index(self) -> None:
        """Delete the search index and build it again."""
        ...

    def drafted_nodes(self) -> "Mapping[str, Node | None]":
        """Nodes that unsaved drafts changed, with their content on disk; None for nodes that are in no file."""
        ...

    def drafted_paths(self) -> Collection[str]:
        """The files that unsaved drafts are about to change."""
        ...

    def attach_drafts(self, builder: "Builder") -> None:
        """Add unsaved drafts to the graph of a new builder."""
        ...

    def sweep_register(self) -> None:
        """Remove the temporary files that a killed writer of the register left."""
        ...

    def symbols_meant(self, text: str) -> tuple[str, ...]:
        """The symbols of source code that a text may mean, as FILE::qualname; one where it means one."""
        ...

    def warm(self) -> None:
        """Compute the most frequent answers once the graph is built."""
        ...


class Context:
    """Configuration, graph, lock, clock and stores of one project."""

    def __init__(self, config: Config, parts: ProjectParts) -> None:
        self.config = config
        self.parts = parts
        self.live = LiveConfig(config)
        """The keys that need trust, read again whenever they are used."""
        self.lock = ReadWriteLock()
        """Many readers of the graph or one writer."""
        self.clock: Callable[[], datetime] = lambda: datetime.now(UTC)
        """The time for everything that is recorded or expires."""
        self.calls = CallLog()
        """The latest calls of agents to this process."""
        self.store_problem: StoreError | None = None
        """The error that keeps the store away, if any."""
        self.recovered: tuple[str, ...] = ()
        """Notes about the writes of killed processes: completed or taken back."""
        self.shared_problem: StoreError | None = None
        """The error that keeps the team's store away, if any."""
        self._shared_after = 0.0
        """Until then nobody tries again to open the team's store."""
        self._follows = False
        self._left_out = threading.local()
        self.traffic = Traffic()
        """The calls that are under way."""

    @lazy
    def graph(self) -> "Graph":
        """The graph; empty until it is built."""
        return self.parts.make_graph()

    @property
    def root(self) -> Path:
        return self.config.root

    @property
    def state_folder(self) -> Path:
        """The state folder, which holds everything that Clew made of the project."""
        return self.config.root / STATE_FOLDER

    @property
    def standing(self) -> "FolderTrust":
        """The trust in the state folder."""
        from clew.edit.admission import admit

        return admit(self.state_folder)

    @property
    def believes_store(self) -> bool:
        """True if the project's store was written by this user, or the user trusts it."""
        return self.standing.believes(self.store_file.name)

    def doubts(self) -> tuple[str, ...]:
        """Notes for the user about folders of Clew's own that are not believed."""
        from clew.edit.admission import admit, folders_of

        standings = map(admit, folders_of(self.root))
        return tuple(each.note for each in standings if each.note is not None)

    @property
    def derived_folder(self) -> Path:
        """The folder of the search index and the documents: the state folder, or a temporary one where that cannot be
        written."""
        return self._derived.folder

    @lazy
    def _derived(self) -> "DerivedPlace":
        from clew.derived.place import DerivedPlace

        return DerivedPlace(self.state_folder, DERIVED_FOLDERS)

    @property
    def store_file(self) -> Path:
        return self.state_folder / "clew.db"

    @lazy
    def store(self) -> "Store | None":
        """The project's store; None, with a note, where it cannot be used: reading the project works without."""
        from clew.store.sqlite.engine import open_own

        standing = None
        try:
            with suppress(OSError):
                # The store says what is wrong with the folder.
                standing = make_state_folder(self.root)
            store = open_own(self.store_file, busy_timeout=STORE_PATIENCE_SECONDS, standing=standing)
        except StoreError as error:
            log.warning("%s", error)
            self.store_problem = error
            self._recover_files(None)
            return None
        is_believed = standing is not None and standing.believes(self.store_file.name)
        # One in which nobody wrote anything is believed once it was opened.
        self._recover_files(store if is_believed or self.believes_store else None)
        return store

    @property
    def shared(self) -> "Store | None":
        """The store of decisions and baselines: the team's if there is one, else the project's. Drafts and records of
        edits always stay in the project's, because they belong to one work tree. None if the team's store cannot be
        opened; the next use tries again."""
        try:
            return self._shared
        except StoreError:
            return None

    @lazy
    def _shared(self) -> "Store | None":
        if self.config.store is None:
            return self.store
        began = time.monotonic()
        if began < self._shared_after and self.shared_problem is not None:
            raise self.shared_problem
        try:
            store = self.open_team(self.inside)
        except (StoreError, ConfigError) as error:
            problem = error if isinstance(error, StoreError) else StoreError(error.message, hint=error.hint)
            self.shared_problem = problem
            # A host that does not even refuse is asked more rarely: meanwhile everybody waits for the answer.
            self._shared_after = time.monotonic() + max(_AGAIN_SECONDS, 4 * (time.monotonic() - began))
            raise problem from None
        self.shared_problem = None
        if self._follows:
            self._follow(store)
        return store

    @property
    def team_problem(self) -> StoreError | None:
        """The reason why the team's store answers from its copy, or not at all; None if it answers."""
        stale = getattr(Context._shared.if_made(self), "stale", None)
        return self.shared_problem or (StoreUnreachable(stale) if stale else None)

    @property
    def damage(self) -> "Damaged":
        """Records that were left out of the answer on which this thread works because they are damaged."""
        found: Damaged = self._left_out.__dict__.setdefault("damage", {})
        return found

    @lazy
    def parse_cache(self) -> "ParseCache | None":
        """Records that readers made of files before; None if the cache cannot be used and every file is read."""
        from clew.derived.parse_cache import ParseCache

        if self.store is None:
            # The same folder: what keeps the store away keeps the cache away, and is said once.
            return None
        try:
            return ParseCache(self.state_folder)
        except StoreError as error:
            log.warning("Files are parsed without a cache: %s", error)
            return None

    @lazy
    def grammar(self) -> "IdGrammar":
        """The grammar of the project's ids."""
        from clew.formats.elspais.ids.grammar import IdGrammar

        return IdGrammar(self.config.elspais)

    @lazy
    def builder(self) -> "Builder":
        """The builder of the graph, with unsaved drafts."""
        from clew.graph.build.builder import Builder
        from clew.graph.readers.project import ProjectReaders

        readers = ProjectReaders(self.config, self.grammar)
        builder = Builder(
            *(self.root, readers.now(), self.graph, self.parse_cache, self.lock),
            max_file_bytes=self.config.max_file_bytes,
            choose=readers.now,
        )
        self.parts.attach_drafts(builder)
        return builder

    @lazy
    def keeper(self) -> "GraphKeeper":
        """Keeps the graph in step with the files."""
        from clew.graph.build.keeper import GraphKeeper

        return GraphKeeper(self.graph, self.builder, self.parts.warm, auto_refresh=self.config.auto_refresh)

    @lazy
    def cursors(self) -> "Cursors":
        """Signs the cursors of pages."""
        from clew.operation.paging import Cursors

        key = secrets.token_bytes(32)
        if self.store is not None and self.believes_store:
            try:
                key = self.store.setting("cursor_key", key)
            except StoreError as error:
                self.store_problem = error
        return Cursors(key)

    def stop(self) -> None:
        """Stop following files. Nothing that is not open yet is opened after that."""
        keeper = Context.keeper.end(self)
        for part in (Context.cursors, Context.builder, Context.grammar):
            part.end(self)
        if keeper is not None:
            keeper.close()

    def close(self) -> None:
        """Let go of the cache and the stores; call it last."""
        opened = [part.end(self) for part in (Context._derived, Context._shared, Context.parse_cache, Context.store)]
        # Without a team both stores are the same one.
        for each in dict.fromkeys(opened):
            if each is not None:
                each.close()

    def open_team(self, inside: str) -> "Store":
        """The team's store of the repository, or of a project in a folder `inside` of it."""
        from clew.edit.admission import admit, make
        from clew.store.team import open_team
        from clew.workspace.git import api as git

        folder = git.common_folder(self.root)
        place = self.state_folder if folder is None else folder / SHARED_FOLDER
        with suppress(OSError):
            # The store says what is wrong with the folder.
            make_state_folder(self.root) if folder is None else make(place, 0o700)
        if not admit(place).is_ours:
            # The copy is made again from the database.
            place = self.derived_folder
        return open_team(self.config, place, inside=inside, patience=STORE_PATIENCE_SECONDS)

    def follow_team(self) -> None:
        """Have the copy of the team's store follow in the background: for a server, which runs long. One that cannot be
        opened yet follows from when it is."""
        self._follows = True
        store = self.shared
        if store is not None and self.config.store is not None:
            self._follow(store)

    def _follow(self, store: "Store") -> None:
        from clew.store.postgres.listening import Listener
        from clew.store.replica import ReplicatedStore
        from clew.store.team import schema_of

        address = self.config.store
        if isinstance(store, ReplicatedStore) and address is not None:
            schema = schema_of(self.config, inside=self.inside)
            store.follow(lambda: Listener(address, schema))

    @property
    def inside(self) -> str:
        """The project's folder inside its repository; empty for the repository's root, and without git."""
        from clew.workspace.git import api as git

        top = git.toplevel(self.root)
        if top is None:
            return ""
        inside = self.root.resolve().relative_to(top.resolve()).as_posix()
        return "" if inside == "." else inside

    def _recover_files(self, store: "Store | None") -> None:
        """Complete or take back the writes of a killed process, before anything is read."""
        from clew.edit.recovery import recover
        from clew.store.restoring import delete_leftover

        delete_leftover(self.state_folder)
        self.parts.sweep_register()
        try:
            self.recovered = recover(self.root, store)
        except StoreError as error:
            log.warning("Interrupted writes could not be completed: %s", error)
