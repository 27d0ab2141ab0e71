"""Words of a source file whose language has no reader of its own: places that may use what has their name."""

# Implements: REQ-d00742

import re
from collections.abc import Sequence

from clew.formats.code.facts.expressions import UNKNOWN
from clew.formats.code.facts.model import MODULE, SCOPES, Facts, SiteKind, Symbol
from clew.formats.code.facts.writing import FactsWriter

BY_NAMES = "names of "
"""The beginning of the name of the rules of such a language: there are none beyond its name."""
_WORD = re.compile(r"[^\W\d]\w{1,99}[?!]?")
_DECLARING = frozenset({"c"})
"""Languages in which a name before a bracket, outside of everything, declares a function."""
_MOST = 200_000
"""Words of one file; those behind are not looked at."""


def names_in(code: str, symbols: Sequence[Symbol], language: str) -> Facts:
    """The words in the code of a file, without its comments and strings, and without the names that it defines."""
    writer = FactsWriter()
    defined = {(each.at, each.name) for each in symbols}
    scopes = [(each.line, each.end_line, number) for number, each in enumerate(symbols) if each.kind in SCOPES]
    scopes.sort(key=lambda scope: (-scope[0], scope[1]))
    around: list[tuple[int, int]] = []
    line, begins, counted = 1, 0, 0
    for number, match in enumerate(_WORD.finditer(code)):
        if number >= _MOST:
            break
        word, start = match[0], match.start()
        newlines = code.count("\n", counted, start)
        if newlines:
            line += newlines
            begins = code.rindex("\n", counted, start) + 1
        counted = start
        while scopes and scopes[-1][0] <= line:
            _, end, scope = scopes.pop()
            around.append((end, scope))
        while around and around[-1][0] < line:
            around.pop()
        kind = SiteKind.CALL if code[match.end() : match.end() + 1] == "(" else SiteKind.READ
        inside = around[-1][1] if around else MODULE
        is_declared = language in _DECLARING and kind == SiteKind.CALL and inside == MODULE
        if not is_declared and (line, word) not in defined:
            writer.site(word, line, start - begins, kind, UNKNOWN, inside)
    return writer.facts(BY_NAMES + language)
