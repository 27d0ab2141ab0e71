"""Keeping answers within bounds: whole items are left out, never cut through, until the answer fits.

An answer carries its data twice, as the protocol asks: structured, and as text for hosts that read only that. The
budget is for both together. Only where an operation has `whole` texts, which an agent may write back, each copy may
take all of it: a model reads one of the two, and half a requirement is worse than a larger answer.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Any, Final, Generic, TypeVar

import msgspec

from clew.errors import InvalidArgument, Refused
from clew.operation.paging import WIDEST
from clew.text.tokens import estimate_tokens, is_surely_within

DEFAULT_TOKENS = 4_000
HARD_TOKENS = 20_000
HARD_BYTES = 160_000

EVERYTHING = 1_000_000
"""The limit and the budget of a command that answers with all there is; no tool takes so much."""

_CLIPS = (1_000, 300, 100)
"""Texts are cut to so many characters: to the first at once where an answer does not fit, to the others as a last
resort, where even a single item is too large."""

Item = TypeVar("Item")
S = TypeVar("S", bound=msgspec.Struct)


class Budget(msgspec.Struct, frozen=True):
    """The size limit of one of the two copies."""

    tokens: int
    bytes: int = HARD_BYTES // 2

    @staticmethod
    def of(max_tokens: int | None, *, copies: int = 2) -> "Budget":
        """The budget that a caller asked for, up to the hard limit of answers to agents, divided by the number of
        copies."""
        if max_tokens == EVERYTHING:
            return Budget(sys.maxsize, sys.maxsize)
        return Budget(min(max_tokens or DEFAULT_TOKENS, HARD_TOKENS) // copies)


_HARD = Budget(HARD_TOKENS)


def fit(
    data: dict[str, Any],
    trim: Sequence[str],
    budget: Budget,
    *,
    paged: str | None = None,
    whole: Sequence[str] = (),
    repeated: Sequence[str] = (),
    smaller: str = "",
) -> dict[str, Any]:
    """The data within the budget: the fields named in `trim` are shortened in turn, and `truncated` says so. Before
    that, fields that are `repeated` elsewhere become null.

    Of a paged list one item is always kept, so that every page makes progress; its texts are cut instead.
    What is `whole` is never cut: where it takes more than the budget, the answer may do so too, up to the hard limit.
    `smaller` is the next step where even that does not fit; empty where the caller may pass max_tokens.
    """
    data = _without_repeats(data, repeated, budget)
    if fits(data, budget):
        return data
    if whole:
        budget = _with_room_for_whole(data, trim, budget)
    fitted = _without_endless_texts(data, trim, budget, whole)
    for field in trim:
        if fits(fitted, budget):
            return fitted
        if not _value(fitted, field):
            continue
        fitted["truncated"] = True
        fitted = _with(fitted, field, _shortened(fitted, field, budget, at_least=1 if field == paged else 0))
    for longest in _CLIPS[1:]:
        if fits(fitted, budget):
            return fitted
        fitted = _clipped(fitted, longest, whole)
        fitted["truncated"] = True
    if not fits(fitted, _HARD if whole else budget):
        raise _too_large(fitted, budget, smaller, is_whole=bool(whole))
    return fitted


def _too_large(data: dict[str, Any], budget: Budget, smaller: str, *, is_whole: bool) -> Refused:
    if is_whole:
        return Refused(
            "The text alone is longer than any answer may be.",
            hint="Read it in its file, or on the command line, which has no limit.",
        )
    needed = 2 * estimate_tokens(msgspec.json.encode(data).decode())
    return Refused(
        f"The answer takes about {needed} tokens; {2 * budget.tokens} are allowed.",
        hint=smaller or f"Pass max_tokens={min(needed + 200, HARD_TOKENS)}, or ask for less.",
    )


def _without_repeats(data: dict[str, Any], repeated: Sequence[str], budget: Budget) -> dict[str, Any]:
    for field in repeated:
        if fits(data, budget):
            return data
        data = _with(data, field, None)
    return data


class Reason(StrEnum):
    """The reason for the end of a list."""

    NONE = "none"
    TOKENS = "token_cap"
    BYTES = "byte_cap"


class Trimmed(msgspec.Struct, Generic[Item], frozen=True):
    items: tuple[Item, ...]
    tokens: int
    bytes: int
    limit_reason: Reason

    @property
    def truncated(self) -> bool:
        return self.limit_reason is not Reason.NONE


def trim(
    items: Iterable[Item],
    rendered: Callable[[Item], str] | None = None,
    *,
    max_tokens: int | None = None,
    max_bytes: int | None = None,
) -> Trimmed[Item]:
    """The first items that fit into both budgets together, as they are `rendered` (by default as JSON).

    It ends at the first that does not fit, even when a smaller one follows, so that the next page begins there.
    """
    for name, budget in (("max_tokens", max_tokens), ("max_bytes", max_bytes)):
        if budget is not None and budget < 0:
            raise InvalidArgument(
                f"{name} is {budget}, but must be 0 or more, or None for no limit.", hint="Pass a value in that range."
            )
    kept: list[Item] = []
    tokens = size = 0
    reason = Reason.NONE
    for item in items:
        text = msgspec.json.encode(item).decode() if rendered is None else rendered(item)
        cost, length = estimate_tokens(text), len(text.encode("utf-8", "surrogatepass"))
        if max_tokens is not None and tokens + cost > max_tokens:
            reason = Reason.TOKENS
        elif max_bytes is not None and size + length > max_bytes:
            reason = Reason.BYTES
        if reason is not Reason.NONE:
            break
        kept.append(item)
        tokens += cost
        size += length
    return Trimmed(tuple(kept), tokens, size, reason)


def longest_page(make: Callable[[int], S], most: int, max_tokens: int | None) -> S:
    """The longest page that fits, up to `most` items; at least one item, which the budget may cut.

    For pages that show their items in several fields, or that move something on by as many as they show: `make` gives
    the page of a length.
    """
    budget = Budget.of(max_tokens)

    def has_room(page: S) -> bool:
        return fits({**msgspec.to_builtins(page), "next_cursor": WIDEST}, budget)

    page = make(most)
    if most == 1 or has_room(page):
        return page
    shortest, best, longest = 1, make(1), most
    while shortest + 1 < longest:
        middle = (shortest + longest) // 2
        page = make(middle)
        if has_room(page):
            shortest, best = middle, page
        else:
            longest = middle
    return best


def _with_room_for_whole(data: dict[str, Any], trim: Sequence[str], budget: Budget) -> Budget:
    """The budget, or more for an answer whose long text leaves no room: the text and a quarter of the budget for its
    lists, so that a page still advances."""
    bare = data
    for field in trim:
        if _value(bare, field):
            bare = _with(bare, field, [])
    text = msgspec.json.encode(bare).decode()
    tokens = estimate_tokens(text) + budget.tokens // 4
    size = len(text.encode()) + budget.bytes // 4
    return Budget(max(budget.tokens, min(tokens, HARD_TOKENS)), max(budget.bytes, min(size, HARD_BYTES // 2)))


def _without_endless_texts(
    data: dict[str, Any], trim: Sequence[str], budget: Budget, whole: Sequence[str]
) -> dict[str, Any]:
    """Cut one endless text, so that it does not displace the items beside it: texts shortened by lines get a quarter of
    the room at most."""
    shorter: dict[str, Any] = {}
    for name, value in data.items():
        if name in trim and isinstance(value, str):
            lines = [_clipped(line, _CLIPS[0]) for line in value.splitlines(keepends=True)]
            shorter[name] = "".join(_within(lines, budget.tokens // 4, budget.bytes // 4))
        else:
            shorter[name] = value if name in whole else _clipped(value, _CLIPS[0], whole)
    if shorter != data:
        shorter["truncated"] = True
    return shorter


def _shortened(data: dict[str, Any], field: str, budget: Budget, *, at_least: int) -> Any:
    """As much of the field as fits beside everything else."""
    value = _value(data, field)
    is_text = isinstance(value, str)
    pieces = value.splitlines(keepends=True) if is_text else list(value)
    rest = msgspec.json.encode(_with(data, field, "" if is_text else [])).decode()
    kept = _within(pieces, budget.tokens - estimate_tokens(rest), budget.bytes - len(rest.encode()))
    return "".join(kept) if is_text else pieces[: max(len(kept), at_least)]


def _within(pieces: list[Any], tokens: int, size: int) -> list[Any]:
    """The first pieces that fit, with a comma behind each."""
    room = {"max_tokens": max(tokens, 0), "max_bytes": max(size, 0)}
    return list(trim(pieces, lambda piece: msgspec.json.encode(piece).decode() + ",", **room).items)


def _value(data: dict[str, Any], field: str) -> Any:
    """None where the data has no such field; which it has may depend on what was asked."""
    outer, _, inner = field.partition(".")
    return data[outer].get(inner) if inner and data.get(outer) is not None else data.get(field)


def _with(data: dict[str, Any], field: str, value: Any) -> dict[str, Any]:
    """The data with another value in a field; `outer.inner` names a field of a field."""
    outer, _, inner = field.partition(".")
    return {**data, outer: {**data[outer], inner: value} if inner else value}


def _clipped(value: Any, longest: int, whole: Sequence[str] = ()) -> Any:
    if isinstance(value, str):
        return value if len(value) <= longest else value[: longest - 3] + "..."
    if isinstance(value, dict):
        return {name: each if name in whole else _clipped(each, longest, whole) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_clipped(inner, longest, whole) for inner in value]
    return value


def fits(data: dict[str, Any], budget: Budget) -> bool:
    """True if the data is within the budget."""
    encoded = msgspec.json.encode(data)
    if len(encoded) > budget.bytes:
        return False
    # Most answers need no counting.
    return is_surely_within(encoded, budget.tokens) or estimate_tokens(encoded.decode()) <= budget.tokens


_CONTAINERS: Final = (dict, list, tuple)
_EMPTY: Final[tuple[object, ...]] = (None, "", [], (), {})


def without_empty(value: Any) -> Any:
    """A value without nulls and without empty texts, lists and objects inside it. What is false or 0 stays."""
    # It runs for every answer: only what may hold something inside costs a call.
    if isinstance(value, dict):
        return {
            name: kept
            for name, each in value.items()
            if (kept := without_empty(each) if isinstance(each, _CONTAINERS) else each) not in _EMPTY
        }
    if isinstance(value, list | tuple):
        return [without_empty(each) if isinstance(each, _CONTAINERS) else each for each in value]
    return value
