"""Merging into JSON: everything else stays, down to the byte."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.setup.clients.configure import client_config, write_plan
from clew.setup.clients.json_text import read_object

# Verifies: REQ-d00018-C

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
names = st.text(max_size=6).filter(lambda name: name not in ("clew", "mcpServers"))
documents = st.dictionaries(names, values, max_size=4)
servers = st.none() | st.dictionaries(names, values, max_size=3)
layouts = st.fixed_dictionaries(
    {
        "indent": st.sampled_from([None, 0, 1, 2, 4, "\t"]),
        "separators": st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")]),
        "ensure_ascii": st.booleans(),
    }
)


def written(document: dict, layout: dict, newline: str, mark: str, tail: str) -> bytes:
    # JSON escapes line ends inside strings, so every bare one belongs to the layout.
    return (mark + json.dumps(document, **layout) + tail).replace("\n", newline).encode()


def lost(before: bytes, after: bytes) -> bytes:
    """What of the old bytes is missing in the new ones, given that the edit is in one place."""
    start = shared(before, after)
    end = shared(before[start:][::-1], after[start:][::-1])
    return before[start : len(before) - end]


def shared(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    return next(
        (number for number, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


@settings(max_examples=examples(200))
@given(
    document=documents,
    present=servers,
    position=st.integers(0, 4),
    layout=layouts,
    newline=st.sampled_from(["\n", "\r\n"]),
    mark=st.sampled_from(["", "\ufeff"]),
    tail=st.sampled_from(["", "\n", " \n\n"]),
)
def test_merging_keeps_everything_else_and_is_done_once(document, present, position, layout, newline, mark, tail):
    items = list(document.items())
    if present is not None:
        items.insert(position, ("mcpServers", present))
    document = dict(items)
    before = written(document, layout, newline, mark, tail)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ".mcp.json"
        path.write_bytes(before)

        plan = client_config("claude-code", Path(folder), ("clew",))
        write_plan(plan)
        after = path.read_bytes()
        again = client_config("claude-code", Path(folder), ("clew",))

    merged = json.loads(after.decode("utf-8-sig"))
    entry = merged["mcpServers"].pop("clew")
    assert entry == {"type": "stdio", "command": "clew", "args": ["serve", "."]}
    assert merged == {**document, "mcpServers": present or {}}
    assert list(merged) == list({**document, "mcpServers": None})
    assert lost(before, after).strip() == b""
    assert (again.state, again.changed) == ("same", False)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '{\n    "mcpServers": {\n        "a": {"command": "x"}\n    }\n}\n',
            '{\n    "mcpServers": {\n        "a": {"command": "x"},\n        "clew": {\n            "type": "stdio",\n'
            '            "command": "clew",\n            "args": [\n                "serve",\n                "."\n'
            "            ]\n        }\n    }\n}\n",
        ),
        (
            '{\r\n\t"x": 1.50,\r\n\t"mcpServers": {}\r\n}',
            '{\r\n\t"x": 1.50,\r\n\t"mcpServers": {\r\n\t\t"clew": {\r\n\t\t\t"type": "stdio",\r\n'
            '\t\t\t"command": "clew",\r\n\t\t\t"args": [\r\n\t\t\t\t"serve",\r\n\t\t\t\t"."\r\n'
            "\t\t\t]\r\n\t\t}\r\n\t}\r\n}",
        ),
        (
            '{"mcpServers":{"a":1}}',
            '{"mcpServers":{"a":1, "clew": {"type": "stdio", "command": "clew", "args": ["serve", "."]}}}',
        ),
        (
            '{"mcpServers": {}}',
            '{"mcpServers": {"clew": {"type": "stdio", "command": "clew", "args": ["serve", "."]}}}',
        ),
        (
            "{ }",
            '{\n  "mcpServers": {\n    "clew": {\n      "type": "stdio",\n      "command": "clew",\n      "args": [\n'
            '        "serve",\n        "."\n      ]\n    }\n  }\n}',
        ),
    ],
)
def test_the_addition_is_laid_out_like_its_neighbours(project, before, after):
    (project / ".mcp.json").write_bytes(before.encode())

    assert client_config("claude-code", project, ("clew",)).after == after


def test_numbers_and_escapes_keep_their_spelling(project):
    text = '{"big": 1e400, "exact": 0.10000000000000000001, "text": "\\u00e9\\/", "mcpServers": {}}'
    (project / ".mcp.json").write_text(text)

    after = client_config("claude-code", project, ("clew",)).after

    assert after.startswith(text.removesuffix("}}"))


@pytest.mark.parametrize("between", ["/" * 200, "/**/" * 60, "/* a */ // b\n" * 60], ids=["slashes", "empty", "both"])
def test_many_comments_between_members_are_read_at_once(between: str) -> None:
    assert read_object(f'{{"a": 1,\n  {between}\n"b": 2,{between}\n}}') == {"a": 1, "b": 2}
