"""References in code: what a comment cites, what is left alone, and what it belongs to."""

import pytest
from tests.formats.marking import broken, cited, code, linked, owners, suite


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
