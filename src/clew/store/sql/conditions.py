"""Conditions on rows, built from the parts of a scope. Values are parameters; all SQL is Clew's own text."""

from collections.abc import Iterable
from typing import Any

import msgspec


class Condition(msgspec.Struct, frozen=True):
    """A predicate over the columns of one table, with a `?` for each parameter."""

    sql: str
    parameters: tuple[Any, ...] = ()


class Conditions:
    """Demands on a row, all of which must hold. A value of None demands nothing."""

    def __init__(self) -> None:
        self._sql: list[str] = []
        self._parameters: list[Any] = []

    def demand(self, sql: str, *parameters: Any) -> None:
        self._sql.append(sql)
        self._parameters += parameters

    def compare(self, sql: str, value: Any) -> None:
        if value is not None:
            self.demand(sql, value)

    def equal(self, column: str, value: Any) -> None:
        self.compare(f"{column} = ?", value)

    def one_of(self, column: str, values: Iterable[Any] | None) -> None:
        if values is not None:
            self.any_of(one_of(column, values))

    def any_of(self, *conditions: Condition) -> None:
        """One of several conditions must hold."""
        found = any_of(*conditions)
        self.demand(found.sql, *found.parameters)

    def all(self) -> Condition:
        """All demands as one condition; its SQL is empty without any."""
        return Condition(" AND ".join(self._sql), tuple(self._parameters))


def one_of(column: str, values: Iterable[Any]) -> Condition:
    chosen = tuple(values)
    return Condition(f"{column} IN ({', '.join('?' * len(chosen)) or 'NULL'})", chosen)


def inside(column: str, folder: str) -> Condition:
    """Paths below a folder. A range, because LIKE takes some characters of a path for patterns."""
    return Condition(f"({column} >= ? AND {column} < ?)", (f"{folder}/", f"{folder}0"))


def any_of(*conditions: Condition) -> Condition:
    if len(conditions) == 1:
        return conditions[0]
    parameters = tuple(value for each in conditions for value in each.parameters)
    return Condition(f"({' OR '.join(each.sql for each in conditions)})", parameters)
