"""`make release`: the bundle `clew.mcpb` for desktop applications, a zip archive with a manifest."""

import sys
import zipfile
from pathlib import Path

from clew.setup.plugins import bundle

_BEGINNING = (1980, 1, 1, 0, 0, 0)
"""The time of every file: the same files make the same archive."""


def write_bundle(target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in sorted(bundle().items()):
            entry = zipfile.ZipInfo(name, _BEGINNING)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text)
    return target


if __name__ == "__main__":
    sys.stdout.write(f"{write_bundle(Path(sys.argv[1]))}\n")
