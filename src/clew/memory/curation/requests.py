"""The requests of curation: merging, forgetting, restoring, annotating, weighing and checking memories."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from clew.memory.arguments import NodeId, Rationale
from clew.memory.model import LONGEST_NOTES
from clew.operation.one_line import MANY_LINES

MergeStrategy = Literal["summarize", "keep_highest", "keep_newest", "concatenate"]
ForgetReason = Literal[
    "obsolete", "duplicate", "incorrect", "user_requested", "semantic_cancer", "adversarial_injection"
]
StatedLink = Literal[
    "related", "causes", "because_of", "replaces", "supports", "contradicts", "part_of", "has_part", "both_hold"
]
Check = Literal["conflicts", "duplicates", "outdated", "low_confidence"]
SpaceName = Literal["semantic", "causal", "code", "temporal", "entity"]
Goal = Annotated[str, Meta(min_length=10, max_length=1_000, description="What you try to achieve")]


class MergeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Several memories that become one."""

    source_node_ids: Annotated[tuple[NodeId, ...], Meta(min_length=2, max_length=50, description="Memories to merge")]
    target_name: Annotated[str, Meta(min_length=1, max_length=256, description="Title of the merged memory")]
    merge_strategy: Annotated[MergeStrategy, Meta(description="How the text is made")] = "summarize"
    rationale: Rationale = ""
    force_merge: Annotated[bool, Meta(description="Also where they differ")] = False


class ForgetRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that is forgotten, for a reason."""

    node_id: NodeId
    reason: Annotated[ForgetReason, Meta(description="Why")]
    rationale: Rationale = ""
    soft_delete: Annotated[bool, Meta(description="Can be restored")] = True


class RestoreRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the memory that is undone."""

    reversal_hash: Annotated[str, Meta(max_length=200, description="As a tool returned it")]
    cascade: Annotated[bool, Meta(description="Also undo later changes of the same memories")] = False


class Annotations(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Additions to a memory besides its text."""

    tags: tuple[str, ...] = ()
    domain: Literal["Code", "Medical", "Legal", "Creative", "Research", "General"] | None = None
    confidence: Annotated[float, Meta(ge=0, le=1)] | None = None
    notes: Annotated[str, Meta(max_length=LONGEST_NOTES), MANY_LINES] | None = None
    related_concepts: tuple[str, ...] = ()


class AnnotationRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Annotations of one memory."""

    node_id: NodeId
    annotations: Annotated[
        Annotations,
        Meta(description="tags, domain, confidence (0 to 1), notes, related_concepts (ids, causes:ID, both_hold:ID)"),
    ]


class StatedLinkRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A link from one memory to another one."""

    source_id: NodeId
    target_id: NodeId
    link_type: Annotated[StatedLink, Meta(description="How source stands to target; both_hold dismisses a verdict")]
    rationale: Rationale = ""


class BoostRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A step by which a memory becomes more or less important."""

    node_id: NodeId
    delta: Annotated[float, Meta(ge=-0.5, le=0.5, description="-0.5 to 0.5")]
    rationale: Rationale = ""


class CritiqueQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Recent memories that are checked against each other."""

    context_window: Annotated[int, Meta(ge=1, le=50, description="How many")] = 10
    check_types: Annotated[tuple[Check, ...], Meta(description="What to check")] = ("conflicts", "duplicates")
    focal_nodes: Annotated[tuple[NodeId, ...], Meta(max_length=50, description="Only these")] = ()


class SearchPlanQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A goal for which queries are planned."""

    goal: Goal
    focus_spaces: Annotated[tuple[SpaceName, ...], Meta(description="Sides that come first")] = ()
    max_queries: Annotated[int, Meta(ge=1, le=7, description="Queries at most")] = 3
