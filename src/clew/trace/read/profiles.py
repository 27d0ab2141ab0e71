"""Details of the workspace that elspais gives under names: what each profile adds to the answer."""

from collections.abc import Iterator, Mapping
from typing import Any

from clew.config import Config
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.settings import ElspaisSettings
from clew.trace.coverage import percent
from clew.trace.read.results import ProjectSummary

PROFILES: Mapping[str, tuple[str, ...]] = {
    "default": (),
    "testing": ("id_patterns", "assertion_format", "testing"),
    "code-refs": ("id_patterns", "assertion_format", "code_references"),
    "coverage": ("coverage_stats", "associates"),
    "retrofit": ("id_patterns", "assertion_format", "hierarchy_rules", "code_references", "testing", "associates"),
    "manager": ("coverage_stats", "health", "change_metrics"),
    "worktree": ("id_patterns", "hierarchy_rules", "associates"),
}
"""The details of each profile; `all` has every one."""
OF_FIGURES = frozenset(("coverage_stats", "health", "change_metrics"))
"""These need the summary of the project."""
_DIGITS = "00001"


AVAILABLE: Mapping[str, str] = {
    **{name: ", ".join(parts).replace("_", " ") or "what every answer has" for name, parts in PROFILES.items()},
    "all": "all of these",
}


def details_of(profile: str) -> tuple[str, ...]:
    """The names of a profile's details."""
    every = dict.fromkeys(name for names in PROFILES.values() for name in names)
    return tuple(every) if profile == "all" else PROFILES[profile]


def of_settings(config: Config, grammar: IdGrammar) -> dict[str, Any]:
    """The details that the settings of the project decide."""
    return dict(_of_settings(config, grammar))


def _of_settings(config: Config, grammar: IdGrammar) -> Iterator[tuple[str, Any]]:
    settings = config.elspais
    examples = {
        level.name: id for level in settings.levels if (id := grammar.composed(level.name, _component(settings)))
    }
    first = next(iter(examples.values()), f"{settings.namespace}-{_DIGITS}")
    example = grammar.assertion_id(first, "A" if settings.label_style != "numeric" else "0")
    yield (
        "id_patterns",
        {
            "prefix": settings.namespace,
            "template": settings.id_template,
            "id_format": {
                "style": settings.component_style,
                "digits": settings.component_digits,
                "leading_zeros": settings.leading_zeros,
                "pattern": settings.component_pattern,
            },
            "levels": {level.name: _level(level) for level in settings.levels},
            "examples": examples,
        },
    )
    yield (
        "assertion_format",
        {
            "label_style": settings.label_style,
            "max_count": settings.label_max_count,
            "separator": settings.label_separator,
            "example": example,
            "multi_assertion_syntax": f"{example}{settings.label_multi_separator}B names two assertions",
        },
    )
    yield (
        "testing",
        {
            "reference_keyword": settings.test_keyword or "Verifies",
            "test_dirs": config.tests.folders,
            "file_patterns": settings.test_patterns,
            "result_files": settings.result_files,
        },
    )
    yield "code_references", {"code_directories": config.code.folders, "case_sensitive": False}
    rules = {level.name: level.implements for level in settings.levels if level.implements is not None}
    yield "hierarchy_rules", {"rules": rules}
    associates = [{"name": each.name, "path": each.path, "namespace": each.namespace} for each in settings.associates]
    yield "associates", {"count": len(associates), "associates": associates, "config_file": None}


def _component(settings: ElspaisSettings) -> str:
    return _DIGITS[-settings.component_digits :] if settings.component_digits else "1"


def _level(level: Any) -> dict[str, Any]:
    return {
        "rank": level.rank,
        "letter": level.letter,
        "display_name": level.display_name,
        "implements": level.implements,
        "color": None,
        "expects_validation": level.expects_validation,
    }


def of_figures(summary: ProjectSummary, with_code: int) -> dict[str, Any]:
    """The details that the graph and git decide. `with_code` requirements are cited by code."""
    counts, levels, changes = summary.coverage, summary.requirements_by_level, summary.changes
    every = sum(levels.all.values())
    return {
        "coverage_stats": {
            "by_coverage": {
                "total": counts.total,
                "full_coverage": counts.full_coverage,
                "partial_coverage": counts.partial_coverage,
                "no_coverage": counts.no_coverage,
            },
            "by_level": {"active": levels.active, "all": levels.all},
            "code_reference_coverage": {
                "total_requirements": every,
                "with_code_refs": with_code,
                "coverage_percent": percent(with_code, every),
            },
        },
        "health": {
            "has_orphans": summary.orphan_count > 0,
            "orphan_count": summary.orphan_count,
            "has_unresolved_references": summary.unresolved_reference_count > 0,
            "unresolved_reference_count": summary.unresolved_reference_count,
            "has_malformed_references": summary.malformed_reference_count > 0,
            "malformed_reference_count": summary.malformed_reference_count,
        },
        "change_metrics": {"uncommitted": changes.uncommitted, "branch_changed": changes.branch_changed},
    }
