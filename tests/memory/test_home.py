"""Where memories are kept, and who sees them."""

import errno
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import forked
from tests.contract.memory_client import RUNS, WHY, remembering, write_project

from clew.derived.file import throw_away
from clew.errors import InvalidArgument, StoreError
from clew.graph.model import EdgeKind, NodeKind
from clew.memory.curation.requests import ForgetRequest, MergeRequest
from clew.memory.scope import Viewer
from clew.memory.service import MemoryView
from clew.memory.storage.requests import LogQuery, TombstoneQuery
from clew.project import Project
from clew.store.person import on_behalf_of

WRITER = """
import sys
from pathlib import Path
from typing import Any
from tests.contract.memory_client import RUNS, remembering
with remembering(Path(sys.argv[1])) as memory:
    for number in range(int(sys.argv[3])):
        memory.store(f"Writer {sys.argv[2]} notes fact {number} about the harbour.")
"""


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = write_project(tmp_path / "harbour")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    return root


# Verifies: REQ-d00300-A
def test_work_trees_share_one_memory_that_survives_a_move(repository: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    git(repository, "worktree", "add", "-q", "-b", "work", str(tree))
    with remembering(tree) as memory:
        id = memory.store("Lamps burn at night.")
        name = memory("get_graph_manifest")["repository"]
    assert not (tree / ".clew" / "memory.db").exists()
    with remembering(repository) as memory:
        assert memory.ids("lamps") == [id]
    moved = repository.rename(tmp_path / "moved")
    with remembering(moved) as memory:
        assert memory.ids("lamps") == [id]
        assert memory("get_graph_manifest")["repository"] == name


# Verifies: REQ-d00300-A
def test_without_git_the_memory_is_in_the_project(tmp_path: Path) -> None:
    root = write_project(tmp_path / "harbour")
    with remembering(root) as memory:
        memory.store("Lamps burn at night.")
    assert (root / ".clew" / "memory.db").exists()


# Verifies: REQ-d00300-B
def test_projects_of_one_repository_share_what_is_above_them(repository: Path) -> None:
    ids = {}
    for folder in ("", "east", "east/dock", "west"):
        root = write_project(repository / folder)
        with remembering(root) as memory:
            ids[folder] = memory.store(f"Lamps of {folder or 'all'} burn at night.")
    seen = {}
    for folder in ids:
        with remembering(repository / folder) as memory:
            found = memory.ids("lamps burn at night")
            seen[folder] = {name for name, id in ids.items() if id in found}
    assert seen == {
        "": {"", "east", "east/dock", "west"},
        "east": {"", "east", "east/dock"},
        "east/dock": {"", "east", "east/dock"},
        "west": {"", "west"},
    }


# Verifies: REQ-d00300-D
def test_the_branch_is_recorded_and_restricts_only_on_request(repository: Path) -> None:
    git(repository, "checkout", "-q", "-b", "feature")
    with remembering(repository) as memory:
        id = memory.store("Lamps burn at night.")
        state = lambda: memory("search_graph", query="lamps")["results"][0]["branch_state"]  # noqa: E731
        assert state() == "current"
        (repository / "new.txt").write_text("x", encoding="utf-8")
        git(repository, "add", "-A")
        git(repository, "commit", "-q", "-m", "second")
        git(repository, "checkout", "-q", "main")
        assert state() == "other"
        assert memory.ids("lamps", filters={"branch": "main"}) == []
        assert memory.ids("lamps", filters={"branch": "feature"}) == [id]
        git(repository, "merge", "-q", "feature")
        assert state() == "merged"
        git(repository, "branch", "-q", "-D", "feature")
        assert state() == "deleted"
        assert memory.ids("lamps") == [id]
        said = forked.run(
            [sys.executable, "-m", "clew", "recall", "lamps", "-C", str(repository)], capture_output=True, text=True
        )
        assert "of the deleted branch feature" in said.stdout


# Verifies: REQ-d00300-C
@pytest.mark.thorough
def test_random_reads_never_leak(tmp_path: Path) -> None:
    """Whoever asks, by whatever way, gets only what the rule allows."""
    chance = random.Random(7)
    agents = [None, "planner", "coder", "tester"]
    with remembering(write_project(tmp_path / "harbour")) as memory:
        owners: dict[str, tuple[str | None, bool]] = {}
        for number in range(24):
            agent = chance.choice(agents)
            private = agent is not None and chance.random() < 0.5
            arguments = {"agent_id": agent} if agent else {}
            visibility = {"visibility": "private" if private else "team"}
            id = memory.store(f"Lamp note {number} of the harbour.", metadata=visibility, **arguments)
            owners[id] = (agent, private)
        forgotten = chance.sample(list(owners), 4)
        service = memory.project.memory
        owner = MemoryView(service, Viewer(is_owner=True), is_person=True)
        assert owner.library.index.count(owner.viewer) == len(owners)
        for id in forgotten:
            owner.curator.forget(ForgetRequest(node_id=id, reason="obsolete", rationale=WHY))
        for _ in range(10 * RUNS or 300):
            agent = chance.choice(agents)
            may = {id for id, (whose, private) in owners.items() if not private or whose == agent}
            there = may - set(forgotten)
            view = MemoryView(service, Viewer(agent=agent))
            read = chance.choice(_READS)
            assert read(view, owners) <= (may if read is _tombstones else there), read
        for agent in agents:
            view = MemoryView(service, Viewer(agent=agent))
            assert _latest(view, owners) == {
                id for id, (whose, private) in owners.items() if not private or whose == agent
            } - set(forgotten)


def _latest(view: MemoryView, ids: dict[str, object]) -> set[str]:
    return {memory.id for memory, _ in view.library.latest(100)}


def _ranked(view: MemoryView, ids: dict[str, object]) -> set[str]:
    return {each.memory.id for each in view.recall.rank("lamp note harbour", 50)[0]}


def _by_id(view: MemoryView, ids: dict[str, object]) -> set[str]:
    return set(view.library.get_many(ids))


def _by_prefix(view: MemoryView, ids: dict[str, object]) -> set[str]:
    found = (view.library.index.with_prefix(id[:8], view.viewer) for id in ids)
    return {id for several in found for id, forgotten in several if not forgotten}


def _by_text(view: MemoryView, ids: dict[str, object]) -> set[str]:
    found = (view.library.index.with_text(f"Lamp note {number} of the harbour.", view.viewer) for number in range(24))
    return {id for id in found if id is not None}


def _neighbours(view: MemoryView, ids: dict[str, object]) -> set[str]:
    from clew.memory.navigation.navigate import MemoryWalk

    return {step.id for step in MemoryWalk(view.library).neighbours(list(ids))}


def _tombstones(view: MemoryView, ids: dict[str, object]) -> set[str]:
    return {each.node_id for each in view.history.tombstones(TombstoneQuery(limit=50)).tombstones}


def _logged(view: MemoryView, ids: dict[str, object]) -> set[str]:
    named = {id for entry in view.history.logs(LogQuery(level="debug", limit=200)).entries for id in entry.node_ids}
    return named & _by_id(view, ids)


_READS: tuple[Callable[[MemoryView, dict[str, object]], set[str]], ...] = (
    *(_latest, _ranked, _by_id, _by_prefix, _by_text, _neighbours, _tombstones, _logged),
)


# Verifies: REQ-d00300-C
def test_a_person_at_the_command_line_sees_private_memories(tmp_path: Path) -> None:
    root = write_project(tmp_path / "harbour")
    with remembering(root) as memory:
        id = memory.store("Lamps burn.", agent_id="planner", metadata={"visibility": "private"})
        assert memory.ids("lamps", agent_id="coder") == []
        assert memory.number("get_node_lineage", node_id=id) == -32012
        assert memory.ids("lamps", agent_id="planner") == [id]
        assert memory.ids("lamps") == [id], "the session is the planner's from its first call that says so"
        assert memory.project.graph.get_node(f"memory:{id}") is None
    shown = forked.run(
        [sys.executable, "-m", "clew", "memory", "list", "-C", str(root)], capture_output=True, text=True, check=True
    )
    assert id[:8] in shown.stdout


# Verifies: REQ-d00481-E
def test_where_many_share_a_store_a_person_sees_what_is_private_to_their_own_agents(tmp_path: Path) -> None:
    with remembering(write_project(tmp_path / "harbour")) as memory:
        service = memory.project.memory
        with on_behalf_of("ada"):
            assert service.home.principal == "ada"
        for agent in ("ada/planner", "adam/planner", "bob/planner"):
            memory.store(f"Lamps of {agent}.", agent_id=agent, metadata={"visibility": "private"})
        memory.store("Lamps of all.", agent_id="bob/planner")
        for person, seen in (("ada", {"ada/planner"}), ("bob", {"bob/planner"}), ("eve", set())):
            view = MemoryView(service, Viewer(is_owner=True, principal=person, agent=person), is_person=True)
            assert view.actor == f"{person}/person"
            texts = {each.text for each, _ in view.library.latest(10)}
            assert texts == {"Lamps of all.", *(f"Lamps of {agent}." for agent in seen)}


# Verifies: REQ-d00300-C
def test_a_private_memory_needs_an_owner(tmp_path: Path) -> None:
    with remembering(write_project(tmp_path / "harbour")) as memory:
        asked = {"content": "Lamps burn.", "rationale": WHY, "metadata": {"visibility": "private"}}
        assert memory.number("store_memory", **asked) == -32002
        assert memory.ids("lamps") == []


# Verifies: REQ-d00300-C
def test_a_merge_never_shows_more_than_its_sources(tmp_path: Path) -> None:
    with remembering(write_project(tmp_path / "harbour")) as memory:
        mine = memory.store("Lamps burn at night.", agent_id="planner", metadata={"visibility": "private"})
        other = memory.store("Lamps burn at dusk.", agent_id="coder")
        service = memory.project.memory
        owner = MemoryView(service, Viewer(is_owner=True), is_person=True)
        with pytest.raises(InvalidArgument, match="somebody else"):
            owner.merger.merge(
                MergeRequest(
                    source_node_ids=(mine, other),
                    target_name="Lamps",
                    merge_strategy="keep_highest",
                    rationale=WHY,
                    force_merge=True,
                )
            )


# Verifies: REQ-d00300-E
def test_two_processes_keep_all_writes(tmp_path: Path) -> None:
    root = write_project(tmp_path / "harbour")
    top = Path(__file__).parent.parent.parent
    writers = [forked.Process([sys.executable, "-c", WRITER, str(root), name, "5"], cwd=top) for name in ("one", "two")]
    assert [writer.wait() for writer in writers] == [0, 0]
    with remembering(root) as memory:
        assert memory("get_recent_context", limit=100)["count"] == 10
        assert len(memory.ids("fact about the harbour", top_k=100)) == 10


# Verifies: REQ-d00300-E
def test_the_index_is_made_again_from_the_store(tmp_path: Path) -> None:
    root = write_project(tmp_path / "harbour")
    with remembering(root) as memory:
        one = memory.store("Lamps burn at night.")
        other = memory.store("Lamps are cleaned by day.", link_to=[one])
        memory.ids("lamps")
        before = memory("get_recent_context")
        throw_away(root / ".clew" / "memory-index.db")
        assert memory("get_recent_context")["memories"] == before["memories"]
        assert one in {each["node_id"] for each in memory("get_neighborhood", node_id=other)["neighbors"]}


# Verifies: REQ-o00041-A
def test_memories_are_a_region_of_the_graph(tmp_path: Path) -> None:
    source = {"src/tides.py": "def tide():\n    return 1\n"}
    with remembering(write_project(tmp_path / "harbour", source)) as memory:
        id = memory.store("Lamps burn at night.", about=["src/tides.py::tide"])
        later = memory.store("Lamps burn by day too.", link_to=[id], link_type="supports")
        graph = memory.project.graph
        node = graph.get_node(f"memory:{id}")
        assert node is not None
        assert (node.kind, graph.count(NodeKind.MEMORY)) == (NodeKind.MEMORY, 2)
        edges = {(edge.kind, edge.target) for edge in graph.iter_outgoing_edges(f"memory:{id}")}
        assert (EdgeKind.CITES, "file:src/tides.py") in edges
        steps = graph.neighbours((f"memory:{id}",), (EdgeKind.SUPPORTS,), "in")
        assert [step.id for step in steps] == [f"memory:{later}"]


# Verifies: REQ-d00300-E
def test_a_store_that_cannot_be_written_is_still_read(tmp_path: Path, opened: Callable[[Path], Project]) -> None:
    root = write_project(tmp_path / "harbour")
    with remembering(root) as memory:
        id = memory.store("Lamps burn at night.")
        store = memory.project.memory.home.store

        def refuse(**_: object) -> None:
            from clew.errors import StoreReadOnly

            raise StoreReadOnly("The store may not be written.", hint="Make it writable.")

        store.transaction = refuse  # type: ignore[method-assign, assignment]
        assert memory.ids("lamps") == [id]
        error = memory.failure("store_memory", content="Lamps glow.", rationale=WHY).error
        assert (error.code, error.data["name"]) == (-32603, "STORE_READ_ONLY")


# Verifies: REQ-d00247-K
def test_a_memory_in_a_folder_that_this_user_may_not_enter_is_no_empty_one(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with remembering(repository) as memory:
        memory.store("The harbour closes at night.")
    look = os.stat

    def stat(path: Any, *given: Any, **named: Any) -> os.stat_result:
        if str(path).endswith("/clew/memory.db"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return look(path, *given, **named)

    monkeypatch.setattr(os, "stat", stat)
    project = Project.open(repository)
    try:
        assert project.memory.exists
        with pytest.raises(StoreError, match=r"memory\.db"):
            _ = project.memory.home
    finally:
        project.close()
