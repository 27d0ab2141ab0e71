"""Section "tested by": the tests of code, by what they cite, what ran and what they use."""

# Implements: REQ-d00781

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from clew.derived.code_file import FiledSymbol
from clew.formats.code.facts.model import MODULE
from clew.text.display import counted
from clew.why.answer import Basis, EvidenceSection, Fact, section
from clew.why.changes.reaching import FoundTests, tests_reaching
from clew.why.changes.together import changed_together
from clew.why.inquiry import Inquiry
from clew.why.sections.asked import TargetCitations
from clew.why.sections.proved import (
    Reports,
    by_citation,
    by_import,
    by_lines,
    called_after,
    is_named_after,
    without_results,
)
from clew.why.sections.used import kept_symbol

if TYPE_CHECKING:
    from clew.code.results import ReachingTest

_MOST = 5
_MOST_NAMES = 3
_MOST_FIXTURES = 3


def tested_by(inquiry: Inquiry, cited: TargetCitations) -> EvidenceSection:
    """Executed lines, then tests that cite the target, that use it, and that verify what is around it."""
    reports = Reports(inquiry)
    citations = list(by_citation(inquiry, cited, reports))
    uses, note = _uses(inquiry, reports)
    if not uses and not citations and kept_symbol(inquiry) is None:
        how = "named after it" if inquiry.target.symbol is None else "named after its file"
        uses = list(called_after(inquiry, how))
    # What the target itself cites says more about it than a use; what its package cites says less.
    is_own = any(basis == "stated" for _, basis, _ in cited.edges)
    facts = [*by_lines(inquiry, reports), *([*citations, *uses] if is_own else [*uses, *citations])]
    if not facts and inquiry.target.symbol is not None and inquiry.target.path:
        facts = list(_together(inquiry, inquiry.target.path))
    notes = (note, without_results(inquiry))
    absent = "Not known: no test was found."
    return section("tested_by", facts, absent=absent, note=" ".join(filter(None, notes)), most=_MOST)


def _together(inquiry: Inquiry, path: str) -> Iterator[Fact]:
    """Files of tests that the commits of a file changed too, where nothing else leads to a test."""
    for each in changed_together(inquiry.project, path, inquiry.left):
        often = counted(each.commits, "commit")
        yield Fact(f"{each.path} changed in {often} with {path}", "recorded", f"{each.path}:1")


def _uses(inquiry: Inquiry, reports: Reports) -> tuple[list[Fact], str]:
    symbol, path = kept_symbol(inquiry), inquiry.target.path or ""
    until = time.monotonic() + inquiry.left
    if symbol is not None:
        found = tests_reaching(inquiry.project.uses, symbol, inquiry.call.check, until, 1)
        return [_of_test(inquiry, each, reports) for each in found.tests], _note(found)
    if inquiry.target.symbol is None and inquiry.has_rules(path):
        return list(_of_file(inquiry, path, until)), ""
    return list(by_import(inquiry, reports)), ""


def _of_test(inquiry: Inquiry, test: "ReachingTest", reports: Reports) -> Fact:
    name = test.name or test.path.rpartition("/")[2]
    does = "replaces it" if test.how == "patch" else "uses it"
    if test.through:
        does = f"{'replaces' if test.how == 'patch' else 'reaches'} it through {', '.join(test.through[:_MOST_NAMES])}"
    at = f" on line {test.use_line}" if test.use_line and test.use_line != test.line else ""
    node = f"test:{test.path}::{test.name.replace('.', '::')}"
    verdict = f": {reports.result(node)}" if inquiry.graph.evidence.verdict(node) is not None else ""
    return Fact(f"{name} {does}{at}{verdict}", cast("Basis", test.basis), f"{test.path}:{test.line}")


def _note(found: FoundTests) -> str:
    parts = []
    if found.run_by_all:
        shown = ", ".join(found.run_by_all[:_MOST_FIXTURES])
        parts.append(f"Every test in the folder of {shown} uses it.")
    if found.tests:
        files = len({test.path for test in found.tests})
        parts.append(f"{counted(len(found.tests), 'test')} in {counted(files, 'file')}.")
    if found.callers:
        parts.append("No test uses it itself; these test what calls it.")
    elif not found.tests and not found.run_by_all:
        parts.append(f"Looked through {counted(found.looked_at, 'file')} with the name.")
    if found.is_cut:
        parts.append("More were not looked for.")
    return " ".join(parts)


def _of_file(inquiry: Inquiry, path: str, until: float) -> Iterator[Fact]:
    """The files of tests that use what a file defines, with the number of tests."""
    service = inquiry.project.uses
    tests: dict[str, dict[str, ReachingTest]] = {}
    names: dict[str, dict[str, None]] = {}
    for symbol in inquiry.symbols:
        if symbol.parent != MODULE or not isinstance(symbol, FiledSymbol) or time.monotonic() > until:
            continue
        for test in service.tests_of(symbol, inquiry.call.check).tests:
            if test.path != path:
                tests.setdefault(test.path, {}).setdefault(test.name, test)
                names.setdefault(test.path, {})[symbol.name] = None
    for place, found in sorted(
        tests.items(), key=lambda item: (not is_named_after(item[0], path), -len(item[1]), item[0])
    ):
        used = list(names[place])
        shown = ", ".join(used[:_MOST_NAMES]) + (", …" if len(used) > _MOST_NAMES else "")
        first = min(found.values(), key=lambda test: test.line)
        does = "uses" if len(found) == 1 else "use"
        yield Fact(
            f"{counted(len(found), 'test')} in {place} {does} {shown}",
            cast("Basis", first.basis),
            f"{place}:{first.line}",
        )
