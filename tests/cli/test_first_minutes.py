"""What a new user meets in a repository that nobody set up."""

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.first_projects import PROJECTS, openspec_project
from benchmarks.minutes import proposed
from tests import forked

from clew.search.quote.certainty import Certainty
from clew.surfaces.cli.background import index_news, start_indexing
from clew.text.terminal import control, shown_length, wrapped
from clew.why.ask import AnswerQuote, in_reading_order

Clew = Callable[..., "subprocess.CompletedProcess[str]"]
CALLS = re.compile(r"\b\w+\([^)]*=[^)]*\)|clew call|tools_search|get_[a-z_]+")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("first")
    return {name: make(folder / name.replace(" ", "-"), 4) for name, make in PROJECTS.items()}


@pytest.fixture(params=list(PROJECTS))
def project(request: pytest.FixtureRequest, made: dict[str, Path], tmp_path: Path) -> Path:
    """A fresh clone: nothing was indexed before."""
    shutil.copytree(made[request.param], tmp_path / "clone")
    return tmp_path / "clone"


@pytest.fixture
def specs(made: dict[str, Path], tmp_path: Path) -> Path:
    shutil.copytree(made["OpenSpec project"], tmp_path / "clone")
    (tmp_path / "clone" / "clew.toml").write_text('[embedder]\nkind = "none"\n')
    return tmp_path / "clone"


# Verifies: REQ-d00440-E
def test_the_brief_tells_what_hangs_on_the_busiest_files(clew: Clew, tmp_path: Path) -> None:
    from tests.why.histories import Repository

    requirement = "# REQ-d00001: Bells\n\n**Level**: dev | **Status**: Active\n\n## Assertions\n\nA. It SHALL ring.\n"
    repo = Repository(tmp_path)
    for number in range(4):
        files = {
            "spec/bells.md": requirement,
            "src/bell.py": f"# Implements: REQ-d00001-A\ndef ring():\n    return {number}\n",
            "src/house.py": "from bell import ring\n",
            "tests/test_bell.py": "from bell import ring\n\n\n# Verifies: REQ-d00001-A\ndef test_ring(): ring()\n",
        }
        repo.commit(f"Ring {number}", files)
    assert "used_by" not in json.loads(clew(tmp_path, "brief", "--json").stdout)["overview"]["past"]["busy"][0]
    assert clew(tmp_path, "impact", "src/bell.py").returncode == 0
    busy = json.loads(clew(tmp_path, "brief", "--json").stdout)["overview"]["past"]["busy"][0]
    assert busy == {"path": "src/bell.py", "commits": 4, "asked_by": ["REQ-d00001"], "proofs": 1, "used_by": 2}
    assert "src/bell.py (4 commits, used by 2, for REQ-d00001)" in clew(tmp_path, "brief").stdout


# Verifies: REQ-d00440-A+B+C
def test_the_brief_of_any_repository_is_worth_reading_and_its_commands_answer(clew: Clew, project: Path) -> None:
    shown = clew(project).stdout

    assert len(shown.splitlines()) <= 22
    assert max(map(len, shown.splitlines())) <= 100
    name = json.loads((project / "package.json").read_text())["name"] if (project / "package.json").exists() else ""
    assert shown.startswith(name or "ledgerline")
    assert " is a " in shown.splitlines()[1]
    for word in ("Code", "Tests", "Documents", "Busiest", "Decided lately"):
        assert word in shown
    assert not CALLS.search(shown)
    commands = proposed(shown)
    assert len(commands) == 3
    for words in commands:
        done = clew(project, *words)
        assert done.returncode == 0, (words, done.stderr)
        assert done.stdout.strip()
        assert not re.match(r"Nothing|No ", done.stdout), words


# Verifies: REQ-d00440-A
def test_outside_of_any_project_the_commands_are_listed(clew: Clew, tmp_path: Path) -> None:
    if any((folder / ".git").exists() for folder in tmp_path.parents):
        pytest.skip("the temporary folder lies in a repository")
    assert "Understand a project" in clew(tmp_path).stdout


# Verifies: REQ-d00440-C
def test_the_brief_of_an_agent_names_calls(clew: Clew, project: Path) -> None:
    data = json.loads(clew(project, "brief", "--json").stdout)

    assert any(each["call"].startswith("why(") for each in data["next_calls"])
    assert data["overview"]["holds"]["languages"]


# Verifies: REQ-d00440-A
def test_what_was_remembered_stands_before_what_commits_decided(clew: Clew, project: Path) -> None:
    words = ("remember", "Numbers are trimmed", "--kind", "decision", "--why", "scanners add spaces")
    assert clew(project, *words).returncode == 0

    decided = clew(project).stdout.partition("Decided lately\n")[2].splitlines()

    assert "Numbers are trimmed" in decided[0]
    assert re.match(r"  2025-02-21 [0-9a-f]{7}  ", decided[1])


ANYWHERE = (
    *(
        "check",
        "status",
        "coverage",
        "links suggest",
        "specs",
        "change",
        "kb",
        "memory list",
        "recall cents",
        "changed",
    ),
    *("search zyzzyva", "ask zyzzyva", "specs search zyzzyva", "kb search zyzzyva", "impact README.md", "req brief"),
)


# Verifies: REQ-d00440-D
def test_no_command_answers_with_nothing_but_nothing(clew: Clew, project: Path) -> None:
    for command in ANYWHERE:
        done = clew(project, *command.split())
        assert done.returncode in (0, 1, 2), (command, done.stderr)
        said = " ".join((done.stdout + done.stderr).split())
        assert len(said) > 25, command
        if re.match(r"(?:clew: )?(?:Nothing|No |There (?:is|are) no)", said):
            assert "clew " in said.removeprefix("clew: "), (command, said)


# Verifies: REQ-d00443-H
def test_a_command_that_is_written_wrong_says_what_to_do_next(clew: Clew, tmp_path: Path) -> None:
    for words in (["show"], ["check", "--bad"], ["serach", "x"], ["kb", "serach"], ["-C", "nowhere", "check"]):
        done = clew(tmp_path, *words)
        assert done.returncode == 2
        assert re.search(r"`clew[^`]*`", done.stderr), words


# Verifies: REQ-d00441-A+B
def test_many_findings_of_one_kind_are_one_group_with_a_true_way_out(clew: Clew, specs: Path) -> None:
    shown = clew(specs, "check").stdout

    assert shown.count("trace.uncovered_assertion") == 3
    assert "12 scenarios without a test, 3 of them above. `clew check --all` lists all." in shown
    told = re.search(r"`clew links suggest --tests` proposes tests for (\d+) of them", shown)
    assert told is not None
    found = json.loads(clew(specs, "links", "suggest", "--tests", "--limit", "1000", "--json").stdout)
    assert int(told[1]) == len({each["assertion_id"] for each in found["suggestions"]}) > 0
    assert {each["source_kind"] for each in found["suggestions"]} == {"test"}
    assert clew(specs, "check", "--all").stdout.count("trace.uncovered_assertion") == 12
    assert json.loads(clew(specs, "check", "--json").stdout)["count"] == 12


# Verifies: REQ-d00443-A
def test_help_lists_commands_by_task_each_with_an_example(clew: Clew, tmp_path: Path) -> None:
    from clew.surfaces.cli.reference import by_heading

    shown = clew(tmp_path, "help").stdout

    for heading, names in by_heading().items():
        section = shown.partition(f"{heading}\n")[2].partition("\n\n")[0]
        assert all(re.search(rf"^  clew {name}\b|^  clew +what", section, re.MULTILINE) for name in names), heading
    assert clew(tmp_path, "help", "kb", "ask").stdout == clew(tmp_path, "kb", "ask", "--help").stdout != ""


# Verifies: REQ-d00443-C
def test_people_page_by_number_and_see_no_cursor(clew: Clew, specs: Path) -> None:
    first = clew(specs, "search", "parcel", "--kind", "requirement", "--limit", "2").stdout
    second = clew(specs, "search", "parcel", "--kind", "requirement", "--limit", "2", "--page", "2").stdout
    refused = clew(specs, "search", "parcel", "--page", "0")

    assert "1-2 of 4; `--page 2` shows the next ones" in first
    assert "--cursor" not in first + clew(specs, "search", "--help").stdout
    ids = [set(re.findall(r"^requirement +(\S+)", page, re.MULTILINE)) for page in (first, second)]
    assert [len(each) for each in ids] == [2, 2]
    assert not ids[0] & ids[1]
    assert (refused.returncode, "pages begin with 1" in refused.stderr) == (2, True)


# Verifies: REQ-d00443-D
@pytest.mark.parametrize(
    "words", [["check"], ["brief"], ["search", "parcel"], ["status"], ["tools"], ["doctor"], ["init", "--dry-run"]]
)
def test_a_folder_can_be_named_before_and_after_every_command(
    clew: Clew, specs: Path, tmp_path: Path, words: list[str]
) -> None:
    inside = clew(specs, *words)
    before = clew(tmp_path, "-C", "clone", *words)
    after = clew(tmp_path, *words, "-C", "clone")

    assert inside.stdout
    assert before.stdout == inside.stdout
    assert after.stdout == inside.stdout
    assert inside.returncode == before.returncode == after.returncode


# Verifies: REQ-d00443-E
@pytest.mark.parametrize("asked", ["depot2/depot-2-report-parcels", "depot 2 reports", "dept2/depot-2-reports-parcels"])
def test_an_id_that_is_almost_right_is_answered_with_the_right_one(clew: Clew, specs: Path, asked: str) -> None:
    done = clew(specs, "show", asked)

    assert done.returncode == 1
    assert "Did you mean" in done.stderr
    assert "depot2/depot-2-reports-parcels (Depot 2 reports parcels)" in done.stderr
    assert '`clew search "..."` finds requirements' in done.stderr


# Verifies: REQ-d00443-F
def test_quotes_of_one_file_stand_together_from_top_to_bottom() -> None:
    quotes = [
        AnswerQuote("", "document", "", "", place, certainty)
        for place, certainty in (
            ("b.md:9", Certainty.LIKELY),
            ("a.md:70", Certainty.SURE),
            ("b.md:3", Certainty.LIKELY),
            ("a.md:8", Certainty.SURE),
            ("memory:1", Certainty.UNSURE),
            ("a.md:2", Certainty.UNSURE),
        )
    ]

    ordered = [each.place for each in in_reading_order(quotes)]

    assert ordered == ["b.md:3", "b.md:9", "a.md:8", "a.md:70", "memory:1", "a.md:2"]


# Verifies: REQ-d00443-G
def test_every_command_names_the_same_line_for_a_piece_of_code(clew: Clew, demo: Path) -> None:
    place = "src/fairwater/report.py:48"

    assert f"  {place}  implements -C  _narrow" in clew(demo, "show", "d6").stdout
    assert place in clew(demo, "impact", "REQ-d00006-C").stdout
    for form in ("markdown", "csv"):
        shown = clew(demo, "trace", "--format", form).stdout
        assert place in shown
        assert "report.py:47" not in shown


# Verifies: REQ-d00443-B
def test_long_lines_are_broken_between_words_and_keep_their_indentation() -> None:
    blue = control("\x1b[36m") + "blue" + control("\x1b[0m")
    text = (
        f"short\n  - {blue} one two three four five six seven\n  Label  "
        + "word " * 8
        + "\nhttps://a.very/long/address"
    )

    lines = wrapped(text, 24).split("\n")

    assert [shown_length(line) for line in lines[:-1]] == [
        shown_length(line) for line in lines[:-1] if shown_length(line) <= 24
    ]
    assert lines[2].startswith("    ")
    assert lines[-1] == "https://a.very/long/address"
    assert " ".join(wrapped(text, 24).split()) == " ".join(text.split())
    assert wrapped(text, None) == text


def on_a_terminal(folder: Path, *words: str, **environment: str) -> str:
    """What a command prints on a terminal of 80 columns."""
    own, its = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    process = forked.Process(
        [sys.executable, "-m", "clew", *words],
        cwd=folder,
        stdin=its,
        stdout=its,
        stderr=its,
        env={**kept, "TERM": "xterm", "COLUMNS": "80", **environment},
        close_fds=True,
    )
    os.close(its)
    shown = b""
    while process.poll() is None or select.select([own], [], [], 0)[0]:
        if select.select([own], [], [], 0.1)[0]:
            try:
                shown += os.read(own, 65_536)
            except OSError:
                break
    process.wait()
    os.close(own)
    return shown.decode("utf-8").replace("\r\n", "\n")


# Verifies: REQ-d00443-B
def test_a_terminal_gets_colours_and_its_width_unless_it_wants_none(specs: Path) -> None:
    coloured = on_a_terminal(specs, "check", "--all")
    plain = on_a_terminal(specs, "check", "--all", NO_COLOR="1")

    assert "\x1b[33m" in coloured
    assert "\x1b[33m" not in plain
    assert max(map(len, plain.splitlines())) <= 80 or "https://" in plain


# Verifies: REQ-d00444-A+B
def test_the_index_is_built_by_another_process_for_a_person_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clew.project import Project

    root = openspec_project(tmp_path / "parcels", 2)
    project = Project.open(root, drafts=False)
    try:
        project.ensure_graph()
        with project.context.lock.reading():
            project.index.sync()
        assert index_news(project) == (None, False)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        news, starts = index_news(project)
        assert starts
        assert "in the background" in (news or "")
        builder = start_indexing(root)
        assert builder.wait() == 0
        assert index_news(project) == (None, False)
        assert project.kb.status().documents == 1
    finally:
        project.close()
