"""`clew impact`, as a shell uses it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Clew = Callable[..., Any]


# Verifies: REQ-d00053-E
def test_a_requirement_is_told_with_what_depends_on_it(clew: Clew, demo: Path) -> None:
    done = clew(demo, "impact", "o1")
    assert done.returncode == 0, done.stderr
    for line in ("stands for", "depends on it (", "proves it (", "becomes suspect when it changes ("):
        assert line in done.stdout
    data = json.loads(clew(demo, "impact", "o1", "--json").stdout)
    assert data["subject"] == "REQ-o00001"
    assert data["dependents_total"] == sum(data["dependents_by_kind"].values()) == len(data["dependents"])
    assert {proof["result"] for proof in data["proofs"]} <= {"passed", "failed", "skipped", "error", None}


# Verifies: REQ-d00053-E
def test_a_file_is_found_from_where_one_stands(clew: Clew, demo: Path) -> None:
    data = json.loads(clew(demo / "spec", "impact", "dev-tides.md", "--json", "--limit", "2").stdout)
    assert (data["subject"], data["kind"]) == ("spec/dev-tides.md", "file")
    assert len(data["dependents"]) == 2 < data["dependents_total"]
    text = clew(demo, "impact", "spec/dev-tides.md", "--limit", "2").stdout
    assert f"{data['dependents_total'] - 2} more; --limit shows them" in text


# Verifies: REQ-d00053-E
@pytest.mark.parametrize(
    ("what", "code", "says"),
    [
        ("REQ-d09999", 1, "nothing in this project is called"),
        ("pyproject.toml", 1, "holds no requirement"),
        ("/etc/hosts", 2, "outside"),
    ],
)
def test_exit_codes_tell_what_happened(clew: Clew, demo: Path, what: str, code: int, says: str) -> None:
    done = clew(demo, "impact", what)
    assert (done.returncode, says in done.stderr) == (code, True), done.stderr


# Verifies: REQ-d00053-E, REQ-d00363-H
def test_a_source_file_that_cites_nothing_is_told_with_what_is_not_known_of_it(clew: Clew, tmp_path: Path) -> None:
    files = {
        "clew.toml": "",
        "src/bell.ts": "export function ring() {}\n",
        "src/House.vue": '<script>\nimport { ring } from "./bell";\n</script>\n',
        "src/main.ts": 'import { ring } from "@/bell";\n',
        "Bell.cs": "class Bell {\n  int Ring() {\n    return 1;\n  }\n}\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    done = clew(tmp_path, "impact", "src/bell.ts")
    assert "src/House.vue  imports src/bell.ts  src/House.vue:2\n" in done.stdout
    assert "note: Not resolved, and may mean it: '@/bell' in src/main.ts:1" in done.stdout
    data = json.loads(clew(tmp_path, "impact", "Bell.cs", "--json").stdout)
    assert (data["used_by"], data["notes"]) == ([], ["Imports are not read in this language."])
