"""What tests of the whole product share: a copy of the demo, and a small project written for the occasion."""

import gc
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.postgres import database, own_postgres, postgres
from tests.properties import examples
from tests.unprivileged import open_folder

from clew.project import Project
from clew.trust import user_configuration

__all__ = ["database", "open_folder", "own_postgres", "postgres"]

# Property tests run as long as they need and try the same examples in every run: none fails by chance or by the clock.
settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("steady")

# Ten thousand tests are some millions of objects, through which Python would look again and again.
gc.disable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)
    gc.enable()


DEMO = Path(__file__).parent.parent / "examples" / "demo"

SPEC = """# Small

## REQ-p00001: Keep time

**Level**: PRD | **Status**: Active

It SHALL keep time.

## Assertions

A. The clock SHALL show the hour.
B. The clock SHALL show the minute.

*End* *Keep time*

## REQ-d00001: Show the hour

**Level**: DEV | **Status**: Draft | **Implements**: REQ-p00001-A, REQ-p00099

Hours go from 0 to 23.

## Assertions

A. The hour SHALL be two digits wide.

*End* *Show the hour* | **Hash**: 00000000
"""


UNHURRIED = "[kb]\ntimeout_seconds = 3600.0\n[search]\npatience_seconds = 3600.0\n"
"""A user's configuration with which no answer depends on how fast the machine is."""


@pytest.fixture(scope="session", autouse=True)
def settings_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The settings and the trusted projects of whoever runs the tests play no part."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
            patch.setenv(variable, str(tmp_path_factory.mktemp("user")))
        patch.delenv("CLEW_STORE", raising=False)
        # Where the files of the tests are: in memory, if there is enough.
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("temporary")))
        own = user_configuration()
        own.parent.mkdir(parents=True)
        own.write_text(UNHURRIED, encoding="utf-8")
        yield


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A copy of the demo, without git."""
    target = tmp_path / "demo"
    shutil.copytree(DEMO, target, ignore=shutil.ignore_patterns(".clew", "__pycache__", ".pytest_cache"))
    return target


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A project of two requirements with a stale hash and a broken reference."""
    root = tmp_path / "small"
    (root / "spec").mkdir(parents=True)
    (root / "spec" / "small.md").write_text(SPEC, encoding="utf-8")
    (root / "clew.toml").write_text('[project]\nname = "small"\n', encoding="utf-8")
    return root


@pytest.fixture
def opened() -> Iterator[Callable[[Path], Project]]:
    """Opens projects and closes them when the test ends."""
    projects: list[Project] = []

    def open_project(root: Path) -> Project:
        projects.append(Project.open(root))
        return projects[-1]

    yield open_project
    for project in projects:
        project.close()
