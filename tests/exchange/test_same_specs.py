"""An import of a changed export changes no more of a folder of specs than differs, however its specs are written."""

import json
import re
import tempfile
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.exchange.conftest import Clew, files_of
from tests.exchange.test_same_bytes import OTHERS
from tests.exchange.test_same_graph import given_out, started, taken_in
from tests.properties import examples

from clew.errors import Rejected
from clew.exchange.formats import FORMATS, WRITTEN
from clew.exchange.model import Criterion, Exchange, Item
from clew.exchange.results import ImportReport
from clew.exchange.sources import ImportSource

EXAMPLES = examples(12)
SPEC = "openspec/specs/shelf/spec.md"
ODD = st.sampled_from(
    [
        *("The shelf SHALL hold {}.", "It SHALL {}.", "b  \n{}", "    {}", "\t{}", "- {}: b", "| {} | b |", "> {}"),
        *("- **Owner**: {}", "* **Owner**: {}", "__Risk:__ {}", "**Risk**:{}", "- **owner**: {}", "**ID-x**: {}"),
        *("Implements: REQ-p00002 {}", "**Implements**: the RFC {}", "Verifies: nothing {}", "  ### Odd: {}"),
        *("```\n# {}\n**Key**: value\nImplements: REQ-p00003\n```", "~~~http\n```\nHost: {}\n**Key**: b\n\n\n~~~"),
        *("````\n```\n### Requirement: {}\n\n#### Scenario: b\n````", "  ```\n  {}\n  ```\n  b", "```text {}\n\n```"),
        *("\\# {}", "**{}** b", "1. {}", "é {}", "b \u2028 {}", "[{}](b)", "\x01 b\n{}", "<!-- {} -->"),
        *("- **WHEN** {}\n- **THEN** b", "* GIVEN {}\n  and b", "##### Detail\n\n{}", "Foo. Implements: REQ-p00004 {}"),
    ]
)
"""Lines that mean something somewhere, or that a format cannot spell; what is changed in them is a word."""
CITING = st.sampled_from(
    [
        "",
        "",
        "Implements: REQ-p00002, REQ-p00003-A\n\n",
        "- **Refines**: REQ-p00004\nimplements: REQ-p00002-A,\n  REQ-p00003\n",
    ]
)
HEADING = st.sampled_from(
    [
        *("#### Scenario: {}", "#### Scenario: {}", "####  scenario :  Same {} ##", "#### Scenario: S {}", "#### {}"),
        *(
            "##### Scenario: (a+b)* [{}] $1",
            "### Hint",
            "### Note",
            "### Note",
            "#### Scenario: Same",
            "####Scenario: {}",
        ),
    ]
)
NAME = st.sampled_from(["{}", "R {}", "requirement {}", "Same", "Same", "* {} *", "(a|b)* {} \\1 #", "x" * 200 + " {}"])
BETWEEN = st.sampled_from(["\n", "\n", "\n\n", "\n\n\n", "\n \n"])


class _Words:
    """Words that are told from one another."""

    def __init__(self) -> None:
        self.number = 0

    def fill(self, pattern: str) -> str:
        self.number += 1
        return pattern.replace("{}", f"w{self.number}w")


@st.composite
def specs(draw: st.DrawFn) -> str:
    words = _Words()
    parts = [
        draw(st.sampled_from(["# Shelf\n\n## Purpose\n\nTo hold.\n\n## Requirements\n\n", "## Requirements\n", ""]))
    ]
    for _ in range(draw(st.integers(1, 3))):
        parts.append(words.fill(f"### Requirement: {draw(NAME)}") + draw(BETWEEN))
        parts += [_text(draw, words), draw(CITING), _text(draw, words)]
        for heading in draw(st.lists(HEADING, max_size=4)):
            parts += [words.fill(heading) + draw(BETWEEN), _text(draw, words)]
    parts.append(
        draw(st.sampled_from(["", "\n## Notes\n\nBehind.\n", "\n\n", "## Notes\n\n### Requirement: Astray\n\nx"]))
    )
    text = "".join(parts)
    text = text.rstrip("\n") if draw(st.booleans()) else text
    return draw(st.sampled_from(["", "", "\ufeff"])) + text.replace(
        "\n", draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    )


def _text(draw: st.DrawFn, words: _Words) -> str:
    lines = [words.fill(each) for each in draw(st.lists(ODD, max_size=3))]
    return "".join(line + draw(BETWEEN) for line in lines)


def project(clew: Clew, folder: Path, text: str) -> Path:
    started(clew, folder, "openspec")
    for path, content in ((SPEC, text), ("spec/others.md", OTHERS)):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_bytes(content.encode())
    return folder


def exported(folder: Path, name: str = "jsonl") -> bytes:
    return WRITTEN[name].write(Exchange(items=tuple(given_out(folder).values())), "project")


def imported(folder: Path, data: bytes, name: str = "jsonl") -> ImportReport:
    report = taken_in(folder, FORMATS[name].read(ImportSource(Path("file"), data)), "openspec", name)
    assert (report.conflicts, report.rejected) == ((), ())
    return report


# Verifies: REQ-d00600-C
@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_an_export_of_specs_that_comes_back_changes_no_byte(clew: Clew, name: str) -> None:
    @settings(max_examples=EXAMPLES, phases=(Phase.explicit, Phase.generate))
    @given(specs())
    def holds(text: str) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = project(clew, Path(scratch) / "first", text)
            before = files_of(folder)
            imported(folder, exported(folder, name), name)
            assert files_of(folder) == before

    holds()


# Verifies: REQ-d00601-J
@pytest.mark.thorough
def test_one_word_of_a_spec_that_changes_changes_its_line_and_no_other(clew: Clew) -> None:
    @settings(max_examples=4 * EXAMPLES, phases=(Phase.explicit, Phase.generate))
    @given(specs())
    def holds(text: str) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = project(clew, Path(scratch) / "first", text)
            data = exported(folder)
            # A requirement of another name has a line more, which says its id.
            named = set(re.findall(rb"w\d+w", b" ".join(re.findall(rb'"id":"[^"]*"', data))))
            words = [each for each in re.findall(rb"w\d+w", data) if each not in named]
            if not words:
                return
            word = words[crc32(text.encode()) % len(words)]
            changed = data.replace(word, b"other")
            imported(folder, changed)
            after = (folder / SPEC).read_bytes().decode()
            assert after == text.replace(word.decode(), "other")
            imported(folder, changed)
            assert (folder / SPEC).read_bytes().decode() == after

    holds()


AUTH = """# auth

## Purpose

To log in.

## Requirements

### Requirement: Log in

The system SHALL log in. Its settings are:

```yaml
**Key**: value
Implements: nothing at all
timeout: 3
```

- **Owner**: Ann

Implements: the RFC

#### Scenario: S

- **WHEN** a
- **THEN** b
"""
OPEN = "\n```text\nnever closed\n"
NEW = json.dumps({"item": {"id": "shelf/out", "title": "Log out", "text": "The system SHALL log out."}}).encode()


# Verifies: REQ-d00601-K
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "line"),
    [(AUTH + OPEN, 28), (AUTH.replace("To log in.", "~~~\nTo log in."), 5), (AUTH + OPEN + "~~~\n", 28)],
)
def test_a_spec_whose_code_block_is_open_takes_no_more_requirements(
    clew: Clew, tmp_path: Path, text: str, line: int, line_end: str
) -> None:
    folder = project(clew, tmp_path / "first", text.replace("\n", line_end))
    (folder / "new.jsonl").write_bytes(NEW)
    before = files_of(folder)
    for options in ((), ("--dry-run",), ()):
        done = clew(folder, "import", "jsonl", "new.jsonl", "--into", "openspec", *options)
        assert done.returncode == 2
        assert f"{SPEC} would not be read" in done.stderr
        assert f"line {line} is never closed" in done.stderr
        assert files_of(folder) == before


# Verifies: REQ-d00601-K
@pytest.mark.parametrize("behind", ["", "\n### Requirement: Log out\n\nIt SHALL log out.\n\n- **Owner**: Eve\n"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ('"title":"Log in"', '"title":"Sign in"'),
        ('"Owner":"Ann"', '"Owner":"Bob"'),
        ('"Owner":"Ann"', '"Owner":"Ann","Risk":"high"'),
        ("The system SHALL log in.", "The system SHALL sign in."),
        ("- **THEN** b", "- **THEN** c"),
    ],
)
def test_a_requirement_of_a_spec_whose_code_block_is_open_is_not_changed(
    clew: Clew, tmp_path: Path, behind: str, line_end: str, given: str, wanted: str
) -> None:
    first = "### Requirement: Knock\n\nIt SHALL knock.\n\n### Requirement: Log in"
    text = AUTH.replace("### Requirement: Log in", first) + OPEN + behind
    folder = project(clew, tmp_path / "first", text.replace("\n", line_end))
    data = exported(folder).decode()
    assert data.count(given) == 1
    (folder / "new.jsonl").write_text(data.replace(given, wanted))
    before = files_of(folder)
    for options in ((), ("--dry-run",)):
        done = clew(folder, "import", "jsonl", "new.jsonl", "--into", "openspec", *options)
        assert done.returncode == 2
        assert f"{SPEC} would not be read" in done.stderr
        assert "Close the code block of line 32" in done.stderr
        assert files_of(folder) == before
    # Another of the file may change, and what stands in the open block stays.
    imported(folder, data.replace("It SHALL knock.", "It SHALL ring.").encode())
    after = (folder / SPEC).read_bytes().decode()
    assert after == text.replace("It SHALL knock.", "It SHALL ring.").replace("\n", line_end)


# Verifies: REQ-d00601-K
def test_a_file_that_is_not_read_as_a_spec_is_not_replaced(clew: Clew, tmp_path: Path) -> None:
    folder = project(clew, tmp_path / "first", AUTH)
    (folder / SPEC).rename(tmp_path / "elsewhere.md")
    (folder / SPEC).symlink_to(tmp_path / "elsewhere.md")
    before = files_of(folder)
    with pytest.raises(Rejected, match="is not read as a spec of this project"):
        taken_in(folder, Exchange(items=(Item(id="shelf/out", title="Log out"),)), "openspec")
    assert files_of(folder) == before


# Verifies: REQ-d00601-B
def test_code_and_prose_that_look_like_fields_are_exported(clew: Clew, tmp_path: Path) -> None:
    (item,) = (
        each for each in given_out(project(clew, tmp_path / "first", AUTH)).values() if each.id.startswith("shelf")
    )
    assert "```yaml\n**Key**: value\nImplements: nothing at all\ntimeout: 3\n```" in item.text
    assert item.text.endswith("Implements: the RFC")
    assert (dict(item.attributes), item.relations) == ({"Owner": "Ann"}, ())
    second = started(clew, tmp_path / "second", "openspec")
    taken_in(second, Exchange(items=(item,)), "openspec")
    assert "```yaml\n**Key**: value\nImplements: nothing at all\ntimeout: 3\n```" in (second / SPEC).read_text()


# Verifies: REQ-d00601-B
# Verifies: REQ-d00600-C
@pytest.mark.parametrize("name", ["Trailing #", "Trailing ##", "C#", "#", "Trailing # #"])
def test_a_name_that_ends_in_number_signs_is_read_as_it_is(clew: Clew, tmp_path: Path, name: str) -> None:
    folder = project(clew, tmp_path / "first", AUTH)
    changed = exported(folder).replace(b'"title":"Log in"', f'"title":"{name}"'.encode())
    imported(folder, changed.replace(b'"title":"S"', f'"title":"{name}"'.encode()))
    new = Item(id="shelf/new", title=name, text="It SHALL be.", criteria=(Criterion("a", "- **THEN** c", name),))
    taken_in(folder, Exchange(items=(new,)), "openspec")
    for id in ("shelf/log-in", "shelf/new"):
        item = given_out(folder)[id]
        assert (item.title, [each.title for each in item.criteria]) == (name, [name])
        assert not item.kept
    before = (folder / SPEC).read_bytes()
    report = taken_in(folder, Exchange(items=tuple(given_out(folder).values())), "openspec", "csv")
    assert (report.changed, (folder / SPEC).read_bytes()) == ((), before)


SCENARIOS = AUTH + "\n#### Notes\nOne.\n\n####  scenario:  Requirement ##\n\n  - **THEN** c\n  - **AND** d\n"
S = "#### Scenario: S\n\n- **WHEN** a\n- **THEN** b\n"
LAST = "####  scenario:  Requirement ##\n\n  - **THEN** c\n  - **AND** d\n"
NOTES = '{"label":"notes","text":"One.","title":"Notes"}'
REQUIREMENT = '{"label":"requirement","text":"  - **THEN** c\\n  - **AND** d","title":"Requirement"}'


# Verifies: REQ-d00601-J
@pytest.mark.parametrize(
    ("line_end", "end"),
    [("\n", "\n"), ("\r\n", ""), ("\r", "\n\n"), ("\n", "\n\n### Requirement: Next\n\nIt SHALL be next.\n")],
)
@pytest.mark.parametrize(
    ("given", "wanted", "there", "then"),
    [
        ('"Owner":"Ann"', '"Owner":"Bob"', "Ann", "Bob"),
        ('"title":"S"', '"title":"Sun"', "#### Scenario: S\n", "#### Scenario: Sun\n"),
        ('"title":"Notes"', '"title":"Remarks"', "#### Notes", "#### Remarks"),
        ('"title":"Requirement"', '"title":"Rule"', "scenario:  Requirement ##", "scenario:  Rule ##"),
        ("**AND** d", "**AND** e", "**AND** d", "**AND** e"),
        ("timeout: 3", "timeout: 4", "timeout: 3", "timeout: 4"),
        ("the RFC", "the law", "the RFC", "the law"),
        ('"text":"One."', '"text":""', "#### Notes\nOne.\n", "#### Notes\n"),
        (
            f"{NOTES},{REQUIREMENT}",
            f"{REQUIREMENT},{NOTES}",
            f"#### Notes\nOne.\n\n{LAST}",
            f"{LAST}\n#### Notes\nOne.\n",
        ),
        (f",{REQUIREMENT}", "", f"\n{LAST}", ""),
        (f"{NOTES},", "", "#### Notes\nOne.\n\n", ""),
        (
            REQUIREMENT,
            REQUIREMENT + ',{"label":"new","text":"- **THEN** n","title":"New"}',
            LAST,
            f"{LAST}\n#### Scenario: New\n\n- **THEN** n\n",
        ),
    ],
)
def test_scenarios_code_and_names_of_a_spec_are_changed_alone(
    clew: Clew, tmp_path: Path, given: str, wanted: str, there: str, then: str, line_end: str, end: str
) -> None:
    text = SCENARIOS.rstrip("\n") + end
    folder = project(clew, tmp_path / "first", text.replace("\n", line_end))
    data = exported(folder).decode()
    assert (data.count(given), SCENARIOS.count(there)) == (1, 1)
    expected = SCENARIOS.replace(there, then).rstrip("\n") + end
    for _ in range(2):
        imported(folder, data.replace(given, wanted).encode())
        assert (folder / SPEC).read_bytes().decode() == expected.replace("\n", line_end)


# Verifies: REQ-d00601-J
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("text", "then"),
    [
        (AUTH, f"{AUTH}\n### Requirement: Log out\n\nThe system SHALL log out.\n\n- **ID**: out\n"),
        (AUTH.rstrip(), f"{AUTH}\n### Requirement: Log out\n\nThe system SHALL log out.\n\n- **ID**: out\n"),
        (
            f"{AUTH}\n\n## Notes\n\nBehind.",
            f"{AUTH}\n\n### Requirement: Log out\n\nThe system SHALL log out.\n\n- **ID**: out\n\n## Notes\n\nBehind.",
        ),
        (
            "# auth\n",
            "# auth\n\n## Requirements\n\n### Requirement: Log out\n\nThe system SHALL log out.\n\n- **ID**: out\n",
        ),
    ],
)
def test_a_new_requirement_has_the_line_ends_of_its_file(
    clew: Clew, tmp_path: Path, text: str, then: str, line_end: str
) -> None:
    folder = project(clew, tmp_path / "first", text.replace("\n", line_end))
    for added in (1, 0):
        assert len(imported(folder, NEW).added) == added
        assert (folder / SPEC).read_bytes().decode() == then.replace("\n", line_end)
