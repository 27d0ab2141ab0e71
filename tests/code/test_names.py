"""What names mean, by the scopes and imports of Python."""

from pathlib import Path

import pytest
from tests.code.asking import answer, opened, places, uses

HORN = "def blow():\n    return 1\n\n\nLIMIT = 3\n"


# Verifies: REQ-d00741-A
def test_a_local_name_is_no_use_of_the_definition_that_it_hides(tmp_path: Path) -> None:
    text = """
    def blow():
        return 1

    def parameter(blow):
        return blow

    def local():
        blow = 2
        return blow

    def loop():
        for blow in ():
            print(blow)

    def comprehension():
        return [blow for blow in ()] + [blow()]

    class Holder:
        blow = 3

        def method(self):
            return blow()

    def changed():
        global blow
        blow = None

    def outer():
        blow = 1

        def inner():
            nonlocal blow
            blow = 2
            return blow
        return inner
    """
    assert uses(tmp_path, {"horn.py": text}, "horn.py::blow") == ["horn.py:17", "horn.py:23", "horn.py:27"]


# Verifies: REQ-d00741-B
def test_an_import_leads_to_the_definition(tmp_path: Path) -> None:
    files = {
        "pack/__init__.py": "from .horn import blow as blow, LIMIT\nfrom .horn import *\n",
        "pack/horn.py": HORN,
        "pack/inner/__init__.py": "",
        "pack/inner/relative.py": "from ..horn import blow\nfrom .. import horn\nblow()\nhorn.blow()\n",
        "pack/renamed.py": "from pack.horn import blow as toot\ntoot()\n",
        "through.py": "from pack import blow\nblow()\n",
        "whole.py": "import pack.horn\npack.horn.blow()\n",
        "alias.py": "import pack.horn as h\nh.blow()\n",
        "star.py": "from pack.horn import *\nblow()\n",
        "late.py": "def go():\n    from pack.horn import blow\n    blow()\n",
        "typed.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pack import blow\n\nblow()\n",
        "named.py": "import importlib\nimportlib.import_module('pack.horn').blow()\n",
        "other.py": "def blow(): ...\nblow()\n",
    }
    assert uses(tmp_path, files, "pack/horn.py::blow", "call") == [
        "alias.py:2",
        "late.py:3",
        "named.py:2",
        "pack/inner/relative.py:3",
        "pack/inner/relative.py:4",
        "pack/renamed.py:2",
        "star.py:2",
        "through.py:2",
        "typed.py:5",
        "whole.py:2",
    ]
    assert uses(tmp_path, {}, "other.py::blow", "call") == ["other.py:2"]


# Verifies: REQ-d00741-B
def test_a_list_of_exports_decides_what_an_import_of_all_brings(tmp_path: Path) -> None:
    files = {
        "horn.py": "__all__ = ['_toot']\n" + HORN + "def _toot(): ...\n",
        "star.py": "from horn import *\nblow()\n_toot()\n",
    }
    assert uses(tmp_path, files, "horn.py::_toot") == ["horn.py:1", "star.py:3"]
    assert uses(tmp_path, {}, "horn.py::blow") == []


LATE = {
    "a function for names": (
        "def __getattr__(name):\n    if name == 'blow':\n        from .horn import blow\n        return blow\n"
        "    raise AttributeError(name)\n"
    ),
    "a table of modules": "NAMES = {'blow': '.horn'}\ndef __getattr__(name): ...\n",
    "a table of names": "NAMES = {'blow': 'pack.horn.blow'}\n",
    "a table of modules with names": "import lazy\nlazy.attach(__name__, by_module={'pack.horn': ['blow', 'LIMIT']})\n",
    "a table of parts with names": "import lazy\nlazy.attach(__name__, {'horn': ['blow']})\n",
    "a table of pairs": "NAMES = {'blow': ('.horn', 'blow')}\n",
    "an import of all with the list of another": (
        "from . import horn\nfrom .horn import *\n__all__ = horn.__all__ + ['x']\n"
    ),
}


# Verifies: REQ-d00741-B
@pytest.mark.parametrize("way", LATE)
def test_a_package_brings_a_name_late_by(way: str, tmp_path: Path) -> None:
    files = {
        "pack/__init__.py": LATE[way],
        "pack/horn.py": f"__all__ = ['blow']\n{HORN}",
        "go.py": "from pack import blow\nblow()\nimport pack\npack.blow()\n",
        "star.py": "from pack import *\nblow()\n" if "all" in way else "",
    }
    expected = ["go.py:2", "go.py:4", "star.py:2"]
    assert uses(tmp_path, files, "pack/horn.py::blow", "call") == expected[: 3 if "all" in way else 2]


# Verifies: REQ-d00741-B
def test_a_relative_module_that_a_call_imports_is_that_of_its_package(tmp_path: Path) -> None:
    text = (
        "from importlib import import_module\n"
        "import_module('.horn', 'pack').blow()\nimport_module('.horn', __package__).blow()\n"
    )
    files = {"pack/__init__.py": "", "pack/horn.py": HORN, "pack/go.py": text}
    assert uses(tmp_path, files, "blow", "call") == ["pack/go.py:2", "pack/go.py:3"]


# Verifies: REQ-d00740-A
def test_a_class_in_the_branches_of_a_condition_is_one_symbol(tmp_path: Path) -> None:
    text = (
        "try:\n    import brass\n    class Horn:\n        def toot(self): ...\nexcept ImportError:\n"
        "    class Horn:\n        def blare(self): ...\nHorn().toot()\nHorn().blare()\n"
    )
    with opened(tmp_path, {"horn.py": text}) as project:
        found = answer(project, "Horn")
        blare = answer(project, "Horn.blare")
    assert (found["symbol"]["line"], found["symbol"]["also"], found["definitions"]) == (3, [6], [])
    assert (places(found), places(blare)) == (["horn.py:8", "horn.py:9"], ["horn.py:9"])


# Verifies: REQ-d00741-D
def test_names_in_texts_that_are_looked_up_are_uses(tmp_path: Path) -> None:
    files = {
        "pack/__init__.py": "",
        "pack/horn.py": HORN + "class Horn:\n    def toot(self): ...\n",
        "settings.py": "BACKENDS = {'horn': 'pack.horn:Horn', 'other': 'pack.horn.Horn'}\n",
        "tests/test_horn.py": (
            "from unittest import mock\nfrom pack.horn import Horn\n"
            "@mock.patch('pack.horn.blow')\ndef test_it(blow): ...\n"
            "def test_other(monkeypatch):\n    monkeypatch.setattr('pack.horn.blow', None)\n"
            "    mock.patch.object(Horn, 'toot')\n    getattr(Horn, 'toot')\n    print('blow', 'toot')\n"
        ),
        "notes.md": "`blow` and `toot` are loud.\n",
        "comment.py": "# blow and pack.horn.blow\nprint('a blow to the head')\n",
    }
    assert uses(tmp_path, files, "pack/horn.py::blow", "patch") == ["tests/test_horn.py:3", "tests/test_horn.py:6"]
    assert uses(tmp_path, {}, "pack/horn.py::blow") == ["tests/test_horn.py:3", "tests/test_horn.py:6"]
    assert uses(tmp_path, {}, "pack/horn.py::Horn", "string") == ["settings.py:1", "settings.py:1"]
    assert uses(tmp_path, {}, "Horn.toot") == ["tests/test_horn.py:7", "tests/test_horn.py:8"]


# Verifies: REQ-d00741-C
def test_what_a_function_gathers_by_names_are_the_fields_of_a_class(tmp_path: Path) -> None:
    text = (
        "from typing import TypedDict, Unpack\nclass How(TypedDict):\n    loud: bool\n"
        "def blow(name, **how: Unpack[How]): ...\ndef other(**how): ...\nblow('x', loud=True)\nother(loud=True)\n"
    )
    assert uses(tmp_path, {"horn.py": text}, "How.loud") == ["horn.py:6"]


# Verifies: REQ-d00741-D
def test_a_test_replaces_several_names_of_a_module_at_once(tmp_path: Path) -> None:
    files = {
        "horn.py": HORN,
        "test_horn.py": (
            "from unittest import mock\n"
            "@mock.patch.multiple('horn', blow=1)\ndef test_it(): ...\n"
            "def test_more():\n    with mock.patch.dict('horn.LIMIT', {}): ...\n"
        ),
    }
    # A module of one part is a word like any other.
    assert uses(tmp_path, files, "horn.py::LIMIT", "patch") == ["test_horn.py:5"]
    files = {
        "pack/__init__.py": "",
        "pack/horn.py": HORN,
        "test_pack.py": "from mock import patch\npatch.multiple('pack.horn', blow=1)\n",
    }
    assert uses(tmp_path, files, "pack/horn.py::blow", "patch") == ["test_pack.py:2"]


# Verifies: REQ-d00741-D
def test_a_fixture_of_a_class_is_that_of_its_tests_alone(tmp_path: Path) -> None:
    files = {
        "conftest.py": "import pytest\n@pytest.fixture\ndef horn(): ...\n",
        "test_horn.py": (
            "import pytest\nclass TestOne:\n    @pytest.fixture\n    def horn(self, horn): ...\n"
            "    def test_one(self, horn): ...\nclass TestTwo(TestOne):\n    def test_two(self, horn): ...\n"
            "class TestThree:\n    def test_three(self, horn): ...\n"
        ),
    }
    assert uses(tmp_path, files, "conftest.py::horn") == ["test_horn.py:4", "test_horn.py:9"]
    assert uses(tmp_path, {}, "test_horn.py::TestOne.horn") == ["test_horn.py:5", "test_horn.py:7"]


# Verifies: REQ-d00741-D
def test_a_fixture_has_the_name_that_it_is_given(tmp_path: Path) -> None:
    files = {
        "conftest.py": "import pytest\n@pytest.fixture(name='horn')\ndef _made(): ...\n",
        "test_horn.py": "def test_it(horn): ...\n",
    }
    assert uses(tmp_path, files, "conftest.py::_made") == ["test_horn.py:1"]


# Verifies: REQ-d00741-D
def test_entry_points_are_uses(tmp_path: Path) -> None:
    files = {
        "pack/__init__.py": "",
        "pack/horn.py": HORN,
        "pyproject.toml": '[project.scripts]\n# blow = "pack.horn:blow"\nblow = "pack.horn:blow"\n',
        "setup.cfg": "[options.entry_points]\nconsole_scripts =\n    blow = pack.horn:blow\n",
        "setup.py": "setup(entry_points={'console_scripts': ['blow = pack.horn:blow [loud]']})\n",
        "notes.txt": "blow = pack.horn:blow\n",
    }
    assert uses(tmp_path, files, "pack/horn.py::blow", "string") == ["pyproject.toml:3", "setup.cfg:3", "setup.py:1"]


# Verifies: REQ-d00741-D
def test_a_fixture_is_used_by_the_name_of_a_parameter(tmp_path: Path) -> None:
    files = {
        "tests/conftest.py": "import pytest\n@pytest.fixture\ndef horn():\n    return 1\n",
        "tests/test_horn.py": "def test_it(horn): ...\ndef other(horn): ...\n",
        "tests/inner/test_own.py": "import pytest\n@pytest.fixture\ndef horn(): ...\ndef test_it(horn): ...\n",
    }
    assert uses(tmp_path, files, "tests/conftest.py::horn") == ["tests/test_horn.py:1"]
    assert uses(tmp_path, {}, "tests/inner/test_own.py::horn") == ["tests/inner/test_own.py:4"]


# Verifies: REQ-d00741-D
def test_members_of_what_a_fixture_gives_are_uses_of_their_own_kind(tmp_path: Path) -> None:
    files = {
        "horn.py": "class Horn:\n    def toot(self): ...\nclass Tuba:\n    def toot(self): ...\n",
        "tests/conftest.py": (
            "import pytest\nfrom horn import Horn, Tuba\n"
            "@pytest.fixture\ndef horn():\n    yield Horn()\n"
            "@pytest.fixture\ndef tuba(horn):\n    return Tuba()\n"
        ),
        "tests/test_horn.py": (
            "def test_horn(horn):\n    horn.toot()\n"
            "def test_tuba(tuba):\n    tuba.toot()\n"
            "def test_named(request):\n    request.getfixturevalue('horn').toot()\n"
            "def helper(horn):\n    horn.toot()\n"
        ),
    }
    assert uses(tmp_path, files, "Horn.toot", "fixture") == ["tests/test_horn.py:2", "tests/test_horn.py:6"]
    assert uses(tmp_path, {}, "Tuba.toot") == ["tests/test_horn.py:4"]


# Verifies: REQ-o00083-A, REQ-o00083-B
def test_a_name_that_a_function_has_too_binds_no_unknown_receiver(tmp_path: Path) -> None:
    files = {
        "horn.py": "class Horn:\n    def toot(self): ...\n    def blare(self): ...\ndef toot(): ...\n",
        "go.py": "def go(x):\n    x.toot()\n    x.blare = 1\n    x.blare()\n",
    }
    with opened(tmp_path, files) as project:
        toot, blare = answer(project, "Horn.toot"), answer(project, "Horn.blare")
    assert (toot["uses"], toot["one_of"]) == ([], 1)
    # Whoever writes an attribute of an unknown value may give it one of that name.
    assert [(use["line"], use["basis"]) for use in blare["uses"]] == [(4, "name")]
    assert blare["unbound"] == 1


# Verifies: REQ-o00083-A, REQ-d00740-A
def test_each_kind_of_symbol_has_its_uses_and_each_use_its_kind(tmp_path: Path) -> None:
    text = """
    from enum import Enum
    from typing import overload

    LIMIT = 3
    Sound = int | str

    class Tone(Enum):
        LOW = 1

    class Horn:
        size = 1

        def __init__(self):
            self.note = LIMIT

        @property
        def tone(self) -> Tone:
            return Tone.LOW

        @tone.setter
        def tone(self, value): ...

    class Big(Horn):
        pass

    @overload
    def blow(x: int) -> int: ...
    @overload
    def blow(x: str) -> str: ...
    def blow(x):
        def inner(y: Sound):
            return y
        return inner(x)

    def go(horn: Horn):
        horn.note = horn.size
        horn.tone = horn.tone
        del horn.note
        return blow(1), Horn

    @blow
    def decorated(): ...
    """
    with opened(tmp_path, {"horn.py": text}) as project:
        kinds = {}
        for name in ("LIMIT", "Sound", "Tone.LOW", "Horn", "Horn.size", "Horn.note", "Horn.tone", "blow", "blow.inner"):
            found = answer(project, f"horn.py::{name}")
            kinds[name] = (found["symbol"]["kind"], [f"{use['kind']} {use['line']}" for use in found["uses"]])
        overloaded = answer(project, "blow")["symbol"]
    assert kinds == {
        "LIMIT": ("constant", ["read 15"]),
        "Sound": ("variable", ["annotation 32"]),
        "Tone.LOW": ("member", ["read 19"]),
        "Horn": ("class", ["inherit 24", "annotation 36", "read 40"]),
        "Horn.size": ("attribute", ["read 37"]),
        "Horn.note": ("attribute", ["write 37", "delete 39"]),
        "Horn.tone": ("property", ["decorator 21", "write 38", "read 38"]),
        "blow": ("function", ["call 40", "decorator 42"]),
        "blow.inner": ("function", ["call 34"]),
    }
    assert (overloaded["line"], overloaded["also"], overloaded["head"]) == (31, [28, 30], "def blow(x):")


# Verifies: REQ-o00083-A, REQ-o00083-B
def test_a_receiver_that_is_not_known_binds_only_the_single_definition_of_a_name(tmp_path: Path) -> None:
    files = {
        "horn.py": (
            "class Horn:\n    def toot(self): ...\n    def blow(self): ...\nclass Tuba:\n    def blow(self): ...\n"
        ),
        "go.py": "def go(x):\n    x.toot()\n    x.blow()\n    'text'.blow()\n",
    }
    with opened(tmp_path, files) as project:
        toot, blow = answer(project, "Horn.toot"), answer(project, "Horn.blow")
    assert [(use["basis"], use["path"], use["line"]) for use in toot["uses"]] == [("name", "go.py", 2)]
    assert (blow["total"], blow["one_of"]) == (0, 1)


# Verifies: REQ-o00083-B, REQ-o00083-C, REQ-o00083-D
def test_an_answer_without_uses_says_what_was_looked_at(tmp_path: Path) -> None:
    files = {
        "horn.py": "class Horn:\n    def close(self): ...\n# close it\n",
        "go.py": "def go(x):\n    x.close()  # close\n    return 'close'\n",
    }
    with opened(tmp_path, files) as project:
        found = answer(project, "Horn.close")
    assert (found["uses"], found["unbound"], found["looked_at"]) == ([], 1, 2)
    assert found["notes"] == [
        "No use found: 2 files with the name 'close' were looked through. "
        "Uses that are made while the program runs are not seen."
    ]


# Verifies: REQ-d00742-A, REQ-d00742-B
def test_a_symbol_is_named_in_five_ways_and_never_by_chance(tmp_path: Path) -> None:
    files = {
        "pack/__init__.py": "",
        "pack/horn.py": "class Horn:\n    def toot(self):\n        return 1\ndef blow():\n    return Horn().toot()\n",
        "pack/tuba.py": "def blow(): ...\ndef play():\n    def toot(): ...\n    return toot()\n",
    }
    with opened(tmp_path, files) as project:
        for target in ("Horn.toot", "pack.horn.Horn.toot", "pack/horn.py::Horn.toot", "pack/horn.py:3", "toot"):
            assert answer(project, target)["symbol"]["name"] == "pack/horn.py::Horn.toot", target
        several = answer(project, "blow")
        nested = answer(project, "toot")
    assert several["symbol"] is None
    assert several["uses"] == []
    assert [(each["name"], each["uses"]) for each in several["definitions"]] == [
        ("pack/horn.py::blow", 0),
        ("pack/tuba.py::blow", 0),
    ]
    assert [(each["name"], each["uses"]) for each in nested["definitions"]] == [
        ("pack/horn.py::Horn.toot", 1),
        ("pack/tuba.py::play.toot", 1),
    ]


# Verifies: REQ-d00742-C, REQ-d00742-D
def test_uses_are_chosen_by_kind_and_by_whether_they_are_in_tests(tmp_path: Path) -> None:
    files = {
        "horn.py": HORN,
        "pytest.ini": "[pytest]\ntestpaths = checks\n",
        "checks/horns.py": "from horn import blow\nblow()\n",
        "test_horn.py": "import horn\nhorn.blow()\n",
        "go.py": "import horn\nhorn.blow()\n",
    }
    with opened(tmp_path, files) as project:
        tests = places(answer(project, "blow", tests=True))
        others = places(answer(project, "blow", tests=False))
        imports = places(answer(project, "blow", kind=["import"]), "import")
        nothing = answer(project, "blow", basis=["name"])
    assert (tests, others, imports) == (["test_horn.py:2", "checks/horns.py:2"], ["go.py:2"], ["checks/horns.py:1"])
    assert nothing["uses"] == []


# Verifies: REQ-d00742-E
def test_uses_in_files_that_nobody_wrote_here_are_counted_apart(tmp_path: Path) -> None:
    files = {
        "horn.py": HORN,
        "made.py": "# @generated by a program, do not edit\nimport horn\nhorn.blow()\n",
        "_vendor/copied.py": "import horn\nhorn.blow()\n",
        "go.py": "import horn\nhorn.blow()\n",
    }
    with opened(tmp_path, files) as project:
        found = answer(project, "blow")
    assert (places(found), found["generated"]) == (["go.py:2"], 2)


# Verifies: REQ-d00742
def test_the_nearest_uses_come_first_and_a_cursor_leads_on(tmp_path: Path) -> None:
    files = {
        "pack/__init__.py": "",
        "pack/horn.py": HORN + "blow()\n",
        "pack/beside.py": "from pack.horn import blow\nblow()\n",
        "far/away/go.py": "from pack.horn import blow\nblow()\n",
        "tests/test_horn.py": "from pack.horn import blow\nblow()\n",
    }
    with opened(tmp_path, files) as project:
        first = answer(project, "blow", kind=["call"], limit=2)
        second = answer(project, "blow", kind=["call"], limit=2, cursor=first["next_cursor"])
    assert places(first) == ["pack/horn.py:6", "pack/beside.py:2"]
    assert places(second) == ["far/away/go.py:2", "tests/test_horn.py:2"]
    assert (first["total"], second["next_cursor"]) == (4, None)


# Verifies: REQ-d00740-B
def test_an_edited_file_is_seen_by_the_next_answer(tmp_path: Path) -> None:
    files = {"horn.py": HORN, "go.py": "import horn\nhorn.blow()\n"}
    with opened(tmp_path, files) as project:
        assert places(answer(project, "blow")) == ["go.py:2"]
        (tmp_path / "go.py").write_text("import horn\n\n\nhorn.blow()\nhorn.blow()\n", encoding="utf-8")
        assert places(answer(project, "blow")) == ["go.py:4", "go.py:5"]
        (tmp_path / "go.py").unlink()
        assert places(answer(project, "blow")) == []


# Verifies: REQ-d00740-C
def test_a_file_with_errors_keeps_its_definitions(tmp_path: Path) -> None:
    files = {"horn.py": "def blow():\n    return (\n\nclass Horn:\n    pass\n", "go.py": "import horn\nhorn.Horn()\n"}
    with opened(tmp_path, files) as project:
        found = answer(project, "Horn")
    assert (found["symbol"]["name"], places(found)) == ("horn.py::Horn", ["go.py:2"])


# Verifies: REQ-d00740-D
def test_files_that_are_made_to_be_slow_are_read(tmp_path: Path) -> None:
    deep = {
        "parentheses.py": "x = " + "(" * 5_000 + ")" * 5_000 + "\n",
        "sum.py": "x = " + " + ".join(["1"] * 20_000) + "\n",
        "members.py": "x = a" + ".b" * 20_000 + "\n",
        "branches.py": "def go(a):\n" + "".join(f"    if a: b{n} = a\n" for n in range(5_000)),
        "nested.py": "".join(" " * depth + "if a:\n" for depth in range(90)) + " " * 90 + "pass\n",
        "circle.py": "from circle import *\nfrom circle import a as b\nfrom circle import b as a\nclass A(A): ...\n",
        "horn.py": HORN,
    }
    with opened(tmp_path, deep) as project:
        assert answer(project, "blow")["symbol"]["line"] == 1
        assert answer(project, "circle.py::A")["symbol"]["line"] == 4


# Verifies: REQ-d00740-B
def test_an_edit_is_seen_by_the_next_answer_among_many_files(tmp_path: Path) -> None:
    files = {"horn.py": HORN, "go.py": "import horn\nhorn.blow()\n"}
    files.update({f"many/file{number}.py": "" for number in range(2_100)})
    with opened(tmp_path, files) as project:
        while project.code.ensure():
            pass
        assert places(answer(project, "blow")) == ["go.py:2"]
        (tmp_path / "go.py").write_text("import horn\n\nhorn.blow()\n", encoding="utf-8")
        assert places(answer(project, "blow")) == ["go.py:3"]
        # The others are looked at behind an answer.
        (tmp_path / "many" / "file7.py").write_text("import horn\nhorn.blow()\n", encoding="utf-8")
        found = places(answer(project, "blow"))
        if (run := project.code.run) is not None:
            project.code.wait(run, None)
        project.code.ensure()
        assert places(answer(project, "blow")) == ["go.py:3", "many/file7.py:2"]
        assert found in (["go.py:3"], ["go.py:3", "many/file7.py:2"])
