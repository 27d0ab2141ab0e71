"""The short form: every pattern that a reader once took a square of time for, at the full size.

Nothing is measured. A reader that takes a square of time again would need minutes for what takes a second, and is ended
by its limit of processor time.
"""

import sys

import pytest

if sys.platform == "win32":
    pytest.skip("processes are forked and bounded as POSIX has it", allow_module_level=True)

from tests.attack.reader_patterns import COMMON, FORMATS, Pattern
from tests.attack.readers import all_readers, measure, patterns_of

ONCE_SLOW = {
    "document markdown": (
        Pattern("\n"),
        Pattern("# "),
        Pattern("`", then="a"),
        Pattern("[a]("),
        Pattern("#", "# a ", "b"),
        Pattern(" ", "# a", "#b"),
        Pattern("<", then="a"),
        Pattern("a.", "+++\n", "=1\n+++\n"),
        Pattern("[", "+++\na=", "\n+++\n"),
        Pattern("9", "---\na: ", "\n---\n"),
        Pattern("word ", "# "),
    ),
    "document rst": (Pattern(".. a::\n   "),),
    "document html": (Pattern("<title>a"),),
    "document notebook": (Pattern(" \n"),),
    "document man/a.1": (Pattern('.B "'), Pattern(".SH a\n"), Pattern("\\f[", ".B "), Pattern(".It Fl Dq\n")),
    "document openapi.yaml": (
        Pattern(" a:\n", "openapi: 3\npaths:\n"),
        Pattern(" /a:\n  get:\n", "openapi: 3\npaths:\n"),
        Pattern('\\"', '{"openapi": "', '"}'),
        Pattern("\n", "", "openapi: 3"),
    ),
    "document a.graphql": (Pattern("type "), Pattern('"""'), Pattern("{"), Pattern('\\"""', '"""')),
    "outline csharp": (Pattern(" ", between="a\n"),),
    "outline kotlin": (Pattern("class A {\n"),),
    "outline script": (Pattern("\n", "test'a'", "!"),),
    "outline go": (Pattern(" ", "type a", "!"),),
    "outline python": (Pattern("import a, \\\n"),),
    "outline ruby": (Pattern(" ", "require", "a"), Pattern("a", "it '", "'")),
    "outline rust": (Pattern("type a\n"),),
    "outline .mdx": (Pattern("`"),),
    "outline .vue": (Pattern("<script"), Pattern("<script>")),
    "elspais settings": (Pattern("a. "), Pattern("a.", "x = {"), Pattern("'a'.", "x = 1\n")),
}
SIZE = 1_000_000
LEAST_PATTERNS = 60


# Verifies: REQ-d00264-A
@pytest.mark.parametrize(
    ("reader", "pattern"),
    [(reader, pattern) for reader, patterns in ONCE_SLOW.items() for pattern in patterns],
    ids=lambda each: repr(each)[:60],
)
def test_what_once_took_a_square_of_time_is_read(reader: str, pattern: Pattern) -> None:
    _, read = all_readers()[reader]
    assert len(measure(reader, read, pattern, (SIZE,)).seconds) == 1


# Verifies: REQ-d00264-A
def test_every_reader_gets_at_least_sixty_patterns() -> None:
    formats = {form for form, _ in all_readers().values()}
    assert formats == FORMATS.keys()
    assert all(len(set(patterns_of(form))) >= LEAST_PATTERNS for form in formats)
    assert len(set(COMMON)) == len(COMMON)
