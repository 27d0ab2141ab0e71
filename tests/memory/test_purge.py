"""Purging: nothing of what was taken out is left in any file of Clew."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from tests import forked
from tests.contract.memory_client import CONFIG, WHY, Memory, remembering, write_project

from clew.errors import InvalidArgument, NotFound
from clew.memory.model import EXCHANGES, MEMORIES, MemoryKind, new_id
from clew.memory.purge.choose import choose
from clew.memory.purge.requests import PurgeRequest
from clew.memory.purge.service import Purged, purge
from clew.memory.scope import Viewer
from clew.memory.service import MemoryView
from clew.memory.storage.requests import LogQuery
from clew.project import Project
from clew.search.units import Unit
from clew.store.restoring import private_folder
from clew.workspace.find import files_below

SECRET = "kestrel4711"
TEXT = f"The key of the lamp room is {SECRET}, kept by the harbour master."
OTHER = "Ropes are coiled clockwise on every pier."

KILLED = """
import os, signal, sys
from pathlib import Path
from tests.memory.test_purge import take_out
from clew.project import Project
from clew.store.sqlite.engine import SqliteStore
def dying(self, **how):
    os.kill(os.getpid(), signal.SIGKILL)
SqliteStore.compact = dying
take_out(Project.open(Path(sys.argv[1])), ids=(sys.argv[2],))
"""


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = write_project(tmp_path / "harbour")
    git(root, "init", "-q")
    git(root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one")
    return root


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    with remembering(root) as client:
        yield client


def owner(project: Project) -> MemoryView:
    return MemoryView(project.memory, Viewer(is_owner=True), is_person=True)


def take_out(project: Project, **wanted: object) -> Purged:
    view = owner(project)
    return purge(view, choose(view, PurgeRequest(**wanted)), "a test")  # type: ignore[arg-type]


def holding(root: Path, secret: str = SECRET) -> list[str]:
    """The files of Clew that hold a text, in any encoding."""
    spellings = [secret.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be")]
    folders = [*root.rglob(".clew"), root / ".git" / "clew", root / "memory"]
    files = {file for folder in folders for file in files_below(folder)}
    assert files
    return sorted(str(file) for file in files if any(each in content(file) for each in spellings))


def content(file: Path) -> bytes:
    """Nothing where the file is gone meanwhile: SQLite removes its journals in the background."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


def busy(memory: Memory) -> tuple[str, str]:
    """A memory with a long life, and another one: edited, recalled, annotated, merged, forgotten and restored."""
    secret = memory.store(TEXT, metadata={"note": f"ask for {SECRET}"}, tags=[SECRET])
    other = memory.store(OTHER)
    memory.ids(f"where is {SECRET}")
    memory("annotate_node", node_id=secret, annotations={"notes": f"{SECRET} is old", "related_concepts": [other]})
    owner(memory.project).curator.edit(secret, f"{TEXT} Nobody else has {SECRET}.", f"because of {SECRET}")
    hash = memory("forget_concept", node_id=secret, reason="obsolete", rationale=f"no {SECRET}")["reversal_hash"]
    memory("restore_from_hash", reversal_hash=hash)
    return secret, other


# Verifies: REQ-d00320-A
@pytest.mark.parametrize("wanted", [{"ids": True}, {"text_": SECRET.upper()}, {"all_": True}])
def test_no_byte_is_left(memory: Memory, wanted: dict[str, object]) -> None:
    secret, other = busy(memory)
    owner(memory.project).service.mirror.switch_on("memory", "person")
    assert len(holding(memory.root)) >= 3, "the store, the search index and the mirror"
    spool = memory.root / ".git" / "clew" / "hooks.spool"
    spool.write_text(f'{{"text": "{TEXT}"}}\n{{"text": "ropes"}}\n', encoding="utf-8")
    done = take_out(memory.project, **({"ids": (secret,)} if "ids" in wanted else wanted))
    assert (done.left_in, done.still_held_by) == ((), ())
    assert holding(memory.root) == []
    if "all_" not in wanted:
        assert spool.read_text(encoding="utf-8") == '{"text": "ropes"}\n'
        assert memory.ids("ropes") == [other]
        assert memory.ids("key of the lamp room") == []
        assert memory("get_node_lineage", node_id=other)["events"]
    else:
        assert spool.read_bytes() == b""
        assert memory("get_recent_context")["count"] == 0
    assert memory.number("get_node_lineage", node_id=secret) == -32012
    assert memory.project.memory.home.store.check() == []


# Verifies: REQ-d00320-A, REQ-d00320-B
def test_what_was_merged_goes_too_and_the_other_source_comes_back(memory: Memory) -> None:
    secret, other = memory.store(TEXT), memory.store(OTHER)
    merged = memory(
        "merge_concepts",
        source_node_ids=[secret, other],
        target_name="Both",
        merge_strategy="concatenate",
        rationale=WHY,
        force_merge=True,
    )
    assert merged["kept_source_ids"] == []
    done = take_out(memory.project, ids=(secret,))
    assert set(done.node_ids) == {secret, merged["merged_id"]}
    assert done.brought_back == (other,)
    assert memory.ids("ropes coiled") == [other]
    assert holding(memory.root) == []


# Verifies: REQ-d00320-A
def test_what_a_hook_saw_of_it_goes_too(memory: Memory) -> None:
    secret = memory.store(TEXT)
    view = owner(memory.project)
    seen = msgspec.structs.replace(view.library.get(secret), id=new_id(), kind=MemoryKind.EPISODE, text=f"user: {TEXT}")
    with view.service.home.store.transaction(actor="hook") as transaction:
        transaction.put(MEMORIES, seen.id, seen)
    assert memory.ids("key of the lamp room", filters={"kinds": ["episode"]}) == [seen.id]
    done = take_out(memory.project, ids=(secret,))
    assert set(done.node_ids) == {secret, seen.id}
    assert holding(memory.root) == []


# Verifies: REQ-d00320-D
def test_short_words_of_a_purged_memory_cost_no_other(memory: Memory) -> None:
    """A field of one word says nothing that others may not say too."""
    secret = memory.store(TEXT, metadata={"ropes": "coiled"})
    view = owner(memory.project)
    seen = msgspec.structs.replace(
        view.library.get(secret), id=new_id(), kind=MemoryKind.EPISODE, text=f"user: {OTHER}"
    )
    seen = msgspec.structs.replace(seen, title="", metadata={})
    with view.service.home.store.transaction(actor="hook") as transaction:
        transaction.put(MEMORIES, seen.id, seen)
    spool = memory.root / ".git" / "clew" / "hooks.spool"
    spool.write_text(f'{{"text": "{OTHER}"}}\n', encoding="utf-8")
    done = take_out(memory.project, ids=(secret,))
    assert (done.node_ids, done.still_held_by, done.also_cleaned) == ((secret,), (), ())
    assert OTHER in spool.read_text(encoding="utf-8")
    assert memory.ids("ropes coiled", filters={"kinds": ["episode"]}) == [seen.id]
    assert holding(memory.root) == []


# Verifies: REQ-d00320-D
def test_a_short_memory_takes_nothing_with_it_that_only_has_its_letters(memory: Memory) -> None:
    secret, other = memory.store("yes"), memory.store("The crane broke yesterday, and nobody was hurt.")
    view = owner(memory.project)
    like = msgspec.structs.replace(view.library.get(other), kind=MemoryKind.EPISODE, title="", metadata={})
    said = ("user: yesterday the crane broke", "Yes")
    seen, same = [msgspec.structs.replace(like, id=new_id(), text=text) for text in said]
    with view.service.home.store.transaction(actor="hook") as transaction:
        for each in (seen, same):
            transaction.put(MEMORIES, each.id, each)
    memory.ids("what broke yesterday")
    backups = memory.root / ".clew" / "backups"
    backups.mkdir(parents=True)
    (backups / "notes.md.0123456789ab.clew-backup").write_text("Yesterday's work", encoding="utf-8")
    spool = memory.root / ".git" / "clew" / "hooks.spool"
    spool.write_text('{"text": "yesterday"}\n{"text": "yes"}\n', encoding="utf-8")
    done = take_out(memory.project, ids=(secret,))
    assert set(done.node_ids) == {secret, same.id}
    assert (done.still_held_by, done.left_in) == ((), ())
    assert done.also_cleaned == (f"took 1 lines out of {spool}",)
    assert spool.read_text(encoding="utf-8") == '{"text": "yesterday"}\n'
    asked = [record.data["query"] for record in memory.project.memory.home.store.scan(EXCHANGES) if record.data]
    assert "what broke yesterday" in asked
    assert memory.ids("crane broke", filters={"kinds": ["episode"]}) == [seen.id]


# Verifies: REQ-d00320-A
def test_what_a_merged_source_said_before_it_was_edited_goes_too(memory: Memory) -> None:
    secret, other = memory.store(TEXT), memory.store(OTHER)
    owner(memory.project).curator.edit(secret, "The lamp room has a new lock by now.", "it was changed")
    merged = memory(
        "merge_concepts",
        source_node_ids=[secret, other],
        target_name="Both",
        merge_strategy="concatenate",
        rationale=WHY,
        force_merge=True,
    )
    assert merged["kept_source_ids"] == []
    spool = memory.root / ".git" / "clew" / "hooks.spool"
    spool.write_text(f'{{"text": "{TEXT}"}}\n', encoding="utf-8")
    done = take_out(memory.project, ids=(merged["merged_id"],))
    assert secret in done.node_ids
    assert holding(memory.root) == []


# Verifies: REQ-d00320-B
def test_a_purge_cannot_be_undone_and_is_noted(memory: Memory) -> None:
    secret = memory.store(TEXT)
    hash = memory("forget_concept", node_id=secret, reason="obsolete", rationale=WHY)["reversal_hash"]
    take_out(memory.project, forgotten=True)
    assert memory.number("restore_from_hash", reversal_hash=hash) == -32012
    assert memory("search_tombstones")["count"] == 0
    (entry,) = [
        each for each in owner(memory.project).history.logs(LogQuery(limit=50)).entries if each.action == "purge"
    ]
    assert (entry.recoverable, entry.reason) == (False, "a test")
    with pytest.raises(NotFound):
        take_out(memory.project, ids=(secret,))
    with pytest.raises(InvalidArgument):
        take_out(memory.project)
    with pytest.raises(InvalidArgument):
        take_out(memory.project, text_="ab")


# Verifies: REQ-d00320-A
def test_what_is_left_is_named_also_where_another_memory_says_a_part_of_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, other = memory.store(f"{TEXT} {OTHER}"), memory.store(OTHER)
    folder = memory.root / ".git" / "clew"
    for name, text in (("a.spool", TEXT), ("b.spool", OTHER)):
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr("clew.memory.purge.service.purge_files", lambda *given: ())
    done = take_out(memory.project, ids=(secret,))
    assert (done.still_held_by, done.left_in) == ((other,), (str(folder / "a.spool"),))


# Verifies: REQ-d00320-A
def test_other_work_trees_rescued_stores_and_backups_are_cleaned(root: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    git(root, "worktree", "add", "-q", "-b", "work", str(tree))
    write_project(tree)
    with remembering(tree) as memory:
        secret = memory.store(TEXT)
        assert memory.ids("key of the lamp room") == [secret]
    home = root / ".git" / "clew"
    shutil.copy(home / "memory.db", home / "memory-damaged-1.db")
    backups = root / ".clew" / "backups"
    backups.mkdir(parents=True)
    (backups / "notes.md.0123456789ab.clew-backup").write_text(TEXT, encoding="utf-8")
    (backups / "other.md.0123456789ab.clew-backup").write_text(OTHER, encoding="utf-8")
    with remembering(root) as memory:
        done = take_out(memory.project, ids=(secret,))
    assert len(done.also_cleaned) == 2
    assert [file.name for file in files_below(backups)] == ["other.md.0123456789ab.clew-backup"]
    assert holding(root) == []
    assert holding(tmp_path) == [], "the index of the other work tree"


# Verifies: REQ-d00482-E
def test_what_a_killed_restore_left_is_deleted(root: Path) -> None:
    with remembering(root) as memory:
        secret = memory.store(TEXT)
        # As a killed restore leaves it: with its lock, which nobody holds any more.
        with private_folder(root) as left:
            pass
        left.mkdir()
        shutil.copy(root / ".git" / "clew" / "memory.db-wal", left / "memory.db")
        assert str(left / "memory.db") in holding(root)
        done = take_out(memory.project, ids=(secret,))
        assert f"deleted the copy of a backup that a killed restore left in {root / '.clew'}" in done.also_cleaned
    assert holding(root) == []


# Verifies: REQ-d00320-A
def test_vectors_and_words_are_taken_out(root: Path, opened: Callable[[Path], Project]) -> None:
    (root / "clew.toml").write_text(CONFIG.replace('kind = "none"', 'kind = "minilm"'), encoding="utf-8")
    with remembering(root) as memory:
        secret, other = memory.store(TEXT), memory.store(OTHER)
        engine = memory.project.memory.units.engine()
        assert engine is not None
        engine.index_vectors()
        with engine.units.reading() as connection:
            before = connection.execute("SELECT count(*) FROM embeddings").fetchone()[0]
        take_out(memory.project, ids=(secret,))
        with engine.units.reading() as connection:
            after = connection.execute("SELECT count(*) FROM embeddings").fetchone()[0]
            words = connection.execute("SELECT count(*) FROM lexical_terms WHERE term LIKE 'kestrel%'").fetchone()[0]
        assert (before, after, words) == (2, 1, 0)
        assert memory.ids("ropes coiled") == [other]
    assert holding(root, "kestrel") == []


# Verifies: REQ-d00320-A
def test_the_index_of_code_keeps_nothing_that_its_file_no_longer_says(root: Path) -> None:
    with remembering(root) as memory:
        secret = memory.store(TEXT)
        source = root / "horn.py"
        source.write_text(f'def blow():\n    """{TEXT}"""\n', encoding="utf-8")
        memory.project.code.ensure()
        index = [file for file in holding(root) if "code.db" in file]
        assert index
        source.write_text("def blow(): ...\n", encoding="utf-8")
        done = take_out(memory.project, ids=(secret,))
        assert (done.left_in, done.still_held_by) == ((), ())
        assert holding(root) == []
        memory.project.code.ensure()
        assert [each.qualname for each in memory.project.code.file.named("blow")] == ["blow"]


# Verifies: REQ-d00320-A
def test_what_others_are_packed_by_holds_no_memory(root: Path) -> None:
    with remembering(root) as memory:
        engine = memory.project.memory.units.engine()
        assert engine is not None
        for quoted in (False, True):
            engine.units.put(
                Unit(id=f"{quoted}{number}", part="rule", title="", body=f"{TEXT} {number}", quoted=quoted)
                for number in range(300)
            )
            with engine.units.reading() as connection:
                made = connection.execute("SELECT count(*) FROM unit_dictionary").fetchone()
            # Only of what stands in a file.
            assert made == (quoted,)


# Verifies: REQ-d00320-C
def test_a_purge_that_was_killed_is_finished_at_the_next_opening(root: Path) -> None:
    with remembering(root) as memory:
        secret, other = memory.store(TEXT * 40), memory.store(OTHER)
    top = Path(__file__).parent.parent.parent
    killed = forked.run([sys.executable, "-c", KILLED, str(root), secret], cwd=top, check=False)
    assert killed.returncode == -signal.SIGKILL
    with remembering(root) as memory:
        assert memory.ids("ropes coiled") == [other]
        assert holding(root) == []


# Verifies: REQ-d00320-B
def test_the_command_asks_and_says_what_is_beyond_its_reach(root: Path) -> None:
    with remembering(root) as memory:
        memory.store(TEXT)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "clew", "memory", "purge", *words, "-C", str(root)]
        return forked.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)

    refused = run("--text", SECRET)
    assert (refused.returncode != 0, "--yes" in refused.stderr) == (True, True)
    assert holding(root)
    done = run("--text", SECRET, "--yes")
    assert done.returncode == 0, done.stderr
    assert "git history" in done.stdout
    assert holding(root) == []
