"""What Clew is compared with is pinned by content, and the pins say nothing about where it was downloaded from."""

import json
import re
from pathlib import Path

from tests.differential.__main__ import WHERE_REACHABLE

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]


# Verifies: REQ-o00044-E
def test_every_package_of_elspais_is_pinned_by_hash() -> None:
    text = (HERE / "elspais.lock").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())
    assert any(entry.startswith("elspais==") for entry in entries)
    for entry in entries:
        assert re.match(r"[a-z0-9-]+==\S+", entry), entry
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry
    assert "://" not in text


# Verifies: REQ-o00044-E
def test_every_npm_package_is_pinned_by_hash_and_names_no_registry() -> None:
    lock = json.loads((HERE / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages
    assert [name for name, entry in packages.items() if not entry.get("integrity", "").startswith("sha512-")] == []
    assert [name for name, entry in packages.items() if "resolved" in entry] == []


# Verifies: REQ-o00044-E
def test_ci_compares_what_the_registries_give() -> None:
    assert "make differential WHERE_REACHABLE=1" in (PROJECT / ".ci/run").read_text(encoding="utf-8")
    assert f"$(if $(WHERE_REACHABLE),{WHERE_REACHABLE})" in (PROJECT / "Makefile").read_text(encoding="utf-8")
