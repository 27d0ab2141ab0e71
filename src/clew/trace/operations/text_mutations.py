"""Toolset trace: drafts of what stands around assertions, which elspais got after February 2026."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from clew.operation.one_line import MANY_LINES
from clew.trace.operations.mutations import (
    Cited,
    Citing,
    Confirm,
    Id,
    Label,
    Long,
    Mutation,
    NewId,
    Short,
    Title,
    Version,
    WhichKind,
    path_of_file,
)

Content = Annotated[str, Meta(min_length=1, max_length=25_000, description="The text below the heading"), MANY_LINES]
MaybeContent = Annotated[
    Annotated[str, Meta(max_length=25_000)] | None, Meta(description="The text below the heading"), MANY_LINES
]
SectionId = Annotated[str, Meta(min_length=1, max_length=300, description="Such as REQ-d00062:section:1; see get_node")]
JourneyId = Annotated[str, Meta(min_length=1, max_length=300, description="Such as JNY-Reader-01")]
FileId = Annotated[str, Meta(min_length=1, max_length=2_000, description="A spec file, such as file:REQ:spec/a.md")]
FileVersion = Annotated[Short | None, Meta(description="Not looked at: a file that changed on disk is refused")]


class AddRemainder(
    Mutation,
    tool="mutate_add_remainder",
    title="Add a section",
    later=True,
    example={"req_id": "REQ-d00001", "heading": "Notes", "text": "See the tables."},
):
    """Adds a section such as Rationale or Notes at the end of a requirement or journey. Returns the MutationEntry with
    the section's id. A draft: in no file until save_mutations; undo_last_mutation undoes it."""

    guarded = "req_id"

    req_id: Id
    heading: Title
    text_: Content = msgspec.field(name="text")
    if_version: Version = None


class UpdateRemainder(
    Mutation,
    tool="mutate_update_remainder",
    title="Change a section",
    later=True,
):
    """Changes the text or the heading of a section, named as get_node names it. Returns the MutationEntry. A draft: in
    no file until save_mutations; undo_last_mutation undoes it."""

    guarded = "node_id"

    node_id: SectionId
    text_: MaybeContent = msgspec.field(name="text", default=None)
    heading: Annotated[Long | None, Meta(description="Another heading")] = None
    if_version: Version = None


class DeleteRemainder(
    Mutation,
    tool="mutate_delete_remainder",
    title="Delete a section",
    later=True,
    destructive=True,
):
    """Removes a section; needs confirm=true. Returns the MutationEntry with its text. A draft: in no file until
    save_mutations; undo_last_mutation undoes it."""

    guarded = "node_id"
    removes = "a section"

    node_id: SectionId
    confirm: Confirm = False
    if_version: Version = None


class SetStereotype(
    Mutation,
    tool="mutate_set_stereotype",
    title="Mark a template",
    later=True,
    example={"node_id": "REQ-d00001", "is_template": True},
):
    """Marks a requirement as a template, or takes the mark away; that is refused while others satisfy it, unless
    force=true. Returns the MutationEntry. A draft: in no file until save_mutations; undo_last_mutation undoes it."""

    guarded = "node_id"

    node_id: Id
    is_template: Annotated[bool, Meta(description="Whether it is one")]
    force: Annotated[bool, Meta(description="Take the mark away though others satisfy it")] = False
    if_version: Version = None


class UpdateJourneyField(
    Mutation,
    tool="mutate_update_journey_field",
    title="Change a journey's field",
    later=True,
):
    """Changes actor, goal or context of a user journey. Returns the MutationEntry. A draft: in no file until
    save_mutations; undo_last_mutation undoes it."""

    guarded = "node_id"

    node_id: JourneyId
    field_name: Annotated[str, Meta(min_length=1, max_length=40, description="actor, goal or context")]
    value: Annotated[str, Meta(min_length=1, max_length=5_000, description="One line"), MANY_LINES]
    if_version: Version = None


class JourneySection(
    Mutation,
    tool="mutate_journey_section",
    title="Change a journey's sections",
    later=True,
    destructive=True,
):
    """Adds, changes or deletes a section of a user journey, such as Steps. Returns the MutationEntry. A draft: in no
    file until save_mutations; undo_last_mutation undoes it."""

    guarded = "node_id"

    node_id: JourneyId
    action: Annotated[str, Meta(min_length=1, max_length=20, description="add, update or delete")]
    name: Annotated[str, Meta(min_length=1, max_length=300, description="The heading, such as Steps")]
    new_name: Annotated[Short | None, Meta(description="Another heading")] = None
    content: MaybeContent = None
    if_version: Version = None

    def operation(self) -> str:
        """As elspais names them: add_journey_section, update_journey_section, delete_journey_section."""
        action = self.action.strip().casefold()
        return f"{action}_journey_section" if action in ("add", "update", "delete") else "journey_section"


class AddJourney(
    Mutation,
    tool="mutate_add_journey",
    title="Add a journey",
    later=True,
):
    """Adds an empty user journey to a spec file, new or not; mutate_journey_section adds its steps. Returns the
    MutationEntry. A draft: in no file until save_mutations; undo_last_mutation undoes it."""

    guarded = "file_id"

    journey_id: NewId
    title: Title
    file_id: FileId
    if_version: FileVersion = None

    def arguments(self) -> dict[str, Any]:
        return {**super().arguments(), "file_id": path_of_file(self.file_id), "if_version": None}


class DeleteJourney(
    Mutation,
    tool="mutate_delete_journey",
    title="Delete a journey",
    later=True,
    destructive=True,
):
    """Removes a user journey; needs confirm=true. Tests that cite its steps are left with broken references. Returns
    the MutationEntry with its text. A draft: in no file until save_mutations; undo_last_mutation undoes it."""

    guarded = "node_id"
    removes = "a journey"

    node_id: JourneyId
    confirm: Confirm = False
    if_version: Version = None


class ChangeEdgeTargets(
    Mutation,
    tool="mutate_change_edge_targets",
    title="Change what a reference names",
    later=True,
    example={"source_id": "REQ-d00001", "target_id": "REQ-o00002", "assertion_targets": ["A"]},
):
    """Lets a reference name other assertions of the requirement it cites; an empty list means all of it. Returns the
    MutationEntry. A draft: in no file until save_mutations; undo_last_mutation undoes it."""

    guarded = "source_id"

    source_id: Citing
    target_id: Cited
    assertion_targets: Annotated[tuple[Label, ...], Meta(max_length=100, description="Labels; none means all of it")]
    edge_kind: WhichKind = None
    if_version: Version = None


class MoveNodeToFile(
    Mutation,
    tool="mutate_move_node_to_file",
    title="Move to another file",
    later=True,
    example={"node_id": "REQ-d00001", "target_file_id": "file:REQ:spec/moved.md"},
):
    """Moves a requirement or journey, byte for byte, to the end of another spec file, new or not. move_requirement does
    so at once. Returns the MutationEntry. A draft: in no file until save_mutations; undo_last_mutation undoes it."""

    guarded = "node_id"

    node_id: Id
    target_file_id: FileId
    if_version: Version = None
    if_source_file_version: FileVersion = None
    if_target_version: FileVersion = None

    def arguments(self) -> dict[str, Any]:
        given = super().arguments()
        del given["if_source_file_version"], given["if_target_version"]
        return {**given, "target_file_id": path_of_file(self.target_file_id)}
