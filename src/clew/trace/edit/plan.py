"""A mutation that is validated and drafted, but not yet carried out."""

from collections.abc import Mapping
from typing import Any

import msgspec

from clew.graph.changes import Change


class Plan(msgspec.Struct, frozen=True):
    change: Change
    arguments: Mapping[str, Any]
    """In the spelling under which the operation can be planned again."""
    target_id: str
    subject_id: str | None
    """The requirement or journey it is about, as it is called afterwards; None where it is gone."""
    before: Mapping[str, Any]
    """What it replaces. A draft applies to other files only where this is the same there."""
    after: Mapping[str, Any]
    message: str
    affects_hash: bool = False
    assertion_id: str | None = None
    label: str | None = None
