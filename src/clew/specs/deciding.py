"""What other changes have to do with whether a change may be archived, and which side wins where they collide."""

from collections.abc import Sequence

from clew.errors import Refused
from clew.formats.openspec.apply.conflicts import ConflictFound, ConflictKind
from clew.formats.openspec.apply.delta import Sides
from clew.formats.openspec.apply.dependencies import dependencies, order
from clew.formats.openspec.change import Change
from clew.specs.library import Library
from clew.text.counting import counted

SIDES = ("spec", "change")
_SHOWN = 5
"""Conflicts that a refusal names."""


def check_order(known: Library, change_id: str) -> None:
    """Refuse a change that needs what another open one has yet to bring, or the name that it has yet to free."""
    changes = known.open_changes()
    needed = dependencies(changes, known.in_force())
    waiting = [each for each in needed if each.then == change_id]
    if not waiting:
        return
    reasons = "; ".join(f"it {each.reason} ({each.requirement!r} of {each.spec_id!r})" for each in waiting[:_SHOWN])
    firsts = ", ".join(sorted({f"'{each.first}'" for each in waiting}))
    _, circular = order(changes, needed)
    hint = (
        "They wait for each other: take what they share out of one of them."
        if change_id in circular
        else f"Archive {firsts} first. `clew change conflicts` shows the order."
    )
    raise Refused(f"'{change_id}' has to wait for {firsts}: {reasons}.", hint=hint)


def decided(change: Change, found: Sequence[ConflictFound], take: str | None) -> dict[str, Sides]:
    """Which side each requirement in conflict takes; refused where nobody said it."""
    if not found:
        return {}
    if take not in SIDES:
        raise _undecided(change.id, found)
    chosen: dict[str, dict[str, frozenset[str]]] = {}
    for each in found:
        added = frozenset(each.scenarios) if each.kind is ConflictKind.SCENARIO_LOST else frozenset()
        names = chosen.setdefault(each.spec_id, {})
        names[each.requirement] = names.get(each.requirement, frozenset()) | added
    for delta in change.deltas:
        names = chosen.get(delta.spec_id, {})
        for rename in delta.renamed:
            # A renamed requirement is decided under both of its names.
            if rename.old in names or rename.new in names:
                both = names.get(rename.old, frozenset()) | names.get(rename.new, frozenset())
                names[rename.old] = names[rename.new] = both
    if take == "spec":
        return {id: Sides(spec=frozenset(names)) for id, names in chosen.items()}
    return {id: Sides(change=names) for id, names in chosen.items()}


def _undecided(change_id: str, found: Sequence[ConflictFound]) -> Refused:
    messages = list(dict.fromkeys(each.message for each in found))
    more = f" And {len(messages) - _SHOWN} more." if len(messages) > _SHOWN else ""
    return Refused(
        f"'{change_id}' has {counted(len(found), 'conflict')}: {' '.join(messages[:_SHOWN])}{more}",
        hint=(
            "change_conflicts shows both sides. Bring the change up to date and run `clew change rebase"
            f" {change_id}`, or say which side to take: spec or change (--take, take)."
        ),
        data={"conflicts": len(found)},
    )
