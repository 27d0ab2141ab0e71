"""The store of documents as somebody sees it who may not see all of it.

Every table that holds something of a document is hidden behind a view of the same name that leaves out what is outside
of the boundary, so that no question can forget to ask.
"""

import re
import sqlite3
from functools import lru_cache

from clew.kb.boundary import Boundary

_IN_PLACE = "NOT MATERIALIZED " if sqlite3.sqlite_version_info >= (3, 35) else ""
"""Only a view that is not kept in between uses the indexes of its table; older versions never kept one."""
_COUNTED = re.compile(r"\?(\d+)")

_OF_DOCUMENT = "EXISTS (SELECT 1 FROM documents WHERE documents.number = own.document)"
_OF_SECTION = "EXISTS (SELECT 1 FROM sections WHERE sections.number = own.{column})"
_MENTIONED = "EXISTS (SELECT 1 FROM mentions WHERE mentions.entity = own.{column})"

_VIEWS = {
    "sections": _OF_DOCUMENT,
    "labels": _OF_DOCUMENT,
    "section_texts": _OF_SECTION.format(column="number"),
    "mentions": _OF_SECTION.format(column="section"),
    "cites": _OF_SECTION.format(column="section"),
    "links": _OF_SECTION.format(column="section"),
    "entities": _MENTIONED.format(column="number"),
    "steps": _MENTIONED.format(column="step"),
}


class BoundedTables:
    """What stands before every question. Its parameters come before those of the question."""

    def __init__(self, boundary: Boundary) -> None:
        conditions, self.parameters = _conditions(boundary)
        views = {"documents": " AND ".join(conditions), **_VIEWS} if conditions else {}
        self._before = ", ".join(
            f"{table} AS {_IN_PLACE}(SELECT * FROM main.{table} AS own WHERE {condition})"  # noqa: S608
            for table, condition in views.items()
        )

    def over(self, sql: str) -> str:
        return _over(self._before, len(self.parameters), sql) if self._before else sql


@lru_cache(maxsize=512)
def _over(before: str, count: int, sql: str) -> str:
    """The question behind the views; its own parameters come after theirs, also where they are counted."""
    own = _COUNTED.sub(lambda mark: f"?{int(mark[1]) + count}", sql.lstrip())
    if own.upper().startswith("WITH "):
        return f"WITH {before}, {own[len('WITH ') :]}"
    return f"WITH {before} {own}"


def _conditions(boundary: Boundary) -> tuple[list[str], tuple[str, ...]]:
    conditions: list[str] = []
    parameters: tuple[str, ...] = ()
    if boundary.tags is not None:
        conditions.append(f"own.tag IN ({', '.join('?' * len(boundary.tags))})")
        parameters += boundary.tags
    for column, value in (("environment", boundary.environment), ("repository", boundary.repository)):
        if value is not None:
            conditions.append(f"own.{column} = ?")
            parameters += (value,)
    return conditions, parameters
