"""A register for people and for other programs. The same register always gives the same text."""

import csv
import io
from collections.abc import Callable, Mapping

from clew.errors import InvalidArgument
from clew.formats.register.canonical import pretty_as_declared
from clew.formats.register.ids import sort_key
from clew.formats.register.model import Register, Requirement
from clew.formats.register.records import requirement_object
from clew.formats.register.single import head_payload, optional_payload
from clew.register.reports.html_page import ordered, to_html
from clew.register.rules.safety import required_level
from clew.text.controls import csv_cell, escaped_json, printable
from clew.text.display import counted, shortened

COLUMNS = ("id", "title", "kind", "priority", "status", "tags", "statement")


def to_markdown(register: Register) -> str:
    """A chapter for each requirement. `import` reads it back."""
    lines = [f"# {register.name}", ""]
    if register.purpose:
        lines += [register.purpose, ""]
    lines += [f"_{counted(len(register.requirements), 'requirement')}, last changed {register.updated}._", ""]
    for requirement in ordered(register):
        lines += _chapter(requirement)
    if register.hazards:
        lines += _safety(register)
    return "\n".join(lines)


def _chapter(requirement: Requirement) -> list[str]:
    lines = [
        f"## {requirement.id} — {_inline(requirement.title)}",
        "",
        f"- **Kind:** {requirement.kind.word}",
        f"- **Priority:** {requirement.priority.word}",
        f"- **Status:** {requirement.status.word}",
    ]
    if requirement.tags:
        lines.append(f"- **Tags:** {', '.join(requirement.tags)}")
    lines += ["", f"**Statement:** {_inline(requirement.statement)}", ""]
    lines += [f"**Rationale:** {_inline(requirement.rationale)}", ""]
    if requirement.acceptance:
        lines += ["**Acceptance:**", "", *(f"- {_inline(each)}" for each in requirement.acceptance), ""]
    if requirement.links:
        lines += ["**Links:**", "", *(f"- _{each.kind.word}_ → {each.target}" for each in requirement.links), ""]
    return [*lines, "---", ""]


def _inline(text: str) -> str:
    """A text on one line, so that no line of it can be taken for a heading or a bullet."""
    return " ".join(text.split())


def _safety(register: Register) -> list[str]:
    lines = [
        "# Functional safety (IEC 61508)",
        "",
        "_Levels are derived from a worked example of the standard; they do not replace an assessment._",
        "",
        "| hazard | title | harm | C / F / P / W | level | status |",
        "|---|---|---|---|---|---|",
    ]
    for id in sorted(register.hazards, key=sort_key):
        hazard = register.hazards[id]
        risk = " / ".join(
            str(hazard.get(name) or "-") for name in ("consequence", "frequency", "avoidance", "probability")
        )
        cells = (
            id,
            hazard.get("title"),
            hazard.get("harm"),
            risk,
            required_level(hazard, register),
            hazard.get("status"),
        )
        lines.append("| " + " | ".join(_inline(str(cell or "-")).replace("|", "\\|") for cell in cells) + " |")
    return [*lines, ""]


def to_json(register: Register) -> str:
    """Everything but the envelope, each requirement with its full history."""
    payload = {
        **head_payload(register),
        **optional_payload(register),
        "requirements": {each.id: requirement_object(each) for each in ordered(register)},
    }
    return escaped_json(pretty_as_declared(payload).decode())


def to_csv(register: Register) -> str:
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    writer.writerow(COLUMNS)
    for each in ordered(register):
        cells = (each.id, each.title, each.kind.word, each.priority.word, each.status.word, "|".join(each.tags))
        writer.writerow(map(csv_cell, (*cells, each.statement)))
    return sheet.getvalue()


EXPORTS: Mapping[str, Callable[[Register], str]] = {
    "markdown": to_markdown,
    "json": to_json,
    "csv": to_csv,
    "html": to_html,
}


def export(register: Register, form: str) -> str:
    render = EXPORTS.get(form)
    if render is None:
        raise InvalidArgument(f"Unknown format: '{shortened(form)}'.", hint=f"Formats are {', '.join(EXPORTS)}.")
    return printable(render(register))
