"""A finding: something that deserves attention, with a stable code."""

import msgspec

from clew.graph.model import Node


class Finding(msgspec.Struct, frozen=True):
    code: str
    severity: str
    """error, warning or info."""
    message: str
    path: str
    line: int
    node_id: str | None = None
    hint: str = ""


def finding_at(node: Node, code: str, severity: str, message: str, hint: str) -> Finding:
    """A finding at the place of a node."""
    path, line = (node.source.path, node.source.line) if node.source else ("", 0)
    return Finding(code=code, severity=severity, message=message, path=path, line=line, node_id=node.id, hint=hint)
