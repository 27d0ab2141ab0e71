"""search_sections, get_section_text and search_documentation: as their users know them."""

import base64
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from tests.mcp_client import Options, estimate_tokens, list_tools

Make = Callable[..., Any]

ROW = {
    *("section_id", "title", "tokens", "doc_tag", "score", "rank", "source", "fusion_method", "fused_score"),
    *("title_vec_score", "entity_vec_score", "doc_title_sparse_score", "lexical_vec_score", "rerank_score"),
    *("graph_score", "graph_distance", "connection_count", "mention_count", "entity_boost_applied"),
    *("entity_metadata", "rrf_field_contributions"),
}
ENVELOPE = {"session_id", "partial", "limit_reason", "meta"}


def sections(count: int) -> dict[str, str]:
    body = "".join(f"## Part {number}\n\nThe keel of part {number} is wet.\n\n" for number in range(count))
    return {"docs/one.md": f"# One\n\n{body}"}


def cursor_of(offset: int) -> str:
    return base64.urlsafe_b64encode(str(offset).encode()).decode()


# Verifies: REQ-d00178-A
@pytest.mark.parametrize(
    ("name", "signature"),
    [
        (
            "search_sections",
            {"query": ..., "top_k": 20, "filters": None, "cursor": None, "page_size": 25, "session_id": None},
        ),
        ("get_section_text", {"section_ids": ..., "max_bytes_per": 8192, "session_id": None}),
        ("search_documentation", {"query": ..., "top_k": 20, "verbosity": "graph"}),
    ],
)
def test_the_signature_is_the_old_one(name: str, signature: dict[str, Any]) -> None:
    schema = list_tools(Options(profile="wekadocs"))[name].input_schema
    given = {field: part.get("default", ...) for field, part in schema["properties"].items()}
    assert list(given.items()) == list(signature.items())
    assert schema["required"] == [field for field, default in signature.items() if default is ...]


# Verifies: REQ-d00178-A
def test_a_row_has_the_21_keys_and_the_answer_its_envelope(kb: Make) -> None:
    answer = kb()("search_sections", query="margin")
    assert set(answer) == {"results", "cursor", "next_cursor", *ENVELOPE}
    assert len(ROW) == 21
    for rank, row in enumerate(answer["results"], start=1):
        assert set(row) == ROW
        assert row["rank"] == rank
        assert isinstance(row["score"], float)
        for key in ("graph_score", "graph_distance", "connection_count", "mention_count"):
            assert isinstance(row[key], int | float)
    usage = answer["meta"]["usage"]
    assert set(usage) == {"tokens_estimate", "bytes_returned", "duplicates_suppressed", "source"}
    assert usage["tokens_estimate"] > 0
    assert isinstance(usage["source"], dict)
    assert (answer["cursor"], answer["next_cursor"]) == (None, None)


# Verifies: REQ-d00178-A
@pytest.mark.parametrize(
    ("arguments", "rows", "follows"),
    [
        ({}, 25, None),
        ({"top_k": 30}, 25, 25),
        ({"top_k": 5, "page_size": 3}, 3, 3),
        ({"top_k": 2, "page_size": 3}, 3, None),
        ({"top_k": 0, "page_size": 4}, 4, None),
        ({"top_k": -1, "page_size": 4}, 4, None),
        ({"page_size": 0, "top_k": 0}, 25, None),
        ({"page_size": -7, "top_k": 1}, 1, None),
        ({"page_size": 500, "top_k": 500}, 31, None),
        ({"top_k": 10, "page_size": 4, "cursor": cursor_of(4)}, 4, 8),
        ({"top_k": 10, "page_size": 4, "cursor": cursor_of(8)}, 2, None),
        ({"top_k": 10, "page_size": 4, "cursor": cursor_of(400)}, 0, None),
        ({"top_k": 10, "page_size": 4, "cursor": "no cursor at all"}, 4, 4),
        ({"top_k": 10, "page_size": 4, "cursor": cursor_of(-3)}, 4, 4),
        ({"top_k": 10, "page_size": 4, "cursor": ""}, 4, 4),
    ],
)
def test_pages_are_counted_as_they_always_were(
    kb: Make, arguments: dict[str, Any], rows: int, follows: int | None
) -> None:
    answer = kb(sections(30))("search_sections", query="keel part", **arguments)
    assert len(answer["results"]) == rows
    assert answer["next_cursor"] == (None if follows is None else cursor_of(follows))
    assert answer["cursor"] == arguments.get("cursor")
    assert answer["partial"] is (answer["limit_reason"] != "none")
    if follows is not None:
        assert answer["limit_reason"] in ("page_size", "token_cap")


# Verifies: REQ-d00178-A
def test_a_large_page_is_marked_and_not_cut_within_the_hard_limit(kb: Make) -> None:
    call = kb(sections(30))
    answer = call.answer("search_sections", query="keel part", page_size=25)
    usage = answer.data["meta"]["usage"]
    assert usage["tokens_estimate"] > 2_100
    assert (answer.data["partial"], answer.data["limit_reason"]) == (True, "token_cap")
    assert len(answer.data["results"]) == 25
    small = call("search_sections", query="keel part", page_size=2, top_k=2)
    assert (small["partial"], small["limit_reason"]) == (False, "none")
    assert msgspec.json.decode(answer.text) == answer.data


# Verifies: REQ-d00178-A, REQ-d00177-C
def test_beyond_the_hard_limit_whole_rows_wait_for_the_next_page(kb: Make) -> None:
    call = kb(sections(120))
    seen: list[str] = []
    cursor = None
    while True:
        answer = call.answer("search_sections", query="keel part", page_size=100, top_k=300, cursor=cursor)
        assert estimate_tokens(answer.text) <= 10_000
        seen += [row["section_id"] for row in answer.data["results"]]
        cursor = answer.data["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 121


# Verifies: REQ-d00178-A
def test_filters_that_are_known_narrow_and_others_are_ignored(kb: Make) -> None:
    call = kb()

    def tags(filters: dict[str, Any] | None) -> set[str]:
        return {row["doc_tag"] for row in call("search_sections", query="margin", filters=filters)["results"]}

    assert tags({"doc_tag": "tides"}) == {"tides"}
    assert tags({"doc_tag": ["tides", "harbour"]}) == {"tides", "harbour"}
    assert tags({"document_id": "doc:docs/tides.md"}) == {"tides"}
    assert tags({"tenant": "x", "colour": 7, "doc_tag": None}) == tags(None)


# Verifies: REQ-d00178-B
def test_a_named_session_is_echoed_and_nothing_is_written_to_scratch_space(kb: Make) -> None:
    call = kb()
    id = "doc:docs/harbour.md#margin"
    for tool, arguments in (("search_sections", {"query": "margin"}), ("get_section_text", {"section_ids": [id]})):
        assert call(tool, session_id="mine", **arguments)["session_id"] == "mine"
        own = call(tool, **arguments)["session_id"]
        assert own == call("kb.search", query="margin")["session_id"]
        assert call(tool, **arguments)["session_id"] == own
        assert call.as_session("other")(tool, **arguments)["session_id"] != own
        stateless = call.as_session(None)
        assert stateless(tool, **arguments)["session_id"] != stateless(tool, **arguments)["session_id"]
        answer = call.answer(tool, **arguments)
        assert answer.blocks == ()
        assert "://scratch/" not in answer.text


# Verifies: REQ-d00178-A
def test_texts_are_cut_by_bytes_at_whole_characters(kb: Make) -> None:
    call = kb({"docs/a.md": f"# Ä\n\n{'日本 ' * 30}\n", "docs/b.md": "# B\n\nShort.\n"})
    ids = ["doc:docs/b.md#b", "nobody", "doc:docs/a.md#a", "doc:docs/b.md#b"]
    answer = call("get_section_text", section_ids=ids, max_bytes_per=20)
    assert set(answer) == {"results", "hints", *ENVELOPE}
    assert answer["hints"] == {"next_tools": ["expand_neighbors", "describe_nodes"]}
    assert [text["section_id"] for text in answer["results"]] == ["doc:docs/b.md#b", "doc:docs/a.md#a"]
    short, cut = answer["results"]
    assert set(short) == {*("section_id", "title", "doc_tag", "text_truncated", "bytes", "truncated", "source_blob_id")}
    assert (short["text_truncated"], short["bytes"], short["truncated"]) == ("# B\n\nShort.", 11, False)
    assert cut["truncated"] is True
    assert cut["bytes"] == len(cut["text_truncated"].encode()) <= 20
    assert (answer["partial"], answer["limit_reason"]) == (False, "none")
    assert call("get_section_text", section_ids=[])["results"] == []
    assert call("get_section_text", section_ids=ids, max_bytes_per=-1)["results"][0]["text_truncated"] == ""


# Verifies: REQ-d00178-A, REQ-d00177-C
def test_many_texts_are_bounded_by_the_hard_limit(kb: Make) -> None:
    long = {f"docs/{number}.md": f"# Page {number}\n\n{'words of the keel ' * 100}\n" for number in range(40)}
    call = kb(long)
    answer = call.answer("get_section_text", section_ids=[f"doc:docs/{n}.md#page-{n}" for n in range(40)])
    assert 0 < len(answer.data["results"]) < 40
    assert (answer.data["partial"], answer.data["limit_reason"]) == (True, "token_cap")
    assert estimate_tokens(answer.text) <= 10_000


# Verifies: REQ-d00177-A
def test_what_would_be_echoed_or_searched_has_a_most(kb: Make) -> None:
    call = kb()
    for tool, arguments in (
        ("search_sections", {"query": "x" * 2_001}),
        ("search_sections", {"query": "margin", "cursor": "x" * 2_001}),
        ("search_sections", {"query": "margin", "session_id": "x" * 2_001}),
        ("get_section_text", {"section_ids": [], "session_id": "x" * 2_001}),
        ("search_documentation", {"query": "x" * 2_001}),
    ):
        error = call.error(tool, **arguments)
        assert error["code"] == "INVALID_ARGUMENT"
        assert "2001" in error["message"]


# Verifies: REQ-d00178-A
def test_search_documentation_answers_in_its_old_shape(kb: Make) -> None:
    answer = kb()("search_documentation", query="what is the default margin?", top_k=3)
    assert set(answer) == {"answer_markdown", "answer_json"}
    assert "> The default margin is 0.5 metres." in answer["answer_markdown"]
    inner = answer["answer_json"]
    assert set(inner) == {"answer", "evidence", "confidence", "diagnostics"}
    assert 0 < inner["confidence"] <= 1
    assert 0 < len(inner["evidence"]) <= 3
    for item in inner["evidence"]:
        assert set(item) == {
            *("section_id", "node_id", "node_label", "snippet", "path", "confidence", "title", "full_text"),
            *("metadata", "related_entities", "related_sections"),
        }
        assert len(item["snippet"]) <= 200
        assert len(item["related_entities"]) <= 20
        assert item["full_text"].startswith(item["snippet"])


# Verifies: REQ-d00178-A
@pytest.mark.parametrize("verbosity", ["graph", "snippet", "SNIP", " short ", "full", ""])
def test_verbosity_has_its_old_spellings(kb: Make, verbosity: str) -> None:
    inner = kb()("search_documentation", query="margin", verbosity=verbosity)["answer_json"]
    level = "full" if verbosity == "full" else "graph"
    assert inner["diagnostics"]["verbosity"] == level
    assert any(item["related_sections"] for item in inner["evidence"]) is (level == "graph")


# Verifies: REQ-d00178-A
@pytest.mark.parametrize("arguments", [{"verbosity": "odd"}, {"top_k": 0}, {"query": "  "}])
def test_search_documentation_tells_errors_as_data(kb: Make, arguments: dict[str, Any]) -> None:
    answer = kb()("search_documentation", **{"query": "margin", **arguments})
    assert answer["answer_markdown"].startswith("Error: ")
    inner = answer["answer_json"]
    assert (inner["evidence"], inner["confidence"]) == ([], 0.0)
    assert inner["diagnostics"]["error"]


# Verifies: REQ-d00178-A
def test_an_old_id_leads_to_the_section_that_took_its_place(kb: Make) -> None:
    call = kb()
    call("search_sections", query="margin")
    place = call.root / "docs/harbour.md"
    place.write_text(place.read_text().replace("## Margin", "## Safety margin"))
    answer = call("get_section_text", section_ids=["doc:docs/harbour.md#margin"])
    assert answer["results"][0]["title"] == "Safety margin"


def test_the_older_tools_are_not_listed_by_default() -> None:
    older = {"search_sections", "get_section_text", "search_documentation"}
    assert older.isdisjoint(list_tools(Options()))
