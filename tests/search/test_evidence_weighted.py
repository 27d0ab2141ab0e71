"""Evidence with judgement: rare terms, complementary quotes, headings, long blocks."""

from collections import Counter

from clew.search.evidence import Limits, weighted_evidence
from clew.text.keywords import keywords
from clew.text.sentences import Kind, sentences

CORPUS = [
    "The keeper trims the lamp every evening. The keeper writes the hour into the log.",
    "The keeper polishes the lens, e.g. with soft leather. The fog bell rings every thirty seconds.",
    "The keeper of the harbour collects the fees.",
]
FREQUENCIES = Counter(word for text in CORPUS for word in keywords(text))


def quoted(question: str, passages: list[str], limits: Limits | None = None) -> list[str]:
    found = weighted_evidence(question, passages, FREQUENCIES.__getitem__, len(CORPUS), limits=limits)
    return [passages[quote.passage][quote.start : quote.end] for quote in found]


def test_a_rare_word_outweighs_a_frequent_one() -> None:
    texts = ["The keeper sleeps.", "The bell is loud and hangs in the tower."]
    assert quoted("keeper bell", texts)[0] == "The bell is loud and hangs in the tower."


def test_what_is_quoted_already_counts_less() -> None:
    texts = ["The fog bell is loud. The fog bell is very loud. The lens is clean at last."]
    assert quoted("fog lens", texts, Limits(max_quotes=2)) == ["The fog bell is loud.", "The lens is clean at last."]


def test_confidence_does_not_shrink_with_what_was_quoted_before() -> None:
    scores = [
        quote.score
        for quote in weighted_evidence("bell", ["A bell. Two bell towers."], FREQUENCIES.__getitem__, len(CORPUS))
    ]
    assert scores == [1.0, 1.0]


def test_an_abbreviation_does_not_end_a_quote() -> None:
    assert quoted("leather", CORPUS) == ["The keeper polishes the lens, e.g. with soft leather."]


def test_a_heading_gives_way_to_the_sentence_under_it() -> None:
    texts = ["## Fog bell\n\nThe fog bell rings every thirty seconds."]
    assert quoted("fog bell", texts, Limits(max_quotes=1)) == ["The fog bell rings every thirty seconds."]
    assert quoted("fog bell", ["## Fog bell\n\nNothing else."]) == ["Fog bell"]


def test_the_answer_deep_inside_a_long_block_is_quoted() -> None:
    block = "```\n" + "\n".join(f"setting_{number} = {number}" for number in range(300)) + "\nbell = 30\n```"
    (quote,) = quoted("bell", [block])
    assert "bell = 30" in quote
    assert len(quote) <= 500


def test_two_letter_terms_count_and_stop_words_do_not() -> None:
    assert quoted("what is the S3", ["What is the matter. Data is in S3."]) == ["Data is in S3."]


def test_the_callers_own_terms_are_used_for_question_and_text() -> None:
    found = weighted_evidence(
        "BELLS", ["The bell rings."], lambda term: 1, 10, terms=lambda text: (word[:4] for word in keywords(text))
    )
    assert len(found) == 1


def test_nothing_in_common_quotes_nothing_and_nothing_asked_quotes_the_beginning() -> None:
    assert quoted("submarine", CORPUS) == []
    assert quoted("the ?", CORPUS)[0] == "The keeper trims the lamp every evening."


def test_frequencies_beyond_the_number_of_documents_do_no_harm() -> None:
    found = weighted_evidence("bell", ["A bell."], lambda term: 99, 3)
    assert [quote.score for quote in found] == [1.0]


def pieces(text: str) -> list[tuple[Kind, str]]:
    return [(piece.kind, text[piece.start : piece.end]) for piece in sentences(text)]


def test_sentences_know_abbreviations_initials_versions_and_numbers() -> None:
    text = (
        "Dr. Ada B. Lovelace wrote it, e.g. No. 5 in vol. 2, pp. 3. It runs on v4.4. and later. "
        "See Fig. 3 vs. Fig. 4! Acme Inc. makes it. Sold by Acme Inc. The end?"
    )
    assert [piece for _, piece in pieces(text)] == [
        "Dr. Ada B. Lovelace wrote it, e.g. No. 5 in vol. 2, pp. 3.",
        "It runs on v4.4. and later.",
        "See Fig. 3 vs. Fig. 4!",
        "Acme Inc. makes it.",
        "Sold by Acme Inc.",
        "The end?",
    ]


def test_sentences_end_with_their_closing_quotes_and_brackets() -> None:
    assert [piece for _, piece in pieces('He said "Stop!" and left. (He did.) "Why?" Nobody knows...')] == [
        'He said "Stop!" and left.',
        "(He did.)",
        '"Why?"',
        "Nobody knows...",
    ]


def test_sentences_end_at_the_marks_of_other_scripts() -> None:
    assert [piece for _, piece in pieces("今日は晴れ。「明日は？」と聞いた。")] == [
        "今日は晴れ。",
        "「明日は？」",
        "と聞いた。",
    ]
    assert [piece for _, piece in pieces("यह दीपक है। वह समुद्र है।")] == ["यह दीपक है।", "वह समुद्र है।"]


def test_markdown_is_cut_into_headings_items_rows_and_code() -> None:
    text = "\r\n".join(
        [
            "# Lamp",
            "Lens",
            "----",
            "Two sentences. Here",
            "they are.",
            "> - quoted item. With two",
            "1) first",
            "   goes on",
            "| a | b |",
            "|---|---|",
            "| c. d | e |",
            "x | y",
            ":-- | --:",
            "1 | 2",
            "",
            "```",
            "code. block",
            "",
            "```",
            "after | all",
        ]
    )
    assert pieces(text) == [
        (Kind.HEADING, "Lamp"),
        (Kind.HEADING, "Lens"),
        (Kind.PROSE, "Two sentences."),
        (Kind.PROSE, "Here\r\nthey are."),
        (Kind.ITEM, "quoted item."),
        (Kind.ITEM, "With two"),
        (Kind.ITEM, "first\r\n   goes on"),
        (Kind.ROW, "| a | b |"),
        (Kind.ROW, "| c. d | e |"),
        (Kind.ROW, "x | y"),
        (Kind.ROW, "1 | 2"),
        (Kind.CODE, "```\r\ncode. block\r\n\r\n```"),
        (Kind.PROSE, "after | all"),
    ]
