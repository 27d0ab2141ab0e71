"""Help texts of `req_help` and `clew req help`: one for each subject, true for Clew."""

import re
from collections.abc import Callable, Mapping

import msgspec

from clew.errors import NotFound
from clew.register import help_texts
from clew.register.rules.codes import RULES
from clew.text.display import shortened


class HelpSection(msgspec.Struct, frozen=True):
    name: str
    summary: str


class HelpText(msgspec.Struct, frozen=True):
    body: str
    name: str
    summary: str


class HelpIndex(msgspec.Struct, frozen=True):
    sections: tuple[HelpSection, ...]


def _rules() -> str:
    rows = (
        f"{rule.code}  {rule.severity.value:<7}  {rule.field}: {rule.summary}. {rule.hint}" for rule in RULES.values()
    )
    return "\n".join((help_texts.ERRORS.strip(), "", "Rules of the validator:", *rows))


_GENERATED: Mapping[str, Callable[[], str]] = {"errors": _rules}


def index() -> HelpIndex:
    return HelpIndex(tuple(HelpSection(name, summary) for name, (summary, _) in help_texts.SECTIONS.items()))


class ToolAdvice(msgspec.Struct, frozen=True):
    when: str
    call: str


def advice() -> tuple[ToolAdvice, ...]:
    """The advice to agents as data: the call for each occasion."""
    rows = (re.split(r" {2,}", line, maxsplit=1) for line in help_texts.AGENTS.splitlines())
    return tuple(ToolAdvice(*row) for row in rows if len(row) == 2)


def section(written: str) -> HelpText:
    name = written.strip().lower()
    found = help_texts.SECTIONS.get(name)
    if found is None:
        known = ", ".join(help_texts.SECTIONS)
        raise NotFound(f"There is no section '{shortened(written)}'.", hint=f"Sections are {known}; _index lists them.")
    summary, body = found
    generate = _GENERATED.get(name)
    return HelpText(generate() if generate else body.strip(), name, summary)
