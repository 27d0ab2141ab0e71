"""`clew links` and `clew eval links`, as a shell uses them."""

import fcntl
import io
import json
import os
import pty
import select
import sys
import termios
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests import forked

Clew = Callable[..., Any]

_PATIENCE_SECONDS = 300
"""So long a command on a terminal may be silent; only one that would wait for ever reaches that."""


@pytest.fixture
def plain(demo: Path) -> Path:
    """The demo, compared by words alone, which is faster."""
    toml = demo / "clew.toml"
    toml.write_text(f'{toml.read_text()}\n[embedder]\nkind = "none"\n')
    return demo


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    folder = tmp_path / "traces"
    links = []
    for number, topic in enumerate(("tides", "tokens", "prices", "queues", "engines"), start=1):
        for side, text in (("sources", f"The system keeps {topic}."), ("targets", f"class {topic.title()} {{}}\n")):
            (folder / side).mkdir(parents=True, exist_ok=True)
            (folder / side / f"{side[0]}{number}.java").write_text(text)
        links.append(f"s{number},t{number}")
    (folder / "answers.csv").write_text("source,target\n" + "\n".join(links))
    return folder


# Verifies: REQ-o00023-A
def test_suggestions_are_listed_with_place_requirement_and_reasons(plain: Path, clew: Clew) -> None:
    done = clew(plain, "links", "suggest", "src/fairwater/curve.py")

    assert done.returncode == 0
    assert "src/fairwater/curve.py:30  moment_at" in done.stdout
    assert "REQ-d00002" in done.stdout
    assert "shares the words" in done.stdout
    assert "2 tests and pieces of code cite no requirement" in done.stdout
    data = json.loads(clew(plain, "links", "suggest", "src", "--limit", "2", "--json").stdout)
    assert data["count"] == len(data["suggestions"]) == 2
    assert data["with_meaning"] is False


def test_nothing_to_suggest_is_told_by_the_exit_code(plain: Path, clew: Clew) -> None:
    done = clew(plain, "links", "suggest", "tests")
    assert (done.returncode, "Nothing to suggest" in done.stdout) == (1, True)


# Verifies: REQ-d00057-D+F, REQ-d00059-C
def test_a_link_is_applied_rejected_and_reconsidered(plain: Path, clew: Clew) -> None:
    source = plain / "src" / "fairwater" / "curve.py"
    before = source.read_text()

    assert "would cite" in clew(plain, "links", "apply", "src/fairwater/curve.py:30", "d2-B", "--dry-run").stdout
    assert source.read_text() == before
    rejected = json.loads(clew(plain, "links", "reject", "src/fairwater/curve.py:30", "d2", "--json").stdout)
    assert (rejected["success"], rejected["decision"]) == (True, "reject")
    assert "open again" in clew(plain, "links", "reject", "src/fairwater/curve.py:30", "d2", "--take-back").stdout

    done = clew(plain, "links", "apply", "src/fairwater/curve.py:30", "d2-B")

    assert done.returncode == 0
    assert "src/fairwater/curve.py:30: # Implements: REQ-d00002-B" in done.stdout
    assert source.read_text() == before.replace("def moment_at", "# Implements: REQ-d00002-B\ndef moment_at")
    again = json.loads(clew(plain, "links", "apply", "src/fairwater/curve.py:31", "d2-B", "--json").stdout)
    assert again["already_linked"] is True
    assert "implements -B" in clew(plain, "show", "d2").stdout


# Verifies: REQ-d00058-A+B+D
@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["apply", "src/fairwater/curve.py:18", "REQ-d09999"], 1, "REQ-d09999"),
        (["apply", "src/fairwater/curve.py:999", "d2"], 2, "999"),
        (["apply", "src/fairwater/curve.py", "d2"], 2, "has no line number"),
        (["apply", "../curve.py:1", "d2"], 2, "outside"),
        (["apply", "src/fairwater/curve.py:18", "d2-B", "--if-version", "00"], 2, "changed since"),
        (["reject", "src/fairwater/curve.py:1", "d2"], 2, "line 1"),
        (["suggest", "nowhere"], 1, "nowhere"),
        (["suggest", "--limit", "0"], 2, "10,000"),
        ([], 2, "usage"),
    ],
)
def test_bad_calls_are_refused_with_what_is_wrong(
    plain: Path, clew: Clew, arguments: list[str], code: int, says: str
) -> None:
    before = {path: path.read_bytes() for path in (plain / "src").rglob("*.py")}

    done = clew(plain, "links", *arguments)

    assert done.returncode == code
    assert says in done.stderr
    assert {path: path.read_bytes() for path in (plain / "src").rglob("*.py")} == before


# Verifies: REQ-d00056-A+B
def test_eval_links_measures_any_folder(traces: Path, clew: Clew) -> None:
    data = json.loads(clew(traces, "eval", "links", ".", "--words-only", "--json").stdout)

    assert (data["map"], data["links"], data["sources"], data["targets"]) == (1.0, 5, 5, 5)
    assert 0 < data["f1"] <= 1
    assert 0 < data["precision"] <= 1
    assert 0 < data["recall"] <= 1
    assert data["calibration"] == "insufficient data"
    shown = clew(traces, "eval", "links", ".", "--words-only").stdout
    assert "MAP        1.000" in shown
    assert "calibration: insufficient data" in shown


# Verifies: REQ-d00056-D
def test_eval_links_refuses_a_folder_without_answers(traces: Path, clew: Clew) -> None:
    (traces / "answers.csv").unlink()
    done = clew(traces, "eval", "links", ".")
    assert (done.returncode, "answers.csv" in done.stderr) == (1, True)


# Verifies: REQ-d00056-A, REQ-d00055-B
def test_eval_links_compares_by_meaning_too(traces: Path, clew: Clew) -> None:
    data = json.loads(clew(traces, "eval", "links", ".", "--json").stdout)
    assert (data["map"], data["with_meaning"]) == (1.0, True)


# Verifies: REQ-d00410-C
def test_suggestions_are_gone_through_by_keyboard(plain: Path, clew: Clew, monkeypatch: pytest.MonkeyPatch) -> None:
    before = json.loads(clew(plain, "links", "suggest", "src", "--json").stdout)["suggestions"]
    first, second = before[0], next(each for each in before if each["source_id"] != before[0]["source_id"])
    monkeypatch.setattr("sys.stdin", io.StringIO("a\nx\nr\nq\n"))
    done = clew(plain, "links", "review", "src", "--json")
    counts = json.loads(done.stdout)
    assert (counts["accepted"], counts["rejected"], counts["skipped"]) == (1, 1, 0)
    assert counts["left"] > 0
    assert done.stderr.count("[a]ccept") == 4
    cited = first["assertion_id"] or first["requirement_id"]
    assert f"Implements: {cited}" in (plain / first["file"]).read_text()
    after = json.loads(clew(plain, "links", "suggest", "src", "--json").stdout)["suggestions"]
    assert first["source_id"] not in {each["source_id"] for each in after}
    assert second


@pytest.fixture
def uncited(plain: Path) -> Path:
    """A file of the demo without its citations."""
    file = plain / "src" / "fairwater" / "passage.py"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if not line.startswith("# Implements:")))
    return file


# Verifies: REQ-d00410-C+E
def test_every_link_of_a_review_stands_above_its_function_and_is_taken_back(
    plain: Path, uncited: Path, clew: Clew, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = uncited.read_text()
    path = uncited.relative_to(plain).as_posix()
    asked = json.loads(clew(plain, "links", "suggest", path, "--json").stdout)["suggestions"]
    best = {each["source_label"]: each["assertion_id"] or each["requirement_id"] for each in reversed(asked)}
    assert len(best) > 1

    monkeypatch.setattr("sys.stdin", io.StringIO("u\na\nu\nr\nu\ns\nu\nq\n"))
    done = clew(plain, "links", "review", path, "--json")
    assert done.stderr.count("Nothing was decided yet.") == 1
    assert done.stderr.count("is open again") == 2
    assert json.loads(done.stdout) == {"accepted": 0, "rejected": 0, "skipped": 0, "left": len(asked)}
    assert uncited.read_text() == before

    monkeypatch.setattr("sys.stdin", io.StringIO("a\n" * len(best)))
    assert json.loads(clew(plain, "links", "review", path, "--json").stdout)["accepted"] == len(best)
    lines = uncited.read_text().splitlines()
    above = {below.split("(")[0]: line for line, below in pairwise(lines) if line.startswith("# Implements:")}
    names = {label: "@dataclass" if label == "Window" else f"def {label}" for label in best}
    assert above == {names[label]: f"# Implements: {cited}" for label, cited in best.items()}
    assert [line for line in lines if not line.startswith("# Implements:")] == before.splitlines()


# Verifies: REQ-d00410-C
@pytest.mark.parametrize("given", [None, io.StringIO("")], ids=["closed", "empty"])
def test_a_review_without_an_input_ends(
    plain: Path, uncited: Path, clew: Clew, monkeypatch: pytest.MonkeyPatch, given: io.StringIO | None
) -> None:
    before = uncited.read_text()
    monkeypatch.setattr("sys.stdin", given)
    done = clew(plain, "links", "review", "src/fairwater/passage.py", "--json")
    counts = json.loads(done.stdout)
    assert (done.returncode, counts["accepted"], counts["left"] > 0) == (0, 0, True)
    assert uncited.read_text() == before


# Verifies: REQ-d00410-C
def test_a_review_on_a_terminal_takes_single_keys_and_no_arrow_for_a_letter(plain: Path, uncited: Path) -> None:
    before = uncited.read_text()
    with Terminal(plain, "links", "review", "src/fairwater/passage.py", "--limit", "2") as terminal:
        for keys in (b"\x1b[A", b"x", b"s", b"u", b"r"):
            terminal.wait_for("[q]uit")
            terminal.press(keys)
        terminal.wait_for("not suggested again")
        terminal.wait_for("[q]uit")
        terminal.press(b"\x03")
        terminal.wait_for("0 accepted, 1 rejected, 0 skipped; 1 were not looked at.")
    assert uncited.read_text() == before


# Verifies: REQ-d00410-C
def test_a_review_types_ahead_and_knows_where_a_special_key_ends(plain: Path, uncited: Path) -> None:
    before = uncited.read_text()
    with Terminal(plain, "links", "review", "src/fairwater/passage.py", "--limit", "2") as terminal:
        terminal.wait_for("[q]uit")
        terminal.press(b"\x1b[A\x1bOA\x1b[[A\x1b[1;5A\x1bas\x1b[3~q")
        terminal.wait_for("0 accepted, 0 rejected, 1 skipped; 1 were not looked at.")
    assert uncited.read_text() == before


def test_a_terminal_that_waits_for_ever_fails_a_test(plain: Path, uncited: Path) -> None:
    with Terminal(plain, "links", "review", "src/fairwater/passage.py") as terminal:
        terminal.wait_for("[q]uit")
        with pytest.raises(AssertionError, match="did not show 'what it never says'"):
            terminal.wait_for("what it never says", seconds=0)


class Terminal:
    """A command on a terminal of 40 columns, whose keys are pressed one by one."""

    def __init__(self, folder: Path, *words: str) -> None:
        self._own, its = pty.openpty()
        self._shown = ""
        self._process = forked.Process(
            [sys.executable, "-m", "clew", *words],
            cwd=folder,
            stdin=its,
            stdout=its,
            stderr=its,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "40", "NO_COLOR": "1"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(its)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._own)
        try:
            self._process.wait(_PATIENCE_SECONDS)
        finally:
            self._process.kill()

    def press(self, keys: bytes) -> None:
        os.write(self._own, keys)

    def wait_for(self, text: str, seconds: float = _PATIENCE_SECONDS) -> None:
        """Until this was shown; where lines break makes no difference."""
        while text not in (shown := " ".join(self._shown.split())):
            ready = select.select([self._own], [], [], seconds)[0]
            assert ready, f"The command waits and did not show {text!r}: {self._shown}"
            try:
                read = os.read(self._own, 65_536)
            except OSError:
                read = b""
            assert read, f"The command ended without {text!r}: {self._shown}"
            self._shown += read.decode("utf-8", "replace")
        self._shown = shown.partition(text)[2]
