"""Nodes as the results of questions that list."""

from collections.abc import Sequence

from clew.graph.model import Node
from clew.trace.find.results import AssertionInContext, AssertionText, NodeSummary, PrunedSummary, ScopedSummary
from clew.trace.find.search import RequirementMatch
from clew.trace.read.results import ScoredSummary
from clew.trace.read.serialize import place, requirement_summary


def scored_summary(match: RequirementMatch) -> ScoredSummary:
    node = match.node
    return ScoredSummary(
        id=node.id,
        title=node.title,
        level=node.get_field("level", "Unknown"),
        status=node.get_field("status", "Unknown"),
        score=match.score,
    )


def scoped_summary(match: RequirementMatch, matched: Sequence[Node] = ()) -> ScopedSummary:
    own = requirement_summary(match.node)
    return ScopedSummary(
        id=own.id,
        title=own.title,
        level=own.level,
        status=own.status,
        score=match.score,
        matched_assertions=tuple(assertion_text(assertion) for assertion in matched),
    )


def pruned_summary(node: Node, superseded_by: tuple[str, ...]) -> PrunedSummary:
    own = requirement_summary(node)
    return PrunedSummary(own.id, own.title, own.level, own.status, superseded_by)


def node_summary(node: Node) -> NodeSummary:
    """A node of any kind; level and status are those of a requirement."""
    return NodeSummary(
        id=node.id,
        kind=node.kind.value,
        title=node.title,
        level=node.get_field("level"),
        status=node.get_field("status"),
        source=place(node),
        actor=node.get_field("actor") or None,
        goal=node.get_field("goal") or None,
    )


def assertion_text(node: Node) -> AssertionText:
    return AssertionText(id=node.id, label=node.get_field("label", ""), text=node.title)


def assertion_in_context(node: Node, parent: Node) -> AssertionInContext:
    return AssertionInContext(
        id=node.id,
        label=node.get_field("label", ""),
        text=node.title,
        parent_id=parent.id,
        parent_title=parent.title,
    )
