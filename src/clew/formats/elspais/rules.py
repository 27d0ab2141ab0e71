"""Rules that a project sets for its requirements and terms, in `[rules]` and `[terms]` of `.elspais.toml`."""

from collections.abc import Iterable, Iterator

import msgspec

from clew.formats.diagnostics import Diagnostic
from clew.formats.elspais.toml_values import TomlValues
from clew.text.display import counted

SEVERITIES = ("ok", "off", "info", "warning", "error")
SILENT = ("ok", "off")

FAULTS = ("malformed", "unknown_requirement", "unknown_assertion", "forbidden")
"""Of references, as the graph calls them."""


class FormatRules(msgspec.Struct, frozen=True):
    """Rules for a requirement's parts. A rule that the file does not set is off."""

    require_hash: bool = False
    require_assertions: bool = False
    require_status: bool = False
    require_rationale: bool = False
    require_shall: bool = False
    labels_sequential: bool = False
    no_assertions: str = ""
    """Severity of a requirement without assertions; empty if it is not reported."""

    @property
    def any(self) -> bool:
        return self != FormatRules()


class CoverageRules(msgspec.Struct, frozen=True):
    """Rules for the coverage of a requirement. A rule that the file does not set is off."""

    severities: tuple[tuple[str, str, str], ...] = ()
    """The dimension, the tier of coverage in it, and the severity of its finding."""
    uncredited_evidence: str = ""
    """Severity of a test for an assertion that nothing implements; empty if it is not reported, as below."""
    external_test_failure: str = ""


COVERAGE_DIMENSIONS = ("implemented", "tested", "verified", "uat_coverage", "uat_verified")
COVERAGE_TIERS = ("full", "partial", "failing", "missing")


class TermRules(msgspec.Struct, frozen=True):
    markup_styles: tuple[str, ...] = ("*", "**")
    """The signs around a term that mark its use."""
    exclude_files: tuple[str, ...] = ()
    output_dir: str = "spec/_generated"
    """Folder into which elspais writes its glossary, which is not read."""
    severities: tuple[tuple[str, str], ...] = ()
    """By check, where the file says it; `off` for not at all."""

    def severity(self, check: str, default: str) -> str:
        return dict(self.severities).get(check, default)


TERM_CHECKS = (
    ("duplicate", "error"),
    ("undefined", "warning"),
    ("unmarked", "warning"),
    ("unused", "warning"),
    ("bad_definition", "error"),
    ("collection_empty", "warning"),
    ("canonical_form", "warning"),
)
"""The checks of terms, each with its usual severity."""


def read_format_rules(values: TomlValues) -> FormatRules:
    flags = ("require_hash", "require_assertions", "require_status", "require_rationale", "require_shall")
    rules = {name: values.flag(f"rules.format.{name}", default=False) for name in (*flags, "labels_sequential")}
    # Labels that occur twice are always reported.
    values.flag("rules.format.labels_unique", default=True)
    severity = values.choice(SEVERITIES, "rules.format.no_assertions_severity", default="warning")
    is_set = values.has("rules.format.no_assertions_severity") and severity not in SILENT
    return FormatRules(**rules, no_assertions=severity if is_set else "")


def read_coverage_rules(values: TomlValues) -> CoverageRules:
    def severity_of(key: str) -> str:
        severity = values.choice(SEVERITIES, f"rules.coverage.{key}", default="off")
        return "" if severity in SILENT else severity

    found = ((one, tier, severity_of(f"{one}.{tier}")) for one in COVERAGE_DIMENSIONS for tier in COVERAGE_TIERS)
    return CoverageRules(
        severities=tuple(each for each in found if each[2]),
        uncredited_evidence=severity_of("uncredited_evidence"),
        external_test_failure=severity_of("external_test_failure"),
    )


def read_term_rules(values: TomlValues) -> TermRules:
    severities = tuple(
        (check, values.choice(SEVERITIES, f"terms.severity.{check}", default=usual))
        for check, usual in TERM_CHECKS
        if values.has(f"terms.severity.{check}")
    )
    return TermRules(
        markup_styles=values.texts("terms.markup_styles", default=TermRules().markup_styles),
        exclude_files=values.texts("terms.exclude_files"),
        output_dir=values.text("terms.output_dir", default=TermRules().output_dir),
        severities=severities,
    )


def read_fault_severities(values: TomlValues) -> tuple[tuple[str, str], ...]:
    """Severities of broken references, as far as the file sets them."""
    return tuple(
        (fault, values.choice(SEVERITIES, f"rules.references.{fault}", default="error"))
        for fault in FAULTS
        if values.has(f"rules.references.{fault}")
    )


_RULES = ("rules.", "terms.")
_OF_HIERARCHY = tuple(
    f"rules.hierarchy.{name}" for name in ("cross_repo_implements", "allow_structural_orphans", "allow_orphans")
)
"""They are in a table whose other keys are names of levels."""


def not_obeyed(values: TomlValues, unread: Iterable[str]) -> Iterator[Diagnostic | str]:
    """Rules that Clew does not go by, as one diagnostic; every other key that nobody asked for as it is."""
    keys = sorted({*unread, *filter(values.has, _OF_HIERARCHY)})
    rules = [key for key in keys if key.startswith(_RULES)]
    if rules:
        named = ", ".join(f"`{key}`" for key in rules)
        count = counted(len(rules), "elspais rule")
        message = f"Clew does not check {count}: {named}. Check with elspais, or remove the setting."
        yield Diagnostic("elspais.setting_not_obeyed", "info", message, 0)
    yield from (key for key in keys if not key.startswith(_RULES))
