"""The specs and changes of the OpenSpec project itself."""

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from clew.formats.openspec.apply.conflicts import ConflictKind, conflicts
from clew.formats.openspec.apply.delta import apply_change, apply_delta
from clew.formats.openspec.apply.touches import record
from clew.formats.openspec.change import ChangeProposal
from clew.formats.openspec.layout import FileRole, FileRoleKind, classify, openspec_root
from clew.formats.openspec.reader import read_delta, read_document, read_spec, write
from clew.formats.openspec.records import Delta, Spec
from clew.formats.openspec.rules.change import validate_change
from clew.formats.openspec.rules.rules import Dialect, is_valid
from clew.formats.openspec.rules.spec import validate_spec

WITHOUT_DELTAS = {
    "2025-01-11-add-update-command",
    "2025-01-13-add-list-command",
    "2025-08-06-add-init-command",
    "2025-08-06-adopt-future-state-storage",
    "2025-08-13-add-archive-command",
    "2025-08-13-add-diff-command",
}
"""Changes from before deltas were invented: their files hold the whole spec of the time."""


@pytest.fixture(scope="module")
def placed(real: Path) -> dict[Path, FileRole]:
    found = {}
    for path in sorted(real.rglob("*")):
        place = classify(f"openspec/{path.relative_to(real).as_posix()}", [openspec_root()])
        if path.is_file() and place is not None:
            found[path] = place
    return found


@pytest.fixture(scope="module")
def specs(placed: dict[Path, FileRole]) -> dict[str, Spec]:
    return {
        place.spec_id: read_spec(path.read_bytes(), place.spec_id)
        for path, place in placed.items()
        if place.kind is FileRoleKind.SPEC
    }


@pytest.fixture(scope="module")
def deltas(placed: dict[Path, FileRole]) -> dict[FileRole, Delta]:
    return {
        place: read_delta(path.read_bytes(), place.spec_id)
        for path, place in placed.items()
        if place.kind is FileRoleKind.DELTA
    }


@pytest.fixture(scope="module")
def open_changes(deltas: dict[FileRole, Delta]) -> list[ChangeProposal]:
    by_change = defaultdict(list)
    for place, delta in deltas.items():
        if not place.archived:
            by_change[place.change_id].append(delta)
    return [ChangeProposal(id, deltas=tuple(each)) for id, each in by_change.items()]


# Verifies: REQ-o00030-A
def test_every_file_is_written_back_byte_for_byte(placed: dict[Path, FileRole]) -> None:
    for path, place in placed.items():
        data = path.read_bytes()
        read = {FileRoleKind.SPEC: read_spec, FileRoleKind.DELTA: read_delta}.get(place.kind)
        assert write(read(data, place.spec_id).document if read else read_document(data)[0]) == data


# Verifies: REQ-o00030-C
def test_251_requirements_and_707_scenarios_are_counted(placed: dict[Path, FileRole], specs: dict[str, Spec]) -> None:
    requirements = [requirement for spec in specs.values() for requirement in spec.requirements]
    headings = [
        line
        for path, place in placed.items()
        if place.kind is FileRoleKind.SPEC
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("#### Scenario:")
    ]
    assert (len(specs), len(requirements), len(headings)) == (36, 251, 707)
    # One of the 707 headings is the example of a heading, in a code block of the description of the format.
    codes = [
        code for each in requirements for scenario in each.scenarios for step in scenario.steps for code in step.code
    ]
    in_code = [line for code in codes for line in code.splitlines() if line.startswith("#### Scenario:")]
    assert len(in_code) == 1
    assert sum(len(each.scenarios) for each in requirements) == 706


# Verifies: REQ-o00030-C
def test_every_scenario_has_its_when_and_then_and_every_spec_is_valid(specs: dict[str, Spec]) -> None:
    for spec in specs.values():
        assert spec.document.diagnostics == ()
        for requirement in spec.requirements:
            assert all(scenario.when and scenario.then for scenario in requirement.scenarios)
        for dialect in Dialect:
            assert is_valid(validate_spec(spec, dialect), strict=True)


# Verifies: REQ-o00030-C
def test_the_deltas_of_every_archived_change_are_read(deltas: dict[FileRole, Delta]) -> None:
    archived = {place: delta for place, delta in deltas.items() if place.archived}
    assert len(archived) == 119
    assert {place.change_id for place, delta in archived.items() if not delta.count} == WITHOUT_DELTAS
    assert [diagnostic for delta in archived.values() for diagnostic in delta.document.diagnostics] == []


# Verifies: REQ-d00074-B
def test_open_changes_are_applied_or_refused_with_a_reason(
    placed: dict[Path, FileRole], open_changes: list[ChangeProposal]
) -> None:
    files = {place.spec_id: path.read_bytes() for path, place in placed.items() if place.kind is FileRoleKind.SPEC}
    done = refused = 0
    for change in open_changes:
        for applied, delta in zip(apply_change(change, files), change.deltas, strict=True):
            if applied.refusals:
                refused += 1
                assert applied.after == applied.before
            else:
                done += 1
                assert apply_delta(applied.after, delta, change_id=change.id).after == applied.after
    assert (done, refused) == (47, 8)


# Verifies: REQ-d00073-C
def test_names_that_no_spec_has_and_lost_scenarios_are_found(
    specs: dict[str, Spec], open_changes: list[ChangeProposal]
) -> None:
    codes = Counter(issue.code for change in open_changes for issue in validate_change(change, specs))
    assert (codes["requirement_unknown"], codes["scenario_dropped"]) == (16, 8)


# Verifies: REQ-d00075-B
def test_the_open_changes_of_the_project_really_conflict(
    specs: dict[str, Spec], open_changes: list[ChangeProposal]
) -> None:
    recorded = {change.id: record(change, specs) for change in open_changes}
    found = conflicts(open_changes, specs, recorded)
    assert {conflict.kind for conflict in found} == {ConflictKind.SAME_REQUIREMENT}
    assert len(found) == 13
    assert ("Skill Generation", ("add-devin-desktop-support", "add-skill-cli-auto-approval")) in [
        (conflict.requirement, conflict.changes) for conflict in found
    ]
