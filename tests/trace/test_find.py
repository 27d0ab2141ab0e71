"""Finding nodes, tests and gaps."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.errors import InvalidArgument, InvalidPattern, NotFound, WrongKind
from clew.graph.model import NodeKind
from clew.project import Project
from clew.trace import coverage
from clew.trace.find.query import compile_pattern

Plant = Callable[..., Project]
Ask = Callable[..., dict[str, Any]]
Open = Callable[[Path], Project]

TESTS = """
# Verifies: REQ-d00001-A
def test_tokens():
    pass


# Verifies: REQ-d00001
def test_the_whole():
    pass


def test_of_nothing():
    pass
"""

RESULTS = """<testsuites><testsuite name="s">
<testcase classname="tests.test_a" name="test_tokens"><failure message="no"/></testcase>
<testcase classname="tests.test_a" name="test_the_whole"/>
</testsuite></testsuites>
"""


@pytest.fixture
def project(plant: Plant) -> Project:
    return plant(
        {"p00001": [], "o00001": ["p00001"], "d00001": ["o00001-A"]},
        assertions={
            "p00001": ["Access SHALL be granted by policy.", "Sessions SHALL end."],
            "o00001": ["Policies SHALL be reviewed.", "Authentication SHALL precede every session."],
            "d00001": ["Tokens SHALL expire after an hour.", "An expired token SHALL be refused by the audit log."],
        },
        titles={"p00001": "Access by policy", "o00001": "Reviewing policies", "d00001": "Token expiry"},
        files={
            "tests/test_a.py": TESTS,
            "results/junit.xml": RESULTS,
            "clew.toml": '[tests]\nfolders = ["tests"]\nresults = ["results/*.xml"]\n',
            "src/a.py": "# Implements: REQ-d00001-B\ndef refuse():\n    pass\n",
        },
    )


def ids(items: list[dict[str, Any]]) -> list[str]:
    return [item["id"] for item in items]


# Verifies: REQ-d00060-A
def test_nodes_are_listed_by_kind_and_narrowed_by_their_fields(ask: Ask, project: Project) -> None:
    assert ids(ask(project, "query_nodes", kind="requirement")["results"]) == ["REQ-d00001", "REQ-o00001", "REQ-p00001"]
    assert ids(ask(project, "query_nodes", kind="REQUIREMENT", level="Ops")["results"]) == ["REQ-o00001"]
    assert ask(project, "query_nodes", kind="requirement", status="Draft")["results"] == []
    assert ids(ask(project, "query_nodes", kind="USER_JOURNEY, code")["results"]) == ["code:src/a.py:1"]
    everything = ask(project, "query_nodes", limit=500, max_tokens=20_000)
    assert everything["total"] == sum(project.graph.node_counts().values()) == len(everything["results"])
    assert {item["kind"] for item in everything["results"]} >= {"requirement", "assertion", "test", "code", "result"}


def test_journeys_are_found_by_their_actor(ask: Ask, opened: Open, demo: Path) -> None:
    project = opened(demo)
    (journey,) = ask(project, "query_nodes", kind="journey")["results"]
    actor = project.graph.get_node(journey["id"]).get_field("actor")  # type: ignore[union-attr]
    assert ids(ask(project, "query_nodes", kind="journey", actor=actor.upper())["results"]) == [journey["id"]]
    assert ask(project, "query_nodes", kind="journey", actor="nobody")["results"] == []


# Verifies: REQ-d00060-A
def test_nodes_are_narrowed_by_a_field_that_is_a_number_in_some_kinds(ask: Ask, opened: Open, demo: Path) -> None:
    project = opened(demo)
    project.kb.index()
    everything = ask(project, "query_nodes", kind="requirement, section", limit=500, max_tokens=20_000)
    assert {item["kind"] for item in everything["results"]} == {"requirement", "section"}
    found = ask(project, "query_nodes", kind="requirement, section", level="dev")
    assert {item["kind"] for item in found["results"]} == {"requirement"}
    assert ask(project, "query_nodes", level="a/" * 2_500)["results"] == []


# Verifies: REQ-d00060-B
@pytest.mark.parametrize(
    ("keyword", "finds"),
    [
        ("token", ["REQ-d00001-A", "REQ-d00001-B"]),
        ("TOKENS", ["REQ-d00001-A", "REQ-d00001-B"]),
        ("expiring", ["REQ-d00001-A", "REQ-d00001-B"]),
        ("policy", ["REQ-o00001-A", "REQ-p00001-A"]),
        ("policies", ["REQ-o00001-A", "REQ-p00001-A"]),
        ("audit log", ["REQ-d00001-B"]),
        ("log audit", []),
        ("auth", ["REQ-o00001-B"]),
        ("aut", []),
        ("thent", []),
        ("an", ["REQ-d00001-A", "REQ-d00001-B"]),
    ],
)
def test_a_keyword_finds_every_form_of_its_word(ask: Ask, project: Project, keyword: str, finds: list[str]) -> None:
    found = ask(project, "find_assertions_by_keywords", keywords=[keyword])
    assert sorted(ids(found["assertions"])) == finds


# Verifies: REQ-d00060-C
def test_all_keywords_are_required_or_any_and_the_best_match_comes_first(ask: Ask, project: Project) -> None:
    both = ask(project, "find_assertions_by_keywords", keywords=["expire", "refuse"])
    assert ids(both["assertions"]) == ["REQ-d00001-B"]
    either = ask(project, "find_assertions_by_keywords", keywords="expire, refuse, session", match_all=False)
    assert ids(either["assertions"]) == ["REQ-d00001-B", "REQ-d00001-A", "REQ-o00001-B", "REQ-p00001-B"]
    words = ask(project, "find_assertions_by_keywords", keywords=["access", "expires"], match_all=False)
    assert words["total"] == 3


# Verifies: REQ-d00060-D
def test_titles_and_texts_of_assertions_are_searched_apart(ask: Ask, project: Project) -> None:
    assert ids(ask(project, "find_by_keywords", keywords=["policy"])["results"]) == ["REQ-o00001", "REQ-p00001"]
    assert ask(project, "find_by_keywords", keywords=["audit"])["results"] == []
    assert ids(ask(project, "query_nodes", kind="requirement", keywords="audit")["results"]) == ["REQ-d00001"]
    (found,) = ask(project, "find_assertions_by_keywords", keywords=["audit"])["assertions"]
    assert found == {
        "id": "REQ-d00001-B",
        "label": "B",
        "text": "An expired token SHALL be refused by the audit log.",
        "parent_id": "REQ-d00001",
        "parent_title": "Token expiry",
    }


# Verifies: REQ-d00060-E
def test_keywords_follow_the_files(ask: Ask, project: Project) -> None:
    spec = project.config.root / "spec" / "all.md"
    assert ask(project, "find_assertions_by_keywords", keywords=["hour"])["total"] == 1
    spec.write_text(spec.read_text(encoding="utf-8").replace("after an hour", "after a fortnight"), encoding="utf-8")
    assert ask(project, "find_assertions_by_keywords", keywords=["hour"])["total"] == 0
    assert ids(ask(project, "find_assertions_by_keywords", keywords=["fortnight"])["assertions"]) == ["REQ-d00001-A"]
    spec.unlink()
    assert ask(project, "find_assertions_by_keywords", keywords=["token"])["total"] == 0
    assert ask(project, "find_by_keywords", keywords=["policy"])["total"] == 0


# Verifies: REQ-d00061-A, REQ-o00024-D
def test_the_tests_of_a_requirement_say_what_they_name_and_gave(ask: Ask, project: Project) -> None:
    found = ask(project, "get_test_coverage", req_id="d1")
    assert [(test["name"], test["assertion_targets"], test["verdict"]) for test in found["test_nodes"]] == [
        ("test_the_whole", [], "passed"),
        ("test_tokens", ["A"], "failed"),
    ]
    assert [result["status"] for test in found["test_nodes"] for result in test["results"]] == ["passed", "failed"]
    assert [(result["status"], result["test_id"]) for result in found["result_nodes"]] == [
        ("passed", found["test_nodes"][0]["id"]),
        ("failed", found["test_nodes"][1]["id"]),
    ]
    assert found["covered_assertions"] == ["REQ-d00001-A"]
    assert found["uncovered_assertions"] == ["REQ-d00001-B"]
    assert [each["text"] for each in found["uncovered_detail"]] == [
        "An expired token SHALL be refused by the audit log."
    ]
    assert (found["total_assertions"], found["covered_count"], found["coverage_pct"]) == (2, 1, 50.0)
    assert found["referenced_pct"] == found["coverage_pct"]
    assert found["tested_breakdown"] == {"passed": 0, "failed": 1, "awaiting_result": 0}
    detail = ask(project, "get_requirement", req_id="d1")
    assert (detail["coverage"]["tested"], detail["coverage"]["tested_pct"]) == (1, 50.0)


# Verifies: REQ-d00061-B
def test_gaps_have_their_text_for_one_requirement_and_for_all(ask: Ask, project: Project) -> None:
    found = ask(project, "get_uncovered_assertions")
    assert ids(found["assertions"]) == ["REQ-d00001-B", "REQ-o00001-A", "REQ-o00001-B", "REQ-p00001-A", "REQ-p00001-B"]
    assert found["total"] == coverage.uncovered_assertion_count(project.graph)
    assert found["assertions"][0]["text"] == "An expired token SHALL be refused by the audit log."
    assert found["requirements"][0] == {
        "req_id": "REQ-d00001",
        "title": "Token expiry",
        "total_assertions": 2,
        "uncovered_count": 1,
        "uncovered_labels": ["B"],
        "status": "Active",
    }
    one = ask(project, "get_uncovered_assertions", req_id="REQ-o00001")
    assert (one["req_id"], ids(one["assertions"])) == ("REQ-o00001", ["REQ-o00001-A", "REQ-o00001-B"])
    implemented = ask(project, "get_uncovered_assertions", implemented_only=True)
    assert ids(implemented["assertions"]) == ["REQ-d00001-B", "REQ-o00001-A", "REQ-p00001-A", "REQ-p00001-B"]


# Verifies: REQ-d00061-C
def test_broken_references_say_where_and_why(ask: Ask, plant: Plant) -> None:
    project = plant(
        {"p00001": [], "o00001": ["p00009", "p00001-Z"]},
        assertions={"p00001": ["It SHALL be."]},
        files={"tests/test_a.py": "# Verifies: REQ-x\ndef test_a():\n    pass\n"},
    )
    found = ask(project, "get_broken_references")
    assert [(each["source_id"], each["target_id"], each["fault"]) for each in found["broken_references"]] == [
        ("REQ-o00001", "REQ-p00001-Z", "unknown_assertion"),
        ("REQ-o00001", "REQ-p00009", "unknown_requirement"),
        ("test:tests/test_a.py::test_a", "REQ-x", "malformed"),
    ]
    lines = (project.config.root / "spec" / "all.md").read_text(encoding="utf-8").splitlines()
    first = found["broken_references"][0]
    assert first["target_id"] in lines[first["line"] - 1]
    assert found["total"] == len(project.graph.memory.broken)


# Verifies: REQ-d00061-D
def test_orphans_are_those_that_the_status_counts_each_once(ask: Ask, project: Project) -> None:
    found = ask(project, "get_orphaned_nodes")
    assert [(each["id"], each["source"]) for each in found["orphans"]] == [
        ("test:tests/test_a.py::test_of_nothing", "tests/test_a.py:12")
    ]
    assert found["by_kind"] == {"test": 1}
    assert found["total"] == coverage.orphan_count(project.graph)


# Verifies: REQ-o00024-A
@pytest.mark.parametrize(
    ("tool", "arguments", "items"),
    [
        ("query_nodes", {}, "results"),
        ("find_assertions_by_keywords", {"keywords": "SHALL"}, "assertions"),
        ("find_by_keywords", {"keywords": "title"}, "results"),
        ("get_uncovered_assertions", {}, "assertions"),
        ("get_broken_references", {}, "broken_references"),
        ("get_orphaned_nodes", {}, "orphans"),
        ("get_test_coverage", {"req_id": "p1"}, "test_nodes"),
        ("scoped_search", {"query": "REQ", "scope_id": "p1"}, "results"),
        ("discover_requirements", {"query": "REQ", "scope_id": "p1"}, "results"),
        ("minimize_requirement_set", {"req_ids": [f"REQ-d{number:05}" for number in range(1, 31)]}, "minimal_set"),
    ],
)
@pytest.mark.parametrize("size", [{"limit": 4}, {"limit": 500, "max_tokens": 900}])
def test_pages_of_every_list_show_each_item_once(
    ask: Ask, plant: Plant, tool: str, arguments: dict[str, Any], items: str, size: dict[str, int]
) -> None:
    tests = "".join(f"# Verifies: REQ-p00001\ndef test_{number}():\n    pass\n\n\n" for number in range(20))
    loose = "".join(f"def test_loose_{number}():\n    pass\n\n\n" for number in range(20))
    project = plant(
        {"p00001": [], **{f"d{number:05}": ["p00001", f"p{number + 100:05}"] for number in range(1, 31)}},
        assertions={f"d{number:05}": ["It SHALL be.", "It SHALL last."] for number in range(1, 31)},
        files={"tests/test_a.py": tests, "tests/test_loose.py": loose},
    )
    whole = ask(project, tool, **arguments, limit=500, max_tokens=20_000)
    expected = whole[items]
    seen: list[Any] = []
    cursor: dict[str, str] = {}
    pages = 0
    while True:
        page = ask(project, tool, **arguments, **size, **cursor)
        assert page[items]
        seen += page[items]
        pages += 1
        assert page["truncated"] is (page["next_cursor"] is not None)
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert pages > 1
    assert [str(item) for item in seen[: len(expected)]] == [str(item) for item in expected]
    assert len(seen) == (whole.get("tests_total") or whole["total"])


# Verifies: REQ-o00024-B
@pytest.mark.parametrize(
    ("tool", "arguments", "error", "mentions"),
    [
        ("query_nodes", {"kind": "requirment"}, InvalidArgument, ("requirment", "requirement, assertion")),
        ("query_nodes", {"keywords": "x," * 60 + "y" * 300}, InvalidArgument, ("300", "200")),
        ("query_nodes", {"keywords": ",".join(f"k{number}" for number in range(60))}, InvalidArgument, ("60", "40")),
        ("query_nodes", {"limit": -1}, InvalidArgument, ("-1", ">= 1")),
        ("query_nodes", {"limit": 10**9}, InvalidArgument, ("1000000000", "<= 500")),
        ("find_by_keywords", {"keywords": []}, InvalidArgument, ("no keyword",)),
        ("find_by_keywords", {"keywords": "--"}, InvalidArgument, ("no keyword",)),
        ("find_by_keywords", {"keywords": ["a"], "kind": "thing"}, InvalidArgument, ("thing",)),
        ("find_assertions_by_keywords", {"keywords": 7}, InvalidArgument, ("keywords", "7")),
        ("get_test_coverage", {"req_id": "REQ-d00009"}, NotFound, ("REQ-d00009", "REQ-d00001")),
        ("get_test_coverage", {"req_id": "test:tests/test_a.py::test_tokens"}, WrongKind, ("test",)),
        ("get_uncovered_assertions", {"req_id": "nothing"}, NotFound, ("nothing",)),
        ("get_subtree", {"root_id": "REQ-q00001"}, NotFound, ("REQ-q00001",)),
        ("get_subtree", {"root_id": "p1", "include_kinds": "tests"}, InvalidArgument, ("tests", "test, result")),
        ("get_subtree", {"root_id": "p1", "depth": -1}, InvalidArgument, ("-1", ">= 0")),
        ("get_subtree", {"root_id": "p1", "format": "yaml"}, InvalidArgument, ("yaml",)),
        ("scoped_search", {"query": "a", "scope_id": "REQ-p00099"}, NotFound, ("REQ-p00099",)),
        ("scoped_search", {"query": "a", "scope_id": "p1", "direction": "up"}, InvalidArgument, ("up",)),
        ("scoped_search", {"query": "(", "scope_id": "p1", "regex": True}, InvalidPattern, ("(",)),
        ("discover_requirements", {"query": "", "scope_id": "p1"}, InvalidArgument, ("query",)),
        ("discover_requirements", {"query": "a", "scope_id": "p1", "edge_kinds": "likes"}, InvalidArgument, ("likes",)),
        ("minimize_requirement_set", {"req_ids": []}, InvalidArgument, ("req_ids",)),
        ("minimize_requirement_set", {"req_ids": ["x"] * 501}, InvalidArgument, ("500",)),
    ],
)
def test_bad_arguments_are_named_with_what_there_is(
    ask: Ask, project: Project, tool: str, arguments: dict[str, Any], error: type[Exception], mentions: tuple[str, ...]
) -> None:
    with pytest.raises(error) as raised:
        ask(project, tool, **arguments)
    assert len(str(raised.value)) < 600
    for mention in mentions:
        assert mention in str(raised.value)


# Verifies: REQ-o00024-B
def test_a_pattern_that_explodes_is_refused_in_a_scope_too(ask: Ask, plant: Plant) -> None:
    project = plant({"p00001": [], "o00001": ["p00001"]}, assertions={"o00001": ["a" * 60 + "!"]})
    with pytest.raises(InvalidPattern, match="longer than 2 s"):
        ask(project, "scoped_search", query="(a|aa)+$", regex=True, scope_id="p1", include_assertions=True)


# Verifies: REQ-d00650-C
@pytest.mark.parametrize("pattern", ["(" * 40 + r".|\n" + ")" * 40 + "*", r"(?s)(?:.|a)*\Z"])
def test_a_pattern_that_would_take_the_memory_is_refused_and_a_small_one_is_not(
    ask: Ask, plant: Plant, pattern: str
) -> None:
    project = plant({"p00001": []}, assertions={"p00001": ["the sea is wide " * 8_000]})
    with pytest.raises(InvalidPattern, match="too much memory"):
        ask(project, "search", query=pattern, regex=True)
    assert ask(project, "search", query=r"(?:sea\s|is\s)+wide", regex=True, field="id")["count"] == 0
    assert ask(project, "search", query=r"sea.*wide", regex=True)["count"] == 1


# Verifies: REQ-d00650-C
def test_searches_that_may_take_much_memory_take_turns() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: compile_pattern("(?:a|b)+c")("ab" * 20_000 + "c"), range(8)))
    assert found == [True] * 8


# Verifies: REQ-o00024-D
def test_every_tool_gives_the_same_figures(ask: Ask, opened: Open, demo: Path) -> None:
    project = opened(demo)
    project.ensure_graph()
    for node in list(project.graph.nodes_by_kind(NodeKind.REQUIREMENT)):
        detail = ask(project, "get_requirement", req_id=node.id, max_tokens=20_000)["coverage"]
        tests = ask(project, "get_test_coverage", req_id=node.id, max_tokens=20_000)
        flat = ask(project, "get_subtree", root_id=node.id, format="flat", depth=1, max_tokens=20_000)
        gaps = ask(project, "get_uncovered_assertions", req_id=node.id)
        assert detail["tested"] == tests["covered_count"] == flat["nodes"][0]["coverage"]["covered"]
        assert detail["tested_pct"] == tests["coverage_pct"] == flat["nodes"][0]["coverage"]["pct"]
        assert detail["total_assertions"] - detail["tested"] == gaps["total"] == len(tests["uncovered_assertions"])
    summary = ask(project, "get_project_summary")
    assert summary["uncovered_assertion_count"] == ask(project, "get_uncovered_assertions")["total"]


# Verifies: REQ-o00024-A
def test_ten_thousand_tests_of_one_requirement_are_paged(ask: Ask, plant: Plant) -> None:
    tests = "".join(f"# Verifies: REQ-p00001-A\ndef test_{number}(): pass\n" for number in range(10_000))
    project = plant({"p00001": []}, assertions={"p00001": ["It SHALL be."]}, files={"tests/test_a.py": tests})
    page = ask(project, "get_test_coverage", req_id="p1", limit=500)
    assert page["tests_total"] == 10_000
    assert 5 < len(page["test_nodes"]) < 500
    assert page["next_cursor"]


# Verifies: REQ-o00024-B
@pytest.mark.parametrize(
    ("tool", "arguments", "allowed"),
    [
        ("get_subtree", {"root_id": "p1", "format": "yaml"}, "flat, markdown, nested"),
        ("open_cursor", {"query": "subtree", "batch_size": 7}, "-1, 0, 1"),
        ("search", {"query": "x", "field": "nope"}, "id, title, body"),
        ("scoped_search", {"query": "x", "scope_id": "p1", "direction": "sideways"}, "descendants, ancestors"),
    ],
)
def test_a_value_that_is_none_of_a_few_is_answered_with_those(
    plant: Plant, ask: Ask, tool: str, arguments: dict[str, Any], allowed: str
) -> None:
    with pytest.raises(InvalidArgument, match="expected one of") as refused:
        ask(plant({"p00001": []}), tool, **arguments)
    assert set(allowed.split(", ")) <= set(str(refused.value).partition("one of ")[2].partition(".")[0].split(", "))
