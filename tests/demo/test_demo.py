"""The demonstration project holds what its README says, and exactly the three gaps it names.

Nothing of Clew's own readers is used here: the demo is what they are tried on, so it is checked by other means.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from clew.setup.detect.classify import detect
from clew.setup.detect.proposal import proposed_config

# Verifies: REQ-d00020-A+B

DEMO = Path(__file__).parents[2] / "examples" / "demo"
ENVIRONMENT = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
LEVELS = {"p": "PRD", "o": "OPS", "d": "DEV"}
REFERENCE = re.compile(r"(REQ-[pod]\d{5})(?:-([A-Z](?:\+[A-Z])*))?")


class Block:
    """One requirement, read with a ruler."""

    def __init__(self, text: str) -> None:
        self.id = text[:10]
        self.text = text
        self.labels = dict(re.findall(r"^([A-Z])\. (.+)$", text, re.MULTILINE))
        self.level = re.search(r"\*\*Level\*\*: (\w+)", text)[1]
        self.implements = REFERENCE.findall(re.search(r"\*\*Implements\*\*: (.+)$", text, re.MULTILINE)[1])
        self.hash = re.search(r"^\*End\* \*.+\* \| \*\*Hash\*\*: ([0-9a-f]{8})$", text, re.MULTILINE)[1]

    def current_hash(self) -> str:
        lines = [f"{label}. {text}" for label, text in self.labels.items()]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:8]


@pytest.fixture(scope="module")
def blocks() -> dict[str, Block]:
    texts = [path.read_text() for path in sorted((DEMO / "spec").glob("*.md"))]
    found = [Block(part) for text in texts for part in re.split(r"^# (?=REQ-)", text, flags=re.MULTILINE)[1:]]
    assert len({block.id for block in found}) == len(found)
    return {block.id: block for block in found}


def cited(folder: str, keyword: str) -> set[str]:
    """Every assertion that comments in a folder cite, and those that test names carry."""
    found = set()
    for path in (DEMO / folder).rglob("*.py"):
        text = path.read_text()
        for line in re.findall(rf"^\s*# {keyword}: (.+)$", text, re.MULTILINE):
            for identifier, labels in REFERENCE.findall(line):
                found.update(f"{identifier}-{label}" for label in labels.split("+"))
        for identifier, label in re.findall(r"def test_REQ_([pod]\d{5})_([A-Z])_", text):
            found.add(f"REQ-{identifier}-{label}")
    return found


def test_there_are_three_levels_in_several_files(blocks):
    assert len(list((DEMO / "spec").glob("*.md"))) == 5
    assert [sum(1 for block in blocks.values() if block.id[4] == letter) for letter in "pod"] == [3, 4, 8]
    assert all(block.level == LEVELS[block.id[4]] for block in blocks.values())
    assert sum(len(block.labels) for block in blocks.values()) == 34
    assert all("SHALL" in text for block in blocks.values() for text in block.labels.values())
    assert all("## Rationale" in block.text for block in blocks.values())


def test_exactly_one_hash_is_stale(blocks):
    assert [block.id for block in blocks.values() if block.hash != block.current_hash()] == ["REQ-o00003"]


def test_the_stale_hash_is_that_of_the_text_before_the_margin_was_raised(blocks):
    lines = [f"{label}. {text}" for label, text in blocks["REQ-o00003"].labels.items()]
    earlier = "\n".join(lines).replace("SHALL be 0.5 metres", "SHALL be 0.3 metres")

    assert hashlib.sha256(earlier.encode()).hexdigest()[:8] == blocks["REQ-o00003"].hash


def test_exactly_one_reference_is_broken(blocks):
    broken = [
        (block.id, target)
        for block in blocks.values()
        for target, labels in block.implements
        if target not in blocks or any(label and label not in blocks[target].labels for label in labels.split("+"))
    ]

    assert broken == [("REQ-d00008", "REQ-o00009")]


def test_exactly_one_assertion_of_all_levels_has_no_test(blocks):
    assertions = {f"{block.id}-{label}" for block in blocks.values() for label in block.labels}

    assert assertions - cited("tests", "Verifies") == {"REQ-d00006-C"}
    assert cited("tests", "Verifies") <= assertions


def test_code_implements_only_what_exists_and_every_assertion_of_the_lowest_level(blocks):
    assertions = {f"{block.id}-{label}" for block in blocks.values() for label in block.labels}
    implemented = cited("src", "Implements")

    assert implemented <= assertions
    assert {name for name in assertions if name.startswith("REQ-d")} <= implemented


def test_every_gap_is_told_in_the_readme():
    readme = (DEMO / "README.md").read_text()

    assert all(name in readme for name in ("REQ-d00006-C", "REQ-o00003", "REQ-d00008", "REQ-o00009"))


def test_there_is_one_journey_that_validates_requirements_that_exist(blocks):
    text = (DEMO / "spec" / "journeys.md").read_text()

    assert re.findall(r"^# (JNY-[A-Za-z]+-\d+): ", text, re.MULTILINE) == ["JNY-Skipper-01"]
    validated = REFERENCE.findall(re.search(r"^Validates: (.+)$", text, re.MULTILINE)[1])
    assert {identifier for identifier, _ in validated} <= set(blocks)


def test_its_own_tests_pass_and_the_result_file_is_theirs(tmp_path):
    report = tmp_path / "junit.xml"

    subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={report}", str(DEMO)],
        cwd=DEMO.parents[1],
        env=ENVIRONMENT,
        check=True,
        capture_output=True,
    )

    def cases(path: Path) -> set[tuple[str, str]]:
        found = ElementTree.parse(path).getroot().iter("testcase")
        return {(case.get("classname", ""), case.get("name", "")) for case in found if not len(case)}

    assert cases(report) == cases(DEMO / "results" / "junit.xml")


def test_the_result_file_says_nothing_of_the_machine_it_was_made_on():
    suite = next(ElementTree.parse(DEMO / "results" / "junit.xml").getroot().iter("testsuite"))

    assert set(suite.attrib) == {"name", "errors", "failures", "skipped", "tests", "time"}
    assert (suite.get("failures"), suite.get("errors"), suite.get("tests")) == ("0", "0", str(len(suite)))


def test_the_program_answers_as_its_readme_says():
    example = re.search(
        r"```console\n\$ .+?python -m fairwater (.+?)\n(.+?)```", (DEMO / "README.md").read_text(), re.DOTALL
    )
    arguments, answer = example[1].split(), example[2]

    done = subprocess.run(
        [sys.executable, "-m", "fairwater", *arguments],
        cwd=DEMO,
        env={**ENVIRONMENT, "PYTHONPATH": "src"},
        check=True,
        capture_output=True,
        text=True,
    )

    assert done.stdout == answer


def test_the_open_change_adds_and_modifies_what_the_specs_allow():
    specs = {path.parent.name: path.read_text() for path in (DEMO / "openspec" / "specs").glob("*/spec.md")}
    (change,) = [path for path in (DEMO / "openspec" / "changes").iterdir() if path.name != "archive"]
    deltas = {path.parent.name: path.read_text() for path in change.glob("specs/*/spec.md")}

    assert set(specs) == set(deltas) == {"passage-windows", "tide-tables"}
    assert all("## Why" in text and "## What Changes" in text for text in [(change / "proposal.md").read_text()])
    assert re.findall(r"^- \[([ x])\]", (change / "tasks.md").read_text(), re.MULTILINE).count("x") == 1
    for name, delta in deltas.items():
        present = set(re.findall(r"^### Requirement: (.+)$", specs[name], re.MULTILINE))
        added, _, modified = delta.partition("## MODIFIED Requirements")
        assert not present & set(re.findall(r"^### Requirement: (.+)$", added, re.MULTILINE))
        assert set(re.findall(r"^### Requirement: (.+)$", modified, re.MULTILINE)) <= present
    assert "## ADDED Requirements" in deltas["passage-windows"]
    assert "## MODIFIED Requirements" in deltas["passage-windows"]


def test_every_link_between_pages_leads_somewhere(blocks):
    for page in [*DEMO.rglob("docs/**/*.md"), *DEMO.glob("spec/*.md")]:
        text = page.read_text()
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (page.parent / target).is_file(), f"{page.name} links to {target}"
        for identifier, _ in REFERENCE.findall(text):
            assert identifier in blocks or (page.name, identifier) == ("dev-surface.md", "REQ-o00009")


def test_every_environment_variable_is_in_the_reference():
    used = set(re.findall(r"FAIRWATER_[A-Z_]+", (DEMO / "src" / "fairwater" / "settings.py").read_text()))

    assert used == set(re.findall(r"FAIRWATER_[A-Z_]+", (DEMO / "docs" / "reference.md").read_text()))


def test_the_configuration_is_what_init_writes(tmp_path):
    copy = tmp_path / "demo"
    shutil.copytree(DEMO, copy, ignore=shutil.ignore_patterns("clew.toml", ".clew", "__pycache__", ".pytest_cache"))

    assert proposed_config(detect(copy)) == (DEMO / "clew.toml").read_text()
    assert tomllib.loads((DEMO / "clew.toml").read_text())["tests"]["results"] == ["results/*.xml"]
    assert ".clew/" in (DEMO / ".gitignore").read_text().splitlines()
