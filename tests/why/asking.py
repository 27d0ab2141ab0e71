"""Asks `why` over a real MCP connection, and judges answers against what is known."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.mcp_client import McpClient, Options

from clew.project import Project
from clew.why import inquiry

QUESTIONS = Path(__file__).with_name("questions.toml")


@dataclass(frozen=True)
class Question:
    shape: str
    target: str
    section: str = ""
    first: str = ""
    says: str = ""
    never: str = ""
    unknown: bool = False
    project: str = ""


@dataclass(frozen=True)
class Verdict:
    question: Question
    is_right: bool
    is_confident: bool
    """Whether it says something, be it right or wrong."""
    text: str


def questions() -> list[Question]:
    return [Question(**each) for each in tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))["question"]]


class Servers:
    """Servers of the projects below a folder, each started once."""

    def __init__(self) -> None:
        self._clients: dict[Path, McpClient] = {}
        # A cold answer has a deadline, which a busy machine may miss; what is judged here is what is said.
        self._deadline, inquiry.DEADLINE_SECONDS = inquiry.DEADLINE_SECONDS, 120.0

    def client(self, folder: Path) -> McpClient:
        client = self._clients.get(folder)
        if client is None:
            client = self._clients[folder] = McpClient(Project.open(folder), Options(toolsets=("all",)))
        return client

    def why(self, folder: Path, target: str, tool: str = "why") -> tuple[dict[str, Any], str, bool]:
        answer = self.client(folder).result(tool, target=target)
        return answer.data, answer.text, answer.is_error

    def close(self) -> None:
        inquiry.DEADLINE_SECONDS = self._deadline
        for client in self._clients.values():
            client.close()
            client.project.close()


def judged(question: Question, data: dict[str, Any], text: str, is_error: bool) -> Verdict:
    if is_error:
        return Verdict(question, question.unknown and "Not known" in text, False, text)
    section = next((each for each in data["sections"] if each["name"] == question.section), None)
    if question.unknown:
        absent = section is not None and not section.get("facts") and "Not known" in section.get("note", "")
        return Verdict(question, absent, not absent, text)
    if section is None:
        return Verdict(question, False, False, text)
    facts = [f"{fact['text']} {fact.get('place', '')}" for fact in section.get("facts", ())]
    whole = "\n".join([*facts, section.get("note", "")])
    is_right = (
        question.says in whole
        and (not question.first or (bool(facts) and question.first in facts[0]))
        and (not question.never or question.never not in whole)
    )
    return Verdict(question, is_right, bool(facts), text)
