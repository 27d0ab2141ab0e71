"""Criteria whose labels do not fit get others, and keep them whatever comes before them in the source."""

import json
from pathlib import Path

import pytest
from tests.exchange.conftest import Clew, files_of

HOURS, DAYS, YEARS, MOONS = (f"The clock shall show {what}." for what in ("hours", "days", "years", "moons"))


def table(place: Path, criteria: dict[str, str], cited: str) -> None:
    """A CSV whose criteria have labels of their own, and a row that cites one of them."""
    cell = "\n".join(f"{label}. {text}" for label, text in criteria.items())
    place.write_text(f'ID,Title,Criteria,Implements\nX-1,Show,"{cell}",\nX-2,Paint,,X-1##{cited}\n')


def assertions(folder: Path) -> list[str]:
    return [line for line in (folder / "spec" / "t.md").read_text().splitlines() if line[1:2] == "."]


# Verifies: REQ-d00600-J
# Verifies: REQ-d00600-G
def test_labels_stay_by_the_record_of_the_import(clew: Clew, empty: Path, tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    table(source, {"1": HOURS, "2": DAYS, "3": YEARS}, "2")
    clew(empty, "import", "csv", str(source))
    spec = empty / "spec" / "t.md"
    assert assertions(empty) == [f"A. {HOURS}", f"B. {DAYS}", f"C. {YEARS}"]
    assert "REQ-p00001-B" in spec.read_text()

    # The first goes, the last says something else, and one is new.
    table(source, {"2": DAYS, "3": MOONS, "4": HOURS}, "2")
    assert "1 changed, 1 unchanged" in clew(empty, "import", "csv", str(source)).stdout
    assert assertions(empty) == [f"B. {DAYS}", f"C. {MOONS}", f"A. {HOURS}"]
    table(source, {"2": DAYS, "9": YEARS}, "2")
    clew(empty, "import", "csv", str(source))
    assert assertions(empty) == [f"B. {DAYS}", f"D. {YEARS}"]
    assert "REQ-p00001-B" in spec.read_text()
    before = files_of(empty)
    assert "0 changed, 2 unchanged" in clew(empty, "import", "csv", str(source)).stdout
    assert files_of(empty) == before


# Verifies: REQ-d00600-J
@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ([DAYS, YEARS], ["B. DAYS", "C. YEARS"]),
        ([MOONS, HOURS, DAYS, YEARS], ["D. MOONS", "A. HOURS", "B. DAYS", "C. YEARS"]),
        ([YEARS, HOURS], ["C. YEARS", "A. HOURS"]),
        ([HOURS, MOONS, YEARS], ["A. HOURS", "B. MOONS", "C. YEARS"]),
    ],
)
def test_boxes_that_are_only_counted_are_found_by_their_texts(
    clew: Clew, empty: Path, tmp_path: Path, now: list[str], expected: list[str]
) -> None:
    source = tmp_path / "t.json"

    def issue(boxes: list[str]) -> None:
        body = "".join(f"- [ ] {text}\n" for text in boxes)
        source.write_text(json.dumps([{"number": 1, "title": "Show", "body": body, "state": "OPEN"}]))

    issue([HOURS, DAYS, YEARS])
    clew(empty, "import", "github", str(source))
    issue(now)
    clew(empty, "import", "github", str(source))
    named = {"HOURS": HOURS, "DAYS": DAYS, "YEARS": YEARS, "MOONS": MOONS}
    assert assertions(empty) == [f"{each[:3]}{named[each[3:]]}" for each in expected]


# Verifies: REQ-d00600-J
# Verifies: REQ-d00600-E
def test_what_was_moved_here_is_no_change_of_the_source(clew: Clew, empty: Path, tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    table(source, {"1": HOURS, "2": DAYS}, "2")
    clew(empty, "import", "csv", str(source))
    spec = empty / "spec" / "t.md"
    spec.write_text(spec.read_text().replace(HOURS, "?").replace(DAYS, HOURS).replace("?", DAYS))
    before = files_of(empty)
    done = clew(empty, "import", "csv", str(source))
    assert (done.returncode, files_of(empty)) == (0, before)


EXPORTED = """## REQ-p00001: Show

**Level**: PRD | **Status**: Draft

## Assertions

{assertions}

*End* *Show*

## REQ-p00002: Paint

**Level**: PRD | **Status**: Draft | **Implements**: REQ-p00001-{cited}

*End* *Paint*
"""


# Verifies: REQ-d00600-J
@pytest.mark.parametrize("style", ["uppercase", "numeric_1based"])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("{moons}\n{0}. {hours}\n{1}. {days}", "{2}. {moons}\n{0}. {hours}\n{1}. {days}"),
        ("{0}. {hours}\n{moons}\n{1}. {days}\n{years}", "{0}. {hours}\n{2}. {moons}\n{1}. {days}\n{3}. {years}"),
        ("{1}. {days}\n{moons}", "{1}. {days}\n{2}. {moons}"),
        ("{1}. {days}\n{5}. {moons}\n{years}", "{1}. {days}\n{5}. {moons}\n{6}. {years}"),
    ],
)
def test_a_criterion_without_label_takes_none_that_the_requirement_has(
    clew: Clew, empty: Path, tmp_path: Path, style: str, given: str, expected: str
) -> None:
    labels = "ABCDEFG" if style == "uppercase" else "1234567"
    texts = {"hours": HOURS, "days": DAYS, "moons": MOONS, "years": YEARS}
    (empty / ".elspais.toml").write_text(f'[id-patterns.assertions]\nlabel_style = "{style}"\n')
    (empty / "spec").mkdir()
    there = "{0}. {hours}\n{1}. {days}".format(*labels, **texts)
    (empty / "spec" / "t.md").write_text(EXPORTED.format(assertions=there, cited=labels[1]))
    source = tmp_path / "t.csv"
    source.write_text(clew(empty, "export", "csv").stdout)
    assert there in source.read_text()
    source.write_text(source.read_text().replace(there, given.format(*labels, **texts)))
    for _ in range(2):
        done = clew(empty, "import", "csv", str(source))
        assert done.returncode == 0, done.stderr
        assert assertions(empty) == expected.format(*labels, **texts).split("\n")
        assert f"REQ-p00001-{labels[1]}" in (empty / "spec" / "t.md").read_text()
