"""The first source document, requirement by requirement: the cursor protocol.

Each test is named after the assertion of the source that it proves. Where the source names a function of elspais, what
that function has to achieve is proved through the tool.
"""

from typing import Any

import pytest
from tests.contract.elspais import Ask, ids

from clew.project import Project


@pytest.fixture
def project(clock: Project) -> Project:
    return clock


# REQ-o00068: MCP Cursor Protocol


# Verifies: REQ-d00063-A
def test_o00068_A_opening_returns_the_first_item_with_metadata(ask: Ask) -> None:
    opened = ask("open_cursor", query="subtree", params={"root_id": "REQ-p00001"}, batch_size=0)
    assert opened["current"]["id"] == "REQ-p00001"
    assert (opened["query"], opened["batch_size"], opened["total"], opened["remaining"]) == ("subtree", 0, 4, 3)


# Verifies: REQ-d00063-A
def test_o00068_B_next_returns_count_items_and_advances(ask: Ask) -> None:
    ask("open_cursor", query="subtree", params={"root_id": "REQ-p00001"}, batch_size=0)
    assert len(ask("cursor_next", count=2)["items"]) == 2
    assert ask("cursor_next", count=2)["position"] == 4


# Verifies: REQ-d00063-A
def test_o00068_C_info_does_not_advance(ask: Ask) -> None:
    ask("open_cursor", query="subtree", params={"root_id": "REQ-p00001"}, batch_size=0)
    for _ in range(2):
        info = ask("cursor_info")
        assert (info["position"], info["total"], info["remaining"]) == (1, 4, 3)


# Verifies: REQ-d00063-D
def test_o00068_D_opening_closes_the_previous_cursor(ask: Ask) -> None:
    ask("open_cursor", query="subtree", params={"root_id": "REQ-p00001"})
    ask("open_cursor", query="hierarchy", params={"req_id": "REQ-d00001"})
    assert ask("cursor_info")["query"] == "hierarchy"


# Verifies: REQ-d00063-C
def test_o00068_E_batch_sizes(ask: Ask) -> None:
    def second(batch_size: int) -> dict[str, Any]:
        ask("open_cursor", query="subtree", params={"root_id": "REQ-o00001"}, batch_size=batch_size)
        (item,) = ask("cursor_next")["items"]
        return dict(item)

    alone = second(-1)
    assert (alone["kind"], alone["id"], alone["text"]) == (
        "assertion",
        "REQ-o00001-A",
        "Hands SHALL move with the hour.",
    )
    inline = second(0)
    assert (inline["id"], ids(inline["assertions"])) == (
        "REQ-d00001",
        ["REQ-d00001-A", "REQ-d00001-B", "REQ-d00001-C"],
    )
    assert "children" not in inline
    opened = ask("open_cursor", query="subtree", params={"root_id": "REQ-o00001"}, batch_size=1)
    assert ids(opened["current"]["children"]) == ["REQ-d00001"]


# Verifies: REQ-d00063-B
@pytest.mark.parametrize(
    ("query", "params", "total"),
    [
        ("subtree", {"root_id": "REQ-p00001"}, 4),
        ("search", {"query": "REQ-o", "field": "id"}, 2),
        ("hierarchy", {"req_id": "REQ-o00001"}, 3),
        ("query_nodes", {"kind": "requirement"}, 5),
        ("test_coverage", {"req_id": "REQ-d00001"}, 2),
        ("uncovered_assertions", {}, 4),
        ("scoped_search", {"query": "hour", "scope_id": "REQ-p00001"}, 4),
    ],
)
def test_o00068_F_seven_query_types(ask: Ask, query: str, params: dict[str, Any], total: int) -> None:
    opened = ask("open_cursor", query=query, params=params, batch_size=0)
    assert (opened["is_error"], opened["total"]) == (False, total)


# REQ-d00076: Cursor Protocol Implementation


# Verifies: REQ-d00063-A
def test_d00076_A_a_cursor_keeps_query_params_batch_size_items_and_position(ask: Ask) -> None:
    opened = ask("open_cursor", query="subtree", params={"root_id": "REQ-p00001"}, batch_size=-1)
    assert opened["params"] == {"root_id": "REQ-p00001"}
    kept = ask("cursor_info")
    assert (kept["query"], kept["batch_size"], kept["total"], kept["position"]) == ("subtree", -1, 11, 1)
    assert len(ask("cursor_next", count=50)["items"]) == 10


# Verifies: REQ-d00063-B
def test_d00076_B_items_are_those_of_the_query_tools(ask: Ask) -> None:
    ask("open_cursor", query="search", params={"query": "hour"}, batch_size=0)
    rest = ids(ask("cursor_next", count=50)["items"])
    direct = ids(ask("search", query="hour")["results"])
    assert rest == direct[1:]
    opened = ask("open_cursor", query="uncovered_assertions", params={}, batch_size=-1)
    rest = ids(ask("cursor_next", count=50)["items"])
    direct = ids(ask("get_uncovered_assertions")["assertions"])
    assert [opened["current"]["id"], *rest] == direct


# Verifies: REQ-d00063-D
def test_d00076_C_there_is_one_cursor_and_the_previous_is_discarded(ask: Ask) -> None:
    first = ask("open_cursor", query="subtree", params={"root_id": "REQ-p00001"})
    second = ask("open_cursor", query="subtree", params={"root_id": "REQ-o00001"})
    assert ask("cursor_info", cursor_id=first["cursor_id"])["code"] == "invalid_cursor"
    assert ask("cursor_info")["cursor_id"] == second["cursor_id"]


# Verifies: REQ-d00063-A
def test_d00076_D_opening_returns_item_total_and_metadata(ask: Ask) -> None:
    opened = ask("open_cursor", query="hierarchy", params={"req_id": "REQ-o00001"}, batch_size=0)
    assert (opened["total"], opened["query"], opened["params"]) == (3, "hierarchy", {"req_id": "REQ-o00001"})
    assert opened["current"]["section"] == "ancestor"


# Verifies: REQ-d00063-A
def test_d00076_E_next_returns_a_slice_and_an_empty_list_at_the_end(ask: Ask) -> None:
    ask("open_cursor", query="query_nodes", params={"kind": "requirement"}, batch_size=0)
    assert ids(ask("cursor_next", count=2)["items"]) == ["REQ-d00002", "REQ-o00001"]
    assert ids(ask("cursor_next", count=9)["items"]) == ["REQ-o00002", "REQ-p00001"]
    end = ask("cursor_next", count=9)
    assert (end["items"], end["position"], end["remaining"]) == ([], 5, 0)


# Verifies: REQ-d00063-A
def test_d00076_F_info_has_exactly_the_state(ask: Ask) -> None:
    ask("open_cursor", query="query_nodes", params={"kind": "requirement"}, batch_size=1)
    info = ask("cursor_info")
    assert {name: info[name] for name in ("position", "total", "remaining", "query", "batch_size")} == {
        "position": 1,
        "total": 5,
        "remaining": 4,
        "query": "query_nodes",
        "batch_size": 1,
    }


# Verifies: REQ-d00063-C
def test_d00076_G_items_are_written_like_those_of_the_other_tools(ask: Ask) -> None:
    opened = ask("open_cursor", query="search", params={"query": "REQ-d00001", "field": "id"}, batch_size=0)
    item = opened["current"]
    (summary,) = ask("search", query="REQ-d00001", field="id")["results"]
    assert {name: item[name] for name in summary} == summary
    detail = ask("get_requirement", req_id="REQ-d00001")
    assert item["assertions"] == [
        {name: each[name] for name in ("id", "label", "text")} for each in detail["assertions"]
    ]
