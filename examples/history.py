"""Make a copy of the demo with a git history, so that `clew why` has something to tell.

    python3 examples/history.py FOLDER

The folder must not exist yet. The commits are the same ones every time, with the same ids.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

DEMO = Path(__file__).parent / "demo"


class Commit(NamedTuple):
    day: str
    author: str
    message: str
    paths: tuple[str, ...]
    """Files that appear, or get the text that they have in the demo."""
    earlier: tuple[tuple[str, str, str], ...] = ()
    """Texts that these files had at that time: a path, a text of the demo, and what stood in its place."""


ANNA, TOM = "Anna Berg <anna@fairwater.example>", "Tom Reed <tom@fairwater.example>"
THIRD = ("src/fairwater/settings.py", "environment, DEFAULT_MARGIN)", "environment, 0.3)")
UNNAMED = ("src/fairwater/settings.py", "DEFAULT_MARGIN = 0.5\n\n\n", "\n")
THIRD_SPEC = ("spec/ops-harbour.md", "The margin SHALL be 0.5 metres", "The margin SHALL be 0.3 metres")
TENTH = ("src/fairwater/passage.py", "LEAST_MARGIN = 0.2", "LEAST_MARGIN = 0.1")

COMMITS = (
    Commit(
        "2025-03-03",
        ANNA,
        """Read tide tables as the harbour office mails them

The office sends plain text, one turn of the tide a line. We chose to read exactly that, because nobody there will
learn another format.""",
        ("README.md", "pyproject.toml", "data", "spec", "src/fairwater/__init__.py", "src/fairwater/tables.py"),
        (THIRD_SPEC,),
    ),
    Commit("2025-03-04", ANNA, "Test what a table may hold and what is refused", ("tests/test_tables.py",)),
    Commit(
        "2025-03-10",
        TOM,
        """Follow a cosine between high and low water

A straight line is wrong by 20 cm at half tide, which is most of a margin. Rejected: harmonic constants, because the
office has none for this bar.""",
        ("src/fairwater/curve.py", "tests/test_curve.py", "docs/decisions"),
    ),
    Commit(
        "2025-03-17",
        ANNA,
        "Find the windows of a day",
        ("src/fairwater/passage.py", "tests/conftest.py", "tests/test_passage.py"),
        (TENTH,),
    ),
    Commit(
        "2025-03-24",
        TOM,
        "Take settings from options, then from the environment",
        ("src/fairwater/settings.py", "tests/test_settings.py"),
        (THIRD, UNNAMED),
    ),
    Commit(
        "2025-04-07",
        ANNA,
        "Tell the plan in words and as data",
        ("src/fairwater/report.py", "tests/test_report.py"),
    ),
    Commit(
        "2025-04-14",
        TOM,
        "Give the program a command line",
        ("src/fairwater/cli.py", "src/fairwater/__main__.py", "tests/test_cli.py"),
    ),
    Commit(
        "2025-05-19",
        ANNA,
        """Raise the default margin to half a metre

A yacht touched the bar on 12 May with 0.3 m under her keel: the survey of the bar was a year old. Decided with the
harbour office. Rejected: 0.8 m, because it leaves no window at neaps.""",
        ("src/fairwater/settings.py", "spec/ops-harbour.md"),
    ),
    Commit(
        "2025-06-02",
        TOM,
        """Refuse margins below 0.2 m

Below that a ripple decides. The office asked for a limit that nobody can switch off.""",
        ("src/fairwater/passage.py",),
    ),
    Commit("2025-06-16", ANNA, "Write the behaviour down as specs", ("openspec/specs", "tests/test_scenarios.py")),
    Commit("2025-07-01", TOM, "Keep the office's own requirements in a register", ("project.req",)),
    Commit("2025-07-14", ANNA, "Propose a warning at neaps", ("openspec",)),
    Commit("2025-08-04", TOM, "Guide, reference and troubleshooting", (".",)),
)


def make_history(target: Path) -> None:
    ignored = shutil.ignore_patterns(".clew", "__pycache__", ".pytest_cache", ".gitignore")
    shutil.copytree(DEMO, target, ignore=ignored)
    (target / ".gitignore").write_text(".clew/\n__pycache__/\n")
    whole = {path: path.read_bytes() for path in target.rglob("*") if path.is_file()}
    _git(target, "init", "--quiet", "--initial-branch=main")
    for commit in COMMITS:
        for path, now, then in commit.earlier:
            file = target / path
            text = file.read_text(encoding="utf-8")
            if now not in text:
                raise SystemExit(f"{path} of the demo does not hold {now!r} any more; see {Path(__file__).name}.")
            file.write_text(text.replace(now, then), encoding="utf-8")
        _git(target, "add", "--", *commit.paths)
        _git(target, "commit", "--quiet", f"--message={commit.message}", commit=commit)
        for path, data in whole.items():
            if path.read_bytes() != data:
                path.write_bytes(data)


def _git(folder: Path, *words: str, commit: Commit | None = None) -> None:
    """Whatever the user has configured, the commits come out the same."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    if commit is not None:
        name, _, email = commit.author.rstrip(">").partition(" <")
        for role in ("AUTHOR", "COMMITTER"):
            environment |= {f"GIT_{role}_NAME": name, f"GIT_{role}_EMAIL": email}
            environment[f"GIT_{role}_DATE"] = f"{commit.day}T09:00:00+00:00"
    subprocess.run(["git", "-c", "core.autocrlf=false", *words], cwd=folder, env=environment, check=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    make_history(Path(sys.argv[1]))
