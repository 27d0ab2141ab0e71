"""The PostgreSQL of the tests itself: real, with pgvector, and nothing of one test in another."""

import os
from pathlib import Path

import pytest
from tests import unprivileged
from tests.postgres import PROGRAMS, OwnPostgres, demand_postgres, reachable_programs

psycopg = pytest.importorskip("psycopg")


@pytest.mark.parametrize("attempt", [1, 2])
def test_every_test_has_an_empty_database_of_its_own(database: str, attempt: int) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("CREATE TABLE mine (attempt int)")
        connection.execute("INSERT INTO mine VALUES (%s)", (attempt,))
        assert connection.execute("SELECT attempt FROM mine").fetchall() == [(attempt,)]


@pytest.mark.skipif(PROGRAMS in os.environ, reason="another PostgreSQL need not have pgvector")
def test_vectors_are_compared_by_the_database(database: str) -> None:
    with psycopg.connect(database) as connection:
        (distance,) = connection.execute("SELECT '[3,0]'::halfvec <-> '[0,4]'::halfvec").fetchone()
    assert distance == 5


def test_a_killed_server_starts_again_with_what_was_committed(own_postgres: OwnPostgres) -> None:
    with own_postgres.database("kept") as url:
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 1 AS number")
        own_postgres.kill()
        own_postgres.start()
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT number FROM kept").fetchall() == [(1,)]


# Verifies: REQ-d00612-A
@pytest.mark.skipif(not unprivileged.is_root(), reason="PostgreSQL runs as whoever runs the tests")
def test_programs_below_a_folder_of_root_are_copied_with_their_libraries(
    tmp_path: Path, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    demand_postgres()
    installed = reachable_programs(open_folder / "installed").parent
    package = tmp_path / "private" / installed.parent.name
    package.mkdir(parents=True)
    package.parent.chmod(0o700)
    (package / installed.name).symlink_to(installed)
    libraries = installed.parent.with_name(f"{package.name}.libs")
    package.with_name(libraries.name).symlink_to(libraries)
    monkeypatch.setenv(PROGRAMS, str(package / installed.name / "bin"))
    assert not unprivileged.can_run(package / installed.name / "bin" / "initdb")
    copied = reachable_programs(open_folder / "reachable")
    assert open_folder / "reachable" in copied.parents
    assert all(unprivileged.can_run(copied / name) for name in ("postgres", "initdb"))


# Verifies: REQ-d00612-A
@pytest.mark.skipif(not unprivileged.is_root(), reason="every folder of temporary files is one's own")
def test_a_folder_for_every_user_is_not_below_one_of_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    place = unprivileged.open_place()
    assert place != tmp_path
    assert unprivileged.can_enter(place)
