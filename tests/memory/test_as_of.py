"""What was believed at a time."""

from pathlib import Path

from tests.contract.memory_client import WHY, remembering, write_project

from clew.memory.model import MEMORIES
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
