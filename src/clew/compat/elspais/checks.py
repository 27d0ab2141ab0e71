"""The checks of elspais by their names, and Clew's codes for them."""

from collections.abc import Mapping

from clew.errors import InvalidArgument
from clew.text.display import shortened

SAME: Mapping[str, tuple[str, ...]] = {
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
_OWN = ("elspais.", "file.", "markers.", "openspec.", "register.", "results.", "reviews.", "terms.", "trace.")
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
