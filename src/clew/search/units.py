"""Indexed units, and the scope and filters of a search.

A *unit* is one thing that can be found: a requirement, a scenario, a section, a memory. A *scope* says which units a
search may see at all. It is part of every query's type, so that no caller can forget it; filters narrow it further and
can never widen it.
"""

from datetime import UTC, datetime
from posixpath import normpath

import msgspec

from clew.errors import InvalidArgument
from clew.store.sql.conditions import Condition, Conditions, one_of
from clew.text.display import shortened
from clew.text.hashing import content_hash

MAX_ID_CHARACTERS = 512
WORDS_ONLY = frozenset({"code", "commit"})
"""Parts that are found by their words alone: names of functions and messages of commits say what they mean, and there
are very many."""
FIRST = frozenset({"memory"})
"""Parts whose vectors are made before all others: few and short texts, asked for a moment after they were written."""


def unit_id(part: str, id: str) -> str:
    """The id of a unit. A heading or path that is too long for an id, or not printable, is replaced by
    its hash."""
    whole = f"{part}:{id}"
    if len(whole) <= MAX_ID_CHARACTERS and whole.isprintable():
        return whole
    return f"{part}:{content_hash(id.encode('utf-8', 'surrogateescape'))}"


WINDOWS = 2
"""Changes when a text is cut into other windows (`quote/windows`): then those that have vectors are others too."""


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    """Unique in the index."""
    part: str
    """The kind of unit: requirement, scenario, section, memory, ..."""
    title: str
    body: str
    document: str | None = None
    """The document that it is a piece of; results can be limited to a few pieces of one document."""
    tags: tuple[str, ...] = ()
    path: str | None = None
    status: str | None = None
    session: str | None = None
    agent: str | None = None
    time: str | None = None
    """ISO 8601; UTC where it names no zone."""
    links: tuple[str, ...] = ()
    """Ids of graph nodes that the unit stands for or mentions."""
    place: int | None = None
    """Its place in its session or document; a recipe with surroundings looks at the units beside it."""
    speaker: str | None = None
    role: str | None = None
    """The role of the speaker in a conversation: person, user, assistant, ..."""
    quoted: bool = False
    """True if parts of it are quoted as answers: each of its windows has a vector of its own then."""

    def content_hash(self) -> str:
        """Names everything that is searched or filtered by: equal hashes need no indexing again."""
        return content_hash(msgspec.msgpack.encode(self))

    def text_hash(self) -> str:
        """Identifies the text that the embedder gets."""
        seen = (self.title, self.body, WINDOWS) if self.quoted else (self.title, self.body)
        return content_hash(msgspec.msgpack.encode(seen))


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """The units a search may see. At least one part has to be named."""

    parts: tuple[str, ...]
    sessions: tuple[str, ...] | None = None
    agents: tuple[str, ...] | None = None
    path: str | None = None
    """Only units below this folder, or in this file; `.` stands for all that have a path."""
    unowned: bool = False
    """True to see units that belong to no agent beside those of the agents that are named."""
    within: "tuple[tuple[str, Filters], ...]" = ()
    """Filters of single parts, if several are searched at once."""

    def __post_init__(self) -> None:
        if not self.parts:
            raise InvalidArgument("A scope names no part to search.", hint="Name parts such as 'requirement'.")


class Filters(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions that narrow a search inside its scope; None is no condition."""

    tags: tuple[str, ...] | None = None
    """Units with any of these."""
    all_tags: tuple[str, ...] | None = None
    """Units with all of these."""
    statuses: tuple[str, ...] | None = None
    path: str | None = None
    session: str | None = None
    agent: str | None = None
    after: str | None = None
    before: str | None = None
    """Times, ISO 8601; the first is included, the second not."""
    document: str | None = None


def compile_condition(scope: Scope, filters: Filters) -> Condition:
    """The units that a search may see: a predicate over the columns of `units`."""
    demands = Conditions()
    # Most units of a project are of one part: where a folder is named, SQLite begins there, hence the plus.
    is_below = any(place is not None and normpath(place) != "." for place in (scope.path, filters.path))
    demands.one_of("+units.part" if is_below else "units.part", scope.parts)
    demands.one_of("units.session", scope.sessions)
    if scope.agents is not None and scope.unowned:
        demands.any_of(Condition("units.agent IS NULL"), one_of("units.agent", scope.agents))
    else:
        demands.one_of("units.agent", scope.agents)
    _below(demands, scope.path)
    for part, own in scope.within:
        narrowed = Conditions()
        _narrow(narrowed, own)
        if (inner := narrowed.all()).sql:
            demands.demand(f"(units.part <> ? OR ({inner.sql}))", part, *inner.parameters)
    _narrow(demands, filters)
    return demands.all()


def _narrow(demands: Conditions, filters: Filters) -> None:
    _below(demands, filters.path)
    demands.one_of("units.status", filters.statuses)
    demands.equal("units.session", filters.session)
    demands.equal("units.agent", filters.agent)
    demands.equal("units.document", filters.document)
    demands.compare("units.time >= ?", moment(filters.after))
    demands.compare("units.time < ?", moment(filters.before))
    if filters.tags is not None:
        _tagged(demands, filters.tags)
    for tag in filters.all_tags or ():
        _tagged(demands, (tag,))


def _below(demands: Conditions, path: str | None) -> None:
    if path is None:
        return
    place = normpath(path)
    if place == ".":
        demands.demand("units.path IS NOT NULL")
    else:
        # Each end of the range is alone: an alternative would keep SQLite from beginning with the files.
        demands.demand("units.path >= ?", place)
        demands.demand("units.path < ?", f"{place}0")
        demands.demand("(units.path = ? OR units.path >= ?)", place, f"{place}/")


def _tagged(demands: Conditions, tags: tuple[str, ...]) -> None:
    # A unit has few tags: going over them is faster than looking each of the wanted ones up, hence the plus.
    wanted = one_of("+unit_tags.tag", tags)
    own = "SELECT 1 FROM unit_tags WHERE unit_tags.number = units.number"
    demands.demand(f"EXISTS ({own} AND {wanted.sql})", *wanted.parameters)


def moment(time: str | None) -> str | None:
    """A time in the one form in which the order of texts is the order of times."""
    if time is None:
        return None
    try:
        at = datetime.fromisoformat(time)
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(
            f"'{shortened(time)}' is not a time.", hint="Write it as in 2026-01-31T12:00:00Z."
        ) from error
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
