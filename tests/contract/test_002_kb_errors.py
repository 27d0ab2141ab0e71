"""Errors, scope, limits, descriptions, schemas and switches of the tools on documents: sections 3, 4.2, 7, 8, 9, 11."""

import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from mcp import MCPError
from tests.mcp_client import Options, estimate_tokens, list_tools

PARAMETERS = {
    "kb.search": "query top_k cursor page_size scope filters options",
    "kb.read_excerpt": "passage_id max_tokens start_char scope options",
    "kb.expand_excerpt": "passage_id before_tokens after_tokens scope",
    "kb.extract_evidence": "question passage_ids max_quotes max_quote_tokens include_context_tokens scope",
    "kb.retrieve_evidence": "question scope",
    "graph.describe": "node_ids fields scope",
    "graph.expand": "node_ids rel_types direction max_hops include_snippet cursor page_size scope",
    "graph.paths": "a_ids b_ids rel_types max_hops max_paths cursor scope",
    "graph.parents": "section_ids scope",
    "graph.children": "parent_id cursor page_size scope",
    "graph.entities_for_sections": "section_ids labels max_per_section scope",
    "graph.sections_for_entities": "entity_ids max_per scope",
}
"""What the new tools take at least; those of the older ones are tested with their defaults elsewhere."""
OLDER = {"search_sections", "get_section_text", "search_documentation"}
KB = sorted({name for name in PARAMETERS if name.startswith("kb.")} | OLDER)
WEKADOCS = Options(profile="wekadocs", names="dotted")

Make = Callable[..., Any]


# Verifies: REQ-d00177-A+B
@pytest.mark.parametrize(
    ("tool", "arguments", "mentions"),
    [
        ("kb.search", {}, "query"),
        ("kb.search", {"query": 7}, "query"),
        ("kb.search", {"query": ""}, "query is empty"),
        ("kb.search", {"query": " \n "}, "query is empty"),
        ("kb.search", {"query": "x" * 2_001}, "2001"),
        ("kb.search", {"query": "a", "top_k": 0}, "top_k is 0"),
        ("kb.search", {"query": "a", "top_k": -5}, "top_k is -5"),
        ("kb.search", {"query": "a", "page_size": 0}, "page_size is 0"),
        ("kb.search", {"query": "a", "page_size": -(10**12)}, "page_size is -1000000000000"),
        ("kb.search", {"query": "a", "top_k": "5"}, "top_k"),
        ("kb.search", {"query": "a", "verbosity": "snippet"}, "verbosity"),
        ("kb.search", {"query": "a", "filters": {"tag": ["x"]}}, "tag"),
        ("kb.search", {"query": "a", "filters": {"doc_tag": "x"}}, "filters"),
        ("kb.search", {"query": "a", "filters": {"updated_after": "yesterday"}}, "yesterday"),
        (
            "kb.search",
            {"query": "a", "options": {"mode": "global"}},
            "'options.mode' is 'global': expected one of auto, ",
        ),
        ("kb.search", {"query": "a", "options": {"max_snippet_chars": 0}}, "max_snippet_chars is 0"),
        ("kb.search", {"query": "a", "options": {"max_per_doc": -1}}, "max_per_doc is -1"),
        ("kb.search", {"query": "a", "options": {"odd": 1}}, "`odd`; expected some of max_snippet_chars"),
        ("kb.search", {"query": "a", "filters": {"doc_tag": ["x", 3]}}, "'filters.doc_tag[1]' is 3"),
        ("kb.search", {"query": "a", "scope": {"tenant": "x"}}, "tenant"),
        ("kb.search", {"query": "a", "scope": {"environment": "test"}}, "expected one of dev, prod, scratch"),
        ("kb.read_excerpt", {"passage_id": "nobody"}, "nobody"),
        ("kb.read_excerpt", {"passage_id": ""}, "passage"),
        ("kb.read_excerpt", {"passage_id": "x" * 5_000}, "xxx"),
        ("kb.read_excerpt", {"passage_id": "x", "max_tokens": 0}, "max_tokens is 0"),
        ("kb.read_excerpt", {"passage_id": "x", "start_char": -1}, "start_char"),
        ("kb.read_excerpt", {"passage_id": "x", "options": {"format": "html"}}, "expected one of bullets, text"),
        ("kb.expand_excerpt", {"passage_id": "x", "before_tokens": -1}, "before_tokens"),
        ("kb.expand_excerpt", {"passage_id": "x", "after_tokens": -1}, "after_tokens"),
        ("kb.extract_evidence", {"question": "", "passage_ids": ["x"]}, "question is empty"),
        ("kb.extract_evidence", {"question": "a", "passage_ids": "x"}, "passage_ids"),
        ("kb.extract_evidence", {"question": "a", "passage_ids": ["x"], "max_quotes": 0}, "max_quotes is 0"),
        ("kb.extract_evidence", {"question": "a", "passage_ids": ["x"], "max_quote_tokens": -2}, "max_quote_tokens"),
        ("kb.extract_evidence", {"question": "a", "passage_ids": ["x"], "include_context_tokens": -1}, "context"),
        ("kb.retrieve_evidence", {"question": ""}, "question is empty"),
        ("kb.retrieve_evidence", {"question": "a", "top_k": 0}, "top_k is 0"),
    ],
)
def test_bad_input_is_an_invalid_argument_that_says_what_is_wrong(
    kb: Make, tool: str, arguments: dict[str, Any], mentions: str
) -> None:
    error = kb().error(tool, **arguments)
    assert error["code"] == "INVALID_ARGUMENT"
    assert mentions in error["message"]
    assert error["details"]["hint"]
    assert error["details"]["reason"]
    assert len(error["message"]) < 400


# Verifies: REQ-d00177-A
def test_a_whole_number_may_be_written_with_a_point_as_json_does(kb: Make) -> None:
    call = kb()
    assert call("kb.search", query="margin", top_k=2.0) == call("kb.search", query="margin", top_k=2)
    assert call("kb.search", query="margin", options={"max_snippet_chars": 90.0})["results"]
    assert "2.5" in call.error("kb.search", query="margin", top_k=2.5)["message"]


# Acceptance criterion 5.
# Verifies: REQ-d00177-A
@pytest.mark.parametrize(
    "scope", [{"project_id": "other"}, {"doc_tags": ["secret"]}, {"repositories": ["other"]}, {"environment": "prod"}]
)
def test_a_scope_that_is_not_inside_the_servers_own_is_a_violation(kb: Make, scope: dict[str, Any]) -> None:
    call = kb(config='[kb]\nenvironment = "dev"\ndoc_tags = ["harbour", "tides"]\n')
    found = call("kb.search", query="margin", scope={"project_id": "port", "environment": "dev"})
    id = found["results"][0]["passage_id"]
    for tool, arguments in (
        ("kb.search", {"query": "margin"}),
        ("kb.read_excerpt", {"passage_id": id}),
        ("kb.expand_excerpt", {"passage_id": id}),
        ("kb.extract_evidence", {"question": "margin", "passage_ids": [id]}),
        ("kb.retrieve_evidence", {"question": "margin"}),
    ):
        assert call.error(tool, scope=scope, **arguments)["code"] == "SCOPE_VIOLATION"


# Verifies: REQ-d00177-A
def test_scope_narrows_searches_and_reads_alike(kb: Make) -> None:
    call = kb(config='[kb]\ndoc_tags = ["harbour", "tides"]\n')
    every = call("kb.search", query="margin water instructions")["results"]
    assert {found["doc_tag"] for found in every} == {"harbour", "tides"}
    narrow = {"doc_tags": ["tides"]}
    assert {found["doc_tag"] for found in call("kb.search", query="margin", scope=narrow)["results"]} == {"tides"}
    harbour = next(found["passage_id"] for found in every if found["doc_tag"] == "harbour")
    for tool, arguments in (
        ("kb.read_excerpt", {"passage_id": harbour}),
        ("kb.expand_excerpt", {"passage_id": harbour}),
        ("kb.extract_evidence", {"question": "margin", "passage_ids": [harbour]}),
    ):
        error = call.error(tool, scope=narrow, **arguments)
        assert (error["code"], error["details"]["reason"]) == ("SCOPE_VIOLATION", "passage_outside_scope")
    error = call.error("kb.search", query="margin", scope=narrow, filters={"doc_tag": ["harbour"]})
    assert error["code"] == "SCOPE_VIOLATION"
    assert call("kb.search", query="margin", scope=narrow, filters={"doc_tag": []})["results"]
    sources = call("kb.retrieve_evidence", question="margin table", scope=narrow)["sources"]
    assert {source["doc_tag"] for source in sources} == {"tides"}


# Verifies: REQ-d00177-D
def test_a_call_ends_at_its_deadline(kb: Make) -> None:
    call = kb(config="[kb]\ntimeout_seconds = 1e-9\n")
    for tool, arguments in (("kb.search", {"query": "margin"}), ("kb.retrieve_evidence", {"question": "margin"})):
        error = call.error(tool, **arguments)
        assert error["code"] == "TIMEOUT"
        assert error["details"]["step"] == "search"
        assert error["details"]["limit_ms"] == 0


# Verifies: REQ-d00177-A
def test_a_failure_is_a_result_with_an_envelope(serve: Make, write_documents: Make) -> None:
    failed = serve(write_documents(), profile="wekadocs").result("kb.read_excerpt", passage_id="none")
    assert failed.is_error
    assert failed.data["error"]["code"] == "INVALID_ARGUMENT"
    assert failed.text.startswith("INVALID_ARGUMENT: The passage 'none'")
    assert failed.meta["schema_version"] == "1.0"


# Verifies: REQ-d00177-A
def test_the_dialect_is_spoken_behind_tools_call_too(serve: Make, write_documents: Make) -> None:
    client = serve(write_documents())
    failed = client.error("tools_call", name="kb_read_excerpt", arguments={"passage_id": "none"})
    assert failed["code"] == "INVALID_ARGUMENT"
    found = client.result("tools_call", name="kb.search", arguments={"query": "margin"})
    assert found.data["results"]
    assert {block.type for block in found.blocks} == {"resource_link"}


# Verifies: REQ-d00177-E
@pytest.mark.parametrize("tool", KB)
def test_a_description_has_its_five_parts_and_the_tool_is_annotated_and_versioned(tool: str) -> None:
    listed = list_tools(WEKADOCS)[tool]
    for part in ("Use when", "Do not use", "Returns at most", "If you need more, call", "Defaults:", "Max:"):
        assert part in (listed.description or ""), part
    assert listed.annotations is not None
    assert listed.annotations.model_dump(exclude_none=True) == {
        "read_only_hint": True,
        "destructive_hint": False,
        "idempotent_hint": True,
        "open_world_hint": False,
    }
    assert listed.meta == {"schema_version": "1.0"}
    assert listed.output_schema is not None
    assert listed.output_schema["type"] == "object"
    jsonschema.Draft202012Validator.check_schema(listed.output_schema)
    jsonschema.Draft202012Validator.check_schema(listed.input_schema)
    assert estimate_tokens(listed.model_dump_json(by_alias=True, exclude_none=True)) < 600


# Acceptance criterion 6: fields of version 1.0 may be joined by others, but none may go.
# Verifies: REQ-d00177-E
@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("kb.search", "results next_cursor partial limit_reason session_id"),
        ("kb.read_excerpt", "passage_id excerpt truncated next_start_char citation"),
        ("kb.expand_excerpt", "passage_id excerpt truncated next_start_char citation start_char end_char"),
        ("kb.extract_evidence", "quotes"),
        ("kb.retrieve_evidence", "quotes sources diagnostics partial limit_reason session_id"),
    ],
)
def test_the_fields_of_the_first_version_stay(name: str, fields: str) -> None:
    schema = list_tools(WEKADOCS)[name].output_schema
    assert schema is not None
    assert set(fields.split()) <= set(schema["properties"])


# Verifies: REQ-d00177-E
def test_every_tool_takes_the_parameters_it_must() -> None:
    alone, with_kb = (list_tools(Options(toolsets=toolsets, names="dotted")) for toolsets in ((), ("kb",)))
    assert sorted(with_kb.keys() - alone.keys()) == KB
    known = list_tools(WEKADOCS)
    for name, wanted in PARAMETERS.items():
        assert set(wanted.split()) <= set(known[name].input_schema["properties"]), name


# Verifies: REQ-d00178-C
def test_the_newer_tools_can_be_switched_off(serve: Make, write_documents: Make) -> None:
    root = write_documents()
    for value in ("false", "0", "off", "No"):
        client = serve(root, environ={"MCP_KB_V2_ENABLED": value}, profile="wekadocs", names="dotted")
        names = client.tools.keys()
        assert names >= {"search_sections", "get_section_text", "search_documentation"}
        assert not any(name.startswith(("kb.", "graph.")) for name in names)
        with pytest.raises(MCPError) as unknown:
            client("kb.search", query="margin")
        assert "no tool" in unknown.value.error.message
    for environ in ({}, {"MCP_KB_V2_ENABLED": "true"}):
        assert serve(root, environ=environ, profile="wekadocs", names="dotted").tools.keys() >= set(KB)
    off = {"ENABLE_LEGACY_SEARCH_DOCUMENTATION": "false"}
    assert "search_documentation" not in serve(root, environ=off, profile="wekadocs").tools


# Verifies: REQ-d00178-C
def test_structured_answers_can_be_switched_off(serve: Make, write_documents: Make) -> None:
    client = serve(write_documents(), environ={"MCP_STRUCTURED_OUTPUT_ENABLED": "false"}, toolsets=("all",))
    listed = client.tools
    assert listed["kb_search"].output_schema is None
    assert listed["get_requirement"].output_schema is not None
    found = client.answer("kb.search", query="margin")
    assert found.data is None
    assert json.loads(found.text)["results"][0]["passage_id"]
    assert found.text == json.dumps(json.loads(found.text), separators=(",", ":"), ensure_ascii=False)
    failed = client.result("kb.search", query="")
    assert failed.is_error
    assert failed.data is None
    assert json.loads(failed.text)["error"]["code"] == "INVALID_ARGUMENT"


# Acceptance criterion 8: a host that knows neither data nor resources, or rejects dots, gets everything as text.
# Verifies: REQ-d00176-D
def test_text_alone_is_enough_to_work_with(serve: Make, write_documents: Make) -> None:
    client = serve(write_documents())

    def said(tool: str, **arguments: Any) -> str:
        text: str = client.answer(tool, **arguments).text
        assert estimate_tokens(text) < 1_000
        return text

    answer = said("kb_retrieve_evidence", question="what is the default margin?")
    assert "The default margin is 0.5 metres." in answer
    assert "docs/harbour.md:" in answer
    found = said("kb_search", query="default margin")
    id = found.partition("passage_id=")[2].split()[0]
    excerpt = said("kb_read_excerpt", passage_id=id, max_tokens=12)
    assert "> ## Margin" in excerpt
    start = int(excerpt.partition("start_char=")[2].split()[0])
    assert "keel" in said("kb_read_excerpt", passage_id=id, start_char=start)
    assert "> The default margin is 0.5 metres." in said(
        "kb_extract_evidence", question="default margin", passage_ids=[id, "gone"]
    )
    assert "lowered to 50" in said("kb_search", query="margin", top_k=51)


# Acceptance criterion 8: no host drops the server because of a name it does not accept.
# Verifies: REQ-d00176-D
@pytest.mark.parametrize("host", ["claude-ai", "Visual Studio Code", "codex-mcp-client"])
def test_strict_hosts_see_names_without_dots(serve: Make, write_documents: Make, host: str) -> None:
    client = serve(write_documents(), host=host, profile="wekadocs")
    names = client.tools.keys()
    assert "kb_search" in names
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names)
    assert client("kb.search", query="margin")["results"]
