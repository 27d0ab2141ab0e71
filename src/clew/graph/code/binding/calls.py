"""Results of calls: declared ones and inferred ones, with the values of type parameters."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from clew.formats.code.facts.expressions import UNKNOWN as NO_EXPRESSION
from clew.formats.code.facts.model import CALLABLES, CLASS, Form, Shape
from clew.graph.code.binding.classes import Ancestor, Member, substitute, substituted
from clew.graph.code.binding.library import PREFIX
from clew.graph.code.binding.namespaces import Source
from clew.graph.code.binding.types import (
    UNKNOWN,
    Anonymous,
    Class,
    ClassesAbove,
    Function,
    Getter,
    Instance,
    Nothing,
    Outside,
    Ref,
    Type,
    TypeParameter,
    Unknown,
    Value,
    classes_of,
    joined,
)
from clew.graph.code.binding.types_written import TypesWritten

K = TypeVar("K")

_ANYTHING = frozenset(
    {"getattr", "vars", "eval", "globals", "locals", "__import__", "import_module", "attrgetter", "methodcaller"}
)
"""Functions of the library that may give anything of the project."""
_ROUNDS = 6
"""Decorators of one function that are applied."""


class Calls(TypesWritten):
    def member_value(self, value: Type, name: str) -> Value:
        raise NotImplementedError

    def accessed(self, member: Member, value: Type) -> Value:
        raise NotImplementedError

    def start_calls(self) -> None:
        self._returns: dict[Ref, Value] = {}
        self._decorated: dict[Ref, Value] = {}

    # Calls

    def called(self, callee: Value, path: str, arguments: tuple[int, ...]) -> Value:
        """The result of calling values. The arguments are expressions of the file `path`."""
        return joined(*(self._called(each, path, arguments) for each in callee))

    def _called(self, callee: Type, path: str, arguments: tuple[int, ...]) -> Value:
        if isinstance(callee, Function):
            return self.returned(callee, path, arguments)
        if isinstance(callee, Class):
            return self._constructed(callee, path, arguments)
        if isinstance(callee, Anonymous):
            return callee.returns
        if isinstance(callee, Instance):
            found = self.member(callee, "__call__")
            if found.members:
                return self.called(self.accessed(found.members[0], callee), path, arguments)
            return self.called(self._call_of(callee), path, arguments) or UNKNOWN
        if isinstance(callee, Outside):
            return self._called_outside(callee, path, arguments)
        if isinstance(callee, TypeParameter) and callee.is_class:
            return (callee._replace(is_class=False),)
        return () if isinstance(callee, Nothing) else UNKNOWN

    def _call_of(self, value: Instance) -> Value:
        """The functions that an interface says its values are."""
        for above in self.order(value.of)[0]:
            written = self.shape(above.of).value
            if written:
                return substitute(self.as_type(above.of.path, written), self.known_arguments(value, above))
        return ()

    def _called_outside(self, callee: Outside, path: str, arguments: tuple[int, ...]) -> Value:
        own = callee.name.rpartition(".")[2]
        if own == "cast" and arguments:
            return self.as_type(path, arguments[0])
        if own in _ANYTHING or callee.name.startswith("typing"):
            return UNKNOWN
        return (callee,)

    def _constructed(self, callee: Class, path: str, arguments: tuple[int, ...]) -> Value:
        if callee.of.path == PREFIX + "builtins":
            name = self.known_source(callee.of.path).symbol(callee.of.symbol).name
            if name == "type" and len(arguments) == 1:
                return classes_of(self.value(path, arguments[0]))
            if name == "property" and arguments:
                return (Getter(self.called(self.value(path, arguments[0]), "", ())),)
            if name in ("staticmethod", "classmethod") and arguments:
                return self.value(path, arguments[0])
        if callee.arguments or callee.is_receiver:
            return (Instance(callee.of, callee.arguments, callee.is_receiver),)
        names = self.type_parameters(callee.of)
        if not names:
            return (Instance(callee.of),)
        known: dict[str, Value] = {}
        made = self.member_of_class(callee.of, self.constructor_of(callee.of), Instance(callee.of))
        for member in made.members:
            own = self._own_names(callee.of, member.owner)
            for name, value in self._solved(member.ref, path, arguments).items():
                known[own.get(name, name)] = value
        if not any(name in known for name in names):
            return (Instance(callee.of),)
        return (Instance(callee.of, tuple(known.get(name, UNKNOWN) for name in names)),)

    def constructor_of(self, of: Ref) -> str:
        """The name of the method that gets the arguments of a constructor."""
        rules = self.known_source(of.path).rules
        if rules is None:
            return "__init__"
        return rules.constructor or self.known_source(of.path).symbol(of.symbol).name

    def taken(self, callee: Type, place: int, path: str, arguments: tuple[int, ...]) -> Value:
        """The parameter of a function at a position of its arguments."""
        if isinstance(callee, Anonymous):
            return callee.parameters[place] if place < len(callee.parameters) else UNKNOWN
        if isinstance(callee, Class):
            made = self.member_of_class(callee.of, self.constructor_of(callee.of), Instance(callee.of))
            made_of = Instance(callee.of, callee.arguments)
            found = (self.taken(Function(each.ref, made_of), place, path, arguments) for each in made.members)
            return joined(*found) or UNKNOWN
        if isinstance(callee, Nothing):
            return ()
        if isinstance(callee, Instance):
            return joined(*(self.taken(each, place, path, arguments) for each in self._call_of(callee))) or UNKNOWN
        if not isinstance(callee, Function):
            return UNKNOWN
        parameters = self.shape(callee.of).parameters
        if place >= len(parameters) and parameters and parameters[-1].gathers == 1:
            place = len(parameters) - 1
        if place >= len(parameters) or not parameters[place].type:
            return UNKNOWN
        wanted = self.as_type(callee.of.path, parameters[place].type)
        known: dict[str, Value] = {}
        receiver = callee.receiver
        if isinstance(receiver, Instance | Class) and (owner := self._owner(callee.of)) is not None:
            known.update(self.known_arguments(receiver, owner))
        if callee.arguments:
            known.update(zip(self.shape(callee.of).type_parameters, callee.arguments, strict=False))
        elif _has_parameters(wanted):
            known = {**self._solved(callee.of, path, arguments), **known}
        return substitute(wanted, known, receiver if isinstance(receiver, Instance | Class) else None)

    def _own_names(self, of: Ref, owner: Ancestor | None) -> dict[str, str]:
        """The type parameters of a class above by the names that they have in a class."""
        if owner is None or owner.of == of:
            return {}
        found = {}
        for name, value in zip(self.type_parameters(owner.of), owner.arguments, strict=False):
            if len(value) == 1 and isinstance(value[0], TypeParameter):
                found[name] = value[0].name
        return found

    # Functions

    def returned(self, function: Function, path: str, arguments: tuple[int, ...]) -> Value:
        """The result of a call of a function."""
        found = self.result_of(function.of)
        receiver = function.receiver
        known: dict[str, Value] = {}
        if isinstance(receiver, Instance | Class):
            owner = self._owner(function.of)
            if owner is not None:
                known.update(self.known_arguments(receiver, owner))
            known["Self"] = (Instance(receiver.of, receiver.arguments, receiver.is_receiver),)
        elif isinstance(receiver, ClassesAbove):
            known["Self"] = (Instance(receiver.of, (), True),)
        if function.arguments:
            known.update(zip(self.shape(function.of).type_parameters, function.arguments, strict=False))
        elif _has_parameters(found):
            known = {**self._solved(function.of, path, arguments), **known}
        return substitute(found, known, receiver if isinstance(receiver, Instance | Class) else None)

    def _owner(self, of: Ref) -> Ancestor | None:
        """The class whose method a function is."""
        owner = self.owner_of(of)
        return Ancestor(owner, ()) if owner is not None else None

    def known_arguments(self, value: Instance | Class, owner: Ancestor) -> Mapping[str, Value]:
        """The values of the type parameters of the class `owner` in a value from which its member is read."""
        names = self.type_parameters(owner.of)
        if not names:
            return {}
        above = next((each for each in self.order(value.of)[0] if each.of == owner.of), None)
        if above is None:
            return {}
        own = dict(zip(self.type_parameters(value.of), value.arguments, strict=False))
        return dict(zip(names, substituted(above.arguments, own), strict=False))

    def result_of(self, of: Ref) -> Value:
        """The result of a function, whatever its arguments are."""
        return self.once(self._returns, of, self._result_of, "result")

    def once(self, kept: dict[K, Value], key: K, make: Callable[[K], Value], kind: str = "") -> Value:
        """The cached answer for a key, or the one that `make` gives. `kind` tells keys of several kinds apart."""
        raise NotImplementedError

    def _result_of(self, of: Ref) -> Value:
        source = self.known_source(of.path)
        shape = source.shape(of.symbol)
        form = shape.form
        if shape.type:
            found = self.as_type(of.path, shape.type)
            if form & Form.CONTEXT:
                return self._context(form, self.yielded(found))
            if form & Form.ASYNCHRONOUS and not form & Form.GENERATOR:
                return self.of_typing("Coroutine", (found,))
            return found
        found = self.value(of.path, shape.value) if shape.value else UNKNOWN
        if form & Form.CONTEXT:
            return self._context(form, found)
        if form & Form.GENERATOR:
            return self.of_typing("AsyncGenerator" if form & Form.ASYNCHRONOUS else "Generator", (found,))
        if form & Form.ABSTRACT:
            return UNKNOWN
        return self.of_typing("Coroutine", (found,)) if form & Form.ASYNCHRONOUS else found

    def yielded(self, value: Value) -> Value:
        """Results of generators."""
        found = []
        for each in value:
            arguments = self.argument_of(each, "Iterable") or self.argument_of(each, "AsyncIterable")
            found.append(arguments[0] if arguments else UNKNOWN)
        return joined(*found)

    def _context(self, form: int, value: Value) -> Value:
        return self.of_typing("AsyncContextManager" if form & Form.ASYNCHRONOUS else "ContextManager", (value,))

    def of_typing(self, name: str, arguments: tuple[Value, ...]) -> Value:
        return tuple(Instance(each, arguments) for each in self.of_library(f"typing.{name}") if isinstance(each, Ref))

    # Decorators

    def decorated(self, of: Ref) -> Value:
        """A function after all its decorators were applied."""
        if not self.shape(of).decorators:
            return (Function(of),)
        return self.once(self._decorated, of, self._decorate, "decorated")

    def _decorate(self, of: Ref) -> Value:
        value: Value = (Function(of),)
        for number in reversed(self.shape(of).decorators[:_ROUNDS]):
            if number == NO_EXPRESSION:
                continue
            made = joined(*(self._applied(each, value) for each in self.value(of.path, number)))
            # A decorator of which nothing is known is taken to keep what it decorates.
            if made and not any(isinstance(each, Unknown | Outside | TypeParameter | Nothing) for each in made):
                value = made
        return value

    def _applied(self, decorator: Type, value: Value) -> Value:
        """The value of a name after a decorator was applied to its function."""
        if isinstance(decorator, Function):
            shape = self.shape(decorator.of)
            found = self.result_of(decorator.of)
            known = self._unified(decorator.of, shape, (value,)) if _has_parameters(found) else {}
            if not shape.type and self._hands_on(decorator.of, found):
                return value
            return substitute(found, known)
        if isinstance(decorator, Class):
            names = self.type_parameters(decorator.of)
            if not names:
                return (Instance(decorator.of),)
            known = {}
            for member in self.member_of_class(decorator.of, "__init__", Instance(decorator.of)).members:
                known.update(self._unified(member.ref, self.shape(member.ref), (value,)))
            return (Instance(decorator.of, tuple(known.get(name, UNKNOWN) for name in names)),)
        if isinstance(decorator, Anonymous):
            return decorator.returns
        if isinstance(decorator, Instance):
            found_call = self.member(decorator, "__call__")
            for member in found_call.members:
                return self._applied(Function(member.ref, decorator), value)
        return UNKNOWN

    def _hands_on(self, of: Ref, found: Value) -> bool:
        """True if a decorator without declared types returns a wrapper of the function it decorates: one that takes any
        arguments."""
        for each in found:
            if isinstance(each, Function) and each.of.path == of.path:
                parameters = self.shape(each.of).parameters
                if {1, 2} <= {parameter.gathers for parameter in parameters}:
                    return True
        return False

    # Type parameters in a call

    def _solved(self, of: Ref, path: str, arguments: tuple[int, ...]) -> dict[str, Value]:
        if not path or not arguments:
            return {}
        values = tuple(self.value(path, each) for each in arguments)
        return self._unified(of, self.shape(of), values)

    def _unified(self, of: Ref, shape: Shape, values: tuple[Value, ...]) -> dict[str, Value]:
        known: dict[str, Value] = {}
        parameters = shape.parameters
        for place, value in enumerate(values):
            if place < len(parameters):
                parameter = parameters[place]
            elif parameters and parameters[-1].gathers == 1:
                parameter = parameters[-1]
            else:
                break
            if parameter.type:
                self.unify(self.as_type(of.path, parameter.type), value, known, 0)
        return known

    def unify(self, wanted: Value, given: Value, known: dict[str, Value], depth: int) -> None:
        """Infer type parameters from a value that is passed for a declared type."""
        if depth > 4:
            return
        for each in wanted:
            if isinstance(each, TypeParameter) and each.is_class:
                of_classes = tuple(Instance(one.of, one.arguments) for one in given if isinstance(one, Class))
                known[each.name] = joined(known.get(each.name, ()), of_classes)
            elif isinstance(each, TypeParameter):
                rest = tuple(one for one in given if not isinstance(one, Nothing)) if len(wanted) > 1 else given
                known[each.name] = joined(known.get(each.name, ()), rest)
            elif isinstance(each, Instance) and each.arguments:
                for one in given:
                    arguments = self._as_above(one, each.of)
                    if each.arguments[1:] == ((Outside("builtins.ellipsis"),),):
                        # A tuple of any length: all that one of a certain length holds.
                        arguments = (joined(*arguments),)
                    for own, other in zip(each.arguments, arguments, strict=False):
                        self.unify(own, other, known, depth + 1)
            elif isinstance(each, Anonymous) and each.returns:
                for one in given:
                    self.unify(each.returns, self._result(one), known, depth + 1)

    def _result(self, value: Type) -> Value:
        if isinstance(value, Function):
            return self.returned(value, "", ())
        if isinstance(value, Class):
            return (Instance(value.of, value.arguments),)
        return value.returns if isinstance(value, Anonymous) else UNKNOWN

    def _as_above(self, value: Type, of: Ref) -> tuple[Value, ...]:
        """The values of the type parameters of a class in an instance of that class or of a subclass."""
        if not isinstance(value, Instance):
            return ()
        if value.of == of:
            return value.arguments
        for above in self.order(value.of)[0]:
            if above.of == of:
                own = dict(zip(self.type_parameters(value.of), value.arguments, strict=False))
                return substituted(above.arguments, own)
        if of.path.startswith(PREFIX) and self.known_source(of.path).symbol(of.symbol).name in _ITERABLES:
            elements = self.iterated((value,))
            return (elements,) if elements else ()
        return ()

    def iterated(self, value: Value) -> Value:
        raise NotImplementedError

    # Parameters

    def parameter_value(self, of: Ref, place: int) -> Value:
        """The values of a parameter, as far as its function declares them."""
        source = self.known_source(of.path)
        parameters = source.shape(of.symbol).parameters
        if place >= len(parameters):
            return UNKNOWN
        parameter = parameters[place]
        found = self.as_type(of.path, parameter.type) if parameter.type else self._inherited(source, of, place)
        if found is None:
            found = self.value(of.path, parameter.default) if parameter.default else UNKNOWN
            if all(isinstance(each, Nothing) for each in found):
                found = UNKNOWN
            elif source.rules is None or not source.rules.types_by_default(of.path):
                # A caller may give anything in place of the default.
                found = joined(found, UNKNOWN)
        if parameter.gathers == 1:
            name = "tuple" if source.rules is None or source.rules.builtins == "builtins" else "Array"
            return self.of_builtin(
                name, (found, (Outside("builtins.ellipsis"),))[: 2 if name == "tuple" else 1], source
            )
        if parameter.gathers == 2:
            return self.of_builtin("dict", (self.of_builtin("str"), found))
        return found

    def _inherited(self, source: Source, of: Ref, place: int) -> Value | None:
        """The declared type of a parameter in the method that this one overrides."""
        symbol = source.symbol(of.symbol)
        if symbol.parent < 0 or source.symbol(symbol.parent).kind != CLASS:
            return None
        parameter = source.shape(of.symbol).parameters[place]
        for above in self.order(Ref(of.path, symbol.parent))[0][1:]:
            other = self.known_source(above.of.path)
            number = other.members(above.of.symbol).get(symbol.name)
            if number is None:
                continue
            if other.symbol(number).kind not in CALLABLES:
                return None
            theirs = other.shape(number).parameters
            if place < len(theirs) and theirs[place].name == parameter.name and theirs[place].type:
                names = self.type_parameters(above.of)
                known = dict(zip(names, above.arguments, strict=False))
                return substitute(self.as_type(above.of.path, theirs[place].type), known)
            return None
        return None


_ITERABLES = frozenset({"Iterable", "Iterator", "Sequence", "Collection", "Reversible"})


def _has_parameters(value: Value) -> bool:
    for each in value:
        if isinstance(each, TypeParameter):
            return True
        if isinstance(each, Instance | Class) and any(map(_has_parameters, each.arguments)):
            return True
        if isinstance(each, Anonymous) and any(map(_has_parameters, (each.returns, *each.parameters))):
            return True
        if isinstance(each, Getter) and _has_parameters(each.gives):
            return True
    return False
