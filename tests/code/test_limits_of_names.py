"""Limits of a name: languages, settings that change, files of which nothing is known."""

from pathlib import Path

import pytest
from tests.code.asking import answer, opened, places, write

from clew.errors import NotFound
from clew.formats.code.trees import grammars

RUST = "pub struct Engine;\n\nimpl Engine {\n    pub fn ring_twice(&self) {}\n}\n"


# Verifies: REQ-d00742-F
def test_a_name_of_another_language_is_no_use(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "m"\nversion = "0.1.0"\n',
        "src/lib.rs": RUST,
        "tool.py": "class Bell:\n    def ring_twice(self):\n        pass\n\n\ndef f(x):\n    x.ring_twice()\n",
        "web.ts": "export function g(x: any) { x.ring_twice(); }\n",
    }
    with opened(tmp_path, files) as project:
        assert answer(project, "src/lib.rs::Engine.ring_twice")["uses"] == []
        # It is the only definition of Python, whatever other languages have.
        assert places(answer(project, "tool.py::Bell.ring_twice")) == ["tool.py:7"]


# Verifies: REQ-d00742-D
def test_folders_of_tests_are_those_of_the_settings_as_they_are_now(tmp_path: Path) -> None:
    files = {"pyproject.toml": '[project]\nname = "m"\n', "m.py": "def peal():\n    return 1\n"}
    files["checks/bells.py"] = "from m import peal\n\npeal()\n"
    with opened(tmp_path, files) as project:
        assert places(answer(project, "peal", tests=True)) == []
        write(tmp_path, {"pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["checks"]\n'})
        assert places(answer(project, "peal", tests=True)) == ["checks/bells.py:3"]


# Verifies: REQ-d00742-F, REQ-d00740-C
def test_a_grammar_that_is_not_installed_is_said_and_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(grammars._GRAMMARS, "go", ("tree_sitter_not_there", "language"))
    grammars.grammar.cache_clear()
    try:
        code = "package m\n\nfunc Ring() int {\n\treturn 1\n}\n\nfunc Toll() { Ring() }\n"
        files = {"go.mod": "module m\n", "bell.go": code}
        with opened(tmp_path, files) as project:
            found = answer(project, "Ring")
            assert (found["symbol"]["name"], found["uses"]) == ("bell.go::Ring", [])
            why = "the package tree-sitter-not-there is not installed"
            assert found["notes"][-1] == f"Uses in files of this language are not read: {why}."
    finally:
        grammars.grammar.cache_clear()


# Verifies: REQ-d00742-F
def test_other_languages_have_uses_by_name(tmp_path: Path) -> None:
    files = {
        "bell.rb": "class Bell\n  def toll_slowly\n  end\n\n  def ring\n  end\nend\n",
        "gong.rb": "class Gong\n  def ring\n  end\nend\n",
        "tower.rb": (
            "# toll_slowly\nclass Tower\n  def go(bell)\n    bell.toll_slowly\n    bell.ring\n"
            '    puts "toll_slowly"\n  end\nend\n'
        ),
        "tower.py": "def go(bell):\n    bell.toll_slowly()\n",
    }
    with opened(tmp_path, files) as project:
        found = answer(project, "toll_slowly")
        assert [(use["path"], use["line"], use["basis"], use["inside"]) for use in found["uses"]] == [
            ("tower.rb", 4, "name", "Tower.go")
        ]
        assert "Uses in files of this language are known by their names only." in found["notes"]
        ring = answer(project, "bell.rb::Bell.ring")
        assert (ring["uses"], ring["one_of"]) == ([], 1)


# Verifies: REQ-d00742-F
def test_what_a_header_declares_is_defined_once(tmp_path: Path) -> None:
    files = {
        "bell.h": "int toll_slowly(int times);\n",
        "bell.c": '#include "bell.h"\nint toll_slowly(int times) {\n    return times;\n}\n',
        "main.c": '#include "bell.h"\nint main(void) {\n    return toll_slowly(3);\n}\n',
    }
    with opened(tmp_path, files) as project:
        found = answer(project, "bell.c::toll_slowly", kind=["call"])
        assert [(use["path"], use["line"], use["inside"]) for use in found["uses"]] == [("main.c", 3, "main")]


# Verifies: REQ-d00740-D
def test_words_are_read_in_time_that_is_linear_in_a_file(tmp_path: Path) -> None:
    lines = "".join(f"int a{number}(void) {{ return b{number}(); }} " for number in range(9_000))
    nested = "".join(f"namespace n{number} {{\n" for number in range(3_000)) + "}\n" * 3_000
    with opened(tmp_path, {"one.c": lines, "deep.cpp": nested + "int z(void) { return a8(); }\n"}) as project:
        assert answer(project, "one.c::a8")["total"] == 1


# Verifies: REQ-d00742-A
@pytest.mark.parametrize("target", ["Small.ring", "tower.Small.ring", "tower.py::Small.ring"])
def test_a_member_is_named_by_a_class_that_has_it_from_another(tmp_path: Path, target: str) -> None:
    files = {
        "bells.py": "class Bell:\n    def ring(self): ...\n\n\nclass Gong:\n    def ring(self): ...\n",
        "tower.py": "from bells import Bell\n\n\nclass Small(Bell):\n    pass\n\n\nSmall().ring()\n",
    }
    with opened(tmp_path, files) as project:
        found = answer(project, target)
        assert found["symbol"]["name"] == "bells.py::Bell.ring"
        assert places(found) == ["tower.py:8"]
        with pytest.raises(NotFound):
            answer(project, "Small.hum")
