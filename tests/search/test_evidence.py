"""Evidence by the rule that can be checked by hand: question tokens, spans, scores, ties, cuts, context, previews."""

import pytest

from clew.errors import InvalidArgument
from clew.search.quote.evidence import Quote, QuoteLimits, evidence, fitting_end, preview, question_tokens, window
from clew.search.quote.structure import structure
from clew.text.tokens import estimate_tokens


def quoted(question: str, *passages: str, **limits: int) -> list[str]:
    return [
        passages[quote.passage][quote.start : quote.end]
        for quote in evidence(question, passages, QuoteLimits(**limits))
    ]


# Verifies: REQ-d00034-E
@pytest.mark.parametrize(
    ("question", "tokens"),
    [
        ("How do I mount the NFS share?", {"how", "mount", "the", "nfs", "share"}),
        ("snake_case, kebab-case & v4.4.1", {"snake", "case", "kebab"}),
        ("the the THE", {"the"}),
        ("S3?", {"s3"}),
        ("S3 bucket", {"bucket"}),
        ("IO, OK", {"io", "ok"}),
        ("a ? 1", set()),
        ("", set()),
        ("Größe der Datei", {"größe", "der", "datei"}),
        ("如何 配置文件", {"配置文件"}),
    ],
)
def test_tokens_are_lower_case_runs_of_three_characters_and_of_two_only_when_there_is_nothing_longer(
    question: str, tokens: set[str]
) -> None:
    assert question_tokens(question) == tokens


# Verifies: REQ-d00034-E
def test_the_score_is_the_share_of_question_tokens_that_the_span_has() -> None:
    text = "The mount command needs a share. Nothing here. Shares are listed below."
    quotes = evidence("mount share command options", [text])
    assert [(text[quote.start : quote.end], quote.score) for quote in quotes] == [
        ("The mount command needs a share.", 0.75)
    ]


# Verifies: REQ-d00034-E
def test_a_token_matches_whole_tokens_not_parts_of_words() -> None:
    assert quoted("art", "Start the engine. Modern art hangs here.") == ["Modern art hangs here."]


# Verifies: REQ-d00034-E
def test_a_token_counts_once_however_often_it_stands_there() -> None:
    text = "Lamp lamp lamp lamp. The lamp burns oil."
    assert quoted("lamp oil", text) == ["The lamp burns oil.", "Lamp lamp lamp lamp."]


# Verifies: REQ-d00034-E
def test_spans_end_at_blank_lines_bullets_and_sentence_marks_before_space() -> None:
    text = (
        "Lamp one\nstill one\n\nLamp two. Lamp three? Lamp four!\n- lamp five\n* lamp six\n3. lamp 7.5 seven\nand more"
    )
    assert sorted(quoted("lamp", text, max_quotes=20), key=text.index) == [
        "Lamp one\nstill one",
        "Lamp two.",
        "Lamp three?",
        "Lamp four!",
        "- lamp five",
        "* lamp six",
        "3. lamp 7.5 seven\nand more",
    ]


# Verifies: REQ-d00034-E
@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_fenced_block_is_one_span_whatever_is_in_it(fence: str, newline: str) -> None:
    block = newline.join([f"{fence}sh", "light the lamp. now!", "", "- not a bullet", fence])
    assert quoted("lamp bullet", newline.join(["Before it.", block, "After it."])) == [block]


# Verifies: REQ-d00034-E
def test_a_fence_that_is_never_closed_runs_to_the_end() -> None:
    assert quoted("lamp", "Text.\n```\nlight. lamp\n\nmore.") == ["```\nlight. lamp\n\nmore."]


# Verifies: REQ-d00034-E
def test_ties_go_to_the_shorter_span_then_the_earlier_one_then_the_earlier_passage() -> None:
    passages = [
        "The lamp burns for a long time. A lamp is lit. B lamp is lit.",
        "In the second there is. C lamp is lit.",
    ]
    quotes = evidence("lamp", passages)
    assert [passages[quote.passage][quote.start : quote.end] for quote in quotes] == [
        "C lamp is lit.",
        "A lamp is lit.",
        "B lamp is lit.",
        "The lamp burns for a long time.",
    ]
    same_place = evidence("lamp", ["Lamp.", "Lamp."])
    assert [quote.passage for quote in same_place] == [0, 1]


# Verifies: REQ-d00034-E
def test_spans_that_share_nothing_with_the_question_are_not_quoted() -> None:
    assert evidence("lighthouse", ["Nothing about it.", ""]) == ()
    assert evidence("lighthouse", []) == ()


# Verifies: REQ-d00034-E
def test_a_two_letter_question_still_finds_its_spans() -> None:
    assert quoted("S3?", "Buckets live in S3. Disks do not.") == ["Buckets live in S3."]


# Verifies: REQ-d00034-E
def test_a_question_without_tokens_quotes_the_beginnings_with_no_confidence() -> None:
    first, second = "The first sentence is long. Second.", "Other passage."
    quotes = evidence("?!", [first, second], QuoteLimits(max_quotes=3))
    assert [(quote.passage, quote.start, quote.score) for quote in quotes] == [(0, 0, 0.0), (1, 0, 0.0), (0, 28, 0.0)]


# Verifies: REQ-d00034-E
def test_no_more_quotes_than_asked_for() -> None:
    text = " ".join(f"Lamp number {number} burns." for number in range(50))
    assert len(evidence("lamp", [text])) == 6
    assert len(evidence("lamp", [text], QuoteLimits(max_quotes=2))) == 2


# Verifies: REQ-d00034-E
def test_a_long_span_is_cut_after_a_word_to_both_limits_and_says_so() -> None:
    text = "lamp " + "and oil " * 400
    (quote,) = evidence("lamp", [text])
    assert quote.truncated
    assert quote.score == 1.0
    assert estimate_tokens(text[quote.start : quote.end]) <= 80
    assert text[quote.end] == " "
    (by_characters,) = evidence("lamp", [text], QuoteLimits(max_quote_tokens=10_000))
    assert 490 <= by_characters.end - by_characters.start <= 500


# Verifies: REQ-d00034-E
def test_a_span_that_fits_is_not_cut() -> None:
    (quote,) = evidence("lamp", ["  The lamp burns.  "])
    assert quote == Quote(passage=0, start=2, end=17, score=1.0, truncated=False, context_start=2, context_end=17)


# Verifies: REQ-d00034-E
def test_context_is_beside_the_quote_and_limited_by_itself() -> None:
    text = "word " * 100 + "end. The lamp burns. " + "more " * 100
    (quote,) = evidence("lamp", [text], QuoteLimits(context_tokens=5))
    assert text[quote.start : quote.end] == "The lamp burns."
    before, after = text[quote.context_start : quote.start], text[quote.end : quote.context_end]
    assert before.split() == ["word", "word", "word", "end."]
    assert set(after.split()) == {"more"}
    assert max(estimate_tokens(before), estimate_tokens(after)) <= 5
    (bare,) = evidence("lamp", [text], QuoteLimits(context_tokens=0))
    assert (bare.context_start, bare.context_end) == (bare.start, bare.end)


# Verifies: REQ-d00034-E
def test_context_exists_where_nobody_puts_spaces_between_words() -> None:
    text = "灯台守は毎晩階段を上る" * 20
    first, last = window(text, 100, 110, 10, 10)
    assert first < 100
    assert last > 110


# Verifies: REQ-d00034-E
@pytest.mark.parametrize(
    "limits",
    [
        QuoteLimits(max_quotes=0),
        QuoteLimits(max_quote_tokens=0),
        QuoteLimits(max_quote_chars=-1),
        QuoteLimits(context_tokens=-1),
    ],
    ids=str,
)
def test_impossible_limits_are_refused(limits: QuoteLimits) -> None:
    with pytest.raises(InvalidArgument, match="must be at least"):
        evidence("lamp", ["lamp"], limits)


# Verifies: REQ-d00034-E
def test_a_quote_of_which_nothing_fits_is_left_out() -> None:
    assert evidence("lamp", ["lamp"], QuoteLimits(max_quote_tokens=1)) == ()


# Verifies: REQ-d00034-D
def test_the_preview_shows_the_best_spans_in_the_order_of_the_text() -> None:
    text = "Intro words. The lamp burns.\n\nFiller in between. Oil for the\n  lamp is here. End."
    shown = preview("lamp oil", text)
    assert shown.text == "The lamp burns. … Oil for the lamp is here."
    assert [text[span.start : span.end] for span in shown.spans] == ["The lamp burns.", "Oil for the\n  lamp is here."]
    assert shown.anchor == shown.spans[1]


# Verifies: REQ-d00034-D
def test_neighbouring_spans_of_a_preview_are_one() -> None:
    text = "Intro. The lamp burns. The oil is cheap. End."
    shown = preview("lamp oil", text)
    assert [text[span.start : span.end] for span in shown.spans] == ["The lamp burns. The oil is cheap."]
    assert shown.text == "The lamp burns. The oil is cheap."


# Verifies: REQ-d00034-D
def test_a_preview_begins_at_the_beginning_when_nothing_matches() -> None:
    assert preview("unrelated", "First one. Second one.\n\nThird. Fourth.").text == "First one. Second one. Third."
    assert preview("", "Only this").text == "Only this"
    assert preview("anything", " \n ").spans == ()
    assert preview("anything", "").anchor is None


# Verifies: REQ-d00034-D
def test_a_preview_has_at_most_so_many_characters_and_spans() -> None:
    text = " ".join(f"Lamp {number} burns the oil of the house all night." for number in range(30))
    assert len(preview("lamp oil", text).text) <= 280
    assert preview("lamp oil", text, max_chars=19).text == "Lamp 0 burns the"
    assert len(preview("lamp oil", text, max_spans=1, max_chars=10_000).spans) == 1
    with pytest.raises(InvalidArgument, match="0 characters"):
        preview("lamp", text, max_chars=0)


# Verifies: REQ-d00034-E
def test_a_long_span_leaves_room_for_a_short_one_only_when_it_fits_whole() -> None:
    text = "The lamp and the oil are kept here. " + "The lamp " + "burns " * 60 + "out. Lamp."
    assert preview("lamp oil", text, max_chars=60).text == "The lamp and the oil are kept here. … Lamp."


# Verifies: REQ-d00034-E
def test_a_cut_keeps_whole_words_unless_that_costs_half_the_text() -> None:
    assert fitting_end("one two three", 0, 13, max_chars=9) == 7
    assert fitting_end("one " + "x" * 100, 0, 104, max_chars=50) == 50
    assert fitting_end("one two", 0, 7) == 7
    assert fitting_end("one two", 4, 7, max_tokens=0) == 4


# Verifies: REQ-d00402-J
def test_lines_of_requirements_that_are_for_programs_are_no_evidence() -> None:
    text = "**Level**: DEV | **Status**: Active\r\n\r\nThe status lamp is lit.\r\n\r\n*End* *The status lamp*\r\n"
    (quote,) = evidence("the status", [text])
    assert text[quote.start : quote.end] == "The status lamp is lit."


# Verifies: REQ-d00402-J
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_they_are_no_evidence_either_where_no_blank_line_stands_beside_them(newline: str) -> None:
    lines = (
        "**Level**: DEV | **Status**: Active",
        "The status lamp is lit",
        "*End* *The status lamp* | **Hash**: 1a2b3c4d",
    )
    text = newline.join((*lines, "The status of another one"))
    quotes = evidence("the status", [text], QuoteLimits(max_quotes=5))
    assert {text[each.start : each.end] for each in quotes} == {"The status lamp is lit", "The status of another one"}
    assert "Level" not in preview("the active status", text).text


# Verifies: REQ-d00402-J
def test_one_line_that_is_no_field_leaves_those_above_it_what_they_are() -> None:
    fields = "**Level**: DEV | **Status**: Active\n"
    (found,) = structure(fields * 20_000 + "**Level**: DEV | nothing of the kind\n")
    assert found == (0, len(fields) * 20_000 - 1)


# Verifies: REQ-d00402-J
@pytest.mark.parametrize(
    "line",
    [
        "**Level**: Beginner | **Duration**: 45 minutes",
        "**Level:** Gold | **Discount:** 20 %\n**Level:** Silver | **Discount:** 10 %",
        "**Level**: DEV | **Status**: Active | **Owner**: the harbour master",
    ],
)
def test_lines_with_a_field_that_no_requirement_has_are_evidence(line: str) -> None:
    text = f"# Page\n\n{line}\n\nSomething else.\n"
    assert not structure(text)
    (quote,) = evidence(line.rpartition("**")[0].rpartition("**")[2], [text])
    assert text[quote.start : quote.end] == line


# Verifies: REQ-d00402-J
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("```x``` is inline.\n\n```\n{shown}\n```\n\n{own}\n", 1),
        ("```\n```text\n{shown}\n```\n\n{own}\n", 1),
        ("~~~ markdown\n```\n{shown}\n~~~~\n{own}", 1),
        ("````\r\n```\r\n{shown}\r\n```\r\n````\r\n{own}\r\n", 1),
        ("```\n{shown}\n{own}\n", 0),
    ],
)
def test_what_a_code_block_shows_is_what_is_cut_as_one(text: str, found: int) -> None:
    own = "**Level**: DEV | **Status**: Active | **Template**"
    text = text.format(shown="**Level**: OPS | **Status**: Draft", own=own)
    assert [text[start:end] for start, end in structure(text)] == [own] * found
