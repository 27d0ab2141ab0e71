"""What a target may be: documents, specs and changes, registers, memories, and code in several languages."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.why.asking import Servers
from tests.why.histories import Repository

from clew.graph.code.aliases import Aliases

SPEC = """# tides Specification

## Purpose
Water levels.
## Requirements
### Requirement: Warn ships

Ships SHALL be warned.

#### Scenario: Low water

- **WHEN** the water is low
- **THEN** ships are warned {minutes} minutes before

#### Scenario: Fog

- **WHEN** there is fog
- **THEN** the horn sounds
"""
DELTA = """## ADDED Requirements
### Requirement: Warn by radio

Ships SHALL be warned by radio.

#### Scenario: Radio

- **WHEN** the water is low
- **THEN** the radio speaks
"""
GUIDE = "Guide\n=====\n\nAbout.\n\nStopping\n--------\n\nPull.\n\nInside\n......\n\nSlowly.\n\nNext\n----\n\nEnd.\n"


@pytest.fixture
def servers() -> Iterator[Servers]:
    servers = Servers()
    yield servers
    servers.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    repo = Repository(tmp_path)
    spec = "openspec/specs/tides/spec.md"
    repo.commit("Write the spec (#1)", {spec: SPEC.format(minutes=10), "docs/guide.rst": GUIDE})
    repo.commit("Warn earlier (#2)\n\nTankers are slow.", {spec: SPEC.format(minutes=20)})
    repo.commit(
        "Speak of radio",
        {
            "openspec/changes/add-radio/proposal.md": "# Radio\n\n## Why\nFog.\n\n## What Changes\n- Radio\n",
            "openspec/changes/add-radio/specs/tides/spec.md": DELTA,
        },
    )
    return tmp_path


def sections(servers: Servers, folder: Path, target: str) -> dict[str, dict[str, Any]]:
    data, text, is_error = servers.why(folder, target)
    assert not is_error, text
    found = {each["name"]: each for each in data["sections"]}
    return {**found, "kind": data["kind"], "place": data["place"]}


def told(section: dict[str, Any]) -> str:
    return "\n".join([*(fact["text"] for fact in section.get("facts", ())), section.get("note", "")])


# Verifies: REQ-d00360-A
@pytest.mark.parametrize(
    ("target", "kind", "place", "made"),
    [
        ("docs/guide.rst#stopping", "section", "docs/guide.rst:6-14", "Write the spec"),
        ("tides", "spec", "openspec/specs/tides/spec.md", "Warn earlier"),
        ("add-radio", "change", "openspec/changes/add-radio/proposal.md", "Speak of radio"),
        ("tides/warn-by-radio", "change", "openspec/changes/add-radio/specs/tides/spec.md:2-9", "Speak of radio"),
        ("tides/warn-ships", "requirement", "", "Write the spec"),
        ("tides/warn-ships#fog", "assertion", "", "Write the spec"),
    ],
)
def test_texts_are_targets(servers: Servers, project: Path, target: str, kind: str, place: str, made: str) -> None:
    found = sections(servers, project, target)
    assert found["kind"] == kind
    assert found["place"] == place or not place
    assert made in told(found["made_by"])
    assert told(found["what"])


# Verifies: REQ-d00364-A
def test_a_scenario_has_only_its_own_versions_and_their_reasons(servers: Servers, project: Path) -> None:
    low = told(sections(servers, project, "tides/warn-ships#low-water")["versions"])
    assert low.index("Warn earlier") < low.index("Write the spec")
    assert "Tankers are slow." in low
    fog = told(sections(servers, project, "tides/warn-ships#fog")["versions"])
    assert "Write the spec" in fog
    assert "Warn earlier" not in fog


# Verifies: REQ-d00360-A
def test_a_memory_is_named_by_the_digits_that_lists_show(servers: Servers, project: Path) -> None:
    stored = servers.client(project)("store_memory", content="Ring twice.", rationale="once is not heard")
    (id,) = [value for key, value in stored.items() if key in ("id", "node_id")]
    found = sections(servers, project, id[:8])
    assert found["kind"] == "memory"
    assert all(fact.get("place") for fact in found["what"]["facts"])


# Verifies: REQ-d00364-A, REQ-d00364-C
def test_a_register_has_versions_and_says_when_it_was_tested(servers: Servers, tmp_path: Path) -> None:
    from clew.surfaces.cli.main import main

    repo = Repository(tmp_path)
    (tmp_path / "README.md").write_text("# Bells\n")

    def req(*words: str) -> None:
        assert main(["req", *words, "-C", str(tmp_path)]) == 0

    req("init", "-n", "Bells")
    about = (
        "--statement",
        "The bell shall ring twice.",
        "--rationale",
        "Once is not heard.",
        "-a",
        "It rings twice",
    )
    req("add", "--title", "Ring the bell", *about, "--kind", "functional", "--priority", "must")
    repo.commit("Ask for a bell (#7)")
    req("update", "REQ-0001", "--statement", "The bell shall ring three times.", "--reason", "Wind")
    repo.commit("Ring three times\n\nIn wind two are not heard.")
    versions = told(sections(servers, tmp_path, "REQ-0001")["versions"])
    assert versions.index("Ring three times") < versions.index("Ask for a bell (#7)")
    assert "In wind two are not heard." in versions
    tested = repo.git("rev-parse", "HEAD")
    req("test", "record", "REQ-0001", "--result", "pass", "--notes", "heard it")
    # The time of the file says when it was written last, not when anything was tested.
    repo.commit("Record the test")
    os.utime(tmp_path / "project.req", (1_600_000_000, 1_600_000_000))
    proved = told(sections(servers, tmp_path, "REQ-0001")["proved_by"])
    assert tested[:7] in proved
    assert "2020" not in proved


CODE = {
    ".gitignore": "lib/\n",
    "lib/bell.h": "int ring(int n);\n",
    "lib/bell.c": '#include "bell.h"\nint ring(int n)\n{\n  return n;\n}\n',
    "app/main.c": "#include <bell.h>\nint main(void)\n{\n  return ring(1);\n}\n",
    "src/build/Bell.java": "package tower.sound;\n\npublic class Bell {\n  void strike() {\n  }\n}\n",
    "src/Door.java": "package house;\n\nimport tower.sound.Bell;\n\nclass Door {\n  Bell bell;\n}\n",
    "pack/__init__.py": "class Rope:\n    pass\n",
    "pack/pull.py": "from pack import Rope\n\n\ndef pull(rope: Rope) -> None: ...\n",
    "js/rope.js": "class Rope2 {}\nmodule.exports = { Rope2 };\n",
    "js/use.js": "const { Rope2 } = require('./rope');\n",
    "one/same.h": "int a;\n",
    "two/same.h": "int b;\n",
    "three/uses.c": "#include <same.h>\n",
    "pack/__init__.pyi": "def pull(rope: Rope) -> None: ...\n",
    "rs/src/lib.rs": "mod bell;\npub use bell::Tone;\n",
    "rs/src/bell.rs": "pub struct Tone;\n",
}


@pytest.fixture
def code(tmp_path: Path) -> Path:
    repo = Repository(tmp_path)
    repo.write(CODE)
    repo.git("add", "-f", "lib/bell.h", "lib/bell.c")
    repo.commit("Bells in many languages")
    return tmp_path


# Verifies: REQ-d00363-E, REQ-d00363-F
@pytest.mark.parametrize(
    ("target", "user"),
    [
        ("lib/bell.h", "app/main.c"),
        ("src/build/Bell.java::Bell", "annotation in Door: Bell bell;"),
        ("pack/__init__.py::Rope", "annotation: def pull(rope: Rope)"),
        ("js/rope.js::Rope2", "js/use.js imports Rope2"),
        ("rs/src/bell.rs::Tone", "rs/src/lib.rs imports Tone"),
        ("ring", "app/main.c"),
    ],
)
def test_what_uses_code_is_told_in_many_languages(servers: Servers, code: Path, target: str, user: str) -> None:
    assert user in told(sections(servers, code, target)["used_by"])


SCRIPTS = {
    "tsconfig.json": '{ // names\n  "extends": "./tsconfig.base.json",\n}\n',
    "tsconfig.base.json": '{"compilerOptions": {"paths": {"@/*": ["./src/*"], "#db": ["src/lib/database.ts"],}}}\n',
    "src/lib/bell.ts": "export function ring(n: number) { return n; }\n",
    "src/lib/database.ts": "export function open() { return 1; }\n",
    "src/Door.vue": '<template>\n<p/>\n</template>\n<script setup lang="ts">\nimport { ring } from "@/lib/bell";\n'
    'import { open } from "#db";\nfunction strike() { ring(1); }\n</script>\n',
    "src/House.svelte": '<script>\nimport Door from "./Door.vue";\n</script>\n<Door/>\n',
    "src/page.astro": '---\nimport House from "@/House.svelte";\n---\n<House/>\n',
    "packages/gate/package.json": '{"name": "@house/gate", "exports": {".": {"import": "./dist/index.js"}, '
    '"./hinge": "./dist/hinge.js", "./bar": "./made/bar.ts"}, "imports": {"#bolt": "./src/bolt.ts"}}',
    "packages/gate/src/index.ts": 'export { bolt } from "#bolt";\n',
    "packages/gate/src/bolt.ts": "export function bolt() {}\n",
    "packages/gate/src/latch.ts": "export function latch() {}\n",
    "packages/gate/made/hinge.ts": "export function hinge() {}\n",
    "packages/gate/made/bar.ts": "export function bar() {}\n",
    "packages/yard/index.ts": 'import { bolt } from "@house/gate";\nimport { latch } from "@house/gate/latch";\n'
    'import { hinge } from "@house/gate/hinge";\nimport "#bolt";\nimport { bar } from "@house/gate/bar";\n',
    "tool/jsconfig.json": '{"compilerOptions": {"baseUrl": "code"}}\n',
    "tool/code/hammer.js": "export function strike() {}\n",
    "tool/main.js": 'import { strike } from "hammer";\nimport { ring } from "~/lib/bell";\nimport "react";\n',
    "Bell.cs": "class Bell {\n  int Ring() {\n    return 1;\n  }\n}\n",
}


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    repo = Repository(tmp_path)
    repo.write(SCRIPTS)
    repo.commit("Scripts and components")
    return tmp_path


# Verifies: REQ-d00363-G
@pytest.mark.parametrize(
    ("target", "user"),
    [
        ("src/lib/bell.ts::ring", "call in strike: function strike() { ring(1); }"),
        ("src/lib/database.ts", "src/Door.vue imports open"),
        ("src/Door.vue", "src/House.svelte imports it"),
        ("packages/gate/src/bolt.ts", "packages/gate/src/index.ts imports bolt"),
        ("packages/gate/src/index.ts", "packages/yard/index.ts imports bolt"),
        ("packages/gate/src/latch.ts::latch", "packages/yard/index.ts imports latch"),
        ("packages/gate/made/bar.ts", "packages/yard/index.ts imports bar"),
        ("src/House.svelte", "src/page.astro imports it"),
        ("tool/code/hammer.js", "tool/main.js imports strike"),
    ],
)
def test_names_of_a_configuration_and_components_lead_to_files(
    servers: Servers, scripts: Path, target: str, user: str
) -> None:
    assert user in told(sections(servers, scripts, target)["used_by"])


# Verifies: REQ-d00363-G
def test_functions_of_a_component_are_found_and_an_edited_configuration_counts(servers: Servers, scripts: Path) -> None:
    assert "function strike" in told(sections(servers, scripts, "src/Door.vue:7")["what"])
    (scripts / "tsconfig.base.json").write_text('{"compilerOptions": {"paths": {"~/*": ["./elsewhere/*"]}}}\n')
    assert "src/Door.vue uses" not in told(sections(servers, scripts, "src/lib/bell.ts")["used_by"])


# Verifies: REQ-d00363-G
def test_a_configuration_is_read_once_however_many_inherit_from_it() -> None:
    names = ["tsconfig.json", *(f"{number}.json" for number in range(30))]
    each_inherits_from_all = json.dumps({"extends": [f"./{name}" for name in names]}).encode()
    reads = Counter[str]()

    def read(path: str) -> bytes:
        reads[path] += 1
        return each_inherits_from_all

    assert list(Aliases(names, read).names_of("main.ts")) == []
    assert max(reads.values()) == 1


# Verifies: REQ-d00363-H
def test_imports_that_lead_nowhere_are_told_where_they_may_mean_the_target(servers: Servers, scripts: Path) -> None:
    said = told(sections(servers, scripts, "src/lib/bell.ts")["used_by"])
    assert "src/Door.vue uses ring" in said
    assert "Not resolved, and may mean it: '~/lib/bell' in tool/main.js:2" in said
    assert "Not resolved" not in told(sections(servers, scripts, "src/lib/database.ts")["used_by"])
    said = told(sections(servers, scripts, "packages/gate/made/hinge.ts")["used_by"])
    assert "Not resolved, and may mean it: '@house/gate/hinge' in packages/yard/index.ts:3" in said
    # Names that begin so are known to their own package only.
    said = told(sections(servers, scripts, "packages/gate/src/bolt.ts")["used_by"])
    assert "packages/yard/index.ts imports" not in said
    assert "Imports are not read in this language." in told(sections(servers, scripts, "Bell.cs")["used_by"])


# Verifies: REQ-d00363-D
def test_what_is_written_comes_before_what_only_declares_it(servers: Servers, code: Path) -> None:
    assert sections(servers, code, "pull")["place"] == "pack/pull.py:4"


# Verifies: REQ-d00363-E
def test_an_import_that_two_files_could_be_meant_by_leads_nowhere(servers: Servers, code: Path) -> None:
    assert "Not known" in told(sections(servers, code, "one/same.h")["used_by"])
