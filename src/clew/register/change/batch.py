"""Many changes as one: all of them or none."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from clew.errors import ClewError, InvalidArgument
from clew.formats.register.model import Evidence, Kind, LinkKind, Priority, Status
from clew.register import results
from clew.register.change import changes as operations
from clew.register.change.draft import Draft
from clew.register.change.evidence import verify
from clew.register.words import LINK_KINDS, parse

VERIFY_KINDS = (Evidence.COMPOSITION, Evidence.INSPECTION)
_REFERENCE = re.compile(r"\$([1-9][0-9]{0,8})")


class _Mutation(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True):
    reason: str | None = None


class AddMutation(_Mutation, frozen=True, kw_only=True, tag="add"):
    title: str
    statement: str
    rationale: str
    req_kind: str = Kind.FUNCTIONAL.word
    priority: str = Priority.SHOULD.word
    acceptance: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    parent: str | None = None


class UpdateMutation(_Mutation, frozen=True, kw_only=True, tag="update"):
    id: str
    title: str | None = None
    statement: str | None = None
    rationale: str | None = None
    acceptance: tuple[str, ...] | None = None
    add_acceptance: tuple[str, ...] = ()
    remove_acceptance: tuple[int, ...] = ()
    req_kind: str | None = None
    priority: str | None = None
    status: str | None = None
    add_tag: tuple[str, ...] = ()
    remove_tag: tuple[str, ...] = ()
    force: bool = False


class DeleteMutation(_Mutation, frozen=True, kw_only=True, tag="delete"):
    id: str
    hard: bool = False


class LinkMutation(_Mutation, frozen=True, kw_only=True, tag="link"):
    source: str = msgspec.field(name="from")
    to: str
    link_kind: str = LinkKind.PARENT.word
    remove: bool = False


class VerifyMutation(_Mutation, frozen=True, kw_only=True, tag="verify"):
    id: str
    by: str
    notes: str
    cites: tuple[str, ...] = ()
    promote: bool = False
    force: bool = False


Mutation = AddMutation | UpdateMutation | DeleteMutation | LinkMutation | VerifyMutation


def apply_batch(
    draft: Draft, mutations: Sequence[Any], reason: str | None = None, commit: Callable[[], str] = lambda: ""
) -> results.BatchReport:
    """Apply mutations in their order. The first that fails raises, and with it the whole draft is void.

    `$3` in the place of an id is the id that the third mutation made. `commit` is asked only if a mutation needs it.
    """
    batch = _Batch(draft, reason, commit)
    told: list[dict[str, Any]] = []
    for number, raw in enumerate(mutations, start=1):
        try:
            told.append(batch.apply(_decoded(raw)))
        except ClewError as error:
            raise type(error)(
                f"batch rolled back at mutation #{number}: {error.message}",
                hint=f"{error.hint} Nothing of the batch was written.".strip(),
                data={**error.data, "mutation": number},
            ) from error
    return results.BatchReport(True, len(told), tuple(told))


def _decoded(raw: Any) -> Mutation:
    try:
        mutation: Mutation = msgspec.convert(raw, Mutation)
    except msgspec.ValidationError as error:
        raise InvalidArgument(
            f"{error}.", hint="A mutation has `kind`: add, update, delete, link or verify; req_schema describes each."
        ) from error
    return mutation


class _Batch:
    def __init__(self, draft: Draft, reason: str | None, commit: Callable[[], str]) -> None:
        self._draft = draft
        self._reason = reason
        self._commit = commit
        self._made: list[str | None] = []
        """The ids that the mutations so far made."""

    def apply(self, mutation: Mutation) -> dict[str, Any]:
        told = self._applied(mutation)
        self._made.append(told["id"] if told["op"] == "add" else None)
        return told

    def _applied(self, mutation: Mutation) -> dict[str, Any]:
        reason = mutation.reason or self._reason
        match mutation:
            case AddMutation():
                return self._add(mutation, reason)
            case UpdateMutation():
                return self._update(mutation, reason)
            case DeleteMutation():
                gone = operations.delete(self._draft, self._id(mutation.id), reason, hard=mutation.hard)
                return {"op": "delete", "id": gone.id, "mode": gone.deleted}
            case LinkMutation():
                return self._link(mutation, reason)
            case VerifyMutation():
                return self._verify(mutation)

    def _id(self, written: str) -> str:
        match = _REFERENCE.fullmatch(written.strip())
        if match is None:
            return written
        number = int(match[1])
        made = self._made[number - 1] if number <= len(self._made) else None
        if made is None:
            raise InvalidArgument(
                f"'{written}' refers to mutation #{number}, which made no requirement before this one.",
                hint="Refer to an earlier mutation of kind add.",
            )
        return made

    def _add(self, mutation: AddMutation, reason: str | None) -> dict[str, Any]:
        new = operations.NewRequirement(
            title=mutation.title,
            statement=mutation.statement,
            rationale=mutation.rationale,
            kind=parse(mutation.req_kind, Kind, "kind"),
            priority=parse(mutation.priority, Priority, "priority"),
            acceptance=mutation.acceptance,
            tags=mutation.tags,
            parent=self._id(mutation.parent) if mutation.parent else None,
        )
        added = operations.add(self._draft, new, action="created via batch", reason=reason)
        return {"op": "add", "id": added.id, **({"warnings": added.warnings} if added.warnings else {})}

    def _update(self, mutation: UpdateMutation, reason: str | None) -> dict[str, Any]:
        amendment = operations.Amendment(
            title=mutation.title,
            statement=mutation.statement,
            rationale=mutation.rationale,
            acceptance=mutation.acceptance,
            add_acceptance=mutation.add_acceptance,
            remove_acceptance=mutation.remove_acceptance,
            kind=parse(mutation.req_kind, Kind, "kind") if mutation.req_kind else None,
            priority=parse(mutation.priority, Priority, "priority") if mutation.priority else None,
            status=parse(mutation.status, Status, "status") if mutation.status else None,
            add_tag=mutation.add_tag,
            remove_tag=mutation.remove_tag,
        )
        done = operations.update(self._draft, self._id(mutation.id), amendment, reason, force=mutation.force)
        return {"op": "update", "id": done.id, "changes": done.changes}

    def _link(self, mutation: LinkMutation, reason: str | None) -> dict[str, Any]:
        kind = parse(mutation.link_kind, LinkKind, "link kind", LINK_KINDS)
        source, target = self._id(mutation.source), self._id(mutation.to)
        made = operations.link(self._draft, source, target, kind, remove=mutation.remove, reason=reason)
        return {"op": "link", **_plain(made)}

    def _verify(self, mutation: VerifyMutation) -> dict[str, Any]:
        done = verify(
            *(self._draft, self._id(mutation.id)),
            parse(mutation.by, Evidence, "verification kind", VERIFY_KINDS),
            mutation.notes,
            self._commit(),
            cites=mutation.cites,
            promote=mutation.promote,
            force=mutation.force,
        )
        return {"op": "verify", **_plain(done)}


def _plain(result: msgspec.Struct) -> Mapping[str, Any]:
    plain: Mapping[str, Any] = msgspec.to_builtins(result)
    return plain
