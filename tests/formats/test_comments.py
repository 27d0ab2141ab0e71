"""Comments of many languages, told from strings that look like them."""

import ast
import inspect
import textwrap
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.formats.code.comments import comments, family_for, tokens
from clew.formats.code.languages import FAMILIES

PYTHON = '''\
#!/usr/bin/env python
"""Module.  # not a comment"""
import os  # beside code

TEXT = """
# inside a string
"""
PATH = "C:\\\\"  # after a backslash
QUOTED = 'it\\'s # not' + "a # b"  # but this


def lamp():
    # in a body
    """Docstring with 'quotes'."""
    return f"{'#'}"  # last
'''


def texts(source: str, path: str) -> list[str]:
    family = family_for(path)
    assert family is not None
    return [comment.text.strip() for comment in comments(source, family) if comment.kind != "docstring"]


# Verifies: REQ-d00009-A
def test_python_comments_with_their_lines() -> None:
    family = family_for("lamp.py")
    assert family is not None
    assert [(comment.line, comment.kind, comment.text.strip()) for comment in comments(PYTHON, family)] == [
        (1, "line", "!/usr/bin/env python"),
        (2, "docstring", "Module.  # not a comment"),
        (3, "line", "beside code"),
        (8, "line", "after a backslash"),
        (9, "line", "but this"),
        (13, "line", "in a body"),
        (14, "docstring", "Docstring with 'quotes'."),
        (15, "line", "last"),
    ]


# Verifies: REQ-d00009-A
@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.js", "x = 'a // b'; // one\n/* two */ y = `// ${z}\n// no`;\n", ["one", "two"]),
        ("a.ts", "s.replace(/\\/*$/, ''); // one\nconst q = /['\"]/; // two\n", ["one", "two"]),
        ("a.js", "a = b / c; // one\nd = (e) / f; /* two */", ["one", "two"]),
        ("a.c", "char c = '\"'; // one\nchar *s = \"/* no */\"; /* two\n * three */", ["one", "two\n * three"]),
        ("a.cpp", 'auto s = R"x(// no )" still)x"; // one\nint n = 1\'000; // two', ["one", "two"]),
        ("a.rs", "fn f<'a>(x: &'a str) {} // one\nlet s = r#\"// no \"# ; // two\nlet t = \"a\n// no\n\"; // three",
         ["one", "two", "three"]),
        ("a.go", "s := `// no\n// no`\n// one\nr := '\\'' // two", ["one", "two"]),
        ("A.java", 'String s = """\n // no\n """; // one\nchar c = \'\\\\\'; // two', ["one", "two"]),
        ("a.dart", "var s = '''\n// no\n'''; // one\n/// two", ["one", "/ two"]),
        ("a.php", "<?php $a = '# no'; # one\n// two\n/* three */", ["one", "two", "three"]),
        ("a.css", "a { background: url(http://x//y); } /* one */", ["one"]),
        ("a.scss", "a { b: url(http://x); } // one", ["one"]),
        ("a.sh", "echo $# ${x#y} 'it is # no' # one\ndon't=1 # two\n# three", ["one", "two", "three"]),
        ("a.yml", "key: \"a # b\" # one\nurl: http://x/#frag\nit: isn't # two\n", ["one", "two"]),
        ("Makefile", "all: # one\n\techo x#y\n# two\n", ["one", "two"]),
        ("Dockerfile", "FROM x # one\n", ["one"]),
        ("deploy/Dockerfile.prod", "# one\n", ["one"]),
        ("a.sql", "SELECT '-- no', '''--' -- one\n/* two */", ["one", "two"]),
        ("a.lua", "--[[ one\n -- in ]] x = [[ -- no ]] -- two\n--[=[ three ]] ]=]", ["one\n -- in", "two", "three ]]"]),
        ("a.hs", "f = '\"' -- one\n{- two -}", ["one", "two"]),
        ("a.rb", "x = \"#{y}\" # one\n=begin\ntwo\n=end\nz # three", ["one", "two", "three"]),
        ("a.clj", '(f "; no") ; one\n#| two |#', ["one", "two"]),
        ("a.tex", "50 percent % one\n", ["one"]),
        ("a.vim", 'let x = "no"\n" one\n  " two\n', ["one", "two"]),
        ("a.vb", 'x = "\' no" \' one\n', ["one"]),
        ("a.ini", "; one\nkey = a ; b\n# two\n", ["one", "two"]),
        ("a.html", "<p>Don't // no</p> <!-- one\ntwo -->", ["one\ntwo"]),
        ("a.vue", "<p>Don't</p>\n<!-- one -->\n<script>\n// two\nx = 'http://y' /* three */</script>",
         ["one", "two", "three"]),
        ("a.ml", 'let s = "(* no *)" (* one *)', ["one"]),
        ("a.pas", "s := '{ no }'; { one } // two\n(* three *)", ["one", "two", "three"]),
        ("a.tf", 'a = "# no" # one\n// two\n/* three */', ["one", "two", "three"]),
        ("a.ps1", 'x "# no" # one\n<# two #>', ["one", "two"]),
        ("a.j2", "{# one #} {{ x }} # two", ["one", "two"]),
        ("a.ex", 'x = """\n# no\n""" # one', ["one"]),
        ("a.pl", "print '# no'; # one\n\n=pod\n\ntwo\n\n=cut\n# three", ["one", "pod\n\ntwo", "three"]),
    ],
)  # fmt: skip
def test_comments_of_other_languages(path: str, source: str, expected: list[str]) -> None:
    assert texts(source, path) == expected


# Verifies: REQ-d00009-A
@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.sh", "echo 'a\n# no\n' # yes"),
        ("a.sh", 'echo "a \\" b\n# no\n" # yes'),
        ("a.sh", 'X=a"b # no" # yes'),
        ("a.sh", "echo $'it\\'s # no' # yes"),
        ("a.sh", "cat <<EOF\n# no 'quote\nEOF\n# yes"),
        ("a.sh", "cat <<-'END OF' | sort\n# no\n\tEND OF\n# yes"),
        ("a.sh", 'cat <<A; cat <<"B"\n# no\nA\n# no\nB\n# yes'),
        ("a.sh", "cat <<< word # yes\nword"),
        ("a.sh", "echo $((1<<n)) # yes"),
        ("a.php", "<p># it's no</p><?php $s = 'a\n# no\n'; // yes"),
        ("a.php", "<?php $s = <<<EOT\n# no\n  EOT . 'x'; // yes"),
        ("a.php", "<?php $s = <<<'EOT'\n# no\nEOT;\n// yes"),
        ("a.php", "<?php f(); ?> <p># it's no</p> <?php /* yes */"),
        ("a.r", 'x <- "a\n# no\n" # yes'),
        ("a.R", 'x <- r"(# "no")" # yes'),
        ("a.rb", "x = <<~SQL\n  # no\n  SQL\n# yes"),
        ("a.rb", "list << ITEM # yes\nITEM"),
        ("a.pl", 'print <<"END";\n# no\nEND\n# yes'),
        ("a.tf", "x = <<-EOF\n  # no\n  EOF\n# yes"),
        ("a.toml", 'a = """\n# no\n""" # yes'),
        ("a.toml", "a = '''\n# no\n''' # yes"),
        ("a.cs", 'var s = @"a ""b""\n// no\n"; // yes'),
        ("a.cs", 'var s = """\n// no \\"""; // yes'),
        ("a.lua", "s = [=[ -- no ]] ]=] -- yes"),
        ("a.nix", "x = ''\n# no ''${y} '''\n# no\n''; # yes"),
        ("a.zig", "const s =\n    \\\\// no\n; // yes"),
        ("a.js", "const a = `a ${b ? `// no` : '}'} c ${ {d: 1} } // no` // yes"),
        ("a.js", "const a = `${b.replace(/`/g, '') /* } */} // no` // yes"),
        ("a.kt", 'val s = """C:\\""" // yes'),
        ("a.ps1", '$s = @"\n# no\n"@ # yes'),
    ],
)
def test_strings_that_look_like_comments_are_none(path: str, source: str) -> None:
    assert texts(source, path) == ["yes"]


# Verifies: REQ-d00009-A
@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.toml", "a = 'C:\\' # yes"),
        ("a.yml", "a: 'C:\\' # yes"),
        ("a.sh", "echo 'a\\' # yes"),
        ("a.sh", 'echo \\" # yes'),
        ("a.sh", "echo $# ${#x} ${x#y} # yes"),
        ("a.cs", 'var s = @"C:\\"; // yes'),
        ("a.sql", 'select "a\\" -- yes'),
        ("a.clj", '(def q \\") ; yes'),
        ("a.erl", 'x() -> "% no", $", $%, ok. % yes'),
        ("a.tex", 'a 5" pipe, 5\\% of % yes'),
        ("a.hs", "x --> y |-- z -- yes"),
        ("a.php", "<?php #[Attr]\n# yes"),
        ("a.rb", "=begin\nyes\n=end\nx = 1\n"),
        ("a.pl", "=yes\n=cut\n$n = $#a;\n"),
        ("a.fs", "let f = (*) (* yes *)"),
    ],
)
def test_comments_are_neither_lost_nor_cut_off(path: str, source: str) -> None:
    assert texts(source, path) == ["yes"]


# Verifies: REQ-d00009-A
@pytest.mark.parametrize(
    ("path", "opening", "close"),
    [
        ("a.rs", "/*", "*/"),
        ("a.swift", "/*", "*/"),
        ("a.kt", "/*", "*/"),
        ("a.scala", "/*", "*/"),
        ("a.dart", "/*", "*/"),
        ("a.hs", "{-", "-}"),
        ("a.ml", "(*", "*)"),
        ("a.lisp", "#|", "|#"),
        ("a.jl", "#=", "=#"),
        ("a.nim", "#[", "]#"),
    ],
)
def test_block_comments_hold_others_where_the_language_lets_them(path: str, opening: str, close: str) -> None:
    assert texts(f"{opening} a {opening} b {close} c {close} x", path) == [f"a {opening} b {close} c"]


# Verifies: REQ-d00009-A
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"""yes"""\nx = 1', ["yes"]),
        ("# first\nr'yes'", ["yes"]),
        ('def f(\n    a: "no",\n    b: str = ":",\n) -> dict[str, int]:\n    """yes"""', ["yes"]),
        ("async def f():\n    'yes'", ["yes"]),
        ('class A(B):\n\n    # here\n    R"""yes"""', ["yes"]),
        ('class A(B): """yes"""', ["yes"]),
        ('def f(a: """no"""): pass', []),
        ('x = {\n  "a":\n    """no"""}', []),
        ('x[1:\n"""no"""]', []),
        ("def f():\n    g(lambda:\n        '''no''')", []),
        ('def f():\n    if x:\n        """no"""', []),
        ('def f():\n    f"""no"""', []),
        ('x = 1\n"""no"""', []),
        ('def f(:\n    pass\n\ndef g():\n    """yes"""', ["yes"]),
    ],
)
def test_docstrings_are_told_from_other_strings(source: str, expected: list[str]) -> None:
    family = family_for("a.py")
    assert family is not None
    assert [comment.text for comment in comments(source, family) if comment.kind == "docstring"] == expected


@pytest.mark.parametrize("module", [ast, inspect, textwrap])
def test_docstrings_agree_with_the_parser(module: ModuleType) -> None:
    source = inspect.getsource(module)
    expected = {
        node.body[0].lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and ast.get_docstring(node) is not None
    }
    family = family_for("a.py")
    assert family is not None
    assert {comment.line for comment in comments(source, family) if comment.kind == "docstring"} == expected


def test_what_is_never_closed_ends_with_the_file_or_the_line() -> None:
    assert texts("/* one\n// still one", "a.js") == ["one\n// still one"]
    assert texts("x = 'open // no\n// one", "a.js") == ["one"]
    assert texts('x = """open\n# no', "a.py") == []
    assert texts("echo 'open # one", "a.sh") == ["one"]
    assert texts("cat <<EOF\n# one", "a.sh") == ["one"]
    assert texts("/* a /* b */\n// still", "a.rs") == ["a /* b */\n// still"]
    assert texts("x = `a ${b\n// no", "a.js") == []


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_with_any_line_end(end: str) -> None:
    family = family_for("a.py")
    assert family is not None
    assert [comment.line for comment in comments(PYTHON.replace("\n", end), family)] == [1, 2, 3, 8, 9, 13, 14, 15]


def test_families_are_found_by_name_and_ending() -> None:
    found = {
        path: family_for(path) for path in ("a/b.PY", "x.tar.rs", "Gemfile", "README", "a.xyz", "Makefile.am", ".env")
    }
    assert {path: family.name if family else None for path, family in found.items()} == {
        "a/b.PY": "python",
        "x.tar.rs": "rust",
        "Gemfile": "ruby",
        "README": None,
        "a.xyz": None,
        "Makefile.am": "data",
        ".env": "data",
    }


@given(
    text=st.text(alphabet="#/*'\"`\\-[]{}()<!>;%$?@R r=|\n\tax", max_size=80), name=st.sampled_from(sorted(FAMILIES))
)
def test_tokens_never_overlap_and_stay_inside_the_text(text: str, name: str) -> None:
    position = 0
    for token in tokens(text, FAMILIES[name]):
        assert position <= token.start <= token.text_start <= token.text_end <= token.end <= len(text)
        assert token.start < token.end
        position = token.end


UNCLOSED = ["'", '"', "`", "/*", "'\\", '"\\', "\\'", '"""', "'''", "--[[", "{-", "#=", "(*", "<!--", 'R"(', 'r#"']
UNCLOSED += ["/[", "x/[", "x#", "x'", 'x"', "x//", "x;", "=begin\n", "\n=begin", "://", "(/["]
UNCLOSED += ["<<A", "<<A\n", "<<'A", "<<<A ", "`${", "`${'", "/* /*", "(* (*", "--", "-->", "$'", "?>", "<?", '@"']


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_files_that_close_nothing_are_read(name: str) -> None:
    for piece in UNCLOSED:
        text = piece * (20_000 // len(piece))
        assert sum(1 for _ in tokens(text, FAMILIES[name])) <= len(text)
