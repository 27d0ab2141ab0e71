"""Code that answers a question: definitions with their documentation, and lines that hold a name or read a variable."""

# Implements: REQ-d00870-A+C

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from clew.errors import StoreError
from clew.text.stem import stem
from clew.text.tokens import estimate_tokens
from clew.why.code_units import PART, words_of
from clew.why.search import ProjectSearch
from clew.why.target import read_text

if TYPE_CHECKING:
    from clew.derived.code_file import FiledSymbol
    from clew.operation.call import Call

_FILES, _SYMBOLS = 10, 14
_MOST_TOKENS = 150
_MOST_LINES = 24
_SECONDS = 1.5
"""Time for looking through the source files for a name."""
_AROUND = 2
_BELONGS = 0.5
"""The weight of a word of the path or the documentation against one of the name."""


class CodeQuote(msgspec.Struct, frozen=True):
    path: str
    line: int
    name: str
    text: str
    about: str
    """Words of its names and of its path."""
    kind: str = "code"
    """code, test, or variable: one of the environment that the code reads."""


def definitions(call: "Call", question: str, weights: Mapping[str, float]) -> list[CodeQuote]:
    """The definitions whose names, documentation and files have most words of a question; tests last."""
    project = call.project
    search = ProjectSearch(call, (PART,))
    ranked = (search.ranked(question) or [])[:_FILES]
    paths = [each.id.removeprefix(f"{PART}:") for each in ranked]
    known = [symbol for path in paths for symbol in _symbols(call, path)]
    scored = sorted(known, key=lambda symbol: (-_score(symbol, weights), project.uses.tests.holds(symbol.path)))
    best = [each for each in scored[:_SYMBOLS] if _score(each, weights) > 0]
    return [quote for symbol in best if (quote := _quoted(call, symbol)) is not None]


def _symbols(call: "Call", path: str) -> "Sequence[FiledSymbol]":
    try:
        return call.project.code.file.symbols_of(path)
    except StoreError:
        return ()


def _score(symbol: "FiledSymbol", weights: Mapping[str, float]) -> float:
    own = {stem(word) for word in words_of(symbol.qualname)}
    whole = {symbol.name.lower(), symbol.name.lower().replace("_", "")}
    beside = {stem(word) for word in (*words_of(symbol.path), *words_of(symbol.about))} - own
    said = sum(weight for term, weight in weights.items() if term in own or term in whole)
    near = sum(weight for term, weight in weights.items() if term in beside and term not in own)
    return (said + _BELONGS * near) * (1.0 if said else 0.5) - 0.01 * len(own)


def _quoted(call: "Call", symbol: "FiledSymbol") -> CodeQuote | None:
    text = read_text(call.project, symbol.path)
    if text is None:
        return None
    about = f"{' '.join(words_of(symbol.path))} {' '.join(words_of(symbol.qualname))} {symbol.name} {symbol.kind}"
    lines = text.lines[symbol.line - 1 : symbol.end_line]
    kind = "test" if call.project.uses.tests.holds(symbol.path) else "code"
    return CodeQuote(symbol.path, symbol.at, symbol.qualname, _beginning(lines), about, kind)


def _beginning(lines: Sequence[str]) -> str:
    """The first lines of a definition, as many as a quote holds; the cut is shown."""
    shown: list[str] = []
    indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    for line in islice(lines, _MOST_LINES):
        bare = line[indent:] if not line[:indent].strip() else line
        if shown and estimate_tokens("\n".join([*shown, bare])) > _MOST_TOKENS:
            break
        shown.append(bare[:300])
    cut = len(shown) < len(lines)
    while len(shown) > 1 and not shown[-1].strip():
        shown.pop()
    return "\n".join([*shown, "…"] if cut else shown)


_READS = re.compile(
    r"(?:environ(?:\.get\(|\[|\.pop\(|\.setdefault\()|getenv\(|env::var(?:_os)?\(|LookupEnv\(|Getenv\(|ENV(?:\[|\.fetch\()"
    r"|envvar=)\s*[\"'](?P<name>[A-Za-z_][A-Za-z0-9_]+)[\"']"
    r"|process\.env\.(?P<of>[A-Z][A-Z0-9_]+)|[\"'](?P<within>[A-Z][A-Z0-9_]{2,})[\"'] (?:not )?in os\.environ"
)
_ASKS_VARIABLES = re.compile(r"\benv(?:ironment)?[ -]?var|\benvironment\b|\$[A-Z_]{3,}", re.IGNORECASE)


def variables(call: "Call", question: str) -> Iterator[CodeQuote]:
    """Where the code reads environment variables, if a question asks for these; one quote lists them all."""
    if not _ASKS_VARIABLES.search(question):
        return
    found: dict[str, CodeQuote] = {}
    for path, lines in _sources(call):
        for number, line in enumerate(lines, start=1):
            for read in _READS.finditer(line):
                name = read["name"] or read["of"] or read["within"]
                about = f"environment variable variables read sets {name} {' '.join(words_of(f'{name} {path}'))}"
                around = "\n".join(each.rstrip() for each in lines[max(0, number - 2) : number + 1])
                found.setdefault(name, CodeQuote(path, number, name, around, about, "variable"))
    if len(found) > 1:
        listed = ", ".join(f"{each.name} ({each.path}:{each.line})" for each in islice(found.values(), 20))
        first = next(iter(found.values()))
        about = "environment variable variables that the code reads read used list all"
        yield CodeQuote(first.path, first.line, "environment variables", f"The code reads {listed}.", about, "variable")
    yield from found.values()


def holding(call: "Call", names: Sequence[str]) -> dict[str, CodeQuote]:
    """Lines of source files that hold names which nothing else mentions, such as a number."""
    found: dict[str, CodeQuote] = {}
    if not names:
        return found
    for path, lines in _sources(call):
        text = "\n".join(lines)
        for name in names:
            if name in found or name not in text:
                continue
            at = next(number for number, line in enumerate(lines) if name in line)
            around = [each.rstrip() for each in lines[max(0, at - _AROUND) : at + _AROUND + 4]]
            about = f"{name} {' '.join(words_of(path))}"
            found[name] = CodeQuote(path, at + 1, name, "\n".join(around), about)
        if len(found) == len(names):
            break
    return found


def _sources(call: "Call") -> Iterator[tuple[str, Sequence[str]]]:
    """The lines of the source files that are no tests, as far as there is time."""
    project, until = call.project, time.monotonic() + _SECONDS
    is_test: Callable[[str], bool] = project.uses.tests.holds
    for file in sorted(project.code.file.files(), key=lambda each: (each.path.count("/"), each.path)):
        if time.monotonic() > until:
            return
        if is_test(file.path) or file.size > 400_000:
            continue
        text = read_text(project, file.path)
        if text is not None:
            yield file.path, text.lines
