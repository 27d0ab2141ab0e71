"""The server of Context Graph's profile over server-sent events, on loopback, with a clock that a test moves."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from tests.contract.memory_client import write_project
from tests.mcp_client import Options, start_server
from tests.transports.conftest import PATIENCE, FakeClock, Listener

from clew.memory.cognition.dreams import dream_steps
from clew.memory.cognition.dreams.dream_steps import StepResult
from clew.project import Project
from clew.surfaces.mcp.transports.http import serve_http
from clew.surfaces.mcp.transports.settings import HttpSettings

TOKEN = "a-token-of-the-tests-0123456789abcdef"


@asynccontextmanager
async def serving(root: Path, clock: FakeClock) -> AsyncIterator[httpx2.AsyncClient]:
    """A server of the profile on loopback, whose time stands still unless a test moves it."""
    project = Project.open(write_project(root))
    started = anyio.Event()
    urls: list[str] = []

    def ready(url: str) -> None:
        urls.append(url)
        started.set()

    server = start_server(project, Options.of(profile="context-graph"))
    settings = HttpSettings(sse=True, drain_seconds=0.0, heartbeat_events=True, token=TOKEN)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: serve_http(server, settings, ready, clock=clock))
            with anyio.fail_after(PATIENCE):
                await started.wait()
                base, known = urls[0].rsplit("/", 1)[0], {"Authorization": f"Bearer {TOKEN}"}
                async with httpx2.AsyncClient(base_url=base, headers=known, timeout=PATIENCE) as http:
                    yield http
            tasks.cancel_scope.cancel()
    finally:
        project.close()


@asynccontextmanager
async def connected(http: httpx2.AsyncClient, last: str = "") -> AsyncIterator[Listener]:
    """A stream that has been greeted; with the id of an event, the one that goes on after it."""
    async with http.sse("/sse", headers={"Last-Event-ID": last} if last else {}) as source:
        listener = Listener(http, source)
        await listener.greeted()
        if not last:
            await listener.initialize()
        yield listener


async def asked(listener: Listener, tool: str, **arguments: Any) -> tuple[Any, list[str]]:
    """The answer of a call, and what was told on the way to it."""
    await listener.call(tool, tool, **arguments)
    told: list[str] = []
    while "id" not in (message := await listener.message()):
        told.append(message["params"]["message"])
    assert "result" in message, message
    return message["result"]["structuredContent"], told


class HeldDream:
    """A dream whose step `links` goes on until it is told to end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.free = threading.Event(), threading.Event()
        monkeypatch.setitem(dream_steps.STEPS, "links", self._links)

    def _links(self, view: Any, marks: Any, most: int, give_way: Any) -> StepResult:
        self.begun.set()
        while not self.free.wait(0.005):
            give_way()
        return StepResult(report={"held": True})
