"""The JSON schema of clew.toml, for editors: made from the types that read the file."""

# Implements: REQ-d00446

import sys
from pathlib import Path
from typing import Any

import msgspec

from clew.config import ClewToml
from clew.text.controls import pretty_json


def config_schema() -> dict[str, Any]:
    """The schema, with every table in place."""
    (schema,), parts = msgspec.json.schema_components([ClewToml], ref_template="#/$defs/{name}")
    whole = parts.pop("ClewToml", schema)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "clew.toml",
        "description": "What Clew reads in a project, and how.",
        **{key: _as_toml(value) for key, value in whole.items() if key not in ("title", "description")},
        "$defs": {name: _as_toml(part) for name, part in sorted(parts.items())},
    }


def _as_toml(value: Any) -> Any:
    """The schema without null, which TOML does not have, and without defaults of whole tables, which repeat those of
    their keys."""
    if isinstance(value, list):
        return [_as_toml(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {key: each for key, each in value.items() if key != "default" or not ("$ref" in value or each is None)}
    choices = [each for each in kept.get("anyOf", ()) if each != {"type": "null"}]
    if len(choices) == 1:
        kept = {**{key: each for key, each in kept.items() if key != "anyOf"}, **choices[0]}
    elif choices:
        kept = {**kept, "anyOf": choices}
    return {key: _as_toml(each) for key, each in kept.items()}


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(pretty_json(config_schema()) + "\n", encoding="utf-8", newline="\n")
    sys.stdout.write(f"{target}\n")
