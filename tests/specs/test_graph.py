"""Specs in the one graph: scenarios are assertions that tests verify."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from clew.graph.model import NodeKind
from clew.project import Project
from clew.specs.operations.commands import ArchiveNow

Tool = Callable[..., dict[str, Any]]


def write_tests(root: Path, text: str) -> None:
    (root / "tests").mkdir(exist_ok=True)
    (root / "tests" / "test_lamp.py").write_text(text, encoding="utf-8")


# Verifies: REQ-d00079-A
def test_specs_requirements_and_scenarios_are_nodes(folder: Any, project: Project) -> None:
    project.ensure_graph()
    assert project.graph.node_counts() == {"requirement": 2, "assertion": 2, "spec": 1}
    node = project.graph.get_node("lamp/burn-at-night")
    assert node is not None
    assert (node.title, node.get_field("labels")) == ("Burn at night", ("dusk-falls",))
    assert node.source is not None
    assert (node.source.path, node.source.line) == ("openspec/specs/lamp/spec.md", 9)
    scenario = project.graph.get_node("lamp/burn-at-night#dusk-falls")
    assert scenario is not None
    assert scenario.kind is NodeKind.ASSERTION
    assert scenario.title == "Dusk falls: WHEN the sun sets, THEN the lamp burns"
    detail = project.trace.requirement("lamp/burn-at-night")
    assert [parent.id for parent in detail.parents] == ["spec:lamp"]


# Verifies: REQ-d00079-B
def test_a_test_verifies_scenarios_in_full_and_in_short(folder: Any, project: Project, call: Tool) -> None:
    write_tests(
        folder.root,
        "# Verifies: lamp/burn-at-night#dusk-falls\ndef test_dusk() -> None: ...\n\n\n"
        "# Verifies: rest-by-day#dawn\ndef test_dawn() -> None: ...\n\n\n"
        "# Verifies: lamp/rest-by-day\ndef test_all() -> None: ...\n\n\n"
        "# Verifies: lamp/burn-at-night#noon\ndef test_wrong() -> None: ...\n",
    )
    project.ensure_graph()
    assert project.graph.metrics("lamp/burn-at-night")["tested"] == 1
    assert project.graph.metrics("lamp/rest-by-day")["tests"] == 2
    (broken,) = project.graph.memory.broken
    assert (broken.target_id, broken.fault) == ("lamp/burn-at-night#noon", "unknown_assertion")
    assert call("get_scenario", spec_id="lamp", requirement="burn-at-night")["tested"]


# Verifies: REQ-d00079-B
def test_a_short_form_means_nothing_while_two_specs_share_it(folder: Any, project: Project) -> None:
    write_tests(folder.root, "# Verifies: rest-by-day#dawn\ndef test_dawn() -> None: ...\n")
    project.ensure_graph()
    assert len(project.graph.memory.broken) == 0
    second = folder.spec("tower/lamp", (folder.specs / "lamp" / "spec.md").read_text(encoding="utf-8"))
    project.refresh()
    assert [each.target_id for each in project.graph.memory.broken] == ["rest-by-day#dawn"]
    assert project.graph.metrics("lamp/rest-by-day")["tests"] == 0
    second.unlink()
    project.refresh()
    assert len(project.graph.memory.broken) == 0
    assert project.graph.metrics("lamp/rest-by-day")["tested"] == 1


# Verifies: REQ-d00079-B
def test_words_and_paths_in_comments_are_no_references(folder: Any, project: Project) -> None:
    write_tests(
        folder.root,
        "# Tests: the client/server protocol\ndef test_a() -> None: ...\n\n\n"
        "# Verifies src/lamp\ndef test_b() -> None: ...\n",
    )
    project.ensure_graph()
    assert len(project.graph.memory.broken) == 0


# Verifies: REQ-d00079-A
def test_both_layouts_and_several_roots_are_read(
    tmp_path: Path, folder: Any, opened: Callable[[Path], Project]
) -> None:
    web = folder.root / "packages" / "web" / "openspec" / "specs" / "page"
    web.mkdir(parents=True)
    (web / "spec.md").write_text("## Requirements\n### Requirement: Show\nMUST\n", encoding="utf-8")
    (folder.root / "clew.toml").write_text(
        '[specs]\nfolders = ["openspec", "packages/web/openspec"]\n', encoding="utf-8"
    )
    project = opened(folder.root)
    project.ensure_graph()
    assert list(project.specs.library.specs) == ["lamp", "packages/web/page"]


# Verifies: REQ-d00079-A
def test_an_edited_spec_is_seen_and_a_broken_one_is_listed_with_its_problems(
    folder: Any, project: Project, call: Tool
) -> None:
    assert call("list_specs")["specs"][0]["problems"] == 0
    folder.spec("lamp", "# Lamp\n\n```\n## Requirements\n")
    (spec,) = call("list_specs")["specs"]
    assert (spec["id"], spec["requirements"]) == ("lamp", 0)
    assert spec["problems"] > 0
    codes = {issue["code"] for issue in call("validate_spec", spec_id="lamp")["errors"]}
    assert codes == {"purpose_missing", "requirements_missing"}


# Verifies: REQ-d00079-A
def test_a_link_that_leaves_the_project_is_not_followed(folder: Any, project: Project, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "spec.md").write_text("# Secret\n", encoding="utf-8")
    (folder.specs / "secret").mkdir()
    (folder.specs / "secret" / "spec.md").symlink_to(outside / "spec.md")
    (folder.specs / "linked").symlink_to(outside)
    project.ensure_graph()
    assert list(project.specs.library.specs) == ["lamp"]


# Verifies: REQ-d00079-B
def test_a_test_that_cites_in_full_and_in_short_keeps_what_still_holds(folder: Any, project: Project) -> None:
    write_tests(folder.root, "# Verifies: lamp/rest-by-day#dawn, rest-by-day#dawn\ndef test_dawn() -> None: ...\n")
    project.ensure_graph()
    assert project.graph.metrics("lamp/rest-by-day")["tested"] == 1
    text = (folder.specs / "lamp" / "spec.md").read_text(encoding="utf-8")
    folder.spec("tower/lamp", text)
    project.refresh()
    assert project.graph.metrics("lamp/rest-by-day")["tested"] == 1
    assert [each.target_id for each in project.graph.memory.broken] == ["rest-by-day#dawn"]
    folder.spec("lamp", text.replace("out by day", "dark by day"))
    project.refresh()
    kept = project.graph.memory.snapshot()[1:]
    project.refresh(full=True)
    assert project.graph.memory.snapshot()[1:] == kept


# Verifies: REQ-d00079-A
def test_without_any_configuration_packages_may_have_specs_of_their_own(
    tmp_path: Path, opened: Callable[[Path], Project]
) -> None:
    for package in ("web", "api"):
        place = tmp_path / "packages" / package / "openspec" / "specs" / "auth"
        place.mkdir(parents=True)
        (place / "spec.md").write_text("## Requirements\n### Requirement: Log in\nMUST\n", encoding="utf-8")
    project = opened(tmp_path)
    project.ensure_graph()
    assert list(project.specs.library.specs) == ["packages/api/auth", "packages/web/auth"]
    files = project.specs.new_change("packages/web/add-logout")
    assert files[0] == "packages/web/openspec/changes/add-logout/proposal.md"
    assert list(project.specs.library.changes) == ["packages/web/add-logout"]


# Verifies: REQ-d00079-A
def test_a_folder_in_each_layout_with_the_same_names_hides_nothing(
    folder: Any, opened: Callable[[Path], Project]
) -> None:
    other = folder.root / "specs" / "lamp"
    other.mkdir(parents=True)
    (other / "spec.md").write_bytes((folder.specs / "lamp" / "spec.md").read_bytes())
    (folder.root / ".spox").mkdir()
    (folder.root / ".spox" / "config.toml").write_text('[paths]\nspec_folder = "specs"\n', encoding="utf-8")
    project = opened(folder.root)
    project.ensure_graph()
    assert list(project.specs.library.specs) == ["lamp", "specs/lamp"]


# Verifies: REQ-d00079-A
def test_notes_are_no_problems(folder: Any, call: Tool) -> None:
    text = (folder.specs / "lamp" / "spec.md").read_text(encoding="utf-8")
    folder.spec("lamp", text.replace("SHALL be out by day.", "SHALL be out by day. " * 40))
    assert call("list_specs")["specs"][0]["problems"] == 0
    assert [issue["code"] for issue in call("validate_spec")["infos"]] == ["requirement_long"]


# Verifies: REQ-d00079-A
def test_a_first_change_and_its_tests_are_seen_before_there_is_any_spec(
    tmp_path: Path, opened: Callable[[Path], Project]
) -> None:
    project = opened(tmp_path)
    project.specs.new_change("add-lamp")
    project.close()
    delta = tmp_path / "openspec" / "changes" / "add-lamp" / "specs" / "lamp" / "spec.md"
    delta.parent.mkdir(parents=True)
    scenario = "#### Scenario: Dusk\n- **WHEN** x\n- **THEN** y\n"
    delta.write_text(f"## ADDED Requirements\n### Requirement: Burn\nIt SHALL.\n{scenario}", encoding="utf-8")
    write_tests(tmp_path, "# Verifies: lamp/burn#dusk\ndef test_dusk() -> None: ...\n")
    project = opened(tmp_path)
    project.ensure_graph()
    project.specs.archive(ArchiveNow(change_id="add-lamp", unfinished=True))
    assert len(project.graph.memory.broken) == 0
    assert project.graph.metrics("lamp/burn")["tested"] == 1
