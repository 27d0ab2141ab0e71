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


# Verifies: REQ-d00385-C, REQ-d00385-D
def test_a_requirement_that_integrates_another_tells_its_coverage(
    plant: Plant, ask: Ask, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    integrating = block("d00001", (), ("It SHALL open.",), title="Door")
    library = block("p00007", (), ("It SHALL open.", "It SHALL close."), title="Opening").replace("REQ-", "LIB-")
    report = """<testsuite><testcase classname="tests.test_b" name="test_opens"/></testsuite>"""
    project = plant(
        {},
        files={
            "spec/all.md": integrating.replace("Active\n", "Active\n**Integrates**: LIB-p00007\n"),
            ".elspais.toml": SETTINGS.format("libs/library")
            + '\n[scanning.code]\ndirectories = ["."]\n[scanning.test]\nenabled = true\n[rules.coverage.implemented]\n'
            + 'missing = "error"\n',
            "libs/library/.elspais.toml": '[project]\nnamespace = "LIB"\n\n[scanning.test]\nenabled = true\n'
            '[[scanning.test.targets]]\nresults = "report.xml"\n',
            "libs/library/spec/all.md": library,
            "libs/library/src/b.py": "# Implements: LIB-p00007-A\ndef door():\n    pass\n",
            "libs/library/tests/test_b.py": "# Verifies: LIB-p00007-A\ndef test_opens():\n    pass\n",
            "libs/library/report.xml": report,
        },
    )
    overlay = ask(project, "get_node", node_id="REQ-d00001")["properties"]["integrates_rollup"]
    assert overlay == {
        "implemented_covered": 1,
        "implemented_total": 2,
        "verified_covered": 1,
        "verified_total": 2,
        "has_failures": False,
    }
    found = ask(project, "get_requirement", req_id="LIB-p00007")
    assert [each["id"] for each in found["children"] if each["kind"] == "code"] == ["code:libs/library/src/b.py:1"]
    assert "integrated" not in found["coverage"]
    main(["show", "-C", str(tmp_path), "REQ-d00001"])
    assert (
        "of the requirements that it integrates, 1 of 2 assertions are implemented and 1 passed"
        in capsys.readouterr().out
    )
    main(["check", str(tmp_path)])
    assert "trace.coverage_rule" not in capsys.readouterr().out


# Verifies: REQ-d00385-D
def test_nobody_integrates_the_repository_itself(
    plant: Plant, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = block("d00001", (), ("It SHALL open.",)).replace("Active\n", "Active\n**Integrates**: REQ-d00002\n")
    plant({}, files={"spec/all.md": own + block("d00002", (), ()), ".elspais.toml": SETTINGS.format("libs/library")})
    main(["check", str(tmp_path)])
    assert "REQ-d00001 integrates REQ-d00002, which is of the same repository" in capsys.readouterr().out
