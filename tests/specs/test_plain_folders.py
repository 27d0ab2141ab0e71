"""Trees of specs as people have them: without any mark, without a proposal, and with the same addition twice."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.mcp_client import McpClient, Options

from clew.project import Project
from clew.surfaces.cli.main import main

Open = Callable[[Path], Project]

REQUIREMENT = "### Requirement: {}\n\nThe lamp SHALL burn.\n\n#### Scenario: Dusk\n\n- **WHEN** dusk\n- **THEN** burn\n"
SPEC = "# Lamp\n\n## Purpose\n\nThe lamp shows ships where the rock is.\n\n## Requirements\n\n" + REQUIREMENT.format(
    "Burn"
)


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


@pytest.fixture
def serve(tmp_path: Path, opened: Open) -> Iterator[Callable[[str], McpClient]]:
    clients: list[McpClient] = []

    def connect(profile: str) -> McpClient:
        clients.append(McpClient(opened(tmp_path), Options(profile=profile)))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


# Verifies: REQ-d00388-A
def test_a_folder_with_nothing_but_specs_is_found(tmp_path: Path, serve: Callable[[str], McpClient]) -> None:
    write(tmp_path, {"specs/lamp/spec.md": SPEC})
    assert [each["id"] for each in serve("spox")("list_specs")["specs"]] == ["lamp"]


# Verifies: REQ-d00388-A
def test_a_folder_of_another_tool_is_left_alone(tmp_path: Path, serve: Callable[[str], McpClient]) -> None:
    write(
        tmp_path, {"specs/001-login/spec.md": "# Login\n\n## Requirements\n\n### Functional Requirements\n\n- FR-001\n"}
    )
    assert serve("spox")("list_specs")["specs"] == []


# Verifies: REQ-d00388-B, REQ-d00388-C
def test_changes_are_listed_with_what_they_lack_and_what_they_repeat(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], serve: Callable[[str], McpClient]
) -> None:
    delta = f"## ADDED Requirements\n\n{REQUIREMENT.format('Ring')}"
    proposal = "# Ring\n\n## Why\n\nShips.\n\n## What Changes\n\n- Bells.\n"
    write(
        tmp_path,
        {
            "openspec/specs/lamp/spec.md": SPEC,
            "openspec/changes/one/proposal.md": proposal,
            "openspec/changes/one/specs/lamp/spec.md": delta,
            "openspec/changes/two/specs/lamp/spec.md": delta,
        },
    )
    listed = serve("spox")("list_changes")["changes"]
    assert [(each["id"], each["problem"]) for each in listed] == [("one", None), ("two", "It has no proposal.md.")]
    assert main(["change", "list", "-C", str(tmp_path)]) == 0
    assert "It has no proposal.md." in capsys.readouterr().out
    main(["change", "conflicts", "-C", str(tmp_path)])
    assert "'one', 'two' add 'Ring' of 'lamp' word for word" in capsys.readouterr().out
