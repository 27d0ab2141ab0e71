"""Files of specs and changes that are there and could not be read: listed with the reason instead of missing."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from clew.formats.diagnostics import Diagnostic
from clew.formats.openspec.layout import Place, PlaceKind, Root, classify
from clew.graph.readers.specs import MISPLACED

_NOTES = (PlaceKind.SPEC_NOTE, PlaceKind.CHANGE_NOTE, PlaceKind.DELTA_NOTE)
_FILE = "file."
"""What the codes begin with of files that no reader got to see."""


class Unread(msgspec.Struct, frozen=True):
    path: str
    place: Place
    reason: Diagnostic


def unread(diagnostics: Iterable[tuple[str, Diagnostic]], roots: Sequence[Root]) -> Iterator[Unread]:
    for path, reason in diagnostics:
        if reason.code.startswith(_FILE) or reason.code == MISPLACED:
            place = classify(path, roots)
            if place is not None and place.kind not in _NOTES:
                yield Unread(path, place, reason)
