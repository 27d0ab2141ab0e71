"""Limits of a name: languages, settings that change, files of which nothing is known."""

from pathlib import Path

from tests.code.asking import answer, opened, places, write

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


# Verifies: REQ-d00742-F
def test_files_that_are_not_read_for_uses_say_so(tmp_path: Path) -> None:
    with opened(tmp_path, {"b.rb": "class Bell\n  def toll\n  end\nend\nBell.new.toll\n"}) as project:
        assert "Uses in files of this language are not read." in answer(project, "toll")["notes"]
