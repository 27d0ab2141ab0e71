"""Which documents speak of what one is about to change."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from clew.surfaces.cli.main import main

REQUIREMENT = """## REQ-d00001: Tables

**Level**: DEV | **Status**: Active

Text.

## Assertions

A. It SHALL read.
B. It SHALL write.

*End* *Tables*
"""
FILES = {
    "clew.toml": '[embedder]\nkind = "none"\n',
    "spec/a.md": REQUIREMENT,
    "src/app/tables.py": "# Implements: REQ-d00001-A\ndef read_table(path):\n    return path\n",
    "docs/guide.md": "# Guide\n\n## Reading\n\nREQ-d00001-A is done in src/app/tables.py.\n\n## All\n\nREQ-d00001.\n",
}


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, object]]:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    def asked(what: str, command: str = "impact", *, read: bool = True) -> dict[str, object]:
        if read:
            main(["kb", "index", "-C", str(tmp_path)])
        capsys.readouterr()
        assert main([command, what, "-C", str(tmp_path), "--json"]) == 0
        found: dict[str, object] = json.loads(capsys.readouterr().out)
        return found

    return asked


# Verifies: REQ-d00184-A
@pytest.mark.parametrize(
    ("what", "pages"),
    [
        ("REQ-d00001", ["doc:docs/guide.md#all", "doc:docs/guide.md#reading"]),
        ("REQ-d00001-A", ["doc:docs/guide.md#all", "doc:docs/guide.md#reading"]),
        ("REQ-d00001-B", ["doc:docs/guide.md#all"]),
        ("src/app/tables.py", ["doc:docs/guide.md#reading"]),
    ],
)
def test_impact_lists_the_sections_that_speak_of_it(
    ask: Callable[..., dict[str, object]], what: str, pages: list[str]
) -> None:
    found = ask(what)
    listed = found["documented"]
    assert isinstance(listed, list)
    assert [each["id"] for each in listed] == pages
    assert found["documented_total"] == len(pages)
    assert {each["path"] for each in listed} == {"docs/guide.md"}


# Verifies: REQ-d00184-A
def test_show_lists_the_sections_that_speak_of_a_requirement(ask: Callable[..., dict[str, object]]) -> None:
    listed = ask("REQ-d00001", "show")["documented"]
    assert isinstance(listed, list)
    assert [each["id"] for each in listed] == ["doc:docs/guide.md#all", "doc:docs/guide.md#reading"]


# Verifies: REQ-d00184-B
def test_impact_reads_no_documents_that_nobody_has_read(ask: Callable[..., dict[str, object]], tmp_path: Path) -> None:
    assert ask("REQ-d00001", read=False)["documented_total"] == 0
    assert ask("REQ-d00001", "show", read=False)["documented"] == []
    assert not (tmp_path / ".clew" / "kb").exists()
