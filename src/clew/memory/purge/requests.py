"""The request of a purge."""

from typing import Annotated

import msgspec
from msgspec import Meta

from clew.memory.arguments import KindName
from clew.operation.declare import Option
from clew.operation.one_line import MANY_LINES

Ids = Annotated[
    tuple[str, ...],
    Meta(description="Ids of memories, or their first digits"),
    Option(positional=True, metavar="ID"),
]


class PurgeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The memories that are to be purged. Of several conditions all have to hold."""

    ids: Ids = ()
    text_: Annotated[
        str | None,
        Meta(description="Every memory that holds this text, or ever held it"),
        MANY_LINES,
        Option("--text", metavar="TEXT"),
    ] = msgspec.field(name="text", default=None)
    kind: Annotated[KindName | None, Meta(description="Only of this kind")] = None
    agent: Annotated[str | None, Meta(description="Only of this agent"), Option(metavar="NAME")] = None
    session: Annotated[str | None, Meta(description="Only of this session"), Option(metavar="ID")] = None
    before: Annotated[str | None, Meta(description="Only recorded before this time"), Option(metavar="TIME")] = None
    forgotten: Annotated[bool, Meta(description="Only forgotten ones")] = False
    all_: Annotated[bool, Meta(description="Everything that is remembered"), Option("--all")] = msgspec.field(
        name="all", default=False
    )

    @property
    def has_conditions(self) -> bool:
        return any((self.text_, self.kind, self.session, self.agent, self.before, self.forgotten))
