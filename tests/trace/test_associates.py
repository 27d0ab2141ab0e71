"""Requirements of other repositories, as `[associates]` of `.elspais.toml` names them."""

from pathlib import Path

import pytest
from tests.trace.conftest import Ask, Plant, block

from clew.errors import ClewError
from clew.surfaces.cli.main import main

SETTINGS = '[project]\nname = "own"\n\n[associates.library]\npath = "{}"\nnamespace = "LIB"\n'
LIBRARY = block("p00007", (), ("The library SHALL open.",), title="Opening").replace("REQ-", "LIB-")
OWN = block("d00001", (), (), title="Door").replace("Active\n", "Active | **Implements**: LIB-p00007-A\n")


# Verifies: REQ-d00385-A
def test_an_associate_is_read_linked_and_protected(plant: Plant, ask: Ask) -> None:
    project = plant(
        {},
        files={
            "spec/all.md": OWN,
            ".elspais.toml": SETTINGS.format("libs/library"),
            "libs/library/.elspais.toml": '[project]\nnamespace = "LIB"\n\n[spec]\ndirectories = ["reqs"]\n',
            "libs/library/reqs/all.md": LIBRARY,
            "src/a.py": "# Implements: LIB-p00007-A\ndef door():\n    pass\n",
        },
    )
    found = ask(project, "get_requirement", req_id="LIB-p00007")
    assert (found["associate"], found["source"]["path"]) == ("library", "libs/library/reqs/all.md")
    assert [each["id"] for each in found["children"]] == ["REQ-d00001", "code:src/a.py:1"]
    assert ask(project, "get_broken_references")["total"] == 0
    assert ask(project, "get_requirement", req_id="d1")["associate"] is None
    with pytest.raises(ClewError, match="cannot change"):
        ask(project, "mutate_update_title", node_id="LIB-p00007", new_title="Other")


# Verifies: REQ-d00385-B
@pytest.mark.parametrize(("path", "reason"), [("../library", "is not a folder"), ("..", "outside of the project")])
def test_a_missing_associate_is_reported_as_that(
    plant: Plant, tmp_path: Path, capsys: pytest.CaptureFixture[str], path: str, reason: str
) -> None:
    plant({}, files={"spec/all.md": OWN, ".elspais.toml": SETTINGS.format(path)})
    main(["check", str(tmp_path)])
    shown = capsys.readouterr().out
    assert "trace.unread_associate" in shown
    assert reason in shown
    assert "trace.broken_reference" not in shown
    main(["status", str(tmp_path)])
    assert f"the associate library is not read: '{path}'" in capsys.readouterr().out
