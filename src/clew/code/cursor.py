"""Symbols at a place in a text, and the calls that a symbol makes: questions that an editor asks."""

# Implements: REQ-d00786

import re
from collections.abc import Iterator
from typing import NamedTuple

from clew.derived.code_file import FiledSymbol
from clew.formats.code.facts.model import MODULE, SITE_SIZE, SiteKind
from clew.graph.code.binding.library import PREFIX
from clew.graph.code.binding.namespaces import Source
from clew.graph.code.binding.types import Ref
from clew.graph.code.binding.uses import Binder

_WORD = re.compile(r"\w+")


class CallPlace(NamedTuple):
    line: int
    column: int
    to: FiledSymbol


def word_at(line: str, column: int) -> tuple[str, int]:
    """The word at a column of a line and where it begins; empty where there is none."""
    found = next((each for each in _WORD.finditer(line) if each.start() <= column <= each.end()), None)
    return (found[0], found.start()) if found is not None else ("", column)


def symbols_at(binder: Binder, path: str, line: int, word: str, column: int) -> list[FiledSymbol]:
    """The symbols that a word means which begins at a column of a line: the one defined there, or those used there."""
    source = binder.source(path)
    if source is None or not word:
        return []
    file = binder.file
    defined = [
        each for each in file.symbols_of(path) if each.name == word and any(line == place.at for place in each.places)
    ]
    if defined:
        return defined[:1]
    found: dict[FiledSymbol, None] = {}
    for at, start, kind, _, expression in source.sites(word):
        if at == line and start <= column < start + max(len(word), 1):
            found.update(dict.fromkeys(_symbols(binder, source, expression, kind)))
    return list(found)


def calls_from(binder: Binder, symbol: Ref) -> Iterator[CallPlace]:
    """The calls inside of a symbol that are bound to symbols of the project, by their lines."""
    source = binder.source(symbol.path)
    if source is None:
        return
    inside = {symbol.symbol}
    for number, each in enumerate(source.symbols):
        if each.parent in inside:
            inside.add(number)
    found = []
    for _, sites in source.facts.sites:
        for at in range(0, len(sites), SITE_SIZE):
            line, column, kind, around, expression = sites[at : at + SITE_SIZE]
            if around in inside and around != MODULE and kind in (SiteKind.CALL, SiteKind.DECORATOR):
                found += [CallPlace(line, column, to) for to in _symbols(binder, source, expression, kind)]
    yield from sorted(found, key=lambda each: each[:2])


def _symbols(binder: Binder, source: Source, expression: int, kind: int) -> Iterator[FiledSymbol]:
    for each in binder.meant(source, expression, SiteKind(kind)):
        if isinstance(each, Ref) and not each.path.startswith(PREFIX):
            yield binder.file.symbols_of(each.path)[each.symbol]
