"""Which file is what, in both layouts."""

import pytest

from clew.errors import InvalidArgument
from clew.formats.openspec.layout import (
    FileRoleKind,
    Layout,
    checked_id,
    classify,
    find_roots,
    new_change_folder,
    openspec_root,
    spec_path,
    spox_root,
)

ROOTS = (openspec_root(), spox_root())


# Verifies: REQ-d00072-A
@pytest.mark.parametrize(
    ("path", "kind", "spec_id", "change_id", "archived"),
    [
        ("openspec/specs/auth/spec.md", "spec", "auth", "", False),
        ("openspec/specs/platform/auth/spec.md", "spec", "platform/auth", "", False),
        ("openspec/specs/auth/design.md", "spec_note", "auth", "", False),
        ("openspec/specs/spec.md", "misplaced", "", "", False),
        ("openspec/changes/add-x/proposal.md", "proposal", "", "add-x", False),
        ("openspec/changes/add-x/tasks.md", "tasks", "", "add-x", False),
        ("openspec/changes/add-x/design.md", "design", "", "add-x", False),
        ("openspec/changes/add-x/.openspec.yaml", "metadata", "", "add-x", False),
        ("openspec/changes/add-x/notes.md", "change_note", "", "add-x", False),
        ("openspec/changes/add-x/specs/platform/auth/spec.md", "delta", "platform/auth", "add-x", False),
        ("openspec/changes/add-x/specs/spec.md", "misplaced", "", "add-x", False),
        ("openspec/changes/add-x/specs/auth.md", "delta_note", "", "add-x", False),
        ("openspec/changes/archive/2026-01-02-add-x/specs/auth/spec.md", "delta", "auth", "2026-01-02-add-x", True),
        ("specs/auth/spec.md", "spec", "auth", "", False),
        ("specs/_changes/add-x/specs/auth/spec.md", "delta", "auth", "add-x", False),
        ("specs/_archive/2026-01-02-add-x/proposal.md", "proposal", "", "2026-01-02-add-x", True),
    ],
)
def test_files_are_known_by_their_paths(path: str, kind: str, spec_id: str, change_id: str, archived: bool) -> None:
    place = classify(path, ROOTS)
    assert place is not None
    assert (place.kind, place.spec_id, place.change_id, place.archived) == (
        FileRoleKind(kind),
        spec_id,
        change_id,
        archived,
    )


# Verifies: REQ-d00072-A
@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "openspec/config.yaml",
        "openspec/specs/index.md",
        "openspec/specs/.hidden/spec.md",
        "specs/_templates/x/spec.md",
        "specs/mission.md",
        "openspec/changes/proposal.md",
        "openspec/changes/.x/proposal.md",
        "openspec/changes/add-x/code.py",
        "other/openspec/specs/auth/spec.md",
    ],
)
def test_other_files_are_nothing(path: str) -> None:
    assert classify(path, ROOTS) is None


# Verifies: REQ-d00072-B
def test_roots_are_found_by_their_marks() -> None:
    (only,) = find_roots(["openspec/project.md", "src/a.py"])
    assert only == openspec_root()
    (only,) = find_roots([".spox/config.toml", "specs/auth/spec.md"])
    assert only == spox_root()
    assert find_roots(["specs/001-feature/spec.md", "src/a.py"]) == ()


# Verifies: REQ-d00072-B
def test_several_roots_have_ids_of_their_own() -> None:
    roots = find_roots(
        ["openspec/config.yaml", "packages/web/openspec/specs/auth/spec.md", "specs/_changes/a/proposal.md"]
    )
    assert [(root.layout, root.prefix) for root in roots] == [
        (Layout.OPENSPEC, ""),
        (Layout.OPENSPEC, "packages/web"),
        (Layout.SPOX, "specs"),
    ]
    place = classify("packages/web/openspec/specs/auth/spec.md", roots)
    assert place is not None
    assert place.spec_id == "packages/web/auth"
    assert spec_path(place.root, place.spec_id) == "packages/web/openspec/specs/auth/spec.md"
    assert new_change_folder(place.root, "packages/web/add-x") == "packages/web/openspec/changes/add-x"


# Verifies: REQ-d00072-C
@pytest.mark.parametrize(
    "id", ["..", "../x", "a/../b", "/etc", "a//b", "", ".", "a/", "C:x", "a\\b", "~root", "a\0b", "a\nb", "x" * 401]
)
def test_an_id_that_could_lead_out_of_the_folder_is_refused(id: str) -> None:
    for use in (
        checked_id,
        lambda each: spec_path(openspec_root(), each),
        lambda each: new_change_folder(spox_root(), each),
    ):
        with pytest.raises(InvalidArgument) as caught:
            use(id)
        assert "list_" in caught.value.hint


# Verifies: REQ-d00072-C
def test_usual_ids_are_paths_below_the_folder() -> None:
    assert spec_path(openspec_root(), "platform/auth") == "openspec/specs/platform/auth/spec.md"
    assert spec_path(spox_root("docs/specs"), "灯台") == "docs/specs/灯台/spec.md"
    assert new_change_folder(spox_root(), "add-x") == "specs/_changes/add-x"
