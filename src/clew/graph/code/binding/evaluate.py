"""Values of expressions: each is evaluated when somebody asks, and its value is kept until a file changes."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from clew.derived.code_file import CodeFile
from clew.formats.code.facts.expressions import EXCLUDED, Op
from clew.formats.code.facts.expressions import UNKNOWN as NO_EXPRESSION
from clew.formats.code.facts.model import CALLABLES, CALLED, CLASS, MEMBER, METHOD, PROPERTY, Form
from clew.graph.code.aliases import Aliases
from clew.graph.code.binding.calls import Calls
from clew.graph.code.binding.classes import Member, substitute
from clew.graph.code.binding.library import PREFIX
from clew.graph.code.binding.namespaces import Named, Source
from clew.graph.code.binding.types import (
    NOTHING,
    UNKNOWN,
    Anonymous,
    Class,
    ClassesAbove,
    Function,
    Getter,
    Instance,
    ModuleValue,
    Nothing,
    Outside,
    RecordValue,
    Ref,
    Type,
    TypeParameter,
    Value,
    classes_of,
    joined,
)
from clew.graph.code.binding.types_written import builtins_of

_DEEPEST = 70
"""Evaluations inside of each other; a deeper one is unknown."""
_MOST_WAITED = 4
"""Results of results that waiting goes through."""
_MOST_INCOMPLETE = 400
"""Evaluations in a circle after which their answers are kept as they are, so that a circle is not gone round for
ever."""

K = TypeVar("K")


class Evaluator(Calls):
    """Values in one state of the project. One thread at a time may use it."""

    def __init__(self, file: CodeFile, aliases: Aliases | None = None) -> None:
        super().__init__(file, aliases)
        self.start_classes()
        self.start_calls()
        self._values: dict[tuple[str, int], Value] = {}
        self._types: dict[tuple[str, int], Value] = {}
        self._symbols: dict[Ref, Value] = {}
        self._underway: dict[object, int] = {}
        """Evaluations that have begun, with their depth."""
        self._circle = _DEEPEST + 1
        """The depth of the outermost evaluation that a circle led back to."""
        self._incomplete = 0
        """Evaluations since the last one that was complete."""

    # One answer for each expression

    def value(self, path: str, expression: int) -> Value:
        if expression == NO_EXPRESSION:
            return UNKNOWN
        return self.once(self._values, (path, expression), self._evaluate)

    def _evaluate(self, key: tuple[str, int]) -> Value:
        source = self.known_source(key[0])
        parts = source.expression(key[1])
        if parts[0] == Op.RECORD:
            return (RecordValue(*key),)
        return _EVALUATED[parts[0]](self, source, parts)

    def as_type(self, path: str, expression: int) -> Value:
        if expression == NO_EXPRESSION:
            return UNKNOWN
        return self.once(self._types, (path, expression), lambda key: self._type(*key, 0), "type")

    def once(self, kept: dict[K, Value], key: K, make: Callable[[K], Value], kind: str = "") -> Value:
        known = kept.get(key)
        if known is not None:
            return known
        mark = (kind, key)
        underway = self._underway
        depth = underway.get(mark)
        if depth is not None:
            # What is asked for depends on itself: that part adds nothing.
            self._circle = min(self._circle, depth)
            return ()
        depth = len(underway)
        if depth > _DEEPEST:
            return UNKNOWN
        underway[mark] = depth
        try:
            found = make(key)
        finally:
            del underway[mark]
        self._incomplete += 1
        if self._circle >= depth or self._incomplete > _MOST_INCOMPLETE:
            # Complete: nothing that it stands on is still being looked for.
            kept[key] = found
            if self._circle >= depth:
                self._circle = _DEEPEST + 1
                self._incomplete = 0
        return found

    # Definitions

    def refer(self, path: str, expression: int) -> tuple[Named, ...]:
        """The definitions that a name, or a member of one, means."""
        source = self.known_source(path)
        parts = source.expression(expression)
        op = parts[0]
        if op == Op.DEFINITION:
            return (Ref(path, parts[1]),)
        if op == Op.IMPORT:
            return self.imported(source, parts[1])
        if op == Op.GLOBAL:
            return self.of_global(source, source.name(parts[1]))
        if op == Op.UNION:
            return tuple(dict.fromkeys(each for part in parts[1:] for each in self.refer(path, part)))
        if op == Op.MEMBER:
            found: list[Named] = []
            for value in self.with_bounds(self.value(path, parts[1])):
                if isinstance(value, ModuleValue):
                    found += self.named(value.paths, source.name(parts[2]).removesuffix(CALLED), source)
                elif isinstance(value, Outside):
                    found += self.of_library(f"{value.name}.{source.name(parts[2])}")
                elif isinstance(value, RecordValue):
                    found += self._own_member(value, source.name(parts[2]))
                else:
                    found += [each.ref for each in self.member(value, source.name(parts[2])).members]
            return tuple(dict.fromkeys(found))
        return ()

    def _own_member(self, record: RecordValue, name: str) -> tuple[Named, ...]:
        """The method that a literal itself defines under a name."""
        source = self.known_source(record.path)
        parts = source.expression(self._field_of(record, name))
        if parts[0] == Op.DEFINITION and source.symbol(parts[1]).kind in (METHOD, PROPERTY):
            return (Ref(record.path, parts[1]),)
        return ()

    def _field_of(self, record: RecordValue, name: str) -> int:
        """The expression that a literal gives a name."""
        source = self.known_source(record.path)
        _, *parts = source.expression(record.expression)
        for at in range(0, len(parts), 2):
            if source.name(parts[at]) == name:
                return parts[at + 1]
        return NO_EXPRESSION

    def of_global(self, source: Source, name: str) -> tuple[Named, ...]:
        """The meanings of a name that a file uses and does not define above: defined later, of its package, or built
        in."""
        paths = source.rules.around(source.path, self) if source.rules is not None else (source.path,)
        found = tuple(dict.fromkeys(each for path in paths for each in self.in_file(path, name)))
        return found or self.of_library(f"{builtins_of(source)}.{name}")

    def definition(self, named: Named) -> Value:
        """The value of a definition where its name is read."""
        if not isinstance(named, Ref):
            return (named,)
        source = self.known_source(named.path)
        kind = source.symbol(named.symbol).kind
        if kind == CLASS:
            return (Class(named),)
        if kind in CALLABLES:
            return self.decorated(named)
        return self.symbol_value(named)

    def symbol_value(self, ref: Ref) -> Value:
        """The values of a variable, constant or attribute."""
        return self.once(self._symbols, ref, self._symbol_value, "symbol")

    def _symbol_value(self, ref: Ref) -> Value:
        source = self.known_source(ref.path)
        shape = source.shape(ref.symbol)
        symbol = source.symbol(ref.symbol)
        if shape.type:
            return self.as_type(ref.path, shape.type)
        if symbol.parent >= 0:
            if symbol.kind == MEMBER:
                return (Instance(Ref(ref.path, symbol.parent)),)
            declared = self._declared_above(Ref(ref.path, symbol.parent), symbol.name)
            if declared is not None:
                return declared
        if self.is_type_variable(ref):
            return (TypeParameter(symbol.name, ref),)
        return self.value(ref.path, shape.value)

    def _declared_above(self, of: Ref, name: str) -> Value | None:
        """The declared type of an attribute in a class above."""
        for above in self.order(of)[0][1:]:
            source = self.known_source(above.of.path)
            number = source.members(above.of.symbol).get(name)
            type = source.shape(number).type if number is not None else NO_EXPRESSION
            if number is not None and type and source.symbol(number).kind not in CALLABLES:
                names = self.type_parameters(above.of)
                known = dict(zip(names, above.arguments, strict=False))
                return substitute(self.as_type(above.of.path, type), known)
        return None

    # Members

    def member_value(self, value: Type, name: str) -> Value:
        """The values of a member of a value."""
        if isinstance(value, ModuleValue):
            source = self.source(value.paths[0]) if value.paths else None
            name = name.removesuffix(CALLED)
            anywhere = source or self.known_source(PREFIX + "builtins")
            return joined(*(self.definition(each) for each in self.named(value.paths, name, anywhere))) or UNKNOWN
        if isinstance(value, Outside):
            return joined(*(self.definition(each) for each in self.of_library(f"{value.name}.{name}")))
        if isinstance(value, Nothing):
            return ()
        if isinstance(value, RecordValue):
            return self.value(value.path, self._field_of(value, name))
        if name == "__class__" and isinstance(value, Instance):
            return (Class(value.of, value.arguments, value.is_receiver),)
        if isinstance(value, TypeParameter):
            bound = self.bound_of(value)
            return joined(*(self.member_value(each, name) for each in bound)) if bound else UNKNOWN
        found = self.member(value, name)
        if found.members:
            return joined(*(self.accessed(each, value) for each in found.members))
        if name == "__new__" and isinstance(value, ClassesAbove | Class):
            return (Anonymous((Instance(value.of, (), True),)),)
        if isinstance(value, Instance) and not found.is_open:
            other = self.member(value, "__getattr__")
            if other.members:
                return self.called(self.accessed(other.members[0], value), "", ())
        return UNKNOWN

    def with_bounds(self, value: Value) -> Value:
        """Values with the types that type variables are bound to in place of these."""
        if not any(isinstance(each, TypeParameter) for each in value):
            return value
        return joined(
            *((self.bound_of(each) or (each,)) if isinstance(each, TypeParameter) else (each,) for each in value)
        )

    def bound_of(self, parameter: TypeParameter) -> Value:
        """The types that a type variable is bound to."""
        if parameter.at is None:
            return ()
        source = self.known_source(parameter.at.path)
        parts = source.expression(source.shape(parameter.at.symbol).value)
        if parts[0] != Op.CALL or len(parts) < 4 or not parts[3]:
            return ()
        found = self.as_type(parameter.at.path, parts[3])
        return classes_of(found) if parameter.is_class else found

    def accessed(self, member: Member, value: Type) -> Value:
        """The value of a member that is read from a value: a method is bound to it, a property is called."""
        ref = member.ref
        source = self.known_source(ref.path)
        symbol, shape = source.symbol(ref.symbol), source.shape(ref.symbol)
        if symbol.kind == CLASS:
            return (Class(ref),)
        if symbol.kind in CALLABLES:
            if shape.form & Form.GETTER:
                return UNKNOWN if isinstance(value, Class) else self.returned(Function(ref, value), "", ())
            found = self.decorated(ref)
            bound = tuple(each._replace(receiver=value) if isinstance(each, Function) else each for each in found)
            return self._described(bound)
        known: Mapping[str, Value] = {}
        if member.owner is not None and isinstance(value, Instance | Class):
            known = self.known_arguments(value, member.owner)
        found = substitute(self.symbol_value(ref), known, value)
        return found if shape.form & Form.INSTANCE or isinstance(value, Class) else self._described(found)

    def _described(self, value: Value) -> Value:
        """The values after descriptors among them were read from an instance."""
        found: list[Value] = []
        for each in value:
            if isinstance(each, Getter):
                found.append(each.gives)
            elif isinstance(each, Instance) and (get := self.member(each, "__get__")).members:
                found.append(self.called(self.accessed(get.members[0], each), "", ()))
            else:
                found.append((each,))
        return joined(*found)

    # Operations

    def _unknown(self, source: Source, parts: tuple[int, ...]) -> Value:
        return UNKNOWN

    def _definition(self, source: Source, parts: tuple[int, ...]) -> Value:
        return self.definition(Ref(source.path, parts[1]))

    def _import(self, source: Source, parts: tuple[int, ...]) -> Value:
        return joined(*(self.definition(each) for each in self.imported(source, parts[1]))) or UNKNOWN

    def _global(self, source: Source, parts: tuple[int, ...]) -> Value:
        return joined(*(self.definition(each) for each in self.of_global(source, source.name(parts[1])))) or UNKNOWN

    def _variable(self, source: Source, parts: tuple[int, ...]) -> Value:
        declared, *values = source.facts.variables[parts[1]]
        if declared:
            return self.as_type(source.path, declared)
        return joined(*(self.value(source.path, each) for each in values)) if values else UNKNOWN

    def _parameter(self, source: Source, parts: tuple[int, ...]) -> Value:
        return self.parameter_value(Ref(source.path, parts[1]), parts[2])

    def _member(self, source: Source, parts: tuple[int, ...]) -> Value:
        name = source.name(parts[2])
        return joined(*(self.member_value(each, name) for each in self.value(source.path, parts[1])))

    def _call(self, source: Source, parts: tuple[int, ...]) -> Value:
        callee = self.value(source.path, parts[1])
        return self.called(callee, source.path, parts[2:])

    def _instance(self, source: Source, parts: tuple[int, ...]) -> Value:
        return self.as_type(source.path, parts[1])

    def _element(self, source: Source, parts: tuple[int, ...]) -> Value:
        return self.iterated(self.value(source.path, parts[1]))

    def iterated(self, value: Value) -> Value:
        """The items of values that are iterated over."""
        return joined(*(self._iterated(each) for each in value))

    def _iterated(self, value: Type) -> Value:
        if isinstance(value, Instance):
            fixed = self.positions(value)
            if fixed is not None:
                return joined(*fixed) if fixed else UNKNOWN
            for name in ("Iterator", "Iterable"):
                arguments = self.argument_of(value, name)
                if arguments:
                    return arguments[0]
            for name in ("__iter__", "__next__", "__getitem__"):
                found = self.call_member(value, name)
                if found is None:
                    continue
                return self.iterated(found) if name == "__iter__" else found
            return UNKNOWN
        if isinstance(value, Class):
            if self.form_of(value.of) & Form.ENUMERATION:
                return (Instance(value.of),)
            return self.iterated(self.call_member(value, "__iter__") or UNKNOWN)
        return () if isinstance(value, Nothing) else (value,) if isinstance(value, Outside) else UNKNOWN

    def call_member(self, value: Type, name: str, path: str = "", arguments: tuple[int, ...] = ()) -> Value | None:
        """The result of calling a method of a value; None where it has none."""
        found = self.member(value, name)
        if not found.members:
            return None
        return self.called(self.accessed(found.members[0], value), path, arguments)

    def positions(self, value: Instance) -> tuple[Value, ...] | None:
        """The values at the positions of a tuple of fixed length; None for any other value."""
        if not value.of.path.startswith(PREFIX) or not value.arguments:
            return None
        if self.known_source(value.of.path).symbol(value.of.symbol).name not in ("tuple", "Tuple"):
            return None
        if len(value.arguments) == 2 and value.arguments[1] == (Outside("builtins.ellipsis"),):
            return None
        return value.arguments

    def _unpacked(self, source: Source, parts: tuple[int, ...]) -> Value:
        found: list[Value] = []
        place = parts[2]
        for each in self.value(source.path, parts[1]):
            fixed = self.positions(each) if isinstance(each, Instance) else None
            if fixed is not None and place >= 0:
                found.append(fixed[place] if place < len(fixed) else ())
                continue
            if isinstance(each, Instance) and place >= 0 and (fields := self._fields(each)):
                found.append(self.member_value(each, fields[place]) if place < len(fields) else ())
                continue
            elements = self._iterated(each)
            rest = "list" if builtins_of(source) == "builtins" else "Array"
            found.append(self.of_builtin(rest, (elements,), source) if place < 0 else elements)
        return joined(*found)

    def _fields(self, value: Instance) -> list[str]:
        """The names of the fields of a named tuple."""
        if value.of.path.startswith(PREFIX) or self.argument_of(value, "NamedTuple") is None:
            return []
        source = self.known_source(value.of.path)
        return [name for name, number in source.members(value.of.symbol).items() if source.shape(number).type]

    def _subscript(self, source: Source, parts: tuple[int, ...]) -> Value:
        return joined(*(self._indexed(each, source, parts[2:]) for each in self.value(source.path, parts[1])))

    def _indexed(self, value: Type, source: Source, given: tuple[int, ...]) -> Value:
        if isinstance(value, Class):
            if self.form_of(value.of) & Form.ENUMERATION:
                return (Instance(value.of),)
            arguments = tuple(self.as_type(source.path, each) for each in given)
            return (Class(value.of, arguments),)
        if isinstance(value, Function):
            return (value._replace(arguments=tuple(self.as_type(source.path, each) for each in given)),)
        if isinstance(value, Instance):
            index = source.expression(given[0]) if given else (Op.UNKNOWN,)
            if index[0] == Op.LITERAL and source.name(index[1]) == "slice" and value.of.path.startswith(PREFIX):
                return (value,)
            fixed = self.positions(value)
            if fixed is not None and index[0] == Op.NUMBER and -len(fixed) <= index[1] < len(fixed):
                return fixed[index[1]]
            if fixed is not None:
                return joined(*fixed)
            found = self.call_member(value, "__getitem__", source.path, given)
            return found if found is not None else UNKNOWN
        return (value,) if isinstance(value, Outside) else UNKNOWN

    def _entered(self, source: Source, parts: tuple[int, ...]) -> Value:
        found: list[Value] = []
        for each in self.value(source.path, parts[1]):
            if isinstance(each, Instance):
                entered = self.call_member(each, "__enter__")
                if entered is None:
                    entered = self.call_member(each, "__aenter__")
                    entered = self.awaited(entered) if entered is not None else UNKNOWN
                found.append(entered)
            else:
                found.append((each,) if isinstance(each, Outside) else UNKNOWN)
        return joined(*found)

    def _awaited(self, source: Source, parts: tuple[int, ...]) -> Value:
        value = self.value(source.path, parts[1])
        if source.rules is None or not source.rules.flattens:
            return self.awaited(value)
        for _ in range(_MOST_WAITED):
            given = {each: self.argument_of(each, "Awaitable") for each in value}
            if not any(given.values()):
                break
            value = joined(*(inner[0] if inner else (each,) for each, inner in given.items()))
        return value

    def awaited(self, value: Value) -> Value:
        found: list[Value] = []
        for each in value:
            arguments = self.argument_of(each, "Awaitable")
            if arguments:
                found.append(arguments[0])
            else:
                found.append((each,) if isinstance(each, Outside) else UNKNOWN)
        return joined(*found)

    def _asynchronous(self, source: Source, parts: tuple[int, ...]) -> Value:
        found: list[Value] = []
        for each in self.value(source.path, parts[1]):
            arguments = self.argument_of(each, "AsyncIterator") or self.argument_of(each, "AsyncIterable")
            if arguments:
                found.append(arguments[0])
                continue
            iterator = self.call_member(each, "__aiter__") or ()
            for one in iterator:
                inner = self.argument_of(one, "AsyncIterator")
                following = (inner[0] if inner else None) or self.call_member(one, "__anext__")
                found.append(self.awaited(following) if inner is None and following else following or UNKNOWN)
        return joined(*found) or UNKNOWN

    def _union(self, source: Source, parts: tuple[int, ...]) -> Value:
        return joined(*(self.value(source.path, each) for each in parts[1:]))

    def _receiver(self, source: Source, parts: tuple[int, ...]) -> Value:
        return (Instance(Ref(source.path, parts[1]), self._own_parameters(source, parts[1]), True),)

    def _receiver_class(self, source: Source, parts: tuple[int, ...]) -> Value:
        return (Class(Ref(source.path, parts[1]), self._own_parameters(source, parts[1]), True),)

    def _own_parameters(self, source: Source, number: int) -> tuple[Value, ...]:
        return tuple((TypeParameter(name),) for name in self.type_parameters(Ref(source.path, number)))

    def _super(self, source: Source, parts: tuple[int, ...]) -> Value:
        return (ClassesAbove(Ref(source.path, parts[1]), bool(parts[2])),)

    def _literal(self, source: Source, parts: tuple[int, ...]) -> Value:
        return self.of_builtin(source.name(parts[1]), (), source)

    def _collection(self, source: Source, parts: tuple[int, ...]) -> Value:
        arguments = tuple(self.value(source.path, each) for each in parts[2:])
        return self.of_builtin(source.name(parts[1]), arguments, source)

    def _function(self, source: Source, parts: tuple[int, ...]) -> Value:
        parameters = tuple(self.as_type(source.path, each) for each in parts[2:])
        return (Anonymous(self.value(source.path, parts[1]), parameters),)

    def _argument(self, source: Source, parts: tuple[int, ...]) -> Value:
        callees = self.value(source.path, parts[1])
        return joined(*(self.taken(each, parts[2], source.path, parts[3:]) for each in callees))

    def _narrowed(self, source: Source, parts: tuple[int, ...]) -> Value:
        before = self.value(source.path, parts[1])
        if parts[3:] == (EXCLUDED,):
            return self._without(source, before, parts[2])
        told = self.value(source.path, parts[2])
        if len(parts) > 3:
            # Most functions give a truth that tells no type.
            told = tuple(each for each in told if self.argument_of(each, "Predicate") is not None)
        wanted = list(self._classes_in(told))
        if not wanted or any(not isinstance(each, Class) for each in wanted):
            return before if not wanted else joined(before, UNKNOWN)
        found: list[Value] = []
        for each in wanted:
            if not isinstance(each, Class):
                continue
            kept = tuple(one for one in before if isinstance(one, Instance) and self.is_below(one.of, each.of))
            wide = any(not isinstance(one, Instance) or self.is_below(each.of, one.of) for one in before)
            found.append(joined(kept, (Instance(each.of, each.arguments),)) if wide else kept)
        return joined(*found) or tuple(Instance(each.of) for each in wanted if isinstance(each, Class))

    def _without(self, source: Source, before: Value, tested: int) -> Value:
        """The values that are of none of the tested classes."""
        parts = source.expression(tested)
        excluded = set()
        for each in parts[2:] if parts[0] == Op.COLLECTION else (tested,):
            named = self.refer(source.path, each)
            if len(named) != 1 or not isinstance(named[0], Ref) or not self.is_class(named[0]):
                # A variable may hold a class below the one that it was declared with.
                continue
            excluded.add(named[0])
        return tuple(
            one
            for one in before
            if not isinstance(one, Instance) or not any(self.is_below(one.of, each) for each in excluded)
        )

    def _classes_in(self, value: Value) -> Iterable[Type]:
        for each in value:
            if isinstance(each, Instance) and (fixed := self.positions(each)) is not None:
                for position in fixed:
                    yield from self._classes_in(position)
            elif isinstance(each, Instance) and (tested := self.argument_of(each, "Predicate")) is not None:
                # What a function that tells types apart says about its argument.
                for one in tested[0] if tested else ():
                    yield Class(one.of, one.arguments) if isinstance(one, Instance) else one
            else:
                yield each

    def _operation(self, source: Source, parts: tuple[int, ...]) -> Value:
        name = source.name(parts[2])
        found: list[Value] = []
        for each in self.value(source.path, parts[1]):
            if isinstance(each, Instance):
                result = self.call_member(each, name, source.path, (parts[3],))
                if result is None and each.of.path.startswith(PREFIX):
                    result = (each,)
                found.append(result if result is not None else UNKNOWN)
            else:
                found.append((each,) if isinstance(each, Outside) else UNKNOWN)
        return joined(*found)

    def _type_parameter(self, source: Source, parts: tuple[int, ...]) -> Value:
        return (TypeParameter(source.name(parts[1])),)

    def _none(self, source: Source, parts: tuple[int, ...]) -> Value:
        return NOTHING

    def _number(self, source: Source, parts: tuple[int, ...]) -> Value:
        return self.of_builtin("int")

    def _fixture(self, source: Source, parts: tuple[int, ...]) -> Value:
        return self.fixture_value(source, source.name(parts[1]), parts[2])

    def fixture_value(self, source: Source, name: str, asking: int) -> Value:
        """The value that a test framework gives to a name; none by the rules of the language."""
        return UNKNOWN

    def _dotted(self, source: Source, parts: tuple[int, ...]) -> Value:
        return self.of_builtin("str")


_EVALUATED: dict[int, Callable[[Evaluator, Source, tuple[int, ...]], Value]] = {
    Op.UNKNOWN: Evaluator._unknown,
    Op.DEFINITION: Evaluator._definition,
    Op.IMPORT: Evaluator._import,
    Op.GLOBAL: Evaluator._global,
    Op.VARIABLE: Evaluator._variable,
    Op.PARAMETER: Evaluator._parameter,
    Op.MEMBER: Evaluator._member,
    Op.CALL: Evaluator._call,
    Op.INSTANCE: Evaluator._instance,
    Op.ELEMENT: Evaluator._element,
    Op.SUBSCRIPT: Evaluator._subscript,
    Op.UNPACKED: Evaluator._unpacked,
    Op.ENTERED: Evaluator._entered,
    Op.AWAITED: Evaluator._awaited,
    Op.UNION: Evaluator._union,
    Op.SELF: Evaluator._receiver,
    Op.SELF_CLASS: Evaluator._receiver_class,
    Op.SUPER: Evaluator._super,
    Op.LITERAL: Evaluator._literal,
    Op.COLLECTION: Evaluator._collection,
    Op.NUMBER: Evaluator._number,
    Op.FUNCTION: Evaluator._function,
    Op.NARROWED: Evaluator._narrowed,
    Op.DOTTED: Evaluator._dotted,
    Op.FIXTURE: Evaluator._fixture,
    Op.OPERATION: Evaluator._operation,
    Op.TYPE_PARAMETER: Evaluator._type_parameter,
    Op.NOTHING: Evaluator._none,
    Op.ITERATED: Evaluator._asynchronous,
    Op.BOUND: Evaluator._unknown,
    Op.ARGUMENT: Evaluator._argument,
    Op.TYPEOF: Evaluator._unknown,
}
