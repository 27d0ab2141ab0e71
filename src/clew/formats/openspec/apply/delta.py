"""Applying a delta to a spec, as OpenSpec archives it, but by edits: untouched requirements keep every byte.

The order is RENAMED, REMOVED, MODIFIED, ADDED. What is done already is done again without effect, so that applying
twice is the same as applying once. Whatever cannot be done for certain is refused, and then nothing is changed at all.
A renamed requirement keeps its place (OpenSpec moves it to the end).
"""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from clew.formats.openspec.apply.plan import Edit, SpecEditor, edited
from clew.formats.openspec.change import ChangeProposal
from clew.formats.openspec.layout import Layout
from clew.formats.openspec.names import misspelled, suggestion
from clew.formats.openspec.reader import read_spec
from clew.formats.openspec.records import Delta, Requirement, SectionKind, Spec, settled
from clew.formats.openspec.rules.delta import check_delta, dropped_scenarios
from clew.formats.openspec.rules.rules import RULES, Dialect, Issue, IssueLevel, Issues
from clew.formats.openspec.rules.spec import validate_spec
from clew.text.lines import with_newlines

_STRUCTURAL = frozenset(
    {
        "requirements_missing",
        "delta_header_in_spec",
        "requirement_outside",
        "duplicate_requirement",
        "duplicate_section",
        "section_depth",
        "unclosed_fence",
    }
)


class DeltaKind(StrEnum):
    ADDED = "added"
    MODIFIED = "modified"
    REMOVED = "removed"
    RENAMED = "renamed"


class AppliedOperation(msgspec.Struct, frozen=True):
    """One operation of a delta."""

    operation: DeltaKind
    name: str
    new_name: str = ""
    already: bool = False
    """There was nothing to do: the spec is as the operation wants it."""


class Applied(msgspec.Struct, frozen=True):
    """Result of applying a delta to a spec."""

    spec_id: str
    before: bytes | None
    """None where the spec does not exist."""
    after: bytes | None
    """None where the spec is gone. The same as before where anything was refused."""
    edits: tuple[Edit, ...] = ()
    """From before to after; empty for a spec that is new or gone."""
    done: tuple[AppliedOperation, ...] = ()
    warnings: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()
    """Reasons why nothing was done; empty if everything was."""

    @property
    def changes_file(self) -> bool:
        return self.before != self.after


class ConflictDecisions(msgspec.Struct, frozen=True):
    """Decisions of conflicts, by the names of requirements."""

    spec: frozenset[str] = frozenset()
    """These stay as the spec has them; what the change says about them is left out."""
    change: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)
    """These become what the change says, whatever became of them since; each with the scenarios that somebody else
    added and that may be dropped. Others may not: leaving them out is a fault of the change and no conflict."""


NO_SIDES = ConflictDecisions()


def apply_change(
    change: ChangeProposal,
    files: Mapping[str, bytes],
    sides: Mapping[str, ConflictDecisions] | None = None,
    layout: Layout = Layout.OPENSPEC,
) -> tuple[Applied, ...]:
    """All deltas of a change on the files of the specs, by spec id. If one refuses, none may be written. `layout` says
    whose folder it is."""
    decided = sides or {}
    return tuple(
        apply_delta(
            files.get(delta.spec_id),
            delta,
            change_id=change.id,
            retire=change.retires,
            sides=decided.get(delta.spec_id, NO_SIDES),
            layout=layout,
        )
        for delta in change.deltas
    )


def apply_delta(
    data: bytes | None,
    delta: Delta,
    *,
    change_id: str = "",
    retire: bool = False,
    sides: ConflictDecisions = NO_SIDES,
    layout: Layout = Layout.OPENSPEC,
) -> Applied:
    """The spec after the delta. `retire` allows to remove the last requirement, and with it the file."""
    refusals = _faults(delta, layout)
    if refusals:
        return Applied(delta.spec_id, data, data, refusals=refusals)
    applying = _Applying(delta, sides, layout)
    if data is None:
        return applying.to_nothing(change_id, retire=retire)
    return applying.to_spec(data, read_spec(data, delta.spec_id), retire=retire)


def _faults(delta: Delta, layout: Layout) -> tuple[str, ...]:
    """Faults that make the delta unusable for any spec."""
    issues = Issues(Dialect.ALL)
    check_delta(delta, issues)
    found = [_placed(issue) for issue in issues.found() if _is_fault(issue, layout)]
    if delta.document.original is not None:
        found.append("The delta is not UTF-8. Save it as UTF-8.")
    return tuple(found)


def _is_fault(issue: Issue, layout: Layout) -> bool:
    """True if OpenSpec or Clew calls it an error. A rule of Spec Oxide alone does not prevent archiving, nor does, in a
    folder of Spec Oxide, a rule that it calls less than an error."""
    rule = RULES.get(issue.code)
    if rule is None:
        return issue.level is IssueLevel.ERROR or issue.code == "unclosed_fence"
    milder = layout is Layout.SPOX and rule.spox is not None and rule.spox is not IssueLevel.ERROR
    return IssueLevel.ERROR in (rule.openspec, rule.clew) and not milder


def _placed(issue: Issue) -> str:
    return f"Line {issue.line}: {issue.message}" if issue.line else issue.message


def _unaccounted(spec: Spec) -> str:
    """Contents of a spec besides title, purpose and requirements, by name; empty if there are none."""
    found = [section.heading for section in spec.document.of_kind(SectionKind.OTHER)]
    for section in spec.document.of_kind(SectionKind.HEAD, SectionKind.REQUIREMENTS):
        texts = (line for line in section.text.splitlines() if line.strip())
        found.extend(line[:80] for line in texts if line.lstrip("# \t") != spec.title)
    return ", ".join(map(repr, found))


class _Applying:
    """One application; collects what was done, what is worth a word, and what is refused."""

    def __init__(self, delta: Delta, sides: ConflictDecisions, layout: Layout) -> None:
        self._delta = delta
        self._layout = layout
        self._sides = sides
        self._done: list[AppliedOperation] = []
        self._warnings: list[str] = []
        self._refusals: list[str] = []

    # A new spec

    def to_nothing(self, change_id: str, *, retire: bool) -> Applied:
        delta = self._delta
        for name in (*(each.name for each in delta.modified), *(each.old for each in delta.renamed)):
            self._refusals.append(f"{name!r}: spec {delta.spec_id!r} does not exist; a new one can only have ADDED.")
        for removal in delta.removed:
            if retire or delta.added:
                self._warnings.append(f"{removal.name!r} is not removed: spec {delta.spec_id!r} does not exist.")
            else:
                self._refusals.append(f"REMOVED {removal.name!r}: spec {delta.spec_id!r} does not exist.")
        if not delta.added:
            return self._outcome(None, None)
        self._done += [AppliedOperation(DeltaKind.ADDED, each.name) for each in delta.added]
        return self._validated(None, self._skeleton(change_id), ())

    def _skeleton(self, change_id: str) -> bytes:
        delta = self._delta
        stated = delta.purpose.text if delta.purpose is not None else ""
        origin = f" It came with the change {change_id}." if change_id else ""
        purpose = stated or f"TBD. What {delta.spec_id} is for has not been written yet.{origin}"
        head = f"# {delta.spec_id} Specification\n\n## Purpose\n\n{purpose}\n\n## Requirements\n"
        parts = [head, *(f"\n{settled(requirement)}\n" for requirement in delta.added)]
        return with_newlines("".join(parts), b"\n")

    # A spec that exists

    def to_spec(self, data: bytes, spec: Spec, *, retire: bool) -> Applied:
        self._refusals += [_placed(each) for each in validate_spec(spec) if each.code in _STRUCTURAL]
        if self._refusals:
            return self._outcome(data, data)
        plan = SpecEditor(data, spec)
        self._check_purpose(spec)
        self._rename(plan)
        self._remove(plan)
        self._modify(plan)
        self._add(plan)
        if self._refusals:
            return self._outcome(data, data)
        if not len(plan) and spec.requirements:
            return self._retired(data, spec, retire=retire)
        edits = plan.edits()
        return self._validated(data, edited(data, edits), edits, plan)

    def _check_purpose(self, spec: Spec) -> None:
        stated = self._delta.purpose
        if stated is not None and (spec.purpose is None or stated.text != spec.purpose.text):
            self._warnings.append(f"The purpose in the delta is ignored: spec {spec.id!r} has its own.")

    def _rename(self, plan: SpecEditor) -> None:
        for rename in self._delta.renamed:
            old, new = rename.old, rename.new
            if self._is_left_out(old):
                continue
            if old in plan and new in plan:
                if self._came_after(old, plan):
                    self._done.append(AppliedOperation(DeltaKind.RENAMED, old, new, already=True))
                else:
                    self._refusals.append(f"RENAMED {old!r}: the new name {new!r} is taken.")
            elif old in plan:
                plan.rename(old, new)
                self._done.append(AppliedOperation(DeltaKind.RENAMED, old, new))
            elif (close := self._misspelled(old, plan)) is not None:
                self._refusals.append(f"RENAMED {old!r} is not in the spec, but {close!r} is. Correct the name.")
            elif self._last_name(new) in plan:
                self._done.append(AppliedOperation(DeltaKind.RENAMED, old, new, already=True))
            else:
                hint = suggestion(old, plan.names())
                self._refusals.append(f"RENAMED {old!r}: neither it nor {new!r} is in the spec.{hint}")

    def _is_left_out(self, name: str) -> bool:
        if name not in self._sides.spec:
            return False
        self._warnings.append(f"{name!r} stays as the spec has it.")
        return True

    def _misspelled(self, name: str, plan: SpecEditor) -> str | None:
        """The requirement that was probably meant; not one that the delta itself brought, in an earlier application."""
        brought = {each.name for each in self._delta.added} | {rename.new for rename in self._delta.renamed}
        return misspelled(name, (each for each in plan.names() if each not in brought))

    def _last_name(self, name: str) -> str:
        """New name of a requirement by the renames of the delta, which may form a chain."""
        targets = {rename.old: rename.new for rename in self._delta.renamed}
        seen: set[str] = set()
        while name in targets and name not in seen:
            seen.add(name)
            name = targets[name]
        return name

    def _came_after(self, name: str, plan: SpecEditor) -> bool:
        """True if the delta itself brings back a name that it renamed."""
        sources = {rename.new: rename.old for rename in self._delta.renamed}
        added = {requirement.name for requirement in self._delta.added}
        seen: set[str] = set()
        while name in sources and name not in seen and name not in added:
            seen.add(name)
            name = sources[name]
            if name not in plan:
                return True
        return name in added

    def _remove(self, plan: SpecEditor) -> None:
        for removal in self._delta.removed:
            there = plan.get(removal.name)
            if self._is_left_out(removal.name):
                continue
            if there is not None:
                self._report_asides(there)
                plan.remove(removal.name)
                self._done.append(AppliedOperation(DeltaKind.REMOVED, removal.name))
            elif (close := self._misspelled(removal.name, plan)) is not None:
                self._refusals.append(
                    f"REMOVED {removal.name!r} is not in the spec, but {close!r} is. Correct the name."
                )
            else:
                self._warnings.append(f"{removal.name!r} is not in the spec: already removed.")
                self._done.append(AppliedOperation(DeltaKind.REMOVED, removal.name, already=True))

    def _modify(self, plan: SpecEditor) -> None:
        for requirement in self._delta.modified:
            name = requirement.name
            there = plan.get(name)
            if self._is_left_out(name):
                continue
            if there is not None:
                self._replace(plan, DeltaKind.MODIFIED, there, requirement)
            elif name in self._sides.change:
                # Somebody removed it since; the change wins, so it is there again.
                plan.add(requirement)
                self._done.append(AppliedOperation(DeltaKind.MODIFIED, name))
            else:
                hint = suggestion(name, plan.names())
                self._refusals.append(f"MODIFIED {name!r} is not in the spec.{hint}")

    def _replace(self, plan: SpecEditor, operation: DeltaKind, there: Requirement, requirement: Requirement) -> None:
        """Put another text in the place of a requirement."""
        name = requirement.name
        if settled(there) == settled(requirement):
            self._done.append(AppliedOperation(operation, name, already=True))
            return
        may_go = self._sides.change.get(name, frozenset())
        missing = dropped_scenarios(there, requirement)
        if kept := [each for each in missing if each not in may_go]:
            named = ", ".join(map(repr, kept))
            self._refusals.append(f"{operation.name} {name!r} would drop {named}. Repeat every scenario that stays.")
            return
        self._warnings.extend(f"{each!r} of {name!r} is dropped, as the change says." for each in missing)
        self._report_asides(there, requirement)
        plan.modify(name, requirement)
        self._done.append(AppliedOperation(operation, name))

    def _add(self, plan: SpecEditor) -> None:
        for requirement in self._delta.added:
            there = plan.get(requirement.name)
            if self._is_left_out(requirement.name):
                continue
            if there is None:
                plan.add(requirement)
                self._done.append(AppliedOperation(DeltaKind.ADDED, requirement.name))
            elif settled(there) == settled(requirement) or requirement.name in self._sides.change:
                self._replace(plan, DeltaKind.ADDED, there, requirement)
            else:
                self._refusals.append(f"ADDED {requirement.name!r} is there already with another text. Use MODIFIED.")

    def _report_asides(self, there: Requirement, instead: Requirement | None = None) -> None:
        kept = {aside.heading for aside in instead.asides} if instead is not None else set()
        for aside in there.asides:
            if aside.heading not in kept:
                self._warnings.append(f"The text below {aside.heading!r} in {there.name!r} goes with it.")

    def _retired(self, data: bytes, spec: Spec, *, retire: bool) -> Applied:
        others = _unaccounted(spec)
        if not retire:
            message = (
                f"No requirement of {spec.id!r} would be left. Write retire_capabilities: true to remove the spec."
            )
            self._refusals.append(message)
        elif others:
            self._refusals.append(f"Spec {spec.id!r} cannot be removed: it also holds {others}. Remove it by hand.")
        if self._refusals:
            return self._outcome(data, data)
        return self._outcome(data, None)

    def _validated(
        self, before: bytes | None, after: bytes, edits: tuple[Edit, ...], plan: SpecEditor | None = None
    ) -> Applied:
        if before != after:
            result = read_spec(after, self._delta.spec_id)
            errors = [each for each in validate_spec(result, Dialect.OPENSPEC) if each.level is IssueLevel.ERROR]
            self._refusals += [f"The result: {_placed(each)}" for each in errors if _is_fault(each, self._layout)]
            read = {requirement.name for requirement in result.requirements}
            if plan is not None and read != set(plan.names()):
                self._refusals.append(
                    "The result would not be read as intended. Look for headings and fences in the delta."
                )
        return self._outcome(before, after, edits)

    def _outcome(self, before: bytes | None, after: bytes | None, edits: tuple[Edit, ...] = ()) -> Applied:
        if self._refusals:
            return Applied(
                self._delta.spec_id, before, before, warnings=tuple(self._warnings), refusals=tuple(self._refusals)
            )
        return Applied(self._delta.spec_id, before, after, edits, tuple(self._done), tuple(self._warnings))
