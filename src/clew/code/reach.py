"""Reach of a test: the definitions that it may lead to, taken too widely rather than too narrowly.

A class leads to all its members, a definition to what its file does when it is imported, and a member of which the
receiver is not known to every member of this name. Where something on the way runs what nobody can tell from the
source, such as a program or a module that is imported by a name, there is no answer, and none beyond Python.
"""

# Implements: REQ-d00787

import builtins
from collections.abc import Callable, Collection
from typing import NamedTuple

from clew.formats.code.facts.model import CLASS, MODULE, SITE_SIZE, Form, SiteKind
from clew.graph.code.binding.library import PREFIX
from clew.graph.code.binding.namespaces import Named, Source
from clew.graph.code.binding.types import ModuleValue, Outside, Ref
from clew.graph.code.binding.uses import Binder

MOST_DEFINITIONS = 600
_MOST_OF_NAME = 60
_UNKNOWABLE = frozenset(
    {
        *("import_module", "__import__", "eval", "exec", "compile", "runpy", "entry_points", "globals"),
        *("subprocess", "Popen", "system", "popen", "multiprocessing", "pexpect", "getattr", "setattr", "locals"),
        *("run_path", "run_module", "invoke_subprocess", "require", "spawn", "fork"),
    }
)
"""Names after which nobody can tell from the source what runs."""
_RUNNING = frozenset(
    {"subprocess", "importlib", "multiprocessing", "runpy", "pty", "concurrent", "ctypes", "posix", "_posixsubprocess"}
)
"""Modules that start programs, or run what is named while the program runs."""
_STARTING = {
    "os": ("exec", "spawn", "posix_spawn", "system", "popen", "fork", "startfile"),
    "asyncio": ("create_subprocess", "subprocess"),
}
"""Modules of which some members do, by the beginnings of their names."""
_LOADING = frozenset({SiteKind.IMPORT, SiteKind.REEXPORT, SiteKind.EXPORT})
_DECLARING = frozenset({SiteKind.INHERIT, SiteKind.ANNOTATION})
"""Sites at the top of a file that run nothing of what they name."""


class Place(NamedTuple):
    """Code that is to be reached: a definition, or a whole file."""

    path: str
    symbol: int
    """MODULE for anything in the file."""


class ReachLimit:
    """The sites that may still be looked at for one question."""

    def __init__(self, sites: int) -> None:
        self.left = sites


def reaches(
    binder: Binder, test: Ref, wanted: Collection[Place], check: Callable[[], None], limit: ReachLimit
) -> bool | None:
    """True if a test may reach one of some places, False if no way leads to any of them, None if that is not known."""
    return _Search(binder, frozenset(wanted), check, limit).run(test)


class _Search:
    def __init__(self, binder: Binder, wanted: frozenset[Place], check: Callable[[], None], limit: ReachLimit) -> None:
        self._binder = binder
        self._wanted = wanted
        self._check = check
        self._limit = limit
        self._seen: set[Ref] = set()
        self._files: set[str] = set()
        self._waiting: list[Ref] = []
        self._names: set[str] = set()

    def run(self, test: Ref) -> bool | None:
        self._add(test)
        self._run_with(test.path)
        while self._waiting:
            self._check()
            if len(self._seen) > MOST_DEFINITIONS or self._limit.left <= 0:
                return None
            ref = self._waiting.pop()
            if self._is_wanted(ref):
                return True
            source = self._binder.source(ref.path)
            if source is None or source.facts.rules != "python":
                return None
            if not self._follow(source, ref):
                return None
        return False

    def _is_wanted(self, ref: Ref) -> bool:
        return Place(ref.path, ref.symbol) in self._wanted or Place(ref.path, MODULE) in self._wanted

    def _add(self, ref: Ref) -> None:
        if ref not in self._seen and not ref.path.startswith(PREFIX):
            self._seen.add(ref)
            self._waiting.append(ref)

    def _run_with(self, path: str) -> None:
        """Fixtures that tests of a file get without naming them."""
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            for other in (path, f"{folder}/conftest.py" if folder else "conftest.py"):
                source = self._binder.source(other) if self._binder.has(other) else None
                for number in range(len(source.symbols)) if source is not None else ():
                    if source is not None and source.shape(number).form & Form.AUTOMATIC:
                        self._add(Ref(other, number))

    def _follow(self, source: Source, ref: Ref) -> bool:
        """Add what a definition leads to; False where that is not known."""
        inside = {ref.symbol} if ref.symbol != MODULE else set()
        for number, symbol in enumerate(source.symbols):
            if symbol.parent in inside:
                inside.add(number)
                self._add(Ref(ref.path, number))
        if ref.symbol != MODULE and source.symbol(ref.symbol).kind == CLASS:
            for above in self._binder.order(ref)[0][1:]:
                self._add(above.of)
        if ref.path not in self._files:
            self._files.add(ref.path)
            inside.add(MODULE)
        for name, sites in source.facts.sites:
            for at in range(0, len(sites), SITE_SIZE):
                if sites[at + 3] in inside and not self._lead(source, source.name(name), sites[at : at + SITE_SIZE]):
                    return False
        return True

    def _lead(self, source: Source, name: str, site: tuple[int, ...]) -> bool:
        _, _, kind, inside, expression = site
        self._limit.left -= 1
        if kind in _LOADING or (inside == MODULE and kind in _DECLARING):
            return True
        if name in _UNKNOWABLE:
            return False
        found = self._binder.meant(source, expression, SiteKind(kind))
        if any(_runs_anything(self._outside(each), kind) for each in found):
            return False
        for each in found:
            if isinstance(each, Ref):
                self._add(each)
                self._add_receivers(each)
            elif isinstance(each, ModuleValue):
                for path in each.paths:
                    if not path.startswith(PREFIX):
                        self._add(Ref(path, MODULE))
        if not found:
            self._add_named(name)
        return True

    def _outside(self, named: Named) -> str:
        """The dotted name of something outside of the project; empty for what is in it."""
        if isinstance(named, Outside):
            return named.name
        path = named.path if isinstance(named, Ref) else next(iter(named.paths), "")
        if not path.startswith(PREFIX):
            return ""
        name = f".{self._binder.known_source(path).symbol(named.symbol).name}" if isinstance(named, Ref) else ""
        return path.removeprefix(PREFIX) + name

    def _add_receivers(self, ref: Ref) -> None:
        """With a member, those that override it."""
        if not ref.path.startswith(PREFIX):
            source = self._binder.known_source(ref.path)
            symbol = source.symbol(ref.symbol)
            if symbol.parent != MODULE and source.symbol(symbol.parent).kind == CLASS:
                self._add_named(symbol.name)

    def _add_named(self, name: str) -> None:
        """Every definition of a name, where nothing is known of its receiver."""
        if name in self._names:
            return
        self._names.add(name)
        for each in self._binder.file.named(name, _MOST_OF_NAME):
            self._add(Ref(each.path, each.place))


def _runs_anything(name: str, kind: int) -> bool:
    """True for a name outside of the project that may run what the source does not tell."""
    module, _, rest = name.partition(".")
    if module == "builtins":
        # A name that is neither defined nor built in: it may come from any module, as by an import of all names.
        return kind == SiteKind.CALL and not hasattr(builtins, rest.partition(".")[0])
    beginnings = _STARTING.get(module, ())
    return module in _RUNNING or any(part.startswith(beginnings) for part in rest.split(".") if beginnings)
