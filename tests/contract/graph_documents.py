"""Documents that lead to a requirement and to code, and what graph.* is asked about them."""

from collections.abc import Callable
from typing import Any

Make = Callable[..., Any]

ENVELOPE = {"session_id", "partial", "limit_reason", "meta"}
SEVEN = {
    "graph.describe": ["node_ids", "fields", "scope"],
    "graph.expand": [
        *("node_ids", "rel_types", "direction", "max_hops", "include_snippet", "cursor", "page_size", "scope"),
    ],
    "graph.paths": ["a_ids", "b_ids", "rel_types", "max_hops", "max_paths", "cursor", "scope"],
    "graph.parents": ["section_ids", "scope"],
    "graph.children": ["parent_id", "cursor", "page_size", "scope"],
    "graph.entities_for_sections": ["section_ids", "labels", "max_per_section", "scope"],
    "graph.sections_for_entities": ["entity_ids", "max_per", "scope"],
}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "graph.describe": {"node_ids": ["doc:docs/guide.md"]},
    "graph.expand": {"node_ids": ["doc:docs/guide.md"]},
    "graph.paths": {"a_ids": ["doc:docs/guide.md"], "b_ids": ["REQ-d00001"]},
    "graph.parents": {"section_ids": ["doc:docs/guide.md#reading"]},
    "graph.children": {"parent_id": "doc:docs/guide.md"},
    "graph.entities_for_sections": {"section_ids": ["doc:docs/guide.md#reading"]},
    "graph.sections_for_entities": {"entity_ids": ["REQ-d00001"]},
}

REQUIREMENT = """## REQ-d00001: Tables

**Level**: DEV | **Status**: Active

Text.

## Assertions

A. It SHALL read.

*End* *Tables* | **Hash**: 00000000
"""
GUIDE = """---
doc_tag: guide
---
# Guide

See [the rest](reference.md#options).

## Reading

REQ-d00001-A is done by `read_table()` in src/app/tables.py. Set `APP_HOME`.

### Deep

Nothing here.

## Steps

1. Run `app --fast`.
2. Wait.
"""
REFERENCE = """---
doc_tag: reference
---
# Reference

## Options

`--fast` and `APP_HOME`, see guide.md.
"""
FILES = {
    "spec/a.md": REQUIREMENT,
    "src/app/tables.py": "# Implements: REQ-d00001-A\ndef read_table(path):\n    return path\n",
    "docs/guide.md": GUIDE,
    "docs/reference.md": REFERENCE,
}
READING = "doc:docs/guide.md#reading"
HOME = "entity:environment_variable:APP_HOME"


def ids(nodes: list[dict[str, Any]]) -> list[str]:
    return [node["id"] for node in nodes]


def hub(count: int) -> dict[str, str]:
    """Many pages that name one setting."""
    return {f"docs/p{n:03}.md": f"# Page {n}\n\nSet `BIG_ONE` and `ONLY_{n:03}_X`.\n" for n in range(count)}
