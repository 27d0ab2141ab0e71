"""Who made a folder of Clew's own, and what of it is believed. Users are homes, and projects are real folders."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.attack.state_folder import OWN_NAMES, other_user, victim
from tests.in_process import Done, run
from tests.mcp_client import McpClient, Options

from clew.derived.code_file import CodeFile
from clew.edit import admission, below, stamp
from clew.project import Project
from clew.workspace.git.staged import is_kept

pytestmark = pytest.mark.skipif(os.name == "nt", reason="users and links are made as POSIX has them")


def state(root: Path) -> Path:
    return root / ".clew"


def shared(root: Path) -> Path:
    return root / ".git" / "clew"


def done(root: Path, *arguments: str) -> Done:
    found = run(root, *arguments)
    assert found.returncode == 0, found.stderr
    return found


def notes(root: Path) -> str:
    project = Project.open(root)
    try:
        return " ".join(project.notes())
    finally:
        project.close()


def title(root: Path) -> str:
    """What an agent is told."""
    project = Project.open(root)
    try:
        with McpClient(project, Options(names="portable")) as client:
            return str(client("get_requirement", req_id="REQ-d00001")["title"])
    finally:
        project.close()


# Verifies: REQ-d00620-A
def test_the_key_is_the_users_alone_and_the_same_for_all_who_make_it_at_once(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    program = "from clew.edit import stamp; print(stamp.code('test', 'x'))"
    started = [
        subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE) for _ in range(6)
    ]
    said = {process.communicate()[0] for process in started}
    assert len(said) == 1
    assert said != {b"None\n"}
    key = tmp_path / "state" / "clew" / "key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.parent.stat().st_mode & 0o777 == 0o700
    assert len(key.read_bytes()) == 32
    assert [each.name for each in key.parent.iterdir()] == ["key"]


# Verifies: REQ-d00620-A, REQ-d00621-A
def test_what_clew_makes_is_believed_and_a_copy_of_it_is_made_again() -> None:
    with victim() as place:
        root, copy = place / "project", place / "copy"
        done(root, "status")
        made = (state(root) / "parsed.db").stat().st_ino
        done(root, "status")
        assert (state(root) / "parsed.db").stat().st_ino == made
        shutil.copytree(root, copy, symlinks=True)
        (state(copy) / "parsed.db").write_bytes(b"not what Clew made")
        (state(copy) / "hooks.spool").write_bytes(b"{}\n")
        assert "tides" in done(copy, "status").stdout
        assert not (state(copy) / "hooks.spool").exists()
        assert (state(copy) / "parsed.db").read_bytes().startswith(b"SQLite format 3")


# Verifies: REQ-d00620-B
def test_a_project_that_is_moved_keeps_everything() -> None:
    with victim() as place:
        root, moved = place / "project", place / "moved"
        done(root, "remember", "The valve closes at 40 bar")
        made = (shared(root) / "memory-index.db").stat().st_ino, (state(root) / "clew.db").stat().st_ino
        root.rename(moved)
        done(moved, "remember", "The gate opens at noon")
        assert ((shared(moved) / "memory-index.db").stat().st_ino, (state(moved) / "clew.db").stat().st_ino) == made
        assert "came with the project" not in notes(moved)


# Verifies: REQ-d00620-B
def test_a_folder_with_another_number_at_the_same_path_is_the_same() -> None:
    with victim() as place:
        root = place / "project"
        done(root, "remember", "The valve closes at 40 bar")
        for folder in (state(root), shared(root)):
            # As a network folder looks that was mounted anew.
            folder.rename(place / "before")
            shutil.copytree(place / "before", folder)
            shutil.rmtree(place / "before")
        done(root, "remember", "The gate opens at noon")
        assert "came with the project" not in notes(root)


# Verifies: REQ-d00620-C
def test_stamps_of_several_users_lie_side_by_side_and_have_an_end() -> None:
    with victim() as place:
        root = place / "project"
        done(root, "status")
        with other_user(place):
            run(root, "status")
            assert admission.admit(state(root)).is_ours
        assert len(list(state(root).glob("stamp-*"))) == 2
        assert admission.admit(state(root)) == admission.FolderTrust(state(root), True)
        for number in range(100):
            (state(root) / f"stamp-{number:016x}").write_text("of a home that lived for one run", encoding="utf-8")
            os.utime(state(root) / f"stamp-{number:016x}", (1_000_000 + number, 1_000_000 + number))
        with other_user(place / "project"):
            admission.admit(state(root))
        assert len(list(state(root).glob("stamp-*"))) <= 32
        assert admission.admit(state(root)).is_ours


# Verifies: REQ-d00620-A
@pytest.mark.parametrize(
    "change",
    ["", "0" * 32 + " " + "0" * 64, "../../../outside x", "é", "x" * 10_000],
    ids=["empty", "unknown", "path", "letters", "long"],
)
def test_a_stamp_that_is_not_the_keys_counts_for_nothing(change: str) -> None:
    with victim() as place:
        root = place / "project"
        done(root, "status")
        (own,) = state(root).glob("stamp-*")
        own.write_text(change, encoding="utf-8")
        assert not admission.look(state(root)).is_ours


# Verifies: REQ-d00621-B, REQ-d00621-C
def test_a_memory_that_came_along_asks_once_and_is_the_users_after_that() -> None:
    with victim() as place:
        root, copy = place / "project", place / "copy"
        done(root, "remember", "The valve closes at 40 bar")
        shutil.copytree(root, copy, symlinks=True)
        refused = run(copy, "remember", "The gate opens at noon")
        assert refused.returncode != 0
        assert "clew trust --grant store" in refused.stderr
        assert "40 bar" in done(copy, "memory", "list").stdout
        assert "memory.db" in notes(copy)
        assert "clew trust --grant store" in notes(copy)
        assert "It is asked for" in run(copy, "trust", "--show").stdout
        done(copy, "trust", "--grant", "store", "--yes")
        assert "clew trust" not in notes(copy)
        done(copy, "remember", "The gate opens at noon")
        done(copy, "trust", "--revoke", "store")
        assert run(copy, "remember", "The lock is oiled").returncode != 0
        # The grant is about the folder that was there, not about whatever comes to its path.
        done(copy, "trust", "--grant", "store", "--yes")
        shutil.rmtree(copy)
        shutil.copytree(root, copy, symlinks=True)
        assert run(copy, "remember", "The lock is oiled").returncode != 0
        done(copy, "trust", "--grant", "store", "--yes")
        done(copy, "remember", "The lock is oiled")


# Verifies: REQ-d00621-B
def test_drafts_that_came_along_do_not_count() -> None:
    with victim() as place:
        root, copy = place / "project", place / "copy"
        project = Project.open(root)
        with McpClient(project, Options(toolsets=("all",), names="portable")) as client:
            client("mutate_update_title", node_id="REQ-d00001", new_title="Eat tables")
        project.close()
        assert title(root) == "Eat tables"
        shutil.copytree(root, copy, symlinks=True)
        assert title(copy) == "Read tables"
        done(copy, "trust", "--grant", "store", "--yes")
        assert title(copy) == "Eat tables"


# Verifies: REQ-d00621-D
@pytest.mark.parametrize("version", ["2", "4"])
def test_a_state_folder_that_git_keeps_is_a_finding_and_not_believed(version: str) -> None:
    with victim() as place:
        root = place / "project"
        done(root, "status")
        assert not is_kept(state(root))
        for command in (["add", "-f", ".clew/parsed.db"], ["update-index", "--index-version", version]):
            subprocess.run(["git", *command], cwd=root, check=True, capture_output=True)
        assert is_kept(state(root))
        before = sorted(each.name for each in state(root).iterdir())
        checked = run(root, "check")
        assert "trace.state_in_git" in checked.stdout
        assert not admission.admit(state(root)).is_ours
        assert "is kept by git" in notes(root)
        done(root, "index")
        after = {each.name for each in state(root).iterdir()}
        assert set(before) <= after
        assert "search" not in after
        # As a commit puts it there; it stays when git lets go of it.
        (state(root) / "kb").mkdir()
        (state(root) / "kb" / "documents.db").write_bytes(b"not what Clew made")
        subprocess.run(["git", "rm", "-rq", "--cached", ".clew"], cwd=root, check=True)
        standing = admission.admit(state(root))
        assert (standing.is_ours, standing.asks) == (True, ("clew.db",))
        assert not (state(root) / "kb").exists()
        assert "trace.state_in_git" not in run(root, "check").stdout


# Verifies: REQ-d00621-D
def test_a_state_folder_is_found_in_an_index_with_other_hashes(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--object-format=sha256"], cwd=tmp_path, check=True)
    for name in ("a-file", ".clew/parsed.db", "z/a-file"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    subprocess.run(["git", "add", "a-file", "z"], cwd=tmp_path, check=True)
    assert not is_kept(tmp_path / ".clew")
    subprocess.run(["git", "add", "-f", ".clew"], cwd=tmp_path, check=True)
    assert is_kept(tmp_path / ".clew")


# Verifies: REQ-d00621-E
@pytest.mark.parametrize("home", ["protected", "a-file"])
def test_where_no_key_can_be_kept_reading_works(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with victim() as place:
        root = place / "project"
        # Not by permissions, which the user of a container may ignore.
        nowhere = Path("/proc/self") if home == "protected" and Path("/proc/self").exists() else place / "file"
        if home == "a-file":
            nowhere.write_text("no folder", encoding="utf-8")
        monkeypatch.setenv("XDG_STATE_HOME", str(nowhere / "state"))
        assert "SHALL" in done(root, "show", "REQ-d00001").stdout
        done(root, "status")
        done(root, "index")
        refused = run(root, "remember", "The gate opens at noon")
        assert refused.returncode != 0
        assert "XDG_STATE_HOME" in refused.stderr
        assert not shared(root).exists()


# Verifies: REQ-d00621-E
def test_a_project_that_cannot_be_written_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with victim() as place:
        root, copy = place / "project", place / "copy"
        done(root, "remember", "The valve closes at 40 bar")
        shutil.copytree(root, copy, symlinks=True)
        for folder in (state(copy), shared(copy)):
            folder.chmod(0o555)
        # The permissions mean nothing to a user who may do everything.
        real = os.access
        protected = {str(state(copy)), str(shared(copy))}
        monkeypatch.setattr(os, "access", lambda path, *rest: str(path) not in protected and real(path, *rest))
        monkeypatch.setattr("clew.derived.place._refusal", lambda folder: "Read-only file system")
        write = below.write

        def refused(path: Path, data: bytes, mode: int = 0o600) -> None:
            if str(path.parent) in protected:
                raise PermissionError(13, "Permission denied", str(path))
            write(path, data, mode)

        monkeypatch.setattr(below, "write", refused)
        assert "SHALL" in done(copy, "show", "REQ-d00001").stdout
        assert not admission.admit(shared(copy)).believes("memory.db")
        done(copy, "trust", "--grant", "store", "--yes")
        assert admission.admit(shared(copy)).believes("memory.db")
        assert not admission.admit(shared(root)).asks


# Verifies: REQ-d00622-B
def test_a_link_in_place_of_the_state_folder_is_named_and_reading_goes_on() -> None:
    with victim() as place:
        root = place / "project"
        (place / "elsewhere").mkdir()
        state(root).symlink_to(place / "elsewhere")
        assert "SHALL" in done(root, "show", "REQ-d00001").stdout
        assert str(state(root)) in notes(root)
        assert list((place / "elsewhere").iterdir()) == []


# Verifies: REQ-d00622-A
@pytest.mark.parametrize("name", ["", *OWN_NAMES])
def test_every_way_to_a_file_refuses_a_link(tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("stays", encoding="utf-8")
    folder = tmp_path / "project" / ".clew"
    place = folder / name
    place.parent.mkdir(parents=True)
    place.symlink_to(outside)
    for path in (place, place / "file"):
        with pytest.raises(OSError):
            below.open_file(path, os.O_RDWR | os.O_CREAT)
        with pytest.raises(OSError):
            below.read(path, 100)
    for path in (place / "file", place / "new"):
        with pytest.raises(OSError):
            below.write(path, b"changed")
        with pytest.raises(OSError):
            below.remove(path)
        with pytest.raises(OSError):
            below.make_folder(path)
    below.remove_folder(place)
    assert not place.is_symlink()
    assert (outside / "file").read_text(encoding="utf-8") == "stays"
    assert [each.name for each in outside.iterdir()] == ["file"]


# Verifies: REQ-d00622-A
def test_a_pipe_in_place_of_a_file_keeps_nobody_waiting(tmp_path: Path) -> None:
    folder = tmp_path / ".clew"
    folder.mkdir()
    os.mkfifo(folder / "hooks.spool")
    for flags in (os.O_RDONLY, os.O_RDWR):
        with pytest.raises(OSError):
            below.open_file(folder / "hooks.spool", flags)


# Verifies: REQ-d00622-A
def test_names_are_looked_at_where_a_system_has_no_such_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(below, "_HAS_DESCRIPTORS", False)
    (tmp_path / "outside").mkdir()
    folder = tmp_path / ".clew"
    folder.mkdir()
    below.write(folder / "plain", b"one")
    assert below.read(folder / "plain", 100) == b"one"
    below.make_folder(folder / "search" / "deep")
    (folder / "kb").symlink_to(tmp_path / "outside")
    with pytest.raises(OSError):
        below.write(folder / "kb" / "writer.lock", b"")
    with pytest.raises(OSError):
        below.make_folder(folder / "kb" / "deep")
    below.remove_folder(folder / "search")
    below.remove(folder / "plain")
    assert sorted(each.name for each in folder.iterdir()) == ["kb"]
    assert list((tmp_path / "outside").iterdir()) == []


# Verifies: REQ-d00623-A
def test_every_database_is_its_users_alone() -> None:
    with victim() as place:
        root = place / "project"
        done(root, "remember", "The valve closes at 40 bar")
        for command in (("index",), ("kb", "index"), ("brief",)):
            done(root, *command)
        files = [file for folder in (state(root), shared(root)) for file in folder.rglob("*.db*")]
        assert {"clew.db", "memory.db", "memory-index.db", "parsed.db"} <= {file.name for file in files}
        assert {file.name: oct(file.stat().st_mode & 0o777) for file in files if file.stat().st_mode & 0o077} == {}
        for file in files:
            file.chmod(0o644)
        done(root, "remember", "The gate opens at noon")
        assert [f.name for f in (state(root) / "clew.db", shared(root) / "memory.db") if f.stat().st_mode & 0o077] == []


# Verifies: REQ-d00620-A
def test_the_users_state_knows_every_folder_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for _ in range(3):
        admission.make(tmp_path / "project" / ".clew")
    assert len(list((tmp_path / "state" / "clew" / "folders").iterdir())) == 1
    monkeypatch.setattr(stamp, "_MOST_KNOWN", 4)
    for number in range(12):
        admission.make(tmp_path / f"project-{number}" / ".clew")
    assert len(list((tmp_path / "state" / "clew" / "folders").iterdir())) <= 5


# Verifies: REQ-d00620-A
def test_a_file_that_is_made_before_the_store_is_no_strangers(tmp_path: Path) -> None:
    made = CodeFile(tmp_path / ".clew")
    try:
        # Whoever comes next looks whose folder that is, and would throw away what is in one that has no stamp.
        assert admission.admit(tmp_path / ".clew").is_ours
        assert made.count() == (0, 0)
        assert (tmp_path / ".clew" / ".gitignore").read_text() == "*\n"
    finally:
        made.close()
