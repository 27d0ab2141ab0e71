"""A project whose every text gives orders to the terminal: whichever command shows it, none is obeyed."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from clew.operation.listing import all_verbs
from clew.surfaces.cli.main import COMMANDS
from clew.text.terminal import HarmlessStream, coloured, control

EVIL = "\x1b]0;owned\x07\x1b[2J\x1b[31m\x9b31m\x9d0;b\x9c\u202e\u2066\u200f\u061c"
OBEYED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]|\r(?!\n)"
)
FILE = "evil\x1b[2J\u202e"

ARGUMENTS = {
    "search": ["tide"],
    "show": ["REQ-d00001"],
    "links suggest": ["src"],
    "links apply": ["src/fairwater/curve.py:30", "REQ-d00002-B", "--dry-run"],
    "links reject": ["src/fairwater/curve.py:30", "d2"],
    "why": ["REQ-d00001"],
    "context": ["REQ-d00001"],
    "ask": ["what is the margin"],
    "remember": [f"The margin is wide. {EVIL}"],
    "recall": ["margin"],
    "impact": ["REQ-d00001-A"],
    "review": ["--list"],
    "coverage": ["REQ-d00001"],
    "fix": ["--dry-run"],
    "specs show": ["passage-windows"],
    "specs search": ["water"],
    "change status": ["add-neap-warning"],
    "change show": ["add-neap-warning", "--full"],
    "change validate": ["add-neap-warning"],
    "change archive": ["add-neap-warning", "--dry-run"],
    "change apply": ["add-neap-warning", "--dry-run"],
    "change rebase": ["add-neap-warning"],
    "change task": ["add-neap-warning", "1.2", "--dry-run"],
    "change new": ["add-evil", "--title", "Plain"],
    "kb search": ["margin"],
    "kb ask": ["what is the margin"],
    "kb show": ["docs/guide.md"],
    "kb graph": ["REQ-d00001"],
    "req show": ["REQ-0001"],
    "req update": ["REQ-0001", "--rationale", f"Because {EVIL}", "--reason", EVIL],
    "req purpose": [f"To sail {EVIL}", "--reason", EVIL],
    "req test record": ["REQ-0001", "--result", "pass", "--notes", EVIL],
    "req review": ["HEAD"],
    "req diff": ["HEAD"],
    "req split": ["REQ-0001", "-s", f"It shall a {EVIL}", "-s", f"It shall b {EVIL}"],
    "req init": ["-n", "Plain"],
    "tools": [],
    "init": ["--dry-run"],
    "call": ["get_requirement", '{"req_id": "REQ-d00001"}'],
}
NOT_RUN = {
    "serve": "serves until it is stopped",
    "lsp": "serves until it is stopped",
    "web": "serves until it is stopped",
    "req serve": "serves until it is stopped",
    "req mcp": "serves until it is stopped",
    "req tui": "asks on a terminal until it is left",
    "req precheck": "runs the compiler of another language",
}
SHOWING = (
    "show",
    "search",
    "why",
    "context",
    "ask",
    "recall",
    "impact",
    "check",
    "trace",
    "specs show",
    "change show",
    "kb search",
    "kb show",
    "req show",
)


@pytest.fixture
def hostile(demo: Path) -> Path:
    """The demo, with orders at the end of every line that is a text."""
    for path in [*demo.glob("spec/*.md"), *demo.glob("openspec/**/*.md"), *demo.glob("docs/**/*.md")]:
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text("\n".join(map(_with_orders, lines)) + "\n", encoding="utf-8")
    (demo / "src" / "fairwater" / f"{FILE}.py").write_text(f"# Implements: REQ-d00001-A, REQ-d09999\n# {EVIL}\n")
    (demo / "docs" / f"{FILE}.md").write_text(f"# Margin {EVIL}\n\nThe margin is {EVIL} wide.\n", encoding="utf-8")
    return demo


def _with_orders(line: str) -> str:
    is_text = line.strip() and not line.startswith(("**Level", "*End*", "---", "|", "```", "- ", "## Ass", "## Rat"))
    is_text = is_text and not re.match(r"## (?:Purpose|Requirements|ADDED|MODIFIED|REMOVED|RENAMED|Why|What)", line)
    return f"{line} {EVIL}" if is_text else line


def _found(text: str) -> list[str]:
    return [f"U+{ord(sign[0]):04X}" for sign in OBEYED.findall(text)]


# Verifies: REQ-d00263-A
def test_no_command_prints_what_a_terminal_obeys(hostile: Path, clew: Callable[..., object]) -> None:
    clew(hostile, "req", *("update", "REQ-0001", "--rationale", f"Because {EVIL}", "--reason", EVIL))
    obeyed: dict[str, list[str]] = {}
    shown: dict[str, str] = {}
    for verb in [*all_verbs(), *COMMANDS]:
        if verb in NOT_RUN:
            continue
        done = clew(hostile, *verb.split(), *ARGUMENTS.get(verb, ()))
        assert done.returncode in (0, 1, 2), (verb, done.stderr)
        shown[verb] = done.stdout + done.stderr
        if found := _found(shown[verb]):
            obeyed[verb] = found
    assert obeyed == {}
    assert [verb for verb in SHOWING if "␛" not in shown[verb]] == []


# Verifies: REQ-d00263-A
def test_data_keeps_the_text_and_a_terminal_obeys_none_of_it(hostile: Path, clew: Callable[..., object]) -> None:
    done = clew(hostile, "show", "REQ-d00001", "--json")
    assert _found(done.stdout) == []
    assert EVIL in json.loads(done.stdout)["title"]


# Verifies: REQ-d00263-B
@pytest.mark.parametrize(
    "command",
    [
        *(("trace", "--format", form, "--output") for form in ("csv", "html", "markdown")),
        *(("check", "--format", form, "--output") for form in ("junit", "sarif")),
        *(("req", "export", "-f", form, "-o") for form in ("csv", "html", "markdown", "json")),
    ],
    ids=lambda command: " ".join(command[:-1]),
)
def test_no_exported_file_holds_what_is_obeyed(
    hostile: Path, clew: Callable[..., object], command: tuple[str, ...]
) -> None:
    statement = f"=The harbour shall ring {EVIL}"
    clew(hostile, "req", "update", "REQ-0001", "--statement", statement, "--reason", EVIL, "--force")
    done = clew(hostile, *command, "exported")
    assert done.returncode in (0, 1), done.stderr
    with (hostile / "exported").open(encoding="utf-8", newline="") as file:
        assert _found(file.read()) == []


# Verifies: REQ-d00263-A
def test_own_colours_are_obeyed_and_forged_ones_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        written = ""

        def write(self, text: str) -> int:
            self.written += text
            return len(text)

        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    stream = HarmlessStream(terminal)  # type: ignore[arg-type]
    print(coloured(f"a{EVIL}", "red", stream=stream), file=stream)
    own, _, rest = terminal.written.partition("a")
    assert own == "\x1b[31m"
    assert rest.startswith("␛]0;owned␇␛[2J␛[31m⟨U+009B⟩31m")
    assert rest.endswith("\x1b[0m\n")
    assert control("x") != control("y")


# Verifies: REQ-d00263-A
def test_the_mark_of_own_colours_is_another_one_in_every_process() -> None:
    program = "from clew.text.terminal import control; print(control('')[1:17])"
    marks = {subprocess.check_output([sys.executable, "-c", program], env={**os.environ}) for _ in range(2)}
    assert len(marks) == 2
