"""Citations: what is edited is flagged at the next recall, and nothing else is."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.conftest import SPEC
from tests.contract.memory_client import RUNS, WHY, Memory, remembering, write_project

from clew.memory.model import Cite
from clew.memory.places import Places
from clew.memory.recall.listing import listed
from clew.memory.recall.requests import ListQuery
from clew.memory.scope import Viewer
from clew.memory.service import MemoryView
from clew.memory.writing.requests import Note
from clew.project import Project
from clew.text.passage_hash import lines_hash, passage_hash, says, stands_in

CODE = '''"""Tides."""

TABLE = {}


def tide(hour):
    """The height of the water."""
    return TABLE[hour]


class Ship:
    def draught(self, load):
        total = self.depth + load
        return total

    def name(self):
        return "Maria"
'''
DOC = "# Harbour\n\nThe harbour opens at dawn.\n\n## Pilots\n\nA pilot is taken aboard at the outer buoy.\n"
TEST = """from src.tides import tide


# Verifies: REQ-p00001-A
def test_tide():
    for hour in (1,):
        assert tide(hour)
"""
OPENSPEC = """# Harbour

## Purpose

Tells when the harbour is open, and why it is not when it is closed.

## Requirements

### Requirement: Opening

The harbour SHALL open at dawn.

#### Scenario: Dawn

- **WHEN** the sun rises
- **THEN** the harbour opens
"""
FILES = {
    "src/tides.py": CODE,
    "spec/small.md": SPEC,
    "docs/harbour.md": DOC,
    "tests/test_tides.py": TEST,
    "openspec/specs/harbour/spec.md": OPENSPEC,
}
SCENARIO, TESTED, SECTION = "harbour/opening#dawn", "test:tests/test_tides.py::test_tide", "docs/harbour.md#pilots"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with remembering(write_project(tmp_path / "harbour", FILES)) as client:
        yield client


def states(memory: Memory) -> dict[str, tuple[str, str | None]]:
    (hit,) = memory("search_graph", query="note")["results"]
    return {cite["node"]: (cite["state"], cite.get("now")) for cite in hit["cites"]}


def change(memory: Memory, path: str, old: str, new: str) -> None:
    place = memory.root / path
    text = place.read_text(encoding="utf-8")
    assert old in text
    place.write_text(text.replace(old, new), encoding="utf-8")


PLACES = {
    "src/tides.py::tide": ("src/tides.py", "return TABLE[hour]", "return TABLE[hour] + 1"),
    "src/tides.py::Ship.draught": ("src/tides.py", "self.depth + load", "self.depth - load"),
    "src/tides.py:12-14": ("src/tides.py", "total = self.depth", "total = 2 * self.depth"),
    "src/tides.py": ("src/tides.py", "Maria", "Anna"),
    "REQ-p00001": ("spec/small.md", "It SHALL keep time.", "It SHALL keep good time."),
    "REQ-p00001-A": ("spec/small.md", "show the hour.", "show the hour and the day."),
    "docs/harbour.md:7": ("docs/harbour.md", "outer buoy", "inner buoy"),
    SECTION: ("docs/harbour.md", "outer buoy", "inner buoy"),
    SCENARIO: ("openspec/specs/harbour/spec.md", "the harbour opens", "the harbour closes"),
    "harbour/opening": ("openspec/specs/harbour/spec.md", "open at dawn", "open at noon"),
    TESTED: ("tests/test_tides.py", "(1,)", "(1)"),
    "tests/test_tides.py::test_tide": ("tests/test_tides.py", "        assert", "    assert"),
}


# Verifies: REQ-d00304-A, REQ-d00304-B
@pytest.mark.parametrize("place", PLACES)
def test_an_edit_of_what_is_cited_is_seen_at_the_next_recall(memory: Memory, place: str) -> None:
    memory.store("A note.", about=[place])
    assert {state for state, _ in states(memory).values()} == {"fresh"}
    change(memory, *PLACES[place])
    (seen,) = states(memory).values()
    assert seen[0] in ("changed", "gone")
    (hit,) = memory("search_graph", query="note")["results"]
    assert hit["standing"] == "stale"


# Verifies: REQ-d00304-B
def test_edits_elsewhere_shifted_lines_and_formatting_are_not_flagged(memory: Memory) -> None:
    places = ["src/tides.py::tide", "src/tides.py:12-14", "REQ-p00001-A", "docs/harbour.md:7"]
    memory.store("A note.", about=[*places, SECTION, SCENARIO, TESTED])
    change(memory, "tests/test_tides.py", TEST[TEST.index("#") :], "X = 1\n\n\n" + TEST[TEST.index("#") :])
    change(memory, "tests/test_tides.py", "in (1,):", "in (\n            1,\n    ):")
    change(memory, "openspec/specs/harbour/spec.md", "open at dawn", "open at noon")
    change(memory, "openspec/specs/harbour/spec.md", "- **WHEN**", "* **WHEN**")
    change(memory, "src/tides.py", "TABLE = {}\n", "TABLE = {}\nMARGIN = 1\n\n\n")
    change(memory, "src/tides.py", '"Maria"', '"Anna"')
    change(memory, "src/tides.py", "def tide(hour):", "def tide(\n    hour,\n):")
    change(memory, "src/tides.py", "total = self.depth + load", "total = self.depth  +load")
    change(memory, "spec/small.md", "It SHALL keep time.", "It SHALL keep good time.")
    change(memory, "docs/harbour.md", "A pilot is taken aboard at", "A pilot is\ntaken aboard at")
    change(memory, "docs/harbour.md", "The harbour opens at dawn.", "The harbour opens at noon.\n\nIt is large.")
    assert {state for state, _ in states(memory).values()} == {"fresh"}


# Verifies: REQ-d00304-A
def test_what_moved_is_found_again(memory: Memory) -> None:
    memory.store("A note.", about=["src/tides.py", "src/tides.py::tide", "src/tides.py:12-14"])
    (memory.root / "src" / "water").mkdir()
    (memory.root / "src" / "tides.py").rename(memory.root / "src" / "water" / "tides.py")
    assert set(states(memory).values()) == {("moved", "file:src/water/tides.py")}


# Verifies: REQ-d00304-A
def test_sections_and_tests_that_moved_are_found_again(memory: Memory) -> None:
    memory.store("A note.", about=[SECTION, TESTED])
    text = (memory.root / "docs" / "harbour.md").read_text(encoding="utf-8")
    head, pilots = text[: text.index("## Pilots")], text[text.index("## Pilots") :]
    (memory.root / "docs" / "harbour.md").write_text(head, encoding="utf-8")
    (memory.root / "docs" / "crew.md").write_text(f"# Crew\n\n{pilots}", encoding="utf-8")
    (memory.root / "tests" / "test_tides.py").rename(memory.root / "tests" / "test_water.py")
    assert states(memory) == {
        "doc:docs/harbour.md#pilots": ("moved", "file:docs/crew.md"),
        TESTED: ("moved", "test:tests/test_water.py::test_tide"),
    }
    (memory.root / "docs" / "crew.md").unlink()
    (memory.root / "tests" / "test_water.py").unlink()
    assert {state for state, _ in states(memory).values()} == {"gone"}


# Verifies: REQ-d00304-C
def test_a_place_brings_what_is_known_of_its_parts(memory: Memory) -> None:
    ids = {
        place: memory.store(f"A note on {number}.", about=[place])
        for number, place in enumerate((SECTION, TESTED, "REQ-p00001-A", "src/tides.py::Ship.draught"))
    }
    for whole, part in (
        ("docs/harbour.md", SECTION),
        ("tests/test_tides.py", TESTED),
        ("REQ-p00001", "REQ-p00001-A"),
        ("src/tides.py::Ship", "src/tides.py::Ship.draught"),
        ("src/tides.py", "src/tides.py::Ship.draught"),
    ):
        assert memory.ids("anything", about=whole) == [ids[part]], whole


# Verifies: REQ-d00304-C
def test_more_memories_than_fit_a_page_are_counted(memory: Memory) -> None:
    view = MemoryView(memory.project.memory, Viewer(is_owner=True), is_person=True)
    for number in range(105):
        view.writer.store(Note(content=f"Note {number}.", rationale=WHY, about_=("src/tides.py",)), view.origin())
    found = listed(view, ListQuery(about_="src/tides.py", limit=5))
    assert (len(found.memories), found.total, found.truncated) == (5, 105, True)


# Verifies: REQ-d00304-A
def test_what_was_deleted_is_gone(memory: Memory) -> None:
    memory.store("A note.", about=["src/tides.py", "src/tides.py::tide", "REQ-d00001"])
    (memory.root / "src" / "tides.py").unlink()
    spec = memory.root / "spec" / "small.md"
    spec.write_text(SPEC[: SPEC.index("## REQ-d00001")], encoding="utf-8")
    assert {state for state, _ in states(memory).values()} == {"gone"}


# Verifies: REQ-d00304-A
def test_what_a_text_names_is_cited_by_itself(memory: Memory) -> None:
    stored = memory("store_memory", content="REQ-p00001 is kept by src/tides.py, not by x.py.", rationale=WHY)
    assert set(stored["cites"]) == {"REQ-p00001", "file:src/tides.py"}
    error = memory.failure("store_memory", content="More.", rationale=WHY, about=["src/none.py"]).error
    assert (error.code, "src/none.py" in error.message) == (-32012, True)
    assert memory.number("store_memory", content="More.", rationale=WHY, about=["../../etc/passwd"]) == -32012
    assert memory.number("store_memory", content="More.", rationale=WHY, about=["src/tides.py:900"]) == -32002


# Verifies: REQ-d00304-B
def test_a_file_that_is_only_mentioned_is_not_cited_beside_a_part_of_it(memory: Memory) -> None:
    told = {
        "In src/tides.py the tide is looked up.": ("src/tides.py::tide", "symbol:src/tides.py::tide"),
        "Pilots, as docs/harbour.md#pilots says, go aboard.": ("docs/harbour.md#pilots", "doc:docs/harbour.md#pilots"),
    }
    for text, (about, node) in told.items():
        assert memory("store_memory", content=text, rationale=WHY, about=[about])["cites"] == [node]
    named = memory("store_memory", content="The code of src/tides.py::tide is old.", rationale=WHY)
    assert named["cites"] == ["symbol:src/tides.py::tide"]
    whole = memory("store_memory", content="Old: src/tides.py::tide.", rationale=WHY, about=["src/tides.py"])
    assert set(whole["cites"]) == {"file:src/tides.py", "symbol:src/tides.py::tide"}


# Verifies: REQ-d00304-B
@pytest.mark.thorough
def test_a_thousand_edits_flag_what_they_touch_and_nothing_else(
    tmp_path: Path, opened: Callable[[Path], Project]
) -> None:
    chance = random.Random(11)
    project = opened(write_project(tmp_path / "many"))
    context = project.context
    place = context.root / "code.py"
    functions = [
        f"def f{n}(a, b):\n    if a:\n        value = a * {n} + (b,)[0]\n    return value - {n}\n" for n in range(40)
    ]
    for _ in range(RUNS or 100):
        place.write_text("\n\n".join(functions), encoding="utf-8")
        before = Places(context, "")
        names = chance.sample(range(40), 4)
        cites: dict[int, Cite] = {n: before.cite(_place(n, chance)) for n in names}
        edited, *untouched = names
        changed = list(functions)
        changed[edited] = _edited(functions[edited], chance)
        for other in set(range(40)) - set(names):
            if chance.random() < 0.2:
                changed[other] = _edited(functions[other], chance)
        for same in untouched:
            changed[same] = _formatted(functions[same], chance)
        place.write_text("# moved down\n" * chance.randrange(5) + "\n\n".join(changed), encoding="utf-8")
        after = Places(context, "")
        assert after.state(cites[edited]).state in ("changed", "gone", "moved")
        assert [after.state(cites[n]).state for n in untouched] == ["fresh"] * 3


def _place(n: int, chance: random.Random) -> str:
    first = n * 6 + 1
    return chance.choice([f"code.py::f{n}", f"code.py:{first}-{first + 3}", f"code.py:{first + 2}-{first + 3}"])


def _edited(text: str, chance: random.Random) -> str:
    head, test, middle, last = text.splitlines()
    changed = {
        "insert": (head, test, f"{middle} + 1", last),
        "replace": (head, test, middle.replace("a *", "b *"), last),
        "delete": (head, test, "        pass", last),
        "nest": (head, test, middle, f"    {last}"),
        "unwrap": (head, test, middle.replace("(b,)", "(b)"), last),
        "remove": ("",),
    }
    return "\n".join((*changed[chance.choice(list(changed))], ""))


def _formatted(text: str, chance: random.Random) -> str:
    spaced = text.replace(" * ", "*").replace(" + ", "  +  ")
    wrapped = text.replace("(b,)", "(\n            b,\n        )")
    return chance.choice([text, spaced, text.replace("(a, b)", "(\n    a,\n    b,\n)"), wrapped])


# Verifies: REQ-d00304-B
def test_nesting_counts_where_indentation_means_something() -> None:
    text = "if a:\n    if b:\n        x()\n    y()\n"
    python = passage_hash(text, indented=True)
    for same in (
        text.replace("    ", "  "),
        text.replace("    ", "\t"),
        "\n".join(f"  {line}" for line in text.split("\n")),
    ):
        assert says(same, python)
    for other in (text.replace("    y", "        y"), text.replace("    y", "y"), text.replace("        x", "    x")):
        assert not says(other, python)
        assert says(other, passage_hash(text))
    for one, two in (("x = (1,)", "x = (1)"), ("return (a,)", "return (a)"), ("x[1,]", "x[1]")):
        assert passage_hash(one).hash != passage_hash(two).hash
    for one, two in (("f(1,)", "f(1)"), ("[1,]", "[1]"), ("(1, 2,)", "(1, 2)"), ("class A(B,):", "class A(B):")):
        assert passage_hash(one).hash == passage_hash(two).hash


# Verifies: REQ-d00304-B
def test_lines_are_told_from_their_like() -> None:
    text = "if a:\n    return x\n\nif b:\n    return x\n\nThe lamp burns at night\nand goes out by day.\n"
    cited = lines_hash(text, 5, 5)
    assert stands_in(text, cited)
    assert stands_in(text.replace("if a:\n    return x", "if a:\n    return y"), cited)
    assert not stands_in(text.replace("if b:\n    return x", "if b:\n    return y"), cited)
    prose = lines_hash(text, 7, 7)
    assert stands_in(text.replace("night\nand goes", "night and\ngoes"), prose)
    assert not stands_in(text.replace("at night\n", "at night, as ever,\n"), prose)
    assert not stands_in(text.replace("lamp burns", "lamp glows"), prose)
