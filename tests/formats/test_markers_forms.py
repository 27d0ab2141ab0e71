"""The many ways in which people write references: languages, lists, ranges, names of tests, ids of a register."""

import textwrap

import pytest

from clew.formats.code.languages import FAMILIES, family_for
from clew.formats.code.markers import Citation, MarkerRecords, carried_by_none, cited_by, read_markers
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.settings import ElspaisSettings

GRAMMAR = IdGrammar(ElspaisSettings())


def read(source: str, path: str, *, is_test: bool = False, register: bool = False) -> MarkerRecords:
    return read_markers(textwrap.dedent(source).encode(), path, GRAMMAR, is_test=is_test, register=register)


def cited(citations: tuple[Citation, ...]) -> list[str]:
    return [f"{each.target}-{'+'.join(each.labels)}" if each.labels else each.target for each in citations]


COMMENTS = {
    "a.hbs": "{{!-- @@ --}}",
    "a.mustache": "{{! @@ }}",
    "a.erb": "<%# @@ %>",
    "a.ejs": "<div><%# @@ %></div>",
    "a.jsp": "<%-- @@ --%>",
    "a.liquid": "{% comment %} @@ {% endcomment %}",
    "a.cshtml": "@* @@ *@",
    "a.html": "<p><!-- @@ --></p>",
    "a.mdx": "{/* @@ */}",
    "a.rst": "text\n\n.. @@",
    "a.twig": "{# @@ #}",
    "a.pug": "p\n  //- @@",
    "a.bat": "@echo off\n@REM @@",
    "a.cmd": "  :: @@",
    "a.s": "  mov r0, #1 @ x\n# @@",
    "a.asm": "mov ax, 1 ; @@",
    "a.f": "C @@\n      PROGRAM BELL",
    "a.f90": "x = 1 ! @@",
    "a.abap": "* @@",
    "a.cbl": "      * @@",
    "a.sas": "/* @@ */",
    "a.do": "* @@",
    "a.ada": "X := 1; -- @@",
    "a.dhall": "{- @@ -}",
    "a.coffee": "ring = -> 1 # @@",
    "a.robot": "# @@",
    "a.feature": "Feature: x\n  # @@",
    "a.gd": "# @@",
    "a.hx": "// @@",
    "a.json5": "{a: 'http://x', // @@\n}",
    "a.wgsl": "// @@",
    "a.thrift": "/* @@ */",
    "a.st": "(* @@ *)",
    "Dockerfile": "FROM x\n# @@",
    "Makefile": "all:\n\ttrue\n# @@",
}


# Verifies: REQ-d00043-A
@pytest.mark.parametrize(("path", "source"), COMMENTS.items(), ids=COMMENTS.keys())
def test_comments_of_less_common_languages_cite(path: str, source: str) -> None:
    assert cited(read(source.replace("@@", "Implements: REQ-d00001-A"), path).citations) == ["REQ-d00001-A"]


# Verifies: REQ-d00043-A
@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.bat", "echo REM Implements: REQ-d00001"),
        ("a.bat", "set x=a::Implements: REQ-d00001"),
        ("a.rst", "Implements: REQ-d00001"),
        ("a.hbs", "<p>Implements: REQ-d00001</p>"),
        ("a.json5", "{a: '// Implements: REQ-d00001'}"),
        ("a.abap", "WRITE '* Implements: REQ-d00001'."),
    ],
)
def test_what_only_looks_like_a_comment_there_does_not(path: str, source: str) -> None:
    assert read(source, path).citations == ()


# Verifies: REQ-d00043-A
def test_every_family_of_languages_belongs_to_some_file() -> None:
    used = {family.name for path in (*COMMENTS, *(f"a.{name}" for name in FAMILIES)) if (family := family_for(path))}
    assert {"batch", "embedded", "handlebars", "restructured", "statistics"} <= used


# Verifies: REQ-d00043-B
@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# Implements: REQ-d00001-A..C", ["REQ-d00001-A", "REQ-d00001-B", "REQ-d00001-C"]),
        ("# Implements: REQ-d00001-A...REQ-d00001-B", ["REQ-d00001-A", "REQ-d00001-B"]),
        ("# Implements: REQ-d00001-A – C, REQ-d00009", ["REQ-d00001-A", "REQ-d00001-B", "REQ-d00001-C", "REQ-d00009"]),
        ("# Implements: REQ-d00001-A to B.", ["REQ-d00001-A", "REQ-d00001-B"]),
        ("# Verifies: REQ-d00008..REQ-d00010", ["REQ-d00008", "REQ-d00009", "REQ-d00010"]),
        ("# Verifies: d8 through d9", ["REQ-d00008", "REQ-d00009"]),
        ("# Verifies: REQ-d00008 - REQ-d00009 (both)", ["REQ-d00008", "REQ-d00009"]),
        ("# Implements: REQ-d00001-A, B and C", ["REQ-d00001-A", "REQ-d00001-B", "REQ-d00001-C"]),
        ("# Implements: REQ-d00001-A, REQ-d00002-B, C", ["REQ-d00001-A", "REQ-d00002-B", "REQ-d00002-C"]),
        ("# Implements: REQ-d00001-A, I think", ["REQ-d00001-A"]),
        ("# Implements: REQ-d00001 to please", ["REQ-d00001"]),
        ("# Implements: REQ-d00001-A - the bell", ["REQ-d00001-A"]),
        ("# Implements: REQ-d00001..REQ-o00003", ["REQ-d00001..REQ-o00003"]),
        ("# Implements: REQ-d00005..REQ-d00001", ["REQ-d00005..REQ-d00001"]),
        ("# Implements: REQ-d00001..REQ-d09999", ["REQ-d00001..REQ-d09999"]),
        ("# @implements REQ-d00001", ["REQ-d00001"]),
    ],
)
def test_ranges_and_further_labels(comment: str, expected: list[str]) -> None:
    assert cited(read(comment, "a.py").citations) == expected


# Verifies: REQ-d00043-B
@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", "# Implements: REQ-d00001-A,\n#   REQ-d00002,\n#   REQ-d00003-B"),
        ("a.py", "# Implements:\n#   REQ-d00001-A\n#   REQ-d00002, REQ-d00003-B\n# and text about REQ-d00004"),
        ("a.py", "# Implements:\n# - REQ-d00001-A\n# - REQ-d00002: the bell\n# * REQ-d00003-B"),
        ("a.ts", "/**\n * Implements:\n *  - REQ-d00001-A\n *  - `REQ-d00002`\n *  - REQ-d00003-B\n */"),
        (
            "a.py",
            'def f():\n    """Ring.\n\n    Implements:\n    - REQ-d00001-A\n    - d2\n    - REQ-d00003-B\n    """',
        ),
        ("a.html", "<!-- Implements: REQ-d00001-A,\n     REQ-d00002,\n     REQ-d00003-B -->"),
    ],
)
def test_a_list_goes_on_over_several_lines(path: str, source: str) -> None:
    assert cited(read(source, path).citations) == ["REQ-d00001-A", "REQ-d00002", "REQ-d00003-B"]


# Verifies: REQ-d00043-B
def test_a_keyword_without_a_list_cites_nothing() -> None:
    records = read("# Implements:\n# the bell, as described elsewhere\n# REQ-d00001\n", "a.py")
    assert records.citations == ()
    assert [each.code for each in records.diagnostics] == ["markers.undeclared"]


# Verifies: REQ-d00043-C
@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("test_a.py", "def test_REQ_d00001_A_B_rings(): ...", ["REQ-d00001-A+B"]),
        ("a_test.go", "func TestREQ_d00001_A(t *testing.T) {\n}", []),
        ("a_test.go", "func Test_REQ_d00001_A(t *testing.T) {\n}", ["REQ-d00001-A"]),
        ("a.test.ts", "test('REQ-d00001-A: rings', () => {});", ["REQ-d00001-A"]),
        ("a.test.ts", "test('rings [REQ-d00001-A+B] (REQ-d00002)', () => {});", ["REQ-d00001-A+B", "REQ-d00002"]),
        ("a.test.ts", "test('p1 rings on time', () => {});", []),
        ("a_spec.rb", "it 'rings, see REQ-d00001' do\nend", ["REQ-d00001"]),
    ],
)
def test_names_of_tests_cite(path: str, source: str, expected: list[str]) -> None:
    (test,) = read(source, f"tests/{path}", is_test=True).tests
    records = read(source, f"tests/{path}", is_test=True)
    assert cited(cited_by(test, records)) == expected


# Verifies: REQ-d00043-D
def test_ids_of_a_register_count_wherever_a_comment_mentions_them() -> None:
    source = """
        // REQ-0042: rings; see also REQ-10000 and REQ-d00001
        fn ring() {} // REQ-0007
        // Implements: REQ-42, REQ-d00001-A, REQ-0043-2
        let text = "REQ-0099";
        // REQ-12345x, XREQ-0001, REQ-001 and REQ-0001_b are none
    """
    with_register = read(source, "src/a.rs", register=True)
    assert cited(with_register.citations) == [
        "REQ-0042",
        "REQ-10000",
        "REQ-0007",
        "REQ-0042",
        "REQ-d00001-A",
        "REQ-0043-2",
    ]
    assert {each.kind for each in with_register.citations} == {"implements"}
    assert not any(each.malformed for each in with_register.citations)
    without = read(source, "src/a.rs")
    assert [(each.target, each.malformed) for each in without.citations] == [
        ("REQ-42", True),
        ("REQ-d00001", False),
        ("REQ-0043-2", True),
    ]


# Verifies: REQ-d00043-D
def test_tests_verify_what_they_mention_of_a_register() -> None:
    source = "# REQ-0042\ndef test_rings(): ...\n\n\ndef test_req_0007_hangs(): ...\n"
    records = read(source, "tests/test_a.py", is_test=True, register=True)
    found = {test.names[-1]: cited(cited_by(test, records)) for test in records.tests}
    assert found == {"test_rings": ["REQ-0042"], "test_req_0007_hangs": ["REQ-0007"]}
    assert {each.kind for each in records.citations} == {"verifies"}


# Verifies: REQ-d00043-D
def test_a_grammar_that_knows_such_ids_itself_keeps_them() -> None:
    plain = IdGrammar(ElspaisSettings(id_template="{namespace}-{component}", component_digits=4))
    records = read_markers(b"# see REQ-0042\n# Implements: REQ-0042\n", "a.py", plain, is_test=False, register=True)
    assert [(each.target, each.line) for each in records.citations] == [("REQ-0042", 2)]


RUST = """
// Implements: REQ-d00001
pub fn ring() {}

#[cfg(test)]
mod tests {
    // Implements: REQ-d00001-A
    #[test]
    fn rings() {}

    #[tokio::test]
    async fn hangs() {}
}
"""


# Verifies: REQ-d00043-E
def test_tests_beside_the_code_they_test_are_tests() -> None:
    records = read(RUST, "src/lib.rs")
    found = {test.qualname: [(each.kind, each.target) for each in cited_by(test, records)] for test in records.tests}
    assert found == {"tests.rings": [("verifies", "REQ-d00001")], "tests.hangs": []}
    assert [(each.kind, each.owner) for each in carried_by_none(records)] == [("implements", "ring")]


# Verifies: REQ-d00043-E
def test_a_function_called_test_in_other_code_is_no_test() -> None:
    records = read("def test_bench():\n    # Implements: REQ-d00001\n    ...\n", "src/bench.py")
    assert records.tests == ()
    assert [(each.kind, each.owner) for each in records.citations] == [("implements", "test_bench")]


# Verifies: REQ-d00043-F
@pytest.mark.parametrize(
    ("path", "source"),
    [
        (
            "test_a.py",
            "def test_one(:\n    # Verifies: REQ-d00001\n    x = (\n\ndef test_two():\n    # Verifies: REQ-d00002\n",
        ),
        (
            "test_a.py",
            "def test_one():\n    # Verifies: REQ-d00001\n  wrong = 1\n\tdef test_two(\n    # Verifies: REQ-d00002\n",
        ),
        (
            "a.test.ts",
            "test('one', () => {\n // Verifies: REQ-d00001\n ]\n});\ntest('two', () => {\n // Verifies: REQ-d00002\n",
        ),
        (
            "a_test.go",
            "func TestOne(t *T {\n// Verifies: REQ-d00001\n}\nfunc TestTwo(t *T) {\n// Verifies: REQ-d00002\n",
        ),
    ],
)
def test_a_file_with_syntax_errors_gives_what_can_be_told(path: str, source: str) -> None:
    records = read_markers(source.encode(), f"tests/{path}", GRAMMAR, is_test=True)
    assert {each.target for each in (*records.citations, *records.defaults)} == {"REQ-d00001", "REQ-d00002"}
    assert records.tests
