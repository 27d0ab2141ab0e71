"""Commands of `clew req` that ask."""

import argparse
from pathlib import Path
from typing import Any

import msgspec

from clew.errors import InvalidArgument
from clew.formats.register.model import Kind, Priority, Requirement, Status
from clew.formats.register.records import requirement_object
from clew.register import help as helping
from clew.register import help_texts, results
from clew.register.git import agents_block
from clew.register.git.setup import bounds_of
from clew.register.reports import export
from clew.register.reports.brief_text import brief_text
from clew.register.reports.queries import Filter
from clew.register.rules import schema
from clew.register.service import RegisterService
from clew.register.words import parse
from clew.surfaces.cli.req_commands import Command, table, taking
from clew.text.counting import counted
from clew.text.terminal import coloured


def add_filter(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--status", help="only this status")
    parser.add_argument("--kind", "-k", help="only this kind")
    parser.add_argument("--priority", "-p", help="only this priority")
    parser.add_argument("--tag", action="append", default=[], help="only with this tag; may be repeated")


def filter_of(args: argparse.Namespace, **more: Any) -> Filter:
    return Filter(
        status=parse(args.status, Status, "status") if args.status else None,
        kind=parse(args.kind, Kind, "kind") if args.kind else None,
        priority=parse(args.priority, Priority, "priority") if args.priority else None,
        tags=tuple(args.tag),
        **more,
    )


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    add_filter(parser)
    parser.add_argument("-q", "--query", help="part of the title or the statement")
    parser.add_argument("--hide-obsolete", action="store_true", help="leave out retired ones")
    parser.add_argument("--include-obsolete", action="store_true", help=argparse.SUPPRESS)


def _list(service: RegisterService, args: argparse.Namespace) -> results.Listing:
    return service.listing(filter_of(args, query=args.query, include_obsolete=not args.hide_obsolete))


def _list_text(found: results.Listing) -> str:
    rows = ((row.id, row.status, row.priority, row.title) for row in found.requirements)
    return table(rows) or "No requirement matches."


def show_text(plain: dict[str, Any]) -> str:
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


def _show(service: RegisterService, args: argparse.Namespace) -> dict[str, Any]:
    requirement = service.show(args.id)
    plain = requirement_object(requirement)
    # As data it is what the file holds; for people, whether the evidence still holds as well.
    return plain if args.json or not requirement.tests else {**plain, "evidence_state": service.freshness(requirement)}


def _next(service: RegisterService, args: argparse.Namespace) -> Any:
    found = service.next(filter_of(args))
    return requirement_object(found) if isinstance(found, Requirement) else msgspec.to_builtins(found)


def _next_text(found: dict[str, Any]) -> str:
    if "id" in found:
        return show_text(found)
    waiting = (f"  {each['id']} waits for {', '.join(each['waits_for'])}" for each in found["blocked"])
    return "\n".join((found["message"], *waiting))


def findings_text(found: results.ValidationReport) -> str:
    styles = {"error": "red", "warning": "yellow"}
    lines = [
        f"{row.id}  {coloured(row.level, styles[row.level])}  {row.rule_code}  {row.message}\n"
        f"          {coloured(row.hint, 'dim')}"
        for row in found.findings
    ]
    return "\n".join((*lines, f"{counted(found.errors, 'error')}, {counted(found.warnings, 'warning')}"))


def _status_text(found: results.StatusReport) -> str:
    counts = table((word, str(number)) for word, number in msgspec.to_builtins(found.by_status).items())
    return (
        f"{found.project}: {counted(found.total, 'requirement')}\n{counts}\n{found.delivery_progress_pct} % delivered"
    )


def _export_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-f", "--format", default="markdown", choices=tuple(export.EXPORTS), help="what to write")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="where to (default: standard output)")


def _export(service: RegisterService, args: argparse.Namespace) -> dict[str, str]:
    text = service.export(args.format)
    if args.output == "-":
        return {"format": args.format, "text": text}
    try:
        Path(args.output).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise InvalidArgument(
            f"'{args.output}' cannot be written: {error.strerror}.", hint="Check the path."
        ) from error
    return {"format": args.format, "wrote": args.output}


def _export_text(done: dict[str, str]) -> str:
    return done["text"] if "text" in done else f"Wrote {done['wrote']}."


def _help_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("section", nargs="?", help="a name from the index, or `all`")
    parser.add_argument("-l", "--list", action="store_true", help="the names of all sections")
    parser.add_argument("--install", action="store_true", help="put the section into a file that agents read")
    parser.add_argument("--path", default="AGENTS.md", metavar="FILE", help="that file (default: AGENTS.md)")


def _help(service: RegisterService, args: argparse.Namespace) -> Any:
    if args.install:
        file = service.root / args.path
        done = agents_block.install(file, args.section or "agents", within=bounds_of(service.root, file))
        return {"path": done.path, "section": done.section, "changed": done.changed}
    if args.section is None or args.list:
        return helping.index()
    if args.section == "all":
        return [helping.section(name) for name in help_texts.SECTIONS]
    found = helping.section(args.section)
    return {**msgspec.to_builtins(found), "structured": helping.occasions()} if found.name == "agents" else found


def _help_text(found: Any) -> str:
    if isinstance(found, list):
        return "\n\n".join(f"# {each.name}\n\n{each.body}" for each in found)
    if isinstance(found, dict) and "body" in found:
        return str(found["body"])
    if isinstance(found, dict):
        return f"{found['path']} {'now holds' if found['changed'] else 'already held'} the section {found['section']}."
    if isinstance(found, helping.HelpIndex):
        return table((each.name, each.summary) for each in found.sections)
    return str(found.body)


READING = (
    Command(
        "brief",
        "where the register stands, and what comes next",
        lambda service, args: service.brief(full=args.full),
        taking("--full", action="store_true", help="longer lists"),
        brief_text,
    ),
    Command("list", "all requirements, or those that fit", _list, _list_arguments, _list_text),
    Command(
        "show",
        "one requirement in full",
        _show,
        taking("id", help="REQ-0042; 42 means the same"),
        show_text,
    ),
    Command("next", "what to work on next", _next, add_filter, _next_text, lambda found, args: "id" not in found),
    Command(
        "status",
        "progress in figures",
        lambda service, args: service.status(tuple(args.tag)),
        taking("--tag", action="append", default=[], help="only with this tag"),
        _status_text,
    ),
    Command(
        "validate",
        "check every requirement; exit code 1 on errors",
        lambda service, args: service.validate(staged=args.staged),
        taking("--staged", action="store_true", help="what the next commit would hold"),
        text=findings_text,
        is_no=lambda found, args: found.errors > 0,
    ),
    Command("export", "the register as markdown, JSON, CSV or HTML", _export, _export_arguments, _export_text),
    Command(
        "schema",
        "the JSON Schema of an input",
        lambda service, args: schema.schema(args.which),
        taking("which", nargs="?", default="add", choices=("add", "batch", "import", "test-map")),
        finds_register=False,
    ),
    Command(
        "version",
        "versions of the program and of the file format",
        lambda service, args: service.version(),
        finds_register=False,
    ),
    Command(
        "help",
        "texts on working with the register",
        _help,
        _help_arguments,
        _help_text,
        finds_register=False,
    ),
)
