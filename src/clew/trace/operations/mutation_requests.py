"""The arguments of the mutation tools."""

from typing import Annotated

from msgspec import Meta

from clew.operation.registry import MaxTokens, PageCursor, Request

Short = Annotated[str, Meta(max_length=300)]
Long = Annotated[str, Meta(max_length=2_000)]

Id = Annotated[str, Meta(min_length=1, max_length=300, description="Such as REQ-d00062")]
AssertionId = Annotated[str, Meta(min_length=1, max_length=300, description="Such as REQ-d00062-A")]
NewId = Annotated[str, Meta(min_length=1, max_length=300, description="A free id in the project's grammar")]
Title = Annotated[str, Meta(min_length=1, max_length=1_000, description="One line without *")]
Status = Annotated[str, Meta(min_length=1, max_length=100, description="Such as Draft or Active")]
Text = Annotated[str, Meta(min_length=1, max_length=25_000, description="The statement, without its label")]
Label = Annotated[str, Meta(min_length=1, max_length=10, description="Such as B")]
Citing = Annotated[str, Meta(min_length=1, max_length=300, description="What cites: the child")]
Cited = Annotated[str, Meta(min_length=1, max_length=300, description="What is cited: the parent")]
Kind = Annotated[str, Meta(min_length=1, max_length=40, description="implements, refines, satisfies, addresses")]
WhichKind = Annotated[Short | None, Meta(description="Needed only where they are tied in several ways")]
Confirm = Annotated[bool, Meta(description="Must be true")]
Version = Annotated[Short | None, Meta(description="Refuse unless get_requirement still gives this version")]
Tip = Annotated[Short | None, Meta(description="Refuse unless this is the newest pending mutation; empty for none")]


class RenameNodeRequest(Request, frozen=True, kw_only=True):
    old_id: Id
    new_id: NewId
    if_version: Version = None


class UpdateTitleRequest(Request, frozen=True, kw_only=True):
    node_id: Id
    new_title: Title
    if_version: Version = None


class ChangeStatusRequest(Request, frozen=True, kw_only=True):
    node_id: Id
    new_status: Status
    if_version: Version = None


class AddRequirementRequest(Request, frozen=True, kw_only=True):
    req_id: NewId
    title: Title
    level: Annotated[str, Meta(min_length=1, max_length=100, description="Such as prd, ops or dev")]
    status: Status = "Draft"
    parent_id: Annotated[Short | None, Meta(description="What it cites; a label may follow, as in REQ-p00001-A")] = None
    edge_kind: Annotated[Short | None, Meta(description="How it cites its parent: implements if left out")] = None
    file_path: Annotated[Long | None, Meta(description="A spec file, new or not; that of the parent if left out")] = (
        None
    )
    if_version: Annotated[Short | None, Meta(description="Of the parent")] = None


class DeleteRequirementRequest(Request, frozen=True, kw_only=True):
    node_id: Id
    confirm: Confirm = False
    if_version: Version = None


class AddAssertionRequest(Request, frozen=True, kw_only=True):
    req_id: Id
    label: Annotated[Short | None, Meta(description="The next free one if left out")] = None
    text: Text
    if_version: Version = None


class UpdateAssertionRequest(Request, frozen=True, kw_only=True):
    assertion_id: AssertionId
    new_text: Text
    if_version: Version = None


class DeleteAssertionRequest(Request, frozen=True, kw_only=True):
    assertion_id: AssertionId
    compact: Annotated[
        bool | None,
        Meta(description="Move later labels down by one: true, false, or where no reference changes its meaning"),
    ] = None
    confirm: Confirm = False
    if_version: Version = None


class RenameAssertionRequest(Request, frozen=True, kw_only=True):
    old_id: AssertionId
    new_label: Label
    if_version: Version = None


class AddEdgeRequest(Request, frozen=True, kw_only=True):
    source_id: Citing
    target_id: Cited
    edge_kind: Kind
    assertion_targets: Annotated[
        tuple[Label, ...], Meta(max_length=100, description="Labels of the parent that are meant; none means all of it")
    ] = ()
    if_version: Version = None


class ChangeEdgeKindRequest(Request, frozen=True, kw_only=True):
    source_id: Citing
    target_id: Cited
    new_kind: Kind
    edge_kind: WhichKind = None
    if_version: Version = None


class DeleteEdgeRequest(Request, frozen=True, kw_only=True):
    source_id: Citing
    target_id: Cited
    confirm: Confirm = False
    edge_kind: WhichKind = None
    if_version: Version = None


class FixBrokenReferenceRequest(Request, frozen=True, kw_only=True):
    source_id: Annotated[str, Meta(min_length=1, max_length=1_000, description="A requirement, journey, test or code")]
    old_target_id: Annotated[str, Meta(min_length=1, max_length=300, description="The broken reference as written")]
    new_target_id: Cited
    if_version: Version = None


class UndoLastRequest(Request, frozen=True, kw_only=True):
    if_mutation_id: Tip = None


class UndoToRequest(Request, frozen=True, kw_only=True):
    mutation_id: Annotated[str, Meta(min_length=1, max_length=100, description="From get_mutation_log or a save")]
    if_tip_mutation_id: Tip = None


class LogRequest(Request, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=500, description="Mutations at most")] = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class SaveRequest(Request, frozen=True, kw_only=True):
    save_branch: Annotated[bool, Meta(description="Make a git safety branch first")] = False
    message: Annotated[Long | None, Meta(description="Why, for the record")] = None
    if_tip_mutation_id: Tip = None
