"""Arguments that several operations on documents take, and their checks."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument
from clew.kb.boundary import ScopeRequest

if TYPE_CHECKING:
    from clew.kb.answer.requests import Narrowing

# What searches and reads is imported when it is first used: a server lists its tools before it needs any of it.

SCHEMA_VERSION = "1.0"

MAX_QUERY_CHARS = 2_000

Query = Annotated[str, Meta(description="A question, or words")]
Scope = Annotated[ScopeRequest | None, Meta(description="Narrows what is seen")]
ModeName = Literal["auto", "vector_only", "hybrid_local"]
PassageId = Annotated[str, Meta(description="From a search")]


def in_range(least: int, most: int, description: str | None = None) -> Meta:
    """The range of a number as the listing shows it. A larger number is lowered, not refused (`Clamped`)."""
    shown_range = description or f"{least} to {most}"
    return Meta(description=shown_range, extra_json_schema={"minimum": least, "maximum": most})


_Tag = Annotated[str, Meta(min_length=1, max_length=200)]


class DocumentFilters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    doc_tag: Annotated[tuple[_Tag, ...], Meta(max_length=50)] | None = None
    path_prefix: Annotated[str, Meta(max_length=500)] | None = None
    updated_after: Annotated[str, Meta(max_length=40)] | None = None


class Clamped:
    """Numbers brought into their range, with a note about each change. A number above its range is lowered; one below
    is refused."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def most(self, name: str, value: int, limit: int, *, least: int = 1) -> int:
        if value < least:
            raise InvalidArgument(
                f"{name} is {value}, but must be at least {least}.",
                hint=f"Pass {least} to {limit}.",
                data={"field": name, "value": value, "min": least, "max": limit},
            )
        if value > limit:
            self.notes.append(f"{name} {value} was lowered to {limit}.")
        return min(value, limit)


def asked(text: str, name: str) -> str:
    if not text.strip():
        raise InvalidArgument(f"{name} is empty.", hint=f"Pass a question or words as {name}.")
    return bounded(text, name)


def bounded(text: str, name: str) -> str:
    if len(text) > MAX_QUERY_CHARS:
        raise InvalidArgument(
            f"{name} has {len(text)} characters; at most {MAX_QUERY_CHARS} are taken.", hint=f"Shorten {name}."
        )
    return text


def narrowing_of(filters: DocumentFilters | None) -> "Narrowing":
    from clew.kb.answer.requests import Narrowing

    if filters is None:
        return Narrowing()
    return Narrowing(
        tags=filters.doc_tag or (), path=_folder(filters.path_prefix), updated_after=_time(filters.updated_after)
    )


def _folder(prefix: str | None) -> str | None:
    path = (prefix or "").replace("\\", "/").removeprefix("./").strip("/")
    return path if path not in ("", ".") else None


def _time(given: str | None) -> str | None:
    """A time in the form of documents' times: UTC, with milliseconds."""
    if given is None:
        return None
    try:
        moment = datetime.fromisoformat(given)
        # A time without a zone is meant as UTC, like all others here.
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(
            f"updated_after '{given}' is not a time.",
            hint="Write it as in 2026-01-31T12:00:00Z.",
            data={"value": given},
        ) from error
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
