"""Pages whose length is decided by the handler itself, because more than one field depends on it."""

from clew.operation.budget import longest_page
from clew.operation.call import Call
from clew.operation.registry import Request

__all__ = ["cursor_to", "longest_page", "place_of"]


def place_of(call: Call, request: Request) -> int:
    """Where the page begins that a request asks for, if its handler pages by itself."""
    return call.pages(request).begin(call.project.graph.state.fingerprint)


def cursor_to(call: Call, request: Request, offset: int) -> str:
    """The cursor to the page of the same question that begins at `offset`."""
    return call.pages(request).cursor_to(offset, call.project.graph.state.fingerprint)
