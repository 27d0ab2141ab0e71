"""Any sequence of changes, undone in reverse, leaves what was there before."""

import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from tests import forked
from tests.contract.memory_client import RUNS, WHY, remembering, write_project

from clew.errors import WouldCycle
from clew.memory.curation.requests import (
    AnnotationRequest,
    Annotations,
    BoostRequest,
    ForgetRequest,
    MergeRequest,
    RestoreRequest,
)
from clew.memory.model import LINKS, MEMORIES
from clew.memory.scope import Viewer
from clew.memory.service import MemoryView
from clew.memory.writing.requests import Note
from clew.project import Project

KILLED = """
import os, signal, sys
from pathlib import Path
from tests.contract.memory_client import WHY, remembering
from clew.memory.storage.changes import ChangeWriter
seen = 0
def dying(self, id, then=ChangeWriter.delete):
    then(self, id)
    os.kill(os.getpid(), signal.SIGKILL)
ChangeWriter.delete = dying
with remembering(Path(sys.argv[1])) as memory:
    memory("merge_concepts", source_node_ids=sys.argv[2:], target_name="One", rationale=WHY)
"""


def dump(view: MemoryView) -> dict[str, Any]:
    """Everything that is remembered, in one form: memories with their citations, links, and what search finds."""
    store = view.service.home.store
    records = {name: {each.id: each.data for each in store.scan(name)} for name in (MEMORIES, LINKS)}
    links = view.library.index.links(list(records[MEMORIES]), cites=True)
    engine = view.units.engine()
    assert engine is not None
    indexed = [(link.id, link.weight, link.origin) for link in sorted(links, key=lambda link: link.id)]
    return {**records, "index": indexed, "units": engine.units.hashes("memory")}


class Sequence:
    """Random changes of a memory, each with the hash that undoes it."""

    def __init__(self, view: MemoryView, data: st.DataObject) -> None:
        self.view = view
        self.data = data
        self.hashes: list[str] = []
        self.stored = 0

    def ids(self) -> list[str]:
        # In the order in which they were stored: which merges are refused must not depend on ids, which are random.
        return [memory.id for memory, _ in self.view.library.latest(100)]

    def step(self) -> None:
        ids = self.ids()
        names = ["store"] + (["annotate", "boost", "forget", "edit", "replace"] if ids else [])
        names += ["merge"] if len(ids) > 1 else []
        getattr(self, self.data.draw(st.sampled_from(names)))(ids)

    def store(self, ids: list[str]) -> None:
        self.stored += 1
        linked = tuple(self.data.draw(st.lists(st.sampled_from(ids), max_size=2, unique=True))) if ids else ()
        note = Note(content=f"Note {self.stored} is about harbour lamps.", rationale=WHY, link_to=linked)
        stored = self.view.store(note)
        assert stored.reversal_hash is not None
        self.hashes.append(stored.reversal_hash)

    def annotate(self, ids: list[str]) -> None:
        id = self.data.draw(st.sampled_from(ids))
        tags = (f"tag{len(self.hashes)}",)
        self.hashes.append(
            self.view.curator.annotate(AnnotationRequest(node_id=id, annotations=Annotations(tags=tags))).reversal_hash
        )

    def boost(self, ids: list[str]) -> None:
        id = self.data.draw(st.sampled_from(ids))
        self.hashes.append(self.view.curator.boost(BoostRequest(node_id=id, delta=-0.01, rationale=WHY)).reversal_hash)

    def forget(self, ids: list[str]) -> None:
        hash = self.view.curator.forget(
            ForgetRequest(node_id=self.data.draw(st.sampled_from(ids)), reason="obsolete", rationale=WHY)
        ).reversal_hash
        assert hash is not None
        self.hashes.append(hash)

    def edit(self, ids: list[str]) -> None:
        id = self.data.draw(st.sampled_from(ids))
        self.view.curator.edit(id, f"Note {id[:4]} was corrected {len(self.hashes)} times.", WHY)
        self.hashes.append(self.view.library.index.touched(id)[-1][1])

    def replace(self, ids: list[str]) -> None:
        self.stored += 1
        old = self.data.draw(st.sampled_from(ids))
        text = f"Note {self.stored} replaces another one."
        note = Note(content=text, rationale=WHY, link_to=(old,), link_type="supersedes")
        stored = self.view.store(note)
        assert stored.reversal_hash is not None
        self.hashes.append(stored.reversal_hash)

    def merge(self, ids: list[str]) -> None:
        chosen = self.data.draw(st.lists(st.sampled_from(ids), min_size=2, max_size=3, unique=True))
        # What would replace itself is refused, and that changes nothing.
        with suppress(WouldCycle):
            merged = self.view.merger.merge(
                MergeRequest(
                    source_node_ids=tuple(chosen),
                    target_name="Lamps",
                    merge_strategy="concatenate",
                    rationale=WHY,
                    force_merge=True,
                )
            )
            self.hashes.append(merged.reversal_hash)


PARTS = 4 if RUNS else 1
"""A thousand sequences are shared out, so that several processes can try them."""


# Verifies: REQ-d00302-D, REQ-o00041-B
@pytest.mark.thorough
@pytest.mark.parametrize("part", range(PARTS))
def test_any_sequence_of_changes_is_undone_in_reverse(tmp_path_factory: Any, part: int) -> None:
    root = write_project(tmp_path_factory.mktemp("undo"))
    project = Project.open(root)
    view = MemoryView(project.memory, Viewer())

    @seed(part)
    @settings(max_examples=RUNS // PARTS or 10)
    @given(st.data())
    def undone(data: st.DataObject) -> None:
        before = dump(view)
        sequence = Sequence(view, data)
        try:
            for _ in range(50 if RUNS else data.draw(st.sampled_from((3, 8, 50)))):
                sequence.step()
        except BaseException:
            # Hypothesis ends a sequence that draws too much; the next one has to begin with nothing as well.
            for hash in reversed(sequence.hashes):
                view.curator.restore(RestoreRequest(reversal_hash=hash))
            raise
        states = dump(view)
        events = project.memory.home.store.describe()["events"]
        restored = [
            view.curator.restore(RestoreRequest(reversal_hash=hash)).reversal_hash for hash in reversed(sequence.hashes)
        ]
        assert dump(view) == before
        assert project.memory.home.store.describe()["events"] > events
        # Undoing is a change too: undone itself, it leads back. Of many sequences, a fifth shows that.
        if RUNS and data.draw(st.integers(0, 4)):
            return
        for hash in reversed(restored):
            view.curator.restore(RestoreRequest(reversal_hash=hash))
        assert dump(view) == states
        for hash in reversed(sequence.hashes):
            view.curator.restore(RestoreRequest(reversal_hash=hash))
        assert dump(view) == before

    try:
        undone()
    finally:
        project.close()


# Verifies: REQ-d00323-A
def test_a_cascade_undoes_what_was_changed_since(tmp_path: Path) -> None:
    with remembering(write_project(tmp_path / "harbour")) as memory:
        view = MemoryView(memory.project.memory, Viewer())
        ids = [memory.store(f"Lamps {number} burn at night.") for number in range(3)]
        before = dump(view)
        named = {"merge_strategy": "concatenate", "rationale": WHY, "force_merge": True}
        first = memory("merge_concepts", source_node_ids=ids[:2], target_name="Two", **named)
        memory("annotate_node", node_id=first["merged_id"], annotations={"tags": ["seen"]})
        second = memory("merge_concepts", source_node_ids=[first["merged_id"], ids[2]], target_name="Three", **named)
        memory("boost_importance", node_id=second["merged_id"], delta=0.1, rationale=WHY)
        states = dump(view)
        error = memory.failure("restore_from_hash", reversal_hash=first["reversal_hash"]).error
        assert "cascade" in error.data["recovery"]
        done = memory("restore_from_hash", reversal_hash=first["reversal_hash"], cascade=True)
        assert (set(done["restored_node_ids"]), done["also_undone"]) == (set(ids), 3)
        assert dump(view) == before
        memory("restore_from_hash", reversal_hash=done["reversal_hash"])
        assert dump(view) == states


# Verifies: REQ-d00302-A
def test_a_process_that_is_killed_in_the_middle_of_a_merge_leaves_one_of_two_states(tmp_path: Path) -> None:
    root = write_project(tmp_path / "harbour")
    with remembering(root) as memory:
        ids = [memory.store("Lamps burn at night."), memory.store("Lamps burn all night.")]
    top = Path(__file__).parent.parent.parent
    killed = forked.run([sys.executable, "-c", KILLED, str(root), *ids], cwd=top, check=False)
    assert killed.returncode == -signal.SIGKILL
    with remembering(root) as memory:
        assert sorted(memory.ids("lamps")) == sorted(ids)
        merged = memory("merge_concepts", source_node_ids=ids, target_name="One", rationale=WHY)
        assert memory.ids("lamps") == [merged["merged_id"]]


# Verifies: REQ-d00302-A
def test_a_restored_memory_is_encoded_as_before(tmp_path: Path, opened: Callable[[Path], Project]) -> None:
    with remembering(write_project(tmp_path / "harbour")) as memory:
        id = memory.store("Lamps burn at night.")
        engine = memory.project.memory.units.engine()
        assert engine is not None
        before = msgspec.json.encode(engine.units.get(f"memory:{id}"))
        memory("annotate_node", node_id=id, annotations={"notes": "seen"})
        assert msgspec.json.encode(engine.units.get(f"memory:{id}")) == before
        hash = memory("forget_concept", node_id=id, reason="obsolete", rationale=WHY)["reversal_hash"]
        assert engine.units.get(f"memory:{id}") is None
        memory("restore_from_hash", reversal_hash=hash)
        assert msgspec.json.encode(engine.units.get(f"memory:{id}")) == before
