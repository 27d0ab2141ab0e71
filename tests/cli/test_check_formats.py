"""`clew check` in its four formats."""

import json
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from clew.trace.reports.finding import Finding
from clew.trace.reports.findings import junit, sarif

Clew = Callable[..., Any]

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
LEVEL = {"enum": ["none", "note", "warning", "error"]}


def strict(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def array(items: dict[str, Any], **bounds: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **bounds}


ARTIFACT = strict({"uri": {"type": "string", "pattern": r"^[!-~]+$"}, "uriBaseId": {"type": "string"}}, "uri")
REGION = strict({"startLine": {"type": "integer", "minimum": 1}}, "startLine")
LOCATION = strict({"physicalLocation": strict({"artifactLocation": ARTIFACT, "region": REGION}, "artifactLocation")})
RESULT = strict(
    {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": LEVEL,
        "message": TEXT,
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
        "locations": array(LOCATION),
    },
    "message",
)
RULE = strict(
    {"id": {"type": "string"}, "shortDescription": TEXT, "defaultConfiguration": strict({"level": LEVEL})}, "id"
)
DRIVER = strict(
    {"name": {"type": "string"}, "version": {"type": "string"}, "rules": array(RULE, uniqueItems=True)}, "name"
)
RUN = strict({"tool": strict({"driver": DRIVER}, "driver"), "results": array(RESULT)}, "tool")
SARIF = strict({"$schema": {"type": "string"}, "version": {"const": "2.1.0"}, "runs": array(RUN)}, "version", "runs")
"""The part of the structure of SARIF 2.1.0 that findings use. An object may have no other property than these."""


# Verifies: REQ-d00065-A
def test_every_format_has_all_findings_and_the_same_exit_code(clew: Clew, small: Path) -> None:
    runs = {shape: clew(small, "check", "--format", shape) for shape in ("text", "json", "sarif", "junit")}
    assert {done.returncode for done in runs.values()} == {1}
    findings = json.loads(runs["json"].stdout)["findings"]
    codes = sorted(finding["code"] for finding in findings)
    assert "trace.broken_reference" in codes
    lines = [line.split() for line in runs["text"].stdout.splitlines() if line.startswith("spec/")]
    assert sorted(words[2].rstrip(":") for words in lines) == codes
    results = json.loads(runs["sarif"].stdout)["runs"][0]["results"]
    assert sorted(result["ruleId"] for result in results) == codes
    suites = ET.fromstring(runs["junit"].stdout)
    assert sorted(case.get("name", "") for case in suites.iter("testcase")) == sorted(
        finding["node_id"] for finding in findings
    )
    assert clew(small, "check", "--json").stdout == runs["json"].stdout


# Verifies: REQ-d00065-A
def test_sarif_has_its_structure(clew: Clew, small: Path) -> None:
    log = json.loads(clew(small, "check", "--format", "sarif").stdout)
    jsonschema.validate(log, SARIF)
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]
        assert (small / place["artifactLocation"]["uri"]).exists()
        assert place["region"]["startLine"] >= 1
    assert {result["level"] for result in run["results"]} == {"error", "warning"}


# Verifies: REQ-d00065-A
def test_sarif_names_files_from_the_root_of_the_repository(clew: Clew, small: Path, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    project = repository / "parts" / "one project"
    shutil.copytree(small, project, ignore=shutil.ignore_patterns(".git", ".clew"))
    subprocess.run(["git", "init", "--quiet"], cwd=repository, check=True)
    log = json.loads(clew(project, "check", "--format", "sarif").stdout)
    places = [result["locations"][0]["physicalLocation"] for result in log["runs"][0]["results"]]
    uris = {place["artifactLocation"]["uri"] for place in places}
    assert uris
    assert all(uri.startswith("parts/one%20project/") and (repository / unquote(uri)).is_file() for uri in uris)


# Verifies: REQ-d00065-A
def test_strict_turns_warnings_into_failures_of_the_junit_report(clew: Clew, small: Path) -> None:
    plain = ET.fromstring(clew(small, "check", "--format", "junit").stdout)
    counted = ET.fromstring(clew(small, "check", "--format", "junit", "--strict").stdout)
    assert (plain.get("failures"), plain.get("skipped")) == ("2", str(int(plain.get("tests", "")) - 2))
    assert (counted.get("failures"), counted.get("skipped")) == (counted.get("tests"), "0")
    (broken,) = [suite for suite in plain if suite.get("name") == "trace.broken_reference"]
    failure = broken.find("testcase/failure")
    assert failure is not None
    assert failure.get("type") == "trace.broken_reference"
    assert "spec/small.md:" in (failure.text or "")


# Verifies: REQ-d00065-A
@pytest.mark.parametrize("shape", ["text", "json", "sarif", "junit"])
def test_a_file_gets_what_would_be_printed_and_the_counts_are_shown(clew: Clew, small: Path, shape: str) -> None:
    printed = clew(small, "check", "--format", shape)
    written = clew(small, "check", "--format", shape, "-o", "out")
    assert written.returncode == printed.returncode
    assert (small / "out").read_text(encoding="utf-8") == printed.stdout
    if shape != "text":
        assert written.stdout.startswith("2 errors, ")


# Verifies: REQ-d00065-A
def test_a_project_without_findings_gives_reports_without_failures(clew: Clew, tmp_path: Path) -> None:
    (tmp_path / "clew.toml").touch()
    sarif_run = clew(tmp_path, "check", "--format", "sarif")
    jsonschema.validate(json.loads(sarif_run.stdout), SARIF)
    junit_run = clew(tmp_path, "check", "--format", "junit")
    assert (sarif_run.returncode, junit_run.returncode) == (0, 0)
    report = ET.fromstring(junit_run.stdout)
    assert (report.get("tests"), report.get("failures")) == ("1", "0")
    assert len(list(report.iter("testcase"))) == 1


# Verifies: REQ-d00065-B
def test_a_finding_keeps_its_fingerprint_when_lines_are_inserted_above_it(clew: Clew, small: Path) -> None:
    def fingerprints() -> dict[str, int]:
        results = json.loads(clew(small, "check", "--format", "sarif").stdout)["runs"][0]["results"]
        return {
            result["partialFingerprints"]["clewFinding/v1"]: result["locations"][0]["physicalLocation"]["region"][
                "startLine"
            ]
            for result in results
        }

    before = fingerprints()
    spec = small / "spec" / "small.md"
    spec.write_text("A new line.\n\n" + spec.read_text(encoding="utf-8"), encoding="utf-8")
    after = fingerprints()
    assert after == {print_: line + 2 for print_, line in before.items()}
    assert len(before) > 2


ODD = Finding(
    code="file.unreadable",
    severity="info",
    message='A bell \x07, <tags> & "quotes", a lone \ud800 and \U0001f556.',
    path="spec/wind & tide/f\u00fcr 100%.md",
    line=0,
)


# Verifies: REQ-d00065-A
def test_odd_characters_and_findings_without_a_line_are_written_safely() -> None:
    report = junit([ODD], {"error"})
    case = next(ET.fromstring(report.encode("utf-8", "backslashreplace")).iter("testcase"))
    assert case.get("classname") == ODD.path
    skipped = case.find("skipped")
    assert skipped is not None
    assert '<tags> & "quotes"' in (skipped.get("message") or "")
    nowhere = Finding(code="trace.odd", severity="warning", message="Nowhere.", path="", line=0)
    log = json.loads(
        sarif([Finding(**{**{n: getattr(ODD, n) for n in ODD.__struct_fields__}, "message": "x"}), nowhere])
    )
    jsonschema.validate(log, SARIF)
    first, second = log["runs"][0]["results"]
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "spec/wind%20%26%20tide/f%C3%BCr%20100%25.md", "uriBaseId": "%SRCROOT%"}
    }
    assert first["level"] == "note"
    assert "locations" not in second


# Verifies: REQ-o00024-B
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check", "--format", "xml"], "xml"),
        (["check", "--format", "sarif", "-o", "nowhere/out.sarif"], "nowhere/out.sarif"),
    ],
)
def test_a_format_or_file_that_cannot_be_used_is_named(
    clew: Clew, small: Path, arguments: list[str], says: str
) -> None:
    done = clew(small, *arguments)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert says in done.stderr
