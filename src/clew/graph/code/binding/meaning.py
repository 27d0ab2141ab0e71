"""Sites of names: which definitions each of them means, and which say nothing."""

from collections.abc import Iterator

from clew.derived.code_file import CodeFile
from clew.formats.code.facts.expressions import UNKNOWN as NO_EXPRESSION
from clew.formats.code.facts.expressions import Op
from clew.formats.code.facts.model import ATTRIBUTE, CALLABLES, CLASS, MODULE, Form, SiteKind
from clew.graph.code.aliases import Aliases
from clew.graph.code.binding.evaluate import Evaluator
from clew.graph.code.binding.library import PREFIX
from clew.graph.code.binding.namespaces import STATIC, Named, Source
from clew.graph.code.binding.types import (
    UNKNOWN,
    Class,
    Function,
    Instance,
    ModuleValue,
    Outside,
    Ref,
    Type,
    TypeParameter,
    Unknown,
    Value,
    is_known,
)

_SAYS_NOTHING = frozenset(
    {SiteKind.STRING, SiteKind.PATCH, SiteKind.ARGUMENT, SiteKind.FIXTURE, SiteKind.IMPORT, SiteKind.EXPORT}
)
"""Sites that are no use of anything where they are not bound."""
_SHARED = "conftest.py"


class Meanings(Evaluator):
    """The meaning of sites by the rules of the language."""

    def meant(self, source: Source, expression: int, kind: SiteKind) -> tuple[Named, ...]:
        """The definitions that a site means; none where nothing is known of its receiver."""
        if expression == NO_EXPRESSION:
            return ()
        parts = source.expression(expression)
        if parts[0] == Op.DOTTED:
            return self._by_dots(source, parts)
        if parts[0] == Op.FIXTURE:
            return fixture_named(self, source, source.name(parts[1]), parts[2])
        if kind == SiteKind.ARGUMENT and parts[0] == Op.MEMBER and not self._has_typed_literals(source):
            return self._field(source, parts)
        return self.refer(source.path, expression)

    @staticmethod
    def _has_typed_literals(source: Source) -> bool:
        return source.rules is not None and source.rules.typed_literals

    def _by_dots(self, source: Source, parts: tuple[int, ...]) -> tuple[Named, ...]:
        return self.dotted(source.name(parts[1]), source)

    def dotted(self, name: str, source: Source) -> tuple[Named, ...]:
        """The definitions of a dotted name that begins with a module, by the rules of a file's language."""
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

    def _field(self, source: Source, parts: tuple[int, ...]) -> tuple[Named, ...]:
        """The field that an argument of a constructor is given to, or of what a function gathers by names."""
        maker = source.expression(parts[1])
        if maker[0] != Op.INSTANCE:
            values = self.value(source.path, parts[1])
            return tuple(each for value in values for each in self._gathered(value, source.name(parts[2])))
        found: list[Named] = []
        for value in self.value(source.path, maker[1]):
            if isinstance(value, Class) and self._is_record(value.of):
                members = self.member(Instance(value.of), source.name(parts[2])).members
                found += [each.ref for each in members if not self._is_callable(each.ref)]
        return tuple(found)

    def _gathered(self, value: Type, name: str) -> Iterator[Named]:
        """The field of the class whose fields are the names that a function gathers."""
        parameters = self.shape(value.of).parameters if isinstance(value, Function) else ()
        if not isinstance(value, Function) or not parameters or parameters[-1].gathers != 2:
            return
        source = self.known_source(value.of.path)
        written = source.expression(parameters[-1].type)
        if written[0] == Op.SUBSCRIPT and self.last_name(source, written[1]) == "Unpack":
            for each in self.as_type(value.of.path, parameters[-1].type):
                yield from (member.ref for member in self.member(each, name).members)

    def _is_callable(self, ref: Ref) -> bool:
        return self.known_source(ref.path).symbol(ref.symbol).kind in CALLABLES

    def _is_record(self, of: Ref) -> bool:
        order, is_open = self.order(of)
        if any("__init__" in self.known_source(each.of.path).members(each.of.symbol) for each in order):
            return False
        return bool(self.form_of(of) & Form.RECORD) or is_open

    # Sites that are not bound

    def is_loose(self, source: Source, expression: int, kind: int) -> bool:
        """True if nothing is known of a receiver, so that the site may use anything of its name."""
        if kind in _SAYS_NOTHING:
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


class RelatedMembers(Meanings):
    """Members that stand for each other, found once in a state of the project."""

    def __init__(self, file: CodeFile, aliases: Aliases | None = None) -> None:
        super().__init__(file, aliases)
        self._related: dict[Ref, frozenset[Ref]] = {}

    def are_related(self, target: Ref, other: Named) -> bool:
        """True if a member of a class or interface stands for another, as what implements it does."""
        if not isinstance(other, Ref):
            return False
        own = self.standing_for(target)
        return bool(own) and not own.isdisjoint(self.standing_for(other))

    def standing_for(self, ref: Ref) -> frozenset[Ref]:
        """A member with those of its name in all classes above; empty for all else, and where the language says that
        only the receiver's own class counts."""
        known = self._related.get(ref)
        if known is None:
            known = self._related[ref] = self._found_above(ref)
        return known

    def _found_above(self, ref: Ref) -> frozenset[Ref]:
        source = self.known_source(ref.path)
        symbol = source.symbol(ref.symbol)
        if source.rules is None or symbol.parent < 0:
            return frozenset()
        if not source.rules.related:
            return self._declared_as(ref)
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

    def _declared_as(self, ref: Ref) -> frozenset[Ref]:
        """The attribute with a declared type that assigning an attribute of an instance gives a value to: its own, or
        that of the nearest class above that declares it. One in the body of a class is an attribute of that class."""
        source = self.known_source(ref.path)
        symbol = source.symbol(ref.symbol)
        shape = source.shape(ref.symbol)
        is_own = bool(shape.type) or shape.form & Form.INSTANCE
        if symbol.kind != ATTRIBUTE or source.symbol(symbol.parent).kind != CLASS or not is_own:
            return frozenset()
        for above in self.order(Ref(ref.path, symbol.parent))[0]:
            other = self.known_source(above.of.path)
            number = other.members(above.of.symbol).get(symbol.name)
            if number is not None and other.symbol(number).kind == ATTRIBUTE and other.shape(number).type:
                return frozenset((Ref(above.of.path, number),))
        return frozenset()


class MeaningsInTests(Meanings):
    """The meaning of sites in files of tests: a parameter has the value of the fixture with its name."""

    def parameter_value(self, of: Ref, place: int) -> Value:
        found = super().parameter_value(of, place)
        source = self.known_source(of.path)
        shape = source.shape(of.symbol)
        takes = source.symbol(of.symbol).is_test or shape.form & Form.FIXTURE
        if is_known(found) or not takes or place >= len(shape.parameters):
            return found
        return self.fixture_value(source, shape.parameters[place].name, of.symbol)

    def fixture_value(self, source: Source, name: str, asking: int) -> Value:
        for fixture in fixture_named(self, source, name, asking):
            if isinstance(fixture, Ref):
                form = self.shape(fixture).form
                found = self.result_of(fixture)
                if form & Form.GENERATOR:
                    return self.yielded(found)
                return self.awaited(found) if form & Form.ASYNCHRONOUS else found
        return UNKNOWN


def fixture_named(meanings: Meanings, source: Source, name: str, asking: int) -> tuple[Named, ...]:
    """The fixture whose value the function `asking` gets by a name: of its class and those above, of its file, or of
    the nearest `conftest.py` above it. One that asks for its own name gets the next one."""
    own = _of_class(meanings, source, name, asking)
    if own is not None:
        return (own,)
    folder = source.path.rpartition("/")[0]
    paths = [source.path]
    while folder:
        paths.append(f"{folder}/{_SHARED}")
        folder = folder.rpartition("/")[0]
    paths.append(_SHARED)
    for path in dict.fromkeys(paths):
        other = meanings.source(path) if path == source.path or meanings.has(path) else None
        if other is None:
            continue
        for number in other.fixtures.get(name, ()):
            # A mark at the top of a class does not say for which functions it is.
            if (other.symbol(number).parent == MODULE or asking == MODULE) and (path, number) != (source.path, asking):
                return (Ref(path, number),)
        named = [each for each in meanings.in_file(path, name) if isinstance(each, Ref)]
        if named and meanings.shape(named[0]).form & Form.FIXTURE and named[0] != Ref(source.path, asking):
            return tuple(named)
    return ()


def _of_class(meanings: Meanings, source: Source, name: str, asking: int) -> Ref | None:
    around = source.symbol(asking).parent if asking != MODULE else MODULE
    while around != MODULE:
        if source.symbol(around).kind == CLASS:
            for above in meanings.order(Ref(source.path, around))[0]:
                other = meanings.known_source(above.of.path)
                for number in other.fixtures.get(name, ()):
                    found = Ref(above.of.path, number)
                    if other.symbol(number).parent == above.of.symbol and found != Ref(source.path, asking):
                        return found
        around = source.symbol(around).parent
    return None
