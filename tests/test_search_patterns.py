"""Patterns are tried on many requirements at once; what is found must not depend on that."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.project import Project
from clew.trace.find import search
from clew.trace.find.query import can_be_joined, compile_pattern
from clew.trace.find.requests import SearchQuery

PIECES = st.sampled_from(
    ["a", "b", ".", "\\w", "\\s", "[^a]", "^", "$", "\\b", "\\B", "*", "+", "?", "|", "SHALL", "REQ", "\\n", "x{2}"]
)


# Verifies: REQ-d00013-C
@given(
    st.lists(PIECES, min_size=1, max_size=5).map("".join),
    st.lists(st.text("ab xS\n", max_size=12), min_size=1, max_size=4),
)
@settings(max_examples=examples(400))
def test_a_pattern_that_matches_a_text_matches_the_batch_that_holds_it(pattern: str, texts: list[str]) -> None:
    try:
        matches = compile_pattern(pattern)
    except Exception:
        return
    if can_be_joined(pattern) and any(matches(text) for text in texts):
        assert matches("\n".join(texts))


# Verifies: REQ-d00013-C
@pytest.mark.parametrize(
    "pattern",
    ["shall", "^REQ-d", "tide|bar", "(tide|bar).*SHALL", "\\d+ m", "(?<=the )tide", "\\AREQ-o", "nothing at all"],
)
def test_batches_find_what_single_texts_hold(
    demo: Path, opened: Callable[[Path], Project], monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    project = opened(demo)
    project.ensure_graph()
    batched = project.trace.search(SearchQuery(query=pattern, regex=True, limit=100))
    monkeypatch.setattr(search, "can_be_joined", lambda pattern: False)
    assert project.trace.search(SearchQuery(query=pattern, regex=True, limit=100)) == batched
