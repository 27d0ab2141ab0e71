"""Questions about a register: its requirements, their progress, and the next one to work on."""

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from clew.formats.register.ids import sort_key
from clew.formats.register.model import LinkKind, Priority, Register, Requirement, Status
from clew.register import results
from clew.register.requests import ListFilter, RequirementFilter
from clew.text.display import counted
from clew.text.tokens import estimate_tokens

DONE = (Status.IMPLEMENTED, Status.VERIFIED)
_PRIORITIES, _STATUSES = tuple(Priority), tuple(Status)
_BLOCKED_NAMED = 5
_NAME_TOKENS, _PURPOSE_TOKENS, _TITLE_TOKENS = 20, 150, 35
"""The limits of texts in a brief, in tokens; those of Latin letters hardly ever need as many."""
_BRIEF_IDS, _BRIEF_IDS_FULL, _SPINE = 10, 50, 3


def in_id_order(register: Register) -> list[Requirement]:
    return sorted(register.requirements.values(), key=lambda each: sort_key(each.id))


def filtered(register: Register, wanted: RequirementFilter) -> Iterator[Requirement]:
    """The requirements that pass a filter, in the order of their ids. What is None or empty asks for nothing."""
    for requirement in in_id_order(register):
        if (
            (wanted.status is None or requirement.status.word == wanted.status)
            and (wanted.kind is None or requirement.kind.word == wanted.kind)
            and (wanted.priority is None or requirement.priority.word == wanted.priority)
            and all(tag in requirement.tags for tag in wanted.tag)
        ):
            yield requirement


class RequirementRows(Sequence[results.RequirementRow]):
    """Requirements as a list shows them, each made when somebody looks at it: a page is a small part of a list."""

    def __init__(self, requirements: Sequence[Requirement]) -> None:
        self._requirements = requirements

    def __len__(self) -> int:
        return len(self._requirements)

    @overload
    def __getitem__(self, place: int) -> results.RequirementRow: ...
    @overload
    def __getitem__(self, place: slice) -> "RequirementRows": ...
    def __getitem__(self, place: int | slice) -> "results.RequirementRow | RequirementRows":
        if isinstance(place, slice):
            return RequirementRows(self._requirements[place])
        each = self._requirements[place]
        return results.RequirementRow(
            each.id, each.kind.word, each.priority.word, each.status.word, each.tags, each.title
        )


def rows(register: Register, wanted: ListFilter) -> RequirementRows:
    found = filtered(register, wanted)
    if not wanted.include_obsolete:
        found = (each for each in found if each.status is not Status.OBSOLETE)
    if wanted.query:
        needle = wanted.query.lower()
        found = (each for each in found if needle in each.title.lower() or needle in each.statement.lower())
    return RequirementRows(list(found))


def listing(register: Register, wanted: ListFilter) -> results.RequirementList:
    found = rows(register, wanted)
    return results.RequirementList(len(found), register.name, tuple(found))


def status(register: Register, tags: tuple[str, ...] = ()) -> results.StatusReport:
    chosen = [each for each in in_id_order(register) if all(tag in each.tags for tag in tags)]
    counts = _counts(chosen)
    live = len(chosen) - counts.obsolete
    done = counts.implemented + counts.verified
    return results.StatusReport(
        project=register.name,
        total=len(chosen),
        by_status=counts,
        delivery_progress_pct=_percent(done, live),
        non_obsolete=live,
        done=done,
        verified_but_defective=tuple(each.id for each in chosen if each.is_defective),
        filter={"tags": tags} if tags else {},
    )


def _counts(requirements: Iterable[Requirement]) -> results.StatusCounts:
    counts = {status.word: 0 for status in Status}
    for requirement in requirements:
        counts[requirement.status.word] += 1
    return results.StatusCounts(**counts)


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0


def waits_for(requirement: Requirement, register: Register) -> tuple[str, ...]:
    """The dependencies that are not done."""
    return tuple(
        target
        for target in requirement.targets(LinkKind.DEPENDS_ON)
        if (other := register.requirements.get(target)) is None or other.status not in DONE
    )


def next_up(register: Register, wanted: RequirementFilter | None = None) -> Requirement | results.NothingNext:
    """The most urgent unfinished requirement whose dependencies are done, or the reason why there is none. Where their
    status is asked for, verified ones count."""
    chosen = in_id_order(register) if wanted is None else filtered(register, wanted)
    is_asked = wanted is not None and wanted.status == Status.VERIFIED.word
    finished = (Status.OBSOLETE,) if is_asked else (Status.VERIFIED, Status.OBSOLETE)
    open_ones = [each for each in chosen if each.status not in finished]
    open_ones.sort(key=lambda each: (_PRIORITIES.index(each.priority), _STATUSES.index(each.status)))
    blocked: list[results.Blocked] = []
    for requirement in open_ones:
        waiting = waits_for(requirement, register)
        if not waiting:
            return requirement
        blocked.append(results.Blocked(requirement.id, waiting))
    if blocked:
        message = f"{counted(len(blocked), 'unfinished requirement')} found, but each waits for a dependency"
    else:
        message = "no unfinished requirement matches the filters"
    return results.NothingNext(False, message, tuple(blocked[:_BLOCKED_NAMED]))


def brief(
    register: Register, *, full: bool = False, hook_mode: str | None = None, last_change: str | None = None
) -> results.Brief:
    """The state of the project in a few lines. The lists are cut, and `more` says by how much."""
    chosen = in_id_order(register)
    figures = status(register)
    coming = next_up(register)
    lists = {
        "implemented_unverified": [each.id for each in chosen if each.status is Status.IMPLEMENTED],
        "drafts": [each.id for each in chosen if each.status is Status.DRAFT],
        "verified_but_defective": list(figures.verified_but_defective),
    }
    most = _BRIEF_IDS_FULL if full else _BRIEF_IDS
    spine = [each for each in chosen if each.status is Status.VERIFIED and each.priority is Priority.MUST][:_SPINE]
    return results.Brief(
        project=_shortened(register.name, _NAME_TOKENS),
        purpose=_shortened(register.purpose, _PURPOSE_TOKENS) if register.purpose else None,
        spine=tuple(results.Named(each.id, _shortened(each.title, _TITLE_TOKENS)) for each in spine),
        total=figures.total,
        by_status=figures.by_status,
        delivery_pct=figures.delivery_progress_pct,
        next=_coming(coming) if isinstance(coming, Requirement) else None,
        hook_mode=hook_mode,
        last_spec_change=last_change,
        more={name: len(ids) - most for name, ids in lists.items() if len(ids) > most},
        **{name: tuple(ids[:most]) for name, ids in lists.items()},
    )


def _coming(requirement: Requirement) -> results.NextUp:
    title = _shortened(requirement.title, _TITLE_TOKENS)
    return results.NextUp(requirement.id, title, requirement.status.word, requirement.priority.word)


def _shortened(text: str, tokens: int) -> str:
    """The beginning of a text that is too long. The number of characters in a token depends on the script."""
    kept = text
    while (count := estimate_tokens(kept)) > tokens:
        kept = kept[: min(len(kept) - 1, len(kept) * tokens // count)].rstrip()
    return kept if kept == text else f"{kept}…"
