"""Editing a requirement of the elspais format: a form becomes mutations, which are drafts until they are saved."""

from collections.abc import Iterator
from typing import Any

import msgspec

from clew.errors import Conflict, InvalidArgument
from clew.operation.declare import Operation
from clew.surfaces.web import addresses
from clew.surfaces.web.actions.confirming import confirm
from clew.surfaces.web.page_request import PageRequest, Redirect, TemplateView, ViewResult
from clew.surfaces.web.pictures.difference import MarkedText, words
from clew.surfaces.web.texts import field_of, label_of, sections_of_requirement
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


class FieldEdit(msgspec.Struct, frozen=True):
    """One difference between the form and the requirement."""

    what: str
    theirs: str
    mine: str
    operation: type[Operation]
    arguments: dict[str, Any]
    guarded: bool = True

    @property
    def parts(self) -> tuple[tuple[MarkedText, ...], tuple[MarkedText, ...]]:
        return words(self.theirs, self.mine)


def draft_requirement(request: PageRequest) -> ViewResult:
    """Draft the differences of the form. If the requirement changed since it was edited, both sides are shown
    instead."""
    detail: RequirementDetail = request.ask(GetRequirement, req_id=request.name)
    edits = list(_edits(request, detail))
    if not edits:
        return Redirect(addresses.requirement(detail.id), "Nothing was changed.")
    if request.field("version") != detail.version:
        return conflict(request, detail, edits)
    version = detail.version
    for edit in edits:
        given = {**edit.arguments, "if_version": version} if edit.guarded else edit.arguments
        try:
            made = request.ask(edit.operation, **given)
        except Conflict:
            return conflict(request, request.ask(GetRequirement, req_id=request.name), edits)
        version = made.version or version
    return Redirect(DRAFTS, f"Drafted: {', '.join(edit.what for edit in edits)}. Nothing is in the files yet.")


def conflict(request: PageRequest, detail: RequirementDetail, edits: list[FieldEdit]) -> TemplateView:
    return TemplateView(
        template="conflict.html",
        title=f"{detail.id} changed meanwhile",
        section="requirements",
        status=409,
        data={"detail": detail, "edits": edits, "fields": _kept(request, detail.version), "address": request.name},
    )


def _kept(request: PageRequest, version: str) -> dict[str, str]:
    return {**{name: request.field(name) for name in request.form if name != "form_key"}, "version": version}


def _edits(request: PageRequest, detail: RequirementDetail) -> Iterator[FieldEdit]:
    title, status = request.field("title", detail.title).strip(), request.field("status", detail.status).strip()
    if title != detail.title:
        yield FieldEdit("title", detail.title, title, MutateUpdateTitle, {"node_id": detail.id, "new_title": title})
    if status != detail.status:
        yield FieldEdit(
            "status", detail.status, status, MutateChangeStatus, {"node_id": detail.id, "new_status": status}
        )
    for each in detail.assertions:
        text = request.field(f"assertion-{each.label}", each.text).strip()
        if not text:
            given = {"assertion_id": each.id, "confirm": True}
            yield FieldEdit(f"assertion {each.label} removed", each.text, "", MutateDeleteAssertion, given)
        elif text != each.text:
            yield FieldEdit(
                f"assertion {each.label}",
                each.text,
                text,
                MutateUpdateAssertion,
                {"assertion_id": each.id, "new_text": text},
            )
    if added := request.field("new-assertion", "").strip():
        yield FieldEdit("new assertion", "", added, MutateAddAssertion, {"req_id": detail.id, "text": added})
    yield from _texts(request, detail)
    yield from _references(request, detail)


def _texts(request: PageRequest, detail: RequirementDetail) -> Iterator[FieldEdit]:
    """Edits of the text below the fields, and of sections such as the rationale. The last section is removed first,
    because the ids of sections are their numbers."""
    with request.reading() as project:
        sections = sections_of_requirement(project, detail.id)
    removed: list[FieldEdit] = []
    for each in sections:
        text = request.field(field_of(each), each.text).strip()
        if not text:
            given = {"node_id": each.id, "confirm": True}
            removed.append(FieldEdit(f"{label_of(each)} removed", each.text, "", MutateDeleteRemainder, given))
        elif text != each.text.strip():
            yield FieldEdit(label_of(each), each.text, text, MutateUpdateRemainder, {"node_id": each.id, "text": text})
    yield from reversed(removed)
    if heading := request.field("new-heading", "").strip():
        text = request.field("new-section", "").strip()
        yield FieldEdit(
            f"new {heading}", "", text, MutateAddRemainder, {"req_id": detail.id, "heading": heading, "text": text}
        )


def _references(request: PageRequest, detail: RequirementDetail) -> Iterator[FieldEdit]:
    if cites := request.field("cites", "").strip():
        kind = request.field("cites-kind", "implements")
        given = {"source_id": detail.id, "target_id": cites, "edge_kind": kind}
        yield FieldEdit(f"{kind} {cites}", "", cites, MutateAddEdge, given)
    for parent in detail.parents:
        if request.field(f"drop-{parent.id}", ""):
            gone: dict[str, Any] = {"source_id": detail.id, "target_id": parent.id, "confirm": True}
            yield FieldEdit(f"{parent.edge_kind} {parent.id} removed", parent.id, "", MutateDeleteEdge, gone)
    for broken in detail.broken_references:
        if mended := request.field(f"mend-{broken}", "").strip():
            given = {"source_id": detail.id, "old_target_id": broken, "new_target_id": mended}
            yield FieldEdit(f"{broken} becomes {mended}", broken, mended, MutateFixBrokenReference, given)


def save_drafts(request: PageRequest) -> ViewResult:
    """Write all drafts to their files, if they did not change since they were shown."""
    message = request.field("message", "").strip() or None
    saved = request.ask(SaveMutations, message=message, if_tip_mutation_id=request.field("tip"))
    return Redirect(DRAFTS, f"{saved.message} Undo takes it back.")


def undo_draft(request: PageRequest) -> ViewResult:
    undone = request.ask(UndoLastMutation)
    return Redirect(DRAFTS, undone.message)


def undo_to(request: PageRequest) -> ViewResult:
    undone = request.ask(UndoToMutation, mutation_id=request.field("mutation"))
    return Redirect(DRAFTS, undone.message)


def accept_text(request: PageRequest) -> ViewResult:
    """Write the hash of a requirement whose text was reviewed: first the difference, then the file."""
    write = request.field("confirm", "") == "1"
    report = request.ask(FixRequirements, what=[request.name], hashes=True, dry_run=not write)
    if write:
        return Redirect(addresses.requirement(request.name), "The hash was written. Activity can take it back.")
    if not report.diff:
        raise InvalidArgument(f"The hash of {request.name} is right.", hint="There is nothing to write.")
    return confirm(
        f"Accept the text of {request.name}",
        "requirements",
        action=addresses.path_of("do", "accept", request.name),
        fields={},
        label="Write the hash",
        back=addresses.requirement(request.name),
        diff=report.diff,
    )
