"""Memories as lines of JSON, both ways."""

import json
from pathlib import Path

import pytest
from tests import in_process
from tests.contract.memory_client import Memory, remembering, write_project

from clew.errors import InvalidArgument
from clew.memory.curation.requests import RestoreRequest
from clew.memory.scope import EVERYTHING, Viewer
from clew.memory.service import MemoryView
from clew.memory.storage.jsonl import exported, imported

SOURCE = {"src/tides.py": "def tide():\n    return 1\n"}


def owner(memory: Memory) -> MemoryView:
    return MemoryView(memory.project.memory, Viewer(is_owner=True), is_person=True)


def lines(memory: Memory) -> str:
    return "".join(f"{line}\n" for line in exported(owner(memory), EVERYTHING, private=True).lines)


# Verifies: REQ-d00321-A
def test_what_was_written_is_read_back_equal(tmp_path: Path) -> None:
    with remembering(write_project(tmp_path / "one", SOURCE)) as memory:
        first = memory.store("Tide tables are in UTC.", about=["src/tides.py::tide"], tags=["time"], importance=0.8)
        memory.store('Lamps\u2028burn \u202e at "night".\n\nAlways. 🎈', link_to=[first], metadata={"x": [1, None]})
        memory.store("My own note.", agent_id="planner", metadata={"visibility": "private"})
        memory.store("Tide tables are in local time.", link_to=[first], link_type="supersedes")
        written = lines(memory)
    assert len(written.splitlines()) >= 6
    with remembering(write_project(tmp_path / "two", SOURCE)) as memory:
        done = imported(owner(memory), written, as_document=False)
        assert (done.added, done.kept) == (4, ())
        assert lines(memory) == written
        again = imported(owner(memory), written, as_document=False)
        assert (again.added, again.unchanged, again.links, again.reversal_hash) == (0, 4, 0, None)
        (hit,) = [each for each in memory("search_graph", query="UTC")["results"] if each["node_id"] == first]
        assert hit["cites"][0]["state"] == "fresh"
        assert memory.ids("own note", agent_id="coder") == []
        assert done.reversal_hash is not None
        owner(memory).curator.restore(RestoreRequest(reversal_hash=done.reversal_hash))
        assert lines(memory) == ""


# Verifies: REQ-d00321-B
def test_files_of_others_are_scrubbed_and_wait(tmp_path: Path) -> None:
    with remembering(write_project(tmp_path / "one")) as memory:
        memory.store("Lamps burn at night in the whole harbour.")
        line = json.loads(lines(memory))
    line["memory"]["text"] += " password=hunter2222"
    with remembering(write_project(tmp_path / "two")) as memory:
        imported(owner(memory), json.dumps(line), as_document=True)
        (found,) = memory("search_graph", query="lamps", include_content=True)["results"]
        assert "hunter2222" not in found["content"]
        assert found["trust"] == "document"
        assert memory("inject_context", query="lamps burn at night in the harbour")["nodes_retrieved"] == []


# Verifies: REQ-d00321-B
@pytest.mark.parametrize(
    "change",
    [
        {"id": "17"},
        {"text": ""},
        {"text": "x" * 65_537},
        {"text": "a\0b"},
        {"importance": 2},
        {"confidence": -1},
        {"kind": "rumour"},
        {"recorded_at": "yesterday"},
        {"scope": {"folder": "../elsewhere"}},
        {"cites": [{"node": 17}]},
        {"tags": ["t"] * 51},
        {"metadata": {"big": "x" * 20_000}},
    ],
)
def test_a_line_that_breaks_a_rule_refuses_the_whole_file(tmp_path: Path, change: dict[str, object]) -> None:
    with remembering(write_project(tmp_path / "one")) as memory:
        memory.store("Lamps burn.")
        line = json.loads(lines(memory))["memory"]
    good = {**line, "id": "00000000-0000-4000-8000-000000000001", "text": "Ropes."}
    bad = {**line, "id": "00000000-0000-4000-8000-000000000002", **change}
    with remembering(write_project(tmp_path / "two")) as memory:
        text = "\n".join(json.dumps({"memory": each}) for each in (good, bad))
        with pytest.raises(InvalidArgument, match="Line 2"):
            imported(owner(memory), text, as_document=False)
        for nonsense in ("[]", "{", '{"memory": 1}', '{"link": {}}', '{"other": {}}', '{"memory": NaN}', "[" * 100_000):
            with pytest.raises(InvalidArgument, match="Line 1"):
                imported(owner(memory), nonsense, as_document=False)
        assert lines(memory) == ""


# Verifies: REQ-d00321-A
def test_the_commands_write_and_read_files(tmp_path: Path) -> None:
    one, two = write_project(tmp_path / "one"), write_project(tmp_path / "two")
    with remembering(one) as memory:
        memory.store("Lamps burn at night.")

    def run(root: Path, *words: str, code: int = 0) -> str:
        done = in_process.run(root, "memory", *words)
        assert done.returncode == code, done.stderr
        return done.stdout

    run(one, "export", str(tmp_path / "a.jsonl"))
    assert json.loads(run(two, "import", str(tmp_path / "a.jsonl"), "--json"))["added"] == 1
    assert run(two, "export") == (tmp_path / "a.jsonl").read_text(encoding="utf-8")
    run(two, "import", str(tmp_path / "none.jsonl"), code=1)
