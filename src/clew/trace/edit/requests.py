"""The requests to the services that change requirements, besides the mutations themselves."""

from typing import Annotated

import msgspec
from msgspec import Meta

from clew.operation.one_line import MANY_LINES

Tip = Annotated[
    Annotated[str, Meta(max_length=300)] | None,
    Meta(description="Refuse unless this is the newest pending mutation; empty for none"),
]
RequirementId = Annotated[str, Meta(min_length=1, description="Such as REQ-d00062, or d62 for short")]
SaveBranch = Annotated[
    bool, Meta(description="First keep the state of all files, uncommitted ones included, in a safety branch")
]
DryRun = Annotated[bool, Meta(description="Show the difference, write nothing")]
IfVersion = Annotated[str | None, Meta(description="Refuse unless the requirement still has this version")]

LONGEST_PROMPT = 8_000


class UndoLast(msgspec.Struct, frozen=True, kw_only=True):
    if_mutation_id: Tip = None


class UndoTo(msgspec.Struct, frozen=True, kw_only=True):
    mutation_id: Annotated[str, Meta(min_length=1, max_length=100, description="From the log of mutations or a save")]
    if_tip_mutation_id: Tip = None


class ListDrafts(msgspec.Struct, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=500, description="Mutations at most")] = 50


class SaveDrafts(msgspec.Struct, frozen=True, kw_only=True):
    save_branch: Annotated[bool, Meta(description="Make a git safety branch first")] = False
    message: Annotated[
        Annotated[str, Meta(max_length=2_000)] | None, Meta(description="Why, for the record"), MANY_LINES
    ] = None
    if_tip_mutation_id: Tip = None
    dry_run: Annotated[bool, Meta(description="Show the difference of the files, write nothing")] = False


class PromptModel(msgspec.Struct, frozen=True, kw_only=True):
    req_id: RequirementId
    prompt: Annotated[
        str, Meta(min_length=1, max_length=LONGEST_PROMPT, description="What should become of its text"), MANY_LINES
    ]
    save_branch: SaveBranch = False
    dry_run: DryRun = False
    if_version: IfVersion = None


class RestoreBranch(msgspec.Struct, frozen=True, kw_only=True):
    branch_name: Annotated[str, Meta(min_length=1, description="Such as safety/REQ-d00001-20260215-093000")]
    if_tip_mutation_id: Annotated[
        Annotated[str, Meta(max_length=300)] | None, Meta(description="Refuse unless it is the newest draft")
    ] = None


class ListBranches(msgspec.Struct, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=500, description="Branches at most")] = 50
