"""A copy of the demo with a history and a memory, served once for all tests that only read it."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.web.serving import Site, Visitor, served

from clew.memory.operations.commands import Remember
from clew.operation.call import Call, perform
from clew.project import Project
from clew.search.operations import MakeIndex

DEMO = Path(__file__).parents[2] / "examples" / "demo"
GIT = ("git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")


def commit(folder: Path, message: str) -> None:
    subprocess.run([*GIT, "add", "-A"], cwd=folder, check=True, capture_output=True)
    subprocess.run([*GIT, "commit", "-q", "-m", message], cwd=folder, check=True, capture_output=True)


def make_demo(folder: Path) -> None:
    """The demo as a repository of two commits, with something remembered."""
    shutil.copytree(DEMO, folder, ignore=shutil.ignore_patterns(".clew", ".git"))
    subprocess.run([*GIT, "init", "-q", "-b", "main"], cwd=folder, check=True, capture_output=True)
    commit(folder, "Plan a passage")
    spec = folder / "spec" / "dev-tides.md"
    spec.write_text(spec.read_text().replace("SHALL reject times that", "SHALL refuse times that"))
    commit(folder, "Say refuse, as everywhere else")
    project = Project.open(folder)
    try:
        remember(project, "We chose half a cosine because the harbour master checks it by hand.", "REQ-d00002")
        remember(project, "Tide tables are in harbour time, never in UTC.", "src/fairwater/tables.py")
        # Answers change while embeddings are made; what a test reads must not depend on how far a server is with them.
        perform(MakeIndex(), Call(project, (), surface="cli"))
    finally:
        project.close()


def make_garden(folder: Path, *, has_git: bool = True) -> None:
    """A project without specs: a document, code, a test and a memory."""
    folder.mkdir()
    (folder / "README.md").write_text("# Garden\n\n## Roses\n\nThe gardener waters the roses every evening.\n")
    (folder / "garden.py").write_text("def water():\n    return 'roses'\n")
    (folder / "test_garden.py").write_text("from garden import water\n\n\ndef test_water():\n    assert water()\n")
    if has_git:
        subprocess.run([*GIT, "init", "-q", "-b", "main"], cwd=folder, check=True, capture_output=True)
        commit(folder, "A garden")
    project = Project.open(folder)
    try:
        remember(project, "Roses are watered in the evening, never at noon.", "garden.py", "leaves burn at noon")
    finally:
        project.close()


def remember(project: Project, text: str, about: str, why: str = "decided on the quay") -> None:
    perform(Remember(content=text, about_=(about,), why=why), Call(project, (), surface="cli"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A demo of one's own, to be changed."""
    target = tmp_path / "fairwater"
    shutil.copytree(DEMO, target, ignore=shutil.ignore_patterns(".clew", "__pycache__"))
    return target


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page") / "fairwater"
    make_demo(folder)
    return folder


@pytest.fixture(scope="module")
def site(demo: Path) -> Iterator[Site]:
    with served(demo) as site:
        yield site


@pytest.fixture(scope="module")
def visitor(site: Site) -> Iterator[Visitor]:
    with site.visitor() as visitor:
        yield visitor
