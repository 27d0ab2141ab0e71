"""Errors of the tools on documents: every one has a code, and what nobody foresaw tells nothing."""

import inspect
import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.mcp_client import McpClient, Options

from clew import errors
from clew.errors import ClewError
from clew.kb.service import KnowledgeBase
from clew.project import Project
from clew.surfaces.mcp.dialects import document_code

CODES = {
    *("INVALID_ARGUMENT", "SCOPE_VIOLATION", "BACKEND_UNAVAILABLE", "TIMEOUT", "BUDGET_EXCEEDED", "INTERNAL_ERROR")
}
FILES = {"docs/harbour.md": "# Harbour\n\n## Margin\n\nThe default margin is 0.5 metres.\n"}


# Verifies: REQ-d00177-A
def test_every_error_there_is_has_one_of_the_six_codes() -> None:
    leaves = [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, ClewError)]
    assert len(leaves) > 20
    assert {document_code(leaf("x")) for leaf in leaves} == CODES


# Verifies: REQ-d00177-A
def test_a_store_that_cannot_be_used_is_a_backend_that_is_unavailable(
    make: Callable[..., Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make(FILES)
    project.kb.library.path.parent.mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(project, "engine", lambda: None)
    with McpClient(project) as client:
        assert client.error("kb.search", query="margin")["error"]["code"] == "BACKEND_UNAVAILABLE"


# Verifies: REQ-d00177-A
def test_a_failure_is_a_result_with_an_envelope_and_an_unforeseen_one_tells_nothing(
    make: Callable[..., Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: KnowledgeBase, asked: Any = None) -> None:
        raise RuntimeError("secret line of a document")

    with McpClient(make(FILES), Options(profile="wekadocs")) as client:
        with monkeypatch.context() as patched:
            patched.setattr(KnowledgeBase, "boundary", broken)
            failed = client.result("kb.search", query="margin")
        assert failed.is_error
        assert failed.data["error"]["code"] == "INTERNAL_ERROR"
        assert "secret" not in json.dumps(failed.data) + failed.text
        assert client("kb.search", query="margin")["results"]
