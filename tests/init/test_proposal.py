"""The clew.toml that follows from findings."""

import tomllib

import pytest

from clew.setup.detect.classify import detect
from clew.setup.detect.proposal import proposed_config

# Verifies: REQ-d00018-B

KEYS = {
    "project": {"name"},
    "requirements": {"folders", "namespace"},
    "code": {"folders"},
    "tests": {"folders", "results"},
    "specs": {"folders"},
    "docs": {"folders"},
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

    settings = tomllib.loads(proposed_config(detect(root)))

    assert settings == {
        "project": {"name": "project"},
        "requirements": {"folders": ["spec"], "namespace": "CAL"},
        "code": {"folders": ["src"]},
        "tests": {"folders": ["tests"], "results": ["results/*.xml"]},
        "specs": {"folders": ["openspec"]},
        "docs": {"folders": ["docs"]},
        "server": {},
    }
    assert all(table.keys() <= KEYS[name] for name, table in settings.items())


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
    settings = tomllib.loads(proposed_config(detect(plant(files))))

    assert settings.get("tests", {}).get("results") == patterns


def test_folder_names_survive_quoting(plant, requirement):
    name = 'od"d \\ \x7f né'
    settings = tomllib.loads(proposed_config(detect(plant({f"{name}/a.md": requirement}))))

    assert settings["requirements"]["folders"] == [name]
