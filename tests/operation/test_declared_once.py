"""One line in the declaration of an operation reaches the tool, the command, the batch and the reference page."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests import forked

import clew
from clew.operation.declare import Operation

LAST_FIELD = '    parent: Annotated[str | None, Meta(description="Id of a parent requirement")] = None\n'
ONE_MORE = '    owner: Annotated[str | None, Meta(description="Who answers for it")] = None\n'
MUTATION = {
    "kind": "add",
    "title": "Lock the account",
    "statement": "The system shall lock the account after five failed logins.",
    "rationale": "Guessing has to stop somewhere.",
    "acceptance": ["The sixth login is refused"],
}
MAKE_DOCS = """
import pathlib, sys
from clew.operation.prepare import write_listing
write_listing()
from clew.operation.listing import all_tools
from clew.operation.prepare import write_pages
write_pages(all_tools(), pathlib.Path(sys.argv[1]))
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs Python in an empty project, with a copy of Clew whose req_add has one more field."""
    package = tmp_path / "source" / "clew"
    shutil.copytree(Path(clew.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    declaration = package / "register" / "requests.py"
    text = declaration.read_text(encoding="utf-8")
    assert text.count(LAST_FIELD) == 1
    declaration.write_text(text.replace(LAST_FIELD, LAST_FIELD + ONE_MORE), encoding="utf-8")
    project = tmp_path / "project"
    project.mkdir()
    (project / "clew.toml").touch()
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}

    def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
        return forked.run(
            [sys.executable, *arguments], cwd=project, env=environment, capture_output=True, text=True, check=False
        )

    made = run_python("-c", MAKE_DOCS, str(tmp_path / "pages"))
    assert made.returncode == 0, made.stderr
    return run_python


# Verifies: REQ-o00004-A
def test_a_field_added_in_one_place_shows_everywhere(run: Run, tmp_path: Path) -> None:
    listed = json.loads((tmp_path / "source" / "clew" / "operation" / "listing.json").read_text(encoding="utf-8"))
    tool = next(each for each in listed if each.get("tool") == "req_add")
    assert tool["arguments"]["properties"]["owner"]["description"] == "Who answers for it"

    assert "| `owner` | string or null | Who answers for it; default null |" in (
        tmp_path / "pages" / "register.md"
    ).read_text(encoding="utf-8")

    helped = " ".join(run("-m", "clew", "req", "add", "--help").stdout.split())
    assert "--owner OWNER who answers for it" in helped

    assert run("-m", "clew", "req", "init", "--name", "Demo").returncode == 0
    schema = json.loads(run("-m", "clew", "req", "schema", "batch", "--json").stdout)
    added = schema["properties"]["mutations"]["items"]["oneOf"][0]
    assert added["properties"]["owner"] == {"type": "string"}

    batch = tmp_path / "batch.json"
    batch.write_text(json.dumps([{**MUTATION, "owner": "Ada"}]), encoding="utf-8")
    done = run("-m", "clew", "req", "batch", str(batch))
    assert (done.returncode, done.stdout) == (0, "Applied 1 mutations.\n"), done.stderr
    batch.write_text(json.dumps([{**MUTATION, "owner": 5}]), encoding="utf-8")
    refused = run("-m", "clew", "req", "batch", str(batch))
    assert refused.returncode != 0
    assert "'owner'" in refused.stderr


# Verifies: REQ-d00681-B
def test_a_request_whose_field_hides_a_method_of_operations_is_refused() -> None:
    class Hiding(msgspec.Struct, frozen=True):
        text: str

    with pytest.raises(TypeError, match=r"Hidden\.text hides a method; call it text_"):

        class Hidden(Hiding, Operation, tool="hidden"):
            """Has a field that stands where its text is made."""
