"""The sentences that a hook pushes around an edit, and the part of Clew that knows them.

The memory knows what is remembered; what must stay true of code, and what proves it, another part tells.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec


class PushedLine(msgspec.Struct, frozen=True):
    key: str
    """The name under which a session is told it once."""
    text: str


class EditFacts(msgspec.Struct, frozen=True):
    """The facts about lines that are about to be edited."""

    obligations: tuple[PushedLine, ...] = ()
    proofs: tuple[PushedLine, ...] = ()
    """The test that proves each obligation, in their order; one with an empty text where none is known."""
    history: PushedLine | None = None
    requirements: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    """The names of what is defined around the lines; empty where the whole file is meant."""
    spans: tuple[tuple[str, int, int], ...] = ()
    """Path, first and last line; 0 where the place in the file is not known."""


class EditSwitches(msgspec.Struct, frozen=True):
    """The kinds of pushes that are on."""

    requirements: bool = True
    memories: bool = True
    tests: bool = True
    history: bool = True
    after: bool = True
    end: bool = True


class EditGuard(Protocol):
    @property
    def switches(self) -> EditSwitches: ...

    def before(self, paths: Sequence[str], texts: Sequence[str]) -> EditFacts:
        """The facts about the parts of files that hold these texts; of the whole files without texts."""

    def after(self, paths: Sequence[str], texts: Sequence[str]) -> Sequence[PushedLine]:
        """The obligations that became suspect by an edit; then, under the key `run`, commands for the tests to run."""


class NoGuard:
    """The guard of a memory that stands alone."""

    switches = EditSwitches()

    def before(self, paths: Sequence[str], texts: Sequence[str]) -> EditFacts:
        return EditFacts()

    def after(self, paths: Sequence[str], texts: Sequence[str]) -> Sequence[PushedLine]:
        return ()
