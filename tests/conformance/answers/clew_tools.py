"""The suite's tools that can be tools of Clew: they run through its registry, schemas, threads and error dialects."""

from typing import Annotated

import msgspec

from clew.errors import Refused
from clew.operation.call import Call
from clew.operation.registry import Freshness, NoArguments, Tool, Toolset


class Said(msgspec.Struct, frozen=True):
    said: Annotated[str, msgspec.Meta(description="One sentence.")]


def simple_text(_: Call, __: NoArguments) -> Said:
    return Said(said="One plain text block.")


def failing(_: Call, __: NoArguments) -> Said:
    raise Refused("This tool fails on purpose.", hint="Call another one.")


def with_progress(call: Call, _: NoArguments) -> Said:
    for percent in (0, 50, 100):
        call.progress(percent, 100, "working")
    return Said(said="Progress was reported three times.")


TOOLS = tuple(
    Tool(
        name=name,
        toolset=Toolset.CORE,
        title=name.replace("_", " "),
        description=description,
        request=NoArguments,
        result=Said,
        run=run,
        needs=Freshness.NONE,
    )
    for name, description, run in (
        ("test_simple_text", "Returns one text block.", simple_text),
        ("test_error_handling", "Fails on purpose.", failing),
        ("test_tool_with_progress", "Reports progress three times.", with_progress),
    )
)
