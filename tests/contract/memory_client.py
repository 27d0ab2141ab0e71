"""A client of the profile of Context Graph, for the tests of the second source document."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from mcp import MCPError
from mcp_types import CallToolResult
from tests.mcp_client import McpClient, Options
from tests.properties import THOROUGH

from clew.project import Project

RUNS = 1_000 if THOROUGH else 0
"""Runs of the properties of the memory; 0 for a few."""
WHY = "Needed by the tests of the memory"
CONFIG = '[project]\nname = "harbour"\n[embedder]\nkind = "none"\n[search]\nbackground = false\n'


class Memory(McpClient):
    """Calls the tools of the memory, whose failures are errors of the protocol."""

    def store(self, content: str, **arguments: Any) -> str:
        id: str = self("store_memory", content=content, rationale=WHY, **arguments)["node_id"]
        return id

    def told(self, tool: str, /, **arguments: Any) -> tuple[list[str], dict[str, Any]]:
        """The progress that a call reports, and its answer."""
        messages: list[str] = []

        async def note(done: float, total: float | None, message: str | None) -> None:
            messages.append(message or "")

        async def call() -> CallToolResult:
            return await self._send(tool, arguments, progress_callback=note)

        result = self._run(call)
        return messages, result.structured_content

    def failure(self, tool: str, /, **arguments: Any) -> MCPError:
        """The error in which a call ends."""
        try:
            answer = self.result(tool, **arguments)
        except MCPError as error:
            return error
        raise AssertionError(f"{tool} answered {answer.text}")

    def number(self, tool: str, /, **arguments: Any) -> int:
        return self.failure(tool, **arguments).error.code

    def ids(self, query: str, **arguments: Any) -> list[str]:
        return [hit["node_id"] for hit in self("search_graph", query=query, **arguments)["results"]]


def write_project(root: Path, files: dict[str, str] | None = None, config: str = CONFIG) -> Path:
    for path, text in {"clew.toml": config, **(files or {})}.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return root


@contextmanager
def remembering(root: Path, **options: Any) -> Iterator[Memory]:
    """A client of the project at a folder; by default of the profile."""
    project = Project.open(root)
    try:
        with Memory(project, Options.of(**(options or {"profile": "context-graph"}))) as client:
            yield client
    finally:
        project.close()


def days_later(project: Project, days: float) -> None:
    """Let the project's clock go forward."""
    moment = datetime.now(UTC) + timedelta(days=days)
    project.context.clock = lambda: moment


Connect = Callable[..., Memory]
