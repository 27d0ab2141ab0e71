"""`clew-mcp`, as `uvx clew-mcp` starts it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from tests.packaging.environment import COMMAND_VARIABLE
from tests.stderr import without_progress

from clew import __version__

pytestmark = pytest.mark.anyio

HERE = (sys.executable, "-c", "from clew.surfaces.cli.main import serve_entry; serve_entry()")
COMMAND: tuple[str, ...] = tuple(json.loads(os.environ.get(COMMAND_VARIABLE, json.dumps(HERE))))


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *words], cwd=folder, capture_output=True, text=True, timeout=300, check=False)


# Verifies: REQ-d00520-A, REQ-o00070-A
async def test_without_arguments_it_serves_the_project_here(demo: Path) -> None:
    server = StdioServerParameters(command=COMMAND[0], args=list(COMMAND[1:]), env=dict(os.environ), cwd=demo)
    async with Client(server) as client:
        assert "get_requirement" in {tool.name for tool in (await client.list_tools()).tools}
        answer = await client.call_tool("get_requirement", {"req_id": "REQ-d00001"})
    assert answer.structured_content is not None
    assert answer.structured_content["title"] == "Reading a tide table"


# Verifies: REQ-d00520-A
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--version",), f"clew {__version__}"),
        (("show", "REQ-d00001"), "Reading a tide table"),
        (("--help",), "usage: clew serve"),
    ],
)
def test_other_commands_and_options_of_serving_go_by_the_same_name(
    demo: Path, words: tuple[str, ...], says: str
) -> None:
    done = run(demo, *words)
    assert (done.returncode, without_progress(done.stderr)) == (0, "")
    assert says in done.stdout
