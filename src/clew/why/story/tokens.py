"""Tokens of source lines, without what a formatter may change: white space, quotes, trailing commas, wrapping."""

# Implements: REQ-d00361

import re
from collections.abc import Iterator, Sequence

import msgspec

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<string>(?:\b[rRbBuUfF]{1,2})?(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<word>[^\W\d]\w*|\d[\w.]*)
    |(?P<sign>->|=>|==|!=|<=|>=|:=|&&|\|\||\*\*|//|::|\?\.|\.\.\.|.)""",
    re.VERBOSE,
)
_CLOSING = frozenset(")]}")
_OPENS = frozenset(("=", "return", "yield", "await", "assert", "in", "if", "elif", "while", "with", "=>", "and", "or"))
"""Tokens behind which parentheses around a whole expression change nothing."""
_ONE_QUOTE = (".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte")
"""Languages in which both quotes mean the same."""
_SLASHES = (
    *(".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte", ".go", ".java", ".rs", ".kt"),
    *(".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".swift", ".scala", ".dart", ".php"),
)
"""Languages in which two slashes begin a comment."""
_FREE_ENDS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte", ".go", ".py", ".pyi")
"""Languages in which a semicolon at the end of a line changes nothing."""
_HASH = (".py", ".pyi", ".rb", ".sh", ".toml", ".yaml", ".yml", ".cfg", ".ini", ".pl", ".r")


class LineToken(msgspec.Struct, frozen=True, gc=False, array_like=True):
    text: str
    line: int
    """The place of its line among the lines."""
    is_word: bool = False
    is_comment: bool = False


def tokens_of(lines: Sequence[str], path: str) -> list[LineToken]:
    """The tokens of lines. A comment up to the end of its line is one token."""
    ending = path.lower()
    comment = "#" if ending.endswith(_HASH) else "//" if ending.endswith(_SLASHES) else ""
    is_plain = path.lower().endswith(_ONE_QUOTE)
    found: list[LineToken] = []
    for number, line in enumerate(lines):
        found += _of_line(line, number, comment, is_plain=is_plain)
    return found


def _of_line(line: str, number: int, comment: str, *, is_plain: bool) -> Iterator[LineToken]:
    for match in _TOKEN.finditer(line):
        text = match[0]
        if match.lastgroup == "space":
            continue
        is_apart = not match.start() or line[match.start() - 1].isspace()
        if text == comment and is_apart:
            yield LineToken(" ".join(line[match.start() :].split()), number, is_comment=True)
            return
        if match.lastgroup == "string":
            yield LineToken(_plain(text) if is_plain else text, number)
            continue
        yield LineToken(text, number, match.lastgroup == "word" and not text[0].isdigit())


def _plain(written: str) -> str:
    """A string with the quotes and the prefix that mean the same."""
    start = min(place for place in (written.find('"'), written.find("'")) if place >= 0)
    prefix, body = written[:start].lower().replace("u", ""), written[start + 1 : -1]
    return f'{prefix}"{body.replace(chr(92) + chr(39), chr(39)).replace(chr(92) + chr(34), chr(34))}"'


def code_only(tokens: Sequence[LineToken]) -> list[LineToken]:
    return [each for each in tokens if not each.is_comment]


def unformatted(tokens: Sequence[LineToken], path: str) -> list[LineToken]:
    """The tokens without those that formatters add and remove."""
    ends = (";", "\\") if path.lower().endswith(_FREE_ENDS) else ("\\",)
    found: list[LineToken] = []
    dropped = _wrapping(tokens) | _trailing_commas(tokens)
    for place, each in enumerate(tokens):
        follower = tokens[place + 1] if place + 1 < len(tokens) else None
        is_last = follower is None or follower.line > each.line
        if place not in dropped and not (is_last and each.text in ends):
            found.append(each)
    return found


def _trailing_commas(tokens: Sequence[LineToken]) -> frozenset[int]:
    """Places of commas before a closing bracket, without the one that makes a tuple of one value."""
    dropped: set[int] = set()
    opened: list[tuple[int, int]] = []
    for place, each in enumerate(tokens):
        if each.text in ("(", "[", "{"):
            opened.append((place, 0))
        elif each.text == "," and opened:
            opened[-1] = opened[-1][0], opened[-1][1] + 1
        elif each.text in _CLOSING:
            start, commas = opened.pop() if opened else (-1, 2)
            if place and tokens[place - 1].text == "," and not (commas == 1 and _is_tuple(tokens, start)):
                dropped.add(place - 1)
    return frozenset(dropped)


def _is_tuple(tokens: Sequence[LineToken], start: int) -> bool:
    """True for a bracket that opens no call, list or table."""
    before = tokens[start - 1] if start > 0 else None
    is_call = before is not None and ((before.is_word and before.text not in _OPENS) or before.text in _CLOSING)
    return tokens[start].text == "(" and not is_call


def _wrapping(tokens: Sequence[LineToken]) -> frozenset[int]:
    """Places of parentheses around a whole expression that continues on other lines."""
    dropped: set[int] = set()
    opened: list[int] = []
    for place, each in enumerate(tokens):
        if each.text in ("(", "[", "{"):
            opened.append(place)
        elif each.text in _CLOSING and opened:
            start = opened.pop()
            before = tokens[start - 1].text if start else ""
            after = tokens[place + 1] if place + 1 < len(tokens) else None
            is_whole = after is None or after.text in (":", "{") or after.line > each.line
            if tokens[start].text == "(" and each.text == ")" and before in _OPENS and is_whole:
                dropped |= {start, place}
    return frozenset(dropped)
