"""Clew's own source: each file leads to what asked for it and to what proves it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.why.asking import Servers, judged, questions
from tests.why.histories import own


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clew") / "clew"
    own(folder)
    return folder


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    servers = Servers()
    yield servers
    servers.close()


# Verifies: REQ-o00043-B
@pytest.mark.long
def test_every_file_leads_to_a_requirement_and_a_test(servers: Servers, project: Path) -> None:
    lacking = []
    for path in sorted((project / "src" / "clew").rglob("*.py")):
        name = path.relative_to(project).as_posix()
        data, text, is_error = servers.why(project, name)
        assert not is_error, text
        found = {each["name"]: each.get("facts", []) for each in data["sections"]}
        asked = [fact["text"] for fact in found["asked_for_by"] if "REQ-" in fact["text"]]
        if not asked or not found["tested_by"]:
            lacking.append((name, len(asked), len(found["tested_by"])))
    assert lacking == []


# Verifies: REQ-o00043-A
def test_questions_about_clew_itself_are_answered(servers: Servers, project: Path) -> None:
    about = [each for each in questions() if each.shape == "clew"]
    wrong = [each for each in (judged(q, *servers.why(project, q.target)) for q in about) if not each.is_right]
    assert len(about) >= 10
    assert [(each.question, each.text) for each in wrong] == []
