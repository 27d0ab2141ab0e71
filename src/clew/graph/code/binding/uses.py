"""The uses of a symbol: the sites of its name that are bound to it, in one state of the project."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from clew.derived.code_file import CodeFile
from clew.formats.code.facts.expressions import UNKNOWN as NO_EXPRESSION
from clew.formats.code.facts.expressions import Op
from clew.formats.code.facts.model import CALLABLES, CLASS, MODULE, Form, SiteKind
from clew.graph.code.aliases import Aliases
from clew.graph.code.binding.evaluate import Evaluator
from clew.graph.code.binding.library import PREFIX
from clew.graph.code.binding.namespaces import STATIC, Named, Source
from clew.graph.code.binding.types import Class, Instance, ModuleValue, Outside, Ref, TypeParameter, Unknown

EXACT, BY_NAME, ONE_OF = "exact", "name", "one of"
_MOST_ALIASES = 20
_BY_TEXT = frozenset({SiteKind.STRING, SiteKind.PATCH, SiteKind.ARGUMENT, SiteKind.FIXTURE})
"""Sites that are no use of anything where they are not bound."""
_COMMON = frozenset(
    name
    for type_ in (str, bytes, list, dict, set, int, float, tuple, object, type, BaseException, property)
    for name in dir(type_)
) | frozenset(
    {"read", "write", "close", "open", "flush", "seek", "readline", "readlines", "name", "run", "start", "stop"}
)
"""Members of values that are built in: one with such a name says nothing about its receiver."""


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


class Binder(Evaluator):
    """Finds the uses of a symbol. Not safe for several threads at once."""

    def __init__(self, file: CodeFile, aliases: Aliases | None = None) -> None:
        super().__init__(file, aliases)
        self._uses: dict[Ref, Uses] = {}
        self._related: dict[Ref, frozenset[Ref]] = {}

    def uses_of(self, target: Ref, check: Callable[[], None] = lambda: None) -> Uses:
        known = self._uses.get(target)
        if known is None:
            known = self._uses[target] = self._found(target, check)
        return known

    def _found(self, target: Ref, check: Callable[[], None]) -> Uses:
        symbol = self.known_source(target.path).symbol(target.symbol)
        exact: dict[Use, None] = {}
        loose: list[Use] = []
        unbound = files = 0
        names, done = [symbol.name], set[str]()
        while names:
            name = names.pop()
            done.add(name)
            for source in self.take(self.file.with_name(name)):
                check()
                files += name == symbol.name
                for alias in self._other_names(source, name, target):
                    if alias not in done and alias not in names and len(done) < _MOST_ALIASES:
                        names.append(alias)
                for line, column, kind, inside, expression in source.sites(name):
                    refs = self.meant(source, expression, SiteKind(kind))
                    if target in refs or any(self._are_related(target, each) for each in refs):
                        exact[Use(source.path, line, column, SiteKind(kind), EXACT, inside)] = None
                    elif not refs and name == symbol.name and self._is_loose(source, expression, kind):
                        loose.append(Use(source.path, line, column, SiteKind(kind), BY_NAME, inside))
        for use in self._overriding(target):
            exact[use] = None
        by_name, one_of = self._by_name(target, symbol.name, loose)
        unbound = len(loose) - len(by_name) - len(one_of)
        return Uses((*exact, *by_name), one_of, unbound, files)

    def _other_names(self, source: Source, name: str, target: Ref) -> Iterator[str]:
        """The names under which a file imports the symbol."""
        for number, imported in enumerate(source.facts.imports):
            if imported.name == name and imported.alias not in ("", name) and target in self.imported(source, number):
                yield imported.alias

    # What a site means

    def meant(self, source: Source, expression: int, kind: SiteKind) -> tuple[Named, ...]:
        """The definitions that a site may mean; none if nothing is known of its receiver."""
        if expression == NO_EXPRESSION:
            return ()
        parts = source.expression(expression)
        if parts[0] == Op.DOTTED:
            return self._by_dots(source, parts)
        if parts[0] == Op.FIXTURE:
            return self._fixture(source, source.name(parts[1]))
        if kind == SiteKind.ARGUMENT and parts[0] == Op.MEMBER and not self._has_typed_literals(source):
            return self._field(source, parts)
        return self.refer(source.path, expression)

    @staticmethod
    def _has_typed_literals(source: Source) -> bool:
        return source.rules is not None and source.rules.related

    # Members that stand for each other

    def _are_related(self, target: Ref, other: Named) -> bool:
        """Whether a member of a class or interface stands for another, as what implements it does."""
        if not isinstance(other, Ref):
            return False
        own = self._standing_for(target)
        return bool(own) and not own.isdisjoint(self._standing_for(other))

    def _standing_for(self, ref: Ref) -> frozenset[Ref]:
        """A member with those of its name in all classes above; empty for all else, and where the language says that
        only the receiver's own class counts."""
        known = self._related.get(ref)
        if known is None:
            known = self._related[ref] = self._found_above(ref)
        return known

    def _found_above(self, ref: Ref) -> frozenset[Ref]:
        source = self.known_source(ref.path)
        symbol = source.symbol(ref.symbol)
        if source.rules is None or not source.rules.related or symbol.parent < 0:
            return frozenset()
        if source.symbol(symbol.parent).kind != CLASS or symbol.name == source.rules.constructor:
            return frozenset()
        is_static = self.shape(ref).form & Form.STATIC
        found = {ref}
        for above in self.order(Ref(ref.path, symbol.parent))[0][1:]:
            members = self.known_source(above.of.path).members(above.of.symbol)
            number = (members.get(STATIC + symbol.name) if is_static else None) or members.get(symbol.name)
            if number is not None and not above.of.path.startswith(PREFIX):
                other = Ref(above.of.path, number)
                if self.shape(other).form & Form.STATIC == is_static:
                    found.add(other)
        return frozenset(found)

    def _by_dots(self, source: Source, parts: tuple[int, ...]) -> tuple[Named, ...]:
        return self.dotted(source.name(parts[1]), source)

    def dotted(self, name: str, source: Source) -> tuple[Named, ...]:
        """What a name with dots means that begins with a module, by the rules of a file's language."""
        if source.rules is None:
            return ()
        module, rest = source.rules.dotted(name, self)
        if not module:
            return ()
        found: tuple[Named, ...] = (ModuleValue(module),)
        for part in rest.split(".") if rest else ():
            following: list[Named] = []
            for each in found:
                if isinstance(each, ModuleValue):
                    following += self.named(each.paths, part, source)
                elif isinstance(each, Ref):
                    for value in self.definition(each):
                        following += [member.ref for member in self.member(value, part).members]
            found = tuple(dict.fromkeys(following))
        return found

    def _fixture(self, source: Source, name: str) -> tuple[Named, ...]:
        """The fixture whose value a test gets by a parameter's name: of its file, or of the nearest `conftest.py` above
        it."""
        folder = source.path.rpartition("/")[0]
        paths = [source.path]
        while True:
            paths.append(f"{folder}/conftest.py" if folder else "conftest.py")
            if not folder:
                break
            folder = folder.rpartition("/")[0]
        for path in paths:
            other = self.source(path) if path == source.path or self.has(path) else None
            if other is None:
                continue
            for number, symbol in enumerate(other.symbols):
                if symbol.name == name and other.shape(number).form & Form.FIXTURE:
                    return (Ref(path, number),)
            named = [each for each in self.in_file(path, name) if isinstance(each, Ref)]
            if named and self.shape(named[0]).form & Form.FIXTURE:
                return tuple(named)
        return ()

    def _field(self, source: Source, parts: tuple[int, ...]) -> tuple[Named, ...]:
        """The field that an argument of a constructor is given to."""
        maker = source.expression(parts[1])
        found: list[Named] = []
        for value in self.value(source.path, maker[1]):
            if isinstance(value, Class) and self._is_record(value.of):
                members = self.member(Instance(value.of), source.name(parts[2])).members
                found += [each.ref for each in members if not self._is_callable(each.ref)]
        return tuple(found)

    def _is_callable(self, ref: Ref) -> bool:
        return self.known_source(ref.path).symbol(ref.symbol).kind in CALLABLES

    def _is_record(self, of: Ref) -> bool:
        order, is_open = self.order(of)
        if any("__init__" in self.known_source(each.of.path).members(each.of.symbol) for each in order):
            return False
        return bool(self.form_of(of) & Form.RECORD) or is_open

    # Sites that are not bound

    def _is_loose(self, source: Source, expression: int, kind: int) -> bool:
        """True if nothing is known of a receiver, so that the site may use anything of its name."""
        if kind in _BY_TEXT or kind in (SiteKind.IMPORT, SiteKind.EXPORT):
            return False
        if expression == NO_EXPRESSION:
            return True
        parts = source.expression(expression)
        if parts[0] != Op.MEMBER:
            return parts[0] == Op.UNKNOWN
        values = self.value(source.path, parts[1])
        return any(self._may_have(each, source.name(parts[2])) for each in values)

    def _may_have(self, value: object, name: str) -> bool:
        if isinstance(value, Unknown | TypeParameter):
            return True
        if isinstance(value, Instance | Class):
            return not value.of.path.startswith(PREFIX) and not self.member(value, name).is_open
        return not isinstance(value, Outside | ModuleValue) and not isinstance(value, tuple)

    def _by_name(self, target: Ref, name: str, loose: Iterable[Use]) -> tuple[tuple[Use, ...], tuple[Use, ...]]:
        """Sites that the name alone may bind: where it is the only definition that fits, and where it is one of
        several."""
        source = self.known_source(target.path)
        parent = source.symbol(target.symbol).parent
        if parent == MODULE or source.symbol(parent).kind != CLASS or name in _COMMON:
            return (), ()
        others = [each for each in self.file.named(name, 50) if each.name == name and not each.is_test]
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
        for other in self.file.named(symbol.name, 500):
            ref = Ref(other.path, other.place)
            if ref == target or other.parent < 0:
                continue
            parent = Ref(other.path, other.parent)
            if not self.is_class(parent):
                continue
            if self._standing_for(ref):
                if self._are_related(target, ref):
                    for line in (other.at, *other.also):
                        yield Use(other.path, line, 0, SiteKind.OVERRIDE, EXACT, other.parent)
                continue
            for above in self.order(parent)[0][1:]:
                if self.known_source(above.of.path).members(above.of.symbol).get(symbol.name) is not None:
                    if above.of == own:
                        yield Use(other.path, other.at, 0, SiteKind.OVERRIDE, EXACT, other.parent)
                    break
