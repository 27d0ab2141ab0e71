"""The second source document: every argument of every tool of cognition with every value that its schema forbids."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.memory_client import WHY, Memory, remembering, write_project
from tests.mcp_client import Options, list_tools

ID = "00000000-0000-4000-8000-000000000000"
NEEDED: dict[str, dict[str, Any]] = {
    "trigger_workspace_broadcast": {"memory_id": ID},
    "adjust_coupling": {"new_K": 1.0},
    "gwt_compute_delta_sc": {"old_fingerprint": ID, "new_fingerprint": ID},
    "trigger_recalibration": {"level": 1},
    "set_threshold_prior": {"threshold_type": "edge", "value": 0.6, "rationale": WHY},
    "get_threshold_history": {"threshold_type": "edge"},
    "explain_threshold": {"threshold_type": "edge"},
    "adjust_neuromodulator": {"modulator": "dopamine", "delta": 0.1},
    "omni_infer": {"source": ID, "direction": "abduction"},
    "search_teleological": {"query_content": "lamps"},
    "compute_teleological_vector": {"content": "lamps"},
    "fuse_embeddings": {"memory_id": ID},
    "update_synergy_matrix": {"query_vector_id": ID, "result_vector_id": ID, "feedback": "relevant"},
    "manage_teleological_profile": {"action": "list"},
    "observe_outcome": {"prediction_id": "x", "actual_outcome": 1},
    "execute_prune": {"node_ids": [], "reason": "orphan"},
    "trigger_healing": {"subsystem": "utl"},
}
"""Arguments that are right as far as they go."""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with remembering(write_project(tmp_path / "harbour")) as client:
        yield client


def tools() -> dict[str, Any]:
    listed, core = list_tools(Options(toolsets=("cognition",))), list_tools(Options(toolsets=()))
    return {name: tool.input_schema for name, tool in listed.items() if name not in core}


def alternatives(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """What a value may be, apart from null."""
    several = [each for part in schema.get("anyOf", [schema]) for each in part.get("anyOf", [part])]
    return [each for each in several if each.get("type") != "null"]


def spelled(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)


Wrong = tuple[Any, tuple[str, ...]]
"""A value that is forbidden, and what the error has to name."""


def wrong_numbers(own: dict[str, Any]) -> Iterator[Wrong]:
    for value in ("x", [1], True, *((1.5,) if own["type"] == "integer" else ())):
        yield value, ()
    if "minimum" in own:
        yield own["minimum"] - 1, (spelled(own["minimum"]),)
    if "maximum" in own:
        yield own["maximum"] + 1, (spelled(own["maximum"]),)


def wrong_texts(own: dict[str, Any]) -> Iterator[Wrong]:
    yield 17, ()
    if own.get("minLength"):
        yield "", (str(own["minLength"]),)
    if "maxLength" in own:
        yield "x" * (own["maxLength"] + 1), (str(own["maxLength"]),)


def wrong_lists(own: dict[str, Any]) -> Iterator[Wrong]:
    inner = own["items"] or own["prefixItems"][0]
    value: Any = {"number": 0.5, "integer": 1}.get(inner.get("type"), ID)
    yield "x", ()
    if "maxItems" in own:
        yield [value] * (own["maxItems"] + 1), (str(own["maxItems"]),)
    if own.get("minItems"):
        yield [value] * (own["minItems"] - 1), (str(own["minItems"]),)


def wrong(schema: dict[str, Any]) -> Iterator[Wrong]:
    """Values that a schema forbids."""
    several = alternatives(schema)
    own = several[0] if len(several) == 1 else {}
    kind = own.get("type")
    if "enum" in own:
        yield "nonsense", tuple(str(each) for each in own["enum"] if each is not None)
        yield 17, ()
    elif kind in ("number", "integer"):
        yield from wrong_numbers(own)
    elif kind == "string":
        yield from wrong_texts(own)
    elif kind == "array":
        yield from wrong_lists(own)
    elif kind in ("boolean", "object"):
        yield "yes", ()


# Verifies: REQ-d00350-A
def test_tc_def_003_tc_def_004_every_forbidden_value_of_every_argument_is_refused(memory: Memory) -> None:
    tried = 0
    store = memory.project.memory.home.store
    before = [event.seq for event in store.events()]
    for tool, schema in tools().items():
        for name, about in schema["properties"].items():
            for value, named in wrong(about):
                error = memory.failure(tool, **{**NEEDED.get(tool, {}), name: value}).error
                where = f"{tool}.{name} = {str(value)[:40]}: {error.message}"
                assert error.code == -32002, where
                assert error.data["jsonrpc_code"] == -32602, where
                assert error.data["recovery"], where
                assert name in error.message, where
                said = error.message.replace(",", "")
                assert all(each in said for each in named), where
                tried += 1
        for name in schema.get("required", ()):
            given = {key: value for key, value in NEEDED[tool].items() if key != name}
            error = memory.failure(tool, **given).error
            assert error.code == (-32009 if name == "rationale" else -32002), f"{tool} without {name}"
            assert name in error.message
    assert tried > 250
    assert [event.seq for event in store.events()] == before
