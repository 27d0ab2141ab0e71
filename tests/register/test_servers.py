"""Several MCP servers on one register, as several agents start them."""

import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from tests.register.served import GOOD, make_project


# Verifies: REQ-d00082-A, REQ-d00089-A
@pytest.mark.anyio
async def test_six_servers_that_add_ten_each_leave_sixty(tmp_path: Path) -> None:
    served = make_project(tmp_path / "project", git=False)
    ids: list[str] = []

    async def agent() -> None:
        arguments = ["-m", "clew", "serve", str(served.root), "--profile", "req"]
        async with Client(StdioServerParameters(command=sys.executable, args=arguments)) as client:
            for _ in range(10):
                answer = await client.call_tool("req_add", dict(GOOD))
                assert not answer.is_error, answer.content
                assert answer.structured_content is not None
                ids.append(answer.structured_content["id"])

    async with anyio.create_task_group() as agents:
        for _ in range(6):
            agents.start_soon(agent)

    assert len(set(ids)) == 60
    assert served.register().read().register.requirements.keys() == set(ids)
    served.close()
