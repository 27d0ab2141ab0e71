"""Questions answered by quotes."""

from collections.abc import Callable

from tests.kb.conftest import CONFIG

from clew.kb.answer.answering import answer
from clew.kb.answer.requests import EvidenceRequest, Mode, Narrowing, SearchRequest
from clew.project import Project
from clew.search.quote.certainty import Certainty
from clew.search.quote.evidence import QuoteLimits

STORE = """# The store

What was authored through the program is kept here.

## Backups

While the program may be running, let SQLite make the copy:

    sqlite3 store.db ".backup copy.db"

While none is running, copying the file is as good.

## Layout

The store has tables for records, events and jobs of the program.
"""
GUIDE = "# Guide\n\nThe store is described elsewhere. The program is described here.\n"


def opened(make: Callable[..., Project], files: dict[str, str]) -> Project:
    project = make(files)
    project.kb.index()
    return project


# Verifies: REQ-d00186-B
def test_an_answer_comes_from_the_section_beside_the_one_that_has_most_words(make: Callable[..., Project]) -> None:
    kb = opened(make, {"docs/store.md": STORE, "docs/guide.md": GUIDE}).kb
    found = answer(
        kb.finder, EvidenceRequest(question="How do I make a copy of the store while the program is running?")
    )
    assert any('".backup copy.db"' in quote.quote for quote in found.quotes)
    assert found.sections[0].startswith("doc:docs/store.md")
    assert set(found.sections) == {quote.section_id for quote in found.quotes}


# Verifies: REQ-d00186-D
def test_one_document_does_not_crowd_out_the_others_and_few_are_read(make: Callable[..., Project]) -> None:
    chapters = "".join(f"## Fog bell {number}\n\nThe fog bell {number} rings loud.\n\n" for number in range(30))
    others = {f"docs/{name}.md": f"# {name}\n\nThe bell of {name} rings in fog.\n" for name in "abcdefgh"}
    kb = opened(make, {"docs/bells.md": f"# Bells\n\n{chapters}", **others}).kb
    found = answer(kb.finder, EvidenceRequest(question="fog bell", limits=QuoteLimits(max_quotes=20)))
    paths = [quote.path for quote in found.quotes]
    assert len(set(paths)) == 5
    assert paths.count("docs/bells.md") <= 4
    assert (
        len(answer(kb.finder, EvidenceRequest(question="fog bell", limits=QuoteLimits(max_quotes=20), top_k=2)).quotes)
        <= 6
    )


# Verifies: REQ-d00186-C
def test_a_rare_word_of_the_question_counts_more_than_a_common_one(make: Callable[..., Project]) -> None:
    files = {f"docs/p{number}.md": f"# Page {number}\n\nThe program prints page {number}.\n" for number in range(12)}
    files["docs/odd.md"] = "# Odd\n\nA whale met the program.\n"
    found = answer(opened(make, files).kb.finder, EvidenceRequest(question="program whale"))
    assert found.quotes[0].path == "docs/odd.md"
    order = list(Certainty)
    assert order.index(found.quotes[0].certainty) <= order.index(found.quotes[1].certainty)


# Verifies: REQ-d00186-A
def test_quotes_are_cut_to_what_is_asked_for_and_stay_inside_the_narrowing(make: Callable[..., Project]) -> None:
    kb = opened(make, {"docs/store.md": STORE, "docs/guide.md": GUIDE}).kb
    limits = QuoteLimits(max_quotes=1, max_quote_tokens=8, max_quote_chars=30)
    (quote,) = answer(
        kb.finder, EvidenceRequest(question="the program", limits=limits, narrowing=Narrowing(path="docs/guide.md"))
    ).quotes
    assert quote.path == "docs/guide.md"
    assert len(quote.quote) <= 30


# Verifies: REQ-d00186-C
def test_nothing_is_quoted_where_there_is_nothing(make: Callable[..., Project]) -> None:
    kb = opened(make, {}).kb
    assert answer(kb.finder, EvidenceRequest(question="store", mode=Mode.VECTOR_ONLY)).quotes == ()
    assert answer(kb.finder, EvidenceRequest(question="")).quotes == ()


# Verifies: REQ-d00403-G, REQ-d00403-H
def test_what_a_question_asks_about_beside_names_is_looked_for_as_it_has_it(make: Callable[..., Project]) -> None:
    page = "# Harbour\n\nHarbour adds a group of ships to the tide table. Each crew works in a thread of its own.\n"
    project = make({"docs/harbour.md": page}, config=CONFIG.replace('kind = "none"', 'kind = "minilm"'))
    project.kb.index()
    finder = project.kb.finder
    assert finder.lacks_word_pairs("How do I add a thread group in Harbour?")
    assert not finder.lacks_word_pairs("How do I write the tide table in Harbour?")
    assert not finder.lacks_word_pairs("How do I add a thread group?")
    assert finder.lacks_word_pairs("How do I write the tide table in Harbour?", Narrowing(path="elsewhere"))
    option = answer(finder, EvidenceRequest(question="What does --crew-thread do?"))
    assert "do not mention 'crew-thread'" in option.notes[0]


# Verifies: REQ-d00402-H
def test_the_name_of_a_heading_leads_to_it_and_is_not_quoted(make: Callable[..., Project]) -> None:
    text = "# Bells\n\n## The fog bell {: #fog }\n\nIt rings at {#night}.\n"
    kb = opened(make, {"docs/bells.md": text}).kb
    (quote,) = answer(kb.finder, EvidenceRequest(question="When does the fog bell ring?")).quotes
    assert quote.quote == "## The fog bell\n\nIt rings at {#night}."
    assert (quote.section_id, quote.line) == ("doc:docs/bells.md#fog", 3)


SPEC = """# REQ-d00001: The fog bell

**Level**: DEV | **Status**: Active | **Implements**: REQ-o00001

The fog bell SHALL ring every ten seconds.

*End* *The fog bell* | **Hash**: 1a2b3c4d

---

# REQ-d00002: The lamp

**Level**: DEV
**Status**: Draft

The level of the lamp SHALL be high.
*End* *The lamp* | **Hash**: 5e6f7a8b
"""


# Verifies: REQ-d00402-J
def test_lines_of_requirements_that_are_for_programs_are_neither_quoted_nor_previewed(
    make: Callable[..., Project],
) -> None:
    kb = opened(make, {"docs/bells.md": SPEC}).kb
    for question, said, line in (
        ("What is the level and the status of the fog bell?", "The fog bell SHALL ring every ten seconds.", 5),
        ("Where does The lamp end, with which hash and status?", "The level of the lamp SHALL be high.", 16),
    ):
        found = answer(kb.finder, EvidenceRequest(question=question))
        assert (said, line) in [(each.quote, each.line) for each in found.quotes]
        shown = [each.quote for each in found.quotes] + [
            each.preview for each in kb.finder.find(SearchRequest(query=question)).sections
        ]
        assert shown
        assert not [each for each in shown if "*End*" in each or "**" in each]


# Verifies: REQ-d00402-J
def test_what_only_looks_like_lines_of_requirements_is_quoted(make: Callable[..., Project]) -> None:
    page = "# Bells\n\n**Status**: accepted\n\nA bell is written so:\n\n```\n**Level**: DEV | **Status**: Active\n```\n"
    kb = opened(make, {"docs/bells.md": page}).kb
    (quote,) = answer(kb.finder, EvidenceRequest(question="What is the status of bells?")).quotes
    assert "**Status**: accepted" in quote.quote
    assert "**Level**: DEV | **Status**: Active" in quote.quote
