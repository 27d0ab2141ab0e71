"""Values as binding knows them: the types that an expression may have, without running it.

They are tuples, and equal ones are one alternative: no two kinds may have the same fields with the same values."""

from typing import NamedTuple


class Ref(NamedTuple):
    """A symbol of the project, or of the library that Clew describes: the path of its file and its number there."""

    path: str
    symbol: int


class Instance(NamedTuple):
    """A value of a class."""

    of: Ref
    arguments: tuple["Value", ...] = ()
    """The values of the type parameters of the class; empty where they are not known."""
    is_receiver: bool = False
    """It stands for the receiver of the method in which it is written: a call replaces it by what the method is called
    on."""


class Class(NamedTuple):
    """A class itself."""

    of: Ref
    arguments: tuple["Value", ...] = ()
    is_receiver: bool = False
    is_class: bool = True


class Function(NamedTuple):
    """A function, and the receiver from which it was read if it is a method."""

    of: Ref
    receiver: "Type | None" = None
    arguments: tuple["Value", ...] = ()
    """What its type parameters stand for, where the call says it."""


class Anonymous(NamedTuple):
    """A callable of which only the result is known."""

    returns: "Value"
    parameters: tuple["Value", ...] = ()
    """The types that it takes, as far as they are declared."""


class RecordValue(NamedTuple):
    """A value with named members of its own: the literal or type that writes them."""

    path: str
    expression: int


class Getter(NamedTuple):
    """A descriptor with the value that it gives when it is read from an instance."""

    gives: "Value"


class ModuleValue(NamedTuple):
    paths: tuple[str, ...]


class ClassesAbove(NamedTuple):
    """The classes above a class, as `super()` gives them."""

    of: Ref
    is_class: bool


class Outside(NamedTuple):
    """Something that the project does not define, by its name with that of its module."""

    name: str


class TypeParameter(NamedTuple):
    name: str
    at: Ref | None = None
    """The variable that declares it."""
    is_class: bool = False
    """The class that it stands for, in place of a value of it."""


class Nothing(NamedTuple):
    """The value without members, `None`."""

    mark: int = 0


class Unknown(NamedTuple):
    """It may be anything."""

    mark: int = 1


Type = (
    Instance
    | Class
    | Function
    | Anonymous
    | RecordValue
    | Getter
    | ModuleValue
    | ClassesAbove
    | Outside
    | TypeParameter
    | Nothing
    | Unknown
)
Value = tuple[Type, ...]
"""One of several; empty where nothing can be there."""

UNKNOWN: Value = (Unknown(),)
NOTHING: Value = (Nothing(),)
MOST_ALTERNATIVES = 16


def joined(*values: Value) -> Value:
    """One of several values, each alternative once."""
    found = dict.fromkeys(each for value in values for each in value)
    return tuple(found)[:MOST_ALTERNATIVES]


def is_known(value: Value) -> bool:
    return bool(value) and not any(isinstance(each, Unknown) for each in value)


def classes_of(value: Value) -> Value:
    """The classes of values."""
    found: list[Value] = []
    for each in value:
        if isinstance(each, Instance):
            found.append((Class(each.of, each.arguments, each.is_receiver),))
        elif isinstance(each, TypeParameter):
            found.append((each._replace(is_class=True),))
        else:
            found.append(UNKNOWN if isinstance(each, Unknown) else (each,))
    return joined(*found)
