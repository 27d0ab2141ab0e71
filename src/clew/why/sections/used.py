"""Section "used by": the lines of code that use the target, and with what certainty."""

# Implements: REQ-d00781

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, cast

from clew.derived.code_file import FiledSymbol
from clew.formats.code.facts.model import MODULE
from clew.text.display import counted, one_line
from clew.why.answer import Basis, EvidenceSection, Fact, section
from clew.why.inquiry import Inquiry
from clew.why.sections.dependants import importing, named
from clew.why.users import not_seen

if TYPE_CHECKING:
    from clew.code.results import ShownUse
    from clew.graph.code.binding.uses import Use, Uses

MOST = 6
_IMPORTS = frozenset({"import", "reexport", "export"})
_MOST_NAMES = 4


class UsesOf(NamedTuple):
    """Uses of a symbol, or of all that a file defines."""

    real: tuple["Use", ...]
    """The nearest first, without imports."""
    imports: tuple["Use", ...]
    """The first import of each file that does nothing else with it."""
    in_tests: int
    generated: int
    uses: "Uses"


def used_by(inquiry: Inquiry) -> EvidenceSection:
    """Uses outside of tests; the section about tests has the others."""
    path = inquiry.target.path or ""
    symbol = kept_symbol(inquiry)
    if symbol is not None:
        facts, absent, note = _of_symbol(inquiry, symbol)
    else:
        facts, absent, note = list(importing(inquiry)), "Not known: nothing that uses it was found.", ""
        if inquiry.target.symbol is not None:
            facts += named(inquiry, {fact.place for fact in facts})
        elif inquiry.has_rules(path):
            facts, note = _of_file(inquiry, path, facts)
    limits = not_seen(inquiry.code, path, is_bound=inquiry.has_rules(path))
    return section("used_by", facts, absent=absent, note=" ".join(filter(None, (note, limits))), most=MOST)


def kept_symbol(inquiry: Inquiry) -> FiledSymbol | None:
    """The target's symbol, if its uses are bound by the rules of its language."""
    symbol, _ = inquiry.target.symbol, inquiry.code
    return symbol if isinstance(symbol, FiledSymbol) and inquiry.has_rules(symbol.path) else None


def _of_symbol(inquiry: Inquiry, symbol: FiledSymbol) -> tuple[list[Fact], str, str]:
    found = uses_of(inquiry, symbol)
    service = inquiry.project.uses
    facts = [use_fact(use) for use in service.shown(found.real[:MOST])]
    facts += [_left_out(use) for use in found.real[MOST:]]
    facts += [Fact(f"{use.path} imports {symbol.name}", _basis(use), f"{use.path}:{use.line}") for use in found.imports]
    absent = (
        f"Not known: no use was found outside of tests, in {counted(found.uses.files, 'file')} with the name "
        f"'{symbol.name}'; uses that are made while the program runs are not seen."
    )
    return facts, absent, _note(found)


def uses_of(inquiry: Inquiry, symbol: FiledSymbol) -> UsesOf:
    from clew.code.requests import UsesQuery

    service = inquiry.project.uses
    uses = service.uses_of(symbol, inquiry.call.check)
    wanted, generated = service.selected(uses.uses, symbol, UsesQuery(target=symbol.name, tests=False))
    real = tuple(use for use in wanted if use.kind.name.lower() not in _IMPORTS)
    using = {use.path for use in real} | {symbol.path}
    imports: dict[str, Use] = {}
    for use in wanted:
        if use.path not in using:
            imports.setdefault(use.path, use)
    in_tests = sum(1 for use in uses.uses if service.tests.holds(use.path))
    return UsesOf(real, tuple(imports.values()), in_tests, generated, uses)


def use_fact(use: "ShownUse") -> Fact:
    inside = f" in {use.inside}" if use.inside else ""
    return Fact(f"{use.kind}{inside}: {one_line(use.text, 80)}", _basis(use), f"{use.path}:{use.line}")


def _left_out(use: "Use") -> Fact:
    """A use that is only counted: its line is not read."""
    return Fact(use.kind.name.lower(), _basis(use), f"{use.path}:{use.line}:{use.column}")


def _basis(use: "ShownUse | Use") -> Basis:
    return cast("Basis", use.basis)


def _note(found: UsesOf) -> str:
    parts = []
    if found.real:
        files = len({use.path for use in found.real})
        parts.append(f"{counted(len(found.real), 'use')} in {counted(files, 'file')}")
    if found.in_tests:
        parts.append(f"{found.in_tests} in tests")
    if found.generated:
        parts.append(f"{found.generated} in generated or copied files")
    if found.uses.unbound:
        parts.append(f"{counted(found.uses.unbound, 'place')} of this name could not be resolved")
    if found.uses.one_of:
        parts.append(f"{counted(len(found.uses.one_of), 'place')} may use this or another definition of the name")
    return f"{'; '.join(parts)}." if parts else ""


# Files


def _of_file(inquiry: Inquiry, path: str, imports: list[Fact]) -> tuple[list[Fact], str]:
    """The files that use what a file defines, each with the names; then those that only import it."""
    by_file, note = file_uses(inquiry, path)
    facts = [_using(user, names) for user, names in by_file.items()]
    facts += [each for each in imports if each.place.rpartition(":")[0] not in by_file and not _is_test(inquiry, each)]
    return facts, note


def file_uses(inquiry: Inquiry, path: str) -> "tuple[dict[str, dict[str, Use]], str]":
    """By file outside of tests, the first use of each name that a file defines; with a note on what was left out."""
    until = time.monotonic() + inquiry.left
    by_file: dict[str, dict[str, Use]] = {}
    looked_at, symbols = 0, [each for each in inquiry.symbols if each.parent == MODULE]
    for symbol in symbols:
        if time.monotonic() > until or not isinstance(symbol, FiledSymbol):
            break
        looked_at += 1
        for use in _outside(uses_of(inquiry, symbol), path):
            by_file.setdefault(use.path, {}).setdefault(symbol.name, use)
    left = len(symbols) - looked_at
    return by_file, f"The uses of {counted(left, 'other name')} of the file were not looked for." if left else ""


def _outside(found: UsesOf, path: str) -> Iterator["Use"]:
    return (use for use in found.real if use.path != path)


def _using(path: str, names: "dict[str, Use]") -> Fact:
    first = min(names.values(), key=lambda use: use.line)
    shown = ", ".join(list(names)[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
    return Fact(f"{path} uses {shown}", _basis(first), f"{path}:{first.line}")


def _is_test(inquiry: Inquiry, fact: Fact) -> bool:
    return inquiry.project.uses.tests.holds(fact.place.rpartition(":")[0])
