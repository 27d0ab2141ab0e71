"""References to specs in code, in tests and from people.

| written | means |
|---|---|
| `auth/login#locked-out` | one scenario: spec id, slug of the requirement, slug of the scenario |
| `auth/login#locked-out+expired` | several scenarios of one requirement |
| `auth/login` | the whole requirement |
| `login#locked-out` | the short form, where only one spec has a requirement `login` |

The id of a spec in a folder of folders has slashes itself (`platform/auth/login#locked-out`): the last part before the
`#` is the requirement. A word without `/` and `#` is never a reference.
"""

import re

import msgspec

from clew.formats.openspec.names import slug

_LONGEST = 1_000
"""Longer texts are no references. Bounds the work a hostile text can cause."""
_SLUG = r"[^\W_][^\s/#+,;:`'\"(){}\[\]<>|\\]*"
_REFERENCE = re.compile(rf"(?:((?:[\w.][\w.-]*/)+))?({_SLUG})(?:#({_SLUG}(?:\+{_SLUG})*))?")


class SpecReference(msgspec.Struct, frozen=True, gc=False):
    spec_id: str
    """Empty in the short form."""
    requirement: str
    scenarios: tuple[str, ...] = ()
    """Empty means the whole requirement."""


def parse_reference(text: str) -> SpecReference | None:
    """Reference in a text; None if it is not one."""
    if len(text) > _LONGEST or not ("/" in text or "#" in text):
        return None
    match = _REFERENCE.fullmatch(text)
    if match is None:
        return None
    spec_id = (match[1] or "").rstrip("/")
    if any(part in (".", "..") for part in spec_id.split("/")):
        return None
    scenarios = tuple(dict.fromkeys(match[3].split("+"))) if match[3] else ()
    slugs = (match[2], *scenarios)
    # What no heading could have given is a path, an address or a word, such as `src/clew.py`.
    return None if any(slug(each, "") != each for each in slugs) else SpecReference(spec_id, match[2], scenarios)


def format_reference(reference: SpecReference, *, short: bool = False) -> str:
    """The reference as text; in the short form without the spec, which only scenarios have."""
    labels = f"#{'+'.join(reference.scenarios)}" if reference.scenarios else ""
    if reference.spec_id and not (short and labels):
        return f"{requirement_id(reference.spec_id, reference.requirement)}{labels}"
    return f"{reference.requirement}{labels}"


def requirement_id(spec_id: str, requirement: str) -> str:
    """The id of a requirement among all specs."""
    return f"{spec_id}/{requirement}"


def scenario_id(spec_id: str, requirement: str, scenario: str) -> str:
    """The id of a scenario among all specs."""
    return f"{spec_id}/{requirement}#{scenario}"
