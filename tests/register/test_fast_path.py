"""What git waits for with every commit: answered without loading the rest of Clew, and in the same words."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.register.served import GOOD, Served, make_project
from tests.register.test_hooks import Git, git, project  # noqa: F401 - a fixture

from clew.config import load
from clew.register.fast_path import answer
from clew.register.git.setup import set_up
from clew.register.git.staged import certain_citations
from clew.register.reading import scanner_for
from clew.surfaces.cli.main import main


@pytest.fixture
def served(tmp_path: Path) -> Served:
    made = make_project(tmp_path)
    made.add()
    made.add(title="Lock the account again", tags=["late"])
    made.add(title="Colour", statement="The system should roughly be fast, and maybe robust.", acceptance=["Yes"])
    return made


# Verifies: REQ-d00540-A
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_the_quick_answer_is_that_of_the_command(
    served: Served, more: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    root = str(served.root)
    code = answer("validate", ["-C", root, *more])
    quick = capsys.readouterr().out
    assert main(["req", "validate", "--folder", root, *more]) == code == 0
    assert capsys.readouterr().out == quick
    assert "REQ-V-0009" in quick
    assert "REQ-V-0020" in quick


# Verifies: REQ-d00540-B
def test_what_is_not_usual_is_left_to_the_command(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    root = str(served.root)
    assert answer("validate", ["-C", root, "--staged"]) is None
    assert answer("validate", ["-C", root, "--file"]) is None
    assert answer("validate", ["-C", root, "--file", str(served.root)]) is None
    assert answer("validate", ["-C", root, "--file", "missing.req"]) is None
    assert answer("review", ["-C", root, "--staged", "--gate"]) is None
    register = served.root / "project.req"
    register.write_bytes(register.read_bytes().replace(b"Colour", b"Color"))
    assert answer("validate", ["-C", root]) is None
    monkeypatch.setenv("REQ_VALIDATE_LLM_CMD", "judge")
    assert answer("validate", ["-C", root]) is None


# Verifies: REQ-d00540-C
def test_a_quick_answer_loads_no_project_no_parser_and_no_database(served: Served) -> None:
    script = (
        "import sys; from clew.register.fast_path import answer; assert answer('validate', sys.argv[1:]) == 0;"
        "heavy = {'clew.project', 'clew.config', 'clew.operation.listing', 'argparse', 'sqlite3'};"
        "print(sorted(heavy & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", script, "-C", str(served.root)], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


LINES = st.sampled_from(
    (
        *("# REQ-0001", "# REQ-0001: keeps", "x = 1  # REQ-0002 and more", "# Implements: REQ-0001, REQ-0002", "x = 1"),
        *('NAME = "REQ-0001"', "# REQ-0001-A", "# see req-7", "# REQ-0001..REQ-0003", "# XREQ-0001", "# REQ-00010"),
        *(
            "def test_req_0001_keeps(): ...",
            '"""Says REQ-0001."""',
            "# REQ-0001, 0002",
            "# REQ-NONE: none",
            "# (REQ-0003)",
        ),
    )
)


# Verifies: REQ-d00540-D
@given(st.lists(LINES, max_size=6))
def test_what_is_certain_is_what_the_project_cites(lines: list[str]) -> None:
    data = "\n".join((*lines, "")).encode()
    try:
        certain = certain_citations(data, "src/a.py")
    except LookupError:
        return
    found = SCANNER.cited(data, "src/a.py")
    assert sorted((each.id, each.line) for each in certain) == sorted((each.id, each.line) for each in found)
    assert not any(each.labels for each in found)


SCANNER = scanner_for(load(Path(__file__).parent))


# Verifies: REQ-d00540-D
def test_the_plainest_markers_are_certain() -> None:
    text = b"# REQ-0001\nx = 1  # REQ-0002: beside\n# Implements: REQ-0003, REQ-0004\n"
    assert [each.id for each in certain_citations(text, "src/a.py")] == [f"REQ-000{n}" for n in (1, 2, 3, 4)]


# Verifies: REQ-d00540-E
def test_a_commit_starts_clew_once_and_says_what_comes_next(tmp_path: Path, git: Git) -> None:  # noqa: F811
    served = project(tmp_path)
    git("add", "--all")
    git("commit", "-q", "-m", "begin")
    assert set_up(tmp_path).ok
    served.write("src/kept.rs", "// REQ-0001\nfn kept() { more() }\n")
    git("add", "--all")
    told = git("commit", "-q", "-m", "Keep more, for REQ-0001")
    assert "REQ-0001 (draft) Lock the account: clew req update" in told.stdout + told.stderr
    assert not (tmp_path / ".git" / "clew-told").exists()
    # Nobody looked before this one, so it is looked at afterwards.
    served.write("src/kept.rs", "// REQ-0001\nfn kept() { most() }\n")
    told = git("commit", "-q", "--all", "--no-verify", "-m", "Keep most")
    assert "REQ-0001 (draft)" in told.stdout + told.stderr
    told = git("commit", "-q", "--allow-empty", "-m", "Release")
    assert (told.stdout, told.stderr) == ("", "")


# Verifies: REQ-d00540-E
def test_what_is_staged_of_the_register_is_told_too(tmp_path: Path, git: Git) -> None:  # noqa: F811
    served = project(tmp_path)
    git("add", "--all")
    git("commit", "-q", "-m", "begin")
    assert set_up(tmp_path).ok
    served.call("req_add", **{**GOOD, "title": "Unlock the account", "statement": "The user shall unlock what is his."})
    git("add", "--all")
    told = git("commit", "-q", "-m", "Ask for more")
    assert "REQ-0002 (draft) Unlock the account" in told.stdout + told.stderr
