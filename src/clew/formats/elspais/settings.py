"""What Clew needs from `.elspais.toml`, whichever of its layouts a project uses.

elspais changed the shape of this file several times. `settings_file.py` knows the keys; this module
holds the values, so that nothing else has to care where a value was written.
"""

import msgspec

DEFAULT_SKIP = ("node_modules", ".git", "__pycache__", "*.pyc", ".venv", ".env")


class Level(msgspec.Struct, frozen=True):
    """One level of the hierarchy, such as `prd`."""

    name: str
    rank: int
    """1 is the most general."""
    letter: str
    """How the level is spelled inside an id."""
    display_name: str = ""
    implements: tuple[str, ...] = ()
    """The levels a requirement of this level may implement."""


class IdSettings(msgspec.Struct, frozen=True):
    """How a requirement id is composed."""

    canonical: str = "{namespace}-{level.letter}{component}"
    aliases: tuple[tuple[str, str], ...] = (("short", "{level.letter}{component}"),)
    """Name and template of each other accepted spelling."""
    separators: tuple[str, ...] = ("-", "_")
    """Characters that are taken for one another between the parts of an id."""
    prefix_optional: bool = False
    component_style: str = "numeric"
    digits: int = 5
    """Significant digits of a numeric component; 0 is any number."""
    leading_zeros: bool = True
    pattern: str = ""
    """The component's regular expression where the style is `regex`."""
    max_length: int = 0
    """Of a named component; 0 is the reader's own limit."""
    associated_length: int = 0
    """Letters of the optional code of an associated repository (`REQ-CAL-d00001`); 0 where there is none."""


class LabelSettings(msgspec.Struct, frozen=True):
    """How the assertions of a requirement are labelled and cited."""

    style: str = "uppercase"
    zero_pad: bool = False
    max_count: int = 26
    separator: str = "-"
    """Between the id and its first label."""
    multi_separator: str = "+"
    """Between two labels."""


class ScanSettings(msgspec.Struct, frozen=True):
    """Which files of one kind are read, relative to the project."""

    directories: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    skip_files: tuple[str, ...] = ()
    skip_dirs: tuple[str, ...] = ()


DEFAULT_LEVELS = (
    Level("prd", 1, "p", "Product", ("prd",)),
    Level("ops", 2, "o", "Operations", ("ops", "prd")),
    Level("dev", 3, "d", "Development", ("dev", "ops", "prd")),
)

DEFAULT_STATUS_ROLES = (
    ("active", ("Active",)),
    ("provisional", ("Draft", "Proposed")),
    ("aspirational", ("Roadmap", "Future", "Idea")),
    ("retired", ("Deprecated", "Superseded", "Rejected")),
)


class ElspaisSettings(msgspec.Struct, frozen=True):
    """Everything of `.elspais.toml` that Clew uses; without arguments, what holds where there is no such file."""

    project_name: str = ""
    namespace: str = "REQ"
    ids: IdSettings = IdSettings()
    labels: LabelSettings = LabelSettings()
    levels: tuple[Level, ...] = DEFAULT_LEVELS
    skip: tuple[str, ...] = DEFAULT_SKIP
    """Patterns of names and paths that are never read, whatever the kind of file."""
    spec: ScanSettings = ScanSettings(("spec",), ("*.md",), ("README.md", "INDEX.md"))
    code: ScanSettings = ScanSettings(("src",))
    """Without patterns, every file of a known programming language below the directories."""
    tests: ScanSettings = ScanSettings(("tests",), ("test_*.py", "*_test.py"))
    tests_enabled: bool | None = None
    """None where the file does not say; elspais itself then reads no tests."""
    result_files: tuple[str, ...] = ()
    """Globs of test reports."""
    status_roles: tuple[tuple[str, tuple[str, ...]], ...] = DEFAULT_STATUS_ROLES
    hash_mode: str = "normalized-text"
    keyword_min_length: int = 3

    def level(self, text: str) -> Level | None:
        """The level that `text` names or whose letter it is, in any case."""
        folded = text.casefold()
        for level in self.levels:
            if level.name.casefold() == folded:
                return level
        for level in self.levels:
            if level.letter.casefold() == folded:
                return level
        return None

    def status_role(self, status: str) -> str:
        """active, provisional, aspirational or retired; a status no role claims is active."""
        folded = status.casefold()
        for role, statuses in self.status_roles:
            if any(folded == each.casefold() for each in statuses):
                return role
        return "active"
