"""Limits of one answer, as data, and the reasons why an answer ends."""

from typing import Literal

from msgspec import UnsetType

LimitReason = Literal["none", "page_size", "token_cap", "byte_cap"]
Flags = tuple[str, ...] | UnsetType
Notes = tuple[str, ...] | UnsetType

ITEM_TOKENS = 3_600
ITEM_BYTES = 65_536
"""Limits of the items of one answer together, as data."""
