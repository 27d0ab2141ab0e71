"""Entities that documents mention, found without a model.

| module | subject |
|---|---|
| `model` | kinds of entities, mentions, procedures |
| `shapes` | what a word is by its shape: flag, variable, file, symbol, version, error; commands in lines for a shell |
| `extract` | what each chunk names, recurring terms, numbered steps; settings in blocks of YAML, TOML, INI and JSON |
"""

# Implements: REQ-d00092
