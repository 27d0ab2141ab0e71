"""The tool `search`, ranked by words and meaning, through a real MCP client."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from clew.project import Project

pytestmark = pytest.mark.anyio

SPEC = """# Library

## REQ-d00001: Renewal

**Level**: DEV | **Status**: Active

A member may keep a borrowed item for longer, twice.

*End* *Renewal*

## REQ-d00002: Opening hours

**Level**: DEV | **Status**: Active

The building opens at nine in the morning.

*End* *Opening hours*

## REQ-d00003: Overdue items

**Level**: DEV | **Status**: Active

A borrowed item that is late costs a fee for each morning.

*End* *Overdue items*
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    root = tmp_path / "library"
    (root / "spec").mkdir(parents=True)
    (root / "spec" / "rules.md").write_text(SPEC, encoding="utf-8")
    project = Project.open(root)
    project.ensure_graph()
    project.index.sync()
    project.index.make_vectors(lambda done, total, message: None)
    project.close()
    return root


async def found(client: Client, query: str, **more: Any) -> list[tuple[str, bool]]:
    answer = await client.call_tool("search", {"query": query, **more})
    assert not answer.is_error
    assert answer.structured_content is not None
    held, related = answer.structured_content["results"], answer.structured_content["related"]
    assert all(result["score"] < 1 for result in related)
    for results in (held, related):
        scores = [result["score"] for result in results]
        assert scores == sorted(scores, reverse=True)
    return [*((result["id"], True) for result in held), *((result["id"], False) for result in related)]


# Verifies: REQ-d00037-A
async def test_what_holds_all_words_comes_first_and_then_what_is_related(
    serve: Callable[..., Any], library: Path
) -> None:
    async with Client(serve(library)) as client:
        assert {id for id, holds in await found(client, "borrowed item") if holds} == {"REQ-d00001", "REQ-d00003"}
        exact = [id for id, holds in await found(client, "borrowed fee") if holds]
        related = [id for id, holds in await found(client, "borrowed fee") if not holds]
        assert exact == ["REQ-d00003"]
        assert "REQ-d00001" in related
        assert (await found(client, "extend the lending period"))[0] == ("REQ-d00001", False)
        assert (await found(client, "overdeu"))[0] == ("REQ-d00003", False)
        corrected = (await client.call_tool("search", {"query": "overdeu"})).structured_content
        assert corrected is not None
        assert any(note.startswith("Did you mean 'overdue'? 'overdeu' stands nowhere") for note in corrected["notes"])


CHANGELOG = """## Changelog

- 2026-08-02 | 3a9ae713 | - | A Person (<person@example.com>) | Auto-fix: update hash of borrowed items

"""


# Verifies: REQ-d00400-A+B+C+D, REQ-o00045-A
async def test_ids_and_titles_come_first_and_the_changelog_is_no_content(
    serve: Callable[..., Any], library: Path
) -> None:
    file = library / "spec" / "rules.md"
    text = file.read_text(encoding="utf-8").replace("twice.", "twice. See REQ-d00003 and the opening hours.")
    text = text.replace("each morning.\n", "each morning.\n\n## Assertions\n\nA. The fee SHALL be small.\n")
    file.write_text(text.replace("*End* *Opening", f"{CHANGELOG}*End* *Opening"), encoding="utf-8")
    async with Client(serve(library)) as client:
        spellings = ("REQ-d00003", "req-d00003", "d00003", "d3", "REQ-d00003?", "REQd00003", "req d00003", "REQ_D00003")
        for spelling in (*spellings, "`REQ-d00003`", "what is [REQ-d00003]?", "REQ-d00003-A", "reqd00003a"):
            assert (await found(client, spelling))[0] == ("REQ-d00003", True), spelling
        assert [id for id, holds in await found(client, "opening hours") if holds] == ["REQ-d00002", "REQ-d00001"]
        assert await found(client, "3a9ae713") == []
        assert await found(client, "hash") == []
        assert await found(client, "person@example.com", field="body") == []
        assert await found(client, "volcanic eruptions of the Permian") == []
        answer = await client.call_tool("search", {"query": "borrowed fee"})
        assert answer.structured_content is not None
        assert answer.structured_content["total"] == len(answer.structured_content["results"]) == 1


# Verifies: REQ-d00037-B
async def test_operators_fields_and_patterns_find_exact_matches_only(serve: Callable[..., Any], library: Path) -> None:
    async with Client(serve(library)) as client:
        assert await found(client, '"borrowed fee"') == []
        assert [id for id, _ in await found(client, "borrowed -fee")] == ["REQ-d00001"]
        assert {id for id, _ in await found(client, "fee OR nine")} == {"REQ-d00002", "REQ-d00003"}
        assert [id for id, _ in await found(client, "renewal", field="title")] == ["REQ-d00001"]
        assert [id for id, _ in await found(client, "lending", field="title")] == []
        assert [id for id, _ in await found(client, "late|nine", regex=True)] == ["REQ-d00002", "REQ-d00003"]


# Verifies: REQ-d00034-B+C
async def test_page_two_goes_on_where_page_one_ended_though_the_index_changes(
    serve: Callable[..., Any], library: Path, opened: Callable[[Path], Project]
) -> None:
    async with Client(serve(library)) as client:
        whole = [id for id, _ in await found(client, "borrowed item")]
        first = await client.call_tool("search", {"query": "borrowed item", "limit": 1})
        assert first.structured_content is not None
        # Another process makes the vectors anew meanwhile.
        other = opened(library)
        other.ensure_graph()
        other.index.rebuild()
        cursor = first.structured_content["next_cursor"]
        second = await found(client, "borrowed item", limit=1, cursor=cursor)
        assert [id for id, _ in second] == whole[1:2]
