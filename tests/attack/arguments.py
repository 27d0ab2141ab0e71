"""Attack: every argument of every tool that takes text, with a NUL byte and with half of a surrogate pair in it.

Each call has to get an answer that says what is wrong with the value, or none at all to complain about; an internal
error got through.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests import forked
from tests.attack.outcome import Outcome

from clew.operation.listing import all_tools

_DEMO = Path(__file__).parents[2] / "examples" / "demo"
_MARK = "PAYLOAD"
PAYLOADS = (r"spec/a\u0000.md", r"spec/\ud800.md")
"""As JSON spells them."""
_INTERNAL = -32603


def calls() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every tool, once for each argument that may be text; the text is the mark."""
    for tool in all_tools():
        schema = json.loads(bytes(tool.arguments))
        known, required = schema.get("properties", {}), schema.get("required", ())
        usual = {name: _value(known[name], schema) for name in required}
        for name, said in known.items():
            for value in _marked(said, schema):
                yield tool.tool or "", {**usual, name: value}


def _marked(said: dict[str, Any], schema: dict[str, Any]) -> Iterator[Any]:
    """The mark in every form that an argument may have: a text, one of a list, a value or a key of an object."""
    said = _resolved(said, schema)
    if "enum" in said:
        return
    for kind in said.get("anyOf", [said]):
        kind = _resolved(kind, schema)
        match _type(kind):
            case "string" if "enum" not in kind:
                yield _MARK
            case "array":
                yield from ([value] for value in _marked(kind.get("items", {"type": "string"}), schema))
            case "object":
                needed = {key: _value(kind["properties"][key], schema) for key in kind.get("required", ())}
                for key, inner in kind.get("properties", {}).items():
                    yield from ({**needed, key: value} for value in _marked(inner, schema))
                if not kind.get("properties"):
                    yield {_MARK: _MARK}


def _value(said: dict[str, Any], schema: dict[str, Any]) -> Any:
    """Something that the schema allows."""
    said = _resolved(said, schema)
    if "enum" in said:
        return said["enum"][0]
    kind = _resolved(said["anyOf"][0], schema) if "anyOf" in said else said
    match _type(kind):
        case "integer" | "number":
            return kind.get("minimum", 1)
        case "boolean":
            return False
        case "array":
            return [_value(kind["items"], schema)] if kind.get("minItems") else []
        case "object":
            return {key: _value(kind["properties"][key], schema) for key in kind.get("required", ())}
    return "REQ-d00001"


def _type(said: dict[str, Any]) -> str | None:
    """A type that may be left out counts as what it is otherwise."""
    kind = said.get("type")
    return next((each for each in kind if each != "null"), None) if isinstance(kind, list) else kind


def _resolved(said: dict[str, Any] | bool, schema: dict[str, Any]) -> dict[str, Any]:
    if isinstance(said, bool):
        return {}
    if "$ref" in said:
        found: dict[str, Any] = schema["$defs"][said["$ref"].rpartition("/")[2]]
        return found
    return said


def run(rounds: int) -> Outcome:
    """So many of all calls with each payload, spread evenly, in one server."""
    every = list(calls())
    number = min(rounds, len(every))
    chosen = [every[index * len(every) // number] for index in range(number)]
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "project")
        shutil.copytree(_DEMO, root, ignore=shutil.ignore_patterns(".clew"))
        with forked.Process(
            [sys.executable, "-m", "clew", "serve", str(root), "--toolsets", "all"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as server:
            client = {"name": "attack", "version": "1"}
            asked = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
            _answer(server, 0, json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": asked}))
            id = 0
            for tool, arguments in chosen:
                for payload in PAYLOADS:
                    id += 1
                    request = {"jsonrpc": "2.0", "id": id, "method": "tools/call"}
                    request["params"] = {"name": tool, "arguments": arguments}
                    answer = _answer(server, id, json.dumps(request).replace(_MARK, payload))
                    if answer is None or answer.get("error", {}).get("code") == _INTERNAL:
                        faults.append(f"{tool} {json.dumps(arguments).replace(_MARK, payload)[:200]}: {answer}")
                    if answer is None:
                        break
            server.stdin.close()  # type: ignore[union-attr]
    return Outcome(number * len(PAYLOADS), tuple(faults))


def _answer(server: "subprocess.Popen[bytes]", id: int, message: str) -> dict[str, Any] | None:
    """The answer to a request; None where the server is gone."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(message.encode() + b"\n")
    server.stdin.flush()
    for line in server.stdout:
        found: dict[str, Any] = json.loads(line)
        if found.get("id") == id:
            return found
    return None
