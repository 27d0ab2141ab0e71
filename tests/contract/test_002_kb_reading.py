"""kb.read_excerpt, kb.expand_excerpt, kb.extract_evidence, kb.retrieve_evidence: sections 4.4 to 4.7."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.mcp_client import estimate_tokens
from tests.sourced import sourced

Make = Callable[..., Any]

QUESTION = "what is the default margin?"
LONG = "# Long\n\n" + " ".join(f"Plank{number} says something about the keel." for number in range(40)) + "\n"


def passage_of(call: Any, query: str = QUESTION, **arguments: Any) -> str:
    found: str = call("kb.search", query=query, **arguments)["results"][0]["passage_id"]
    return found


# Verifies: REQ-d00173-A
def test_an_excerpt_has_the_keys_of_the_contract(kb: Make) -> None:
    call = kb()
    page = call("kb.search", query=QUESTION)
    id = page["results"][0]["passage_id"]
    excerpt = call("kb.read_excerpt", passage_id=id)
    assert set(excerpt) == {
        *("passage_id", "excerpt", "truncated", "next_start_char", "citation", "start_char", "end_char")
    }
    assert excerpt["citation"] == {
        "section_id": "doc:docs/harbour.md#margin",
        "doc_tag": "harbour",
        "title": "Harbour > Margin",
        "uri": f"clew://scratch/{page['session_id']}/{id}",
        "line": 8,
    }
    assert (excerpt["truncated"], excerpt["next_start_char"], excerpt["start_char"]) == (False, None, 0)
    assert excerpt["excerpt"].startswith("## Margin\n\nThe margin is the water")
    assert "citation" not in call("kb.read_excerpt", passage_id=id, options={"include_citation": False})


# Acceptance criterion 2.
# Verifies: REQ-d00173-A, REQ-d00177-B
@pytest.mark.parametrize("asked", [5, 7, 300, 800, 801, 10**9])
@pytest.mark.parametrize("form", ["text", "bullets"])
def test_an_excerpt_is_bounded_always(kb: Make, asked: int, form: str) -> None:
    call = kb({"docs/long.md": LONG})
    excerpt = call("kb.read_excerpt", passage_id=passage_of(call, "keel"), max_tokens=asked, options={"format": form})
    assert estimate_tokens(excerpt["excerpt"]) <= min(asked, 800)
    assert len(excerpt["excerpt"].encode()) <= 32_768
    assert excerpt.get("notes", []) == ([f"max_tokens {asked} was lowered to 800."] if asked > 800 else [])
    assert excerpt["truncated"] is (excerpt["next_start_char"] is not None)


# Verifies: REQ-d00173-B
@pytest.mark.parametrize("form", ["text", "bullets"])
def test_the_default_is_300_tokens_and_the_rest_follows(kb: Make, form: str) -> None:
    call = kb({"docs/long.md": LONG})
    id = passage_of(call, "keel")
    text = call.passage(id)
    first = call("kb.read_excerpt", passage_id=id, options={"format": form})
    assert 200 < estimate_tokens(first["excerpt"]) <= 300
    second = call("kb.read_excerpt", passage_id=id, start_char=first["next_start_char"], options={"format": form})
    assert second["truncated"] is False
    joined = first["excerpt"] + second["excerpt"]
    assert "".join(joined.replace("- ", "").split()) == "".join(text.replace("- ", "").split())
    assert text[second["end_char"] :].strip() == ""


# Verifies: REQ-d00177-C
def test_a_budget_in_which_nothing_fits_is_refused(kb: Make) -> None:
    call = kb()
    id = passage_of(call)
    for tool, arguments in (
        ("kb.read_excerpt", {"passage_id": id, "max_tokens": 1}),
        ("kb.read_excerpt", {"passage_id": id, "max_tokens": 1, "options": {"format": "bullets"}}),
        ("kb.extract_evidence", {"question": QUESTION, "passage_ids": [id], "max_quote_tokens": 1}),
        ("kb.retrieve_evidence", {"question": QUESTION, "max_quote_tokens": 1}),
    ):
        error = call.error(tool, **arguments)
        assert (error["code"], error["details"]["reason"]) == ("BUDGET_EXCEEDED", "budget_too_small")


# Verifies: REQ-d00173-B
def test_places_are_characters_and_beyond_the_end_is_nothing(kb: Make) -> None:
    call = kb({"docs/a.md": "# Ä\n\nÜber 日本 keel 😀 end.\n"})
    id = passage_of(call, "keel")
    text = call.passage(id)
    place = text.index("keel")
    assert call("kb.read_excerpt", passage_id=id, start_char=place)["excerpt"] == "keel 😀 end."
    for start in (len(text), len(text) + 5, 10**12):
        empty = call("kb.read_excerpt", passage_id=id, start_char=start)
        assert (empty["excerpt"], empty["truncated"], empty["next_start_char"]) == ("", False, None)


# Verifies: REQ-d00173-C
def test_expansion_begins_at_the_span_that_was_previewed(kb: Make) -> None:
    call = kb({"docs/long.md": LONG})
    page = call("kb.search", query="what does plank17 say", options={"max_snippet_chars": 60})
    found = page["results"][0]
    assert "Plank17 says" in found["preview"]
    excerpt = call("kb.expand_excerpt", passage_id=found["passage_id"], before_tokens=12, after_tokens=12)
    assert "Plank17 says something about the keel." in excerpt["excerpt"]
    assert "Plank16" in excerpt["excerpt"]
    assert "Plank18" in excerpt["excerpt"]
    assert "Plank20" not in excerpt["excerpt"]
    text = call.passage(found["passage_id"])
    assert text[excerpt["start_char"] : excerpt["end_char"]] == excerpt["excerpt"]
    assert excerpt["next_start_char"] == excerpt["end_char"]
    again = call("kb.expand_excerpt", passage_id=found["passage_id"], before_tokens=12, after_tokens=12)
    assert again == excerpt


# Verifies: REQ-d00173-C, REQ-d00177-B
def test_expansion_is_150_tokens_on_each_side_by_default_and_400_at_most(kb: Make) -> None:
    call = kb({"docs/long.md": LONG})
    id = passage_of(call, "plank20 keel", options={"max_snippet_chars": 60})
    usual = call("kb.expand_excerpt", passage_id=id)
    assert 250 < estimate_tokens(usual["excerpt"]) <= 330
    most = call("kb.expand_excerpt", passage_id=id, before_tokens=10**6, after_tokens=10**6)
    assert most["notes"] == ["before_tokens 1000000 was lowered to 400.", "after_tokens 1000000 was lowered to 400."]
    assert estimate_tokens(most["excerpt"]) <= 800
    text = call.passage(id)
    start = text.index("Plank30")
    other = call("kb.expand_excerpt", passage_id=id, before_tokens=0, after_tokens=5, anchor_start_char=start)
    assert other["excerpt"].startswith("Plank30")
    error = call.error("kb.expand_excerpt", passage_id=id, anchor_start_char=20, anchor_end_char=10)
    assert error["code"] == "INVALID_ARGUMENT"


# Verifies: REQ-d00174-A
def test_quotes_are_chosen_by_the_rule_of_the_contract(kb: Make) -> None:
    call = kb()
    ids = [found["passage_id"] for found in call("kb.search", query="margin table")["results"]]
    quotes = call("kb.extract_evidence", question=QUESTION, passage_ids=ids, max_quotes=20)["quotes"]
    tokens = {"what", "the", "default", "margin"}
    assert quotes[0]["quote"] == "The default margin is 0.5 metres."
    assert quotes[0]["confidence"] == 0.75
    for quote in quotes:
        own = set(re.findall(r"[a-z0-9]{3,}", quote["quote"].lower()))
        assert quote["confidence"] == pytest.approx(len(tokens & own) / len(tokens))
        assert quote["confidence"] > 0
    order = [(-quote["confidence"], len(quote["quote"])) for quote in quotes]
    assert order == sorted(order)


# Verifies: REQ-d00174-A
def test_equal_spans_are_ordered_by_length_place_and_passage(kb: Make) -> None:
    files = {
        "docs/a.md": "# A\n\nThe keel is long and wide.\n\nA keel.\n",
        "docs/b.md": "# B\n\nB keel.\n\nC keel.\n",
    }
    call = kb(files)
    found = {each["doc_tag"]: each["passage_id"] for each in call("kb.search", query="keel")["results"]}
    asked = {"question": "keel", "passage_ids": [found["b"], found["a"]]}
    quotes = call("kb.extract_evidence", **asked)["quotes"]
    assert {quote["quote"] for quote in quotes[:3]} == {"A keel.", "B keel.", "C keel."}
    texts = {tag: call.passage(id) for tag, id in found.items()}
    expected = sorted(
        ("A keel.", "B keel.", "C keel."),
        key=lambda quote: (
            texts["a" if quote[0] == "A" else "b"].index(quote),
            ["b", "a"].index("a" if quote[0] == "A" else "b"),
        ),
    )
    assert [quote["quote"] for quote in quotes[:3]] == expected


# Verifies: REQ-d00174-A
@pytest.mark.parametrize(
    ("question", "first", "confidence"),
    [("S3?", "Ask for S3 on channel 12.", 1.0), ("oar", None, 0.0), ("? !", "## Pilots", 0.0)],
)
def test_short_and_empty_questions_keep_to_the_rule(
    kb: Make, question: str, first: str | None, confidence: float
) -> None:
    call = kb()
    id = passage_of(call, "pilot buoy")
    quotes = call("kb.extract_evidence", question=question, passage_ids=[id])["quotes"]
    assert (quotes[0]["quote"] if quotes else None) == first
    assert all(quote["confidence"] == confidence for quote in quotes)


# Verifies: REQ-d00174-A
def test_a_code_block_is_one_span(kb: Make) -> None:
    call = kb()
    quotes = call("kb.extract_evidence", question="port", passage_ids=[passage_of(call)])["quotes"]
    assert quotes[0]["quote"] == "```sh\nport --margin 0.7\n```"


# Verifies: REQ-d00174-B, REQ-d00177-B
@pytest.mark.parametrize(("tokens", "allowed"), [(2, 2), (10, 10), (80, 80), (125, 125), (126, 125), (10**9, 125)])
def test_a_quote_keeps_within_its_tokens_and_500_characters(kb: Make, tokens: int, allowed: int) -> None:
    endless = "keel " * 400 + "x" * 900
    call = kb({"docs/a.md": f"# A\n\n{endless}\n", "docs/b.md": f"# B\n\n{'keelhaul' * 100} keel\n"})
    ids = [found["passage_id"] for found in call("kb.search", query="keel")["results"]]
    answer = call("kb.extract_evidence", question="keel", passage_ids=ids, max_quote_tokens=tokens)
    for quote in answer["quotes"]:
        assert estimate_tokens(quote["quote"]) <= allowed
        assert 0 < len(quote["quote"]) <= 500
    told = [f"max_quote_tokens {tokens} was lowered to 125."] if tokens > 125 else []
    assert answer.get("notes", []) == told


# Verifies: REQ-d00174-B
def test_context_stands_beside_a_quote_and_not_in_it(kb: Make) -> None:
    call = kb()
    id = passage_of(call)
    with_context = call("kb.extract_evidence", question=QUESTION, passage_ids=[id], max_quotes=1)["quotes"][0]
    assert with_context["quote"] == "The default margin is 0.5 metres."
    assert with_context["context_before"].endswith("under the keel.")
    assert with_context["context_after"].startswith("Set `PORT_MARGIN`")
    assert estimate_tokens(with_context["context_before"]) <= 20
    assert estimate_tokens(with_context["context_after"]) <= 20
    without = call("kb.extract_evidence", question=QUESTION, passage_ids=[id], max_quotes=1, include_context_tokens=0)[
        "quotes"
    ][0]
    assert set(without) == {"quote", "passage_id", "section_id", "title", "uri", "confidence", "line"}
    assert (without["section_id"], without["line"]) == ("doc:docs/harbour.md#margin", 10)


# Verifies: REQ-d00174-B, REQ-d00177-B
def test_six_quotes_are_the_default_and_twenty_the_most(kb: Make) -> None:
    call = kb({"docs/long.md": LONG})
    id = passage_of(call, "keel")
    assert len(call("kb.extract_evidence", question="keel", passage_ids=[id])["quotes"]) == 6
    most = call("kb.extract_evidence", question="keel", passage_ids=[id], max_quotes=99)
    assert most["notes"] == ["max_quotes 99 was lowered to 20."]
    assert len(most["quotes"]) == 20
    assert (most["partial"], most["limit_reason"]) == (False, "none")


# Verifies: REQ-d00174-C
def test_passages_that_are_not_there_are_named_and_skipped(kb: Make) -> None:
    call = kb()
    id = passage_of(call)
    answer = call("kb.extract_evidence", question=QUESTION, passage_ids=["gone", id, "never", id])
    assert answer["missing_passage_ids"] == ["gone", "never"]
    assert answer["quotes"][0]["passage_id"] == id
    assert call("kb.extract_evidence", question=QUESTION, passage_ids=["gone"])["quotes"] == []
    error = call.error("kb.extract_evidence", question=QUESTION, passage_ids=[id] * 21)
    assert (error["code"], error["details"]["reason"]) == ("BUDGET_EXCEEDED", "too_many_passages")
    assert call.error("kb.extract_evidence", question=QUESTION, passage_ids=[])["code"] == "INVALID_ARGUMENT"


# Acceptance criterion 4: nothing outside the best passages can be chosen, because nothing has to be.
# Verifies: REQ-d00174-D
def test_retrieval_searches_and_quotes_in_one_call(kb: Make) -> None:
    call = kb()
    answer = call("kb.retrieve_evidence", question=QUESTION)
    keys = ("quotes", "sources", "diagnostics", "next_cursor", "partial", "limit_reason", "session_id")
    assert set(answer) - {"notes"} == set(keys)
    assert set(answer["diagnostics"]) - {"choice"} == {"mode", "candidates", "deduped", "reranked", "elapsed_ms"}
    assert answer["diagnostics"]["mode"] == "hybrid_local"
    assert any("The default margin is 0.5 metres." in quote["quote"] for quote in answer["quotes"])
    assert len(answer["quotes"]) <= 6
    sources = {source["passage_id"]: source for source in answer["sources"]}
    assert len(sources) == len(answer["sources"])
    for source in sources.values():
        assert set(source) == {"passage_id", "section_id", "doc_tag", "title"}
    for quote in answer["quotes"]:
        assert set(quote) - {"flags"} == {"quote", "source", "line", "certainty", "confidence"}
        source = answer["sources"][quote["source"] - 1]
        address = f"clew://scratch/{answer['session_id']}/{source['passage_id']}"
        assert quote["quote"] in call.read(address)
        assert estimate_tokens(quote["quote"]) <= 80


# Verifies: REQ-d00174-D
def test_retrieval_is_bounded_by_five_documents_and_follows_up_with_excerpts(kb: Make) -> None:
    files = {f"docs/page-{number}.md": f"# Page {number}\n\nThe keel of page {number}.\n" for number in range(9)}
    call = kb(files)
    answer = call("kb.retrieve_evidence", question="keel page", top_k=50, max_quotes=20)
    assert "top_k 50 was lowered to 5." in answer["notes"]
    assert len({source["doc_tag"] for source in answer["sources"]}) <= 5
    first = sourced(answer)[0]
    around = call("kb.expand_excerpt", passage_id=first["passage_id"], before_tokens=5, after_tokens=5)
    assert first["quote"] in around["excerpt"]


MANY = {
    f"docs/{place}.md": f"# {place}\n\n"
    + "\n\n".join(f"The margin of berth {place}{n} is {n} metres." for n in range(80))
    for place in ("north", "south", "west")
}


# Verifies: REQ-d00244-A
@pytest.mark.parametrize("most", [1, 5, 20])
def test_whoever_asks_on_gets_each_quote_once_the_best_first(kb: Make, most: int) -> None:
    call, question = kb(MANY), "what is the margin of the berth?"
    seen: list[tuple[str, str]] = []
    answer = call("kb.retrieve_evidence", question=question, max_quotes=most, max_quote_tokens=20)
    while True:
        quotes = sourced(answer)
        assert 0 < len(quotes) <= most
        assert {quote["passage_id"] for quote in quotes} == {source["passage_id"] for source in answer["sources"]}
        seen += [(quote["section_id"], quote["quote"]) for quote in quotes]
        if answer["next_cursor"] is None:
            break
        # The next page may be of another size.
        arguments = {"question": question, "max_quotes": 19, "max_quote_tokens": 20, "cursor": answer["next_cursor"]}
        most, answer = 19, call("kb.retrieve_evidence", **arguments)
    assert len(seen) == len(set(seen))
    assert "".join(quote for _, quote in seen).count("is 79 metres") == 3
    whole = call("kb.retrieve_evidence", question=question, max_quotes=20, max_quote_tokens=20)
    whole = sourced(whole)
    assert seen[: len(whole)] == [(quote["section_id"], quote["quote"]) for quote in whole]


# Verifies: REQ-d00244-A
def test_a_cursor_to_quotes_holds_for_its_question_and_what_was_read_for_it(kb: Make) -> None:
    call, question = kb(MANY), "what is the margin of the berth?"
    answer = call.answer("kb.retrieve_evidence", question=question)
    cursor = answer.data["next_cursor"]
    assert f"More: pass cursor={cursor}" in answer.text
    for arguments in (
        {"question": "another margin"},
        {"question": question, "max_quote_tokens": 40},
        {"question": question, "scope": {"doc_tags": ["north"]}},
        {"question": question, "filters": {"path_prefix": "docs/north.md"}},
    ):
        error = call.error("kb.retrieve_evidence", **arguments, cursor=cursor)
        assert (error["code"], error["details"]["reason"]) == ("INVALID_ARGUMENT", "invalid_cursor")
    assert call.error("kb.retrieve_evidence", question=question, cursor="x")["code"] == "INVALID_ARGUMENT"
    (call.root / "docs/west.md").write_text("# West\n\nThe margin of no berth is known.\n")
    assert "changed" in call.error("kb.retrieve_evidence", question=question, cursor=cursor)["message"]


# Verifies: REQ-d00174-E
def test_as_text_what_stands_above_several_passages_of_a_file_is_said_once(kb: Make) -> None:
    berths = "\n".join(
        f"### {side} berth\n\nThe keel margin of the {side} berth is 2 metres.\n" for side in ("East", "West")
    )
    far = "# Deep water\n\n## Berths\n\n### Far berth\n\nThe keel margin of the far berth is 3 metres.\n"
    call = kb({"docs/keel.md": f"# Keel\n\n## Berths\n\n{berths}", "docs/deep.md": far})
    question = "What is the keel margin of the berth?"
    answer = call.answer("kb.retrieve_evidence", question=question, filters={"path_prefix": "docs/"})
    quoted = [each for each in sourced(answer.data) if each["title"].endswith(" berth")]
    assert {each["title"] for each in quoted} == {
        *("Keel > Berths > East berth", "Keel > Berths > West berth", "Deep water > Berths > Far berth")
    }
    heads = [line for line in answer.text.splitlines() if re.match(r"\d+\. ", line)]
    # The title of a page that only says the name of its file is not said again.
    assert not any("> Keel" in head for head in heads)
    assert sum("passage_id" in head and "> Berths" in head and "keel.md" in head for head in heads) == 1
    assert sum("> Deep water > Berths" in head for head in heads) == 1
    for each in quoted:
        (head,) = (head for head in heads if each["passage_id"] in head)
        assert f"{each['section_id'].removeprefix('doc:').partition('#')[0]}:{each['line']} passage_id=" in head


# Verifies: REQ-d00174-D
def test_the_same_question_gives_the_same_answer_and_ids(kb: Make) -> None:
    call = kb()
    first, second = (call("kb.retrieve_evidence", question=QUESTION) for _ in range(2))
    assert {**first, "diagnostics": None} == {**second, "diagnostics": None}
    found = call("kb.search", query=QUESTION)
    assert found == call("kb.search", query=QUESTION)
    shared = {source["section_id"]: source["passage_id"] for source in first["sources"]}
    for each in found["results"]:
        assert shared.get(each["section_id"], each["passage_id"]) == each["passage_id"]
