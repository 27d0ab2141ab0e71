"""Section "definitions": all that a name may mean, where several definitions are meant as much."""

import time
from collections.abc import Iterator

from clew.derived.code_file import FiledSymbol
from clew.text.display import counted, one_line
from clew.why.answer import EvidenceSection, Fact, section
from clew.why.inquiry import Inquiry

MOST = 12


def definitions(inquiry: Inquiry) -> EvidenceSection:
    target = inquiry.target
    first = target.definitions[0]
    hint = f"Name the one that is meant, such as `clew why {first.path}::{first.qualname}`."
    return section("definitions", _facts(inquiry), absent="Not known.", note=hint, most=MOST)


def _facts(inquiry: Inquiry) -> Iterator[Fact]:
    until = time.monotonic() + inquiry.left
    for symbol in inquiry.target.definitions:
        yield Fact(_line_of(inquiry, symbol, until), "recorded", f"{symbol.path}:{symbol.at}")


def _line_of(inquiry: Inquiry, symbol: FiledSymbol, until: float) -> str:
    """A definition with the number of its uses, as far as there is time to look for them."""
    line = f"{symbol.path}::{symbol.qualname}, {symbol.kind}: {one_line(symbol.head, 100)}"
    if time.monotonic() > until:
        return line
    uses = inquiry.project.uses.uses_of(symbol, inquiry.call.check)
    return f"{line} ({counted(len(uses.uses), 'use')})"
