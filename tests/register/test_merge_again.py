"""Merges after merges: requirements stay who they are, whatever ids they get."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from tests.register.edits import delete, link, update
from tests.register.served import GOOD, Served, make_project

from clew.errors import StoreBusy
from clew.formats.register.model import ActorKind, LinkKind, Register
from clew.register.change.changes import add
from clew.register.change.draft import Author, Draft
from clew.register.change.transaction import RegisterFile, new_register
from clew.register.git.merge import merge
from clew.register.git.setup import set_up
from clew.register.operations.edit import AddToRegister

ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = make_project(tmp_path / "project")
    made.add()
    assert set_up(made.root, hooks=False).ok
    made.commit("begin")
    made.git("branch", "other")
    yield made
    made.close()


def run(served: Served, *command: str) -> str:
    done = subprocess.run(["git", *command], cwd=served.root, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def titles(served: Served) -> dict[str, str]:
    return {row["id"]: row["title"] for row in served.call("req_list")["requirements"]}


def on(served: Served, branch: str, title: str) -> None:
    served.git("checkout", "-q", branch)
    served.call("req_add", **{**GOOD, "title": title})
    served.commit(title)


# Verifies: REQ-d00230-A
def test_what_a_merge_renumbered_is_the_same_requirement_in_the_next_merge(served: Served) -> None:
    on(served, "other", "From the other side")
    on(served, "main", "From this side")
    run(served, "merge", "--no-edit", "other")
    assert titles(served)["REQ-0003"] == "From the other side"
    served.git("checkout", "-q", "other")
    served.call("req_update", id="2", reason="clearer", priority="must")
    served.commit("more")
    served.git("checkout", "-q", "main")

    said = run(served, "merge", "--no-edit", "other")

    assert "REQ-0002 of the other branch is now REQ-0003" in said
    assert served.call("req_show", id="2")["priority"] == "Should"
    assert served.call("req_show", id="3")["priority"] == "Must"
    assert [entry["action"] for entry in served.call("req_show", id="3")["history"]] == [
        "created via MCP",
        "renumbered from REQ-0002 (merge)",
        "priority→must",
    ]


# Verifies: REQ-d00230-A
def test_branches_that_merged_each_other_keep_their_ids(served: Served) -> None:
    on(served, "other", "From the other side")
    on(served, "main", "From this side")
    served.git("branch", "crossed")
    run(served, "merge", "--no-edit", "other")
    served.git("checkout", "-q", "other")
    run(served, "merge", "--no-edit", "crossed")
    assert titles(served)["REQ-0002"] == "From the other side"
    served.git("checkout", "-q", "main")

    run(served, "merge", "--no-edit", "other")

    assert titles(served) == {
        "REQ-0001": "Lock the account",
        "REQ-0002": "From this side",
        "REQ-0003": "From the other side",
    }
    assert served.call("req_validate")["errors"] == 0


# Verifies: REQ-d00230-D
def test_a_picked_commit_brings_only_what_it_changed(served: Served) -> None:
    on(served, "other", "Left behind")
    on(served, "other", "Picked")
    on(served, "main", "From this side")

    run(served, "cherry-pick", "other")

    assert list(titles(served).values()) == ["Lock the account", "From this side", "Picked"]


# Verifies: REQ-d00230-F
def test_a_configuration_that_cannot_be_read_does_not_keep_a_register_unmerged(served: Served) -> None:
    on(served, "other", "From the other side")
    on(served, "main", "From this side")
    served.write("clew.toml", "[[[ nonsense")

    said = run(served, "merge", "--no-edit", "other")

    assert "REQ-0002 of the other branch is now REQ-0003" in said


# Verifies: REQ-d00230-F
def test_a_merge_by_command_keeps_what_is_not_committed_yet(served: Served) -> None:
    on(served, "other", "From the other side")
    served.git("checkout", "-q", "main")
    served.call("req_add", **{**GOOD, "title": "Not committed"})
    service = served.project.register

    merged = service.merge_branch(at(1), "other")

    assert merged.renumbered == {"REQ-0002": "REQ-0003"}
    assert list(titles(served).values()) == ["Lock the account", "Not committed", "From the other side"]


# Verifies: REQ-d00230-F
def test_without_the_driver_a_command_resolves_what_git_could_not(served: Served) -> None:
    served.git("config", "--remove-section", "merge.req-merge")
    on(served, "other", "From the other side")
    on(served, "main", "From this side")
    conflict = subprocess.run(["git", "merge", "other"], cwd=served.root, capture_output=True, text=True)
    assert conflict.returncode == 1
    assert "`clew req merge` merges both sides" in served.error("req_list")["hint"]

    served.project.register.merge_branch(at(1), None)

    assert list(titles(served).values()) == ["Lock the account", "From this side", "From the other side"]
    run(served, "commit", "-q", "--no-edit")
    assert not (served.root / "project.req.bak-replaced").exists()


# Pure merges, where git adds nothing to what is proven


def at(minute: int) -> Author:
    return Author(f"2026-06-01T12:{minute:02}:00Z", "ann", ActorKind.HUMAN)


Step = Callable[[Draft], object]


def changed(register: Register, minute: int, *steps: Step) -> Register:
    draft = Draft(register, at(minute))
    for step in steps:
        step(draft)
    return draft.finished()


def adding(title: str) -> Step:
    new = AddToRegister(
        title=title,
        statement=f"The {title} shall be shown within two seconds.",
        rationale="It is asked for.",
        acceptance=("It is shown in time",),
    )
    return lambda draft: add(draft, new)


# Verifies: REQ-d00230-B
def test_an_id_that_one_side_gave_and_removed_is_not_given_again() -> None:
    base = new_register("demo", at(0))
    ours = changed(base, 1, adding("short-lived page"), lambda draft: delete(draft, "1", "a mistake", hard=True))
    theirs = changed(base, 2, adding("lasting page"))

    merged = merge(base, ours, theirs, at(3))

    assert list(merged.register.requirements) == ["REQ-0002"]
    assert merged.renumbered == {"REQ-0001": "REQ-0002"}
    assert merged.register.next_id == 3


# Verifies: REQ-d00230-C
def test_keys_that_clew_does_not_know_come_from_both_sides() -> None:
    base = changed(new_register("demo", at(0)), 1, adding("first page"))
    ours = msgspec.structs.replace(base, extras={"mine": 1, "both": "a"})
    theirs = msgspec.structs.replace(base, extras={"theirs": {"deep": [1]}, "both": "b"})

    merged = merge(base, ours, theirs, at(2))

    assert merged.register.extras == {"mine": 1, "theirs": {"deep": [1]}, "both": "a"}
    assert [(each.id, each.ours, each.theirs) for each in merged.conflicts] == [("both", "a", "b")]


# Verifies: REQ-d00230-E
def test_without_a_common_version_the_newer_one_counts_and_two_newer_ones_conflict() -> None:
    empty = new_register("demo", at(0))
    older = changed(empty, 1, adding("first page"))
    mine = changed(older, 2, lambda draft: update(draft, "1", "ours", title="My own page"))
    other = changed(older, 3, lambda draft: update(draft, "1", "theirs", title="Their page"))

    for ours, theirs in ((mine, older), (older, mine)):
        settled = merge(empty, ours, theirs, at(4))
        assert not settled.conflicts
        assert settled.register.requirements["REQ-0001"].title == "My own page"
    disputed = merge(empty, mine, other, at(4))
    assert [(each.id, each.field) for each in disputed.conflicts] == [("REQ-0001", "title")]


# Verifies: REQ-d00230-E
def test_two_texts_with_one_history_are_a_conflict_whichever_side_is_ours() -> None:
    empty = new_register("demo", at(0))
    recorded = changed(empty, 1, adding("first page"))
    requirement = recorded.requirements["REQ-0001"]
    edited = msgspec.structs.replace(
        recorded,
        requirements={"REQ-0001": msgspec.structs.replace(requirement, statement="The page shall be shown at once.")},
    )

    for ours, theirs in ((recorded, edited), (edited, recorded)):
        disputed = merge(empty, ours, theirs, at(2))
        assert [(each.id, each.field) for each in disputed.conflicts] == [("REQ-0001", "statement")]
        assert disputed.register.requirements["REQ-0001"] == ours.requirements["REQ-0001"]


# Verifies: REQ-d00230-D
def test_a_link_to_what_a_picked_commit_left_behind_never_leads_to_a_stranger() -> None:
    empty = new_register("demo", at(0))
    behind = changed(empty, 1, adding("left behind"))
    picked = changed(behind, 2, adding("picked page"))
    picked = changed(picked, 3, lambda draft: link(draft, "2", "1", LinkKind.PARENT))
    ours = changed(empty, 4, adding("a stranger"))

    merged = merge(behind, ours, picked, at(5))

    (conflict,) = merged.conflicts
    assert (conflict.id, conflict.field) == ("REQ-0002", "links")
    assert "REQ-0001" not in merged.register.requirements["REQ-0002"].links[0].target


# Verifies: REQ-d00230-A
def test_nobody_writes_while_a_merged_register_is_made_from_the_present_one(tmp_path: Path) -> None:
    place = tmp_path / "project.req"
    file, impatient = RegisterFile(place), RegisterFile(place, patience=0.01)
    author = Author("2026-06-01T12:00:00Z", "ann")
    file.create(new_register("demo", author))

    with file.held() as held:
        with pytest.raises(StoreBusy):
            impatient.transaction(author, lambda draft: None)
        held.write(held.read())
    impatient.transaction(author, lambda draft: None)
