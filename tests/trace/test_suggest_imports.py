"""Imports of any language, and the files they mean."""

import pytest

from clew.trace.links.match.imports import FilesByName, imported_names

PATHS = (
    "src/clock/hours.py",
    "src/clock/__init__.py",
    "src/web/hours.ts",
    "lib/a/B.java",
    "include/tide.h",
    "x/mod.rs",
)


# Verifies: REQ-d00055-C
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("from clock.hours import show, hide as h\n", ["clock/hours", "clock/hours/show", "clock/hours/hide"]),
        ("from .hours import (\n    show,\n)\n", ["hours", "hours/show"]),
        ("import os, clock.hours as c\n", ["os", "clock/hours", "c"]),
        ('import { show } from "../clock/hours.js";\n', ["clock/hours"]),
        ("const x = require('./clock/hours')\n", ["clock/hours"]),
        ("import a.b.Clock;\n", ["a/b/Clock"]),
        ('#include "clock/tide.h"\n', ["clock/tide"]),
        ("use crate::clock::hours;\n", ["crate/clock/hours"]),
        ("using Clock.Hours;\n", ["Clock/Hours"]),
        ("nothing imported here\n", []),
    ],
)
def test_imports_are_read_as_paths(text: str, names: list[str]) -> None:
    found = list(imported_names(text))
    assert [name for name in names if name not in found] == []
    assert bool(found) == bool(names)


# Verifies: REQ-d00055-C
@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("clock/hours", ["src/clock/hours.py"]),
        ("web/hours", ["src/web/hours.ts"]),
        ("hours", []),
        ("clock", ["src/clock/__init__.py"]),
        ("a/b", ["lib/a/B.java"]),
        ("tide", ["include/tide.h"]),
        ("elsewhere/clock/hours", ["src/clock/hours.py"]),
        ("minutes", []),
    ],
)
def test_an_import_means_the_files_whose_paths_end_alike(name: str, paths: list[str]) -> None:
    assert FilesByName(PATHS).meant(name) == paths


# Verifies: REQ-d00055-C
@pytest.mark.parametrize(
    ("test", "paths"),
    [
        ("tests/test_tide.py", ["include/tide.h"]),
        ("tests/TideTest.java", ["include/tide.h"]),
        ("tests/tide.test.js", ["include/tide.h"]),
        ("tests/test_hours.py", []),
        ("tests/tide.py", []),
        ("tests/test.py", []),
    ],
)
def test_a_test_file_may_be_named_after_the_only_file_of_that_name(test: str, paths: list[str]) -> None:
    assert FilesByName(PATHS).counterparts(test) == paths
