"""The server answers while the graph is being built."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from clew.operation.listing import all_tools
from clew.operation.toolsets import Choice, choose
from clew.project import Project
from clew.surfaces.mcp.instructions import instructions
from clew.surfaces.mcp.server import Surface, build_server

pytestmark = pytest.mark.anyio


class HeldProject:
    """A project whose build cannot finish: somebody else reads the graph until `release`."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._entered = threading.Event()
        self._release = threading.Event()
        self._thread = threading.Thread(target=self._hold)
        self._thread.start()
        self._entered.wait()

    def _hold(self) -> None:
        with self.project.context.lock.reading():
            self._entered.set()
            self._release.wait()

    def release(self) -> None:
        self._release.set()
        self._thread.join()


def server_of(project: Project) -> Any:
    listing = choose(all_tools(), Choice())
    return build_server(Surface(project, listing), instructions(listing))


@pytest.fixture
def held(opened: Callable[[Path], Project], small: Path) -> Any:
    project = HeldProject(opened(small))
    yield project
    project.release()


# Verifies: REQ-d00015-A+B
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_tools_are_listed_before_the_graph_is_built_and_a_call_waits_with_progress(
    held: HeldProject, era: str
) -> None:
    reported = anyio.Event()

    async def progress(done: float, total: float | None, message: str | None) -> None:
        reported.set()

    async with Client(server_of(held.project), mode=era) as client:
        assert len((await client.list_tools()).tools) > 5
        answers: list[Any] = []

        async def call() -> None:
            answers.append(await client.call_tool("get_graph_status", {}, progress_callback=progress))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            with anyio.fail_after(120):
                await reported.wait()
            assert answers == []
            assert len((await client.list_tools()).tools) > 5
            held.release()
    assert answers[0].structured_content["node_counts"]["requirement"] == 2


# Verifies: REQ-d00015-B
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_a_call_that_waits_for_the_graph_can_be_cancelled(held: HeldProject, era: str) -> None:
    reported = anyio.Event()

    async def progress(done: float, total: float | None, message: str | None) -> None:
        reported.set()

    async with Client(server_of(held.project), mode=era) as client:
        with anyio.fail_after(120):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: client.call_tool("get_graph_status", {}, progress_callback=progress))
                await reported.wait()
                tasks.cancel_scope.cancel()
        held.release()
        result = await client.call_tool("get_graph_status", {})
        assert result.structured_content is not None
        assert result.structured_content["node_counts"]["requirement"] == 2
