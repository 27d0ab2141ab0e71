"""Code blocks that show settings: which keys they set."""

import re
from collections.abc import Iterator

LANGUAGES = frozenset({"toml", "ini", "cfg", "conf", "properties", "yaml", "yml", "json", "jsonc", "json5"})

_TABLE = re.compile(r"\s*\[{1,2}\s*([\w.\"'-]+)\s*\]{1,2}\s*(?:[#;].*)?$")
_ASSIGNED = re.compile(r"\s*[#;]?\s?([A-Za-z_][\w.-]*)\s*=(?!=)")
_YAML = re.compile(r"(\s*)(?:- )?([A-Za-z_][\w.-]*)\s*:(?:\s|$)")
_JSON = re.compile(r'"([A-Za-z_][\w.-]*)"\s*:')


def keys_in(code: str, language: str) -> Iterator[str]:
    """The keys of a block; those of a TOML or INI table with the name of the table before them."""
    if language in ("yaml", "yml"):
        yield from (match[2] for line in code.splitlines() if (match := _YAML.match(line)))
    elif language.startswith("json"):
        yield from (match[1] for match in _JSON.finditer(code))
    else:
        table = ""
        for line in code.splitlines():
            if found := _TABLE.match(line):
                table = found[1].replace('"', "").replace("'", "") + "."
            elif assigned := _ASSIGNED.match(line):
                yield table + assigned[1]
