"""The tools beyond the source: changes, validation, search, catalogue, and bad input."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clew.errors import InvalidArgument, NotFound
from clew.project import Project
from clew.text.tokens import estimate_tokens

Tool = Callable[..., dict[str, Any]]


# Verifies: REQ-d00076-C
def test_changes_are_listed_and_shown(folder: Any, call: Tool, brighter: str) -> None:
    folder.change("brighter", tasks="- [x] 1.1 A\n- [ ] 1.2 B\n", lamp=brighter)
    (change,) = call("list_changes")["changes"]
    assert change["task_progress"] == {"completed": 1, "total": 2}
    assert (change["status"], change["added"], change["modified"]) == ("in-progress", 1, 1)
    detail = call("get_change", change_id="brighter")
    assert set(detail) == {"change_id", "proposal", "tasks", "deltas"}
    (delta,) = detail["deltas"]
    assert [(item["operation"], item["name"]) for item in delta["items"]] == [
        ("modified", "Rest by day"),
        ("added", "Ring at noon"),
    ]
    assert delta["items"][0]["scenarios"] == ["Dawn", "Eclipse"]
    full = call("get_change", change_id="brighter", section="deltas", full=True)
    assert "MUST rest by day" in full["deltas"][0]["items"][0]["text"]
    assert set(full) == {"change_id", "deltas"}


# Verifies: REQ-d00076-C
def test_an_archived_change_is_not_open(folder: Any, call: Tool, brighter: str) -> None:
    folder.change("archive/2026-01-01-old", lamp=brighter)
    assert call("list_changes")["changes"] == []


# Verifies: REQ-d00076-B
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_spec_requirements", {"spec_id": "../lamp"}),
        ("get_spec_requirements", {"spec_id": "/etc/passwd"}),
        ("get_scenario", {"spec_id": "a/../lamp", "requirement": "x"}),
        ("get_change", {"change_id": "..\\x"}),
        ("validate_spec", {"spec_id": ".."}),
        ("validate_change", {"change_id": "/x"}),
        ("archive_change", {"change_id": "../x"}),
        ("get_change", {"change_id": "brighter", "section": "tests"}),
    ],
)
def test_ids_that_lead_elsewhere_are_refused(call: Tool, tool: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        call(tool, **arguments)


# Verifies: REQ-d00076-B
def test_what_is_missing_is_said_with_what_is_near(folder: Any, call: Tool, brighter: str) -> None:
    folder.change("brighter", lamp=brighter)
    for tool, arguments, near in (
        ("get_change", {"change_id": "brigther"}, "brighter"),
        ("get_scenario", {"spec_id": "lamp", "requirement": "Burn by night"}, "Burn at night"),
        ("get_change", {"change_id": "brighter", "section": "design"}, "design.md"),
    ):
        with pytest.raises(NotFound) as caught:
            call(tool, **arguments)
        assert near in caught.value.hint


# Verifies: REQ-d00076-C
def test_a_spec_is_shown_in_more_detail_on_demand(folder: Any, call: Tool) -> None:
    folder.spec("lamp", (folder.specs / "lamp" / "spec.md").read_text(encoding="utf-8") + "\n## Notes\n\nOld.\n")
    whole = call("get_spec_requirements", spec_id="lamp", detail="outline")
    assert whole["purpose"].startswith("The lamp shows ships")
    assert whole["sections"] == [{"heading": "Notes", "line": 23, "end_line": 25}]
    assert call("get_spec_requirements", spec_id="lamp")["sections"] is None
    outline = whole["requirements"]
    assert outline[0]["text"] == "The lamp SHALL burn from dusk to dawn."
    assert outline[0]["scenarios"] == [{"name": "Dusk falls", "slug": "dusk-falls", "line": 12}]
    (full,) = call("get_spec_requirements", spec_id="lamp", requirement="rest-by-day", detail="full")["requirements"]
    assert full["text"].startswith("### Requirement: Rest by day")
    assert full["text"].endswith("the lamp is out")


# Verifies: REQ-d00076-C
def test_validation_reports_codes_lines_and_similar_names(folder: Any, call: Tool) -> None:
    folder.change("typo", lamp="## REMOVED Requirements\n### Requirement: Rest by daylight\n")
    report = call("validate_change", change_id="typo")
    assert not report["valid"]
    (error,) = report["errors"]
    assert (error["code"], error["file"], error["line"]) == ("requirement_unknown", "specs/lamp/spec.md", 2)
    assert "'Rest by day'" in error["description"]
    assert call("validate_change", change_id="typo", rules="openspec")["valid"]
    everything = call("validate_change")
    assert everything["errors"][0]["file"] == "typo/specs/lamp/spec.md"


def write_many(folder: Any, ids: list[str]) -> None:
    for id in ids:
        purpose = f"What {id} is for, described in a sentence that goes on and on for quite a while."
        folder.spec(id, f"# P\n\n## Purpose\n{purpose}\n\n## Requirements\n")


# Verifies: REQ-d00076-C
def test_a_catalogue_of_300_specs_is_one_answer_of_under_3000_tokens(folder: Any, call: Tool) -> None:
    verbs, nouns = ("add", "show", "list", "move", "sign", "send"), "abcdefghijklmnopqrstuvwxyz"
    ids = [f"{verb}-{first}{second}" for verb in verbs for first in nouns[:10] for second in nouns[:5]]
    write_many(folder, ids[:299])
    page = call("spec_catalogue")
    assert estimate_tokens(json.dumps(page)) < 3_000
    assert (len(page["lines"]), page["total"], page["next_cursor"]) == (300, 300, None)
    assert page["lines"][0].startswith("add-aa 0/0")


# Verifies: REQ-d00076-C
def test_a_catalogue_that_needs_more_room_goes_on_page_by_page(folder: Any, call: Tool) -> None:
    write_many(folder, [f"lighthouse/of-the-north/part-{number:03}" for number in range(300)])
    lines: list[str] = []
    cursor: dict[str, str] = {}
    while cursor or not lines:
        page = call("spec_catalogue", **cursor)
        assert estimate_tokens(json.dumps(page)) < 3_000
        lines += page["lines"]
        cursor = {"cursor": page["next_cursor"]} if page["next_cursor"] else {}
    assert len(lines) == 301


# Verifies: REQ-d00076-C
def test_a_catalogue_has_more_words_for_fewer_specs_and_goes_on_after_a_page(folder: Any, call: Tool) -> None:
    assert call("spec_catalogue")["lines"] == [
        "lamp 2/2 The lamp shows ships where the rock is, in every night and in every weather."
    ]
    for number in range(9):
        folder.spec(f"part-{number}", "# P\n\n## Purpose\nIt is.\n\n## Requirements\n")
    first = call("spec_catalogue", limit=6)
    second = call("spec_catalogue", limit=6, cursor=first["next_cursor"])
    assert (len(first["lines"]), len(second["lines"]), second["next_cursor"]) == (6, 4, None)


# Verifies: REQ-d00077-A
def test_search_finds_purposes_requirements_scenarios_and_changes(folder: Any, call: Tool, brighter: str) -> None:
    folder.change("brighter", lamp=brighter)
    call("rebuild_index")
    (hit, *_) = call("search_specs", query="sun sets")["results"]
    assert (hit["spec_id"], hit["requirement"], hit["scenario"]) == ("lamp", "Burn at night", "Dusk falls")
    assert (hit["line"], hit["reference"]) == (12, "lamp/burn-at-night#dusk-falls")
    assert "sun sets" in hit["snippet"]
    (purpose, *_) = call("search_specs", query="ships rock weather")["results"]
    assert (purpose["requirement"], purpose["scenario"], purpose["line"]) == (None, None, 3)
    assert call("search_specs", query="bell ring noon")["results"] == []
    (change, *_) = call("search_specs", query="bell ring noon", include_changes=True)["results"]
    assert (change["change_id"], change["requirement"]) == ("brighter", "Ring at noon")
    assert (change["path"], change["line"]) == ("openspec/changes/brighter/specs/lamp/spec.md", 16)
    assert call("search_specs", query="sun", top_k=0)["results"] == []
    assert call("search_specs", query="sun", spec_prefix="tower")["results"] == []


# Verifies: REQ-d00077-C
def test_the_index_follows_the_files(folder: Any, call: Tool, opened: Callable[[Path], Project]) -> None:
    answer = call("search_specs", query="sun sets", auto_build=True)
    assert answer["index_built"]
    horn = folder.spec(
        "horn", "# Horn\n## Purpose\nIt warns.\n## Requirements\n### Requirement: Blow\nIt MUST blow a trumpet.\n"
    )
    assert call("search_specs", query="trumpet")["results"][0]["spec_id"] == "horn"
    assert not call("search_specs", query="trumpet")["index_built"]
    horn.unlink()
    assert call("search_specs", query="trumpet")["results"] == []


# Verifies: REQ-d00077-C
def test_an_index_of_another_process_is_used(folder: Any, call: Tool, opened: Callable[[Path], Project]) -> None:
    call("rebuild_index")
    other = opened(folder.root)
    other.ensure_graph()
    hits = other.specs.index.search(other.specs.library, "sun sets")
    assert not hits.index_built
    assert hits.results[0].reference == "lamp/burn-at-night#dusk-falls"


# Verifies: REQ-d00077-C
def test_an_index_that_another_process_left_is_brought_up_to_date(
    folder: Any, project: Project, call: Tool, brighter: str, opened: Callable[[Path], Project]
) -> None:
    folder.spec("horn", "# Horn\n## Purpose\nIt warns.\n## Requirements\n### Requirement: Blow\nIt MUST blow.\n")
    folder.change("brighter", lamp=brighter)
    call("rebuild_index")
    project.close()
    (folder.specs / "horn" / "spec.md").unlink()
    lamp = (folder.specs / "lamp" / "spec.md").read_text(encoding="utf-8")
    folder.spec("lamp", lamp.replace("the sun sets", "the evening star is seen"))
    other = opened(folder.root)
    other.ensure_graph()

    def found(query: str) -> list[str]:
        hits = other.specs.index.search(other.specs.library, query, with_changes=True).results
        return [hit.reference for hit in hits]

    assert found("evening star") == ["lamp/burn-at-night#dusk-falls"]
    assert found("blow") == []
    assert found("eclipse") == ["lamp/rest-by-day"]


# Verifies: REQ-d00075-A
def test_a_server_remembers_what_changes_touch_as_soon_as_it_starts(
    folder: Any, brighter: str, opened: Callable[[Path], Project]
) -> None:
    folder.change("brighter", lamp=brighter)
    server = opened(folder.root)
    server.build_in_background()
    for thread in threading.enumerate():
        if thread.name == "clew-start":
            thread.join()
    server.close()
    text = (folder.specs / "lamp" / "spec.md").read_text(encoding="utf-8")
    folder.spec("lamp", text.replace("out by day", "dark by day"))
    other = opened(folder.root)
    other.ensure_graph()
    assert [each.kind for each in other.specs.conflicts().conflicts] == ["base_moved"]


# Verifies: REQ-d00076-C
def test_the_full_delta_of_a_change_is_within_reach_however_long_it_is(folder: Any, call: Tool) -> None:
    long = "\n\n".join(f"Sentence {number} SHALL be read by somebody." for number in range(150))
    texts = {
        name: f"### Requirement: {name}\n{long}\n\n#### Scenario: S\n- **WHEN** x\n- **THEN** y\n"
        for name in ("One", "Two", "Three")
    }
    added = "## ADDED Requirements\n" + "\n".join(texts.values())
    folder.change("longer", lamp=added, bell=added + "\n## RENAMED Requirements\n- FROM: Four\n- TO: Five\n")
    found = call("get_change", change_id="longer", section="deltas", full=True)
    assert found["truncated"]
    assert [len(part["items"]) for part in found["deltas"]] == [4, 3]
    assert "text" in found["deltas"][0]["items"][0]
    assert "text" not in found["deltas"][1]["items"][2]
    for name, text in texts.items():
        asked = {"section": "deltas", "full": True, "spec_id": "lamp", "requirement": name.lower()}
        found = call("get_change", change_id="longer", max_tokens=20_000, **asked)
        ((part,), more) = found["deltas"], found.get("truncated", False)
        assert (part["capability"], [item["text"] for item in part["items"]], more) == ("lamp", [text.strip()], False)
    (part,) = call("get_change", change_id="longer", section="deltas", requirement="Five")["deltas"]
    assert [item["name"] for item in part["items"]] == ["Four"]
    for asked in ({"spec_id": "horn"}, {"spec_id": "../lamp"}, {"requirement": "Nine"}):
        with pytest.raises((NotFound, InvalidArgument)):
            call("get_change", change_id="longer", **asked)


# Verifies: REQ-d00076-F
@pytest.mark.parametrize("max_tokens", [None, 400, 20_000])
def test_very_many_findings_come_page_by_page_within_the_budget(
    folder: Any, call: Tool, max_tokens: int | None
) -> None:
    broken = "".join(f"### Requirement: Rule {number}\nIt is so.\n\n" for number in range(100 if max_tokens else 500))
    folder.spec("many", f"# Many\n\n## Purpose\nShort.\n\n## Requirements\n{broken}")
    asked = {"max_tokens": max_tokens} if max_tokens else {}
    pages = [call("validate_spec", limit=500, **asked)]
    while pages[-1]["next_cursor"] is not None:
        assert pages[-1]["truncated"]
        pages.append(call("validate_spec", limit=500, cursor=pages[-1]["next_cursor"], **asked))
    assert not pages[-1]["truncated"]
    found = [(level, issue) for page in pages for level in ("errors", "warnings", "infos") for issue in page[level]]
    whole = call_all(folder.root)
    assert found == [(level, issue) for level in ("errors", "warnings", "infos") for issue in whole[level]]
    assert {page["summary"] for page in pages} == {whole["summary"]}
    room = (max_tokens or 4_000) // 2
    assert all(estimate_tokens(json.dumps(page, separators=(",", ":"))) <= room * 1.02 for page in pages)


def call_all(root: Path) -> dict[str, Any]:
    """What the command line says, which has no bounds."""
    project = Project.open(root)
    project.ensure_graph()
    found: dict[str, Any] = msgspec.to_builtins(project.specs.validate_specs(None))
    project.close()
    return found
