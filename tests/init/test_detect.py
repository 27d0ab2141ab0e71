"""What `detect` finds in a folder."""

from collections.abc import Callable
from pathlib import Path

import pytest

from clew.errors import InvalidArgument
from clew.setup.detect.classify import detect

# Verifies: REQ-d00018-A


def paths(found: tuple) -> list[str]:
    return [item.path for item in found]


def test_an_empty_folder_without_git_holds_nothing(project):
    findings = detect(project)

    assert findings.nothing
    assert (findings.name, findings.entries, findings.truncated) == ("project", 0, False)


@pytest.mark.parametrize("missing", ["nowhere", "file.txt"])
def test_what_is_not_a_folder_is_refused_by_name(plant, missing):
    root = plant({"file.txt": ""})

    with pytest.raises(InvalidArgument, match=missing):
        detect(root / missing)


def test_requirement_headings_make_a_requirement_folder(plant, requirement):
    journey = "# JNY-Reader-01: A journey\n\n**Actor**: Someone\n"
    root = plant({"spec/prd.md": requirement, "spec/dev/dev.md": requirement * 2, "spec/journeys.md": journey})

    (folder,) = detect(root).requirements

    assert (folder.path, folder.files, folder.requirements, folder.journeys) == ("spec", 3, 3, 1)
    assert folder.namespace == "REQ"


def test_requirements_deep_inside_docs_name_the_lowest_common_folder(plant, requirement):
    root = plant({"docs/guide.md": "# Guide\n", "docs/req/a/x.md": requirement, "docs/req/b/y.md": requirement})
    findings = detect(root)

    assert paths(findings.requirements) == ["docs/req"]
    assert [(page.path, page.files) for page in findings.docs] == [("docs", 1)]


@pytest.mark.parametrize(
    "text",
    [
        "# ADR-0001: Use a database\n\nStatus: accepted\n",
        "```markdown\n# REQ-p00001: An example\n```\n",
        "See REQ-p00001: it matters.\n",
    ],
)
def test_what_only_looks_like_a_requirement_is_none(plant, text):
    assert detect(plant({"notes/page.md": text})).requirements == ()


def test_an_unusual_id_counts_where_the_block_is_closed_like_a_requirement(plant, requirement):
    root = plant({"spec/a.md": requirement.replace("REQ-p00001", "CAL-login-form")})

    assert detect(root).requirements[0].namespace == "CAL"


@pytest.mark.parametrize(
    "config", ['[spec]\ndirectories = ["needs"]\n', '[scanning.spec]\ndirectories = ["needs", "../out", "gone"]\n']
)
def test_folders_named_by_an_elspais_configuration_of_either_layout_are_found(plant, config):
    findings = detect(plant({".elspais.toml": config, "needs/a.md": "nothing yet\n"}))

    assert paths(findings.requirements) == ["needs"]
    assert findings.elspais_config


def test_openspec_and_spox_folders_are_counted_without_their_archives(plant):
    root = plant(
        {
            "openspec/specs/login/spec.md": "",
            "openspec/specs/area/deep/spec.md": "",
            "openspec/changes/add-it/proposal.md": "",
            "openspec/changes/archive/2026-01-01-old/proposal.md": "",
            "specs/auth/spec.md": "",
            "specs/_changes/new/proposal.md": "",
            "specs/_archive/old/spec.md": "",
        }
    )

    found = [(spec.path, spec.kind, spec.specs, spec.changes) for spec in detect(root).specs]

    assert found == [("openspec", "openspec", 2, 1), ("specs", "spox", 1, 1)]


def test_a_spox_configuration_may_name_another_folder(plant):
    root = plant({".spox/config.toml": '[paths]\nspec_folder = "contracts"\n', "contracts/auth/spec.md": ""})

    assert paths(detect(root).specs) == ["contracts"]


def test_a_register_is_found_in_either_layout(plant):
    root = plant(
        {
            "project.req": '{\n  "_format": "req-v3",\n  "name": "x"\n}',
            "register/index.req": '{"_format": "req-v1-dir"}',
            "other/project.req": "not a register",
        }
    )

    found = [(register.path, register.layout, register.format) for register in detect(root).registers]

    assert found == [("project.req", "file", "req-v3"), ("register", "directory", "req-v1-dir")]


def test_code_and_tests_are_told_apart_by_folder_and_by_name(plant):
    root = plant(
        {
            "setup.py": "",
            "src/pkg/a.py": "",
            "src/pkg/b.py": "",
            "src/web/app.ts": "",
            "src/web/app.test.ts": "",
            "tests/test_a.py": "",
            "tests/data/spec/example.py": "",
            "docs/conf.py": "",
        }
    )
    findings = detect(root)

    assert [(code.path, code.files, code.languages) for code in findings.code] == [("src", 3, ("Python", "TypeScript"))]
    assert [(test.path, test.files) for test in findings.tests] == [("src", 1), ("tests", 2)]


def test_a_project_of_one_script_is_its_own_code_folder(plant):
    assert paths(detect(plant({"tool.py": ""})).code) == ["."]


def test_many_test_folders_are_reported_as_the_folder_above(plant):
    root = plant({f"packages/p{number}/tests/test_it.py": "" for number in range(11)})

    assert [(test.path, test.files) for test in detect(root).tests] == [("packages", 11)]


def test_test_data_is_neither_requirement_nor_spec_nor_result(plant, requirement):
    root = plant(
        {
            "tests/data/spec/a.md": requirement,
            "tests/data/openspec/specs/x/spec.md": "",
            "tests/data/junit.xml": "<testsuites/>",
        }
    )
    findings = detect(root)

    assert not findings.requirements
    assert not findings.specs
    assert not findings.results


def test_results_are_known_by_what_they_hold(plant):
    root = plant(
        {
            "results/junit.xml": '<?xml version="1.0"?>\n<testsuites><testsuite name="a"/></testsuites>',
            "results/pom.xml": "<project/>",
            "report.json": '{"tests": [{"nodeid": "a::b", "outcome": "passed"}]}',
            "package-test.json": '{"name": "x"}',
            "cov/coverage.xml": '<coverage version="7" line-rate="1">',
            "cov/lcov.info": "TN:\nSF:a.py\n",
            "cov/coverage.json": '{"meta": {"format": 3}, "files": {"a.py": {"executed_lines": [1]}}}',
        }
    )

    assert {result.path: result.kind for result in detect(root).results} == {
        "results/junit.xml": "junit",
        "report.json": "pytest-json",
        "cov/coverage.xml": "coverage",
        "cov/lcov.info": "lcov",
        "cov/coverage.json": "coverage-json",
    }


def test_nested_ignore_files_are_obeyed_and_the_nearest_one_decides(plant, requirement):
    root = plant(
        {
            ".gitignore": "*.draft.md\n/private/\n",
            "spec/.gitignore": "!kept.draft.md\nold/\n",
            "spec/a.md": requirement,
            "spec/kept.draft.md": requirement,
            "spec/gone.draft.md": requirement,
            "spec/old/b.md": requirement,
            "private/c.md": requirement,
        }
    )

    (folder,) = detect(root).requirements

    assert (folder.path, folder.files) == ("spec", 2)


def test_lines_git_cannot_read_ignore_nothing_and_spoil_nothing(plant):
    root = plant({".gitignore": "!\n[z-a]\nend\\\nout.py\n", "src/out.py": "", "src/in.py": ""})

    assert detect(root).code[0].files == 1


def test_rules_that_git_keeps_outside_the_tree_count_too(plant):
    root = plant({".git/info/exclude": "scratch/\n", "scratch/a.py": "", "src/b.py": ""})

    assert paths(detect(root).code) == ["src"]


@pytest.mark.parametrize("folder", [".git", "node_modules", ".venv", "build", "__pycache__", "dist", ".cache"])
def test_folders_that_are_never_the_projects_own_are_skipped(plant, folder):
    assert detect(plant({f"{folder}/a.py": "", f"{folder}/docs/b.md": ""})).nothing


def test_a_virtual_environment_is_skipped_whatever_its_name(plant):
    assert detect(plant({"my-python/pyvenv.cfg": "", "my-python/lib/a.py": ""})).nothing


@pytest.mark.parametrize("mark", ["clew.toml", ".elspais.toml", ".git"])
def test_a_project_inside_the_project_is_left_alone(plant, requirement, mark):
    root = plant({f"examples/demo/{mark}": "", "examples/demo/spec/a.md": requirement, "src/a.py": ""})
    findings = detect(root)

    assert findings.nested == ("examples/demo",)
    assert findings.requirements == ()


def test_links_are_not_followed_out_of_the_folder_nor_in_circles(plant, project, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("")
    plant({"src/a.py": ""})
    (project / "linked").symlink_to(outside)
    (project / "src" / "again").symlink_to(project)
    (project / "src" / "b.py").symlink_to(outside / "secret.py")

    assert [(code.path, code.files) for code in detect(project).code] == [("src", 1)]


def test_the_search_stops_at_its_limit_and_says_so(plant):
    root = plant({f"src/f{number:02}.py": "" for number in range(20)})

    cut, exact = detect(root, limit=10), detect(root, limit=21)

    assert (cut.entries, cut.truncated) == (10, True)
    assert (exact.entries, exact.truncated, exact.code[0].files) == (21, False, 20)


def test_nothing_beyond_the_first_64_kb_of_a_file_is_read(plant, requirement):
    root = plant({"spec/a.md": requirement + "x\n" * 40_000 + requirement})

    assert detect(root).requirements[0].requirements == 1


def test_binary_files_and_names_that_are_not_text_do_no_harm(project: Path, plant: Callable):
    plant({"spec/notes.txt": ""})
    (project / "spec" / "a.md").write_bytes(b"\xff\xfe\x00\x80# not text")
    try:
        Path(f"{project}/spec/\udcff.md").write_text("# REQ-p00001: Title\n")
    except OSError:
        pytest.skip("this file system allows only text in names")
    findings = detect(project)

    assert findings.requirements == ()
    assert findings.unreadable == 1
