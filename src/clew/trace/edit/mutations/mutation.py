"""The base of all mutations: arguments that several take, and the way from arguments to a change.

A mutation is planned from its own fields alone, so that a draft can be planned again on other files.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from clew.graph.changes import Change
from clew.graph.graph import Graph
from clew.graph.model import EdgeKind
from clew.operation.one_line import MANY_LINES
from clew.trace.edit.text.draft import ChangeDraft, DraftContext

Short = Annotated[str, Meta(max_length=300)]
Long = Annotated[str, Meta(max_length=2_000)]

Id = Annotated[str, Meta(min_length=1, max_length=300, description="Such as REQ-d00062")]
NewId = Annotated[str, Meta(min_length=1, max_length=300, description="A free id in the project's grammar")]
Title = Annotated[str, Meta(min_length=1, max_length=1_000, description="One line without *")]
Label = Annotated[str, Meta(min_length=1, max_length=10, description="Such as B")]
FileId = Annotated[str, Meta(min_length=1, max_length=2_000, description="A spec file, such as file:REQ:spec/a.md")]
Confirm = Annotated[bool, Meta(description="Must be true")]
Version = Annotated[Short | None, Meta(description="Refuse unless the requirement still has this version")]
FileVersion = Annotated[Short | None, Meta(description="Ignored: a file that changed on disk is refused")]
Content = Annotated[str, Meta(min_length=1, max_length=25_000, description="The text below the heading"), MANY_LINES]
MaybeContent = Annotated[
    Annotated[str, Meta(max_length=25_000)] | None, Meta(description="The text below the heading"), MANY_LINES
]

_CONDITIONS = ("confirm", "if_version", "if_source_file_version", "if_target_version")
"""Fields that say when a mutation may be made, not what it is."""


class MutationEffect(msgspec.Struct, frozen=True):
    """The effect of a mutation that is drafted, but not yet carried out."""

    mutation: "Mutation"
    """With its arguments in the project's own spelling, under which it can be planned again."""
    target_id: str
    subject_id: str | None
    """The requirement or journey it is about, as it is called afterwards; None where it is gone."""
    before: Mapping[str, Any]
    """The state that it replaces. A draft applies to other files only where this is the same there."""
    after: Mapping[str, Any]
    message: str
    affects_hash: bool = False
    assertion_id: str | None = None
    label: str | None = None


class Mutation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A change of requirements or journeys. Its fields are the arguments, `plan` makes the change."""

    operation: ClassVar[str]
    """The name of the mutation in the log and in the store."""
    guarded: ClassVar[str] = "node_id"
    """The field with the node whose version `if_version` demands; empty where no version is compared."""
    removes: ClassVar[str] = ""
    """The text that is gone afterwards, where the mutation removes any: it must be confirmed."""

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        """Validate the arguments, and write the change into the draft."""
        raise NotImplementedError

    def planned(self, context: DraftContext) -> tuple[Change, MutationEffect]:
        """The change in the graph and in the text, not yet carried out."""
        draft = ChangeDraft(context)
        outcome = self.plan(draft)
        if context.grammar.settings.hash_mode == "full-text":
            # Every word of a requirement counts.
            outcome = msgspec.structs.replace(outcome, affects_hash=True)
        return draft.change(self.recorded_as, outcome.target_id), outcome

    def removed(self, context: DraftContext) -> str:
        """The text that the mutation would delete, for the message of a refusal."""
        return self.removes

    @property
    def is_confirmed(self) -> bool:
        """True if the mutation may be made: one that deletes something has a field `confirm`."""
        return not self.removes or bool(getattr(self, "confirm", False))

    @property
    def guard(self) -> tuple[str, str] | None:
        """The node whose version is compared, and its expected version."""
        version: str | None = getattr(self, "if_version", None)
        id: str | None = getattr(self, self.guarded) if self.guarded else None
        return (id, version) if id is not None and version is not None else None

    @property
    def recorded_as(self) -> str:
        return self.operation

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments that a record needs to plan the mutation again, as JSON knows them."""
        fields: dict[str, Any] = msgspec.to_builtins(self)
        return {name: value for name, value in fields.items() if name not in _CONDITIONS}

    def settled(self, **spelled: Any) -> "Mutation":
        """The same mutation with some arguments in the project's own spelling."""
        return msgspec.structs.replace(self, **spelled)


MOST_CITING = 20
"""Of those who cite a requirement, so many are named."""


def citing_ids(graph: Graph, id: str) -> str:
    """The ids of the nodes that cite a requirement or its assertions, for a message; empty if there are none."""
    edges = (edge for edge in graph.iter_incoming_edges(id) if edge.kind is not EdgeKind.STRUCTURES)
    ids = sorted({edge.source for edge in edges})
    more = f" and {len(ids) - MOST_CITING} more" if len(ids) > MOST_CITING else ""
    return ", ".join(ids[:MOST_CITING]) + more


def path_of_file(id: str) -> str:
    """The path in the id of a file, which may name its namespace: `file:REQ:spec/a.md`."""
    bare = id.removeprefix("file:")
    namespace, separator, path = bare.partition(":")
    return path if separator and "/" not in namespace else bare
