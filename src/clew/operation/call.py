"""Carrying out a tool call: the one path for MCP, the command line and the page."""

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import msgspec
from msgspec import structs

from clew.errors import Cancelled, ClewError, InvalidArgument, StoreCorrupt, TimedOut
from clew.operation.budget import EVERYTHING, Budget, fit
from clew.operation.declare import Freshness, Operation, ResourceRef, Toolset, result_of
from clew.operation.flagging import flagged_places, note_of, with_flags
from clew.operation.listing import ListedOperation
from clew.operation.one_line import problem_with_lines
from clew.operation.paging import WIDEST, Pages
from clew.text.choices import as_listed, choices, explained
from clew.text.display import shortened

if TYPE_CHECKING:
    from clew.ai.model import LanguageModel
    from clew.kb.boundary import Boundary, ScopeRequest
    from clew.project import Project


class Deadline:
    """One deadline for a whole call: a walk or a search looks at it between its steps."""

    def __init__(
        self, check: Callable[[], None], seconds: float, *, monotonic: Callable[[], float] | None = None
    ) -> None:
        self._check = check
        self._seconds = seconds
        self._monotonic = monotonic or time.monotonic
        self._began = self._monotonic()
        self.step = "start"
        """The step that is under way, for the message of a timeout."""

    def __call__(self) -> None:
        """Raises Cancelled after the caller cancelled, and TimedOut after the deadline."""
        self._check()
        if self._monotonic() - self._began > self._seconds:
            raise TimedOut(
                f"The answer was not ready after {self._seconds:g} s (step: {self.step}).",
                hint="Ask for less, or raise kb.timeout_seconds in clew.toml.",
                data={"limit_ms": round(self._seconds * 1000), "step": self.step},
            )

    def elapsed_ms(self) -> int:
        return round((self._monotonic() - self._began) * 1000)


S = TypeVar("S", bound=msgspec.Struct)

Progress = Callable[[int, int, str], None]

AnySurface = Literal["mcp", "cli", "web"]

OWN_SESSION = ""
"""The session of a process that serves one client only: over stdio, or from the command line."""


class Call:
    """Request context of one call: project, caller, deadline, progress."""

    def __init__(
        self,
        project: "Project | None",
        tools: Sequence[ListedOperation],
        *,
        progress: Progress | None = None,
        session: str | None = OWN_SESSION,
        credential: str = "",
        client_model: "LanguageModel | None" = None,
        scheme: str | None = None,
        surface: AnySurface = "mcp",
        as_data: bool = True,
        whole: bool = False,
        says_once: bool = False,
        options: Mapping[str, str] | None = None,
        folder: Path | None = None,
        protocol_version: str | None = None,
    ) -> None:
        self._folder = folder
        self.protocol_version = protocol_version
        """The version of MCP that the client speaks; None where the caller speaks none."""
        self.project = cast("Project", project)
        """None only for an operation that declares that it works without a project."""
        self.root = project.config.root if project is not None else Path()
        """The folder of the project; the current one without a project."""
        self.surface = surface
        """The source of the call: an agent's client, a person's command line or a person's browser."""
        self.whole = whole
        """True if the caller does not page and gets everything at once, whatever its length."""
        self.says_once = says_once
        """The caller is an agent that knows no other system's fields: nothing empty or repeated is sent."""
        self.as_data = as_data
        """True if the caller reads the data of the result; False where a command prints its `render`."""
        self.options: Mapping[str, str] = options or {}
        """Options of a whole group of commands, such as the register to use."""
        self.scheme = scheme or (project.config.kb.scheme if project is not None else "")
        """The scheme of the addresses of resources."""
        self.session = session
        """The session of the caller, for state that outlives a call; None where the transport keeps no sessions."""
        self.credential = credential
        """A name for the caller's token; empty without one. State that a call leaves behind is reached with the same
        token only."""
        self.client_model = client_model
        """The client's own language model; None where it offers none."""
        self.tools = tools
        """The tools that may be called here."""
        self.tool: ListedOperation | None = None
        """The tool that is being carried out; where one calls another, the inner one."""
        self.offset = 0
        """The number of the first item on the requested page."""
        self.begin_at: int | None = None
        """The same number as a person gave it; None where a cursor says it."""
        self.scope: ScopeRequest | None = None
        """The documents that the caller wants to be searched; None for all that the configuration admits."""
        self.deadline: Deadline
        """The deadline of an operation on documents, as configured."""
        self.notes: tuple[str, ...] = ()
        """Notes on gaps in the answer, such as files that were not read in time."""
        self.news: str | None = None
        """A message for a person beside the answer, such as that the search index is being built."""
        self._progress = progress
        self._is_cancelled = False

    @property
    def is_lenient(self) -> bool:
        """True if an agent may call the register's tools as freely as req allows; the project configures it."""
        tool, project = self.tool, self.project
        if tool is None or project is None or tool.toolset is not Toolset.REGISTER or self.surface != "mcp":
            return False
        return project.config.register.compat == "strict"

    @property
    def boundary(self) -> "Boundary":
        """The documents that may be searched; a scope beyond the configured one is refused."""
        return self.project.kb.boundary(self.scope)

    @property
    def folder(self) -> Path:
        """The folder from which a person names files."""
        return self._folder if self._folder is not None else Path.cwd()

    def cancel(self) -> None:
        """Ask the handler to stop; called from another thread."""
        self._is_cancelled = True

    def check(self) -> None:
        """Raises Cancelled after the caller cancelled. Cheap enough for inner loops."""
        if self._is_cancelled:
            raise Cancelled("The call was cancelled.", hint="Nothing was changed.")

    def pages(
        self, request: msgspec.Struct, *, besides: tuple[str, ...] = ("max_tokens",), strict: bool = False
    ) -> Pages:
        """The pages of the answer to a request. Arguments in `besides` may change from one page to the next. An empty
        cursor asks for the first page; where that is `strict`, it is refused like any other wrong one."""
        cursor: str | None = getattr(request, "cursor", None)
        if not strict:
            cursor = cursor or None
        name = (self.tool.original or self.tool.tool) if self.tool is not None else None
        if name is None and isinstance(request, Operation):
            name = request.about.tool or request.about.verb
        # A cursor is bound to the arguments without itself, and without what only says how they are shown.
        question = msgspec.to_builtins(request)
        for argument in ("cursor", *besides):
            question.pop(argument, None)
        return Pages(self.project.context.cursors, name or "", question, cursor)

    def progress(self, done: int, total: int, message: str) -> None:
        self.check()
        if self._progress is not None:
            self._progress(done, total, message)


class Answer(msgspec.Struct, frozen=True):
    """A result within its budget."""

    data: dict[str, Any]
    text: str
    links: tuple[ResourceRef, ...] = ()


def carry_out(tool: ListedOperation, arguments: Mapping[str, Any], call: Call) -> Answer:
    """Carry out a tool call: the arguments are decoded, and the operation answers within its bounds."""
    call.tool = tool
    began, error = time.monotonic(), ""
    try:
        given = _understood(tool.operation, arguments) if call.is_lenient else arguments
        return answer(decode_as(tool.operation, given, tool.tool or ""), call)
    except ClewError as refused:
        error = refused.code
        raise
    except Exception:
        error = "internal"
        raise
    finally:
        if call.project is not None:
            call.project.context.calls.note(tool.name, arguments, call.session, time.monotonic() - began, error)


def answer(request: Operation, call: Call) -> Answer:
    """Carry out an operation whose arguments are decoded, and keep the answer within its budget."""
    if request.about.reaches_others:
        others: Answer = request.run(call)
        return others
    result, bounded = _performed(request, call, _within_budget)
    data = bounded
    if call.whole:
        data = {name: value for name, value in data.items() if name not in _OF_PAGES}
    noted = data.get("notes")
    if isinstance(noted, list | tuple):
        data = {**data, "notes": (*noted, *more)} if (more := _missing_notes(call, noted)) else data
    elif more := _damage(call):
        data = {**data, "notes": more}
    if call.says_once:
        data = dict(request.said_once(data))
    places = flagged_places(data)
    flagged = with_flags(data, places) if places else data
    if type(request).text is Operation.text:
        text = request.text(flagged)
    else:
        # The text shows what is left of the result once it keeps the budget.
        is_same = data is bounded and isinstance(result, msgspec.Struct)
        text = request.text(result if is_same else msgspec.convert(data, result_of(type(request))))
        # The warning comes before the texts that it is about.
        text = f"{note_of(places)}\n\n{text}" if places else text
    return Answer(flagged, text, request.links(call, flagged))


_OF_PAGES = ("truncated", "next_cursor")


def _missing_notes(call: Call, noted: Iterable[str]) -> tuple[str, ...]:
    """Notes that an answer lacks: on a team's store that answers from its copy, and on damaged records."""
    if call.project is None:
        return ()
    problem = call.project.context.team_problem
    missing = [] if problem is None or any(problem.message in note for note in noted) else [problem.message]
    return (*missing, *_damage(call))


_MOST_DAMAGED = 3


def _damage(call: Call) -> tuple[str, ...]:
    """Notes on records that were left out because they are damaged, each with the way out."""
    damage = call.project.context.damage if call.project is not None else {}
    if not damage:
        return ()
    found = list(damage.values())[:_MOST_DAMAGED]
    return tuple(f"{each.message} It is left out here. {each.hint}".rstrip() for each in found)


def perform(request: Operation, call: Call) -> Any:
    """Run an operation for the command line: without a budget, and with a note where texts look like instructions."""
    result, data = _performed(request, call, _without_budget)
    call.notes = (*call.notes, *_missing_notes(call, (*call.notes, *(getattr(result, "notes", None) or ()))))
    if places := flagged_places(data):
        call.notes = (*call.notes, note_of(places))
    return result


Shaped = tuple[Any, dict[str, Any]]
"""A result, and its data. The result is None where the data says less than it."""


def _within_budget(request: Operation, result: Any, call: Call) -> Shaped:
    """A result for an agent, shortened to the budget of the operation."""
    call.check()
    about = request.about
    asked = EVERYTHING if call.whole else about.budget or getattr(request, "max_tokens", None)
    budget = Budget.of(asked, copies=1 if about.whole else 2)
    data = msgspec.to_builtins(result)
    fitted = fit(
        data,
        about.trim,
        budget,
        paged=about.pages,
        whole=about.whole,
        repeated=about.repeated,
        smaller=_smaller(request),
    )
    return (result if fitted is data else None), fitted


def _smaller(request: Operation) -> str:
    """The way to an answer that fits, by an argument that the operation has."""
    if request.about.budget is None and hasattr(request, "max_tokens"):
        return ""
    for name in ("limit", "top_k", "depth"):
        given = getattr(request, name, None)
        if isinstance(given, int) and given > 1:
            return f"Pass {name}={given // 2}, or ask for less."
    return "Ask for less."


def _without_budget(request: Operation, result: Any, call: Call) -> Shaped:
    """A result for a command, which prints all of it."""
    return result, msgspec.to_builtins(result, enc_hook=str)


def _performed(request: Operation, call: Call, shape: Callable[[Operation, Any, Call], Shaped]) -> Shaped:
    """Run an operation on a project as fresh as it needs, from where its cursor points. Damaged derived files are
    rebuilt, and the operation runs again."""
    about = request.about
    pages = about.pages if about.needs is not Freshness.NONE else None
    if call.project is not None:
        call.project.context.damage.clear()
    mended = 0
    while True:
        try:
            early = request.answer_early(call)
            if early is not None:
                return shape(request, early, call)
            under_way = call.project.context.traffic.call() if call.project is not None else nullcontext()
            with under_way, _made_ready(about.needs, request, call):
                if pages is None:
                    return shape(request, request.run(call), call)
                call.offset = _offset(request, call)
                # The longest cursor there can be, so that the page has room for its own.
                page = shape(request, structs.replace(request.run(call), next_cursor=WIDEST), call)
                return _marked(request, pages, page, call)
        except StoreCorrupt as error:
            mended += 1
            if mended > _MENDED or not _is_mended(call, error):
                raise
            if about.writes:
                # What a call has written already, it would write twice.
                raise StoreCorrupt(error.message, hint=_MADE_ANEW, data=error.data) from error


def _offset(request: Operation, call: Call) -> int:
    """The number of the first item on the page that is asked for."""
    if call.begin_at is None and getattr(request, "cursor", None) is not None:
        return call.pages(request, strict=True).start(_state_of(request, call))
    return call.begin_at or 0


def _marked(request: Operation, pages: str, page: Shaped, call: Call) -> Shaped:
    """A page with the cursor to the next one."""
    result, data = page
    end = call.offset + len(data[pages])
    more = end < data[request.about.total]
    # The operation itself may have brought what it lists in step.
    cursor = call.pages(request, strict=True).cursor_to(end, _state_of(request, call)) if more else None
    marks = {"truncated": more or data["truncated"], "next_cursor": cursor}
    return (None if result is None else structs.replace(result, **marks)), {**data, **marks}


_MENDED = 4
"""A call rebuilds at most so many damaged files, which is more than it reads."""


# Implements: REQ-d00645-C
def _is_mended(call: Call, error: StoreCorrupt) -> bool:
    """True if the damaged file is rebuilt at its next use."""
    # Nothing is held here: others go on reading while the index is filled again.
    renewed = call.project is not None and call.project.context.parts.renewed_after(error)
    return renewed or error.data.get("derived") is True


_MADE_ANEW = "It is being rebuilt now. Check whether the change was made, and repeat the call if it was not."


_WITHOUT_GRAPH = (Freshness.PASSAGES, Freshness.DOCUMENTS)
_ON_DOCUMENTS = (Freshness.PASSAGES, Freshness.DOCUMENTS, Freshness.DOCUMENT_GRAPH)


def _made_ready(needs: Freshness, request: msgspec.Struct, call: Call) -> AbstractContextManager[None]:
    """Bring the project to where an operation needs it. In the block that is returned, the graph does not change."""
    if needs in (Freshness.NONE, Freshness.SOURCES):
        return nullcontext()
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
    return nullcontext() if needs in _WITHOUT_GRAPH else project.context.lock.reading()


def _state_of(request: Operation, call: Call) -> str:
    """The state that a cursor depends on: the graph, and what the operation adds to it."""
    if request.about.needs is Freshness.SOURCES:
        return request.state(call)
    return f"{call.project.graph.state.fingerprint} {request.state(call)}".rstrip()


def decode_as(
    type_: type[S], arguments: Mapping[str, Any], name: str, *, help_text: str | None = None, writes: bool = False
) -> S:
    """The arguments as a struct that forbids unknown ones, or an error that says which one breaks which rule. `name`
    says whose arguments they are, and `help_text` where to learn about them. What an operation that `writes` takes is
    one line, unless the field says otherwise."""
    if not (type(arguments) is dict or isinstance(arguments, Mapping)):
        raise InvalidArgument(
            f"{name} takes an object of named arguments, got {type(arguments).__name__}.",
            hint=f"Arguments of {name}: {_signature(type_)}.",
        )
    writes = writes or (issubclass(type_, Operation) and type_.about.writes)
    if writes and (problem := problem_with_lines(type_, arguments)):
        raise InvalidArgument(f"{name}: argument {problem}.", hint="Remove it; other fields take longer texts.")
    try:
        return msgspec.convert(dict(arguments), type_)
    except msgspec.ValidationError as error:
        known, known_ones = type_.__struct_encode_fields__, help_text or f"Arguments: {_signature(type_)}."
        unknown = next((str(argument) for argument in arguments if argument not in known), None)
        if unknown is not None:
            raise InvalidArgument(
                f"{name} has no argument '{shortened(unknown)}'.",
                hint=_did_you_mean(get_close_matches(unknown[:80], known, n=1)) + known_ones,
            ) from error
        # To JSON, 5.0 is a whole number; a word that can only mean one of its choices means that; and null is no value.
        with suppress(msgspec.ValidationError):
            given = _without_nulls(type_, arguments)
            return msgspec.convert(as_listed(type_, _with_whole_numbers(given)), type_)
        problem = explained(error, type_, arguments)
        subject = "argument " if problem.startswith("'") else ""
        raise InvalidArgument(
            f"{name}: {subject}{problem}.", hint=_suggestion(type_, arguments) + known_ones
        ) from error


def _without_nulls(type_: type[msgspec.Struct], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without optional ones that are null, as if they had not been given."""
    required = {field.encode_name for field in msgspec.structs.fields(type_) if field.required}
    return {name: value for name, value in arguments.items() if value is not None or name in required}


_OTHER_TYPE = re.compile(r"Expected `[^`]+`, got `")


def _understood(type_: type[msgspec.Struct], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without unknown ones, and without optional ones of a wrong type, as if they had not been given."""
    known = {field.encode_name: field for field in msgspec.structs.fields(type_)}
    return {
        name: value
        for name, value in (arguments.items() if isinstance(arguments, Mapping) else ())
        if name in known and (known[name].required or _has_type(known[name], value))
    }


def _has_type(field: structs.FieldInfo, value: Any) -> bool:
    try:
        msgspec.convert(_with_whole_numbers(value), field.type)
    except msgspec.ValidationError as error:
        return _OTHER_TYPE.match(str(error)) is None
    return True


def _suggestion(type_: type[msgspec.Struct], arguments: Mapping[str, Any]) -> str:
    """The choice that a misspelled value probably means."""
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


def _signature(type_: type[msgspec.Struct]) -> str:
    known = msgspec.structs.fields(type_)
    return ", ".join(field.encode_name if field.required else f"{field.encode_name}?" for field in known) or "none"
