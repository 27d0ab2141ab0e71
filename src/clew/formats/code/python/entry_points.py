"""Names of things of Python in the settings of a project: entry points such as `ring = pack.bells:main`."""

import re

from clew.formats.code.facts.expressions import Op
from clew.formats.code.facts.model import Outline, Reading, SiteKind
from clew.formats.code.facts.writing import FactsWriter

RULES = "python"
ENTRY = re.compile(
    r"(?<![\w.:/@-])([A-Za-z_]\w{0,99}(?:\.[A-Za-z_]\w{0,99}){0,20}):([A-Za-z_]\w{0,99}(?:\.[A-Za-z_]\w{0,99}){0,5})(?![\w:/.])"
)
"""A module and a thing in it."""
_LONGEST_ROW = 2_000


def read_settings(text: str) -> Reading:
    """The record of a file of settings: each entry point is a use of what it names."""
    writer = FactsWriter()
    rows = text.split("\n")
    for line, row in enumerate(rows, start=1):
        if ":" not in row or row.lstrip().startswith("#"):
            continue
        for found in ENTRY.finditer(row[:_LONGEST_ROW]):
            dotted = f"{found[1]}.{found[2]}"
            expression = writer.expression(Op.DOTTED, writer.name(dotted))
            writer.site(dotted.rpartition(".")[2], line, found.start(), SiteKind.STRING, expression)
    return Reading(Outline(lines=len(rows)), writer.facts(RULES))
