"""OpenSpec and Clew, held against each other on the same folders.

Skipped where OpenSpec is not installed: `make differential` installs it, and nothing else does.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.differential import cases
from tests.differential.openspec import ALL, HERE, PROGRAM, OpenSpec, disagreements, expected, found

from clew.errors import ClewError
from clew.formats.openspec.reader import read_spec
from clew.project import Project
from clew.specs.operations.commands import ArchiveNow
from clew.surfaces.cli.main import main

REAL = Path(__file__).parents[3] / "shared" / "data" / "openspec"
ABOUT = ("validate", "strict", "count", "archive")

needs_openspec = pytest.mark.skipif(
    not PROGRAM.home.exists(), reason="OpenSpec is not installed; `make differential` installs it"
)
takes_long = pytest.mark.skipif(not os.environ.get(ALL), reason="takes a minute; `make differential` runs it")
needs_data = pytest.mark.skipif(not REAL.is_dir(), reason="the development data is not here")

Opened = Callable[[Path], Project]


@pytest.fixture
def openspec(tmp_path: Path) -> OpenSpec:
    return OpenSpec(tmp_path)


def verdicts(project: Project, *, strict: bool) -> dict[str, bool]:
    specs = project.specs
    changes = {f"change {id}": specs.validate_changes(id, "openspec", strict=strict) for id in specs.library.changes}
    own = {f"spec {id}": specs.validate_specs(id, "openspec", strict=strict) for id in specs.library.specs}
    return {item: report.valid for item, report in (changes | own).items()}


def words(pairs: Mapping[str, tuple[object, object]], names: Mapping[object, str]) -> dict[str, tuple[str, str]]:
    return {item: (names.get(a, str(a)), names.get(b, str(b))) for item, (a, b) in pairs.items()}


# Verifies: REQ-d00073-D
@needs_openspec
@pytest.mark.parametrize("about", ["validate", "strict"])
def test_both_say_the_same_of_odd_specs_and_changes_but_for_what_is_listed(
    openspec: OpenSpec, opened: Opened, tmp_path: Path, about: str
) -> None:
    root = cases.write(tmp_path / "tree")
    project = opened(root)
    project.ensure_graph()
    strict = about == "strict"
    differing = found(openspec.verdicts(root, strict=strict), verdicts(project, strict=strict))
    assert words(differing, {True: "valid", False: "invalid"}) == expected(about)


# Verifies: REQ-d00073-D
@needs_openspec
def test_both_count_the_same_requirements_but_for_what_is_listed(
    openspec: OpenSpec, opened: Opened, tmp_path: Path
) -> None:
    root = cases.write(tmp_path / "tree")
    project = opened(root)
    project.ensure_graph()
    # Of a spec that it calls broken OpenSpec counts nothing.
    valid = {item.removeprefix("spec ") for item, is_valid in openspec.verdicts(root, strict=False).items() if is_valid}
    counted = {id: count for id, count in openspec.requirement_counts(root).items() if id in valid}
    ours = {id: len(entry.outline.requirements) for id, entry in project.specs.library.specs.items() if id in valid}
    assert words(found(counted, ours), {}) == expected("count")


# Verifies: REQ-d00073-D
@needs_openspec
@needs_data
def test_both_say_the_same_of_the_specs_and_changes_of_openspec_itself(
    openspec: OpenSpec, opened: Opened, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    shutil.copytree(REAL, root / "openspec")
    project = opened(root)
    project.ensure_graph()
    for strict in (False, True):
        assert found(openspec.verdicts(root, strict=strict), verdicts(project, strict=strict)) == {}
    ours = {id: len(entry.outline.requirements) for id, entry in project.specs.library.specs.items()}
    assert openspec.requirement_counts(root) == ours


def requirements(root: Path) -> dict[str, dict[str, str]]:
    """The requirements of all specs by name; blank lines do not count, nor does the order of requirements."""
    read = {path: read_spec(path.read_bytes()) for path in sorted((root / "openspec" / "specs").rglob("spec.md"))}
    return {
        str(path.relative_to(root)): {
            each.name: re.sub(r"\s*\n\s*", "\n", each.raw.strip()) for each in spec.requirements
        }
        for path, spec in read.items()
    }


def archived(root: Path, id: str) -> str:
    return "refused" if (root / "openspec" / "changes" / id).exists() else "archived"


def archive_by_both(
    openspec: OpenSpec, root: Path, id: str, prepare: Callable[[Path], object]
) -> tuple[str, str, bool]:
    """What becomes of a change in the hands of OpenSpec and of Clew, and whether the specs are the same then."""
    theirs, ours = root / id / "theirs", root / id / "ours"
    prepare(theirs)
    prepare(ours)
    openspec.archive(theirs, id)
    project = Project.open(ours)
    try:
        # Conflicts between open changes are Clew's own; here each change is on its own.
        project.specs.archive(ArchiveNow(change_id=id, unfinished=True, take="change"))
    except ClewError:
        pass
    finally:
        project.close()
    return archived(theirs, id), archived(ours, id), requirements(theirs) == requirements(ours)


def compare(
    openspec: OpenSpec, root: Path, trees: Mapping[str, Callable[[Path], object]]
) -> dict[str, tuple[str, str]]:
    """The changes that only one of them archives. What both archive has to end in the same specs."""
    with ThreadPoolExecutor(max_workers=2) as workers:
        outcomes = dict(
            zip(trees, workers.map(lambda id: archive_by_both(openspec, root, id, trees[id]), trees), strict=True)
        )
    assert [id for id, (theirs, ours, same) in outcomes.items() if theirs == ours and not same] == []
    return {id: (theirs, ours) for id, (theirs, ours, _) in outcomes.items() if theirs != ours}


# Verifies: REQ-d00074-F
@needs_openspec
@takes_long
def test_both_archive_the_same_and_with_the_same_outcome_but_for_what_is_listed(
    openspec: OpenSpec, tmp_path: Path
) -> None:
    trees = {id: cases.tree_of(id) for id in (*cases.DELTAS, *cases.FILES)}
    assert compare(openspec, tmp_path, trees) == expected("archive")


# Verifies: REQ-d00074-F
@needs_openspec
@takes_long
@needs_data
def test_both_archive_the_open_changes_of_openspec_itself_with_the_same_outcome(
    openspec: OpenSpec, tmp_path: Path
) -> None:
    def copy(root: Path) -> None:
        shutil.copytree(REAL, root / "openspec", ignore=shutil.ignore_patterns("archive"))

    changes = sorted(path.name for path in (REAL / "changes").iterdir() if path.name != "archive")
    assert compare(openspec, tmp_path, dict.fromkeys(changes, copy)) == {}


# Verifies: REQ-d00073-D
def test_every_listed_disagreement_is_about_a_case_and_says_why() -> None:
    known = {f"spec {id}" for id in cases.SPECS} | set(cases.SPECS)
    known |= {name for id in (*cases.DELTAS, *cases.FILES) for name in (id, f"change {id}")}
    page = (HERE.parents[1] / "docs" / "switching" / "openspec.md").read_text(encoding="utf-8")
    for each in disagreements():
        assert each.item in known
        assert set(each.about) <= set(ABOUT)
        assert each.explained in page
        assert each.openspec != each.clew


def test_openspec_is_pinned_to_one_version_by_hash_and_names_no_registry() -> None:
    wanted = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    packages = json.loads((HERE / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert wanted == {"@fission-ai/openspec": packages["node_modules/@fission-ai/openspec"]["version"]}
    locked = {name: entry for name, entry in packages.items() if name}
    assert [name for name, entry in locked.items() if not entry.get("integrity", "").startswith("sha512-")] == []
    assert [name for name, entry in locked.items() if "resolved" in entry] == []


# Verifies: REQ-d00395-E
@needs_openspec
def test_lists_and_texts_have_the_shapes_of_openspec(
    openspec: OpenSpec, demo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(demo)

    def ours(*words: str) -> dict[str, Any]:
        capsys.readouterr()
        main([*words, "--rules", "openspec", "--json"])
        said: dict[str, Any] = json.loads(capsys.readouterr().out)
        return {name: value for name, value in said.items() if name != "root"}

    assert ours("specs", "list") == openspec.asked(demo, "list", "--specs")
    for id in ("passage-windows", "tide-tables"):
        assert ours("specs", "show", id) == openspec.asked(demo, "show", id)
    assert ours("change", "show", "add-neap-warning") == openspec.asked(demo, "show", "add-neap-warning")
    open_changes = [said["changes"] for said in (ours("change", "list"), openspec.asked(demo, "list"))]
    undated = [[{**each, "lastModified": ""} for each in changes] for changes in open_changes]
    assert undated[0] == undated[1]


# Verifies: REQ-d00544-C
@needs_openspec
def test_both_tell_the_settings_of_a_project(
    openspec: OpenSpec, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "openspec" / "changes" / "brighter").mkdir(parents=True)
    (tmp_path / "openspec" / "changes" / "brighter" / "proposal.md").write_text("## Why\n\nDark.\n", encoding="utf-8")
    (tmp_path / "openspec" / "config.yaml").write_text(SETTINGS, encoding="utf-8")
    for artefact in ("proposal", "specs", "design", "tasks"):
        capsys.readouterr()
        main(["change", "instructions", artefact, "brighter", "--json", "-C", str(tmp_path)])
        ours = json.loads(capsys.readouterr().out)
        theirs = openspec.asked(tmp_path, "instructions", artefact, "--change", "brighter")
        for name in theirs.keys() - OWN_WORDS:
            assert ours.get(name) == theirs[name], (artefact, name)
        # YAML ends a folded text with a line feed, which is no part of the rule.
        rules = [[rule.strip() for rule in said.get("rules", ())] for said in (ours, theirs)]
        assert rules[0] == rules[1], artefact
        needed = [[each["id"] for each in said["dependencies"]] for said in (ours, theirs)]
        assert needed[0] == needed[1], artefact


OWN_WORDS = {"description", "instruction", "template", "dependencies", "rules"}
"""What of instructions is worded by each program; rules and dependencies are compared by what they name."""


# Verifies: REQ-d00395-D, REQ-d00395-F
@needs_openspec
def test_both_tell_the_state_of_a_change_and_how_it_is_carried_out(
    openspec: OpenSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    own = tmp_path / "data" / "openspec" / "schemas" / "research"
    (own / "templates").mkdir(parents=True)
    (own / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    (own / "templates" / "question.md").write_text("# Question\n", encoding="utf-8")
    root = tmp_path / "project"
    change = root / "openspec" / "changes" / "brighter"
    change.mkdir(parents=True)
    (root / "openspec" / "config.yaml").write_text("schema: spec-driven\n", encoding="utf-8")

    def ours(*words: str) -> dict[str, Any]:
        capsys.readouterr()
        main(["change", *words, "brighter", "--json", "-C", str(root)])
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    def compare() -> None:
        told, own = openspec.asked(root, "status", "--change", "brighter"), ours("artefacts")
        for name in told.keys() - {"nextSteps", "actionContext", "artifacts"}:
            assert own[name] == told[name], name
        states = [
            [(each["id"], each["status"], each.get("missingDeps") or []) for each in said]
            for said in (told["artifacts"], own["artifacts"])
        ]
        assert states[0] == states[1]
        told, own = openspec.asked(root, "instructions", "apply", "--change", "brighter"), ours("instructions", "apply")
        for name in told.keys() - {"instruction", "warnings"}:
            assert own[name] == told[name], name

    (change / "proposal.md").write_text("## Why\n\nDark.\n", encoding="utf-8")
    compare()
    for text in ("Nothing.\n", "- [x] 1.1 One\n- [ ] Two\n", "## 1. G\n\n- [x] 1.1 One\n"):
        (change / "tasks.md").write_text(text, encoding="utf-8")
        compare()
    (change / ".openspec.yaml").write_text("schema: research\n", encoding="utf-8")
    compare()
    (change / "question.md").write_text("Why?\n", encoding="utf-8")
    (change / "plan.md").write_text("- [ ] Ask\n", encoding="utf-8")
    compare()
    told = openspec.asked(root, "instructions", "question", "--change", "brighter")
    assert {name: ours("instructions", "question").get(name) for name in told} == told


SCHEMA = """name: research
version: 1
description: Ask first
artifacts:
  - id: question
    generates: question.md
    description: What we want to know
    template: question.md
    instruction: Ask one question.
    requires: []
  - id: plan
    generates: plan.md
    description: What to do
    template: question.md
    requires: [question]
apply:
  requires: [plan]
  tracks: plan.md
"""
SETTINGS = """schema: spec-driven  # ours
context: |
  We write Rust.

    - indented
  Done.
rules:
  proposal:
  - 'It''s short'
  tasks:
    - "Say \\"why\\""
    - one that goes on
      below
    - >
      folded
      text
"""
