"""graph.*: bad input, budgets, scope and what is switched off."""

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.graph_documents import ARGUMENTS, FILES, HOME, READING, SEVEN, Make, hub, ids
from tests.mcp_client import estimate_tokens
from tests.properties import examples


# Verifies: REQ-d00182-C
@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("graph.expand", {"node_ids": [READING], "max_hops": 0}, "max_hops"),
        ("graph.expand", {"node_ids": [READING], "page_size": -1}, "page_size"),
        ("graph.expand", {"node_ids": [READING], "direction": "up"}, "direction"),
        ("graph.expand", {"node_ids": [READING], "rel_types": ["KNOWS"]}, "KNOWS"),
        ("graph.expand", {"node_ids": ["x"] * 101}, "node_ids"),
        ("graph.expand", {"node_ids": READING}, "node_ids"),
        ("graph.expand", {}, "node_ids"),
        ("graph.paths", {"a_ids": [READING], "b_ids": [READING], "max_hops": -5}, "max_hops"),
        ("graph.paths", {"a_ids": [READING], "b_ids": [READING], "max_paths": 0}, "max_paths"),
        ("graph.paths", {"a_ids": [READING], "b_ids": [READING], "rel_types": ["mentions"]}, "mentions"),
        ("graph.paths", {"a_ids": ["x"] * 26, "b_ids": [READING]}, "a_ids"),
        ("graph.children", {"parent_id": READING, "page_size": 0}, "page_size"),
        ("graph.children", {"parent_id": 7}, "parent_id"),
        ("graph.entities_for_sections", {"section_ids": [READING], "max_per_section": -1}, "max_per_section"),
        ("graph.sections_for_entities", {"entity_ids": [HOME], "max_per": 0}, "max_per"),
        ("graph.describe", {"node_ids": [READING], "colour": "red"}, "colour"),
    ],
)
def test_bad_input_is_refused_with_its_name(kb: Make, tool: str, arguments: dict[str, Any], field: str) -> None:
    error = kb(FILES).error(tool, **arguments)
    assert error["code"] == "INVALID_ARGUMENT"
    assert field in error["message"]
    assert error["details"]["hint"]


# Verifies: REQ-d00182-C
def test_unknown_relationship_types_are_told_the_allowed_ones(kb: Make) -> None:
    error = kb(FILES).error("graph.expand", node_ids=[READING], rel_types=["MENTIONS", "LOVES"])
    assert error["details"]["unknown"] == ["LOVES"]
    assert {"PARENT_OF", "HAS_CHUNK", "SUPPORTED_BY", "IMPLEMENTS"} <= set(error["details"]["allowed"])


# Verifies: REQ-d00182-C
@pytest.mark.parametrize(
    ("tool", "argument", "limit"),
    [
        ("graph.expand", "page_size", 100),
        ("graph.expand", "max_hops", 3),
        ("graph.paths", "max_hops", 5),
        ("graph.paths", "max_paths", 50),
        ("graph.children", "page_size", 100),
        ("graph.entities_for_sections", "max_per_section", 100),
        ("graph.sections_for_entities", "max_per", 100),
    ],
)
def test_huge_numbers_are_lowered_and_that_is_said(kb: Make, tool: str, argument: str, limit: int) -> None:
    answer = kb(FILES)(tool, **{**ARGUMENTS[tool], argument: 10**12})
    assert f"{argument} {10**12} was lowered to {limit}." in answer["notes"]


# Verifies: REQ-d00182-C
@pytest.mark.parametrize("odd", ["", "doc:", "entity:", "file:../../etc/passwd", "x" * 5_000, "a\x00b", "\ud800"])
@pytest.mark.parametrize("tool", SEVEN)
def test_ids_that_nothing_has_are_named_and_nothing_else_happens(kb: Make, tool: str, odd: str) -> None:
    key = next(iter(ARGUMENTS[tool]))
    given: Any = odd if key == "parent_id" else [odd]
    arguments = {**ARGUMENTS[tool], key: given}
    answer = kb(FILES)(tool, **arguments)
    assert answer["meta"]["missing_ids"] == [odd[:200].replace("\ud800", "?")]


# Verifies: REQ-d00182-B
def test_no_answer_takes_more_than_its_budget_and_what_is_cut_can_be_had(kb: Make) -> None:
    call = kb(hub(120))
    seen: list[str] = []
    cursor = None
    while True:
        answer = call.answer(
            "graph.expand", node_ids=["entity:environment_variable:BIG_ONE"], page_size=100, cursor=cursor
        )
        size = estimate_tokens(answer.text) + estimate_tokens(str(answer.data))
        assert size < 8_000
        seen += ids(answer.data["nodes"])
        cursor = answer.data["next_cursor"]
        if cursor is None:
            break
        assert (answer.data["partial"], answer.data["limit_reason"]) == (True, "token_cap")
    assert len(seen) == len(set(seen)) == 120


# Verifies: REQ-d00181-C
def test_a_node_that_everything_mentions_is_not_walked_through_in_silence(kb: Make) -> None:
    call = kb(hub(130))
    answer = call(
        "graph.expand", node_ids=["doc:docs/p000.md#page-0"], rel_types=["MENTIONS"], max_hops=2, page_size=100
    )
    pages = [answer]
    while pages[-1]["next_cursor"]:
        arguments = {"rel_types": ["MENTIONS"], "max_hops": 2, "page_size": 100, "cursor": pages[-1]["next_cursor"]}
        pages.append(call("graph.expand", node_ids=["doc:docs/p000.md#page-0"], **arguments))
    assert pages[-1]["meta"]["hubs"] == ["entity:environment_variable:BIG_ONE"]
    assert pages[-1]["partial"] is True
    (row,) = call("graph.sections_for_entities", entity_ids=["entity:environment_variable:BIG_ONE"], max_per=100)[
        "results"
    ]
    assert len(row["sections"]) == 100


# Verifies: REQ-d00180-B, REQ-d00182-A
@pytest.mark.parametrize("tool", SEVEN)
def test_another_project_is_a_scope_violation_for_every_tool(kb: Make, tool: str) -> None:
    error = kb(FILES).error(tool, **ARGUMENTS[tool], scope={"project_id": "elsewhere"})
    assert (error["code"], error["details"]["field"]) == ("SCOPE_VIOLATION", "project_id")
    assert kb(FILES).error(tool, **ARGUMENTS[tool], scope={"tenant": "x"})["code"] == "INVALID_ARGUMENT"


# Verifies: REQ-d00180-B
def test_a_walk_never_leaves_its_scope(kb: Make) -> None:
    call = kb(FILES)
    scope = {"doc_tags": ["reference"]}
    around = call("graph.expand", node_ids=[HOME], scope=scope, max_hops=3, page_size=100)
    assert "doc:docs/reference.md#options" in ids(around["nodes"])
    assert not [id for id in ids(around["nodes"]) if id.startswith("doc:docs/guide")]
    assert call("graph.describe", node_ids=[READING], scope=scope)["meta"]["missing_ids"] == [READING]
    assert call("graph.expand", node_ids=["REQ-d00001"], scope=scope, rel_types=["MENTIONS"])["nodes"] == []
    assert call("graph.sections_for_entities", entity_ids=["REQ-d00001"], scope=scope)["results"] == []
    assert call("graph.children", parent_id="doc:docs/guide.md", scope=scope)["children"] == []
    assert call("graph.paths", a_ids=[HOME], b_ids=["REQ-d00001"], scope=scope, max_hops=5)["paths"] == []
    assert call("graph.paths", a_ids=[HOME], b_ids=["REQ-d00001"], max_hops=5)["paths"] != []


# Verifies: REQ-d00180-B
@pytest.mark.parametrize("scope", [{"doc_tags": ["none"]}, {"environment": "scratch"}])
def test_in_a_scope_that_nothing_matches_there_is_nothing(kb: Make, scope: dict[str, Any]) -> None:
    call = kb(FILES)
    for tool, arguments in ARGUMENTS.items():
        answer = call(tool, **arguments, scope=scope)
        lists = [value for key, value in answer.items() if key in ("results", "nodes", "edges", "paths", "children")]
        assert [each for found in lists for each in found if "REQ-d00001" not in str(each)] == [], tool


# Verifies: REQ-d00182-C
@pytest.mark.parametrize("tool", SEVEN)
def test_a_graph_that_is_switched_off_is_a_backend_that_is_not_there(kb: Make, tool: str) -> None:
    error = kb(FILES, config="[kb]\ngraph = false\n").error(tool, **ARGUMENTS[tool])
    assert error["code"] == "BACKEND_UNAVAILABLE"
    assert error["details"]["neo4j_disabled"] is True


# Verifies: REQ-d00182-A
def test_the_text_of_an_answer_is_short_and_has_the_ids(kb: Make) -> None:
    call = kb(FILES)
    for tool, arguments in ARGUMENTS.items():
        text = call.answer(tool, **arguments).text
        assert not text.startswith("{")
        assert any(id in text for id in ("doc:docs/guide.md", "REQ-d00001")), tool


NAMES = [f"doc:docs/p{n:03}.md" for n in range(40)] + [f"doc:docs/p{n:03}.md#page-{n}" for n in range(40)]
NAMES += ["entity:environment_variable:BIG_ONE", *(f"entity:environment_variable:ONLY_{n:03}_X" for n in range(40))]
SOME = st.lists(st.sampled_from([*NAMES, "nothing"]), max_size=40)
NUMBERS = st.integers(1, 10**6)
CALLS = st.one_of(
    st.tuples(st.just("graph.describe"), st.fixed_dictionaries({"node_ids": SOME})),
    st.tuples(
        st.just("graph.expand"),
        st.fixed_dictionaries(
            {"node_ids": SOME},
            optional={"max_hops": NUMBERS, "page_size": NUMBERS, "include_snippet": st.booleans()},
        ),
    ),
    st.tuples(
        st.just("graph.paths"),
        st.fixed_dictionaries(
            {
                "a_ids": st.lists(st.sampled_from(NAMES), max_size=25),
                "b_ids": st.lists(st.sampled_from(NAMES), max_size=25),
            },
            optional={"max_hops": NUMBERS, "max_paths": NUMBERS},
        ),
    ),
    st.tuples(st.just("graph.parents"), st.fixed_dictionaries({"section_ids": SOME})),
    st.tuples(
        st.just("graph.children"),
        st.fixed_dictionaries({"parent_id": st.sampled_from(NAMES)}, optional={"page_size": NUMBERS}),
    ),
    st.tuples(st.just("graph.entities_for_sections"), st.fixed_dictionaries({"section_ids": SOME})),
    st.tuples(
        st.just("graph.sections_for_entities"),
        st.fixed_dictionaries({"entity_ids": SOME}, optional={"max_per": NUMBERS}),
    ),
)


# Verifies: REQ-d00182-B
@pytest.mark.thorough
def test_no_answer_of_any_call_is_larger_than_allowed(kb: Make) -> None:
    call = kb(hub(40))

    @settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
    @given(CALLS)
    def asked(wanted: tuple[str, dict[str, Any]]) -> None:
        answer = call.answer(wanted[0], **wanted[1])
        data = estimate_tokens(msgspec.json.encode(answer.data).decode())
        assert data <= 4_000
        assert data + estimate_tokens(answer.text) <= 8_000
        usage = answer.data["meta"]["usage"]
        assert usage["tokens_estimate"] <= data

    asked()
