"""Whole units: what belongs together is quoted together, and nothing of its neighbour."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.search.quote.blocks import BlockForm
from clew.search.quote.certainty import RATES, Certainty, QuoteSupport
from clew.search.quote.evidence import QuoteLimits
from clew.search.quote.whole import CUT, says_nothing, whole_units
from clew.search.quote.windows import Passage, WeightedQuestion, window_evidence
from clew.text.tokens import estimate_tokens

SETTINGS = """## Fog

* `--bell <int>` - How many seconds lie between two strokes. Ships hear it from two miles. **Default:** *30*.
* `--horn <str>` - Which horn is blown when the bell is silent, and by whom it is blown. **Options:** *low, high*.
    * The high one needs a keeper who has had it in hand before.
"""
ITEMS = ("`--bell", "`--horn")


def shown(text: str, tokens: int = 80) -> list[str]:
    limits = QuoteLimits(max_quote_tokens=tokens)
    return [text[unit.start : unit.end] for unit in whole_units(text, limits)]


def quotes(text: str, weights: dict[str, float], tokens: int = 80) -> list[str]:
    from clew.search.quote.whole import quote_text

    limits = QuoteLimits(max_quote_tokens=tokens)
    found = window_evidence(WeightedQuestion("", weights), [Passage(text, "", 1.0)], limits)
    return [quote_text(text, quote) for quote in found]


# Verifies: REQ-d00402-L
def test_an_item_is_quoted_whole_and_without_its_neighbour() -> None:
    bell, horn = shown(SETTINGS)
    assert bell.startswith("* `--bell")
    assert bell.endswith("**Default:** *30*.")
    assert horn.startswith("* `--horn")
    assert horn.endswith("in hand before.")
    assert [sum(name in each for name in ITEMS) for each in (bell, horn)] == [1, 1]


# Verifies: REQ-d00402-L
@pytest.mark.parametrize(
    "text",
    [
        "bell\n: Rings in fog.\n\nhorn\n: Is blown in storms, and in fog when the bell is silent.\n",
        "bell\n    Rings in fog.\n\nhorn\n    Is blown in storms, and in fog when the bell is silent.\n",
        ":bell: Rings in fog.\n:horn: Is blown in storms,\n   and in fog when the bell is silent.\n",
        "`bell`\n\n  Rings in fog.\n\n`horn`\n\n  Is blown in storms, and in fog when the bell is silent.\n",
        ":::{confval} bell\nRings in fog.\n:::\n\n```{confval} horn\nIs blown in storms when no bell is rung.\n```\n",
    ],
)
def test_definitions_fields_and_directives_are_units_with_their_names(text: str) -> None:
    bell, horn = shown(text, tokens=30)
    assert "bell" in bell
    assert "Rings in fog." in bell
    assert "horn" not in bell
    assert "horn" in horn
    assert "storms" in horn


# Verifies: REQ-d00402-L
def test_a_setting_goes_with_its_heading_and_its_default() -> None:
    text = "### BELL_SECONDS\n\nDefault: `30`\n\nThe pause between two strokes.\n"
    assert shown(text) == [text.strip()]
    rest = "It is measured by the clock of the tower, which a keeper winds every morning before the first ship. "
    first, *others = shown(text + "\n" + rest * 4)
    assert first.startswith("### BELL_SECONDS\n\nDefault: `30`")
    assert all("Default" not in each for each in others)


# Verifies: REQ-d00402-L
@pytest.mark.parametrize(
    "text",
    [
        "### bellSeconds\n\n+ Default: `30`\n\nThe pause between two strokes of the fog bell on the pier.",
        "### bell_seconds\n\nThe pause between two strokes of the fog bell on the pier.\n\n**default**: `30`",
    ],
)
def test_a_default_stays_with_what_it_is_the_default_of(text: str) -> None:
    rest = "A keeper winds the clock of the tower every morning before the first ship is seen from the pier. " * 4
    found = shown(f"{text}\n\n## Other\n\n{rest}\n")
    assert found[0] == text
    below = shown(f"{rest}\n\n{text}\n", tokens=60)
    assert below[-1] == text


# Verifies: REQ-d00402-L
@pytest.mark.parametrize(
    ("head", "row", "end"),
    [
        ("| bell | sound |\n|---|---|\n", "| fog {0} | low tone number {0} of the tower |\n", ""),
        (
            "====== ======\nbell   sound\n====== ======\n",
            "fog {0}  low tone number {0} of the tower\n",
            "====== ======\n",
        ),
        (
            "+------+-------+\n| bell | sound |\n+======+=======+\n",
            "| fog {0} | low tone {0} |\n+------+-------+\n",
            "",
        ),
    ],
)
def test_a_row_is_quoted_with_the_head_of_its_table(head: str, row: str, end: str) -> None:
    text = head + "".join(row.format(number) for number in range(30)) + end
    found = quotes(text, {"17": 3.0}, tokens=40)[0]
    said = found.splitlines()
    assert "bell" in said[0]
    assert "sound" in said[0]
    assert "fog 17" in said[1]
    assert len(said) == 2


# Verifies: REQ-d00402-L
def test_code_is_quoted_with_what_announces_it() -> None:
    announced = "Ring it like this:\n\n```sh\nring --twice\n```"
    text = f"The tower is white and stands alone on the pier of the harbour, where all see it.\n\n{announced}\n"
    assert shown(text, tokens=26)[-1] == announced


# Verifies: REQ-d00402-L
def test_what_is_too_long_is_cut_at_a_sentence_and_shows_it() -> None:
    text = " ".join(f"The keeper of tower {number} rings the bell of fog." for number in range(20))
    found = quotes(text, {"bell": 1.0}, tokens=40)
    assert all(each.removesuffix(CUT).removeprefix(CUT).strip().endswith("fog.") for each in found)
    assert all(each.removeprefix(CUT).strip().startswith("The keeper") for each in found)
    assert any(each.endswith(CUT) for each in found)
    assert any(each.startswith(CUT) for each in found)


# Verifies: REQ-d00402-L
@settings(max_examples=examples(200))
@given(
    pieces=st.lists(
        st.sampled_from(
            [SETTINGS, "a", "x" * 300, "One. Two? Three!", "\n\n", "- item\n", "```\nopen", "|a|b|\n|-|-|\n"]
        )
    ),
    tokens=st.integers(2, 90),
    characters=st.integers(5, 500),
)
def test_units_fit_into_a_quote_and_are_in_the_order_of_the_text(
    pieces: list[str], tokens: int, characters: int
) -> None:
    text = "\n".join(pieces)
    limits = QuoteLimits(max_quote_tokens=tokens, max_quote_chars=characters)
    end = 0
    for unit in whole_units(text, limits):
        assert end <= unit.start < unit.end <= len(text)
        own = text[unit.start : unit.end]
        lead = text[slice(*unit.lead)] if unit.lead is not None else ""
        assert len(own) + len(lead) <= characters
        assert estimate_tokens(own) + estimate_tokens(lead) <= tokens or len(own) == 1
        end = unit.end


# Verifies: REQ-d00402-M
@pytest.mark.parametrize(
    ("text", "form", "nothing"),
    [
        ("- [Themes](themes.md)", BlockForm.ITEM, True),
        ("- [`bell_seconds`](#bell-seconds)", BlockForm.ITEM, True),
        ("- [`bell`](#bell) `horn`", BlockForm.ITEM, False),
        ("- [Themes](themes.md): how pages look", BlockForm.ITEM, False),
        ("[a](a.md) | [b](b.md) | [c](c.md)", BlockForm.PROSE, True),
        ("[![build](https://example.org/a.svg)](https://example.org) |coverage|", BlockForm.PROSE, True),
        ("See the [project license](license.md) for further details.", BlockForm.PROSE, False),
        ("2026-01-01 10:00:01 bell rang\n2026-01-01 10:00:31 bell rang\n2026-01-01 10:01:01 end", BlockForm.CODE, True),
        ("ring --at 10:00:01\nring --at 10:00:31\nring --end", BlockForm.CODE, False),
        ("Rings in fog.", BlockForm.PROSE, False),
    ],
)
def test_lists_of_links_badges_and_logs_say_nothing(text: str, form: BlockForm, nothing: bool) -> None:
    assert says_nothing(text, form) is nothing


# Verifies: REQ-d00402-F
def test_copies_are_one_quote_with_places() -> None:
    step = "Run the fog bell once to hear that it works."
    passages = [Passage(step, "", 1.0), Passage(f"## Again\n\n{step}", "", 0.9), Passage(f"- {step}", "", 0.8)]
    (quote,) = window_evidence(WeightedQuestion("", {"bell": 1.0}), passages)
    assert (quote.passage, [passage for passage, _, _ in quote.also]) == (0, [1, 2])


# Verifies: REQ-d00402-B, REQ-d00403-I
def test_the_share_of_the_question_decides_how_sure_a_quote_is() -> None:
    def certainty(same: float, telling: float = 5.0, near: float | None = 0.5, may: bool = True) -> Certainty:
        return QuoteSupport(same, telling, near, may).certainty

    assert certainty(1.0) is Certainty.SURE
    assert certainty(1.0, near=None) is Certainty.SURE
    assert certainty(0.7) is Certainty.LIKELY
    assert certainty(0.3) is Certainty.UNSURE
    assert certainty(1.0, near=0.1) is Certainty.UNSURE
    assert certainty(1.0, telling=0.2) is Certainty.UNSURE
    assert certainty(1.0, may=False) is Certainty.UNSURE
    assert QuoteSupport(1.0, 0.2, 0.5, True, names=True).certainty is Certainty.SURE
    assert QuoteSupport(0.3, 0.2, 0.5, True, defines=True).certainty is Certainty.LIKELY
    assert RATES[Certainty.SURE] > RATES[Certainty.LIKELY] > RATES[Certainty.UNSURE]
