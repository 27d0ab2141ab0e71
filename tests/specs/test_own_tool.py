"""A folder is held to what its own tool asks, and its settings are heeded."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.formats.openspec.settings import LONGEST_CONTEXT, read_settings
from clew.surfaces.cli.main import main

SPEC = "# Lamp\n\n## Purpose\n\nTell people about light, at length and in plain words, so that they see.\n\n"
SPEC += "## Requirements\n\n### Requirement: Shine\n\nIt SHALL shine.\n"
SETTINGS = """# ours
schema: spec-driven
context: |
  We write Rust.

    - indented
  Done.
rules:
  proposal:
  - 'It''s short'
  tasks:
    - "Say \\"why\\""
    - one that goes on
      below
    - >
      folded
      text
other: [1, 2]
"""


def put(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def valid(capsys: pytest.CaptureFixture[str], root: Path, *rules: str) -> bool:
    capsys.readouterr()
    return main(["specs", "validate", "-C", str(root), *rules]) == 0


# Verifies: REQ-d00544-A
def test_the_rules_are_those_of_the_folders_own_tool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A requirement without a scenario is an error to OpenSpec, and a warning to Spec Oxide."""
    put(tmp_path, "spox/specs/lamp/spec.md", SPEC)
    put(tmp_path, "spox/specs/_changes/.keep", "")
    put(tmp_path, "open/openspec/specs/lamp/spec.md", SPEC)
    for folder in ("spox", "open"):
        put(tmp_path, f"{folder}/clew.toml", "")
    assert valid(capsys, tmp_path / "spox")
    assert not valid(capsys, tmp_path / "spox", "--rules", "all")
    assert not valid(capsys, tmp_path / "spox", "--rules", "openspec")
    assert not valid(capsys, tmp_path / "open")
    assert valid(capsys, tmp_path / "open", "--rules", "spox")


# Verifies: REQ-d00544-B
def test_what_spec_oxide_only_warns_of_is_archived_in_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    delta = "## ADDED Requirements\n\n### Requirement: Blink\n\nIt SHALL blink.\n"
    proposal = f"# Brighter\n\n## Why\n\n{'It is dark in here. ' * 4}\n\n## What Changes\n\n- More light\n"
    for folder, changes in (("spox/specs", "_changes"), ("open/openspec", "changes")):
        specs = folder if folder.endswith("specs") else f"{folder}/specs"
        put(tmp_path, f"{specs}/lamp/spec.md", SPEC)
        put(tmp_path, f"{folder}/{changes}/brighter/proposal.md", proposal)
        put(tmp_path, f"{folder}/{changes}/brighter/tasks.md", "- [x] 1.1 Do it\n")
        put(tmp_path, f"{folder}/{changes}/brighter/specs/lamp/spec.md", delta)
        put(tmp_path, f"{folder.partition('/')[0]}/clew.toml", "")
    words = ("change", "archive", "brighter", "--dry-run", "-C")
    assert main([*words, str(tmp_path / "spox")]) == 0
    capsys.readouterr()
    assert main([*words, str(tmp_path / "open")]) != 0
    assert "scenario" in capsys.readouterr().err


# Verifies: REQ-d00544-C
def test_settings_are_read_as_openspec_reads_them() -> None:
    read = read_settings(SETTINGS.encode())
    assert read.schema == "spec-driven"
    assert read.context == "We write Rust.\n\n  - indented\nDone."
    assert read.rules == {"proposal": ("It's short",), "tasks": ('Say "why"', "one that goes on below", "folded text")}
    assert read.problems == ()
    odd = read_settings(f"- no key\ncontext: {'x' * (LONGEST_CONTEXT + 1)}\nrules:\n  specs: one\n".encode())
    assert (odd.context, odd.rules) == ("", {})
    assert len(odd.problems) == 3


# Verifies: REQ-d00544-C
@given(st.text(alphabet=" \n-:|>#'\"ab\t", max_size=60))
def test_no_settings_are_beyond_reading(text: str) -> None:
    read_settings(f"rules:\n{text}".encode())
    read_settings(text.encode())


# Verifies: REQ-d00544-C
def test_instructions_tell_what_the_settings_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    put(tmp_path, "openspec/config.yaml", SETTINGS)
    put(tmp_path, "openspec/changes/brighter/proposal.md", "# Brighter\n\n## Why\n\nDark.\n")
    put(tmp_path, "clew.toml", "")
    assert main(["change", "instructions", "tasks", "brighter", "-C", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "We write Rust." in told
    assert "- folded text" in told
    assert "It's short" not in told
