"""The tests of a symbol: which test functions reach it, and through what."""

from collections.abc import Mapping
from pathlib import Path

from tests.code.asking import opened

from clew.code import results

HORN = """
class Horn:
    def toot(self):
        return self.blow()

    def blow(self):
        return 1


def make() -> Horn:
    return Horn()
"""


def found(root: Path, files: Mapping[str, str], target: str) -> results.SymbolTests:
    with opened(root, {"horn.py": HORN, **files}) as project:
        project.code.ensure()
        return project.uses.tests_of(project.uses.meaning(target).found[0])


def lines(tests: results.SymbolTests) -> list[tuple[str, str, int, tuple[str, ...]]]:
    return [(f"{each.path}::{each.name}", each.how, each.distance, each.through) for each in tests.tests]


# Verifies: REQ-d00743-A
def test_tests_are_found_through_helpers_fixtures_and_tables(tmp_path: Path) -> None:
    files = {
        "tests/conftest.py": (
            "import pytest\nfrom horn import make\n"
            "@pytest.fixture\ndef horn():\n    return make()\n"
            "@pytest.fixture\ndef band(horn):\n    return [horn]\n"
        ),
        "tests/helping.py": "from horn import make\ndef loud():\n    return make()\n",
        "tests/test_horn.py": (
            "import pytest\nimport horn\nfrom tests.helping import loud\n"
            "CASES = [horn.make]\n"
            "def test_itself():\n    def inner():\n        return horn.make()\n    assert inner()\n"
            "def test_fixture(horn): ...\n"
            "def test_fixture_of_fixture(band): ...\n"
            "@pytest.mark.usefixtures('band')\ndef test_named(): ...\n"
            "def test_helper():\n    assert loud()\n"
            "@pytest.mark.parametrize('make', CASES)\ndef test_table(make): ...\n"
            "@pytest.mark.parametrize('make', [horn.make])\ndef test_decorated(make): ...\n"
            "def test_other(): ...\n"
            "def helper():\n    return horn.make()\n"
        ),
        "app.py": "from horn import make\ndef go():\n    return make()\n",
    }
    tests = found(tmp_path, files, "horn.py::make")
    assert lines(tests) == [
        ("tests/test_horn.py::test_itself", "use", 0, ()),
        ("tests/test_horn.py::test_decorated", "use", 0, ()),
        ("tests/test_horn.py::test_fixture", "use", 1, ("horn",)),
        ("tests/test_horn.py::test_helper", "use", 1, ("loud",)),
        ("tests/test_horn.py::test_table", "use", 1, ("CASES",)),
        ("tests/test_horn.py::test_fixture_of_fixture", "use", 2, ("band", "horn")),
        ("tests/test_horn.py::test_named", "use", 2, ("band", "horn")),
    ]
    first = tests.tests[0]
    assert (first.line, first.use_line, first.basis, tests.truncated) == (5, 7, "exact", False)


# Verifies: REQ-d00743-A
def test_a_helper_four_calls_away_is_too_far(tmp_path: Path) -> None:
    files = {
        "test_horn.py": (
            "from horn import make\n"
            "def one():\n    make()\ndef two():\n    one()\ndef three():\n    two()\ndef four():\n    three()\n"
            "def test_three():\n    three()\ndef test_four():\n    four()\n"
        )
    }
    assert lines(found(tmp_path, files, "make")) == [("test_horn.py::test_three", "use", 3, ("three", "two", "one"))]


# Verifies: REQ-d00743-A
def test_what_is_run_around_tests_reaches_all_of_them(tmp_path: Path) -> None:
    files = {
        "tests/base.py": (
            "import unittest\nfrom horn import make\n"
            "class BaseTest(unittest.TestCase):\n    def setUp(self):\n        self.horn = make()\n"
        ),
        "tests/test_horn.py": (
            "from tests.base import BaseTest\n"
            "class HornTest(BaseTest):\n    def test_one(self): ...\n    def test_two(self): ...\n"
            "    def help(self): ...\n"
        ),
        "tests/test_other.py": (
            "import pytest, horn\n@pytest.fixture(autouse=True)\ndef ready():\n    horn.make()\ndef test_ready(): ...\n"
        ),
    }
    assert lines(found(tmp_path, files, "make")) == [
        ("tests/test_horn.py::HornTest.test_one", "use", 1, ("BaseTest.setUp",)),
        ("tests/test_horn.py::HornTest.test_two", "use", 1, ("BaseTest.setUp",)),
        ("tests/test_other.py::test_ready", "use", 1, ("ready",)),
    ]


# Verifies: REQ-d00743-A
def test_tests_that_replace_a_symbol_are_told_apart(tmp_path: Path) -> None:
    files = {
        "tests/test_horn.py": (
            "from unittest import mock\nimport pytest\nimport horn\n"
            "@mock.patch('horn.make')\ndef test_patched(made): ...\n"
            "@pytest.fixture\ndef quiet(monkeypatch):\n    monkeypatch.setattr(horn, 'make', None)\n"
            "def test_quiet(quiet):\n    horn.make()\n"
            "@mock.patch('horn.make')\nclass TestAll:\n    def test_in_class(self, made): ...\n"
        )
    }
    assert sorted(lines(found(tmp_path, files, "make"))) == [
        ("tests/test_horn.py::TestAll.test_in_class", "patch", 1, ("TestAll",)),
        ("tests/test_horn.py::test_patched", "patch", 0, ()),
        ("tests/test_horn.py::test_quiet", "patch", 1, ("quiet",)),
        ("tests/test_horn.py::test_quiet", "use", 0, ()),
    ]


# Verifies: REQ-d00743-B
def test_a_test_is_as_sure_as_the_least_sure_step(tmp_path: Path) -> None:
    files = {
        "test_horn.py": (
            "def sounded(horn):\n    return horn.toot()\ndef test_it():\n    sounded(given())\n"
            "def test_exact():\n    from horn import Horn\n    Horn().toot()\n"
        )
    }
    tests = found(tmp_path, files, "Horn.toot").tests
    assert [(each.name, each.basis) for each in tests] == [("test_exact", "exact"), ("test_it", "name")]


# Verifies: REQ-d00743-C
def test_a_fixture_for_every_test_is_named_and_those_tests_are_not_listed(tmp_path: Path) -> None:
    files = {
        "tests/conftest.py": "import pytest, horn\n@pytest.fixture(autouse=True)\ndef ready():\n    horn.make()\n",
        "tests/test_horn.py": "def test_one(): ...\ndef test_two(ready): ...\n",
    }
    tests = found(tmp_path, files, "make")
    assert tests.run_by_all == ("tests/conftest.py::ready",)
    assert [each.name for each in tests.tests] == ["test_two"]
