"""Arguments of thousands of characters end in the tool's own error, never in a failure of the server."""

from collections.abc import Callable
from pathlib import Path

import msgspec
from mcp import MCPError
from mcp_types import jsonrpc
from tests.mcp_client import McpClient, Options

from clew.operation.listing import all_tools
from clew.project import Project

LONG = ("a/" * 2_500, "x" * 5_000)


# Verifies: REQ-d00010-A+D
def test_every_text_of_every_tool_may_have_five_thousand_characters(
    opened: Callable[[Path], Project], demo: Path
) -> None:
    with McpClient(opened(demo), Options(toolsets=("all",))) as client:
        for tool in all_tools():
            example = dict(tool.operation.about.example)
            for name, schema in tool.input_schema.get("properties", {}).items():
                if '"string"' not in msgspec.json.encode(schema).decode():
                    continue
                for text in LONG[: 2 if "path" in name or "file" in name else 1]:
                    given = {**example, name: [text] if schema.get("type") == "array" else text}
                    # The tools of the memory fail with errors of the protocol, in numbers of their own.
                    try:
                        client.result(tool.name, **given)
                    except MCPError as error:
                        if error.error.code == jsonrpc.INTERNAL_ERROR:
                            raise
