"""Keys of a terminal, out of the characters that it sends."""

import pytest

from clew.trace.links.review import SPECIAL, key_of


def keys(sent: str) -> list[str]:
    characters = iter(sent)
    found: list[str] = []
    while key := key_of(lambda: next(characters, "")):
        found.append(key)
    return found


# Verifies: REQ-d00410-C
@pytest.mark.parametrize(
    "sent",
    ["\x1b[A", "\x1bOA", "\x1b[[A", "\x1b[1;5A", "\x1b[3~", "\x1b[200~", "\x1ba", "\x1b\x1b[A", "\x1b[1\x1b[A"],
)
def test_a_special_key_is_one_key_to_its_last_character(sent: str) -> None:
    assert keys(f"s{sent}{sent}q") == ["s", SPECIAL, SPECIAL, "q"]


# Verifies: REQ-d00410-C
@pytest.mark.parametrize("begun", ["\x1b", "\x1b[", "\x1b[[", "\x1b[1;", "\x1bO"])
def test_a_special_key_that_was_begun_holds_up_neither_ctrl_c_nor_the_end(begun: str) -> None:
    assert keys(f"{begun}\x03s") == ["\x03", "s"]
    assert keys(begun) == []
