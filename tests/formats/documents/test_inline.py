"""Code in a line of markdown."""

import re

from hypothesis import given
from hypothesis import strategies as st

from clew.formats.documents.inline import code_spans, replace_code

AS_A_PATTERN = re.compile(r"(`+)(?!`)([^\n]*?)(?<!`)\1(?!`)")
"""The same rule as one pattern, which takes a time that grows with the square of the text."""


# Verifies: REQ-d00264-A
@given(st.text(alphabet="``` a\n", max_size=40))
def test_the_spans_are_those_of_the_pattern(text: str) -> None:
    assert [(span.start, span.end, span.code) for span in code_spans(text)] == [
        (match.start(), match.end(), match[2]) for match in AS_A_PATTERN.finditer(text)
    ]


def test_code_is_replaced_and_everything_else_stays() -> None:
    assert replace_code("a `b` and ``c`d`` e `f\n`", lambda span: f"<{span.code}>") == "a <b> and <c`d> e `f\n`"
