"""Which document, section or entity a person means by a name."""

import os
from pathlib import Path

from clew.kb import ids
from clew.kb.queries import Reading


def named(root: Path, reading: Reading, name: str) -> str | None:
    """The id of the document or section that somebody means by an id, also an old one, or by a path as it may be
    written: from the project's folder or from where they are, with the name of a section or without."""
    path, _, key = name.partition("#")
    here = Path(os.path.relpath(Path(path).resolve(), root))
    documents = [ids.document_id(each.as_posix()) for each in (Path(path), here)]
    for id in (name, ids.document_id(name), *(f"{document}#{key}" if key else document for document in documents)):
        if (current := reading.current_id(id)) is not None:
            return current
    return None


def meant(root: Path, reading: Reading, name: str) -> list[str]:
    """The ids that a name may mean: itself, a document, or entities of that name."""
    entities = [*reading.entities_named(name), *reading.entities_named(name.casefold())]
    return list(dict.fromkeys([named(root, reading, name) or name, *entities]))
