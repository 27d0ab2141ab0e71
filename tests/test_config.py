"""Configuration: clew.toml, .elspais.toml, or none."""

from pathlib import Path

import pytest

from clew.config import CODE_PATTERNS, find_root, load
from clew.errors import ConfigError
from clew.project import Project

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


# Verifies: REQ-d00019-B
@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("[projekt]\n", "projekt"),
        ("[project]\nnmae = 'x'\n", "nmae"),
        ("[requirements]\nfolders = 'spec'\n", "$.requirements.folders"),
        ("[limits]\nmax_file_bytes = 'big'\n", "$.limits.max_file_bytes"),
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
    assert project.trace.search("anything").results == ()
    project.close()
