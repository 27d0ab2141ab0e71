"""The checks of elspais by their names, and Clew's codes for them; findings with the keys that elspais gives them."""

from collections.abc import Mapping

import msgspec

from clew.errors import InvalidArgument
from clew.text.display import counted, shortened
from clew.trace.find.results import BrokenItem, CheckSummary, UnresolvedItem

SAME: Mapping[str, tuple[str, ...]] = {
    "references.malformed": ("trace.broken_reference",),
    "references.unknown_requirement": ("trace.broken_reference",),
    "references.unknown_assertion": ("trace.broken_reference",),
    "references.forbidden": ("trace.forbidden_reference",),
    "references.undeclared": ("markers.undeclared",),
    "spec.hash_integrity": ("trace.stale_hash", "trace.missing_hash"),
    "spec.changelog_present": ("elspais.changelog_missing",),
    "spec.changelog_current": ("elspais.changelog_stale",),
    "spec.changelog_format": ("elspais.changelog_entry", "elspais.changelog_incomplete"),
    "spec.format_rules": ("trace.format_rule",),
    "spec.hierarchy_levels": ("trace.wrong_level",),
    "spec.hierarchy_undefined_levels": ("elspais.unknown_level",),
    "spec.undefined_levels": ("elspais.unknown_level",),
    "spec.no_assertions": ("trace.no_assertions",),
    "spec.no_cycles": ("trace.circle",),
    "spec.no_duplicates": ("trace.duplicate_id", "elspais.duplicate_id"),
    "code.retired_references": ("trace.retired_reference",),
    "tests.retired_references": ("trace.retired_reference",),
    "tests.external": ("trace.external_test_failure",),
    "tests.uncredited_evidence": ("trace.uncredited_evidence",),
    "tests.unmatched_results": ("trace.unmatched_result",),
}
FAULT_OF_CHECK: Mapping[str, str] = {
    "references.malformed": "malformed",
    "references.unknown_requirement": "unknown_requirement",
    "references.unknown_assertion": "unknown_assertion",
}
"""The checks that a broken reference fails, by its fault."""
_REMEDY = "clew check"
_OWN = (
    "elspais.",
    "file.",
    "markers.",
    "memory.",
    "openspec.",
    "register.",
    "results.",
    "reviews.",
    "terms.",
    "trace.",
)
"""The prefixes of the codes of Clew's own findings."""


def codes_of(check: str) -> tuple[str, ...]:
    """The codes of the findings of a check, which has its name in elspais or in Clew."""
    name = check.strip()
    if name in SAME:
        return SAME[name]
    if not name.startswith(_OWN):
        raise InvalidArgument(
            f"There is no check '{shortened(name)}'.",
            hint=f"Checks of elspais that Clew has: {', '.join(SAME)}; `clew check` prints the codes of its own.",
        )
    return (name,)


def check_summary(name: str, count: int, severity: str) -> CheckSummary:
    message = f"{counted(count, 'finding')}" if count else "No findings"
    return CheckSummary(name, not count, message, severity, _REMEDY, count, name.partition(".")[0])


def unresolved(item: BrokenItem, severity: str, repo: str) -> UnresolvedItem:
    """A broken reference with the keys of elspais beside Clew's own."""
    checks = {fault: check for check, fault in FAULT_OF_CHECK.items()}
    return UnresolvedItem(
        **msgspec.structs.asdict(item),
        message=f"{item.source_id} -> {item.target_id} ({item.edge_kind}): {item.fault.replace('_', ' ')}",
        file_path=item.path,
        node_id=item.source_id,
        check=checks.get(item.fault, f"references.{item.fault}"),
        severity=severity,
        remedy=_REMEDY,
        repo=repo,
    )
