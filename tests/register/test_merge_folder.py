"""Two branches that change a register of many files."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests import forked
from tests.register.served import GOOD, Served

from clew.formats.register.model import RegisterLayout
from clew.register.change.draft import Author
from clew.register.change.transaction import RegisterFile, new_register
from clew.register.git.setup import set_up

ENVIRONMENT = {
    **os.environ,
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "REQ_ACTOR": "ann",
}


@pytest.fixture
def served(tmp_path: Path) -> Served:
    """A committed project whose register is a folder, with two requirements and a branch `other`."""
    (tmp_path / "clew.toml").touch()
    (tmp_path / ".gitignore").write_text(".clew/\n.*.lock\n")
    file = RegisterFile(tmp_path / "many", layout=RegisterLayout.DIRECTORY)
    file.create(
        msgspec.structs.replace(
            new_register("demo", Author("2026-06-01T12:00:00Z", "ann")), layout=RegisterLayout.DIRECTORY
        )
    )
    made = Served(tmp_path)
    for arguments in (("init", "-q", "-b", "main"), ("config", "user.name", "Ann"), ("config", "user.email", "a@b.c")):
        made.git(*arguments)
    made.add()
    made.add(title="Tell the owner")
    set_up(tmp_path, hooks=False)
    made.commit("begin")
    made.git("branch", "other")
    return made


def on(served: Served, branch: str, *calls: tuple[str, dict[str, Any]]) -> None:
    served.git("checkout", "-q", branch)
    for name, arguments in calls:
        served.call(name, **arguments)
    served.commit(f"work on {branch}")


def run(served: Served, *command: str) -> "subprocess.CompletedProcess[str]":
    return forked.run(command, cwd=served.root, capture_output=True, text=True, env=ENVIRONMENT)


# Verifies: REQ-d00171-G
def test_a_folder_is_merged_whole_with_both_sides_and_new_numbers(served: Served) -> None:
    on(
        served,
        "other",
        ("req_add", {**GOOD, "title": "From the other side"}),
        ("req_update", {"id": "1", "reason": "theirs", "title": "Lock it now"}),
    )
    on(
        served,
        "main",
        ("req_add", {**GOOD, "title": "From this side"}),
        ("req_update", {"id": "1", "reason": "ours", "status": "approved"}),
    )
    begun = run(served, "git", "merge", "--no-edit", "other")
    assert begun.returncode == 1
    assert "clew req merge" in begun.stderr

    done = run(served, sys.executable, "-m", "clew", "req", "merge")
    assert done.returncode == 0, done.stderr
    assert "REQ-0003 of the other branch is now REQ-0004" in done.stderr
    assert served.git("ls-files", "--unmerged") == ""
    served.commit("merged")
    titles = {row["id"]: row["title"] for row in served.call("req_list")["requirements"]}
    assert titles == {
        "REQ-0001": "Lock it now",
        "REQ-0002": "Tell the owner",
        "REQ-0003": "From this side",
        "REQ-0004": "From the other side",
    }
    assert served.call("req_show", id="1")["status"] == "Approved"
    assert len(served.git("log", "--merges", "--format=%h").split()) == 1


# Verifies: REQ-d00171-G
def test_a_conflict_in_a_folder_names_the_field_and_stays_unmerged(served: Served) -> None:
    on(served, "other", ("req_update", {"id": "1", "reason": "theirs", "title": "Lock it now"}))
    on(served, "main", ("req_update", {"id": "1", "reason": "ours", "title": "Lock it later"}))
    run(served, "git", "merge", "--no-edit", "other")
    done = run(served, sys.executable, "-m", "clew", "req", "merge")
    assert done.returncode == 1
    assert "REQ-0001, title: ours 'Lock it later', theirs 'Lock it now'" in done.stderr
    assert done.stdout.startswith("1 conflict left, with our values so far: settle each with `clew req update`")
    assert served.git("ls-files", "--unmerged") != ""
    assert served.call("req_show", id="1")["title"] == "Lock it later"


# Verifies: REQ-d00171-G
def test_a_rebase_is_merged_the_same_way(served: Served) -> None:
    on(served, "other", ("req_add", {**GOOD, "title": "From the other side"}))
    on(served, "main", ("req_add", {**GOOD, "title": "From this side"}))
    served.git("checkout", "-q", "other")
    assert run(served, "git", "rebase", "main").returncode == 1
    done = run(served, sys.executable, "-m", "clew", "req", "merge")
    assert done.returncode == 0, done.stderr
    assert run(served, "git", "-c", "core.editor=true", "rebase", "--continue").returncode == 0
    assert [row["title"] for row in served.call("req_list")["requirements"]][2:] == [
        *("From this side", "From the other side"),
    ]


# Verifies: REQ-d00171-G
def test_outside_of_a_merge_a_branch_has_to_be_named(served: Served) -> None:
    done = run(served, sys.executable, "-m", "clew", "req", "merge", "--json")
    assert done.returncode == 2
    assert "Name the branch" in done.stdout
    on(served, "other", ("req_add", {**GOOD, "title": "From the other side"}))
    served.git("checkout", "-q", "main")
    assert run(served, sys.executable, "-m", "clew", "req", "merge", "other").returncode == 0
    assert served.call("req_list")["count"] == 3


# Verifies: REQ-d00230-F
def test_what_was_written_into_a_folder_in_the_middle_of_a_merge_is_kept(served: Served) -> None:
    on(served, "other", ("req_add", {**GOOD, "title": "From the other side"}))
    on(served, "main", ("req_add", {**GOOD, "title": "From this side"}))
    run(served, "git", "merge", "--no-edit", "other")
    merging = (sys.executable, "-m", "clew", "req", "merge")
    assert "is now" not in run(served, *merging).stderr.replace("is now REQ-", "")
    served.add(title="Written meanwhile")

    again = run(served, *merging)

    kept = served.root / "many.bak-replaced"
    assert str(kept) in again.stderr
    assert [each.title for each in RegisterFile(kept).read().register.requirements.values()][-1] == "Written meanwhile"
    assert served.call("req_list")["count"] == 4
    assert "many.bak-replaced" not in served.git("diff", "--cached", "--name-only")
