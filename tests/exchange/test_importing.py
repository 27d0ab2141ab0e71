"""`clew import` and `clew export`, as a person calls them."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.conftest import REGISTER, Clew, files_of

from clew.exchange.imports_file import ImportRecord
from clew.exchange.model import Item
from clew.exchange.renames import under_original_ids
from clew.operation.call import Call, perform
from clew.project import Project
from clew.trace.operations.mutations import MutateUpdateTitle

ITEMS: list[dict[str, Any]] = [
    {
        "id": "SYS-1",
        "title": "Keep time",
        "text": "The clock shall keep the time of day.",
        "criteria": [{"label": "a", "text": "The clock shall show the hour."}],
        "attributes": {"status": "open", "Rationale": "People are late without it."},
    },
    {
        "id": "REQ-p00007",
        "title": "Show the hour",
        "text": "The clock shall show the hour with two digits.",
        "attributes": {"priority": "must"},
        "relations": [
            {"kind": "implements", "target": "SYS-1", "labels": ["a"]},
            {"kind": "implements", "target": "NOWHERE-9"},
            {"kind": "tested_by", "target": "SYS-1"},
        ],
        "parent": "SYS-1",
    },
    {"id": "H-1", "kind": "heading", "title": "Clocks"},
]


def lines(items: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps({'item': item})}\n" for item in items)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "clock.jsonl"
    file.write_text(lines(ITEMS))
    return file


def imported(clew: Clew, folder: Path, *words: str) -> Any:
    done = clew(folder, "import", *words, "--json")
    return json.loads(done.stdout) if done.stdout else done.stderr


def exported(clew: Clew, folder: Path, file: Path) -> dict[str, dict[str, Any]]:
    assert clew(folder, "export", "jsonl", "--output", str(file)).returncode == 0
    found = [json.loads(line) for line in file.read_text().splitlines()]
    return {each["item"]["id"]: each["item"] for each in found if "item" in each}


# Verifies: REQ-o00080-A
# Verifies: REQ-d00600-A
# Verifies: REQ-d00600-G
def test_ids_that_fit_are_kept_and_the_others_are_mapped_with_all_that_cites_them(
    clew: Clew, empty: Path, source: Path, tmp_path: Path
) -> None:
    report = imported(clew, empty, "jsonl", str(source))
    ids = {each["id"]: each["as"] for each in report["added"]}
    assert ids == {"SYS-1": "REQ-p00008", "REQ-p00007": "REQ-p00007"}
    assert [each["as"] for each in report["mapped"]] == ["REQ-p00008"]
    text = (empty / "spec" / "clock.md").read_text()
    assert "**Implements**: REQ-p00008-A\n" in text
    assert "A. The clock shall show the hour." in text
    records = [json.loads(line) for line in (empty / "clew.imports.jsonl").read_text().splitlines()]
    assert {each["id"]: each.get("as", "") for each in records} == {**ids, "H-1": ""}
    assert clew(empty, "check", "--strict", ".").returncode == 0


# Verifies: REQ-d00600-B
def test_a_dry_run_says_what_would_be_made_and_makes_nothing(clew: Clew, empty: Path, source: Path) -> None:
    before = files_of(empty)
    done = clew(empty, "import", "jsonl", str(source), "--dry-run")
    assert "2 would be added" in done.stdout
    assert "REQ-p00008  Keep time  (was SYS-1)" in done.stdout
    assert files_of(empty) == before


# Verifies: REQ-d00600-C
@pytest.mark.parametrize("into", ["elspais", "register", "openspec"])
def test_the_second_import_changes_nothing(clew: Clew, empty: Path, source: Path, into: str) -> None:
    if into == "register":
        clew(empty, *REGISTER)
    first = imported(clew, empty, "jsonl", str(source), "--into", into)
    assert len(first["added"]) == 2
    after = files_of(empty)
    second = imported(clew, empty, "jsonl", str(source), "--into", into)
    assert (second["added"], second["changed"], second["unchanged"]) == ([], [], 2)
    assert files_of(empty) == after


# Verifies: REQ-d00600-D
# Verifies: REQ-d00601-E
def test_what_has_no_place_is_kept_reported_and_exported_again(
    clew: Clew, empty: Path, source: Path, tmp_path: Path
) -> None:
    report = imported(clew, empty, "jsonl", str(source))
    told = {each["what"]: each["examples"] for each in report["unplaced"]}
    assert told["attribute status"] == ["SYS-1"]
    assert told["relation implements to NOWHERE-9, which is not here"] == ["REQ-p00007"]
    assert told["relation tested_by"] == ["REQ-p00007"]
    assert told["place in the hierarchy"] == ["REQ-p00007"]
    assert told["heading"] == ["H-1"]
    again = exported(clew, empty, tmp_path / "again.jsonl")
    assert again["REQ-p00008"]["attributes"]["status"] == "open"
    assert again["REQ-p00007"]["parent"] == "REQ-p00008"
    assert {"kind": "tested_by", "target": "REQ-p00008"} in again["REQ-p00007"]["relations"]
    assert again["H-1"]["title"] == "Clocks"


# Verifies: REQ-d00600-E
def test_a_change_in_the_source_is_taken_over_unless_the_requirement_changed_here_too(
    clew: Clew, empty: Path, source: Path
) -> None:
    imported(clew, empty, "jsonl", str(source))
    changed = [{**ITEMS[0], "title": "Keep the time"}, {**ITEMS[1], "title": "Show hours"}, ITEMS[2]]
    source.write_text(lines(changed))
    spec = empty / "spec" / "clock.md"
    spec.write_text(spec.read_text().replace("with two digits", "with two bright digits"))
    done = clew(empty, "import", "jsonl", str(source))
    assert done.returncode == 1
    assert "1 changed" in done.stdout
    assert "conflict  REQ-p00007" in done.stdout
    text = spec.read_text()
    assert "Keep the time" in text
    assert "Show the hour" in text
    assert "with two bright digits" in text


# Verifies: REQ-d00600-H
@pytest.mark.parametrize("edited", [False, True], ids=["renamed", "renamed and edited"])
def test_a_requirement_that_was_renamed_here_is_not_imported_again(
    clew: Clew, empty: Path, source: Path, tmp_path: Path, edited: bool
) -> None:
    imported(clew, empty, "jsonl", str(source))
    spec = empty / "spec" / "clock.md"
    text = spec.read_text().replace("REQ-p00008", "REQ-p00042").replace("REQ-p00007", "REQ-p00043")
    spec.write_text(text.replace("late without", "often late without") if edited else text)
    renamed = spec.read_text()
    # What was kept of it is still its own.
    assert edited or exported(clew, empty, tmp_path / "out.jsonl")["REQ-p00042"]["attributes"]["status"] == "open"
    again = imported(clew, empty, "jsonl", str(source))
    assert (again["added"], again["changed"], again["conflicts"], again["unchanged"]) == ([], [], [], 2)
    assert spec.read_text() == renamed
    assert {each["id"]: each["as"] for each in again["mapped"]} == {"SYS-1": "REQ-p00042", "REQ-p00007": "REQ-p00043"}
    # The source goes on: what was not edited here follows under its new id, what was edited is a conflict.
    source.write_text(lines([{**ITEMS[0], "text": "The clock shall keep the time."}, *ITEMS[1:]]))
    later = imported(clew, empty, "jsonl", str(source))
    assert [each["as"] for each in later["changed"]] == ([] if edited else ["REQ-p00042"])
    assert [each["id"] for each in later["conflicts"]] == (["SYS-1"] if edited else [])
    assert ("The clock shall keep the time.\n" in spec.read_text()) != edited


# Verifies: REQ-d00601-F
def test_no_two_items_are_exported_under_one_original_id() -> None:
    records = [ImportRecord(source="clock", id=was, as_=here, hash="") for was, here in (("C", "B"), ("B", "A"))]
    named = under_original_ids([Item(id=id) for id in "ABC"], records, "clock")
    assert [item.id for item in named] == ["A", "B", "C"]


# Verifies: REQ-d00600-H
def test_a_requirement_of_the_same_title_is_not_taken_for_one_that_is_gone(
    clew: Clew, empty: Path, source: Path
) -> None:
    source.write_text(lines([ITEMS[0]]))
    assert [each["as"] for each in imported(clew, empty, "jsonl", str(source))["added"]] == ["REQ-p00001"]
    spec = empty / "spec" / "clock.md"
    text = spec.read_text().replace("REQ-p00001", "REQ-p00050")
    for old in (
        "The clock shall keep the time of day.",
        "The clock shall show the hour.",
        "People are late without it.",
    ):
        text = text.replace(old, "Operators shall badge in at our harbour door.")
    spec.write_text(text)
    assert [each["id"] for each in imported(clew, empty, "jsonl", str(source))["added"]] == ["SYS-1"]


# Verifies: REQ-d00601-F
def test_an_export_has_the_ids_of_an_import_where_they_are_asked_for(
    clew: Clew, empty: Path, source: Path, tmp_path: Path
) -> None:
    imported(clew, empty, "jsonl", str(source))
    out = tmp_path / "out" / "clock.jsonl"
    out.parent.mkdir()
    done = clew(empty, "export", "jsonl", "--ids-of", "clock.jsonl", "--output", str(out))
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in out.read_text().splitlines()]
    items = {each["item"]["id"]: each["item"] for each in found if "item" in each}
    assert items.keys() == {"SYS-1", "REQ-p00007", "H-1"}
    assert [each["label"] for each in items["SYS-1"]["criteria"]] == ["a"]
    assert {"kind": "implements", "target": "SYS-1", "labels": ["a"]} in items["REQ-p00007"]["relations"]
    assert items["REQ-p00007"]["parent"] == "SYS-1"
    before = files_of(empty)
    again = imported(clew, empty, "jsonl", str(out))
    assert (again["added"], again["changed"], again["conflicts"]) == ([], [], [])
    assert files_of(empty).keys() == before.keys()
    assert (empty / "spec" / "clock.md").read_bytes() == before["spec/clock.md"]
    unknown = clew(empty, "export", "jsonl", "--ids-of", "clocks.jsonl")
    assert unknown.returncode == 2
    assert "No import is called 'clocks.jsonl'." in unknown.stderr
    assert "clock.jsonl" in unknown.stderr


# Verifies: REQ-d00600-F
def test_an_item_that_breaks_a_rule_of_the_register_is_reported_and_the_others_come_in(
    clew: Clew, empty: Path, tmp_path: Path
) -> None:
    clew(empty, *REGISTER)
    file = tmp_path / "mixed.jsonl"
    file.write_text(lines([ITEMS[0], {"id": "BAD-1", "title": "Nothing", "text": "Clocks are nice to have here."}]))
    report = imported(clew, empty, "jsonl", str(file))
    assert [each["as"] for each in report["added"]] == ["REQ-0001"]
    assert report["rejected"][0]["id"] == "BAD-1"
    assert "none of shall, must, should and will" in report["rejected"][0]["reason"]
    assert ".." not in report["rejected"][0]["reason"]
    assert "BAD-1" in (empty / "clew.imports.jsonl").read_text()


# Verifies: REQ-d00600-F
def test_an_item_that_is_refused_for_a_while_is_found_again_when_it_is_mended(
    clew: Clew, empty: Path, tmp_path: Path
) -> None:
    clew(empty, *REGISTER)
    file = tmp_path / "mixed.jsonl"
    file.write_text(lines([ITEMS[0]]))
    assert [each["as"] for each in imported(clew, empty, "jsonl", str(file))["added"]] == ["REQ-0001"]
    file.write_text(lines([{"id": "SYS-1", "title": "Keep time", "text": "Clocks are nice to have here."}]))
    assert [each["id"] for each in imported(clew, empty, "jsonl", str(file))["rejected"]] == ["SYS-1"]
    file.write_text(lines([ITEMS[0]]))
    again = imported(clew, empty, "jsonl", str(file))
    assert (again["added"], again["rejected"]) == ([], [])


# Verifies: REQ-o00080-B
# Verifies: REQ-d00601-B
@pytest.mark.parametrize(
    ("form", "into"),
    [
        *(("jsonl", into) for into in ("elspais", "register", "openspec")),
        *(
            ("csv", "register"),
            ("excel", "elspais"),
            ("needs", "openspec"),
            ("reqif", "elspais"),
            ("lobster", "elspais"),
        ),
    ],
)
def test_the_demo_exported_and_imported_into_an_empty_project_is_the_same(
    clew: Clew, demo: Path, tmp_path: Path, form: str, into: str
) -> None:
    if form in ("excel", "reqif"):
        pytest.importorskip({"excel": "openpyxl"}.get(form, form))
    whole = exported(clew, demo, tmp_path / "whole.jsonl")
    file = tmp_path / f"demo.{form}"
    assert clew(demo, "export", form, "--output", str(file)).returncode == 0
    folder = tmp_path / "another"
    folder.mkdir()
    (folder / "clew.toml").write_text("")
    if into == "register":
        clew(folder, *REGISTER)
    report = imported(clew, folder, form, str(file), "--into", into)
    own = {"elspais": "spec/", "register": "project.req", "openspec": "openspec/"}[into]
    expected = {id: item for id, item in whole.items() if item["path"].startswith(own)}
    assert expected.keys() <= {each["as"] for each in report["added"]}
    again = exported(clew, folder, tmp_path / "again.jsonl")
    for id, item in expected.items():
        assert said(again[id]) == said(item)


# Verifies: REQ-d00600-C
@pytest.mark.parametrize("form", ["csv", "needs"])
def test_an_export_changes_nothing_where_it_comes_from(clew: Clew, demo: Path, tmp_path: Path, form: str) -> None:
    file = tmp_path / f"demo.{form}"
    assert clew(demo, "export", form, "--output", str(file)).returncode == 0
    before = files_of(demo)
    report = imported(clew, demo, form, str(file))
    assert (report["added"], report["changed"], report["unplaced"], report["record"]) == ([], [], [], None)
    assert files_of(demo) == before


def said(item: dict[str, Any]) -> dict[str, Any]:
    """What an item says, but for where it stands and what it cites outside of its own format."""
    left = {name: item.get(name) for name in ("id", "kind", "title", "text", "criteria", "attributes")}
    left["relations"] = sorted(json.dumps(each, sort_keys=True) for each in item.get("relations", []))
    return left


# Verifies: REQ-d00601-C
def test_json_lines_hold_the_whole_graph_and_change_nothing_where_they_come_from(
    clew: Clew, demo: Path, tmp_path: Path
) -> None:
    clew(demo, "remember", "The gauge at the bar reads ten centimetres low.", "--why", "Measured twice in May.")
    file = tmp_path / "graph.jsonl"
    done = clew(demo, "export", "jsonl", "-o", str(file))
    assert "1 memory" in done.stdout
    found = [json.loads(line) for line in file.read_text().splitlines()]
    assert found[0]["clew"]["version"] == 1
    kinds = {each["node"]["kind"] for each in found if "node" in each}
    assert {"code", "test", "result", "document", "section", "spec"} <= kinds
    assert "journey" in {each["item"].get("kind") for each in found if "item" in each}
    assert any("edge" in each for each in found)
    before = files_of(demo)
    report = imported(clew, demo, "jsonl", str(file))
    assert (report["added"], report["changed"], report["memories_added"]) == ([], [], 0)
    assert files_of(demo) == before
    project = Project.open(demo)
    try:
        perform(MutateUpdateTitle(node_id="REQ-d00006", new_title="Drafted"), Call(project, ()))
    finally:
        project.close()
    assert "Not part of it: 1 unsaved draft." in clew(demo, "export", "jsonl", "-o", str(file)).stderr
    assert "Drafted" not in file.read_text()


def test_a_changed_export_changes_each_format_where_the_requirement_is(clew: Clew, demo: Path, tmp_path: Path) -> None:
    file = tmp_path / "graph.jsonl"
    clew(demo, "export", "jsonl", "-o", str(file))
    text = file.read_text()
    for old, new in (("Reading a tide table", "Reading one"), ("Answer without a network", "Answer offline")):
        text = text.replace(f'"title":"{old}"', f'"title":"{new}"')
    file.write_text(text.replace('"title":"Windows of a day"', '"title":"Windows of one day"'))
    report = imported(clew, demo, "jsonl", str(file))
    assert {each["as"] for each in report["changed"]} == {"REQ-d00001", "REQ-0002", "passage-windows/windows-of-a-day"}
    assert clew(demo, "show", "REQ-d00001").stdout.count("Reading one")


def doorstop(folder: Path, *, active: bool, text: str = "The clock shall keep time.") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / ".doorstop.yml").write_text("settings:\n  digits: 3\n  prefix: SYS\n  sep: ''\n")
    (folder / "SYS001.yml").write_text(f"active: {str(active).lower()}\nheader: Time\nlevel: 1.1\ntext: |\n  {text}\n")
    return folder


# Verifies: REQ-d00600-I
def test_what_an_item_became_stays_when_the_item_turns_inactive(clew: Clew, empty: Path, tmp_path: Path) -> None:
    source = doorstop(tmp_path / "sys", active=True)
    clew(empty, "import", "doorstop", str(source))
    before = files_of(empty)
    doorstop(source, active=False, text="Nobody needs this.")
    told = clew(empty, "import", "doorstop", str(source))
    assert told.returncode == 0
    assert "inactive now; what it became stays: 1 (SYS001)" in told.stdout
    after = files_of(empty)
    assert after["spec/sys.md"] == before["spec/sys.md"]
    record = json.loads(after["clew.imports.jsonl"])
    assert (record["as"], record["now"]["kind"], record["now"]["text"]) == (
        "REQ-p00001",
        "inactive",
        "Nobody needs this.",
    )
    assert {key: value for key, value in record.items() if key != "now"} == json.loads(before["clew.imports.jsonl"])
    # What is kept goes out again, and the second import changes nothing.
    item = exported(clew, empty, tmp_path / "out.jsonl")["REQ-p00001"]
    assert item["kept"]["in its source now"]["text"] == "Nobody needs this."
    clew(empty, "import", "doorstop", str(source))
    assert files_of(empty) == after
    # The item comes back as what it was, or as something else.
    doorstop(source, active=True)
    clew(empty, "import", "doorstop", str(source))
    assert files_of(empty) == before
    doorstop(source, active=False)
    clew(empty, "import", "doorstop", str(source))
    doorstop(source, active=True, text="The clock shall keep the time of day.")
    assert "1 changed" in clew(empty, "import", "doorstop", str(source)).stdout
    assert "time of day" in files_of(empty)["spec/sys.md"].decode()
    assert b'"now"' not in files_of(empty)["clew.imports.jsonl"]


# Verifies: REQ-d00601-H
def test_an_export_says_what_only_the_files_hold(clew: Clew, demo: Path, tmp_path: Path) -> None:
    (demo / "spec" / "prd-passage.md").write_text(
        (demo / "spec" / "prd-passage.md")
        .read_text(encoding="utf-8")
        .replace("\n*End*", "\n## Changelog\n\n- 2026-01-02 | 12345678 | - | Ada (ada@x.org) | First\n\n*End*", 1),
        encoding="utf-8",
    )
    told = json.loads(clew(demo, "export", "csv", "-o", str(tmp_path / "a.csv"), "--json").stdout)["notes"]
    assert told == [
        "Not in the export, only in the project's files: 1 changelog, 3 entries' history and evidence, "
        "2 texts between requirements, 2 purposes of specs."
    ]
    told = json.loads(clew(demo, "export", "jsonl", "-o", str(tmp_path / "a.jsonl"), "--json").stdout)["notes"]
    assert "texts between" not in told[0]
