"""`make release`: what the CHANGELOG says about this version, as the text of a release."""

import re
import sys
from pathlib import Path

from tests.packaging.tools import PROJECT

from clew import __version__

_VERSION = re.compile(r"^## \[([^\]]+)\](?: - (.+))?$", re.MULTILINE)


def release_notes(changelog: str, version: str) -> str:
    """The section of a version, without its heading. Raises where there is none or it says nothing."""
    found = list(_VERSION.finditer(changelog))
    for place, heading in enumerate(found):
        if heading[1] == version:
            end = found[place + 1].start() if place + 1 < len(found) else len(changelog)
            text = changelog[heading.end() : end].strip()
            if not text:
                raise SystemExit(f"CHANGELOG.md says nothing about {version}: write what changed below its heading.")
            return text + "\n"
    named = ", ".join(heading[1] for heading in found) or "none"
    raise SystemExit(f"CHANGELOG.md has no section '## [{version}]'; it has {named}.")


def main(target: Path) -> int:
    target.parent.mkdir(parents=True, exist_ok=True)
    changelog = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    target.write_text(release_notes(changelog, __version__), encoding="utf-8")
    sys.stdout.write(f"{target}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
