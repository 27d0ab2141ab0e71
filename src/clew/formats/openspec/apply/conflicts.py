"""Conflicts between open changes, and between a change and a spec that moved on since the change was written.

When a change is first seen, the requirements it touches are recorded as they are then. From these records, the specs as
they are now and the other open changes follows what would be lost if a change were archived.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from enum import StrEnum
from itertools import combinations

import msgspec

from clew.formats.openspec.apply.delta import Applied, AppliedOperation, DeltaKind
from clew.formats.openspec.apply.dependencies import must_precede
from clew.formats.openspec.apply.touches import (
    Baseline,
    Promises,
    Touch,
    Touching,
    based,
    by_name,
    by_place,
    promised,
    promises,
    standing,
)
from clew.formats.openspec.change import ChangeProposal
from clew.formats.openspec.records import Requirement, Spec, with_name


class ConflictKind(StrEnum):
    SAME_REQUIREMENT = "same_requirement"
    """Two open changes touch one requirement and want different things."""
    BASE_MOVED = "base_moved"
    """The requirement changed since the change was written."""
    SCENARIO_LOST = "scenario_lost"
    """Archiving the change would drop a scenario that somebody else added."""


class ThreeWay(msgspec.Struct, frozen=True):
    """One requirement three times: as it was, as it is, and as the change wants it. None where it does not exist."""

    then: str | None
    now: str | None
    wanted: str | None
    theirs: str
    """Diff of the spec from then to now."""
    ours: str
    """Diff of the change from then to what it wants."""


class ConflictFound(msgspec.Struct, frozen=True):
    kind: ConflictKind
    spec_id: str
    requirement: str
    changes: tuple[str, ...]
    """The changes concerned: two for the first kind, one for the others."""
    message: str
    scenarios: tuple[str, ...] = ()
    """The scenarios that would be lost."""
    view: ThreeWay | None = None
    """Of a requirement that moved."""


def conflicts(
    changes: Sequence[ChangeProposal],
    specs: Mapping[str, Spec],
    recorded: Mapping[str, Sequence[Baseline]],
    places: Touching | None = None,
) -> tuple[ConflictFound, ...]:
    """Every conflict of the open changes. `recorded` holds what was recorded for each when it was first seen;
    `places` is what they touch, where that is known."""
    found: list[ConflictFound] = []
    brought = promises(changes, specs)
    for change in changes:
        found.extend(_with_specs(change, specs, recorded.get(change.id, ()), brought))
    found.extend(_with_each_other(by_place(changes) if places is None else places, specs))
    return tuple(sorted(found, key=lambda each: (each.spec_id, each.requirement, each.kind, each.changes)))


# Two changes


def _with_each_other(places: Touching, specs: Mapping[str, Spec]) -> Iterator[ConflictFound]:
    for (spec_id, name), touching in places.items():
        if len(touching) == 1:
            continue
        there = by_name(specs.get(spec_id))
        seen: set[tuple[str, str]] = set()
        for (one, mine), (other, theirs) in combinations(touching, 2):
            # Both orders of one pair, and several operations of one change, are one conflict.
            pair = (one, other)
            if one == other or pair in seen or _agree(mine, theirs, name, there):
                continue
            seen.add(pair)
            yield _between(spec_id, name, (one, mine), (other, theirs))


def repeated_additions(places: Touching) -> Iterator[tuple[tuple[str, ...], str]]:
    """Changes that add the same requirement word for word, each with a sentence about it. They do not get in each
    other's way, but the later one brings nothing."""
    for (spec_id, name), touching in places.items():
        if len(touching) == 1:
            continue
        added: dict[str | None, list[str]] = {}
        for id, touch in touching:
            if touch.operation is DeltaKind.ADDED:
                added.setdefault(touch.text, []).append(id)
        for ids in added.values():
            if len(ids) > 1:
                named = ", ".join(repr(id) for id in ids)
                yield tuple(ids), f"{named} add {name!r} of {spec_id!r} word for word: only the first brings it."


def _agree(mine: Touch, theirs: Touch, name: str, there: Mapping[str, Requirement]) -> bool:
    """True if two changes do the same to a requirement, or one makes room for the other."""
    return mine == theirs or any(
        must_precede(first, then, name, there) is not None for first, then in ((mine, theirs), (theirs, mine))
    )


def _between(spec_id: str, name: str, one: tuple[str, Touch], other: tuple[str, Touch]) -> ConflictFound:
    (first, mine), (second, theirs) = one, other
    lost = _lost(mine, theirs)
    message = (
        f"{first!r} ({mine.operation.value}) and {second!r} ({theirs.operation.value}) both touch {name!r} of"
        f" {spec_id!r}. Archive one, then bring the other up to date."
    )
    return ConflictFound(
        ConflictKind.SAME_REQUIREMENT, spec_id, name, tuple(sorted((first, second))), message, scenarios=lost
    )


def _lost(mine: Touch, theirs: Touch) -> tuple[str, ...]:
    """The scenarios that only one of two new texts has: whichever is archived last drops the other's."""
    if mine.text is None or theirs.text is None:
        return ()
    return tuple(sorted(set(mine.scenarios) ^ set(theirs.scenarios)))


# A change and the specs


def _with_specs(
    change: ChangeProposal, specs: Mapping[str, Spec], baselines: Sequence[Baseline], brought: Promises
) -> Iterator[ConflictFound]:
    recorded = {baseline.place: baseline for baseline in baselines}
    for delta in change.deltas:
        there = by_name(specs.get(delta.spec_id))
        for name, touch in dict(based(delta)).items():
            place = (touch.spec_id, name)
            now = standing(*place, there.get(name))
            if not now.hash and touch.operation is not DeltaKind.ADDED:
                # What the change needs may still be on its way, in another one.
                now = promised(place, change.id, brought) or now
            baseline = recorded.get(place)
            if baseline is None or _is_settled(baseline, now, touch, there):
                continue
            if now.hash and touch.operation is not DeltaKind.RENAMED:
                lost = [each for each in now.scenarios if each not in touch.scenarios + baseline.scenarios]
                if lost:
                    yield _scenario_lost(change.id, touch.spec_id, name, tuple(lost))
            yield _moved(change.id, baseline, now, _three_way(baseline, now, touch))


def _is_settled(baseline: Baseline, now: Baseline, touch: Touch, there: Mapping[str, Requirement]) -> bool:
    """True if the requirement is unchanged, or archiving the change undoes nothing."""
    if now.hash == baseline.hash:
        return True
    if now.hash:
        return touch.text == now.text
    if touch.operation is DeltaKind.ADDED:
        # Somebody made room for it; unless it was there just so, and was removed on purpose.
        return touch.text != baseline.text
    # Renamed or removed, as the change wants it.
    return touch.operation is DeltaKind.REMOVED or (touch.new_name or touch.name) in there


def _three_way(baseline: Baseline, now: Baseline, touch: Touch) -> ThreeWay:
    wanted = touch.text
    if wanted is None and touch.operation is DeltaKind.RENAMED and baseline.hash:
        wanted = with_name(baseline.text, touch.new_name)
    return ThreeWay(
        baseline.text if baseline.hash else None,
        now.text if now.hash else None,
        wanted,
        theirs=text_difference(baseline.text, now.text),
        ours=text_difference(baseline.text, wanted or ""),
    )


def _scenario_lost(change_id: str, spec_id: str, name: str, lost: tuple[str, ...]) -> ConflictFound:
    """Conflict about scenarios that archiving would drop. Other differences are reported beside it."""
    named = ", ".join(map(repr, lost))
    message = (
        f"Archiving {change_id!r} would drop {named} from {name!r} of {spec_id!r}, added since the change was written."
        " Add it to the change."
    )
    return ConflictFound(ConflictKind.SCENARIO_LOST, spec_id, name, (change_id,), message, lost)


def _moved(change_id: str, baseline: Baseline, now: Baseline, view: ThreeWay) -> ConflictFound:
    happened = "was removed or renamed" if not now.hash else "was changed" if baseline.hash else "was added"
    message = (
        f"{now.name!r} of {now.spec_id!r} {happened} since {change_id!r} was written. Compare both sides and bring the"
        " change up to date."
    )
    return ConflictFound(ConflictKind.BASE_MOVED, now.spec_id, now.name, (change_id,), message, view=view)


SIGNS = {DeltaKind.ADDED: "+", DeltaKind.MODIFIED: "~", DeltaKind.REMOVED: "-", DeltaKind.RENAMED: "→"}


def summary(applied: Iterable[Applied]) -> str:
    """One line for each operation, by spec, and the totals."""
    lines: list[str] = []
    totals: Counter[DeltaKind] = Counter()
    for each in applied:
        lines.append(f"{each.spec_id}:")
        lines.extend(f"  {_line(done)}" for done in each.done)
        lines.extend(f"  ! {refusal}" for refusal in each.refusals)
        lines.extend(f"  ({warning})" for warning in each.warnings)
        totals.update(done.operation for done in each.done if not done.already)
    counted = ", ".join(f"{SIGNS[operation]} {totals[operation]}" for operation in DeltaKind)
    return "\n".join((*lines, f"Totals: {counted}")) + "\n"


def _line(done: AppliedOperation) -> str:
    name = f"{done.name} → {done.new_name}" if done.operation is DeltaKind.RENAMED else done.name
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
