"""The person for whom a call is carried out, if it is known: a token's owner behind a server of a team.

The authenticated name comes first in the actor of every event, before the name that the caller gives itself.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_person: ContextVar[str | None] = ContextVar("person", default=None)


def person() -> str | None:
    """The authenticated user of the current request."""
    return _person.get()


@contextmanager
def on_behalf_of(name: str | None) -> Iterator[None]:
    token = _person.set(name)
    try:
        yield
    finally:
        _person.reset(token)


def signed(actor: str, *principals: str | None) -> str:
    """An actor after those who were authenticated: `server/alice/agent`."""
    known = "/".join(each for each in principals if each)
    return f"{known}/{actor}" if known and not f"{actor}/".startswith(f"{known}/") else actor
