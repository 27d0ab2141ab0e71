"""A disk with no room left: a clear error, nothing half-written, and all of it readable."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# Verifies: REQ-d00006-C


def run(command: list[str], root: Path) -> dict[str, Any]:
    answer = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE)
    report: dict[str, Any] = json.loads(answer.stdout)
    return report


def assert_nothing_is_lost(report: dict[str, Any]) -> None:
    filled = report["filled"]
    code, message, hint = filled["error"]
    assert code == "store_full"
    assert "clew.db cannot grow" in message
    assert "Free some space" in hint
    assert filled["acknowledged"] > 0
    assert filled["records"] == filled["events"] == filled["acknowledged"]
    assert filled["damage"] == []
    assert report["after"] is None
    end = report["at_the_end"]
    assert end["records"] == end["events"] == filled["acknowledged"] + 5
    assert end["damage"] == []


def test_a_full_file_system_is_reported_and_loses_nothing(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    mount = f"mount -t tmpfs -o size=1400k tmpfs {tmp_path}"
    if (
        not shutil.which("unshare")
        or subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True).returncode
    ):
        pytest.skip("needs the right to mount a small file system of its own")
    work = f"{mount} && exec {sys.executable} -m tests.store.confined full_disk {tmp_path}/clew.db"
    report = run(["unshare", "-m", "sh", "-c", work], pytestconfig.rootpath)
    assert_nothing_is_lost(report)
    assert report["opened_full"]["records"] == report["filled"]["acknowledged"]
    assert report["opened_full"]["damage"] == []
    assert report["new_store"][0] == "store_full"


def test_a_limit_on_the_size_of_files_is_reported_and_loses_nothing(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    command = [sys.executable, "-m", "tests.store.confined", "size_limit", str(tmp_path / "clew.db")]
    assert_nothing_is_lost(run(command, pytestconfig.rootpath))
