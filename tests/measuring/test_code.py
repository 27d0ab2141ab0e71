"""The benchmark of uses: symbols that are drawn, the frozen truth, and scores computed by hand."""

from pathlib import Path

import pytest
from benchmarks.code.asking import Shown
from benchmarks.code.causes import cause
from benchmarks.code.drawing import Drawn, draw, symbols_of
from benchmarks.code.projects import SOURCES, Source
from benchmarks.code.score import names_in, score, verdict
from benchmarks.code.truth import FROZEN, Recorded, Truth, grouped, read, write
from benchmarks.workspace import BenchmarkFailed

SOURCE = '''"""A module."""
LIMIT, rest = 3, 4
kept: int = LIMIT


class Box:
    size = 1

    def __init__(self, given):
        self.given, (self.left, _) = given, (1, 2)

    @property
    def width(self):
        return self.given

    @width.setter
    def width(self, value):
        self.given = value

    @staticmethod
    def made(other):
        other.strange = 1

    class Inner:
        deep = 2


try:
    def fallback():
        def hidden():
            return "é", kept
        return hidden
except ImportError:
    pass
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "box.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "src" / "tests").mkdir()
    (tmp_path / "src" / "tests" / "test_box.py").write_text("def test_box(): pass\n", encoding="utf-8")
    (tmp_path / "src" / "broken.py").write_text("def (", encoding="utf-8")
    return tmp_path


def test_symbols_are_top_level_and_class_level_definitions_outside_of_tests(project: Path) -> None:
    found = {each.qualname: each.kind for each in symbols_of(project, "src")}
    assert found == {
        "LIMIT": "variable",
        "rest": "variable",
        "kept": "variable",
        "Box": "class",
        "Box.size": "attribute",
        "Box.__init__": "method",
        "Box.given": "attribute",
        "Box.left": "attribute",
        "Box.width": "property",
        "Box.made": "method",
        "Box.Inner": "class",
        "Box.Inner.deep": "attribute",
        "fallback": "function",
    }


def test_a_symbol_is_where_its_name_begins(project: Path) -> None:
    lines = SOURCE.split("\n")
    for each in symbols_of(project, "src"):
        assert lines[each.line - 1][each.column :].startswith(each.name)


def test_columns_are_counted_as_editors_count_them(tmp_path: Path) -> None:
    (tmp_path / "wide.py").write_text('first = "😀"; second = 1\n', encoding="utf-8")
    second = next(each for each in symbols_of(tmp_path, ".") if each.name == "second")
    assert second.column == len('first = "xx"; ')


def test_a_draw_is_the_same_in_any_order_and_fills_up_what_a_kind_lacks() -> None:
    symbols = [Drawn("a.py", f"f{number}", "function", number, 0) for number in range(1, 41)]
    symbols += [Drawn("a.py", f"C{number}", "class", 100 + number, 0) for number in range(2)]
    wanted = {"function": 5, "class": 5}
    chosen = draw("project", symbols, wanted)  # type: ignore[arg-type]
    assert chosen == draw("project", reversed(symbols), wanted)  # type: ignore[arg-type]
    assert len(chosen) == 10
    assert [each.kind for each in chosen].count("class") == 2
    assert chosen != draw("another", symbols, wanted)  # type: ignore[arg-type]


SYMBOL = Drawn("src/box.py", "Box.width", "property", 13, 8)
TRUTH = Truth(SYMBOL, {"src/a.py": [1, 2, 3], "src/b.py": [7]}, {"src/a.py": [9], "src/box.py": [13]})
UNUSED = Truth(Drawn("src/box.py", "fallback", "function", 29, 8), {}, {"src/box.py": [29]})


def _everywhere(path: str, line: int, name: str) -> bool:
    return (path, line) != ("src/c.py", 5)


def test_lines_are_scored_by_hand() -> None:
    shown = [
        Shown("src/a.py", 1, "read", "exact"),
        Shown("src/a.py", 1, "write", "name"),
        Shown("src/a.py", 2, "read", "name"),
        Shown("src/a.py", 3, "read", "one of 3"),
        Shown("src/a.py", 9, "import", "exact"),
        Shown("src/box.py", 13, "write", "exact"),
        Shown("src/c.py", 4, "read", "exact"),
        Shown("src/c.py", 5, "call", "exact"),
        Shown("tests/t.py", 8, "patch", "exact"),
        Shown("tests/t.py", 9, "call", "name"),
    ]
    found = verdict(TRUTH, shown, _everywhere)
    assert found.found == {("src/a.py", 1), ("src/a.py", 2)}
    assert found.missed == {("src/a.py", 3), ("src/b.py", 7)}
    assert [(each.path, each.line) for each in found.wrong] == [("src/c.py", 4), ("tests/t.py", 9)]
    assert [(each.path, each.line) for each in found.other] == [("src/a.py", 9), ("src/c.py", 5), ("tests/t.py", 8)]
    both = score([found, verdict(UNUSED, [Shown("src/d.py", 1, "call", "exact")], _everywhere)])
    assert (both.symbols, both.used, both.lines) == (2, 1, 4)
    assert (both.micro, both.mean) == (2 / 4, 2 / 4)
    # Of the lines shown as exact one is right, one wrong, and the use of a symbol that has none is wrong.
    assert both.exact == 1 / 3
    assert both.shown == 2 / 5
    assert both.blind == 0


def test_a_used_symbol_without_any_use_found_is_blind() -> None:
    nothing = score(
        [verdict(TRUTH, [Shown("src/a.py", 1, "read", "one of 2")], _everywhere), verdict(UNUSED, [], _everywhere)]
    )
    assert (nothing.micro, nothing.mean, nothing.blind) == (0, 0, 1)
    assert (nothing.exact, nothing.shown) == (1, 1)


def test_a_name_is_looked_up_as_a_whole_word() -> None:
    is_named = names_in({"a.py": "width_of\nx.width\n"}.__getitem__)
    assert [is_named("a.py", line, "width") for line in (1, 2, 3, 99)] == [False, True, False, False]


def test_truth_that_was_changed_is_refused(tmp_path: Path) -> None:
    recorded = Recorded("box", "1.0", "pyright 1.1.414", (TRUTH,))
    hash = write(recorded, tmp_path)
    assert read("box", hash, tmp_path) == recorded
    assert write(recorded, tmp_path) == hash
    write(Recorded("box", "1.1", "pyright 1.1.414", (TRUTH,)), tmp_path)
    with pytest.raises(BenchmarkFailed, match=r"box\.json\.gz"):
        read("box", hash, tmp_path)
    with pytest.raises(BenchmarkFailed, match="another"):
        read("another", hash, tmp_path)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_the_truth_about_every_project_is_frozen_with_80_symbols(source: Source) -> None:
    recorded = read(source.name, FROZEN[source.name])
    assert recorded.version == source.version
    assert len({each.symbol.target for each in recorded.truths}) == 80
    assert all(each.symbol.path.startswith(source.defining) for each in recorded.truths)


def test_places_are_grouped_by_file_in_order() -> None:
    assert grouped([("b", 2), ("a", 9), ("b", 1), ("b", 2)]) == {"a": [9], "b": [1, 2]}


CODE = """import box
from box import size

def use(plain, typed: int):
    made = box.Box()
    for each in plain:
        each.size()
    plain.size; typed.size; made.size
    return size(size=1), self.size, self.box.size, box.make().size, super().size, "size"
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (7, "member of a local (of a loop)"),
        (
            8,
            "member of a local (given call) / member of a parameter without annotation"
            " / member of an annotated parameter",
        ),
        (
            9,
            "bare name, in a function / keyword argument / member of an attribute of self / member of self or cls"
            " / member of super() / member of what a call returns / string",
        ),
        (1, "not in the syntax tree (string, comment or another name)"),
    ],
)
def test_the_cause_of_a_miss_is_the_kind_of_receiver(tmp_path: Path, line: int, expected: str) -> None:
    (tmp_path / "a.py").write_text(CODE, encoding="utf-8")
    assert cause(tmp_path / "a.py", line, "size") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("this.size()", "member of this or super"),
        ("box.size", "member of a variable or property"),
        ("made()?.size", "member of what a call returns"),
        ("all[0].size", "member of an item"),
        ("  .size", "member of an expression before this line"),
        ("</size>", "element of JSX"),
        ("const { size } = box", "property of an object, or destructured"),
        ("size(1)", "bare name"),
        ("other(1)", "under another name"),
    ],
)
def test_the_cause_in_typescript_is_read_from_the_line(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "a.ts").write_text(text, encoding="utf-8")
    assert cause(tmp_path / "a.ts", 1, "size") == expected
