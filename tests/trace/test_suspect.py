"""Suspect links: what is remembered, what is noticed, and what a review ends."""

from collections.abc import Callable
from pathlib import Path

import pytest

from clew.errors import ConfigError, Refused
from clew.formats.reviews import Review, read_reviews, render_reviews
from clew.graph.model import EdgeKind
from clew.project import Project
from clew.trace.reports.citations import links, links_citing, record
from clew.trace.reports.suspect import Suspect, suspects

Open = Callable[[Path], Project]

SPEC = """# Clock

## REQ-p00001: Keep time

**Level**: PRD | **Status**: Active

It keeps time.

## Assertions

A. The clock SHALL show the hour.
B. The clock SHALL show
   the minute.

*End* *Keep time*

## REQ-d00001: Show the hour

**Level**: DEV | **Status**: Draft | **Implements**: REQ-p00001

A plain text without assertions.

*End* *Show the hour*
"""
CODE = '''"""A clock."""


def hour() -> int:
    # Implements: REQ-d00001
    return 0
'''
TESTS = """def test_hour():
    # Verifies: REQ-p00001-A
    pass


def test_minute():
    # Verifies: REQ-p00001-A+B
    pass
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name, text in (("spec/clock.md", SPEC), ("src/clock.py", CODE), ("tests/test_clock.py", TESTS)):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "clew.toml").touch()
    return root


def edit(root: Path, old: str, new: str, name: str = "spec/clock.md") -> None:
    text = (root / name).read_text(encoding="utf-8")
    assert old in text
    (root / name).write_text(text.replace(old, new), encoding="utf-8")


def found(project: Project) -> list[Suspect]:
    project.ensure_graph()
    return list(suspects(project.graph, project.store))


def shown(project: Project) -> set[str]:
    return {f"{suspect.link.citing} {suspect.link.kind} {suspect.link.cited}" for suspect in found(project)}


def review(project: Project, *ids: str) -> int:
    project.ensure_graph()
    chosen = links_citing(project.graph, ids) if ids else links(project.graph)
    root, file = project.config.root, project.config.reviews
    report = record(root, file, project.graph, project.store, chosen, drop_gone=not ids)
    return len(report.recorded)


# Verifies: REQ-d00053-A
def test_a_link_is_suspect_once_what_it_cites_reads_otherwise_than_when_it_was_first_seen(
    opened: Open, root: Path
) -> None:
    project = opened(root)
    assert shown(project) == set()
    edit(root, "show the hour", "show the hour of the day")
    everyone = {
        "test:tests/test_clock.py::test_hour verifies REQ-p00001-A",
        "test:tests/test_clock.py::test_minute verifies REQ-p00001-A",
        "REQ-d00001 implements REQ-p00001",
    }
    assert shown(project) == everyone
    project.close()
    again = opened(root)
    assert shown(again) == everyone
    assert {suspect.reviewed for suspect in found(again)} == {False}
    edit(root, "show the hour of the day", "show the hour")
    assert shown(again) == set()


# Verifies: REQ-d00053-A
def test_spaces_line_breaks_and_everything_around_the_assertions_do_not_count(opened: Open, root: Path) -> None:
    project = opened(root)
    found(project)
    edit(root, "SHALL show\n   the minute", "SHALL  show the\nminute")
    edit(root, "It keeps time.", "It keeps time, always.")
    edit(root, "Keep time", "Keep the time")
    assert shown(project) == set()
    edit(root, "A plain text", "Another plain text")
    assert shown(project) == {"code:src/clock.py::hour implements REQ-d00001"}


# Verifies: REQ-d00053-A+B
def test_a_review_is_shared_through_a_file_and_ends_the_suspicion(opened: Open, root: Path) -> None:
    project = opened(root)
    found(project)
    assert not (root / "clew.reviews").exists()
    edit(root, "show the hour", "show the hour of the day")
    assert review(project, "REQ-p00001-A") == 3
    assert shown(project) == set()
    lines = (root / "clew.reviews").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("#")
    assert [line.split(" ", 1)[0] for line in lines[1:]] == ["REQ-p00001", "REQ-p00001-A", "REQ-p00001-A"]
    assert lines[1:] == sorted(lines[1:])
    # Another working copy has nothing but the file.
    clone = root.parent / "clone"
    root.rename(clone)
    for path in (clone / ".clew").iterdir():
        path.unlink() if path.is_file() else None
    edit(clone, "show the hour of the day", "show the hour")
    other = opened(clone)
    assert shown(other) == {
        "test:tests/test_clock.py::test_hour verifies REQ-p00001-A",
        "test:tests/test_clock.py::test_minute verifies REQ-p00001-A",
        "REQ-d00001 implements REQ-p00001",
    }
    assert {suspect.reviewed for suspect in found(other)} == {True}


# Verifies: REQ-d00053-C
def test_a_link_keeps_its_review_when_lines_are_inserted_above(opened: Open, root: Path) -> None:
    project = opened(root)
    assert review(project) == 5
    before = (root / "clew.reviews").read_bytes()
    edit(root, '"""A clock."""\n', '"""A clock."""\n\nimport sys\n\n', "src/clock.py")
    edit(root, "def test_hour", "import sys\n\n\ndef test_hour", "tests/test_clock.py")
    edit(root, "# Clock\n", "# Clock\n\nSome prose.\n")
    assert shown(project) == set()
    assert review(project) == 0
    assert (root / "clew.reviews").read_bytes() == before


# Verifies: REQ-d00053-D
def test_suspect_links_are_findings_and_only_shared_ones_fail_a_check(opened: Open, root: Path) -> None:
    project = opened(root)
    found(project)
    review(project, "REQ-d00001")
    edit(root, "A plain text", "Another text")
    edit(root, "show the hour", "show hours")
    project.ensure_graph()
    findings = [finding for finding in project.trace.findings() if finding.code == "trace.suspect_link"]
    assert {(finding.severity, finding.path) for finding in findings} == {
        ("warning", "src/clock.py"),
        ("info", "spec/clock.md"),
        ("info", "tests/test_clock.py"),
    }
    assert all("clew review" in finding.hint and finding.line > 0 for finding in findings)


# Verifies: REQ-d00053-B
def test_after_a_merge_a_link_is_reviewed_with_either_text(opened: Open, root: Path) -> None:
    project = opened(root)
    review(project)
    reviews = root / "clew.reviews"
    ours = reviews.read_bytes()
    edit(root, "show the hour", "show hours")
    review(project)
    merged = b"".join(dict.fromkeys(ours.splitlines(keepends=True) + reviews.read_bytes().splitlines(keepends=True)))
    reviews.write_bytes(merged)
    assert shown(project) == set()
    edit(root, "show hours", "show the hour")
    assert shown(project) == set()
    edit(root, "show the hour", "show seconds")
    assert len(shown(project)) == 3
    review(project, "REQ-p00001-A")
    assert shown(project) == set()
    rows = [line.rpartition(" ")[0].split(" ")[0] for line in reviews.read_text(encoding="utf-8").splitlines()[1:]]
    assert len(rows) == 5


# Verifies: REQ-d00053-B
def test_a_file_with_unresolved_lines_is_reported_and_never_written(opened: Open, root: Path) -> None:
    project = opened(root)
    review(project)
    reviews = root / "clew.reviews"
    reviews.write_bytes(b"<<<<<<< ours\n" + reviews.read_bytes() + b"nonsense\n")
    damaged = reviews.read_bytes()
    project.ensure_graph()
    codes = [(finding.code, finding.line) for finding in project.trace.findings() if finding.path == "clew.reviews"]
    assert codes == [("reviews.unreadable_line", 1), ("reviews.unreadable_line", 8)]
    edit(root, "show the hour", "show hours")
    assert len(shown(project)) == 3
    with pytest.raises(Refused, match=r"clew\.reviews:1"):
        review(project)
    assert reviews.read_bytes() == damaged


# Verifies: REQ-d00053-B
def test_links_that_are_gone_are_forgotten_when_everything_is_reviewed(opened: Open, root: Path) -> None:
    project = opened(root)
    review(project)
    (root / "src" / "clock.py").unlink()
    project.ensure_graph()
    some = links_citing(project.graph, ["REQ-p00001"])
    one = record(root, "clew.reviews", project.graph, project.store, some, drop_gone=False)
    assert (one.recorded, one.unchanged, one.dropped) == ((), 4, 0)
    everything = record(root, "clew.reviews", project.graph, project.store, links(project.graph), drop_gone=True)
    assert everything.dropped == 1
    assert "code:" not in (root / "clew.reviews").read_text(encoding="utf-8")


# Verifies: REQ-d00053-B
def test_comments_and_strange_names_survive() -> None:
    reviews = [
        Review("REQ-p00001-A", "test:tests/a b.ts::it does % things\n", "verifies", "0123456789ab"),
        Review("odd id", " leads and trails ", "implements", "0123456789ab"),
    ]
    data = render_reviews(reviews, ["# mine", "# and mine"])
    again = read_reviews(data.replace(b"\n", b"\r\n"))
    assert (sorted(again.reviews), again.comments, again.diagnostics) == (sorted(reviews), ("# mine", "# and mine"), ())
    assert read_reviews(b"\xff\xfe\x00").diagnostics


# Verifies: REQ-o00022-C
def test_a_write_protected_file_of_reviews_is_refused(opened: Open, root: Path) -> None:
    project = opened(root)
    review(project)
    (root / "clew.reviews").chmod(0o444)
    before = (root / "clew.reviews").read_bytes()
    edit(root, "show the hour", "show hours")
    with pytest.raises(Refused, match=r"clew\.reviews"):
        review(project)
    assert (root / "clew.reviews").read_bytes() == before


@pytest.mark.parametrize("name", ["../outside", "/etc/clew.reviews", ".", "re*views", "a\\u0000b"])
def test_the_file_of_reviews_lies_inside_the_project(opened: Open, root: Path, name: str) -> None:
    (root / "clew.toml").write_text(f'[reviews]\nfile = "{name}"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"reviews\.file"):
        opened(root)


# Verifies: REQ-d00053-B
def test_the_file_of_reviews_can_lie_elsewhere(opened: Open, root: Path) -> None:
    (root / "clew.toml").write_text('[reviews]\nfile = "spec/links.reviewed"\n', encoding="utf-8")
    project = opened(root)
    review(project)
    assert (root / "spec" / "links.reviewed").exists()
    edit(root, "show the hour", "show hours")
    assert {suspect.reviewed for suspect in found(project)} == {True}


# Verifies: REQ-d00053-A
def test_drafts_are_not_taken_for_what_was_first_seen(opened: Open, root: Path) -> None:
    project = opened(root)
    project.ensure_graph()
    assert project.store is not None
    project.graph.changed("a draft", edited=True)
    assert list(suspects(project.graph, project.store)) == []
    assert project.store.count("first_sight") == 0
    project.refresh(full=True)
    assert list(suspects(project.graph, project.store)) == []
    assert project.store.count("first_sight") == 3


# Verifies: REQ-d00054-A
@pytest.mark.parametrize("kind", list(EdgeKind))
def test_a_review_of_any_kind_of_link_is_read_as_it_was_written(kind: EdgeKind) -> None:
    review = Review("REQ-d00001-A", "REQ-0002", kind.value, "4f0c2a9be817")
    read = read_reviews(render_reviews([review]))
    assert (read.reviews, read.diagnostics) == ((review,), ())
