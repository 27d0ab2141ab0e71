"""What a format writes, it reads back: every item, whatever it says."""

import json
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.exchange.formats import FORMATS, WRITTEN
from clew.exchange.model import Criterion, Exchange, Item, Relation, version_of
from clew.exchange.sources import ImportSource

EXAMPLES = examples(15)
WORD = st.text(string.ascii_letters + string.digits + "_./-", min_size=1, max_size=12)
LINE = st.text(st.sampled_from([*string.ascii_letters, *"äß漢 ,;:=+-@'\"<>&|#*[]{}()%!?.1"]), max_size=24).map(
    lambda text: " ".join(text.split())
)
ODD = st.sampled_from(
    [
        *("# Heading", "#### Scenario: Odd", "*End* *x* | **Hash**: 12345678", "A. labelled", "2. numbered", "---"),
        *(
            "**Status**: Active",
            "```",
            "~~~",
            "- **ID**: odd",
            "REQ-p00001: Other",
            "Implements: REQ-p00009",
            "**bold**",
        ),
        *("## Assertions", "- [ ] box", "- name: value", "> quoted", "| a | b |", "   indented", "\\# escaped"),
    ]
)
"""Lines that mean something in one of the formats."""
TEXT = st.lists(LINE | ODD, max_size=4).map(lambda lines: "\n".join(lines).strip())
NAME = st.sampled_from(
    ["status", "level", "Rationale", "priority", "tags", "Verification Method", "author", "Øvrigt", "actor", "Steps"]
)
KINDS = st.sampled_from(["implements", "refines", "validates", "depends_on", "verifies", "mitigates_risk"])


@st.composite
def exchanges(draw: st.DrawFn) -> Exchange:
    ids = draw(st.lists(WORD, min_size=1, max_size=5, unique=True))
    items: list[Item] = []
    for number, id in enumerate(ids):
        labels = draw(st.lists(st.sampled_from("ABCDEF"), max_size=3, unique=True))
        known = {item.id: [each.label for each in item.criteria] for item in items}
        relations = []
        for target in draw(st.lists(st.sampled_from([*known, "ELSE-1"]), max_size=3)):
            chosen = (
                draw(st.lists(st.sampled_from(known[target]), max_size=2, unique=True)) if known.get(target) else []
            )
            relations.append(Relation(draw(KINDS), target, tuple(chosen)))
        unique = {(each.kind, each.target): each for each in relations}
        items.append(
            Item(
                id=id,
                kind=draw(st.sampled_from(["requirement", "requirement", "journey", "heading", "information"])),
                title=draw(LINE),
                text=draw(TEXT),
                criteria=tuple(Criterion(label, draw(TEXT), draw(st.sampled_from(["", "A day"]))) for label in labels),
                attributes={
                    name: value for name, value in draw(st.dictionaries(NAME, TEXT, max_size=4)).items() if value
                },
                relations=tuple(unique.values()),
                parent=draw(st.sampled_from([None, *ids[:number]])) if number else None,
                kept=draw(st.sampled_from([{}, {"colour": "red", "count": [1, 2]}])),
            )
        )
    return Exchange(items=tuple(items))


def in_order(exchange: Exchange) -> list[str]:
    return sorted(f"{item.id} {version_of(item)}" for item in exchange.items)


# Verifies: REQ-d00601-A
@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_what_is_written_is_read_back(name: str) -> None:
    form = WRITTEN[name]

    @settings(max_examples=EXAMPLES)
    @given(exchanges())
    def says_the_same(exchange: Exchange) -> None:
        data = form.write(exchange, "project")
        again = form.read(ImportSource(Path("file"), data))
        assert in_order(again) == in_order(exchange)

    says_the_same()


# Verifies: REQ-d00600-D
def test_versions_of_needs_that_are_not_the_current_one_are_told() -> None:
    need = {"id": "A", "type": "req", "title": "One"}
    versions = {"1.0": {"needs": {"A": need}}, "2.0": {"needs": {"A": {**need, "title": "Two"}}}}
    data = json.dumps({"current_version": "2.0", "versions": versions}).encode()
    found = FORMATS["needs"].read(ImportSource(Path("needs.json"), data))
    assert [item.title for item in found.items] == ["Two"]
    assert found.notes == ("Read is the current version, 2.0, and not 1.0.",)
