"""Hashes: both rules, full text, and what a stored hash says about a requirement."""

from collections import Counter
from collections.abc import Callable

import pytest

from clew.formats.elspais.hashes import HashState, assertion_hash, assertion_line, hash_state, rule_of_file
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import AssertionRecord, FileRecords, Requirement
from clew.formats.elspais.settings import ElspaisSettings
from clew.text.lines import Span

ReadText = Callable[[str], FileRecords]
NOWHERE = Span(0, 0, 1, 1)
TWO = [
    AssertionRecord("A", "The system SHALL a.", NOWHERE),
    AssertionRecord("B", "The system SHALL b\n   over two lines.", NOWHERE),
]
ONE = [AssertionRecord("A", "The system SHALL c.", NOWHERE)]
FULL_TEXT = ElspaisSettings(hash_mode="full-text")


def requirements(records: FileRecords) -> dict[str, Requirement]:
    return {block.id: block for block in records.blocks if isinstance(block, Requirement)}


def document(assertions: str, stored: str = "") -> str:
    end = f" | **Hash**: {stored}" if stored else ""
    head = "# REQ-d00001: Bell\n\n**Level**: DEV | **Status**: Active"
    return f"{head}\n\n## Assertions\n\n{assertions}\n\n*End* *Bell*{end}\n"


# Verifies: REQ-o00003-C
@pytest.mark.parametrize(
    ("assertions", "rule", "expected"),
    [
        (TWO, "ordered", "d73a8ff6"),
        (TWO, "sorted", "c2be65e6"),
        (ONE, "ordered", "e79bda97"),
        (ONE, "sorted", "af028722"),
        ([], "ordered", "e3b0c442"),
    ],
)
def test_worked_examples_of_both_rules(assertions: list[AssertionRecord], rule: str, expected: str) -> None:
    assert assertion_hash(assertions, rule) == expected  # type: ignore[arg-type]


def test_only_the_sorted_rule_ignores_the_order_of_assertions() -> None:
    assert assertion_hash(TWO[::-1], "sorted") == assertion_hash(TWO, "sorted")
    assert assertion_hash(TWO[::-1], "ordered") != assertion_hash(TWO, "ordered")


def test_a_line_is_normalised_but_keeps_its_tabs() -> None:
    assert assertion_line("A", " x  y\r\n  z\rw\t\tv ") == "A. x y z w\t\tv"


@pytest.mark.parametrize(
    ("id", "stored", "ordered", "sorted_"),
    [
        ("REQ-p00060", "3ebc237a", "3ebc237a", "a729a853"),
        ("REQ-o00061", "0aa9dff4", "0aa9dff4", "3f87bfe6"),
        ("REQ-d00062", "51985ec1", "51985ec1", "e4dbe11b"),
        ("REQ-o00068", "32de0d0d", "743877c3", "f876db43"),
        ("REQ-o00071", "31785423", "fea647ee", "ede30ad0"),
    ],
)
def test_the_source_document_hashes_as_known(
    seed: bytes, grammar: IdGrammar, id: str, stored: str, ordered: str, sorted_: str
) -> None:
    requirement = requirements(read(seed, grammar))[id]
    assert requirement.stored_hash == stored
    assert assertion_hash(requirement.assertions, "ordered") == ordered
    assert assertion_hash(requirement.assertions, "sorted") == sorted_


# Verifies: REQ-o00003-D
def test_the_source_document_has_nineteen_current_and_seven_stale_hashes(
    seed: bytes, grammar: IdGrammar, settings: ElspaisSettings
) -> None:
    found = requirements(read(seed, grammar))
    states = {id: hash_state(requirement, settings) for id, requirement in found.items()}
    assert Counter((state.state, state.rule) for state in states.values()) == {
        ("current", "ordered"): 19,
        ("stale", None): 7,
    }
    stale = ["o00068", "o00069", "d00077", "o00070", "d00078", "o00071", "d00079"]
    assert [id for id, state in states.items() if state.state == "stale"] == [f"REQ-{each}" for each in stale]
    assert rule_of_file(found.values(), settings) == "ordered"


# Verifies: REQ-o00003-C
def test_a_hash_of_either_rule_is_current(sample: bytes, grammar: IdGrammar, settings: ElspaisSettings) -> None:
    states = {id: hash_state(each, settings) for id, each in requirements(read(sample, grammar)).items()}
    assert states["REQ-p00001"] == HashState("current", "sorted", "e34dde7e")
    assert states["REQ-d00001"] == HashState("current", "ordered", "9ccab1e4")
    assert states["REQ-o00001"].state == "missing"
    assert states["REQ-d00002"] == HashState("none", None, "N/A")


@pytest.mark.parametrize(
    ("stored", "state"),
    [
        ("", "missing"),
        ("TODO", "missing"),
        ("________", "missing"),
        ("N/A", "missing"),
        ("00000000", "stale"),
        ("af028722", "current"),
        ("AF028722", "current"),
        ("e79bda97", "current"),
    ],
)
def test_state_of_a_requirement_with_assertions(
    read_text: ReadText, settings: ElspaisSettings, stored: str, state: str
) -> None:
    (requirement,) = requirements(read_text(document("A. The system SHALL c.", stored))).values()
    assert hash_state(requirement, settings).state == state


@pytest.mark.parametrize(
    ("stored", "state"), [("", "none"), ("N/A", "none"), ("e3b0c442", "none"), ("12345678", "stale")]
)
def test_state_of_a_requirement_without_assertions(
    read_text: ReadText, settings: ElspaisSettings, stored: str, state: str
) -> None:
    (requirement,) = requirements(read_text(document("", stored))).values()
    assert hash_state(requirement, settings) == HashState(state, None, "N/A")


def test_a_stale_hash_is_renewed_under_the_rule_asked_for(read_text: ReadText, settings: ElspaisSettings) -> None:
    (requirement,) = requirements(read_text(document("A. The system SHALL c.", "00000000"))).values()
    assert hash_state(requirement, settings).value == "af028722"
    assert hash_state(requirement, settings, "ordered").value == "e79bda97"


def test_a_current_hash_keeps_its_own_rule_whatever_is_asked_for(
    read_text: ReadText, settings: ElspaisSettings
) -> None:
    (requirement,) = requirements(read_text(document("A. The system SHALL c.", "e79bda97"))).values()
    assert hash_state(requirement, settings, "sorted") == HashState("current", "ordered", "e79bda97")


@pytest.mark.parametrize("changed", ["Because of fog.", "Because of snow."])
def test_full_text_covers_everything_but_the_changelog(read_text: ReadText, changed: str) -> None:
    text = document(f"A. It rings.\n\n## Rationale\n\n{changed}\n\n## Changelog\n\n- a | b | c | d (<e>) | f")
    (requirement,) = requirements(read_text(text)).values()
    state = hash_state(requirement, FULL_TEXT)
    (again,) = requirements(read_text(text.replace("*End* *Bell*", f"*End* *Bell* | **Hash**: {state.value}"))).values()
    assert hash_state(again, FULL_TEXT) == HashState("current", "sorted", state.value)
    older = hash_state(requirement, FULL_TEXT, "ordered").value
    other = text.replace("- a | b", "- z | b").replace("*End* *Bell*", f"*End* *Bell* | **Hash**: {older}")
    (relogged,) = requirements(read_text(other)).values()
    assert hash_state(relogged, FULL_TEXT) == HashState("current", "ordered", older)
    (edited,) = requirements(read_text(other.replace(changed, "Because."))).values()
    assert hash_state(edited, FULL_TEXT).state == "stale"
