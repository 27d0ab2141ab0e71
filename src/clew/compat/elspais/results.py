"""Answers of the cursor protocol."""

from collections.abc import Mapping
from typing import Any

import msgspec

from clew.trace.find.results import AssertionText, NodeSummary
from clew.trace.read.serialize import CoverageSummary


class CursorItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """One item of a cursor, with the parts that the query and the batch size ask for."""

    id: str
    kind: str
    title: str | None = None
    text: str | None = None
    """Of an assertion, which has no title."""
    level: str | None = None
    status: str | None = None
    source: str | None = None
    section: str | None = None
    """In a hierarchy: ancestor, child or sibling."""
    depth: int | None = None
    score: float | None = None
    label: str | None = None
    parent_id: str | None = None
    parent_title: str | None = None
    covered: bool | None = None
    coverage: CoverageSummary | None = None
    assertions: tuple[AssertionText, ...] | None = None
    assertions_total: int | None = None
    matched_assertions: tuple[AssertionText, ...] | None = None
    children: tuple[NodeSummary, ...] | None = None
    children_total: int | None = None


class CursorOpened(msgspec.Struct, frozen=True):
    success: bool
    cursor_id: str
    """Names the cursor to cursor_next and cursor_info where there is no session that remembers it."""
    query: str
    params: Mapping[str, Any]
    batch_size: int
    total: int
    position: int
    remaining: int
    current: Mapping[str, Any] | None
    """The first item, in the shape of CursorItem; null where there is none."""
    left_out: int
    """Items beyond the most that a cursor holds."""
    truncated: bool = False


class CursorBatch(msgspec.Struct, frozen=True):
    items: tuple[Mapping[str, Any], ...]
    """In the shape of CursorItem, without what does not apply: each query has items of its own kind."""
    count: int
    position: int
    total: int
    remaining: int
    is_stale: bool
    """The graph changed since the cursor was opened."""
    truncated: bool = False
    success: bool = True


class CursorInfo(msgspec.Struct, frozen=True):
    cursor_id: str
    position: int
    total: int
    remaining: int
    query: str
    batch_size: int
    is_stale: bool
    left_out: int
    success: bool = True
