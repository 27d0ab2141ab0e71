"""Definitions with several bodies: each line of each of them belongs to the symbol."""

from pathlib import Path

import pytest
from tests.code.asking import answer, opened

JAVA = """package bells;

class Bell {
    void ring() {
        strike();
    }

    void strike() {
    }

    void ring(int times) {
        for (int i = 0; i < times; i++)
            strike();
    }
}
"""
SCRIPT = """export class Bell {
  strike() {}
  ring(): void;
  ring(times: number): void;
  ring(times?: number) {
    this.strike();
  }
  get loud() {
    return 1;
  }
  set loud(value: number) {
    this.strike();
  }
}
"""
PYTHON = """import sys


class Bell:
    def strike(self):
        pass

    @property
    def loud(self):
        return 1

    @loud.setter
    def loud(self, value):
        self.strike()


if sys.argv:
    def ring():
        return 1
else:
    def ring():
        def inner():
            return 2
        return inner
"""

LINES = [
    ("Bell.java", JAVA, 5, "Bell.ring"),
    ("Bell.java", JAVA, 11, "Bell.ring"),
    ("Bell.java", JAVA, 13, "Bell.ring"),
    ("Bell.java", JAVA, 15, "Bell"),
    ("bell.ts", SCRIPT, 3, "Bell.ring"),
    ("bell.ts", SCRIPT, 6, "Bell.ring"),
    ("bell.ts", SCRIPT, 9, "Bell.loud"),
    ("bell.ts", SCRIPT, 12, "Bell.loud"),
    ("bell.py", PYTHON, 10, "Bell.loud"),
    ("bell.py", PYTHON, 14, "Bell.loud"),
    ("bell.py", PYTHON, 19, "ring"),
    ("bell.py", PYTHON, 22, "ring.inner"),
    ("bell.py", PYTHON, 23, "ring.inner"),
    ("bell.py", PYTHON, 24, "ring"),
]


# Verifies: REQ-d00742-A, REQ-d00740-A
@pytest.mark.parametrize(("path", "text", "line", "name"), LINES)
def test_a_line_in_any_body_names_the_symbol(tmp_path: Path, path: str, text: str, line: int, name: str) -> None:
    with opened(tmp_path, {path: text}) as project:
        assert answer(project, f"{path}:{line}")["symbol"]["name"] == f"{path}::{name}"


# Verifies: REQ-o00083-A
def test_a_use_in_the_body_of_an_overload_is_inside_of_the_symbol(tmp_path: Path) -> None:
    with opened(tmp_path, {"Bell.java": JAVA}) as project:
        found = answer(project, "Bell.strike")
        assert [(use["line"], use["inside"]) for use in found["uses"]] == [(5, "Bell.ring"), (13, "Bell.ring")]
