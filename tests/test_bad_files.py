"""Files nobody wishes for: each is reported, stops nothing, and the project still answers."""

import os
import shutil
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unprivileged import is_root

from clew.graph.model import NodeKind
from clew.project import Project

Open = Callable[[Path], Project]


def codes(project: Project) -> set[str]:
    return {finding.code for finding in project.trace.findings() if finding.path != "spec/small.md"}


# Verifies: REQ-d00004-C, REQ-p00002-C
@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"\x00\x01\x02" * 1000, "file.binary"),
        (b"## REQ-d00077: Title\n\nlatin \xe9\xff text\n", "elspais.not_utf8"),
    ],
)
def test_a_file_that_is_no_text_is_reported_and_the_rest_is_read(
    small: Path, opened: Open, content: bytes, code: str
) -> None:
    (small / "spec" / "odd.md").write_bytes(content)
    project = opened(small)
    project.ensure_graph()
    assert code in codes(project)
    assert project.trace.requirement("REQ-p00001").title == "Keep time"


# Verifies: REQ-d00004-C
def test_a_markdown_file_of_50_mb_is_reported_with_the_limit(small: Path, opened: Open) -> None:
    with (small / "spec" / "huge.md").open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    project = opened(small)
    project.ensure_graph()
    (finding,) = [finding for finding in project.trace.findings() if finding.code == "file.unreadable"]
    assert finding.path == "spec/huge.md"
    assert "52,428,800" in finding.message
    assert "max_file_bytes" in finding.message
    assert project.graph.count(NodeKind.REQUIREMENT) == 2


def test_crlf_and_bom_change_nothing_but_the_bytes(small: Path, opened: Open) -> None:
    path = small / "spec" / "small.md"
    plain = opened(small)
    plain.ensure_graph()
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    other = opened(small)
    other.ensure_graph()
    for id in ("REQ-p00001", "REQ-d00001"):
        before, after = plain.trace.requirement(id), other.trace.requirement(id)
        assert (before.title, before.body, before.hash_state) == (after.title, after.body, after.hash_state)
        assert [item.text for item in before.assertions] == [item.text for item in after.assertions]


# Verifies: REQ-p00002-B
def test_a_damaged_store_costs_the_cache_and_nothing_else(small: Path, opened: Open) -> None:
    (small / ".clew").mkdir()
    (small / ".clew" / "clew.db").write_bytes(b"this is no database" * 100)
    project = opened(small)
    project.ensure_graph()
    assert project.trace.requirement("REQ-p00001").title == "Keep time"
    assert any("clew.db" in note for note in project.notes())
    assert (small / ".clew" / "clew.db").read_bytes() == b"this is no database" * 100


def test_a_folder_in_place_of_a_file_is_no_file(small: Path, opened: Open) -> None:
    (small / "spec" / "folder.md").mkdir()
    project = opened(small)
    project.ensure_graph()
    assert project.graph.count(NodeKind.REQUIREMENT) == 2


def as_nobody(work: Callable[[], None]) -> int:
    """Run in a child process without the rights of root; the exit code is 0 when `work` did not raise."""
    with warnings.catch_warnings():
        # Later Pythons warn of threads that a fork leaves behind; the child uses none.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            os.setgid(65534)
            os.setuid(65534)
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# Verifies: REQ-d00004-C, REQ-p00002-B
@pytest.mark.skipif(not is_root(), reason="only root can give rights away")
def test_a_file_and_a_folder_without_permission_are_reported_and_the_rest_is_read(
    small: Path, open_folder: Path
) -> None:
    root = Path(shutil.copytree(small, open_folder / "small"))
    locked = root / "spec" / "locked.md"
    locked.write_text("## REQ-d00088: Locked\n\n*End* *Locked*\n", encoding="utf-8")
    locked.chmod(0)
    (root / "spec" / "closed").mkdir(mode=0o700)

    def read(root: Path) -> Project:
        project = Project.open(root)
        project.ensure_graph()
        assert project.trace.requirement("REQ-p00001").title == "Keep time"
        codes(project)
        project.notes()
        return project

    def read_what_is_allowed() -> None:
        project = read(root)
        assert "file.unreadable" in codes(project)
        folder = next(item for path, item in project.context.builder.diagnostics() if path == "spec/closed")
        assert folder.code == "file.unreadable"
        # The folder belongs to root, so that nothing can be kept in it; the project says so and answers.
        assert any(".clew" in note for note in project.notes())

    # Python itself may stand where nobody can read: what it loads late is loaded now.
    read(small).close()
    assert as_nobody(read_what_is_allowed) == 0
    assert not (root / ".clew").exists()
