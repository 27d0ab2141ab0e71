"""The systems that Clew is tested on, written for, and checked by types for."""

import re
from pathlib import Path

import yaml

from clew.operation.listing import all_tools
from clew.operation.toolsets import Choice, choose

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "tests.yml"


def target(name: str) -> str:
    found = re.search(rf"(?ms)^{name}:.*?(?=^\S|\Z)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert found is not None
    return found[0]


# Verifies: REQ-d00825-A
def test_lint_checks_the_types_of_every_system() -> None:
    systems = re.findall(r"mypy --platform (\w+)", target("lint"))
    assert systems == ["darwin", "win32"]
    assert "mypy" in target("types")


# Verifies: REQ-d00825-B
def test_a_workflow_runs_lint_types_and_tests_on_three_systems() -> None:
    job = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["tests"]
    systems = {name.partition("-")[0] for name in job["strategy"]["matrix"]["os"]}
    assert systems == {"ubuntu", "macos", "windows"}
    commands = "\n".join(step.get("run", "") for step in job["steps"])
    for needed in ("ruff check", "ruff format --check", "mypy", "pytest", "clew check --strict"):
        assert needed in commands
    status = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Status")[2]
    assert status.lstrip().startswith("Clew is tested on Linux.")
    assert str(WORKFLOW.relative_to(ROOT).as_posix()) in status


# Verifies: REQ-d00825-C
def test_profiles_whose_clients_expect_events_get_heartbeats() -> None:
    for profile, events in (("context-graph", True), ("wekadocs", True), ("elspais", False)):
        assert choose(all_tools(), Choice(profile=profile), {}).heartbeat is events
