"""Projects that something is imported into."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Done, clew

__all__ = ["clew"]

Clew = Callable[..., Done]

REGISTER = ("req", "init", "--name", "small")


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A project without requirements."""
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "clew.toml").write_text("[project]\nname = 'small'\n")
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    """What a project holds, without what Clew can make again."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".clew" not in path.parts and not path.name.endswith(".lock")
    }
