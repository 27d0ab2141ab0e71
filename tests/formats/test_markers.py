"""References in code and tests: what is cited, from where, and what is left alone."""

import textwrap

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.files import Selection
from clew.formats.elspais.ids import IdGrammar
from clew.formats.elspais.settings import ElspaisSettings
from clew.formats.markers import Citation, MarkerRecords, carried_by_none, citations_of, read_markers
from clew.graph.graph import Graph
from clew.graph.link import Linker
from clew.graph.model import NodeKind
from clew.graph.readers.markers import MarkerReader

GRAMMAR = IdGrammar(ElspaisSettings())


def code(source: str, path: str = "src/lamp.py") -> MarkerRecords:
    return read_markers(textwrap.dedent(source).encode(), path, GRAMMAR, is_test=False)


def suite(source: str, path: str = "tests/test_lamp.py") -> MarkerRecords:
    return read_markers(textwrap.dedent(source).encode(), path, GRAMMAR, is_test=True)


def cited(citations: tuple[Citation, ...]) -> list[tuple[str, str, str]]:
    return [(each.kind, each.target, "+".join(each.labels)) for each in citations]


def owners(records: MarkerRecords) -> list[tuple[int, str | None]]:
    return [(each.line, each.owner) for each in records.citations]


def by_test(records: MarkerRecords) -> dict[str, list[tuple[str, str, str]]]:
    return {test.qualname: cited(found) for test, found in citations_of(records).items()}


def linked(source: str, path: str = "tests/test_lamp.py") -> tuple[Graph, Linker]:
    """The graph of one test file."""
    reader = MarkerReader("tests", Selection(("tests",), ("*",)), GRAMMAR, ElspaisSettings(), is_test=True)
    graph = Graph()
    linker = Linker(graph)
    linker.update({(path, "tests"): reader.contribute(reader.read(textwrap.dedent(source).encode(), path), path)})
    return graph, linker


def broken(graph: Graph) -> list[tuple[str, str]]:
    return sorted((each.source_id, each.target_id) for each in graph.memory.broken_references())


# Verifies: REQ-d00009-A
@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# Implements: REQ-d00001", [("implements", "REQ-d00001", "")]),
        ("# implements: REQ-d00001-A", [("implements", "REQ-d00001", "A")]),
        ("#IMPLEMENTS:REQ-d00001-A+B", [("implements", "REQ-d00001", "A+B")]),
        ("# **Implements**: REQ-d00001", [("implements", "REQ-d00001", "")]),
        ("# **Implements:** REQ-d00001", [("implements", "REQ-d00001", "")]),
        ("# __Implements__: REQ-d00001", [("implements", "REQ-d00001", "")]),
        ("# __Implements:__ REQ-d00001", [("implements", "REQ-d00001", "")]),
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
        ("# Implements: REQ-d00001-A (in part, and only by day), REQ-d00002",
         [("implements", "REQ-d00001", "A"), ("implements", "REQ-d00002", "")]),
        ("# Implements: REQ-d00001-A because of it", [("implements", "REQ-d00001", "A")]),
        ("# Implements: REQ-d00001-A.", [("implements", "REQ-d00001", "A")]),
        ("# Implements: REQ-d00001-A: the bell", [("implements", "REQ-d00001", "A")]),
        ("# Implements: REQ-d00001-A - the bell, see REQ-d00002", [("implements", "REQ-d00001", "A")]),
        ("# Implements: REQ-d00001-A and REQ-d00002",
         [("implements", "REQ-d00001", "A"), ("implements", "REQ-d00002", "")]),
        ("# Implements: REQ-d00001-A; REQ-d00002",
         [("implements", "REQ-d00001", "A"), ("implements", "REQ-d00002", "")]),
        ("# Implements: REQ-d00001 and\n#   REQ-d00002",
         [("implements", "REQ-d00001", ""), ("implements", "REQ-d00002", "")]),
        ("# Implements: [REQ-d00001], `REQ-d00002`",
         [("implements", "REQ-d00001", ""), ("implements", "REQ-d00002", "")]),
        ("# Implements: [REQ-d00001](../spec/a.md)", [("implements", "REQ-d00001", "")]),
        ("# Implements: (REQ-d00001, REQ-d00002)",
         [("implements", "REQ-d00001", ""), ("implements", "REQ-d00002", "")]),
        ("# Implements: d1 and d2", [("implements", "REQ-d00001", ""), ("implements", "REQ-d00002", "")]),
        ("# Implements: p1 is the first, o2 the second", []),
        ("# Implements: none", []),
        ("# Implements: the lamp protocol", []),
        ("# Implements the lamp", []),
        ("# Tests d1 and d2", []),
        ("# See REQ-d00001", []),
        ("# It implements: REQ-d00001", []),
        ("# testsuite: REQ-d00001", []),
        ("TEXT = '# Implements: REQ-d00001'", []),
        ('"""\n# Implements: REQ-d00001\n"""', []),
        ("x = {'a': '''\nImplements: REQ-d00001\n'''}", []),
    ],
)  # fmt: skip
def test_what_a_comment_cites(comment: str, expected: list[tuple[str, str, str]]) -> None:
    assert cited(code(comment).citations) == expected


# Verifies: REQ-d00009-A
@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.js", "/* Implements: REQ-d00001 */"),
        ("a.ts", "/**\n * The bell.\n * Implements: REQ-d00001\n */"),
        ("A.java", "/**\n *\tImplements: REQ-d00001\n */"),
        ("a.rs", "/// Implements: REQ-d00001"),
        ("a.hs", "-- | Implements: REQ-d00001"),
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


# Verifies: REQ-d00009-D
def test_what_was_meant_as_an_id_but_is_none_is_kept_as_written() -> None:
    records = code("# Implements: REQ-x1, REQ-d00001 REQ-d1-Z9Z9Z, REQ-y, harmless, REQ-z")
    assert [(each.target, each.written, each.malformed) for each in records.citations] == [
        ("REQ-x1", "REQ-x1", True),
        ("REQ-d00001", "REQ-d00001", False),
        ("REQ-d1-Z9Z9Z", "REQ-d1-Z9Z9Z", True),
        ("REQ-y", "REQ-y", True),
    ]


# Verifies: REQ-d00009-D
def test_what_was_meant_as_an_id_but_is_none_is_a_broken_reference() -> None:
    graph, _ = linked("def test_a():\n    # Verifies: REQ-x1\n    pass\n")
    assert broken(graph) == [("test:tests/test_lamp.py::test_a", "REQ-x1")]


# Verifies: REQ-d00009-A
def test_lines_of_docstrings_cite_with_keyword_and_colon() -> None:
    records = code(
        '''\
        class Lamp:
            """Shines.

            Implements: REQ-d00001,
                REQ-d00002
            Tests REQ-d00003
            It implements: REQ-d00004
            REQ-d00005 stands for itself.
            """

            def light(self):
                r"""**Implements**: REQ-d00006."""
                text = """
                Implements: REQ-d00007
                """
        '''
    )
    assert [(each.line, each.target, each.owner) for each in records.citations] == [
        (4, "REQ-d00001", "Lamp"),
        (5, "REQ-d00002", "Lamp"),
        (12, "REQ-d00006", "Lamp.light"),
    ]
    assert records.diagnostics == ()


def test_every_keyword_but_refines_verifies_in_a_suite() -> None:
    keywords = ("Implements", "Verifies", "Validates", "Tests", "Refines")
    source = "def test_a():\n" + "".join(f"    # {keyword}: REQ-d00001\n" for keyword in keywords)
    assert [each.kind for each in suite(source).citations] == ["verifies"] * 4 + ["refines"]


# Verifies: REQ-d00009-B
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


def test_comments_and_decorators_do_not_count_as_lines_ahead() -> None:
    between = "# and\n" * 8 + "@one\n@two(\n    3,\n    4,\n    5,\n    6,\n)\n"
    assert owners(code(f"# Implements: REQ-d00001\n{between}def near(): pass\n")) == [(1, "near")]
    source = (
        "// Implements: REQ-d00001\n@Component({\n  a: 1,\n  b: 2,\n  c: 3,\n  d: 4,\n  e: 5\n})\nclass Page {\n}\n"
    )
    assert owners(code(source, "page.ts")) == [(1, "Page")]


# Verifies: REQ-d00009-B
def test_the_last_comment_of_a_class_stays_in_the_class() -> None:
    source = """\
        class Lamp:
            def light(self):
                pass
                # Implements: REQ-d00001
            # Implements: REQ-d00002

        # Implements: REQ-d00003
        def bell(): pass
        """
    assert owners(code(source)) == [(4, "Lamp.light"), (5, "Lamp"), (7, "bell")]
    source = "class Lamp {\n  light() {\n  }\n  // Implements: REQ-d00001\n}\nfunction bell() {\n}\n"
    assert owners(code(source, "lamp.js")) == [(4, "Lamp")]


# Verifies: REQ-d00009-B
@pytest.mark.parametrize(
    ("path", "head", "owner"),
    [
        ("a.js", "function f({a, b}, c) {", "f"),
        ("a.ts", "function f(a: string): {y: string} {", "f"),
        ("a.go", "func f() interface{} {", "f"),
        ("a.cpp", "Lamp::Lamp(int a) : b{a} {", "Lamp"),
        ("a.rs", "impl<T> Shine for Lamp<T> {", "Lamp"),
        ("a.py", "\ufeff# Implements: REQ-d00002\ndef f():", "f"),
    ],
)
def test_the_head_of_a_function_does_not_hide_it(path: str, head: str, owner: str) -> None:
    mark = "#" if path.endswith(".py") else "//"
    records = code(f"{head}\n    {mark} Implements: REQ-d00001\n    x\n}}\n", path)
    assert {each.owner for each in records.citations} == {owner}


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


# Verifies: REQ-d00009-C
def test_each_test_cites_its_own_or_its_class_or_the_defaults() -> None:
    records = suite(TESTS)
    assert [(each.qualname, each.line, each.end_line) for each in records.tests] == [
        ("test_own", 11, 13),
        ("test_default", 16, 17),
        ("test_REQ_d00003_A_B_by_name", 20, 21),
        ("TestBell.test_of_class", 26, 27),
        ("TestBell.test_of_its_own", 30, 33),
    ]
    assert by_test(records) == {
        "test_own": [("verifies", "REQ-d00002", "B")],
        "test_default": [("verifies", "REQ-d00001", "A")],
        "test_REQ_d00003_A_B_by_name": [("verifies", "REQ-d00003", "A+B")],
        "TestBell.test_of_class": [("verifies", "REQ-d00004", "")],
        "TestBell.test_of_its_own": [("verifies", "REQ-d00005", ""), ("verifies", "REQ-d00006", "")],
    }
    assert cited(records.defaults) == [("verifies", "REQ-d00001", "A")]
    assert [each.origin for each in records.citations if each.owner == "test_REQ_d00003_A_B_by_name"] == ["name"]


# Verifies: REQ-d00009-C
@pytest.mark.parametrize(
    "lines", ["# Verifies: REQ-d00001\n", "# Verifies: REQ-d00001\n# more\n", "# a\n# Tests: d1\n@x\n"]
)
def test_a_line_right_above_the_first_test_is_its_own(lines: str) -> None:
    records = suite(f"import os\n\n{lines}def test_a(): pass\n\ndef test_b(): pass\n")
    assert by_test(records) == {"test_a": [("verifies", "REQ-d00001", "")], "test_b": []}


# Verifies: REQ-d00009-C
@pytest.mark.parametrize(
    ("path", "top"),
    [
        ("test_a.py", "# Verifies: REQ-d00001\n\n"),
        ("test_a.py", "# Verifies: REQ-d00001\n# more\n\n"),
        ("test_a.py", "# Verifies: REQ-d00001\nLIMIT = 5\n"),
        ("test_a.py", "LIMIT = 5  # Verifies: REQ-d00001\n"),
        ("test_a.py", '"""Lamps.\n\nVerifies: REQ-d00001\n"""\n'),
        ("a.test.js", "// Verifies: REQ-d00001\nimport x from 'y'\n"),
        ("a_test.cc", "// Verifies: REQ-d00001\n#include <x>\n"),
    ],
)
def test_a_line_further_above_the_first_definition_holds_for_the_file(path: str, top: str) -> None:
    tests = {
        "test_a.py": "def test_a(): pass\ndef test_b(): pass\n",
        "a.test.js": "it('a', () => 1)\nit('b', () => {\n})\n",
        "a_test.cc": "TEST(A, A) {\n}\nTEST(A, B) {\n}\n",
    }[path]
    records = suite(top + tests, path)
    assert list(by_test(records).values()) == [[("verifies", "REQ-d00001", "")]] * 2
    assert (cited(records.defaults), records.citations) == ([("verifies", "REQ-d00001", "")], ())


# Verifies: REQ-d00009-C
def test_nothing_cited_disappears_when_every_test_has_citations_of_its_own() -> None:
    source = """\
        # Verifies: REQ-x1, REQ-d00001

        # Verifies: REQ-d00002
        def test_a(): pass

        # Verifies: REQ-d00003
        class TestLamp:
            # Verifies: REQ-d00004
            def test_b(self): pass

        def helper():
            # Verifies: REQ-d00005
            pass
        """
    assert cited(carried_by_none(suite(source))) == [
        ("verifies", "REQ-d00003", ""),
        ("verifies", "REQ-d00005", ""),
        ("verifies", "REQ-x1", ""),
        ("verifies", "REQ-d00001", ""),
    ]
    graph, _ = linked(source)
    assert broken(graph) == [
        ("test:tests/test_lamp.py:1", "REQ-d00001"),
        ("test:tests/test_lamp.py:1", "REQ-x1"),
        ("test:tests/test_lamp.py:12", "REQ-d00005"),
        ("test:tests/test_lamp.py:6", "REQ-d00003"),
        ("test:tests/test_lamp.py::TestLamp::test_b", "REQ-d00004"),
        ("test:tests/test_lamp.py::test_a", "REQ-d00002"),
    ]


# Verifies: REQ-d00009-C
def test_tests_of_the_same_name_are_nodes_of_their_own() -> None:
    source = """\
        if x:
            # Verifies: REQ-d00001
            def test_a(): pass
        else:
            # Verifies: REQ-d00002
            def test_a(): pass
        """
    graph, linker = linked(source)
    assert broken(graph) == [
        ("test:tests/test_lamp.py::test_a", "REQ-d00001"),
        ("test:tests/test_lamp.py::test_a:6", "REQ-d00002"),
    ]
    assert linker.duplicate_ids() == []


# Verifies: REQ-d00009-C
def test_a_name_with_dots_is_one_name() -> None:
    graph, _ = linked("describe('v1.2', () => {\n  it('rings. Loud.', () => 1)\n})\n", "tests/bell.test.js")
    (node,) = graph.nodes_by_kind(NodeKind.TEST)
    assert node.id == "test:tests/bell.test.js::v1.2::rings. Loud."
    assert (node.title, node.get_field("function"), node.get_field("class")) == (
        "rings. Loud.",
        "rings. Loud.",
        "v1.2",
    )


def test_a_test_file_without_tests_keeps_its_citations() -> None:
    records = suite("# Verifies: REQ-d00001\n")
    assert (owners(records), records.defaults, records.tests) == ([(1, None)], (), ())


def test_tests_without_references_are_listed() -> None:
    records = suite("def test_alone():\n    assert True\n")
    assert by_test(records) == {"test_alone": []}


# Verifies: REQ-d00009-B
@pytest.mark.parametrize("end", ["", ";"])
def test_tests_of_scripts_cite_with_and_without_semicolons(end: str) -> None:
    source = f"""\
        describe('bell', () => {{
          it('rings', () => {{
            x(){end}
          }}){end}

          // Verifies: REQ-d00001
          it('stops', () => {{
          }}){end}

          // Verifies: REQ-d00002
          it('waits', () => expect(1)){end}
        }}){end}
        """
    assert by_test(suite(source, "bell.spec.ts")) == {
        "bell.rings": [],
        "bell.stops": [("verifies", "REQ-d00001", "")],
        "bell.waits": [("verifies", "REQ-d00002", "")],
    }


# Verifies: REQ-d00009-C
@pytest.mark.parametrize(
    ("path", "source", "name"),
    [
        ("bell.spec.js", "// Verifies: REQ-d00001\nit('rings', () => {\n})\n", "rings"),
        ("bell_spec.rb", "# Verifies: REQ-d00001\nit 'rings' do\nend\n", "rings"),
        ("BellTest.kt", "// Verifies: REQ-d00001\n@Test\nfun `rings loud`() {\n}\n", "rings loud"),
        ("bell.test.ts", "// Verifies: REQ-d00001\ntest.each([1])('rings %d', (a) => {\n})\n", "rings %d"),
        ("bell_test.dart", "void main() {\n  // Verifies: REQ-d00001\n  test('rings', () {\n  });\n}\n", "main.rings"),
    ],
)
def test_tests_of_other_languages_cite_too(path: str, source: str, name: str) -> None:
    assert by_test(suite(source, path)) == {name: [("verifies", "REQ-d00001", "")]}


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
PIECES += [
    "it('x', ",
    "it 'x' do",
    "end",
    "() => ",
    ".each([",
    "])('",
    "TEST(",
    ") ",
    "`",
    "${",
    "<<A",
    "A\n",
    ": ",
    "= ",
]


@given(
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
    st.sampled_from(["a.py", "a.js", "a.rb", "a.kt", "a.cs", "a.sh", "a.cpp", "a.rs", "a.php"]),
    st.booleans(),
)
def test_any_file_is_read_and_every_owner_holds_its_lines(source: str, path: str, is_test: bool) -> None:
    records = read_markers(source.encode(), path, GRAMMAR, is_test=is_test)
    last = max(1, len(source.encode().splitlines()) + 1)
    for each in (*records.citations, *records.defaults):
        assert 1 <= each.line <= last
        assert (each.owner is None) == (each.owner_line == 0)
        assert each.owner_line <= each.owner_end_line <= last
    carried = [citation for found in citations_of(records).values() for citation in found]
    assert {*carried, *carried_by_none(records)} == (
        {*records.citations, *records.defaults} if is_test else set(records.citations)
    )


@given(st.binary(max_size=200), st.sampled_from(["a.py", "a.js", "Makefile", "a.html"]), st.booleans())
def test_any_bytes_are_read(data: bytes, path: str, is_test: bool) -> None:
    records = read_markers(b"# Tests: x\n" + data, path, GRAMMAR, is_test=is_test)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(records), type=MarkerRecords) == records
