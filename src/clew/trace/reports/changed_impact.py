"""What changed together with what each change concerns, as a table for reviewers."""

# Implements: REQ-d00526-C

from collections.abc import Iterator, Sequence

import msgspec

from clew.graph.graph import Graph
from clew.text.display import counted, one_line
from clew.trace.read.resolve import Subject
from clew.trace.reports.changed import Changed, ChangedItem
from clew.trace.reports.impact import Impact, Proof, impact
from clew.trace.reports.suspect import Suspect

MOST_ROWS = 200
MOST_NAMED = 3
_REMOVED = "removed"
_WORDS = {"code": ("piece of code", "pieces of code")}
_HEADING = "| change | what | proved by | links to look at | stands for |"


class ChangedImpact(msgspec.Struct, frozen=True):
    changed: Changed
    impacts: tuple[Impact | None, ...]
    """One for each item; null for what was removed."""


def with_impact(graph: Graph, found: Changed, doubts: Sequence[Suspect]) -> ChangedImpact:
    return ChangedImpact(found, tuple(_impact_of(graph, item, doubts) for item in found.items))


def _impact_of(graph: Graph, item: ChangedItem, doubts: Sequence[Suspect]) -> Impact | None:
    if item.change == _REMOVED or graph.get_node(item.id) is None:
        return None
    return impact(graph, Subject(item.id, item.kind, item.title, (item.id,)), doubts, limit=MOST_NAMED)


def as_markdown(found: ChangedImpact) -> str:
    items = found.changed.items
    if not items:
        return "No requirement, test or citing code changed."
    kinds = ", ".join(counted(number, *_WORDS.get(kind, (kind,))) for kind, number in found.changed.counts.items())
    lines = [f"{kinds} changed.", "", _HEADING, "|---|---|---|---|---|"]
    lines += [_row(item, effect) for item, effect in list(zip(items, found.impacts, strict=True))[:MOST_ROWS]]
    if len(items) > MOST_ROWS:
        lines += ["", f"{len(items) - MOST_ROWS} more; `clew changed` lists all."]
    lines += [f"\nNot compared, because git has a filter for it: `{path}`" for path in found.changed.not_compared]
    return "\n".join(lines)


def _row(item: ChangedItem, effect: Impact | None) -> str:
    name = item.title if item.kind in ("code", "test") else f"{item.id} {item.title}"
    cells = [item.change, "<br>".join((_cell(name), f"`{_code(f'{item.path}:{item.line}')}`", *_citations(item)))]
    cells += list(_effects(effect)) if effect is not None else ["", "", ""]
    return f"| {' | '.join(cells)} |"


def _citations(item: ChangedItem) -> Iterator[str]:
    if item.broken:
        yield f"**cites {_listed(item.broken)}, which {'does' if len(item.broken) == 1 else 'do'} not exist**"
    if item.lost:
        yield f"no longer cites {_listed(item.lost)}"


def _listed(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
    return ", ".join(f"`{_code(one_line(id, 100))}`" for id in ids[:MOST_NAMED]) + more


def _effects(effect: Impact) -> Iterator[str]:
    proofs = [f"`{_code(proof.id.rpartition('::')[2])}`" + _result(proof) for proof in effect.proofs]
    yield _some(proofs, effect.proofs_total, "**no test**")
    doubts = [f"`{_code(doubt.citing)}`" for doubt in effect.becomes_suspect]
    yield _some(doubts, effect.becomes_suspect_total, "none")
    above = [f"`{_code(each.id)}`" for each in effect.stands_for]
    yield _some(above, effect.stands_for_total, "")


def _result(proof: Proof) -> str:
    return f" ({proof.result})" if proof.result else ""


def _some(named: list[str], total: int, nothing: str) -> str:
    if not named:
        return nothing
    more = f" and {total - len(named)} more" if total > len(named) else ""
    return "<br>".join(named) + more


def _cell(text: str) -> str:
    """Text of a file, which shows as it is: no table, no HTML, no link."""
    plain = one_line(text, 160)
    return "".join(f"\\{sign}" if sign in "\\|<>[]*_`#@!" else sign for sign in plain)


def _code(text: str) -> str:
    return text.replace("`", "'").replace("|", "\\|").replace("\n", " ")
