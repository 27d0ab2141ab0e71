"""What nobody should write, and what nobody should lose because somebody did."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.errors import ClewError, InvalidArgument, NotFound, Refused
from clew.project import Project
from clew.specs.operations.commands import ArchiveNow
from clew.text.tokens import estimate_tokens

Tool = Callable[..., dict[str, Any]]
SCENARIO = "\n#### Scenario: S\n- **WHEN** x\n- **THEN** y\n"
PURPOSE = "## Purpose\nIt is here so that something can be said about it, at some length.\n\n"


def codes(report: dict[str, Any]) -> list[str]:
    return [issue["code"] for issue in report["errors"]]


# Verifies: REQ-d00076-B, REQ-d00079-A
@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"# A\n\n## Requirements\n\n### Requirement: R\nIt SHALL.\n{SCENARIO}", "purpose_missing"),
        (f"# A\n\n{PURPOSE}## Requirements\n\n### Requirement: R\n{SCENARIO}", "requirement_empty"),
        (f"# A\n\n{PURPOSE}## Requirements\n\n### Requirement:\nIt SHALL.\n{SCENARIO}", "empty_name"),
        (
            f"# A\n\n{PURPOSE}## Requirements\n" + f"\n### Requirement: R\nIt SHALL.\n{SCENARIO}" * 2,
            "duplicate_requirement",
        ),
        (f"# A\n\n{PURPOSE}```\n## Requirements\n\n### Requirement: R\nIt SHALL.\n{SCENARIO}", "requirements_missing"),
        (f"# A\n\n{PURPOSE}## ADDED Requirements\n\n### Requirement: R\nIt SHALL.\n{SCENARIO}", "delta_header_in_spec"),
        ("", "purpose_missing"),
    ],
)
def test_a_spec_with_a_fault_is_listed_with_it(folder: Any, call: Tool, text: str, code: str) -> None:
    folder.spec("odd", text)
    (spec,) = (each for each in call("list_specs")["specs"] if each["id"] == "odd")
    assert spec["problems"] > 0
    report = call("validate_spec", spec_id="odd")
    assert code in codes(report)
    assert all(issue["line"] >= 1 and issue["file"].endswith("odd/spec.md") for issue in report["errors"])
    assert call("get_spec_requirements", spec_id="odd", detail="full")["total"] == spec["requirements"]
    assert call("search_specs", query="odd", auto_build=True)["stale_specs"] == []


# Verifies: REQ-d00079-A
def test_two_requirements_of_one_name_are_both_reached(folder: Any, call: Tool) -> None:
    first = f"\n### Requirement: R\nThe first SHALL.\n{SCENARIO}"
    folder.spec("odd", f"# A\n\n{PURPOSE}## Requirements\n{first}{first.replace('first', 'second')}")
    names = [each["slug"] for each in call("get_spec_requirements", spec_id="odd")["requirements"]]
    assert names == ["r", "r-2"]
    texts = [call("get_scenario", spec_id="odd", requirement=slug)["requirement_description"] for slug in names]
    assert texts == ["The first SHALL.", "The second SHALL."]
    folder.change("apart", odd="## REMOVED Requirements\n### Requirement: R\n")
    with pytest.raises(Refused) as caught:
        call("archive_change", change_id="apart")
    assert "is there already" in caught.value.message


# Verifies: REQ-d00079-A, REQ-d00076-C
def test_a_spec_of_12000_lines_is_read_listed_and_paged(folder: Any, call: Tool) -> None:
    scenarios = "".join(
        f"\n#### Scenario: S {number}\n- **GIVEN** a\n- **WHEN** b\n- **THEN** c\n- **AND** d\n" for number in range(6)
    )
    requirements = "".join(f"\n### Requirement: R {number}\nIt SHALL.\n{scenarios}" for number in range(320))
    text = f"# Large\n\n{PURPOSE}## Requirements\n{requirements}"
    assert text.count("\n") > 12_000
    folder.spec("large", text)
    (large,) = (each for each in call("list_specs")["specs"] if each["id"] == "large")
    assert (large["requirements"], large["scenarios"], large["problems"]) == (320, 1_920, 0)
    names: list[str] = []
    cursor = None
    while cursor is not None or not names:
        page = call("get_spec_requirements", spec_id="large", detail="full", **({"cursor": cursor} if cursor else {}))
        assert estimate_tokens(str(page)) < 20_000
        names += [each["name"] for each in page["requirements"]]
        cursor = page["next_cursor"]
    assert names == [f"R {number}" for number in range(320)]
    last = call("get_scenario", spec_id="large", requirement="R 319", scenario="S 5")
    assert last["scenario"]["end_line"] == text.count("\n")


# Verifies: REQ-d00076-B
def test_a_change_for_a_spec_that_does_not_exist_is_reported_and_refused(
    folder: Any, project: Project, call: Tool, brighter: str
) -> None:
    folder.change("stray", lamb=brighter[: brighter.index("## ADDED")])
    report = call("validate_change", change_id="stray")
    assert codes(report) == ["spec_unknown"]
    assert "'lamp'" in report["errors"][0]["description"]
    with pytest.raises(Refused):
        project.specs.archive(ArchiveNow(change_id="stray"))
    assert not (folder.specs / "lamb").exists()


# Verifies: REQ-d00076-B
@pytest.mark.parametrize(
    "lines", ["- FROM: `### Requirement: Rest by day`", "- TO: `### Requirement: Sleep`", "Rest by day becomes Sleep"]
)
def test_half_a_rename_is_reported_and_refused(folder: Any, project: Project, call: Tool, lines: str) -> None:
    folder.change("half", lamp=f"## RENAMED Requirements\n\n{lines}\n")
    report = call("validate_change", change_id="half")
    assert {"unpaired_rename", "unreadable_rename"} & set(codes(report))
    before = (folder.specs / "lamp" / "spec.md").read_bytes()
    with pytest.raises(Refused):
        project.specs.archive(ArchiveNow(change_id="half"))
    assert (folder.specs / "lamp" / "spec.md").read_bytes() == before


# Verifies: REQ-d00076-B
@pytest.mark.parametrize("id", ["..", "../lamp", "/etc", "lamp/../lamp", "~", "a\\b", "C:lamp", "lamp\n", "x" * 401])
def test_no_id_leads_out_of_its_folder(project: Project, call: Tool, id: str) -> None:
    for tool, arguments in (
        ("get_spec_requirements", {"spec_id": id}),
        ("get_scenario", {"spec_id": id, "requirement": "r"}),
        ("validate_spec", {"spec_id": id}),
        ("get_change", {"change_id": id}),
        ("validate_change", {"change_id": id}),
        ("change_conflicts", {"change_id": id}),
        ("rebase_change", {"change_id": id}),
        ("archive_change", {"change_id": id}),
    ):
        with pytest.raises(InvalidArgument):
            call(tool, **arguments)
    with pytest.raises(InvalidArgument):
        project.specs.new_change(id)


# Verifies: REQ-d00076-B
def test_a_link_is_no_way_out_for_a_change(folder: Any, project: Project, call: Tool, brighter: str) -> None:
    outside = folder.root.parent / f"{folder.root.name}-outside"
    outside.mkdir()
    (outside / "proposal.md").write_text("## Why\nsecret\n", encoding="utf-8")
    folder.changes.mkdir(parents=True, exist_ok=True)
    (folder.changes / "leaving").symlink_to(outside)
    inside = folder.change("inside", lamp=brighter)
    (inside / "design.md").symlink_to(outside / "proposal.md")
    assert [each["id"] for each in call("list_changes")["changes"]] == ["inside"]
    with pytest.raises(NotFound):
        call("get_change", change_id="leaving")
    assert "design" not in call("get_change", change_id="inside")


# Verifies: REQ-d00077-A
def test_long_and_strange_names_are_found_all_the_same(folder: Any, call: Tool) -> None:
    long = "very " * 200 + "long"
    folder.spec("odd", f"# A\n\n{PURPOSE}## Requirements\n\n### Requirement: {long}\nIt SHALL gleam.\n{SCENARIO}")
    folder.spec(
        "with space/灯台", f"# 灯台\n\n{PURPOSE}## Requirements\n\n### Requirement: 光る\n光 SHALL.\n{SCENARIO}"
    )
    (hit, *_) = call("search_specs", query="gleam", auto_build=True)["results"]
    assert (hit["spec_id"], hit["requirement"]) == ("odd", long)
    (hit, *_) = call("search_specs", query="光る")["results"]
    assert (hit["spec_id"], hit["line"]) == ("with space/灯台", 8)


# Verifies: REQ-d00077-D
def test_a_corrupt_index_is_built_anew_and_costs_nothing_else(
    folder: Any, project: Project, call: Tool, opened: Callable[[Path], Project]
) -> None:
    call("rebuild_index")
    project.close()
    index = folder.root / ".clew" / "search" / "index.db"
    index.write_bytes(b"this is no database" * 1_000)
    other = opened(folder.root)
    other.ensure_graph()
    assert [each.id for each in other.specs.list_specs().specs] == ["lamp"]
    with pytest.raises(Refused) as caught:
        other.specs.index.search(other.specs.library, "sun sets")
    assert "rebuild_index" in caught.value.hint
    assert other.specs.index.rebuild(other.specs.library).specs_indexed == 1
    assert other.specs.index.search(other.specs.library, "sun sets").results


# Verifies: REQ-d00077-D
def test_an_index_of_another_model_still_answers_and_says_so(
    folder: Any, opened: Callable[[Path], Project], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = folder.root / "clew.toml"
    settings.write_text("[search]\nbackground = false\n", encoding="utf-8")
    first = opened(folder.root)
    first.ensure_graph()
    first.specs.index.rebuild(first.specs.library)
    first.index.make_vectors(lambda done, total, message: None)
    found = first.specs.index.search(first.specs.library, "nightfall")
    assert "with embeddings" in found.indexed
    first.close()
    # A service is for the user to name, not for a project.
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    (tmp_path / "user" / "clew").mkdir(parents=True)
    (tmp_path / "user" / "clew" / "config.toml").write_text(
        '[embedder]\nkind = "endpoint"\nurl = "http://127.0.0.1:9/v1"\nmodel = "other"\n'
        "attempts = 1\ntimeout_seconds = 1.0\n",
        encoding="utf-8",
    )
    second = opened(folder.root)
    second.ensure_graph()
    found = second.specs.index.search(second.specs.library, "sun sets")
    assert found.results[0].reference == "lamp/burn-at-night#dusk-falls"
    assert found.notes


# Verifies: REQ-d00076-B
def test_tools_that_change_requirements_refuse_those_of_specs(folder: Any, call: Tool) -> None:
    before = (folder.specs / "lamp" / "spec.md").read_bytes()
    requirement, scenario = "lamp/rest-by-day", "lamp/rest-by-day#dawn"
    for tool, arguments in (
        ("mutate_update_title", {"node_id": requirement, "new_title": "Sleep"}),
        ("mutate_change_status", {"node_id": requirement, "new_status": "Draft"}),
        ("mutate_rename_node", {"old_id": requirement, "new_id": "REQ-d00001"}),
        ("mutate_delete_requirement", {"node_id": requirement, "confirm": True}),
        ("mutate_add_assertion", {"req_id": requirement, "label": "A", "text": "It SHALL."}),
        ("mutate_update_assertion", {"assertion_id": scenario, "new_text": "It SHALL."}),
        ("mutate_delete_assertion", {"assertion_id": scenario, "confirm": True}),
        ("mutate_rename_assertion", {"old_id": scenario, "new_label": "B"}),
        ("move_requirement", {"req_id": requirement, "target_file": "spec/a.md"}),
    ):
        with pytest.raises(ClewError) as caught:
            call(tool, **arguments)
        assert "openspec/specs/lamp/spec.md" in caught.value.message
    assert call("get_mutation_log")["count"] == 0
    assert (folder.specs / "lamp" / "spec.md").read_bytes() == before


# Verifies: REQ-d00079-A
def test_a_spec_that_cannot_be_read_is_listed_with_the_reason(folder: Any, call: Tool, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.md"
    outside.write_text("# Elsewhere\n", encoding="utf-8")
    folder.spec("linked", "").unlink()
    (folder.specs / "linked" / "spec.md").symlink_to(outside)
    folder.spec("binary", "").write_bytes(b"# Nothing\0\n")
    listed = {each["id"]: each["problems"] for each in call("list_specs")["specs"]}
    assert listed == {"binary": 1, "lamp": 0, "linked": 1}
    assert [line.split()[0] for line in call("spec_catalogue")["lines"]] == ["binary", "lamp", "linked"]
    for id, code in (("binary", "file.binary"), ("linked", "file.outside")):
        report = call("validate_spec", spec_id=id)
        assert (report["valid"], [each["code"] for each in report["errors"]]) == (False, [code])
        with pytest.raises(NotFound) as caught:
            call("get_spec_requirements", spec_id=id)
        assert "could not be read" in caught.value.message
    assert call("validate_spec")["summary"].startswith("3 specs checked: not valid, 2 errors")
    folder.change("brighter", binary=f"## ADDED Requirements\n### Requirement: R\nIt SHALL.\n{SCENARIO}")
    with pytest.raises(NotFound) as caught:
        call("archive_change", change_id="brighter")
    assert "could not be read" in caught.value.message


# Verifies: REQ-d00079-A
def test_a_spec_without_a_folder_of_its_own_is_reported(folder: Any, call: Tool) -> None:
    folder.spec(".", "# Nobody's\n")
    assert [each["id"] for each in call("list_specs")["specs"]] == ["lamp"]
    (warning,) = call("validate_spec")["warnings"]
    assert (warning["file"], warning["code"]) == ("openspec/specs/spec.md", "openspec.misplaced_spec")


# Verifies: REQ-d00074-C
@pytest.mark.parametrize("path", ["specs/lamp.md", "specs/lamp/more.md"])
def test_a_delta_under_another_name_is_not_archived_unapplied(
    folder: Any, call: Tool, brighter: str, path: str
) -> None:
    source = folder.change("brighter", lamp=brighter)
    (source / "specs" / "lamp" / "notes.md").write_text("# Nothing of a delta\n", encoding="utf-8")
    assert call("validate_change", change_id="brighter")["valid"]
    (source / path).write_text(brighter[brighter.index("## ADDED") :], encoding="utf-8")
    (error,) = call("validate_change", change_id="brighter")["errors"]
    assert (error["code"], path in error["description"]) == ("delta_misnamed", True)
    with pytest.raises(Refused):
        call("archive_change", change_id="brighter")


# Verifies: REQ-d00076-C
def test_a_file_of_a_change_that_cannot_be_read_makes_it_invalid(folder: Any, call: Tool, brighter: str) -> None:
    source = folder.change("brighter", lamp=brighter, bell="")
    (source / "specs" / "bell" / "spec.md").write_bytes(b"\0")
    (error,) = call("validate_change", change_id="brighter")["errors"]
    assert (error["file"], error["code"], error["section"]) == ("specs/bell/spec.md", "file.binary", "deltas")


# Verifies: REQ-d00077-A
def test_a_search_that_could_find_nothing_says_so(folder: Any, call: Tool, brighter: str) -> None:
    folder.spec("platform/bell", "# Bell at dawn\n")
    folder.change("brighter", lamp=brighter, horn=brighter[brighter.index("## ADDED") :])
    for arguments in ({"query": "  "}, {"query": "dawn", "spec_prefix": "../lamp"}):
        with pytest.raises(InvalidArgument):
            call("search_specs", auto_build=True, **arguments)
    found = call("search_specs", query="dawn", spec_prefix="lamb", auto_build=True)
    assert found["results"] == []
    assert "'lamp'" in found["notes"][0]
    for prefix, query in (("lamp", "dawn"), ("platform/", "dawn"), ("platform/bell", "dawn"), ("horn", "noon")):
        found = call("search_specs", query=query, spec_prefix=prefix, include_changes=True)
        assert (len(found["results"]) > 0, any("below it" in note for note in found["notes"])) == (True, False)
