"""Boundary of the visible documents.

The configuration draws the outer line; a request may only draw a narrower one. The line is held by the store of
documents and by the search engine themselves, not by their callers.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from clew.config import EnvironmentName, KbTable
from clew.errors import ScopeViolation
from clew.kb.ingest.records import DocumentRecord
from clew.text.display import shortened

MOST_NAMES = 50

_Name = Annotated[str, Meta(min_length=1, max_length=200)]
_Names = Annotated[tuple[_Name, ...], Meta(max_length=MOST_NAMES)]


class ScopeRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The scope that a caller asks for. A missing value, or an empty list, asks for nothing."""

    project_id: _Name | None = None
    environment: EnvironmentName | None = None
    doc_tags: _Names | None = None
    repositories: _Names | None = None


class Boundary(msgspec.Struct, frozen=True, kw_only=True):
    """Documents inside have one of the tags, the environment and the repository; None admits all."""

    tags: tuple[str, ...] | None = None
    environment: str | None = None
    repository: str | None = None

    @property
    def is_everything(self) -> bool:
        return self == EVERYTHING

    def admits(self, document: DocumentRecord) -> bool:
        return (
            (self.tags is None or document.tag in self.tags)
            and (self.environment is None or document.environment == self.environment)
            and (self.repository is None or document.repository == self.repository)
        )

    def tags_within(self, wanted: tuple[str, ...]) -> tuple[str, ...] | None:
        """The tags that a search with these tags may see; without any, all admitted ones."""
        if self.tags is not None:
            _require("doc_tag", wanted, self.tags)
        return wanted or self.tags


EVERYTHING = Boundary()


def boundary_of(settings: KbTable, asked: ScopeRequest | None = None) -> Boundary:
    """The configured boundary, drawn narrower where that is asked for."""
    asked = asked or ScopeRequest()
    if asked.project_id is not None:
        _require("project_id", (asked.project_id,), (settings.project_id or "",))
    if asked.environment is not None and settings.environment is not None:
        _require("environment", (asked.environment,), (settings.environment,))
    if settings.doc_tags:
        _require("doc_tags", asked.doc_tags or (), settings.doc_tags)
    _require("repositories", asked.repositories or (), (settings.repository or "",))
    return Boundary(
        tags=asked.doc_tags or settings.doc_tags or None,
        environment=asked.environment or settings.environment,
        repository=settings.repository if asked.repositories else None,
    )


def _require(name: str, wanted: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    for value in wanted:
        if value not in allowed:
            shown = ", ".join(allowed[:MOST_NAMES])
            raise ScopeViolation(
                f"{name} '{shortened(value)}' is outside of the scope of this server.",
                hint=f"Leave {name} out, or use: {shown}.",
                data={"field": name, "value": value[:200], "allowed": list(allowed[:MOST_NAMES])},
            )
