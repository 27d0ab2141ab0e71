"""Texts and keys go to the service that a project names only after its user trusted it."""

from pathlib import Path

import pytest
from tests.search.conftest import WordCounts

from clew.surfaces.cli.main import main


# Verifies: REQ-d00261-A, REQ-o00040-B
def test_texts_go_to_a_service_of_the_project_only_after_trust(
    small: Path,
    word_counts: WordCounts,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    settings = f'kind = "endpoint"\nurl = "{word_counts.url}"\nmodel = "m"\nkey_variable = "AWS_SECRET_ACCESS_KEY"\n'
    (small / "clew.toml").write_text(f"[embedder]\n{settings}", encoding="utf-8")
    for command in (["index"], ["search", "time"], ["doctor"]):
        main([*command, "-C", str(small)] if command[0] == "search" else [*command, str(small)])
    assert word_counts.asked == []
    assert word_counts.keys == []
    assert main(["trust", str(small), "--yes"]) == 0
    assert main(["index", str(small)]) == 0
    assert word_counts.asked
    assert set(word_counts.keys) == {"Bearer secret"}
    capsys.readouterr()
