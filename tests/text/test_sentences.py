"""Sentences of prose and of markdown, as offsets into the text."""

from clew.text.sentences import TextKind, sentences


def pieces(text: str) -> list[tuple[TextKind, str]]:
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
        (TextKind.HEADING, "Lamp"),
        (TextKind.HEADING, "Lens"),
        (TextKind.PROSE, "Two sentences."),
        (TextKind.PROSE, "Here\r\nthey are."),
        (TextKind.ITEM, "quoted item."),
        (TextKind.ITEM, "With two"),
        (TextKind.ITEM, "first\r\n   goes on"),
        (TextKind.ROW, "| a | b |"),
        (TextKind.ROW, "| c. d | e |"),
        (TextKind.ROW, "x | y"),
        (TextKind.ROW, "1 | 2"),
        (TextKind.CODE, "```\r\ncode. block\r\n\r\n```"),
        (TextKind.PROSE, "after | all"),
    ]
