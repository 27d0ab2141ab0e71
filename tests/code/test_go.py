"""Uses in Go: packages and modules, receivers with declared types, embedded types, interfaces."""

from pathlib import Path

import pytest
from tests.code.asking import answer, opened, uses

BELLS = """\
package bells

type Bell struct {
	Name string
	Next *Bell
}

type Gong struct{}

func (g *Gong) Ring() int { return 2 }

type Tower struct {
	*Bell
	All  []Bell
	ByName map[string]*Bell
}

type Loud interface {
	Ring() int
}

func New(name string) (*Bell, error) { return &Bell{Name: name}, nil }

func Box[T any](it T) T { return it }
"""
METHODS = "package bells\n\nfunc (b *Bell) Ring() int { return 1 }\n"
HEAD = 'package main\n\nimport "example.com/tower/bells"\n\n'

SHAPES = {
    "a declared parameter": "func go1(b *bells.Bell) { b.Ring() }\n",
    "a literal": 'func go1() {\n\tb := bells.Bell{Name: "x"}\n\tb.Ring()\n}\n',
    "the address of a literal": "func go1() {\n\tb := &bells.Bell{}\n\tb.Ring()\n}\n",
    "new": "func go1() {\n\tb := new(bells.Bell)\n\tb.Ring()\n}\n",
    "a declared variable": "var one bells.Bell\n\nfunc go1() { one.Ring() }\n",
    "one of several results": 'func go1() {\n\tb, err := bells.New("x")\n\t_ = err\n\tb.Ring()\n}\n',
    "a field": "func go1(b bells.Bell) { b.Next.Ring() }\n",
    "an embedded type": "func go1(t bells.Tower) { t.Ring() }\n",
    "the field of an embedded type": "func go1(t bells.Tower) { t.Bell.Ring() }\n",
    "a loop over a slice": "func go1(t bells.Tower) {\n\tfor _, b := range t.All {\n\t\tb.Ring()\n\t}\n}\n",
    "an index": "func go1(t bells.Tower) { t.All[0].Ring() }\n",
    "a value of a map": 'func go1(t bells.Tower) {\n\tif b, ok := t.ByName["x"]; ok {\n\t\tb.Ring()\n\t}\n}\n',
    "an assertion": "func go1(x any) {\n\tb := x.(*bells.Bell)\n\tb.Ring()\n}\n",
    "a type switch": "func go1(x any) {\n\tswitch b := x.(type) {\n\tcase *bells.Bell:\n\t\tb.Ring()\n\t}\n}\n",
    "a type parameter": "func go1(b *bells.Bell) { bells.Box(b).Ring() }\n",
    "a closure": "func go1(b *bells.Bell) { go func() { b.Ring() }() }\n",
    "a channel": "func go1(c chan *bells.Bell) {\n\tb := <-c\n\tb.Ring()\n}\n",
    "a method as a value": "func go1(b *bells.Bell) {\n\tf := b.Ring\n\tf()\n}\n",
}


# Verifies: REQ-d00748-A
@pytest.mark.parametrize("shape", SHAPES)
def test_a_method_of_go_is_used_where_the_type_of_its_receiver_is_declared(tmp_path: Path, shape: str) -> None:
    text = HEAD + SHAPES[shape]
    line = next(number for number, row in enumerate(text.split("\n"), 1) if ".Ring" in row)
    files = {
        "go.mod": "module example.com/tower\n\ngo 1.22\n",
        "bells/bells.go": BELLS,
        "bells/ring.go": METHODS,
        "cmd/main.go": text,
    }
    assert uses(tmp_path, files, "Bell.Ring") == [f"cmd/main.go:{line}"]


# Verifies: REQ-d00748-A
def test_names_of_a_package_of_go_are_known_in_all_its_files_and_nowhere_else(tmp_path: Path) -> None:
    files = {
        "go.mod": "module example.com/tower\n",
        "a/a.go": "package a\n\nconst Limit = 3\n\nfunc helper() int { return Limit }\n",
        "a/b.go": "package a\n\nfunc other() int {\n\tLimit := 1\n\treturn Limit + helper()\n}\n\nvar x = Limit\n",
        "b/b.go": 'package b\n\nimport aa "example.com/tower/a"\n\nvar y = aa.Limit\nvar Limit = 4\nvar z = Limit\n',
    }
    with opened(tmp_path, files) as project:
        limit = answer(project, "a/a.go::Limit")
        helper = answer(project, "helper")
    assert [(each["path"], each["line"]) for each in limit["uses"]] == [("a/a.go", 5), ("a/b.go", 8), ("b/b.go", 5)]
    assert [(each["path"], each["line"], each["inside"]) for each in helper["uses"]] == [("a/b.go", 5, "other")]


# Verifies: REQ-d00748-A
def test_the_keys_of_a_literal_of_go_are_fields(tmp_path: Path) -> None:
    text = "package a\n\ntype Plan struct{ Size int }\n\nvar all = []Plan{{Size: 1}}\n"
    text += 'var byName = map[string]*Plan{"x": {Size: 2}}\n'
    assert uses(tmp_path, {"a/a.go": text}, "Plan.Size") == ["a/a.go:5", "a/a.go:6"]


# Verifies: REQ-d00740-D
def test_a_file_that_takes_the_parser_too_long_keeps_what_a_scan_finds() -> None:
    from clew.formats.code.outline import reading_of

    reading = reading_of("func chime() {\n}\n" + "case a:" * 4_000, "a.go")
    assert reading.facts.flaw == "parsing it takes too long"
    assert [each.name for each in reading.outline.symbols] == ["chime"]
