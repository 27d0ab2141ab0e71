"""Functions and classes, and the lines they cover."""

import ast
import inspect
import json.decoder
import textwrap

import pytest

from clew.formats.code.comments import family_for, tokens
from clew.formats.code.definitions.scan import definitions


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
            [("Light", 1, 7), ("Light.on", 3, 6)],
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


SCRIPT = """\
export default class Lamp<T = {}> extends Base {
  static kinds: {a: string} = {a: 'b'}
  constructor(private a: A) {
    super()
  }
  async run<T>({ a, b }: { a: string; b: T } = { a: '', b: null }): Promise<{ c: T }> {
    if (check()) {
      return { ring() { } }
    }
  }
  handler = async (e: Event): Promise<void> => {
  }
  declared(a): string
  declared(a, b?): string {
  }
}
function f(a: string): {y: string} {
}
@Component({
  selector: 'x',
  template: `<a>{{b}}</a>`,
})
export class Page {
}
const g: Handler<X> = async ({ a }) => {
}
"""


def test_definitions_of_scripts_with_patterns_and_types_in_braces() -> None:
    assert found(SCRIPT, "a.ts") == [
        ("Lamp", 1, 16),
        ("Lamp.constructor", 3, 5),
        ("Lamp.run", 6, 10),
        ("Lamp.run.ring", 8, 8),
        ("Lamp.handler", 11, 12),
        ("Lamp.declared", 14, 15),
        ("f", 17, 18),
        ("Page", 19, 24),
        ("g", 25, 26),
    ]


# Verifies: REQ-d00009-B
@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.js", "function f({a, b}, c) {\n  x()\n}\n", [("f", 1, 3)]),
        ("a.js", "const a = 1\nfoo()\n\nfunction f() {\n}\n", [("f", 4, 5)]),
        ("a.js", "export default {\n  with: 1,\n  ring() {\n  }\n}\n", [("ring", 3, 4)]),
        ("a.go", "func f() interface{} {\n\treturn nil\n}\nfunc g(a struct{ b int }) map[string]interface{} {\n}\n",
         [("f", 1, 3), ("g", 4, 5)]),
        ("a.go", "func f() {\n\tif check() {\n\t}\n\tfor range items() {\n\t}\n}\n", [("f", 1, 6)]),
        ("a.rs", "fn f() -> impl Iterator<Item = u8> {\n  if let Some(x) = g() {\n  }\n}\n", [("f", 1, 4)]),
        ("a.rs", "impl<'a, T: Into<String>> fmt::Display for my::Lamp<'a, T> where T: Fn(u8) -> u8 {\n}\n",
         [("Lamp", 1, 2)]),
        ("a.cpp", "Lamp::Lamp(int a) : a_(a), b_{a}, c_{} {\n  FOREACH(x) {\n  }\n}\n", [("Lamp", 1, 4)]),
        ("a.cpp", "#include <a>\nint x;\n\ntemplate <class T>\nint f(T a)\n{\n}\n", [("f", 4, 7)]),
        ("a.cs", "class A {\n  public A(int a) : base(a) {\n    using (b()) { }\n  }\n}\n",
         [("A", 1, 5), ("A.A", 2, 4)]),
        ("A.java", "class A {\n  void f() {\n    new Runnable() {\n      void run() { }\n    };\n  }\n}\n",
         [("A", 1, 7), ("A.f", 2, 6), ("A.f.run", 4, 4)]),
        ("a.kt", "class P(val x: Int)\n\nclass A {\n  fun a() = 1\n  fun <T> b() {\n    c(1) { }\n  }\n}\n",
         [("A", 3, 8), ("A.b", 5, 7)]),
        ("a.scala", "object A {\n  def f(a: Int)(b: Int): Int = {\n  }\n}\n", [("A", 1, 4), ("A.f", 2, 3)]),
        ("a.php", "<?php\nfunction f(array $a = []): ?string {\n  g(function () use ($a) {\n  });\n}\n", [("f", 2, 5)]),
        ("a.sh", "f() {\n  cat <<EOF\n}\nEOF\n}\n", [("f", 1, 5)]),
        ("a.r", "f <- function(x) {\n}\n", [("f", 1, 2)]),
        ("a.py", "class A:\n    def f(self):\n        pass\n    # last\n\ndef g(): pass\n",
         [("A", 1, 4), ("A.f", 2, 3), ("g", 6, 6)]),
    ],
)  # fmt: skip
def test_heads_are_read_whole(path: str, source: str, expected: list[tuple[str, int, int]]) -> None:
    assert found(source, path) == expected


# Verifies: REQ-d00009-C
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
        (
            "test_b.py",
            "class A(\n    unittest.TestCase,\n):\n    def test_one(self): pass\n",
            ["A.test_one"],
        ),
        (
            "a.test.js",
            "it('expression', () => expect(1))\nit('next', () => {\n})\nit.todo('later')\nit('pending')\n"
            "/x/.test('no', 1)\n",
            ["expression", "next"],
        ),
        (
            "a.test.ts",
            "test.each([[1, () => { }]])('each %s', (a) => {\n})\n"
            "describe.each`\n  a\n  ${1}\n`('table', () => {\n  it(`row ${1}`, { x: 1 }, f)\n})\n",
            ["each %s", "table.row ${1}"],
        ),
        (
            "a.spec.ts",
            "test.describe('page', () => {\n  test.beforeEach(() => { })\n"
            "  test('opens', async ({ page }) => {\n    await test.step('no', () => { })\n  })\n})\n",
            ["page.opens"],
        ),
        (
            "ATest.kt",
            'class ATest {\n  @Test\n  fun `does "a" {`() {\n  }\n  @Test fun short() = x(1)\n  fun help() {\n  }\n}\n',
            ['ATest.does "a" {', "ATest.short"],
        ),
        ("ASpec.kt", 'describe("bell") {\n  it("rings") {\n  }\n}\n', ["bell.rings"]),
        (
            "ATests.cs",
            "class T {\n  [Fact] public void One() => x();\n  [Theory]\n  void Two() {\n  }\n}\n",
            ["T.One", "T.Two"],
        ),
        (
            "a_spec.rb",
            "RSpec.describe Foo do\n  it { is_expected }\n  context 'on' do\n    it \"rings\", :slow do\n    end\n"
            "    it('stops') { x }\n  end\n  it 'is' do\n  end\nend\n",
            ["Foo.it", "Foo.on.rings", "Foo.on.stops", "Foo.is"],
        ),
        ("a_test.exs", 'defmodule FooTest do\n  test "rings", %{a: a} do\n  end\nend\n', ["FooTest.rings"]),
        (
            "a_spec.lua",
            'describe("a", function()\n  it("b", function()\n  end)\n  it("c", function()\n  end)\nend)\n',
            ["a.b", "a.c"],
        ),
        ("a.bats", '@test "adds" {\n}\n', ["adds"]),
        ("a.zig", 'test "adds" {\n}\n', ["adds"]),
        ("test-a.R", 'test_that("adds", {\n  x\n})\n', ["adds"]),
        ("a_test.cpp", 'TEST_CASE("a, b", "[x]") {\n}\n', ["a, b"]),
        ("a_test.swift", '@Test("shown") func rings() {\n}\n', ["rings"]),
        (
            "ATest.php",
            "<?php\nclass A {\n  #[Test]\n  function rings() {\n  }\n  function testStops() {\n  }\n}\n",
            ["A.rings", "A.testStops"],
        ),
        ("a_test.cc", "TEST_F(Bell, Rings) {\n}\n", ["Bell.Rings"]),
        ("a_test.dart", "void main() {\n  testWidgets('rings', (t) async {\n  });\n}\n", ["main.rings"]),
    ],
)
def test_tests_are_told_from_other_functions(path: str, source: str, expected: list[str]) -> None:
    assert names_of_tests(source, path) == expected


def test_a_name_keeps_its_dots_and_the_outer_names_stay_apart() -> None:
    source = "describe('a. b', () => {\n  it('c. d', () => 1)\n})\n"
    family = family_for("a.test.js")
    assert family is not None
    each = definitions(source, tokens(source, family), family)
    assert [(definition.names, definition.parent) for definition in each] == [(("a. b",), -1), (("a. b", "c. d"), 0)]


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
        ("a.js", "a = {}\n"),
        ("a.js", "it('x', () => 1)\n"),
        ("a.js", "test.each(["),
        ("a.ts", "a(b = {"),
        ("a.cpp", "a() : b{}, "),
        ("a.rs", "impl<"),
        ("a.cs", "[Fact] a "),
        ("a.kt", "@Test fun a() = "),
        ("a.rb", "it 'x' do\n "),
    ],
)
def test_hostile_files_are_read(path: str, piece: str) -> None:
    source = piece * (100_000 // len(piece))
    last = source.count("\n") + 1
    assert all(1 <= line <= end_line <= last for _, line, end_line in found(source, path))


def test_names_do_not_outgrow_a_deeply_nested_file() -> None:
    deep = found("function f() {" * 5_000, "a.js")
    assert len(deep) == 64
    indented = "".join(f"{' ' * depth}def f():\n" for depth in range(500))
    assert len(found(indented, "a.py")) == 64
