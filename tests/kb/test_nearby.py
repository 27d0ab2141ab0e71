"""The sections one step from sections, for a search that follows them."""

from collections.abc import Callable

import pytest

from clew.kb.answer import section_search
from clew.kb.answer.requests import SearchRequest
from clew.kb.answer.section_search import BESIDE, LINK, MOST_SHARING, REACH, SHARED
from clew.kb.boundary import Boundary
from clew.project import Project

PORT = """# Port

Text. See [tides](tides.md#tables).

## Entry

Set `PORT_HOME`.

## Exit

Set `PORT_HOME`.
"""
TIDES = "# Tides\n\nText.\n\n## Tables\n\nRows.\n"


def neighbours(project: Project, *names: str, boundary: Boundary | None = None) -> dict[str, dict[str, float]]:
    finder = project.kb.finder
    wanted = [f"doc:docs/{name}" for name in names]
    found = finder.neighbours(wanted, boundary) if boundary else finder.neighbours(wanted)
    return {
        id.removeprefix("doc:docs/"): {o.removeprefix("doc:docs/"): w for o, w in edges} for id, edges in found.items()
    }


def opened(make: Callable[..., Project], files: dict[str, str]) -> Project:
    project = make(files)
    project.kb.index()
    return project


# Verifies: REQ-d00187-A
def test_a_step_leads_above_below_beside_along_links_and_to_who_shares_an_entity(make: Callable[..., Project]) -> None:
    project = opened(make, {"docs/port.md": PORT, "docs/tides.md": TIDES})
    found = neighbours(project, "port.md#port", "port.md#entry", "tides.md#tables", "nothing.md#x")
    assert found == {
        "port.md#port": {"port.md#entry": BESIDE, "port.md#exit": BESIDE, "tides.md#tables": LINK},
        "port.md#entry": {"port.md#port": BESIDE, "port.md#exit": max(BESIDE, SHARED)},
        "tides.md#tables": {"tides.md#tides": BESIDE, "port.md#port": LINK},
    }


# Verifies: REQ-d00187-A
def test_many_at_once_give_what_each_gives_alone(make: Callable[..., Project]) -> None:
    project = opened(make, {"docs/port.md": PORT, "docs/tides.md": TIDES})
    with project.kb.library.reading() as reading:
        ids = [id.removeprefix("doc:docs/") for id in reading.section_ids()]
    alone = {id: others for one in ids for id, others in neighbours(project, one).items()}
    assert neighbours(project, *ids) == alone


# Verifies: REQ-d00187-B
def test_what_everybody_mentions_and_what_stands_far_below_leads_nowhere(make: Callable[..., Project]) -> None:
    many = "".join(f"## Part {number}\n\nSet `PORT_HOME`.\n\n" for number in range(REACH + 40))
    project = opened(make, {"docs/port.md": f"# Port\n\nText.\n\n{many}"})
    with project.kb.library.reading() as reading:
        first, second, *_ = (id.removeprefix("doc:docs/") for id in reading.section_ids())
    assert len(neighbours(project, first)[first]) <= REACH
    assert len(neighbours(project, second)[second]) <= MOST_SHARING


# Verifies: REQ-d00187-C
def test_a_step_does_not_leave_the_boundary(make: Callable[..., Project]) -> None:
    files = {"docs/port.md": f"---\ndoc_tag: port\n---\n{PORT}", "docs/tides.md": f"---\ndoc_tag: tides\n---\n{TIDES}"}
    project = opened(make, files)
    with project.kb.library.reading() as reading:
        ids = [id.removeprefix("doc:docs/") for id in reading.section_ids()]
    for own, others in neighbours(project, *ids, boundary=Boundary(tags=("port",))).items():
        assert own.startswith("port.md")
        assert all(other.startswith("port.md") for other in others)


# Verifies: REQ-d00187-D
def test_a_heading_that_is_a_common_word_does_not_pull_its_section_up(make: Callable[..., Project]) -> None:
    files = {
        "docs/search.md": "# Search\n\nAbout this page.\n\n## Scores\n\nThe score of a search result lies below two.\n",
        "docs/other.md": "# Other\n\nA result has a score.\n",
    }
    finder = opened(make, files).kb.finder
    found = finder.find(SearchRequest(query="score of a search result", max_per_document=None)).sections
    assert found[0].section.title == "Scores"


# Verifies: REQ-d00187-B+C
def test_among_many_who_may_not_be_seen_only_the_first_are_asked(
    make: Callable[..., Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(section_search, "MOST_ASKED", 4)
    pages = {
        name: f"---\ndoc_tag: {name[0]}\n---\n# P\n\nSet `PORT_HOME`.\n" for name in ("a1", "a2", "b1", "b2", "a3")
    }
    project = opened(make, {f"docs/{number}-{name}.md": pages[name] for number, name in enumerate(pages)})
    seen = ("0-a1.md#p", "1-a2.md#p", "4-a3.md#p")
    found = neighbours(project, *seen, "2-b1.md#p", boundary=Boundary(tags=("a",)))
    # The third page stands behind those who are asked: it meets the first two, and they do not meet it.
    assert found == {
        seen[0]: {seen[1]: SHARED},
        seen[1]: {seen[0]: SHARED},
        seen[2]: {seen[0]: SHARED / 2, seen[1]: SHARED / 2},
    }
