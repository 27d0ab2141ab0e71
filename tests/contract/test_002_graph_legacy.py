"""The ten older graph tools: their exact signatures, defaults, clamps, orders and shapes."""

import base64
from collections.abc import Callable
from typing import Any

import pytest
from tests.mcp_client import Options, estimate_tokens, list_tools

Make = Callable[..., Any]

ENVELOPE = {"session_id", "partial", "limit_reason", "meta"}
SIGNATURES: dict[str, dict[str, Any]] = {
    "describe_nodes": {"node_ids": ..., "fields": None, "session_id": None},
    "expand_neighbors": {
        "node_ids": ...,
        "rel_types": None,
        "direction": "both",
        "max_hops": 1,
        "include_snippet": False,
        "cursor": None,
        "page_size": 25,
        "session_id": None,
    },
    "get_paths_between": {
        "a_ids": ...,
        "b_ids": ...,
        "rel_types": None,
        "max_hops": 3,
        "max_paths": 10,
        "cursor": None,
        "session_id": None,
    },
    "list_children": {"parent_id": ..., "cursor": None, "page_size": 50, "session_id": None},
    "list_parents": {"section_ids": ..., "session_id": None},
    "get_entities_for_sections": {"section_ids": ..., "labels": None, "max_per_section": 20, "session_id": None},
    "get_sections_for_entities": {"entity_ids": ..., "max_per": 20, "session_id": None},
    "traverse_relationships": {"start_ids": ..., "rel_types": None, "max_depth": 2, "include_text": False},
    "summarize_neighborhood": {"node_ids": ..., "token_budget": 400},
    "compute_context_bundle": {"seeds": ..., "strategy": "hybrid", "token_budget": 2000},
}

GUIDE = """---
doc_tag: guide
---
# Guide

See [the rest](reference.md).

## Reading

REQ-d00001 is done. Set `APP_HOME` and `--fast`.

## Steps

1. Run `app --fast`.
2. Wait.
"""
REFERENCE = "# Reference\n\n## Options\n\n`APP_HOME` again.\n\n### Deep\n\n`APP_HOME` deeper.\n"
REQUIREMENT = "## REQ-d00001: Tables\n\n**Level**: DEV | **Status**: Active\n\nText.\n\n*End* *Tables*\n"
FILES = {"spec/a.md": REQUIREMENT, "docs/guide.md": GUIDE, "docs/reference.md": REFERENCE}
READING = "doc:docs/guide.md#reading"
HOME = "entity:environment_variable:APP_HOME"


def ids(nodes: list[dict[str, Any]]) -> list[str]:
    return [node["id"] for node in nodes]


def encoded(offset: int) -> str:
    return base64.urlsafe_b64encode(str(offset).encode()).decode()


# Verifies: REQ-d00183-A
@pytest.mark.parametrize("tool", SIGNATURES)
def test_the_signature_is_the_one_that_users_have(tool: str) -> None:
    schema = list_tools(Options(profile="wekadocs"))[tool].input_schema
    given = {name: part.get("default", ...) for name, part in schema["properties"].items()}
    assert given == SIGNATURES[tool]
    assert schema["required"] == [name for name, default in SIGNATURES[tool].items() if default is ...]


# Verifies: REQ-d00183-A
def test_the_session_is_echoed_or_one_for_the_connection(kb: Make) -> None:
    call = kb(FILES)
    assert call("describe_nodes", node_ids=[READING], session_id="mine")["session_id"] == "mine"
    first, second = (call("list_parents", section_ids=[READING])["session_id"] for _ in range(2))
    assert first == second
    assert (
        first
        == call("kb.search", query="margin")["session_id"]
        == call("graph.describe", node_ids=[READING])["session_id"]
    )
    assert call.as_session("other")("list_parents", section_ids=[READING])["session_id"] != first


# Verifies: REQ-d00183-A
def test_describe_nodes_leaves_out_what_is_not_there(kb: Make) -> None:
    call = kb(FILES)
    answer = call("describe_nodes", node_ids=[READING, "nothing", HOME])
    assert set(answer) == ENVELOPE | {"results", "cursor", "next_cursor"}
    assert (answer["cursor"], answer["next_cursor"]) == (None, None)
    assert [set(node) for node in answer["results"]] == [{"id", "label", "title", "tokens", "doc_tag"}] * 2
    assert ids(answer["results"]) == [READING, HOME]
    assert set(answer["meta"]) == {"usage"}
    fields = ["id", "label", "title", "level", "tokens", "doc_tag", "anchor"]
    (node,) = call("describe_nodes", node_ids=[READING], fields=fields)["results"]
    assert list(node) == fields
    assert (node["label"], node["level"], node["anchor"], node["doc_tag"]) == ("Chunk", 2, "reading", "guide")
    assert "text" in call.error("describe_nodes", node_ids=[READING], fields=["text"])["message"]
    assert call("describe_nodes", node_ids=[])["results"] == []


# Verifies: REQ-d00183-A
def test_expand_neighbors_has_its_shape_and_its_order(kb: Make) -> None:
    call = kb(FILES)
    answer = call("expand_neighbors", node_ids=[READING])
    assert set(answer) == ENVELOPE | {"nodes", "edges", "cursor", "next_cursor", "dedupe_applied"}
    assert set(answer["nodes"][0]) == {"id", "label", "title", "level", "tokens", "doc_tag", "anchor"}
    assert set(answer["edges"][0]) == {"src", "dst", "type"}
    assert answer["dedupe_applied"] is True
    assert ids(answer["nodes"]) == sorted(ids(answer["nodes"]))
    assert (answer["partial"], answer["limit_reason"]) == (False, "none")
    empty = call("expand_neighbors", node_ids=[])
    assert set(empty) == ENVELOPE | {"nodes", "edges", "cursor", "next_cursor"}
    snippet = call("expand_neighbors", node_ids=["doc:docs/guide.md"], include_snippet=True, session_id="s")["nodes"]
    assert next(node for node in snippet if node["id"] == READING)["snippet"].startswith("## Reading")


# Verifies: REQ-d00183-A
def test_a_direction_that_is_neither_out_nor_in_is_both(kb: Make) -> None:
    call = kb(FILES)

    def around(direction: str) -> list[str]:
        arguments = {"rel_types": ["MENTIONS"], "direction": direction, "session_id": direction}
        return ids(call("expand_neighbors", node_ids=[HOME], **arguments)["nodes"])

    assert around("sideways") == around("both") == around("in") != []
    assert around("out") == []


# Verifies: REQ-d00183-B
def test_a_session_is_not_told_the_same_twice(kb: Make) -> None:
    call = kb(FILES)
    first = call("expand_neighbors", node_ids=[READING], session_id="talk")
    again = call("expand_neighbors", node_ids=[READING], session_id="talk")
    assert (again["nodes"], again["edges"]) == ([], [])
    told = len(first["nodes"]) + len(first["edges"])
    assert again["meta"]["usage"]["duplicates_suppressed"] == told
    assert first["meta"]["usage"]["duplicates_suppressed"] == 0
    assert call("expand_neighbors", node_ids=[READING], session_id="other")["nodes"] == first["nodes"]
    other = call.as_session("elsewhere")
    assert other("expand_neighbors", node_ids=[READING], session_id="talk")["nodes"] == first["nodes"]


# Verifies: REQ-d00183-B
def test_a_page_goes_on_where_the_one_before_ended_whatever_was_suppressed(kb: Make) -> None:
    call = kb(FILES)
    whole = call("expand_neighbors", node_ids=[READING], page_size=100, session_id="a")
    first = call("expand_neighbors", node_ids=[READING], page_size=3, session_id="b")
    assert first["next_cursor"] == encoded(3)
    assert (first["partial"], first["limit_reason"]) == (True, "page_size")
    repeated = call("expand_neighbors", node_ids=[READING], page_size=3, session_id="b")
    assert (repeated["nodes"], repeated["next_cursor"]) == ([], encoded(3))
    second = call("expand_neighbors", node_ids=[READING], page_size=3, cursor=encoded(3), session_id="b")
    assert second["cursor"] == encoded(3)
    assert ids(first["nodes"]) + ids(second["nodes"]) == ids(whole["nodes"])[:6]


# Verifies: REQ-d00183-A
@pytest.mark.parametrize("cursor", ["", "nonsense", "é", encoded(-5), "MjU", base64.b64encode(b"1e3").decode()])
def test_a_cursor_that_is_none_is_the_beginning(kb: Make, cursor: str) -> None:
    answer = kb(FILES)("list_children", parent_id="doc:docs/guide.md", cursor=cursor)
    assert ids(answer["children"])[0] == "doc:docs/guide.md#guide"
    assert answer["cursor"] == cursor


# Verifies: REQ-d00183-A
def test_a_cursor_behind_the_end_is_an_empty_page(kb: Make) -> None:
    call = kb(FILES)
    for offset in (1_000, 10**30):
        assert call("list_children", parent_id="doc:docs/guide.md", cursor=encoded(offset))["children"] == []
        assert call("expand_neighbors", node_ids=[READING], cursor=encoded(offset))["nodes"] == []


# Verifies: REQ-d00183-A
def test_get_paths_between_gives_the_shortest_undirected_path_of_each_pair(kb: Make) -> None:
    call = kb(FILES)
    answer = call("get_paths_between", a_ids=[HOME], b_ids=["REQ-d00001", "doc:docs/reference.md#options"])
    assert set(answer) == ENVELOPE | {"paths", "cursor", "next_cursor"}
    assert answer["paths"] == [
        {"nodes": [HOME, "doc:docs/reference.md#options"], "types": ["MENTIONS"], "length": 1},
        {"nodes": [HOME, READING, "REQ-d00001"], "types": ["MENTIONS", "MENTIONS"], "length": 2},
    ]
    first = call("get_paths_between", a_ids=[HOME], b_ids=["REQ-d00001", "doc:docs/reference.md#options"], max_paths=1)
    assert (len(first["paths"]), first["next_cursor"], first["limit_reason"]) == (1, encoded(1), "page_size")
    assert call("get_paths_between", a_ids=[], b_ids=[HOME])["paths"] == []
    assert call("get_paths_between", a_ids=[HOME], b_ids=["REQ-d00001"], max_hops=1)["paths"] == []


# Verifies: REQ-d00183-A
def test_children_and_parents_have_their_shapes(kb: Make) -> None:
    call = kb(FILES)
    children = call("list_children", parent_id="doc:docs/guide.md", page_size=2)
    assert set(children) == ENVELOPE | {"children", "cursor", "next_cursor"}
    assert [set(each) for each in children["children"]] == [{"id", "label", "title", "level"}] * 2
    assert children["next_cursor"] == encoded(2)
    parents = call("list_parents", section_ids=[READING, "nothing"])
    assert set(parents) == ENVELOPE | {"results"}
    assert parents["results"] == [
        {"section_id": READING, "parent_id": "doc:docs/guide.md#guide", "parent_title": "Guide"},
        {"section_id": READING, "parent_id": "doc:docs/guide.md", "parent_title": "Guide"},
    ]


# Verifies: REQ-d00183-A
def test_entities_and_sections_have_their_shapes(kb: Make) -> None:
    call = kb(FILES)
    answer = call("get_entities_for_sections", section_ids=[READING, "nothing"], labels=["Parameter"])
    assert set(answer) == ENVELOPE | {"results"}
    assert answer["results"] == [
        {"section_id": READING, "entities": [{"id": "entity:flag:--fast", "label": "Parameter", "name": "--fast"}]},
        {"section_id": "nothing", "entities": []},
    ]
    sections = call("get_sections_for_entities", entity_ids=["nothing", HOME])
    assert sections["results"] == [
        {
            "entity_id": HOME,
            "sections": [
                {"section_id": "doc:docs/reference.md#options", "title": "Options"},
                {"section_id": READING, "title": "Reading"},
                {"section_id": "doc:docs/reference.md#options/deep", "title": "Deep"},
            ],
        }
    ]


# Verifies: REQ-d00183-A
def test_traverse_relationships_begins_with_the_start_and_tells_the_ways(kb: Make) -> None:
    call = kb(FILES)
    answer = call("traverse_relationships", start_ids=[READING])
    assert set(answer) == {"nodes", "relationships", "paths"}
    assert answer["nodes"][0]["id"] == READING
    assert answer["nodes"][0]["distance"] == 0
    assert [node["distance"] for node in answer["nodes"]] == sorted(node["distance"] for node in answer["nodes"])
    assert set(answer["nodes"][0]) == {"id", "label", "properties", "distance"}
    assert set(answer["nodes"][0]["properties"]) == {"title", "heading", "doc_tag", "level", "tokens", "anchor"}
    assert set(answer["relationships"][0]) == {"from_id", "to_id", "type", "properties"}
    assert {each["type"] for each in answer["relationships"]} <= {"MENTIONS", "HAS_CHUNK", "CONTAINS_STEP"}
    for path in answer["paths"]:
        assert set(path) == {"nodes", "length"}
        assert (path["nodes"][0], path["length"]) == (READING, len(path["nodes"]) - 1)
    listed = [path["nodes"][-1] for path in answer["paths"]]
    assert max(listed.count(id) for id in listed) <= 3
    texts = call("traverse_relationships", start_ids=[READING], max_depth=1, include_text=True)["nodes"]
    assert texts[0]["properties"]["text"].startswith("## Reading")


# Verifies: REQ-d00183-A
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"start_ids": []}, "start_ids is required"),
        ({"start_ids": [READING], "max_depth": 0}, "at least 1"),
        ({"start_ids": [READING], "max_depth": 4}, "cannot exceed 3"),
        ({"start_ids": [READING], "max_depth": -(10**9)}, "at least 1"),
        ({"start_ids": [READING], "rel_types": ["REFERENCES"]}, "MENTIONS, HAS_CHUNK, CONTAINS_STEP"),
    ],
)
def test_what_is_wrong_with_a_traversal_is_told_as_data(kb: Make, arguments: dict[str, Any], told: str) -> None:
    answer = kb(FILES)("traverse_relationships", **arguments)
    assert set(answer) == {"error", "nodes", "relationships", "paths"}
    assert told in answer["error"]
    assert answer["nodes"] == answer["relationships"] == answer["paths"] == []


# Verifies: REQ-d00183-A
def test_a_traversal_shows_at_most_a_hundred_nodes(kb: Make) -> None:
    files = {f"docs/p{n:03}.md": f"# Page {n}\n\nSet `BIG_ONE`.\n" for n in range(120)}
    call = kb(files)
    answer = call("traverse_relationships", start_ids=["entity:environment_variable:BIG_ONE"], max_depth=3)
    assert len(answer["nodes"]) <= 100
    assert answer["truncated"] is True


# Verifies: REQ-d00183-A
def test_a_summary_is_five_lines_at_most_within_its_budget(kb: Make) -> None:
    call = kb(FILES)
    everything = ids(call("list_children", parent_id="doc:docs/reference.md")["children"])
    nodes = [READING, *everything, HOME, "REQ-d00001", "doc:docs/guide.md"]
    answer = call("summarize_neighborhood", node_ids=nodes)
    assert set(answer) == ENVELOPE | {"bullets", "citations"}
    assert answer["citations"] == nodes[:5]
    (described,) = call("describe_nodes", node_ids=[READING])["results"]
    assert answer["bullets"][0] == f"Reading — Chunk (≈{described['tokens']} tokens)"
    small = call("summarize_neighborhood", node_ids=nodes, token_budget=30)
    assert 0 < len(small["bullets"]) < 5
    assert estimate_tokens("".join([*small["bullets"], *small["citations"]])) <= 30
    assert (small["partial"], small["limit_reason"]) == (True, "token_cap")
    assert call.error("summarize_neighborhood", node_ids=nodes, token_budget=0)["code"] == "INVALID_ARGUMENT"


# Verifies: REQ-d00183-A
def test_a_bundle_has_nodes_and_texts_within_its_budget(kb: Make) -> None:
    long = "# Long\n\n" + "The margin under the keel is wanted. " * 60
    call = kb({**FILES, "docs/long.md": long})
    seeds = [READING, "doc:docs/long.md#long", HOME, "nothing"]
    answer = call("compute_context_bundle", seeds=seeds, strategy="anything")
    assert set(answer) == ENVELOPE | {"bundle", "usage"}
    assert set(answer["usage"]) == {"tokens", "bytes"}
    bundle = answer["bundle"]
    assert bundle["strategy"] == "anything"
    assert ids(bundle["nodes"]) == [READING, "doc:docs/long.md#long", HOME]
    shape = {"section_id", "title", "doc_tag", "text_truncated", "bytes", "truncated", "source_blob_id"}
    assert [set(each) for each in bundle["snippets"]] == [shape] * 2
    for budget in (60, 200, 400, 10**9):
        small = call("compute_context_bundle", seeds=seeds, token_budget=budget)
        assert small["usage"]["tokens"] <= budget + 20
        assert small["partial"] is (budget < 500)
    assert call.error("compute_context_bundle", seeds=seeds, token_budget=-1)["code"] == "INVALID_ARGUMENT"


# Verifies: REQ-d00183-C
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("expand_neighbors", {"node_ids": [READING], "max_hops": 0}),
        ("expand_neighbors", {"node_ids": [READING], "page_size": -1}),
        ("expand_neighbors", {"node_ids": [READING], "rel_types": ["KNOWS"]}),
        ("expand_neighbors", {"node_ids": [READING], "scope": {}}),
        ("get_paths_between", {"a_ids": [READING], "b_ids": [HOME], "max_hops": -1}),
        ("get_paths_between", {"a_ids": [READING], "b_ids": [HOME], "max_paths": 0}),
        ("get_paths_between", {"a_ids": [READING], "b_ids": [HOME], "rel_types": ["KNOWS"]}),
        ("list_children", {"parent_id": READING, "page_size": -3}),
        ("get_entities_for_sections", {"section_ids": [READING], "max_per_section": 0}),
        ("get_sections_for_entities", {"entity_ids": [HOME], "max_per": -1}),
        ("describe_nodes", {"node_ids": "one"}),
    ],
)
def test_bad_input_is_refused(kb: Make, tool: str, arguments: dict[str, Any]) -> None:
    error = kb(FILES).error(tool, **arguments)
    assert error["code"] == "INVALID_ARGUMENT"
    assert error["details"]["hint"]


# Verifies: REQ-d00183-C
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("expand_neighbors", {"node_ids": [READING], "max_hops": 10**9, "page_size": 10**9}),
        ("expand_neighbors", {"node_ids": [READING], "page_size": 0}),
        ("get_paths_between", {"a_ids": [READING], "b_ids": [HOME], "max_hops": 10**9, "max_paths": 10**9}),
        ("list_children", {"parent_id": "doc:docs/guide.md", "page_size": 10**9}),
        ("get_entities_for_sections", {"section_ids": [READING], "max_per_section": 10**9}),
        ("get_sections_for_entities", {"entity_ids": [HOME], "max_per": 10**9}),
    ],
)
def test_huge_numbers_are_lowered_in_silence(kb: Make, tool: str, arguments: dict[str, Any]) -> None:
    answer = kb(FILES)(tool, **arguments)
    assert set(answer) >= ENVELOPE
    assert "notes" not in answer


# Verifies: REQ-d00183-C
@pytest.mark.parametrize(
    ("tool", "arguments", "key"),
    [
        ("describe_nodes", {"node_ids": [READING]}, "nodes"),
        ("expand_neighbors", {"node_ids": [READING]}, "neighbors"),
        ("get_paths_between", {"a_ids": [READING], "b_ids": [HOME]}, "paths"),
        ("list_children", {"parent_id": READING}, "children"),
        ("list_parents", {"section_ids": [READING]}, "parents"),
        ("get_entities_for_sections", {"section_ids": [READING]}, "entities"),
        ("get_sections_for_entities", {"entity_ids": [HOME]}, "sections"),
    ],
)
def test_a_graph_that_is_switched_off_is_told_as_data(kb: Make, tool: str, arguments: dict[str, Any], key: str) -> None:
    answer = kb(FILES, config="[kb]\ngraph = false\n")(tool, **arguments)
    assert set(answer) == {"error", "neo4j_disabled", key}
    assert (answer["neo4j_disabled"], answer[key]) == (True, [])
    off = kb(FILES, config="[kb]\ngraph = false\n")("traverse_relationships", start_ids=[READING])
    assert set(off) == {"error", "neo4j_disabled", "nodes", "relationships", "paths"}
