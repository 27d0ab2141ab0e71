"""`clew eval memory`, on conversations and on a project's own memory."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests import in_process
from tests.contract.memory_client import remembering, write_project

from clew.search.eval.collection import written_time

TALK = (
    ("Ann", "user", "Have you moved the lighthouse lamp?"),
    ("Bob", "assistant", "It stands on the pier now."),
    ("Ann", "user", "Shall we have tea?"),
    ("Bob", "assistant", "Gladly, after the ferry."),
)


def conversations(folder: Path, *, with_assistant: bool) -> Path:
    folder.mkdir()
    turns = [
        {
            "_id": f"t{turn}",
            "text": text,
            "metadata": {
                "session": "s1",
                "turn": turn,
                "speaker": speaker,
                "role": role if with_assistant else "person",
                "time": "1:56 pm on 8 May, 2023",
            },
        }
        for turn, (speaker, role, text) in enumerate(TALK)
    ]
    # The order of the file is not the order of the conversation.
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, reversed(turns))), encoding="utf-8")
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "where is the lighthouse lamp"}))
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\tt1\t1\n")
    return folder


def run(*words: str, cwd: Path) -> Any:
    done = in_process.run(cwd, "eval", "memory", *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# Verifies: REQ-d00332-A
@pytest.mark.parametrize(("with_assistant", "chosen"), [(False, "conversation"), (True, "assistant")])
def test_each_recipe_is_measured_and_one_is_chosen_by_the_roles(
    tmp_path: Path, with_assistant: bool, chosen: str
) -> None:
    folder = conversations(tmp_path / "talk", with_assistant=with_assistant)
    measured = run(str(folder), "--words-only", "-C", str(tmp_path), cwd=tmp_path)
    assert set(measured) == {"recipes", "chosen"}
    assert measured["chosen"] == chosen
    assert set(measured["recipes"]) == {"conversation", "assistant", "default"}
    assert all(set(values) == {"recall@5", "recall@10", "recall@20"} for values in measured["recipes"].values())
    # No word of the question is in the answer; the turn before it has them.
    assert measured["recipes"]["conversation"]["recall@5"] == 1.0
    assert measured["recipes"]["default"]["recall@5"] == 0.0
    assert [path.name for path in tmp_path.iterdir()] == ["talk"]


# Verifies: REQ-d00332-A
def test_days_are_read_as_people_write_them() -> None:
    assert written_time("1:56 pm on 8 May, 2023") == "2023-05-08T00:00:00+00:00"
    assert written_time("March-15-2024") == "2024-03-15T00:00:00+00:00"
    assert written_time("2023-05-08T13:56:00") == "2023-05-08T13:56:00"
    assert written_time("some day") is None


# Verifies: REQ-d00332-B
def test_the_memory_of_a_project_is_measured_or_there_is_too_little_to_measure(tmp_path: Path) -> None:
    root = write_project(tmp_path / "harbour")
    little = run("-C", str(root), cwd=tmp_path)
    assert little["memories"] == 0
    assert little["recall"]["found_at_10"] is None
    assert little["gate"]["foreign_injected"] is None
    things = ("lamp", "rope", "anchor", "buoy", "ledger", "crane", "ferry", "pier", "sail", "compass", "winch", "hull")
    with remembering(root) as memory:
        for number, thing in enumerate(things):
            memory(
                "store_memory",
                content=f"The {thing} is checked in week {number + 2}.",
                rationale=f"Somebody asked when the {thing} is looked at",
            )
        memory.store("The gate opens at six in the morning.")
        memory.store("The gate does not open at six in the morning.")
    measured = run("-C", str(root), cwd=tmp_path)
    assert measured["memories"] == len(things) + 2
    assert measured["recall"] == {"asked": len(things), "found_at_5": 1.0, "found_at_10": 1.0}
    assert measured["gate"]["foreign_injected"] == 0.0
    assert measured["conflicts"]["pairs"] == 1
