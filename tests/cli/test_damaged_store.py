"""A store that was damaged, and disks that cannot be written: every command says so, and reading works."""

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests import forked, in_process
from tests.mcp_client import McpClient, Options, ToolFailed

from clew.derived import place
from clew.memory.scope import Viewer
from clew.memory.storage.library import MemoryReader
from clew.project import Project
from clew.specs.archive import REBASED, rebased
from clew.store.interface import Damaged
from clew.store.sqlite.damaged_copies import damaged_files
from clew.surfaces.cli.main import main
from clew.trace.links.decisions import COLLECTION as DECISIONS
from clew.trace.links.decisions import Decisions, LinkDecision

CONFIG = '[search]\nbackground = false\n[embedder]\nkind = "none"\n'


def clew(*words: str) -> in_process.Done:
    return in_process.run(Path.cwd(), *words)


def started(*words: str) -> subprocess.CompletedProcess[str]:
    """By a process of its own, which writes what it logs on standard error."""
    return forked.run([sys.executable, "-m", "clew", *words], check=False, capture_output=True, text=True)


@pytest.fixture
def drafted(small: Path) -> Path:
    """A project with a draft in its store, as a killed process leaves it: with a log beside the store."""
    (small / "clew.toml").write_text(CONFIG)
    draft = {"node_id": "REQ-p00001", "new_title": "Tell the time"}
    assert main(["call", "mutate_update_title", json.dumps(draft), "-C", str(small)]) == 0
    project = Project.open(small)
    assert project.store is not None
    with project.store.transaction(actor="ada") as records:
        records.put("notes", "1", "kept")
    copy = small.with_name("killed")
    # By another process: to close a store's file here would drop the locks that this process has on it.
    subprocess.run(["cp", "-r", small, copy], check=True)
    project.close()
    return copy


def cut(store: Path) -> None:
    # A log may hold all that the file lost.
    store.with_name(f"{store.name}-wal").unlink(missing_ok=True)
    store.write_bytes(store.read_bytes()[: store.stat().st_size // 2])


def empty(store: Path) -> None:
    store.write_bytes(b"")


def change_log(store: Path) -> None:
    log = store.with_name("clew.db-wal")
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 0xFF
    log.write_bytes(data)


# Verifies: REQ-d00247-B+C
@pytest.mark.parametrize("damage", [cut, empty, change_log])
def test_a_damaged_store_is_said_by_whoever_would_have_used_it(drafted: Path, damage: Callable[[Path], None]) -> None:
    store = drafted / ".clew" / "clew.db"
    damage(store)
    before = store.read_bytes()
    for words in (("doctor", str(drafted)), ("status", str(drafted)), ("call", "get_mutation_log", "-C", str(drafted))):
        said = started(*words)
        assert "is damaged" in said.stderr, words
        assert "nothing was lost" not in (said.stdout + said.stderr).lower()
    (check,) = [each for each in json.loads(clew("doctor", "--json", str(drafted)).stdout)["checks"] if not each["ok"]]
    assert (check["name"], "is damaged" in check["detail"]) == ("store", True)
    assert store.read_bytes() == before
    forked.run([sys.executable, "-m", "clew.store.sqlite.rescue", str(store)], check=True, capture_output=True)
    examined = clew("doctor", str(drafted))
    assert examined.returncode == 0
    assert [file.name in examined.stdout for file in damaged_files(store)] == [True] * len(damaged_files(store))
    assert damaged_files(store)[0].read_bytes() == before


# Verifies: REQ-d00247-B+C
@pytest.mark.parametrize("damage", [cut, empty])
def test_a_damaged_memory_is_said_and_kept_like_the_store(small: Path, damage: Callable[[Path], None]) -> None:
    (small / "clew.toml").write_text(CONFIG)
    remember = ("remember", "The lamp burns oil at night.", "-C", str(small))
    assert clew(*remember).returncode == 0
    memory = small / ".clew" / "memory.db"
    damage(memory)
    (check,) = [each for each in json.loads(clew("doctor", "--json", str(small)).stdout)["checks"] if not each["ok"]]
    assert (check["name"], "is damaged" in check["detail"]) == ("memory", True)
    assert "is damaged" in clew("recall", "lamp", "-C", str(small)).stderr
    forked.run([sys.executable, "-m", "clew.store.sqlite.rescue", str(memory)], check=True, capture_output=True)
    examined = clew("doctor", str(small))
    assert (examined.returncode, "memory-damaged-1.db" in examined.stdout) == (0, True)


# Verifies: REQ-d00247-B+C+F
def test_a_letter_that_changed_in_the_memory_is_said_instead_of_shown(small: Path) -> None:
    (small / "clew.toml").write_text(CONFIG)
    assert clew("remember", "The lamp burns oil at night.", "-C", str(small)).returncode == 0
    memory = small / ".clew" / "memory.db"
    memory.write_bytes(memory.read_bytes().replace(b"burns oil", b"burns oim", 1))
    (check,) = [each for each in json.loads(clew("doctor", "--json", str(small)).stdout)["checks"] if not each["ok"]]
    assert (check["name"], "its last event" in check["detail"]) == ("memory", True)
    said = clew("recall", "lamp", "-C", str(small))
    assert (said.returncode, "burns" in said.stdout, "is damaged" in said.stderr) == (1, False, True)
    forked.run([sys.executable, "-m", "clew.store.sqlite.rescue", str(memory)], check=True, capture_output=True)
    examined = clew("doctor", str(small))
    assert (examined.returncode, "memory-damaged-1.db" in examined.stdout) == (0, True)
    assert "The lamp burns oi" in clew("recall", "lamp", "-C", str(small)).stdout


# Verifies: REQ-d00247-H
def test_one_damaged_memory_does_not_take_the_others_away(small: Path) -> None:
    (small / "clew.toml").write_text(CONFIG)
    for text in ("The lamp burns oil at night.", "The lamp is lit by the keeper at dusk."):
        assert clew("remember", text, "-C", str(small)).returncode == 0
    memory = small / ".clew" / "memory.db"
    memory.write_bytes(memory.read_bytes().replace(b"burns oil", b"burns oim", 1))
    for words in (("recall", "lamp"), ("memory", "list"), ("memory", "export")):
        said = clew(*words, "-C", str(small))
        assert said.returncode == 0, said.stderr
        assert ("keeper" in said.stdout, "burns" in said.stdout) == (True, False)
        assert "is damaged" in said.stderr
        assert "clew.store.sqlite.rescue" in said.stderr
    assert " more" not in clew("memory", "list", "-C", str(small)).stdout
    with closing(Project.open(small)) as project, McpClient(project) as client:
        for tool, arguments in (("search_graph", {"query": "lamp"}), ("get_recent_context", {})):
            answer = client(tool, **arguments)
            assert "keeper" in json.dumps(answer)
            assert "is damaged" in json.dumps(answer["notes"])


# Verifies: REQ-d00247-H
def test_a_damaged_memory_is_named_where_it_is_left_out_and_only_there(small: Path) -> None:
    (small / "clew.toml").write_text(CONFIG)
    memory = small / ".clew" / "memory.db"
    with closing(Project.open(small)) as project, McpClient(project, Options(toolsets=("all",))) as client:
        why = "Needed by the keeper"
        id = client("store_memory", content="The lamp burns oil at night.", rationale=why)["node_id"]
        with closing(sqlite3.connect(memory)) as connection:

            def is_named(tool: str, **arguments: str) -> bool:
                return "is damaged" in json.dumps(client(tool, **arguments).get("notes", ()))

            connection.execute("UPDATE entries SET data = replace(data, 'oil', 'oim') WHERE id = ?", (id,))
            connection.commit()
            assert is_named("search_graph", query="lamp")
            assert is_named("search_graph", query="lamp at night")
            assert not is_named("get_graph_status")
            connection.execute("UPDATE entries SET data = replace(data, 'oim', 'oil') WHERE id = ?", (id,))
            connection.commit()
        assert not is_named("search_graph", query="lamp")
        client("forget_concept", node_id=id, rationale=why, reason="obsolete")
        assert MemoryReader(project.memory.home, Viewer()).get_all([id]) == {}


def change(store: Path, before: str, after: str) -> None:
    """Change letters in the records that say something."""
    with closing(sqlite3.connect(store)) as connection, connection:
        done = connection.execute("UPDATE entries SET data = replace(data, ?, ?) WHERE data LIKE ?", (
            before, after, f"%{before}%"
        ))  # fmt: skip
        assert done.rowcount == 1


# Verifies: REQ-d00247-H+I
def test_one_damaged_draft_does_not_take_the_others_away_and_is_not_passed_by_a_save(small: Path) -> None:
    (small / "clew.toml").write_text(CONFIG)
    spec = (small / "spec" / "small.md").read_bytes()
    for id, title in (("REQ-p00001", "Tell hours"), ("REQ-d00001", "Ring bells")):
        with closing(Project.open(small)) as project, McpClient(project) as client:
            assert client("mutate_update_title", node_id=id, new_title=title)["success"]
    change(small / ".clew" / "clew.db", "Tell hours", "Tell hourz")
    with closing(Project.open(small)) as project, McpClient(project) as client:
        for _ in range(2):
            log = client("get_mutation_log")
            assert [each["target_id"] for each in log["mutations"]] == ["REQ-d00001"]
            assert "is damaged" in json.dumps(log["notes"])
        assert client("get_requirement", req_id="REQ-d00001")["title"] == "Ring bells"
        assert "is damaged" not in json.dumps(client("get_requirement", req_id="REQ-d00001"))
        assert client("mutate_update_title", node_id="REQ-d00001", new_title="Ring a bell")["success"]
        with pytest.raises(ToolFailed, match="is damaged"):
            client("save_mutations")
    assert (small / "spec" / "small.md").read_bytes() == spec


# Verifies: REQ-d00247-H
def test_one_damaged_decision_or_baseline_does_not_take_the_others_away(small: Path) -> None:
    store = small / ".clew" / "clew.db"
    with closing(Project.open(small)) as project:
        assert project.store is not None
        with project.store.transaction(actor="ada") as records:
            for number in (1, 2):
                decided = LinkDecision(f"code:{number}.py::f", f"REQ-p0000{number}", "reject", "texts", 0.5)
                records.put(DECISIONS, str(number), msgspec.to_builtins(decided))
                records.put(REBASED, f"change-{number}", [])
        change(store, "code:1.py", "code:9.py")
        with closing(sqlite3.connect(store)) as connection, connection:
            connection.execute("UPDATE entries SET data = '[[]]' WHERE id = 'change-1'")
        left_out: Damaged = {}
        decisions = Decisions(lambda: project.store, lambda: left_out)
        assert list(decisions.rejected()) == [("code:2.py::f", "REQ-p00002")]
        assert len(decisions.judged()) == 1
        assert ["is damaged" in str(each) for each in left_out.values()] == [True]
        assert list(rebased(project.store)) == ["change-2"]


# Verifies: REQ-d00247-H
def test_one_damaged_baseline_is_named_and_stays_for_a_rescue(small: Path) -> None:
    (small / "clew.toml").write_text(CONFIG)
    spec = small / "openspec" / "specs" / "clock" / "spec.md"
    requirement = (
        "### Requirement: {0}\nThe clock SHALL {0}.\n\n#### Scenario: Always\n- **WHEN** asked\n- **THEN** it does\n"
    )
    texts = {name: requirement.format(name) for name in ("Tick", "Ring")}
    spec.parent.mkdir(parents=True)
    spec.write_text(
        "# clock\n\n## Purpose\nTo tell the time of day.\n\n## Requirements\n\n" + "\n".join(texts.values())
    )
    for name, text in texts.items():
        delta = small / "openspec" / "changes" / f"change-{name.lower()}" / "specs" / "clock" / "spec.md"
        delta.parent.mkdir(parents=True)
        delta.write_text("## MODIFIED Requirements\n\n" + text.replace("it does", "it does so"))
    with closing(Project.open(small)) as project, McpClient(project, Options(toolsets=("all",))) as client:
        assert client("change_conflicts")["notes"] == []
        with closing(sqlite3.connect(small / ".clew" / "clew.db")) as connection:
            places = ("change_baselines", "change-tick")
            kept = "SELECT data FROM entries WHERE collection = ? AND id = ?"
            connection.execute(
                "UPDATE entries SET data = replace(data, 'a', 'b') WHERE collection = ? AND id = ?", places
            )
            connection.commit()
            before = connection.execute(kept, places).fetchone()
            spec.write_text(spec.read_text().replace("it does", "it does not"))
            found = client("change_conflicts")
            assert "is damaged" in json.dumps(found["notes"])
            assert [each["changes"] for each in found["conflicts"]] == [["change-ring"]]
            assert connection.execute(kept, places).fetchone() == before


@pytest.fixture
def documents(small: Path) -> Path:
    (small / "clew.toml").write_text(CONFIG)
    (small / "docs").mkdir()
    (small / "docs" / "lamp.md").write_text("# Lamps\n\nThe lamp burns oil at night.\n")
    return small


# Verifies: REQ-d00247-D
def test_documents_are_searched_where_nothing_can_be_written(
    documents: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(place, "_refusal", lambda folder: "Read-only file system")
    places: list[place.DerivedPlace] = []
    make = place.DerivedPlace.__init__

    def noted(self: place.DerivedPlace, *given: Any, **named: Any) -> None:
        make(self, *given, **named)
        places.append(self)

    monkeypatch.setattr(place.DerivedPlace, "__init__", noted)
    assert main(["kb", "search", "oil", "-C", str(documents)]) == 0
    assert "The lamp burns oil at night." in capsys.readouterr().out
    assert not (documents / ".clew" / "kb").exists()
    assert [each.folder.exists() for each in places] == [False]


# Verifies: REQ-d00247-D+E
@pytest.mark.parametrize(
    "mount",
    [
        "mount --bind {0} {0} && mount -o remount,ro,bind {0}",
        "mount -t tmpfs -o size=1m tmpfs {1} && cp -a {0}/. {1} && mount --move {1} {0}"
        " && (dd if=/dev/zero of={0}/ballast bs=4k 2>/dev/null || true)",
    ],
    ids=["read-only", "full"],
)
def test_a_disk_that_is_full_or_read_only_is_searched_and_what_is_remembered_is_read(
    documents: Path, mount: str
) -> None:
    assert clew("remember", "Wicks are cut on Mondays.", "-C", str(documents)).returncode == 0
    spare = documents.with_name("spare")
    spare.mkdir()
    mounted = mount.format(documents, spare)
    if not shutil.which("unshare") or subprocess.run(["unshare", "-m", "sh", "-c", mounted]).returncode:
        pytest.skip("needs the right to mount a file system of its own")
    start = f"{sys.executable} -m clew"
    asked = [f"{start} {words} -C {documents}" for words in ("kb search oil", "recall wicks")]
    refused = f"! {start} remember Oil -C {documents}"
    work = " && ".join((mounted, "cd /", *asked, f"{start} doctor {documents}", refused))
    # The full disk is a problem for `doctor`.
    work = work if "remount,ro" in mount else work.replace(f"{start} doctor", f"! {start} doctor")
    found = subprocess.run(["unshare", "-m", "sh", "-c", work], check=False, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "The lamp burns oil at night." in found.stdout
    assert "Wicks are cut on Mondays." in found.stdout
    assert "memory.db" in found.stderr.splitlines()[-2]
