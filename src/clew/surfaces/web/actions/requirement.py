"""Editing a requirement of the elspais format: a form becomes mutations, which are drafts until they are saved."""

from collections.abc import Iterator
from typing import Any

import msgspec

from clew.errors import Conflict, InvalidArgument
from clew.operation.declare import Operation
from clew.surfaces.web import addresses
from clew.surfaces.web.actions.confirming import confirm
from clew.surfaces.web.pictures.difference import Part, words
from clew.surfaces.web.texts import field_of, label_of, sections_of_requirement
from clew.surfaces.web.visit import Moved, Shown, View, Visit
from clew.trace.operations.fix import FixRequirements
from clew.trace.operations.mutations import (
    MutateAddAssertion,
    MutateAddEdge,
    MutateAddRemainder,
    MutateChangeStatus,
    MutateDeleteAssertion,
    MutateDeleteEdge,
    MutateDeleteRemainder,
    MutateFixBrokenReference,
    MutateUpdateAssertion,
    MutateUpdateRemainder,
    MutateUpdateTitle,
    SaveMutations,
    UndoLastMutation,
    UndoToMutation,
)
from clew.trace.operations.read import GetRequirement
from clew.trace.read.results import RequirementDetail

DRAFTS = "/activity/drafts"


class Wish(msgspec.Struct, frozen=True):
    """One difference between the form and the requirement."""

    what: str
    theirs: str
    mine: str
    operation: type[Operation]
    arguments: dict[str, Any]
    guarded: bool = True

    @property
    def parts(self) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
        return words(self.theirs, self.mine)


def draft_requirement(visit: Visit) -> Shown:
    """Draft what the form says differently. Where the requirement is another than the one that was edited, both sides
    are shown instead."""
    detail: RequirementDetail = visit.ask(GetRequirement, req_id=visit.name)
    wishes = list(_wishes(visit, detail))
    if not wishes:
        return Moved(addresses.requirement(detail.id), "Nothing was changed.")
    if visit.field("version") != detail.version:
        return conflict(visit, detail, wishes)
    version = detail.version
    for wish in wishes:
        given = {**wish.arguments, "if_version": version} if wish.guarded else wish.arguments
        try:
            made = visit.ask(wish.operation, **given)
        except Conflict:
            return conflict(visit, visit.ask(GetRequirement, req_id=visit.name), wishes)
        version = made.version or version
    return Moved(DRAFTS, f"Drafted: {', '.join(wish.what for wish in wishes)}. Nothing is in the files yet.")


def conflict(visit: Visit, detail: RequirementDetail, wishes: list[Wish]) -> View:
    return View(
        template="conflict.html",
        title=f"{detail.id} changed meanwhile",
        section="requirements",
        status=409,
        data={"detail": detail, "wishes": wishes, "fields": _kept(visit, detail.version), "address": visit.name},
    )


def _kept(visit: Visit, version: str) -> dict[str, str]:
    return {**{name: visit.field(name) for name in visit.form if name != "form_key"}, "version": version}


def _wishes(visit: Visit, detail: RequirementDetail) -> Iterator[Wish]:
    title, status = visit.field("title", detail.title).strip(), visit.field("status", detail.status).strip()
    if title != detail.title:
        yield Wish("title", detail.title, title, MutateUpdateTitle, {"node_id": detail.id, "new_title": title})
    if status != detail.status:
        yield Wish("status", detail.status, status, MutateChangeStatus, {"node_id": detail.id, "new_status": status})
    for each in detail.assertions:
        text = visit.field(f"assertion-{each.label}", each.text).strip()
        if not text:
            given = {"assertion_id": each.id, "confirm": True}
            yield Wish(f"assertion {each.label} removed", each.text, "", MutateDeleteAssertion, given)
        elif text != each.text:
            yield Wish(
                f"assertion {each.label}",
                each.text,
                text,
                MutateUpdateAssertion,
                {"assertion_id": each.id, "new_text": text},
            )
    if added := visit.field("new-assertion", "").strip():
        yield Wish("new assertion", "", added, MutateAddAssertion, {"req_id": detail.id, "text": added})
    yield from _texts(visit, detail)
    yield from _references(visit, detail)


def _texts(visit: Visit, detail: RequirementDetail) -> Iterator[Wish]:
    """The text below the fields, and sections such as the rationale. They have numbers: the last is removed first."""
    with visit.reading() as project:
        sections = sections_of_requirement(project, detail.id)
    removed: list[Wish] = []
    for each in sections:
        text = visit.field(field_of(each), each.text).strip()
        if not text:
            given = {"node_id": each.id, "confirm": True}
            removed.append(Wish(f"{label_of(each)} removed", each.text, "", MutateDeleteRemainder, given))
        elif text != each.text.strip():
            yield Wish(label_of(each), each.text, text, MutateUpdateRemainder, {"node_id": each.id, "text": text})
    yield from reversed(removed)
    if heading := visit.field("new-heading", "").strip():
        text = visit.field("new-section", "").strip()
        yield Wish(
            f"new {heading}", "", text, MutateAddRemainder, {"req_id": detail.id, "heading": heading, "text": text}
        )


def _references(visit: Visit, detail: RequirementDetail) -> Iterator[Wish]:
    if cites := visit.field("cites", "").strip():
        kind = visit.field("cites-kind", "implements")
        given = {"source_id": detail.id, "target_id": cites, "edge_kind": kind}
        yield Wish(f"{kind} {cites}", "", cites, MutateAddEdge, given)
    for parent in detail.parents:
        if visit.field(f"drop-{parent.id}", ""):
            gone: dict[str, Any] = {"source_id": detail.id, "target_id": parent.id, "confirm": True}
            yield Wish(f"{parent.edge_kind} {parent.id} removed", parent.id, "", MutateDeleteEdge, gone)
    for broken in detail.broken_references:
        if mended := visit.field(f"mend-{broken}", "").strip():
            given = {"source_id": detail.id, "old_target_id": broken, "new_target_id": mended}
            yield Wish(f"{broken} becomes {mended}", broken, mended, MutateFixBrokenReference, given)


def save_drafts(visit: Visit) -> Shown:
    """Write all drafts to their files, if they are still those that were shown."""
    message = visit.field("message", "").strip() or None
    saved = visit.ask(SaveMutations, message=message, if_tip_mutation_id=visit.field("tip"))
    return Moved(DRAFTS, f"{saved.message} Undo takes it back.")


def undo_draft(visit: Visit) -> Shown:
    undone = visit.ask(UndoLastMutation)
    return Moved(DRAFTS, undone.message)


def undo_to(visit: Visit) -> Shown:
    undone = visit.ask(UndoToMutation, mutation_id=visit.field("mutation"))
    return Moved(DRAFTS, undone.message)


def accept_text(visit: Visit) -> Shown:
    """Write the hash of a requirement whose text was reviewed: first the difference, then the file."""
    write = visit.field("confirm", "") == "1"
    report = visit.ask(FixRequirements, what=[visit.name], hashes=True, dry_run=not write)
    if write:
        return Moved(addresses.requirement(visit.name), "The hash was written. Activity can take it back.")
    if not report.diff:
        raise InvalidArgument(f"The hash of {visit.name} is right.", hint="There is nothing to write.")
    return confirm(
        f"Accept the text of {visit.name}",
        "requirements",
        action=addresses.path_of("do", "accept", visit.name),
        fields={},
        label="Write the hash",
        back=addresses.requirement(visit.name),
        diff=report.diff,
    )
