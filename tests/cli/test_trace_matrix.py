"""`clew trace`: the matrix in its four formats."""

import csv
import io
import json
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

Clew = Callable[..., Any]

VOID = {"meta", "input", "br", "link", "img", "hr"}

EVIL = """## REQ-d00002: <script>alert("1")</script> | *bold*

**Level**: DEV | **Status**: Active

## Assertions

A. =HYPERLINK("http://example.com") SHALL be <img src=x onerror=alert(1)> & `code` | [x](y).

*End* *Evil*
"""


class Page(HTMLParser):
    """The elements of a page; complains of one that is not closed where it should be."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] not in ("script", "style"):
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


# Verifies: REQ-d00066-A
def test_json_has_every_requirement_with_what_implements_and_proves_it(clew: Clew, demo: Path) -> None:
    data = json.loads(clew(demo, "trace", "--json").stdout)
    rows = {row["id"]: row for row in data["rows"]}
    assert len(rows) == data["totals"]["requirements"]
    row = rows["REQ-d00006"]
    assert [parent["written"] for parent in row["parents"]] == ["REQ-o00001-B", "REQ-p00002-B"]
    assert [(each["label"], each["proof"]) for each in row["assertions"]] == [
        ("A", "passed"),
        ("B", "passed"),
        ("C", "untested"),
    ]
    first = row["assertions"][0]
    assert [each["kind"] for each in first["implemented_by"]] == ["code"]
    assert [(each["kind"], each["verdict"]) for each in first["verified_by"]] == [("test", "passed")]
    assert sum(len(row["assertions"]) for row in rows.values()) == data["totals"]["assertions"]


# Verifies: REQ-d00066-A
def test_csv_and_markdown_have_a_line_for_every_requirement_and_assertion(clew: Clew, demo: Path) -> None:
    data = json.loads(clew(demo, "trace", "--json").stdout)
    lines = data["totals"]["requirements"] + data["totals"]["assertions"]
    table = list(csv.DictReader(io.StringIO(clew(demo, "trace", "--format", "csv").stdout, newline="")))
    assert len(table) == lines
    (gap,) = [row for row in table if row["requirement"] == "REQ-d00006" and row["assertion"] == "C"]
    assert (gap["proof"], gap["verified_by"], gap["implemented_by"]) == (
        "untested",
        "",
        "src/fairwater/report.py:48",
    )
    markdown = clew(demo, "trace").stdout
    matrix = markdown.partition("| requirement |")[2].splitlines()[2:]
    assert len(matrix) == lines
    assert all(line.replace("\\|", "").count("|") == 6 for line in matrix)


# Verifies: REQ-d00066-A
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["REQ-o00001"], {"REQ-o00001", "REQ-d00002", "REQ-d00003", "REQ-d00006"}),
        (["o1", "--level", "dev"], {"REQ-d00002", "REQ-d00003", "REQ-d00006"}),
        (["REQ-p00001", "--gaps"], {"REQ-d00006"}),
        (["--status", "active", "--level", "PRD"], {"REQ-p00001", "REQ-p00002", "REQ-p00003"}),
    ],
)
def test_the_choice_is_narrowed(clew: Clew, demo: Path, arguments: list[str], expected: set[str]) -> None:
    data = json.loads(clew(demo, "trace", *arguments, "--json").stdout)
    assert {row["id"] for row in data["rows"]} == expected
    assert data["totals"]["requirements"] == len(expected)


# Verifies: REQ-d00066-A, REQ-o00024-C
def test_a_circle_is_listed_once(clew: Clew, tmp_path: Path) -> None:
    (tmp_path / "clew.toml").touch()
    (tmp_path / "spec").mkdir()
    text = "".join(
        f"## REQ-o0000{one}: T\n\n**Level**: OPS | **Implements**: REQ-o0000{other}\n\n*End* *T*\n\n"
        for one, other in ((1, 2), (2, 1))
    )
    (tmp_path / "spec" / "a.md").write_text(text, encoding="utf-8")
    rows = json.loads(clew(tmp_path, "trace", "o1", "--json").stdout)["rows"]
    assert [row["id"] for row in rows] == ["REQ-o00001", "REQ-o00002"]


# Verifies: REQ-d00066-A
@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("m.html", "<!DOCTYPE html>"),
        ("m.CSV", "requirement,title"),
        ("m.json", "{"),
        ("m.md", "# Trace"),
        ("m", "# Tr"),
    ],
)
def test_the_ending_of_the_file_decides_the_format(clew: Clew, demo: Path, name: str, start: str) -> None:
    done = clew(demo, "trace", "-o", name)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (demo / name).read_text(encoding="utf-8").startswith(start)


# Verifies: REQ-d00066-A
@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["REQ-p09999"], 1, "REQ-p09999"),
        (["--level", "nosuch"], 1, "Levels here: dev, ops, prd"),
        (["--gaps", "--level", "prd"], 0, ""),
        (["--format", "pdf"], 2, "pdf"),
        (["-o", "nowhere/m.html"], 2, "nowhere/m.html"),
    ],
)
def test_exit_codes(clew: Clew, demo: Path, arguments: list[str], code: int, says: str) -> None:
    shutil.rmtree(demo / "openspec")
    (demo / "project.req").unlink()
    done = clew(demo, "trace", *arguments)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert says in done.stderr


# Verifies: REQ-d00066-B
def test_the_page_is_one_file_that_loads_nothing(clew: Clew, demo: Path) -> None:
    page = Page(clew(demo, "trace", "--format", "html").stdout)
    assert page.all("link") == page.all("img") == page.all("iframe") == []
    assert page.all("script") == [{}]
    assert page.all("style") == [{}]
    assert all((attributes.get("href") or "").startswith("#") for attributes in page.all("a"))
    (policy,) = [each["content"] for each in page.all("meta") if each.get("http-equiv") == "Content-Security-Policy"]
    assert (policy or "").startswith("default-src 'none'")
    targets = {each["id"] for each in page.all("tbody") if "id" in each}
    assert {(each["href"] or "")[1:] for each in page.all("a")} <= targets
    assert "2 of 3" in " ".join(page.words)


# Verifies: REQ-d00066-B
def test_text_of_the_project_stays_text_in_every_format(clew: Clew, demo: Path) -> None:
    (demo / "spec" / "evil.md").write_text(EVIL, encoding="utf-8")
    page = Page(clew(demo, "trace", "--format", "html").stdout)
    assert page.all("script") == [{}]
    assert page.all("img") == []
    assert any('<script>alert("1")</script> | *bold*' in word for word in page.words)
    assert any("<img src=x onerror=alert(1)> & `code`" in word for word in page.words)
    table = list(csv.DictReader(io.StringIO(clew(demo, "trace", "--format", "csv").stdout, newline="")))
    (cell,) = [row["text"] for row in table if row["requirement"] == "REQ-d00002#evil" and row["assertion"] == "A"]
    assert cell.startswith("'=HYPERLINK")
    markdown = clew(demo, "trace").stdout
    assert "<script>" not in markdown.replace("\\<script\\>", "")


# Verifies: REQ-d00066-B
def test_the_page_can_be_filtered_and_sorted(clew: Clew, demo: Path) -> None:
    text = clew(demo, "trace", "--format", "html").stdout
    page = Page(text)
    assert {each.get("name") for each in page.all("input")} == {"words", "gaps"}
    assert {each["name"] for each in page.all("select")} == {"level", "status"}
    assert [each["data-key"] for each in page.all("th") if "data-key" in each] == [
        "id",
        "title",
        "level",
        "status",
        "share",
    ]
    rows = [each for each in page.all("tbody") if "data-id" in each]
    assert len(rows) == json.loads(clew(demo, "trace", "--json").stdout)["totals"]["requirements"]
    assert {each["data-id"] for each in rows if each["data-gap"] == "1"} >= {"REQ-d00006"}
    assert "prefers-color-scheme: dark" in text
