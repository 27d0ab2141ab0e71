"""The uses of a symbol: the sites of its name that are bound to it, in one state of the project."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from clew.derived.code_file import CodeFile
from clew.formats.code.facts.expressions import Op
from clew.formats.code.facts.model import ANY_NAME, CLASS, MODULE, SCOPES, SiteKind, Symbol
from clew.formats.code.languages import Family, family_for
from clew.formats.code.words import BY_NAMES
from clew.graph.code.aliases import Aliases
from clew.graph.code.binding.indexed import IndexedSites
from clew.graph.code.binding.meaning import MeaningsInTests, RelatedMembers
from clew.graph.code.binding.namespaces import Named, Source
from clew.graph.code.binding.types import Class, Instance, Outside, Ref, Type, Unknown

EXACT, INDEX, INFERRED, BY_NAME, ONE_OF = "exact", "index", "inferred", "name", "one of"
_MOST_ALIASES = 20


@cache
def common_names() -> frozenset[str]:
    """Members of values that are built in, or of much-used classes of the standard library: one with such a name says
    nothing about its receiver."""
    import datetime
    import io
    import logging
    import pathlib
    import re
    import socket
    import subprocess
    import threading

    of_library = (
        datetime.datetime, datetime.timedelta, io.BytesIO, io.TextIOWrapper, logging.Handler, logging.Logger,
        pathlib.Path, re.Match, re.Pattern, socket.socket, subprocess.Popen, threading.Condition, threading.Event,
        threading.Thread,
    )  # fmt: skip
    built_in = (str, bytes, list, dict, set, int, float, tuple, object, type, BaseException, property)
    return frozenset({"run", "stop", "appendleft", "popleft"}).union(*(dir(each) for each in (*built_in, *of_library)))


def _innermost(symbols: Sequence[Symbol], line: int) -> int:
    """The symbol around a line; MODULE for none."""
    scopes = ((each.around(line, line), at) for at, each in enumerate(symbols) if each.kind in SCOPES)
    return max(((-lines, at) for lines, at in scopes if lines), default=(0, MODULE))[1]


def _are_alike(one: Family | None, other: Family | None) -> bool:
    """True for files in one of which a definition in the other may be used."""
    names = {each.name for each in (one, other) if each is not None}
    return len(names) == 1 or names == {"script", "component"}


class Use(NamedTuple):
    path: str
    line: int
    column: int
    kind: SiteKind
    basis: str
    inside: int
    """The symbol of the file that contains it; -1 for none."""


class Uses(NamedTuple):
    """All uses of one symbol."""

    uses: tuple[Use, ...]
    one_of: tuple[Use, ...]
    """Sites that may use it, or another definition of the name."""
    unbound: int
    """Sites of the name of which nothing is known."""
    files: int
    """Files that were looked through."""
    unread: tuple[str, ...] = ()
    """Files that hold the name, or may hold it, and whose uses could not be read."""


class Binder(RelatedMembers):
    """Finds the uses of a symbol. Not safe for several threads at once."""

    def __init__(self, file: CodeFile, aliases: Aliases | None = None) -> None:
        super().__init__(file, aliases)
        self._uses: dict[Ref, Uses] = {}
        self._in_tests = MeaningsInTests(file, aliases)
        self._in_tests.share(self)
        self._index = IndexedSites(file)

    def uses_of(self, target: Ref, check: Callable[[], None] = lambda: None) -> Uses:
        known = self._uses.get(target)
        if known is None:
            known = self._uses[target] = self._found(target, check)
        return known

    def _found(self, target: Ref, check: Callable[[], None]) -> Uses:
        own = self.known_source(target.path)
        symbol, rules = own.symbol(target.symbol), own.facts.rules
        bound: dict[Use, None] = {}
        loose: list[Use] = []
        unbound = files = 0
        names, done = [symbol.name], set[str]()
        while names:
            name = names.pop()
            done.add(name)
            for source in self.take(self.file.with_name(name)):
                check()
                files += name == symbol.name and not source.facts.flaw
                for alias in self._other_names(source, name, target):
                    if alias not in done and alias not in names and len(done) < _MOST_ALIASES:
                        names.append(alias)
                for line, column, kind, inside, expression in source.sites(name):
                    refs = self.meant(source, expression, SiteKind(kind))
                    if self._is_among(target, refs):
                        basis = INFERRED if self._may_mean_others(source, expression, target) else EXACT
                        bound[Use(source.path, line, column, SiteKind(kind), basis, inside)] = None
                    elif (
                        not refs
                        and name == symbol.name
                        and source.facts.rules == rules
                        and self.is_loose(source, expression, kind)
                    ):
                        use = Use(source.path, line, column, SiteKind(kind), BY_NAME, inside)
                        given = self._given_by_fixtures(source, expression, kind)
                        if given is None:
                            loose.append(use)
                        elif target in given:
                            bound[use._replace(kind=SiteKind.FIXTURE, basis=EXACT)] = None
        unread = self._unread(target, symbol.name)
        for use in self._overriding(target):
            bound[use] = None
        if self._index.are_there:
            loose = self._overlaid(target, symbol, bound, loose)
        by_name, one_of = self._by_name(target, symbol.name, loose)
        unbound = len(loose) - len(by_name) - len(one_of)
        return Uses((*bound, *by_name), one_of, unbound, files, unread)

    def _overlaid(self, target: Ref, symbol: Symbol, bound: dict[Use, None], loose: list[Use]) -> list[Use]:
        """Put the uses that indexes know among the bound ones; the loose ones that they do not know otherwise."""
        names = self._index.symbols_of(target.path, symbol)
        if not names:
            return loose
        seen = {(use.path, use.line, use.column): use for use in (*loose, *bound)}
        own = {(target.path, place.at) for place in symbol.places}
        known = {site[:3]: site.kind for site in self._index.uses_of(names) if site[:2] not in own}
        rules = self.known_source(target.path).rules
        for place, use in seen.items():
            if use.basis == EXACT:
                continue
            if place in known:
                bound.pop(use, None)
                bound[use._replace(basis=INDEX)] = None
            elif use.basis == INFERRED and not (rules and rules.related) and self._index.meant(*place):
                del bound[use]
        for (path, line, column), kind in known.items():
            if (path, line, column) not in seen and (source := self.source(path)) is not None:
                bound[Use(path, line, column, kind, INDEX, _innermost(source.symbols, line))] = None
        return [use for use in loose if not self._index.meant(use.path, use.line, use.column)]

    def _unread(self, target: Ref, name: str) -> tuple[str, ...]:
        """The files of the target's language that hold a name, or may hold it, and whose uses could not be read."""
        own = family_for(target.path)
        return tuple(
            source.path
            for each in (name, ANY_NAME)
            for source in self.take(self.file.with_name(each))
            if source.facts.flaw and source.path != target.path and _are_alike(family_for(source.path), own)
        )

    def _is_among(self, target: Ref, refs: Iterable[Named]) -> bool:
        return any(target == each or self.are_related(target, each) for each in refs)

    def _may_mean_others(self, source: Source, expression: int, target: Ref) -> bool:
        """True if the receiver at a site is one of several values, and another of them leads elsewhere."""
        parts = source.expression(expression)
        if parts[0] != Op.MEMBER:
            return False
        values = self.with_bounds(self.value(source.path, parts[1]))
        name = source.name(parts[2])
        return len(values) > 1 and not all(self._leads_to(each, name, target) for each in values)

    def _leads_to(self, value: Type, name: str, target: Ref) -> bool:
        """True if the member of a value is the target, or the value has none, so that it cannot be meant."""
        if isinstance(value, Unknown | Outside):
            return False
        if not isinstance(value, Instance | Class):
            return True
        found = self.member(value, name)
        return self._is_among(target, (each.ref for each in found.members)) if found.members else not found.is_open

    def _other_names(self, source: Source, name: str, target: Ref) -> Iterator[str]:
        """The names under which a file imports the symbol."""
        for number, imported in enumerate(source.facts.imports):
            if imported.name == name and imported.alias not in ("", name) and target in self.imported(source, number):
                yield imported.alias

    def _given_by_fixtures(self, source: Source, expression: int, kind: int) -> tuple[Named, ...] | None:
        """The meaning of a site in a file of tests by the values of fixtures; None if they do not tell it either."""
        if not source.has_tests:
            return None
        found = self._in_tests.meant(source, expression, SiteKind(kind))
        return None if not found and self._in_tests.is_loose(source, expression, kind) else found

    # Sites that the name alone may bind

    def _by_name(self, target: Ref, name: str, loose: Iterable[Use]) -> tuple[tuple[Use, ...], tuple[Use, ...]]:
        """Sites that the name alone may bind: where it is the only definition that fits, and where it is one of
        several."""
        rules = self.known_source(target.path).facts.rules
        by_names = rules.startswith(BY_NAMES)
        if name in common_names() or (self.owner_of(target) is None and not by_names):
            return (), ()
        # Whatever the receiver is, it is given the attribute by being written to.
        loose = [use for use in loose if use.kind != SiteKind.WRITE]
        # A name of another language is another name.
        named = [each for each in self.file.with_last_name(name) if not each.is_test]
        others = [each for each in named if self.known_source(each.path).facts.rules == rules]
        if len(others) == 1:
            return tuple(loose), ()
        number = f"{ONE_OF} {len(others)}"
        return (), tuple(use._replace(basis=number) for use in loose)

    # Overriding

    def _overriding(self, target: Ref) -> Iterator[Use]:
        """The definitions that override a member in classes below its own."""
        source = self.known_source(target.path)
        symbol = source.symbol(target.symbol)
        if symbol.parent == MODULE or source.symbol(symbol.parent).kind != CLASS or symbol.name.startswith("__"):
            return
        own = Ref(target.path, symbol.parent)
        for other in self.file.with_last_name(symbol.name):
            ref = Ref(other.path, other.place)
            if ref == target or other.parent < 0:
                continue
            parent = Ref(other.path, other.parent)
            if not self.is_class(parent):
                continue
            if source.rules is not None and source.rules.related and self.standing_for(ref):
                if self.are_related(target, ref):
                    for place in other.places:
                        yield Use(other.path, place.at, 0, SiteKind.OVERRIDE, EXACT, other.parent)
                continue
            for above in self.order(parent)[0][1:]:
                if self.known_source(above.of.path).members(above.of.symbol).get(symbol.name) is not None:
                    if above.of == own:
                        yield Use(other.path, other.at, 0, SiteKind.OVERRIDE, EXACT, other.parent)
                    break
