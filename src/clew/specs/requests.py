"""The requests to the specs that have more than one value."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from clew.operation.declare import Option

_CHANGE_NEEDED = ("`{command}` needs the id of a change.", "`clew change list` shows the open ones.")

ChangeId = Annotated[
    str,
    Meta(min_length=1, max_length=400, description="Such as add-login"),
    Option(positional=True, needed=_CHANGE_NEEDED),
]


class ArchiveRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A change that is applied to the specs and archived."""

    change_id: ChangeId
    dry_run: Annotated[bool, Meta(description="Only show what would be done; false writes")] = True
    confirm: Annotated[bool, Meta(description="Must be true to write")] = False
    move: Annotated[bool, Meta(description="Move the folder into the archive afterwards")] = True
    unfinished: Annotated[bool, Meta(description="Archive though tasks are not done"), Option("-y", "--yes")] = False
    take: Annotated[
        Literal["spec", "change"] | None, Meta(description="Which side wins where there is a conflict; default refuse")
    ] = None
    accept_base: Annotated[bool, Meta(description="Continue although git no longer knows the base of the change")] = (
        False
    )
