"""Register files for the tests: the real one of the req project where it is at hand, and small ones."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.formats.register.canonical import canonical, digest, pretty
from clew.formats.register.single import payload_of

REAL = Path(__file__).parents[4] / "shared" / "data" / "register" / "project.req"


@pytest.fixture
def real() -> bytes:
    if not REAL.exists():
        pytest.skip("the register of the req project is not at hand")
    return REAL.read_bytes()


@pytest.fixture
def document() -> dict[str, Any]:
    """A small register in the form of today."""
    text = """
    {"_format": "req-v3", "name": "demo", "created": "2026-05-17T06:44:00Z", "updated": "2026-05-17T06:44:00.5Z",
     "next_id": 2, "requirements": {"REQ-0001": {
        "id": "REQ-0001", "title": "Lock the account", "statement": "The system shall lock the account at once.",
        "rationale": "Guessing has to stop.", "acceptance": ["The sixth try is refused"], "kind": "NonFunctional",
        "priority": "Must", "status": "Draft", "tags": [], "links": [], "created": "2026-05-17T06:44:00Z",
        "updated": "2026-05-17T06:44:00Z", "tests": [], "history": [{"at": "2026-05-17T06:44:00Z", "actor": "ann",
        "actor_kind": "Human", "action": "created", "reason": null}]}}}
    """
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@pytest.fixture
def sealed() -> Callable[[dict[str, Any]], bytes]:
    """The file of a document, with the right checksum."""

    def seal(document: dict[str, Any]) -> bytes:
        return pretty({**document, "_integrity": digest(canonical(payload_of(document)))})

    return seal
