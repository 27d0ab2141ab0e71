"""The clew.toml that follows from findings."""

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.config import load
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.graph.readers.locations import spec_roots
from clew.graph.readers.specs import SpecReader
from clew.setup.detect.classify import detect
from clew.setup.detect.proposal import proposed_config
from clew.workspace.find import scan

# Verifies: REQ-d00018-B

KEYS = {
    "project": {"name"},
    "requirements": {"folders", "namespace"},
    "tests": {"results"},
    "specs": {"folders"},
    "server": set(),
}


def test_a_full_project_gets_exactly_the_sections_that_apply(plant, requirement):
    root = plant(
        {
            "spec/a.md": requirement.replace("REQ-", "CAL-"),
            "src/a.py": "",
            "tests/test_a.py": "",
            "results/one.xml": "<testsuite/>",
            "results/two.xml": "<testsuites/>",
            "openspec/specs/x/spec.md": "",
            "docs/a.md": "",
        }
    )

    said = tomllib.loads(proposed_config(detect(root)))

    assert said == {
        "project": {"name": "project"},
        "requirements": {"folders": ["spec"], "namespace": "CAL"},
        "tests": {"results": ["results/*.xml"]},
        "specs": {"folders": ["openspec"]},
        "server": {},
    }
    assert all(table.keys() <= KEYS[name] for name, table in said.items())


def test_an_empty_project_gets_its_name_and_a_hint_in_comments(project):
    text = proposed_config(detect(project))

    assert tomllib.loads(text) == {"project": {"name": "project"}, "server": {}}
    assert '# folders = ["spec"]' in text


@pytest.mark.parametrize(
    ("files", "patterns"),
    [
        ({"junit.xml": "<testsuite/>"}, ["junit.xml"]),
        ({"out1/junit.xml": "<testsuite/>", "out1/coverage.xml": '<coverage line-rate="1">'}, ["out1/junit.xml"]),
        ({"reports/report.json": '"nodeid"'}, ["reports/report.json"]),
        ({"reports/lcov.info": "TN:"}, ["reports/lcov.info"]),
        ({"out2/junit.xml": "<testsuite/>", "out2/lcov.info": "SF:"}, ["out2/*.xml", "out2/lcov.info"]),
        ({"coverage.json": '{"files": {"a.py": {"executed_lines": [1]}}}'}, ["coverage.json"]),
        ({"coverage.xml": '<coverage line-rate="1">'}, None),
    ],
)
def test_result_patterns_never_catch_what_is_not_a_result(plant, files, patterns):
    said = tomllib.loads(proposed_config(detect(plant(files))))

    assert said.get("tests", {}).get("results") == patterns


def test_folder_names_survive_quoting(plant, requirement):
    name = 'od"d \\ \x7f né'
    said = tomllib.loads(proposed_config(detect(plant({f"{name}/a.md": requirement}))))

    assert said["requirements"]["folders"] == [name]


# --- what is read -----------------------------------------------------------------------------------------------------

PLACES = (
    *("README.md", "CHANGES.rst", "docs/guide.md", "docs/notes.txt", "dev-docs/deep/page.mdx", "packages/a/README.md"),
    *("src/a.py", "lib/b.ts", "packages/a/src/c.tsx", "tools/build/d.go", "main.rs", "app.test.ts"),
    *("tests/test_a.py", "test/b.test.js", "packages/a/src/__tests__/c.ts", "src/deep/part_test.go"),
    *("spec/one.md", "spec/README.md", "reqs/two.md", "reqs/README.md", "docs/reqs/three.md", "spec/inner/four.md"),
    *("openspec/specs/x/spec.md", "packages/a/openspec/specs/y/spec.md", "specs/z/spec.md", "project.req"),
    *("dist/made.js", "node_modules/x/README.md", "nested/.git", "nested/README.md", "out/page.md"),
)


def read_by(config) -> set[str]:
    selections = (config.requirements, config.code, config.tests, config.documents)
    found = {entry.path for each in selections for entry in scan(config.root, each).files}
    specs = SpecReader(spec_roots(config), IdGrammar(config.elspais), assumed=not config.specs)
    return found | {entry.path for entry in scan(config.root, specs.selection).files}


# Verifies: REQ-d00442-A+B
@settings(max_examples=examples(60), deadline=None)
@given(
    places=st.sets(st.sampled_from(PLACES), min_size=1),
    bearing=st.sets(st.sampled_from([place for place in PLACES if place.endswith(".md")])),
    ignored=st.sampled_from(["", "docs/\n", "*.ts\n"]),
)
def test_whatever_is_read_without_a_configuration_is_read_with_the_proposed_one(
    tmp_path_factory, places, bearing, ignored
):
    root = tmp_path_factory.mktemp("project")
    for place in places:
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        if place.endswith("spec.md"):
            (root / place).write_text("# Spec\n\n### Requirement: It works\n\nIt SHALL work.\n")
        else:
            (root / place).write_text("# REQ-p00001: One\n\n*End* *One*\n" if place in bearing else "text\n")
    (root / ".gitignore").write_text(ignored)
    before = read_by(load(root))
    text = proposed_config(detect(root))
    (root / "clew.toml").write_text(text)

    assert before <= read_by(load(root))
    for table in tomllib.loads(text).values():
        folders = table.get("folders", [])
        assert not [one for one in folders for other in folders if one != other and one.startswith(f"{other}/")]


# Verifies: REQ-d00442-A
def test_a_project_without_configuration_is_read_whole_except_what_is_not_its_own(plant):
    root = plant(dict.fromkeys(PLACES, "text\n") | {".gitignore": "lib/\n"})

    read = read_by(load(root))

    assert {"README.md", "dev-docs/deep/page.mdx", "packages/a/src/__tests__/c.ts", "tools/build/d.go"} <= read
    assert not read & {"lib/b.ts", "dist/made.js", "node_modules/x/README.md", "nested/README.md", "out/page.md"}
