"""Which method is called, by what is known of the receiver."""

from pathlib import Path

import pytest
from tests.code.asking import uses

BELLS = """
class Bell:
    def ring(self):
        return 1

class Gong:
    def ring(self):
        return 2

class Small(Bell):
    pass

class Loud(Bell):
    def ring(self):
        return super().ring()
"""

SHAPES = {
    "self": "class Tower(Bell):\n    def go(self):\n        self.ring()\n",
    "a call of the constructor": "Bell().ring()\n",
    "a variable": "def go():\n    bell = Bell()\n    bell.ring()\n",
    "an annotated parameter": "def go(bell: Bell):\n    return bell.ring()\n",
    "an annotation as a text": "def go(bell: 'Bell'):\n    return bell.ring()\n",
    "an optional": "from typing import Optional\ndef go(bell: Optional[Bell] = None):\n    return bell.ring()\n",
    "a union": "def go(bell: Bell | None):\n    return bell.ring()\n",
    "a subclass that does not override": "def go(bell: Small):\n    return bell.ring()\n",
    "the attribute of an instance": (
        "class Tower:\n    def __init__(self):\n        self.bell = Bell()\n"
        "    def go(self):\n        self.bell.ring()\n"
    ),
    "an attribute that another method assigns": (
        "class Tower:\n    bell = None\n    def hang(self):\n        self.bell = Bell()\n"
        "    def go(self):\n        self.bell.ring()\n"
    ),
    "a declared attribute": "class Tower:\n    bell: Bell\n    def go(self):\n        self.bell.ring()\n",
    "a class that is declared": (
        "import typing as t\nclass Tower:\n    kind: t.Type['Bell']\n    bells: t.List[Bell]\n"
        "def go(tower: Tower):\n    tower.kind().ring()\n"
    ),
    "a list under another name of typing": "import typing as t\ndef go(bells: t.List[Bell]):\n    bells[0].ring()\n",
    "a declared result": "def make() -> Bell: ...\nmake().ring()\n",
    "an inferred result": "def make():\n    return Bell()\nmake().ring()\n",
    "an inferred result of a result": (
        "def cast():\n    return Bell()\ndef make():\n    return cast()\n"
        "def go():\n    made = make()\n    made.ring()\n"
    ),
    "a class method": (
        "class Tower(Bell):\n    @classmethod\n    def new(cls):\n        return cls()\nTower.new().ring()\n"
    ),
    "a property": ("class Tower:\n    @property\n    def bell(self):\n        return Bell()\nTower().bell.ring()\n"),
    "iterating over a list": "def go(bells: list[Bell]):\n    for bell in bells:\n        bell.ring()\n",
    "a comprehension": "def go(bells: list[Bell]):\n    return [bell.ring() for bell in bells]\n",
    "the values of a dict": (
        "def go(bells: dict[str, Bell]):\n    for name, bell in bells.items():\n        bell.ring()\n"
    ),
    "a subscript": "def go(bells: dict[str, Bell]):\n    bells['one'].ring()\n",
    "a tuple": "def go():\n    one, two = 1, Bell()\n    two.ring()\n",
    "a generator": "def all_of():\n    yield Bell()\ndef go():\n    for bell in all_of():\n        bell.ring()\n",
    "isinstance": "def go(bell):\n    if isinstance(bell, Bell):\n        bell.ring()\n",
    "isinstance that is not": ("def go(bell):\n    if not isinstance(bell, Bell):\n        return\n    bell.ring()\n"),
    "isinstance in a condition": "def go(bell):\n    return isinstance(bell, Bell) and bell.ring()\n",
    "a pattern": "def go(bell):\n    match bell:\n        case Bell():\n            bell.ring()\n",
    "an assignment in an expression": "def go():\n    if (bell := Bell()):\n        bell.ring()\n",
    "with": (
        "class Tower:\n    def __enter__(self):\n        return Bell()\n    def __exit__(self, *a): ...\n"
        "def go():\n    with Tower() as bell:\n        bell.ring()\n"
    ),
    "a context manager that is a generator": (
        "from contextlib import contextmanager\n@contextmanager\ndef hung():\n    yield Bell()\n"
        "def go():\n    with hung() as bell:\n        bell.ring()\n"
    ),
    "an asynchronous result": (
        "async def make():\n    return Bell()\nasync def go():\n    bell = await make()\n    bell.ring()\n"
    ),
    "a generic class": (
        "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass Box(Generic[T]):\n"
        "    def get(self) -> T: ...\ndef go(box: Box[Bell]):\n    box.get().ring()\n"
    ),
    "a generic function": (
        "from typing import TypeVar\nT = TypeVar('T')\ndef same(x: T) -> T:\n    return x\nsame(Bell()).ring()\n"
    ),
    "a bound type variable": (
        "from typing import TypeVar\nT = TypeVar('T', bound=Bell)\ndef go(bell: T) -> T:\n    bell.ring()\n"
    ),
    "Self": ("from typing import Self\nclass Tower(Bell):\n    def hung(self) -> Self: ...\nTower().hung().ring()\n"),
    "a method that returns itself": (
        "class Tower:\n    def hung(self):\n        return self\nclass High(Tower, Bell): ...\nHigh().hung().ring()\n"
    ),
    "a dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass Tower:\n    bell: Bell\ndef go(tower: Tower):\n"
        "    tower.bell.ring()\n"
    ),
    "a named tuple": (
        "from typing import NamedTuple\nclass Pair(NamedTuple):\n    one: Bell\n    two: int\n"
        "def go(pair: Pair):\n    one, _ = pair\n    one.ring()\n"
    ),
    "a parameter of the overridden method": (
        "class Base:\n    def go(self, bell: Bell): ...\n"
        "class Derived(Base):\n    def go(self, bell):\n        bell.ring()\n"
    ),
    "a class that is passed": (
        "from typing import TypeVar\nT = TypeVar('T')\ndef make(kind: type[T]) -> T: ...\nmake(Bell).ring()\n"
    ),
    "an error that a test expects": (
        "import pytest\nclass Cracked(Bell, Exception): ...\ndef test_it():\n"
        "    with pytest.raises(Cracked) as caught: ...\n    caught.value.ring()\n"
    ),
    "an error that a test case expects": (
        "import unittest\nclass Cracked(Bell, Exception): ...\nclass BellTest(unittest.TestCase):\n"
        "    def test_it(self):\n        with self.assertRaises((Cracked, OSError)) as caught: ...\n"
        "        caught.exception.ring()\n"
    ),
    "the key of an order": "def go(bells: list[Bell]):\n    return sorted(bells, key=lambda bell: bell.ring())\n",
    "the key of an order in place": "def go(bells: list[Bell]):\n    bells.sort(key=lambda bell: bell.ring())\n",
    "a filter": "def go(bells: list[Bell]):\n    return filter(lambda bell: bell.ring(), bells)\n",
    "a function that tells types apart": (
        "from typing import TypeGuard\ndef is_bell(x) -> TypeGuard[Bell]: ...\n"
        "def go(x):\n    if is_bell(x):\n        x.ring()\n"
    ),
    "a function that tells no type": "def is_old(x): ...\ndef go(x: Bell):\n    if is_old(x):\n        x.ring()\n",
    "the branch of this platform": (
        "import sys\nif sys.platform == 'none':\n    Made = Gong\nelse:\n    Made = Bell\nMade().ring()\n"
    ),
    "the branch of this version": (
        "import sys\nif not sys.version_info >= (3, 4):\n    made = Gong()\nelse:\n    made = Bell()\nmade.ring()\n"
    ),
    "cast": "from typing import cast\ndef go(x):\n    cast(Bell, x).ring()\n",
    "a lambda": "make = lambda: Bell()\nmake().ring()\n",
    "a closure": "def go():\n    bell = Bell()\n    def inner():\n        bell.ring()\n    return inner\n",
    "the other branch": (
        "def go(flag):\n    if flag:\n        bell = Bell()\n    else:\n        bell = None\n    bell.ring()\n"
    ),
    "a loop that assigns anew": (
        "def go(names):\n    bell = None\n    for name in names:\n        if bell:\n            bell.ring()\n"
        "        bell = Bell()\n"
    ),
    "a descriptor": (
        "class Hung:\n    def __get__(self, owner, kind) -> Bell: ...\nclass Tower:\n    bell = Hung()\n"
        "Tower().bell.ring()\n"
    ),
    "a decorator that keeps the function": (
        "import functools\ndef loud(f):\n    @functools.wraps(f)\n    def inner(*a, **k):\n        return f(*a, **k)\n"
        "    return inner\n@loud\ndef make():\n    return Bell()\nmake().ring()\n"
    ),
}


# Verifies: REQ-d00741-C, REQ-d00741-E
@pytest.mark.parametrize("shape", SHAPES)
def test_a_receiver_is_known_by(shape: str, tmp_path: Path) -> None:
    text = f"from bells import Bell, Gong, Loud, Small\n{SHAPES[shape]}"
    last = max(number for number, line in enumerate(text.splitlines(), start=1) if ".ring()" in line)
    found = uses(tmp_path, {"bells.py": BELLS, "tower.py": text}, "bells.py::Bell.ring", "call")
    assert found == ["bells.py:15", f"tower.py:{last}"]
    assert uses(tmp_path, {}, "bells.py::Gong.ring", "call") == []


# Verifies: REQ-d00741-E
def test_a_call_of_an_overriding_method_is_no_use_of_the_overridden_one(tmp_path: Path) -> None:
    files = {"bells.py": BELLS, "tower.py": "from bells import Loud\nLoud().ring()\n"}
    assert uses(tmp_path, files, "Bell.ring", "call") == ["bells.py:15"]
    assert uses(tmp_path, files, "Bell.ring", "override") == ["bells.py:14"]
    assert uses(tmp_path, files, "Loud.ring", "call") == ["tower.py:2"]


# Verifies: REQ-d00741-G
def test_an_attribute_that_a_class_below_assigns_is_the_one_that_is_declared_above(tmp_path: Path) -> None:
    files = {
        "bells.py": (
            "class Bell:\n    tone: int\n\n    def ring(self):\n        return self.tone\n\n\n"
            "class Small(Bell):\n    def __init__(self):\n        self.tone = 3\n\n    def toll(self):\n"
            "        return self.tone\n\n\nclass Gong:\n    def __init__(self):\n        self.tone = 1\n"
            "        print(self.tone)\n"
        ),
        "body.py": (
            "class Bell:\n    code: int = 1\n\n    def ring(self):\n        return self.code\n\n\n"
            "class Small(Bell):\n    code = 2\n\n    def toll(self):\n        return self.code\n"
        ),
        "loose.py": (
            "class Bell:\n    def __init__(self):\n        self.size = 1\n\n"
            "    def ring(self):\n        return self.size\n\n\n"
            "class Small(Bell):\n    def __init__(self):\n        self.size = 2\n        print(self.size)\n"
        ),
    }
    reads = ["bells.py:5", "bells.py:13"]
    assert uses(tmp_path, files, "bells.py::Bell.tone", "read") == reads
    assert uses(tmp_path, files, "bells.py::Small.tone", "read") == reads
    assert uses(tmp_path, files, "bells.py::Bell.tone", "override", "write") == ["bells.py:10"]
    assert uses(tmp_path, files, "bells.py::Gong.tone", "read") == ["bells.py:19"]
    # In the body of a class it is another one, which overrides.
    assert uses(tmp_path, files, "body.py::Bell.code", "read") == ["body.py:5"]
    assert uses(tmp_path, files, "body.py::Small.code", "read") == ["body.py:12"]
    # Where no class declares it, each class has its own.
    assert uses(tmp_path, files, "loose.py::Bell.size", "read") == ["loose.py:6"]
    assert uses(tmp_path, files, "loose.py::Small.size", "read") == ["loose.py:12"]
