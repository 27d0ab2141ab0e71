"""The options of a command, made from the fields of an operation, and the way back to its arguments.

The parser only tells words apart. Whether a value is allowed is decided where the arguments are decoded: there a
command refuses exactly what a tool refuses, and with the same words.
"""

import argparse
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument
from clew.operation.budget import EVERYTHING
from clew.operation.declare import Operation, Option, completes, overrides

_BOUNDS = ("limit", "max_tokens")
"""The fields that bound the answer of a tool."""

Request = TypeVar("Request", bound=Operation)


class FieldShape(msgspec.Struct, frozen=True):
    """A field of an operation as an option of its command."""

    option: Option
    description: str
    kind: type
    many: bool
    choices: tuple[str, ...]
    is_flag: bool


def add_options(parser: argparse.ArgumentParser, operation: type[Operation]) -> None:
    """An option or a positional argument for every field that is not hidden."""
    hints = get_type_hints(operation, include_extras=True)
    exclusive: argparse._ActionsContainer | None = None
    for field in msgspec.structs.fields(operation):
        shape = _shape(hints[field.name])
        if shape.option.exclusive:
            exclusive = exclusive or parser.add_mutually_exclusive_group()
        if _is_offered(operation, field.name, shape):
            container = exclusive if exclusive and shape.option.exclusive else parser
            _add(container, field, shape, required=_is_required(operation, field, shape.option))


def _is_offered(operation: type[Operation], name: str, shape: FieldShape) -> bool:
    return not shape.option.hidden and name not in operation.about.hidden


def _is_required(operation: type[Operation], field: msgspec.structs.FieldInfo, option: Option) -> bool:
    return field.required and option.needed is None and option.default is None and not completes(operation)


def writes_json(operation: type[Operation]) -> bool:
    """True if the operation writes a document in formats of which JSON is one, and has no other JSON."""
    if not overrides(operation, "document") or overrides(operation, "data"):
        return False
    hints = get_type_hints(operation, include_extras=True)
    return "format" in hints and "json" in _shape(hints["format"]).choices


def arguments_of(operation: type[Operation], given: argparse.Namespace) -> dict[str, Any]:
    """The options that were given, under the argument names of the tool. The others are left out, so that each default
    is declared in one place."""
    hints = get_type_hints(operation, include_extras=True)
    arguments: dict[str, Any] = {}
    for field in msgspec.structs.fields(operation):
        option = _shape(hints[field.name]).option
        value = getattr(given, field.name, None)
        value = option.default if value is None else value
        is_blank = option.needed is not None and not "".join(value or ()).strip()
        if value is None or is_blank or (isinstance(value, list) and not value):
            if field.required and option.needed is not None:
                message, hint = (each.format(command=f"clew {operation.about.verb}") for each in option.needed)
                raise InvalidArgument(message, hint=hint)
            continue
        arguments[field.encode_name] = " ".join(value) if option.joined else value
    return arguments


def words_of(operation: type[Operation], arguments: Mapping[str, str]) -> list[str] | None:
    """The words by which a command line gives these arguments; None if the command does not take one of them."""
    hints = get_type_hints(operation, include_extras=True)
    known = {field.encode_name: field for field in msgspec.structs.fields(operation)}
    words: list[str] = []
    for name, value in arguments.items():
        shape = _shape(hints[known[name].name]) if name in known else None
        if shape is None or not _is_offered(operation, known[name].name, shape):
            return None
        if not shape.option.positional:
            words.append(_flags(known[name], shape.option)[-1])
        if not shape.is_flag:
            words.append(value)
    return words


def without_bounds(request: Request) -> Request:
    """The request with its limits lifted, for a command that answers with everything, unless an option of the command
    sets them."""
    operation = type(request)
    hints = get_type_hints(operation, include_extras=True)
    bounds = [name for name in _BOUNDS if name in hints and not _is_offered(operation, name, _shape(hints[name]))]
    return msgspec.structs.replace(request, **dict.fromkeys(bounds, EVERYTHING))


def _add(
    parser: argparse._ActionsContainer, field: msgspec.structs.FieldInfo, shape: FieldShape, *, required: bool
) -> None:
    option, about = shape.option, _help(field, shape)
    more: dict[str, Any] = {"help": about}
    if option.metavar:
        more["metavar"] = option.metavar
    elif shape.choices:
        more["metavar"] = f"{{{','.join(shape.choices)}}}"
    if shape.kind in (int, float):
        more["type"] = shape.kind
    if option.positional:
        is_required = field.required and option.needed is None
        if option.joined or shape.many:
            more["nargs"] = "+" if is_required else "*"
        elif not is_required:
            more["nargs"] = "?"
        parser.add_argument(field.name, **more)
        return
    flags = _flags(field, option)
    if field.name == "cursor":
        # Scripts that read JSON pass it on; people use --page.
        more["help"] = argparse.SUPPRESS
    more.setdefault("metavar", flags[-1].lstrip("-").replace("-", "_").upper())
    if shape.is_flag:
        more.pop("metavar", None)
        if field.default is None:
            parser.add_argument(*flags, dest=field.name, action=argparse.BooleanOptionalAction, **more)
        else:
            parser.add_argument(*flags, dest=field.name, action="store_const", const=field.default is not True, **more)
            if field.default is True:
                # What holds anyway may be said, too.
                plain = f"--{_spelled(field)}"
                parser.add_argument(
                    plain, dest=field.name, action="store_const", const=True, help=argparse.SUPPRESS
                )  # fmt: skip
    elif shape.many:
        parser.add_argument(*flags, dest=field.name, action="append", required=required, **more)
    else:
        parser.add_argument(*flags, dest=field.name, required=required, **more)


def _flags(field: msgspec.structs.FieldInfo, option: Option) -> tuple[str, ...]:
    spelled = _spelled(field)
    if any(flag.startswith("--") for flag in option.flags):
        return option.flags
    return (*option.flags, f"--no-{spelled}" if field.default is True else f"--{spelled}")


def _spelled(field: msgspec.structs.FieldInfo) -> str:
    return field.encode_name.rstrip("_").replace("_", "-")


def _help(field: msgspec.structs.FieldInfo, shape: FieldShape) -> str:
    if shape.option.about:
        return _escaped(shape.option.about)
    about = shape.description
    about = about[:1].lower() + about[1:] if about[1:2].islower() or about[1:2] == " " else about
    default = field.default if shape.option.default is None else shape.option.default
    if shape.is_flag or field.required or default in (None, "", msgspec.NODEFAULT) or shape.many:
        return _escaped(about)
    return _escaped(f"{about} (default: {default})")


def _escaped(text: str) -> str:
    # argparse formats help with `%`.
    return text.replace("%", "%%")


def _shape(hint: Any) -> FieldShape:
    option: Option | None = None
    description = ""
    while get_origin(hint) is Annotated:
        hint, *marks = get_args(hint)
        option = next((mark for mark in marks if isinstance(mark, Option)), option)
        described = (mark.description for mark in marks if isinstance(mark, Meta) and mark.description)
        description = description or next(described, "")
        if _optional(hint) is not None:
            hint = _optional(hint)
    if _optional(hint) is not None:
        inner = _shape(_optional(hint))
        return msgspec.structs.replace(
            inner, option=option or inner.option, description=description or inner.description
        )
    option = option or Option()
    if get_origin(hint) in (tuple, list):
        inner = _shape(get_args(hint)[0])
        return FieldShape(option, description or inner.description, inner.kind, True, inner.choices, False)
    if get_origin(hint) is Literal:
        return FieldShape(option, description, str, False, tuple(map(str, get_args(hint))), False)
    kind = hint if isinstance(hint, type) else str
    return FieldShape(option, description, kind, False, (), kind is bool)


def _optional(hint: Any) -> Any:
    """The type in `X | None`; None for anything else."""
    if get_origin(hint) not in (Union, UnionType):
        return None
    others = [each for each in get_args(hint) if each is not NoneType]
    return others[0] if len(others) == 1 and len(others) < len(get_args(hint)) else None
