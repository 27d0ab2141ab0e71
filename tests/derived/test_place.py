"""Derived files where the project's own folder cannot be written."""

from contextlib import closing
from pathlib import Path

import pytest

from clew.derived import place
from clew.edit.state_folder import make_state_folder


# Verifies: REQ-d00269-C
def test_a_copy_of_derived_files_follows_no_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("secret")
    folder = tmp_path / "project" / ".clew"
    make_state_folder(folder.parent)
    (folder / "kb").mkdir(parents=True)
    (folder / "kb" / "library.db").write_text("derived")
    (folder / "kb" / "elsewhere").symlink_to(secret)
    (folder / "kb" / "round").symlink_to(folder)
    monkeypatch.setattr(place, "_refusal", lambda folder: "Read-only file system")
    with closing(place.DerivedPlace(folder, ("kb",))) as kept:
        copied = kept.folder / "kb"
        assert (copied / "library.db").read_text() == "derived"
        assert (copied / "elsewhere").is_symlink()
        assert (copied / "round").is_symlink()
    assert (secret / "key").exists()
    assert not kept.folder.exists()
