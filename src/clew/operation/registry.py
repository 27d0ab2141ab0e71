"""What a tool is.

A tool is a value. One record gives the MCP tool, the `clew call` verb and the reference page; nothing registers itself
by being imported. The flat list of all tools stands in `tools/__init__.py`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from clew.operation.declare import (
    Freshness,
    MaxTokens,
    Operation,
    PageCursor,
    ResourceRef,
    Toolset,
    description_of,
    overrides,
    result_of,
)

if TYPE_CHECKING:
    from clew.operation.call import Call


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of a tool. Fields carry their description and bounds in `msgspec.Meta`."""


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
    request: type[msgspec.Struct]
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

    @property
    def signature(self) -> str:
        """The arguments in one line, optional ones with a question mark."""
        known = msgspec.structs.fields(self.request)
        return ", ".join(each.encode_name if each.required else f"{each.encode_name}?" for each in known) or "none"


def tool_of(operation: type[Operation]) -> Tool:
    """An operation as a record beside those that are not declared as operations yet."""
    about = operation.about
    return Tool(
        name=about.tool or f"clew {about.verb}",
        toolset=about.toolset,
        title=about.title,
        description=description_of(operation),
        request=operation,
        result=result_of(operation),
        run=lambda call, request: request.run(call),
        needs=about.needs,
        read_only=not about.writes,
        destructive=about.destructive,
        idempotent=about.idempotent,
        reaches_others=about.reaches_others,
        default=about.default,
        in_profile=about.in_profile,
        trim=about.trim,
        pages=about.pages,
        total=about.total,
        state=(lambda call, request: request.state(call)) if overrides(operation, "state") else None,
        budget=about.budget,
        links=(lambda call, data: ()) if overrides(operation, "links") else None,
        schema_version=about.schema_version,
        example=about.example,
    )


__all__ = [
    "Freshness",
    "MaxTokens",
    "NoArguments",
    "PageCursor",
    "Request",
    "ResourceRef",
    "Tool",
    "Toolset",
    "tool_of",
]
