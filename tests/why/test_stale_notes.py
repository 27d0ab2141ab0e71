"""References to what is gone, in the files that agents read first."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.why.histories import Repository

from clew.why.stale_notes import stale_notes

FILES = {
    "src/lock.py": "A = 1\n",
    "packages/gate/src/open.ts": "export const a = 1\n",
    "package.json": json.dumps({"scripts": {"test": "t", "test:app": "t"}}),
    "packages/gate/package.json": json.dumps({"scripts": {"build:gate": "t"}}),
    "Makefile": "all: lock\nlock gate: src/lock.py\n\techo\nX := a:b\n",
    ".gitignore": "made/\nsrc/made.py\n",
}


def gone(folder: Path, text: str, name: str = "AGENTS.md") -> list[tuple[int, str]]:
    Repository(folder).commit("Begin", {**FILES, name: text})
    found = list(stale_notes(folder))
    assert {each.path for each in found} <= {name}
    assert {each.severity for each in found} <= {"info"}
    return [(each.line, each.message.split("'")[1]) for each in found]


# Verifies: REQ-d00448-A
@pytest.mark.parametrize(
    "name", ["AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md", ".cursor/rules/lock.mdc"]
)
def test_what_is_gone_is_found_at_its_line(tmp_path: Path, name: str) -> None:
    text = (
        "# Notes\n\nGates are in `src/gate.py`, locks in `src/lock.py`.\n- Run `npm run gates` and `npm run test`.\n"
        "- Run `yarn test:gone`, then `make ship` and `make gate`.\n"
    )
    assert gone(tmp_path, text, name) == [
        (3, "src/gate.py"),
        (4, "npm run gates"),
        (5, "yarn test:gone"),
        (5, "make ship"),
    ]


# Verifies: REQ-d00448-A
def test_a_link_to_what_is_gone_is_found(tmp_path: Path) -> None:
    assert gone(tmp_path, "See [gates](src/gate.py#L3) and [locks](./src/lock.py).\n") == [(1, "src/gate.py")]


# Verifies: REQ-d00448-B
@pytest.mark.parametrize(
    "text",
    [
        "`src/<name>.py`, `src/*.py`, `src/{a,b}.py`, `~/src/x.py`, `/src/x.py`, `$HOME/src/x.py`, `../src/x.py`",
        "[there](https://lock.example/src/gate.py) and `https://lock.example/src/gate.py`",
        "```sh\ncat src/gate.py\nmake ship\n`src/gate.py`\n```",
        "    `src/gate.py`",
        "For example `src/gate.py`, as the name says.",
        "Each gate has its own file: create `src/gate.py`.",
        "`src/made.py` and `made/out.py` are there after the build.",
        "`gate/src/open.ts`, `src/open.ts` and `src/lock.py:12`",
        "`elsewhere/gate.py`, `and/or`, `application/json`, `src/lock`",
        "`yarn vitest`, `npm test`, `make -j4`, `make lock gate`, `make all`, `npm run build:gate`, `--no-color`",
    ],
)
def test_what_may_be_elsewhere_is_no_finding(tmp_path: Path, text: str) -> None:
    assert gone(tmp_path, f"# Notes\n\n{text}\n") == []


# Verifies: REQ-d00448-B
@pytest.mark.parametrize("makefile", ["include other.mk\nall:\n", "%.o: %.c\n\tcc\n", "$(NAMES): x\n"])
def test_a_makefile_that_does_not_list_its_targets_proves_nothing(tmp_path: Path, makefile: str) -> None:
    Repository(tmp_path).commit("Begin", {"Makefile": makefile, "CLAUDE.md": "Run `make ship`.\n"})
    assert list(stale_notes(tmp_path)) == []


# Verifies: REQ-d00448-A
def test_check_lists_it_and_fails_for_none(tmp_path: Path) -> None:
    Repository(tmp_path).commit("Begin", {**FILES, "AGENTS.md": "Gates are in `src/gate.py`.\n"})
    command = [sys.executable, "-m", "clew", "check", "--strict"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    assert "AGENTS.md:1: info notes.gone: 'src/gate.py' is named here, and there is no such file." in said.stdout


# Verifies: REQ-d00448-A
def test_a_name_that_no_file_system_takes_is_gone_like_any_other(tmp_path: Path) -> None:
    long = f"src/{'a' * 300}.py"
    assert gone(tmp_path, f"# Notes\n\nGates are in `{long}`.\n") == [(3, long)]
