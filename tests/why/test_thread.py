"""What every answer of `why` and `context` keeps to, over a real connection."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.why.asking import Servers
from tests.why.histories import SUBTLE, Repository, gone, many_commits, people, plain, specified, subtle

from clew.text.tokens import estimate_tokens

RANKS = {"stated": 0, "exact": 0, "recorded": 1, "index": 1, "run": 1, "inferred": 2, "name": 2}
ORDER = [
    "what",
    "asked_for_by",
    "made_by",
    "versions",
    "decided",
    "used_by",
    "tested_by",
    "proved_by",
    "open_changes",
    "authors",
]


@pytest.fixture
def servers() -> Iterator[Servers]:
    servers = Servers()
    yield servers
    servers.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    specified(tmp_path / "project")
    return tmp_path / "project"


def sections(servers: Servers, folder: Path, target: str) -> dict[str, dict[str, Any]]:
    data, text, is_error = servers.why(folder, target)
    assert not is_error, text
    return {each["name"]: each for each in data["sections"]}


def told(section: dict[str, Any]) -> str:
    return "\n".join([*(fact["text"] for fact in section.get("facts", ())), section.get("note", "")])


TARGETS = (
    *("src/warn.py", "src/warn.py:6", "src/warn.py:2", "src/warn.py:4-6", "src/warn.py::helper", "warn"),
    *("REQ-d00001", "REQ-d00001-A", "tests/test_warn.py::test_warns_in_time", "docs/guide.md#guide", "HEAD"),
)


# Verifies: REQ-d00360-B, REQ-d00360-C
@pytest.mark.parametrize("target", TARGETS)
def test_every_line_has_a_basis_and_every_empty_section_says_so(servers: Servers, project: Path, target: str) -> None:
    found = sections(servers, project, target)
    for each in found.values():
        ranks = [RANKS[fact["basis"]] for fact in each.get("facts", ())]
        assert ranks == sorted(ranks)
        assert ranks or each["note"]
        assert all(fact.get("place") for fact in each.get("facts", ()))
    assert [name for name in found if name in ORDER] == [name for name in ORDER if name in found]


# Verifies: REQ-d00360-A
@pytest.mark.parametrize("target", ["src/warn.py:99", "src/warn.py:0", "src/warn.py::nothing", "REQ-d00002", "../x.py"])
def test_what_is_not_known_is_said_to_be_not_known(servers: Servers, project: Path, target: str) -> None:
    data, text, is_error = servers.why(project, target)
    assert is_error
    assert "Not known" in text
    assert data["hint"]


# Verifies: REQ-d00360-E
def test_citations_are_inherited_from_function_file_and_package(servers: Servers, project: Path) -> None:
    package = project / "src" / "port"
    package.mkdir()
    (package / "__init__.py").write_text("# Implements: REQ-d00001\n")
    (package / "quay.py").write_text("def quay():\n    return 1\n")
    inherited = sections(servers, project, "src/port/quay.py:2")["asked_for_by"]["facts"][0]
    assert inherited["basis"] == "inferred"
    assert "the package src/port" in inherited["text"]
    facts = sections(servers, project, "src/warn.py:6")["asked_for_by"]["facts"]
    assert {fact["basis"] for fact in facts if "inherited from warn" in fact["text"]} == {"inferred"}
    assert sections(servers, project, "src/warn.py::warn")["asked_for_by"]["facts"][0]["basis"] == "stated"


# Verifies: REQ-d00360-D, REQ-d00365-A
def test_context_keeps_its_budget_and_begins_with_obligations(servers: Servers, project: Path) -> None:
    data, text, is_error = servers.why(project, "src/warn.py::warn", tool="context")
    assert not is_error
    assert estimate_tokens(text) <= 900
    names = [each["name"] for each in data["sections"]]
    assert (names[0], names[-1]) == ("asked_for_by", "excerpt")
    assert names.index("reason") < names.index("tested_by") < names.index("excerpt")
    # What was not found is one line, and the text has the numbers of its lines.
    assert all(each["facts"] for each in data["sections"])
    assert data["notes"][-1].startswith("Nothing found for: used by")
    assert data["sections"][-1]["facts"][0]["text"].startswith("5 ")


# Verifies: REQ-d00364-A, REQ-d00364-B
def test_a_requirement_that_moved_to_another_file_keeps_its_versions(servers: Servers, project: Path) -> None:
    repo = Repository(project)
    repo.git("mv", "spec/warning.md", "spec/other.md")
    (project / "spec" / "warning.md").write_text("# Empty\n")
    repo.commit("Another file")
    versions = told(sections(servers, project, "REQ-d00001")["versions"])
    assert versions.index("Warn earlier") < versions.index("Warn ships")
    assert "changed (A)" in versions


# Verifies: REQ-d00364-C
def test_a_result_from_before_the_change_says_so(servers: Servers, project: Path) -> None:
    os.utime(project / "reports" / "junit.xml", (1_600_000_000, 1_600_000_000))
    assert "before this change" in told(sections(servers, project, "src/warn.py::warn")["tested_by"])


STAMPED = (
    '<testsuite name="t" timestamp="{at}"><testcase classname="tests.test_warn" name="test_warns_in_time"/></testsuite>'
)


# Verifies: REQ-d00364-C
def test_a_report_is_as_old_as_it_says_or_as_its_commit(servers: Servers, project: Path) -> None:
    def result() -> str:
        return told(sections(servers, project, "src/warn.py::warn")["tested_by"])

    # A clone gives every file the time of the clone, and the report was committed long after the code.
    assert "passed (2023-11-18" in result()
    report = project / "reports" / "junit.xml"
    report.write_text(STAMPED.format(at="2023-11-16T00:00:00+00:00"))
    assert "passed (2023-11-16" in result()
    assert "before this change" in result()
    report.write_text(STAMPED.format(at="2023-11-19T00:00:00+00:00"))
    assert "before this change" not in result()


# Verifies: REQ-d00364-C
def test_executed_lines_are_told_with_their_age(servers: Servers, project: Path) -> None:
    (project / "clew.toml").write_text('[tests]\nresults = ["reports/junit.xml", "reports/coverage.json"]\n')
    files = '{"src/warn.py": {"executed_lines": [5, 6], "missing_lines": [10]}}'
    meta = '{"version": "7.0", "timestamp": "2023-11-16T00:00:00+00:00"}'
    (project / "reports" / "coverage.json").write_text(f'{{"meta": {meta}, "files": {files}}}')
    lines = told(sections(servers, project, "src/warn.py:6")["tested_by"])
    assert "1 of 1 line executed by the tests (2023-11-16" in lines
    assert "before this change" in lines
    assert "2 of 3 lines executed" in told(sections(servers, project, "src/warn.py")["tested_by"])


# Verifies: REQ-d00360-G
def test_a_file_is_told_by_what_it_says_and_not_by_its_licence(servers: Servers, project: Path) -> None:
    legal = "# Copyright 2020 Somebody\n# Licensed under something.\n\n"
    (project / "src" / "legal.py").write_text(f'{legal}"""Counts the buoys."""\n\nBUOYS = 3\n')
    (project / "src" / "only.py").write_text(f"{legal}BUOYS = 3\n")
    what = told(sections(servers, project, "src/legal.py")["what"])
    assert "it says of itself: Counts the buoys." in what
    assert "Copyright" not in what
    assert "says of itself" not in told(sections(servers, project, "src/only.py")["what"])


# Verifies: REQ-d00362-A, REQ-d00362-C
def test_the_history_follows_head_forth_and_back(servers: Servers, tmp_path: Path) -> None:
    plain(tmp_path)
    before = {path for path in (tmp_path / ".git").rglob("*") if "clew" not in path.parts}
    assert "Use the table" in told(sections(servers, tmp_path, "main.py")["made_by"])
    assert {path for path in (tmp_path / ".git").rglob("*") if "clew" not in path.parts} == before
    repo = Repository(tmp_path)
    repo.commit("One more", {"main.py": "print(1)\n"})
    assert "One more" in told(sections(servers, tmp_path, "main.py")["made_by"])
    repo.git("reset", "-q", "--hard", "HEAD~1")
    repo.commit("Another branch of events", {"main.py": "print(2)\n"})
    made = told(sections(servers, tmp_path, "main.py")["made_by"])
    assert "Another branch of events" in made
    assert "One more" not in made


# Verifies: REQ-d00362-A
def test_the_history_follows_mailmap_and_replacements_without_a_new_commit(servers: Servers, tmp_path: Path) -> None:
    plain(tmp_path)
    repo = Repository(tmp_path)
    before = told(sections(servers, tmp_path, "main.py")["authors"])
    name, address = repo.git("log", "-1", "--format=%an%n%ae").splitlines()
    assert name in before
    (tmp_path / ".mailmap").write_text(f"Somebody Else <else@example.org> {name} <{address}>\n")
    assert "Somebody Else" in told(sections(servers, tmp_path, "main.py")["authors"])
    other = repo.git("commit-tree", "HEAD^{tree}", "-m", "Said better")
    repo.git("replace", "HEAD", other)
    assert "Said better" in told(sections(servers, tmp_path, "main.py")["made_by"])


# Verifies: REQ-d00362-B
def test_a_history_that_is_not_read_yet_says_how_far_it_is(servers: Servers, tmp_path: Path) -> None:
    from clew.derived.history_reader import HistoryReader

    many_commits(tmp_path / "project")
    reader = HistoryReader(tmp_path / "project", lambda: tmp_path / "derived")
    try:
        first = reader.ensure(0.0)
        assert any("read" in note for note in first.notes)
        assert not first.is_complete
        reader.complete()
        last = reader.ensure(0.0)
        assert (last.notes, last.is_complete) == ((), True)
        assert len(reader.history.of_path("log.py", 5_000)) == 2_000
    finally:
        reader.close()


# Verifies: REQ-d00363-A, REQ-d00363-C
def test_symbols_are_linked_and_edits_are_seen_at_once(servers: Servers, project: Path) -> None:
    user = project / "src" / "user.py"
    user.write_text("from warn import helper\nimport nowhere\n\n\ndef use():\n    return helper()\n")
    found = sections(servers, project, "src/warn.py::helper")["used_by"]["facts"]
    assert ("call in use: return helper()", "src/user.py:6", "exact") in {
        (fact["text"], fact["place"], fact["basis"]) for fact in found
    }
    user.write_text("def use():\n    return 3\n")
    assert "call in use" not in told(sections(servers, project, "src/warn.py::helper")["used_by"])
    assert "function use" in told(sections(servers, project, "use")["what"])


# Verifies: REQ-d00363-B
def test_no_figure_about_requirements_changes_by_source_code(servers: Servers, project: Path) -> None:
    servers.why(project, "REQ-d00001")
    client = servers.client(project)
    before = client("get_graph_status"), client("query_nodes", limit=500)["total"], client("get_project_summary")
    servers.why(project, "src/warn.py")
    after = client("get_graph_status"), client("query_nodes", limit=500)["total"], client("get_project_summary")
    assert before == after
    assert "symbol" not in before[0]["node_counts"]


# Verifies: REQ-d00361-A, REQ-d00361-B, REQ-d00361-C, REQ-d00361-D
def test_each_line_is_told_by_the_commit_that_wrote_it(servers: Servers, tmp_path: Path) -> None:
    repo = Repository(tmp_path)
    rows: list[str] = []
    for number in range(12):
        rows.insert(number // 2, f"value_{number} = {number}")
        repo.commit(f"Line {number}", {"rows.py": "\n".join(rows) + "\n"})
    repo.commit("Only spaces", {"rows.py": "\n".join(row.replace(" = ", "=") for row in rows) + "\n"})
    for place, row in enumerate(rows, 1):
        made = sections(servers, tmp_path, f"rows.py:{place}")["made_by"]
        assert f'"Line {row.rpartition(" ")[2]}"' in made["facts"][0]["text"]
        assert 'since then reformatted it: "Only spaces"' in told(made)


# Verifies: REQ-d00360-F
def test_what_was_decided_is_told_where_it_holds_and_marked_where_it_does_not(servers: Servers, project: Path) -> None:
    content, why = "Pilots are warned by radio.", "flags are not seen in fog"
    servers.client(project)(
        "store_memory", content=content, rationale=why, kind="decision", about=["src/warn.py::warn"]
    )

    def decided(target: str) -> list[tuple[str, str]]:
        return [
            (each["basis"], each["text"]) for each in sections(servers, project, target)["decided"].get("facts", ())
        ]

    ((basis, text),) = decided("src/warn.py::warn")
    assert (basis, content in text, why in text) == ("stated", True, True)
    assert [basis for basis, _ in decided("src/warn.py:6")] == ["inferred"]
    assert decided("src/warn.py::helper") == []
    code = project / "src" / "warn.py"
    code.write_text(code.read_text().replace("port.low() - 20", "port.low() - 30"))
    ((_, text),) = decided("src/warn.py::warn")
    assert "stale" in text
    assert "differ from the last commit" in told(sections(servers, project, "src/warn.py::warn")["open_changes"])


# Verifies: REQ-d00362-B
def test_the_newest_commits_answer_before_all_are_counted(tmp_path: Path) -> None:
    from clew.derived.history import CommitHistory
    from clew.workspace.git import history as git_history

    many_commits(tmp_path / "project")
    head = Repository(tmp_path / "project").git("rev-parse", "HEAD")
    history = CommitHistory(tmp_path)
    try:
        newest = git_history.newest_ids(tmp_path / "project", head, 10)
        history.begin(newest)
        history.put(git_history.commits(tmp_path / "project", newest), newest)
        assert history.state().back_to is not None
        assert history.of_path("log.py", 1)[0].commit.subject == "Reading 1999 (#1999)"
        history.plan(head, git_history.commit_ids(tmp_path / "project", head), ())
        touches = history.of_path("log.py", 100)
        assert [touch.commit.number for touch in touches] == list(range(2_000, 1_990, -1))
        assert (history.state().total, history.state().unread) == (2_000, 1_990)
    finally:
        history.close()


# Verifies: REQ-d00361-A
def test_git_is_asked_once_by_those_who_ask_the_same(tmp_path: Path) -> None:
    from clew.derived.history import CommitHistory
    from clew.why.story.line_story import StoryTeller

    many_commits(tmp_path / "project")
    head = Repository(tmp_path / "project").git("rev-parse", "HEAD")
    history = CommitHistory(tmp_path)
    data = (tmp_path / "project" / "log.py").read_bytes()
    others = frozenset(threading.enumerate())
    try:
        for _ in range(5):
            StoryTeller(tmp_path / "project", history, head).of("log.py", data, 1, 50, 0.0, follows=True)
            # One for the commits that touched the lines last, and one for the chain behind them.
            own = [each for each in threading.enumerate() if each not in others and each.name == "clew-blame"]
            assert len(own) <= 2
        story = StoryTeller(tmp_path / "project", history, head).of("log.py", data, 1, 50, 120.0, follows=True)
        assert story is not None
        assert sum(story.chain.decided.values()) == 50
    finally:
        history.close()


# Verifies: REQ-d00757-D
def test_a_text_is_looked_for_in_the_commits(servers: Servers, tmp_path: Path) -> None:
    gone(tmp_path / "project")
    client = servers.client(tmp_path / "project")
    found = {
        each["name"]: each for each in client.result("why", target="WICK_LENGTH = 3", history=True).data["sections"]
    }
    assert "removed" in found["what"]["facts"][0]["text"]
    assert "Gas burns without one." in found["reason"]["facts"][0]["text"]
    (nothing,) = client.result("why", target="a text that was never there", history=True).data["sections"]
    assert nothing["note"].startswith("No commit added or removed this text. Looked through the 5 commits")


# Verifies: REQ-d00440-A
def test_the_brief_counts_all_authors_as_git_shortlog_does(servers: Servers, tmp_path: Path) -> None:
    people(tmp_path / "project")
    repo = Repository(tmp_path / "project")
    for number in range(3):
        repo.commit(f"By another {number}", {"crew.py": f"N = {number}\n"}, who=(f"Mate {number}", "same@example.org"))
    counted = len(repo.git("shortlog", "-sn", "HEAD").splitlines())
    assert counted == 5
    assert f"by {counted} people" in servers.client(tmp_path / "project").result("clew_brief").text


# Verifies: REQ-d00361-A
@pytest.mark.parametrize("name", SUBTLE)
def test_a_commit_that_changed_the_meaning_is_never_passed(servers: Servers, tmp_path: Path, name: str) -> None:
    subtle(tmp_path / "project")
    last = SUBTLE[name][1].count("\n")
    made = sections(servers, tmp_path / "project", f"{name}:{last}")["made_by"]
    assert '"Change what it does"' in made["facts"][0]["text"]
    assert "since then" not in told(made)


# Verifies: REQ-d00757-B
def test_a_short_number_is_found_among_many_longer_ones(servers: Servers, tmp_path: Path) -> None:
    repo = Repository(tmp_path / "project")
    repo.commit("Begin (#1)\n\nThe port needs a book.", {"a.py": "A = 1\n"})
    for number in range(100, 165):
        repo.commit(f"Go on (#{number})")
    reason = sections(servers, tmp_path / "project", "#1")["reason"]
    assert "Begin (#1). The port needs a book." in told(reason)


# Verifies: REQ-d00361-C
def test_a_shallow_clone_that_was_deepened_is_asked_again(servers: Servers, tmp_path: Path) -> None:
    repo = Repository(tmp_path / "origin")
    repo.commit("Write it\n\nThe real reason.", {"m.py": "def one():\n    return the_first_of_all()\n"})
    repo.commit("Something else", {"other.py": "X = 1\n"})
    repo.git("clone", "-q", "--depth", "1", f"file://{tmp_path / 'origin'}", str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone")
    assert "shallow clone begins" in told(sections(servers, tmp_path / "clone", "m.py:2")["made_by"])
    clone.git("fetch", "-q", "--unshallow")
    assert "The real reason." in told(sections(servers, tmp_path / "clone", "m.py:2")["reason"])
