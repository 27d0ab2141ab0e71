"""Templates of ids: which parts an id has and in which order."""

import re

from clew.formats.elspais.toml_values import TomlValues

CANONICAL = "{namespace}-{level.letter}{component}"
ALIASES = (("short", "{level.letter}{component}"),)

TOKEN = re.compile(r"\{([^{}]*)\}")
_TOKENS = {"namespace", "level.letter", "level", "component", "associated"}
_OLD_TOKENS = {"type.letter": "level.letter", "type": "level", "prefix": "namespace", "id": "component"}
_LONGEST_LITERAL = 32


def read_templates(values: TomlValues) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The canonical template and the aliases, in the tokens of version 4 whatever the layout."""
    canonical = CANONICAL
    # In the February layout `{type}` was what version 4 calls the letter of a level, not its name.
    if february := values.text("patterns.id_template"):
        canonical = _checked(values, "patterns.id_template", february.replace("{type}", "{level.letter}"))
    if now := values.text("id-patterns.canonical"):
        canonical = _checked(values, "id-patterns.canonical", now)
    where, table = values.table("id-patterns.aliases")
    aliases = []
    for name, alias in table.items():
        if not isinstance(alias, str):
            raise values.refuse(f"{where}.{name}", alias, "text")
        aliases.append((name, _checked(values, f"{where}.{name}", alias)))
    return canonical, tuple(aliases) or ALIASES


def _checked(values: TomlValues, key: str, template: str) -> str:
    template = TOKEN.sub(lambda token: f"{{{_OLD_TOKENS.get(token[1], token[1])}}}", template)
    used = TOKEN.findall(template)
    literal = TOKEN.sub("", template)
    if used.count("component") != 1 or not set(used) <= _TOKENS or len(set(used)) < len(used):
        rule = "a template with {component} and, once each, {namespace}, {level.letter} or {level}"
        raise values.refuse(key, template, rule)
    if len(literal) > _LONGEST_LITERAL or re.search(r"[\s:,|#*{}]", literal):
        raise values.refuse(key, template, "a template without blanks and without : , | # * between its parts")
    return template


def read_component_pattern(values: TomlValues, style: str) -> str:
    """The regular expression of a component; only the style `regex` needs one."""
    keys = ("id-patterns.component.pattern", "patterns.id_format.pattern")
    pattern = values.text(*keys)
    if style != "regex":
        return pattern
    rule = "a regular expression of 1 to 500 characters without `:` and named groups, because the style is regex"
    if not pattern or len(pattern) > 500 or ":" in pattern.replace("(?:", "") or "(?P" in pattern:
        raise values.refuse(keys[0], pattern, rule)
    from clew.text.given_pattern import PatternTooLarge, compile_given

    try:
        compile_given(pattern)
    except PatternTooLarge as error:
        raise values.refuse(keys[0], pattern, f"a smaller regular expression: {error}") from None
    except ValueError:
        raise values.refuse(keys[0], pattern, rule) from None
    return pattern
