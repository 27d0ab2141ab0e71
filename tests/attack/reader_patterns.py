"""Texts that a careless reader takes far too long for: each is one piece, repeated until the file is large.

A piece that opens something is never closed, a piece that might be the beginning of a match never is one, and a piece
that makes a record makes thousands of them. Every reader gets all common pieces and those of its own format.
"""

from typing import NamedTuple


class Pattern(NamedTuple):
    piece: str
    before: str = ""
    after: str = ""
    then: str = ""
    """A second piece, which fills the other half of the file."""
    between: str = ""
    """Stands between the piece once, twice, three times and so on."""

    def text(self, size: int) -> bytes:
        """The pattern as a file of about `size` bytes."""
        size -= len(self.before) + len(self.after)
        if self.between:
            middle = self._growing(size)
        elif self.then:
            middle = _repeated(self.piece, size // 2) + _repeated(self.then, size // 2)
        else:
            middle = _repeated(self.piece, size)
        return f"{self.before}{middle}{self.after}".encode()

    def _growing(self, size: int) -> str:
        parts: list[str] = []
        while size > 0:
            parts.append(self.piece * (len(parts) + 1) + self.between)
            size -= len(parts[-1])
        return "".join(parts)


def _repeated(piece: str, size: int) -> str:
    """A piece until the size is reached; `%d` in it is the number of the repetition."""
    times = max(1, size // len(piece.encode()))
    if "%d" not in piece:
        return piece * times
    return "".join([piece.replace("%d", str(number)) for number in range(times)])


_SIGNS = " \t\n\r`~#*_-+=|<>[](){}\"'\\/:;.,!?@$%&^aA0"
_PAIRS = ("# ", "- ", "* ", "> ", "` ", "[a](", "[a][", "![", "<a ", "</", "<!--", "/*", "//", "--", '""', "''")
_PIECES = (
    "[](", "[[", "((", "{{", "](", "`a", "``a", "**a", "a_", "<a>", "&a;", "\\`", "\\\n", " \n", "\t\n", "\r\n",
    "a\n", "aaaa ", "a. ",
    "a.b", "a-", "a:b ", "a: b\n", "REQ-", "REQ-d00001", "REQ-d00001-", "REQ-d00001-A+", "REQ-d%d ", "1. ", "1.\n",
    "é", "\u202e", "\u3000",
    "http://", "https://a.b/c ", "a@b.", "../", "a/", "/a/b.c ", "--a ", "--a=b ", "$ a\n", "x" * 79 + "\n", "\n\n\n",
    "a\n\n", "🙂",
)  # fmt: skip
_ENDED = (
    Pattern("`", "", "a"), Pattern(" ", "a", "b"), Pattern("#", "# a ", "b"), Pattern(" ", "# a", "#b"),
    Pattern("a", "<!--"), Pattern("-", "<!--"),
    Pattern("a", '"""'), Pattern("[", "", "]"), Pattern("(", "[a]", ")"), Pattern("\n", "a", "b"),
)  # fmt: skip

_HALVES = (
    ("`", "a"), ("`", "a`"), ("[", "a"), ("[", "]"), ("[a](", "a"), ("(", ")"), ("<", "a"), ("<", ">"),
    ("<!--", "a\n"), ("#", " "), ('"', "a"), ("'", "a\n"), ("{", "}"),
    ("{\n", "}\n"), ("/*", "a"), ("/*", "*/"), ("- ", "a"), ("- a\n", "  b\n"), ("```\n", "a\n"), (" ", "a"),
    (" ", "\n"), (" a\n", "a\n"), ("\n", "a"), ("a", "\n"),
    ("a.", " b"), ("**a", "b\n"), ("|", "-"), ("a|", "\n|-"), ("\\", "a"), ("*", "a"), ("_", "a"), ("a\n", "=\n"),
    ("(a", ","), (":", "a"), ("/", "a"), ("a/", ".b"),
)  # fmt: skip
_RUNS = (
    ("`", "a"),
    ("~", "\n"),
    ("#", "\n"),
    ("#", " a\n"),
    (" ", "a\n"),
    (" ", "- a\n"),
    ("[", "a"),
    ("'", "a"),
    ('"', "a"),
    ("*", "a"),
    ("=", "\n"),
    ("-", "\na\n"),
    ("/", "a"),
)

COMMON = (
    *(Pattern(piece) for piece in (*_SIGNS, *_PAIRS, *_PIECES)),
    *_ENDED,
    *(Pattern(piece, then=then) for piece, then in _HALVES),
    *(Pattern(piece, between=between) for piece, between in _RUNS),
)
"""What every reader gets."""

_MARKDOWN = (
    "# a\n", "#### a\n# b\n", "# %d\n", "# a\n## b\n", "a\n===\n", "a\n---\n", "- a\n", "- a\n  - b\n", "  ",
    "- a\n\n", "> a\n", "|a|b|\n",
    "|-", "|a\n|-|\n", "```\n", "```a\n", "````\n```\n", "~~~\n", "- ```\n", "<!-- a\n", "<!-- -->", "[a]: b\n",
    "[%d]: b\n", "[a][b]\n",
    "[a](b(", "[a](<b", "![a](b)", "<a id=", "<a id=b>\n# a\n", "{#a}", "{: #a", "# a {#b}\n", "# a #\n", "`a`b",
    "``a`", "* * *", "- - a",
    "***\n", "___a", "1) a\n", "    a\n", "\ta\n\n", "a\n<!--\n", "`" * 3 + "a`\n", "# [a](b\n", "# <a <b\n",
    "# **a\n", "a  \n",
)  # fmt: skip
_FRONT_MATTER = (
    Pattern("a: b\n", "---\n"), Pattern("a%d: b\n", "---\n", "---\n"), Pattern("- a\n", "---\na:\n", "---\n"),
    Pattern(" a\n", "---\na: |\n", "---\n"),
    Pattern("[", "---\na: ", "\n---\n"), Pattern("#", "---\na: ", "\n---\n"), Pattern(" ", "---\na", "\n---\n"),
    Pattern("a=1\n", "+++\n", "+++\n"),
    Pattern("a.", "+++\n", "=1\n+++\n"), Pattern("[", "+++\na=", "\n+++\n"), Pattern("9", "---\na: ", "\n---\n"),
    Pattern("9", "+++\na=", "\n+++\n"),
)  # fmt: skip
_RST = (
    "a\n=\n", "a\n===\n\n", "a%d\n======\n\n", "===\na\n===\n", "=\n", "===\n", "== ==\n", "== ==\na b\n", "+-",
    "+-+\n", "+--+\n|a |\n",
    "| a\n", ".. a\n", ".. a::\n", ".. a::\n   ", ".. _a:\n", ".. _a:\n\n", ".. code::\n\n   a\n", "a::\n\n",
    "a::\n\n  b\n\n", "::\n", ":a: b\n",
    ":ref:`", ":ref:`a <", ":doc:`a`", "`a <b", "`a <b>`_ ", "* a\n", "* a\n\n", "- a\n\n  - b\n", "#. a\n",
    "(a) b\n", ">>> a\n", ">>> a\n\n",
    " a\n  b\n", "a\n b\n", "a\n~\nb\n-\n", "a\n\n ", "  \n", ".. ", "..\n", "!!!!\n", "a\n!\n", "a\n\n===\n\n",
    "a\n\n> b\n\n", "a::\n\n> b\n",
    "   .. a::\n", ".. image:: a\n   :b: c\n", "a |b| ", "[1]_ ", ".. [1] a\n", "__ a\n", "a__ ", "`a`__ ",
    "a\n^\n\nb\n\"\n\n", "*a* **", "``a`` ",
)  # fmt: skip
_HTML = (
    "<p>", "</p>", "<div>", "<ul><li>", "<li>", "<table>", "<td>", "<tr><td>a", "<pre>", "<h1>a</h1>",
    "<h1 id=%d>a</h1>", "<h1>", "<a href=b>",
    "<a href=b>c</a>", "<a id=b>", "<br>", "<dt><dd>", "<title>", "<title>a", "<meta name=a content=b>", "<script>",
    "<script>a</script>", "<style>",
    "<svg>", "</script>", "<!--a-->", "<!-->", "<!--->", "<!", "<!a", "<![", "<![CDATA[", "<![a", "<?", "<?a", "<a b",
    "<a b='", '<a b="', "<a b=c ",
    "<a/", "<a /", "< a", "&", "&amp", "&#", "&#x1", "&amp;", "&lt;!--", "<a\n", "<textarea>", "<plaintext>",
    "<a b=c>d", "</a", "</ a", "<h1><h2>",
    "<template>", "<noscript>", "--><!--", "<a '", '<a "', "<a =", "<b>", "<iframe>", "<xmp>", "<p id=a>", "a<br>",
)  # fmt: skip
_PYTHON = (
    "def a():\n  'b'\n", "def a%d():\n  'b'\n", "class a:\n 'b'\n", "a(", "[", "(a,", "-", "not ", "a+", "a.b",
    "'a'\n", "'''", '"a" ', "f'{a}'",
    "f'{", "\\\n", "if a:\n", " if a:\n", "@a\n", "lambda:", "a if b else ", "{a:", "a=", "a;", "# a\n", "async ",
    "1_", "0x", "b''", "\f",
    "def a():\n  '''b\n  =\n  '''\n", "class a:\n def b(s):\n  'c'\n", "    \n", "a\t", "try:\n a\n", "*", "**a",
    "a[", "x" * 200,
)  # fmt: skip
_DOCSTRING = tuple(Pattern(piece, '"""\n', '\n"""\n') for piece in _RST)
_CELL_TEXT = ("# a\\n", "```\\n", "`", "[a](", "- a\\n", "\\u001b[", "\\ud800", "a\\n\\n", "<!--", "|-")
_NOTEBOOK = (
    Pattern("[", '{"cells":'), Pattern('{"a":', '{"cells":['), Pattern('"', '{"cells":['),
    Pattern('\\"', '{"cells":["', '"]}'),
    Pattern('{"cell_type":"code"},', '{"cells":[', "{}]}"),
    Pattern('{"cell_type":"markdown","source":"# a"},\n', '{"cells":[', "{}]}"),
    Pattern('{"cell_type":"code","outputs":[{"text":"a"}]},', '{"cells":[', "{}]}"),
    Pattern('{"cell_type":"heading","source":"a"},', '{"cells":[', "{}]}"),
    Pattern('"cell_type":', '{"cells":["', '"]}'),
    Pattern('"a",', '{"cells":[{"cell_type":"code","source":[', '"b"]}]}'),
    Pattern("1", '{"a":', "}"), Pattern("1e9", '{"a":', "}"), Pattern(" ", '{"a":', "}"),
    Pattern('"cell_type"  ', "{}"),
    *(Pattern(text, '{"cells":[{"cell_type":"markdown","source":"', '"}]}') for text in _CELL_TEXT),
    *(Pattern(text, '{"cells":[{"cell_type":"code","outputs":[{"text":"', '"}]}]}') for text in _CELL_TEXT),
)  # fmt: skip
_PLAIN = (
    "A\n\n",
    "ABC\n\n",
    "ABC DEF\n\n",
    "a\n=\n",
    "abc\n===\n",
    "* a\n",
    "- a\n- b\n",
    "1. a\n",
    "ABC",
    "A B ",
    "a\n~~~\n",
    "ABC\na\n",
)

_ELSPAIS = (
    "# REQ-d00001: a\n", "# REQ-d%d: a\n", "## REQ-d00001: a\n\n**Level**: Dev\n", "**Level**: ", "**Level**: Dev | ",
    "**Status**: Active\n", "| **a**: b ",
    "## Assertions\n", "A. a\n", "B. a\n\n", "A. a SHALL b\n", "*End* *a*", "*End* *a* | **Hash**: 1\n", "*End*",
    "**Hash**: ", "---\n", "## Rationale\n",
    "# a\n", "## a\n", "**Implements**: REQ-d00001, ", "**Refines**: REQ-p00001-A, ", "**Implements**: ",
    "Implements: ", "# JNY-a-01: b\n", "**Actor**: a\n",
    "# REQ-d00001: a\n# REQ-d00002: b\n", "REQ-d00001: ", "# REQ-", "# REQ-d", "```\n# REQ-d00001: a\n", "```\n",
    "- a\n", "A. ", "AA. a\n", "_a_",
    "**a", "**a**", "**a**:", "**a** | ", "* * ", "| ", " | ", "a | b", "1. a\n", "A) a\n", "  A. a\n", "<!-- ",
    "> **Level**: Dev\n",
    "# REQ-d00001: a\n**Level**: Dev | **Status**: Active\n\n## Assertions\n\nA. a\n\n*End* *a*\n", "# Step\n",
    "## Steps\n1. a\n", "Validates: REQ-d00001-A, ",
)  # fmt: skip
_OPENSPEC = (
    "# a\n", "## Requirements\n", "### Requirement: a\n", "### Requirement: a%d\n", "#### Scenario: a\n",
    "#### Scenario: a%d\n", "### Requirement: a\nb\n",
    "#### Scenario: a\n- **WHEN** b\n- **THEN** c\n", "- **WHEN** a\n", "- **AND** a\n", "- WHEN ", "**WHEN** ",
    "## ADDED Requirements\n",
    "## MODIFIED Requirements\n", "## REMOVED Requirements\n", "## RENAMED Requirements\n",
    "- FROM: `### Requirement: a`\n", "- TO: `### Requirement: b`\n",
    "- FROM: `### Requirement: a`\n- TO: `### Requirement: b`\n", "## Purpose\n", "## Why\na\n",
    "## What Changes\n- a\n", "- [ ] 1.1 a\n", "- [x] 1.%d a\n",
    "- [ ] ", "## 1. a\n", "```\n", "```\n### Requirement: a\n", "~~~\n", "### a\n", "##### a\n", "###### a\n",
    "  - a\n", "    - a\n", "- a\n  - b\n",
    "The system SHALL a\n", "SHALL ", "MUST ", "`a/b#c` ", "a/b#c ", "<!-- a\n", "<!-- -->", "### Requirement:",
    "####Scenario:", "#### Scenario:", "- **",
    "**a", "| ", "schema: a\n", "created: a\n", "a:\n", "a: [", "a: {", "a: |\n b\n", "a: &b ", "- *a\n", '"',
    "a: 'b", "a: # b\n", "\ta: b\n",
)  # fmt: skip

_ENTRY = '"REQ-%d": {"id": "REQ-%d", "title": "t", "statement": "s", "acceptance": ["a"], "links": []},\n'
_REGISTER = (
    Pattern("["), Pattern('{"a":'), Pattern('"'), Pattern('"a":1,', "{", '"b":2}'),
    Pattern('"a%d":1,', "{", '"b":2}'), Pattern("1", '{"a":', "}"),
    Pattern("1", '{"a":1.', "}"), Pattern("0", '{"a":1e', "}"), Pattern("\\u0041", '{"a":"', '"}'),
    Pattern("\\", '{"a":"', '"}'),
    Pattern("é", '{"a":"', '"}'), Pattern("\\ud83d\\ude42", '{"a":"', '"}'), Pattern("null,", "[", "1]"),
    Pattern("{},", "[", "1]"), Pattern("[],", "[", "1]"),
    Pattern(_ENTRY, '{\n  "format": "req-v3",\n  "requirements": {\n', '"b": {}}}'), Pattern("<<<<<<< a\n", "{"),
    Pattern("=======\n", "{"),
    Pattern(">>>>>>> a\n"), Pattern('    "REQ-%d": {\n      "acceptance": [\n', '{"requirements": {\n'),
    Pattern('    "REQ-1": {', "{"),
    Pattern('      "acceptance": [\n', '{"requirements": {\n    "REQ-1": {\n'), Pattern('{"requirements":'),
    Pattern('"format":"req-v3",', "{", '"a":1}'),
)  # fmt: skip

_CODE = (
    "// a\n", "/* a\n", "/* a */", "/**", "/*/", "# a\n", "#!", "#[a]", "-- a\n", "--[[", "--[==[", "[==[", "]]",
    "'''", '"""', '"a', "'a", "`a", "`${",
    "${", "}", "r#\"", 'R"a(', 'r"-(', "@\"", "@'", "<<A\n", "<<-A\n", "<<<A\n", "<<~A\n", "<<%d\n", "=begin\n",
    "=pod\n", "=cut\n", "{-", "(*", "<#", "#=",
    "#|", ";;", ";a\n", "% a\n", "! a\n", "C a\n", "REM a\n", "@rem ", ".. a\n", "<!--", "<?php ", "?>", "\\'", '\\"',
    "$#", "/a/", "/[", "/\\/", "a/b ", "%q(",
    "%{", "q{", "qq(", "m{", "s{a}{", "y/a/", "''", "$$", "$a$", "E'", "def a\n", "def a():\n", "def test_a():\n",
    "def test_a%d():\n  pass\n", "class A:\n",
    "class A {\n", "func A() {\n", "fn a() {\n", "function a() {", "function a(", "void a() {}\n", "public ",
    "static a<b", "a<b<", "template<", "describe('a', () => {\n",
    "it('a', () => {\n", "test('a', ", "test(", "it(", "@Test\n", "#[test]\n", "@pytest.mark(",
    "# Verifies: REQ-d00001\n", "# Implements: REQ-d00001-A\n",
    "# Verifies: REQ-d00001, ", "// REQ-d00001 ", "// @req REQ-0001\n", "@req(", "@req ", "# Verifies: ",
    "# Verifies:\n", "Verifies: `a/b#c`, ", "test_REQ_d00001_",
    "def test_REQ_d00001_A():\n", "=> {", "(){", "{}", "{\n", "}\n", "{\n}\n", ") {", "if (a) {\n", " a\n", "\ta\n",
    " \\\n", "do\n", "end\n", "begin\n", ":\n", "=> ",
)  # fmt: skip

_OUTLINE = (
    *_CODE, "export ", "export\n", "export\n\n", "public\n", "pub(", "pub(a)\n", "type a\n", "type a<b\n", "type a<b>",
    "type a\n\n", "type a = b\n", "const a=(\n", "const a=(()\n", "const a=<b\n", "const a: b\n", "const a=async\n",
    "a=(\n()", "a=(b)=>\n", "a%d=(b)=>1\n", "a = function\n", "struct a<\n", "struct a<b>\n", "struct a%d;\n",
    "macro_rules! a\n", "class A\n", "class A(\n", "class A%d(\n", "class a%d{}", "class A%d {\n", "fun <a>\n",
    "fun <>",
    "fun a<b>.\n", "fun a() = (\n", "fun a%d() =\n", "def a[\n", "typealias a\n", "record A<\n", "record A(\n",
    "record A%d(int b);\n", "int a() =>\n", "int a%d() => 1;\n", "a<b>\n", " a (", "a a ", "public a\n",
    "@interface A\n",
    "@end\n", "const a = struct\n", "local a=function\n", "import a\n", "import a, \\\n", "from a import (\n",
    "from . import a\n", "import {a\n", "import a.b.{c\n", "import 'a'\n", "require('a')\n", "require  \n",
    "const {a\n",
    "use a\n", "use a::{", "use a\\{b\n", "mod a;\n", "#include <a", "#include 'a'\n", "source a\n", "package a\n",
    "<script", "<script>", "<script>a</script ", "</script ", "---\n", "import a\n\n", "@Test fun a() = b\n",
    "@Test @a\n",
    "@Test a ", "[Fact] a ", "[Fact]\n", "[Fact][a]\n", "[Fact] int a() =>", "test.a", "test.each(a)", "test(a)\n",
    'test"a"\n', "it <a", "it 'a'", "describe A.\n", "describe A:\n", "new a(", "operator+", "a::b(", "~a()\n",
    "where a\n",
    "throws a\n", "-> a\n", ",\n", ".a\n", "class class ", "class a class {", "impl a for ", "impl<a> {",
    "func (a) b() {\n",
)  # fmt: skip
_OUTLINE_RUNS = (
    Pattern(" ", between="a\n"), Pattern(" ", "require", "a"), Pattern(" ", "type a", "!"), Pattern("\n", "fun a", "!"),
    Pattern("\n", "test'a'", "!"), Pattern("a", "it '", "'"), Pattern(" ", "int a", "!"), Pattern(" ", "[Fact]", "!"),
    Pattern("\n", "class A", "!"), Pattern("\n", "class A", "."), Pattern("<>", "fun ", "!"),
    Pattern("\n", "a = (", "!"),
    Pattern("class A(\n", then=")\n"), Pattern("class A {\n", then="}\n"), Pattern("a", "class ", "{"),
    Pattern(" ", "use a", "!"), Pattern(" ", "import a", "!"), Pattern("\n", "---\n", "--- a"),
    Pattern(" ", "</script", "!"),
)  # fmt: skip

_RESULTS = (
    Pattern("<a>", "<testsuite>"), Pattern("<testcase name='a'/>", "<testsuite>", "</testsuite>"),
    Pattern("<testsuite>"), Pattern("<testcase>", "<testsuite>"),
    Pattern("<testcase name='a%d'><failure/></testcase>", "<testsuite>", "</testsuite>"),
    Pattern("a='b' ", "<testsuite ", "/>"), Pattern("a", "<testsuite a='", "'/>"),
    Pattern("a%d='b' ", "<testsuite ", "/>"), Pattern("&amp;", "<testsuite>", "</testsuite>"),
    Pattern("&#65;", "<testsuite a='", "'/>"), Pattern("&", "<testsuite>"),
    Pattern("<!ENTITY a 'b'>", "<!DOCTYPE a ["), Pattern("<!-- a -->", "<testsuite>", "</testsuite>"),
    Pattern("<!--", "<testsuite>"), Pattern("<![CDATA[", "<testsuite>"),
    Pattern("<![CDATA[a]]>", "<testsuite>", "</testsuite>"), Pattern("<?a b?>", "<testsuite>", "</testsuite>"),
    Pattern("]]", "<testsuite><![CDATA["), Pattern("<", "<testsuite>"),
    Pattern("a ", "<testsuite><testcase name='a'><system-out>", "</system-out></testcase></testsuite>"),
    Pattern("a:", "<testsuite><testcase><"),
    Pattern("<property name='a' value='b'/>", "<testsuite><properties>", "</properties></testsuite>"),
    Pattern("[", "<testsuite><testcase name='a", "'/></testsuite>"),
    Pattern("::a", "<testsuite><testcase name='a", "' classname='b'/></testsuite>"),
    Pattern(".a", "<testsuite><testcase name='a' classname='b", "'/></testsuite>"),
    Pattern("xmlns:a%d='b' ", "<testsuite ", "/>"),
    Pattern("<testsuite name='a'><testcase name='b'/></testsuite>", "<testsuites>", "</testsuites>"),
    Pattern('{"nodeid":"a","outcome":"passed"},', '{"tests":[', "{}]}"),
    Pattern('{"nodeid":"a::b%d","outcome":"failed"},', '{"tests":[', "{}]}"),
    Pattern('{"$report_type":"TestReport","nodeid":"a","outcome":"passed","when":"call"}\n'),
    Pattern('{"$report_type":"A"\n'), Pattern('{"$report_type":"A"}\n'),
    Pattern('{"$report_type":"TestReport","nodeid":"a%d","outcome":"passed","when":"setup"}\n'),
    Pattern("::", '{"tests":[{"nodeid":"a', '","outcome":"passed"}]}'),
    Pattern("[", '{"tests":[{"nodeid":"a', '","outcome":"passed"}]}'),
    Pattern('{"executed_lines":[1]},', '{"files":[', "{}]}"),
    Pattern("1,", '{"files":{"a":{"executed_lines":[', "1]}}}"),
    Pattern('"a%d":{"executed_lines":[1]},', '{"files":{', '"b":{}}}'), Pattern('"executed_lines" ', "{"),
    Pattern('"executed_lines":', '{"a":"'),
    Pattern('"1":["a"],', '{"files":{"a":{"executed_lines":[1],"contexts":{', '"2":[]}}}}'),
    Pattern("SF:a\n"), Pattern("SF:a\nend_of_record\n"), Pattern("SF:a%d\nDA:1,1\nend_of_record\n"),
    Pattern("DA:1,1\n", "SF:a\n"), Pattern("DA:%d,1\n", "SF:a\n"), Pattern("TN:\n"), Pattern("DA:", "SF:a\n"),
    Pattern("end_of_record\n", "TN:\n"), Pattern("[", '{"tests":'), Pattern('{"a":', '{"tests":'),
    Pattern("a\n", "TN:\n"), Pattern("9", "SF:a\nDA:"), Pattern("9", '{"tests":[{"duration":', "}]}"),
)  # fmt: skip
_REVIEWS = (
    "REQ-d00001-A 4f0c2a9be817 verifies test:a\n",
    "REQ-d%d 4f0c2a9be817 verifies test:a\n",
    "%41;",
    "%",
    "# a\n",
    "a b c d\n",
    "a b c\n",
    "<<<<<<< a\n",
)


def _of(*pieces: str) -> tuple[Pattern, ...]:
    return tuple(Pattern(piece) for piece in pieces)


FORMATS = {
    "markdown": (*_of(*_MARKDOWN), *_FRONT_MATTER),
    "rst": _of(*_RST),
    "html": _of(*_HTML),
    "python": (*_of(*_PYTHON), *_DOCSTRING),
    "notebook": _NOTEBOOK,
    "plain": _of(*_PLAIN),
    "elspais": _of(*_ELSPAIS),
    "openspec": _of(*_OPENSPEC),
    "register": _REGISTER,
    "code": _of(*_CODE),
    "outline": (*_of(*_OUTLINE), *_OUTLINE_RUNS),
    "results": _RESULTS,
    "reviews": _of(*_REVIEWS),
}
"""What the readers of a format get besides."""
