"""What a tool is.

A tool is a value. One record gives the MCP tool, the `clew call` verb and the reference page; nothing registers itself
by being imported. The flat list of all tools stands in `tools/__init__.py`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

if TYPE_CHECKING:
    from clew.operation.call import Call


class Toolset(StrEnum):
    CORE = "core"
    TRACE = "trace"
    REGISTER = "register"
    SPECS = "specs"
    KB = "kb"
    GRAPH = "graph"
    MEMORY = "memory"
    COGNITION = "cognition"


class Freshness(StrEnum):
    """What a tool needs of the graph before it runs."""

    NONE = "none"
    """Nothing: it answers without a graph."""
    BUILT = "built"
    """A graph, as it is."""
    CURRENT = "current"
    """A graph in step with the files: changed files are read first."""


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of a tool. Fields carry their description and bounds in `msgspec.Meta`."""


MaxTokens = Annotated[Annotated[int, Meta(ge=400, le=20_000)] | None, Meta(description="Size at most; default 4,000")]
PageCursor = Annotated[Annotated[str, Meta(max_length=200)] | None, Meta(description="next_cursor of the page before")]


@dataclass(frozen=True, slots=True)
class ResourceRef:
    """A text that the answer points to instead of carrying it."""

    uri: str
    name: str
    size: int
    last_modified: str
    """ISO 8601, UTC."""


class NoArguments(Request, frozen=True, kw_only=True):
    pass


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    """Exactly as the source document spells it; at most 64 characters."""
    toolset: Toolset
    title: str
    description: str
    """When to use it, when not, what comes back at most, and what to call next."""
    request: type[Request]
    result: type[msgspec.Struct]
    """What the handler returns, usually a service's own value. Field names are the keys of the structured answer."""
    run: Callable[["Call", Any], Any]
    """Takes the call and the decoded request, returns a value of `result`. Runs in a worker thread."""
    needs: Freshness = Freshness.CURRENT
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    reaches_others: bool = False
    """Calls other tools: it is as harmless as those it may call, and its handler returns their whole answer."""
    default: bool = False
    """Listed without being asked for."""
    in_profile: bool = True
    """Whether the system that the toolset replaces has it; what Clew adds is not part of that system's profile."""
    trim: tuple[str, ...] = ()
    """Fields of the result that may be shortened to keep the budget, in the order in which they are shortened: lists by
    whole items, texts at the end of a line; `outer.inner` names a field of a field."""
    pages: str | None = None
    """The list field that `limit` and `cursor` page through; the result also has truncated and next_cursor."""
    total: str = "total"
    """The field that says how many items there are on all pages."""
    state: Callable[["Call", Any], str] | None = None
    """What a cursor depends on besides the graph: another value, and the cursor is refused."""
    text: Callable[[Any], str] | None = None
    """Renders the result as text where the JSON itself would read badly."""
    budget: int | None = None
    """Tokens of an answer at most, where the request has no say in it."""
    links: Callable[["Call", Mapping[str, Any]], "tuple[ResourceRef, ...]"] | None = None
    """What the data of an answer points to."""
    schema_version: str | None = None
    """The version of request and result; the same one only ever gains fields."""
    example: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of a useful call on the demo project."""
