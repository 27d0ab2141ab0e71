"""Texts that the reading commands of `clew req` print for people."""

from typing import Any

import msgspec

from clew.operation.as_commands import as_commands
from clew.register import help as help_pages
from clew.register import results
from clew.register.reports.safety_case import Case, SafetyReport
from clew.text.controls import pretty_json
from clew.text.display import counted
from clew.text.terminal import coloured, table

_ON_TOOLS = ("agents", "mcp")
"""Sections of the help that are about the tools themselves."""


def listing(found: results.RequirementList) -> str:
    rows = ((row.id, row.status, row.priority, row.title) for row in found.requirements)
    return table(rows) or "No requirement matches."


def requirement(plain: dict[str, Any]) -> str:
    """A requirement for people."""
    lines = [
        coloured(f"{plain['id']}: {plain['title']}", "bold"),
        ", ".join((plain["kind"], plain["priority"], plain["status"], *plain["tags"])),
        "",
        plain["statement"],
        coloured(f"Why: {plain['rationale']}", "dim"),
        *(f"  {number}. {text}" for number, text in enumerate(plain["acceptance"], start=1)),
        *(f"  {link['kind']} -> {link['target']}" for link in plain["links"]),
    ]
    if plain["tests"]:
        last = plain["tests"][-1]
        state = f", {plain['evidence_state']}" if "evidence_state" in plain else ""
        lines.append(f"Evidence: {last['outcome']} ({last['kind']}) at {last['commit'][:9]}{state}: {last['notes']}")
    lines.append("History:")
    for entry in plain["history"]:
        reason = f" ({entry['reason']})" if entry.get("reason") else ""
        lines.append(f"  {entry['at'][:19]}  {entry['actor']}: {entry['action']}{reason}")
    return "\n".join(lines)


def next_up(found: dict[str, Any]) -> str:
    if "id" in found:
        return requirement(found)
    waiting = (f"  {each['id']} waits for {', '.join(each['waits_for'])}" for each in found["blocked"])
    return "\n".join((found["message"], *waiting))


def status(found: results.StatusReport) -> str:
    counts = table((word, str(number)) for word, number in msgspec.to_builtins(found.by_status).items())
    return (
        f"{found.project}: {counted(found.total, 'requirement')}\n{counts}\n{found.delivery_progress_pct} % delivered"
    )


def help_page(found: Any) -> str:
    """The index, a text, all texts, or where a text was put."""
    if isinstance(found, list):
        return "\n\n".join(f"# {each.name}\n\n{_section(each)}" for each in found)
    if isinstance(found, dict) and "body" in found:
        return str(found["body"])
    if isinstance(found, dict):
        return f"{found['path']} {'now holds' if found['changed'] else 'already held'} the section {found['section']}."
    if isinstance(found, help_pages.HelpIndex):
        return table((each.name, as_commands(each.summary)) for each in found.sections)
    return _section(found)


def _section(found: help_pages.HelpText) -> str:
    return found.body if found.name in _ON_TOOLS else as_commands(found.body)


def brief_text(found: results.Brief) -> str:
    counts = ", ".join(f"{number} {word}" for word, number in msgspec.to_builtins(found.by_status).items() if number)
    total = counted(found.total, "requirement")
    lines = [f"{found.project}: {total} ({counts or 'none yet'}), {found.delivery_pct} % delivered"]
    if found.purpose:
        lines.append(found.purpose)
    lines += [f"  {each.id}  {each.title}" for each in found.spine]
    up = found.next
    lines.append(f"next: {up.id} {up.title} ({up.priority}, {up.status})" if up else "next: nothing is open")
    for label, name in (
        ("implemented, not verified", "implemented_unverified"),
        ("drafts", "drafts"),
        ("verified, but the last record failed", "verified_but_defective"),
    ):
        ids = getattr(found, name)
        if ids:
            more = f" and {found.more[name]} more" if name in found.more else ""
            lines.append(f"{label}: {', '.join(ids)}{more}")
    lines.append(f"gate: {found.hook_mode or 'no hook'}; last change: {found.last_spec_change or 'not committed'}")
    return "\n".join(lines)


def safety(found: SafetyReport) -> str:
    """The safety case, a line for each artefact, or one of them as the file has it."""
    if found.artefact is not None:
        return pretty_json(found.artefact)
    if not found.artefacts:
        return "The register has no safety case."
    lines = []
    for each in found.artefacts:
        word = {"safety_function": "mitigates", "safety_requirement": "realizes"}.get(each.kind, "")
        cites = f"  {word} {', '.join(each.cites)}" if each.cites else ""
        by = f"  by {', '.join(each.cited_by)}" if each.cited_by else ""
        lines.append(f"{each.id}  {each.status}  {each.level or 'not assessed'}  {each.title}{cites}{by}")
    return "\n".join(lines)


def safety_case(case: Case) -> str:
    """A hazard with its safety functions and requirements, and the missing parts."""
    hazard, level = case.hazard, case.required_sil or "not assessed"
    lines = [f"{hazard['id']}  {hazard['status']}  {level}  {hazard['title']}", f"  harm: {hazard['harm']}"]
    for function in case.safety_functions:
        allocated = function["allocated_sil"] or "not assessed"
        lines.append(f"  {function['id']}  {function['status']}  {allocated}  {function['title']}")
        for each in function["safety_requirements"]:
            evidence = each["evidence"] or "no evidence"
            lines.append(f"    {each['id']}  {each['status']}  {evidence}  {each['title']}")
    missing = ", ".join(case.blocking) or ("nothing" if case.adequate else "a level that is high enough")
    return "\n".join([*lines, f"  missing: {missing}"])
