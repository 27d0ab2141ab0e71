"""Numbers of persons are taken out of memories as keys are. None of them is anybody's: test numbers of the issuers."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.memory_client import Memory, remembering, write_project

CARDS = (
    "4111 1111 1111 1111",
    "4111111111111111",
    "5555-5555-5555-4444",
    "3782 822463 10005",
    "6011111111111117",
    "3530111333300000",
)
ORDINARY = (
    "Order 4111111111111112 was sent twice.",
    "The trace id is 1234567890123456.",
    "Timestamps such as 1700000000000 are milliseconds.",
    "Build 20261120-4111111111111111-a is the slow one.",
    "The part number is 000-12-3456, and 666-12-3456 the next.",
    "Call 555-0100 for the harbour office.",
    "Version 4.111111111111111.1 was never released.",
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with remembering(write_project(tmp_path / "harbour")) as client:
        yield client


def kept(memory: Memory, text: str) -> tuple[str, list[str]]:
    """The text as it was stored, and the kinds of what was taken out."""
    stored = memory("store_memory", content=text, rationale=text)
    (whole,) = (each for each in memory("search_graph", query="harbour", include_content=True)["results"])
    return whole["content"], [each["kind"] for each in stored["redactions"]]


# Verifies: REQ-d00330-D
@pytest.mark.parametrize("number", CARDS)
def test_cards_are_taken_out_in_every_spelling(memory: Memory, number: str) -> None:
    text, kinds = kept(memory, f"The harbour master paid with {number}, and it failed.")
    assert text == "The harbour master paid with [REDACTED:payment_card], and it failed."
    assert set(kinds) == {"payment_card"}


# Verifies: REQ-d00330-D
def test_social_security_numbers_are_taken_out_unless_the_user_keeps_them(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "The harbour test account has the number 219-09-9999."
    text, kinds = kept(memory, said)
    assert text == "The harbour test account has the number [REDACTED:social_security_number]."
    assert set(kinds) == {"social_security_number"}
    monkeypatch.setenv("CLEW_PERSONAL_NUMBERS", "keep")
    stored = memory("store_memory", content="Card 4111 1111 1111 1111 is for tests.", rationale="It is in the docs")
    assert stored["redactions"] == []


# Verifies: REQ-d00330-C, REQ-d00330-D
@pytest.mark.parametrize("text", ORDINARY)
def test_other_long_numbers_stay(memory: Memory, text: str) -> None:
    assert memory("store_memory", content=text, rationale="Seen in the harbour")["redactions"] == []
