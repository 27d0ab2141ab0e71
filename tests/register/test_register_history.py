"""What happened to a register as a whole."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.register.edits import delete
from tests.register.shell import ADD, Shell

from clew.errors import NotFound, Refused
from clew.formats.register.directory import INDEX
from clew.formats.register.model import HistoryEntry
from clew.register.change.changes import add
from clew.register.change.draft import Author
from clew.register.change.storage import storage_at
from clew.register.change.transaction import RegisterFile
from clew.register.git.merge import merge
from clew.register.operations.edit import AddToRegister

NOW = Author("2026-06-01T12:00:00Z", "ann")


# Verifies: REQ-d00233-A
def test_why_a_requirement_was_removed_is_kept_and_told(file: RegisterFile, new: Callable[..., AddToRegister]) -> None:
    file.transaction(NOW, lambda draft: add(draft, new()))
    file.transaction(NOW, lambda draft: delete(draft, "1", "the feature was sold", hard=True))

    fresh = RegisterFile(file.place)
    (entry,) = fresh.read().register.history
    assert (entry.action, entry.actor, entry.reason) == (
        "removed REQ-0001 'Lock the account'",
        "ann",
        "the feature was sold",
    )
    with pytest.raises(NotFound, match="ann removed it on 2026-06-01: the feature was sold"):
        fresh.transaction(NOW, lambda draft: draft.find("req-1"))


# Verifies: REQ-d00233-A
def test_the_copy_of_another_state_of_the_register_adds_nothing_untrue(shell: Shell, tmp_path: Path) -> None:
    place = tmp_path / "project.req"
    shell.run("add", *ADD)
    before = place.read_bytes()
    shell.run("delete", "REQ-0001", "--hard", "--reason", "sold")
    assert "removed REQ-0001" in (tmp_path / "project.req.history").read_text()
    place.write_bytes(before)
    assert RegisterFile(place).read().register.history == ()
    shell.run("init", "-n", "anew", "--purpose", "Keep doors safe", "--force")
    assert RegisterFile(place).read().register.history == ()
    # One that cannot be read stops nothing.
    (tmp_path / "project.req.history").unlink(missing_ok=True)
    (tmp_path / "project.req.history").mkdir()
    shell.run("add", *ADD)
    assert "REQ-0001" in RegisterFile(place).read().register.requirements


# Verifies: REQ-d00233-B
def test_purpose_and_repair_leave_a_trace(shell: Shell, tmp_path: Path) -> None:
    place = tmp_path / "project.req"
    shell.run("add", *ADD)
    shell.run("purpose", "Keep doors safe", "--reason", "we build doors now")
    before = place.read_bytes()
    shell.run("repair", "--confirm-direct-edit")
    assert place.read_bytes() == before
    place.write_bytes(before.replace(b"Guessing has", b"Guesses have"))

    shell.run("repair", "--confirm-direct-edit")

    told = [(entry.action, entry.reason) for entry in RegisterFile(place).read().register.history]
    assert told == [("purpose changed", "we build doors now"), ("accepted a direct edit of the file", None)]


# Verifies: REQ-d00233-C
def test_the_history_only_grows_and_is_merged(single: RegisterFile) -> None:
    register = single.read().register
    first, mine, other = (HistoryEntry(**entry(f"2026-07-0{day}")) for day in (1, 2, 3))
    base = msgspec.structs.replace(register, history=(first,))

    merged = merge(
        base,
        msgspec.structs.replace(register, history=(first, other)),
        msgspec.structs.replace(register, history=(first, mine)),
        NOW,
    )

    assert merged.register.history == (first, mine, other)
    single.create(base, force=True)
    with pytest.raises(Refused, match="history would be rewritten"):
        single.transaction(NOW, lambda draft: setattr(draft, "register", register) or draft.record("x", None))


# Verifies: REQ-d00233-D
def test_a_program_that_drops_the_history_takes_nothing_away(
    file: RegisterFile, new: Callable[..., AddToRegister]
) -> None:
    file.transaction(NOW, lambda draft: add(draft, new()))
    file.transaction(NOW, lambda draft: delete(draft, "1", "the feature was sold", hard=True))
    dropped = msgspec.structs.replace(file.read().register, history=())
    storage = storage_at(file.place)
    for path, data in storage.encode(dropped).items():
        (storage.place / path if path else storage.place).write_bytes(data)

    fresh = RegisterFile(file.place)
    (entry,) = fresh.read().register.history
    assert entry.reason == "the feature was sold"
    fresh.transaction(NOW, lambda draft: add(draft, new(title="Bolt the door")))
    written = storage.place / INDEX if storage.place.is_dir() else storage.place
    assert [each["reason"] for each in msgspec.json.decode(written.read_bytes())["_history"]] == [
        "the feature was sold"
    ]


# Verifies: REQ-d00233-D
def test_marks_of_a_conflict_in_the_copy_do_no_harm(single: RegisterFile) -> None:
    entries = [msgspec.json.encode(entry(f"2026-07-0{day}")) for day in (1, 3, 2)]
    place = single.place.with_name("project.req.history")
    place.write_bytes(b"\n".join((entries[0], b"<<<<<<< ours", entries[1], b"=======", entries[2], b">>>>>>>", b"[1]")))

    fresh = RegisterFile(single.place)
    assert [each.at[:10] for each in fresh.read().register.history] == ["2026-07-01", "2026-07-02", "2026-07-03"]
    fresh.transaction(NOW, lambda draft: draft.record("x", None))
    assert place.read_bytes().count(b"\n") == 4


def entry(day: str) -> dict[str, str | None]:
    return {"at": f"{day}T00:00:00Z", "actor": "ann", "actor_kind": "Human", "action": "removed", "reason": None}


# Verifies: REQ-d00233-C
def test_a_key_of_that_name_that_means_something_else_is_left_alone(single: RegisterFile) -> None:
    register = msgspec.structs.replace(single.read().register, extras={"_history": {"by": "another program"}})
    single.create(register, force=True)
    single.transaction(NOW, lambda draft: add(draft, AddToRegister(**PARTS)))
    document = msgspec.json.decode(single.place.read_bytes())
    assert document["_history"] == {"by": "another program"}


PARTS = {
    "title": "Lock the account",
    "statement": "The system shall lock the account after five failed logins.",
    "rationale": "Guessing has to stop.",
    "acceptance": ("The sixth login is refused",),
}
