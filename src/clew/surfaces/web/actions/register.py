"""Editing an entry of the register: first the difference of the file, then the file, with an undo."""

from typing import Any

from clew.errors import Conflict
from clew.formats.register.records import requirement_object
from clew.operation.call import decode_as
from clew.register.change.draft import current_author
from clew.register.operations.edit import UpdateRequirement
from clew.surfaces.web import addresses
from clew.surfaces.web.actions.confirming import confirm
from clew.surfaces.web.page_request import PageRequest, Redirect, TemplateView, ViewResult

_TEXTS = ("title", "statement", "rationale", "priority", "status")


def update_entry(request: PageRequest) -> ViewResult:
    """Show the difference that the form makes; with `confirm`, write it if the file did not change since it was
    shown."""
    register = request.project.register
    before = requirement_object(register.show(request.name))
    given = _given(request, before)
    back = addresses.requirement(request.name)
    if not given:
        return Redirect(back, "Nothing was changed.")
    reason = request.field("reason", "").strip() or "edited on the page"
    wanted = decode_as(UpdateRequirement, {"id": request.name, "reason": reason, **given}, "req_update")
    author = current_author()
    if request.field("confirm", "") == "1":
        try:
            done = register.update(author, wanted, expected=request.field("expected"))
        except Conflict:
            return _preview(request, given, reason, register.preview_update(author, wanted), before)
        return Redirect(back, f"{done.id}: {'; '.join(done.changes)}")
    return _preview(request, given, reason, register.preview_update(author, wanted))


def _given(request: PageRequest, before: dict[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name in _TEXTS:
        value = request.field(name, "").strip()
        if value and value.casefold() != str(before[name] or "").casefold():
            given[name] = value
    if "acceptance" in request.form:
        wanted = [line.strip() for line in request.field("acceptance").split("\n") if line.strip()]
        if wanted != list(before["acceptance"]):
            given["acceptance"] = wanted
    return given


def _preview(
    request: PageRequest,
    given: dict[str, Any],
    reason: str,
    changed: tuple[str, str],
    there: dict[str, Any] | None = None,
) -> TemplateView:
    diff, version = changed
    fields = {name: "\n".join(value) if isinstance(value, list) else value for name, value in given.items()}
    sides = [(name, _as_text(there[name]), value) for name, value in fields.items()] if there is not None else []
    return confirm(
        f"{request.name} changed meanwhile" if there is not None else f"Change {request.name}",
        "requirements",
        action=addresses.path_of("do", "register", request.name),
        fields={**fields, "reason": reason, "expected": version},
        label="Write it to the register",
        back=addresses.requirement(request.name),
        diff=diff,
        sides=sides,
    )


def _as_text(value: Any) -> str:
    return "\n".join(value) if isinstance(value, list | tuple) else str(value or "")
