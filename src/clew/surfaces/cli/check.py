"""`clew check`."""

import argparse
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from clew.surfaces.cli.opening import add_folder, opened
from clew.surfaces.cli.output import end_progress, progress
from clew.surfaces.cli.writing import deliver
from clew.text.counting import counted
from clew.text.terminal import coloured
from clew.trace.reports.findings import Finding
from clew.workspace import git

EXAMPLE = """clew check --strict .
clew check --format sarif --output clew.sarif"""

FORMATS = ("text", "json", "sarif", "junit")

_STYLES = {"error": "red", "warning": "yellow", "info": "dim"}


def configure(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    parser.add_argument("--strict", action="store_true", help="warnings count as errors")
    parser.add_argument("--format", choices=FORMATS, help="how to write the findings (default: text)")
    parser.add_argument("--json", action="store_const", dest="format", const="json", help="the same as --format json")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write them to a file and print the counts")


def run(args: argparse.Namespace) -> int:
    with opened(args) as project:
        project.ensure_graph(progress())
        end_progress()
        with project.lock.reading():
            found = project.trace.findings()
        root = project.config.root
    failing = frozenset({"error", "warning"} if args.strict else {"error"})
    document = _written(found, args.format or "text", failing, root, plain=args.output is not None)
    deliver(document, args.output)
    if args.output is not None and args.format not in (None, "text"):
        print(_counts(found))
    return 1 if any(finding.severity in failing for finding in found) else 0


def _written(found: Sequence[Finding], shape: str, failing: Collection[str], root: Path, *, plain: bool) -> str:
    match shape:
        case "json":
            data = {"findings": msgspec.to_builtins(found), "count": len(found)}
            return msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n"
        case "sarif":
            from clew.surfaces.cli.check_sarif import sarif

            return sarif(found, _in_repository(root))
        case "junit":
            from clew.surfaces.cli.check_junit import junit

            return junit(found, failing)
        case _:
            return "".join(_lines(finding, plain=plain) for finding in found) + _counts(found) + "\n"


def _in_repository(root: Path) -> str:
    """What leads from the root of the repository to the project, which may be a folder of it."""
    top, here = git.toplevel(root), root.resolve()
    if top is None or not here.is_relative_to(top.resolve()):
        return ""
    return f"{here.relative_to(top.resolve()).as_posix()}/".removeprefix("./")


def _lines(finding: Finding, *, plain: bool) -> str:
    label = finding.severity if plain else coloured(finding.severity, _STYLES[finding.severity])
    text = f"{finding.path}:{finding.line}: {label} {finding.code}: {finding.message}\n"
    hint = f"    {finding.hint}"
    return text + ((hint if plain else coloured(hint, "dim")) + "\n" if finding.hint else "")


def _counts(found: Sequence[Finding]) -> str:
    errors = sum(1 for finding in found if finding.severity == "error")
    warnings = sum(1 for finding in found if finding.severity == "warning")
    counts = ((errors, "error"), (warnings, "warning"), (len(found) - errors - warnings, "remark"))
    return ", ".join(counted(number, word) for number, word in counts)
