"""`clew check`."""

import argparse

import msgspec

from clew.surfaces.cli.opening import add_folder, add_json, opened
from clew.surfaces.cli.output import coloured, end_progress, print_json, progress
from clew.trace.findings import Finding

EXAMPLE = "clew check --strict ."

_STYLES = {"error": "red", "warning": "yellow", "info": "dim"}


def configure(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    parser.add_argument("--strict", action="store_true", help="warnings count as errors")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    with opened(args) as project:
        project.ensure_graph(progress())
        end_progress()
        found = project.trace.findings()
    failing = {"error", "warning"} if args.strict else {"error"}
    if args.json:
        print_json({"findings": [msgspec.to_builtins(finding) for finding in found], "count": len(found)})
    else:
        for finding in found:
            _print(finding)
        errors = sum(1 for finding in found if finding.severity == "error")
        warnings = sum(1 for finding in found if finding.severity == "warning")
        counts = ((errors, "error"), (warnings, "warning"), (len(found) - errors - warnings, "remark"))
        print(", ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in counts))
    return 1 if any(finding.severity in failing for finding in found) else 0


def _print(finding: Finding) -> None:
    label = coloured(finding.severity, _STYLES[finding.severity])
    print(f"{finding.path}:{finding.line}: {label} {finding.code}: {finding.message}")
    if finding.hint:
        print(coloured(f"    {finding.hint}", "dim"))
