"""Points of the acceptance beside OpenSpec: D4, D8, D12, and how much a conflict and an archive print."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.in_process import run
from tests.specs.conftest import LAMP, requirement

from clew.errors import Refused
from clew.project import Project
from clew.specs.operations.commands import MOST_LINES, ArchiveNow

Tool = Callable[..., dict[str, Any]]


def modified(text: str, *scenarios: str) -> str:
    return "## MODIFIED Requirements\n\n" + requirement("Rest by day", text, "Dawn", *scenarios)


def commit(root: Path) -> None:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
    if not (root / ".git").exists():
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    subprocess.run(["git", *who, "add", "-A"], cwd=root, check=True)
    subprocess.run(["git", *who, "commit", "-qm", "Write"], cwd=root, check=True)


# Verifies: REQ-d00823-A
def test_an_index_says_whether_it_knows_meaning(call: Tool) -> None:
    built = call("rebuild_index")
    assert built["semantic"] is False
    assert "no embedder" in built["note"]
    hits = call("search_specs", query="lamp burns at dusk")["results"]
    assert hits
    assert all(each["score"] > 0 for each in hits)


# Verifies: REQ-d00823-B
def test_a_change_without_a_proposal_is_listed_and_is_not_valid(folder: Any, call: Tool) -> None:
    place = folder.changes / "2025-shared-cleanup"
    place.mkdir(parents=True)
    (place / "plan.md").write_text("# Plan\n\nClean up.\n", encoding="utf-8")
    (place / "task.md").write_text("- do it\n", encoding="utf-8")
    (listed,) = call("list_changes")["changes"]
    assert (listed["id"], listed["problem"]) == ("2025-shared-cleanup", "It has no proposal.md.")
    checked = call("validate_change", change_id="2025-shared-cleanup")
    assert checked["valid"] is False
    assert checked["errors"]


# Verifies: REQ-d00823-C
def test_two_changes_of_one_requirement_are_archived_in_the_named_order(
    folder: Any, project: Project, call: Tool
) -> None:
    commit(folder.root)
    folder.change("brighter", lamp=modified("The lamp MUST rest by day."))
    folder.change("darker", lamp=modified("The lamp SHALL rest by day and be covered.", "Cover"))
    commit(folder.root)
    found = call("change_conflicts")
    assert [each["kind"] for each in found["conflicts"]] == ["same_requirement"]
    first, second = found["order"]
    with pytest.raises(Refused) as refused:
        project.specs.archive(ArchiveNow(change_id=second))
    assert f"Archive '{first}' first" in refused.value.hint
    # That advice is followed, and the next refusal's advice too.
    project.specs.archive(ArchiveNow(change_id=first))
    commit(folder.root)
    with pytest.raises(Refused) as moved:
        project.specs.archive(ArchiveNow(change_id=second))
    assert f"clew change rebase {second}" in moved.value.hint
    assert project.specs.rebase(second).valid
    project.specs.archive(ArchiveNow(change_id=second))
    assert "and be covered" in (folder.specs / "lamp" / "spec.md").read_text(encoding="utf-8")


# Verifies: REQ-d00823-D
def test_an_unknown_base_is_said_first(folder: Any) -> None:
    folder.change("brighter", lamp=modified("The lamp MUST rest by day."))
    commit(folder.root)
    shown = run(folder.root, "change", "conflicts").stdout
    first, *rest = shown.splitlines()
    assert first.startswith("The base of 'brighter' is unknown")
    assert rest == ["No conflicts in what could be compared."]


# Verifies: REQ-d00823-E
def test_a_new_file_is_shown_by_its_beginning_and_once(folder: Any) -> None:
    names = [f"Blink {number}" for number in range(30)]
    added = "\n".join(requirement(name, f"The lamp SHALL {name.lower()}.", "Night") for name in names)
    folder.change("blink", signal=f"## ADDED Requirements\n\n{added}")
    commit(folder.root)
    preview = run(folder.root, "change", "archive", "blink", "--dry-run", "--accept-base").stdout
    shown = [line for line in preview.splitlines() if line.startswith("+")]
    assert 0 < len(shown) <= MOST_LINES
    assert "more lines; the file is new" in preview
    done = run(folder.root, "change", "archive", "blink", "--accept-base").stdout
    assert "Archived as" in done
    assert not [line for line in done.splitlines() if line.startswith("+")]
    assert (folder.specs / "lamp" / "spec.md").read_text(encoding="utf-8") == LAMP
