"""The lowest versions that pyproject.toml promises to work with."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


def dependencies(project: Path, *extras: str) -> list[Requirement]:
    """What Clew needs at run time, with these extras."""
    described = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = (line for extra in extras for line in described["optional-dependencies"][extra])
    return [Requirement(line) for line in (*described["dependencies"], *optional)]


def lowest(requirement: Requirement) -> Version | None:
    """The lowest version that a requirement allows; None where it has no lower bound."""
    bounds = [Version(each.version) for each in requirement.specifier if each.operator in {">=", "=="}]
    return max(bounds, default=None)


def pins(lock: Path) -> dict[str, list[Version]]:
    """The versions of each package in a lock; several where they depend on the platform."""
    found: dict[str, list[Version]] = {}
    for name, version in PINNED.findall(lock.read_text(encoding="utf-8")):
        found.setdefault(name, []).append(Version(version))
    return found


def never_installed(requirements: list[Requirement], resolved: Path) -> list[str]:
    """Lower bounds that nobody gets, because another package asks for more. They would promise what is not tested."""
    versions = pins(resolved)
    return [
        f"{each} resolves to {versions[each.name][0]} at the lowest: correct its bound in pyproject.toml"
        for each in requirements
        if versions[each.name] != [lowest(each)]
    ]
