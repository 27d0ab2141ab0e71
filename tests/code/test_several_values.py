"""Receivers that have several values: what they are at the place of use, and where nobody can tell."""

from pathlib import Path

import pytest
from tests.code.asking import answer, opened

BELLS = """
class Bell:
    def ring(self):
        return 1

class Gong:
    def ring(self):
        return 2
"""

PYTHON = {
    "the other branch of a test": (
        "def go(x: Bell | Gong):\n    if isinstance(x, Bell):\n        return 0\n    else:\n        x.ring()  # gong\n"
    ),
    "after a branch that leaves": (
        "def go(x: Bell | Gong):\n    if isinstance(x, Bell):\n        return x.ring()  # bell\n    x.ring()  # gong\n"
    ),
    "a test that is turned round": (
        "def go(x: Bell | Gong):\n    if not isinstance(x, (Bell, str)):\n        x.ring()  # gong\n"
        "        return\n    x.ring()  # bell\n"
    ),
    "a condition in an expression": (
        "def go(x: Bell | Gong):\n    return 0 if isinstance(x, Bell) else x.ring()  # gong\n"
    ),
    "an or": "def go(x: Bell | Gong):\n    return isinstance(x, Bell) or x.ring()  # gong\n",
    "the last case": (
        "def go(x: Bell | Gong):\n    match x:\n        case Bell():\n            x.ring()  # bell\n"
        "        case _:\n            x.ring()  # gong\n"
    ),
    "a type of which values may be below": (
        "def go(x: Bell | Gong):\n    if type(x) is Bell:\n        return\n    x.ring()  # bell? gong?\n"
    ),
    "a class in a variable": (
        "def go(x: Bell | Gong, kind: type[Bell]):\n    if isinstance(x, kind):\n        return\n"
        "    x.ring()  # bell? gong?\n"
    ),
    "a declared union": "def go(x: Bell | Gong):\n    x.ring()  # bell? gong?\n",
    "one of two": "def go(wanted):\n    x = Bell() if wanted else Gong()\n    x.ring()  # bell? gong?\n",
    "one of two classes": "def go(wanted):\n    kind = Bell if wanted else Gong\n    kind().ring()  # bell? gong?\n",
    "one of two, the other not known": (
        "def go(wanted, make):\n    x = Bell() if wanted else make()\n    x.ring()  # bell?\n"
    ),
    "a default": "def go(x=Bell()):\n    x.ring()  # bell?\n",
    "a default that is a class": "def go(kind=Bell):\n    kind().ring()  # bell?\n",
    "in place of nothing": "def go(x=None):\n    if x is None:\n        x = Bell()\n    x.ring()  # bell?\n",
    "a variable of the module that gets another value": (
        "hung = Bell()\nhung = Gong()\nhung.ring()  # gong\ndef go():\n    hung.ring()  # bell? gong?\n"
    ),
    "a variable of the module that a function changes": (
        "hung = Bell()\ndef hang(x):\n    global hung\n    hung = x\ndef go():\n    hung.ring()  # bell?\n"
    ),
    "a variable that a loop changes": (
        "hung = None\nhung = Bell()\nfor x in range(2):\n    hung.ring()  # bell? gong?\n    hung = Gong()\n"
    ),
    "an attribute that gets another value": (
        "class Tower:\n    def __init__(self):\n        self.bell = Bell()\n    def hang(self, bell):\n"
        "        self.bell = bell\n    def go(self):\n        self.bell.ring()  # bell?\n"
    ),
    "an attribute with nothing first": (
        "class Tower:\n    bell = None\n    def __init__(self, bell=Bell()):\n        self.bell = bell\n"
        "    def go(self):\n        self.bell.ring()  # bell?\n"
    ),
    "a declared Any": "from typing import Any\ndef go(x: Any = Bell()):\n    x.ring()\n",
}

SCRIPT = """export class Bell { ring() {} }
export class Gong { ring() {} }
"""
SCRIPTS = {
    "the other branch of a test": (
        "function go(x: Bell | Gong) {\n  if (x instanceof Bell) { x.ring(); } // bell\n"
        "  else { x.ring(); } // gong\n}\n"
    ),
    "after a branch that leaves": (
        "function go(x: Bell | Gong) {\n  if (x instanceof Bell) return;\n  x.ring(); // gong\n}\n"
    ),
    "a declared any": "const x: any = new Bell();\nx.ring();\n",
    "a parameter of any": "function go(x: any = new Bell()) { x.ring(); }\n",
    "made to any": "const x = new Bell() as any;\nx.ring();\n",
    "an attribute of any": "class Tower { bell: any = new Bell(); go() { this.bell.ring(); } }\n",
    "a result of any": "function make(): any { return new Bell(); }\nmake().ring();\n",
    "a default decides the type": "function go(x = new Bell()) { x.ring(); } // bell\n",
    "a variable with two values": "let x = new Bell();\nx = make();\nx.ring(); // bell?\n",
}


def found(root: Path, path: str, text: str) -> dict[int, list[str]]:
    """By line: the class whose method is used there, with a mark of question where it is not exact."""
    lines: dict[int, list[str]] = {}
    with opened(root, {path: text}) as project:
        for name in ("Bell", "Gong"):
            for use in answer(project, f"{path}::{name}.ring")["uses"]:
                assert use["basis"] in ("exact", "inferred")
                lines.setdefault(use["line"], []).append(name.lower() + "?" * (use["basis"] == "inferred"))
    return lines


def expected(text: str, mark: str) -> dict[int, list[str]]:
    rows = enumerate(text.split("\n"), 1)
    return {number: row.partition(mark)[2].split() for number, row in rows if mark in row}


# Verifies: REQ-d00741-F, REQ-o00083-A
@pytest.mark.parametrize("shape", PYTHON)
def test_a_receiver_counts_as_what_it_is_at_its_place(tmp_path: Path, shape: str) -> None:
    text = BELLS + PYTHON[shape]
    assert found(tmp_path, "bells.py", text) == expected(text, "# ")


# Verifies: REQ-o00083-A
@pytest.mark.parametrize("shape", SCRIPTS)
def test_a_receiver_in_a_script_counts_as_what_it_is_at_its_place(tmp_path: Path, shape: str) -> None:
    text = SCRIPT + SCRIPTS[shape]
    assert found(tmp_path, "bells.ts", text) == expected(text, "// ")


# Verifies: REQ-o00083-A
def test_a_default_of_javascript_decides_nothing(tmp_path: Path) -> None:
    text = SCRIPT + "function go(x = new Bell()) { x.ring(); } // bell?\n"
    assert found(tmp_path, "bells.js", text) == expected(text, "// ")
