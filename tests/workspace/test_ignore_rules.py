"""Rules of git that were made to take long, and rules as git understands them."""

import random
import subprocess
from pathlib import Path

import pytest

from clew.workspace.ignore import ignore_spec


# Verifies: REQ-d00264-A
@pytest.mark.parametrize(
    "rule", ["*a" * 30 + "b", "x*" + "[a-c]*?" * 20 + "\\!", "a**" * 20 + "b", "d/" + "*a" * 30 + "*b*c"]
)
def test_many_stars_take_no_more_than_the_name_is_long(rule: str) -> None:
    spec = ignore_spec([rule])
    assert spec.check_file("d/" + "a" * 250).include is None
    assert spec.check_file("d/x" + "a" * 250).include is None


# Verifies: REQ-d00264-A
def test_rules_with_stars_mean_what_they_mean_to_git(tmp_path: Path) -> None:
    chance = random.Random(11)
    signs = ("a", "b", "*", "*", "?", "[ab]", "[!a]", "\\*", "/", ".")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    names = sorted(
        {"".join(chance.choice("ab./") for _ in range(chance.randrange(1, 9))).strip("/.") for _ in range(400)}
    )
    names = [name for name in names if name and "//" not in name and "/." not in name and "./" not in name]
    for _ in range(60):
        rule = "".join(chance.choice(signs) for _ in range(chance.randrange(2, 9)))
        if "//" in rule or "**" in rule or rule.strip("/") in ("", "*"):
            continue
        (tmp_path / ".gitignore").write_text(f"{rule}\n")
        told = subprocess.run(
            ["git", "check-ignore", "--no-index", "--stdin"],
            cwd=tmp_path,
            input="\n".join(names),
            text=True,
            capture_output=True,
            check=False,
        )
        spec = ignore_spec([rule])
        assert {name for name in names if spec.check_file(name).include} == set(told.stdout.split()), rule
