"""Real MCP clients on real servers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.server.lowlevel import Server

from clew.operation.listing import all_tools
from clew.operation.toolsets import Choice, choose
from clew.project import Project
from clew.surfaces.mcp.instructions import instructions
from clew.surfaces.mcp.server import Surface, build_server

Serve = Callable[..., Server[Any]]


@pytest.fixture
def serve(opened: Callable[[Path], Project]) -> Serve:
    """A server of a folder, as `clew serve` builds it."""

    def build(root: Path, **choice: Any) -> Server[Any]:
        listing = choose(all_tools(), Choice(**choice))
        return build_server(Surface(opened(root), listing), instructions(listing))

    return build
