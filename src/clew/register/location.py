"""Which register is meant."""

import os
from collections.abc import Mapping
from pathlib import Path

from clew.errors import Refused
from clew.graph.readers.register_locations import FILE_VARIABLE, SINGLE, RegisterLocations


def locate(root: Path, named: str | None = None, environment: Mapping[str, str] = os.environ) -> Path:
    """The register that somebody named, that REQ_FILE names, or that the project has. Where there is none, the place
    where it would be made."""
    given = named or environment.get(FILE_VARIABLE, "").strip()
    if given:
        return root / given
    found = RegisterLocations(root, environment).found()
    if len(found) > 1:
        raise Refused(
            f"The project has {len(found)} registers: {', '.join(sorted(found))}.",
            hint="Say which one is meant with --file or the variable REQ_FILE.",
            data={"registers": sorted(found)},
        )
    return root / (found[0] if found else SINGLE)
