"""The service for questions about source code: who uses a symbol."""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from clew.code.requests import UsesQuery
from clew.code.results import ShownSymbol, ShownUse, SymbolTests, UsesFound
from clew.code.targets import Meaning, meaning_of, paths_concerned, said_outside
from clew.derived.code_file import FiledSymbol
from clew.errors import ClewError, NotFound
from clew.formats.code.facts.model import MODULE, NOT_INSTALLED
from clew.formats.code.test_files import TestFiles, configured
from clew.formats.code.words import BY_NAMES
from clew.graph.code.binding.types import Ref
from clew.graph.code.binding.uses import Binder, Use, Uses
from clew.graph.code.keeper import CodeKeeper
from clew.text.display import counted, shortened
from clew.workspace.files import read_bytes

if TYPE_CHECKING:
    from clew.code.cursor import CallPlace
    from clew.code.reach import ReachLimit

T = TypeVar("T")
_MOST_DEFINITIONS = 12
_LONGEST_LINE = 160
_MOST_UNREAD = 4
_VENDORED = ("vendor/", "third_party/", "node_modules/", "_vendor/", "vendored/", "site-packages/", "extern/")
_MINIFIED = (".min.js", ".min.mjs", ".min.cjs", ".bundle.js")


class CodeService:
    """Answers from the records of source files, bound anew after each change of a file."""

    def __init__(self, root: Path, keeper: Callable[[], CodeKeeper]) -> None:
        self._root = root
        self._keeper = keeper
        self._lock = threading.Lock()
        self._state: tuple[object, int] | None = None
        self._binder: Binder | None = None
        self._tests: TestFiles | None = None

    @property
    def keeper(self) -> CodeKeeper:
        return self._keeper()

    @property
    def tests(self) -> TestFiles:
        """The rule for files of tests."""
        if self._tests is None:
            self._tests = configured(self.text_of)
        return self._tests

    def state(self) -> str:
        """Another text whenever answers may differ."""
        return str(self.keeper.file.writes())

    def meaning(self, target: str) -> Meaning:
        """The symbols that a text may mean, among the files as they were read last."""
        with self._lock, self.keeper.file.holding():
            return meaning_of(self._bound(), target, self._is_aside)

    def is_test(self, symbol: FiledSymbol) -> bool:
        """True for a test function."""
        from clew.code.tests_of import is_test

        return self._asked(
            symbol,
            lambda binder, now: self.tests.holds(now.path) and is_test(binder.known_source(now.path), now.symbol),
        )

    def _is_aside(self, symbol: FiledSymbol) -> bool:
        return symbol.is_test or self.tests.holds(symbol.path) or self.is_foreign(symbol.path)

    def uses_of(self, symbol: FiledSymbol, check: Callable[[], None] = lambda: None) -> Uses:
        """All uses of a symbol."""
        return self._asked(symbol, lambda binder, now: binder.uses_of(now, check))

    def tests_of(self, symbol: FiledSymbol, check: Callable[[], None] = lambda: None) -> SymbolTests:
        """The tests that use or replace a symbol, themselves or through helpers in files of tests. `ordered` in
        `tests_of` puts tests that are known otherwise, as from recorded runs, among them."""
        from clew.code.tests_of import tests_reaching

        return self._asked(symbol, lambda binder, now: tests_reaching(binder, now, self.tests.holds, check))

    def symbols_at(self, path: str, line: int, word: str, column: int) -> list[FiledSymbol]:
        """The symbols that a word at a place of a file means."""
        from clew.code.cursor import symbols_at

        with self._lock, self.keeper.file.holding():
            return symbols_at(self._bound(), path, line, word, column)

    def calls_from(self, symbol: FiledSymbol) -> "list[CallPlace]":
        """The calls that a symbol makes of others in the project."""
        from clew.code.cursor import calls_from

        return self._asked(symbol, lambda binder, now: list(calls_from(binder, now)))

    def reaches(
        self,
        test: FiledSymbol,
        wanted: "Collection[FiledSymbol | str]",
        check: Callable[[], None],
        limit: "ReachLimit",
    ) -> bool | None:
        """True if a test may reach one of some symbols or files, False if no way leads there, None if that is not
        known."""
        from clew.code.reach import Place, reaches

        def asked(binder: Binder, now: Ref) -> bool | None:
            places = [Place(each, MODULE) if isinstance(each, str) else Place(*_now(binder, each)) for each in wanted]
            return reaches(binder, now, places, check, limit)

        try:
            return self._asked(test, asked)
        except NotFound:
            return None

    # find_uses

    def find_uses(self, query: UsesQuery, *, offset: int = 0, check: Callable[[], None] = lambda: None) -> UsesFound:
        notes = self.keeper.ensure_for(lambda: paths_concerned(self.keeper.file, query.target))
        meaning = self.meaning(query.target)
        found, symbol = meaning.found, meaning.symbol
        if not found:
            raise NotFound(
                f"Not known: no definition in this project is called '{shortened(query.target)}'.",
                hint=" ".join(
                    (*notes, *said_outside(meaning), "Name it as NAME, Class.name, FILE::name or FILE:LINE.")
                ),
            )
        definitions = tuple(self._defined(each, found, check) for each in found[:_MOST_DEFINITIONS])
        if symbol is None:
            counts = f"'{shortened(query.target)}' has {counted(len(found), 'definition')}: name one of them."
            return UsesFound(None, definitions=definitions, notes=(*notes, *said_outside(meaning), counts))
        uses = self.uses_of(symbol, check)
        wanted, generated = self.selected(uses.uses, symbol, query)
        shown = wanted[offset : offset + query.limit]
        return UsesFound(
            shown_symbol(symbol),
            tuple(self.shown(shown)),
            len(wanted),
            uses.unbound,
            len(uses.one_of),
            generated,
            definitions if len(found) > 1 else (),
            uses.files,
            (*notes, *self._limits(symbol, uses, wanted, query)),
            truncated=offset + len(shown) < len(wanted),
        )

    def _defined(self, symbol: FiledSymbol, found: Sequence[FiledSymbol], check: Callable[[], None]) -> ShownSymbol:
        if len(found) == 1:
            return shown_symbol(symbol)
        return shown_symbol(symbol, len(self.uses_of(symbol, check).uses))

    def selected(self, uses: Iterable[Use], symbol: FiledSymbol, query: UsesQuery) -> tuple[list[Use], int]:
        """The uses that are asked for, nearest first, and how many are in files that nobody writes by hand."""
        kinds = frozenset(query.kind)
        bases = frozenset(query.basis)
        found = []
        generated = 0
        foreign: dict[str, bool] = {}
        is_own = not self.is_foreign(symbol.path)
        for use in uses:
            if kinds and use.kind.name.lower() not in kinds:
                continue
            if bases and use.basis not in bases:
                continue
            if query.tests is not None and self.tests.holds(use.path) != query.tests:
                continue
            if is_own and use.path not in foreign:
                foreign[use.path] = self.is_foreign(use.path)
            if foreign.get(use.path):
                generated += 1
                continue
            found.append(use)
        found.sort(key=lambda use: (*self._distance(use.path, symbol.path), use.path, use.line, use.column))
        return found, generated

    def _distance(self, path: str, origin: str) -> tuple[bool, int]:
        own, other = path.split("/"), origin.split("/")
        shared = next(
            (at for at, (a, b) in enumerate(zip(own, other, strict=False)) if a != b), min(len(own), len(other))
        )
        return self.tests.holds(path), len(own) + len(other) - 2 * shared

    def is_foreign(self, path: str) -> bool:
        """True if a program wrote a file, or it was copied from another project."""
        if path.endswith(_MINIFIED) or any(f"/{path}".find(f"/{part}") >= 0 for part in _VENDORED):
            return True
        record = self.keeper.file.record(path)
        return record is not None and record.facts.is_generated

    def _limits(self, symbol: FiledSymbol, uses: Uses, wanted: list[Use], query: UsesQuery) -> list[str]:
        notes = []
        if not wanted and not (query.kind or query.basis or query.tests is not None):
            notes.append(
                f"No use found: {counted(uses.files, 'file')} with the name '{symbol.name}' were looked through. "
                "Uses that are made while the program runs are not seen."
            )
        record = self.keeper.file.record(symbol.path)
        if uses.unread and (record is None or not record.facts.flaw.endswith(NOT_INSTALLED)):
            notes.append(self._said_unread(symbol, uses.unread))
        if record is not None and record.facts.flaw.endswith(NOT_INSTALLED):
            notes.append(f"Uses in files of this language are not read: the package {record.facts.flaw}.")
        elif record is not None and not record.facts.rules:
            flaw = record.facts.flaw
            why = f"{symbol.path} cannot be read ({flaw})" if flaw else "uses in files of this language are not read"
            notes.append(f"{why[0].upper()}{why[1:]}.")
        elif record is not None and record.facts.rules.startswith(BY_NAMES):
            notes.append("Uses in files of this language are known by their names only.")
        return notes

    def _said_unread(self, symbol: FiledSymbol, paths: Sequence[str]) -> str:
        records = self.keeper.file.records(paths[:_MOST_UNREAD])
        named = ", ".join(f"{path} ({each.facts.flaw})" for path, each in records.items())
        more = f" and {counted(len(paths) - _MOST_UNREAD, 'more file')}" if len(paths) > _MOST_UNREAD else ""
        return f"Uses could not be read in files that may hold the name '{symbol.name}': {named}{more}."

    def shown(self, uses: Iterable[Use]) -> Iterator[ShownUse]:
        """Uses with their lines and the symbols around them."""
        lines: dict[str, list[str]] = {}
        for use in uses:
            if use.path not in lines:
                lines[use.path] = (self.text_of(use.path) or "").split("\n")
            rows = lines[use.path]
            record = self.keeper.file.record(use.path)
            inside = ""
            if record is not None and 0 <= use.inside < len(record.symbols):
                inside = record.symbols[use.inside].qualname
            text = rows[use.line - 1].strip()[:_LONGEST_LINE] if use.line <= len(rows) else ""
            yield ShownUse(use.path, use.line, use.kind.name.lower(), use.basis, inside, text)

    def text_of(self, path: str) -> str | None:
        """The text of a file of the project; None where there is none."""
        from clew.formats.code.outline import decoded

        try:
            return decoded(read_bytes(self._root, path, limit=self.keeper.largest))
        except ClewError:
            return None

    def _asked(self, symbol: FiledSymbol, ask: Callable[[Binder, Ref], T]) -> T:
        """The answer about a symbol, which is found again by its name: files may have changed since it was found."""
        with self._lock, self.keeper.file.holding():
            binder = self._bound()
            try:
                return ask(binder, _now(binder, symbol))
            except LookupError:
                # A file was read again in the midst of it, so that records of two states met.
                self._binder = None
                binder = self._bound()
                return ask(binder, _now(binder, symbol))

    def _bound(self) -> Binder:
        """The binder of the present state. Hold the lock."""
        file = self.keeper.file
        state = (file.opening, file.writes())
        if self._binder is None or self._state != state:
            self._binder, self._state = Binder(file, self.keeper.aliases), state
            # Files of settings, which name the folders of tests, change as well.
            self._tests = None
        return self._binder


def _now(binder: Binder, symbol: FiledSymbol) -> Ref:
    """The present place of a symbol."""
    source = binder.source(symbol.path)
    symbols = source.symbols if source is not None else ()
    if symbol.place < len(symbols) and symbols[symbol.place].qualname == symbol.qualname:
        return Ref(symbol.path, symbol.place)
    place = next((number for number, each in enumerate(symbols) if each.qualname == symbol.qualname), None)
    if place is None:
        raise NotFound(
            f"Not known: '{shortened(symbol.qualname)}' is no longer in {symbol.path}, which changed meanwhile.",
            hint="Ask again.",
        )
    return Ref(symbol.path, place)


def shown_symbol(symbol: FiledSymbol, uses: int | None = None) -> ShownSymbol:
    return ShownSymbol(
        f"{symbol.path}::{symbol.qualname}",
        symbol.kind,
        symbol.path,
        symbol.at,
        symbol.head,
        symbol.about,
        tuple(each.at for each in symbol.also),
        uses,
    )


__all__ = ["CodeService", "shown_symbol"]
