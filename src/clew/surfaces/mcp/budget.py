"""Keeping answers within bounds: whole items are left out, never cut through, until the answer fits."""

from collections.abc import Sequence
from typing import Any

import msgspec

from clew.errors import Refused
from clew.text.tokens import estimate_tokens

DEFAULT_TOKENS = 4_000
HARD_TOKENS = 20_000
HARD_BYTES = 100_000


class Budget(msgspec.Struct, frozen=True):
    tokens: int = DEFAULT_TOKENS
    bytes: int = HARD_BYTES

    @staticmethod
    def of(max_tokens: int | None) -> "Budget":
        """The budget a caller asked for; no answer exceeds the hard one."""
        return Budget() if max_tokens is None else Budget(tokens=min(max_tokens, HARD_TOKENS))


def fit(data: dict[str, Any], trim: Sequence[str], budget: Budget) -> dict[str, Any]:
    """The data within the budget: the fields named in `trim` are shortened in turn, and `truncated` says so.

    One item of a list is always kept, so that a caller who follows cursors gets somewhere; only the hard budget can
    refuse it.
    """
    fitted = dict(data)
    for field in trim:
        if _fits(fitted, budget):
            return fitted
        fitted["truncated"] = True
        fitted[field] = _shortened(fitted, field, budget)
    if not _fits(fitted, Budget(tokens=HARD_TOKENS)):
        raise Refused(
            f"The answer takes about {estimate_tokens(_json(fitted))} tokens; the limit is {HARD_TOKENS}.",
            hint="Ask for less: a smaller limit, or a narrower question.",
        )
    return fitted


def _shortened(data: dict[str, Any], field: str, budget: Budget) -> Any:
    """As much of the field as fits beside everything else."""
    value = data[field]
    is_text = isinstance(value, str)
    pieces = value.splitlines(keepends=True) if is_text else list(value)
    rest = _json({**data, field: "" if is_text else []})
    tokens_left = budget.tokens - estimate_tokens(rest)
    bytes_left = budget.bytes - len(rest.encode())
    kept = 0
    for piece in pieces:
        text = _json(piece) + ","
        tokens_left -= estimate_tokens(text)
        bytes_left -= len(text.encode())
        if tokens_left < 0 or bytes_left < 0:
            break
        kept += 1
    return "".join(pieces[:kept]) if is_text else pieces[: max(kept, 1)]


def _fits(data: dict[str, Any], budget: Budget) -> bool:
    text = _json(data)
    # A token is at least one byte, so most answers need no counting.
    if len(text) <= budget.tokens:
        return True
    return estimate_tokens(text) <= budget.tokens and len(text.encode()) <= budget.bytes


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
