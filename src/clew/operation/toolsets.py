"""Toolsets and profiles: which tools a server lists."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches

import msgspec

from clew.errors import ConfigError
from clew.operation import switches
from clew.operation.declare import Toolset
from clew.operation.defaults import ALL_FORMATS, default_names
from clew.operation.listing import ListedOperation, brief, outlined, plain, terse
from clew.operation.names import NameStyle, Wording, by_any_spelling, portable, spell
from clew.workspace.holding import RequirementFormat

DEFAULT = "default"
ALL = "all"
SERVER_NAME = "clew"
"""The name of a server without a profile."""

ABOUT = {
    Toolset.CORE: "Orientation: what the project is, and finding and calling any other tool.",
    Toolset.TRACE: "The requirements trace graph: requirements, assertions, what implements and verifies them.",
    Toolset.REGISTER: "The managed requirement register in project.req.",
    Toolset.SPECS: "Specs, scenarios and open changes.",
    Toolset.KB: "Documentation: search, excerpts and evidence.",
    Toolset.GRAPH: "Walking the graph of documents, entities and everything they mention.",
    Toolset.MEMORY: "The agents' long-term memory.",
    Toolset.COGNITION: "Telemetry and upkeep of the memory.",
    Toolset.ADDED: "What Clew adds to the tools of the systems that it replaces: no profile lists it.",
}


class Profile(msgspec.Struct, frozen=True):
    """A drop-in replacement: exactly one system's tools, under its server name."""

    name: str
    server_name: str
    toolsets: tuple[Toolset, ...]
    scheme: str | None = None
    """The scheme of addresses of resources, where the system has one of its own."""
    heartbeat: bool = False
    """True if its clients expect heartbeats as events of SSE."""
    whole: bool = False
    """True if its clients do not page: every answer is whole."""
    outlined: bool = False
    """True if the listing names only the fields of results: its clients know what is inside, and pay for the listing
    with every connection."""
    plain: bool = False
    """True if the listing leaves out titles and what follows from an argument being optional; bounds stay."""
    terse: bool = False
    """True if the listing also leaves out titles, the fields of results, and bounds and plain defaults of arguments."""
    later: bool = True
    """True if it has the tools that the system got after its source document was written."""

    def lists(self, tool: ListedOperation) -> bool:
        return tool.toolset in self.toolsets and (self.later or not tool.later)


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("elspais", "elspais", (Toolset.TRACE,), terse=True),
        Profile("elspais-45", "elspais", (Toolset.TRACE,), terse=True, later=False),
        Profile("req", "req", (Toolset.REGISTER,), whole=True, later=False),
        Profile("req-safety", "req", (Toolset.REGISTER,), whole=True),
        Profile("spox", "spox", (Toolset.SPECS,)),
        Profile("wekadocs", "wekadocs", (Toolset.KB, Toolset.GRAPH), "wekadocs", heartbeat=True, outlined=True),
        Profile(
            "context-graph",
            "context-graph",
            (Toolset.MEMORY, Toolset.COGNITION),
            heartbeat=True,
            outlined=True,
            plain=True,
        ),
    )
}


class Choice(msgspec.Struct, frozen=True):
    """The operator's choice of tools."""

    toolsets: tuple[str, ...] | None = None
    """None: the default ones, unless single tools are asked for."""
    tools: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    read_only: bool = False
    profile: str | None = None
    names: NameStyle = NameStyle.PORTABLE
    formats: Collection[RequirementFormat] = ALL_FORMATS
    """The formats of requirements in the folder, which decide the default tools."""

    @property
    def follows_folder(self) -> bool:
        """True if what the folder holds has a say in the listing."""
        return self.profile is None and DEFAULT in self.sets

    @property
    def sets(self) -> tuple[str, ...]:
        """The toolsets that are listed, without a profile."""
        return self.toolsets if self.toolsets is not None else () if self.tools else (DEFAULT,)


class ToolListing(msgspec.Struct, frozen=True):
    """The tools that are shown, and those that can be called at all, under the names that clients see."""

    shown: tuple[ListedOperation, ...]
    callable: tuple[ListedOperation, ...]
    server_name: str
    scheme: str | None = None
    structured: bool = True
    """True if the tools on documents answer with data beside the text; see `switches`."""
    heartbeat: bool = False
    whole: bool = False
    """True if answers are whole, whatever their length; see `Profile`."""


def choose(tools: Sequence[ListedOperation], choice: Choice, environ: Mapping[str, str] = os.environ) -> ToolListing:
    """Apply the operator's choice. Read-only and exclusion win over everything that asks for a tool, and what the
    environment switches off is not there at all."""
    known, tools = tools, switches.present(tools, environ)
    structured = switches.structured_output(environ)
    excluded = {tool.name for tool in _named(tools, choice.exclude)}
    allowed = [tool for tool in tools if tool.name not in excluded]
    if choice.read_only:
        allowed = [
            msgspec.structs.replace(tool, read_only=True, destructive=False)
            for tool in allowed
            if tool.read_only or tool.reaches_others
        ]
    if choice.profile is not None:
        profile = _profile(choice.profile)
        own = tuple(tool for tool in allowed if profile.lists(tool))
        server = (profile.server_name, profile.scheme, structured, profile.heartbeat, profile.whole)
        if profile.outlined:
            own = tuple(outlined(tool) for tool in own)
        if profile.plain:
            own = tuple(plain(tool) for tool in own)
        if profile.terse:
            own = tuple(terse(tool) for tool in own)
        listing = ToolListing(own, own, *server)
        return _spelled(listing, known, choice.names)
    wanted = {tool.name for tool in _named(tools, choice.tools)}
    usual = default_names(choice.formats) if choice.follows_folder else frozenset()
    shown = tuple(
        brief(tool) if tool.name in usual and tool.name not in wanted else tool
        for tool in allowed
        if tool.name in wanted or tool.name in usual or _in_sets(tool, choice.sets)
    )
    return _spelled(ToolListing(shown, tuple(allowed), SERVER_NAME, None, structured), known, choice.names)


def _spelled(listing: ToolListing, tools: Sequence[ListedOperation], style: NameStyle) -> ToolListing:
    """The listing under the names that clients see. A description names only tools that are listed with its own; that
    of a tool which is found by a search may name all that can be called."""
    spelled = {name: spell(tool.name, style) for tool in tools for name in (tool.name, portable(tool.name))}
    seen: dict[str, ListedOperation] = {}
    for group in (listing.shown, listing.callable):
        present = {name for tool in group for name in (tool.name, portable(tool.name))}
        wording = Wording(spelled, present)
        for tool in group:
            if tool.name not in seen:
                seen[tool.name] = msgspec.structs.replace(
                    tool,
                    tool=spelled[tool.name],
                    original=tool.name if spelled[tool.name] != tool.name else "",
                    description=wording.rewrite(tool.description),
                )
    shown, callable_ = (tuple(seen[tool.name] for tool in group) for group in (listing.shown, listing.callable))
    return msgspec.structs.replace(listing, shown=shown, callable=callable_)


def _in_sets(tool: ListedOperation, sets: Collection[str]) -> bool:
    # Beside chosen toolsets the core tools are how everything that is not listed stays within reach.
    is_core = tool.toolset is Toolset.CORE and tuple(sets) != (DEFAULT,)
    return is_core or ALL in sets or tool.toolset.value in sets


def check_toolsets(names: Iterable[str]) -> tuple[str, ...]:
    known = (DEFAULT, ALL, *(toolset.value for toolset in Toolset))
    chosen = tuple(name.strip() for name in names if name.strip())
    for name in chosen:
        if name not in known:
            raise ConfigError(f"There is no toolset '{name}'.", hint=f"Toolsets are: {', '.join(known)}.")
    return chosen


def _named(tools: Sequence[ListedOperation], names: Iterable[str]) -> list[ListedOperation]:
    spelled = by_any_spelling(tools)
    found: list[ListedOperation] = []
    for name in names:
        if name not in spelled:
            close = get_close_matches(name, spelled, n=1)
            suggestion = f"Did you mean '{close[0]}'? " if close else ""
            raise ConfigError(
                f"There is no tool '{name}'.", hint=f"{suggestion}`clew tools --toolsets all` lists them."
            )
        found.append(spelled[name])
    return found


def _profile(name: str) -> Profile:
    if name not in PROFILES:
        raise ConfigError(f"There is no profile '{name}'.", hint=f"Profiles are: {', '.join(PROFILES)}.")
    return PROFILES[name]
