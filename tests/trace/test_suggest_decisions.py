"""Accepting and rejecting suggestions is remembered."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.errors import InvalidArgument, InvalidCursor, NotFound, StoreError
from clew.project import Project
from clew.trace.links.decisions import COLLECTION
from clew.trace.links.requests import LinkRequest

Ask = Callable[..., dict[str, Any]]
Plant = Callable[..., Project]

TOPICS = ("tides", "tokens", "prices", "queues", "bridges", "engines", "letters", "gardens")

CODE = '''def ring_the_bell():
    """Rings the bell at noon."""


def glow_in_the_dark():
    """Glows when it is dark."""
'''


@pytest.fixture
def project(plant: Plant) -> Project:
    return plant(
        {"d00001": (), "d00002": (), "d00003": ()},
        titles={"d00001": "The bell rings", "d00002": "The dial glows in the dark", "d00003": "Battery life"},
        assertions={
            "d00001": ["The bell SHALL ring at noon."],
            "d00002": ["The dial SHALL glow when it is dark."],
            "d00003": ["The battery SHALL last a year."],
        },
        files={"clew.toml": '[embedder]\nkind = "none"\n', "src/clock.py": CODE},
    )


def pairs(project: Project) -> set[tuple[str, str]]:
    project.ensure_graph()
    return {(each.source_label, each.requirement_id) for each in project.links.suggest().suggestions}


# Verifies: REQ-d00059-A, REQ-o00023-D
def test_a_rejected_link_is_not_suggested_again_not_even_by_another_process(project: Project, tmp_path: Path) -> None:
    assert ("ring_the_bell", "REQ-d00001") in pairs(project)

    done = project.links.apply(LinkRequest("src/clock.py", 1, "REQ-d00001", decision="reject"), actor="somebody")

    assert (done.success, done.decision, done.owner) == (True, "reject", "ring_the_bell")
    assert (tmp_path / "src" / "clock.py").read_text() == CODE
    assert ("ring_the_bell", "REQ-d00001") not in pairs(project)
    assert ("glow_in_the_dark", "REQ-d00002") in pairs(project)
    assert project.links.suggest().rejected == 1
    assert project.store is not None
    (event,) = project.store.events(collection=COLLECTION)
    assert (event.actor, event.after["decision"], event.after["requirement"]) == ("somebody", "reject", "REQ-d00001")

    other = Project.open(tmp_path)
    try:
        assert ("ring_the_bell", "REQ-d00001") not in pairs(other)
    finally:
        other.close()


# Verifies: REQ-d00410-A+B
def test_confidence_is_told_to_be_uncalibrated_until_a_few_suggestions_were_decided(plant: Plant) -> None:
    titles = {f"d{number:05}": f"{topic} are kept" for number, topic in enumerate(TOPICS, start=1)}
    code = "\n\n".join(f"def keep_{topic}():\n    'Keeps the {topic}.'\n" for topic in TOPICS)
    project = plant(
        dict.fromkeys(titles, ()), titles=titles, files={"clew.toml": '[embedder]\nkind = "none"\n', "src/k.py": code}
    )
    project.ensure_graph()
    first = project.links.suggest()
    assert not first.calibrated
    assert "not calibrated for this project" in first.notes[-1]
    right = [each for each in first.suggestions if each.source_label.endswith(each.requirement_title.split()[0])]
    for each in right[:5]:
        project.links.suggest()
        project.links.apply(LinkRequest(each.file, each.line, each.requirement_id, decision="reject"))
    after = project.links.suggest()
    assert after.calibrated
    assert not any("not calibrated" in note for note in after.notes)
    left = {(each.source_id, each.requirement_id): each.confidence for each in after.suggestions}
    before = {(each.source_id, each.requirement_id): each.confidence for each in first.suggestions}
    assert all(left[pair] < before[pair] for pair in left)


# Verifies: REQ-d00410-B
def test_decisions_of_processes_that_suggested_nothing_themselves_calibrate_too(plant: Plant, tmp_path: Path) -> None:
    titles = {f"d{number:05}": f"{topic} are kept" for number, topic in enumerate(TOPICS, start=1)}
    code = "\n\n".join(f"def keep_{topic}():\n    'Keeps the {topic}.'\n" for topic in TOPICS)
    files = {"clew.toml": '[embedder]\nkind = "none"\n', "src/k.py": code}
    plant(dict.fromkeys(titles, ()), titles=titles, files=files).close()
    for number in range(5):
        deciding = Project.open(tmp_path)
        deciding.ensure_graph()
        deciding.links.apply(LinkRequest("src/k.py", 1 + 4 * number, f"REQ-d{number + 1:05}", decision="reject"))
        deciding.close()
    project = Project.open(tmp_path)
    project.ensure_graph()
    assert project.links.suggest().calibrated
    project.close()


# Verifies: REQ-d00055-G
def test_an_id_in_a_docstring_says_more_than_all_words(plant: Plant) -> None:
    code = '''def ring_the_bell():
    """Rings the bell at noon; see REQ-d00003."""
    return "REQ-d00002"
'''
    project = plant(
        {"d00001": (), "d00002": (), "d00003": ()},
        titles={"d00001": "The bell rings at noon", "d00002": "The dial glows", "d00003": "Battery life"},
        files={"clew.toml": '[embedder]\nkind = "none"\n', "src/clock.py": code},
    )
    project.ensure_graph()
    best, *others = project.links.suggest().suggestions
    assert (best.requirement_id, best.reason) == ("REQ-d00003", "its comment names REQ-d00003")
    assert "REQ-d00002" not in [each.requirement_id for each in others if "names" in each.reason]


# Verifies: REQ-d00055-E+G
def test_an_assertion_that_a_comment_names_is_the_one_that_is_meant(plant: Plant) -> None:
    code = "# The bell, as in req_d00001-B.\ndef ring_the_bell():\n    pass\n"
    project = plant(
        {"d00001": ()},
        assertions={"d00001": ("The bell SHALL ring.", "The clock SHALL strike.")},
        titles={"d00001": "The bell"},
        files={"clew.toml": '[embedder]\nkind = "none"\n', "src/clock.py": code},
    )
    project.ensure_graph()
    best = project.links.suggest().suggestions[0]
    assert (best.assertion_id, best.reason) == ("REQ-d00001-B", "its comment names req_d00001-B")
    assert best.assertion_confidence == best.confidence


# Verifies: REQ-d00055-H
def test_a_pair_that_nothing_speaks_for_is_not_suggested(plant: Plant) -> None:
    code = "def ring_the_bell():\n    pass\n\n\ndef unheard_of():\n    pass\n"
    project = plant(
        {"d00001": (), "d00002": ()},
        titles={"d00001": "Ring the bell", "d00002": "Battery life"},
        files={"clew.toml": '[embedder]\nkind = "none"\n', "src/clock.py": code},
    )
    project.ensure_graph()
    found = [(each.source_label, each.requirement_id) for each in project.links.suggest().suggestions]
    assert found == [("ring_the_bell", "REQ-d00001")]


# Verifies: REQ-d00059-A
def test_a_rejection_survives_lines_that_move(project: Project, tmp_path: Path) -> None:
    project.links.apply(LinkRequest("src/clock.py", 1, "REQ-d00001", decision="reject"))
    (tmp_path / "src" / "clock.py").write_text(f"import os\n\n\n{CODE}")
    assert ("ring_the_bell", "REQ-d00001") not in pairs(project)


# Verifies: REQ-d00059-B
@pytest.mark.parametrize(
    ("path", "old", "new"),
    [("src/clock.py", "at noon", "at noon and at midnight"), ("spec/all.md", "ring at noon", "ring at noon, twice")],
)
def test_when_either_text_changes_the_link_is_suggested_again(
    project: Project, tmp_path: Path, path: str, old: str, new: str
) -> None:
    project.links.apply(LinkRequest("src/clock.py", 1, "REQ-d00001", decision="reject"))
    changed = tmp_path / path
    changed.write_text(changed.read_text().replace(old, new))

    assert ("ring_the_bell", "REQ-d00001") in pairs(project)


# Verifies: REQ-d00059-C
def test_a_rejection_is_taken_back(project: Project) -> None:
    project.links.apply(LinkRequest("src/clock.py", 1, "REQ-d00001", decision="reject"))

    done = project.links.apply(LinkRequest("src/clock.py", 1, "REQ-d00001", decision="reconsider"))

    assert done.decision == "reconsider"
    assert ("ring_the_bell", "REQ-d00001") in pairs(project)
    with pytest.raises(NotFound, match="ring_the_bell"):
        project.links.apply(LinkRequest("src/clock.py", 1, "REQ-d00001", decision="reconsider"))


# Verifies: REQ-o00023-D
def test_what_was_accepted_is_remembered_and_overrules_a_rejection(project: Project) -> None:
    project.links.apply(LinkRequest("src/clock.py", 1, "REQ-d00001", decision="reject"))
    project.links.apply(LinkRequest("src/clock.py", 1, "REQ-d00001-A"), actor="somebody")

    assert project.store is not None
    (record,) = project.store.scan(COLLECTION)
    assert (record.data["decision"], record.data["unit"]) == ("accept", "code:src/clock.py::ring_the_bell")
    assert [event.after["decision"] for event in project.store.events(collection=COLLECTION)] == ["reject", "accept"]


def test_a_page_belongs_to_the_decisions_of_its_first(project: Project, ask: Ask) -> None:
    first = ask(project, "suggest_links", limit=1)
    project.links.apply(LinkRequest("src/clock.py", 1, "REQ-d00001", decision="reject"))

    with pytest.raises(InvalidCursor):
        ask(project, "suggest_links", limit=1, cursor=first["next_cursor"])


def test_only_a_test_function_or_class_can_be_decided_about(project: Project, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="line 3"):
        project.links.apply(LinkRequest("src/clock.py", 3, "REQ-d00001", decision="reject"))
    with pytest.raises(NotFound, match="REQ-d00099"):
        project.links.apply(LinkRequest("src/clock.py", 1, "REQ-d00099", decision="reject"))
    with pytest.raises(NotFound, match=r"nowhere\.py"):
        project.links.apply(LinkRequest("src/nowhere.py", 1, "REQ-d00001", decision="reject"))


def test_without_a_store_links_are_written_and_decisions_refused(plant: Plant, tmp_path: Path) -> None:
    # A file where the folder of the store belongs: no store can be made there.
    (tmp_path / ".clew").write_text("")
    project = plant(
        {"d00001": ()},
        assertions={"d00001": ["The bell SHALL ring at noon."]},
        files={"clew.toml": '[embedder]\nkind = "none"\n', "src/clock.py": CODE},
    )
    assert project.store is None
    assert project.links.suggest().considered == 2

    with pytest.raises(StoreError, match="remembered"):
        project.links.apply(LinkRequest("src/clock.py", 1, "REQ-d00001", decision="reject"))
    assert project.links.apply(LinkRequest("src/clock.py", 1, "REQ-d00001")).success
    assert (tmp_path / "src" / "clock.py").read_text().startswith("# Implements: REQ-d00001\n")
