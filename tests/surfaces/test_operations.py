"""What is declared of an operation, and the listing that is made from it."""

from importlib.resources import files
from typing import Any

import pytest

from clew.operation.declare import Freshness, Operation, Toolset
from clew.operation.prepare import prepared


# Verifies: REQ-o00004-E
def test_the_packaged_listing_is_what_the_declarations_say() -> None:
    packaged = files("clew.operation").joinpath("listing.json").read_bytes()
    assert packaged == prepared(), "`make docs` writes the listing anew"


def test_a_class_that_is_no_operation_itself_shares_what_it_declares() -> None:
    class Shared(Operation, toolset=Toolset.TRACE, needs=Freshness.NONE, writes=True):
        id: str

    class Remove(Shared, tool="remove", destructive=True):
        confirm: bool = False

    class Command(Remove, verb="remove"):
        pass

    assert (Remove.about.toolset, Remove.about.needs, Remove.about.writes) == (Toolset.TRACE, Freshness.NONE, True)
    assert Remove.about.destructive
    assert Remove.__struct_fields__ == ("id", "confirm")
    # An operation that takes over the fields of another one says for itself what it is.
    assert (Command.about.tool, Command.about.destructive) == (None, False)


def test_a_field_that_hides_a_method_is_refused_where_it_is_declared() -> None:
    with pytest.raises(TypeError, match="render_"):

        class Painting(Operation, tool="paint"):
            render: Any = None
