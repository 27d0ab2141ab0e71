"""What an operation that writes takes is one line, unless the field says otherwise."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.mcp_client import McpClient, Options

from clew.errors import InvalidArgument
from clew.operation.call import decode_as
from clew.operation.declare import Operation
from clew.operation.listing import MODULES
from clew.operation.one_line import one_line_fields
from clew.operation.prepare import declared_in
from clew.project import Project

WRITING = [each for module in MODULES for each in declared_in(module) if each.about.writes]
MANY_LINES = {
    "statement", "rationale", "acceptance", "add_acceptance", "into", "notes", "purpose", "reason", "text", "new_text",
    "prompt", "message", "cmd",
}  # fmt: skip
"""The only fields of operations that write in which a text may have several lines."""


def _name(operation: type[Operation]) -> str:
    return operation.about.tool or operation.about.verb or ""


# Verifies: REQ-d00263-C
@pytest.mark.parametrize("operation", WRITING, ids=_name)
@pytest.mark.parametrize("sign", ["\n", "\x1b", "\u202e"])
def test_every_text_of_one_line_refuses_line_breaks_and_control_characters(
    operation: type[Operation], sign: str
) -> None:
    for names in one_line_fields(operation):
        assert not MANY_LINES & set(names)
        value: Any = f"a{sign}b"
        for name in reversed(names):
            value = {name: value}
        with pytest.raises(InvalidArgument) as raised:
            decode_as(operation, value, _name(operation))
        assert f"'{'.'.join(names)}'" in raised.value.message
        assert f"U+{ord(sign):04X}" in raised.value.message


@pytest.fixture
def client(demo: Path, opened: Callable[[Path], Project]) -> Iterator[McpClient]:
    with McpClient(opened(demo), Options.of(toolsets=("all",))) as connected:
        yield connected


# Verifies: REQ-d00263-C
@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("req_add", {"title": "Ring\x1b[2J the bell", "statement": "It shall ring.", "rationale": "So."}, "title"),
        ("req_add", {"title": "Ring it", "statement": "It shall ring.", "rationale": "So.", "tags": ["a\nb"]}, "tags"),
        ("mutate_update_title", {"node_id": "REQ-d00001", "new_title": "One\n\n# REQ-d00099: Two"}, "new_title"),
        ("mutate_change_status", {"node_id": "REQ-d00001", "new_status": "Active\u202e"}, "new_status"),
    ],
)
def test_a_client_is_told_the_field_and_the_rule(
    client: McpClient, tool: str, arguments: dict[str, Any], field: str
) -> None:
    said = str(client.error(tool, **arguments))
    assert f"'{field}'" in said
    assert "one line" in said


# Verifies: REQ-d00263-C
def test_texts_may_have_several_lines(client: McpClient) -> None:
    made = client(
        "req_add",
        title="Ring the bell",
        statement="The bell shall ring\nat noon.",
        rationale="Noon.",
        kind="constraint",
    )
    assert made["id"]
