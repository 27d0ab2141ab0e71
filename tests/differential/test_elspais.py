"""elspais and Clew, held against each other on the same folder, tool by tool.

Skipped where elspais is not installed: `make differential` installs it, and nothing else does. Where the two differ on
purpose, the comparison leaves it out and says so; docs/switching/elspais.md gives the reasons.
"""

import json
import shutil
import subprocess
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.differential import shapes, tools
from tests.differential.elspais import HOME, Elspais, explained_keys, of_elspais
from tests.mcp_client import McpClient, Options, ToolFailed

from clew.project import Project
from clew.surfaces.cli.main import main

DOCS = Path(__file__).resolve().parents[2] / "docs"

needs_elspais = pytest.mark.skipif(
    not HOME.exists(), reason="elspais is not installed; `make differential` installs it"
)

Opened = Callable[[Path], Project]

SETTINGS = """version = 5
cli_ttl = 0

[project]
name = "clock"
namespace = "REQ"

[scanning.test]
enabled = true

[changelog]
hash_current = true
id_source = "env"
"""

SPEC = """# Clock

Words before the first requirement.

## REQ-p00001: Keeping time

**Level**: prd | **Status**: Active | **Implements**: -

The clock keeps time with its *Hand*.

### Assertions

A. The clock SHALL show the hour.

B. The clock SHALL show the minute
   and nothing else.

C. <RETIRED> The clock SHALL ring.

### Rationale

People ask for it.

*End* *Keeping time* | **Hash**: 00000000

---

## REQ-p00002: Logging

**Level**: prd | **Status**: Active | **Template** | **Implements**: -

### Assertions

A. It SHALL log.

*End* *Logging* | **Hash**: 00000000

---

## REQ-o00001: Winding

**Level**: ops | **Status**: Active | **Implements**: -

**Refines**: REQ-p00001

### Assertions

A. Somebody SHALL wind it.

*End* *Winding* | **Hash**: 00000000

---

## REQ-d00001: Hands

**Level**: dev | **Status**: Active | **Implements**: REQ-p00001-A+B, REQ-o00001
**Satisfies**: REQ-p00002

### Assertions

A. Hands SHALL move.

B. Hands SHALL shine.

*End* *Hands* | **Hash**: 00000000

---

## REQ-d00002: Bells

**Level**: dev | **Status**: Draft | **Implements**: REQ-p00001, REQ-p00099

### Assertions

A. Bells SHALL ring.

*End* *Bells* | **Hash**: 00000000

---

## REQ-d00003: Old bells

**Level**: dev | **Status**: Deprecated | **Implements**: REQ-p00001

### Assertions

A. Bells SHALL be old.

*End* *Old bells* | **Hash**: 00000000

## JNY-Reader-01: Reading the time

**Actor**: Reader
**Goal**: Know the time

Validates: REQ-p00001-A

### Steps

1. Look at the clock.
2. Say the hour.

*End* *JNY-Reader-01*

## Glossary

Hand
: A pointer of the clock.

Chime
: A sound of the clock.
: Indexed: false
"""
FILES = {
    ".gitignore": ".clew/\n.elspais/\n",
    ".elspais.toml": SETTINGS,
    "spec/clock.md": SPEC,
    "src/clock.py": "# Implements: REQ-d00001-A\ndef move():\n    pass  # the hand, a *Hand*\n",
    "src/page.js.j2": "// Implements: REQ-d00001-B\nconst a = {{ a }};\n",
    "src/bell.js": "// Implements: REQ-d00001-A\n/* *Chime*\n * and the Hand */\nconst a = 'Hand';\n",
    "tests/test_clock.py": "# Verifies: REQ-d00001-A\ndef test_move():\n    pass\n",
}
IDS = ("REQ-p00001", "REQ-o00001", "REQ-d00001", "REQ-d00002", "REQ-d00003")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository as elspais itself leaves it: hashes, changelogs and INDEX.md are its own."""
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Grace")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "grace@example.org")
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-qb", "main"], cwd=tmp_path, check=True)
    Elspais(tmp_path).run("fix", "-m", "start")
    # What it makes of the terms it reads as specs itself, and defines them once more.
    shutil.rmtree(tmp_path / "spec" / "_generated", ignore_errors=True)
    return tmp_path


def requirement(answer: dict[str, Any]) -> dict[str, Any]:
    """What both say of a requirement. Code is left out: elspais names it by absolute paths."""
    named = {each["id"] for each in answer["children"] if each["id"].startswith("REQ-") and "-A" not in each["id"]}
    return {
        **{name: answer[name] for name in ("id", "title", "level", "status", "hash")},
        "assertions": [(each["label"], " ".join(each["text"].split())) for each in answer["assertions"]],
        # Clew has the template that it satisfies among them.
        "parents": sorted({each["id"] for each in answer["parents"] if each["id"].startswith("REQ-")} - {"REQ-p00002"}),
        "children": sorted(id for id in named if id in IDS),
    }


# Verifies: REQ-o00044-B
@needs_elspais
def test_both_answer_the_same(root: Path, opened: Opened) -> None:
    with Elspais(root).served() as theirs, McpClient(opened(root), Options(profile="elspais")) as ours:
        for id in IDS:
            assert requirement(ours("get_requirement", req_id=id)) == requirement(theirs("get_requirement", req_id=id))
            one, other = ours("get_hierarchy", req_id=id), theirs("get_hierarchy", req_id=id)
            for part in ("ancestors", "children"):
                named = [{each["id"] for each in said[part]} - {"REQ-p00002"} for said in (one, other)]
                assert named[0] == named[1], (id, part)
            one, other = ours("get_test_coverage", req_id=id), theirs("get_test_coverage", req_id=id)
            assert one["total_assertions"] == other["total_assertions"], id
        one, other = ours("get_project_summary"), theirs("get_project_summary")
        # elspais counts the one copy of a template besides.
        counts = [_counts(said["requirements_by_level"]) for said in (one, other)]
        assert {level: count for level, count in counts[0]["all"].items() if level != "prd"} == {
            level: count for level, count in counts[1]["all"].items() if level != "prd"
        }
        assert one["coverage"]["total"] == other["coverage"]["total"] - 1
        broken = ours("get_unresolved_references")["unresolved_references"]
        assert [(each["source_id"], each["target_id"]) for each in broken] == [("REQ-d00002", "REQ-p00099")]
        assert len(theirs("get_unresolved_references")["unresolved_references"]) == 1


def _counts(levels: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """elspais also names levels that have no requirement."""
    return {name: {level: count for level, count in found.items() if count} for name, found in levels.items()}


def failed(call: Callable[[], Any]) -> Any:
    """What a call says, or what it says of its failure."""
    try:
        return call()
    except ToolFailed as failure:
        return failure.body


# Verifies: REQ-o00044-D
@needs_elspais
def test_both_answer_every_question_alike_but_for_what_is_listed(root: Path, opened: Opened) -> None:
    found: dict[str, tuple[str, str]] = {}
    with Elspais(root).served() as theirs, McpClient(opened(root), Options(profile="elspais")) as ours:
        for tool, arguments, compared in tools.CALLS:
            said = [compared(failed(partial(each, tool, **arguments))) for each in (theirs, ours)]
            if said[0] != said[1]:
                found[f"{tool} {json.dumps(arguments)}"] = (str(said[0]), str(said[1]))
        for tool, guarded, arguments, compared in tools.CHANGES:
            version = theirs("get_versions", node_ids=[guarded])[guarded]
            own = ours("get_versions", node_ids=[guarded])["versions"][guarded]
            said = [
                compared(failed(partial(theirs, tool, **arguments, if_version=version))),
                compared(failed(partial(ours, tool, **arguments, if_version=own))),
            ]
            if said[0] != said[1]:
                found[f"{tool} {json.dumps(arguments)}"] = (str(said[0]), str(said[1]))
    unexplained = sorted(found.keys() ^ {each.item for each in of_elspais()})
    assert not unexplained, "\n".join(f"{item}: {found.get(item)}" for item in unexplained)


# Verifies: REQ-o00044-D, REQ-d00821-B
@needs_elspais
def test_every_key_of_an_answer_is_there_or_explained(root: Path, opened: Opened) -> None:
    """Key by key, of every answer to every question: D7 of the acceptance."""
    missing: dict[str, set[str]] = {}
    with Elspais(root).served() as theirs, McpClient(opened(root), Options(profile="elspais")) as ours:
        for tool, arguments, guarded in tools.asked():
            said = []
            for each in (theirs, ours):
                versions = each("get_versions", node_ids=[guarded]) if guarded else {}
                guard = {"if_version": versions.get("versions", versions).get(guarded)} if guarded else {}
                said.append(failed(partial(each, tool, **arguments, **guard)))
            if not tools.fault(said[0]):
                missing.setdefault(tool, set()).update(shapes.keys(said[0]) - shapes.keys(said[1]))
    listed = explained_keys()
    unexplained = [
        f"{tool}: {key}"
        for tool, keys in missing.items()
        for key in sorted(keys)
        if not any(each.tool == tool and fnmatchcase(key, pattern) for each in listed for pattern in each.keys)
    ]
    gone = [
        f"{each.tool}: {pattern}"
        for each in listed
        for pattern in each.keys
        if not any(fnmatchcase(key, pattern) for key in missing.get(each.tool, ()))
    ]
    assert not unexplained, "\n".join(unexplained)
    assert not gone, "\n".join(gone)


# Verifies: REQ-o00044-D
@needs_elspais
def test_both_make_the_same_of_a_folder_by_the_tools_that_write(root: Path, tmp_path: Path, opened: Opened) -> None:
    own = tmp_path / "own"
    identity = ("-c", "user.name=Grace", "-c", "user.email=grace@example.org", "-c", "commit.gpgsign=false")
    for words in (("add", "--all"), (*identity, "commit", "-qm", "start")):
        subprocess.run(["git", *words], cwd=root, check=True)
    shutil.copytree(root, own, ignore=shutil.ignore_patterns("own"))
    with Elspais(root).served() as theirs, McpClient(opened(own), Options(profile="elspais")) as ours:
        wanted = dict(tools.writes(theirs))
        found = dict(tools.writes(lambda tool, **arguments: failed(partial(ours, tool, **arguments))))
    differing = {step: (wanted[step], found[step]) for step in wanted if wanted[step] != found[step]}
    assert differing.keys() == WRITTEN_OTHERWISE.keys(), differing


WRITTEN_OTHERWISE = {
    "apply_link": "directly above the function that the line belongs to",
    "REQ-d00001 afterwards": "the template among the parents, the copy among the children",
}
"""What becomes of a folder otherwise, and the words of docs/switching/elspais.md that say why."""


# Verifies: REQ-o00044-D
@needs_elspais
def test_every_tool_of_elspais_is_compared(root: Path) -> None:
    with Elspais(root).served() as theirs:
        names = theirs.names()
    text = Path(tools.__file__).read_text(encoding="utf-8")
    assert not {name for name in names if f'"{name}"' not in text}


# Verifies: REQ-d00399-A, REQ-d00399-B
@needs_elspais
def test_both_write_the_same_declarations(root: Path, tmp_path: Path, opened: Opened) -> None:
    own = tmp_path / "own"
    written = SETTINGS + '\n# seen by all\n[scopes.all]  # everything\nlevel = ["prd", "dev"]  # no ops\n'
    (root / ".elspais.toml").write_text(written, encoding="utf-8")
    shutil.copytree(root, own, ignore=shutil.ignore_patterns("own"))
    with Elspais(root).served() as theirs, McpClient(opened(own), Options(profile="elspais")) as ours:
        called = (theirs, lambda tool, **arguments: failed(partial(ours, tool, **arguments)))
        said = [list(tools.declarations(call, folder)) for call, folder in zip(called, (root, own), strict=True)]
    assert said[0] == said[1]


# Verifies: REQ-o00044-D
def test_every_disagreement_names_what_explains_it() -> None:
    page = (DOCS / "switching" / "elspais.md").read_text(encoding="utf-8")
    listed = (*of_elspais(), *explained_keys())
    for explained in (*(each.explained for each in listed), *WRITTEN_OTHERWISE.values()):
        assert explained in page, explained


# Verifies: REQ-d00392-B
@needs_elspais
def test_both_write_the_same_glossary(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for theirs, ours in (("glossary", "glossary"), ("term-index", "index")):
        capsys.readouterr()
        main(["terms", ours, str(root)])
        assert capsys.readouterr().out.strip() == Elspais(root).run(theirs).strip()


# Verifies: REQ-o00044-B, REQ-d00381-A
@needs_elspais
def test_the_checks_of_elspais_find_nothing_new_after_a_save_by_clew(root: Path, opened: Opened) -> None:
    before = Elspais(root).failing()
    with McpClient(opened(root)) as agent:
        agent("mutate_update_assertion", assertion_id="REQ-p00001-A", new_text="The clock SHALL show hour and day.")
        agent("mutate_add_requirement", req_id="REQ-d00009", title="New", level="dev", status="Active", parent_id="p1")
        agent("mutate_add_assertion", req_id="REQ-d00009", text="It SHALL be new.")
        agent("mutate_update_title", node_id="REQ-d00001", new_title="Long hands")
        agent("mutate_change_status", node_id="REQ-o00001", new_status="Deprecated")
        agent("mutate_add_edge", source_id="REQ-d00009", target_id="REQ-o00001", edge_kind="refines")
        agent("save_mutations", message="A day too")
        assert Elspais(root).failing() == before
        agent("undo_last_mutation")
        agent("save_mutations", message="Not so")
        agent("move_requirement", req_id="REQ-d00001", target_file="spec/hands.md")
    assert Elspais(root).failing() == before
