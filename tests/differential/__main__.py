"""`make differential`: Clew beside OpenSpec and elspais themselves, on the same folders."""

import os
import sys

import pytest
from tests.differential import elspais
from tests.differential.openspec import ALL, HERE, PROGRAM

from clew.errors import ClewError


def main() -> int:
    if not PROGRAM.home.exists():
        sys.stdout.write(
            f"Installing Node and OpenSpec into {PROGRAM.home.parent.name}, once per version of the locks.\n"
        )
    if not elspais.HOME.exists():
        sys.stdout.write(f"Installing elspais {elspais.VERSION} into {elspais.HOME.parent.name}, once.\n")
    try:
        PROGRAM.install()
        elspais.install()
    except ClewError as error:
        sys.stderr.write(f"{error.message}\n{error.hint}\n")
        return 2
    os.environ[ALL] = "1"
    return int(pytest.main([str(HERE), "-rs"]))


if __name__ == "__main__":
    sys.exit(main())
