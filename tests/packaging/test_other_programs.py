"""What other programs read of this repository: the manual page, the hooks of pre-commit, the action of GitHub."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from tests.packaging.built import Built
from tests.packaging.tools import PROJECT

from clew.surfaces.cli.main import all_commands
from clew.surfaces.cli.manual import manual

PAGE = PROJECT / "docs" / "man" / "clew.1"
ENVIRONMENT = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
AUTHOR = {f"GIT_{role}_{part}": "a@example.com" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}


def text(**more: Any) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, **more}


HOOKS = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "required": ["id", "name", "entry", "language"],
        "additionalProperties": False,
        "properties": {
            "id": text(pattern="^[a-z-]+$"),
            "name": text(),
            "description": text(),
            "entry": text(),
            "language": {"enum": ["python", "system"]},
            "pass_filenames": {"type": "boolean"},
            "always_run": {"type": "boolean"},
        },
    },
}
"""The keys of pre-commit's documentation that are used."""
STEP = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "name": text(),
        "id": text(),
        "if": text(),
        "uses": text(pattern="@"),
        "with": {"type": "object"},
        "shell": {"const": "bash"},
        "env": {"type": "object", "additionalProperties": {"type": "string"}},
        "run": text(),
    },
    "oneOf": [{"required": ["uses"]}, {"required": ["run", "shell"]}],
}
ACTION = {
    "type": "object",
    "required": ["name", "description", "runs"],
    "additionalProperties": False,
    "properties": {
        "name": text(),
        "description": text(maxLength=125),
        "author": text(),
        "branding": {"type": "object", "required": ["icon", "color"]},
        "inputs": {
            "type": "object",
            "additionalProperties": {"type": "object", "required": ["description", "default"]},
        },
        "outputs": {"type": "object", "additionalProperties": {"type": "object", "required": ["description", "value"]}},
        "runs": {
            "type": "object",
            "required": ["using", "steps"],
            "properties": {"using": {"const": "composite"}, "steps": {"type": "array", "items": STEP}},
        },
    },
}
"""The keys of GitHub's documentation of a composite action that are used."""


def read(name: str) -> Any:
    return yaml.safe_load((PROJECT / name).read_text(encoding="utf-8"))


# Verifies: REQ-d00524-A
def test_the_manual_page_is_what_make_docs_writes_and_names_every_command() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == manual(), "run `make docs`"
    for name in all_commands():
        assert f'.SH "CLEW {name.upper()}"' in written


# Verifies: REQ-d00524-A
@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_finds_nothing_wrong_with_the_manual_page() -> None:
    # Whether a line of a usage can be broken depends on the width.
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-Wbreak", PAGE], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stderr == ""
    shown = re.sub(".\b", "", done.stdout)
    assert "EXIT STATUS" in shown
    assert "--format text|json|sarif|junit|github" in shown


# Verifies: REQ-d00524-B
def test_the_wheel_installs_the_manual_page_where_man_looks(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        shared = [name for name in archive.namelist() if ".data/" in name]
        pages = {name.partition(".data/data/")[2]: archive.read(name) for name in shared}
    assert pages == {
        "share/man/man1/clew.1": PAGE.read_bytes(),
        "share/man/man1/clew-mcp.1": b".so man1/clew.1\n",
    }


# Verifies: REQ-d00526-A
def test_the_hooks_of_pre_commit_follow_its_format_and_refuse_what_the_check_refuses(demo: Path) -> None:
    hooks = read(".pre-commit-hooks.yaml")
    jsonschema.validate(hooks, HOOKS)
    assert {hook["id"]: hook["entry"] for hook in hooks} == {
        "clew-check": "clew check",
        "clew-check-strict": "clew check --strict",
    }
    for hook in hooks:
        words = [sys.executable, "-m", *hook["entry"].split()]
        done = subprocess.run(words, cwd=demo, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "trace.broken_reference" in done.stdout


@pytest.fixture
def pull_request(demo: Path) -> Path:
    """A clone of a repository with a branch, on which a requirement was changed."""

    def git(*words: str) -> None:
        environment = {**os.environ, **ENVIRONMENT, **AUTHOR}
        subprocess.run(["git", *words], cwd=demo, env=environment, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    spec = demo / "spec" / "ops-harbour.md"
    changed = spec.read_text(encoding="utf-8").replace("0.5 metres", "0.6 metres <b>|[x](http://e.com)")
    spec.write_text(changed, encoding="utf-8")
    git("commit", "-q", "-a", "-m", "second")
    return demo


class Job:
    """The steps of the action that run a script, in a folder."""

    def __init__(self, folder: Path, place: Path) -> None:
        self.folder = folder
        self.summary, self.output = place / "summary.md", place / "output"
        self.steps = {step["name"]: step for step in read("action.yml")["runs"]["steps"] if "run" in step}

    def run(self, name: str, **inputs: str) -> subprocess.CompletedProcess[str]:
        assert inputs.keys() == self.steps[name]["env"].keys()
        place = {"GITHUB_STEP_SUMMARY": str(self.summary), "GITHUB_OUTPUT": str(self.output)}
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", self.steps[name]["run"]],
            cwd=self.folder,
            env={**os.environ, **ENVIRONMENT, **place, **inputs, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )


# Verifies: REQ-d00526-B, REQ-d00526-D
def test_the_action_annotates_each_finding_and_fails_where_the_check_fails(pull_request: Path, tmp_path: Path) -> None:
    job = Job(pull_request, tmp_path)
    done = job.run("Check requirements", FOLDER=".", STRICT="false")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith(
        "::warning file=spec/dev-surface.md,line=28,title=trace.uncovered_assertion::No test verifies REQ-d00006-C"
    )
    assert any(line.startswith("::error file=spec/ops-harbour.md,line=38,title=trace.stale_hash::") for line in lines)
    assert lines[-1] == "2 errors, 1 warning, 0 notes"
    assert job.output.read_text() == "findings=3\n"
    assert job.summary.read_text() == "## Requirements\n\n2 errors, 1 warning, 0 notes\n\n"
    assert not list(pull_request.glob("clew-*")), "nothing is left in the checkout"


# Verifies: REQ-d00526-C, REQ-d00526-D
def test_the_summary_says_what_a_pull_request_concerns(pull_request: Path, tmp_path: Path) -> None:
    job = Job(pull_request, tmp_path)
    done = job.run("Say what is concerned", FOLDER=".", BASE="origin/main")
    assert done.returncode == 0, done.stderr
    summary = job.summary.read_text()
    assert summary.startswith("1 requirement, 1 assertion changed.\n\n| change | what |")
    (row,) = [line for line in summary.splitlines() if "REQ-o00003-B" in line]
    assert "\\<b\\>\\|\\[x\\](http://e.com)" in row, "text of a file is shown as it is"
    assert "`test_the_margin_is_half_a_metre_unless_someone_sets_another` (passed)" in row
    assert "`REQ-d00005`" in row
    assert "`REQ-p00001`" in row


# Verifies: REQ-d00526-D
def test_a_base_that_is_not_there_is_said_and_does_not_fail(pull_request: Path, tmp_path: Path) -> None:
    job = Job(pull_request, tmp_path)
    done = job.run("Say what is concerned", FOLDER=".", BASE="origin/gone")
    assert done.returncode == 0
    assert "origin/gone" in done.stdout
    assert "fetch-depth: 0" in job.summary.read_text()


# Verifies: REQ-d00526-D
def test_the_action_follows_its_format_and_puts_no_input_into_a_script() -> None:
    action = read("action.yml")
    jsonschema.validate(action, ACTION)
    for step in action["runs"]["steps"]:
        assert "${{" not in step.get("run", ""), "an input would be run as a part of the script"


# Verifies: REQ-d00526-B
def test_no_text_of_a_file_ends_an_annotation_or_begins_a_command() -> None:
    from clew.trace.operations.check import annotations
    from clew.trace.reports.finding import Finding

    evil = "a,title=x::b\r\n::error::c%0A::set-output name=d\x1b[0m"
    printed = annotations([Finding("code", "info", evil, path=f"{evil}.md", line=0)], "sub/")
    assert printed.count("\n") == 1
    assert printed.startswith("::notice file=sub/a%2Ctitle=x%3A%3Ab%0D%0A%3A%3Aerror%3A%3Ac%250A%3A%3Aset-output")
    assert "\x1b" not in printed
    place, _, said = printed[2:].partition("::")
    assert "line=1,title=code" in place
    assert said.startswith("a,title=x::b%0D%0A::error::c%250A")
