"""An import of a changed export changes no more of a requirement than differs, however the requirement is written."""

import difflib
import json
import re
import tempfile
from collections.abc import Hashable, Sequence
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.exchange.conftest import Clew, files_of
from tests.exchange.test_same_graph import given_out, started, taken_in
from tests.properties import examples

from clew.errors import Rejected
from clew.exchange.formats import FORMATS, WRITTEN
from clew.exchange.model import Exchange, Item
from clew.exchange.sources import ImportSource

EXAMPLES = examples(12)
HEADINGS = st.sampled_from(
    [
        *(
            "Notes",
            "Notes",
            "notes",
            "Notes-2",
            "Notes: *first*",
            "Rationale",
            "*Rationale*",
            "Detail",
            "Steps",
            "# odd",
        ),
        *("Status", "level", "Template", "Title", "id", "kept", "text:", "Implements", "Depends on", "version", "URL"),
        *("Assertions", "**Assertions**:", "Attributes", "Attributes", "Changelog", "A very long heading " * 8),
    ]
)
ODD = st.sampled_from(
    [
        *(
            "{}",
            "{}",
            "b  \n{}",
            "    {}",
            "\t{}",
            "Status: b\n{}",
            "Implements: b\n{}",
            "- {}: b",
            "- name: {}",
            "---{}",
        ),
        *("*{}", "\\# {}", "| {} | b |", "[{}](b)", "[Removed] {}", "<RETIRED> {}", "> {}", "**{}** b", "1. {}"),
        *(
            "```\n# {}\nA. code\n```",
            "```\n\n{}\n```",
            "b:\n```python\n{}\n# b\n\n*End* b\n```",
            "  ```\n  {}\n  ```\n  b",
            "é {}",
            "b \u2028 b\n{}",
            "a: {}",
            "{} | **Level**: DEV",
            "  - {}",
        ),
        "\x01 b\n{}",
    ]
)
"""Lines that mean something somewhere, or that a format cannot spell; what is changed in them is a word."""
REFERENCES = [
    "Refines: REQ-p00002,\n  REQ-p00003\n",
    "Refines: REQ-p00004-A, REQ-p00002, REQ-p00004-B\n",
    "Refines: REQ-p00002-B\nImplements: REQ-p00003, REQ-p00002-A\nRefines: REQ-p00002-A\n",
]
BETWEEN = st.sampled_from(["\n", "\n", "\n\n", "\n\n\n"])


class _Words:
    """Words that are told from one another."""

    def __init__(self) -> None:
        self.number = 0

    def fill(self, pattern: str) -> str:
        self.number += 1
        return pattern.replace("{}", f"w{self.number}w")


def _text(draw: st.DrawFn, words: _Words, *, least: int = 0) -> str:
    lines = [words.fill(each) for each in draw(st.lists(ODD, min_size=least, max_size=4))]
    return "".join(line + draw(BETWEEN) for line in lines)


def _assertions(draw: st.DrawFn, words: _Words) -> str:
    parts: list[str] = []
    for label in draw(st.permutations("ABCD"))[: draw(st.integers(0, 4))]:
        parts.append(draw(st.sampled_from(["", "", "", "*Group*\n", "*Group*\n\nSaid of it.\n\n", "\n"])))
        parts.append(draw(st.sampled_from(["{}. ", "{}.  ", "{}. ", "{}.\t"])).replace("{}", label))
        text = _text(draw, words, least=1).lstrip()
        parts.append(text if not text.startswith("```") else f"b\n{text}")
    return "".join(parts)


@st.composite
def requirements(draw: st.DrawFn) -> str:
    """A file of one requirement or several."""
    words = _Words()
    ids = ["REQ-p00001", "REQ-p00005", "REQ-p00006"][: draw(st.integers(1, 3))]
    text = "# Specs\n\n" + "\n".join(_requirement(draw, words, id) for id in ids)
    return text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n"])))


def _requirement(draw: st.DrawFn, words: _Words, id: str) -> str:
    depth = draw(st.sampled_from([1, 2, 3]))
    title = words.fill("About {}")
    parts = [f"{'#' * depth} {id}: {title}\n"]
    field = "**Level**: PRD | **Status**: Draft | **Owner**: Ann\n"
    further = draw(st.sampled_from(REFERENCES))
    parts.append(draw(st.sampled_from(["", "\n"])))
    parts += draw(st.permutations([field, further, f"\n{_text(draw, words)}\n"]))
    for heading in draw(st.lists(HEADINGS, max_size=6)):
        parts.append(f"\n{'#' * draw(st.integers(depth, 6))} {heading}\n" + draw(st.sampled_from(["", "\n"])))
        if "assertions" in heading.casefold():
            parts.append(_assertions(draw, words))
        elif heading == "Attributes" and draw(st.booleans()):
            listed = draw(st.lists(st.sampled_from(["a", "Ä b", "Notes", "status"]), min_size=1, max_size=3))
            parts += [words.fill(f"- {name}: {{}}\n") for name in listed]
        else:
            parts.append(_text(draw, words))
    parts.append(
        draw(st.sampled_from(["", f"\n*End* *{title}*\n", f"\n*End* *{title}* | **Hash**: 12345678\n\n---\n"]))
    )
    return "".join(parts)


OTHERS = "".join(
    f"## REQ-p0000{n}: Other\n\n**Level**: PRD | **Status**: Draft\n\n"
    "## Assertions\n\nA. One SHALL be.\nB. Two SHALL be.\nC. Three SHALL be.\n\n*End* *Other*\n\n"
    for n in (2, 3, 4)
)


def project(clew: Clew, folder: Path, text: str) -> Path:
    started(clew, folder, "elspais")
    (folder / "spec").mkdir()
    (folder / "spec" / "others.md").write_text(OTHERS)
    (folder / "spec" / "one.md").write_bytes(text.encode())
    return folder


def exported(folder: Path, name: str) -> bytes:
    return WRITTEN[name].write(Exchange(items=tuple(given_out(folder).values())), "project")


def imported(folder: Path, name: str, data: bytes) -> None:
    report = taken_in(folder, FORMATS[name].read(ImportSource(Path("file"), data)), "elspais", name)
    assert (report.added, report.conflicts, report.rejected) == ((), (), ())


# Verifies: REQ-d00600-C
@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_an_export_that_comes_back_changes_no_byte(clew: Clew, name: str) -> None:
    @settings(max_examples=EXAMPLES, phases=(Phase.explicit, Phase.generate))
    @given(requirements())
    def holds(text: str) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = project(clew, Path(scratch) / "first", text)
            before = files_of(folder)
            imported(folder, name, exported(folder, name))
            assert files_of(folder) == before

    holds()


# Verifies: REQ-d00601-J
@pytest.mark.thorough
def test_one_word_that_changes_changes_its_line_and_no_other(clew: Clew) -> None:
    @settings(max_examples=4 * EXAMPLES, phases=(Phase.explicit, Phase.generate))
    @given(requirements())
    def holds(text: str) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = project(clew, Path(scratch) / "first", text)
            data = exported(folder, "jsonl")
            words = re.findall(rb"w\d+w", data)
            word = words[crc32(text.encode()) % len(words)]
            imported(folder, "jsonl", data.replace(word, b"other"))
            after = (folder / "spec" / "one.md").read_bytes().decode()
            assert unsigned(after) == unsigned(text.replace(word.decode(), "other"))

    holds()


# Verifies: REQ-d00601-J
@pytest.mark.thorough
def test_a_fence_that_changes_hides_no_requirement(clew: Clew) -> None:
    @settings(max_examples=4 * EXAMPLES, phases=(Phase.explicit, Phase.generate))
    @given(requirements(), st.integers(0, 99), st.sampled_from(["```py", "b", "```\\n```", "b\\n```\\n# b"]))
    def holds(text: str, place: int, instead: str) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = project(clew, Path(scratch) / "first", text)
            before = given_out(folder)
            data = exported(folder, "jsonl").decode()
            fences = [found.span() for found in re.finditer(r"```(python)?", data)]
            start, end = fences[place % len(fences)] if fences else (0, 0)
            changed = (data[:start] + instead * bool(fences) + data[end:]).encode()
            imported(folder, "jsonl", changed)
            after = given_out(folder)
            assert list(after) == list(before)
            assert sum(after[id].version != before[id].version for id in after) <= 1
            for id, item in after.items():
                assert [each.label for each in item.criteria] == [each.label for each in before[id].criteria]
                assert item.relations == before[id].relations
            written = files_of(folder)
            imported(folder, "jsonl", changed)
            assert files_of(folder) == written

    holds()


FENCED = """# Specs

## REQ-p00001: Books

Said before.

**Level**: PRD | **Status**: Draft

Said behind.

## Assertions

*Group*

Of the group.

A. A book SHALL be printed like this:
  ```python
print(1)
```

## Rationale
## Owner

## Changelog

- 2026-01-02 | 12345678 | - | Ann (<ann@example.org>) | First

*End* *Books*

## REQ-p00005: Shelves

**Level**: PRD | **Status**: Draft

## Assertions

A. A shelf SHALL stand.

*End* *Shelves*
"""


# Verifies: REQ-d00601-J
@pytest.mark.parametrize(
    ("given", "wanted", "there", "then"),
    [
        ("```python", "```py", "```python", "```py"),
        ("print(1)\\n```", "print(1)", "  ```python\nprint(1)\n```\n", "  \\```python\nprint(1)\n"),
        ("  ```python", "print(0)", "  ```python\nprint(1)\n```", "print(0)\nprint(1)\n\\```"),
        ("print(1)", "# print(2)\\n\\nA. x", "print(1)", "# print(2)\n\nA. x"),
        ('"label":"A","text":"A book', '"label":"B","text":"A book', "A. A book", "B. A book"),
        (
            '"Said before.\\n\\n\\nSaid behind."',
            '"```\\nSaid behind.\\n```"',
            "Said before.\n\n**Level**: PRD | **Status**: Draft\n\nSaid behind.\n\n## Assertions\n\n*Group*",
            "**Level**: PRD | **Status**: Draft\n\n```\nSaid behind.\n```\n\n## Assertions\n\n*Group*",
        ),
        ("print(1)\\n```", "print(1)\\n```\\n1. x", "print(1)\n```", "print(1)\n```\n1. x"),
        ("Of the group.", "Z. Of it.", "Of the group.", "\\Z. Of it."),
        ('"Group":', '"Rationale":"Why not?","Group":', "Rationale\n", "Rationale\n\nWhy not?\n\n"),
        ('"Group":', '"Owner":"Ann","Group":', "## Owner\n", "## Owner\n\nAnn\n"),
        ('"Group":', '"rationale":"Why not?","Group":', "Rationale\n", "rationale\n\nWhy not?\n\n"),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_code_blocks_stay_closed_and_empty_headings_get_their_text(
    clew: Clew, tmp_path: Path, line_end: str, given: str, wanted: str, there: str, then: str
) -> None:
    folder = project(clew, tmp_path / "first", FENCED.replace("\n", line_end))
    data = exported(folder, "jsonl").decode()
    assert (data.count(given), FENCED.count(there)) == (1, 1)
    for _ in range(2):
        imported(folder, "jsonl", data.replace(given, wanted, 1).encode())
        after = (folder / "spec" / "one.md").read_bytes().decode().replace(line_end, "\n")
        assert unsigned(after) == FENCED.replace(there, then)


# Verifies: REQ-d00601-J
def test_a_requirement_that_cannot_be_edited_is_written_whole(clew: Clew, tmp_path: Path) -> None:
    text = FENCED.replace("A. A book SHALL be printed", "A. A book SHALL go through the\nAB. Then be printed")
    folder = project(clew, tmp_path / "first", text)
    before = given_out(folder)
    imported(folder, "jsonl", exported(folder, "jsonl").replace(b"SHALL go through the", b"SHALL go."))
    after = given_out(folder)
    assert list(after) == list(before)
    (criterion,) = after["REQ-p00001"].criteria
    assert criterion.text.startswith("A book SHALL go.\nAB. Then")
    written = (folder / "spec" / "one.md").read_text()
    assert "\n\\AB. Then" in written
    assert written.endswith(text.partition("*End* *Books*")[2])
    assert "- 2026-01-02 | 12345678 | - | Ann (<ann@example.org>) | First\n" in written


# Verifies: REQ-d00601-J
def test_a_file_whose_code_block_is_open_takes_no_more_requirements(clew: Clew, tmp_path: Path) -> None:
    folder = project(clew, tmp_path / "first", FENCED.replace("A. A shelf SHALL stand.", "A. A shelf SHALL:\n```"))
    before = files_of(folder)
    item = Item(id="REQ-p00007", title="Doors", path="spec/one.md")
    with pytest.raises(Rejected, match=r"spec/one\.md would not be read .* line 38 is never closed"):
        taken_in(folder, Exchange(items=(item,)), "elspais")
    assert files_of(folder) == before


# Verifies: REQ-d00601-K
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("Said before.", "Said first."),
        ('"title":"Books"', '"title":"Tomes"'),
        ('"Group":', '"Owner":"Ann","Group":'),
        ("A book SHALL", "A tome SHALL"),
    ],
)
def test_a_requirement_whose_code_block_is_open_is_not_changed(
    clew: Clew, tmp_path: Path, line_end: str, given: str, wanted: str
) -> None:
    first = FENCED.replace("# Specs", "# Specs\n\n## REQ-p00006: Doors\n\nA door.\n\n*End* *Doors*")
    text = first.replace("print(1)\n```", "print(1)")
    folder = project(clew, tmp_path / "first", text.replace("\n", line_end))
    data = exported(folder, "jsonl").decode()
    assert data.count(given) == 1
    (folder / "new.jsonl").write_text(data.replace(given, wanted))
    before = files_of(folder)
    for options in ((), ("--dry-run",)):
        done = clew(folder, "import", "jsonl", "new.jsonl", *options)
        assert done.returncode == 2
        assert "line 24 is never closed" in done.stderr
        assert "Close the code block of line 24" in done.stderr
        assert files_of(folder) == before
    # Another of the file may change, and what stands in the open block stays.
    imported(folder, "jsonl", data.replace("A door.", "A gate.").encode())
    after = (folder / "spec" / "one.md").read_bytes().decode()
    assert after == text.replace("A door.", "A gate.").replace("\n", line_end)


MANNERED = """# Specs

### REQ-p00001: Books

Before the fields.

**Level**: PRD | *Status*: Draft
Refines: REQ-p00002,
  REQ-p00003

Behind the fields.{spaces}

## Notes: *first*

One.

#### Detail of {long}

Two.

## Attributes

- owner:  Ann
- risk: low

## Assertions

Read them all.

A.  A book SHALL open.
    At once.

*Later*

C. A book SHALL close.

## Notes

Three.

## Empty

## Notes

Four.

## Changelog

- 2026-01-02 | 12345678 | - | Ann (<ann@example.org>) | First

*End* *Books*
"""


# Verifies: REQ-d00601-J
@pytest.mark.parametrize(
    ("given", "wanted", "there", "then"),
    [
        ('"text":"A book SHALL close."', '"text":"A book MUST close."', "SHALL close", "MUST close"),
        ('open.\\n    At once."', 'open.\\n    Soon."', "At once.", "Soon."),
        ("SHALL open.\\n", "SHALL fall.\\n", "SHALL open.", "SHALL fall."),
        (
            '{"label":"C"',
            '{"label":"B","text":"New."},{"label":"C"',
            "    At once.\n",
            "    At once.\n\nB. New.\n",
        ),
        ('close."}]', 'close."},{"label":"D","text":"New."}]', "close.\n", "close.\n\nD. New.\n"),
        (',{"label":"C","text":"A book SHALL close."}', "", "C. A book SHALL close.\n\n", ""),
        ('"label":"C"', '"label":"D"', "C. A", "D. A"),
        ('"Notes: *first*":"One."', '"Notes: *first*":"1."', "One.", "1."),
        ('"Notes: *first*":"One.",', "", "## Notes: *first*\n\nOne.\n\n", ""),
        ('"Two."', '"2."', "Two.", "2."),
        ('"Notes-2":"Four."', '"Notes-2":"4."', "Four.", "4."),
        (',"Notes-2":"Four."', "", "## Notes\n\nFour.\n\n", ""),
        ('"Notes":"Three.",', "", "## Notes\n\nThree.\n\n## Empty\n\n## Notes\n", "## Empty\n\n## Notes-2\n"),
        ('"Assertions":"Read them all.",', "", "Read them all.\n\n", ""),
        ('"owner":"Ann"', '"owner":"Bo"', "- owner:  Ann", "- owner: Bo"),
        ('"owner":"Ann",', "", "- owner:  Ann\n", ""),
        ('"risk":"low"', '"risk":"low","cost":"high"', "risk: low\n", "risk: low\n- cost: high\n"),
        (
            '"risk":"low"',
            '"risk":"low","Rationale":"Why not?"',
            "Four.\n",
            "Four.\n\n## Rationale\n\nWhy not?\n",
        ),
        ('"owner":"Ann","risk":"low",', "", "## Attributes\n\n- owner:  Ann\n- risk: low\n\n", ""),
        ('"text":"Before the', '"text":"In front of the', "Before the", "In front of the"),
        ("Behind the fields.", "Behind them.", "Behind the fields.", "Behind them."),
        ('"title":"Books"', '"title":"Volumes"', "Books", "Volumes"),
        ('"status":"Draft"', '"status":"Active"', "*Status*: Draft", "*Status*: Active"),
        ('"level":"prd"', '"level":"prd","template":"true"', "Draft\n", "Draft | **Template**\n"),
        (',{"kind":"refines","target":"REQ-p00003"}', "", "REQ-p00002,\n  REQ-p00003", "REQ-p00002"),
        ('"target":"REQ-p00003"', '"target":"REQ-p00004"', "REQ-p00002,\n  REQ-p00003", "REQ-p00002, REQ-p00004"),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_an_import_changes_no_more_of_a_requirement_than_differs(
    clew: Clew, tmp_path: Path, line_end: str, given: str, wanted: str, there: str, then: str
) -> None:
    text = MANNERED.format(long="a heading of very many words " * 5, spaces="  ")
    assert text.count(there) == (2 if there == "Books" else 1)
    folder = project(clew, tmp_path / "first", text.replace("\n", line_end))
    data = exported(folder, "jsonl").decode()
    assert given in data
    imported(folder, "jsonl", data.replace(given, wanted, 1).encode())
    after = (folder / "spec" / "one.md").read_bytes().decode().replace(line_end, "\n")
    assert unsigned(after) == text.replace(there, then)
    assert '"kept":{}' in (folder / "clew.imports.jsonl").read_text()


# Verifies: REQ-d00601-J
def test_a_hash_follows_the_assertions_and_nothing_else(clew: Clew, tmp_path: Path) -> None:
    signed = "*End* *Books* | **Hash**: 12345678"
    folder = project(clew, tmp_path / "first", MANNERED.replace("*End* *Books*", signed))
    data = exported(folder, "jsonl")
    imported(folder, "jsonl", data.replace(b'"One."', b'"1."'))
    assert signed in (folder / "spec" / "one.md").read_text()
    imported(folder, "jsonl", exported(folder, "jsonl").replace(b"SHALL close", b"MUST close"))
    assert signed not in (folder / "spec" / "one.md").read_text()


# Verifies: REQ-d00600-C
def test_labels_that_the_project_has_stay(clew: Clew, tmp_path: Path) -> None:
    text = "## REQ-p00001: Books\n\n## Assertions\n\nA. One.\nA. Two.\n  AB. Three.\n\n*End* *Books*\n"
    folder = project(clew, tmp_path / "first", text)
    data = exported(folder, "jsonl")
    before = files_of(folder)
    imported(folder, "jsonl", data)
    assert files_of(folder) == before
    imported(folder, "jsonl", data.replace(b'"Two."', b'"2."'))
    assert unsigned((folder / "spec" / "one.md").read_text()) == text.replace("Two.", "2.")


# Verifies: REQ-d00601-J
@pytest.mark.parametrize("behind", ["", "\n### Rationale\n\nWhy not?\n"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_heading_of_assertions_goes_with_the_last_of_them(
    clew: Clew, tmp_path: Path, behind: str, line_end: str
) -> None:
    text = "## REQ-p00001: Books\n\n**Level**: PRD | **Status**: Draft\n\nSaid.\n{}" + behind + "\n*End* *Books*\n"
    there = text.replace("{}", "\n## Assertions\n\nA. One.\nB. Two.\n")
    folder = project(clew, tmp_path / "first", there.replace("\n", line_end))
    data = exported(folder, "csv").decode()
    assert data.count('"A. One.\nB. Two."') == 1
    imported(folder, "csv", data.replace('"A. One.\nB. Two."', "").encode())
    after = (folder / "spec" / "one.md").read_bytes().decode()
    assert unsigned(after) == text.replace("{}", "").replace("\n", line_end)


SPEC = """# Shelf

## Purpose

Keep books where people find them, in the order of their names.

## Requirements

### Requirement: Books stand

The shelf SHALL hold books.{spaces}

* **Owner**: Ann
**Risk:** low

Implements: REQ-p00002, REQ-p00003

And it SHALL stand.

### Note: *first*

Not a scenario.

#### Scenario: A book
- **WHEN** a book comes
- **THEN** it stands

##### Detail

Deep.

####  Scenario:  Two books

- **WHEN** two come
- **THEN** both stand


### Requirement: Books stand

It SHALL be a second one.

#### Scenario: Any
- **THEN** yes

## Notes

Behind.
"""


# Verifies: REQ-d00601-J
@pytest.mark.parametrize(
    ("given", "wanted", "there", "then"),
    [
        ("", "", "", ""),
        ("it stands", "it falls", "it stands", "it falls"),
        (
            '{"label":"two-books"',
            '{"label":"more","text":"- **THEN** more","title":"More"},{"label":"two-books"',
            "Deep.\n\n",
            "Deep.\n\n#### Scenario: More\n\n- **THEN** more\n\n",
        ),
        (
            '{"label":"a-book","text":"- **WHEN** a book comes\\n- **THEN** it stands\\n\\n##### Detail\\n\\nDeep.",'
            '"title":"A book"},',
            "",
            "#### Scenario: A book\n- **WHEN** a book comes\n- **THEN** it stands\n\n##### Detail\n\nDeep.\n\n",
            "",
        ),
        ("both stand", "none stands", "both stand", "none stands"),
        ('"Two books"', '"Three books"', "Two books", "Three books"),
        ("hold books.", "hold all.", "hold books.  ", "hold all."),
        ("it SHALL stand", "it MUST stand", "it SHALL stand", "it MUST stand"),
        ('"Owner":"Ann"', '"Owner":"Bo"', "Owner**: Ann", "Owner**: Bo"),
        ('"Risk":"low"', '"Risk":"high"', "**Risk:** low", "**Risk:** high"),
        ('"Owner":"Ann",', "", "* **Owner**: Ann\n", ""),
        ('"Not a scenario."', '"None."', "Not a scenario.", "None."),
        ('"title":"Books stand"', '"title":"Books lie"', "Books stand\n\nThe shelf", None),
        ('"target":"REQ-p00003"', '"target":"REQ-p00004"', "REQ-p00003", "REQ-p00004"),
        ("a second one", "another one", "a second one", "another one"),
        ('"Owner":"Ann"', '"Owner":"Ann","Cost":"none"', "REQ-p00003\n", "REQ-p00003\n- **Cost**: none\n"),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_an_import_changes_no_more_of_a_spec_than_differs(
    clew: Clew, tmp_path: Path, line_end: str, given: str, wanted: str, there: str, then: str | None
) -> None:
    spec = SPEC.format(spaces="  ")
    folder = started(clew, tmp_path / "first", "openspec")
    for path, text in (("openspec/specs/shelf/spec.md", spec), ("spec/others.md", OTHERS)):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_bytes(text.replace("\n", line_end).encode())
    data = exported(folder, "jsonl").decode()
    assert given in data
    before = files_of(folder)
    imported(folder, "jsonl", data.encode())
    assert files_of(folder) == before
    imported(folder, "jsonl", data.replace(given, wanted, 1).encode())
    after = (folder / "openspec/specs/shelf/spec.md").read_bytes().decode().replace(line_end, "\n")
    if then is None:
        assert after.startswith(spec.partition("### Requirement")[0] + "### Requirement: Books lie\n\nThe shelf")
        assert "- **ID**: books-stand\n" in after
        assert after.endswith(spec.partition("And it")[2])
    else:
        assert after == spec.replace(there, then, 1)


TWICE = """# Shelf

## Requirements

### Requirement: Books stand

The shelf SHALL hold books.

* **Owner**: Ann

Refines: REQ-p00012-A

#### Scenario:  One
- **WHEN** a book comes

####  Scenario: One
- **WHEN** two come

### Requirement: Other

It SHALL be.

#### Scenario: Any
- **THEN** yes
"""
LABELLED = """## REQ-p00012: Books

**Level**: PRD | **Status**: Draft

## Assertions

A. A book SHALL open.
B. A book SHALL close.
C. A book SHALL lie.

*End* *Books*
"""
STANDS = '"labels":["A"]'


# Verifies: REQ-d00601-J
@pytest.mark.parametrize(
    ("given", "wanted", "there", "then"),
    [
        ("two come", "three come", "two come", "three come"),
        ("a book comes", "one comes", "a book comes", "one comes"),
        ('two come","title":"One"', 'two come","title":"Two"', "####  Scenario: One", "####  Scenario: Two"),
        (
            'two come","title":"One"}',
            'two come","title":"One"},{"label":"new","text":"- **THEN** new","title":"One"}',
            "two come\n",
            "two come\n\n#### Scenario: One\n\n- **THEN** new\n",
        ),
        (STANDS, '"labels":["B"]', "REQ-p00012-A", "REQ-p00012-B"),
        (STANDS, '"labels":["A","C"]', "REQ-p00012-A", "REQ-p00012-A+C"),
    ],
)
def test_scenarios_of_one_name_and_cited_assertions_are_changed_alone(
    clew: Clew, tmp_path: Path, given: str, wanted: str, there: str, then: str
) -> None:
    folder = started(clew, tmp_path / "first", "openspec")
    for path, text in (("openspec/specs/shelf/spec.md", TWICE), ("spec/others.md", LABELLED)):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text(text)
    data = exported(folder, "jsonl").decode()
    assert given in data
    imported(folder, "jsonl", data.replace(given, wanted, 1).encode())
    assert (folder / "openspec/specs/shelf/spec.md").read_text() == TWICE.replace(there, then, 1)


# Verifies: REQ-d00601-B
def test_a_new_requirement_of_a_spec_cites_assertions_as_their_own_format_does(clew: Clew, tmp_path: Path) -> None:
    folder = started(clew, tmp_path / "first", "openspec")
    for path, text in (("openspec/specs/shelf/spec.md", TWICE), ("spec/others.md", LABELLED)):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text(text)
    new = {
        "id": "shelf/new",
        "title": "New",
        "text": "It SHALL be new.",
        "relations": [
            {"kind": "refines", "target": "REQ-p00012", "labels": ["A", "B"]},
            {"kind": "refines", "target": "shelf/other", "labels": ["any"]},
        ],
    }
    data = exported(folder, "jsonl") + json.dumps({"item": new}).encode() + b"\n"
    taken_in(folder, FORMATS["jsonl"].read(ImportSource(Path("file"), data)), "openspec", "jsonl")
    assert "Refines: REQ-p00012-A+B, shelf/other#any\n" in (folder / "openspec/specs/shelf/spec.md").read_text()
    assert "trace.broken_reference" not in clew(folder, "check").stdout


# Verifies: REQ-d00601-J
def test_an_import_changes_no_more_of_a_register_than_differs(clew: Clew, tmp_path: Path) -> None:
    folder = started(clew, tmp_path / "first", "register")
    entry = ("--statement", "The shelf shall hold\n  books.  ", "--rationale", " Why  not? ", "--tag", "a b")
    clew(folder, "req", "add", "--title", "Books stand", *entry, "--acceptance", "It  holds ten books within a second")
    (file,) = (name for name in files_of(folder) if name != "clew.toml")
    before = json.loads(files_of(folder)[file])
    data = exported(folder, "jsonl")
    report = taken_in(folder, FORMATS["jsonl"].read(ImportSource(Path("file"), data)), "register")
    assert (report.changed, json.loads(files_of(folder)[file])) == ((), before)
    changed = FORMATS["jsonl"].read(ImportSource(Path("file"), data.replace(b"Why  not?", b"Because.")))
    assert len(taken_in(folder, changed, "register").changed) == 1
    after = json.loads(files_of(folder)[file])
    old, new = (next(iter(each["requirements"].values())) for each in (before, after))
    assert {name for name in new if new[name] != old[name]} == {"rationale", "updated", "history"}


def unsigned(text: str) -> str:
    """Without hashes, which follow the assertions."""
    return re.sub(r" \| \*\*Hash\*\*: \S+", "", text)


class _Compared(difflib.SequenceMatcher[Hashable]):
    """Notes how many lines are compared, each with each."""

    most = 0

    def __init__(self, isjunk: None, a: Sequence[Hashable], b: Sequence[Hashable], autojunk: bool) -> None:
        type(self).most = max(type(self).most, len(a), len(b))
        super().__init__(isjunk, a, b, autojunk)


# Verifies: REQ-d00601-J
@pytest.mark.parametrize("line", ["It SHALL hold {}.  ", "It SHALL hold."])
def test_a_long_text_is_changed_line_by_line_without_comparing_each_with_each(
    clew: Clew, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setattr(difflib, "SequenceMatcher", _Compared)
    _Compared.most = 0
    lines = [line.replace("{}", str(number)) for number in range(400)]
    text = "## REQ-p00001: Books\n\n**Level**: PRD | **Status**: Draft\n\n{}\n\n*End* *Books*\n"
    folder = project(clew, tmp_path / "first", text.replace("{}", "\n\n".join(lines)))
    now = [each.replace("hold", "keep") if not number % 40 else each for number, each in enumerate(lines)]
    data = exported(folder, "csv").decode()
    given, wanted = ("\n\n".join(each) for each in (lines, now))
    assert data.count(given.rstrip()) == 1
    imported(folder, "csv", data.replace(given.rstrip(), wanted.rstrip()).encode())
    assert (folder / "spec" / "one.md").read_text() == text.replace("{}", wanted)
    assert _Compared.most <= 100
