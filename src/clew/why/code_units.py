"""Source files in the search index: each is one text of the names and heads of its definitions."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clew.derived.code_file import CodeFile, FiledSymbol
from clew.formats.code.facts.model import SCOPES
from clew.search.units import Unit, unit_id

if TYPE_CHECKING:
    from clew.search.engine import SearchEngine

PART = "code"
_PREFIX = f"{PART}:"
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LONGEST_BODY = 60_000


def sync(file: CodeFile, engine: "SearchEngine") -> None:
    """Bring the index in step with the outlines; cheap if neither changed."""
    name, now = engine.writes()[0], file.writes()
    if file.mark(name) == now:
        return
    there = engine.units.hashes(PART)
    wanted = {unit.id: unit for unit in _units(file)}
    engine.units.put(unit for id, unit in wanted.items() if there.get(id) != unit.content_hash())
    engine.units.delete(id for id in there if id not in wanted)
    file.set_mark(name, now)


def _units(file: CodeFile) -> Iterator[Unit]:
    by_path: dict[str, list[FiledSymbol]] = {}
    for symbol in file.all_symbols():
        by_path.setdefault(symbol.path, []).append(symbol)
    for path, symbols in by_path.items():
        body = "\n\n".join(f"{' '.join(words_of(each.qualname))}: {each.head}" for each in symbols)
        yield Unit(
            id=unit_id(PART, path),
            part=PART,
            title=f"{path} {' '.join(words_of(path))}",
            body=body[:_LONGEST_BODY],
            document=_PREFIX + path,
            path=path,
            links=(f"symbol:{path}",),
        )


def words_of(name: str) -> list[str]:
    """A name in its words: tideTable and tide_table are both about a tide and a table."""
    return [word.lower() for word in _WORD.findall(name)]


def best_symbol(symbols: Sequence[FiledSymbol], query: str) -> FiledSymbol | None:
    """The symbol of a file whose name has most of the words of a query; None if none has any."""
    asked = {_stem(word) for word in words_of(query)}

    def shared(symbol: FiledSymbol) -> tuple[float, bool, int]:
        own = {_stem(word) for word in words_of(symbol.name)}
        return len(own & asked) - len(own - asked) / 10, symbol.kind in SCOPES, -symbol.line

    best = max(symbols, key=shared, default=None)
    return best if best is not None and shared(best)[0] > 0 else None


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word
