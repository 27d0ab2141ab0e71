"""What a subtree looks like: as Markdown, as a flat list with edges, or nested."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec


class SubtreeFormat(StrEnum):
    MARKDOWN = "markdown"
    FLAT = "flat"
    NESTED = "nested"


class SubtreeNode(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    kind: str
    title: str
    depth: int
    level: str | None = None
    status: str | None = None
    coverage: Mapping[str, float] | None = None
    """Of a requirement: assertions in total, covered by tests (with pct), implemented."""


class SubtreeEdge(msgspec.Struct, frozen=True, omit_defaults=True):
    source: str
    """The one below, which cites."""
    target: str
    kind: str
    assertion_targets: tuple[str, ...] = ()


class SubtreeBranch(SubtreeNode, frozen=True, omit_defaults=True):
    parent_id: str | None = None
    """Where the branch hangs, if not where it stands."""
    children: tuple["SubtreeBranch", ...] = ()


class Subtree(msgspec.Struct, frozen=True):
    root_id: str
    format: str
    stats: Mapping[str, int]
    """total_nodes, requirements and assertions of the whole subtree, on all pages."""
    count: int
    """Nodes on this page."""
    content: str | None = None
    """The Markdown."""
    nodes: tuple[SubtreeNode, ...] | None = None
    edges: tuple[SubtreeEdge, ...] | None = None
    """Those that lead up from the nodes of this page to nodes of the subtree."""
    tree: Mapping[str, Any] | None = None
    """In the shape of SubtreeBranch."""
    branches: tuple[Mapping[str, Any], ...] | None = None
    """What did not fit into the tree: each says under which node it belongs."""
    truncated: bool = False
    next_cursor: str | None = None
