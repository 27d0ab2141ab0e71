"""The page for teams that use OpenSpec, tried on OpenSpec's own folder."""

import re
import shlex
import shutil
from datetime import date
from pathlib import Path

import pytest
from tests.docs.markdown import fences

from clew.surfaces.cli.main import main

PAGE = Path(__file__).parents[2] / "docs" / "openspec.md"
REAL = Path(__file__).parents[3] / "shared" / "data" / "openspec"


def shown() -> list[tuple[str, str]]:
    """Each command of the page with what it prints."""
    texts = [fence.text for fence in fences(PAGE.read_text(encoding="utf-8")) if fence.language == "console"]
    steps = [step for text in texts for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]]
    return [(step.partition("\n")[0], step.partition("\n")[2].strip("\n") + "\n") for step in steps]


def pattern(output: str) -> str:
    """The output as it has to be; a line of three dots stands for any number of lines."""
    lines = output.replace("DATE", date.today().isoformat()).splitlines()
    return "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in lines)


# Verifies: REQ-d00076-E
@pytest.mark.skipif(not REAL.is_dir(), reason="the development data is not here")
def test_the_commands_of_the_page_print_what_it_shows_one_after_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(REAL, tmp_path / "openspec", ignore=shutil.ignore_patterns("archive"))
    monkeypatch.chdir(tmp_path)
    assert len(shown()) == 6
    for command, output in shown():
        assert main(shlex.split(command)[1:]) in (0, 1)
        printed = capsys.readouterr().out
        assert re.fullmatch(pattern(output), printed), f"{command} prints\n{printed}"


# Verifies: REQ-d00076-E
@pytest.mark.skipif(not REAL.is_dir(), reason="the development data is not here")
def test_a_test_of_a_team_that_uses_openspec_verifies_a_scenario(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(REAL, tmp_path / "openspec", ignore=shutil.ignore_patterns("archive"))
    (tmp_path / "tests").mkdir()
    (code,) = (fence.text for fence in fences(PAGE.read_text(encoding="utf-8")) if fence.language == "js")
    (tmp_path / "tests" / "archive.test.js").write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["specs"]) == 0
    assert "251 requirements, 706 scenarios, 1 of them tested" in capsys.readouterr().out
