"""What was believed at a time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.contract.memory_client import WHY, remembering, write_project

from clew.memory.model import MEMORIES
from clew.memory.recall import ranking
from clew.memory.scope import MemoryFilters, Viewer
from clew.memory.service import MemoryView
from clew.memory.storage.units import MemoryUnits, RankedMemory


# Verifies: REQ-d00305-D
def test_what_was_edited_since_a_time_is_shown_as_it_was_then(tmp_path: Path) -> None:
    with remembering(write_project(tmp_path / "harbour")) as memory:
        id = memory.store("Lamps burn whale oil at night.")
        view = MemoryView(memory.project.memory, Viewer(is_owner=True), is_person=True)
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
        view = MemoryView(memory.project.memory, Viewer(is_owner=True), is_person=True)
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
        monkeypatch.setattr(ranking, "_CHANGED_LOOKED_AT", 0)
        (note,) = memory("search_graph", query="Zebedee noon", filters={"as_of": then})["notes"]
        assert note == f"Of the memories that were changed since {then}, 1 are known only as they are now."


# Verifies: REQ-d00305-D
def test_what_was_edited_since_a_time_takes_the_place_of_what_it_said_then(tmp_path: Path) -> None:
    with remembering(write_project(tmp_path / "harbour")) as memory:
        exact = memory.store("The harbour crane lifts ninety tons of timber.")
        near = [memory.store(f"The harbour crane number {number} is painted.") for number in range(3)]
        later = memory.store("Gulls nest on the roof.")
        view = MemoryView(memory.project.memory, Viewer(is_owner=True), is_person=True)
        then = memory.project.memory.home.store.events(collection=MEMORIES, id=later)[-1].at
        for id in near:
            view.curator.edit(id, "The wind is strong.", WHY)
        view.curator.edit(later, "The harbour crane lifts ninety tons of timber today.", WHY)

        def found(query: str, top_k: int) -> list[dict[str, Any]]:
            answer = memory("search_graph", query=query, include_content=True, top_k=top_k, filters={"as_of": then})
            return list(answer["results"])

        query = "harbour crane lifts ninety tons of timber"
        assert [hit["node_id"] for hit in found(query, 1)] == [exact]
        hits = found(query, 10)
        # What only says it today is not found by that; what said a part of it then comes after what says all of it.
        assert [hit["node_id"] for hit in hits] == [exact, *near]
        assert [hit["similarity"] for hit in hits] == sorted((hit["similarity"] for hit in hits), reverse=True)
        assert all(hit["score"] > 0 for hit in hits)
        assert [hit["content"] for hit in found("painted", 10)] == [
            f"The harbour crane number {number} is painted." for number in range(3)
        ]


# Verifies: REQ-d00305-D
@pytest.mark.parametrize("by_meaning", [False, True])
def test_all_that_was_edited_since_a_time_is_found_and_only_some_of_it_compared_by_meaning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_meaning: bool
) -> None:
    def vectors(_: object, texts: Sequence[str]) -> Any:
        encoded.extend(texts)
        # The later, the less like the query, which is the first.
        return np.array([[1.0 - place / 100] for place in range(len(texts))], np.float32)

    encoded: list[str] = []
    with remembering(write_project(tmp_path / "harbour")) as memory:
        ids = [memory.store(f"The harbour crane number {number} is painted.") for number in range(30)]
        unlike = memory.store("Gulls nest on the roof.")
        view = MemoryView(memory.project.memory, Viewer(is_owner=True), is_person=True)
        then = memory.project.memory.home.store.events(collection=MEMORIES, id=unlike)[-1].at
        for id in (*ids, unlike):
            view.curator.edit(id, f"The wind is strong {id}.", WHY)
        if by_meaning:
            memory.store("The harbour crane is painted red.")
            monkeypatch.setattr(MemoryUnits, "vectors", vectors)
            monkeypatch.setattr(RankedMemory, "dense", 0.1)
        ranked, notes = view.recall.rank("harbour crane painted", 50, MemoryFilters(as_of=then))
        assert {each.memory.id for each in ranked} == set(ids)
        assert notes == ()
        assert len(encoded) == (21 if by_meaning else 0)
        assert [each.cosine is not None for each in ranked] == [place < 20 and by_meaning for place in range(30)]
        assert [each.similarity for each in ranked] == sorted((each.similarity for each in ranked), reverse=True)


# Verifies: REQ-d00305-D
def test_what_stands_at_a_place_is_narrowed_by_tags_too(tmp_path: Path) -> None:
    with remembering(write_project(tmp_path / "harbour", {"docs/lamps.md": "# Lamps\n"})) as memory:
        memory.store("Lamps burn gas.", about=["docs/lamps.md"], tags=["gas"])
        memory.store("Gulls nest here.", about=["docs/lamps.md"], tags=["birds"])
        answer = memory("search_graph", query="lamps", about="docs/lamps.md", filters={"tags": ["birds"]})
        assert [hit["snippet"] for hit in answer["results"]] == ["Gulls nest here."]


# Verifies: REQ-d00305-D
def test_what_lost_a_tag_since_is_found_by_it(tmp_path: Path) -> None:
    with remembering(write_project(tmp_path / "harbour")) as memory:
        id = memory.store("Captain Zebedee leaves at noon.", tags=["ferry"])
        view = MemoryView(memory.project.memory, Viewer(is_owner=True), is_person=True)
        then = memory.project.memory.home.store.events(collection=MEMORIES, id=id)[-1].at
        # As a file of the mirror says it that somebody edited.
        with view.changes.make("edit", view.actor, WHY) as change:
            change.put(msgspec.structs.replace(change.memory(id), tags=()))
        for filters, count in (({"tags": ["ferry"], "as_of": then}, 1), ({"tags": ["ferry"]}, 0)):
            assert len(memory("search_graph", query="Zebedee noon", filters=filters)["results"]) == count
