"""StrictDoc, sphinx-needs, Doorstop, reqif and LOBSTER themselves.

Skipped where they are not installed: `make exchange` installs them, and nothing else does.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.conftest import Clew
from tests.exchange.originals import COMPLETE, original

pytestmark = pytest.mark.skipif(
    not COMPLETE.exists(), reason="the other tools are not installed; `make exchange` installs them"
)

CONF = """
extensions = ["sphinx_needs"]
needs_id_regex = ".*"
needs_build_json = True
needs_links = {"implements": {}, "refines": {}, "depends_on": {}, "verifies": {}}
needs_fields = {"clew": {}}
"""


def exported(clew: Clew, folder: Path, form: str, file: Path) -> Path:
    done = clew(folder, "export", form, "--output", str(file))
    assert done.returncode == 0, done.stderr
    return file


def requirements(clew: Clew, folder: Path, file: Path) -> dict[str, dict[str, Any]]:
    lines = exported(clew, folder, "jsonl", file).read_text().splitlines()
    return {each["item"]["id"]: each["item"] for each in map(json.loads, lines) if "item" in each}


def test_reqif_finds_no_fault_with_the_schema(clew: Clew, demo: Path, tmp_path: Path) -> None:
    file = exported(clew, demo, "reqif", tmp_path / "demo.reqif")
    said = original("reqif", tmp_path, "validate", "--use-reqif-schema", str(file))
    assert "0 errors, 0 schema issues found, 0 semantic issues found" in said


def test_strictdoc_converts_our_reqif_and_we_read_what_it_made(
    clew: Clew, demo: Path, empty: Path, tmp_path: Path
) -> None:
    known = requirements(clew, demo, tmp_path / "whole.jsonl")
    file = exported(clew, demo, "reqif", tmp_path / "demo.reqif")
    form = ("--input-format", "reqif-sdoc", "--output-format", "sdoc")
    original("strictdoc", tmp_path, "convert", *form, str(file), "out")
    done = clew(empty, "import", "strictdoc", str(tmp_path / "out"), "--json")
    report = json.loads(done.stdout)
    found = {each["id"]: each for each in report["added"]}
    assert found.keys() == known.keys()
    again = requirements(clew, empty, tmp_path / "again.jsonl")
    first = again["REQ-d00001"]
    assert first["title"] == known["REQ-d00001"]["title"]
    assert [each["text"] for each in first["criteria"]] == [each["text"] for each in known["REQ-d00001"]["criteria"]]
    assert first["relations"] == known["REQ-d00001"]["relations"]


def test_sphinx_needs_imports_our_needs_and_we_read_its_own(
    clew: Clew, demo: Path, empty: Path, tmp_path: Path
) -> None:
    known = requirements(clew, demo, tmp_path / "whole.jsonl")
    site = tmp_path / "site"
    site.mkdir()
    (site / "conf.py").write_text(CONF)
    (site / "index.rst").write_text("Needs\n=====\n\n.. needimport:: needs.json\n")
    exported(clew, demo, "needs", site / "needs.json")
    said = original("sphinx-build", site, "-b", "html", ".", "out")
    assert "could not be imported" not in said
    built = json.loads((site / "out" / "needs.json").read_text())
    needs = built["versions"][built["current_version"]]["needs"]
    assert needs.keys() == known.keys()
    assert needs["REQ-d00001"]["implements"] == ["REQ-o00002"]
    report = json.loads(clew(empty, "import", "needs", str(site / "out" / "needs.json"), "--json").stdout)
    assert {each["id"] for each in report["added"]} == known.keys()


def test_we_read_what_doorstop_writes(clew: Clew, empty: Path, tmp_path: Path) -> None:
    folder = tmp_path / "doors"
    folder.mkdir()
    original("python", folder, "-c", "import subprocess; subprocess.run(['git', 'init', '-q'], check=True)")
    original("doorstop", folder, "create", "SYS", "sys")
    original("doorstop", folder, "create", "SW", "sw", "--parent", "SYS")
    original("doorstop", folder, "add", "SYS")
    original("doorstop", folder, "add", "SW")
    original("doorstop", folder, "link", "SW001", "SYS001")
    code = (
        "import doorstop; tree = doorstop.build()\n"
        "item = tree.find_item('SW001'); item.text = 'The clock shall keep time:\\n\\n- by day\\n- by night'\n"
        "item.header = 'Keep time'; item.set('owner', \"Ada's team: two\"); item.save()\n"
        "top = tree.find_item('SYS001'); top.text = 'The system shall have a clock.'; top.save()\n"
    )
    original("python", folder, "-c", code)
    original("doorstop", folder, "review", "all")
    report = json.loads(clew(empty, "import", "doorstop", str(folder), "--json").stdout)
    ids = {each["id"]: each["as"] for each in report["added"]}
    found = requirements(clew, empty, tmp_path / "again.jsonl")[ids["SW001"]]
    assert (found["title"], found["text"]) == ("Keep time", "The clock shall keep time:\n\n- by day\n- by night")
    assert found["relations"] == [{"kind": "implements", "target": ids["SYS001"]}]
    assert found["attributes"]["owner"] == "Ada's team: two"


def test_lobster_reports_on_what_we_wrote(clew: Clew, demo: Path, tmp_path: Path) -> None:
    exported(clew, demo, "lobster", tmp_path / "demo.lobster")
    policy = tmp_path / "lobster.conf"
    policy.write_text('requirements "Requirements" {\n  source: "demo.lobster";\n}\n')
    original("lobster-report", tmp_path, "--lobster-config", str(policy), "--out", "report.lobster")
    report = json.loads((tmp_path / "report.lobster").read_text())
    assert len(report["levels"][0]["items"]) == len(requirements(clew, demo, tmp_path / "whole.jsonl"))
