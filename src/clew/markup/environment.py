"""The one Jinja environment: whatever comes from a project is escaped, and a name that is missing is an error."""

from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from clew.markup.prose import inline, prose
from clew.text.controls import pretty_json, printable
from clew.text.display import counted


def environment(*packages: str) -> Environment:
    """Templates of these packages and of this one. Make it once: it keeps what it compiled."""
    loaders = [PackageLoader(package) for package in (*packages, "clew.markup")]
    made = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"prose": prose, "inline": inline, "counted": counted, "pretty": pretty_json}
    return made


@cache
def shared() -> Environment:
    """The templates of this package alone."""
    return environment()


def _shown(value: Any) -> Any:
    """Empty for None. Characters that a browser obeys instead of showing them, such as a change of direction, are made
    visible; markup is left alone, because it is made of escaped texts."""
    if value is None:
        return ""
    return printable(value) if type(value) is str else value
