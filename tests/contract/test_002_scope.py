"""Nothing of a document outside of the scope is told by any tool, whatever is asked and whichever id is known."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

Make = Callable[..., Any]

OPEN = """---
doc_tag: open
---
# Open

The margin is 0.5 metres, see [the other](hidden.md#vault) and `PORT_MARGIN`.

## Steps to install

1. Run `port --margin 1`.
2. Set `PORT_MARGIN` to 4.
"""
HIDDEN = """---
doc_tag: closed
title: zqtitle
---
# zqhead

The margin zqtext `PORT_MARGIN` `ZQ_VAR` and `zqcmd --zqflag`. See [open](open.md#open).

## Vault

zqvault margin

## Steps to zqinstall

1. Run `port --margin 1` zqstep.
2. Set `PORT_MARGIN` to 4.
"""
FILES = {"docs/open.md": OPEN, "docs/hidden.md": HIDDEN}
SCOPE = {"doc_tags": ["open"]}
SECRET = "zq"
"""Stands in every word that only the hidden document has."""
RANDOM = {
    "passage_id": re.compile(r"[A-Za-z0-9_-]{16,22}"),
    "session_id": re.compile(r"[A-Za-z0-9_-]{22}"),
    **dict.fromkeys(("uri", "scratch_uri"), re.compile(r"clew://scratch/[A-Za-z0-9_-]{22}/[A-Za-z0-9_-]{16,22}")),
    "next_cursor": re.compile(r"[A-Za-z0-9_=-]{40,}"),
}
"""Fields that are drawn by lot or signed, and how their values look: any two letters may meet in them."""


def known_ids(call: Any) -> list[str]:
    """Every id that somebody saw who may see everything."""
    found = {"doc:docs/open.md", "doc:docs/hidden.md", "file:docs/hidden.md"}
    for start in sorted(found):
        page = call("graph.expand", node_ids=[start], max_hops=3, page_size=100)
        found |= {node["id"] for node in page["nodes"]}
    return sorted(found)


def questions(ids: list[str], passages: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for words in ("margin", "zqtext zqvault", "zqtitle ZQ_VAR"):
        for mode in ("vector_only", "hybrid_local"):
            options = {"max_per_doc": 50, "mode": mode}
            yield "kb.search", {"query": words, "top_k": 50, "options": {**options, "include_debug": True}}
            yield "kb.retrieve_evidence", {"question": words, "max_quotes": 20, "options": options}
        yield "search_sections", {"query": words}
        yield "search_sections", {"query": words, "filters": {"document_id": "doc:docs/hidden.md"}}
        yield "search_documentation", {"query": words}
    for passage in passages:
        yield "kb.read_excerpt", {"passage_id": passage}
        yield "kb.expand_excerpt", {"passage_id": passage}
        yield "kb.extract_evidence", {"question": "margin", "passage_ids": [passage]}
    for id in ids:
        yield "graph.expand", {"node_ids": [id], "max_hops": 3, "include_snippet": True, "page_size": 100}
        yield "expand_neighbors", {"node_ids": [id], "max_hops": 3, "include_snippet": True, "session_id": id}
        yield "traverse_relationships", {"start_ids": [id], "max_depth": 3, "include_text": True}
        for tool in ("graph.paths", "get_paths_between"):
            yield tool, {"a_ids": [id], "b_ids": ids[:25], "max_hops": 5, "max_paths": 50}
        for tool in ("graph.describe", "describe_nodes", "summarize_neighborhood"):
            yield tool, {"node_ids": [id]}
        for tool in ("graph.parents", "graph.entities_for_sections", "list_parents", "get_section_text"):
            yield tool, {"section_ids": [id]}
        for tool in ("graph.sections_for_entities", "get_sections_for_entities"):
            yield tool, {"entity_ids": [id]}
        for tool in ("graph.children", "list_children"):
            yield tool, {"parent_id": id}
        yield "compute_context_bundle", {"seeds": [id]}


def drawn(data: Any) -> Iterator[str]:
    """What the server drew by lot for an answer: ids of passages and sessions, and signed cursors."""
    match data:
        case dict():
            for key, value in data.items():
                if key in RANDOM and isinstance(value, str) and RANDOM[key].fullmatch(value):
                    yield value
                else:
                    yield from drawn(value)
        case list():
            for each in data:
                yield from drawn(each)


def told(call: Any, tool: str, arguments: dict[str, Any]) -> str:
    """All that a call tells, but what it was given itself and what was drawn by lot."""
    answer = call.result(tool, **arguments)
    said = f"{json.dumps(answer.data)} {answer.text} {answer.blocks}"
    for value in sorted(drawn(answer.data), key=len, reverse=True):
        said = said.replace(value, "")
    given = [value for each in arguments.values() for value in (each if isinstance(each, list) else [each])]
    for value in sorted((value for value in given if isinstance(value, str)), key=len, reverse=True):
        said = said.replace(json.dumps(value)[1:-1], "")
    return said.lower()


# Verifies: REQ-d00180-B
@pytest.mark.parametrize("drawn_by", ["request", "configuration"])
def test_no_tool_tells_anything_of_a_document_outside_of_the_scope(kb: Make, drawn_by: str) -> None:
    wide = kb(FILES)
    ids = known_ids(wide)
    assert sum(SECRET in id.lower() for id in ids) >= 5
    found = wide("kb.search", query="margin zqtext", top_k=20, page_size=20, options={"max_per_doc": 10})["results"]
    passages = [each["passage_id"] for each in found]
    assert SECRET in told(wide, "kb.search", {"query": "margin"})
    is_configured = drawn_by == "configuration"
    call = kb(FILES, config='[kb]\ndoc_tags = ["open"]\n') if is_configured else wide
    for tool, arguments in questions(ids, passages):
        is_new = tool.startswith(("kb.", "graph."))
        if is_new or is_configured:
            scope = {"scope": SCOPE} if is_new and not is_configured else {}
            assert SECRET not in told(call, tool, {**arguments, **scope}), (tool, arguments)


# Verifies: REQ-d00180-B
def test_a_path_to_a_document_outside_of_the_scope_is_told_like_one_to_nothing(kb: Make) -> None:
    naming = "---\ndoc_tag: open\n---\n# Open\n\nSee `docs/hidden.md`, `docs/nowhere.md` and `tool.py`.\n"
    call = kb({"docs/open.md": naming, "docs/hidden.md": HIDDEN, "tool.py": "pass\n"})
    section, files = "doc:docs/open.md#open", ["file:docs/hidden.md", "file:docs/nowhere.md", "file:tool.py"]

    def met(**scope: Any) -> set[str]:
        nodes = call("graph.expand", node_ids=[section], rel_types=["MENTIONS"], direction="out", **scope)["nodes"]
        return {node["id"] for node in nodes if not node["id"].startswith("entity:")}

    def described(**scope: Any) -> list[str]:
        return [node["id"] for node in call("graph.describe", node_ids=files, **scope)["results"]]

    assert met() == {"doc:docs/hidden.md", "file:tool.py"}
    assert met(scope=SCOPE) == {"file:tool.py"}
    assert described(scope=SCOPE) == ["file:tool.py"]
    assert call("graph.expand", node_ids=["file:docs/hidden.md"], scope=SCOPE)["nodes"] == []
