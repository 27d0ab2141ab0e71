"""What every service stands on: one context per project, each part of it opened when it is first needed.

A service takes the context and nothing else. What the parts need of each other they ask of the context too, so that
nothing is handed down through constructors.
"""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from clew.config import Config, LiveConfig
from clew.edit.state_folder import SHARED_FOLDER, STATE_FOLDER, make_state_folder
from clew.errors import ConfigError, StoreCorrupt, StoreError, StoreUnreachable
from clew.graph.lock import ReadWriteLock
from clew.once import Once
from clew.traffic import CallLog, Traffic

if TYPE_CHECKING:
    # What builds and answers is imported where it is first used: a server lists its tools before it needs any of it.
    from clew.derived.parse_cache import ParseCache
    from clew.derived.place import DerivedPlace
    from clew.edit.admission import Standing
    from clew.formats.elspais.ids.grammar import IdGrammar
    from clew.graph.build.builder import Builder
    from clew.graph.build.keeper import GraphKeeper
    from clew.graph.graph import Graph
    from clew.graph.model import Node
    from clew.operation.paging import Cursors
    from clew.search.engine import SearchEngine
    from clew.store.interface import Damaged, Store

log = logging.getLogger(__name__)

T = TypeVar("T")

DERIVED_FOLDERS = ("kb", "search", "code", "history")
"""Documents, the search index, outlines of source files and commits, in the state folder."""
STORE_PATIENCE_SECONDS = 10.0
"""How long another process may hold the store before a write gives up."""
_AGAIN_SECONDS = 2.0
"""After an attempt to open a team's store failed, the next one comes so much later at the earliest."""


class Context:
    def __init__(self, config: Config, make_graph: "Callable[[], Graph]") -> None:
        self.config = config
        self.live = LiveConfig(config)
        """What needs trust is asked for here whenever it is used."""
        self._graph = Once(make_graph)
        self.lock = ReadWriteLock()
        """Many readers of the graph or one writer."""
        self.clock: Callable[[], datetime] = lambda: datetime.now(UTC)
        """What time it is, for what is recorded or expires."""
        self.calls = CallLog()
        """The latest calls of agents to this process."""
        self.store_problem: StoreError | None = None
        """Why there is no store, if so."""
        self.recovered: tuple[str, ...] = ()
        """What became of the changes that killed processes left."""
        self._store = Once(self._open_store)
        self.shared_problem: StoreError | None = None
        """Why there is no team's store, if so."""
        self._shared_after = 0.0
        """Until then nobody tries again to open the team's store."""
        self._follows = False
        self._shared = Once(self._open_shared)
        self._left_out = threading.local()
        self._parse_cache = Once(self._open_parse_cache)
        self._derived = Once(self._open_derived)
        self._grammar = Once(self._make_grammar)
        self._builder = Once(self._make_builder)
        self._keeper = Once(self._make_keeper)
        self._cursors = Once(self._make_cursors)
        self.traffic = Traffic()
        """The calls that are under way."""
        # What services contribute to each other; `Project` sets these.
        self.engine: Callable[[], SearchEngine | None] = lambda: None
        """The search engine, opened by the first who searches; None where it cannot be used."""
        self.make_vectors: Callable[[], None] = lambda: None
        """Has embeddings made in the background for texts that were indexed."""
        self.renewed_after: Callable[[StoreCorrupt], bool] = lambda error: False
        """Whether an error came from a file that is derived and made anew, so that asking again helps."""
        self.rebuild_index: Callable[[], object] = lambda: None
        """Throws the search index away and makes it anew."""
        self.drafted_nodes: Callable[[], Mapping[str, Node | None]] = dict
        """The nodes that unsaved drafts changed, as the files have them; None for those that no file defines."""
        self.drafted_paths: Callable[[], Collection[str]] = tuple
        """The files that unsaved drafts are about to change."""
        self.attach_drafts: Callable[[Builder], None] = lambda builder: None
        """Makes unsaved drafts a part of what a new builder builds."""
        self.sweep_register: Callable[[], None] = lambda: None
        """Removes what a killed writer of the register left."""
        self.warm: Callable[[], None] = lambda: None
        """Computes what is asked for most, once the graph is built."""

    @property
    def graph(self) -> "Graph":
        """The graph; empty until it is built."""
        return self._graph.get()

    @property
    def root(self) -> Path:
        return self.config.root

    @property
    def state_folder(self) -> Path:
        """Where the project keeps what Clew made of it."""
        return self.config.root / STATE_FOLDER

    @property
    def standing(self) -> "Standing":
        """How far the state folder is believed."""
        from clew.edit.admission import admit

        return admit(self.state_folder)

    @property
    def believes_store(self) -> bool:
        """Whether what the project's own store holds counts: the user's own, or one that the user trusts."""
        return self.standing.believes(self.store_file.name)

    def doubts(self) -> tuple[str, ...]:
        """What of the folders of Clew's own is not believed, for the user."""
        from clew.edit.admission import admit, folders_of

        standings = map(admit, folders_of(self.root))
        return tuple(each.note for each in standings if each.note is not None)

    @property
    def derived_folder(self) -> Path:
        """Where the search index and the documents are kept: in the state folder, or in a temporary one where nothing
        can be written there."""
        return self._derived.get().folder

    @property
    def store_file(self) -> Path:
        return self.state_folder / "clew.db"

    @property
    def store(self) -> "Store | None":
        """The project's store; None, with a note, where it cannot be used: reading the project works without."""
        return self._store.get()[0]

    @property
    def shared(self) -> "Store | None":
        """Where decisions and baselines are kept: in the team's store where there is one, else in the project's. Drafts
        and records of edits are about one work tree and stay in the project's. None where the team's cannot be opened;
        who asks later tries again, so that a server goes on by itself when it is there."""
        try:
            return self._shared.get()[0]
        except StoreError:
            return None

    @property
    def team_problem(self) -> StoreError | None:
        """Why the team's store answers from its copy, or not at all."""
        opened = self._shared.made
        stale = getattr(opened[0] if opened else None, "stale", None)
        return self.shared_problem or (StoreUnreachable(stale) if stale else None)

    @property
    def damage(self) -> "Damaged":
        """Records that were left out of the answer on which this thread works because they are damaged."""
        found: Damaged = self._left_out.__dict__.setdefault("damage", {})
        return found

    @property
    def parse_cache(self) -> "ParseCache | None":
        """What readers made of files before; None where it cannot be used: then every file is read."""
        return self._parse_cache.get()[0]

    @property
    def grammar(self) -> "IdGrammar":
        """The grammar of the project's ids."""
        return self._grammar.get()

    @property
    def builder(self) -> "Builder":
        return self._builder.get()

    @property
    def keeper(self) -> "GraphKeeper":
        """Keeps the graph in step with the files."""
        return self._keeper.get()

    @property
    def cursors(self) -> "Cursors":
        return self._cursors.get()

    def stop(self) -> None:
        """Stop following files. Nothing that is not open yet is opened after that."""
        keeper = self._keeper.end()
        for part in (self._cursors, self._builder, self._grammar):
            part.end()
        if keeper is not None:
            keeper.close()

    def close(self) -> None:
        """Let go of the cache and the store; call it last."""
        derived = self._derived.end()
        if derived is not None:
            derived.close()
        local, shared = self._store.made, self._shared.end()
        if shared is not None and shared[0] is not None and (local is None or shared[0] is not local[0]):
            shared[0].close()
        for part in (self._parse_cache, self._store):
            opened = part.end()
            if opened is not None and opened[0] is not None:
                opened[0].close()

    def _open_parse_cache(self) -> "tuple[ParseCache | None]":
        from clew.derived.parse_cache import ParseCache

        if self.store is None:
            # The same folder: what keeps the store away keeps the cache away, and is said once.
            return (None,)
        try:
            return (ParseCache(self.state_folder),)
        except StoreError as error:
            log.warning("Files are parsed without a cache: %s", error)
            return (None,)

    def _open_derived(self) -> "DerivedPlace":
        from clew.derived.place import DerivedPlace

        return DerivedPlace(self.state_folder, DERIVED_FOLDERS)

    def _make_grammar(self) -> "IdGrammar":
        from clew.formats.elspais.ids.grammar import IdGrammar

        return IdGrammar(self.config.elspais)

    def _make_builder(self) -> "Builder":
        from clew.graph.build.builder import Builder
        from clew.graph.readers.project import ProjectReaders

        readers = ProjectReaders(self.config, self.grammar)
        builder = Builder(
            *(self.root, readers.now(), self.graph, self.parse_cache, self.lock),
            max_file_bytes=self.config.max_file_bytes,
            choose=readers.now,
        )
        self.attach_drafts(builder)
        return builder

    def _make_keeper(self) -> "GraphKeeper":
        from clew.graph.build.keeper import GraphKeeper

        return GraphKeeper(self.graph, self.builder, lambda: self.warm(), auto_refresh=self.config.auto_refresh)

    def _make_cursors(self) -> "Cursors":
        from clew.operation.paging import Cursors

        key = secrets.token_bytes(32)
        if self.store is not None and self.believes_store:
            try:
                key = self.store.setting("cursor_key", key)
            except StoreError as error:
                self.store_problem = error
        return Cursors(key)

    def _open_store(self) -> "tuple[Store | None]":
        from clew.store.sqlite.engine import open_own

        try:
            with suppress(OSError):
                # The store says what is wrong with the folder.
                make_state_folder(self.root)
            store = open_own(self.store_file, busy_timeout=STORE_PATIENCE_SECONDS)
        except StoreError as error:
            log.warning("%s", error)
            self.store_problem = error
            self._recover_files(None)
            return (None,)
        self._recover_files(store if self.believes_store else None)
        return (store,)

    def _open_shared(self) -> "tuple[Store | None]":
        if self.config.store is None:
            return (self.store,)
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
        return (store,)

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
        """Complete or take back what a killed process was writing, before anything is read."""
        from clew.edit.recovery import recover
        from clew.store.restoring import delete_leftover

        delete_leftover(self.state_folder)
        self.sweep_register()
        try:
            self.recovered = recover(self.root, store)
        except StoreError as error:
            log.warning("Interrupted writes could not be completed: %s", error)
