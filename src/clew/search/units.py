"""What goes into the search engine, and where a search may look.

A *unit* is one thing that can be found: a requirement, a scenario, a section, a memory. A *scope* says which units a
search may see at all. It is part of every query's type, so that no caller can forget it; filters narrow it further and
can never widen it.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from posixpath import normpath

import msgspec

from clew.errors import InvalidArgument
from clew.text.display import shortened
from clew.text.hashing import content_hash

MAX_ID_CHARACTERS = 512
WORDS_ONLY = frozenset({"code"})
"""Parts that are found by their words alone: names of functions say what they mean, and there are very many."""


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
    """What it is: requirement, scenario, section, memory, ..."""
    title: str
    body: str
    document: str | None = None
    """What it is a piece of; results can be limited to a few pieces of one document."""
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
    """Where it stands in its session or document; a recipe with surroundings looks at the units beside it."""
    speaker: str | None = None
    role: str | None = None
    """Who says it, in a conversation, and as what: person, user, assistant, ..."""
    quoted: bool = False
    """Whether parts of it are quoted as answers: each of its windows has a vector of its own then."""

    def content_hash(self) -> str:
        """Names everything that is searched or filtered by: equal hashes need no indexing again."""
        return content_hash(msgspec.msgpack.encode(self))

    def text_hash(self) -> str:
        """Names what the embedder sees."""
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
    """Whether units that belong to no agent are seen beside those of the agents that are named."""
    within: "tuple[tuple[str, Filters], ...]" = ()
    """What narrows single parts, where several are searched at once."""

    def __post_init__(self) -> None:
        if not self.parts:
            raise InvalidArgument("A scope names no part to search.", hint="Name parts such as 'requirement'.")


class Filters(msgspec.Struct, frozen=True, kw_only=True):
    """What narrows a search inside its scope. None asks for nothing."""

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


class Condition(msgspec.Struct, frozen=True):
    """A predicate over the columns of the units, which the statement around it calls `units`, as SQL."""

    sql: str
    parameters: tuple[str, ...]


def compile_condition(scope: Scope, filters: Filters) -> Condition:
    """The one place where a search learns which units it may see."""
    clauses = _Clauses()
    # Most units of a project are of one part: where a folder is named, SQLite begins there, hence the plus.
    is_below = any(place is not None and normpath(place) != "." for place in (scope.path, filters.path))
    clauses.one_of("+units.part" if is_below else "units.part", scope.parts)
    clauses.one_of("units.session", scope.sessions)
    clauses.owned(scope.agents, unowned=scope.unowned)
    clauses.below(scope.path)
    for part, own in scope.within:
        clauses.inside(part, own)
    clauses.narrow(filters)
    return clauses.condition()


def moment(time: str | None) -> str | None:
    """A time in the one form in which the order of texts is the order of times."""
    if time is None:
        return None
    try:
        at = datetime.fromisoformat(time)
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(
            f"'{shortened(time)}' is no time.", hint="Write it as in 2026-01-31T12:00:00Z."
        ) from error
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _Clauses:
    def __init__(self) -> None:
        self._sql: list[str] = []
        self._parameters: list[str] = []

    def one_of(self, column: str, values: Iterable[str] | None) -> None:
        if values is not None:
            chosen = tuple(values)
            self._add(f"{column} IN ({_marks(chosen)})", *chosen)

    def owned(self, agents: tuple[str, ...] | None, *, unowned: bool) -> None:
        if agents is not None and unowned:
            self._add(f"(units.agent IS NULL OR units.agent IN ({_marks(agents)}))", *agents)
        else:
            self.one_of("units.agent", agents)

    def narrow(self, filters: Filters) -> None:
        self.below(filters.path)
        self.one_of("units.status", filters.statuses)
        self.equal("units.session", filters.session)
        self.equal("units.agent", filters.agent)
        self.equal("units.document", filters.document)
        self.compare("units.time >= ?", moment(filters.after))
        self.compare("units.time < ?", moment(filters.before))
        if filters.tags is not None:
            self.tagged(filters.tags)
        for tag in filters.all_tags or ():
            self.tagged((tag,))

    def inside(self, part: str, filters: Filters) -> None:
        """Filters that hold for one part only."""
        own = _Clauses()
        own.narrow(filters)
        if own._sql:
            self._add(f"(units.part <> ? OR ({' AND '.join(own._sql)}))", part, *own._parameters)

    def equal(self, column: str, value: str | None) -> None:
        if value is not None:
            self._add(f"{column} = ?", value)

    def compare(self, sql: str, value: str | None) -> None:
        if value is not None:
            self._add(sql, value)

    def below(self, path: str | None) -> None:
        if path is None:
            return
        place = normpath(path)
        if place == ".":
            self._add("units.path IS NOT NULL")
        else:
            # A range, because LIKE takes some characters of a path for patterns. The one after the slash ends it. Each
            # of its ends stands alone: an alternative would keep SQLite from beginning with the files.
            self._add("units.path >= ?", place)
            self._add("units.path < ?", f"{place}0")
            self._add("(units.path = ? OR units.path >= ?)", place, f"{place}/")

    def tagged(self, tags: tuple[str, ...]) -> None:
        own = "SELECT 1 FROM unit_tags WHERE unit_tags.number = units.number"
        # A unit has few tags: going over them is faster than looking each of the wanted ones up, hence the plus.
        self._add(f"EXISTS ({own} AND +unit_tags.tag IN ({_marks(tags)}))", *tags)

    def condition(self) -> Condition:
        return Condition(" AND ".join(self._sql), tuple(self._parameters))

    def _add(self, sql: str, *parameters: str) -> None:
        self._sql.append(sql)
        self._parameters.extend(parameters)


def _marks(values: tuple[str, ...]) -> str:
    return ", ".join("?" * len(values)) or "NULL"
