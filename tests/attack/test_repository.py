"""The short form of the attack by a repository."""

from pathlib import Path

import pytest
from tests.attack import repository


# Verifies: REQ-o00040-A, REQ-d00260-A
def test_nothing_that_a_repository_names_is_run() -> None:
    assert repository.run(1).faults == ()


@pytest.mark.parametrize("in_git_hooks", [False, True])
def test_every_trap_is_a_real_one(tmp_path: Path, in_git_hooks: bool) -> None:
    live = repository.live(tmp_path, in_git_hooks=in_git_hooks)
    assert [name for name, fired in live.items() if not fired] == []
