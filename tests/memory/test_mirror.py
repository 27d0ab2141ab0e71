"""The mirror: memories as Markdown files, in step with the memory."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import in_process
from tests.contract.memory_client import WHY, Memory, remembering, write_project

from clew.errors import ClewError
from clew.memory.mirror.markdown import parsed, rendered, said_of
from clew.memory.mirror.service import Mirror
from clew.memory.scope import Viewer
from clew.memory.service import MemoryView

SOURCE = {"src/tides.py": "def tide():\n    return 1\n"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with remembering(write_project(tmp_path / "harbour", SOURCE)) as client:
        yield client


def mirror(memory: Memory) -> Mirror:
    own = memory.project.memory.mirror
    if own.folder is None:
        own.switch_on("notes/memory", "person")
    return own


def owner(memory: Memory) -> MemoryView:
    return MemoryView(memory.project.memory, Viewer(is_owner=True), is_person=True)


def files(memory: Memory) -> dict[str, Path]:
    """The files of the mirror by the first digits of the id in their names."""
    return {file.stem[-8:]: file for file in (memory.root / "notes" / "memory").glob("*.md")}


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


# Verifies: REQ-d00322-A
def test_memories_are_written_as_they_come_and_go(memory: Memory) -> None:
    first = memory.store("Lamps burn at night.", tags=["light"], about=["src/tides.py::tide"])
    mirror(memory)
    second = memory.store("Ropes are coiled clockwise.")
    private = memory.store("My own note.", agent_id="planner", metadata={"visibility": "private"})
    assert files(memory).keys() == {first[:8], second[:8]}, private
    text = files(memory)[first[:8]].read_text(encoding="utf-8")
    assert f"id: {first}" in text
    assert text.endswith("---\n\nLamps burn at night.\n")
    hash = memory("forget_concept", node_id=first, reason="obsolete", rationale=WHY)["reversal_hash"]
    assert files(memory).keys() == {second[:8]}
    memory("restore_from_hash", reversal_hash=hash)
    assert files(memory)[first[:8]].read_text(encoding="utf-8") == text
    assert not list((memory.root / ".clew").rglob("*.clew-backup"))


# Verifies: REQ-d00322-A, REQ-d00322-C
def test_an_edited_file_edits_the_memory_which_then_waits_to_be_accepted(memory: Memory) -> None:
    id = memory.store("Lamps burn at night in the harbour.", about=["src/tides.py"])
    mirror(memory)
    asked = {"query": "when do lamps burn at night in the harbour", "session_id": "one"}
    assert memory("inject_context", **asked)["nodes_retrieved"] == [id]
    change(files(memory)[id[:8]], "burn at night in", "burn at dusk and at night in")
    (hit,) = memory("search_graph", query="lamps", include_content=True)["results"]
    assert (hit["content"], hit["trust"]) == ("Lamps burn at dusk and at night in the harbour.", "document")
    assert [cite["node"] for cite in hit["cites"]] == ["file:src/tides.py"]
    refused = memory("inject_context", **{**asked, "session_id": "two"})
    assert (refused["nodes_retrieved"], "nobody accepted it" in refused["reason"]) == ([], True)
    owner(memory).curator.accept([id], WHY)
    assert memory("inject_context", **{**asked, "session_id": "three"})["nodes_retrieved"] == [id]
    change(files(memory)[id[:8]], "at dusk", "at dawn")
    assert memory("inject_context", **{**asked, "session_id": "four"})["nodes_retrieved"] == []


# Verifies: REQ-d00322-C
def test_a_new_file_is_remembered_without_its_secrets_and_gets_an_id(memory: Memory) -> None:
    mirror(memory)
    place = memory.root / "notes" / "memory" / "pilots.md"
    place.write_text("---\nkind: pitfall\ntags: [pilots, buoy]\n---\nNever sail alone. password=hunter2222\n", "utf-8")
    (hit,) = memory("search_graph", query="sail", include_content=True)["results"]
    assert (hit["kind"], hit["tags"], hit["trust"]) == ("pitfall", ["pilots", "buoy"], "document")
    assert "hunter2222" not in hit["content"] + place.read_text(encoding="utf-8")
    assert f"id: {hit['node_id']}" in place.read_text(encoding="utf-8")
    assert memory.ids("sail") == [hit["node_id"]], "it is read once"


# Verifies: REQ-d00322-A
def test_a_deleted_file_is_a_soft_forget(memory: Memory) -> None:
    id = memory.store("Lamps burn at night.")
    memory.store("Ropes are coiled clockwise.")
    mirror(memory)
    files(memory)[id[:8]].unlink()
    assert memory.ids("lamps burn") == []
    (gone,) = memory("search_tombstones")["tombstones"]
    memory("restore_from_hash", reversal_hash=gone["reversal_hash"])
    assert id[:8] in files(memory)


# Verifies: REQ-d00322-B
@pytest.mark.parametrize("keep", ["file", "memory"])
@pytest.mark.parametrize("deleted", [False, True])
def test_where_both_sides_changed_neither_wins(memory: Memory, keep: str, deleted: bool) -> None:
    id = memory.store("Lamps burn at night.")
    own = mirror(memory)
    file, folder = files(memory)[id[:8]], memory.root / "notes" / "memory"
    folder.rename(memory.root / "aside")
    owner(memory).curator.edit(id, "Lamps burn by day.", WHY)
    (memory.root / "aside").rename(folder)
    if deleted:
        file.unlink()
        (folder / "keep.txt").touch()
    else:
        change(file, "at night", "at dusk")
    assert [hit["snippet"] for hit in memory("search_graph", query="lamps")["results"]] == ["Lamps burn by day."]
    assert deleted or "at dusk" in file.read_text(encoding="utf-8")
    (task,) = [each for each in memory("get_memetic_status")["curation_tasks"] if each["task_type"] == "conflict"]
    assert task["target_nodes"] == [id]
    own.resolve(id, keep)  # type: ignore[arg-type]
    assert own.conflicts() == []
    if keep == "memory":
        assert "by day" in files(memory)[id[:8]].read_text(encoding="utf-8")
    elif deleted:
        assert memory.ids("lamps") == []
    else:
        assert memory("search_graph", query="lamps")["results"][0]["snippet"] == "Lamps burn at dusk."


# Verifies: REQ-d00322-B
def test_a_folder_that_vanished_forgets_nothing(memory: Memory) -> None:
    ids = {memory.store(f"Lamp {number} burns in harbour {number * 7}.") for number in range(5)}
    mirror(memory)
    folder = memory.root / "notes" / "memory"
    folder.rename(memory.root / "aside")
    assert set(memory.ids("lamp burns", top_k=50)) == ids
    assert not folder.exists()
    folder.mkdir()
    assert set(memory.ids("lamp burns", top_k=50)) == ids
    assert files(memory).keys() == {id[:8] for id in ids}


# Verifies: REQ-d00322-B
def test_another_branch_without_the_files_forgets_nothing(memory: Memory) -> None:
    def git(*words: str) -> None:
        command = ["git", "-C", str(memory.root), "-c", "user.name=a", "-c", "user.email=a@b", *words]
        subprocess.run(command, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "one")
    with remembering(memory.root) as client:
        ids = {client.store("Lamps burn at night."), client.store("Lamps are cleaned by day.")}
        mirror(client)
        git("checkout", "-q", "-b", "other")
        git("commit", "-q", "--allow-empty", "-m", "two")
        git("checkout", "-q", "main")
        git("add", "notes")
        git("commit", "-q", "-m", "files")
        assert set(client.ids("lamps")) == ids
        git("checkout", "-q", "other")
        assert set(client.ids("lamps")) == ids, "the branch never had the files"
        (client.root / "notes" / "memory").mkdir(parents=True)
        assert set(client.ids("lamps")) == ids, "an empty folder is not a wish to forget either"
        assert len(files(client)) == 2
        shutil.rmtree(client.root / "notes")
        git("checkout", "-q", "main")
        assert set(client.ids("lamps")) == ids
        git("rm", "-q", str(sorted(files(client).values())[0]))
        git("commit", "-q", "-m", "deleted")
        assert len(client.ids("lamps")) == 1, "what is deleted on the branch itself is forgotten"


# Verifies: REQ-d00322-A
def test_files_with_what_nobody_should_write_harm_nothing(memory: Memory) -> None:
    id = memory.store("Lamps burn at night.")
    own = mirror(memory)
    folder = memory.root / "notes" / "memory"
    for name, text in {
        "empty.md": "",
        "blank.md": "---\nid: 17\n---\n",
        "kind.md": "---\nkind: rumour\n---\nText.",
        "nul.md": "a\0b",
        "long.md": "x" * 70_000,
        "same.md": f"---\nid: {id}\n---\nAnother text.",
        "half.md": "---\nid: \ud800\n---\nText.".encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "link.md").symlink_to("/etc/passwd")
    done = own.sync()
    assert len(done.notes) >= 5
    assert "root:" not in json.dumps(memory("get_recent_context", limit=50))
    (memory.root / "docs").mkdir()
    (memory.root / "docs" / "guide.md").write_text("# Guide\n", encoding="utf-8")
    for hostile in ("../elsewhere", "/etc", ".git/x", ".", ".clew", "docs"):
        with pytest.raises(ClewError):
            own.switch_on(hostile, "person")


# Verifies: REQ-d00322-A
def test_a_file_says_what_the_memory_says(memory: Memory) -> None:
    id = memory.store(
        'A "quoted" text: with --- and # signs.\n\n---\nMore\\n. 🎈',
        tags=["a, b", "c: d", "[e]"],
        about=["src/tides.py::tide"],
        importance=0.9,
        metadata={"title": "A title: [with] signs"},
    )
    memory("annotate_node", node_id=id, annotations={"notes": 'several\nlines "here"'})
    stored = owner(memory).library.get(id)
    assert parsed(rendered(stored)) == said_of(stored)
    assert parsed(rendered(stored).replace("\n", "\r\n")) == said_of(stored)


# Verifies: REQ-d00322-A, REQ-d00322-C
def test_the_commands_of_the_mirror(tmp_path: Path) -> None:
    root = write_project(tmp_path / "harbour")

    def run(*words: str, code: int = 0) -> str:
        done = in_process.run(root, *words)
        assert done.returncode == code, done.stderr
        return done.stdout

    run("remember", "Lamps burn at night.")
    assert "1 written" in run("memory", "mirror", "on", "notes")
    (root / "notes" / "new.md").write_text("Ropes are coiled.\n", encoding="utf-8")
    assert "1 remembered" in run("memory", "mirror", "sync")
    assert "Ropes" in run("memory", "accept")
    assert "Accepted" in run("memory", "accept", "--all")
    assert json.loads(run("memory", "mirror", "--json"))["unaccepted"] == 0
    run("memory", "mirror", "off")
    assert len(list((root / "notes").glob("*.md"))) == 2
