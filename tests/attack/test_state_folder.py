"""The short form of the attack by folders that somebody else made."""

import pytest
from tests.attack import state_folder

_SHORT = (("status",), ("memory", "purge", "--all", "--yes"))


# Verifies: REQ-d00622-A
@pytest.mark.parametrize("worked_before", [False, True], ids=["clone", "worked-before"])
@pytest.mark.parametrize(
    "name", [state_folder.ITSELF, "clew.db", "clew.db-boot", "parsed.db-wal", "hooks.spool", "search"]
)
def test_a_link_in_the_state_folder_leads_nowhere(name: str, *, worked_before: bool) -> None:
    found = state_folder.through_link(name, in_git=False, worked_before=worked_before, commands=_SHORT)
    assert found == []


# Verifies: REQ-d00622-B
@pytest.mark.parametrize("name", ["search", "kb", "code", "history"])
def test_what_cannot_be_kept_because_of_a_link_keeps_nobody_waiting(name: str) -> None:
    found = state_folder.through_link(name, in_git=False, worked_before=True, commands=(("index",), ("kb", "index")))
    assert found == []


# Verifies: REQ-d00622-A
@pytest.mark.parametrize("name", [state_folder.ITSELF, "memory.db", "hooks.spool"])
def test_a_link_in_the_repositorys_folder_leads_nowhere(name: str) -> None:
    assert state_folder.through_link(name, in_git=True, worked_before=True, commands=_SHORT) == []


# Verifies: REQ-d00624-A, REQ-d00624-B
def test_a_journal_that_came_along_is_left_alone_and_reported() -> None:
    assert state_folder.through_journals() == []


# Verifies: REQ-d00621-A, REQ-d00621-D
def test_a_cache_that_came_along_puts_no_words_into_a_requirement() -> None:
    assert state_folder.through_cache() == []


# Verifies: REQ-d00621-B
def test_a_memory_that_came_along_is_read_and_given_to_nobody() -> None:
    assert state_folder.through_history() == []
