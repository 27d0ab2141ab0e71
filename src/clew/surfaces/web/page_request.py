"""Request context of a view: a visitor's request to the page, and the project that answers it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, overload

import msgspec

from clew.errors import ClewError, InvalidArgument
from clew.operation.call import Call, decode_as, perform
from clew.operation.declare import Operation
from clew.operation.listing import ListedOperation
from clew.project import Project

T = TypeVar("T")

MOST_IN_ADDRESS = 2_000
"""Characters of one part of a query."""
PAGE = 100
FARTHEST_PAGE = 100_000


class TemplateView(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a view: a template with its data."""

    template: str
    title: str
    section: str = ""
    """The entry of the navigation that it belongs to."""
    data: Mapping[str, Any] = {}
    status: int = 200
    watches: tuple[str, ...] = ()
    """The ids and files whose change makes the view outdated; none for any change."""


class Redirect(msgspec.Struct, frozen=True):
    """A redirect to another address, after an action or because the thing is there."""

    to: str
    said: str = ""
    """A message about the change, shown once on the next page."""


ViewResult = TemplateView | Redirect


class PageRequest:
    def __init__(
        self,
        project: Project,
        tools: Sequence[ListedOperation],
        query: Mapping[str, str],
        *,
        name: str = "",
        form: Mapping[str, str] | None = None,
        may_write: bool = False,
        origin: str = "",
    ) -> None:
        self.project = project
        self.name = name
        """The name in the path: an id, a file."""
        self.form: Mapping[str, str] = form or {}
        self.may_write = may_write
        self.origin = origin
        """The address of this server, as the visitor wrote it."""
        self.notes: list[str] = []
        """Notes on what the answers lack."""
        self._query = query
        self._tools = tools

    def ask(self, operation: type[Operation], **arguments: Any) -> Any:
        """Carry out an operation, as every other surface does."""
        request = decode_as(operation, arguments, operation.about.tool or operation.about.verb or "the page")
        call = self.call()
        result = perform(request, call)
        self.notes += [note for note in call.notes if note not in self.notes]
        return result

    def tried(self, operation: type[Operation], **arguments: Any) -> Any | None:
        """The same for a part of a view that may be missing: None, and a note with the reason."""
        try:
            return self.ask(operation, **arguments)
        except ClewError as error:
            self.notes.append(error.message)
            return None

    def call(self) -> Call:
        """A call with the rights of a visitor: without a key, no private notes."""
        return Call(self.project, self._tools, surface="web" if self.may_write else "mcp", session=None)

    @contextmanager
    def reading(self) -> Iterator[Project]:
        """The project in step with its files, for services without an operation; ask for no operation inside."""
        self.project.ensure_graph()
        with self.project.context.lock.reading():
            yield self.project

    # The address

    def text(self, name: str, default: str = "") -> str:
        value = self._query.get(name, default)
        if len(value) > MOST_IN_ADDRESS:
            raise InvalidArgument(
                f"'{name}' in the address has {len(value)} characters; {MOST_IN_ADDRESS} are the most.",
                hint="Ask for less.",
            )
        return value

    def choice(self, name: str, choices: Sequence[T], default: T) -> T:
        value = self.text(name, str(default))
        found = next((each for each in choices if str(each) == value), None)
        if found is None:
            allowed = ", ".join(str(each) for each in choices if str(each))
            raise InvalidArgument(
                f"'{name}={value[:80]}' in the address is none of: {allowed}.",
                hint=f"Leave {name} out for the default.",
            )
        return found

    def flag(self, name: str) -> bool:
        return self.text(name) in ("1", "true", "on", "yes")

    def number(self, name: str, default: int, *, most: int = FARTHEST_PAGE) -> int:
        value = self.text(name)
        if not value:
            return default
        if not value.isascii() or not value.isdecimal() or not 1 <= int(value[:9]) <= most:
            raise InvalidArgument(
                f"'{name}={value[:80]}' in the address is not a number from 1 to {most}.", hint=f"Leave {name} out."
            )
        return int(value)

    @property
    def query(self) -> dict[str, str]:
        return dict(self._query)

    # The form

    @overload
    def field(self, name: str) -> str: ...
    @overload
    def field(self, name: str, default: str) -> str: ...
    def field(self, name: str, default: str | None = None) -> str:
        value = self.form.get(name, default)
        if value is None:
            raise InvalidArgument(f"The form lacks '{name}'.", hint="Load the page again; it may be an older one.")
        return value.replace("\r\n", "\n")


ViewFunction = Callable[[PageRequest], ViewResult]
