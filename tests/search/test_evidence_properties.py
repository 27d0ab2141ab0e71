"""What holds for every text, however strange: offsets, order, budgets, repeatability, and an end."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.search.quote.evidence import (
    Quote,
    QuoteLimits,
    evidence,
    fitting_end,
    preview,
    question_tokens,
    quotable,
    window,
)
from clew.text.sentences import plain_spans, sentences
from clew.text.tokens import estimate_tokens

MARKUP = st.sampled_from(
    (
        *("lamp", "oil ", "e.g. ", ". ", "? ", "!\n", "\n", "\n\n", "\r\n", "- ", "1. ", "# ", "```", "~~~\n", "> "),
        *("| a | b |\n", "---|---\n", "===\n", "。", "」", "…", "’", "灯台", "לָמֶד", "İ", "ß", "👩\u200d👧"),
        *("\u2028", "\u00a0", "\x00", "\ud800", "**Level**: DEV | **Status**: Active\n", "*End* *lamp*\r\n"),
    )
)
ANY_TEXT = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=[]), max_size=300),
    st.lists(MARKUP, max_size=60).map("".join),
)
LIMITS = st.builds(
    QuoteLimits,
    max_quotes=st.integers(1, 8),
    max_quote_tokens=st.integers(1, 40),
    max_quote_chars=st.integers(1, 120),
    context_tokens=st.integers(0, 20),
)


# Verifies: REQ-d00034-E
@settings(max_examples=examples(300))
@given(ANY_TEXT)
def test_pieces_are_trimmed_ordered_and_apart_and_together_hold_every_letter(text: str) -> None:
    for spans in (plain_spans(text), tuple((piece.start, piece.end) for piece in sentences(text)), quotable(text)):
        place = 0
        for start, end in spans:
            assert place <= start < end <= len(text)
            assert text[start:end] == text[start:end].strip()
            place = end
    plain = "".join(text[start:end] for start, end in plain_spans(text))
    assert "".join(plain.split()) == "".join(text.split())
    kept = "".join(text[piece.start : piece.end] for piece in sentences(text))
    letters = [character for character in text if character.isalpha()]
    assert [character for character in kept if character.isalpha()] == letters


def check_quotes(quotes: tuple[Quote, ...], passages: list[str], limits: QuoteLimits) -> None:
    assert len(quotes) <= limits.max_quotes
    taken: list[tuple[int, int, int]] = []
    for quote in quotes:
        text = passages[quote.passage]
        assert 0 <= quote.context_start <= quote.start < quote.end <= quote.context_end <= len(text)
        assert 0.0 <= quote.score <= 1.0
        cut = text[quote.start : quote.end]
        assert cut == cut.strip()
        assert len(cut) <= limits.max_quote_chars
        assert estimate_tokens(cut) <= limits.max_quote_tokens
        assert estimate_tokens(text[quote.context_start : quote.start]) <= limits.context_tokens
        assert estimate_tokens(text[quote.end : quote.context_end]) <= limits.context_tokens
        assert not any(
            passage == quote.passage and start < quote.end and quote.start < end for passage, start, end in taken
        )
        taken.append((quote.passage, quote.start, quote.end))


# Verifies: REQ-d00034-E
@settings(max_examples=examples(300))
@given(ANY_TEXT, st.lists(ANY_TEXT, max_size=4), LIMITS)
@example("lamp", ["lamp"], QuoteLimits(max_quote_tokens=1))
def test_quotes_lie_in_their_passage_within_every_limit_best_first(
    question: str, passages: list[str], limits: QuoteLimits
) -> None:
    quotes = evidence(question, passages, limits)
    check_quotes(quotes, passages, limits)
    assert [quote.score for quote in quotes] == sorted((quote.score for quote in quotes), reverse=True)
    assert all((quote.score > 0) == bool(question_tokens(question)) for quote in quotes)
    assert quotes == evidence(question, passages, limits)


# Verifies: REQ-d00034-E
@settings(max_examples=examples(200))
@given(ANY_TEXT, ANY_TEXT, st.integers(1, 120), st.integers(1, 4))
def test_previews_are_spans_of_the_text_within_their_size(question: str, text: str, chars: int, spans: int) -> None:
    shown = preview(question, text, max_chars=chars, max_spans=spans)
    assert len(shown.text) <= chars
    assert "\n" not in shown.text
    assert len(shown.spans) <= spans
    # Of lines for programs nothing is shown.
    assert (shown.text == "") == (not [*quotable(text)])
    place = 0
    for span in shown.spans:
        assert place <= span.start < span.end <= len(text)
        assert " ".join(text[span.start : span.end].split()) in shown.text
        place = span.end
    assert shown == preview(question, text, max_chars=chars, max_spans=spans)


# Verifies: REQ-d00034-E
@settings(max_examples=examples(200))
@given(ANY_TEXT, st.integers(0, 300), st.integers(0, 300), st.integers(0, 30))
@example("\u2028A: : :A:", 9, 9, 5)
def test_cuts_and_windows_stay_inside_text_and_budget(text: str, one: int, other: int, tokens: int) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    cut = fitting_end(text, start, end, max_tokens=tokens)
    assert start <= cut <= end
    assert estimate_tokens(text[start:cut]) <= tokens
    first, last = window(text, start, end, tokens, tokens)
    assert 0 <= first <= start <= end <= last <= len(text)
    assert estimate_tokens(text[first:start]) <= tokens
    assert estimate_tokens(text[end:last]) <= tokens


REPEATED = (
    *("word ", "lamp. ", "a. ", "A. ", ".", ".)", "。", "İ", "👩\u200d👧", " ", "\n", " \n", "1", "-", "- ", "# a\n"),
    *("|", "-|", "|-", ">", "\t>", "`", "```x\n", "```x`\n"),
    *(
        "**Level**: a | ",
        "**Level**: a\n",
        "**Level**: a |\n",
        "```x\n**Level**: a\n",
        "~~~\n```\n*End* *",
        "*End* *x*\n",
    ),
)


# Verifies: REQ-d00034-E
@pytest.mark.parametrize("unit", REPEATED, ids=ascii)
def test_a_long_text_is_no_problem_whatever_it_repeats(unit: str) -> None:
    """A cut, a score or a search that were not linear in the text would not end here."""
    text = unit * (100_000 // len(unit)) + " lamp x"
    assert plain_spans(text)
    sentences(text)
    assert len(evidence("lamp", [text])) <= 6
    assert preview("lamp", text).text
