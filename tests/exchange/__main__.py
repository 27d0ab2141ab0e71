"""`make exchange`: the tools themselves read what Clew wrote, and Clew reads what they wrote."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.exchange import originals

from clew.errors import ClewError


def main() -> int:
    if not originals.COMPLETE.exists():
        sys.stdout.write(f"Installing {', '.join(originals.PACKAGES)} into {originals.HOME.parent.name}, once.\n")
    try:
        originals.install()
    except (ClewError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return int(pytest.main([str(Path(__file__).parent / "test_originals.py"), "-rs"]))


if __name__ == "__main__":
    sys.exit(main())
