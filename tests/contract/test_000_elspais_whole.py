"""What an agent may write back comes whole, however long it is and whatever else cites it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.elspais import pages
from tests.mcp_client import McpClient, Options, ToolFailed, estimate_tokens

from clew.project import Project

SENTENCE = "The clock SHALL show the hour of every town that is named in its table. "
LONG = (SENTENCE * 60).strip()
LABELS = "ABCDEF"


def spec(assertion: str) -> str:
    parents = ", ".join(f"REQ-p{number:05}" for number in range(1, 13))
    lines = "\n\n".join(f"{label}. {assertion}" for label in LABELS)
    own = f"## REQ-o00001: Towns\n\n**Level**: OPS | **Status**: Active | **Implements**: {parents}\n\n{LONG}\n\n"
    above = "".join(
        f"## REQ-p{number:05}: Table {number}\n\n**Level**: PRD | **Status**: Active\n\n*End* *Table {number}*\n\n"
        for number in range(1, 13)
    )
    below = "".join(
        f"## REQ-d{number:05}: Town {number}\n\n**Level**: DEV | **Status**: Active | **Implements**: REQ-o00001\n\n"
        f"*End* *Town {number}*\n\n"
        for number in range(1, 4)
    )
    return f"{above}{own}## Assertions\n\n{lines}\n\n*End* *Towns*\n\n{below}"


def client(root: Path, assertion: str) -> Iterator[McpClient]:
    for path, text in {
        "spec/all.md": spec(assertion),
        "clew.toml": "",
        "src/a.py": "".join(f"# Implements: REQ-o00001\ndef town_{number}():\n    pass\n\n\n" for number in range(150)),
        "tests/test_a.py": "".join(
            f"# Verifies: REQ-o00001-A\ndef test_{number}():\n    pass\n\n\n" for number in range(40)
        ),
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    project = Project.open(root)
    with McpClient(project, Options(profile="elspais")) as opened:
        yield opened
    project.close()


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[McpClient]:
    yield from client(tmp_path, LONG)


# Verifies: REQ-d00380-A, REQ-o00044-A
def test_text_assertions_and_parents_are_whole_by_default_and_within_a_small_budget(agent: McpClient) -> None:
    for asked in ({}, {"max_tokens": 400}):
        detail = agent("get_requirement", req_id="REQ-o00001", **asked)
        assert detail["body"].count(SENTENCE.strip()) == 60 * (1 + len(LABELS))
        assert [(each["label"], each["text"]) for each in detail["assertions"]] == [(label, LONG) for label in LABELS]
        assert len(detail["parents"]) == 12
        assert detail["properties"]["body_text"] is None
        assert detail["truncated"] is True


# Verifies: REQ-d00380-B
def test_requirements_come_before_tests_and_code_and_all_children_can_be_reached(agent: McpClient) -> None:
    first = agent("get_requirement", req_id="REQ-o00001", max_tokens=400)["children"]
    assert [each["kind"] for each in first[:3]] == ["requirement"] * 3
    found = pages(agent, "get_requirement", "children", req_id="REQ-o00001")
    assert [each["kind"] for each in found] == ["requirement"] * 3 + ["code"] * 150 + ["test"] * 40


# Verifies: REQ-d00380-C
def test_each_form_of_the_answer_has_the_whole_budget(tmp_path: Path) -> None:
    for agent in client(tmp_path, SENTENCE.strip()):
        answer = agent.answer("get_requirement", req_id="REQ-o00001")
        assert 3_500 <= estimate_tokens(answer.text) <= 4_100
        assert answer.data["truncated"] is True


# Verifies: REQ-d00380-A
def test_what_no_answer_can_hold_is_refused_and_not_cut(tmp_path: Path) -> None:
    for agent in client(tmp_path, LONG * 10):
        with pytest.raises(ToolFailed, match="longer than any answer may be"):
            agent("get_requirement", req_id="REQ-o00001")


# Verifies: REQ-d00380-D
def test_assertions_in_lists_are_whole(agent: McpClient) -> None:
    for tool, arguments in (
        ("find_assertions_by_keywords", {"keywords": ["town"]}),
        ("get_uncovered_assertions", {"req_id": "REQ-o00001"}),
    ):
        found = agent(tool, max_tokens=400, **arguments)["assertions"]
        assert found
        assert all(each["text"] == LONG for each in found)
