"""What the documentation shows is what happens."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.docs.conftest import OF_A_USER
from tests.docs.markdown import fences, sections
from tests.in_process import run

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

Clew = Callable[[list[str], Path], "subprocess.CompletedProcess[str]"]


def shown(page: Path) -> Iterator[tuple[str, str | None]]:
    """Each `clew` command of a page with its output, or None where no output is shown."""
    for fence in fences(page.read_text()):
        if fence.language == "console":
            for step in re.split(r"^\$ ", fence.text, flags=re.MULTILINE)[1:]:
                command, _, output = step.partition("\n")
                yield command, output.strip("\n") + "\n"
        elif fence.language == "sh":
            yield from ((line, None) for line in fence.text.splitlines())


def commands(page: Path) -> list[tuple[str, str | None]]:
    """Those that end by themselves and need no database: servers and teams have tests of their own."""
    return [
        (command, output)
        for command, output in shown(page)
        if command.startswith("clew ")
        and not command.startswith(("clew serve", "clew web"))
        and "postgresql://" not in command
    ]


# Verifies: REQ-o00006-A, REQ-d00447-A+B
@pytest.mark.parametrize(("command", "output"), commands(ROOT / "README.md"))
def test_the_commands_of_the_readme_run_and_print_what_it_shows(
    command: str, output: str | None, with_history: Path, clew: Clew
) -> None:
    done = clew(shlex.split(command, comments=True)[1:], with_history)

    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    if output is not None:
        assert re.fullmatch(_pattern(output), done.stdout), f"{command} prints\n{done.stdout}"


def _pattern(output: str) -> str:
    """The output as it has to be; a line of three dots stands for any number of lines, three dots in a line for any
    text."""
    lines = (re.escape(line).replace(re.escape("..."), ".*") for line in output.splitlines())
    return "".join("(?:.*\n)*?" if line == ".*" else f"{line}\n" for line in lines)


# Verifies: REQ-d00447-B
def test_the_tour_begins_with_why_and_fits_on_one_screen() -> None:
    page = (ROOT / "README.md").read_text()
    (tour,) = [fence for fence in fences(page) if fence.language == "console"]

    assert tour.text.startswith("$ clew why ")
    assert len(tour.text.splitlines()) <= 30
    assert max(map(len, tour.text.splitlines())) <= 120


# Verifies: REQ-d00447-A
def test_the_history_of_the_demo_is_the_same_every_time_and_leaves_the_demo_alone(
    with_history: Path, tmp_path: Path
) -> None:
    subprocess.run([sys.executable, ROOT / "examples" / "history.py", tmp_path / "again"], check=True)
    ids = [
        subprocess.run(
            ["git", "log", "--format=%H %s"], cwd=folder, check=True, capture_output=True, encoding="utf-8"
        ).stdout
        for folder in (with_history, tmp_path / "again")
    ]

    assert ids[0] == ids[1]
    assert "Raise the default margin to half a metre" in ids[0]
    assert not (ROOT / "examples" / "demo" / ".git").exists()
    assert (with_history / "src/fairwater/settings.py").read_bytes() == (
        ROOT / "examples/demo/src/fairwater/settings.py"
    ).read_bytes()


# Verifies: REQ-o00006-A
@pytest.mark.parametrize(("command", "output"), commands(DOCS / "documents.md"))
def test_the_commands_of_the_page_on_documents_print_what_it_shows(
    command: str, output: str | None, workplace: Path, clew: Clew
) -> None:
    done = clew(shlex.split(command, comments=True)[1:], workplace)

    assert (done.returncode, done.stdout) == (0, output), done.stderr


OF_A_PROCESS = ("lsp", "hook")
"""Commands that read the bytes of their standard input."""


# Verifies: REQ-o00006-A
@pytest.mark.parametrize("command", sorted({command for command, _ in commands(DOCS / "cli.md")}))
def test_the_examples_of_the_command_line_run(
    command: str, committed: Path, clew: Clew, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _, *arguments = shlex.split(command, comments=True)
    if arguments[0] in OF_A_PROCESS:
        done = clew(arguments, committed)
    else:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("COLUMNS", "120")
        for variable in OF_A_USER:
            monkeypatch.delenv(variable, raising=False)
        with Path(os.devnull).open(encoding="utf-8") as nothing:
            monkeypatch.setattr(sys, "stdin", nothing)
            done = run(committed, *arguments)

    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr


# Verifies: REQ-d00009-A+B
def test_the_first_requirement_of_the_guide_is_implemented_and_tested(tmp_path: Path, clew: Clew) -> None:
    markdown, code, test = [
        fence.text
        for fence in fences(sections((DOCS / "getting-started.md").read_text(), 2)["Set up a project"])
        if fence.language in ("markdown", "python")
    ]
    for path, text in (("spec/first.md", markdown), ("src/greeting.py", code), ("tests/test_greeting.py", test)):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_text(text)

    shown = clew(["show", "d1", "-C", str(tmp_path)], tmp_path).stdout

    assert "1 of 1 assertions tested" in shown
    assert "implements -A" in shown
    assert "verifies -A" in shown
    checked = clew(["check", "-C", "."], tmp_path)
    assert checked.returncode == 0
    assert "trace.missing_hash" in checked.stdout


# Verifies: REQ-d00007-A+C
def test_the_example_of_the_format_is_read_without_complaint(tmp_path: Path, clew: Clew) -> None:
    example = sections((DOCS / "formats" / "elspais.md").read_text(), 2)["A complete example"]
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "example.md").write_text(next(f.text for f in fences(example) if f.language == "markdown"))

    checked = clew(["check", "-C", "."], tmp_path)

    assert checked.returncode == 0, checked.stdout
    assert {line.split(": ")[1].split()[1] for line in checked.stdout.splitlines() if line[0] not in " 0123456789"} <= {
        "trace.uncovered_assertion"
    }
