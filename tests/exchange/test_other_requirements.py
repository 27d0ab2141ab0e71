"""Requirements of tools whose files are only read. The fixtures are written after the formats' own documentation."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.exchange.conftest import Clew
from tests.properties import examples

from clew.errors import FormatError
from clew.exchange.formats import FORMATS
from clew.exchange.incoming.doorstop import read_yaml
from clew.exchange.model import Item
from clew.exchange.sources import ImportSource


def items(form: str, place: Path) -> dict[str, Item]:
    return {item.id: item for item in FORMATS[form].read(ImportSource(place)).items}


def relations(item: Item) -> list[tuple[str, str]]:
    return [(each.kind, each.target) for each in item.relations]


DOORSTOP = {
    ".doorstop.yml": "settings:\n  digits: 3\n  itemformat: yaml\n  prefix: SYS\n  sep: ''\n",
    "SYS001.yml": (
        "active: true\nderived: false\nheader: ''\nlevel: 1.0\nlinks: []\nnormative: false\nref: ''\n"
        "reviewed: null\ntext: |\n  Time\n"
    ),
    "SYS002.yml": (
        "active: true\nheader: |\n  Keep time\nlevel: 1.1\nlinks:\n- USR001: 5f3cxk9=\n- USR002: null\n"
        "normative: true\nref: 'src/clock.c'\nreviewed: k1x=\nowner: \"Ada \\u00dcber\"\nauthors: [Ada, Ben]\ntext: |\n"
        "  The clock **shall** keep time:\n\n  - by day\n  - by night\n"
    ),
    "SYS003.yml": "active: false\nlevel: 1.2\ntext: |\n  Gone\n",
    "SYS004.md": "---\nactive: true\nlevel: 1.3\nlinks: []\nnormative: true\n---\n\n# Show it\n\nIt shall show time.\n",
}


# Verifies: REQ-d00604-A
def test_a_folder_of_doorstop_gives_items_in_the_order_of_their_levels(tmp_path: Path) -> None:
    folder = tmp_path / "reqs" / "sys"
    folder.mkdir(parents=True)
    for name, text in DOORSTOP.items():
        (folder / name).write_text(text)
    found = items("doorstop", tmp_path / "reqs")
    assert list(found) == ["SYS001", "SYS002", "SYS004", "SYS003"]
    assert (found["SYS003"].kind, found["SYS003"].text) == ("inactive", "Gone")
    assert (found["SYS001"].kind, found["SYS001"].title) == ("heading", "Time")
    second = found["SYS002"]
    assert (second.title, second.parent) == ("Keep time", "SYS001")
    assert second.text == "The clock **shall** keep time:\n\n- by day\n- by night"
    assert relations(second) == [("implements", "USR001"), ("implements", "USR002")]
    assert second.attributes == {"owner": "Ada Über", "authors": '["Ada","Ben"]'}
    assert second.kept == {"reviewed": "k1x=", "ref": "src/clock.c", "level": "1.1"}
    assert (found["SYS004"].title, found["SYS004"].text) == ("Show it", "It shall show time.")


OFT = """# Design

## Keep Time
`req~keep-time~2`

The clock shall keep time.

Status: approved

Rationale:

People are late without it.

Covers:

* [Know the time](#know)
  `feat~know-the-time~1`

Depends:

- req~power~1

Needs: dsn, utest
Tags: clock

Another Heading
---------------
`utest~keep-time~1`

A test.

    arch --> dsn : req~keep-time~2
"""
OFT_XML = """<?xml version="1.0" encoding="UTF-8"?>
<specdocument>
  <specobjects doctype="req">
    <specobject>
      <id>keep-time</id><shortdesc>Keep time</shortdesc><status>approved</status><version>3</version>
      <sourcefile>spec.md</sourcefile><sourceline>12</sourceline>
      <description>The clock shall keep time.</description><rationale>People.</rationale>
      <safetyclass>ASIL-B</safetyclass><releases><release>1.0</release></releases>
      <needscoverage><needsobj>dsn</needsobj><needsobj>utest</needsobj></needscoverage>
      <providescoverage><provcov><linksto>feat:know</linksto><dstversion>1</dstversion></provcov></providescoverage>
      <dependencies><dependson>req~power~1</dependson></dependencies>
    </specobject>
  </specobjects>
</specdocument>
"""


# Verifies: REQ-d00604-B
def test_openfasttrace_is_read_from_markdown_and_from_xml(tmp_path: Path) -> None:
    (tmp_path / "spec.md").write_text(OFT)
    found = items("openfasttrace", tmp_path / "spec.md")
    first = found["req~keep-time~2"]
    assert (first.title, first.text) == ("Keep Time", "The clock shall keep time.")
    assert relations(first) == [("implements", "feat~know-the-time~1"), ("depends_on", "req~power~1")]
    assert first.attributes == {
        "status": "approved",
        "needs": "dsn, utest",
        "tags": "clock",
        "Rationale": "People are late without it.",
    }
    assert (found["utest~keep-time~1"].kind, found["utest~keep-time~1"].title) == ("utest", "Another Heading")
    assert relations(found["arch~keep-time~2"]) == [("implements", "req~keep-time~2")]
    (tmp_path / "spec.xml").write_text(OFT_XML)
    second = items("openfasttrace", tmp_path / "spec.xml")["req~keep-time~3"]
    assert (second.title, second.path, second.line) == ("Keep time", "spec.md", 12)
    assert relations(second) == [("implements", "feat~know~1"), ("depends_on", "req~power~1")]
    assert second.attributes["needs"] == "dsn, utest"
    assert second.kept == {"safetyclass": "ASIL-B", "releases": "1.0"}


OFT_PROSE = """Clock
=====

This text says what the clock is for.

## Introduction

Two paragraphs,

of which this is the second.

```
# no heading
`req~in-a-fence~1`
```

### Keep Time
`req~keep-time~1`

The clock shall keep time.

Covers:

* feat~know~1

## Closing words

The end.
"""


# Verifies: REQ-d00604-B
def test_prose_between_items_of_openfasttrace_is_an_item_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "spec.md").write_text(OFT_PROSE)
    found = items("openfasttrace", tmp_path / "spec.md")
    assert list(found) == ["req~keep-time~1", "spec.md"]
    assert (found["req~keep-time~1"].title, found["req~keep-time~1"].text) == (
        "Keep Time",
        "The clock shall keep time.",
    )
    prose = found["spec.md"]
    assert (prose.kind, prose.title) == ("document", "Clock")
    title, _, rest = OFT_PROSE.partition("\n\n### Keep Time")
    assert prose.text == f"{title}\n\n## Closing words\n\nThe end."
    assert "Closing" in rest
    (tmp_path / "bare.md").write_text("## Keep Time\n`req~keep-time~1`\n\nThe clock shall keep time.\n")
    assert list(items("openfasttrace", tmp_path / "bare.md")) == ["req~keep-time~1"]


# Verifies: REQ-d00604-B
def test_a_file_without_items_is_none_of_openfasttrace(tmp_path: Path) -> None:
    (tmp_path / "spec.md").write_text("Prose.\n\n## Keep Time\n`req~keep-time~1`\n\nThe clock shall keep time.\n")
    (tmp_path / "README.md").write_text("# Clock\n\nA project.\n")
    assert list(items("openfasttrace", tmp_path)) == ["req~keep-time~1", "spec.md"]


# Verifies: REQ-d00604-B
@pytest.mark.parametrize("above", ["arch --> dsn : req~a~1", "`req~b~1`", "# Heading", "```\ncode\n```"])
def test_a_rule_below_what_is_no_text_takes_no_prose_away(tmp_path: Path, above: str) -> None:
    (tmp_path / "spec.md").write_text(f"`req~a~1`\n\nText.\n\n# Other\n\nProse.\n{above}\n---\nMore.\n")
    found = items("openfasttrace", tmp_path / "spec.md")
    assert found["req~a~1"].text == "Text."
    assert "Prose." in found["spec.md"].text
    said = "\n".join(item.text for item in found.values())
    assert said.endswith("---\nMore.") or "---\nMore.\n" in said
    assert said.count("```") == above.count("```")


SDOC = """[DOCUMENT]
TITLE: Clock
UID: DOC-1

[GRAMMAR]
ELEMENTS:
- TAG: REQUIREMENT
  FIELDS:
  - TITLE: UID
    TYPE: String
    REQUIRED: False

[TEXT]
STATEMENT: >>>
About clocks.
<<<

[[SECTION]]
TITLE: Time

[REQUIREMENT]
UID: CLK-1
STATUS: Active
TAGS: a, b
TITLE: Keep time
STATEMENT: >>>
The clock shall keep time.

[NOT-A-NODE] is text.
<<<
RATIONALE: People are late without it.
COMMENT: One.
COMMENT: Two.
RELATIONS:
- TYPE: Parent
  VALUE: USR-1
- TYPE: Parent
  VALUE: USR-2
  ROLE: Refines
- TYPE: File
  VALUE: src/clock.c

[[/SECTION]]
"""


OLDER_SDOC = """[DOCUMENT]
TITLE: Clock

[FREETEXT]
What it is for.

NOTE: Read this first.
[/FREETEXT]

[SECTION]
TITLE: Time

[COMPOSITE_REQUIREMENT]
UID: CLK-1
STATEMENT: The clock shall keep time.

[REQUIREMENT]
UID: CLK-2
STATEMENT: It shall keep hours.
REFS:
- TYPE: Parent
  VALUE: CLK-1

[/COMPOSITE_REQUIREMENT]

[/SECTION]
"""


# Verifies: REQ-d00604-C
def test_older_files_of_strictdoc_are_read_with_their_free_texts_and_composites(tmp_path: Path) -> None:
    (tmp_path / "clock.sdoc").write_text(OLDER_SDOC)
    found = items("strictdoc", tmp_path / "clock.sdoc")
    texts = {item.kind: item.text for item in found.values()}
    assert texts["information"] == "What it is for.\n\nNOTE: Read this first."
    assert found[found["CLK-1"].parent or ""].title == "Time"
    assert (found["CLK-2"].parent, relations(found["CLK-2"])) == ("CLK-1", [("implements", "CLK-1")])


# Verifies: REQ-d00602-A
@pytest.mark.parametrize("text", ["TITLE: Keep\nand more of it", "[FREETEXT]\nnever closed", "[/SECTION]\nbehind it"])
def test_text_that_belongs_to_nothing_in_a_file_of_strictdoc_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.sdoc").write_text(f"[DOCUMENT]\nTITLE: Clock\n\n[SECTION]\n{text}\n")
    with pytest.raises(FormatError, match=r"in line [567]"):
        items("strictdoc", tmp_path / "a.sdoc")


# Verifies: REQ-d00604-C
def test_strictdoc_gives_sections_texts_and_requirements_with_their_relations(tmp_path: Path) -> None:
    (tmp_path / "clock.sdoc").write_text(SDOC)
    found = items("strictdoc", tmp_path)
    assert [item.kind for item in found.values()] == ["document", "grammar", "information", "heading", "requirement"]
    assert found["clock-document"].text == "TITLE: Clock\nUID: DOC-1"
    assert "- TAG: REQUIREMENT" in found["clock-grammar"].text
    requirement = found["CLK-1"]
    assert requirement.text == "The clock shall keep time.\n\n[NOT-A-NODE] is text."
    assert found[requirement.parent or ""].title == "Time"
    assert relations(requirement) == [("implements", "USR-1"), ("refines", "USR-2"), ("file", "src/clock.c")]
    assert requirement.attributes == {
        "status": "Active",
        "tags": "a, b",
        "Rationale": "People are late without it.",
        "Comment": "One.",
        "Comment 2": "Two.",
    }


# Verifies: REQ-d00604-C
def test_documents_of_one_name_in_two_folders_are_two(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "clock.sdoc").write_text("[DOCUMENT]\nTITLE: Clock\n\n[TEXT]\nSTATEMENT: About clocks.\n")
    assert list(items("strictdoc", tmp_path)) == ["a-clock-document", "a-clock-1", "b-clock-document", "b-clock-1"]
    # Alone it is named after its name, wherever it lies.
    (tmp_path / "b" / "clock.sdoc").unlink()
    assert list(items("strictdoc", tmp_path)) == ["clock-document", "clock-1"]


# Verifies: REQ-d00604-D
def test_issues_of_github_become_requirements_with_their_boxes_as_criteria(
    clew: Clew, empty: Path, tmp_path: Path
) -> None:
    body = "The clock shall keep time.\r\n\r\n- [ ] It shows hours\r\n- [x] It shows minutes\r\n"
    issues: list[dict[str, Any]] = [
        {
            "number": 12,
            "title": "Keep time",
            "body": body,
            "labels": [{"name": "clock"}],
            "state": "OPEN",
            "url": "u",
            "comments": [{"body": "By night too."}],
            "stateReason": "REOPENED",
            "labels_url": "v",
        },
        {"number": 13, "title": "Fix it", "body": None, "pull_request": {"url": "x"}},
    ]
    file = tmp_path / "issues.json"
    file.write_text(json.dumps(issues))
    done = clew(empty, "import", "github", str(file))
    assert "+ REQ-p00001  Keep time  (was #12)" in done.stdout
    assert "pull request: 1 (#13)" in done.stdout
    assert "field comments: 1 (#12)\n  field stateReason: 1 (#12)\n  field ticked: 1 (#12)" in done.stdout
    assert "By night too." in (empty / "clew.imports.jsonl").read_text()
    text = (empty / "spec" / "issues.md").read_text()
    assert "A. It shows hours\nB. It shows minutes\n" in text
    assert "- tags: clock" in text


# Verifies: REQ-d00602-A
@pytest.mark.parametrize(
    ("form", "name", "text", "told"),
    [
        ("strictdoc", "a.sdoc", "[REQUIREMENT]\nUID: A\n", "has no [DOCUMENT]"),
        ("strictdoc", "a.sdoc", "[DOCUMENT]\nTITLE: A\n\n[TEXT]\nSTATEMENT: >>>\nopen", "never closes it with <<<"),
        ("strictdoc", "a.sdoc", "[DOCUMENT]\nTITLE: A\n\n[[SECTION]]\nTITLE: B\n", "never closes [SECTION]"),
        ("strictdoc", "a.sdoc", "[DOCUMENT]\nTITLE: A\n\n[[/SECTION]]\n", "closes [SECTION] in line 4"),
        ("openfasttrace", "a.xml", "<!DOCTYPE a><specdocument/>", "has a document type or entities"),
        ("doorstop", "a.yml", "text: x\n", "Doorstop keeps documents in folders"),
        ("github", "a.json", '[{"title": "x"}]', "Issue 1 of 'a.json' has no number"),
        ("github", "a.json", "[1]", "An issue is 1, not an object"),
    ],
)
def test_files_of_other_tools_that_are_broken_are_refused(
    tmp_path: Path, form: str, name: str, text: str, told: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(FormatError) as refused:
        FORMATS[form].read(ImportSource(tmp_path / name))
    assert told in str(refused.value)


# Verifies: REQ-d00602-A
@pytest.mark.parametrize("line", ["? odd", "links: [", "by: 'Ada", 'by: "Ada', "by: 'Ada' Byron", "active: no"])
def test_yaml_that_doorstop_does_not_write_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    (tmp_path / ".doorstop.yml").write_text("settings:\n  prefix: A\n")
    (tmp_path / "A1.yml").write_text(f"active: true\n{line}\ntext: x\n")
    with pytest.raises(FormatError, match="in line 2"):
        FORMATS["doorstop"].read(ImportSource(tmp_path))


_WRITTEN = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\n '\"\\:#-[]{}x"), max_size=120)


# Verifies: REQ-d00604-A
@given(_WRITTEN | st.lists(_WRITTEN), st.booleans())
@settings(max_examples=examples(300))
def test_fields_are_read_as_the_library_of_doorstop_writes_them(value: str | list[str], plain: bool) -> None:
    text = yaml.dump({"active": True, "owner": value, "z": "x"}, default_flow_style=False, allow_unicode=plain)
    assert read_yaml(text, "A1.yml") == {"active": True, "owner": value, "z": "x"}


# Verifies: REQ-d00604-B
@pytest.mark.parametrize("above", ["* an item", "1. an item\n  that goes on", "> a quotation"])
def test_a_rule_below_a_list_makes_no_heading_of_it(above: str) -> None:
    text = f"# Title\n`req~one~1`\n\nA text.\n\n{above}\n---\n\nMore of it.\n"
    (item,) = FORMATS["openfasttrace"].read(ImportSource(Path("spec.md"), text.encode())).items
    assert (item.id, item.title) == ("req~one~1", "Title")
    assert above in item.text
    assert "More of it." in item.text
