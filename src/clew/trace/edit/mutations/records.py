"""Mutations as the store names them, for drafts that are planned again."""

from collections.abc import Mapping
from typing import Any

import msgspec

from clew.errors import StoreError
from clew.trace.edit.mutations import assertions, journeys, moves, references, requirements, sections
from clew.trace.edit.mutations.mutation import Mutation

_NAMED: dict[str, type[Mutation]] = {
    each.operation: each
    for module in (assertions, journeys, moves, references, requirements, sections)
    for each in vars(module).values()
    if isinstance(each, type) and issubclass(each, Mutation) and "operation" in vars(each)
}
_NAMED |= {f"{action}_journey_section": journeys.JourneySection for action in journeys.SECTION_ACTIONS}


def recorded_mutation(operation: str, arguments: Mapping[str, Any]) -> Mutation:
    """The mutation of a stored record. Its arguments were checked before they were stored."""
    mutation = _NAMED.get(operation)
    if mutation is None:
        raise StoreError(f"'{operation}' is not a mutation.", hint="A newer Clew drafted it; use that one to save it.")
    fields = {field.encode_name: field.name for field in msgspec.structs.fields(mutation)}
    return mutation(**{fields[name]: value for name, value in arguments.items()})
