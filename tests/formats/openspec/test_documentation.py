"""The page on the format says what the code does."""

import re
from pathlib import Path

from clew.formats.openspec.reader import read_delta, read_spec
from clew.formats.openspec.rules.rules import RULES
from clew.formats.openspec.rules.spec import validate_spec

PAGE = (Path(__file__).parents[3] / "docs" / "formats" / "openspec.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```markdown\n(.*?)```", PAGE, re.DOTALL)


# Verifies: REQ-d00073-A+B
def test_every_rule_is_described_with_its_levels() -> None:
    described = {
        code: tuple(cell.strip() or None for cell in cells.split("|"))
        for code, cells in re.findall(r"^\| `(\w+)` \|(.*)\| [^|]+ \|$", PAGE, re.MULTILINE)
        if cells.count("|") == 2
    }
    assert described == {code: (rule.spox, rule.openspec, rule.clew) for code, rule in RULES.items()}


# Verifies: REQ-d00070-A+E
def test_the_examples_are_read_without_a_word() -> None:
    spec = read_spec(EXAMPLES[0].encode(), "lamp")
    assert validate_spec(spec) == ()
    delta = read_delta(EXAMPLES[1].encode(), "lamp")
    assert (delta.count, delta.document.diagnostics) == (3, ())
