"""Search in a team: what one server writes, another one finds; what one purges, none keeps."""

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError
from tests.contract.memory_client import WHY, Memory, remembering, write_project
from tests.memory.hook_host import Host
from tests.memory.test_purge import OTHER, SECRET, TEXT, holding, owner, take_out
from tests.postgres import OwnPostgres, Postgres
from tests.store.engines import tables_on_disk

from clew.config import load
from clew.errors import StoreError
from clew.memory.model import BYTES_LEFT, PENDING, PURGES
from clew.project import Project
from clew.store.team import schema_of
from clew.surfaces.cli.main import main
from clew.trust import user_configuration

pytest.importorskip("psycopg")

ENGINES = ("files", "database")


def eventually(holds: Callable[[], bool]) -> bool:
    """Wait until something comes true, for as long as that takes: a copy asks the database a few times a second."""
    while not holds():
        threading.Event().wait(0.01)
    return True


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    # Another first commit is another project: roles belong to the whole server, which other tests use too.
    root = write_project(tmp_path / "harbour", {"README.md": str(tmp_path)})
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "one")
    return root


@pytest.fixture
def checkouts(root: Path, tmp_path: Path) -> tuple[Path, Path]:
    git(tmp_path, "clone", "-q", str(root), "elsewhere")
    return root, tmp_path / "elsewhere"


def team(url: str, checkouts: tuple[Path, Path], engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(url, checkouts, engine, monkeypatch)
    assert main(["store", "init", "--to", url, "-C", str(checkouts[0])]) == 0


def configure(url: str, checkouts: tuple[Path, Path], engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_STORE", url)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(checkouts[0].parent / "config"))
    own = user_configuration()
    own.parent.mkdir(parents=True)
    own.write_text(f'[search]\nengine = "{engine}"\n', encoding="utf-8")
    assert load(checkouts[0]).search.engine == engine


@pytest.fixture(params=ENGINES)
def memories(
    request: pytest.FixtureRequest,
    postgres: Postgres,
    database: str,
    checkouts: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[tuple[Memory, Memory]]:
    """Two servers, each with a checkout of its own, before one database."""
    team(database, checkouts, request.param, monkeypatch)
    with ExitStack() as stack:
        one, other = (stack.enter_context(remembering(checkout)) for checkout in checkouts)
        yield one, other
    _drop_roles(postgres, database)


def _drop_roles(server: Postgres, url: str) -> None:
    name = url.split("/")[3].partition("?")[0]
    schemas = server.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'clew_%'", name)
    for (schema,) in schemas:
        server.execute(f"DROP SCHEMA {schema} CASCADE", name)
    for (schema,) in schemas:
        for role in ("owner", "writer", "reader"):
            server.execute(f"DROP ROLE IF EXISTS {schema}_{role}")


# Verifies: REQ-d00492-A
def test_what_one_server_remembers_another_one_finds_and_forgets(memories: tuple[Memory, Memory]) -> None:
    one, other = memories
    made = one.store(OTHER)
    assert eventually(lambda: made in other.ids("how are ropes coiled"))
    changed = other.store("The tide table hangs in the lamp room.")
    assert eventually(lambda: changed in one.ids("where is the tide table"))
    other("forget_concept", node_id=made, reason="obsolete", rationale=WHY)
    assert eventually(lambda: made not in one.ids("how are ropes coiled"))


# Verifies: REQ-d00481-F
def test_an_agent_is_named_with_or_without_its_person(memories: tuple[Memory, Memory]) -> None:
    one, other = memories
    planned = one.store("Lamps are lit at six, says the plan.", agent_id="planner")
    coded = one.store("Lamps are lit by a switch, says the code.", agent_id="coder")
    assert eventually(lambda: set(other.ids("when are lamps lit")) == {planned, coded})
    for name in ("planner", "postgres/planner"):
        assert other.ids("when are lamps lit", perspective_lock={"agent_ids": [name]}) == [planned]
        assert other.ids("when are lamps lit", perspective_lock={"exclude_agent_ids": [name]}) == [coded]
    for name in ("lanner", "ada/planner", "%"):
        assert other.ids("when are lamps lit", perspective_lock={"agent_ids": [name]}) == []


# Verifies: REQ-d00483-F
def test_a_hook_without_a_server_reads_the_copy_of_the_team_s_memory(
    postgres: Postgres, database: str, checkouts: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, elsewhere = checkouts
    with remembering(root) as alone:
        alone.store("The readme is out of date.", about=["README.md"])
        alone.ids("readme")
    team(database, checkouts, "files", monkeypatch)
    with remembering(elsewhere) as other:
        other.store("The readme names the folder.", about=["README.md"])
    with remembering(root) as memory:
        assert eventually(lambda: len(memory.ids("readme")) == 1)
    read = {"file_path": str(root / "README.md")}
    said = Host(root).tool("Read", read)
    assert ("names the folder" in said, "out of date" in said) == (True, False)
    monkeypatch.delenv("CLEW_STORE")
    with remembering(root) as alone:
        alone.ids("readme")
    assert "out of date" in Host(root, session="session-2").tool("Read", read)
    _drop_roles(postgres, database)


# Verifies: REQ-d00490-D
def test_a_reader_whose_configuration_asks_for_the_database_searches_files(
    postgres: Postgres, database: str, checkouts: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    team(database, checkouts, "database", monkeypatch)
    name = database.split("/")[3].partition("?")[0]
    with remembering(checkouts[0]) as writer:
        made = writer.store(OTHER)
        assert made in writer.ids("how are ropes coiled")
    postgres.execute(f"CREATE USER {name}_rita")
    try:
        assert main(["store", "init", "--to", database, "--reader", f"{name}_rita", "-C", str(checkouts[0])]) == 0
        monkeypatch.setenv("CLEW_STORE", postgres.url(name, f"{name}_rita"))
        with remembering(checkouts[1]) as reader:
            assert made in reader.ids("how are ropes coiled")
            with pytest.raises(MCPError, match="may not be written by this user"):
                reader.store("A reader may not.")
        assert (checkouts[1] / ".clew" / "search").is_dir()
    finally:
        _drop_roles(postgres, database)
        postgres.execute(f"DROP USER {name}_rita")


# Verifies: REQ-d00490-E
def test_without_pgvector_the_database_is_not_searched_and_the_server_says_so(
    postgres: Postgres,
    database: str,
    checkouts: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    team(database, checkouts, "database", monkeypatch)
    postgres.execute("DROP EXTENSION vector CASCADE", database.split("/")[3].partition("?")[0])
    with remembering(checkouts[0]) as memory:
        assert memory.store(OTHER) in memory.ids("how are ropes coiled")
    assert "has no pgvector: the search index is kept in files" in caplog.text
    _drop_roles(postgres, database)


# Verifies: REQ-d00490-E, REQ-d00492-B
def test_without_pgvector_a_purge_leaves_nothing(
    postgres: Postgres, database: str, checkouts: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    team(database, checkouts, "files", monkeypatch)
    name = database.split("/")[3].partition("?")[0]
    ((search,),) = postgres.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'clew_%_search'", name)
    postgres.execute(f"DROP SCHEMA {search} CASCADE", name)
    postgres.execute("DROP EXTENSION vector", name)
    with remembering(checkouts[0]) as memory:
        secret, kept = memory.store(TEXT), memory.store(OTHER)
        take_out(memory.project, ids=(secret,))
        assert memory.ids("how are ropes coiled") == [kept]
    assert holding(checkouts[0]) == []
    _drop_roles(postgres, database)


# Verifies: REQ-d00492-B
def test_a_purge_of_one_server_leaves_nothing_with_another_one(
    memories: tuple[Memory, Memory], checkouts: tuple[Path, Path], database: str, postgres: Postgres
) -> None:
    one, other = memories
    secret, kept = one.store(TEXT), one.store(OTHER)
    question = "where is the key of the lamp room"
    assert eventually(lambda: secret in other.ids(question))
    project = Project.open(checkouts[0])
    take_out(project, ids=(secret,))
    project.close()
    assert eventually(lambda: secret not in other.ids(question))
    assert kept in other.ids("how are ropes coiled")
    assert eventually(lambda: not holding(checkouts[1]))
    name = database.split("/")[3].partition("?")[0]
    for (schema,) in postgres.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE '%\\_search'", name):
        assert postgres.execute(f"SELECT count(*) FROM {schema}.unit_bodies WHERE body LIKE '%{SECRET}%'", name) == [
            (0,)
        ]


# Verifies: REQ-d00320-A, REQ-d00320-D
def test_what_was_mirrored_among_documents_goes_from_a_database_that_is_searched(
    postgres: Postgres, database: str, checkouts: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    team(database, checkouts, "database", monkeypatch)
    name = database.split("/")[3].partition("?")[0]
    docs = checkouts[0] / "docs"
    docs.mkdir(exist_ok=True)
    (docs / "keys.md").write_text(f"# Keys\n\nThe {SECRET} is old.\n", encoding="utf-8")
    with remembering(checkouts[0]) as memory:
        secret = memory.store(TEXT)
        owner(memory.project).service.mirror.switch_on("docs/amemory", "person")
        memory.project.kb.index()
        ((schema,),) = postgres.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE '%\\_search'", name)
        held = f"SELECT count(*) FROM {schema}.unit_bodies WHERE body LIKE '%{SECRET}%'"
        assert postgres.execute(held, name) > [(2,)]
        assert take_out(memory.project, ids=(secret,)).left_in == ()
        assert postgres.execute(held, name) == [(1,)], "what a file says now"
        assert postgres.execute(f"SELECT count(*) FROM {schema}.streams WHERE body LIKE '%harbour%'", name) == [(0,)]
    _drop_roles(postgres, database)


# Verifies: REQ-d00320-B
def test_bytes_that_a_purge_leaves_in_a_search_index_in_the_database_are_named_with_what_takes_them_out(
    postgres: Postgres, database: str, checkouts: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def holds() -> bool:
        tables = (path for schema in (store, f"{store}_search") for path in tables_on_disk(f"{database} {schema}"))
        return any(SECRET.encode() in path.read_bytes() for path in tables if path.exists())

    team(database, checkouts, "database", monkeypatch)
    store, name = schema_of(load(checkouts[0])), database.split("/")[3].partition("?")[0]
    with remembering(checkouts[0]) as memory:
        beyond = take_out(memory.project, ids=(memory.store(TEXT),)).beyond_reach
    assert any("bytes of the search index" in each and "VACUUM FULL" in each for each in beyond)
    # PostgreSQL's own statistics may still see them.
    assert eventually(lambda: not postgres.execute("VACUUM FULL", name) and not holds())
    _drop_roles(postgres, database)


# Verifies: REQ-d00483-C, REQ-d00492-B
def test_a_purge_reaches_a_checkout_in_which_nothing_ran_meanwhile(
    postgres: Postgres, database: str, checkouts: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    team(database, checkouts, "files", monkeypatch)
    question = "where is the key of the lamp room"
    try:
        with remembering(checkouts[1]) as other:
            secret, kept = other.store(TEXT), other.store(OTHER)
            assert secret in other.ids(question)
        project = Project.open(checkouts[0])
        take_out(project, ids=(secret,))
        project.close()
        with remembering(checkouts[1]) as other:
            assert secret not in other.ids(question)
            assert secret not in other.project.memory.home.index.there()
            assert eventually(lambda: kept in other.ids("how are ropes coiled") and not holding(checkouts[1]))
    finally:
        _drop_roles(postgres, database)


# Verifies: REQ-d00492-B
def test_a_purge_of_a_writer_who_is_no_owner_leaves_nothing_with_others_and_asks_an_owner_once(
    postgres: Postgres, database: str, checkouts: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    team(database, checkouts, "files", monkeypatch)
    name = database.split("/")[3].partition("?")[0]
    mine, question = checkouts[0], "where is the key of the lamp room"
    postgres.execute(f"CREATE USER {name}_wim")
    try:
        assert main(["store", "init", "--to", database, "--writer", f"{name}_wim", "-C", str(mine)]) == 0
        with remembering(checkouts[1]) as other:
            secret, kept = other.store(TEXT), other.store(OTHER)
            assert secret in other.ids(question)
            monkeypatch.setenv("CLEW_STORE", postgres.url(name, f"{name}_wim"))
            project = Project.open(mine)
            done = take_out(project, ids=(secret,))
            assert "until an owner opens the memory" in done.beyond_reach[-1]
            assert "only an owner of the project can create the tables again" in done.beyond_reach[-1]
            assert _purges(project) == [BYTES_LEFT]
            project.close()
            assert eventually(lambda: secret not in other.ids(question))
            assert eventually(lambda: other.project.memory.home.index.purged() > 0)
            assert secret not in other.project.memory.home.index.there()
            assert eventually(lambda: kept in other.ids("how are ropes coiled") and not holding(checkouts[1]))
        monkeypatch.setattr("clew.memory.storage.home.throw_away", thrown := Thrown())
        for _ in range(2):
            project = Project.open(mine)
            assert (_purges(project), thrown.files) == ([BYTES_LEFT], [])
            project.close()
        # A purge that was killed is finished by a writer too, as far as he can.
        project = Project.open(mine)
        with project.memory.home.store.transaction(actor="wim") as transaction:
            transaction.put(PURGES, PENDING, {})
        project.close()
        for _ in range(2):
            project = Project.open(mine)
            assert (_purges(project), len(thrown.files)) == ([BYTES_LEFT], 1)
            project.close()
        monkeypatch.setenv("CLEW_STORE", database)
        assert eventually(lambda: not _left_by_a_start(mine))
        assert len(thrown.files) == 1
    finally:
        _drop_roles(postgres, database)
        postgres.execute(f"DROP USER {name}_wim")


# Verifies: REQ-d00492-B
def test_an_owner_s_purge_takes_out_what_a_writer_s_left_and_no_start_does_it_again(
    memories: tuple[Memory, Memory],
) -> None:
    one, _ = memories
    secret = one.store(TEXT)
    store = one.project.memory.home.store
    store.put(PURGES, BYTES_LEFT, {}, actor="wim")
    take_out(one.project, ids=(secret,))
    assert _purges(one.project) == []


class Thrown:
    """Which indexes were thrown away."""

    def __init__(self) -> None:
        self.files: list[Path] = []

    def __call__(self, file: Path) -> None:
        self.files.append(file)


def _purges(project: Project) -> list[str]:
    return [record.id for record in project.memory.home.store.scan(PURGES)]


def _left_by_a_start(root: Path) -> list[str]:
    project = Project.open(root)
    try:
        return _purges(project)
    finally:
        project.close()


# Verifies: REQ-d00492-E
def test_a_start_does_not_wait_for_who_still_sees_what_was_purged_and_says_why_bytes_are_left(
    postgres: Postgres,
    database: str,
    checkouts: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    import psycopg

    # A start that waited would not come back. PostgreSQL's own statistics may hold a table for a moment.
    monkeypatch.setattr("clew.context.STORE_PATIENCE_SECONDS", 3600.0)
    monkeypatch.setattr("clew.store.postgres.compacting._LOCK_SECONDS", 60)
    team(database, checkouts, "files", monkeypatch)
    try:
        project = Project.open(checkouts[0])
        store = project.memory.home.store
        store.put("notes", "n1", {"text": SECRET}, actor="ada")
        with store.transaction(actor="ada") as transaction:
            transaction.delete("notes", "n1")
        with psycopg.connect(database) as reader:
            reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            reader.execute("SELECT count(*) FROM pg_class")
            assert store.erase("notes", ["n1"]) == ["n1"]
            store.put(PURGES, BYTES_LEFT, {}, actor="wim")
            project.close()
            assert _left_by_a_start(checkouts[0]) == [BYTES_LEFT]
            assert "a transaction that is open still sees rows" in caplog.text
        assert eventually(lambda: not _left_by_a_start(checkouts[0]))
    finally:
        _drop_roles(postgres, database)


_FULL = """
    CREATE FUNCTION public.room(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
    BEGIN
        IF current_query() LIKE 'VACUUM%' THEN
            RAISE 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
        END IF;
        RETURN $1;
    END $$
"""


# Verifies: REQ-d00492-E
def test_a_database_without_room_for_its_tables_anew_keeps_nobody_from_the_memory(
    postgres: Postgres,
    database: str,
    checkouts: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    team(database, checkouts, "files", monkeypatch)
    name = database.split("/")[3].partition("?")[0]
    try:
        with remembering(checkouts[0]) as memory:
            kept = memory.store(OTHER)
            memory.project.memory.home.store.put(PURGES, BYTES_LEFT, {}, actor="wim")
        schema = schema_of(load(checkouts[0]))
        # An index is made anew with its table: what PostgreSQL runs for it fails as a full disk does.
        postgres.execute(_FULL, name)
        postgres.execute(f"CREATE INDEX ON {schema}.events (public.room(id))", name)
        with remembering(checkouts[0]) as memory:
            assert memory.ids("how are ropes coiled") == [kept]
            assert _purges(memory.project) == [BYTES_LEFT]
        assert "No space left on device" in caplog.text
    finally:
        _drop_roles(postgres, database)


# Verifies: REQ-d00492-B
def test_a_server_that_starts_during_a_purge_does_not_keep_the_others_from_being_told(
    memories: tuple[Memory, Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = memories
    secret = one.store(TEXT)
    assert eventually(lambda: secret in other.ids("where is the key of the lamp room"))
    home = one.project.memory.home
    compact = home.compact

    def overtaken() -> StoreError | None:
        with home.store.transaction(actor="another") as transaction:
            transaction.delete(PURGES, PENDING)
        return compact()

    monkeypatch.setattr(home, "compact", overtaken)
    take_out(one.project, ids=(secret,))
    told = [each for each in home.store.events(collection=PURGES, id=PENDING) if each.after is None]
    assert len(told) == 2
    assert eventually(lambda: other.project.memory.home.index.purged() == told[-1].seq)


class Killed(BaseException):
    """What ends a process in the middle of a line."""


# Verifies: REQ-d00492-D
def test_a_purge_is_left_to_whoever_is_at_it_and_finished_by_the_next_start_after_a_kill(
    memories: tuple[Memory, Memory], checkouts: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = memories
    secret = one.store(TEXT)
    seen: list[list[str]] = []

    def killed(edit: object) -> int:
        seen.append(_left_by_a_start(checkouts[1]))
        raise Killed

    monkeypatch.setattr(one.project.memory.home.store, "rewrite", killed)
    with pytest.raises(Killed):
        take_out(one.project, ids=(secret,))
    assert seen == [[PENDING]]
    # It waits for nobody, and the next one goes on.
    assert eventually(lambda: not _left_by_a_start(checkouts[1]))


# Verifies: REQ-d00492-C
@pytest.mark.parametrize("engine", ENGINES)
def test_reading_goes_on_while_the_database_is_gone_and_the_servers_agree_again_afterwards(
    own_postgres: OwnPostgres, checkouts: tuple[Path, Path], engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_postgres.execute("CREATE DATABASE team TEMPLATE clew_template")
    team(own_postgres.url("team"), checkouts, engine, monkeypatch)
    with remembering(checkouts[0]) as one, remembering(checkouts[1]) as other:
        made = one.store(OTHER)
        assert eventually(lambda: made in other.ids("how are ropes coiled"))
        own_postgres.kill()
        assert made in other.ids("how are ropes coiled")
        assert one.ids("how are ropes coiled")[0] == made
        assert one.ids("what is a lighthouse built of") == []
        for memory in (one, other):
            assert eventually(lambda memory=memory: "does not answer" in notes(memory))  # type: ignore[misc]
        with pytest.raises(MCPError, match="cannot be reached"):
            one.store("Nobody has acknowledged this.")
        own_postgres.start()
        later = _stored(one, "The tide table hangs in the lamp room.")
        assert eventually(lambda: later in other.ids("where is the tide table"))
        assert eventually(lambda: "does not answer" not in notes(other))


# Verifies: REQ-d00492-C
def test_without_an_index_a_search_by_words_sees_what_one_with_an_index_sees(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = (
        {"query": "how are ropes coiled"},
        {"query": "coiling a rope", "filters": {"tags": ["deck"]}},
        {"query": "how are ropes coiled", "filters": {"tags": ["nowhere"]}},
        {"query": "ropes in the cellar", "perspective_lock": {"exclude_agent_ids": ["planner"]}},
        {"query": "what is a lighthouse built of"},
        {"query": "rope -cellar"},
        {"query": "rope +cellar"},
        {"query": '"in the cellar"'},
        {"query": '"cellar in the"'},
        {"query": "CI"},
        {"query": "tea -get_user"},
        {"query": "+get_user"},
        {"query": "get_us*"},
        {"query": "happines*"},
        {"query": "a state-of-the-art kettle"},
        {"query": 'kettle "much happiness"'},
        {"query": "nobody dies"},
        {"query": "größe"},
    )
    with remembering(root) as memory:
        memory.store("Nobody sees the rope of the spy.", agent_id="spy", metadata={"visibility": "private"})
        memory.store(OTHER, tags=["deck"], agent_id="planner")
        memory.store("Old ropes lie in the cellar.", agent_id="planner")
        memory.store("Lamps burn at night, says the CI.")
        memory.store("The user will get tea, and much happiness.")
        memory.store("Tea comes from get_user, with a kettle.")
        memory.store("Of dying lamps the Größe counts.")
        by_index = [set(memory.ids(**each)) for each in asked]
        assert [len(found) for found in by_index] == [2, 1, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 2, 1, 1]
        monkeypatch.setattr(memory.project, "engine", lambda: None)
        assert [set(memory.ids(**each)) for each in asked] == by_index
        assert "by keywords only" in notes(memory)
        rarest = memory.ids("are lamps or ropes in the cellar")
        assert memory("search_graph", query="cellar", include_content=True)["results"][0]["node_id"] == rarest[0]


# Verifies: REQ-d00483-J
@pytest.mark.parametrize("engine", ENGINES)
def test_a_server_that_starts_without_the_database_or_its_schema_goes_on_once_they_are_there(
    own_postgres: OwnPostgres, checkouts: tuple[Path, Path], engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_postgres.execute("CREATE DATABASE team TEMPLATE clew_template")
    url = own_postgres.url("team")
    configure(url, checkouts, engine, monkeypatch)
    own_postgres.kill()
    with remembering(checkouts[1]) as late:
        with pytest.raises(MCPError, match="cannot be reached"):
            late.store("Nobody has acknowledged this.")
        own_postgres.start()
        assert eventually(lambda: "holds nothing of this project" in refusal(late))
        assert main(["store", "init", "--to", url, "-C", str(checkouts[0])]) == 0
        assert eventually(lambda: not refusal(late))
        with remembering(checkouts[0]) as one:
            made = one.store(OTHER)
            assert eventually(lambda: made in late.ids("how are ropes coiled"))


def refusal(memory: Memory) -> str:
    """Why nothing can be stored; empty where it can."""
    try:
        memory.store("The tide table hangs in the lamp room.")
    except MCPError as error:
        return str(error)
    return ""


def notes(memory: Memory) -> str:
    return str(memory("search_graph", query="how are ropes coiled")["notes"])


def _stored(memory: Memory, text: str) -> str:
    """The id of a memory, once the database takes it again."""
    while True:
        try:
            return memory.store(text)
        except MCPError as error:
            if "cannot be reached" not in str(error):
                raise
