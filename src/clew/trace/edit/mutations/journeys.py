"""Mutations of user journeys: add, delete, fields and sections."""

from typing import Annotated

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument, Refused, WrongKind
from clew.formats.elspais.write.sections import journey_text, with_journey_field
from clew.graph.model import Node, NodeKind
from clew.operation.one_line import MANY_LINES
from clew.trace.edit.mutations.mutation import (
    Confirm,
    FileId,
    FileVersion,
    MaybeContent,
    Mutation,
    MutationEffect,
    NewId,
    Short,
    Title,
    Version,
    path_of_file,
)
from clew.trace.edit.mutations.sections import AddRemainder, DeleteRemainder, UpdateRemainder
from clew.trace.edit.text.draft import ChangeDraft
from clew.trace.edit.text.insertion import insertion_point
from clew.trace.edit.text.sections import section_named

JourneyId = Annotated[str, Meta(min_length=1, max_length=300, description="Such as JNY-Reader-01")]

FIELDS = ("actor", "goal", "context")
SECTION_ACTIONS = ("add", "update", "delete")


class UpdateJourneyField(Mutation, frozen=True, kw_only=True):
    """Another actor, goal or context for a journey."""

    operation = "update_journey_field"

    node_id: JourneyId
    field_name: Annotated[str, Meta(min_length=1, max_length=40, description="actor, goal or context")]
    value: Annotated[str, Meta(min_length=1, max_length=5_000, description="One line"), MANY_LINES]
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        node, name = _journey(draft, self.node_id), self.field_name.strip().casefold()
        if name not in FIELDS:
            raise InvalidArgument(
                f"'{self.field_name}' is not a field of a journey.", hint=f"Fields are: {', '.join(FIELDS)}."
            )
        value = " ".join(draft.rules.text(self.value).split())
        block = draft.block(node.id)
        data = with_journey_field(block.data, draft.grammar, name, value)
        draft.rewrite(block, data, "A field is one line of text.", hashed=False, **{name: value})
        settled = self.settled(node_id=node.id, field_name=name, value=value)
        before, after = {"field": name, "value": node.get_field(name, "")}, {"field": name, "value": value}
        return MutationEffect(settled, node.id, node.id, before, after, f"The {name} of {node.id} is changed.")


class JourneySection(Mutation, frozen=True, kw_only=True):
    """A section of a journey that is added, changed or removed."""

    operation = "journey_section"

    node_id: JourneyId
    action: Annotated[str, Meta(min_length=1, max_length=20, description="add, update or delete")]
    name: Annotated[str, Meta(min_length=1, max_length=300, description="The heading, such as Steps")]
    new_name: Annotated[Short | None, Meta(description="Another heading")] = None
    content: MaybeContent = None
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        node = _journey(draft, self.node_id)
        made = self._of_section(draft, node.id).plan(draft)
        return msgspec.structs.replace(
            made, mutation=self.settled(node_id=node.id, action=self._action), target_id=node.id
        )

    def _of_section(self, draft: ChangeDraft, id: str) -> Mutation:
        if self._action not in SECTION_ACTIONS:
            raise InvalidArgument(
                f"'{self.action}' is not an action.", hint=f"Actions are: {', '.join(SECTION_ACTIONS)}."
            )
        if self._action == "add":
            return AddRemainder(req_id=id, heading=self.new_name or self.name, text_=self.content or "")
        section = section_named(draft.block(id).record, self.name)
        if self._action == "delete":
            return DeleteRemainder(node_id=section.id)
        return UpdateRemainder(node_id=section.id, text_=self.content, heading=self.new_name)

    @property
    def recorded_as(self) -> str:
        """As elspais names them: add_journey_section, update_journey_section, delete_journey_section."""
        return f"{self._action}_{self.operation}"

    @property
    def _action(self) -> str:
        return self.action.strip().casefold()


class AddJourney(Mutation, frozen=True, kw_only=True):
    """An empty journey in a file, new or not."""

    operation = "add_journey"
    guarded = ""

    journey_id: NewId
    title: Title
    file_id: FileId
    if_version: FileVersion = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        id = draft.rules.new_id(self.journey_id, kind=NodeKind.USER_JOURNEY)
        title, path = draft.rules.title(self.title), draft.files.checked(path_of_file(self.file_id))
        if draft.graph.get_node(id) is not None:
            raise Refused(f"The id '{id}' is taken.", hint="Choose another id; query_nodes lists journeys.")
        spot = insertion_point(draft, path)
        draft.add(path, spot.position, spot.lead, journey_text(id, title, spot.style))
        settled = self.settled(journey_id=id, title=title, file_id=path)
        after = {"id": id, "title": title, "path": path}
        return MutationEffect(settled, id, id, {}, after, f"{id} will be written to {path}.")


class DeleteJourney(Mutation, frozen=True, kw_only=True):
    """The end of a journey. Tests that cite its steps are left with broken references."""

    operation = "delete_journey"
    removes = "a journey"

    node_id: JourneyId
    confirm: Confirm = False
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        node = _journey(draft, self.node_id)
        draft.remove(draft.block(node.id))
        before = {"id": node.id, "title": node.title, "body": node.get_field("body", "")}
        return MutationEffect(self.settled(node_id=node.id), node.id, None, before, {}, f"{node.id} will be removed.")


def _journey(draft: ChangeDraft, id: str) -> Node:
    node = draft.rules.authored(id)
    if node.kind is not NodeKind.USER_JOURNEY:
        raise WrongKind(f"'{node.id}' is a {node.kind.value}, not a journey.", hint="Pass the id of a journey.")
    return node
