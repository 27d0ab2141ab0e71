"""Settings of `.elspais.toml`, in any of its layouts.

elspais changed the shape of this file several times: `patterns`, `spec` and `testing` in February 2026, `id-patterns`
and `scanning` since version 4, and mixtures in between. Every setting is looked up in all the places it ever
stood, so nothing else has to care where a value was written. The levels of the hierarchy,
such as product, operations and development, are among them.
"""

import re
from collections.abc import Iterable, Iterator

import msgspec

from clew.formats.diagnostics import Diagnostic
from clew.formats.elspais.changelog import ChangelogSettings, read_changelog
from clew.formats.elspais.ids.templates import ALIASES, CANONICAL, read_component_pattern, read_templates
from clew.formats.elspais.rules import (
    SEVERITIES,
    CoverageRules,
    FormatRules,
    TermRules,
    not_obeyed,
    read_coverage_rules,
    read_fault_severities,
    read_format_rules,
    read_term_rules,
)
from clew.formats.elspais.toml_values import TomlValues, merge, parse_toml
from clew.text.keywords import SHORTEST_KEYWORD


class Level(msgspec.Struct, frozen=True):
    """One level of the hierarchy, such as `prd`."""

    name: str
    rank: int
    """1 is the most general."""
    letter: str
    """Spelling of the level inside an id."""
    implements: tuple[str, ...] | None = None
    """The levels a requirement of this level may implement; None where the project has no rule about it."""
    display_name: str = ""
    """Name of the level for people; empty if it is the same."""
    expects_validation: bool = False
    """True if user journeys have to validate requirements of this level."""


DEFAULT_LEVELS = (
    Level("prd", 1, "p", ("prd",), "Product"),
    Level("ops", 2, "o", ("ops", "prd"), "Operations"),
    Level("dev", 3, "d", ("dev", "ops", "prd"), "Development"),
)


def read_levels(values: TomlValues) -> tuple[Level, ...]:
    """The levels a settings file defines, in any of the three shapes the table has had; empty where it has none."""
    where, table = values.table("levels", "id-patterns.types", "patterns.types")
    allowed = _allowed_implements(values)
    levels = []
    for number, (name, entry) in enumerate(table.items(), start=1):
        if not isinstance(entry, dict):
            raise values.refuse(f"{where}.{name}", entry, "a table")
        level = values.inner(entry, f"{where}.{name}")
        letter = level.text("letter", "id", "aliases.letter", default=name[:1].lower())
        for key, value in (("name", name), ("letter", letter)):
            if not re.fullmatch(r"\w[\w-]{0,31}", value):
                raise level.refuse(key, value, "1 to 32 letters, digits, `_` or `-`")
        levels.append(
            Level(
                name=name,
                rank=level.integer("rank", "level", default=number, least=0, most=1_000),
                letter=letter,
                implements=level.texts("implements") if "implements" in entry else allowed.get(name.casefold()),
                display_name=level.text("display_name"),
                expects_validation=level.flag("expects_validation", default=False),
            )
        )
    return tuple(levels)


def shared_letters(levels: Iterable[Level]) -> Iterator[Diagnostic]:
    """Levels that an id cannot tell apart."""
    taken: dict[str, str] = {}
    for level in levels:
        other = taken.setdefault(level.letter, level.name)
        if other != level.name:
            message = (
                f"Levels {other} and {level.name} share the letter {level.letter!r}: an id with it counts as {other}."
                " Give each level its own letter."
            )
            yield Diagnostic("elspais.shared_letter", "warning", message, 0)


def _allowed_implements(values: TomlValues) -> dict[str, tuple[str, ...]]:
    """Levels that a level may implement, in the two spellings that preceded `levels.NAME.implements`."""
    _, hierarchy = values.table("rules.hierarchy")
    allowed = {
        name.casefold(): tuple(item for item in value if isinstance(item, str))
        for name, value in hierarchy.items()
        if isinstance(value, list) and name != "allowed_implements"
    }
    for rule in values.texts("rules.hierarchy.allowed_implements"):
        name, _, targets = rule.partition("->")
        allowed[name.strip().casefold()] = tuple(target.strip() for target in targets.split(",") if target.strip())
    return allowed


NAME = ".elspais.toml"
LOCAL_NAME = ".elspais.local.toml"

COMPONENT_STYLES = ("numeric", "camelCase", "PascalCase", "snake_case", "kebab-case", "regex", "alphanumeric", "named")
LABEL_STYLES = ("uppercase", "numeric", "numeric_1based", "alphanumeric")
HASH_MODES = ("normalized-text", "full-text")
ROLES = ("active", "provisional", "aspirational", "retired")

DEFAULT_STATUS_ROLES = (
    ("active", ("Active",)),
    ("provisional", ("Draft", "Proposed")),
    ("aspirational", ("Roadmap", "Future", "Idea")),
    ("retired", ("Deprecated", "Superseded", "Rejected")),
)


class Associate(msgspec.Struct, frozen=True):
    """Another repository whose requirements may be cited."""

    name: str
    path: str
    """As written; empty where the file gives none."""
    namespace: str
    settings: "ElspaisSettings | None" = None
    """Its own settings, where it is read."""
    problem: str = ""
    """Reason why it is not read."""


class ElspaisSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything of `.elspais.toml` that Clew uses; without arguments, what holds where there is no such file."""

    project_name: str = ""
    namespace: str = "REQ"

    id_template: str = CANONICAL
    id_aliases: tuple[tuple[str, str], ...] = ALIASES
    """Name and template of each other accepted spelling."""
    id_separators: tuple[str, ...] = ("-", "_")
    """Characters that are taken for one another between the parts of an id."""
    prefix_optional: bool = False
    component_style: str = "numeric"
    component_digits: int = 5
    """Significant digits of a numeric component; 0 is any number."""
    leading_zeros: bool = True
    component_pattern: str = ""
    """The component's regular expression where the style is `regex`."""
    component_max_length: int = 0
    """Of a named component; 0 is the grammar's own limit."""
    associated_length: int = 0
    """Letters of the optional code of an associated repository (`REQ-CAL-d00001`); 0 where there is none."""

    label_style: str = "uppercase"
    label_zero_pad: bool = False
    label_max_count: int = 26
    label_separator: str = "-"
    """Between the id and its first label."""
    label_multi_separator: str = "+"
    """Between two labels."""

    levels: tuple[Level, ...] = DEFAULT_LEVELS
    allow_circular: bool = False
    """Requirements may be below themselves."""

    skip: tuple[str, ...] = ("node_modules", ".git", "__pycache__", "*.pyc", ".venv", ".env")
    """Patterns of names and paths that are never read, whatever the kind of file."""
    spec_directories: tuple[str, ...] = ("spec",)
    spec_patterns: tuple[str, ...] = ("*.md",)
    spec_skip_files: tuple[str, ...] = ("README.md", "INDEX.md")
    spec_skip_dirs: tuple[str, ...] = ()
    code_directories: tuple[str, ...] = ("src",)
    code_patterns: tuple[str, ...] = ()
    """Files read besides those of a known programming language in the directories."""
    code_skip_files: tuple[str, ...] = ()
    code_skip_dirs: tuple[str, ...] = ()
    tests_enabled: bool | None = None
    """True if tests and their results are read. None if the file does not say: elspais then reads none, Clew all."""
    test_directories: tuple[str, ...] = ("tests",)
    test_patterns: tuple[str, ...] = ("test_*.py", "*_test.py")
    test_skip_files: tuple[str, ...] = ()
    test_skip_dirs: tuple[str, ...] = ()
    test_keyword: str = ""
    """The word that links of tests are written with; empty where the file does not say."""
    result_files: tuple[str, ...] = ()
    """Globs of test reports."""
    journey_results: str = "uat-results.csv"
    """File with people's results of user journeys."""

    status_roles: tuple[tuple[str, tuple[str, ...]], ...] = DEFAULT_STATUS_ROLES
    expectations: tuple[tuple[str, bool], ...] = ()
    """Statuses of which the file itself says whether they expect coverage."""
    reference_severities: tuple[tuple[str, str], ...] = (("retired", "warning"),)
    """Severity of a reference to a requirement of a role; a role that is not listed is not reported."""
    hash_mode: str = "normalized-text"
    changelog: ChangelogSettings = ChangelogSettings()
    associates: tuple[Associate, ...] = ()
    content_rules: tuple[str, ...] = ()
    """Files with rules for authors, which agents are shown."""
    format_rules: FormatRules = FormatRules()
    coverage_rules: CoverageRules = CoverageRules()
    terms: TermRules = TermRules()
    fault_severities: tuple[tuple[str, str], ...] = ()
    """Severity of broken references by fault, as far as the file sets them."""

    def level(self, text: str) -> Level | None:
        """The level that `text` names or whose letter it is, in any case."""
        folded = text.casefold()
        for level in self.levels:
            if level.name.casefold() == folded:
                return level
        return next((level for level in self.levels if level.letter.casefold() == folded), None)

    def status_role(self, status: str) -> str:
        """active, provisional, aspirational or retired; a status no role claims is active."""
        folded = status.casefold()
        for role, statuses in self.status_roles:
            if any(folded == each.casefold() for each in statuses):
                return role
        return "active"

    def expects_coverage(self, status: str) -> bool:
        """True if requirements of this status should be implemented and tested."""
        folded = status.casefold()
        said = next((expected for name, expected in self.expectations if name.casefold() == folded), None)
        return self.status_role(status) == "active" if said is None else said


_DEFAULT = ElspaisSettings()


def read_settings(data: bytes, local: bytes | None = None) -> tuple[ElspaisSettings, tuple[Diagnostic, ...]]:
    """The settings of a project from the bytes of `.elspais.toml` and, laid on top, `.elspais.local.toml`.

    A file that is not TOML, or a value that breaks a rule, is a ConfigError. A key Clew has never heard of is a
    diagnostic, because elspais keeps adding keys.
    """
    document = parse_toml(data, NAME)
    if local is not None:
        document = merge(document, parse_toml(local, LOCAL_NAME))
    values = TomlValues(document, NAME)
    settings = _files(values, _ids(values, ElspaisSettings(project_name=values.text("project.name"))))
    settings = msgspec.structs.replace(
        settings,
        status_roles=_status_roles(values),
        expectations=tuple(_expectations(values)),
        reference_severities=tuple(_reference_severities(values)),
        hash_mode=values.choice(HASH_MODES, "validation.hash_mode", default=_DEFAULT.hash_mode),
        changelog=read_changelog(values),
        associates=tuple(_associates(values)),
        content_rules=values.texts("rules.content_rules"),
        format_rules=read_format_rules(values),
        coverage_rules=read_coverage_rules(values),
        terms=read_term_rules(values),
        fault_severities=read_fault_severities(values),
    )
    unread = not_obeyed(values, values.unread(UNUSED_KEYS))
    diagnostics = [*_not_obeyed(values), *(_unknown_key(each) if isinstance(each, str) else each for each in unread)]
    if "{level.letter}" in settings.id_template:
        diagnostics.extend(shared_letters(settings.levels))
    return settings, tuple(diagnostics)


_UNUSED = """
    cli_ttl stats scopes project.color project.type output federation
    changelog.id_source changelog.date_format changelog.author_id_format changelog.allowed_author_ids
    associated core sponsors graph references traceability hooks index
    id-patterns.associated.position id-patterns.associated.format id-patterns.associated.separator
    patterns.associated.position patterns.associated.format patterns.associated.separator
    scanning.spec.index_file scanning.code.source_roots scanning.test.prescan_command
    scanning.test.reference_patterns scanning.test.runners scanning.docs
    scanning.journey.directories scanning.journey.file_patterns scanning.journey.skip_files scanning.journey.skip_dirs
    scanning.coverage
    scanning.result.skip_files scanning.result.skip_dirs scanning.result.run_meta_file
    validation.hash_algorithm validation.hash_length validation.strict_hierarchy
    validation.allow_unresolved_cross_repo
    testing.prescan_command testing.reference_patterns testing.default_mode
    directories.docs directories.database spec.index_file spec.readme_file spec.format_guide
"""
UNUSED_KEYS = frozenset(_UNUSED.split())
"""Keys of either layout that elspais knows and Clew has no use for."""


def _not_obeyed(values: TomlValues) -> Iterator[Diagnostic]:
    """Settings that a project cannot choose here, where it asks for something else."""
    asked = values.integer("keywords.min_length", default=SHORTEST_KEYWORD, least=1, most=100)
    if asked != SHORTEST_KEYWORD:
        message = (
            f"`keywords.min_length` is {asked}, which has no effect: keywords have at least"
            f" {SHORTEST_KEYWORD} characters. Remove the setting."
        )
        yield Diagnostic("elspais.setting_not_obeyed", "info", message, 0)


def _unknown_key(key: str) -> Diagnostic:
    message = f"`{key}` is not a setting Clew knows; it is ignored. Check its spelling, or remove it."
    return Diagnostic("elspais.unknown_setting", "info", message, 0)


def _ids(values: TomlValues, settings: ElspaisSettings) -> ElspaisSettings:
    template, aliases = read_templates(values)
    component = ("id-patterns.component", "patterns.id_format")
    labels = ("id-patterns.assertions", "patterns.assertions")
    style = values.choice(COMPONENT_STYLES, *_below(component, "style"), default=_DEFAULT.component_style)
    associated = ("id-patterns.associated", "patterns.associated")
    code_length = values.integer(*_below(associated, "length"), default=3, least=1, most=16)
    return msgspec.structs.replace(
        settings,
        namespace=_namespace(values),
        id_template=template,
        id_aliases=aliases,
        id_separators=values.texts(
            "id-patterns.separators", "references.defaults.separators", default=_DEFAULT.id_separators
        ),
        prefix_optional=values.flag(
            "id-patterns.prefix_optional", "references.defaults.prefix_optional", default=False
        ),
        component_style=style,
        component_digits=values.integer(*_below(component, "digits"), default=5, least=0, most=32),
        leading_zeros=values.flag(*_below(component, "leading_zeros"), default=True),
        component_pattern=read_component_pattern(values, style),
        component_max_length=values.integer(*_below(component, "max_length"), default=0, least=0, most=10_000),
        associated_length=code_length if values.flag(*_below(associated, "enabled"), default=False) else 0,
        label_style=values.choice(LABEL_STYLES, *_below(labels, "label_style"), default=_DEFAULT.label_style),
        label_zero_pad=values.flag(*_below(labels, "zero_pad"), default=False),
        label_max_count=values.integer(*_below(labels, "max_count"), default=26, least=1, most=10_000),
        label_separator=_sign(values, *_below(labels, "separator"), default="-"),
        label_multi_separator=_sign(
            values, *_below(labels, "multi_separator"), "references.defaults.multi_assertion_separator", default="+"
        ),
        levels=read_levels(values) or DEFAULT_LEVELS,
        allow_circular=values.flag("rules.hierarchy.allow_circular", default=False),
    )


def _below(tables: tuple[str, ...], key: str) -> tuple[str, ...]:
    return tuple(f"{table}.{key}" for table in tables)


def _namespace(values: TomlValues) -> str:
    namespace = values.text("project.namespace", "patterns.prefix", default=_DEFAULT.namespace)
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,63}", namespace):
        raise values.refuse("project.namespace", namespace, "a letter followed by letters, digits, `_` or `-`")
    return namespace


def _sign(values: TomlValues, *keys: str, default: str) -> str:
    sign = values.text(*keys, default=default)
    if not re.fullmatch(r"[^\w\s:,|#*]{1,3}|_", sign):
        raise values.refuse(keys[0], sign, "one to three signs other than : , | # *")
    return sign


def _files(values: TomlValues, settings: ElspaisSettings) -> ElspaisSettings:
    code_patterns = ("scanning.code.file_patterns", "traceability.scan_patterns")
    return msgspec.structs.replace(
        settings,
        skip=values.texts("scanning.skip", "ignore.global", "directories.ignore", default=_DEFAULT.skip),
        spec_directories=values.texts(
            "scanning.spec.directories", "spec.directories", "directories.spec", default=_DEFAULT.spec_directories
        ),
        spec_patterns=values.texts("scanning.spec.file_patterns", "spec.patterns", default=_DEFAULT.spec_patterns),
        spec_skip_files=_skip_files(values, "spec", "spec.skip_files", _DEFAULT.spec_skip_files),
        spec_skip_dirs=values.texts("scanning.spec.skip_dirs", "spec.skip_dirs"),
        code_directories=values.texts(
            "scanning.code.directories", "directories.code", default=_DEFAULT.code_directories
        ),
        code_patterns=values.texts(*code_patterns),
        code_skip_files=_skip_files(values, "code"),
        code_skip_dirs=values.texts("scanning.code.skip_dirs"),
        tests_enabled=values.optional_flag("scanning.test.enabled", "testing.enabled"),
        test_directories=values.texts(
            "scanning.test.directories", "testing.test_dirs", default=_DEFAULT.test_directories
        ),
        test_patterns=values.texts("scanning.test.file_patterns", "testing.patterns", default=_DEFAULT.test_patterns),
        test_skip_files=_skip_files(values, "test", "testing.skip_files"),
        test_skip_dirs=values.texts("scanning.test.skip_dirs", "testing.skip_dirs"),
        # Since version 4 elspais has the setting and reads `Verifies` in tests, whatever it says.
        test_keyword="" if values.text("scanning.test.reference_keyword") else values.text("testing.reference_keyword"),
        result_files=tuple(_result_files(values)),
        journey_results=values.text("scanning.journey.results_file", default=_DEFAULT.journey_results),
    )


def _skip_files(
    values: TomlValues, kind: str, february: str | None = None, default: tuple[str, ...] = ()
) -> tuple[str, ...]:
    keys = [f"scanning.{kind}.skip_files"] + ([february] if february else [])
    ignored = values.texts(f"ignore.{kind}")
    return tuple(dict.fromkeys(values.texts(*keys, default=() if ignored else default) + ignored))


def _result_files(values: TomlValues) -> Iterator[str]:
    yield from values.texts("testing.result_files")
    directories = values.texts("scanning.result.directories", default=("",))
    for pattern in values.texts("scanning.result.file_patterns"):
        yield from (_joined(directory, pattern) for directory in directories)
    for target in values.tables("scanning.test.targets"):
        for reports in filter(None, (target.text("results"), target.text("coverage"))):
            yield _joined(target.text("cwd"), reports)


def _joined(directory: str, pattern: str) -> str:
    return f"{directory.rstrip('/')}/{pattern}" if directory not in ("", ".") else pattern


def _associates(values: TomlValues) -> Iterator[Associate]:
    where, table = values.table("associates")
    for name, entry in table.items():
        if isinstance(entry, dict):
            inner = values.inner(entry, f"{where}.{name}")
            yield Associate(name, inner.text("path"), inner.text("namespace") or name.upper())


def _expectations(values: TomlValues) -> Iterator[tuple[str, bool]]:
    where, table = values.table("statuses")
    for name, entry in table.items():
        if isinstance(entry, dict):
            said = values.inner(entry, f"{where}.{name}").optional_flag("expects_implementation")
            if said is not None:
                yield name, said


def _reference_severities(values: TomlValues) -> Iterator[tuple[str, str]]:
    for role in ROLES[1:]:
        default = "warning" if role == "retired" else "ok"
        severity = values.choice(SEVERITIES, f"rules.references.{role}", default=default)
        if severity not in ("ok", "off"):
            yield role, severity


def _status_roles(values: TomlValues) -> tuple[tuple[str, tuple[str, ...]], ...]:
    key, table = values.table("rules.format.status_roles")
    return tuple((role, values.texts(f"{key}.{role}")) for role in ROLES) if table else DEFAULT_STATUS_ROLES
