"""From starting a server to its list of tools, against a bare server on the same SDK, in turns."""

import sys
from collections.abc import Callable

from benchmarks.figures import Figure, Result, milliseconds, paired
from benchmarks.raw_client import Conversation, seconds_to_tools, stateless, with_handshake
from benchmarks.workspace import CLEW, REPOSITORY, Workspace

LIMIT = 1.10
LIMIT_OF_ALL = 1.15
"""With every toolset listed."""
ERAS: dict[str, Conversation] = {"initialize": with_handshake, "stateless": stateless}
ALL = "demo with all toolsets"
BARE = (sys.executable, REPOSITORY / "benchmarks" / "bare_server.py")


def measure(space: Workspace, *, quick: bool) -> Result:
    rounds = 7 if quick else 15
    size = f"{space.shape.requirements:,} requirements"
    servers: dict[str, Callable[[Conversation], float]] = {
        "bare server": lambda talk: seconds_to_tools(BARE, talk),
        "demo": lambda talk: seconds_to_tools((CLEW, "serve", space.demo), talk),
        ALL: lambda talk: seconds_to_tools((CLEW, "serve", "--toolsets", "all", space.demo), talk),
        size: lambda talk: _start_unread(space, talk),
    }
    samples: dict[tuple[str, str], list[float]] = {(era, name): [] for era in ERAS for name in servers}
    for number in range(rounds + 1):
        for era, talk in ERAS.items():
            for name, start in servers.items():
                seconds = start(talk)
                # The first round fills the caches of Python and of the system.
                if number:
                    samples[era, name].append(seconds)
    figures: list[Figure] = []
    for era in ERAS:
        bare = tuple(samples[era, "bare server"])
        figures.append(Figure(f"bare server, {era}", "ms", milliseconds(bare)))
        for name, limit in (("demo", LIMIT), (ALL, LIMIT_OF_ALL), (size, LIMIT)):
            own = tuple(samples[era, name])
            figures.append(Figure(f"clew serve, {name}, {era}", "ms", milliseconds(own)))
            figures.append(Figure(f"  against the bare server, {name}, {era}", "x", paired(own, bare), limit))
    return Result("Spawn to tools/list on stdio", tuple(figures))


def _start_unread(space: Workspace, talk: Conversation) -> float:
    """A project that was never read is the hard case: reading it begins while the list is being answered."""
    space.forget_cache()
    return seconds_to_tools((CLEW, "serve", space.generated), talk)
