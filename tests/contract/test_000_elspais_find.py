"""The first source document, requirement by requirement: coverage analysis, subtrees, cursors, sets and scopes.

Each test is named after the assertion of the source that it proves. Where the source names a function of elspais, what
that function has to achieve is proved through the tool.
"""

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from clew.graph.graph import Graph
from clew.graph.model import NodeKind
from clew.project import Project
from clew.surfaces.mcp.instructions import instructions
from clew.surfaces.mcp.server import Surface, build_server
from clew.surfaces.mcp.tools import TOOLS, trace_cursor, trace_find
from clew.surfaces.mcp.toolsets import Choice, choose

pytestmark = pytest.mark.anyio

Ask = Callable[..., Any]

SPEC = """
## REQ-p00001: Keeping time

**Level**: PRD | **Status**: Active

## Assertions

A. The clock SHALL show the hour.
B. The clock SHALL chime.

*End* *Keeping time*

## REQ-o00001: Showing the hour

**Level**: OPS | **Status**: Active | **Implements**: REQ-p00001-A

## Assertions

A. Hands SHALL move with the hour.

*End* *Showing the hour*

## REQ-o00002: Chiming

**Level**: OPS | **Status**: Draft | **Refines**: REQ-p00001

## Assertions

A. Bells SHALL ring on the hour.

*End* *Chiming*

## REQ-d00001: Moving hands

**Level**: DEV | **Status**: Active | **Implements**: REQ-o00001, REQ-o00002

## Assertions

A. The short hand SHALL move once an hour.
B. The long hand SHALL move every MINUTE.
C. Neither hand SHALL move back.

*End* *Moving hands*

## REQ-d00002: Oiling

**Level**: DEV | **Status**: Active

*End* *Oiling*

# JNY-Reader-01: Reading the time

**Actor**: Reader

*End* *JNY-Reader-01*
"""

CODE = """# Implements: REQ-d00001-A
def move_short_hand():
    pass
"""

TESTS = """
# Verifies: REQ-d00001-A
def test_short_hand():
    pass


# Verifies: REQ-d00001-A+B
def test_both_hands():
    pass


# Verifies: REQ-o00001
def test_showing():
    pass
"""

RESULTS = """<testsuite name="clock">
<testcase classname="tests.test_clock" name="test_short_hand"/>
<testcase classname="tests.test_clock" name="test_both_hands"><failure message="stuck"/></testcase>
</testsuite>"""

CONFIGURATION = '[project]\nname = "clock"\n[tests]\nfolders = ["tests"]\nresults = ["results/*.xml"]\n'

SHORT, BOTH = (f"test:tests/test_clock.py::test_{name}" for name in ("short_hand", "both_hands"))


@pytest.fixture
def project(tmp_path: Path, opened: Callable[[Path], Project]) -> Project:
    written = {
        "spec/clock.md": SPEC,
        "src/clock.py": CODE,
        "tests/test_clock.py": TESTS,
        "results/junit.xml": RESULTS,
        "clew.toml": CONFIGURATION,
    }
    for path, text in written.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return opened(tmp_path)


@pytest.fixture
def ask(project: Project) -> Ask:
    """Calls a tool as a user of elspais would, through a client."""
    listing = choose(TOOLS, Choice(profile="elspais"))
    server = build_server(Surface(project, listing), instructions(listing))

    async def call(name: str, **arguments: Any) -> dict[str, Any]:
        async with Client(server) as client:
            result = await client.call_tool(name, arguments)
            assert result.structured_content is not None
            return {**result.structured_content, "is_error": bool(result.is_error)}

    return call


@pytest.fixture
def walked(monkeypatch: pytest.MonkeyPatch) -> list[NodeKind]:
    """The kinds of nodes that were gone through as a whole."""
    kinds: list[NodeKind] = []
    original = Graph.nodes_by_kind

    def watched(self: Graph, kind: NodeKind) -> Any:
        kinds.append(kind)
        return original(self, kind)

    monkeypatch.setattr(Graph, "nodes_by_kind", watched)
    return kinds


def ids(items: Any) -> list[str]:
    return [item["id"] for item in items]


def all_nodes(tree: dict[str, Any]) -> list[dict[str, Any]]:
    return [tree, *(node for child in tree.get("children", ()) for node in all_nodes(child))]


# REQ-p00060: MCP Server for AI-Driven Requirements Management


# Verifies: REQ-p00003-A
async def test_p00060_A_graph_data_is_exposed_through_tools_of_the_protocol(project: Project) -> None:
    listing = choose(TOOLS, Choice(profile="elspais"))
    async with Client(build_server(Surface(project, listing), "")) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert {"search", "get_requirement", "get_subtree", "open_cursor"} <= listed.keys()
    assert all(tool.input_schema["type"] == "object" and tool.output_schema for tool in listed.values())


# Verifies: REQ-p00001-B
async def test_p00060_B_tools_consume_the_graph_itself(ask: Ask, project: Project) -> None:
    before = await ask("get_requirement", req_id="REQ-d00002")
    node = project.graph.get_node("REQ-d00002")
    assert node is not None
    project.graph.memory.put_node(type(node)(node.id, node.kind, "Greasing", node.fields, node.source))
    after = await ask("get_requirement", req_id="REQ-d00002")
    assert (before["title"], after["title"]) == ("Oiling", "Greasing")


# Verifies: REQ-d00060-A
async def test_p00060_C_there_are_read_only_tools_for_discovery_and_navigation() -> None:
    harmless = {tool.name for tool in TOOLS if tool.toolset == "trace" and tool.read_only}
    assert {
        "search",
        "scoped_search",
        "discover_requirements",
        "get_hierarchy",
        "get_subtree",
        "query_nodes",
    } <= harmless


# REQ-o00064: MCP Test Coverage Analysis Tools


# Verifies: REQ-d00061-A
async def test_o00064_A_tests_and_their_results(ask: Ask) -> None:
    found = await ask("get_test_coverage", req_id="REQ-d00001")
    assert ids(found["test_nodes"]) == [BOTH, SHORT]
    assert [result["test_id"] for result in found["result_nodes"]] == [BOTH, SHORT]


# Verifies: REQ-d00061-B
async def test_o00064_B_assertions_without_a_test(ask: Ask) -> None:
    found = await ask("get_uncovered_assertions")
    assert ids(found["assertions"]) == ["REQ-d00001-C", "REQ-o00001-A", "REQ-o00002-A", "REQ-p00001-A", "REQ-p00001-B"]


# Verifies: REQ-d00060-D
async def test_o00064_C_assertions_by_keywords(ask: Ask) -> None:
    found = await ask("find_assertions_by_keywords", keywords=["hand", "hour"], match_all=True)
    assert sorted(ids(found["assertions"])) == ["REQ-d00001-A", "REQ-o00001-A"]


# Verifies: REQ-d00061-A
async def test_o00064_D_coverage_is_that_of_the_edges(ask: Ask, project: Project) -> None:
    path = project.config.root / "tests" / "test_clock.py"
    path.write_text(TESTS.replace("REQ-d00001-A+B", "REQ-d00001-C"), encoding="utf-8")
    found = await ask("get_test_coverage", req_id="REQ-d00001")
    assert found["covered_assertions"] == ["REQ-d00001-A", "REQ-d00001-C"]
    named = {label for edge in project.graph.iter_incoming_edges("REQ-d00001") for label in edge.labels}
    assert named == {"A", "C"}


# Verifies: REQ-d00061-B
async def test_o00064_E_one_requirement_or_all(ask: Ask) -> None:
    everything = await ask("get_uncovered_assertions")
    one = await ask("get_uncovered_assertions", req_id="REQ-o00001")
    assert ids(one["assertions"]) == ["REQ-o00001-A"]
    assert set(ids(one["assertions"])) < set(ids(everything["assertions"]))


# REQ-d00066: Test Coverage Tool Implementation


# Verifies: REQ-d00061-A
async def test_d00066_A_takes_the_id_of_a_requirement(ask: Ask) -> None:
    assert (await ask("get_test_coverage", req_id="d1"))["req_id"] == "REQ-d00001"
    assert (await ask("get_test_coverage", req_id="REQ-d09999"))["code"] == "not_found"


# Verifies: REQ-d00061-A
async def test_d00066_B_tests_are_those_with_edges_to_the_requirement(ask: Ask, project: Project) -> None:
    found = await ask("get_test_coverage", req_id="REQ-d00001")
    citing = {node.id for node in project.graph.iter_children("REQ-d00001") if node.kind is NodeKind.TEST}
    assert set(ids(found["test_nodes"])) == citing
    assert (await ask("get_test_coverage", req_id="REQ-o00001"))["test_nodes"][0]["name"] == "test_showing"


# Verifies: REQ-d00061-A
async def test_d00066_C_results_are_linked_to_their_test(ask: Ask) -> None:
    found = await ask("get_test_coverage", req_id="REQ-d00001")
    statuses = {test["id"]: [result["status"] for result in test["results"]] for test in found["test_nodes"]}
    assert statuses == {SHORT: ["passed"], BOTH: ["failed"]}


# Verifies: REQ-d00061-A
async def test_d00066_D_covered_assertions_are_those_that_edges_name(ask: Ask) -> None:
    found = await ask("get_test_coverage", req_id="REQ-d00001")
    assert {test["id"]: test["assertion_targets"] for test in found["test_nodes"]} == {SHORT: ["A"], BOTH: ["A", "B"]}
    assert found["covered_assertions"] == ["REQ-d00001-A", "REQ-d00001-B"]


# Verifies: REQ-d00061-A
async def test_d00066_E_uncovered_assertions_are_the_others(ask: Ask) -> None:
    assert (await ask("get_test_coverage", req_id="REQ-d00001"))["uncovered_assertions"] == ["REQ-d00001-C"]
    assert (await ask("get_test_coverage", req_id="REQ-o00001"))["uncovered_assertions"] == ["REQ-o00001-A"]


# Verifies: REQ-d00061-A, REQ-o00024-D
async def test_d00066_F_the_summary_has_total_covered_and_percentage(ask: Ask) -> None:
    found = await ask("get_test_coverage", req_id="REQ-d00001")
    assert (found["total_assertions"], found["covered_count"], found["coverage_pct"]) == (3, 2, 66.7)


# Verifies: REQ-d00061-A
async def test_d00066_G_edges_are_followed_and_nothing_else_is_walked(project: Project, walked: list[NodeKind]) -> None:
    project.ensure_graph()
    walked.clear()
    assert project.trace.find.tests("REQ-d00001").page(0, 10).tests_total == 2
    assert walked == []


# REQ-d00067: Uncovered Assertions Tool Implementation


# Verifies: REQ-d00061-B
async def test_d00067_A_without_an_id_all_requirements_are_scanned(ask: Ask, project: Project) -> None:
    found = await ask("get_uncovered_assertions", req_id=None)
    parents = {each["parent_id"] for each in found["assertions"]}
    assert parents == {"REQ-p00001", "REQ-o00001", "REQ-o00002", "REQ-d00001"}
    assert found["req_id"] is None


# Verifies: REQ-d00061-B
async def test_d00067_B_every_assertion_of_the_graph_is_looked_at(ask: Ask, project: Project) -> None:
    uncovered = set(ids((await ask("get_uncovered_assertions"))["assertions"]))
    covered = {"REQ-d00001-A", "REQ-d00001-B"}
    assert uncovered | covered == {node.id for node in project.graph.nodes_by_kind(NodeKind.ASSERTION)}


# Verifies: REQ-d00061-B
async def test_d00067_C_only_edges_from_tests_count(ask: Ask, project: Project) -> None:
    (project.config.root / "tests" / "test_clock.py").write_text("\n", encoding="utf-8")
    uncovered = ids((await ask("get_uncovered_assertions"))["assertions"])
    assert "REQ-d00001-A" in uncovered, "code that implements an assertion is no test of it"
    assert len(uncovered) == project.graph.count(NodeKind.ASSERTION)


# Verifies: REQ-d00061-B
async def test_d00067_D_id_text_label_and_context(ask: Ask) -> None:
    (found,) = (await ask("get_uncovered_assertions", req_id="REQ-d00001"))["assertions"]
    assert (found["id"], found["label"], found["text"]) == ("REQ-d00001-C", "C", "Neither hand SHALL move back.")


# Verifies: REQ-d00061-B
async def test_d00067_E_id_and_title_of_the_requirement(ask: Ask) -> None:
    (found,) = (await ask("get_uncovered_assertions", req_id="REQ-d00001"))["assertions"]
    assert (found["parent_id"], found["parent_title"]) == ("REQ-d00001", "Moving hands")


# Verifies: REQ-o00024-A
async def test_d00067_F_results_are_limited(ask: Ask) -> None:
    found = await ask("get_uncovered_assertions", limit=2)
    assert (len(found["assertions"]), found["total"], found["truncated"]) == (2, 5, True)
    rest = await ask("get_uncovered_assertions", limit=2, cursor=found["next_cursor"])
    assert set(ids(rest["assertions"])).isdisjoint(ids(found["assertions"]))


# REQ-d00068: Assertion Keyword Search Tool Implementation


# Verifies: REQ-d00060-D
async def test_d00068_A_takes_a_list_of_keywords(ask: Ask) -> None:
    assert (await ask("find_assertions_by_keywords", keywords=["chime"]))["total"] == 1
    assert (await ask("find_assertions_by_keywords", keywords=[]))["code"] == "invalid_argument"


# Verifies: REQ-d00060-C
async def test_d00068_B_all_keywords_or_any(ask: Ask) -> None:
    every = await ask("find_assertions_by_keywords", keywords=["hand", "minute"], match_all=True)
    some = await ask("find_assertions_by_keywords", keywords=["hand", "minute"], match_all=False)
    assert ids(every["assertions"]) == ["REQ-d00001-B"]
    assert sorted(ids(some["assertions"])) == ["REQ-d00001-A", "REQ-d00001-B", "REQ-d00001-C", "REQ-o00001-A"]


# Verifies: REQ-d00060-D
async def test_d00068_C_the_text_of_assertions_is_searched(ask: Ask) -> None:
    assert ids((await ask("find_assertions_by_keywords", keywords=["bells"]))["assertions"]) == ["REQ-o00002-A"]
    assert (await ask("find_assertions_by_keywords", keywords=["oiling"]))["assertions"] == []


# Verifies: REQ-d00060-D
async def test_d00068_D_id_text_label_and_context(ask: Ask) -> None:
    (found,) = (await ask("find_assertions_by_keywords", keywords=["bells"]))["assertions"]
    assert found == {
        "id": "REQ-o00002-A",
        "label": "A",
        "text": "Bells SHALL ring on the hour.",
        "parent_id": "REQ-o00002",
        "parent_title": "Chiming",
    }


# Verifies: REQ-d00060-B
@pytest.mark.parametrize("keyword", ["minute", "MINUTE", "Minute"])
async def test_d00068_E_in_any_case(ask: Ask, keyword: str) -> None:
    found = await ask("find_assertions_by_keywords", keywords=[keyword])
    assert ids(found["assertions"]) == ["REQ-d00001-B"]


# Verifies: REQ-d00060-D
async def test_d00068_F_find_by_keywords_looks_into_titles(ask: Ask) -> None:
    assert ids((await ask("find_by_keywords", keywords=["hands"], match_all=True))["results"]) == ["REQ-d00001"]
    assert (await ask("find_by_keywords", keywords=["bells"], match_all=True))["results"] == []


# REQ-o00067: MCP Subtree Extraction Tool


# Verifies: REQ-d00062-A
async def test_o00067_A_a_subgraph_level_by_level(ask: Ask) -> None:
    found = await ask("get_subtree", root_id="REQ-p00001", format="flat")
    depths = [node["depth"] for node in found["nodes"]]
    assert depths == sorted(depths)
    assert set(ids(found["nodes"])) >= {"REQ-p00001", "REQ-o00001", "REQ-o00002", "REQ-d00001"}


# Verifies: REQ-d00062-A
@pytest.mark.parametrize(("depth", "deepest"), [(0, 3), (1, 1), (2, 2)])
async def test_o00067_B_depth_zero_is_unlimited(ask: Ask, depth: int, deepest: int) -> None:
    found = await ask("get_subtree", root_id="REQ-p00001", depth=depth, format="flat")
    assert max(node["depth"] for node in found["nodes"]) == deepest


# Verifies: REQ-d00062-B
async def test_o00067_C_kinds_are_filtered(ask: Ask) -> None:
    usual = await ask("get_subtree", root_id="REQ-d00001", format="flat")
    assert {node["kind"] for node in usual["nodes"]} == {"requirement", "assertion"}
    named = await ask("get_subtree", root_id="REQ-d00001", include_kinds="code,test", format="flat")
    assert {node["kind"] for node in named["nodes"]} == {"requirement", "code", "test"}


# Verifies: REQ-d00062-C
async def test_o00067_D_three_formats(ask: Ask) -> None:
    for shape, field in (("markdown", "content"), ("flat", "nodes"), ("nested", "tree")):
        found = await ask("get_subtree", root_id="REQ-p00001", format=shape)
        assert found["format"] == shape
        assert found[field]
    assert (await ask("get_subtree", root_id="REQ-p00001", format="xml"))["code"] == "invalid_argument"


# Verifies: REQ-d00062-A
async def test_o00067_E_a_node_with_two_parents_stands_there_once(ask: Ask) -> None:
    found = await ask("get_subtree", root_id="REQ-p00001", format="flat")
    assert ids(found["nodes"]).count("REQ-d00001") == 1
    up = {edge["target"] for edge in found["edges"] if edge["source"] == "REQ-d00001"}
    assert up == {"REQ-o00001", "REQ-o00002"}


# Verifies: REQ-d00062-C
async def test_o00067_F_requirements_carry_their_coverage(ask: Ask) -> None:
    found = await ask("get_subtree", root_id="REQ-d00001", format="flat")
    assert found["nodes"][0]["coverage"] == {"total": 3, "covered": 2, "pct": 66.7, "implemented": 1}


# REQ-o00068: MCP Cursor Protocol


# Verifies: REQ-d00063-A
async def test_o00068_A_opening_returns_the_first_item_with_metadata(ask: Ask) -> None:
    opened = await ask("open_cursor", query="subtree", params={"root_id": "REQ-p00001"}, batch_size=0)
    assert opened["current"]["id"] == "REQ-p00001"
    assert (opened["query"], opened["batch_size"], opened["total"], opened["remaining"]) == ("subtree", 0, 4, 3)


# Verifies: REQ-d00063-A
async def test_o00068_B_next_returns_count_items_and_advances(ask: Ask) -> None:
    await ask("open_cursor", query="subtree", params={"root_id": "REQ-p00001"}, batch_size=0)
    assert len((await ask("cursor_next", count=2))["items"]) == 2
    assert (await ask("cursor_next", count=2))["position"] == 4


# Verifies: REQ-d00063-A
async def test_o00068_C_info_does_not_advance(ask: Ask) -> None:
    await ask("open_cursor", query="subtree", params={"root_id": "REQ-p00001"}, batch_size=0)
    for _ in range(2):
        info = await ask("cursor_info")
        assert (info["position"], info["total"], info["remaining"]) == (1, 4, 3)


# Verifies: REQ-d00063-D
async def test_o00068_D_opening_closes_the_previous_cursor(ask: Ask) -> None:
    await ask("open_cursor", query="subtree", params={"root_id": "REQ-p00001"})
    await ask("open_cursor", query="hierarchy", params={"req_id": "REQ-d00001"})
    assert (await ask("cursor_info"))["query"] == "hierarchy"


# Verifies: REQ-d00063-C
async def test_o00068_E_batch_sizes(ask: Ask) -> None:
    async def second(batch_size: int) -> dict[str, Any]:
        await ask("open_cursor", query="subtree", params={"root_id": "REQ-o00001"}, batch_size=batch_size)
        (item,) = (await ask("cursor_next"))["items"]
        return dict(item)

    alone = await second(-1)
    assert (alone["kind"], alone["id"], alone["text"]) == (
        "assertion",
        "REQ-o00001-A",
        "Hands SHALL move with the hour.",
    )
    inline = await second(0)
    assert (inline["id"], ids(inline["assertions"])) == (
        "REQ-d00001",
        ["REQ-d00001-A", "REQ-d00001-B", "REQ-d00001-C"],
    )
    assert "children" not in inline
    opened = await ask("open_cursor", query="subtree", params={"root_id": "REQ-o00001"}, batch_size=1)
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
async def test_o00068_F_seven_query_types(ask: Ask, query: str, params: dict[str, Any], total: int) -> None:
    opened = await ask("open_cursor", query=query, params=params, batch_size=0)
    assert (opened["is_error"], opened["total"]) == (False, total)


# REQ-d00075: Subtree Extraction Implementation


# Verifies: REQ-d00062-A, REQ-o00024-C
async def test_d00075_A_levels_are_counted_by_the_shortest_way_and_circles_end(ask: Ask, project: Project) -> None:
    spec = project.config.root / "spec" / "clock.md"
    below_its_grandchild = "**Level**: PRD | **Status**: Active | **Implements**: REQ-d00001"
    spec.write_text(SPEC.replace("**Level**: PRD | **Status**: Active", below_its_grandchild, 1), encoding="utf-8")
    found = await ask("get_subtree", root_id="REQ-o00001", include_kinds="requirement", format="flat")
    assert {node["id"]: node["depth"] for node in found["nodes"]} == {
        "REQ-o00001": 0,
        "REQ-d00001": 1,
        "REQ-p00001": 2,
        "REQ-o00002": 3,
    }


# Verifies: REQ-o00024-D
async def test_d00075_B_coverage_is_that_of_the_coverage_tools(ask: Ask) -> None:
    coverage = (await ask("get_subtree", root_id="REQ-d00001", format="flat"))["nodes"][0]["coverage"]
    tests = await ask("get_test_coverage", req_id="REQ-d00001")
    assert (coverage["total"], coverage["covered"], coverage["pct"]) == (
        tests["total_assertions"],
        tests["covered_count"],
        tests["coverage_pct"],
    )


# Verifies: REQ-d00062-C
async def test_d00075_C_markdown_has_indented_headings_bullets_and_figures(ask: Ask) -> None:
    lines = (await ask("get_subtree", root_id="REQ-p00001"))["content"].splitlines()
    assert lines[0] == "# REQ-p00001: Keeping time (prd, Active) [Implemented 1/2, Tested 0/2]"
    assert "- **A**: The clock SHALL show the hour." in lines
    assert "    ### REQ-d00001: Moving hands (dev, Active) [Implemented 1/3, Tested 2/3]" in lines
    assert "    - **C**: Neither hand SHALL move back." in lines


# Verifies: REQ-d00062-C
async def test_d00075_D_flat_has_root_nodes_edges_and_stats(ask: Ask) -> None:
    found = await ask("get_subtree", root_id="REQ-o00001", format="flat")
    assert found["root_id"] == "REQ-o00001"
    assert len(found["nodes"]) == found["stats"]["total_nodes"] == 6
    assert found["stats"] == {"total_nodes": 6, "requirements": 2, "assertions": 4}
    assert {"source": "REQ-d00001", "target": "REQ-o00001", "kind": "implements"} in found["edges"]


# Verifies: REQ-d00062-C
async def test_d00075_E_nested_has_children_all_the_way_down(ask: Ask) -> None:
    tree = (await ask("get_subtree", root_id="REQ-p00001", format="nested"))["tree"]
    assert ids(tree["children"]) == ["REQ-p00001-A", "REQ-p00001-B", "REQ-o00001", "REQ-o00002"]
    assert len(all_nodes(tree)) == 11


# Verifies: REQ-d00062-B
async def test_d00075_F_defaults_for_requirements_and_journeys(ask: Ask) -> None:
    requirement = await ask("get_subtree", root_id="REQ-d00001", format="flat")
    assert {node["kind"] for node in requirement["nodes"]} == {"requirement", "assertion"}
    journey = await ask("get_subtree", root_id="JNY-Reader-01", format="flat")
    assert [node["kind"] for node in journey["nodes"]] == ["journey"]


# Verifies: REQ-d00062-A
async def test_d00075_G_the_graph_is_not_modified(ask: Ask, project: Project) -> None:
    project.ensure_graph()
    before, state = project.graph.memory.snapshot(), project.graph.state.fingerprint
    for shape in ("markdown", "flat", "nested"):
        await ask("get_subtree", root_id="REQ-p00001", format=shape, include_kinds="requirement,test,code")
    assert project.graph.memory.snapshot() == before
    assert project.graph.state.fingerprint == state


# REQ-d00076: Cursor Protocol Implementation


# Verifies: REQ-d00063-A
async def test_d00076_A_a_cursor_keeps_query_params_batch_size_items_and_position(ask: Ask, project: Project) -> None:
    opened = await ask("open_cursor", query="subtree", params={"root_id": "REQ-p00001"}, batch_size=-1)
    state = project.trace.cursors.current("", opened["cursor_id"])
    assert (state.query, state.params, state.batch_size) == ("subtree", {"root_id": "REQ-p00001"}, -1)
    assert (len(state.items), state.position) == (11, 1)


# Verifies: REQ-d00063-B
async def test_d00076_B_items_are_those_of_the_query_tools(ask: Ask) -> None:
    await ask("open_cursor", query="search", params={"query": "hour"}, batch_size=0)
    rest = ids((await ask("cursor_next", count=50))["items"])
    direct = ids((await ask("search", query="hour"))["results"])
    assert rest == direct[1:]
    opened = await ask("open_cursor", query="uncovered_assertions", params={}, batch_size=-1)
    rest = ids((await ask("cursor_next", count=50))["items"])
    direct = ids((await ask("get_uncovered_assertions"))["assertions"])
    assert [opened["current"]["id"], *rest] == direct


# Verifies: REQ-d00063-D
async def test_d00076_C_there_is_one_cursor_and_the_previous_is_discarded(ask: Ask) -> None:
    first = await ask("open_cursor", query="subtree", params={"root_id": "REQ-p00001"})
    second = await ask("open_cursor", query="subtree", params={"root_id": "REQ-o00001"})
    assert (await ask("cursor_info", cursor_id=first["cursor_id"]))["code"] == "invalid_cursor"
    assert (await ask("cursor_info"))["cursor_id"] == second["cursor_id"]


# Verifies: REQ-d00063-A
async def test_d00076_D_opening_returns_item_total_and_metadata(ask: Ask) -> None:
    opened = await ask("open_cursor", query="hierarchy", params={"req_id": "REQ-o00001"}, batch_size=0)
    assert (opened["total"], opened["query"], opened["params"]) == (3, "hierarchy", {"req_id": "REQ-o00001"})
    assert opened["current"]["section"] == "ancestor"


# Verifies: REQ-d00063-A
async def test_d00076_E_next_returns_a_slice_and_an_empty_list_at_the_end(ask: Ask) -> None:
    await ask("open_cursor", query="query_nodes", params={"kind": "requirement"}, batch_size=0)
    assert ids((await ask("cursor_next", count=2))["items"]) == ["REQ-d00002", "REQ-o00001"]
    assert ids((await ask("cursor_next", count=9))["items"]) == ["REQ-o00002", "REQ-p00001"]
    end = await ask("cursor_next", count=9)
    assert (end["items"], end["position"], end["remaining"]) == ([], 5, 0)


# Verifies: REQ-d00063-A
async def test_d00076_F_info_has_exactly_the_state(ask: Ask) -> None:
    await ask("open_cursor", query="query_nodes", params={"kind": "requirement"}, batch_size=1)
    info = await ask("cursor_info")
    assert {name: info[name] for name in ("position", "total", "remaining", "query", "batch_size")} == {
        "position": 1,
        "total": 5,
        "remaining": 4,
        "query": "query_nodes",
        "batch_size": 1,
    }


# Verifies: REQ-d00063-C
async def test_d00076_G_items_are_written_like_those_of_the_other_tools(ask: Ask) -> None:
    opened = await ask("open_cursor", query="search", params={"query": "REQ-d00001", "field": "id"}, batch_size=0)
    item = opened["current"]
    (summary,) = (await ask("search", query="REQ-d00001", field="id"))["results"]
    assert {name: item[name] for name in summary} == summary
    detail = await ask("get_requirement", req_id="REQ-d00001")
    assert item["assertions"] == [
        {name: each[name] for name in ("id", "label", "text")} for each in detail["assertions"]
    ]


# REQ-o00069: MCP Minimize Requirement Set Tool


# Verifies: REQ-d00064-A
async def test_o00069_A_takes_ids_and_edge_kinds(ask: Ask) -> None:
    given = ["REQ-p00001", "REQ-o00002"]
    usual = await ask("minimize_requirement_set", req_ids=given)
    named = await ask("minimize_requirement_set", req_ids=given, edge_kinds="implements,refines")
    assert usual == named
    only = await ask("minimize_requirement_set", req_ids=given, edge_kinds="implements")
    assert ids(only["minimal_set"]) == given


# Verifies: REQ-d00064-A
async def test_o00069_B_no_member_of_the_minimal_set_is_an_ancestor_of_another_input(ask: Ask) -> None:
    given = ["REQ-p00001", "REQ-o00001", "REQ-o00002", "REQ-d00001", "REQ-d00002"]
    found = await ask("minimize_requirement_set", req_ids=given)
    assert ids(found["minimal_set"]) == ["REQ-d00001", "REQ-d00002"]


# Verifies: REQ-d00064-A
async def test_o00069_C_pruned_ones_say_what_supersedes_them(ask: Ask) -> None:
    found = await ask("minimize_requirement_set", req_ids=["REQ-p00001", "REQ-o00001", "REQ-d00001"])
    assert {each["id"]: each["superseded_by"] for each in found["pruned"]} == {
        "REQ-p00001": ["REQ-o00001", "REQ-d00001"],
        "REQ-o00001": ["REQ-d00001"],
    }


# Verifies: REQ-d00064-B
async def test_o00069_D_unknown_ids_are_reported_without_failing(ask: Ask) -> None:
    found = await ask("minimize_requirement_set", req_ids=["REQ-d00001", "REQ-d00777"])
    assert (found["is_error"], found["not_found"], ids(found["minimal_set"])) == (False, ["REQ-d00777"], ["REQ-d00001"])


# Verifies: REQ-d00064-A
@pytest.mark.parametrize(
    ("kinds", "superseding"),
    [("implements", ["REQ-o00001"]), ("refines", ["REQ-o00002"]), ("implements,refines", ["REQ-o00001", "REQ-o00002"])],
)
async def test_o00069_E_implements_and_refines_are_followed_as_configured(
    ask: Ask, kinds: str, superseding: list[str]
) -> None:
    given = ["REQ-p00001", "REQ-o00001", "REQ-o00002"]
    (pruned,) = (await ask("minimize_requirement_set", req_ids=given, edge_kinds=kinds))["pruned"]
    assert (pruned["id"], pruned["superseded_by"]) == ("REQ-p00001", superseding)


# REQ-d00077: Minimize Requirement Set Implementation


# Verifies: REQ-d00064-B
async def test_d00077_A_ids_are_resolved_and_the_others_set_apart(ask: Ask) -> None:
    found = await ask("minimize_requirement_set", req_ids=["d1", "REQ-d00001-A", "x", "JNY-Reader-01"])
    assert ids(found["minimal_set"]) == ["REQ-d00001"]
    assert found["not_found"] == ["x", "JNY-Reader-01"]


# Verifies: REQ-d00064-A
async def test_d00077_B_ancestors_over_several_steps_count(ask: Ask) -> None:
    found = await ask("minimize_requirement_set", req_ids=["REQ-p00001", "REQ-d00001"])
    assert ids(found["pruned"]) == ["REQ-p00001"], "the requirement between them is not in the set"


# Verifies: REQ-d00064-A
async def test_d00077_C_an_ancestor_of_a_member_is_pruned_and_a_descendant_is_not(ask: Ask) -> None:
    found = await ask("minimize_requirement_set", req_ids=["REQ-d00001", "REQ-o00002"])
    assert (ids(found["minimal_set"]), ids(found["pruned"])) == (["REQ-d00001"], ["REQ-o00002"])


# Verifies: REQ-d00064-A
async def test_d00077_D_several_members_may_supersede_one(ask: Ask) -> None:
    found = await ask("minimize_requirement_set", req_ids=["REQ-p00001", "REQ-o00001", "REQ-o00002"])
    assert found["pruned"][0]["superseded_by"] == ["REQ-o00001", "REQ-o00002"]


# Verifies: REQ-d00064-A
async def test_d00077_E_minimal_set_pruned_not_found_and_stats(ask: Ask) -> None:
    found = await ask("minimize_requirement_set", req_ids=["REQ-p00001", "REQ-o00001", "x"])
    assert found["minimal_set"] == [
        {"id": "REQ-o00001", "title": "Showing the hour", "level": "ops", "status": "Active"}
    ]
    assert found["stats"] == {"input_count": 2, "minimal_count": 1, "pruned_count": 1}
    assert found["not_found"] == ["x"]


def logic_of(module: Any) -> set[str]:
    """What a module of tools reaches of the graph by itself, other than through the services."""
    touched: set[str] = set()
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Attribute) and node.attr in {"get_node", "nodes_by_kind", "memory", "iter_children"}:
            touched.add(node.attr)
        if isinstance(node, ast.Attribute) and node.attr.startswith(("iter_", "put_", "remove_")):
            touched.add(node.attr)
    return touched


# Verifies: REQ-o00007-B
async def test_d00077_F_the_tool_only_delegates(ask: Ask) -> None:
    assert logic_of(trace_find) == set()
    found = await ask("minimize_requirement_set", req_ids=["REQ-p00001"], edge_kinds="nonsense")
    assert found["code"] == "invalid_argument"


# REQ-o00070: MCP Scoped Search Tool


# Verifies: REQ-d00064-C
async def test_o00070_A_query_scope_and_direction(ask: Ask) -> None:
    below = await ask("scoped_search", query="hour", scope_id="REQ-o00001", direction="descendants")
    above = await ask("scoped_search", query="hour", scope_id="REQ-o00001", direction="ancestors")
    assert set(ids(below["results"])) == {"REQ-o00001", "REQ-d00001"}
    assert set(ids(above["results"])) == {"REQ-o00001", "REQ-p00001"}
    parameters = {
        "query": "h.u",
        "scope_id": "REQ-o00001",
        "direction": "descendants",
        "field": "title",
        "regex": True,
        "include_assertions": False,
        "limit": 5,
    }
    assert ids((await ask("scoped_search", **parameters))["results"]) == ["REQ-o00001"]


# Verifies: REQ-d00064-C
async def test_o00070_B_results_are_reachable_and_include_the_scope(ask: Ask) -> None:
    found = await ask("scoped_search", query="REQ", field="id", scope_id="REQ-o00002")
    assert ids(found["results"]) == ["REQ-d00001", "REQ-o00002"]


# Verifies: REQ-d00064-D
async def test_o00070_C_assertions_match_and_are_named(ask: Ask) -> None:
    without = await ask("scoped_search", query="bells", field="title", scope_id="REQ-p00001")
    found = await ask("scoped_search", query="bells", field="title", scope_id="REQ-p00001", include_assertions=True)
    assert without["results"] == []
    assert [(each["id"], ids(each["matched_assertions"])) for each in found["results"]] == [
        ("REQ-o00002", ["REQ-o00002-A"])
    ]


# Verifies: REQ-o00024-B
async def test_o00070_D_an_unknown_scope_is_an_error(ask: Ask) -> None:
    found = await ask("scoped_search", query="hour", scope_id="REQ-p00099")
    assert (found["is_error"], found["code"]) == (True, "not_found")
    assert "REQ-p00099" in found["error"]


# Verifies: REQ-d00064-C
@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "hour -bells"},
        {"query": "hands OR bells"},
        {"query": '"the hour"', "field": "body"},
        {"query": "^The", "regex": True, "field": "body"},
        {"query": "hand", "field": "title"},
        {"query": "hand", "field": "keywords"},
    ],
)
async def test_o00070_E_matching_is_that_of_search(ask: Ask, arguments: dict[str, Any]) -> None:
    everywhere = await ask("search", **arguments)
    within = await ask("scoped_search", **arguments, scope_id="REQ-p00001")
    inside = {"REQ-p00001", "REQ-o00001", "REQ-o00002", "REQ-d00001"}
    assert ids(within["results"]) == [id for id in ids(everywhere["results"]) if id in inside]


# REQ-d00078: Scoped Search Implementation


# Verifies: REQ-d00064-C
async def test_d00078_A_descendants_and_ancestors_over_all_steps(ask: Ask) -> None:
    below = await ask("scoped_search", query="REQ", field="id", scope_id="REQ-p00001")
    assert len(below["results"]) == 4
    above = await ask("scoped_search", query="REQ", field="id", scope_id="REQ-d00001", direction="ancestors")
    assert set(ids(above["results"])) == {"REQ-d00001", "REQ-o00001", "REQ-o00002", "REQ-p00001"}


# Verifies: REQ-o00024-C
async def test_d00078_B_the_scope_includes_itself_and_circles_end(ask: Ask, project: Project) -> None:
    spec = project.config.root / "spec" / "clock.md"
    circle = "**Level**: PRD | **Status**: Active | **Implements**: REQ-d00001"
    spec.write_text(SPEC.replace("**Level**: PRD | **Status**: Active", circle, 1), encoding="utf-8")
    for direction in ("descendants", "ancestors"):
        found = await ask("scoped_search", query="REQ", field="id", scope_id="REQ-d00001", direction=direction)
        assert sorted(ids(found["results"])) == ["REQ-d00001", "REQ-o00001", "REQ-o00002", "REQ-p00001"]


# Verifies: REQ-d00064-C
async def test_d00078_C_only_requirements_of_the_scope_are_found(ask: Ask) -> None:
    found = await ask("scoped_search", query="oiling OR hands", scope_id="REQ-p00001")
    assert "REQ-d00002" not in ids(found["results"])
    assert all(id.startswith("REQ-") and id.count("-") == 1 for id in ids(found["results"]))


# Verifies: REQ-d00064-D
async def test_d00078_D_matched_assertions_are_attached_to_their_requirement(ask: Ask) -> None:
    found = await ask("scoped_search", query="move", scope_id="REQ-o00001", include_assertions=True)
    matched = {each["id"]: [one["label"] for one in each["matched_assertions"]] for each in found["results"]}
    assert matched == {"REQ-o00001": ["A"], "REQ-d00001": ["A", "B", "C"]}


# Verifies: REQ-d00064-C
async def test_d00078_E_results_are_those_of_search_with_scope_and_direction(ask: Ask) -> None:
    found = await ask("scoped_search", query="hands", field="title", scope_id="REQ-p00001")
    plain = await ask("search", query="hands", field="title")
    assert found["results"] == plain["results"]
    assert (found["scope_id"], found["direction"]) == ("REQ-p00001", "descendants")


# Verifies: REQ-o00007-B
async def test_d00078_F_the_tool_only_delegates(ask: Ask) -> None:
    assert logic_of(trace_find) == logic_of(trace_cursor) == set()
    found = await ask("scoped_search", query="hour", scope_id="REQ-p00001", direction="sideways")
    assert found["code"] == "invalid_argument"


# REQ-o00071: MCP Discover Requirements Tool


# Verifies: REQ-d00064-E
async def test_o00071_A_takes_scoped_search_parameters_and_edge_kinds(ask: Ask) -> None:
    found = await ask(
        "discover_requirements",
        query="h.ur",
        scope_id="REQ-d00001",
        direction="ancestors",
        field="body",
        regex=True,
        include_assertions=True,
        limit=10,
        edge_kinds="implements",
    )
    assert ids(found["results"]) == ["REQ-d00001"]


# Verifies: REQ-d00064-E
async def test_o00071_B_ancestors_of_more_specific_matches_go(ask: Ask) -> None:
    found = await ask("discover_requirements", query="hour", scope_id="REQ-p00001")
    assert ids(found["results"]) == ["REQ-d00001"]


# Verifies: REQ-d00064-E
async def test_o00071_C_pruned_matches_say_what_supersedes_them(ask: Ask) -> None:
    found = await ask("discover_requirements", query="hour", scope_id="REQ-p00001")
    assert {each["id"]: each["superseded_by"][-1] for each in found["pruned"]} == {
        "REQ-p00001": "REQ-d00001",
        "REQ-o00001": "REQ-d00001",
        "REQ-o00002": "REQ-d00001",
    }
    assert set(found["results"][0]) == {"id", "title", "level", "status", "score"}


# Verifies: REQ-d00064-E
async def test_o00071_D_without_ancestors_among_them_all_matches_pass(ask: Ask) -> None:
    arguments = {"query": "showing OR chiming", "field": "title", "scope_id": "REQ-p00001"}
    found = await ask("discover_requirements", **arguments)
    assert found["results"] == (await ask("scoped_search", **arguments))["results"]
    assert (len(found["results"]), found["pruned"]) == (2, [])


# REQ-d00079: Discover Requirements Implementation


# Verifies: REQ-d00064-E
async def test_d00079_A_it_is_scoped_search_and_then_minimize(ask: Ask) -> None:
    candidates = await ask("scoped_search", query="hour", scope_id="REQ-p00001")
    minimal = await ask("minimize_requirement_set", req_ids=ids(candidates["results"]))
    found = await ask("discover_requirements", query="hour", scope_id="REQ-p00001")
    assert ids(found["results"]) == ids(minimal["minimal_set"])
    assert found["pruned"] == minimal["pruned"]


# Verifies: REQ-d00064-E
async def test_d00079_B_results_pruned_and_stats(ask: Ask) -> None:
    found = await ask("discover_requirements", query="hour", scope_id="REQ-p00001")
    assert found["stats"] == {"candidate_count": 4, "minimal_count": 1, "pruned_count": 3}
    assert (len(found["results"]), len(found["pruned"])) == (1, 3)


# Verifies: REQ-d00064-D+E
async def test_d00079_C_matched_assertions_are_kept(ask: Ask) -> None:
    found = await ask("discover_requirements", query="hour", scope_id="REQ-p00001", include_assertions=True)
    assert ids(found["results"][0]["matched_assertions"]) == ["REQ-d00001-A"]


# Verifies: REQ-o00007-B
async def test_d00079_D_the_tool_only_delegates(ask: Ask) -> None:
    assert logic_of(trace_find) == set()
    found = await ask("discover_requirements", query="hour", scope_id="REQ-p00001", edge_kinds="implements, nonsense")
    assert found["code"] == "invalid_argument"
