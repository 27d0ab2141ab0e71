"""The recipes of docs/architecture.md, followed to the letter, step by step, in a copy of the repository."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.markdown import fences, sections

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
COPIED = (
    "docs",
    "examples",
    "plugins",
    "spec",
    "src",
    "tests",
    "CHANGELOG.md",
    "Makefile",
    "README.md",
    "pyproject.toml",
    "server.json",
)

REQUIREMENT = """
---

## REQ-d00999: Requirements with a gap

**Level**: DEV | **Status**: Active | **Implements**: REQ-o00043-A

A person SHALL find what no test verifies.

## Assertions

A. `clew untested LEVEL` SHALL list the requirements of a level that have an assertion without a test.

*End* *Requirements with a gap* | **Hash**: 00000000
"""
TEST = '''"""The tool get_untested, by its command."""

from pathlib import Path

from tests.in_process import run


# Verifies: REQ-d00999-A
def test_requirements_are_listed_with_an_assertion_without_a_test(demo: Path) -> None:
    assert run(demo, "untested", "dev").stdout.startswith("REQ-d00006")
'''


def code(heading: str) -> list[tuple[str, str]]:
    """The files that a recipe names, each with its text."""
    found = [fence.text for fence in fences(sections(PAGE, 2)[heading]) if fence.language == "python"]
    return [(text.partition("\n")[0].removeprefix("# "), text.partition("\n")[2]) for text in found]


class Copy:
    """A copy of the repository in which somebody follows the recipes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lacking = ""
        """The answer of `make check-operation` to the declaration alone."""
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns(".*"))
            else:
                shutil.copy2(ROOT / name, root / name)
        self.run("git", "init", "-q")

    def run(self, *command: str, folder: Path | None = None) -> str:
        """The output of a command; the test fails where the command does."""
        done = self.tried(*command, folder=folder)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def tried(self, *command: str, folder: Path | None = None) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command,
            cwd=folder or self.root,
            env={**os.environ, "PYTHONPATH": str(self.root / "src")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=600,
            check=False,
        )

    def python(self, *arguments: str, folder: Path | None = None) -> str:
        return self.run(sys.executable, "-m", *arguments, folder=folder)

    def make(self, target: str) -> "subprocess.CompletedProcess[str]":
        # No stamp: the packages are those of the environment that runs this test.
        return self.tried("make", "-s", f"VENV={sys.prefix}", "STAMP=", target)

    def write(self, heading: str) -> None:
        """Write the code of a recipe to the files that it names."""
        for path, text in code(heading):
            (self.root / path).write_text(text, encoding="utf-8")

    def insert(self, path: str, before: str, text: str) -> None:
        """Write text before the last place of another in a file."""
        file = self.root / path
        head, found, tail = file.read_text(encoding="utf-8").rpartition(before)
        assert found, f"{path} has no {before}"
        file.write_text(f"{head}{text}{before}{tail}", encoding="utf-8")

    def append(self, path: str, text: str) -> None:
        with (self.root / path).open("a", encoding="utf-8") as file:
            file.write(text)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """A copy in which all three recipes were followed."""
    copy = Copy(tmp_path_factory.mktemp("recipes") / "clew")
    copy.write("Recipe: add an operation")
    copy.append("spec/27-why.md", REQUIREMENT)
    copy.append("tests/trace/test_untested.py", TEST)
    copy.write("Recipe: add a file format")
    readers = "src/clew/graph/readers/project.py"
    copy.insert(
        readers, "            ReviewsReader(", '            LineReader(Selection(("register",), ("*.csv",))),\n'
    )
    copy.insert(readers, "from clew.graph.readers.locations", "from clew.graph.readers.lines import LineReader\n")
    copy.append("docs/findings.md", "\n| `lines.unreadable` | warning | a line is not ID;Title | correct it |\n")
    # The imports of the example are among those of the file.
    ((findings, text),) = code("Recipe: add a finding")
    copy.insert(findings, "SOURCES: ", text[text.index("def ") :] + "\n\n")
    copy.insert(findings, "    broken_references,\n", "    without_assertions,\n")
    copy.append(
        "docs/findings.md", "\n| `trace.no_assertions` | info | a requirement has no assertions | write one |\n"
    )
    copy.lacking = copy.make("check-operation").stdout
    copy.insert(
        "src/clew/operation/listing.py",
        '    "clew.trace.operations.terms",\n',
        '    "clew.trace.operations.untested",\n',
    )
    written = copy.make("docs")
    assert written.returncode == 0, written.stderr
    return copy


# Verifies: REQ-o00004-A, REQ-o00007-F
def test_the_steps_of_the_recipe_for_an_operation_lead_to_nothing_missing(copy: Copy) -> None:
    assert copy.lacking == (
        "clew.trace.operations.untested declares an operation and is not in MODULES. "
        "Add it in src/clew/operation/listing.py.\n"
    )
    said = copy.make("check-operation")

    assert (said.returncode, said.stdout) == (0, ""), said.stderr
    assert (copy.root / "tests" / "surfaces" / "snapshots" / "get_untested.json").is_file()
    copy.python("clew", "fix", "REQ-d00999")
    assert "**Hash**: 00000000" not in (copy.root / "spec" / "27-why.md").read_text(encoding="utf-8")


# Verifies: REQ-p00002-C
def test_the_recipe_for_a_file_format_gives_a_reader(copy: Copy, tmp_path: Path) -> None:
    project = tmp_path / "register"
    project.mkdir()
    (project / "one.csv").write_text("REQ-1;First\nnonsense\nREQ-2;Second\n", encoding="utf-8")
    (tmp_path / "clew.toml").write_text("", encoding="utf-8")

    found = copy.tried(sys.executable, "-m", "clew", "check", "--all", folder=tmp_path).stdout

    assert "register/one.csv:2: warning lines.unreadable: 'nonsense' is not ID;Title." in found
    # The same copy has the recipe for a finding.
    assert "register/one.csv:1: info trace.no_assertions: REQ-1 has no assertions." in found
    assert "register/one.csv:3: info trace.no_assertions: REQ-2 has no assertions." in found


# Verifies: REQ-o00006-E
def test_the_recipe_for_a_finding_gives_a_finding(copy: Copy, tmp_path: Path) -> None:
    (tmp_path / "spec").mkdir()
    (tmp_path / "clew.toml").write_text("", encoding="utf-8")
    (tmp_path / "spec" / "one.md").write_text(
        "# REQ-d00001: Bare\n\n**Level**: DEV | **Status**: Active\n", encoding="utf-8"
    )

    found = copy.tried(sys.executable, "-m", "clew", "check", "--all", folder=tmp_path).stdout

    assert "spec/one.md:1: info trace.no_assertions: REQ-d00001 has no assertions." in found


# Verifies: REQ-o00007-F
def test_what_the_recipes_wrote_passes_the_checks_of_a_change(copy: Copy) -> None:
    written = [copy.root / path for heading in sections(PAGE, 2) if "Recipe" in heading for path, _ in code(heading)]
    copy.python("ruff", "check", *map(str, written))
    copy.python("ruff", "format", "--check", *map(str, written))
    copy.python(
        "pytest",
        "-q",
        "tests/trace/test_untested.py",
        "tests/docs/test_docs.py::test_every_code_of_a_finding_is_described",
    )
