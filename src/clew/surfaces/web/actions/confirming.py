"""The page between a form and the file: the difference, and the button that writes it."""

from collections.abc import Mapping, Sequence

from clew.surfaces.web.page_request import TemplateView
from clew.surfaces.web.pictures.difference import DiffLine, as_files

Side = tuple[str, str, str]
"""The name of a field, its present value, and the value in the form."""


def confirm(
    title: str,
    section: str,
    *,
    action: str,
    fields: Mapping[str, str],
    label: str,
    back: str,
    diff: str = "",
    lines: Sequence[DiffLine] = (),
    sides: Sequence[Side] = (),
) -> TemplateView:
    """Ask for a confirmation. If somebody else changed the same thing, `sides` shows both versions."""
    shown = {"files": as_files(diff), "lines": lines, "sides": sides}
    asked = {"action": action, "fields": {**fields, "confirm": "1"}, "label": label, "back": back}
    return TemplateView(
        template="confirm.html", title=title, section=section, status=409 if sides else 200, data={**shown, **asked}
    )
