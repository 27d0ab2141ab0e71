"""Many changes as one: all of them or none."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from clew.errors import ClewError, InvalidArgument
from clew.operation.call import decode_as
from clew.register import results
from clew.register.change import changes
from clew.register.change.draft import BATCH, Draft
from clew.register.change.evidence import verify
from clew.register.requests import Addition, DeletionWithoutReason, LinkChange, OtherEvidence, UpdateWithoutReason
from clew.text.display import shortened

_REFERENCE = re.compile(r"\$([1-9][0-9]{0,8})")
_IDS = ("id", "from", "to", "parent")
"""The arguments that may refer to an earlier mutation."""
OPERATIONS: Mapping[str, type[msgspec.Struct]] = {
    "add": Addition,
    "update": UpdateWithoutReason,
    "delete": DeletionWithoutReason,
    "link": LinkChange,
    "verify": OtherEvidence,
}
_KIND_NAMES = {"link": "link_kind"}
"""In a mutation `kind` says which operation it is, so the argument `kind` has another name: req_kind, or one of these.
Both names are understood everywhere."""
_HINT = "A mutation has `kind`: add, update, delete, link or verify; req_schema describes each."


def name_in_batch(kind: str, argument: str) -> str:
    """The name that an argument of an operation has in a mutation of a kind."""
    return _KIND_NAMES.get(kind, "req_kind") if argument == "kind" else argument


def apply_batch(
    draft: Draft, mutations: Sequence[Any], reason: str | None = None, commit: Callable[[], str] = lambda: ""
) -> results.BatchReport:
    """Apply mutations in their order. The first that fails raises, and with it the whole draft is void.

    `$3` in the place of an id is the id that the third mutation made. `commit` is asked only if a mutation needs it.
    """
    draft.author = msgspec.structs.replace(draft.author, channel=BATCH)
    batch = _Batch(draft, reason, commit)
    for number, raw in enumerate(mutations, start=1):
        try:
            batch.apply(raw)
        except ClewError as error:
            raise type(error)(
                f"batch rolled back at mutation #{number}: {error.message}",
                hint=f"{error.hint} Nothing of the batch was written.".strip(),
                data={**error.data, "mutation": number},
            ) from error
    return results.BatchReport(True, len(batch.done), tuple(batch.done))


class _Batch:
    def __init__(self, draft: Draft, reason: str | None, commit: Callable[[], str]) -> None:
        self._draft = draft
        self._reason = reason
        self._commit = commit
        self.done: list[dict[str, Any]] = []
        """The result of each mutation so far."""

    def apply(self, raw: Any) -> None:
        operation, reason = self._decoded(raw)
        draft = self._draft
        match operation:
            case Addition():
                added = changes.add(draft, operation, action="created via batch", reason=reason)
                warnings = {"warnings": added.warnings} if added.warnings else {}
                done = {"op": "add", "id": added.id, **warnings}
            case UpdateWithoutReason():
                updated = changes.update(draft, operation)
                done = {"op": "update", "id": updated.id, "changes": updated.changes}
            case DeletionWithoutReason():
                deleted = changes.delete(draft, operation)
                done = {"op": "delete", "id": deleted.id, "mode": deleted.deleted}
            case LinkChange():
                done = {"op": "link", **msgspec.to_builtins(changes.link(draft, operation, reason=reason))}
            case OtherEvidence():
                done = {"op": "verify", **msgspec.to_builtins(verify(draft, operation, self._commit()))}
        self.done.append(done)

    def _decoded(self, raw: Any) -> tuple[msgspec.Struct, str | None]:
        """The operation that a mutation is, and the reason for it."""
        if not isinstance(raw, Mapping):
            raise InvalidArgument(f"A mutation is an object, got {type(raw).__name__}.", hint=_HINT)
        kind = str(raw.get("kind"))
        operation = OPERATIONS.get(kind)
        if operation is None:
            raise InvalidArgument(f"There is no kind of mutation '{shortened(kind)}'.", hint=_HINT)
        given = {str(name): value for name, value in raw.items() if name not in ("kind", "reason")}
        arguments = {"kind" if name in ("req_kind", "link_kind") else name: value for name, value in given.items()}
        arguments.update({name: self._id(arguments[name]) for name in _IDS if name in arguments})
        reason = raw.get("reason") or self._reason
        if "reason" in operation.__struct_fields__:
            arguments["reason"] = reason
        return decode_as(operation, arguments, kind, help_text=_HINT, writes=True), reason

    def _id(self, written: Any) -> Any:
        match = _REFERENCE.fullmatch(written.strip()) if isinstance(written, str) else None
        if match is None:
            return written
        number = int(match[1])
        made = self.done[number - 1] if number <= len(self.done) else None
        if made is None or made["op"] != "add":
            raise InvalidArgument(
                f"'{written}' refers to mutation #{number}, which made no requirement before this one.",
                hint="Refer to an earlier mutation of kind add.",
            )
        return made["id"]
