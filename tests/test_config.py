"""Configuration: clew.toml, .elspais.toml, or none."""

from pathlib import Path

import pytest

from clew.config import CODE_PATTERNS, find_root, load
from clew.errors import ConfigError
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.graph.readers.project import readers_for
from clew.operation.declare import Toolset
from clew.operation.names import NameStyle
from clew.operation.toolsets import ALL, DEFAULT
from clew.project import Project
from clew.trace.find.requests import SearchQuery
from clew.workspace.find import scan

ELSPAIS = """
version = 4
[project]
name = "legacy"
namespace = "ABC"
[scanning.spec]
directories = ["requirements"]
"""


# Verifies: REQ-d00019-A
def test_clew_toml_wins_over_elspais_toml_which_wins_over_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path).requirements.folders == ("spec",)
    assert load(tmp_path).name == tmp_path.name
    (tmp_path / ".elspais.toml").write_text(ELSPAIS, encoding="utf-8")
    config = load(tmp_path)
    assert (config.name, config.elspais.namespace, config.requirements.folders) == ("legacy", "ABC", ("requirements",))
    (tmp_path / "clew.toml").write_text(
        '[project]\nname = "mine"\n[requirements]\nfolders = ["docs/spec"]\nnamespace = "XYZ"\n', encoding="utf-8"
    )
    config = load(tmp_path)
    assert (config.name, config.elspais.namespace, config.requirements.folders) == ("mine", "XYZ", ("docs/spec",))
    assert config.files == ("clew.toml", ".elspais.toml")
    assert config.code.patterns[: len(CODE_PATTERNS)] == CODE_PATTERNS


# Verifies: REQ-p00003-B
def test_a_project_of_elspais_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / ".elspais.toml").write_text(ELSPAIS, encoding="utf-8")
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "a.md").write_text("# ABC-p00001: Title\n\n*End* *Title*\n", encoding="utf-8")
    project = Project.open(tmp_path)
    project.ensure_graph()
    assert project.trace.requirement("p1").id == "ABC-p00001"
    project.close()


# Verifies: REQ-d00019-D
@pytest.mark.parametrize(
    "text",
    [
        '[testing]\nenabled = true\nresult_files = ["reports/*.xml"]\n',
        '[scanning.test]\nenabled = true\n[scanning.result]\nfile_patterns = ["reports/*.xml"]\n',
    ],
)
def test_tests_that_elspais_toml_switches_off_are_not_read_unless_clew_toml_names_them(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / ".elspais.toml").write_text(text, encoding="utf-8")
    assert (load(tmp_path).tests.folders, load(tmp_path).results) == (("tests",), ("reports/*.xml", "uat-results.csv"))
    (tmp_path / ".elspais.toml").write_text(text.replace("true", "false"), encoding="utf-8")
    # What people tried by hand is no test that could be switched off.
    assert (load(tmp_path).tests.folders, load(tmp_path).results) == ((), ("uat-results.csv",))
    (tmp_path / "clew.toml").write_text('[tests]\nfolders = ["check"]\nresults = ["out/*.xml"]\n', encoding="utf-8")
    assert (load(tmp_path).tests.folders, load(tmp_path).results) == (("check",), ("out/*.xml",))


# Verifies: REQ-d00019-D
def test_settings_that_are_not_obeyed_are_noted(tmp_path: Path) -> None:
    (tmp_path / "clew.toml").write_text(
        '[specs]\nfolders = ["openspec"]\npatterns = ["*.md"]\nskip = ["x"]\n', encoding="utf-8"
    )
    (tmp_path / ".elspais.toml").write_text("[keywords]\nmin_length = 5\n", encoding="utf-8")
    project = Project.open(tmp_path)
    notes = project.notes()
    project.close()
    assert [note.split("`")[1] for note in notes[:3]] == ["specs.patterns", "specs.skip", "keywords.min_length"]


# Verifies: REQ-d00019-B
@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("[projekt]\n", "projekt"),
        ("[project]\nnmae = 'x'\n", "nmae"),
        ("[requirements]\nfolders = 'spec'\n", "'requirements.folders' is 'spec'"),
        ("[limits]\nmax_file_bytes = 'big'\n", "'limits.max_file_bytes' is 'big'"),
        ("[limits]\nmax_file_bytes = 0\n", "'limits.max_file_bytes' is 0: "),
        ("[server]\nnames = 'dots'\n", "'server.names' is 'dots': expected one of dotted, portable"),
        ("[server]\ntoolsets = ['trace', 'kbb']\n", "is 'kbb': expected one of "),
        ('[code]\nfolders = ["a\\u0000b"]\n', "a\\x00b"),
        ("[project\n", "line 1"),
        ("name = \xff", "clew.toml"),
    ],
)
def test_a_wrong_key_or_value_is_named(tmp_path: Path, text: str, mentions: str) -> None:
    (tmp_path / "clew.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError) as refused:
        load(tmp_path)
    assert mentions in refused.value.message
    assert refused.value.hint


@pytest.mark.parametrize("name", ["clew.toml", ".elspais.toml"])
def test_a_byte_order_mark_is_no_part_of_the_configuration(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b'\xef\xbb\xbf[project]\r\nname = "marked"\r\n')
    assert load(tmp_path).name == "marked"


def test_every_toolset_and_style_of_names_that_the_server_knows_can_be_configured(tmp_path: Path) -> None:
    toolsets = [DEFAULT, ALL, *(toolset.value for toolset in Toolset)]
    for style in NameStyle:
        text = f"[server]\nnames = '{style.value}'\ntoolsets = {toolsets}\n"
        (tmp_path / "clew.toml").write_text(text, encoding="utf-8")
        assert load(tmp_path).server.names == style.value
        assert load(tmp_path).server.toolsets == tuple(toolsets)


def test_a_folder_has_one_spelling_however_it_is_written(tmp_path: Path) -> None:
    folders = ["./packages", "packages/", "packages//a/../", "a\\\\b", ".", "", str(tmp_path / "c"), "d/**"]
    text = "[code]\nfolders = [" + ", ".join(f'"{folder}"' for folder in folders) + "]\n"
    (tmp_path / "clew.toml").write_text(text.replace("[code]", "[docs]") + text, encoding="utf-8")
    config = load(tmp_path)
    assert config.code.folders == config.documents.folders == ("packages", "a/b", ".", "c", "d")


@pytest.mark.parametrize(
    ("code", "tests"),
    [
        ("./packages", "packages/a/tests/"),
        ("packages/", "packages\\\\a\\\\tests"),
        ("packages", "packages/*/tests"),
        ("packages/a", "**/tests"),
        ("packages/*", "packages/*/tests"),
        ("packages", "packages"),
        ("packages/a/tests", "packages/*/tests"),
        (".", "packages/?/tests"),
        ("packages/a", "."),
    ],
)
def test_no_file_is_read_as_test_and_as_code(tmp_path: Path, code: str, tests: str) -> None:
    (tmp_path / "packages" / "a" / "tests").mkdir(parents=True)
    (tmp_path / "packages" / "a" / "tests" / "test_x.py").touch()
    (tmp_path / "packages" / "a" / "x.py").touch()
    text = f'[code]\nfolders = ["{code}"]\n[tests]\nfolders = ["{tests}"]\n'
    (tmp_path / "clew.toml").write_text(text, encoding="utf-8")
    config = load(tmp_path)
    read = {
        reader.name: [entry.path for entry in scan(tmp_path, reader.selection).files]
        for reader in readers_for(config, IdGrammar(config.elspais))
    }
    assert read["tests"] == ["packages/a/tests/test_x.py"]
    assert read["code"] == ([] if code == "packages/a/tests" else ["packages/a/x.py"])


# Verifies: REQ-p00003-B
def test_globs_of_elspais_are_read_from_the_root_of_the_project(tmp_path: Path) -> None:
    (tmp_path / ".elspais.toml").write_text(
        '[scanning.test]\ndirectories = ["packages/*/tests"]\n'
        '[scanning.code]\nfile_patterns = ["lib/**/*.py", "*.j2", "packages/**/*.py"]\n',
        encoding="utf-8",
    )
    for path in (
        "src/s.py",
        "src/s.j2",
        "lib/l.py",
        "lib/deep/l.py",
        "top.j2",
        "packages/a/tests/test_t.py",
        "lib/x.j2",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    config = load(tmp_path)
    read = {
        reader.name: [entry.path for entry in scan(tmp_path, reader.selection).files]
        for reader in readers_for(config, IdGrammar(config.elspais))
    }
    assert read["tests"] == ["packages/a/tests/test_t.py"]
    assert read["code"] == ["lib/deep/l.py", "lib/l.py", "src/s.j2", "src/s.py", "top.j2"]


def test_only_folders_that_somebody_named_are_missed(tmp_path: Path) -> None:
    assert scan(tmp_path, load(tmp_path).code).missing == ()
    (tmp_path / "clew.toml").write_text('[code]\nfolders = ["src"]\n', encoding="utf-8")
    assert scan(tmp_path, load(tmp_path).code).missing == ("src",)


def test_the_nearest_configured_folder_above_is_the_project(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "clew.toml").touch()
    assert find_root(inner) == tmp_path.resolve()
    (tmp_path / "a" / ".elspais.toml").write_text('[project]\nname = "x"\n', encoding="utf-8")
    assert find_root(inner) == (tmp_path / "a").resolve()
    with pytest.raises(ConfigError):
        find_root(tmp_path / "nowhere")


# Verifies: REQ-d00019-C
def test_an_empty_folder_without_git_opens_and_answers(tmp_path: Path) -> None:
    project = Project.open(tmp_path)
    project.ensure_graph()
    assert project.trace.status().total_nodes == 0
    assert project.trace.summary().changes.note is not None
    assert project.trace.search(SearchQuery(query="anything")).results == ()
    project.close()
