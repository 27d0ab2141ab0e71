"""Answers outside of the profiles: each fact once, and none lost."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.mcp_client import McpClient, Options, estimate_tokens

from clew.project import Project

SCENARIO = {"spec_id": "passage-windows", "requirement": "Days without a window"}
SAID_EMPTY = ("assertions", "parents", "children")
QUESTIONS = [
    *(
        ("elspais", "get_requirement", {"req_id": id})
        for id in ("REQ-d00001", "REQ-d00004", "REQ-p00001", "REQ-o00002")
    ),
    ("spox", "get_scenario", SCENARIO),
]


def facts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """The texts, figures and truths of an answer, each with the name of its field."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from facts(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from facts(each, name)
    elif value is not None and value != "":
        yield name, str(value)


def words(text: str) -> set[str]:
    """The words of a text, without the marks of its format."""
    found = {word.strip(".:-") for word in re.findall(r"[\w.%-]+", text)}
    return {word for word in found if not re.fullmatch(r"[A-Z]?|Assertions|Scenario|GIVEN|WHEN|THEN|AND", word)}


def without_nothing(value: Any) -> bool:
    if isinstance(value, dict):
        return all(each not in (None, "", [], {}) and without_nothing(each) for each in value.values())
    return all(map(without_nothing, value)) if isinstance(value, list) else True


# Verifies: REQ-d00852-A, REQ-d00852-B
@pytest.mark.parametrize(("profile", "tool", "given"), QUESTIONS, ids=lambda each: str(each)[:40])
def test_an_answer_has_every_fact_of_the_profile_once(
    opened: Callable[[Path], Project], demo: Path, profile: str, tool: str, given: dict[str, str]
) -> None:
    project = opened(demo)
    with McpClient(project, Options(profile=profile)) as client:
        whole = client.answer(tool, **given)
    with McpClient(project) as client:
        lean = client.answer(tool, **given)
    assert without_nothing({key: value for key, value in lean.data.items() if key not in SAID_EMPTY})
    known = list(facts(lean.data))
    said = words(" ".join(text for _, text in known))
    lost = [
        (name, text)
        for name, text in facts(whole.data)
        if name not in ("truncated", "keywords") and not words(text) <= said
    ]
    assert lost == []
    long = [text for _, text in known if len(text) > 40]
    assert len(set(long)) == len(long)
    for text in long:
        assert sum(text in other for other in long) == 1, text
    assert estimate_tokens(lean.text) <= 0.7 * estimate_tokens(whole.text)
