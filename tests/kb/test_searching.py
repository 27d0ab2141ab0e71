"""What kb.search does inside: which edges it walks, and how it chooses a preview."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from tests.kb.conftest import write
from tests.mcp_client import McpClient

from clew.kb.answer import section_search
from clew.kb.answer.requests import SearchRequest
from clew.kb.boundary import Boundary
from clew.project import Project
from clew.search.quote.evidence import preview

HARBOUR = """# Harbour

The harbour opens at dawn.

## Margin

The margin is the water wanted under the keel. The default margin is 0.5 metres. See [tides](tides.md).
"""
FILES = {"docs/harbour.md": HARBOUR, "docs/tides.md": "# Tides\n\nThe margin of the harbour is added.\n"}


# Verifies: REQ-d00172-A
def test_the_preview_is_the_best_evidence_of_the_passage(make: Callable[..., Project]) -> None:
    question = "What is the default margin?"
    with McpClient(make(FILES)) as client:
        found = client("kb.search", query=question)["results"][0]
        assert found["preview"] == preview(question, client.read(found["scratch_uri"])).text


# Verifies: REQ-d00172-E
def test_vector_only_touches_no_edge(make: Callable[..., Project], monkeypatch: pytest.MonkeyPatch) -> None:
    walked: list[str] = []
    true = section_search.nearby

    def noted(reading: Any, wanted: Any) -> Any:
        walked.extend(wanted)
        return true(reading, wanted)

    monkeypatch.setattr(section_search, "nearby", noted)
    with McpClient(make(FILES)) as client:
        client("kb.search", query="margin", options={"mode": "hybrid_local"})
    assert walked
    walked.clear()
    with McpClient(make(FILES)) as client:
        found = client("kb.search", query="margin", options={"mode": "vector_only", "include_debug": True})
    assert walked == []
    assert {each["debug"]["mode"] for each in found["results"]} == {"vector_only"}
    assert all(each["source"] != "graph_expanded" for each in found["results"])


NOTES = {f"docs/{number}.md": f"# Note {number}\n\nThe ferry leaves from pier {number}.\n" for number in range(9)}
LONG = {
    "docs/long.md": "# Ferries\n" + "".join(f"\n## Part {pier}\n\nIt leaves from pier {pier}.\n" for pier in range(3))
}
LINKS = {"docs/0.md": "# Note 0\n\nThe ferry, see [one](1.md) and [two](2.md).\n"}


# Verifies: REQ-d00172-F
@pytest.mark.parametrize(
    ("files", "mode", "share"),
    [
        (NOTES, "vector_only", "0%"),
        (NOTES | LINKS, "vector_only", "11%"),
        (NOTES | LONG, "hybrid_local", "31%"),
    ],
)
def test_the_documents_decide_whether_the_graph_is_followed(
    make: Callable[..., Project], files: dict[str, str], mode: str, share: str
) -> None:
    with McpClient(make(files)) as client:
        for asked, used in (("auto", mode), ("vector_only", "vector_only"), ("hybrid_local", "hybrid_local")):
            found = client("kb.retrieve_evidence", question="Where does the ferry leave?", options={"mode": asked})
            assert found["diagnostics"]["mode"] == used
            assert ("choice" in found["diagnostics"]) == (asked == "auto")
        debugged = client("kb.search", query="ferry", options={"include_debug": True})["results"][0]["debug"]
    assert (debugged["mode"], debugged["choice"].partition(" ")[0]) == (mode, share)


FERRY = "Where does the ferry leave?"


# Verifies: REQ-d00172-G
def test_the_same_files_have_the_same_mode_whatever_was_edited_before(
    make: Callable[..., Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"docs/{number}.md": f"# Note {number}\n\nFerry {number}.\n" for number in range(40)}
    files |= {f"docs/{number}.md": f"# Note {number}\n\nFerry, see [it](0.md).\n" for number in range(5, 20)}
    monkeypatch.setattr(section_search, "_SAMPLE", 12)
    fresh = make(files, "fresh")
    fresh.kb.index()
    edited = make({}, "edited")
    # As after so many edits: every one numbers a document's sections anew.
    for seq, number in enumerate(reversed(range(40)), start=7):
        write(edited.config.root, {f"docs/{number}.md": files[f"docs/{number}.md"]})
        edited.kb.index()
        with closing(sqlite3.connect(edited.kb.library.path)) as database, database:
            database.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'section_rows'", (seq * 1_000,))
    ways = [
        (found.mode, found.choice)
        for found in (each.kb.finder.find(SearchRequest(query=FERRY)) for each in (fresh, edited))
    ]
    assert ways[0] == ways[1]
    assert "0%" not in str(ways[0][1]).split()


# Verifies: REQ-d00172-G
def test_a_server_that_stays_chooses_by_the_documents_as_they_are(make: Callable[..., Project]) -> None:
    project = make({f"docs/{number}.md": f"# Note {number}\n\nFerry {number}.\n" for number in range(4)})
    project.kb.index()
    assert project.kb.finder.find(SearchRequest(query=FERRY)).mode == "vector_only"
    linked = {f"docs/{number}.md": f"# Note {number}\n\nFerry {number}, see [it](3.md).\n" for number in range(3)}
    write(project.config.root, linked)
    project.kb.index()
    found = project.kb.finder.find(SearchRequest(query=FERRY))
    assert (found.mode, str(found.choice).split()[0]) == ("hybrid_local", "75%")


# Verifies: REQ-d00172-G
def test_few_documents_inside_of_a_boundary_choose_for_themselves(make: Callable[..., Project]) -> None:
    tagged = {"docs/own.md": "---\ndoc_tag: own\n---\n# Ferries\n\nFerry.\n\n## Piers\n\nPier.\n"}
    project = make({f"docs/{number}.md": f"# Note {number}\n\nFerry {number}.\n" for number in range(12)} | tagged)
    project.kb.index()
    everywhere = project.kb.finder.find(SearchRequest(query=FERRY))
    inside = project.kb.finder.find(SearchRequest(query=FERRY), boundary=Boundary(tags=("own",)))
    assert [str(each.choice).split()[0] for each in (everywhere, inside)] == ["14%", "100%"]


# Verifies: REQ-d00178-B
def test_the_older_tools_write_nothing_to_scratch_space(make: Callable[..., Project]) -> None:
    project = make(FILES)
    with McpClient(project) as client:
        client("search_sections", query="margin")
        client("get_section_text", section_ids=["doc:docs/harbour.md#margin"])
        client("search_documentation", query="margin")
    assert project.kb.scratch.state().written == 0


# Verifies: REQ-d00242-C
def test_a_passage_says_that_its_document_changed_though_size_and_time_stayed(make: Callable[..., Project]) -> None:
    project = make({})
    place = project.config.root / "docs" / "keel.md"
    place.parent.mkdir(exist_ok=True)
    ahead = 4_000_000_000
    place.write_text("# Keel\n\nThe keel is red.\n", encoding="utf-8")
    os.utime(place, (ahead, ahead))
    with McpClient(project) as client:
        id = client("kb.search", query="keel")["results"][0]["passage_id"]
        assert "notes" not in client("kb.read_excerpt", passage_id=id)
        place.write_text("# Keel\n\nThe keel is tan.\n", encoding="utf-8")
        os.utime(place, (ahead, ahead))
        assert "changed" in client("kb.read_excerpt", passage_id=id)["notes"][0]
