"""What applying a change does, for people to read before they agree."""

from collections import Counter
from collections.abc import Iterable
from difflib import unified_diff

from clew.formats.openspec.apply.delta import Applied, Done, Operation

SIGNS = {Operation.ADDED: "+", Operation.MODIFIED: "~", Operation.REMOVED: "-", Operation.RENAMED: "→"}


def summary(applied: Iterable[Applied]) -> str:
    """One line for each operation, by spec, and the totals."""
    lines: list[str] = []
    totals: Counter[Operation] = Counter()
    for each in applied:
        lines.append(f"{each.spec_id}:")
        lines.extend(f"  {_line(done)}" for done in each.done)
        lines.extend(f"  ! {refusal}" for refusal in each.refusals)
        lines.extend(f"  ({warning})" for warning in each.warnings)
        totals.update(done.operation for done in each.done if not done.already)
    counted = ", ".join(f"{SIGNS[operation]} {totals[operation]}" for operation in Operation)
    return "\n".join((*lines, f"Totals: {counted}")) + "\n"


def _line(done: Done) -> str:
    name = f"{done.name} → {done.new_name}" if done.operation is Operation.RENAMED else done.name
    return f"{SIGNS[done.operation]} {name}{' (already done)' if done.already else ''}"


def difference(applied: Applied, path: str = "spec.md", context: int = 3) -> str:
    """The unified difference of the file; empty where nothing changes."""
    before, after = _lines(applied.before), _lines(applied.after)
    from_path = path if applied.before is not None else "(new)"
    to_path = path if applied.after is not None else "(removed)"
    return "\n".join(unified_diff(before, after, from_path, to_path, n=context, lineterm=""))


def text_difference(before: str, after: str, context: int = 3) -> str:
    """The unified difference of two texts, without the names of files."""
    lines = unified_diff(before.splitlines(), after.splitlines(), n=context, lineterm="")
    return "\n".join(list(lines)[2:])


def _lines(data: bytes | None) -> list[str]:
    return data.decode("utf-8", "replace").splitlines() if data is not None else []
