"""The cursor protocol: seven queries, three batch sizes, and what a cursor keeps."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from clew.compat.elspais.cursor import IDLE_SECONDS, MOST_CURSORS, MOST_ITEMS, CursorEntry, CursorState, OpenCursors
from clew.errors import InvalidArgument, InvalidCursor, NotFound, Refused
from clew.graph.model import Node, NodeKind
from clew.project import Project

Plant = Callable[..., Project]
Ask = Callable[..., dict[str, Any]]

TESTS = """
# Verifies: REQ-d00001-A
def test_a():
    pass


# Verifies: REQ-d00001-A+B
def test_b():
    pass
"""
RESULTS = '<testsuite name="s"><testcase classname="tests.test_a" name="test_a"/></testsuite>'


@pytest.fixture
def project(plant: Plant) -> Project:
    return plant(
        {"p00001": [], "o00001": ["p00001"], "o00002": ["p00001"], "d00001": ["o00001"]},
        assertions={
            "p00001": ["It SHALL be."],
            "o00001": ["It SHALL last.", "It SHALL end."],
            "d00001": ["One SHALL.", "Two SHALL.", "Three SHALL."],
        },
        files={
            "tests/test_a.py": TESTS,
            "results/junit.xml": RESULTS,
            "clew.toml": '[tests]\nfolders = ["tests"]\nresults = ["results/*.xml"]\n',
        },
    )


def walk(ask: Ask, project: Project, query: str, batch_size: int, /, **params: Any) -> list[dict[str, Any]]:
    """All items of a cursor, taken two by two."""
    opened = ask(project, "open_cursor", query=query, params=params, batch_size=batch_size)
    items = [opened["current"]] if opened["current"] is not None else []
    while batch := ask(project, "cursor_next", count=2)["items"]:
        items += batch
    assert len(items) == opened["total"]
    return items


def ids(items: list[dict[str, Any]]) -> list[str]:
    return [item["id"].removeprefix("REQ-") for item in items]


# Verifies: REQ-d00063-A
def test_a_cursor_gives_the_first_item_then_the_next_ones_then_nothing(ask: Ask, project: Project) -> None:
    opened = ask(project, "open_cursor", query="subtree", params={"root_id": "p1"}, batch_size=0)
    assert (opened["success"], opened["query"], opened["batch_size"]) == (True, "subtree", 0)
    assert (opened["total"], opened["position"], opened["remaining"]) == (4, 1, 3)
    assert opened["current"]["id"] == "REQ-p00001"
    info = ask(project, "cursor_info")
    assert {name: info[name] for name in ("position", "total", "remaining", "query", "batch_size")} == {
        "position": 1,
        "total": 4,
        "remaining": 3,
        "query": "subtree",
        "batch_size": 0,
    }
    assert ask(project, "cursor_info") == info
    batch = ask(project, "cursor_next", count=2)
    assert ids(batch["items"]) == ["o00001", "d00001"]
    assert (batch["count"], batch["position"], batch["remaining"]) == (2, 3, 1)
    assert ids(ask(project, "cursor_next", count=500)["items"]) == ["o00002"]
    assert ask(project, "cursor_next") == {
        "success": True,
        "items": [],
        "count": 0,
        "position": 4,
        "total": 4,
        "remaining": 0,
        "is_stale": False,
        "truncated": False,
    }


# Verifies: REQ-d00063-B+C
@pytest.mark.parametrize(
    ("query", "params", "alone", "nodes"),
    [
        (
            "subtree",
            {"root_id": "o1"},
            ["o00001", "o00001-A", "o00001-B", "d00001", "d00001-A", "d00001-B", "d00001-C"],
            ["o00001", "d00001"],
        ),
        (
            "search",
            {"query": "REQ-o", "field": "id"},
            ["o00001", "o00001-A", "o00001-B", "o00002"],
            ["o00001", "o00002"],
        ),
        (
            "hierarchy",
            {"req_id": "o1"},
            ["p00001", "p00001-A", "d00001", "d00001-A", "d00001-B", "d00001-C", "o00002"],
            ["p00001", "d00001", "o00002"],
        ),
        ("query_nodes", {"kind": "requirement", "level": "prd"}, ["p00001", "p00001-A"], ["p00001"]),
        (
            "test_coverage",
            {"req_id": "d1"},
            ["d00001-A", "d00001-B", "d00001-C"],
            ["test:tests/test_a.py::test_a", "test:tests/test_a.py::test_b"],
        ),
        (
            "uncovered_assertions",
            {},
            ["d00001-C", "o00001-A", "o00001-B", "p00001-A"],
            ["d00001", "o00001", "p00001"],
        ),
        (
            "scoped_search",
            {"query": "last", "scope_id": "p1", "include_assertions": True},
            ["o00001", "o00001-A", "o00001-B"],
            ["o00001"],
        ),
    ],
)
def test_every_query_is_shaped_by_the_batch_size(
    ask: Ask, project: Project, query: str, params: dict[str, Any], alone: list[str], nodes: list[str]
) -> None:
    items = walk(ask, project, query, -1, **params)
    assert ids(items) == alone
    for item in items:
        assert "assertions" not in item
        assert ("text" in item, "parent_id" in item, "covered" in item) == ((item["kind"] == "assertion"),) * 3
    inline = walk(ask, project, query, 0, **params)
    assert ids(inline) == nodes
    assert all("assertions" in item and "children" not in item for item in inline)
    preview = walk(ask, project, query, 1, **params)
    assert ids(preview) == nodes
    assert all("assertions" in item and "children" in item for item in preview)


# Verifies: REQ-d00063-C
def test_items_say_what_their_query_knows(ask: Ask, project: Project) -> None:
    sections = {item["id"]: item["section"] for item in walk(ask, project, "hierarchy", 0, req_id="o1")}
    assert sections == {"REQ-p00001": "ancestor", "REQ-d00001": "child", "REQ-o00002": "sibling"}
    (gap, *_) = walk(ask, project, "uncovered_assertions", 0)
    assert [each["label"] for each in gap["assertions"]] == ["C"]
    assert gap["coverage"] == {"total": 3, "covered": 2, "pct": 66.7, "implemented": 0}
    first, second = walk(ask, project, "test_coverage", 1, req_id="d1")
    assert [each["label"] for each in second["assertions"]] == ["A", "B"]
    assert [each["kind"] for each in first["children"]] == ["result"]
    covered = walk(ask, project, "test_coverage", -1, req_id="d1")
    assert [(item["label"], item["covered"], item["children_total"]) for item in covered] == [
        ("A", True, 2),
        ("B", True, 1),
        ("C", False, 0),
    ]
    top = walk(ask, project, "subtree", 1, root_id="p1")[0]
    assert [each["id"] for each in top["children"]] == ["REQ-o00001", "REQ-o00002"]
    (match,) = walk(ask, project, "scoped_search", 0, query="last", scope_id="p1", include_assertions=True)
    assert [each["id"] for each in match["matched_assertions"]] == ["REQ-o00001-A"]
    assert match["score"] > 0
    assert ids(walk(ask, project, "search", 0, query="REQ", field="id", limit=2)) == ["d00001", "o00001"]


# Verifies: REQ-d00063-B
def test_a_query_without_results_opens_an_empty_cursor(ask: Ask, project: Project) -> None:
    opened = ask(project, "open_cursor", query="search", params={"query": "zeppelin", "field": "title"})
    assert (opened["total"], opened["position"], opened["current"]) == (0, 0, None)
    assert ask(project, "cursor_next", count=3)["items"] == []


# Verifies: REQ-d00063-D
def test_a_session_has_one_cursor_that_no_other_sees(ask: Ask, project: Project) -> None:
    first = ask(project, "open_cursor", query="subtree", params={"root_id": "p1"}, session="a")
    ask(project, "open_cursor", query="subtree", params={"root_id": "o1"}, session="b")
    assert ask(project, "cursor_info", session="a")["total"] == 4
    assert ask(project, "cursor_info", session="b")["total"] == 2
    with pytest.raises(InvalidCursor, match="No cursor is open in this session"):
        ask(project, "cursor_next", session="c")
    ask(project, "open_cursor", query="hierarchy", params={"req_id": "o1"}, session="a")
    with pytest.raises(InvalidCursor, match="There is no open cursor"):
        ask(project, "cursor_info", session="a", cursor_id=first["cursor_id"])


# Verifies: REQ-d00063-D
def test_a_client_without_a_session_names_its_cursor(ask: Ask, project: Project) -> None:
    ask(project, "open_cursor", query="subtree", params={"root_id": "p1"})
    one = ask(project, "open_cursor", query="subtree", params={"root_id": "p1"}, session=None)
    two = ask(project, "open_cursor", query="subtree", params={"root_id": "o1"}, session=None)
    assert one["cursor_id"] != two["cursor_id"]
    assert len(one["cursor_id"]) >= 20
    assert ask(project, "cursor_next", session=None, cursor_id=one["cursor_id"])["position"] == 2
    assert ask(project, "cursor_info", session=None, cursor_id=two["cursor_id"])["position"] == 1
    with pytest.raises(InvalidCursor, match="no session"):
        ask(project, "cursor_next", session=None)
    with pytest.raises(InvalidCursor, match="guessed"):
        ask(project, "cursor_next", session=None, cursor_id="guessed")


# Verifies: REQ-d00266-D
def test_without_a_session_a_cursor_is_gone_after_an_hour(
    ask: Ask, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000.0
    monkeypatch.setattr(project, "open_cursors", OpenCursors(lambda: now))
    named = ask(project, "open_cursor", query="subtree", params={"root_id": "p1"}, session=None)["cursor_id"]
    for _ in range(59):
        now += 60
        ask(project, "cursor_info", session=None, cursor_id=named)
    now += 60
    with pytest.raises(InvalidCursor):
        ask(project, "cursor_info", session=None, cursor_id=named)


# Verifies: REQ-d00063-E
def test_a_cursor_moves_by_what_fits_into_the_answer(ask: Ask, plant: Plant) -> None:
    project = plant(
        {f"o{number:05}": [] for number in range(1, 41)},
        assertions={f"o{number:05}": ["It SHALL be long. " * 10] * 3 for number in range(1, 41)},
    )
    opened = ask(project, "open_cursor", query="query_nodes", params={"kind": "requirement"}, batch_size=0)
    seen = [opened["current"]["id"]]
    while True:
        batch = ask(project, "cursor_next", count=500, max_tokens=2_000)
        assert batch["position"] == len(seen) + batch["count"] == len(seen) + len(batch["items"])
        if not batch["items"]:
            break
        assert len(batch["items"]) < 39
        seen += [item["id"] for item in batch["items"]]
    assert seen == [f"REQ-o{number:05}" for number in range(1, 41)]


# Verifies: REQ-d00063-E
def test_an_answer_that_cannot_fit_moves_nothing(ask: Ask, plant: Plant) -> None:
    many = {"o00001": [], "o00002": []}
    project = plant(many, assertions={id: [f"It SHALL be number {number}." for number in range(26)] for id in many})
    with pytest.raises(Refused):
        ask(project, "open_cursor", query="query_nodes", params={"kind": "requirement"}, batch_size=0, max_tokens=400)
    with pytest.raises(InvalidCursor):
        ask(project, "cursor_info")
    ask(project, "open_cursor", query="query_nodes", params={"kind": "requirement"}, batch_size=0)
    with pytest.raises(Refused, match="max_tokens"):
        ask(project, "cursor_next", max_tokens=400)
    assert ask(project, "cursor_info")["position"] == 1
    assert ids(ask(project, "cursor_next")["items"]) == ["o00002"]


# Verifies: REQ-d00063-E
def test_a_cursor_says_that_the_graph_changed_and_goes_on(ask: Ask, project: Project) -> None:
    ask(project, "open_cursor", query="query_nodes", params={"kind": "requirement"}, batch_size=1)
    (project.config.root / "spec" / "all.md").unlink()
    batch = ask(project, "cursor_next", count=10)
    assert batch["is_stale"] is True
    assert ids(batch["items"]) == ["o00001", "o00002", "p00001"]
    assert ask(project, "cursor_info")["is_stale"] is True


# Verifies: REQ-o00024-B
@pytest.mark.parametrize(
    ("arguments", "error", "mentions"),
    [
        ({"query": "everything"}, InvalidArgument, "everything"),
        ({"query": "subtree"}, InvalidArgument, "root_id"),
        ({"query": "subtree", "params": {"root_id": "REQ-x"}}, NotFound, "REQ-x"),
        ({"query": "subtree", "params": {"root": "p1"}}, InvalidArgument, "'root'"),
        ({"query": "subtree", "params": {"root_id": "p1", "depth": -1}}, InvalidArgument, "-1"),
        ({"query": "subtree", "params": {"root_id": "p1", "include_kinds": "thing"}}, InvalidArgument, "thing"),
        ({"query": "query_nodes", "params": {"kind": "thing"}}, InvalidArgument, "thing"),
        ({"query": "search", "params": {"query": "a", "field": "colour"}}, InvalidArgument, "colour"),
        ({"query": "search", "params": "a"}, InvalidArgument, "params"),
        ({"query": "search", "params": {"query": "a", "limit": 0}}, InvalidArgument, "limit"),
        ({"query": "scoped_search", "params": {"query": "a", "scope_id": "REQ-p00077"}}, NotFound, "REQ-p00077"),
        ({"query": "test_coverage", "params": {"req_id": "nobody"}}, NotFound, "nobody"),
        ({"query": "subtree", "params": {"root_id": "p1"}, "batch_size": 2}, InvalidArgument, "batch_size"),
    ],
)
def test_a_query_that_cannot_be_run_is_refused_and_the_old_cursor_stays(
    ask: Ask, project: Project, arguments: dict[str, Any], error: type[Exception], mentions: str
) -> None:
    ask(project, "open_cursor", query="subtree", params={"root_id": "p1"})
    with pytest.raises(error) as raised:
        ask(project, "open_cursor", **arguments)
    assert mentions in str(raised.value)
    assert ask(project, "cursor_info")["total"] == 4


# Verifies: REQ-o00024-B
@pytest.mark.parametrize("count", [0, -1, 10_001, 10**12])
def test_counts_out_of_range_are_refused(ask: Ask, project: Project, count: int) -> None:
    ask(project, "open_cursor", query="subtree", params={"root_id": "p1"})
    with pytest.raises(InvalidArgument, match=str(count)):
        ask(project, "cursor_next", count=count)
    assert ask(project, "cursor_info")["position"] == 1


def cursor_on(count: int) -> CursorState:
    entry = CursorEntry(Node("REQ-p00001", NodeKind.REQUIREMENT, "", {}))
    return CursorState.on((entry,) * count, query="search", params={}, batch_size=0, fingerprint="")


# Verifies: REQ-d00063-F
def test_cursors_end_after_a_time_without_use() -> None:
    now = 0.0
    cursors = OpenCursors(lambda: now)
    cursors.open("a", cursor_on(3))
    now += IDLE_SECONDS - 1
    assert cursors.current("a", None).position == 1
    now += IDLE_SECONDS - 1
    assert cursors.current("a", None).position == 1
    now += IDLE_SECONDS + 1
    with pytest.raises(InvalidCursor):
        cursors.current("a", None)


# Verifies: REQ-d00063-F
def test_of_too_many_cursors_the_least_recently_used_end() -> None:
    cursors = OpenCursors(lambda: 0.0)
    states = [cursor_on(2) for _ in range(MOST_CURSORS + 1)]
    for number, state in enumerate(states[:-1]):
        cursors.open(str(number), state)
    cursors.current("0", None)
    cursors.open(None, states[-1])
    assert cursors.current("0", None) == states[0]
    assert cursors.current(None, states[-1].id).items == states[-1].items
    with pytest.raises(InvalidCursor):
        cursors.current("1", None)


# Verifies: REQ-d00063-F
def test_a_cursor_holds_a_limited_number_of_items_and_says_how_many_it_left_out() -> None:
    state = cursor_on(MOST_ITEMS + 7)
    assert (len(state.items), state.left_out, state.remaining) == (MOST_ITEMS, 7, MOST_ITEMS - 1)


# Verifies: REQ-d00063-E
def test_a_cursor_stays_where_it_is_when_its_items_cannot_be_delivered() -> None:
    cursors = OpenCursors(lambda: 0.0)
    cursors.open("a", cursor_on(3))
    with suppress(OSError), cursors.reading("a", None) as reading:
        reading.take(1)
        raise OSError
    assert cursors.current("a", None).position == 1
    with cursors.reading("a", None) as reading:
        assert reading.take(2).remaining == 0
    assert cursors.current("a", None).position == 3
