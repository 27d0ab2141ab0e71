"""Carrying out a tool call: the one path that MCP, the command line and the web share."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
from msgspec import structs

from clew.errors import Cancelled, InvalidArgument
from clew.operation.budget import Budget, fit
from clew.operation.deadline import Deadline
from clew.operation.declare import Freshness, Operation, ResourceRef, overrides, result_of
from clew.operation.listing import Listed
from clew.operation.paging import FARTHEST, Pages
from clew.text.choices import as_listed, choices, explained
from clew.text.shortening import shortened

if TYPE_CHECKING:
    from clew.ai.model import Model
    from clew.kb.boundary import Boundary, ScopeRequest
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
        project: "Project | None",
        tools: Sequence[Listed],
        *,
        progress: Progress | None = None,
        session: str | None = OWN_SESSION,
        credential: str = "",
        client_model: "Model | None" = None,
        scheme: str | None = None,
        surface: AnySurface = "mcp",
        as_data: bool = True,
        options: Mapping[str, str] | None = None,
    ) -> None:
        self._project = project
        self.surface = surface
        """Where the call comes from: an agent's client, or a person's command line."""
        self.as_data = as_data
        """Whether the caller reads the data of the result; False where a command prints what `render` makes of it."""
        self.options: Mapping[str, str] = options or {}
        """What the command line says for a whole group of commands, such as which register is meant."""
        self.scheme = scheme or (project.config.kb.scheme if project is not None else "")
        """How the addresses of resources begin."""
        self.session = session
        """Whose call it is, for what outlives a call; None where the transport keeps no sessions."""
        self.credential = credential
        """Names the token that the caller showed; empty where it showed none. What a call leaves behind can be reached
        with the same token only."""
        self.client_model = client_model
        """The client's own language model; None where it offers none."""
        self.tools = tools
        """The tools that may be called here."""
        self.tool: Listed | None = None
        """The tool that is being carried out; where one calls another, the inner one."""
        self.offset = 0
        """Where the requested page begins."""
        self.scope: ScopeRequest | None = None
        """Which documents the caller wants to be seen; None for all that the configuration admits."""
        self.deadline = Deadline(self.check, float("inf"))
        """When the answer has to be ready; for an operation on documents the configuration says it."""
        self.notes: tuple[str, ...] = ()
        """What the answer may lack, because files could not be read in time."""
        self._progress = progress
        self._cancelled = threading.Event()

    @property
    def project(self) -> "Project":
        assert self._project is not None  # noqa: S101 - only what declares that it works without one is called without
        return self._project

    @property
    def root(self) -> Path:
        """The folder of the project; the current one without a project."""
        return self._project.config.root if self._project is not None else Path()

    @property
    def boundary(self) -> "Boundary":
        """Which documents may be seen; a scope beyond what the configuration admits is refused."""
        return self.project.kb.boundary(self.scope)

    def cancel(self) -> None:
        """Ask the handler to stop; called from another thread."""
        self._cancelled.set()

    def check(self) -> None:
        """Raises Cancelled once the caller took the request back. Cheap enough for inner loops."""
        if self._cancelled.is_set():
            raise Cancelled("The call was cancelled.", hint="Nothing was changed.")

    def pages(
        self, request: msgspec.Struct, *, besides: tuple[str, ...] = ("max_tokens",), strict: bool = False
    ) -> Pages:
        """The pages of the answer to a request. Arguments in `besides` may change from one page to the next. An empty
        cursor asks for the first page; where that is `strict`, it is refused like any other wrong one."""
        cursor: str | None = getattr(request, "cursor", None)
        if not strict:
            cursor = cursor or None
        return Pages(self.project.context.cursors, self._name(request), _question_of(request, besides), cursor)

    def _name(self, request: msgspec.Struct) -> str:
        if self.tool is not None:
            return self.tool.original or self.tool.name
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


def carry_out(tool: Listed, arguments: Mapping[str, Any], call: Call) -> Answer:
    """Carry out a tool call: the arguments are decoded, and the operation answers within its bounds."""
    call.tool = tool
    return answer(decode_as(tool.operation, arguments, tool.name), call)


def answer(request: Operation, call: Call) -> Answer:
    """Run an operation on a project as fresh as it needs, and keep the answer within its budget."""
    about = request.about
    if about.reaches_others:
        others: Answer = request.run(call)
        return others
    early = request.answer_early(call)
    if early is not None:
        return _answer(request, _fitted(request, early, call), call)
    with _ready(about.needs, request, call):
        if about.pages is None or about.needs is Freshness.NONE:
            return _answer(request, _fitted(request, request.run(call), call), call)
        return _page(request, call)


def perform(request: Operation, call: Call) -> Any:
    """Run an operation for the command line: on a graph as fresh as it needs, and without a budget."""
    early = request.answer_early(call)
    if early is not None:
        return early
    about = request.about
    with _ready(about.needs, request, call):
        if about.pages is None or about.needs is Freshness.NONE:
            return request.run(call)
        return _listed_page(request, call)


_WITHOUT_GRAPH = (Freshness.NONE, Freshness.PASSAGES, Freshness.DOCUMENTS)
_ON_DOCUMENTS = (Freshness.PASSAGES, Freshness.DOCUMENTS, Freshness.DOCUMENT_GRAPH)


@contextmanager
def _ready(needs: Freshness, request: msgspec.Struct, call: Call) -> Iterator[None]:
    """The project as an operation needs it. While an operation on the graph runs, nobody changes the graph."""
    if needs is Freshness.NONE:
        yield
        return
    project = call.project
    if needs in _ON_DOCUMENTS:
        call.scope = getattr(request, "scope", None)
        # What may not be asked for is refused before anything is read for it.
        _ = call.boundary
    if needs in _ON_DOCUMENTS[1:]:
        call.notes = project.kb.refresh(call.progress, wait=call.surface == "cli")
    if needs not in _WITHOUT_GRAPH:
        project.ensure_graph(call.progress, current=needs is not Freshness.BUILT)
    if needs in _ON_DOCUMENTS:
        # Reading files takes as long as it takes; the time limit is for the answer.
        call.deadline = Deadline(call.check, project.config.kb.timeout_seconds)
    if needs in _WITHOUT_GRAPH:
        yield
        return
    with project.context.lock.reading():
        yield


def _listed_page(request: Operation, call: Call) -> Any:
    about, pages = request.about, call.pages(request, strict=True)
    call.offset = pages.start(_state_of(request, call))
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


def _page(request: Operation, call: Call) -> Answer:
    """Run an operation that lists, from where the cursor points."""
    about, pages, state = request.about, call.pages(request, strict=True), _state_of(request, call)
    call.offset = pages.start(state)
    # The longest cursor there is holds the place of the one that is known only when the page is cut.
    data = _fitted(request, request.run(call), call, next_cursor=pages.cursor_to(FARTHEST, state))
    end = call.offset + len(data[about.pages or ""])
    more = end < data[about.total]
    data["truncated"] = more or data["truncated"]
    # The operation itself may have brought what it lists in step.
    data["next_cursor"] = pages.cursor_to(end, _state_of(request, call)) if more else None
    return _answer(request, data, call)


def _fitted(request: Operation, result: msgspec.Struct, call: Call, **place: Any) -> dict[str, Any]:
    call.check()
    about = request.about
    data = {**msgspec.to_builtins(result), **place}
    asked = about.budget or getattr(request, "max_tokens", None)
    return fit(data, about.trim, Budget.of(asked), paged=about.pages)


def _answer(request: Operation, data: dict[str, Any], call: Call) -> Answer:
    # The text shows what is left of the result once it keeps the budget.
    shown = msgspec.convert(data, result_of(type(request))) if overrides(type(request), "text") else data
    return Answer(data, request.text(shown), request.links(call, data))


def decode_as(type_: type[S], arguments: Mapping[str, Any], name: str, *, help_text: str | None = None) -> S:
    """The arguments as a struct, or an error that says which one breaks which rule. `name` says whose arguments they
    are, and `help_text` where to learn about them."""
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
                hint=_did_you_mean(close) + (help_text or _about_arguments(type_)),
            )
    try:
        return msgspec.convert(dict(arguments), type_)
    except msgspec.ValidationError as error:
        # To JSON, 5.0 is a whole number; and a word that can only mean one of its choices means that.
        with suppress(msgspec.ValidationError):
            return msgspec.convert(as_listed(type_, _with_whole_numbers(dict(arguments))), type_)
        raise InvalidArgument(
            f"{name}: {_named(explained(error, type_, arguments))}.",
            hint=_suggestion(type_, arguments) + (help_text or _about_arguments(type_)),
        ) from error


def _suggestion(type_: type[msgspec.Struct], arguments: Mapping[str, Any]) -> str:
    """The choice that a misspelled value may mean."""
    for name, value in arguments.items():
        allowed = choices(type_, name)
        if isinstance(value, str) and allowed and value not in allowed:
            return _did_you_mean(get_close_matches(value[:80].lower(), allowed, n=1))
    return ""


def _did_you_mean(close: Sequence[str]) -> str:
    return f"Did you mean '{close[0]}'? " if close else ""


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


def _about_arguments(type_: type[msgspec.Struct]) -> str:
    return f"Arguments: {_signature(type_)}."


def _signature(type_: type[msgspec.Struct]) -> str:
    known = msgspec.structs.fields(type_)
    return ", ".join(field.encode_name if field.required else f"{field.encode_name}?" for field in known) or "none"
