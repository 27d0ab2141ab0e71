"""The levels of a requirements hierarchy, such as product, operations and development."""

import re
from collections.abc import Iterable, Iterator

import msgspec

from clew.formats.diagnostics import Diagnostic
from clew.formats.elspais.toml_values import TomlValues


class Level(msgspec.Struct, frozen=True):
    """One level of the hierarchy, such as `prd`."""

    name: str
    rank: int
    """1 is the most general."""
    letter: str
    """How the level is spelled inside an id."""
    implements: tuple[str, ...] | None = None
    """The levels a requirement of this level may implement; None where the project has no rule about it."""


DEFAULT_LEVELS = (
    Level("prd", 1, "p", ("prd",)),
    Level("ops", 2, "o", ("ops", "prd")),
    Level("dev", 3, "d", ("dev", "ops", "prd")),
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
    """Which level may implement which, in the two spellings that preceded `levels.NAME.implements`."""
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
