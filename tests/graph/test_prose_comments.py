"""Comments that say something about an id instead of citing it: point D6 of the acceptance."""

from collections.abc import Callable
from pathlib import Path

import pytest

from clew.project import Project

SPEC = (
    "## REQ-d00001: Bell\n\n**Level**: DEV | **Status**: Active\n\n## Assertions\n\nA. It SHALL ring.\n\n*End* *Bell*\n"
)


# Verifies: REQ-d00821-F
@pytest.mark.parametrize(
    ("comment", "broken"),
    [
        ("# Validates: REQ-d00009-A is meant by each of these steps", 0),
        ("# Validates: REQ-d00009-A", 1),
        ("# Validates: REQ-d00009-A (the bell)", 1),
        ("# Validates: REQ-d00009-A - the bell", 1),
    ],
)
def test_a_sentence_about_an_id_is_no_broken_reference(
    opened: Callable[[Path], Project], tmp_path: Path, comment: str, broken: int
) -> None:
    for path, text in {
        ".elspais.toml": '[project]\nname = "bells"\n',
        "spec/bell.md": SPEC,
        "tests/test_bell.py": f"{comment}\ndef test_bell():\n    assert True\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    project = opened(tmp_path)
    project.ensure_graph()
    assert len(project.graph.memory.broken) == broken


# Verifies: REQ-d00821-F
def test_a_sentence_about_an_id_that_exists_still_cites_it(opened: Callable[[Path], Project], tmp_path: Path) -> None:
    (tmp_path / "spec").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "spec" / "bell.md").write_text(SPEC, encoding="utf-8")
    test = "# Validates: REQ-d00001-A is meant\ndef test_bell():\n    assert True\n"
    (tmp_path / "tests" / "test_bell.py").write_text(test, encoding="utf-8")
    project = opened(tmp_path)
    project.ensure_graph()
    assert project.graph.metrics("REQ-d00001")["tested"] == 1
