"""Two branches that change one register, merged by git itself."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.register.served import GOOD, Served, make_project

from clew.register.git.setup import set_up

ENVIRONMENT = {
    **os.environ,
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "REQ_ACTOR": "ann",
}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A committed project with two requirements and the merge driver, on its main branch."""
    made = make_project(tmp_path / "project")
    made.add()
    made.add(title="Tell the owner")
    assert set_up(made.root, hooks=False).ok
    made.commit("begin")
    made.git("branch", "other")
    yield made
    made.close()


def on(served: Served, branch: str, *calls: tuple[str, dict[str, Any]]) -> None:
    served.git("checkout", "-q", branch)
    for name, arguments in calls:
        served.call(name, **arguments)
    served.commit(f"work on {branch}")


def merged(served: Served) -> "subprocess.CompletedProcess[str]":
    served.git("checkout", "-q", "main")
    return subprocess.run(
        ["git", "merge", "--no-edit", "other"], cwd=served.root, capture_output=True, text=True, env=ENVIRONMENT
    )


# Verifies: REQ-o00031-F
def test_both_sides_keep_what_they_added_and_collisions_are_renumbered(served: Served) -> None:
    on(served, "other", ("req_add", {**GOOD, "title": "From the other side"}))
    served.call("req_add", **{**GOOD, "title": "Its child"}, parent="3")
    served.write("src/other.rs", "// REQ-0003\n")
    served.commit("a child")
    on(served, "main", ("req_add", {**GOOD, "title": "From this side"}))
    served.write("src/ours.rs", "// REQ-0003\n")
    served.commit("a marker of ours")

    done = merged(served)

    assert done.returncode == 0, done.stdout + done.stderr
    titles = {row["id"]: row["title"] for row in served.call("req_list")["requirements"]}
    assert titles == {
        "REQ-0001": "Lock the account",
        "REQ-0002": "Tell the owner",
        "REQ-0003": "From this side",
        "REQ-0004": "Its child",
        "REQ-0005": "From the other side",
    }
    assert served.call("req_show", id="4")["links"] == [{"kind": "Parent", "target": "REQ-0005"}]
    assert served.call("req_show", id="5")["history"][-1]["action"] == "renumbered from REQ-0003 (merge)"
    assert "REQ-0003 of the other branch is now REQ-0005; its markers are in src/other.rs\n" in done.stderr
    assert served.add() == "REQ-0006"
    assert served.call("req_validate")["errors"] == 0


# Verifies: REQ-o00031-F
def test_a_rebase_and_a_pick_name_the_markers_of_what_they_move(served: Served) -> None:
    on(served, "other", ("req_add", {**GOOD, "title": "From the other side"}))
    served.write("tests/test_other.py", "def test_req_0003_is_shown():\n    pass\n")
    served.write("src/text.py", 'words = "REQ-0003"\n')
    served.commit("markers of theirs")
    served.git("checkout", "-q", "-b", "squashed", "main")
    served.git("merge", "-q", "--squash", "other")
    served.commit("both in one")
    on(served, "main", ("req_add", {**GOOD, "title": "From this side"}))
    served.write("src/ours.rs", "// REQ-0003\n")
    served.commit("a marker of ours")

    for branch, command in (("other", ("rebase", "main")), ("main", ("cherry-pick", "squashed"))):
        served.git("checkout", "-q", branch)
        done = subprocess.run(["git", *command], cwd=served.root, capture_output=True, text=True, env=ENVIRONMENT)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "REQ-0003 of the other branch is now REQ-0004; its markers are in tests/test_other.py\n" in done.stderr


# Verifies: REQ-o00031-F
def test_changes_of_different_fields_are_merged(served: Served) -> None:
    on(
        served,
        "other",
        ("req_update", {"id": "1", "reason": "theirs", "title": "Lock it now", "add_acceptance": ["A mail is sent"]}),
        ("req_test_record", {"id": "2", "result": "pass", "notes": "theirs"}),
        ("req_link", {"from_": "2", "to": "1"}),
    )
    on(
        served,
        "main",
        ("req_update", {"id": "1", "reason": "ours", "status": "approved", "add_tag": ["auth"]}),
        ("req_update", {"id": "1", "reason": "ours", "add_acceptance": ["A record is kept"]}),
        ("req_test_record", {"id": "2", "result": "fail", "notes": "ours"}),
    )

    assert merged(served).returncode == 0

    first, second = served.call("req_show", id="1"), served.call("req_show", id="2")
    assert (first["title"], first["status"], first["tags"]) == ("Lock it now", "Approved", ["auth"])
    assert first["acceptance"] == [*GOOD["acceptance"], "A record is kept", "A mail is sent"]
    assert {entry["reason"] for entry in first["history"]} == {None, "ours", "theirs"}
    assert {record["notes"] for record in second["tests"]} == {"ours", "theirs"}
    assert second["links"] == [{"kind": "Parent", "target": "REQ-0001"}]


# Verifies: REQ-o00031-F
def test_two_edits_of_one_field_are_a_conflict_that_names_it(served: Served) -> None:
    on(served, "other", ("req_update", {"id": "1", "reason": "theirs", "title": "Lock it now", "priority": "must"}))
    on(served, "main", ("req_update", {"id": "1", "reason": "ours", "title": "Lock it later"}))

    done = merged(served)

    assert done.returncode == 1
    assert "CONFLICT in project.req: REQ-0001, title: ours 'Lock it later', theirs 'Lock it now'" in done.stderr
    assert served.git("ls-files", "--unmerged") != ""
    kept = served.call("req_show", id="1")
    assert (kept["title"], kept["priority"]) == ("Lock it later", "Must")


# Verifies: REQ-o00031-F
def test_removing_what_the_other_side_changed_is_a_conflict(served: Served) -> None:
    on(served, "other", ("req_update", {"id": "1", "reason": "theirs", "title": "Lock it now"}))
    on(
        served,
        "main",
        ("req_delete", {"id": "1", "reason": "ours", "hard": True}),
        ("req_delete", {"id": "2", "reason": "r"}),
    )
    done = merged(served)
    assert done.returncode == 1
    assert "REQ-0001, requirement: ours 'removed', theirs 'changed'" in done.stderr


# Verifies: REQ-o00031-F
def test_links_that_meet_in_a_circle_are_a_conflict(served: Served) -> None:
    on(served, "other", ("req_link", {"from_": "1", "to": "2"}))
    on(served, "main", ("req_link", {"from_": "2", "to": "1"}))
    done = merged(served)
    assert done.returncode == 1
    assert "lead in a circle" in done.stderr


# Verifies: REQ-o00031-F
def test_hooks_of_others_are_left_alone_and_ours_run(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", ENVIRONMENT["PATH"])
    hook = served.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 0\n")
    assert not set_up(served.root).ok
    assert hook.read_text() == "#!/bin/sh\nexit 0\n"
    hook.unlink()
    assert set_up(served.root).ok
    assert set_up(served.root).ok
    attributes = (served.root / ".gitattributes").read_text()
    assert attributes.count("merge=req-merge") == 1
    names = {check["name"]: check["ok"] for check in served.call("req_doctor")["checks"]}
    assert all(ok for name, ok in names.items() if name != "commit signing")

    served.write("src/bare.rs", "fn bare() {}\n")
    served.git("add", "--all")
    commit = ["git", "commit", "-q", "-m", "bare"]
    refused = subprocess.run(commit, cwd=served.root, capture_output=True, text=True, env=ENVIRONMENT)
    assert refused.returncode == 1
    assert "src/bare.rs" in refused.stdout + refused.stderr
    served.write("src/bare.rs", "// REQ-0001\nfn bare() {}\n")
    served.git("add", "--all")
    assert subprocess.run(commit, cwd=served.root, env=ENVIRONMENT, capture_output=True).returncode == 0
