"""Classes: their bases, the values of their type parameters, and their members."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from clew.formats.code.facts.expressions import Op
from clew.formats.code.facts.model import CALLED, CLASS, METHOD, Shape
from clew.graph.code.binding.library import PREFIX
from clew.graph.code.binding.namespaces import STATIC, Namespaces, Source
from clew.graph.code.binding.types import (
    UNKNOWN,
    Anonymous,
    Class,
    ClassesAbove,
    Function,
    Getter,
    Instance,
    ModuleValue,
    Outside,
    Ref,
    Type,
    TypeParameter,
    Unknown,
    Value,
    classes_of,
    joined,
)

Substitution = Mapping[str, Value]
_TYPE_VARIABLES = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple"})
_MOST_ABOVE = 200
_DEEPEST_ABOVE = 40
"""Classes above each other whose order is found in one go."""


class Ancestor(NamedTuple):
    """A base of a class, direct or not, with the values of its type parameters there."""

    of: Ref
    arguments: tuple[Value, ...]


class Member(NamedTuple):
    """A symbol that a member access may mean, and the value through which it was found."""

    ref: Ref
    owner: Ancestor | None
    through: Type | None


class Found(NamedTuple):
    members: tuple[Member, ...]
    is_open: bool
    """A class above is not known, so that the member may come from there."""


class Classes(Namespaces):
    """Base classes and members of classes. The bases of a class are found once in a state of the project."""

    def value(self, path: str, expression: int) -> Value:
        """The values of an expression."""
        raise NotImplementedError

    def as_type(self, path: str, expression: int) -> Value:
        """The values of a type that an expression writes."""
        raise NotImplementedError

    def start_classes(self) -> None:
        self._ordering = 0
        self._orders: dict[Ref, tuple[tuple[Ancestor, ...], bool]] = {}
        self._parameters: dict[Ref, tuple[str, ...]] = {}
        self._bases: dict[Ref, tuple[tuple[Value, ...], bool]] = {}
        self._spread: dict[tuple[str, str, str], Ref | None] = {}

    def shape(self, ref: Ref) -> Shape:
        source = self.source(ref.path)
        return source.shape(ref.symbol) if source is not None else Shape()

    def known_source(self, path: str) -> Source:
        source = self.source(path)
        if source is None:
            raise LookupError(path)
        return source

    def is_class(self, ref: Ref) -> bool:
        return self.known_source(ref.path).symbol(ref.symbol).kind == CLASS

    # Type parameters

    def is_type_variable(self, ref: Ref) -> bool:
        """True if a variable is made by `TypeVar` and the like."""
        source = self.known_source(ref.path)
        value = source.expression(source.shape(ref.symbol).value)
        if value[0] != Op.CALL:
            return False
        return self.last_name(source, value[1]) in _TYPE_VARIABLES

    def last_name(self, source: Source, number: int) -> str:
        parts = source.expression(number)
        if parts[0] == Op.GLOBAL:
            return source.name(parts[1])
        if parts[0] == Op.MEMBER:
            return source.name(parts[2])
        return source.facts.imports[parts[1]].name if parts[0] == Op.IMPORT else ""

    def type_parameters(self, of: Ref) -> tuple[str, ...]:
        """The names of the type parameters of a class, in their order."""
        known = self._parameters.get(of)
        if known is None:
            self._parameters[of] = ()
            source = self.known_source(of.path)
            shape = source.shape(of.symbol)
            found: dict[str, None] = dict.fromkeys(shape.type_parameters)
            generic: dict[str, None] = {}
            for base in shape.bases:
                parts = source.expression(base)
                if parts[0] != Op.SUBSCRIPT:
                    continue
                names = [name for each in parts[2:] for name in self._parameters_in(of.path, each)]
                into = generic if self.last_name(source, parts[1]) in ("Generic", "Protocol") else found
                into.update(dict.fromkeys(names))
            known = self._parameters[of] = tuple(generic or found)
        return known

    def _parameters_in(self, path: str, number: int) -> Iterator[str]:
        for each in self.as_type(path, number):
            yield from _names_in((each,))

    # The order of classes

    def order(self, of: Ref) -> tuple[tuple[Ancestor, ...], bool]:
        """A class and its bases in the order in which members are looked for; whether a base is unknown."""
        known = self._orders.get(of)
        if known is not None:
            return known
        if self._ordering > _DEEPEST_ABOVE:
            # Nobody writes such a chain, but a program may.
            return (Ancestor(of, ()),), True
        self._ordering += 1
        try:
            return self._ordered(of)
        finally:
            self._ordering -= 1

    def _ordered(self, of: Ref) -> tuple[tuple[Ancestor, ...], bool]:
        own = tuple((TypeParameter(name),) for name in self.type_parameters(of))
        itself = Ancestor(of, own)
        # A class that is above itself is none: whoever asks meanwhile sees it alone.
        self._orders[of] = ((itself,), False)
        lists: list[list[Ancestor]] = []
        is_open = False
        bases, is_open = self._bases_of(of)
        for value in bases:
            for each in value:
                if isinstance(each, Class) and each.of != of:
                    above, opened = self.order(each.of)
                    is_open = is_open or opened
                    names = self.type_parameters(each.of)
                    known_as = dict(zip(names, each.arguments, strict=False))
                    lists.append([Ancestor(one.of, substituted(one.arguments, known_as)) for one in above])
        rules = self.known_source(of.path).rules
        by_ref = {one.of: one for each in reversed(lists) for one in each}
        refs = [[one.of for one in each] for each in lists]
        ordered = rules.order(of, refs) if rules is not None else (of,)
        classes = [itself, *(by_ref[ref] for ref in ordered[1:_MOST_ABOVE] if isinstance(ref, Ref))]
        self._orders[of] = (tuple(classes), is_open)
        return self._orders[of]

    def _bases_of(self, of: Ref) -> tuple[tuple[Value, ...], bool]:
        """The classes directly above, one value for each place, and whether one is not known."""
        source = self.known_source(of.path)
        shape = source.shape(of.symbol)
        values: list[Value] = []
        is_open = False
        for number in shape.bases:
            value = self.class_value(of.path, number)
            classes = tuple(each for each in value if isinstance(each, Class))
            if not classes:
                is_open = is_open or not _is_special(value)
            values.append(classes[:1])
        return tuple(values), is_open

    def class_value(self, path: str, number: int) -> Value:
        """The values of an expression in the list of a class's bases."""
        source = self.known_source(path)
        parts = source.expression(number)
        if parts[0] == Op.SUBSCRIPT:
            base = self.class_value(path, parts[1])
            arguments = tuple(self.as_type(path, each) for each in parts[2:])
            return tuple(Class(each.of, arguments) if isinstance(each, Class) else each for each in base)
        return self.value(path, number)

    # Members

    def own_member(self, of: Ref, name: str, *, is_static: bool = False) -> Ref | None:
        """The member of a name that a class itself has; in some languages it may stand in another file."""
        source = self.known_source(of.path)
        members = source.members(of.symbol)
        number = members.get(STATIC + name) if is_static else None
        if number is None:
            number = members.get(name)
        plain = name.removesuffix(CALLED)
        field = members.get(plain) if number is None and plain != name else None
        if field is not None and source.symbol(field).kind == METHOD:
            number = field
        if number is not None:
            return Ref(of.path, number)
        if source.rules is not None and source.rules.spread and source.symbol(of.symbol).parent < 0:
            found = self._spread_member(source, source.symbol(of.symbol).name, plain)
            if found is not None:
                return found
        return Ref(of.path, field) if field is not None else None

    def _spread_member(self, source: Source, of: str, name: str) -> Ref | None:
        """A method of a type that stands in another file of its package."""
        key = (source.path, of, name)
        if key not in self._spread:
            self._spread[key] = None
            rules = source.rules
            for each in self.file.named(f"{of}.{name}"):
                ref = Ref(each.path, each.place)
                if each.parent >= 0 or rules is None or not rules.extends(source.path, each.path):
                    continue
                owner = self.owner_of(ref)
                if owner is not None and owner.path == source.path:
                    self._spread[key] = ref
                    break
        return self._spread[key]

    def owner_of(self, ref: Ref) -> Ref | None:
        """The class that a member belongs to."""
        source = self.known_source(ref.path)
        symbol = source.symbol(ref.symbol)
        if symbol.parent >= 0:
            owner = Ref(ref.path, symbol.parent)
            return owner if self.is_class(owner) else None
        if source.rules is None or not source.rules.spread or "." not in symbol.qualname:
            return None
        name = symbol.qualname.partition(".")[0]
        named = (each for path in source.rules.around(ref.path, self) for each in self.in_file(path, name))
        return next((each for each in named if isinstance(each, Ref) and self.is_class(each)), None)

    def member_of_class(self, of: Ref, name: str, through: Type, *, after: Ref | None = None) -> Found:
        """The first member with a name in a class and its bases."""
        order, is_open = self.order(of)
        skip = after is not None
        for above in order:
            if skip:
                skip = above.of != after
                continue
            own = self.own_member(above.of, name, is_static=isinstance(through, Class))
            if own is not None:
                return Found((Member(own, above, through),), False)
        return Found((), is_open)

    def member(self, value: Type, name: str) -> Found:
        """The symbols that a member of a value may mean."""
        if isinstance(value, Instance):
            return self.member_of_class(value.of, name, value)
        if isinstance(value, Class):
            found = self.member_of_class(value.of, name, value)
            if not found.members:
                of_meta = self._of_metaclass(value, name)
                if of_meta is not None:
                    return of_meta
            return found
        if isinstance(value, ClassesAbove):
            return self.member_of_class(value.of, name, value, after=value.of)
        if isinstance(value, Outside | Unknown | TypeParameter | Getter):
            return Found((), True)
        if isinstance(value, Function | Anonymous | ModuleValue):
            return Found((), isinstance(value, Function))
        return Found((), False)

    def _of_metaclass(self, value: Class, name: str) -> Found | None:
        order, _ = self.order(value.of)
        for above in order:
            source = self.known_source(above.of.path)
            number = source.shape(above.of.symbol).metaclass
            for each in self.value(above.of.path, number) if number else ():
                if isinstance(each, Class):
                    return self.member_of_class(each.of, name, Instance(each.of))
                return Found((), True)
        return None

    def form_of(self, of: Ref) -> int:
        """The forms of a class and of all its bases."""
        form = 0
        for above in self.order(of)[0]:
            form |= self.shape(above.of).form
        return form

    def is_below(self, of: Ref, other: Ref) -> bool:
        return any(above.of == other for above in self.order(of)[0])

    def argument_of(self, value: Type, base: str) -> tuple[Value, ...] | None:
        """The values of the type parameters of a class of the library in an instance of a subclass; None elsewhere."""
        if not isinstance(value, Instance):
            return None
        order, _ = self.order(value.of)
        for above in order:
            if above.of.path.startswith(PREFIX):
                source = self.known_source(above.of.path)
                if source.symbol(above.of.symbol).name == base:
                    names = self.type_parameters(value.of)
                    return substituted(above.arguments, dict(zip(names, value.arguments, strict=False)))
        return None


def _is_special(value: Value) -> bool:
    """True if a base is a special form, such as `Generic`, and not a class to look into."""
    return bool(value) and all(
        isinstance(each, Outside) and each.name.rpartition(".")[2] in ("Generic", "Protocol", "object", "ABC")
        for each in value
    )


def _names_in(value: Value) -> Iterator[str]:
    for each in value:
        if isinstance(each, TypeParameter):
            yield each.name
        elif isinstance(each, Instance | Class):
            for argument in each.arguments:
                yield from _names_in(argument)
        elif isinstance(each, Anonymous):
            yield from _names_in(each.returns)
            for parameter in each.parameters:
                yield from _names_in(parameter)


def substituted(values: tuple[Value, ...], known: Substitution) -> tuple[Value, ...]:
    return tuple(substitute(value, known) for value in values) if known else values


def substitute(value: Value, known: Substitution, receiver: Type | None = None) -> Value:
    """A value with values in place of type parameters, and the receiver in place of `Self`."""
    if not known and receiver is None:
        return value
    found: list[Value] = []
    changed = False
    for each in value:
        new = _substitute(each, known, receiver)
        changed = changed or new != (each,)
        found.append(new)
    return joined(*found) if changed else value


def _substitute(each: Type, known: Substitution, receiver: Type | None) -> Value:
    if isinstance(each, TypeParameter):
        found = known.get(each.name)
        if found is None:
            return (each,)
        return classes_of(found) if each.is_class else found
    if isinstance(each, Instance | Class):
        if each.is_receiver and receiver is not None:
            return _received(each, receiver)
        if each.arguments:
            arguments = tuple(substitute(argument, known, receiver) for argument in each.arguments)
            return (each._replace(arguments=arguments),)
    elif isinstance(each, Anonymous):
        parameters = tuple(substitute(parameter, known, receiver) for parameter in each.parameters)
        return (Anonymous(substitute(each.returns, known, receiver), parameters),)
    elif isinstance(each, Getter):
        return (Getter(substitute(each.gives, known, receiver)),)
    return (each,)


def _received(each: Instance | Class, receiver: Type) -> Value:
    """The receiver of a call, as an instance or as a class."""
    if isinstance(each, Instance) and isinstance(receiver, Class):
        return (Instance(receiver.of, receiver.arguments, receiver.is_receiver),)
    if isinstance(each, Class) and isinstance(receiver, Instance):
        return (Class(receiver.of, receiver.arguments, receiver.is_receiver),)
    if isinstance(receiver, ClassesAbove):
        return (each,)
    return (receiver,) if isinstance(receiver, Instance | Class) else UNKNOWN
