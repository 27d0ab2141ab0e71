"""The rules that specs and changes are held to, and how severe each tool takes them.

Clew knows the rules of Spec Oxide and of OpenSpec and adds its own. By default those of the tool whose folder it is
hold, and Clew's own. A dialect has only the rules of one tool, at that tool's level, to agree with that tool;
with all dialects, each rule has the severest of its levels.
"""

from enum import StrEnum

import msgspec

from clew.formats.diagnostics import Diagnostic
from clew.formats.openspec.layout import Layout


class IssueLevel(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Dialect(StrEnum):
    ALL = "all"
    SPOX = "spox"
    OPENSPEC = "openspec"
    IN_SPOX = "in-spox"
    """The rules of Spec Oxide and of Clew, in a folder of Spec Oxide; likewise below."""
    IN_OPENSPEC = "in-openspec"


def own_dialect(layout: Layout) -> Dialect:
    """The rules that hold in a folder unless somebody asks for others."""
    return Dialect.IN_SPOX if layout is Layout.SPOX else Dialect.IN_OPENSPEC


class ValidationRule(msgspec.Struct, frozen=True):
    summary: str
    spox: IssueLevel | None = None
    """None where the tool has no such rule; likewise below."""
    openspec: IssueLevel | None = None
    clew: IssueLevel | None = None

    def level(self, dialect: Dialect) -> IssueLevel | None:
        if dialect is Dialect.SPOX:
            return self.spox
        if dialect is Dialect.OPENSPEC:
            return self.openspec
        held = {
            Dialect.IN_SPOX: (self.spox, self.clew),
            Dialect.IN_OPENSPEC: (self.openspec, self.clew),
        }.get(dialect, (self.spox, self.openspec, self.clew))
        return next((level for level in IssueLevel if level in held), None)


_E, _W, _I = IssueLevel

RULES: dict[str, ValidationRule] = {
    # Specs
    "purpose_missing": ValidationRule("a spec has a section Purpose with text", _E, _E),
    "purpose_unwritten": ValidationRule("a purpose is not TBD or TODO", None, _W),
    "purpose_short": ValidationRule("a purpose has at least 50 characters", _W, _W),
    "requirements_missing": ValidationRule("a spec has a section Requirements", _E, _E),
    "no_requirements": ValidationRule("a spec has a requirement", _W, _E),
    "requirement_empty": ValidationRule("a requirement has text", _E, _E),
    "requirement_long": ValidationRule("a requirement's text has at most 500 characters", None, _I),
    "not_normative": ValidationRule("a requirement says SHALL or MUST", _W, _W),
    "no_scenarios": ValidationRule("a requirement has a scenario", _W, _E),
    "scenario_empty": ValidationRule("a scenario has text", None, None, _W),
    "scenario_without_when": ValidationRule("a scenario has a WHEN", _E),
    "scenario_without_then": ValidationRule("a scenario has a THEN", _E),
    "delta_header_in_spec": ValidationRule("only changes have sections ADDED, MODIFIED, REMOVED and RENAMED", None, _E),
    "requirement_outside": ValidationRule("requirements are in the section Requirements", None, _E),
    "duplicate_requirement": ValidationRule("the requirements of a spec have different names", None, _E),
    "duplicate_scenario": ValidationRule("the scenarios of a requirement have different names", None, None, _W),
    # Proposals and tasks. OpenSpec looks at proposals only when it archives, and then it only warns.
    "proposal_missing": ValidationRule("a change has a proposal.md", _E),
    "why_missing": ValidationRule("a proposal says why", _E, _I),
    "why_short": ValidationRule("the Why has at least 50 characters", _W, _I),
    "why_long": ValidationRule("the Why has at most 1,000 characters", None, _I, _W),
    "what_changes_missing": ValidationRule("a proposal says what changes", _E, _I),
    "too_many_deltas": ValidationRule("a change has at most 10 operations", None, _I, _W),
    "description_short": ValidationRule("what a proposal says about a spec has at least 10 characters", None, _I, _W),
    "tasks_missing": ValidationRule("a change has a tasks.md", _E),
    "tasks_without_box": ValidationRule("tasks are boxes `- [ ] 1.1 text`", _E),
    "tasks_as_plain_list": ValidationRule("a list of tasks has boxes", None, _W),
    "task_without_number": ValidationRule("a task begins with a number such as 1.1", _W),
    "task_number_repeated": ValidationRule("tasks have different numbers", None, _W),
    "metadata_invalid": ValidationRule(".openspec.yaml can be read", None, None, _E),
    "metadata_flag": ValidationRule("skip_specs and retire_capabilities are true or false", None, _E),
    # Deltas
    "no_deltas": ValidationRule("a change has an operation, or says skip_specs", _E, _E),
    "specs_not_skipped": ValidationRule("a change that says skip_specs has no specs", None, _E),
    "spec_at_root": ValidationRule("a delta lies in the folder of its spec", None, _E),
    "delta_misnamed": ValidationRule("a delta is called spec.md and lies in the folder of its spec", None, _E),
    "no_delta_header": ValidationRule("a delta has a section ADDED, MODIFIED, REMOVED or RENAMED", _E, _E),
    "delta_section_empty": ValidationRule("the sections of a delta have an entry", None, _E),
    "delta_section_unused": ValidationRule("each section of a delta has an entry", None, None, _W),
    "requirement_ignored": ValidationRule("the requirements of a delta are in its sections", None, _W),
    "duplicate_in_section": ValidationRule("a section of a delta names a requirement once", None, _E),
    "conflicting_operations": ValidationRule("a requirement is added, modified or removed, not two of these", None, _E),
    "modified_by_old_name": ValidationRule("MODIFIED uses the new name of a renamed requirement", None, _E),
    "renamed_onto_added": ValidationRule("no requirement is renamed to a name that is added", None, _E),
    "renamed_and_removed": ValidationRule("no requirement is renamed and removed", None, _E),
    "renamed_to_removed": ValidationRule("no requirement is renamed to a name that is removed", None, None, _E),
    "added_without_text": ValidationRule("an added requirement has text", None, _E),
    "added_without_scenario": ValidationRule("an added requirement has a scenario", _W, _E),
    "modified_without_text": ValidationRule("a modified requirement has text", _W, _E),
    "modified_without_scenario": ValidationRule("a modified requirement has a scenario", None, _E),
    "delta_not_normative": ValidationRule("an added or modified requirement says SHALL or MUST", None, _W),
    "scenario_dropped": ValidationRule("MODIFIED keeps every scenario of the requirement it replaces", None, _E),
    # Deltas against the specs in force
    "spec_unknown": ValidationRule(
        "what is modified, removed or renamed belongs to a spec that exists", None, None, _E
    ),
    "requirement_unknown": ValidationRule("what is modified, removed or renamed exists in the spec", None, None, _E),
    "requirement_promised": ValidationRule("what is modified, removed or renamed exists already", None, None, _W),
    "name_not_free": ValidationRule("a name that is added or renamed to is free already", None, None, _W),
    "already_renamed": ValidationRule("what is renamed still has its old name", None, None, _W),
    "rename_target_exists": ValidationRule("a requirement is renamed to a free name", None, None, _E),
    "added_exists": ValidationRule("what is added is not there yet with another text", None, None, _E),
    "purpose_ignored": ValidationRule("a delta states a purpose only for a new spec", None, None, _I),
}


_SEEN_BY_OPENSPEC = frozenset({"duplicate_section", "section_depth", "unpaired_rename"})
"""Errors of the reader that OpenSpec reports too: half a rename, and text that hides requirements from it."""


class Issue(msgspec.Struct, frozen=True):
    """A rule that is broken, and where."""

    code: str
    level: IssueLevel
    message: str
    """Names the value, the rule and what to do."""
    file: str
    """Relative to the folder of the spec or change."""
    line: int = 0
    """0 where the file as a whole is meant."""
    section: str = ""
    """Of a change: proposal, tasks, design or deltas."""
    spec_id: str = ""


def is_valid(issues: tuple[Issue, ...], *, strict: bool = False) -> bool:
    """True if there is no error, and with `strict` no warning either."""
    failing = (IssueLevel.ERROR, IssueLevel.WARNING) if strict else (IssueLevel.ERROR,)
    return not any(issue.level in failing for issue in issues)


class Issues:
    """Collects what is found in one file after the other."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._found: list[Issue] = []
        self._file = self._section = self._spec_id = ""

    def enter(self, file: str, section: str = "", spec_id: str = "") -> None:
        """Set the file of the issues that are added from now on."""
        self._file, self._section, self._spec_id = file, section, spec_id

    def add(self, code: str, message: str, line: int = 0) -> None:
        level = RULES[code].level(self.dialect)
        if level is not None:
            self._found.append(Issue(code, level, message, self._file, line, self._section, self._spec_id))

    def adopt(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        """Add what the reader reported; of it, the other tools see little."""
        for diagnostic in diagnostics:
            code, level = diagnostic.code.partition(".")[2], IssueLevel(diagnostic.severity)
            seen = self.dialect is Dialect.OPENSPEC and code in _SEEN_BY_OPENSPEC and level is IssueLevel.ERROR
            if self.dialect not in (Dialect.SPOX, Dialect.OPENSPEC) or seen:
                place = (self._file, diagnostic.line, self._section, self._spec_id)
                self._found.append(Issue(code, level, diagnostic.message, *place))

    def found(self) -> tuple[Issue, ...]:
        """All of them by file and line; what concerns a file as a whole comes first."""
        return tuple(sorted(self._found, key=lambda issue: (issue.file, issue.line, issue.code)))
