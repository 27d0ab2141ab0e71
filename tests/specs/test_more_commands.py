"""What a change means, taking an archived one back, one form of specs, artefacts, and the shapes of OpenSpec."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.specs.test_git_base import MINE, OLD, PURPOSE, git, requirement, spec, write

from clew.specs.formatting import formatted, says_the_same
from clew.surfaces.cli.main import main

SPEC = "openspec/specs/lamp/spec.md"
ARCHIVED = "openspec/changes/archive"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    git(tmp_path, "init", "-qb", "main")
    write(tmp_path, ".gitignore", ".clew/\n", "start")
    write(tmp_path, SPEC, spec(OLD), "spec")
    folder = tmp_path / "openspec/changes/brighter"
    folder.mkdir(parents=True)
    (folder / "proposal.md").write_text("# Brighter\n\n## Why\n\nShips.\n\n## What Changes\n\n- Light.\n")
    (folder / "tasks.md").write_text("- [x] 1.1 Lamp\n")
    changed = requirement(MINE).replace("the lamp burns\n", "the lamp burns white\n- **AND** it turns\n")
    added = requirement("The lamp SHALL ring.").replace("Burn", "Ring")
    delta = f"## MODIFIED Requirements\n\n{changed}\n## ADDED Requirements\n\n{added}"
    write(tmp_path, "openspec/changes/brighter/specs/lamp/spec.md", delta, "change")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capsys.readouterr()
    assert main(list(words)) == code
    return capsys.readouterr().out


# Verifies: REQ-d00395-A
def test_a_difference_by_meaning(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said(capsys, "change", "diff", "brighter", "--json"))["specs"][0]["requirements"]
    burn = next(each for each in found if each["name"] == "Burn")
    assert (burn["change"], burn["statement"]) == ("changed", [{"change": "changed", "text": MINE, "before": OLD}])
    steps = burn["scenarios"][0]["steps"]
    assert [(each["change"], each["text"]) for each in steps] == [
        ("changed", "THEN the lamp burns white"),
        ("added", "AND it turns"),
    ]
    assert [each["change"] for each in found if each["name"] == "Ring"] == ["added"]
    shown = said(capsys, "change", "diff", "brighter")
    assert f"- {OLD}" in shown
    assert f"+ {MINE}" in shown
    wrapped = (root / SPEC).read_text(encoding="utf-8").replace(OLD, OLD.replace(" ", "\n\n", 1))
    (root / SPEC).write_text(wrapped, encoding="utf-8")
    again = json.loads(said(capsys, "change", "diff", "brighter", "--json"))["specs"][0]["requirements"]
    assert next(each for each in again if each["name"] == "Burn")["statement"][0]["before"] == OLD


# Verifies: REQ-d00395-B
@pytest.mark.parametrize("committed", [False, True])
def test_an_archived_change_is_taken_back(root: Path, committed: bool, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "change", "archive", "brighter")
    if committed:
        git(root, "add", "--all")
        git(root, "commit", "-qm", "archived")
    assert "Nothing was written" in said(capsys, "change", "unarchive", "brighter", "--dry-run")
    assert MINE in (root / SPEC).read_text(encoding="utf-8")
    said(capsys, "change", "unarchive", "brighter")
    assert (root / SPEC).read_text(encoding="utf-8") == spec(OLD)
    assert (root / "openspec/changes/brighter/proposal.md").exists()
    assert not list((root / ARCHIVED).glob("*-brighter"))


# Verifies: REQ-d00395-B
def test_what_was_changed_since_is_not_taken_back(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "change", "archive", "brighter")
    later = (root / SPEC).read_text(encoding="utf-8").replace("it turns", "it turns twice")
    (root / SPEC).write_text(later, encoding="utf-8")
    said(capsys, "change", "unarchive", "brighter", code=2)
    assert (root / SPEC).read_text(encoding="utf-8") == later
    assert list((root / ARCHIVED).glob("*-brighter"))
    said(capsys, "change", "unarchive", "brighter", "--keep-specs")
    assert (root / SPEC).read_text(encoding="utf-8") == later
    assert (root / "openspec/changes/brighter").is_dir()


BREAK = "  "
UNTIDY = f"""# Lamp
##   Purpose
{PURPOSE}


## Requirements
###Requirement: Burn
The lamp SHALL burn.\t
It SHALL shine.{BREAK}
Always.
#### scenario:  Dusk ##
* WHEN the sun sets
- **Then** the lamp burns
- And it is a sentence

```
# not a heading{BREAK}
```
"""
TIDY = f"""# Lamp

## Purpose

{PURPOSE}

## Requirements

### Requirement: Burn

The lamp SHALL burn.
It SHALL shine.{BREAK}
Always.

#### Scenario: Dusk

- **WHEN** the sun sets
- **THEN** the lamp burns
- And it is a sentence

```
# not a heading{BREAK}
```
"""


# Verifies: REQ-d00395-C
def test_specs_are_written_in_one_form(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / SPEC).write_bytes(UNTIDY.replace("\n", "\r\n").encode())
    assert "would be written" in said(capsys, "specs", "format", "--check", code=1)
    assert b"\r\n" in (root / SPEC).read_bytes()
    said(capsys, "specs", "format")
    assert (root / SPEC).read_text(encoding="utf-8") == TIDY
    assert formatted(TIDY.encode()) == TIDY.encode()
    assert says_the_same(UNTIDY.encode(), TIDY.encode(), "lamp")
    assert "0 files of 1" in said(capsys, "specs", "format", "--check")
    (root / SPEC).write_bytes(TIDY.encode() + b"\xff\n")
    assert "not changed" in said(capsys, "specs", "format")


# Verifies: REQ-d00395-D
def test_artefacts_and_how_they_are_written(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said(capsys, "change", "artefacts", "brighter", "--json"))
    assert {each["id"]: each["status"] for each in found["artifacts"]} == {
        "proposal": "done",
        "specs": "done",
        "design": "ready",
        "tasks": "done",
    }
    assert (found["changeName"], found["isComplete"]) == ("brighter", False)
    told = json.loads(said(capsys, "change", "instructions", "tasks", "brighter", "--json"))
    assert told["outputPath"] == "tasks.md"
    assert [(each["id"], each["done"]) for each in told["dependencies"]] == [("specs", True), ("design", False)]
    assert "- [ ] 1.1" in told["template"]
    assert "First write: design" in said(capsys, "change", "instructions", "tasks", "brighter")
    assert main(["change", "instructions", "poem", "brighter"]) == 2


SCHEMA = """# how we work
name: research
version: 1
artifacts:
  - id: question
    generates: question.md
    description: "What we want to know: one thing"
    template: question.md
    instruction: |
      Ask one question.

      Only one.
    requires: []
  - id: notes
    generates: notes/*.md
    description: What we found
    template: notes.md
    requires:
      - question
  - id: tasks
    generates: plan.md
    description: What to do
    template: gone.md
    requires: [question, notes]
apply:
  requires: [tasks]
  tracks: plan.md
"""


# Verifies: REQ-d00395-D
def test_how_a_change_is_carried_out(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change = root / "openspec/changes/brighter"

    def asked() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(said(capsys, "change", "instructions", "apply", "brighter", "--json"))
        return found

    told = asked()
    assert (told["state"], told["progress"]) == ("all_done", {"total": 1, "complete": 1, "remaining": 0})
    assert told["contextFiles"]["proposal"] == [str(change / "proposal.md")]
    assert "missingArtifacts" not in told
    (change / "tasks.md").write_text("- [x] 1.1 One\n- [ ] Two\n", encoding="utf-8")
    told = asked()
    assert told["state"] == "ready"
    assert told["tasks"] == [
        {"id": "1", "description": "1.1 One", "done": True},
        {"id": "2", "description": "Two", "done": False},
    ]
    assert "1 of 2 tasks done\n- [x] 1.1 One\n- [ ] Two" in said(capsys, "change", "instructions", "apply", "brighter")
    (change / "tasks.md").write_text("Nothing.\n", encoding="utf-8")
    assert (asked()["state"], asked()["instruction"][:20]) == ("blocked", "tasks.md has no task")
    (change / "tasks.md").unlink()
    told = asked()
    assert (told["state"], told["missingArtifacts"]) == ("blocked", ["tasks"])
    home = root / "openspec/schemas/research"
    home.mkdir(parents=True)
    (home / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    (change / ".openspec.yaml").write_text("schema: research\n", encoding="utf-8")
    (change / "plan.md").write_text("- [ ] 1.1 Ask\n", encoding="utf-8")
    told = asked()
    assert (told["state"], told["missingPrerequisites"]) == ("ready", ["question", "notes"])
    assert [each["description"] for each in told["tasks"]] == ["1.1 Ask"]


# Verifies: REQ-d00395-F
def test_a_schema_of_the_project_says_which_artefacts_there_are(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = root / "openspec/schemas/research"
    (home / "templates").mkdir(parents=True)
    (home / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    (home / "templates/question.md").write_text("# Question\n", encoding="utf-8")
    change = root / "openspec/changes/brighter"
    (change / ".openspec.yaml").write_text("schema: research\n", encoding="utf-8")
    (change / "question.md").write_text("Why?\n", encoding="utf-8")

    found = json.loads(said(capsys, "change", "artefacts", "brighter", "--json"))
    assert (found["schemaName"], found["applyRequires"]) == ("research", ["tasks"])
    assert [(each["id"], each["status"], each["missingDeps"]) for each in found["artifacts"]] == [
        ("question", "done", []),
        ("notes", "ready", []),
        ("tasks", "blocked", ["notes"]),
    ]
    told = json.loads(said(capsys, "change", "instructions", "question", "brighter", "--json"))
    assert (told["template"], told["instruction"]) == ("# Question\n", "Ask one question.\n\nOnly one.")
    assert (told["description"], told["unlocks"]) == ("What we want to know: one thing", ["notes", "tasks"])
    (change / "notes").mkdir()
    (change / "notes/a.md").write_text("x\n", encoding="utf-8")
    assert "ready  tasks  plan.md" in said(capsys, "change", "artefacts", "brighter")
    assert main(["change", "instructions", "tasks", "brighter"]) == 0
    assert "There is no template openspec/schemas/research/templates/gone.md" in capsys.readouterr().err


# Verifies: REQ-d00395-F
@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("requires: [question, notes]", "requires: [poem]", "artifact 'tasks' requires 'poem', which is none"),
        ("requires: []", "requires: [tasks]", "question, notes, tasks require one another"),
        ("generates: plan.md", "generates: ../plan.md", "generates of artifact 'tasks' is '../plan.md'"),
        ("id: notes", "id: tasks", "two artifacts have the same id"),
        ("version: 1", "version: one", "its version is not a positive number"),
        ("requires: [tasks]\n", "requires: [song]\n", "apply requires 'song'"),
        ("tracks: plan.md", "tracks: ../plan.md", "apply tracks '../plan.md'"),
        ("name: research", "", "it has no name"),
    ],
)
def test_a_schema_that_openspec_would_refuse_is_refused(
    root: Path, capsys: pytest.CaptureFixture[str], before: str, after: str, fault: str
) -> None:
    home = root / "openspec/schemas/research"
    home.mkdir(parents=True)
    assert before in SCHEMA
    (home / "schema.yaml").write_text(SCHEMA.replace(before, after, 1), encoding="utf-8")
    (root / "openspec/changes/brighter/.openspec.yaml").write_text("schema: research\n", encoding="utf-8")
    assert main(["change", "artefacts", "brighter"]) != 0
    assert fault in " ".join(capsys.readouterr().err.split())


# Verifies: REQ-d00395-F
def test_a_schema_of_the_user_counts_where_the_project_has_none(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    home = tmp_path / "data/openspec/schemas/research"
    (home / "templates").mkdir(parents=True)
    (home / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    (home / "templates/question.md").write_text("# Of the user\n", encoding="utf-8")
    secret = tmp_path / "secret.md"
    secret.write_text("secret", encoding="utf-8")
    (home / "templates/gone.md").symlink_to(secret)
    (root / "openspec/changes/brighter/.openspec.yaml").write_text("schema: research\n", encoding="utf-8")

    assert json.loads(said(capsys, "change", "artefacts", "brighter", "--json"))["schemaName"] == "research"
    told = json.loads(said(capsys, "change", "instructions", "question", "brighter", "--json"))
    assert told["template"] == "# Of the user\n"
    assert main(["change", "instructions", "tasks", "brighter"]) != 0
    assert "secret" not in capsys.readouterr().out
    own = root / "openspec/schemas/research"
    own.mkdir(parents=True)
    (own / "schema.yaml").write_text(SCHEMA.replace("Ask one question.", "Ask two."), encoding="utf-8")
    told = json.loads(said(capsys, "change", "instructions", "question", "brighter", "--json"))
    assert told["instruction"].startswith("Ask two.")


# Verifies: REQ-d00395-F
@pytest.mark.parametrize("name", ["poetry", "../research", "a/b"])
def test_a_schema_that_is_not_there_is_named(root: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    (root / "openspec/config.yaml").write_text(f"schema: {name}\n", encoding="utf-8")
    assert main(["change", "artefacts", "brighter"]) != 0
    told = " ".join(capsys.readouterr().err.split())
    assert f"follows the schema '{name}'" in told
    assert "Schemas here: spec-driven" in told


# Verifies: REQ-d00395-E
def test_lists_and_texts_in_the_shapes_of_openspec(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def asked(*words: str) -> dict[str, object]:
        found: dict[str, object] = json.loads(said(capsys, *words, "--rules", "openspec", "--json"))
        return found

    assert asked("specs", "list")["specs"] == [{"id": "lamp", "requirementCount": 1}]
    shown = asked("specs", "show", "lamp")
    assert (shown["title"], shown["overview"], shown["requirementCount"]) == ("lamp", PURPOSE, 1)
    steps = "- **WHEN** the sun sets\n- **THEN** the lamp burns"
    assert shown["requirements"] == [{"text": OLD, "scenarios": [{"rawText": steps}]}]
    changes = asked("change", "list")["changes"]
    assert isinstance(changes, list)
    assert {**changes[0], "lastModified": ""} == {
        "name": "brighter",
        "completedTasks": 1,
        "totalTasks": 1,
        "lastModified": "",
        "status": "complete",
    }
    change = asked("change", "show", "brighter")
    assert change["deltaCount"] == 2
    assert isinstance(change["deltas"], list)
    assert [each["operation"] for each in change["deltas"]] == ["ADDED", "MODIFIED"]
