"""The schema that editors check clew.toml with."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from clew.setup.config_schema import config_schema

ROOT = Path(__file__).parents[2]


# Verifies: REQ-d00446-A
def test_the_schema_in_the_documentation_is_what_the_types_give() -> None:
    assert json.loads((ROOT / "docs" / "clew.schema.json").read_text()) == json.loads(json.dumps(config_schema()))


# Verifies: REQ-d00446-A
@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ((ROOT / "examples" / "demo" / "clew.toml").read_text(), True),
        ('[docs]\nfolders = ["docs"]\n[server]\nnames = "dotted"\n', True),
        ('[docs]\nfolder = ["docs"]\n', False),
        ('[server]\nnames = "slashed"\n', False),
        ("[kb]\nburst = 0\n", False),
    ],
)
def test_an_editor_finds_what_clew_would_refuse(text: str, is_right: bool) -> None:
    problems = list(jsonschema.Draft202012Validator(config_schema()).iter_errors(tomllib.loads(text)))
    assert (not problems) == is_right
