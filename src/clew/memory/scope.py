"""Visibility of memories for a viewer. This is the only place that decides it.

Every read of memories goes through `condition`, which the index adds to each of its questions. The text of a memory is
fetched only for ids that came through it.
"""

from typing import Protocol

import msgspec

_EPISODE = "episode"
PERSON = "person"
"""The owner of what is remembered at the command line."""
BY_A_PERSON = "Said by a person"
"""The reason of a change there for which none is given."""


class Viewer(msgspec.Struct, frozen=True, kw_only=True):
    """On whose behalf memories are read."""

    folder: str = ""
    """The project's folder inside the repository."""
    agent: str | None = None
    session: str | None = None
    is_owner: bool = False
    """A person at the command line of their own machine, who sees the private memories of all their agents."""
    principal: str | None = None
    """Who was authenticated, where many share a store: then a person sees what is private to their own agents only."""


class Filters(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions that narrow a read inside its scope; they never widen it."""

    branch: str | None = None
    session: str | None = None
    domain: str | None = None
    kinds: tuple[str, ...] = ()
    """Without any, all but episodes."""
    with_episodes: bool = False
    """For one who names a memory by its id."""
    agents: tuple[str, ...] | None = None
    without_agents: tuple[str, ...] = ()
    min_importance: float = 0.0
    since: str | None = None
    """Recorded or shown at or after this time."""
    until: str | None = None
    """Recorded before this time."""
    as_of: str | None = None
    """As it was believed at this time."""
    forgotten: bool = False
    """Those that were forgotten, instead of those that are there."""


EVERYTHING = Filters()
"""All that is there, apart from episodes."""
BY_ID = Filters(with_episodes=True)
FORGOTTEN_BY_ID = Filters(with_episodes=True, forgotten=True)


class VisibilityCondition(msgspec.Struct, frozen=True):
    sql: str
    values: tuple[object, ...]


def condition(viewer: Viewer, filters: Filters = EVERYTHING) -> VisibilityCondition:
    """The SQL condition for the rows of the index `memories` that may be seen."""
    parts: list[str] = [f"deleted IS {'NOT NULL' if filters.forgotten else 'NULL'}"]
    values: list[object] = []

    def demand(sql: str, *given: object) -> None:
        parts.append(sql)
        values.extend(given)

    if viewer.folder:
        # What was learned about the whole repository holds here, and what was learned further down belongs to it.
        above = ["", *_with_parents(viewer.folder)]
        marks = ", ".join("?" * len(above))
        demand(
            f"(folder IN ({marks}) OR (folder >= ? AND folder < ?))", *above, f"{viewer.folder}/", f"{viewer.folder}0"
        )
    if not viewer.is_owner:
        demand("(visibility = 'team' OR agent = ?)", viewer.agent)
    elif viewer.principal is not None:
        own = viewer.principal
        demand("(visibility = 'team' OR agent = ? OR (agent >= ? AND agent < ?))", own, f"{own}/", f"{own}0")
    _narrow(filters, demand, has_principals=viewer.principal is not None)
    return VisibilityCondition(" AND ".join(parts), tuple(values))


def _narrow(filters: Filters, demand: "Demand", *, has_principals: bool) -> None:
    for column, value in (("branch", filters.branch), ("session", filters.session), ("domain", filters.domain)):
        if value is not None:
            demand(f"{column} = ?", value)
    if filters.kinds:
        demand(f"kind IN ({_marks(filters.kinds)})", *filters.kinds)
    elif not filters.with_episodes:
        demand("kind != ?", _EPISODE)
    if filters.agents is not None:
        named = _called(filters.agents, has_principals=has_principals)
        demand(named.sql, *named.values)
    if filters.without_agents:
        named = _called(filters.without_agents, has_principals=has_principals)
        demand(f"(agent IS NULL OR NOT {named.sql})", *named.values)
    if filters.min_importance > 0:
        demand("importance >= ?", filters.min_importance)
    if filters.since is not None:
        demand("max(recorded_at, coalesce(shown_at, '')) >= ?", filters.since)
    if filters.until is not None:
        demand("recorded_at < ?", filters.until)
    if filters.as_of is not None:
        demand("recorded_at <= ? AND (retired_at IS NULL OR retired_at > ?)", filters.as_of, filters.as_of)


def _called(names: tuple[str, ...], *, has_principals: bool) -> VisibilityCondition:
    """Agents of these names. Where people have names, an agent's name follows theirs (`ada/planner`), and may be given
    with or without it."""
    if not has_principals:
        return VisibilityCondition(f"agent IN ({_marks(names)})", names)
    behind = "substr(agent, -length(?)) = ?"
    values = tuple(value for name in names for value in (f"/{name}", f"/{name}"))
    return VisibilityCondition(f"(agent IN ({_marks(names)}){f' OR {behind}' * len(names)})", (*names, *values))


def _marks(values: tuple[str, ...]) -> str:
    return ", ".join("?" * len(values)) or "NULL"


def _with_parents(folder: str) -> list[str]:
    names = folder.split("/")
    return ["/".join(names[:depth]) for depth in range(1, len(names) + 1)]


class Demand(Protocol):
    """Adds to a condition."""

    def __call__(self, sql: str, *given: object) -> None: ...
