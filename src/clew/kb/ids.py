"""The ids of nodes that the knowledge base adds to the graph.

| node | id |
|---|---|
| document | `doc:docs/guide.md` |
| section | `doc:docs/guide.md#install/linux`, its second piece `doc:docs/guide.md#install/linux~2` |
| entity | `entity:flag:--strict` |
| file that a document names | `file:src/app.py` |

The first `#` ends the path: one in the name of a file is spelled `%23`, and a `%` `%25`. What cannot be printed, which
the name of a file may hold as well, is spelled by its bytes in the same way.
"""

from clew.text.hashing import content_hash

DOCUMENT, ENTITY, FILE = "doc:", "entity:", "file:"
LONGEST = 480
"""The search index takes no longer ones than 512."""

_DIGEST_BYTES = 8


def document_id(path: str) -> str:
    return _bounded(f"{DOCUMENT}{_spelled(path)}")


def section_id(path: str, key: str, ordinal: int) -> str:
    return _bounded(f"{DOCUMENT}{_spelled(path)}#{key}{f'~{ordinal}' if ordinal > 1 else ''}")


def entity_id(kind: str, normal: str) -> str:
    return _bounded(f"{ENTITY}{kind}:{normal}")


def shortened_entity(kind: str, normal: str) -> str | None:
    """The id of an entity where that is not its kind and its whole name."""
    id = entity_id(kind, normal)
    return None if id == f"{ENTITY}{kind}:{normal}" else id


def file_id(path: str) -> str:
    return f"{FILE}{path}"


def is_own(id: str) -> bool:
    """True if an id can only be one of the knowledge base: every id that anybody looks up is checked."""
    return id.startswith((DOCUMENT, ENTITY, FILE))


def _spelled(path: str) -> str:
    return path.replace("%", "%25").replace("#", "%23")


def _bounded(id: str) -> str:
    """A name that is too long ends in a digest of all of it."""
    id = id if id.isprintable() else "".join(sign if sign.isprintable() else _bytes_of(sign) for sign in id)
    if len(id) <= LONGEST:
        return id
    digest = content_hash(id.encode("utf-8", "surrogatepass"), size=_DIGEST_BYTES)
    return f"{id[: LONGEST - len(digest) - 1]}~{digest}"


def _bytes_of(sign: str) -> str:
    return "".join(f"%{byte:02X}" for byte in sign.encode("utf-8", "surrogatepass"))
