"""The requests of links: suggestions, and decisions about single ones."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from clew.operation.declare import Option

Decision = Literal["accept", "reject", "reconsider"]
FilePath = Annotated[
    str | None,
    Meta(description="A file of tests or code, or a folder, relative to the project; without it, all"),
    Option(positional=True, metavar="path", about="a file of tests or code, or a folder (default: the whole project)"),
]
Wait = Annotated[bool, Option(about="compute all embeddings first, which takes minutes the first time")]


class SuggestionQuery(msgspec.Struct, frozen=True):
    """Links that are probably missing."""

    file_path: FilePath = None
    limit: Annotated[int, Meta(ge=1, le=200, description="Suggestions at most")] = 20


class SuggestionSearch(SuggestionQuery, frozen=True):
    """All links that are probably missing, however long the search takes."""

    limit: Annotated[int, Option(metavar="N", about="suggestions at most")] = 20
    tests: Annotated[bool, Option(about="only tests; links of code are left out")] = False
    wait: Wait = False


class LinkRequest(msgspec.Struct, frozen=True):
    """A link of a test, function or class to a requirement, with the decision about it."""

    file_path: Annotated[str, Meta(min_length=1, description="A file of tests or code, relative to the project")]
    line: Annotated[int, Meta(ge=0, description="A line of the test, function or class; 0 is the top of the file")]
    requirement_id: Annotated[
        str, Meta(min_length=1, description="A requirement, or assertions of one: REQ-d00062, REQ-d00062-A, d62-A+B")
    ]
    decision: Annotated[
        Decision,
        Meta(description="reject remembers that it is not a link and writes nothing; reconsider takes that back"),
    ] = "accept"
    dry_run: Annotated[bool, Meta(description="Show the comment and its place, write nothing")] = False
    if_version: Annotated[
        str | None, Meta(description="Refuse if the file changed: file_version of the suggestion")
    ] = None
