"""The command line: `python -m fairwater --draught 1.8 --date 2026-06-01`."""

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import date

from fairwater.passage import covered, height_needed, windows
from fairwater.report import Plan, as_json, as_text
from fairwater.settings import settle
from fairwater.tables import read_table

FOUND, NONE, WRONG_QUESTION = 0, 1, 2


# Implements: REQ-d00008-A+B, REQ-o00004-B, REQ-0002
def main(arguments: Sequence[str] | None = None) -> int:
    """Print a plan. Nothing is printed before the whole plan is known, so a refused table leaves no half answer."""
    options = _parser().parse_args(arguments)
    try:
        plan = _plan(options)
    except (ValueError, OSError) as error:
        print(f"fairwater: {error}", file=sys.stderr)
        return WRONG_QUESTION
    print(as_json(plan) if options.json else as_text(plan))
    return FOUND if plan.windows else NONE


def _plan(options: argparse.Namespace) -> Plan:
    settings = settle(os.environ, options.table, options.margin, options.bar_depth)
    needed = height_needed(options.draught, settings.margin, settings.bar_depth)
    day = date.fromisoformat(options.date) if options.date else date.today()
    table = read_table(settings.table)
    return Plan(
        table.place, table.name, day, options.draught, settings.margin, covered(table, day), windows(table, day, needed)
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fairwater", description="When is there enough water over the bar?")
    parser.add_argument("--draught", type=float, required=True, metavar="METRES", help="how deep the vessel sits")
    parser.add_argument("--date", metavar="YYYY-MM-DD", help="the day to plan (default: today)")
    parser.add_argument("--table", metavar="FILE", help="the tide table (default: $FAIRWATER_TABLE)")
    parser.add_argument("--margin", metavar="METRES", help="water wanted under the keel (default: 0.5)")
    parser.add_argument("--bar-depth", metavar="METRES", help="charted depth over the bar (default: 0)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of words")
    return parser
