"""The declaration of an operation.

An operation is declared once, as a frozen struct: its fields are the arguments, its docstring says when to use it, and
`run` calls the service. A service that takes requests owns them: the operation inherits the fields of one and adds how
it is called and shown. From that one declaration come the MCP tool with its schemas, the command with its options, the
entry of a batch and the reference page:

    class Draft(msgspec.Struct, frozen=True, kw_only=True):     # in `requests.py` of the service's package
        title: Annotated[str, Meta(max_length=1_000, description="5 to 120 characters"), Option("-t")]

    class AddRequirement(Draft, Operation, tool="req_add", verb="req add", toolset=Toolset.REGISTER, writes=True):
        \"\"\"Create a requirement. ...\"\"\"

        def run(self, call: Call) -> Added:
            return call.project.register.add(self)

        def render(self, made: Added) -> str: ...

An operation without `tool` is a command only; one without `verb` is a tool only. A class with neither is no operation:
its fields, and what it declares of itself, are shared by those derived from it. Nothing registers itself: the modules
with operations are named in `listing.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, dataclass_transform, get_type_hints

import msgspec
from msgspec import Meta, StructMeta

from clew.text.controls import pretty_json

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
    ADDED = "added"
    """Tools that Clew adds to those of the systems that it replaces: no profile lists them."""


class HelpHeading(StrEnum):
    """Headings under which `clew help` lists commands."""

    UNDERSTAND = "Understand a project"
    PROVE = "Keep requirements and tests in step"
    WORK = "Work with specs, registers and documents"
    REMEMBER = "Remember"
    EXCHANGE = "Exchange with other tools"
    SET_UP = "Set up"
    MEASURE = "For agents and measurements"


_HEADINGS = {
    Toolset.TRACE: HelpHeading.PROVE,
    Toolset.REGISTER: HelpHeading.WORK,
    Toolset.SPECS: HelpHeading.WORK,
    Toolset.KB: HelpHeading.WORK,
    Toolset.GRAPH: HelpHeading.WORK,
    Toolset.MEMORY: HelpHeading.REMEMBER,
    Toolset.COGNITION: HelpHeading.REMEMBER,
}
"""The task of a command that declares none, by its toolset; other toolsets are there to understand a project."""


class Freshness(StrEnum):
    """The state that an operation needs of the graph before it runs."""

    NONE = "none"
    """Nothing: it answers without a graph, or reads by itself what it needs, as one that writes does."""
    SOURCES = "sources"
    """Source files or memories, which the operation itself has read where they changed; no graph."""
    BUILT = "built"
    """A graph, as it is."""
    CURRENT = "current"
    """A graph in step with the files: changed files are read first."""
    PASSAGES = "passages"
    """Passages that earlier answers pointed to, inside the scope that is asked for: no file is read again."""
    DOCUMENTS = "documents"
    """Documents in step with their files, inside the scope that is asked for."""
    DOCUMENT_GRAPH = "document graph"
    """Documents and graph in step with the files, inside the scope that is asked for."""


class Option:
    """The spelling of a field on the command line, where its name and type are not enough."""

    def __init__(
        self,
        *flags: str,
        positional: bool = False,
        joined: bool = False,
        hidden: bool = False,
        exclusive: bool = False,
        metavar: str | None = None,
        about: str | None = None,
        default: Any = None,
        needed: tuple[str, str] | None = None,
    ) -> None:
        self.flags = flags
        """Further spellings, such as `-t`. One that begins with two hyphens replaces the name made from the field."""
        self.positional = positional
        self.joined = joined
        """A positional argument of several words, which are joined by spaces."""
        self.hidden = hidden
        """The field is an argument of the tool and no option of the command."""
        self.exclusive = exclusive
        """At most one of the exclusive options of a command may be given."""
        self.metavar = metavar
        self.about = about
        """The text for the command's help, where the description of the field does not fit; with the default."""
        self.default = default
        """The default of the command, where it differs from that of the tool."""
        self.needed = needed
        """Message and hint of the error where a positional argument is missing; `{command}` is the command."""


MaxTokens = Annotated[
    Annotated[int, Meta(ge=400, le=20_000)] | None,
    Meta(description="Size at most; default 4,000"),
    Option(hidden=True),
]
"""The command line has no budget; an operation whose command has one declares the field itself."""
PageCursor = Annotated[Annotated[str, Meta(max_length=200)] | None, Meta(description="next_cursor of the page before")]


@dataclass(frozen=True, slots=True)
class ResourceRef:
    """A text that the answer points to instead of carrying it."""

    uri: str
    name: str
    size: int
    last_modified: str
    """ISO 8601, UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """The declaration of an operation besides its fields."""

    tool: str | None = None
    """The MCP tool's name, exactly as the source document spells it; at most 64 characters."""
    verb: str | None = None
    """The command, such as `req add`; None for a tool that has no command of its own."""
    aliases: tuple[str, ...] = ()
    """Other last words of the command."""
    toolset: Toolset = Toolset.CORE
    title: str = ""
    """A few words for people: the tool's title, and the summary of the command unless `summary` is given."""
    summary: str = ""
    """The summary of the command in `clew --help`."""
    epilog: str = ""
    """Examples at the end of the command's help."""
    closing: str = ""
    """The end of the description, where operations of one kind share it."""
    heading: HelpHeading | None = None
    """The heading under which `clew help` lists the command; None for the one that fits the toolset."""
    needs: Freshness = Freshness.CURRENT
    writes: bool = False
    destructive: bool = False
    idempotent: bool = True
    reaches_others: bool = False
    """Calls other tools: it is as harmless as those it may call, and `run` returns their whole answer."""
    later: bool = False
    """True if that system got it after its source document was written: its profile lists it, and the profile of the
    document does not."""
    folder: Literal["option", "argument", "none"] = "option"
    """The way to name the project's folder: with -C, or as the last argument; none for a command that needs no
    project."""
    hidden: tuple[str, ...] = ()
    """Fields that are no options of the command, such as what a command decides by itself. A `limit` that is none does
    not bound the command: it answers with all there is."""
    command_of: str | None = None
    """The tool by which agents do what this command does; for a command that derives from a tool it is that one."""
    drafts: bool = False
    """True if the command works on the graph with unsaved drafts. Over MCP every operation does."""
    served: bool = False
    """True if a running server answers the command for the process in which it was given: it only reads, asks nothing
    and takes nothing from standard input."""
    needs_config: bool = True
    """False if the command runs even where the configuration cannot be read. The merge driver of git must run: in
    the middle of a merge the configuration may have conflicts itself."""
    trim: tuple[str, ...] = ()
    """Fields of the result that may be shortened to keep the budget, in the order in which they are shortened: lists by
    whole items, texts at the end of a line; `outer.inner` names a field of a field."""
    whole: tuple[str, ...] = ()
    """Fields, at any depth of the result, that are never cut: texts that an agent may change and write back."""
    repeated: tuple[str, ...] = ()
    """Fields that say again what another field says; they become null before anything is shortened."""
    pages: str | None = None
    """The list field that `limit` and `cursor` page through; the result also has truncated and next_cursor."""
    total: str = "total"
    """The field that says how many items there are on all pages."""
    budget: int | None = None
    """Tokens of an answer at most, where the arguments have no say in it."""
    schema_version: str | None = None
    """The version of arguments and result; the same one only ever gains fields."""
    outlined: bool = False
    """True if the listing names the fields of the result and not their content: every agent that connects pays for the
    listing."""
    demands: tuple[str, ...] = ()
    """Arguments that the operation demands by itself, with an error of its own; they are listed as required."""
    example: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of a useful call on the demo project."""


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(msgspec.field,))
class OperationType(StructMeta):
    """Makes every operation a frozen struct with named fields that refuses unknown ones. What is declared besides the
    fields is inherited whole from a parent that is neither tool nor command. From others only the toolset, what is
    needed of the graph, and which tool it is the command of are inherited."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **about: Any) -> "OperationType":
        fields = {field for base in bases for field in getattr(base, "__struct_fields__", ())}
        for own in (*namespace.get("__annotations__", ()), *fields):
            if any(callable(getattr(base, own, None)) for base in bases):
                raise TypeError(f'{name}.{own} hides a method; call it {own}_, with msgspec.field(name="{own}").')
        return super().__new__(
            mcls, name, bases, namespace, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=False
        )

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **about: Any) -> None:
        super().__init__(name, bases, namespace)
        parents = (base for base in bases if isinstance(base, OperationType) and "about" in vars(base))
        inherited = next((parent.about for parent in parents), None)
        if inherited is None:
            cls.about = About(**about)
        elif inherited.tool is None and inherited.verb is None:
            cls.about = replace(inherited, **about)
        else:
            taken = {"toolset": inherited.toolset, "needs": inherited.needs}
            cls.about = About(**{**taken, "command_of": inherited.tool or inherited.command_of, **about})

    about: About


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(msgspec.field,))
class Operation(msgspec.Struct, metaclass=OperationType):
    """The root of all operations. Fields carry their description and bounds in `msgspec.Meta`."""

    about: ClassVar[About]

    if TYPE_CHECKING:

        def __init_subclass__(
            cls,
            *,
            tool: str | None = None,
            verb: str | None = None,
            aliases: tuple[str, ...] = (),
            toolset: Toolset = Toolset.CORE,
            title: str = "",
            summary: str = "",
            epilog: str = "",
            closing: str = "",
            heading: HelpHeading | None = None,
            needs: Freshness = Freshness.CURRENT,
            writes: bool = False,
            destructive: bool = False,
            idempotent: bool = True,
            reaches_others: bool = False,
            later: bool = False,
            folder: Literal["option", "argument", "none"] = "option",
            hidden: tuple[str, ...] = (),
            command_of: str | None = None,
            drafts: bool = False,
            served: bool = False,
            needs_config: bool = True,
            trim: tuple[str, ...] = (),
            whole: tuple[str, ...] = (),
            repeated: tuple[str, ...] = (),
            pages: str | None = None,
            total: str = "total",
            budget: int | None = None,
            schema_version: str | None = None,
            outlined: bool = False,
            demands: tuple[str, ...] = (),
            example: Mapping[str, Any] = ...,
        ) -> None: ...

    def run(self, call: "Call") -> Any:
        """Answer with a frozen struct; field names are the keys of the structured answer. Runs in a worker thread."""
        raise NotImplementedError

    @classmethod
    def completed(cls, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a command before they are decoded: a command may take some of them from a file, or ask."""
        return given

    def data(self, result: Any) -> Any:
        """The data for --json on the command line: the result, unless a command prints less or more than the tool."""
        return result

    def answer_early(self, call: "Call") -> Any:
        """Refuse or answer the request before any file is read for it; None to go on."""
        return None

    def render(self, result: Any) -> str:
        """The text for a person on the command line; the data as JSON, unless an operation overrides it."""
        return pretty_json(result)

    def text(self, result: Any) -> str:
        """The text for an MCP host that reads no data; the data as JSON, unless an operation overrides it."""
        return msgspec.json.encode(result).decode()

    def said_once(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The data for an agent that uses no profile: without what is empty or said twice. All of it, unless an
        operation overrides it; a profile keeps the fields of its source."""
        return data

    def document(self, result: Any) -> str | bytes:
        """The content of the command's `output_file`, where an operation overrides this."""
        return self.render(result)

    def output_file(self) -> str | None:
        """The file that the command writes its document to, from its field `output`; None for no file."""
        file: str | None = getattr(self, "output", None)
        return file

    def messages(self, result: Any) -> tuple[str, ...]:
        """Lines for standard error, printed beside the answer; beside JSON only if the exit code is not 0."""
        return ()

    def links(self, call: "Call", data: Mapping[str, Any]) -> tuple[ResourceRef, ...]:
        """The resources that the data of an answer points to."""
        return ()

    def exit_code(self, result: Any) -> int:
        """1 where the answer is a no, such as findings or nothing found; 0 otherwise."""
        return 0

    def state(self, call: "Call") -> str:
        """The state that a cursor depends on besides the graph: with another value the cursor is refused."""
        return ""


def description_of(operation: type[Operation]) -> str:
    """The docstring in one paragraph: when to use it, when not, what comes back at most, and what to call next."""
    return " ".join(f"{operation.__doc__ or ''} {operation.about.closing}".split())


def heading_of(about: About) -> HelpHeading:
    """The heading under which `clew help` lists a command."""
    return about.heading or _HEADINGS.get(about.toolset, HelpHeading.UNDERSTAND)


@cache
def result_of(operation: type[Operation]) -> Any:
    """The type that `run` returns."""
    return get_type_hints(operation.run)["return"]


def completes(operation: type[Operation]) -> bool:
    """True if a command takes some arguments from a file or a question."""
    return any("completed" in vars(each) for each in operation.__mro__ if each is not Operation)


def overrides(operation: type[Operation], method: str) -> bool:
    """True if an operation overrides a method."""
    return getattr(operation, method) is not getattr(Operation, method)
