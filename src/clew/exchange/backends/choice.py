"""The choice of the requirement format for an import, among those that a project uses."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from clew.errors import InvalidArgument, NotFound
from clew.exchange.backends.backend import RequirementBackend
from clew.exchange.model import Item
from clew.graph.model import NodeKind
from clew.graph.readers.locations import spec_roots

if TYPE_CHECKING:
    from clew.operation.call import Call

FORMATS = ("elspais", "register", "openspec")


def backends_of(call: "Call") -> list[RequirementBackend]:
    """The formats that the project uses now."""
    return [backend_named(call, name) for name in used_formats(call)]


def used_formats(call: "Call") -> list[str]:
    graph = call.project.context.graph
    found: set[str] = set()
    for node in graph.nodes_by_kind(NodeKind.REQUIREMENT):
        found.add("openspec" if "spec_id" in node.fields else "elspais" if "hash_now" in node.fields else "register")
        if len(found) == len(FORMATS):
            break
    if "elspais" not in found and any(
        "associate" not in node.fields for node in graph.nodes_by_kind(NodeKind.USER_JOURNEY)
    ):
        found.add("elspais")
    if "register" not in found and call.project.register.file.exists():
        found.add("register")
    if "openspec" not in found and any(
        (call.project.config.root / root.specs).is_dir() for root in spec_roots(call.project.config)
    ):
        found.add("openspec")
    return [name for name in FORMATS if name in found]


def choose_backends(
    call: "Call", wanted: str | None, items: Iterable[Item], *, name: str, level: str | None
) -> list[RequirementBackend]:
    """First the format that takes new items: the one that is asked for, else the one that the project uses, Markdown
    specs where it uses none. Then the others that the project uses."""
    used = used_formats(call)
    others = [each for each in used if each != wanted]
    if wanted is None and len(used) > 1:
        backends = [backend_named(call, each, name=name, level=level if each == "elspais" else None) for each in used]
        known = {id for backend in backends for id in backend.items()}
        if all(item.version and item.id in known for item in items):
            return backends
        raise InvalidArgument(
            f"This project keeps requirements in {', '.join(used[:-1])} and {used[-1]}, and it was not said where new "
            "ones go.",
            hint=f"Pass --into {used[0]}, or another of them.",
        )
    first = wanted or (used[0] if used else "elspais")
    return [
        backend_named(call, first, name=name, level=level),
        *(backend_named(call, each, name=name) for each in others if each != first),
    ]


def backend_named(call: "Call", chosen: str, *, name: str = "", level: str | None = None) -> RequirementBackend:
    context = call.project.context
    if level is not None and chosen != "elspais":
        raise InvalidArgument(f"--level is for elspais, and the import goes into {chosen}.", hint="Leave it out.")
    match chosen:
        case "elspais":
            from clew.exchange.backends.elspais import ElspaisBackend

            return ElspaisBackend(context, level=level)
        case "register":
            from clew.exchange.backends.register import RegisterBackend

            if not call.project.register.file.exists():
                raise NotFound("The project has no register.", hint="`clew req init` makes one.")
            return RegisterBackend(call)
        case "openspec":
            from clew.exchange.backends.openspec import OpenSpecBackend

            return OpenSpecBackend(context, spec=name.rpartition(".")[0] or name)
    raise InvalidArgument(f"'{chosen}' is not a requirement format.", hint=f"Formats are {', '.join(FORMATS)}.")
