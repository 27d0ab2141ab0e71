"""References in tests: each test cites its own, those of its class, or those of its file."""

import pytest
from tests.formats.marking import broken, by_test, cited, linked, owners, suite

from clew.formats.code.markers import carried_by_none
from clew.graph.model import NodeKind

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
