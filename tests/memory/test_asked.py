"""What a question gets: memories by meaning from the next search on, the nearest ones marked as unsure, or nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.memory_client import CONFIG, WHY, Memory, remembering, write_project
from tests.memory.test_hook_capture import Session

BY_MEANING = '[project]\nname = "harbour"\n'
NOTES = (
    "Refunds need a second approval from the disputes team.",
    "The nightly job counts the stock at 02:30.",
    "A webhook that gets no answer is sent again after ten seconds.",
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with remembering(write_project(tmp_path / "harbour", config=BY_MEANING)) as client:
        yield client


# Verifies: REQ-d00301-G
def test_what_was_stored_merged_or_restored_is_compared_by_meaning_in_the_next_search(memory: Memory) -> None:
    ids = [memory.store(text) for text in NOTES]
    for query in ("who signs off paybacks", "when is inventory taken"):
        found = memory("search_graph", query=query)
        assert all(hit["signals"]["dense"] is not None for hit in found["results"])
        assert not any("wait" in note for note in found["notes"])
    hash = memory("forget_concept", node_id=ids[0], reason="obsolete", rationale=WHY)["reversal_hash"]
    memory("restore_from_hash", reversal_hash=hash)
    (first, *_) = memory("search_graph", query="who signs off paybacks")["results"]
    assert (first["node_id"], first["signals"]["dense"] is None) == (ids[0], False)


# Verifies: REQ-d00301-G
def test_an_answer_says_how_many_texts_wait_for_embeddings(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.memory.storage.vectors_in_step.FEW", 0)
    monkeypatch.setattr("clew.search.engine.SearchEngine.index_vectors", lambda *_: pytest.fail("it was not asked"))
    with remembering(write_project(memory.root.parent / "other", config=BY_MEANING)) as other:
        monkeypatch.setattr(other.project.index, "make_vectors_in_background", lambda: None)
        other.store(NOTES[0])
        notes = other("search_graph", query="refunds approval")["notes"]
    assert any("1 memory still without an embedding" in note for note in notes), notes


# Verifies: REQ-d00301-G
def test_a_memory_of_a_project_that_was_never_indexed_is_compared_by_meaning(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {
        f"docs/page{number}.md": f"# Page {number}\n\nHarbour {number} has pier {number}." for number in range(399)
    }
    monkeypatch.setattr("clew.memory.storage.vectors_in_step.PATIENCE_SECONDS", 60.0)
    with remembering(write_project(memory.root.parent / "other", pages, config=BY_MEANING)) as other:
        monkeypatch.setattr(other.project.index, "make_vectors_in_background", lambda: None)
        other.project.kb.index()
        ids = [other.store(text) for text in NOTES]
        found = other("search_graph", query="who signs off paybacks")
        state = other.project.index.state()
    assert (found["results"][0]["node_id"], found["results"][0]["signals"]["dense"] is None) == (ids[0], False)
    assert not any("embedding" in note for note in found["notes"]), found["notes"]
    assert state is not None
    assert len(NOTES) <= state.embedded < state.units, state


# Verifies: REQ-d00334-C
def test_a_search_says_that_nothing_fits_and_lists_nothing_without_a_relation(memory: Memory) -> None:
    assert memory("search_graph", query="anything at all")["notes"] == []
    for text in NOTES:
        memory.store(text)
    nothing = memory("search_graph", query="recipe for apple pie")
    assert (nothing["results"], nothing["count"]) == ([], 0)
    assert nothing["notes"][0].startswith("Nothing fits: the nearest memory, [node_")
    found = memory("search_graph", query="who approves refunds")
    assert found["results"]
    assert all(hit["similarity"] > 0 for hit in found["results"])


# Verifies: REQ-d00334-B
def test_who_asks_gets_the_nearest_marked_as_unsure_and_is_told_what_was_left_out(memory: Memory) -> None:
    for text in NOTES:
        memory.store(text)
    unsure = memory("inject_context", query="what happens with failed calls that nobody answered")
    assert "sent again" in unsure["context"]
    again = memory("inject_context", query="what happens with failed calls that nobody answered")
    assert "sent again" not in again["context"]
    assert any("again=true" in note for note in again["notes"])
    shown = memory("inject_context", query="what happens with failed calls that nobody answered", again=True)
    assert "sent again" in shown["context"]
    assert memory("inject_context", query="write a birthday poem for my grandmother")["context"] == ""


# Verifies: REQ-d00334-B
def test_what_a_client_compacted_away_is_injected_again(tmp_path: Path) -> None:
    with remembering(write_project(tmp_path / "harbour", config=CONFIG)) as memory:
        memory.store("Tide tables are read in UTC; local time is only shown.")
        session = Session(memory)
        asked = {"query": "are tide tables in UTC or local time", "session_id": "s1"}
        assert memory("inject_context", **asked)["nodes_retrieved"]
        assert not memory("inject_context", **asked)["nodes_retrieved"]
        session.send("PreCompact")
        assert memory("inject_context", **asked)["nodes_retrieved"]
