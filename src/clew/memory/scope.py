"""Visibility of memories for a viewer. This is the only place that decides it.

Every read of memories goes through `condition`, which the index adds to each of its questions. The text of a memory is
fetched only for ids that came through it.
"""

import msgspec

from clew.store.sql.conditions import Condition, Conditions, any_of, inside, one_of

_EPISODE = "episode"
PERSON = "person"
"""The owner of what is remembered at the command line."""
BY_A_PERSON = "Said by a person"
"""The reason of a change there for which none is given."""


class Viewer(msgspec.Struct, frozen=True, kw_only=True):
    """The person or agent for whom memories are read."""

    folder: str = ""
    """The project's folder inside the repository."""
    agent: str | None = None
    session: str | None = None
    is_owner: bool = False
    """A person at the command line of their own machine, who sees the private memories of all their agents."""
    principal: str | None = None
    """The authenticated principal of a shared store; a person then sees private memories of their own agents only."""


class MemoryFilters(msgspec.Struct, frozen=True, kw_only=True):
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
    """True to list forgotten memories instead of present ones."""


EVERYTHING = MemoryFilters()
"""All that is there, apart from episodes."""
BY_ID = MemoryFilters(with_episodes=True)
FORGOTTEN_BY_ID = MemoryFilters(with_episodes=True, forgotten=True)


def condition(viewer: Viewer, filters: MemoryFilters = EVERYTHING) -> Condition:
    """The SQL condition for the rows of the index `memories` that may be seen."""
    demands = Conditions()
    demands.demand(f"deleted IS {'NOT NULL' if filters.forgotten else 'NULL'}")
    if viewer.folder:
        # What was learned about the whole repository holds here, and what was learned further down belongs to it.
        above = one_of("folder", ["", *_with_parents(viewer.folder)])
        demands.any_of(above, inside("folder", viewer.folder))
    of_team = Condition("visibility = 'team'")
    if not viewer.is_owner:
        demands.any_of(of_team, Condition("agent = ?", (viewer.agent,)))
    elif (own := viewer.principal) is not None:
        demands.any_of(of_team, Condition("agent = ?", (own,)), inside("agent", own))
    _narrow(filters, demands, has_principals=viewer.principal is not None)
    return demands.all()


def _narrow(filters: MemoryFilters, demands: Conditions, *, has_principals: bool) -> None:
    demands.equal("branch", filters.branch)
    demands.equal("session", filters.session)
    demands.equal("domain", filters.domain)
    if filters.kinds:
        demands.one_of("kind", filters.kinds)
    elif not filters.with_episodes:
        demands.demand("kind != ?", _EPISODE)
    if filters.agents is not None:
        demands.any_of(_called(filters.agents, has_principals=has_principals))
    if filters.without_agents:
        named = _called(filters.without_agents, has_principals=has_principals)
        demands.demand(f"(agent IS NULL OR NOT {named.sql})", *named.parameters)
    if filters.min_importance > 0:
        demands.demand("importance >= ?", filters.min_importance)
    demands.compare("max(recorded_at, coalesce(shown_at, '')) >= ?", filters.since)
    demands.compare("recorded_at < ?", filters.until)
    if filters.as_of is not None:
        demands.demand("recorded_at <= ? AND (retired_at IS NULL OR retired_at > ?)", filters.as_of, filters.as_of)


def _called(names: tuple[str, ...], *, has_principals: bool) -> Condition:
    """Agents of these names. Where people have names, an agent's name follows theirs (`ada/planner`), and may be given
    with or without it."""
    named = one_of("agent", names)
    if not has_principals:
        return named
    behind = [Condition("substr(agent, -length(?)) = ?", (f"/{name}", f"/{name}")) for name in names]
    return any_of(named, *behind)


def _with_parents(folder: str) -> list[str]:
    names = folder.split("/")
    return ["/".join(names[:depth]) for depth in range(1, len(names) + 1)]
