"""Marks of comments and strings that a pattern alone cannot judge: what each means where it stands, how far it reaches.

A decision takes the text, where the mark begins and where it ends. It says where the text after the mark ends and where
the whole ends, or None where the mark is ordinary text.
"""

import re
from collections.abc import Callable

from clew.formats.code.languages import (
    AFTER_BLANK,
    FIRST_ON_LINE,
    LITERAL_QUOTE,
    NESTED,
    NO_OPERATOR,
    NOT_IN_ADDRESS,
    PERL_POD,
    REGEX_LITERAL,
    RUBY_BLOCK,
    SHELL_QUOTE,
    TEMPLATE,
    WORD_QUOTE,
)

Extent = tuple[int, int]
_LOOK_BACK = 40

_ON_ONE_LINE = {
    "'": re.compile(r"'[^'\\\n]*+(?:\\[\s\S][^'\\\n]*+)*+'?+"),
    '"': re.compile(r'"[^"\\\n]*+(?:\\[\s\S][^"\\\n]*+)*+"?+'),
}
_CLOSED_IN_SHELL = {"'": re.compile(r"'[^']*+'"), '"': re.compile(r'"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"')}
_ESCAPED_IN_SHELL = re.compile(r"'[^'\\]*+(?:\\[\s\S][^'\\]*+)*+'")
_LITERAL = re.compile(r"'[^'\n]*+'?+")
_REGEX_BODY = re.compile(r"/(?:[^/\\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*+\]?+)*+/?+")
_REGEX_FOLLOWS = frozenset("(,=:[!&|?{};+-*%~^<>\n")
_REGEX_FOLLOWS_WORD = re.compile(r"(?:return|typeof|case|in|of|do|else|await|yield)\s*\Z")
_OPERATOR_SIGNS = frozenset("!#$%&*+./<=>?@\\^|~:")
_PAIRS = {
    opening: re.compile(f"{re.escape(opening)}|{re.escape(close)}")
    for opening, close in (("/*", "*/"), ("{-", "-}"), ("(*", "*)"), ("#|", "|#"), ("#=", "=#"), ("#[", "]#"))
}
_TEMPLATE_TEXT = re.compile(r"[`\\]|\$\{")
_TEMPLATE_CODE = re.compile(r"[`{}'\"/]")


def _after_blank(text: str, start: int, after: int) -> Extent | None:
    before = text[start - 1 : start]
    if not before or before.isspace() or before in ";()}[]|&`," or (before == "{" and text[start - 2 : start] != "${"):
        return _to_line_end(text, after)
    return None


def _not_in_address(text: str, start: int, after: int) -> Extent | None:
    return None if text[start - 1 : start] == ":" else _to_line_end(text, after)


def _first_on_line(text: str, start: int, after: int) -> Extent | None:
    before = text[max(0, start - _LOOK_BACK) : start]
    return None if before[before.rfind("\n") + 1 :].strip() else _to_line_end(text, after)


def _no_operator(text: str, start: int, after: int) -> Extent | None:
    """A comment of Haskell that begins with dashes; None if a sign beside them makes them an operator."""
    if start and (text[start - 1] == "-" or text[start - 1] in _OPERATOR_SIGNS):
        return None
    while text[after : after + 1] == "-":
        after += 1
    return None if text[after : after + 1] in _OPERATOR_SIGNS else _to_line_end(text, after)


def _nested(text: str, start: int, after: int) -> Extent:
    """A block comment that holds others."""
    opening = text[start : start + 2]
    depth = 1
    for mark in _PAIRS[opening].finditer(text, after):
        depth += 1 if mark[0] == opening else -1
        if not depth:
            return mark.span()
    return len(text), len(text)


def _ruby_block(text: str, start: int, after: int) -> Extent | None:
    return _to_command(text, start, after, "\n=end")


def _perl_pod(text: str, start: int, after: int) -> Extent | None:
    return _to_command(text, start, after, "\n=cut")


def _to_command(text: str, start: int, after: int, command: str) -> Extent | None:
    if start and text[start - 1] != "\n":
        return None
    end = text.find(command, after)
    return (end, end + len(command)) if end >= 0 else (len(text), len(text))


def _word_quote(text: str, start: int, after: int) -> Extent | None:
    """A quote, unless it is the apostrophe of a word."""
    return None if text[start - 1 : start].isalnum() else _matched(_ON_ONE_LINE[text[start]], text, start)


def _literal_quote(text: str, start: int, after: int) -> Extent | None:
    return None if text[start - 1 : start].isalnum() else _matched(_LITERAL, text, start)


def _shell_quote(text: str, start: int, after: int) -> Extent | None:
    """Strings of a shell go over many lines. One inside a word does not, for that is rather an apostrophe."""
    before = text[start - 1 : start]
    escapes = before == "$" and text[start] == "'"
    extent = _matched(_ESCAPED_IN_SHELL if escapes else _CLOSED_IN_SHELL[text[start]], text, start)
    if extent is not None and before.isalnum() and "\n" in text[start : extent[1]]:
        return None
    return extent


def _regex(text: str, start: int, after: int) -> Extent | None:
    """A regular expression; after a value a slash divides."""
    before = text[max(0, start - _LOOK_BACK) : start].rstrip(" \t")
    if not before or before[-1] in _REGEX_FOLLOWS or _REGEX_FOLLOWS_WORD.search(before) is not None:
        return _matched(_REGEX_BODY, text, start)
    return None


def _template(text: str, start: int, after: int) -> Extent:
    """A template literal, with the code in it, which may hold further ones."""
    open_braces = [-1]
    """For every template literal and every `${` that is open: how many braces are open in the code, -1 for text."""
    position = after
    while open_braces:
        found = (_TEMPLATE_TEXT if open_braces[-1] < 0 else _TEMPLATE_CODE).search(text, position)
        if found is None:
            return len(text), len(text)
        position = found.end()
        if open_braces[-1] < 0:
            if found[0] == "`":
                open_braces.pop()
            elif found[0] == "\\":
                position += 1
            else:
                open_braces.append(0)
        else:
            position = _in_template_code(text, found.start(), open_braces)
    return position, position


def _in_template_code(text: str, start: int, open_braces: list[int]) -> int:
    match text[start]:
        case "`":
            open_braces.append(-1)
        case "{":
            open_braces[-1] += 1
        case "}" if open_braces[-1]:
            open_braces[-1] -= 1
        case "}":
            open_braces.pop()
        case "/" if text[start + 1 : start + 2] == "*":
            end = text.find("*/", start + 2)
            return len(text) if end < 0 else end + 2
        case "/" if text[start + 1 : start + 2] == "/":
            return _to_line_end(text, start)[1]
        case "/":
            extent = _regex(text, start, start + 1)
            return start + 1 if extent is None else extent[1]
        case quote:
            extent = _matched(_ON_ONE_LINE[quote], text, start)
            return start + 1 if extent is None else extent[1]
    return start + 1


def _to_line_end(text: str, start: int) -> Extent:
    end = text.find("\n", start)
    return (len(text), len(text)) if end < 0 else (end, end)


def _matched(pattern: re.Pattern[str], text: str, start: int) -> Extent | None:
    match = pattern.match(text, start)
    return (match.end(), match.end()) if match is not None else None


DECISIONS: dict[str, Callable[[str, int, int], Extent | None]] = {
    AFTER_BLANK: _after_blank,
    NOT_IN_ADDRESS: _not_in_address,
    FIRST_ON_LINE: _first_on_line,
    NO_OPERATOR: _no_operator,
    NESTED: _nested,
    RUBY_BLOCK: _ruby_block,
    PERL_POD: _perl_pod,
    WORD_QUOTE: _word_quote,
    LITERAL_QUOTE: _literal_quote,
    SHELL_QUOTE: _shell_quote,
    REGEX_LITERAL: _regex,
    TEMPLATE: _template,
}
"""By the letter of the mark."""
