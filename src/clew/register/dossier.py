"""The dossiers that files of schema revision 1 keep with a requirement. Clew reads them; it does not write them."""

from collections.abc import Mapping
from typing import Any

from clew.formats.register.model import Register, Requirement

_DEFAULT_EXEMPT = ("validation-exempt",)


def has_genuine_dossier(dossier: Any) -> bool:
    """A dossier that was concluded with a pass; an exemption is none."""
    return isinstance(dossier, Mapping) and dossier.get("verdict") == "Pass" and not dossier.get("exempt")


def has_human_confirmation(dossier: Any) -> bool:
    return isinstance(dossier, Mapping) and bool(dossier.get("human_confirmation"))


def may_be_verified(requirement: Requirement, register: Register) -> bool:
    """Files of the revisions that know dossiers ask for one that passed, an exemption, or an exempting tag."""
    if not register.schema_rev:
        return True
    dossier = requirement.validation
    if isinstance(dossier, Mapping) and (dossier.get("exempt") or dossier.get("verdict") == "Pass"):
        return True
    return any(tag in _exempt_tags(register) for tag in requirement.tags)


def _exempt_tags(register: Register) -> tuple[str, ...]:
    validation = (register.config or {}).get("validation")
    tags = validation.get("exempt_tags") if isinstance(validation, Mapping) else None
    return tuple(tags) if isinstance(tags, list) else _DEFAULT_EXEMPT
