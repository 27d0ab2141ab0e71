"""What operations of the register share: types of fields, the register that is meant, who makes a change, files."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument
from clew.formats.register.directory import MAX_BYTES
from clew.formats.register.model import ActorKind
from clew.operation.call import Call
from clew.operation.declare import Freshness, MaxTokens, Operation, Option, PageCursor, Toolset
from clew.operation.one_line import MANY_LINES
from clew.register.change.draft import Author, current_author
from clew.workspace.regular import contents

if TYPE_CHECKING:
    from clew.register.service import RegisterService

StatusWord = Literal["draft", "proposed", "approved", "implemented", "verified", "obsolete"]
KindWord = Literal["functional", "non-functional", "constraint", "interface", "business"]
PriorityWord = Literal["must", "should", "could", "wont"]
LinkWord = Literal["parent", "depends_on", "depends-on", "conflicts", "refines", "verifies"]

AnyId = Annotated[str, Meta(min_length=1, max_length=80, description="REQ-0042; req-42 and 42 mean the same")]
Id = Annotated[AnyId, Option(positional=True)]
Folder = Annotated[str, Meta(min_length=1, description="A folder of the project"), Option(metavar="FOLDER")]
Text = Annotated[str, Meta(max_length=20_000), MANY_LINES]
Texts = tuple[Text, ...]
Reason = Annotated[str, Meta(min_length=1, max_length=20_000, description="Kept in the history"), MANY_LINES]
Revision = Annotated[str, Meta(min_length=1, max_length=400, description="A branch, tag or commit")]
AsJson = Annotated[bool, Meta(description="false: markdown to read"), Option(hidden=True)]
Limit = Annotated[Annotated[int, Meta(ge=1, le=2000)] | None, Meta(description="Items at most"), Option(hidden=True)]
Cursor = Annotated[PageCursor, Option(hidden=True)]
Size = Annotated[MaxTokens, Option(hidden=True)]
"""Commands have neither pages nor a budget: they print everything."""


class RegisterOperation(Operation, toolset=Toolset.REGISTER, needs=Freshness.NONE):
    """An operation on the register. It needs no graph: the register is a file of its own."""


class FilteredOperation(RegisterOperation):
    """An operation on the requirements that pass a filter. All conditions must hold."""

    status: Annotated[StatusWord | None, Meta(description="Only this status")] = None
    kind: Annotated[KindWord | None, Meta(description="Only this kind"), Option("-k")] = None
    priority: Annotated[PriorityWord | None, Meta(description="Only this priority"), Option("-p")] = None
    tag: Annotated[
        tuple[str, ...], Meta(description="All of these tags"), Option(about="only with this tag; may be repeated")
    ] = ()


def register_of(call: Call) -> "RegisterService":
    """The register that the command line names, or the one of the project."""
    named = call.options.get("file")
    return call.project.register if named is None else register_at(call, str(Path(named).absolute()))


def register_at(call: Call, place: str) -> "RegisterService":
    """The register at a place, whichever registers the project has."""
    from clew.register.service import RegisterService

    return RegisterService.of_project(call.project.config, place)


def author_of(call: Call) -> Author:
    """Who makes the changes of a call: over MCP it is an agent, unless the environment says otherwise."""
    if call.surface == "mcp":
        return current_author("MCP", otherwise=ActorKind.AGENT)
    return current_author()


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
