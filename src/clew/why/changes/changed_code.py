"""Changed code: the definitions that differ from a commit, by their own text, and who uses them.

A definition is compared with that of the same name in the former file, so one whose lines only moved did not change.
The text of a class is what is in no member of it.
"""

# Implements: REQ-d00782

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from clew.derived.code_file import FiledSymbol
from clew.formats.code.facts.model import CALLABLES, CLASS, MODULE, SCOPES, SiteKind, Symbol
from clew.formats.code.outline import decoded, holds_code, reading_of
from clew.why.changes.tests_to_run import TestsToRun
from clew.workspace.git import api as git
from clew.workspace.git import history as git_history

if TYPE_CHECKING:
    from clew.project import Project

_MOST_FILES = 300
_MOST_PLACES = 3
_IMPORTS = frozenset({SiteKind.IMPORT, SiteKind.REEXPORT, SiteKind.EXPORT})


class ChangedSymbol(msgspec.Struct, frozen=True):
    name: str
    """FILE::qualname, which every command takes."""
    kind: str
    change: str
    """added, changed or removed."""
    path: str
    line: int
    """For something that was removed, its former line."""
    head: str
    uses: int = 0
    """Uses outside of its own lines, without imports; of something that was removed, imports that still name it."""
    used_by: tuple[str, ...] = ()
    """The nearest of them, as PATH:LINE."""


class ChangedCode(msgspec.Struct, frozen=True):
    symbols: tuple[ChangedSymbol, ...] = ()
    tests: TestsToRun = TestsToRun()
    """The tests to run."""
    notes: tuple[str, ...] = ()


class SymbolChange(NamedTuple):
    change: str
    path: str
    symbol: Symbol
    filed: FiledSymbol | None
    """The symbol as it is now; None for one that was removed."""


def symbol_changes(
    project: "Project", commit: str | None, check: Callable[[], None]
) -> tuple[list[SymbolChange], tuple[str, ...]]:
    """The definitions that differ from a commit, with notes on the limits."""
    root = project.config.root
    paths = [path for path in git.changed_paths(root, commit, (".",)) if holds_code(path)]
    unfinished = project.code.ensure()
    notes = list(unfinished)
    if len(paths) > _MOST_FILES:
        notes.append(f"{len(paths)} source files differ; {_MOST_FILES} of them were compared.")
    compared = paths[:_MOST_FILES]
    former = _former(project, commit, compared)
    found = [each for path in compared for each in _of_file(project, path, former.get(path), check)]
    return _without_moved(found, project, former), tuple(notes)


def _former(project: "Project", commit: str | None, paths: Sequence[str]) -> Mapping[str, str]:
    if commit is None or not paths:
        return {}
    contents = git_history.contents_at(project.config.root, [(commit, path) for path in paths])
    limit = project.code.largest
    found = zip(paths, contents, strict=True)
    return {path: decoded(data) for path, data in found if data is not None and len(data) <= limit}


def _of_file(project: "Project", path: str, former: str | None, check: Callable[[], None]) -> Iterator[SymbolChange]:
    check()
    now = project.code.file.symbols_of(path)
    before = reading_of(former, path).outline.symbols if former is not None else ()
    old = _texts(before, former or "", check)
    new = _texts(now, project.uses.text_of(path) or "", check)
    for key, (symbol, text) in new.items():
        filed = symbol if isinstance(symbol, FiledSymbol) else None
        if key not in old:
            yield SymbolChange("added", path, symbol, filed)
        elif old[key][1] != text:
            yield SymbolChange("changed", path, symbol, filed)
    for key, (symbol, _) in old.items():
        if key not in new:
            yield SymbolChange("removed", path, symbol, None)


_Key = tuple[str, int]
"""A name, and the number of the definition among those of this name in the file."""


def _texts(
    symbols: Sequence[Symbol], text: str, check: Callable[[], None]
) -> dict[_Key, tuple[Symbol, tuple[str, ...]]]:
    """The definitions that others can reach, each with its own lines."""
    lines = [line.rstrip() for line in text.split("\n")]
    counts: Counter[str] = Counter()
    found = {}
    children = _children(symbols)
    inside = _in_functions(symbols, children, check)
    for number, symbol in enumerate(symbols):
        check()
        if number in inside:
            continue
        name = symbol.qualname.partition("@")[0]
        inner = children.get(number, ()) if symbol.kind == CLASS else ()
        apart = {line for each in inner for line in _lines_of(symbols[each], len(lines))}
        own = (lines[at - 1] for at in _lines_of(symbol, len(lines)) if at not in apart)
        found[name, counts[name]] = symbol, tuple(line for line in own if line)
        counts[name] += 1
    return found


def _lines_of(symbol: Symbol, last: int) -> Iterator[int]:
    """The lines of a definition, bodies of overloads included."""
    places = symbol.places if symbol.kind in SCOPES else symbol.places[:1]
    for place in sorted(places, key=lambda each: each.line):
        yield from range(place.line, min(place.end_line, last) + 1)


def _children(symbols: Sequence[Symbol]) -> dict[int, list[int]]:
    """The symbols directly inside of each, and at the top under MODULE, in the order of their lines."""
    found: dict[int, list[int]] = {}
    for number in sorted(range(len(symbols)), key=lambda number: symbols[number].line):
        found.setdefault(symbols[number].parent, []).append(number)
    return found


def _in_functions(
    symbols: Sequence[Symbol], children: Mapping[int, Sequence[int]], check: Callable[[], None]
) -> set[int]:
    """What is inside of a function, attributes that a method assigns included: these begin on a line of another
    callable with the same parent."""
    found = set()
    waiting = [(MODULE, False)]
    while waiting:
        check()
        parent, is_inside = waiting.pop()
        group = children.get(parent, ())
        has_members = parent == MODULE or symbols[parent].kind == CLASS
        covered = set(_covered(symbols, group) if has_members and not is_inside else ())
        for number in group:
            if is_inside or number in covered:
                found.add(number)
            waiting.append((number, is_inside or symbols[number].kind in CALLABLES))
    return found


def _covered(symbols: Sequence[Symbol], group: Sequence[int]) -> Iterator[int]:
    """Those of some symbols, in the order of their lines, that begin on a line of another one that is callable."""
    # The last line of the callable that ends last, and of the next one.
    first = second = 0
    owner = MODULE
    for _, same in groupby(group, key=lambda number: symbols[number].line):
        beginning = list(same)
        for number in beginning:
            if symbols[number].kind in CALLABLES:
                end = symbols[number].end_line
                if end > first:
                    first, second, owner = end, first, number
                else:
                    second = max(second, end)
        for number in beginning:
            if (second if number == owner else first) >= symbols[number].line:
                yield number


def _without_moved(found: Sequence[SymbolChange], project: "Project", former: Mapping[str, str]) -> list[SymbolChange]:
    """Without what is in another file now as it was."""
    texts = {path: project.uses.text_of(path) or "" for path in {each.path for each in found}}
    sides = {
        side: {path: text.split("\n") for path, text in kept.items()}
        for side, kept in (("removed", former), ("added", texts))
    }
    whole = [
        _whole(each, sides[each.change].get(each.path, ())) if each.change != "changed" else None for each in found
    ]
    removed, added = (
        {text for each, text in zip(found, whole, strict=True) if each.change == side} for side in ("removed", "added")
    )
    moved = removed & added
    return [each for each, text in zip(found, whole, strict=True) if text not in moved]


def _whole(change: SymbolChange, lines: Sequence[str]) -> tuple[str, str]:
    return change.symbol.qualname, "\n".join(lines[change.symbol.line - 1 : change.symbol.end_line])


def shown_changes(
    project: "Project", changes: Iterable[SymbolChange], check: Callable[[], None]
) -> Iterator[ChangedSymbol]:
    """The changes with the users of each symbol. Hold the graph's lock."""
    for each in changes:
        places = _still_importing(project, each) if each.filed is None else _using(project, each.filed, check)
        symbol = each.symbol
        name = f"{each.path}::{symbol.qualname}"
        yield ChangedSymbol(
            name, symbol.kind, each.change, each.path, symbol.at, symbol.head, len(places), tuple(places[:_MOST_PLACES])
        )


def _using(project: "Project", symbol: FiledSymbol, check: Callable[[], None]) -> list[str]:
    from clew.code.requests import UsesQuery

    service = project.uses
    uses, _ = service.selected(service.uses_of(symbol, check).uses, symbol, UsesQuery(target=symbol.qualname))
    return [
        f"{use.path}:{use.line}"
        for use in uses
        if use.kind not in _IMPORTS and (use.path != symbol.path or not symbol.line <= use.line <= symbol.end_line)
    ]


def _still_importing(project: "Project", change: SymbolChange) -> list[str]:
    if change.symbol.parent != MODULE:
        return []
    found = project.symbols.importing(change.path, change.symbol.qualname)
    return list(dict.fromkeys(f"{each.path}:{each.line}" for each in found))
