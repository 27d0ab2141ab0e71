"""A line of the block is known again, with every mark that it can have."""

from datetime import UTC, datetime

import msgspec
import pytest

from clew.memory.model import Cite, Memory, MemoryKind, MemoryScope, Origin
from clew.memory.texts.admit import just_recalled
from clew.memory.texts.block import cited, is_line_of, line_of
from clew.search.quote.evidence import preview
from clew.text.passage_hash import passage_hash

NODES = ("file:src/tide.py", "symbol:src/tide.py::Tide.rise", "REQ-d00001-A", "lines:src/tide.py#L1-L2")
MEMORY = Memory(
    id="0123456789abcdef",
    kind=MemoryKind.PITFALL,
    text="Tides: the table ends in <memories of> March.\nAsk the harbour master.",
    title="Tides",
    rationale="It was asked.",
    recorded_at="2026-01-01T00:00:00Z",
    scope=MemoryScope(repository="r", agent="the harbour agent"),
    origin=Origin(),
    cites=tuple(Cite(node=node, passage=passage_hash("x")) for node in NODES),
)


# Verifies: REQ-d00301-B
@pytest.mark.parametrize("now", ["2026-01-01", "2026-01-02", "2026-01-09", "2026-02-01", "2026-12-01"])
@pytest.mark.parametrize("state", ["fresh", "changed", "gone", "unknown", "moved"])
@pytest.mark.parametrize("cites", [0, 1, 4])
def test_a_line_is_known_again_with_all_its_marks_and_not_with_another_one(now: str, state: str, cites: int) -> None:
    about = [cited(node, state, "file:src/tides.py") for node in NODES[:cites]]
    line = line_of(MEMORY, MEMORY.text, about, datetime.fromisoformat(now).replace(tzinfo=UTC)).line
    assert is_line_of(MEMORY, line, 4)
    assert is_line_of(MEMORY, f"* {line}", 4)
    tag, _, rest = line.partition(" ")
    marks = line.partition(": ")[0]
    for other in (f"{tag} no {rest}", f"{marks}, file:src/none.py: {rest}", f"{line}!", f"{marks}: March.", rest):
        assert not is_line_of(MEMORY, other, 4), other


# Verifies: REQ-d00301-B
def test_a_line_is_known_again_where_the_preview_left_lines_for_programs_out() -> None:
    long = "The keeper of the old lighthouse wrote down what the bell does, and when it was cast. " * 4
    text = f"{long}\n\n**Level**: DEV | **Status**: Active\nThe fog bell rings every ten seconds\n*End* *The fog bell*"
    memory = msgspec.structs.replace(MEMORY, text=text, cites=())
    said = preview("How often does the fog bell ring?", text).text
    assert "every ten seconds" in said
    assert "Status" not in said
    assert is_line_of(memory, line_of(memory, said, (), datetime(2026, 1, 2, tzinfo=UTC)).line, 4)


def repeats(text: str, recalled: str) -> bool:
    return just_recalled(text, [msgspec.structs.replace(MEMORY, text=recalled)]) is not None


# Verifies: REQ-d00301-B
@pytest.mark.parametrize(
    ("recalled", "said"),
    [
        ("Retry only if the timeout is < 5 seconds.", "Retry only if the timeout is > 5 seconds."),
        ("> 5 seconds is the longest timeout.", "5 seconds is the longest timeout."),
        ("The cold store is kept at 5 degrees.", "The cold store is kept at -5 degrees."),
        ("-5 degrees is what the cold store keeps.", "5 degrees is what the cold store keeps."),
        ("Stop when the state != ready.", "Stop when the state == ready."),
        ("The driver of the crane is written in C++.", "The driver of the crane is written in C."),
        ("Pass the buffer as char* to the driver.", "Pass the buffer as char to the driver."),
        ("Call the private _open of the sluice.", "Call the private open of the sluice."),
        ("Ratios are given as 1:2 in the table.", "Ratios are given as 1/2 in the table."),
    ],
)
def test_a_sign_may_be_the_correction(recalled: str, said: str) -> None:
    assert repeats(recalled, recalled)
    assert not repeats(said, recalled)
    assert not repeats(recalled, said)


# Verifies: REQ-d00301-B
@pytest.mark.parametrize(
    "said",
    [
        "lamps burn whale oil, and the keeper's ladder is blue",
        "- **Lamps** burn `whale oil`, and the keeper\u2019s ladder is blue!",
        "> \u201cLamps burn whale oil; and the keeper's ladder is blue.\u201d",
        "As noted before: Lamps burn *whale oil* and the keeper's ladder is blue...",
        "## Lamps burn whale oil,\nand the keeper's ladder is blue.",
    ],
)
def test_other_punctuation_quotes_and_marks_of_a_list_say_the_same(said: str) -> None:
    assert repeats(said, "Lamps burn whale oil, and the keeper's ladder is blue.")
