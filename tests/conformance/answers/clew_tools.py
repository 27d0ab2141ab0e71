"""The suite's tools that can be tools of Clew: they run through its listing, schemas, threads and error dialects."""

from typing import Annotated

import msgspec

from clew.errors import Refused
from clew.operation.call import Call
from clew.operation.declare import Freshness, Operation
from clew.operation.prepare import as_listed


class Said(msgspec.Struct, frozen=True):
    said: Annotated[str, msgspec.Meta(description="One sentence.")]


class SimpleText(Operation, tool="test_simple_text", title="test simple text", needs=Freshness.NONE):
    """Returns one text block."""

    def run(self, call: Call) -> Said:
        return Said(said="One plain text block.")


class Failing(Operation, tool="test_error_handling", title="test error handling", needs=Freshness.NONE):
    """Fails on purpose."""

    def run(self, call: Call) -> Said:
        raise Refused("This tool fails on purpose.", hint="Call another one.")


class WithProgress(Operation, tool="test_tool_with_progress", title="test tool with progress", needs=Freshness.NONE):
    """Reports progress three times."""

    def run(self, call: Call) -> Said:
        for percent in (0, 50, 100):
            call.progress(percent, 100, "working")
        return Said(said="Progress was reported three times.")


TOOLS = tuple(map(as_listed, (SimpleText, Failing, WithProgress)))
