"""What `make clients` tries, and what it takes for a failure."""

import json
from pathlib import Path

import pytest
from tests.clients.hosts import PROGRAM, checks
from tests.clients.libraries import ANSWER, LIBRARIES, SCRIPTS, problem_with

NAMES = [f"tool_{number}" for number in range(30)]


# Verifies: REQ-d00532-A
def test_the_clients_are_those_that_install_without_an_account() -> None:
    assert [library.name for library in LIBRARIES] == [
        "mcp 1.9",
        "mcp 1.30",
        "mcp 2",
        "fastmcp",
        "pydantic-ai",
        "langchain-mcp-adapters",
        "openai-agents",
    ]
    for library in LIBRARIES:
        compile((SCRIPTS / library.script).read_text(encoding="utf-8"), library.script, "exec")
    assert len(checks()) == 5


# Verifies: REQ-d00532-A
@pytest.mark.parametrize(
    ("names", "answer", "says"),
    [
        (NAMES, f"... {ANSWER} ...", ""),
        (NAMES[:5], ANSWER, "only 5 tools were listed"),
        ([*NAMES, "kb.search"], ANSWER, "models refuse these names: kb.search"),
        ([*NAMES, "a" * 65], ANSWER, "models refuse these names"),
        (NAMES, "nothing", "the answer is 'nothing'"),
    ],
)
def test_a_client_fails_on_few_tools_bad_names_and_another_answer(names: list[str], answer: str, says: str) -> None:
    problem = problem_with({"names": names, "answer": answer})
    assert problem.startswith(says)
    assert bool(problem) == bool(says)


# Verifies: REQ-d00532-B
def test_the_programs_of_the_hosts_are_locked_by_hash() -> None:
    asked = json.loads((PROGRAM.locks / "package.json").read_text(encoding="utf-8"))["dependencies"]
    lock = json.loads((PROGRAM.locks / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    for name, version in asked.items():
        assert lock[f"node_modules/{name}"]["version"] == version
    assert all(
        entry.get("integrity", "").startswith("sha512-") for path, entry in lock.items() if _is_installed(path, entry)
    )
    assert "://" not in "".join(str(entry.get("resolved", "")) for entry in lock.values()), "no address of a registry"


def _is_installed(path: str, entry: dict[str, object]) -> bool:
    return bool(path) and not entry.get("inBundle") and Path(path).parts[0] == "node_modules"
