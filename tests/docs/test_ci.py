"""The hook and the CI job of docs/ci.md, run in a real git repository as they are printed."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import msgspec
import pytest
from tests.docs.markdown import fences, sections

PAGE = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")

SPEC = """## REQ-d00001: Greeting

**Level**: DEV | **Status**: Active

## Assertions

A. The greeting SHALL be short.

*End* *Greeting* | **Hash**: {hash}
"""
TEST = "# Verifies: REQ-d00001-A\ndef test_greeting():\n    pass\n"


def environment(home: Path) -> dict[str, str]:
    """As on a developer's machine: clew and git on the path, and no settings but those of the test."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    names = {f"GIT_{role}_{part}": "a@example.com" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    return {"PATH": path, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "LANG": "C.UTF-8", **names}


def sh(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment(folder.parent),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one requirement that is in order, and a test of it."""
    root = tmp_path / "repository"
    write(root, {"clew.toml": "", ".gitignore": ".clew/\n", "tests/test_a.py": TEST})
    write(root, {"spec/a.md": SPEC.format(hash="00000000")})
    found = sh("clew check --json", root)
    (finding,) = msgspec.json.decode(found.stdout)["findings"]
    write(root, {"spec/a.md": SPEC.format(hash=finding["message"].rstrip(".").rpartition(" ")[2])})
    for command in ("git init -q -b main", "git add -A", "git commit -q -m first"):
        done = sh(command, root)
        assert done.returncode == 0, done.stderr
    return root


@pytest.fixture
def hooked(repository: Path) -> Path:
    (script,) = [fence.text for fence in fences(PAGE) if fence.language == "bash"]
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(script, encoding="utf-8")
    hook.chmod(0o755)
    return repository


def commits(root: Path) -> int:
    return int(sh("git rev-list --count HEAD", root).stdout)


# Verifies: REQ-d00065-C
def test_the_hook_refuses_what_is_broken_and_lets_the_rest_through(hooked: Path) -> None:
    spec = hooked / "spec" / "a.md"
    good = spec.read_text(encoding="utf-8")
    write(hooked, {"tests/test_b.py": TEST.replace("d00001-A", "d00099").replace("greeting", "other")})
    refused = sh("git add -A && git commit -q -m second", hooked)
    assert refused.returncode != 0
    assert "tests/test_b.py:1: error trace.broken_reference" in refused.stdout + refused.stderr
    assert commits(hooked) == 1

    write(hooked, {"tests/test_b.py": TEST.replace("greeting", "other")})
    done = sh("git add -A && git commit -q -m second", hooked)
    assert (done.returncode, commits(hooked)) == (0, 2), done.stderr

    spec.write_text(good.replace("SHALL be short", "SHALL be long"), encoding="utf-8")
    refused = sh("git commit -q -a -m third", hooked)
    assert "trace.stale_hash" in refused.stdout + refused.stderr
    assert commits(hooked) == 2


# Verifies: REQ-d00065-C
def test_the_hook_looks_at_what_is_committed_and_not_at_the_work_tree(hooked: Path) -> None:
    write(hooked, {"docs/note.md": "A note.\n"})
    sh("git add docs", hooked)
    write(hooked, {"tests/test_b.py": "# Verifies: REQ-d00099\ndef test_b():\n    pass\n"})
    done = sh("git commit -q -m second", hooked)
    assert (done.returncode, commits(hooked)) == (0, 2), done.stderr
    assert sh("git status --porcelain", hooked).stdout == "?? tests/test_b.py\n"


def job() -> dict[str, str]:
    """The commands of the job by the name of their step. Every line of it is `key: value` or the start of a list."""
    (text,) = [fence.text for fence in fences(sections(PAGE, 2)["On every push"]) if fence.language == "yaml"]
    steps = re.findall(r"- name: (.+)\n(?: +if: .+\n)? +run: (.+)\n", text)
    return dict(steps)


# Verifies: REQ-d00065-C
def test_the_job_of_the_documentation_runs_and_leaves_what_it_uploads(repository: Path) -> None:
    steps = job()
    assert set(steps) == {"Install", "Findings", "Coverage", "Matrix"}
    for name in ("Findings", "Coverage", "Matrix"):
        done = sh(steps[name], repository)
        assert done.returncode == 0, done.stdout + done.stderr
    assert msgspec.json.decode((repository / "clew.sarif").read_bytes())["runs"][0]["results"] == []
    assert "REQ-d00001" in (repository / "matrix.html").read_text(encoding="utf-8")
    for name in ("clew.sarif", "matrix.html"):
        assert f" {name}\n" in PAGE, "what a step writes is what another uploads"


# Verifies: REQ-d00065-C
def test_the_job_fails_where_something_is_broken_or_not_proved(repository: Path) -> None:
    steps = job()
    (repository / "tests" / "test_a.py").unlink()
    assert sh(steps["Findings"], repository).returncode == 1
    (result,) = msgspec.json.decode((repository / "clew.sarif").read_bytes())["runs"][0]["results"]
    assert result["ruleId"] == "trace.uncovered_assertion"
    coverage = sh(steps["Coverage"], repository)
    assert coverage.returncode == 1
    assert "0.0 % of the assertions are tested, less than 90 %" in coverage.stderr


# Verifies: REQ-d00065-C
def test_the_junit_command_of_the_documentation_runs(repository: Path) -> None:
    (command,) = [fence.text for fence in fences(sections(PAGE, 2)["On every push"]) if fence.language == "sh"]
    assert sh(command, repository).returncode == 0
    assert ET.parse(repository / "clew.xml").getroot().get("failures") == "0"
