"""`make differential`: Clew beside OpenSpec and elspais themselves, on the same folders.

Both are downloaded on the first run. With `--where-reachable`, what the registries do not give is said and left out, as
CI needs it: a registry that does not answer says nothing about Clew.
"""

import os
import sys
from collections.abc import Callable

import pytest
from tests.differential import elspais
from tests.differential.openspec import ALL, HERE, PROGRAM

from clew.errors import ClewError

WHERE_REACHABLE = "--where-reachable"

ORIGINALS: tuple[tuple[str, bool, Callable[[], None]], ...] = (
    ("Node and OpenSpec", PROGRAM.home.exists(), PROGRAM.install),
    ("elspais", elspais.HOME.exists(), elspais.install),
)


def main(arguments: list[str]) -> int:
    installed = [_is_installed(*each) for each in ORIGINALS]
    if not all(installed) and WHERE_REACHABLE not in arguments:
        return 2
    if not any(installed):
        sys.stdout.write("Skipped: nothing could be installed to compare Clew with.\n")
        return 0
    os.environ[ALL] = "1"
    return int(pytest.main([str(HERE), "-q", "-rs", "-n", "auto"]))


def _is_installed(name: str, is_there: bool, install: Callable[[], None]) -> bool:
    if not is_there:
        sys.stdout.write(f"Installing {name} into {PROGRAM.home.parent.name}, once per version of the locks.\n")
    try:
        install()
    except ClewError as error:
        sys.stdout.write(f"{error.message}\n{error.hint}\n")
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
