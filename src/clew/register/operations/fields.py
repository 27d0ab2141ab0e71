"""Shared parts of the register's operations: types of fields, the choice of the register, the author of a change,
files."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from clew.errors import InvalidArgument
from clew.formats.register.directory import MAX_BYTES
from clew.operation.call import Call
from clew.operation.declare import Freshness, MaxTokens, Operation, Option, PageCursor, Toolset
from clew.workspace.regular import contents

if TYPE_CHECKING:
    from clew.register.service import RegisterService

Cursor = Annotated[PageCursor, Option(hidden=True)]
Size = Annotated[MaxTokens, Option(hidden=True)]
"""Commands have neither pages nor a budget: they print everything."""


class RegisterOperation(Operation, toolset=Toolset.REGISTER, needs=Freshness.NONE):
    """An operation on the register. It needs no graph: the register is a file of its own."""


def register_of(call: Call) -> "RegisterService":
    """The register that the command line names, or the one of the project."""
    named = call.options.get("file")
    return call.project.register if named is None else register_at(call, str(Path(named).absolute()))


def register_at(call: Call, place: str) -> "RegisterService":
    """The register at a place, whichever registers the project has."""
    from clew.register.service import RegisterService

    return RegisterService.of_project(call.project.config, place)


def without(result: msgspec.Struct, *names: str) -> dict[str, Any]:
    """The data of a result without some of its fields."""
    plain: dict[str, Any] = msgspec.to_builtins(result)
    return {name: value for name, value in plain.items() if name not in names}


def read_input(source: str) -> bytes:
    """A file, or standard input for `-`."""
    if source == "-":
        return sys.stdin.buffer.read()
    try:
        return contents(source, MAX_BYTES)
    except OSError as error:
        raise InvalidArgument(f"'{source}' cannot be read: {error.strerror}.", hint="Check the path.") from error


def read_json(source: str) -> Any:
    """The document in a file, or on standard input."""
    try:
        return msgspec.json.decode(read_input(source))
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidArgument(f"'{source}' is not valid JSON: {error}.", hint="See `clew req schema`.") from error
