"""`clew store`, and what a team shares: two checkouts of one repository on one real database."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.postgres import Postgres

from clew.config import load
from clew.errors import ConfigError
from clew.store.team import schema_of
from clew.workspace.find import files_below

pytest.importorskip("psycopg")

from clew.search.database.tables import STEPS

PASSWORD = "s3cr-t0p"


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


@pytest.fixture
def checkout(small: Path) -> Path:
    """A project with a history, and without vectors, which nobody needs here."""
    with (small / "clew.toml").open("a", encoding="utf-8") as file:
        file.write('[embedder]\nkind = "none"\n')
    git(small, "init", "-q", "-b", "main")
    git(small, "config", "user.email", "ada@example.org")
    git(small, "config", "user.name", "Ada")
    git(small, "add", "-A")
    git(small, "commit", "-q", "-m", "First")
    return small


@pytest.fixture
def other(checkout: Path, tmp_path: Path) -> Path:
    """Another checkout, in a folder of another name."""
    git(tmp_path, "clone", "-q", str(checkout), "elsewhere")
    return tmp_path / "elsewhere"


@pytest.fixture
def users(postgres: Postgres, database: str, checkout: Path) -> Iterator[dict[str, str]]:
    """The addresses of a writer and a reader; the administrator's has a password in it."""
    name = database.split("/")[3].partition("?")[0]
    made = {user: postgres.url(name, f"{name}_{user}") for user in ("writer", "reader")}
    for user in made:
        postgres.execute(f"CREATE USER {name}_{user}")
    made["owner"] = postgres.url(name).replace("postgres@", f"postgres:{PASSWORD}@")
    yield made
    schema = schema_of(load(checkout))
    for each in (schema, f"{schema}_search"):
        postgres.execute(f"DROP SCHEMA IF EXISTS {each} CASCADE", name)
    for role in ("owner", "writer", "reader"):
        postgres.execute(f"DROP ROLE IF EXISTS {schema}_{role}")
    for user in ("writer", "reader"):
        postgres.execute(f"DROP USER {name}_{user}")


def name_of(url: str) -> str:
    return url.removeprefix("postgresql://").partition("@")[0]


# Verifies: REQ-o00065-B, REQ-d00480-A, REQ-d00480-B, REQ-d00480-C, REQ-d00481-A, REQ-d00481-B, REQ-d00482-A
def test_a_team_shares_what_it_remembers_and_no_password_is_shown(
    clew: Callable[..., Any], checkout: Path, other: Path, users: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[Any] = []

    def run(folder: Path, user: str | None, *words: str) -> Any:
        if user is None:
            monkeypatch.delenv("CLEW_STORE", raising=False)
        else:
            monkeypatch.setenv("CLEW_STORE", users[user])
        said.append(clew(folder, *words))
        return said[-1]

    assert run(checkout, None, "remember", "The lamp needs a fuse of 2 A").returncode == 0
    missing = run(checkout, "owner", "store", "status")
    assert (missing.returncode, "clew store init" in missing.stderr) == (2, True)
    members = ("--writer", name_of(users["writer"]), "--reader", name_of(users["reader"]))
    assert run(checkout, None, "store", "init", "--to", users["owner"], *members).returncode == 0
    moved = json.loads(run(checkout, None, "store", "migrate", "--to", users["owner"], "--json").stdout)
    assert moved["memory"]["events"] == moved["memory"]["content"]["events"] > 0
    again = json.loads(run(checkout, None, "store", "migrate", "--to", users["owner"], "--json").stdout)
    assert again["memory"] == {"events": 0, "content": moved["memory"]["content"]}

    # A writer in another checkout, and a reader in the first one.
    assert "2 A" in run(other, "writer", "recall", "fuse lamp").stdout
    assert run(other, "writer", "remember", "Deploys happen on Tuesdays").returncode == 0
    assert "Tuesdays" in run(checkout, "reader", "recall", "deploys").stdout
    refused = run(checkout, "reader", "remember", "A reader may not")
    assert refused.returncode != 0
    assert "may not be written by this user" in refused.stderr
    status = json.loads(run(checkout, "reader", "store", "status", "--json").stdout)
    assert (status["role"], status["read_only"], status["user"]) == ("reader", True, name_of(users["reader"]))

    # And back: what the team wrote meanwhile comes along.
    back = run(checkout, "owner", "store", "migrate", "--to", "local", "--json")
    assert json.loads(back.stdout)["memory"]["events"] > 0
    assert "Nothing in the database was changed" in run(checkout, "owner", "store", "migrate", "--to", "local").stdout
    assert "Tuesdays" in run(checkout, None, "recall", "deploys").stdout
    assert PASSWORD not in "".join(f"{done.stdout}{done.stderr}" for done in said)


# Verifies: REQ-d00490-H
def test_steps_of_the_search_index_are_taken_by_init(
    clew: Callable[..., Any], checkout: Path, users: dict[str, str], postgres: Postgres
) -> None:
    name, schema = users["owner"].split("/")[3].partition("?")[0], f"{schema_of(load(checkout))}_search"
    for _ in range(2):
        assert clew(checkout, "store", "init", "--to", users["owner"]).returncode == 0
        taken = postgres.execute(f"SELECT number FROM {schema}.versions WHERE number > 1", name)
        assert {number for (number,) in taken} == {step.number for step in STEPS}
        # As an earlier version left it.
        postgres.execute(f"DROP TABLE {schema}.versions", name)


# Verifies: REQ-d00483-C, REQ-d00483-E
def test_a_writer_purges_and_an_owner_takes_the_bytes_out(
    clew: Callable[..., Any],
    checkout: Path,
    other: Path,
    users: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    postgres: Postgres,
) -> None:
    def run(folder: Path, user: str, *words: str) -> str:
        monkeypatch.setenv("CLEW_STORE", users[user])
        done = clew(folder, *words)
        assert done.returncode in (0, 1), done.stderr
        return str(done.stdout)

    members = ("--writer", name_of(users["writer"]), "--reader", name_of(users["reader"]))
    run(checkout, "owner", "store", "init", "--to", users["owner"], *members)
    run(checkout, "writer", "remember", "The key of the lamp room is kestrel4711")
    assert "kestrel4711" in run(other, "reader", "recall", "key lamp room")
    told = json.loads(run(checkout, "writer", "memory", "purge", "--text", "kestrel4711", "--yes", "--json"))
    assert (told["purged"], told["left_in"]) == (1, [])
    assert "until an owner opens the memory" in told["beyond_reach"][-1]
    # Until then, everybody else goes on.
    for folder, user in ((other, "reader"), (checkout, "writer")):
        assert "kestrel4711" not in run(folder, user, "recall", "key lamp room")
        assert all(b"kestrel4711" not in file.read_bytes() for file in files_below(folder / ".git" / "clew"))
    schema, name = schema_of(load(checkout)), users["owner"].split("/")[3].partition("?")[0]
    pending = f"SELECT count(*) FROM {schema}.records WHERE collection = 'purge'"
    assert postgres.execute(pending, name) == [(1,)]
    while postgres.execute(pending, name) != [(0,)]:
        # A start waits for nobody who looks at the tables, and the next one goes on.
        assert "kestrel4711" not in run(checkout, "owner", "recall", "key lamp room")


# Verifies: REQ-d00483-E
def test_the_doctor_looks_at_the_team_s_store(
    clew: Callable[..., Any], checkout: Path, users: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked_at(url: str) -> Any:
        monkeypatch.setenv("CLEW_STORE", url)
        checks = {each["name"]: each for each in json.loads(clew(checkout, "doctor", "--json").stdout)["checks"]}
        return checks["team"]

    missing = looked_at(users["owner"])
    assert (missing["ok"], "clew store init" in missing["hint"]) == (False, True)
    clew(checkout, "store", "init", "--to", users["owner"], "--reader", name_of(users["reader"]))
    found = looked_at(users["reader"])
    assert found["ok"]
    assert f"user {name_of(users['reader'])}" in found["detail"]
    gone = looked_at(f"postgresql://ada:{PASSWORD}@127.0.0.1:1/clew")
    assert (gone["ok"], "cannot be reached" in gone["detail"]) == (False, True)
    assert PASSWORD not in str((missing, found, gone))


# Verifies: REQ-d00482-C
def test_a_backup_is_restored_as_it_was_and_a_changed_one_is_refused(
    clew: Callable[..., Any], checkout: Path, tmp_path: Path
) -> None:
    clew(checkout, "remember", "The lamp needs a fuse of 2 A")
    kept = json.loads(clew(checkout, "store", "backup", str(tmp_path / "kept"), "--json").stdout)
    git(tmp_path, "clone", "-q", str(checkout), "fresh")
    restored = clew(tmp_path / "fresh", "store", "restore", str(tmp_path / "kept"), "--json")
    assert json.loads(restored.stdout)["memory"] == kept["memory"]
    assert "2 A" in clew(tmp_path / "fresh", "recall", "fuse lamp").stdout
    again = clew(checkout, "store", "backup", str(tmp_path / "kept"))
    assert (bool(again.returncode), "holds a backup already" in again.stderr) == (True, True)
    memory = tmp_path / "kept" / "memory.db"
    memory.write_bytes(memory.read_bytes() + b"\0")
    refused = clew(tmp_path / "fresh", "store", "restore", str(tmp_path / "kept"))
    assert refused.returncode != 0
    assert "memory.db" in refused.stderr
    assert "Nothing was restored" in " ".join(refused.stderr.split())
    missing = clew(checkout, "store", "restore", str(tmp_path))
    assert (bool(missing.returncode), "no complete backup" in missing.stderr) == (True, True)


# Verifies: REQ-d00480-A, REQ-d00480-C
def test_a_project_names_a_store_only_once_it_is_trusted(clew: Callable[..., Any], checkout: Path) -> None:
    (checkout / "clew.toml").write_text(
        f'store = "postgresql://ada:{PASSWORD}@db.example.org/clew"\n[project]\nid = "payments"\n', encoding="utf-8"
    )
    config = load(checkout)
    assert (config.store, config.project_id) == (None, None)
    assert config.trust.ignored == ("project.id", "store")
    shown = clew(checkout, "trust", "--show")
    assert "db.example.org" in shown.stdout
    assert PASSWORD not in shown.stdout + clew(checkout, "trust", "--show", "--json").stdout
    clew(checkout, "trust", "--yes")
    config = load(checkout)
    assert PASSWORD not in repr(config)
    assert str(config.store) == "postgresql://ada:***@db.example.org/clew"
    assert schema_of(config) == schema_of(load(checkout))
    assert schema_of(config).startswith("clew_payments_")
    clew(checkout, "trust", "--revoke")


# Verifies: REQ-d00483-J
def test_files_are_searched_where_neither_the_database_nor_a_copy_of_it_is_there(
    clew: Callable[..., Any], checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_STORE", "postgresql://ada@127.0.0.1:1/clew")
    for words in (("brief",), ("search", "lamp"), ("ask", "when is the lamp lit?"), ("recall", "lamp")):
        done = clew(checkout, *words)
        assert "cannot be reached" in " ".join(f"{done.stdout} {done.stderr}".split())
        assert (done.returncode == 2) == (words[0] == "recall")


# Verifies: REQ-d00480-B
def test_a_project_is_known_by_its_first_commit(checkout: Path, other: Path, tmp_path: Path) -> None:
    assert schema_of(load(checkout)) == schema_of(load(other))
    (other / "new.md").write_text("new", encoding="utf-8")
    git(other, "add", "-A")
    git(other, "-c", "user.email=a@b", "-c", "user.name=a", "commit", "-q", "-m", "Second")
    assert schema_of(load(other)) == schema_of(load(checkout))
    assert schema_of(load(other), inside="part") != schema_of(load(other))
    git(tmp_path, "clone", "-q", "--depth", "1", other.as_uri(), "shallow")
    with pytest.raises(ConfigError, match="only the latest commits"):
        schema_of(load(tmp_path / "shallow"))
    (tmp_path / "bare").mkdir()
    with pytest.raises(ConfigError, match="no commit"):
        schema_of(load(tmp_path / "bare"))


# Verifies: REQ-o00065-C
def test_a_start_without_a_team_does_not_import_the_driver(checkout: Path) -> None:
    script = (
        "import sys; from clew.project import Project; project = Project.open('.'); project.context.shared;"
        " project.memory.home; project.close(); print(*(each for each in sys.modules if 'psycopg' in each), 'end')"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=checkout, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "end"


# Verifies: REQ-d00480-A
def test_status_without_a_team_names_the_stores_of_the_project_and_of_the_memory(
    clew: Callable[..., Any], checkout: Path
) -> None:
    assert "memory_location" not in json.loads(clew(checkout, "store", "status", "--json").stdout)
    clew(checkout, "remember", "The lamp needs a fuse of 2 A")
    status = json.loads(clew(checkout, "store", "status", "--json").stdout)
    assert status["memory_records"] >= 1
    assert status["memory_location"] != status["location"]


# Verifies: REQ-d00247-J
def test_status_with_a_damaged_memory_says_so_beside_the_rest(clew: Callable[..., Any], checkout: Path) -> None:
    clew(checkout, "remember", "The lamp needs a fuse of 2 A")
    sound = json.loads(clew(checkout, "store", "status", "--json").stdout)
    memory = Path(sound["memory_location"])
    for each in memory.parent.glob(f"{memory.name}*"):
        each.write_bytes(b"no database" * 500)
    done = clew(checkout, "store", "status", "--json")
    status = json.loads(done.stdout)
    assert done.returncode == 1
    assert (status["location"], status["records"]) == (sound["location"], sound["records"])
    assert (status["memory_location"], "memory_records" in status) == (str(memory), False)
    assert memory.name in status["memory_problem"]
    told = clew(checkout, "store", "status")
    assert (told.returncode, f"location: {sound['location']}" in told.stdout) == (1, True)
    assert f"memory problem: {status['memory_problem']}" in told.stdout
    assert memory.read_bytes() == b"no database" * 500
