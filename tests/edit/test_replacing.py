"""Putting a file in the place of another."""

import errno
import os
from pathlib import Path

import pytest

from clew.edit.replacing import replace_file


# Verifies: REQ-d00048-D
@pytest.mark.parametrize("code", [errno.EIO, errno.EINVAL])
def test_a_folder_that_cannot_be_synced_is_told_unless_none_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    place = tmp_path / "kept.txt"
    real = os.fsync

    def failing(descriptor: int) -> None:
        if os.path.samestat(os.fstat(descriptor), tmp_path.stat()):
            raise OSError(code, os.strerror(code))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", failing)
    if code == errno.EIO:
        with pytest.raises(OSError, match="Input/output"):
            replace_file(place, b"new")
    else:
        replace_file(place, b"new")
    assert place.read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["kept.txt"]
