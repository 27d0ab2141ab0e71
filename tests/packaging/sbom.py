"""`make sbom`: the bill of materials, in CycloneDX, of what Clew needs at run time."""

import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.packaging.environment import ENCODER
from tests.packaging.lowest import dependencies
from tests.packaging.tools import PROJECT, WORDS_LOCK, fresh, run, tool

from clew import __version__

SPEC_VERSION = "1.6"
SAID_BY_THE_PACKAGE = "from packaging metadata"
INDEXES = {"pypi.org", "files.pythonhosted.org", "test.pypi.org"}


def main(target: Path) -> int:
    """Installs the locked dependencies into an environment of their own and lets the tool of CycloneDX describe it."""
    python = fresh("runtime")
    install = ("pip", "install", "--quiet", "--python", python)
    run(tool("uv"), *install, "--require-hashes", "-r", WORDS_LOCK)
    run(tool("uv"), *install, "--no-deps", *(str(each) for each in dependencies(PROJECT) if each.name in ENCODER))
    target.parent.mkdir(parents=True, exist_ok=True)
    described = ("--pyproject", PROJECT / "pyproject.toml", "--spec-version", SPEC_VERSION, "--output-reproducible")
    run(tool("cyclonedx-py"), "environment", *described, "--output-file", target, python)
    bill = json.loads(target.read_text(encoding="utf-8"))
    # The tool knows versions that stand in pyproject.toml only.
    bill["metadata"]["component"]["version"] = __version__
    without_places(bill)
    target.write_text(json.dumps(bill, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    sys.stdout.write(f"{target}: {len(bill['components'])} packages\n")
    return 0


def without_places(part: Any) -> None:
    """Drop every reference that says where a package was installed from: the index or a folder of this machine. What a
    package says of its own home and source stays."""
    if isinstance(part, dict):
        if "externalReferences" in part:
            part["externalReferences"] = [each for each in part["externalReferences"] if _is_home(each)]
        for each in part.values():
            without_places(each)
    elif isinstance(part, list):
        for each in part:
            without_places(each)


def _is_home(reference: dict[str, Any]) -> bool:
    address = urlsplit(reference["url"])
    said = reference.get("comment", "").startswith(SAID_BY_THE_PACKAGE)
    return said and address.scheme in {"http", "https"} and address.hostname not in INDEXES


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
