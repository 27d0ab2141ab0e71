"""A small real MCP server, a real HTTP server around it, and a clock that moves only when a test says so."""

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp.server.lowlevel import Server

from clew.surfaces.mcp.transports.clock import SYSTEM_CLOCK, Clock
from clew.surfaces.mcp.transports.http import serve_http
from clew.surfaces.mcp.transports.settings import HttpSettings

PATIENCE = 120.0

Serve = Callable[..., AbstractAsyncContextManager[httpx2.AsyncClient]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class FakeClock:
    """Time stands still until `advance`; `asleep` waits until as many as `count` sleep for exactly that long."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0
        self._sleepers: list[tuple[float, float, anyio.Event]] = []
        self._changed = anyio.Event()

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        sleeper = (self.now + seconds, seconds, anyio.Event())
        self._sleepers.append(sleeper)
        self._tell()
        try:
            await sleeper[2].wait()
        finally:
            self._sleepers.remove(sleeper)
            self._tell()

    def advance(self, seconds: float) -> None:
        self.now += seconds
        for until, _, wake in self._sleepers:
            if until <= self.now:
                wake.set()

    async def asleep(self, seconds: float, count: int = 1) -> None:
        while sum(wanted == seconds for _, wanted, _ in self._sleepers) < count:
            await self._changed.wait()

    async def nobody_asleep(self, seconds: float) -> None:
        while any(wanted == seconds for _, wanted, _ in self._sleepers):
            await self._changed.wait()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


class Workshop:
    """An MCP server with four tools, and handles by which a test follows and steers their calls."""

    def __init__(self) -> None:
        self.entered: dict[str, anyio.Event] = defaultdict(anyio.Event)
        self.gate: dict[str, anyio.Event] = defaultdict(anyio.Event)
        self.left: dict[str, anyio.Event] = defaultdict(anyio.Event)
        self.cancelled: set[str] = set()
        self.server: Server[Any] = Server(
            "workshop", version="1.2.3", on_list_tools=self._list, on_call_tool=self._call
        )

    async def _list(self, ctx: Any, params: Any) -> types.ListToolsResult:
        schema = {"type": "object", "properties": {"text": {"type": "string"}, "count": {"type": "integer"}}}
        names = ("echo", "hold", "steps", "crash")
        return types.ListToolsResult(tools=[types.Tool(name=name, input_schema=schema) for name in names])

    async def _call(self, ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = params.arguments or {}
        text = str(arguments.get("text", ""))
        match params.name:
            case "hold":
                await self._hold(text)
            case "steps":
                await self._steps(ctx, text, int(arguments["count"]))
            case "crash":
                raise RuntimeError(text)
        return types.CallToolResult(content=[types.TextContent(text=text)])

    async def _hold(self, text: str) -> None:
        self.entered[text].set()
        try:
            await self.gate[text].wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled.add(text)
            raise
        finally:
            self.left[text].set()

    async def _steps(self, ctx: Any, text: str, count: int) -> None:
        for step in range(1, count + 1):
            await ctx.session.report_progress(float(step), float(count), f"{text} {step}")
        self.entered[text].set()


class Listener:
    """A bare SSE client: it sees every event with its id, as no MCP client shows them."""

    def __init__(self, http: httpx2.AsyncClient, source: httpx2.EventSource) -> None:
        self._http = http
        self._events = aiter(source)
        self.endpoint = ""
        self.connection_id = ""
        self.last_event_id = ""

    async def event(self) -> httpx2.ServerSentEvent:
        with anyio.fail_after(PATIENCE):
            event = await anext(self._events)
        self.last_event_id = event.id
        return event

    async def message(self) -> dict[str, Any]:
        event = await self.event()
        assert event.event == "message"
        answer: dict[str, Any] = json.loads(event.data)
        return answer

    async def greeted(self) -> None:
        endpoint, heartbeat = await self.event(), await self.event()
        assert (endpoint.event, heartbeat.event) == ("endpoint", "heartbeat")
        self.endpoint = endpoint.data
        self.connection_id = json.loads(heartbeat.data)["connection_id"]

    async def at_end(self) -> None:
        with anyio.fail_after(PATIENCE), pytest.raises(StopAsyncIteration):
            await anext(self._events)

    async def post(self, message: Any) -> httpx2.Response:
        return await self._http.post(self.endpoint, json=message)

    async def initialize(self, version: str = "2025-06-18") -> dict[str, Any]:
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "listener", "version": "0"}}
        await self.post({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": params})
        answer = await self.message()
        await self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    async def call(self, call_id: int | str, tool: str, **arguments: Any) -> httpx2.Response:
        params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": str(call_id)}}
        return await self.post({"jsonrpc": "2.0", "id": call_id, "method": "tools/call", "params": params})


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def workshop() -> Workshop:
    return Workshop()


@pytest.fixture
def serve(workshop: Workshop) -> Serve:
    """`async with serve(transport="sse", clock=clock, grace_seconds=5) as http:` runs the real server on loopback."""

    @asynccontextmanager
    async def serving(
        transport: str = "http", clock: Clock | None = None, **settings: Any
    ) -> AsyncIterator[httpx2.AsyncClient]:
        started = anyio.Event()
        urls: list[str] = []

        def ready(url: str) -> None:
            urls.append(url)
            started.set()

        chosen = HttpSettings(**{"sse": transport == "sse", "drain_seconds": 0.0, "heartbeat_events": True, **settings})

        async def run() -> None:
            await serve_http(workshop.server, chosen, ready, clock=clock or SYSTEM_CLOCK)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            with anyio.fail_after(PATIENCE):
                await started.wait()
            base = urls[0].rsplit("/", 1)[0]
            token = {"Authorization": f"Bearer {chosen.token}"} if chosen.token else {}
            with anyio.fail_after(PATIENCE):
                async with httpx2.AsyncClient(base_url=base, headers=token, timeout=PATIENCE) as http:
                    yield http
            tasks.cancel_scope.cancel()

    return serving


@pytest.fixture
def listen() -> Callable[..., AbstractAsyncContextManager[Listener]]:
    """`async with listen(http) as listener:` opens a stream and has read the greeting."""

    @asynccontextmanager
    async def listening(http: httpx2.AsyncClient, url: str = "/sse", **headers: str) -> AsyncIterator[Listener]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with http.sse(url, headers=named) as source:
            assert source.response.status_code == 200
            listener = Listener(http, source)
            await listener.greeted()
            yield listener

    return listening
