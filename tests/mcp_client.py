"""A client of the official SDK on a Clew server in the same process, for plain test functions.

This is the only place in the tests on contracts that knows how a server is put together. A test opens an `McpClient` on
a project, reads `tools` and `instructions`, and calls tools; what it gets is what came over the protocol.
"""

import json
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Self

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.client._transport import TransportStreams
from mcp.server.lowlevel import Server
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    TextContent,
    TextResourceContents,
    Tool,
)
from starlette.requests import Request

from clew.config import formats_of
from clew.operation.listing import all_tools
from clew.operation.names import NameStyle, portable
from clew.operation.switches import name_style
from clew.operation.toolsets import Choice, ToolListing, choose
from clew.project import Project
from clew.surfaces.mcp.instructions import instructions
from clew.surfaces.mcp.server import Surface, build_server
from clew.text.tokens import estimate_tokens
from clew.workspace.holding import RequirementFormat

__all__ = ["Answer", "McpClient", "Options", "ToolFailed", "estimate_tokens", "list_tools", "start_server"]

OWN = ""
"""The session of the only client of a process, as over stdio."""


@dataclass(frozen=True)
class Options:
    """What an operator says when a server is started."""

    profile: str | None = None
    toolsets: tuple[str, ...] | None = None
    tools: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    read_only: bool = False
    names: str | None = None
    environ: tuple[tuple[str, str], ...] = ()
    """Variables of the environment; those of the machine play no part."""

    @classmethod
    def of(cls, *, environ: Mapping[str, str] | None = None, **choice: Any) -> Self:
        return cls(environ=tuple((environ or {}).items()), **choice)


@dataclass(frozen=True)
class Answer:
    """The result of a call."""

    data: Any
    """The structured part; None where the server gives text only."""
    text: str
    blocks: tuple[Any, ...]
    """What follows the text, such as links to resources."""
    meta: Mapping[str, Any] | None
    is_error: bool


class ToolFailed(Exception):
    """A call whose result is marked as an error; `body` is what it says."""

    def __init__(self, tool: str, answer: Answer) -> None:
        super().__init__(f"{tool}: {answer.text}")
        self.answer = answer
        self.body: dict[str, Any] = answer.data


def start_server(project: Project, options: Options | None = None) -> Server[Any]:
    """A server of a project, as `clew serve` builds it."""
    listing, said = choose_tools(options or Options(), formats_of(project.config))
    return build_server(Surface(project, listing), said)


@cache
def choose_tools(options: Options, formats: frozenset[RequirementFormat]) -> tuple[ToolListing, str]:
    """The tools and the instructions of a server with these options, in a folder with these formats."""
    environ = dict(options.environ)
    names = NameStyle(options.names) if options.names else name_style(environ) or NameStyle.PORTABLE
    choice = Choice(
        options.toolsets, options.tools, options.exclude, options.read_only, options.profile, names, formats
    )
    chosen = choose(all_tools(), choice, environ)
    return chosen, instructions(chosen)


@cache
def list_tools(options: Options) -> Mapping[str, Tool]:
    """What a server with these options lists in an empty project, by name."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "clew.toml").touch()
        project = Project.open(Path(folder))
        try:
            with McpClient(project, options) as client:
                return client.tools
        finally:
            project.close()


class McpClient:
    """A connection to a server of one project. Calls may come from several threads."""

    def __init__(
        self, project: Project, options: Options | None = None, *, session: str | None = OWN, host: str | None = None
    ) -> None:
        """`session` names the session that an HTTP transport keeps, None one that keeps none; `host` is what the client
        says it is."""
        self.project = project
        self.root = project.config.root
        self._options = options or Options()
        self._server = start_server(project, self._options)
        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal("asyncio"))
        self._client = self._stack.enter_context(self._connected(self._portal, session, host))

    @contextmanager
    def _connected(self, portal: BlockingPortal, session: str | None, host: str | None) -> Iterator[Client]:
        who = Implementation(name=host, version="1") if host else None
        if session == OWN:
            client = Client(self._server, client_info=who, mode="legacy" if host else "auto")
        else:
            client = Client(_http_session(self._server, session), client_info=who, mode="legacy")
        with portal.wrap_async_context_manager(client) as connected:
            yield connected

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._stack.close()

    def as_session(self, session: str | None) -> Self:
        """Another client of the same project, which is closed with this one."""
        return self._stack.enter_context(type(self)(self.project, self._options, session=session))

    @property
    def tools(self) -> dict[str, Tool]:
        """What the server lists, by name, in its order."""
        return {tool.name: tool for tool in self._run(self._client.list_tools).tools}

    @property
    def server_name(self) -> str:
        assert self._client.server_info is not None
        return self._client.server_info.name

    @property
    def has_tools(self) -> bool:
        assert self._client.server_capabilities is not None
        return self._client.server_capabilities.tools is not None

    @property
    def protocol_version(self) -> str:
        assert self._client.protocol_version is not None
        return self._client.protocol_version

    @property
    def instructions(self) -> str:
        return self._client.instructions or ""

    def result(self, tool: str, /, **arguments: Any) -> Answer:
        """What the server answers, be it an error or not; a good answer fits the schema that its tool lists. An error
        of the protocol itself is raised as `MCPError`."""
        result = self._run(lambda: self._send(tool, arguments))
        if result.structured_content is not None and not result.is_error:
            _validator(portable(tool)).validate(result.structured_content)
        first, *others = result.content
        assert isinstance(first, TextContent)
        return Answer(result.structured_content, first.text, tuple(others), result.meta, bool(result.is_error))

    async def _send(self, tool: str, arguments: dict[str, Any], **options: Any) -> CallToolResult:
        """The result of a call. `call_tool` would list all tools first, and at each call of one by another of its
        names."""
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))
        return await self._client.session.send_request(request, CallToolResult, **options)

    def answer(self, tool: str, /, **arguments: Any) -> Answer:
        """A good answer; raises `ToolFailed` for any other."""
        answer = self.result(tool, **arguments)
        if answer.is_error:
            raise ToolFailed(tool, answer)
        return answer

    def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The structured part of a good answer."""
        data: dict[str, Any] = self.answer(tool, **arguments).data
        return data

    def error(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """What the error says in which a call ends."""
        try:
            answer = self.answer(tool, **arguments)
        except ToolFailed as failed:
            return failed.body
        raise AssertionError(f"{tool} answered {json.dumps(answer.data)}")

    def read(self, uri: str) -> str:
        """The text of a resource."""

        async def read() -> Any:
            return await self._client.read_resource(uri)

        (content,) = self._run(read).contents
        assert isinstance(content, TextResourceContents)
        return content.text

    def _run(self, work: Callable[..., Any]) -> Any:
        return self._portal.call(work)


@cache
def _validator(tool: str) -> Draft202012Validator:
    schema = list_tools(Options(toolsets=("all",), names="portable"))[tool].output_schema
    assert schema is not None
    return Draft202012Validator(schema)


@asynccontextmanager
async def _http_session(server: Server[Any], session: str | None) -> AsyncIterator[TransportStreams]:
    """Streams in memory whose messages say, as those of an HTTP transport do, which request they came with."""
    headers = [] if session is None else [(b"mcp-session-id", session.encode())]
    request = Request({"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": headers})
    async with create_client_server_memory_streams() as ((from_server, to_server), (inbound, outbound)):
        from_client, sent = anyio.create_memory_object_stream[SessionMessage | Exception](1)

        async def carry() -> None:
            async with to_server, sent:
                async for message in sent:
                    assert isinstance(message, SessionMessage)
                    await to_server.send(replace(message, metadata=ServerMessageMetadata(request_context=request)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(carry)
            tasks.start_soon(server.run, inbound, outbound, server.create_initialization_options())
            async with from_client:
                yield from_server, from_client
            await outbound.aclose()
            tasks.cancel_scope.cancel()
