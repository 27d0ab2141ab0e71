"""Windows: as much of a text as a quote may hold, chosen by what it says and where it stands."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.search.embed.opening import open_word_vectors
from clew.search.quote.definitions import definition_of
from clew.search.quote.evidence import QuoteLimits
from clew.search.quote.names import names_in, naming, term_weights, word_pairs
from clew.search.quote.windows import Passage, WeightedQuestion, window_evidence, windows
from clew.text.tokens import estimate_tokens

SMALL = QuoteLimits(max_quotes=2, max_quote_tokens=12, max_quote_chars=120)
TEXT = """# Bells

The fog bell rings every thirty seconds. It hangs in the tower.

- one for fog, e.g. in autumn
- one for storms

```sh
ring --twice
```

| bell | sound |
|---|---|
| fog | low |
"""


def quoted(weights: dict[str, float], passages: list[Passage], limits: QuoteLimits | None = None) -> list[str]:
    found = window_evidence(WeightedQuestion("", weights), passages, limits)
    return [passages[quote.passage].text[quote.start : quote.end] for quote in found]


# Verifies: REQ-d00186-A
@settings(max_examples=examples(300))
@given(
    pieces=st.lists(
        st.sampled_from([TEXT, "a", "x" * 200, "One. Two? Three!", "\n\n", "- item\n", "```\nnever closed", "|a|b|\n"])
    ),
    tokens=st.integers(1, 90),
    characters=st.integers(1, 500),
)
def test_windows_fit_into_a_quote_do_not_overlap_and_leave_nothing_out(
    pieces: list[str], tokens: int, characters: int
) -> None:
    text = "\n".join(pieces)
    limits = QuoteLimits(max_quote_tokens=tokens, max_quote_chars=characters)
    end = 0
    for start, last in windows(text, limits):
        assert end <= start < last
        assert not any(letter.isalpha() for letter in text[end:start])
        assert last - start <= characters
        assert estimate_tokens(text[start:last]) <= tokens or last - start == 1
        end = last
    assert not any(letter.isalpha() for letter in text[end:])


# Verifies: REQ-d00186-A
def test_a_window_ends_where_a_sentence_an_item_or_a_code_block_does() -> None:
    found = [TEXT[start:end] for start, end in windows(TEXT, SMALL)]
    assert found[0].endswith("every thirty seconds.")
    assert any("ring --twice" in each and each.count("```") == 2 for each in found)
    assert any("e.g. in autumn" in each for each in found)


# Verifies: REQ-d00186-A
def test_what_introduces_something_is_quoted_with_it() -> None:
    text = """The tower has two bells and a lamp that turns.

| bell | sound |
|---|---|
| fog | low |

Ring both of them:

```sh
ring --twice
```

A. A keeper is on watch.
B. All lamps are lit."""
    found = [text[start:end] for start, end in windows(text, QuoteLimits(max_quote_tokens=20, max_quote_chars=500))]
    assert found[0] == "The tower has two bells and a lamp that turns."
    assert found[1].startswith("| bell")
    assert any(each.startswith("Ring both of them:") and "ring --twice" in each for each in found)
    assert not any(each.endswith((":", "B.", "sound |")) for each in found)


# Verifies: REQ-d00186-B
def test_the_sentence_beside_the_words_of_the_question_is_quoted_with_them() -> None:
    text = "How often does the fog bell ring? Every thirty seconds."
    assert quoted({"fog": 3.0, "bell": 2.0}, [Passage(text, "", 1.0)]) == [text]


# Verifies: REQ-d00186-B
def test_headings_and_a_better_passage_count_for_a_window() -> None:
    plain = "It is thirty seconds long and the same every time."
    under = Passage(plain, "Harbour > Fog bell", 0.5)
    other = Passage(plain.replace("thirty", "sixty"), "Harbour > Lamp", 0.5)
    assert quoted({"fog": 3.0, "bell": 2.0}, [other, under])[0] == under.text
    assert quoted({"fog": 3.0}, [Passage("The fog is thick.", "", 0.2), Passage("The fog is thin.", "", 1.0)])[0] == (
        "The fog is thin."
    )


# Verifies: REQ-d00186-C
def test_what_shares_nothing_with_the_question_is_quoted_only_where_nothing_does() -> None:
    passages = [Passage("The lamp is lit.", "", 1.0), Passage("The fog bell rings.", "", 0.1)]
    assert quoted({"fog": 1.0}, passages) == ["The fog bell rings."]
    assert quoted({"whale": 1.0}, passages) == ["The lamp is lit.", "The fog bell rings."]
    far = window_evidence(WeightedQuestion("whale", {"whale": 1.0}), passages)
    assert not any(quote.may_answer for quote in far)
    assert all(quote.score < 0.03 for quote in far)
    assert quoted({"whale": 1.0}, []) == []


# Verifies: REQ-d00186-A
def test_the_head_of_a_table_is_told_by_the_line_below_it() -> None:
    limits = QuoteLimits(max_quote_tokens=14, max_quote_chars=200)
    narrow = "The tower has two bells and a lamp.\n\n| bell | sound |\n| - | - |\n| fog | low |"
    assert [narrow[start:end] for start, end in windows(narrow, limits)][1].startswith("| bell | sound |")
    last = "| bell | sound |\n|---|---|\n| fog | low |\n\n---\n\nThe lamp turns once in every ten seconds."
    assert [last[start:end] for start, end in windows(last, limits)][-1] == "The lamp turns once in every ten seconds."


# Verifies: REQ-d00186-E
def test_a_word_that_means_nearly_the_same_counts_where_words_can_be_compared() -> None:
    passages = [Passage("The lamp was painted in spring.", "", 1.0), Passage("Remove the log by hand.", "", 1.0)]
    asked = WeightedQuestion("How can it be deleted?", {"delet": 1.0})
    assert [quote.passage for quote in window_evidence(asked, passages)] == [0, 1]
    compared = WeightedQuestion(asked.text, asked.rarities, open_word_vectors())
    assert [quote.passage for quote in window_evidence(compared, passages)] == [1]
    same = [Passage("It is deleted at noon.", "", 1.0), *passages]
    found = window_evidence(compared, same)
    assert [(quote.passage, quote.may_answer) for quote in found[:2]] == [(0, True), (2, True)]
    assert found[0].score > found[1].score


# Verifies: REQ-d00402-A
def test_a_window_that_means_what_is_asked_comes_before_one_with_the_same_words() -> None:
    near = "A crew goes ashore when the work is done.\n\nThe tower is painted white and has no crew of its own at all."
    limits = QuoteLimits(max_quote_tokens=14, max_quote_chars=90)
    asked = WeightedQuestion("crew free evening", {"crew": 1.0, "free": 1.0, "even": 1.0})
    by_words = window_evidence(asked, [Passage(near, "", 1.0)], limits)
    assert near[by_words[0].start :].startswith("A crew")
    # The likeness is that of windows of the usual size, of which this text has one.
    both = [Passage(near, "", 1.0, [0.1]), Passage("Sailors may leave the ship at six.", "", 1.0, [0.9])]
    by_meaning = window_evidence(asked, both, limits)
    assert by_meaning[0].passage == 1
    assert by_meaning[0].may_answer
    other_scale = WeightedQuestion(asked.text, asked.rarities, is_calibrated=False)
    assert not window_evidence(other_scale, both[1:], limits)[0].may_answer


# Verifies: REQ-d00402-A+D
def test_what_follows_the_words_of_the_question_comes_before_what_stands_alone() -> None:
    table = "The fog signals are these:\n\n- a bell in the tower\n\n- a horn on the pier\n\nThe lamp has its own page."
    limits = QuoteLimits(max_quotes=2, max_quote_tokens=9, max_quote_chars=40)
    far = Passage("The pilots have a signal too.", "", 0.6)
    shown = quoted({"fog": 3.0, "signal": 1.0}, [Passage(table, "", 1.0), far], limits)
    assert shown == ["The fog signals are these:", "- a bell in the tower"]


# Verifies: REQ-d00403-D
def test_a_question_of_names_asks_more_of_its_answer_than_one_of_everyday_words() -> None:
    known = open_word_vectors()
    rarities = {"creat": 2.0, "docker": 4.0, "volum": 3.0}
    assert naming("How do I create a Docker volume?", rarities, known) == 1.0
    assert naming("How do I create a docker volume?", rarities, None) == 0.0
    assert naming("How do I make a thing?", {"thing": 2.0}, known) == 0.0
    assert names_in("Can somebody else's letter-box use keep_alive in nginx?", known) == {
        "keep_alive": True,
        "nginx": False,
    }
    text = "Docker is one way to start it, and there are others."
    plain = WeightedQuestion("", rarities)
    named = WeightedQuestion("", rarities, naming=1.0)
    assert window_evidence(plain, [Passage(text, "", 1.0)])[0].may_answer
    weak = window_evidence(named, [Passage(text, "", 1.0)])[0]
    assert not weak.may_answer
    assert weak.score < window_evidence(plain, [Passage(text, "", 1.0)])[0].score
    full = Passage("Create the Docker volume first.", "", 1.0)
    assert window_evidence(named, [full])[0].may_answer


# Verifies: REQ-d00403-F
def test_a_document_that_is_only_shown_answers_nothing() -> None:
    asked = WeightedQuestion("", {"bake": 3.0, "bread": 3.0})
    said = "The oven bakes bread before six."
    assert window_evidence(asked, [Passage(f"An example:\n\n```text\n{said}\n```\n", "", 1.0)])[0].may_answer
    shown = Passage(f"An example:\n\n```markdown\n{said}\n```\n", "", 1.0)
    (quote,) = window_evidence(asked, [shown])
    assert not quote.may_answer
    assert said in shown.text[quote.start : quote.end]
    outside = Passage(f"{shown.text}\n{said}\n", "", 1.0)
    assert any(each.may_answer for each in window_evidence(asked, [outside]))


# Verifies: REQ-d00403-B
def test_shared_words_alone_do_not_answer_what_is_far_in_meaning() -> None:
    asked = WeightedQuestion("Why is the sky blue?", {"sky": 3.0, "blue": 2.0})
    far, near = Passage("SKY is drawn in blue.", "", 1.0, [0.1]), Passage("The sky is blue.", "", 1.0, [0.6])
    assert not window_evidence(asked, [far])[0].may_answer
    # What may answer comes first, however well the rest was found.
    found = window_evidence(asked, [far, Passage(near.text, "", 0.1, near.likeness)])
    assert [(quote.passage, quote.may_answer) for quote in found] == [(1, True), (0, False)]


# Verifies: REQ-d00402-D
def test_an_identifier_counts_whole_besides_its_parts() -> None:
    parts = Passage("Every result is kept in the store; none is lost.", "", 1.0)
    whole = Passage("Pass store_none to keep it.", "", 1.0)
    weights = {"store": 1.0, "none": 1.0, "storenone": 4.0}
    assert quoted(weights, [parts, whole])[0] == whole.text


# Verifies: REQ-d00403-D
def test_capital_words_beside_each_other_are_one_name_where_each_alone_says_little() -> None:
    known = open_word_vectors()
    assert "Time Machine" in names_in("How do I restore a Time Machine volume?", known)
    assert not [name for name in names_in("Does Huey Redis storage work?", known) if " " in name]
    assert not [name for name in names_in("What Does It do?", known) if " " in name]
    assert not [name for name in names_in("Is it old? Minimum Python version?", known) if " " in name]


# Verifies: REQ-d00366-E
@pytest.mark.parametrize(
    ("question", "text", "defines"),
    [
        ("what is click?", "Click is a package for command lines.", True),
        ("What is a group?", "Much else. A *group* is the thing that holds commands.", True),
        ("what are tasks", "- **Tasks**: functions that run later", True),
        ("what is click?", "import click\n\n@click.command()", False),
        ("What is a context?", "The context is now closed before it is popped.", False),
        ("How do I start it?", "It is a server.", False),
        ("What is the best way to keep a very long list of ports in order?", "It is a list.", False),
    ],
)
def test_a_sentence_that_says_what_something_is_is_known(question: str, text: str, defines: bool) -> None:
    definition = definition_of(question)
    assert (definition is not None and definition.search(text) is not None) is defines


# Verifies: REQ-d00402-E
def test_a_name_is_quoted_with_the_text_that_explains_it() -> None:
    before = "The bell rings when fog comes in from the sea at night."
    text = f"{before}\n\n`bell_seconds`\n\n  How long the pause between two strokes is.\n"
    limits = QuoteLimits(max_quote_tokens=20, max_quote_chars=120)
    assert [text[start:end].split()[0] for start, end in windows(text, limits)] == ["The", "`bell_seconds`"]
    listed = f"{before}\n\n`bell_seconds`\n\nHow long the pause between two strokes is.\n"
    assert [listed[start:end].split()[0] for start, end in windows(listed, limits)] == ["The", "How"]


# Verifies: REQ-d00402-F
def test_neither_headings_nor_repetitions_are_quoted() -> None:
    step = "Run the fog bell once to hear that it works."
    text = f"# Fog bell\n\n{step}\n\n# Fog bell again\n\n{step}\n\n# The lamp\n\nThe lamp of the fog bell turns.\n"
    limits = QuoteLimits(max_quotes=9, max_quote_tokens=12, max_quote_chars=120)
    found = quoted({"fog": 1.0, "bell": 1.0}, [Passage(text, "", 1.0)], limits)
    assert sorted(found) == [step, "The lamp of the fog bell turns."]


# Verifies: REQ-d00402-F
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("must be", "must not be"),
        ("30 seconds", "90 seconds"),
        ("before", "after"),
        ("bell.ring >= 3", "bell.ring <= 3"),
        ("-v", "-V"),
    ],
)
def test_what_contradicts_a_quote_is_quoted_too(one: str, other: str) -> None:
    start, end = "The keeper of the fog bell in the northern tower writes down that it", "rung on every ship at night."
    passages = [Passage(f"{start} {words} {end}", "", 1.0) for words in (one, other)]
    assert quoted({"fog": 1.0, "bell": 1.0}, passages) == [passage.text for passage in passages]
    again = [Passage(f"{start}  **{one}** {end}\n", "", 1.0), passages[0]]
    assert len(quoted({"fog": 1.0, "bell": 1.0}, again)) == 1


# Verifies: REQ-d00402-G
def test_the_kind_of_a_named_thing_counts_little() -> None:
    known = open_word_vectors()
    weights = {"depends_on": 4.0, "argument": 4.0}
    assert term_weights("What does the depends_on argument do?", weights, known) == {"depends_on": 4.0, "argument": 1.0}
    assert term_weights("What is an argument?", {"argument": 4.0}, known) == {"argument": 4.0}


# Verifies: REQ-d00403-H
def test_what_is_written_as_code_is_a_name() -> None:
    known = open_word_vectors()
    assert names_in("What does --force-ring do?", known) == {"force-ring": True}
    assert names_in("What does bell.ring do with mode = fast?", known) == {
        "bell.ring": True,
        "bell": False,
        "mode": True,
    }
    assert names_in("Does it ring in fog? It does.", known) == {}


# Verifies: REQ-d00403-G
def test_more_is_asked_where_the_words_beside_a_name_stand_nowhere() -> None:
    known = open_word_vectors()
    assert word_pairs("How do I add a thread group in Locust?", known) == ("thread group",)
    assert word_pairs("How do I add a thread group?", known) == ()
    assert word_pairs("What happens with an unknown key in harbour.toml?", known) == ()
    text = Passage("Locust adds a group of users, each in a thread.", "", 1.0)
    rarities = {"add": 1.0, "thread": 3.0, "group": 3.0, "locust": 1.0, "nothing": 9.0}
    assert window_evidence(WeightedQuestion("", rarities), [text])[0].may_answer
    unheard = WeightedQuestion("", rarities, lacks_word_pairs=True)
    assert not window_evidence(unheard, [text])[0].may_answer


# Verifies: REQ-d00186-A
def test_a_window_without_a_word_is_not_quoted() -> None:
    table = "| fog bell | low |\n+----------------+----------------+\n| storm bell | high |"
    found = quoted({"bell": 1.0}, [Passage(table, "", 1.0)], QuoteLimits(max_quote_tokens=8))
    assert len(found) > 1
    assert all(any(letter.isalpha() for letter in quote) for quote in found)


# Verifies: REQ-d00402-H
def test_addresses_that_links_lead_to_are_not_quoted() -> None:
    text = "The [foghorn] stands on the pier.\n\n" + "\n".join(
        f"[foghorn{place}]: https://example.org/foghorn/{place} 'A foghorn'" for place in range(40)
    )
    found = quoted({"foghorn": 1.0}, [Passage(text, "", 1.0)])
    assert found[0].startswith("The [foghorn] stands on the pier.")
    assert not any(quote.startswith("[foghorn") for quote in found)


# Verifies: REQ-d00402-H
@pytest.mark.parametrize(
    ("line", "is_read"),
    [
        ("[^1]: https://example.org/limits says that the foghorn sounds every thirty seconds.", True),
        ("[^foghorn]: https://example.org/limits", True),
        ("[error]: /var/log failed, so the foghorn is silent until noon.", True),
        ("[lamp]: <https://example.org/foghorn> 'A foghorn'", False),
        ('[lamp]: https://example.org/foghorn "A foghorn" ', False),
        ("[lamp]: ./foghorn.md (A foghorn)", False),
        ("[lamp]: #foghorn\r", False),
    ],
)
def test_a_footnote_and_a_sentence_that_begin_like_the_target_of_a_link_are_read(line: str, is_read: bool) -> None:
    text = "Piers are long and made of wood. " * 30 + f"\n\n{line}\n"
    found = quoted({"foghorn": 1.0}, [Passage(text, "", 1.0)])
    assert ("oghorn" in found[0]) is is_read


# Verifies: REQ-d00402-I
def test_a_window_that_waits_for_its_vector_is_not_behind_those_that_have_one() -> None:
    waiting = Passage("The fog is thin.", "", 1.0)
    others = [Passage("The fog is thick.", "", 0.9, [0.3]), Passage("The lamp is lit.", "", 0.5, [0.5])]
    assert quoted({"fog": 3.0}, [*others, waiting])[0] == waiting.text
    nearer = Passage("The fog is grey.", "", 0.9, [0.7])
    assert quoted({"fog": 3.0}, [*others, waiting, nearer])[0] == nearer.text
