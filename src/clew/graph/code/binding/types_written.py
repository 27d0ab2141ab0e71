"""Annotations: the values that a written type stands for."""

from collections.abc import Callable

from clew.formats.code.facts.expressions import UNKNOWN as NO_EXPRESSION
from clew.formats.code.facts.expressions import Op
from clew.formats.code.facts.model import CALLABLES, CLASS
from clew.graph.code.binding.classes import Classes, substitute
from clew.graph.code.binding.library import PREFIX, other_name
from clew.graph.code.binding.namespaces import Named, Source
from clew.graph.code.binding.types import (
    NOTHING,
    UNKNOWN,
    Anonymous,
    Class,
    Instance,
    Outside,
    RecordValue,
    Ref,
    TypeParameter,
    Value,
    classes_of,
    joined,
)

_DEEPEST = 12
_WRAPPERS = frozenset({"ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "InitVar", "Annotated", "Unpack"})
_TYPING = ("typing.", "typing_extensions.", "collections.abc.", "dataclasses.")


class TypesWritten(Classes):
    def refer(self, path: str, expression: int) -> tuple[Named, ...]:
        """The definitions that a name, or a member of one, means."""
        raise NotImplementedError

    def as_type(self, path: str, expression: int) -> Value:
        return self._type(path, expression, 0)

    def _type(self, path: str, number: int, depth: int) -> Value:
        if number == NO_EXPRESSION or depth > _DEEPEST:
            return UNKNOWN
        source = self.known_source(path)
        parts = source.expression(number)
        write = _WRITTEN.get(parts[0])
        return write(self, source, number, depth) if write is not None else UNKNOWN

    def _named_type(self, source: Source, number: int, depth: int) -> Value:
        values = []
        for named in self.refer(source.path, number):
            if isinstance(named, Ref):
                values.append(self._type_of(named, depth))
            elif isinstance(named, Outside):
                values.append(self._special(named, source, (), depth))
            else:
                values.append(UNKNOWN)
        return joined(*values) if values else UNKNOWN

    def _type_of(self, ref: Ref, depth: int) -> Value:
        """The values of a class, or of a type that has another name."""
        source = self.known_source(ref.path)
        symbol = source.symbol(ref.symbol)
        if symbol.kind == CLASS:
            return (Instance(ref, self._defaults(ref, ())),)
        if self.is_type_variable(ref):
            return (TypeParameter(symbol.name, ref),)
        shape = source.shape(ref.symbol)
        value = shape.value
        if not value or symbol.kind in ("function", "method"):
            return UNKNOWN
        if shape.type_defaults:
            return self._aliased(ref, ())
        parts = source.expression(value)
        if parts[0] == Op.CALL and len(parts) > 3 and self.last_name(source, parts[1]) == "NewType":
            return self._type(ref.path, parts[3], depth + 1)
        return self.as_type(ref.path, value)

    def _subscript_type(self, source: Source, number: int, depth: int) -> Value:
        parts = source.expression(number)
        given = parts[2:]
        values = []
        for named in self.refer(source.path, parts[1]):
            if isinstance(named, Outside):
                values.append(self._special(named, source, given, depth))
            elif isinstance(named, Ref):
                values.append(self._generic(named, source, given, depth))
            else:
                values.append(UNKNOWN)
        return joined(*values) if values else UNKNOWN

    def _generic(self, ref: Ref, source: Source, given: tuple[int, ...], depth: int) -> Value:
        arguments = tuple(self._type(source.path, each, depth + 1) for each in given)
        if self.is_class(ref):
            if ref.path == PREFIX + "builtins" and self.known_source(ref.path).symbol(ref.symbol).name == "type":
                return classes_of(arguments[0]) if arguments else UNKNOWN
            return (Instance(ref, self._defaults(ref, arguments)),)
        return self._aliased(ref, arguments) if self.shape(ref).type_parameters else self._type_of(ref, depth)

    def _aliased(self, ref: Ref, arguments: tuple[Value, ...]) -> Value:
        """The values of a type that has another name, with what its type parameters stand for."""
        shape = self.shape(ref)
        if self.known_source(ref.path).symbol(ref.symbol).kind in CALLABLES:
            return UNKNOWN
        found = self.as_type(ref.path, shape.value)
        given = self._defaults(ref, arguments)
        return substitute(found, dict(zip(shape.type_parameters, given, strict=False))) if given else found

    def _defaults(self, ref: Ref, given: tuple[Value, ...]) -> tuple[Value, ...]:
        """The arguments of a generic type, with the defaults of those that are not written."""
        shape = self.shape(ref)
        if len(given) >= len(shape.type_defaults):
            return given
        rest = zip(shape.type_parameters[len(given) :], shape.type_defaults[len(given) :], strict=False)
        return (
            *given,
            *(self.as_type(ref.path, default) if default else (TypeParameter(name),) for name, default in rest),
        )

    def _special(self, named: Outside, source: Source, given: tuple[int, ...], depth: int) -> Value:
        """A name that the project does not define, with the types in the brackets after it."""
        name = other_name(named.name)
        if not name.startswith(_TYPING):
            return (named,)
        own = name.rpartition(".")[2]
        if own in ("Optional", "Union"):
            return joined(*(self._type(source.path, each, depth + 1) for each in given))
        if own in _WRAPPERS:
            return self._type(source.path, given[0], depth + 1) if given else UNKNOWN
        if own == "Callable":
            returns = self._type(source.path, given[1], depth + 1) if len(given) > 1 else UNKNOWN
            taken = source.expression(given[0]) if given else (Op.UNKNOWN,)
            types = taken[2:] if taken[0] == Op.COLLECTION else ()
            return (Anonymous(returns, tuple(self._type(source.path, each, depth + 1) for each in types)),)
        if own in ("TypeGuard", "TypeIs"):
            told = tuple(self._type(source.path, each, depth + 1) for each in given[:1])
            return tuple(Instance(each, told) for each in self.of_library("typing.Predicate") if isinstance(each, Ref))
        if own in ("Any", "Literal", "LiteralString"):
            return UNKNOWN
        if own == "Self":
            return (TypeParameter("Self"),)
        if own in ("NoReturn", "Never"):
            return ()
        return UNKNOWN

    def _union_type(self, source: Source, number: int, depth: int) -> Value:
        parts = source.expression(number)
        return joined(*(self._type(source.path, each, depth + 1) for each in parts[1:]))

    def _operation_type(self, source: Source, number: int, depth: int) -> Value:
        """`A | B` outside of an annotation."""
        _, left, _, right = source.expression(number)
        return joined(self._type(source.path, left, depth + 1), self._type(source.path, right, depth + 1))

    def _nothing(self, source: Source, number: int, depth: int) -> Value:
        return NOTHING

    def _literal_type(self, source: Source, number: int, depth: int) -> Value:
        return self.of_builtin(source.name(source.expression(number)[1]), (), source)

    def of_builtin(self, name: str, arguments: tuple[Value, ...] = (), source: Source | None = None) -> Value:
        """A value of a type that is built into the language of a file."""
        found = self.of_library(f"typing.{name}" if name == "Generator" else f"{builtins_of(source)}.{name}")
        return tuple(Instance(each, arguments) if isinstance(each, Ref) else Outside(name) for each in found)

    def _parameter_type(self, source: Source, number: int, depth: int) -> Value:
        return (TypeParameter(source.name(source.expression(number)[1])),)

    def _receiver_type(self, source: Source, number: int, depth: int) -> Value:
        return (Instance(Ref(source.path, source.expression(number)[1]), (), True),)

    def _function_type(self, source: Source, number: int, depth: int) -> Value:
        returns, *parameters = (self._type(source.path, each, depth + 1) for each in source.expression(number)[1:])
        return (Anonymous(returns, tuple(parameters)),)

    def _record_type(self, source: Source, number: int, depth: int) -> Value:
        return (RecordValue(source.path, number),)

    def _type_of_value(self, source: Source, number: int, depth: int) -> Value:
        return self.value(source.path, source.expression(number)[1])

    def _collection_type(self, source: Source, number: int, depth: int) -> Value:
        _, name, *given = source.expression(number)
        arguments = tuple(self._type(source.path, each, depth + 1) for each in given)
        return self.of_builtin(source.name(name), arguments, source)

    def _variable_type(self, source: Source, number: int, depth: int) -> Value:
        values = source.facts.variables[source.expression(number)[1]]
        return joined(*(self._type(source.path, each, depth + 1) for each in values[1:]))

    def _value_type(self, source: Source, number: int, depth: int) -> Value:
        """Any other expression whose value is a class, such as a call."""
        found = self.value(source.path, number)
        return joined(*((_instance_of(each) if isinstance(each, Class) else UNKNOWN) for each in found)) or UNKNOWN


def builtins_of(source: Source | None) -> str:
    """The described module of what every file of a language knows."""
    return source.rules.builtins if source is not None and source.rules is not None else "builtins"


def _instance_of(each: Class) -> Value:
    return (Instance(each.of, each.arguments, each.is_receiver),)


_WRITTEN: dict[int, Callable[[TypesWritten, Source, int, int], Value]] = {
    Op.DEFINITION: TypesWritten._named_type,
    Op.IMPORT: TypesWritten._named_type,
    Op.GLOBAL: TypesWritten._named_type,
    Op.MEMBER: TypesWritten._named_type,
    Op.SUBSCRIPT: TypesWritten._subscript_type,
    Op.UNION: TypesWritten._union_type,
    Op.OPERATION: TypesWritten._operation_type,
    Op.NOTHING: TypesWritten._nothing,
    Op.LITERAL: TypesWritten._literal_type,
    Op.TYPE_PARAMETER: TypesWritten._parameter_type,
    Op.SELF_CLASS: TypesWritten._receiver_type,
    Op.VARIABLE: TypesWritten._variable_type,
    Op.CALL: TypesWritten._value_type,
    Op.COLLECTION: TypesWritten._collection_type,
    Op.FUNCTION: TypesWritten._function_type,
    Op.RECORD: TypesWritten._record_type,
    Op.TYPEOF: TypesWritten._type_of_value,
}
