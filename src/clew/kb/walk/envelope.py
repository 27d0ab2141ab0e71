"""Fields that the older tools add to every answer: the session, the limits and the cost.

An answer is charged against a share of a budget. As it always was, an answer over its share is not cut, only marked;
only the hard limit of all answers cuts, by whole items. The usage is what was really returned.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from clew.kb.limits import LimitReason
from clew.operation.budget import trim
from clew.text.tokens import estimate_tokens

TOKENS_PER_TURN = 14_000
RESPONSE_BYTES = 524_288
TEXT_BYTES_PER_SECTION = 32_768
PAGE_SIZE = 25
MOST_PAGE_SIZE = 100

SHARES = {"seeds": 0.15, "neighbors": 0.35, "snippets": 0.30, "instructions": 0.20}

ANSWER_TOKENS = 20_000
"""The hard limit of data and text together."""
_ITEM_TOKENS = 8_600
_ITEM_BYTES = 72_000
"""Of the items alone; what is around them takes the rest."""

T = TypeVar("T", bound=msgspec.Struct)


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    tokens_estimate: int
    bytes_returned: int
    duplicates_suppressed: int = 0
    source: dict[str, Any] | UnsetType = UNSET


class Meta(msgspec.Struct, frozen=True):
    usage: Usage
    flagged_ids: tuple[str, ...] | UnsetType = UNSET
    """Shown ids whose text reads like an instruction to a model; left out if there are none, as nearly always."""


class Enveloped(msgspec.Struct, frozen=True, kw_only=True):
    session_id: str
    partial: bool
    limit_reason: LimitReason
    meta: Meta


class Charge(msgspec.Struct, frozen=True):
    tokens: int
    bytes: int
    reason: LimitReason


def charged(payload: Any, phase: str) -> Charge:
    """The cost of a payload, and the limit of its phase that it breaks."""
    body = msgspec.json.encode(payload).decode()
    tokens, size = estimate_tokens(body), len(body.encode())
    share = SHARES[phase]
    reason: LimitReason = "none"
    if size > RESPONSE_BYTES:
        reason = "byte_cap"
    elif tokens > TOKENS_PER_TURN * share or size > RESPONSE_BYTES * share:
        reason = "token_cap"
    return Charge(tokens, size, reason)


def within_hard_limit(items: Sequence[T]) -> tuple[tuple[T, ...], bool]:
    """The first items that one answer can hold, and whether some were left out."""
    kept = trim(items, max_tokens=_ITEM_TOKENS, max_bytes=_ITEM_BYTES)
    return kept.items, len(kept.items) < len(items)
