"""Section "open changes": lines that are not committed, drafts that are not saved, open changes of specs."""

from collections.abc import Collection, Iterator

from clew.formats.openspec.references import requirement_id
from clew.graph.model import NodeKind
from clew.text.display import one_line
from clew.why.answer import EvidenceSection, Fact, section
from clew.why.inquiry import Inquiry
from clew.workspace.git import api as git


def pending(inquiry: Inquiry, requirements: Collection[str]) -> EvidenceSection:
    """Open changes and drafts. `requirements` are the target itself, or those that it serves."""
    facts = [*_uncommitted(inquiry), *_drafts(inquiry, requirements), *_of_specs(inquiry, requirements)]
    return section("open_changes", facts, absent="None.", most=5)


def _uncommitted(inquiry: Inquiry) -> Iterator[Fact]:
    path = inquiry.target.path
    if path is None or inquiry.readiness.head is None:
        return
    changed = git.uncommitted(inquiry.root, (path,))
    if changed is None:
        return
    first, last = inquiry.span
    ranges = [each for each in changed.ranges.get(path, ()) if each[0] <= last and each[1] >= first]
    if ranges == list(git.WHOLE_FILE):
        yield Fact("the file is new and not committed", "recorded", path)
    elif ranges:
        lines = ", ".join(f"{a}-{b}" if b > a else str(a) for a, b in ranges[:5])
        yield Fact(f"lines {lines} differ from the last commit", "recorded", f"{path}:{ranges[0][0]}")


def _drafts(inquiry: Inquiry, requirements: Collection[str]) -> Iterator[Fact]:
    context = inquiry.project.context
    if inquiry.target.path in context.parts.drafted_paths():
        yield Fact("an unsaved draft is about to change this file", "recorded", inquiry.target.path or "")
    for id in context.parts.drafted_nodes():
        if id in requirements:
            yield Fact(f"{id} has an unsaved draft", "recorded", id)


def _of_specs(inquiry: Inquiry, requirements: Collection[str]) -> Iterator[Fact]:
    graph = inquiry.graph
    if not requirements or not any(
        node.get_field("change_id") for node in graph.memory.nodes_by_kind(NodeKind.REMAINDER)
    ):
        return
    for id, entry in inquiry.project.specs.library.changes.items():
        for delta in entry.change.deltas:
            for word, several in (("changes", delta.modified), ("adds", delta.added)):
                for each in several:
                    if requirement_id(delta.spec_id, each.slug) in requirements:
                        path = entry.delta_paths[delta.spec_id]
                        text = f"the open change '{id}' {word} {one_line(each.name, 80)}"
                        yield Fact(text, "stated", f"{path}:{each.span.line}")
