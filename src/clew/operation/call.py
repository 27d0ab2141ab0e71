"""Carrying out a tool call: the one path that MCP, the command line and the web share."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
from msgspec import structs

from clew.errors import Cancelled, InvalidArgument
from clew.operation.budget import Budget, fit
from clew.operation.deadline import Deadline
from clew.operation.declare import Operation, overrides
from clew.operation.paging import FARTHEST, Pages
from clew.operation.registry import Freshness, ResourceRef, Tool
from clew.text.choices import as_listed, explained
from clew.text.shortening import shortened

if TYPE_CHECKING:
    from clew.ai.model import Model
    from clew.project import Project

S = TypeVar("S", bound=msgspec.Struct)

Progress = Callable[[int, int, str], None]

AnySurface = Literal["mcp", "cli"]

OWN_SESSION = ""
"""The session of a process that serves one client only: over stdio, or from the command line."""


class Call:
    """What a handler may use besides its request."""

    def __init__(
        self,
        project: "Project",
        tools: Sequence[Tool],
        *,
        progress: Progress | None = None,
        session: str | None = OWN_SESSION,
        client_model: "Model | None" = None,
        scheme: str | None = None,
        surface: AnySurface = "mcp",
        options: Mapping[str, str] | None = None,
    ) -> None:
        self.project = project
        self.surface = surface
        """Where the call comes from: an agent's client, or a person's command line."""
        self.options: Mapping[str, str] = options or {}
        """What the command line says for a whole group of commands, such as which register is meant."""
        self.scheme = scheme or project.config.kb.scheme
        """How the addresses of resources begin."""
        self.session = session
        """Whose call it is, for what outlives a call; None where the transport keeps no sessions."""
        self.client_model = client_model
        """The client's own language model; None where it offers none."""
        self.tools = tools
        """The tools that may be called here."""
        self.tool: Tool | None = None
        """The tool that is being carried out; where one calls another, the inner one."""
        self.offset = 0
        """Where the requested page begins."""
        self._progress = progress
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Ask the handler to stop; called from another thread."""
        self._cancelled.set()

    def check(self) -> None:
        """Raises Cancelled once the caller took the request back. Cheap enough for inner loops."""
        if self._cancelled.is_set():
            raise Cancelled("The call was cancelled.", hint="Nothing was changed.")

    def deadline(self) -> Deadline:
        """How long the answer may take, from now on; it ends with the call as well."""
        return Deadline(self.check, self.project.config.kb.timeout_seconds)

    def pages(
        self, request: msgspec.Struct, *, besides: tuple[str, ...] = ("max_tokens",), lenient: bool = False
    ) -> Pages:
        """The pages of the answer to a request. Arguments in `besides` may change from one page to the next. With
        `lenient`, an empty cursor asks for the first page; otherwise it is refused like any other wrong one."""
        cursor: str | None = getattr(request, "cursor", None)
        if lenient and not cursor:
            cursor = None
        return Pages(self.project.cursors, self._name(request), _question_of(request, besides), cursor)

    def _name(self, request: msgspec.Struct) -> str:
        if self.tool is not None:
            return self.tool.name
        return request.about.tool or request.about.verb or "" if isinstance(request, Operation) else ""

    def progress(self, done: int, total: int, message: str) -> None:
        self.check()
        if self._progress is not None:
            self._progress(done, total, message)


class Answer(msgspec.Struct, frozen=True):
    """A result within its budget."""

    data: dict[str, Any]
    text: str
    links: tuple[ResourceRef, ...] = ()


def carry_out(tool: Tool, arguments: Mapping[str, Any], call: Call) -> Answer:
    """Decode the arguments, run the handler on a graph as fresh as it needs, and keep the answer within bounds."""
    call.tool = tool
    request = decode(tool, arguments)
    if tool.reaches_others:
        answer: Answer = tool.run(call, request)
        return answer
    if tool.needs is Freshness.NONE:
        return _answer(tool, request, _fitted(tool, request, tool.run(call, request), call), call)
    call.project.ensure_graph(call.progress, current=tool.needs is Freshness.CURRENT)
    with call.project.lock.reading():
        if tool.pages is None:
            return _answer(tool, request, _fitted(tool, request, tool.run(call, request), call), call)
        return _page(tool, request, call)


def perform(request: Operation, call: Call) -> Any:
    """Run an operation for the command line: on a graph as fresh as it needs, and without a budget."""
    about, project = request.about, call.project
    if about.needs is Freshness.NONE:
        return request.run(call)
    project.ensure_graph(call.progress, current=about.needs is Freshness.CURRENT)
    with project.lock.reading():
        return request.run(call) if about.pages is None else _listed_page(request, call)


def _listed_page(request: Operation, call: Call) -> Any:
    about, pages = request.about, call.pages(request)
    call.offset = pages.begin(_state_of(request, call))
    result = request.run(call)
    end = call.offset + len(getattr(result, about.pages or ""))
    if end >= getattr(result, about.total):
        return result
    return structs.replace(result, truncated=True, next_cursor=pages.cursor_to(end, _state_of(request, call)))


def _state_of(request: Operation, call: Call) -> str:
    """What a cursor depends on: the graph, and what the operation names besides."""
    return f"{call.project.graph.state.fingerprint} {request.state(call)}".rstrip()


def _question_of(request: msgspec.Struct, besides: tuple[str, ...]) -> dict[str, Any]:
    """What a cursor is bound to: the arguments without the cursor, and without what only says how they are shown."""
    asked: dict[str, Any] = msgspec.to_builtins(request)
    return {name: value for name, value in asked.items() if name not in ("cursor", *besides)}


def _page(tool: Tool, request: msgspec.Struct, call: Call) -> Answer:
    """Run a handler that lists, from where the cursor points."""
    pages, state = call.pages(request), _listed_state(tool, request, call)
    call.offset = pages.begin(state)
    # The longest cursor there is holds the place of the one that is known only when the page is cut.
    data = _fitted(tool, request, tool.run(call, request), call, next_cursor=pages.cursor_to(FARTHEST, state))
    end = call.offset + len(data[tool.pages or ""])
    more = end < data[tool.total]
    data["truncated"] = more or data["truncated"]
    # The handler itself may have brought what it lists in step.
    data["next_cursor"] = pages.cursor_to(end, _listed_state(tool, request, call)) if more else None
    return _answer(tool, request, data, call)


def _listed_state(tool: Tool, request: msgspec.Struct, call: Call) -> str:
    """What a cursor depends on: the graph, and what the tool names besides."""
    state = call.project.graph.state.fingerprint
    return state if tool.state is None else f"{state} {tool.state(call, request)}"


def _fitted(tool: Tool, request: msgspec.Struct, result: msgspec.Struct, call: Call, **place: Any) -> dict[str, Any]:
    call.check()
    data = {**msgspec.to_builtins(result), **place}
    asked = tool.budget or getattr(request, "max_tokens", None)
    return fit(data, tool.trim, Budget.of(asked), paged=tool.pages)


def _answer(tool: Tool, request: msgspec.Struct, data: dict[str, Any], call: Call) -> Answer:
    if isinstance(request, Operation):
        # The text shows what is left of the result once it keeps the budget.
        shown = msgspec.convert(data, tool.result) if overrides(type(request), "text") else data
        return Answer(data, request.text(shown), request.links(call, data))
    links = tool.links(call, data) if tool.links is not None else ()
    if tool.text is None:
        return Answer(data, msgspec.json.encode(data).decode(), links)
    return Answer(data, tool.text(msgspec.convert(data, tool.result)), links)


def decode(tool: Tool, arguments: Mapping[str, Any]) -> msgspec.Struct:
    """The arguments as the tool's request type, or an error that says which one breaks which rule."""
    return decode_as(tool.request, arguments, tool.name)


def decode_as(type_: type[S], arguments: Mapping[str, Any], name: str) -> S:
    """The same for any struct; `name` says whose arguments they are."""
    if not isinstance(arguments, Mapping):
        raise InvalidArgument(
            f"{name} takes an object of named arguments, got {type(arguments).__name__}.",
            hint=f"Arguments of {name}: {_signature(type_)}.",
        )
    known = type_.__struct_encode_fields__
    for argument in arguments:
        if argument not in known:
            close = get_close_matches(str(argument)[:80], known, n=1)
            raise InvalidArgument(
                f"{name} has no argument '{shortened(str(argument))}'.",
                hint=(f"Did you mean '{close[0]}'? " if close else "") + f"Arguments: {_signature(type_)}.",
            )
    try:
        return msgspec.convert(dict(arguments), type_)
    except msgspec.ValidationError as error:
        # To JSON, 5.0 is a whole number; and a word that can only mean one of its choices means that.
        with suppress(msgspec.ValidationError):
            return msgspec.convert(as_listed(type_, _with_whole_numbers(dict(arguments))), type_)
        raise InvalidArgument(
            f"{name}: {_named(explained(error, type_, arguments))}.", hint=f"Arguments: {_signature(type_)}."
        ) from error


def _with_whole_numbers(value: Any) -> Any:
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {key: _with_whole_numbers(each) for key, each in value.items()}
        case list():
            return [_with_whole_numbers(each) for each in value]
    return value


def _named(problem: str) -> str:
    return f"argument {problem}" if problem.startswith("'") else problem


def signature(tool: Tool) -> str:
    """The arguments in one line, optional ones with a question mark."""
    return _signature(tool.request)


def _signature(type_: type[msgspec.Struct]) -> str:
    known = msgspec.structs.fields(type_)
    return ", ".join(field.encode_name if field.required else f"{field.encode_name}?" for field in known) or "none"
