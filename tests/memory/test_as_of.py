"""What was believed at a time."""

from pathlib import Path

import pytest
from tests.contract.memory_client import WHY, remembering, write_project

from clew.memory.model import MEMORIES
from clew.memory.recall import ranking
from clew.memory.scope import Asker
from clew.memory.service import MemoryView


# Verifies: REQ-d00305-D
def test_what_was_edited_since_a_time_is_shown_as_it_was_then(tmp_path: Path) -> None:
    with remembering(write_project(tmp_path / "harbour")) as memory:
        id = memory.store("Lamps burn whale oil at night.")
        view = MemoryView(memory.project.memory, Asker(is_owner=True), is_person=True)
        then = memory.project.memory.home.store.events(collection=MEMORIES, id=id)[-1].at
        view.curator.edit(id, "Lamps burn gas at night.", WHY)
        said = []
        for time in (then, "2100-01-01T00:00:00Z"):
            answer = memory("search_graph", query="lamps burn", include_content=True, filters={"as_of": time})
            said += [hit["content"] for hit in answer["results"]]
        assert said == ["Lamps burn whale oil at night.", "Lamps burn gas at night."]


# Verifies: REQ-d00305-D
def test_what_was_edited_since_a_time_is_found_by_what_it_said_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with remembering(write_project(tmp_path / "harbour")) as memory:
        memory.store("Ferry tickets cost nine crowns.")
        id = memory.store("Captain Zebedee leaves at noon.", tags=["ferry"])
        view = MemoryView(memory.project.memory, Asker(is_owner=True), is_person=True)
        then = memory.project.memory.home.store.events(collection=MEMORIES, id=id)[-1].at
        view.curator.edit(id, "The ship sails at midnight.", WHY)

        def found(query: str, **filters: object) -> list[str]:
            answer = memory("search_graph", query=query, include_content=True, top_k=1, filters=filters)
            assert answer["notes"] == []
            return [hit["content"] for hit in answer["results"]]

        assert found("Zebedee noon", as_of=then) == ["Captain Zebedee leaves at noon."]
        assert found("Zebedee noon", as_of=then, tags=["ferry"]) == ["Captain Zebedee leaves at noon."]
        assert found("Zebedee noon", as_of=then, tags=["tea"]) == []
        assert found("Zebedee noon", as_of=then, kinds=["episode"]) == []
        assert "Captain Zebedee leaves at noon." not in found("Zebedee noon", as_of="2100-01-01T00:00:00Z")
        assert found("ferry tickets", as_of=then) == ["Ferry tickets cost nine crowns."]
        monkeypatch.setattr(ranking, "_EVENTS_LOOKED_AT", 1)
        (note,) = memory("search_graph", query="Zebedee noon", filters={"as_of": then})["notes"]
        assert "many changes since" in note
