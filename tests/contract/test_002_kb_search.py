"""kb.search: sections 3 and 4.3 of the source document, and what was decided about them."""

import base64
from collections.abc import Callable
from typing import Any

import pytest

KEYS = {
    "passage_id",
    "section_id",
    "doc_tag",
    "title",
    "rank",
    "score",
    "source",
    "preview",
    "scratch_uri",
    "size_bytes",
    "anchor",
}
SOURCES = {"reranked", "rrf_fusion", "graph_expanded", "vector", "bm25", "hybrid"}

Make = Callable[..., Any]


def many(count: int, words: str = "water under the keel") -> dict[str, str]:
    return {
        f"docs/page-{number:02}.md": f"# Page {number}\n\nThe {words} on page {number}. {'Filler text here. ' * 20}\n"
        for number in range(count)
    }


# Verifies: REQ-d00172-A
def test_a_result_has_exactly_the_keys_of_the_contract(kb: Make) -> None:
    page = kb()("kb.search", query="what is the default margin?")
    assert set(page) - {"notes"} == {"results", "next_cursor", "partial", "limit_reason", "session_id"}
    first = page["results"][0]
    assert set(first) == KEYS
    assert first["section_id"] == "doc:docs/harbour.md#margin"
    assert (first["doc_tag"], first["title"], first["rank"]) == ("harbour", "Harbour > Margin", 1)
    assert first["anchor"] == "margin"
    assert first["source"] in SOURCES
    assert first["score"] == 1.0
    assert first["scratch_uri"] == f"clew://scratch/{page['session_id']}/{first['passage_id']}"
    assert (page["next_cursor"], page["partial"], page["limit_reason"]) == (None, False, "none")


# Verifies: REQ-d00172-A
def test_the_preview_is_the_best_evidence_and_not_the_beginning(kb: Make) -> None:
    question = "What is the default margin?"
    call = kb()
    found = call("kb.search", query=question)["results"][0]
    assert found["preview"].startswith("The margin is the water") or "default margin is 0.5 metres" in found["preview"]
    assert "default margin is 0.5 metres" in found["preview"]
    assert not found["preview"].startswith("## Margin")
    assert f" {found['preview']}" in " ".join(call.read(found["scratch_uri"]).split())


# Verifies: REQ-d00172-A, REQ-d00177-B
@pytest.mark.parametrize(("asked", "allowed"), [(1, 1), (40, 40), (280, 280), (600, 600), (601, 600), (10**6, 600)])
def test_a_preview_is_never_longer_than_asked_for_and_allowed(kb: Make, asked: int, allowed: int) -> None:
    files = {"docs/long.md": f"# Long\n\n{'The margin under the keel ' * 200}.\n"}
    page = kb(files)("kb.search", query="margin keel", options={"max_snippet_chars": asked})
    assert len(page["results"][0]["preview"]) <= allowed
    told = f"max_snippet_chars {asked} was lowered to 600."
    assert (told in page.get("notes", [])) is (asked > 600)


# Acceptance criterion 1.
# Verifies: REQ-d00172-A
def test_a_search_never_returns_a_whole_section(kb: Make) -> None:
    call = kb(many(8))
    for chars in (280, 600, 10_000):
        for found in call("kb.search", query="water keel", top_k=50, options={"max_snippet_chars": chars})["results"]:
            text = call.read(found["scratch_uri"])
            assert len(found["preview"]) < len(text) / 2
            assert found["size_bytes"] == len(text.encode())


# Verifies: REQ-d00172-B
def test_by_default_five_results_of_five_documents_come_without_a_cursor(kb: Make) -> None:
    page = kb(many(12))("kb.search", query="water keel")
    assert len(page["results"]) == 5
    assert len({found["section_id"].partition("#")[0] for found in page["results"]}) == 5
    assert [found["rank"] for found in page["results"]] == [1, 2, 3, 4, 5]
    assert page["next_cursor"] is None


# Verifies: REQ-d00172-B
def test_one_document_gives_as_many_results_as_asked_for(kb: Make) -> None:
    sections = "\n".join(f"## Part {number}\n\nThe keel and the water, part {number}.\n" for number in range(6))
    call = kb({"docs/one.md": f"# One\n\n{sections}", "docs/two.md": "# Two\n\nThe keel.\n"})
    assert len(call("kb.search", query="keel water")["results"]) == 2
    assert len(call("kb.search", query="keel water", options={"max_per_doc": 3})["results"]) == 4
    assert len(call("kb.search", query="keel water", top_k=3, options={"max_per_doc": 50})["results"]) == 3


# Verifies: REQ-d00172-B, REQ-d00177-B
def test_top_k_and_page_size_have_a_most_that_is_told(kb: Make) -> None:
    page = kb(many(70))("kb.search", query="water keel", top_k=500, page_size=500)
    assert len(page["results"]) <= 25
    assert page["notes"][:2] == ["top_k 500 was lowered to 50.", "page_size 500 was lowered to 25."]


# Verifies: REQ-d00172-C
def test_pages_give_the_ranking_once_whatever_their_size(kb: Make) -> None:
    call = kb(many(30))
    whole = call("kb.search", query="water keel", top_k=17, page_size=25)
    ids = [found["section_id"] for found in whole["results"]]
    assert len(ids) == 17
    seen: list[str] = []
    cursor = None
    size = 3
    while True:
        page = call("kb.search", query="water keel", top_k=17, page_size=size, cursor=cursor)
        seen += [found["section_id"] for found in page["results"]]
        assert [found["rank"] for found in page["results"]] == list(
            range(len(seen) - len(page["results"]) + 1, len(seen) + 1)
        )
        cursor, size = page["next_cursor"], size + 1
        assert page["partial"] is (cursor is not None)
        assert page["limit_reason"] == ("page_size" if cursor else "none")
        if cursor is None:
            break
    assert seen == ids


# Verifies: REQ-d00172-C, REQ-d00177-C
def test_what_does_not_fit_into_an_answer_comes_on_the_next_page(kb: Make) -> None:
    call = kb(many(30, "water under the keel of a very long sentence that goes on and on " * 8))
    options = {"max_snippet_chars": 600, "include_debug": True}
    seen: list[str] = []
    cursor, reasons = None, []
    while True:
        page = call("kb.search", query="water keel sentence", top_k=25, page_size=25, cursor=cursor, options=options)
        assert page["results"]
        seen += [found["section_id"] for found in page["results"]]
        reasons.append(page["limit_reason"])
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 25
    assert reasons[0] == "token_cap"
    assert reasons[-1] == "none"


# Verifies: REQ-d00172-C
def test_a_cursor_is_refused_that_is_damaged_or_of_another_question(kb: Make) -> None:
    call = kb(many(12))
    asked = {"query": "water keel", "top_k": 10}
    cursor = call("kb.search", **asked)["next_cursor"]
    damaged = ("A" if cursor[0] != "A" else "B") + cursor[1:]
    offset = base64.urlsafe_b64encode(b"25").decode()
    for changed in (
        {**asked, "cursor": damaged},
        {**asked, "cursor": offset},
        {**asked, "cursor": "nonsense ☃"},
        {**asked, "query": "water", "cursor": cursor},
        {**asked, "top_k": 11, "cursor": cursor},
        {**asked, "scope": {"environment": "dev"}, "cursor": cursor},
        {**asked, "filters": {"path_prefix": "docs"}, "cursor": cursor},
    ):
        error = call.error("kb.search", **changed)
        assert (error["code"], error["details"]["reason"]) == ("INVALID_ARGUMENT", "invalid_cursor")
    assert call("kb.search", **asked, cursor=cursor)["results"][0]["rank"] == 6
    assert call.as_session("another")("kb.search", **asked, cursor=cursor)["results"][0]["rank"] == 6


# Verifies: REQ-d00172-C
def test_a_cursor_ends_with_the_ranking_it_belongs_to(kb: Make) -> None:
    call = kb(many(12))
    cursor = call("kb.search", query="water keel", top_k=10)["next_cursor"]
    (call.root / "docs/page-00.md").write_text("# Keel\n\nKeel, keel, water and keel.\n")
    error = call.error("kb.search", query="water keel", top_k=10, cursor=cursor)
    assert "changed" in error["message"]


# Verifies: REQ-d00172-D
def test_every_result_has_its_score_as_the_source_prints_it(kb: Make) -> None:
    call = kb()
    scored = call("kb.search", query="margin")["results"]
    assert call("kb.search", query="margin", options={"include_scores": True})["results"][0]["score"] == 1.0
    assert scored[0]["score"] == 1.0
    assert all(0 <= found["score"] <= 1 and "debug" not in found for found in scored)
    assert [found["score"] for found in scored] == sorted((found["score"] for found in scored), reverse=True)


# Verifies: REQ-d00172-D
def test_debugging_explains_every_signal(kb: Make) -> None:
    found = kb()("kb.search", query="margin", options={"include_debug": True})["results"]
    for each in found:
        debug = each["debug"]
        assert debug["mode"] == "hybrid_local"
        assert debug["signals"]
        for signal in debug["signals"]:
            assert set(signal) == {"signal", "rank", "score", "value"}
        assert sum(signal["value"] for signal in debug["signals"]) == pytest.approx(debug["fused_score"], abs=1e-5)
        assert each["section_id"].startswith(f"doc:{debug['path']}#")
        assert each["score"] is not None


# Verifies: REQ-d00172-E
def test_vector_only_finds_nothing_over_an_edge(kb: Make) -> None:
    found = kb()("kb.search", query="margin", options={"mode": "vector_only", "include_debug": True})
    assert {each["debug"]["mode"] for each in found["results"]} == {"vector_only"}
    assert all(each["source"] != "graph_expanded" for each in found["results"])


# Verifies: REQ-d00172-E
def test_a_link_leads_to_what_the_words_do_not(kb: Make) -> None:
    files = {
        "docs/start.md": "# Start\n\nThe zebra crossing is described in [other](other.md).\n",
        "docs/other.md": "# Other\n\nStripes on the road for walkers.\n",
    }
    call = kb(files)
    for mode in ("hybrid_local", "auto"):
        found = call("kb.search", query="zebra", options={"mode": mode})["results"]
        assert [each["source"] for each in found if each["section_id"].startswith("doc:docs/other")] == [
            "graph_expanded"
        ]
    found = call("kb.search", query="zebra", options={"mode": "vector_only"})["results"]
    assert [each["section_id"] for each in found] == ["doc:docs/start.md#start"]
    linked = call("graph.expand", node_ids=["doc:docs/start.md#start"], direction="out")["edges"]
    assert "REFERENCES" in {edge["type"] for edge in linked}


# Verifies: REQ-d00172-E
def test_without_a_graph_auto_says_so_and_hybrid_local_is_refused(kb: Make) -> None:
    call = kb(config="[kb]\ngraph = false\n")
    page = call("kb.search", query="margin", options={"include_debug": True})
    assert {each["debug"]["mode"] for each in page["results"]} == {"vector_only"}
    assert any("graph is switched off" in note for note in page["notes"])
    error = call.error("kb.search", query="margin", options={"mode": "hybrid_local"})
    assert (error["code"], error["details"]["reason"]) == ("BACKEND_UNAVAILABLE", "graph_disabled")
    assert "notes" not in call("kb.search", query="margin", options={"mode": "vector_only"})


# Verifies: REQ-d00172-B
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"doc_tag": ["tides"]}, {"tides"}),
        ({"doc_tag": ["tides", "harbour"]}, {"tides", "harbour"}),
        ({"doc_tag": []}, {"tides", "harbour"}),
        ({"doc_tag": ["nobody"]}, set()),
        ({"path_prefix": "docs"}, {"tides", "harbour"}),
        ({"path_prefix": "./docs/tides.md"}, {"tides"}),
        ({"path_prefix": "doc"}, set()),
        ({"path_prefix": None, "updated_after": None}, {"tides", "harbour"}),
        ({"updated_after": "2020-01-01"}, {"tides", "harbour"}),
        ({"updated_after": "2999-01-01T00:00:00+02:00"}, set()),
    ],
)
def test_filters_narrow_a_search(kb: Make, filters: dict[str, Any], expected: set[str]) -> None:
    page = kb()("kb.search", query="margin", filters=filters)
    assert {found["doc_tag"] for found in page["results"]} == expected


# Verifies: REQ-d00172-A
def test_the_question_is_searched_and_previewed_as_it_was_asked(kb: Make) -> None:
    call = kb({"docs/codes.md": "# Codes\n\nUTF-8 is the encoding.\n\nRHEL-8 is supported, and so is XYZ-12.\n"})
    for query in ("UTF-8", "RHEL-8", "XYZ-12", "one two three encoding five UTF-8"):
        found = call("kb.search", query=query)["results"]
        assert found, query
        assert found[0]["preview"]
