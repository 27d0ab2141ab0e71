"""Functions and classes, and the lines they cover."""

import ast
import inspect
import json.decoder
import textwrap

import pytest

from clew.formats.comments import family_for, tokens
from clew.formats.definitions import definitions


def found(source: str, path: str) -> list[tuple[str, int, int]]:
    family = family_for(path)
    assert family is not None
    return [(each.qualname, each.line, each.end_line) for each in definitions(source, tokens(source, family), family)]


def names_of_tests(source: str, path: str) -> list[str]:
    family = family_for(path)
    assert family is not None
    return [each.qualname for each in definitions(source, tokens(source, family), family) if each.is_test]


PYTHON = '''\
import os


@decorated(
    "with",
)
@twice
def first(
    a,
    b="""
no indent here
""",
):
    text = """
def not_a_function():
    pass
"""
    return call(
"dedented"
    )
    # a comment below the last statement


class Outer:
    """Docstring."""

    async def method(self): pass

    class Inner:
        def deep(self):
            def local():
                return 1

            return local

# outside
x = 1
'''


def test_python_definitions_with_decorators_strings_and_brackets() -> None:
    assert found(PYTHON, "a.py") == [
        ("first", 4, 21),
        ("Outer", 24, 34),
        ("Outer.method", 27, 27),
        ("Outer.Inner", 29, 34),
        ("Outer.Inner.deep", 30, 34),
        ("Outer.Inner.deep.local", 31, 32),
    ]


@pytest.mark.parametrize("module", [json.decoder, textwrap, inspect])
def test_python_definitions_agree_with_the_parser(module: object) -> None:
    source = inspect.getsource(module)  # type: ignore[arg-type]
    expected: list[tuple[str, int]] = []

    def walk(node: ast.AST, names: tuple[str, ...]) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                expected.append((".".join((*names, child.name)), first))
                walk(child, (*names, child.name))
            else:
                walk(child, names)

    walk(ast.parse(source), ())
    assert [(name, line) for name, line, _ in found(source, "a.py")] == sorted(expected, key=lambda item: item[1])


def test_python_with_syntax_errors_is_still_read() -> None:
    assert found("def a(:\n    x = (\n\ndef b():\n    return\n", "a.py") == [("a", 1, 2), ("b", 4, 5)]


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        (
            "a.js",
            "// lead\nfunction one(a) {\n  if (a) { return '}'; }\n}\n\nclass Lamp {\n  light() {\n  }\n}\n"
            "const two = async (x) => {\n};\nfoo.bar(function () {\n});\n",
            [("one", 2, 4), ("Lamp", 6, 9), ("Lamp.light", 7, 8), ("two", 10, 11)],
        ),
        (
            "a.test.ts",
            "describe('bell', () => {\n  it('rings {', async () => {\n    expect(1);\n  });\n"
            "  test.only(`stops`, () => {});\n});\n",
            [("bell", 1, 6), ("bell.rings {", 2, 4), ("bell.stops", 5, 5)],
        ),
        (
            "a.go",
            "type Lamp struct {\n}\n\nfunc (l *Lamp) Light() error {\n\tgo func() error {\n\t}()\n}\n\n"
            "func Free[T any](x T) {\n}\n",
            [("Lamp", 1, 2), ("Light", 4, 7), ("Free", 9, 10)],
        ),
        (
            "a.rs",
            "impl<T> Lamp<T> for Light {\n    /// doc {\n    #[inline]\n"
            "    fn on(&self) -> bool {\n        true\n    }\n}\n",
            [("Lamp", 1, 7), ("Lamp.on", 3, 6)],
        ),
        (
            "A.java",
            "public class A {\n  @Override\n  public int f(int x) throws E {\n"
            "    for (int i = 0; i < 1; i++) { }\n    return 1;\n  }\n}\n",
            [("A", 1, 7), ("A.f", 2, 6)],
        ),
        ("a.c", "static struct x *\nf(int (*g)(void), char c)\n{\n  while (1) { }\n}\n", [("f", 1, 5)]),
        ("a.kt", "class A(val x: Int) {\n  fun String.f() {\n  }\n}\n", [("A", 1, 4), ("A.f", 2, 3)]),
        ("a.sh", "ring() {\n  echo ${x}\n}\nfunction stop {\n  :\n}\n", [("ring", 1, 3), ("stop", 4, 6)]),
        ("a.rb", "class A\n  def ring\n    1\n  end\nend\n", [("A", 1, 5), ("A.ring", 2, 4)]),
        ("a.lua", "local function ring()\n  return 1\nend\n", [("ring", 1, 3)]),
        ("a.css", "a { color: red }", []),
        ("a.js", "function open() {\n", [("open", 1, 2)]),
        ("a.js", "}}} function late() {\n}\n", [("late", 1, 2)]),
    ],
)
def test_definitions_of_other_languages(path: str, source: str, expected: list[tuple[str, int, int]]) -> None:
    assert found(source, path) == expected


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        (
            "test_a.py",
            "def test_one(): pass\ndef helper(): pass\n"
            "class TestX:\n    def test_two(self): pass\n    def other(self): pass\n"
            "class Plain:\n    def test_no(self): pass\nclass Y(TestCase):\n    def testThree(self): pass\n"
            "@pytest.fixture\ndef test_client(): pass\ndef outer():\n    def test_inner(): pass\n",
            ["test_one", "TestX.test_two", "Y.testThree"],
        ),
        ("a_test.go", "func TestOne(t *testing.T) {\n}\nfunc help() {\n}\n", ["TestOne"]),
        (
            "a.rs",
            "#[cfg(test)]\nmod tests {\n  #[test]\n  fn rings() {\n  }\n  fn helper() {\n  }\n}\n",
            ["tests.rings"],
        ),
        ("ATest.java", "class ATest {\n  @Test\n  void rings() {\n  }\n  void helper() {\n  }\n}\n", ["ATest.rings"]),
        ("a_test.cc", "TEST_F(Bell, Rings) {\n}\n", ["Bell.Rings"]),
        ("a_test.dart", "void main() {\n  testWidgets('rings', (t) async {\n  });\n}\n", ["main.rings"]),
    ],
)
def test_tests_are_told_from_other_functions(path: str, source: str, expected: list[str]) -> None:
    assert names_of_tests(source, path) == expected


@pytest.mark.parametrize(
    ("path", "piece"),
    [
        ("a.js", "function f() {"),
        ("a.js", "a:" * 100 + "{"),
        ("a.js", "f(" * 100 + "{"),
        ("a.c", "x" * 300 + "{}"),
        ("a.py", "def f(\n"),
        ("a.py", "@a\n"),
        ("a.py", "(\n"),
        ("a.js", "/* */{"),
    ],
)
def test_hostile_files_are_read(path: str, piece: str) -> None:
    found(piece * (100_000 // len(piece)), path)


def test_names_do_not_outgrow_a_deeply_nested_file() -> None:
    deep = found("function f() {" * 5_000, "a.js")
    assert len(deep) == 64
    indented = "".join(f"{' ' * depth}def f():\n" for depth in range(500))
    assert len(found(indented, "a.py")) == 64
