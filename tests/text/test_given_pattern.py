"""What patterns are compiled, and which are refused before."""

import pytest

from clew.text.given_pattern import MOST_NODES, PatternTooLarge, check_size, compile_given


# Verifies: REQ-d00650-B
@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\d{4}-\d{2}-\d{2}", "2026-11-18"),
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "01234567-89ab-cdef-0123-456789abcdef"),
        (r"(?:[A-Z][a-z]{2,20}\s){3}[A-Z]{1,200}", "The Old Key TURNS"),
        (r"(?P<year>\d{4})\.(?:\p{L}{1,64}\.){2}\w{1,64}", "2026.a.b.c"),
        (r"a{1000}", "a" * 1_000),
        (r"(?:[^]\\[:alpha:]]{20}){100}", "1" * 2_000),
        (r"a\{1000\}\{1000\}", "a{1000}{1000}"),
        (r"(?x) \d {1 0} # ten", "1234567890"),
        (r"\(?R\)?\(?1\)", "R1)"),
        (r"\{e\}\p{S}\p{Lu}{1,2}\N{EQUALS SIGN}", "{e}+A="),
        (r"(?i-s:K)(?-i:k)(?P<n>a)(?P=n)", "Kkaa"),
    ],
)
def test_counts_of_ordinary_things_are_compiled(pattern: str, text: str) -> None:
    assert compile_given(pattern).search(text) is not None


# Verifies: REQ-d00650-A
@pytest.mark.parametrize(
    "pattern",
    [
        f"a{{{MOST_NODES + 1}}}",
        "(?:a{1000}){51}",
        "((?:a{2}){200}b){200}",
        "(?=(?>(?|a{100}){100}){100})",
        "(?:a{1000}[)]){1000}",
        "(?:a{1000}\\)){1000}",
        "(?:a{1000}[]()]){1000}",
        "(?:[[a]--[(]]{1000}[)]){1000}",
        "(?:a{1000}){e<=0}{1000}",
        "(?:a{1000}(?#)){1000}",
        "a{1000}(?i){1000}",
        "\\p{1000,2000}(?:\\p{1000}){1000}",
        "(?x)(?:a{1 0#1\n00}){10 00}",
        "(?:a{00000000000000001000}){1000}",
        f"a{{{'9' * 500}}}",
        "a" * 2_001,
        "(?R)?a",
        "((?1)?a)",
        r"\\(?0)?a",
        "(?P<x>a|(?&x)(?&x))+b",
        "(?P<x>a|(?P>x)(?P>x))+b",
        "(?P<x>a?(?P&x)|b)",
        "(?:b|(a?(?-1)))",
        "(?+1)(a)",
        "(?x)(?P<x>a?(?P # c\n & x)|b)",
        "(?x)(?P<x>a?(?& # c\n x)|b)",
        "(?x)(a?(?- 1 )|b)",
        "(?:abc){e<=2}",
        r"\\{e}",
        "a{1<=e<=3}",
        "(?:ab){2i+2d+1s<=4}",
        "a{i<=1,s}",
        "a{ e <= 2:[a-z]}",
    ],
)
def test_what_would_be_too_large_is_refused(pattern: str) -> None:
    with pytest.raises(PatternTooLarge):
        check_size(pattern)


# Verifies: REQ-d00650-A
@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "(?:" * 400 + ")" * 400, "\\"])
def test_what_is_no_pattern_is_said(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        compile_given(pattern)
