"""References in code and tests: what is cited, from where, and what is left alone."""

import textwrap

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.formats.elspais.ids import IdGrammar
from clew.formats.elspais.settings import ElspaisSettings
from clew.formats.markers import Citation, MarkerRecords, citations_of, read_markers

GRAMMAR = IdGrammar(ElspaisSettings())


def code(source: str, path: str = "src/lamp.py") -> MarkerRecords:
    return read_markers(textwrap.dedent(source).encode(), path, GRAMMAR, is_test=False)


def suite(source: str, path: str = "tests/test_lamp.py") -> MarkerRecords:
    return read_markers(textwrap.dedent(source).encode(), path, GRAMMAR, is_test=True)


def cited(citations: tuple[Citation, ...]) -> list[tuple[str, str, str]]:
    return [(each.kind, each.target, "+".join(each.labels)) for each in citations]


def owners(records: MarkerRecords) -> list[tuple[int, str | None]]:
    return [(each.line, each.owner) for each in records.citations]


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# Implements: REQ-d00001", [("implements", "REQ-d00001", "")]),
        ("# implements: REQ-d00001-A", [("implements", "REQ-d00001", "A")]),
        ("#IMPLEMENTS:REQ-d00001-A+B", [("implements", "REQ-d00001", "A+B")]),
        ("# **Implements**: REQ-d00001", [("implements", "REQ-d00001", "")]),
        ("# **Implements:** REQ-d00001", [("implements", "REQ-d00001", "")]),
        ("# Refines: REQ-d00001", [("refines", "REQ-d00001", "")]),
        ("# Verifies: REQ-d00001", [("verifies", "REQ-d00001", "")]),
        ("# Validates: REQ-d00001", [("verifies", "REQ-d00001", "")]),
        ("# Tests: REQ-d00001", [("verifies", "REQ-d00001", "")]),
        ("# Tests REQ-d00001-A and more", [("verifies", "REQ-d00001", "A")]),
        ("# Verifies REQ-d00001, REQ-d00002; later", [("verifies", "REQ-d00001", ""), ("verifies", "REQ-d00002", "")]),
        ("# Implements: d00001-A, REQ-o00002", [("implements", "REQ-d00001", "A"), ("implements", "REQ-o00002", "")]),
        ("# Implements: REQ-d00001 REQ-d00002", [("implements", "REQ-d00001", ""), ("implements", "REQ-d00002", "")]),
        ("# Implements: REQ-d00001-A-B", [("implements", "REQ-d00001", "A+B")]),
        ("# Implements: req_d1_a", [("implements", "REQ-d00001", "A")]),
        ("# Implements: d1", [("implements", "REQ-d00001", "")]),
        ("# Verifies: JNY-Night-01/2", [("verifies", "JNY-Night-01", "2")]),
        ("x = 1  # Implements: REQ-d00001", [("implements", "REQ-d00001", "")]),
        ("# Implements: REQ-d00001,\n#   REQ-d00002",
         [("implements", "REQ-d00001", ""), ("implements", "REQ-d00002", "")]),
        ("# IMPLEMENTS REQUIREMENTS:\n#   REQ-d00001: The bell\n#   REQ-d00002\n# and text",
         [("implements", "REQ-d00001", ""), ("implements", "REQ-d00002", "")]),
        ("# Implements: the lamp protocol", []),
        ("# Implements the lamp", []),
        ("# Tests d1 and d2", []),
        ("# See REQ-d00001", []),
        ("# It implements: REQ-d00001", []),
        ("# testsuite: REQ-d00001", []),
        ("TEXT = '# Implements: REQ-d00001'", []),
        ('"""\n# Implements: REQ-d00001\n"""', []),
        ("def f():\n    '''Implements: REQ-d00001'''", []),
    ],
)  # fmt: skip
def test_what_a_comment_cites(comment: str, expected: list[tuple[str, str, str]]) -> None:
    assert cited(code(comment).citations) == expected


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.js", "/* Implements: REQ-d00001 */"),
        ("a.ts", "/**\n * The bell.\n * Implements: REQ-d00001\n */"),
        ("a.rs", "/// Implements: REQ-d00001"),
        ("a.go", "// Implements: REQ-d00001"),
        ("a.html", "<!-- Implements: REQ-d00001 -->"),
        ("a.sql", "-- Implements: REQ-d00001"),
        ("a.css", "a {} /* Implements: REQ-d00001 */"),
        ("a.lua", "--[[ Implements: REQ-d00001 ]]"),
        ("Makefile", "all:  # Implements: REQ-d00001"),
        ("a.clj", ";; Implements: REQ-d00001"),
        ("a.yml", "steps: # Implements: REQ-d00001"),
    ],
)
def test_comments_of_every_language_count(path: str, source: str) -> None:
    assert cited(code(source, path).citations) == [("implements", "REQ-d00001", "")]


def test_what_was_meant_as_an_id_but_is_none_is_kept_as_written() -> None:
    records = code("# Implements: REQ-x1, REQ-d00001 (in part), harmless")
    assert [(each.target, each.written, each.malformed) for each in records.citations] == [
        ("REQ-x1", "REQ-x1", True),
        ("REQ-d00001 (in part)", "REQ-d00001 (in part)", True),
    ]


def test_every_keyword_but_refines_verifies_in_a_suite() -> None:
    keywords = ("Implements", "Verifies", "Validates", "Tests", "Refines")
    source = "def test_a():\n" + "".join(f"    # {keyword}: REQ-d00001\n" for keyword in keywords)
    assert [each.kind for each in suite(source).citations] == ["verifies"] * 4 + ["refines"]


def test_a_citation_belongs_to_the_function_around_or_below_it() -> None:
    records = code(
        """\
        # Implements: REQ-d00001
        import os


        # Implements: REQ-d00002
        @decorated
        # Implements: REQ-d00003
        def lamp():
            # Implements: REQ-d00004
            def inner():
                pass  # Implements: REQ-d00005
            return inner
            # Implements: REQ-d00006


        class Bell:
            # Implements: REQ-d00007
            loud = True

            # Implements: REQ-d00008
            def ring(self):
                pass

            x = 1
            x = 2
            x = 3
            y = 1  # Implements: REQ-d00009

        z = 1  # Implements: REQ-d00010
        # Implements: REQ-d00011
        """
    )
    assert owners(records) == [
        (1, "lamp"),
        (5, "lamp"),
        (7, "lamp"),
        (9, "lamp"),
        (11, "lamp.inner"),
        (13, "lamp"),
        (17, "Bell.ring"),
        (20, "Bell.ring"),
        (27, "Bell"),
        (29, None),
        (30, None),
    ]
    assert (records.citations[1].owner_line, records.citations[1].owner_end_line) == (6, 13)


def test_a_comment_looks_no_further_ahead_than_five_lines() -> None:
    assert owners(code("# Implements: REQ-d00001\n\n\n\n\ndef near(): pass\n")) == [(1, "near")]
    assert owners(code("# Implements: REQ-d00001\n\n\n\n\n\ndef far(): pass\n")) == [(1, None)]


def test_functions_in_braces_own_their_comments() -> None:
    source = "class Lamp {\n  // Implements: REQ-d00001\n  light() {\n    x = '}' // Implements: REQ-d00002\n  }\n}\n"
    assert owners(code(source, "lamp.js")) == [(2, "Lamp.light"), (4, "Lamp.light")]


TESTS = """\
# Verifies: REQ-d00001-A

import pytest

TEXT = "# Verifies: REQ-d00099"





def test_own():
    # Verifies: REQ-d00002-B
    pass


def test_default():
    pass


def test_REQ_d00003_A_B_by_name():
    pass


# Verifies: REQ-d00004
class TestBell:
    def test_of_class(self):
        pass

    # Verifies: REQ-d00005
    @pytest.mark.slow
    def test_of_its_own(self):
        def check():
            pass  # Verifies: REQ-d00006
"""


def test_each_test_cites_its_own_or_its_class_or_the_defaults() -> None:
    records = suite(TESTS)
    assert [(each.qualname, each.line, each.end_line) for each in records.tests] == [
        ("test_own", 11, 13),
        ("test_default", 16, 17),
        ("test_REQ_d00003_A_B_by_name", 20, 21),
        ("TestBell.test_of_class", 26, 27),
        ("TestBell.test_of_its_own", 30, 33),
    ]
    assert {name: cited(found) for name, found in citations_of(records).items()} == {
        "test_own": [("verifies", "REQ-d00002", "B")],
        "test_default": [("verifies", "REQ-d00001", "A")],
        "test_REQ_d00003_A_B_by_name": [("verifies", "REQ-d00003", "A+B")],
        "TestBell.test_of_class": [("verifies", "REQ-d00004", "")],
        "TestBell.test_of_its_own": [("verifies", "REQ-d00005", ""), ("verifies", "REQ-d00006", "")],
    }
    assert cited(records.defaults) == [("verifies", "REQ-d00001", "A")]
    assert [each.origin for each in records.citations if each.owner == "test_REQ_d00003_A_B_by_name"] == ["name"]


def test_a_line_right_above_the_first_test_is_both_its_own_and_the_default() -> None:
    records = suite("# Verifies: REQ-d00001\ndef test_a(): pass\n\ndef test_b(): pass\n")
    assert owners(records) == [(1, "test_a")]
    assert {name: cited(found) for name, found in citations_of(records).items()} == {
        "test_a": [("verifies", "REQ-d00001", "")],
        "test_b": [("verifies", "REQ-d00001", "")],
    }


def test_a_test_file_without_tests_keeps_its_citations() -> None:
    records = suite("# Verifies: REQ-d00001\n")
    assert (owners(records), records.defaults, records.tests) == ([(1, None)], (), ())


def test_tests_without_references_are_listed() -> None:
    records = suite("def test_alone():\n    assert True\n")
    assert [each.qualname for each in records.tests] == ["test_alone"]
    assert citations_of(records) == {"test_alone": ()}


def test_tests_of_other_languages_cite_too() -> None:
    source = "describe('bell', () => {\n  // Verifies: REQ-d00001\n  it('rings', () => {\n  });\n});\n"
    records = suite(source, "bell.test.ts")
    assert {name: cited(found) for name, found in citations_of(records).items()} == {
        "bell.rings": [("verifies", "REQ-d00001", "")]
    }


def test_an_id_without_keyword_is_reported() -> None:
    records = code("# REQ-d00001-A: rings\n# Implements: REQ-d00002\n")
    assert [(each.code, each.line) for each in records.diagnostics] == [("markers.undeclared", 1)]


def test_binary_and_other_encodings_are_diagnostics() -> None:
    binary = read_markers(b"# Implements: REQ-d00001\n\0\1", "a.py", GRAMMAR, is_test=False)
    assert [each.code for each in binary.diagnostics] == ["markers.binary"]
    assert binary.citations == ()
    latin = read_markers(b"# caf\xe9\n# Implements: REQ-d00001\n", "a.py", GRAMMAR, is_test=False)
    assert [(each.code, each.line) for each in latin.diagnostics] == [("markers.not_utf8", 1)]
    assert cited(latin.citations) == [("implements", "REQ-d00001", "")]
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(latin), type=MarkerRecords) == latin


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_and_a_byte_order_mark(end: str) -> None:
    data = ("\ufeff# x\n# Implements: REQ-d00001\ndef f():\n    pass\n").replace("\n", end).encode()
    records = read_markers(data, "a.py", GRAMMAR, is_test=False)
    assert owners(records) == [(2, "f")]


def test_files_of_no_interest_give_nothing() -> None:
    assert read_markers(b"x = 1\n" * 10, "a.py", GRAMMAR, is_test=False) == MarkerRecords()
    assert read_markers(b"# Implements: REQ-d00001", "a.unknown", GRAMMAR, is_test=False) == MarkerRecords()


PIECES = [
    "# Implements: ",
    "REQ-d00001",
    "-A",
    ", ",
    "\n",
    "def test_x():",
    "class TestY:",
    "    ",
    '"""',
    "'",
    "(",
    ")",
    "@a",
]
PIECES += ["// Verifies ", "{", "}", "/*", "*/", "function f() ", "\r", "\0", "é", "Tests:", "IMPLEMENTS REQUIREMENTS:"]


@given(
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
    st.sampled_from(["a.py", "a.js", "a.rb"]),
    st.booleans(),
)
def test_any_file_is_read_and_every_owner_holds_its_lines(source: str, path: str, is_test: bool) -> None:
    records = read_markers(source.encode(), path, GRAMMAR, is_test=is_test)
    last = max(1, len(source.encode().splitlines()) + 1)
    for each in (*records.citations, *records.defaults):
        assert 1 <= each.line <= last
        assert (each.owner is None) == (each.owner_line == 0)
        assert each.owner_line <= each.owner_end_line <= last
    assert citations_of(records).keys() == {each.qualname for each in records.tests}


@given(st.binary(max_size=200), st.sampled_from(["a.py", "a.js", "Makefile", "a.html"]), st.booleans())
def test_any_bytes_are_read(data: bytes, path: str, is_test: bool) -> None:
    records = read_markers(b"# Tests: x\n" + data, path, GRAMMAR, is_test=is_test)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(records), type=MarkerRecords) == records
