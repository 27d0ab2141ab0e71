"""What documents talk about, found without a model.

| module | subject |
|---|---|
| `model` | kinds of entities, mentions, procedures |
| `pieces` | the text of each chunk, cut into prose and code |
| `shell` | commands, flags and variables in lines for a shell |
| `shapes` | what a word is by its shape: flag, variable, file, symbol, version, error |
| `terms` | capitalised terms that recur, and terms that are defined |
| `extract` | all of it, chunk by chunk; keys of settings in blocks of YAML, TOML, INI and JSON; numbered steps |
"""

from clew.kb.entities.extract import VERSION, entities_of
from clew.kb.entities.model import DocumentEntities, EntityKind, Mention, Procedure

__all__ = ["VERSION", "DocumentEntities", "EntityKind", "Mention", "Procedure", "entities_of"]
