"""Texts come into Markdown specs as they are: a backslash stands only where the reader would take a line for more."""

import cProfile
import json
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.exchange.conftest import Clew, files_of
from tests.exchange.test_same_bytes import exported, imported, project
from tests.exchange.test_same_graph import given_out, started, taken_in
from tests.properties import examples

from clew.exchange.model import Criterion, Exchange, Item
from clew.formats.elspais.hashes import hash_state
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import Journey, Requirement
from clew.project import Project

NASTY = st.sampled_from(
    [
        *("#", "#123", "# A", "## A", "  # comment", "####### seven", "## Assertions", "## REQ-p00002: Other"),
        *(
            "A. x",
            "B. y",
            "  C. indented.",
            "AB. x",
            "API. Then on.",
            "through the",
            "1. x",
            "2) y",
            "Z.",
            "---",
            "- a: b",
        ),
        *("```", "```py", "  ```", "~~~", "*End*", "*End* *x*", "*end* x", "  *End* *x*", "REQ-p00001: Other"),
        *("REQ-p00009", "JNY-Buy-01: x", "**bold**", "*Group*", "_so_", "**Note** the **thing**", "Status: Draft"),
        *(
            "Status: it is open",
            "  Level: DEV",
            "**Level**: DEV",
            "Implements: REQ-p00001,",
            "Implements it",
            "Template",
        ),
        *("**Template**", "**Status**", "\ttabbed", "a\tb", "", "", "", "  ", "two  ", "\\# escaped", "\\", "> q", "é"),
    ]
)
TEXTS = st.lists(NASTY, max_size=9).map("\n".join)
SAID = st.lists(NASTY, min_size=1, max_size=9).map("\n".join).filter(str.strip)


@st.composite
def items(draw: st.DrawFn) -> Item:
    return Item(
        id="REQ-p00007",
        title="Odd",
        text=draw(TEXTS),
        criteria=tuple(Criterion(label, draw(SAID)) for label in "ABC"[: draw(st.integers(0, 3))]),
        attributes={name: draw(SAID) for name in draw(st.sampled_from([(), ("Rationale",), ("Notes", "Rationale")]))},
    )


def _bare(text: str) -> str:
    """Without the blank lines around it, which no format can say."""
    lines = text.split("\n")
    said = [index for index, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[said[0] : said[-1] + 1]) if said else ""


def _wanted(item: Item) -> dict[str, str]:
    found = {"": _bare(item.text)} | {name: _bare(value) for name, value in item.attributes.items()}
    return found | {each.label: _bare(each.text).lstrip() for each in item.criteria}


def _read(folder: Path, data: bytes) -> dict[str, str] | None:
    """What a file says of the only requirement that it holds; None where it holds another, or more."""
    with closing(Project.open(folder, drafts=False)) as here:
        blocks = read(data, here.context.grammar).blocks
    found = [each for each in blocks if isinstance(each, Requirement)]
    if [each.id for each in found] != ["REQ-p00007"] or found[0].references or found[0].template:
        return None
    (record,) = found
    texts = [("", record.preamble), *((each.label, each.text) for each in record.assertions)]
    texts += [(each.heading, each.text) for each in record.sections if each.heading != "Attributes"]
    listed = [each.text for each in record.sections if each.heading == "Attributes"]
    texts += [(line[2:].partition(": ")[0], line.partition(": ")[2]) for each in listed for line in each.split("\n")]
    return dict(texts) if len(dict(texts)) == len(texts) else None


def _is_written_well(folder: Path, item: Item) -> None:
    """What stands in the file is what the item says, with as few backslashes as it takes."""
    (place,) = (folder / "spec").glob("*.md")
    data = place.read_bytes()
    found, wanted = _read(folder, data), _wanted(item)
    assert found is not None
    assert found.keys() | {""} == wanted.keys() | {""}
    for name, text in wanted.items():
        for line, said in zip(found[name].split("\n"), text.split("\n"), strict=True):
            indent = said[: len(said) - len(said.lstrip())]
            assert line in (said, f"{indent}\\{said.lstrip()}")
    lines = data.decode().split("\n")
    for index, line in enumerate(lines):
        bare = line.lstrip()
        if bare.startswith("\\") and bare not in ("\\# escaped", "\\"):
            without = [*lines[:index], line.replace("\\", "", 1), *lines[index + 1 :]]
            again = _read(folder, "\n".join(without).encode())
            changed = [name for name in found if again is not None and again.get(name) != found[name]]
            is_all_else_equal = again is not None and again.keys() == found.keys() and len(changed) == 1
            assert not is_all_else_equal or again[changed[0]] not in _without_one_backslash(found[changed[0]]), line


def _without_one_backslash(text: str) -> set[str]:
    """The readings of a text in which one line lost the backslash that it begins with."""
    lines = text.split("\n")
    return {
        "\n".join([*lines[:index], line.replace("\\", "", 1), *lines[index + 1 :]])
        for index, line in enumerate(lines)
        if line.lstrip().startswith("\\")
    }


# Verifies: REQ-d00606-A
@pytest.mark.thorough
def test_any_text_stands_in_a_spec_as_it_is_said(clew: Clew) -> None:
    @settings(max_examples=examples(60), phases=(Phase.explicit, Phase.generate))
    @given(items(), items())
    def holds(first: Item, second: Item) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = started(clew, Path(scratch) / "first", "elspais")
            for item in (first, second):
                report = taken_in(folder, Exchange(items=(item,)), "elspais")
                assert (report.conflicts, report.rejected) == ((), ())
                _is_written_well(folder, item)
                (known,) = given_out(folder).values()
                assert [each.text for each in known.criteria] == [each.text for each in item.criteria]
                assert _bare(known.text) == _bare(item.text)

    holds()


SPEC = """# Specs

## REQ-p00001: Books

**Level**: PRD | **Status**: Active

## Assertions

A. A book SHALL open.

*End* *Books*
"""


# Verifies: REQ-d00606-A
@pytest.mark.parametrize(
    "text",
    [
        "See\n#123 of the tracker.",
        "Run:\n\n    # a comment\n    make",
        "Go through the\nAPI. Then on.",
        "It holds:\n\n- first\n\n- second",
        "A line break  \nand\tmore",
        "Status: it is about that",
        "**Note** the **thing** and",
        "1. one\n2. two",
    ],
)
def test_what_means_nothing_is_written_without_a_backslash(clew: Clew, tmp_path: Path, text: str) -> None:
    folder = project(clew, tmp_path / "first", SPEC)
    data = exported(folder, "jsonl").decode()
    said = json.dumps(f"A book SHALL open.\n{text}")
    imported(folder, "jsonl", data.replace('"A book SHALL open."', said).encode())
    new = {"id": "REQ-p00008", "title": "New", "text": text, "criteria": [{"label": "A", "text": text}]}
    (tmp_path / "new.jsonl").write_text(json.dumps({"item": new}) + "\n")
    done = clew(folder, "import", "jsonl", str(tmp_path / "new.jsonl"))
    assert (done.returncode, "as the source spells it" in done.stdout) == (0, False)
    assert f"A. A book SHALL open.\n{text}\n\n*End*" in (folder / "spec" / "one.md").read_text()
    assert f"\n\n{text}\n\n### Assertions\n\nA. {text}\n\n*End*" in (folder / "spec" / "new.md").read_text()
    known = given_out(folder)
    assert known["REQ-p00001"].criteria == (Criterion("A", f"A book SHALL open.\n{text}"),)
    assert (known["REQ-p00008"].text, known["REQ-p00008"].criteria) == (text, (Criterion("A", text),))


# Verifies: REQ-d00606-B
def test_a_status_that_the_project_does_not_have_changes_none(clew: Clew, tmp_path: Path) -> None:
    folder = project(clew, tmp_path / "first", SPEC)
    data = exported(folder, "jsonl").decode()
    for there, then in (('"status":"Active"', '"status":"Shiny"'), ('"level":"prd"', '"level":"top"')):
        data = data.replace(there, then, 1)
    new = {"item": {"id": "REQ-p00008", "title": "New", "attributes": {"status": "Shiny"}}}
    file = tmp_path / "changed.jsonl"
    file.write_text(data.replace("A book SHALL open.", "A book MUST open.") + json.dumps(new) + "\n")
    report = json.loads(clew(folder, "import", "jsonl", str(file), "--json").stdout)
    told = {each["what"]: each["examples"] for each in report["unplaced"]}
    assert told["attribute status"] == ["REQ-p00001", "REQ-p00008"]
    assert told["attribute level"] == ["REQ-p00001"]
    after = (folder / "spec" / "one.md").read_text()
    assert "**Level**: PRD | **Status**: Active\n" in after
    assert "A. A book MUST open.\n" in after
    assert "**Level**: PRD | **Status**: Draft\n" in (folder / "spec" / "changed.md").read_text()


# Verifies: REQ-d00606-B
def test_a_status_is_one_that_the_project_names_or_uses(clew: Clew, tmp_path: Path) -> None:
    folder = project(clew, tmp_path / "first", SPEC + SPEC.replace("00001", "00005").replace("Active", "Weird"))
    roles = '[rules.format.status_roles]\nactive = ["Active"]\nprovisional = ["Cooking", "Tasting"]\n'
    (folder / ".elspais.toml").write_text(roles)
    words = {"REQ-p00010": "Weird", "REQ-p00011": "tasting", "REQ-p00012": "Shiny", "REQ-p00013": ""}
    items = tuple(Item(id=id, title="New", attributes={"status": word}) for id, word in words.items())
    taken_in(folder, Exchange(items=items), "elspais")
    with closing(Project.open(folder, drafts=False)) as here:
        here.ensure_graph()
        nodes = [here.context.graph.get_node(id) for id in words]
    assert [node and node.get_field("status") for node in nodes] == ["Weird", "Tasting", "Cooking", "Cooking"]


# Verifies: REQ-d00606-B
def test_a_word_that_a_register_does_not_know_changes_none(clew: Clew, tmp_path: Path) -> None:
    folder = started(clew, tmp_path / "first", "register")
    words = ("--statement", "The shelf shall hold ten books.", "--rationale", "People read.", "--priority", "must")
    clew(folder, "req", "add", "--title", "Hold the books", *words, "--kind", "constraint")
    clew(folder, "req", "update", "REQ-0001", "--status", "proposed")
    (known,) = given_out(folder).values()
    (before,) = (files_of(folder)[name] for name in files_of(folder) if name != "clew.toml")
    asked = {"kind": "odd", "priority": "urgent", "status": "Shiny"}
    data = exported(folder, "jsonl").decode()
    for name, word in asked.items():
        data = data.replace(f'"{name}":"{known.attributes[name]}"', f'"{name}":"{word}"')
    file = tmp_path / "changed.jsonl"
    file.write_text(data.replace("ten books", "nine books"))
    report = json.loads(clew(folder, "import", "jsonl", str(file), "--json").stdout)
    assert {each["what"] for each in report["unplaced"]} >= {f"attribute {name}" for name in asked}
    (after,) = (files_of(folder)[name] for name in files_of(folder) if name not in ("clew.toml", "clew.imports.jsonl"))
    old, new = (next(iter(json.loads(each)["requirements"].values())) for each in (before, after))
    assert new["statement"] == "The shelf shall hold nine books."
    assert [new[name] for name in asked] == [old[name] for name in asked]


# Verifies: REQ-d00606-D
def test_a_register_keeps_the_lines_of_criteria(clew: Clew, tmp_path: Path) -> None:
    folder = started(clew, tmp_path / "first", "register")
    texts = ("It holds:\n\n- ten  books\n\t- and one", "It stands within 2 seconds.")
    criteria = tuple(Criterion(str(number), text) for number, text in enumerate(texts, start=1))
    item = Item(id="A", title="Hold the books", text="The shelf shall hold books.", criteria=criteria)
    assert "criteria" not in str(taken_in(folder, Exchange(items=(item,)), "register").unplaced)
    (known,) = given_out(folder).values()
    assert known.criteria == criteria
    assert json.dumps(list(texts))[1:-1].split(", ")[0] in (folder / "project.req").read_text()


# Verifies: REQ-d00606-C
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("end", ["", "\n---\n", "\n\n"])
def test_new_requirements_follow_the_lines_of_their_file(clew: Clew, tmp_path: Path, line_end: str, end: str) -> None:
    text = f"\ufeff{SPEC}{end}"
    folder = project(clew, tmp_path / "first", text.replace("\n", line_end))
    file = tmp_path / "new.jsonl"
    new = {"text": "One.\n\nTwo.", "criteria": [{"label": "A", "text": "It SHALL be."}], "path": "spec/one.md"}
    ids = ["REQ-p00008", "REQ-p00009", "REQ-p00010"]
    file.write_text("".join(json.dumps({"item": {"id": id, "title": "New", **new}}) + "\n" for id in ids))
    assert clew(folder, "import", "jsonl", str(file)).returncode == 0
    after = (folder / "spec" / "one.md").read_bytes().decode()
    assert after.startswith(text.replace("\n", line_end))
    assert after.replace(line_end, "").count("\n") == after.replace(line_end, "").count("\r") == 0
    rules = after.replace("\r\n", "\n").partition("*End* *Books*")[2].count("\n\n---\n")
    assert rules == (4 if "---" in end else 0)
    assert {"REQ-p00001", *ids} <= given_out(folder).keys()


# Verifies: REQ-d00601-J
def test_the_hashes_of_a_file_are_looked_at_once(clew: Clew, tmp_path: Path) -> None:
    def looked_at(number: int) -> int:
        blocks = [SPEC.partition("\n\n")[2].replace("00001", f"{each:05}") for each in range(10, 10 + number)]
        folder = project(clew, tmp_path / str(number), "# Specs\n\n" + "\n".join(blocks))
        data = exported(folder, "jsonl").replace(b"A book SHALL", b"A book MUST")
        watched = cProfile.Profile()
        watched.runcall(imported, folder, "jsonl", data)
        return sum(each.callcount for each in watched.getstats() if each.code == hash_state.__code__)

    assert looked_at(40) <= 2.1 * looked_at(20)


# Verifies: REQ-d00606-A
@pytest.mark.thorough
def test_any_text_stands_in_a_journey_as_it_is_said(clew: Clew) -> None:
    @settings(max_examples=examples(30), phases=(Phase.explicit, Phase.generate))
    @given(TEXTS, st.lists(SAID, max_size=3), SAID, st.booleans())
    def holds(text: str, steps: list[str], note: str, changes: bool) -> None:
        criteria = tuple(Criterion(str(number), step) for number, step in enumerate(steps, start=1))
        named = {"actor": "Ann", "Notes": note}
        item = Item(id="JNY-Buy-01", kind="journey", title="Buy", text=text, criteria=criteria, attributes=named)
        with tempfile.TemporaryDirectory() as scratch:
            folder = started(clew, Path(scratch) / "first", "elspais")
            if changes:
                other = Item(id="JNY-Buy-01", kind="journey", title="Pay", criteria=(Criterion("1", "Go"),))
                taken_in(folder, Exchange(items=(other,)), "elspais")
            report = taken_in(folder, Exchange(items=(item,)), "elspais")
            assert (report.conflicts, report.rejected) == ((), ())
            (place,) = (folder / "spec").glob("*.md")
            with closing(Project.open(folder, drafts=False)) as here:
                blocks = read(place.read_bytes(), here.context.grammar).blocks
            (found,) = (each for each in blocks if isinstance(each, Journey))
            sections = {each.heading: each.text for each in found.sections}
            assert (found.actor, found.goal, found.references) == ("Ann", "", ())
            pairs = [(found.preamble, text), (sections["Notes"], note)]
            pairs += zip((said for _, said, _ in found.steps), (step.strip() for step in steps), strict=True)
            for written, said in pairs:
                for line, wanted in zip(written.split("\n"), _bare(said).split("\n"), strict=True):
                    indent = wanted[: len(wanted) - len(wanted.lstrip())]
                    assert line in (wanted, f"{indent}\\{wanted.lstrip()}")

    holds()
