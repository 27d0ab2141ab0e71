"""Addresses of the page: where a node, a place or a result is shown. Every state of a view is in its address."""

import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode

_COMMIT = re.compile(r"[0-9a-f]{12,40}")
_PLACE = re.compile(r"(?P<path>[^\n]+?)(?::(?P<line>\d{1,9})(?:-\d{1,9})?)?")
_MEMORY = re.compile(r"(?:memory:|\[?node_)?([0-9a-f]{8}[0-9a-f-]*)\]?")
DOCUMENT_ENDINGS = (".md", ".markdown", ".rst", ".txt", ".html", ".htm", ".ipynb", ".adoc")


def path_of(*parts: str) -> str:
    """A path of the page; slashes of an id or a file stay slashes, so that an address can be read."""
    return "/" + "/".join(quote(part, safe="/:@+,~") for part in parts)


def with_query(path: str, given: Mapping[str, object]) -> str:
    """A path with the parts of a query that are not empty."""
    parameters = {name: str(value) for name, value in given.items() if value not in ("", None, False)}
    return f"{path}?{urlencode(parameters)}" if parameters else path


def requirement(id: str) -> str:
    """A requirement, also where one of its sections is named."""
    return path_of("r", id.partition(":section:")[0])


def of_node(id: str, owner: str | None = None) -> str:
    """The address of a node of the graph; `owner` is the requirement of an assertion."""
    kind, colon, rest = id.partition(":")
    if not colon:
        return requirement(owner or id)
    match kind:
        case "memory":
            return path_of("memory", rest)
        case "doc" | "file":
            return document(rest)
        case "spec":
            return path_of("specs", rest)
        case "test" | "code" | "symbol":
            path = rest.partition("::")[0]
            return of_place(path)
        case "rem" | "result":
            return of_place(rest.partition("::")[0])
    return requirement(id)


def document(id: str) -> str:
    """A document, or one of its sections: docs/guide.md#making-a-table."""
    path, _, anchor = id.removeprefix("doc:").partition("#")
    return path_of("documents", path) + (f"#{quote(anchor)}" if anchor else "")


def of_place(place: str) -> str:
    """The address of `path:line`, or of a commit or memory that is in its place."""
    if _COMMIT.fullmatch(place):
        return with_query("/why", {"of": place})
    if place.startswith("memory:"):
        return path_of("memory", place.removeprefix("memory:"))
    found = _PLACE.fullmatch(place)
    if found is None:
        return with_query("/why", {"of": place})
    return with_query(path_of("sources", found["path"]), {"line": found["line"] or ""}) + (
        f"#L{found['line']}" if found["line"] else ""
    )


def last_parts(path: str, count: int = 2) -> str:
    """The end of a path, for a narrow column."""
    parts = path.split("/")
    return path if len(parts) <= count else "…/" + "/".join(parts[-count:])


def of_result(kind: str, id: str, place: str) -> str:
    """The address of a result of the search over everything."""
    match kind:
        case "requirement":
            return requirement(id)
        case "memory":
            return path_of("memory", id.removeprefix("memory:"))
        case "document":
            return document(id)
        case "spec":
            return of_node(id) if ":" in id else requirement(id)
        case "change":
            return path_of("changes", id.removeprefix("change:"))
    return of_place(place) if place else with_query("/why", {"of": id})
