"""Editing an entry of the register: the difference of the file first, then the file, and a way back."""

from typing import Any

from clew.errors import Conflict
from clew.formats.register.records import requirement_object
from clew.operation.call import decode_as
from clew.register.change.draft import current_author
from clew.register.operations.edit import UpdateRequirement
from clew.surfaces.web import addresses
from clew.surfaces.web.actions.confirming import confirm
from clew.surfaces.web.visit import Moved, Shown, View, Visit

_TEXTS = ("title", "statement", "rationale", "priority", "status")


def update_entry(visit: Visit) -> Shown:
    """Show what the form would write; with `confirm`, write it if the file is still the one that was shown."""
    register = visit.project.register
    before = requirement_object(register.show(visit.name))
    given = _given(visit, before)
    back = addresses.requirement(visit.name)
    if not given:
        return Moved(back, "Nothing was changed.")
    reason = visit.field("reason", "").strip() or "edited on the page"
    wanted = decode_as(UpdateRequirement, {"id": visit.name, "reason": reason, **given}, "req_update")
    author = current_author()
    if visit.field("confirm", "") == "1":
        try:
            done = register.update(author, wanted, expected=visit.field("expected"))
        except Conflict:
            return _preview(visit, given, reason, register.preview_update(author, wanted), before)
        return Moved(back, f"{done.id}: {'; '.join(done.changes)}")
    return _preview(visit, given, reason, register.preview_update(author, wanted))


def _given(visit: Visit, before: dict[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name in _TEXTS:
        value = visit.field(name, "").strip()
        if value and value.casefold() != str(before[name] or "").casefold():
            given[name] = value
    if "acceptance" in visit.form:
        wanted = [line.strip() for line in visit.field("acceptance").split("\n") if line.strip()]
        if wanted != list(before["acceptance"]):
            given["acceptance"] = wanted
    return given


def _preview(
    visit: Visit, given: dict[str, Any], reason: str, changed: tuple[str, str], there: dict[str, Any] | None = None
) -> View:
    diff, version = changed
    fields = {name: "\n".join(value) if isinstance(value, list) else value for name, value in given.items()}
    sides = [(name, _said(there[name]), value) for name, value in fields.items()] if there is not None else []
    return confirm(
        f"{visit.name} changed meanwhile" if there is not None else f"Change {visit.name}",
        "requirements",
        action=addresses.path_of("do", "register", visit.name),
        fields={**fields, "reason": reason, "expected": version},
        label="Write it to the register",
        back=addresses.requirement(visit.name),
        diff=diff,
        sides=sides,
    )


def _said(value: Any) -> str:
    return "\n".join(value) if isinstance(value, list | tuple) else str(value or "")
