"""Operations that ask about the safety case of a register, under the names and shapes that users of req know.

They only read: who assesses risks writes with the tool that was accepted for it.
"""

from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from clew.operation.call import Call
from clew.operation.declare import Option
from clew.register.operations import texts
from clew.register.operations.answers import Object, paged
from clew.register.operations.fields import Cursor, RegisterOperation, Size, register_of
from clew.register.reports.safety_case import (
    FUNCTION,
    HAZARD,
    REQUIREMENT,
    Case,
    SafetyReport,
    SafetyRow,
    artefacts_of,
    cases,
    citing,
    find,
    rows,
    safety_report,
)
from clew.register.requests import Limit, StatusWord

Level = Annotated[
    Annotated[str, Meta(max_length=10)] | None, Meta(description="Only this derived level: none, a, SIL1 to SIL4, b")
]
HazardId = Annotated[str, Meta(min_length=1, max_length=80, description="HAZ-0001"), Option(positional=True)]
FunctionId = Annotated[str, Meta(min_length=1, max_length=80, description="SF-0001"), Option(positional=True)]
RequirementId = Annotated[str, Meta(min_length=1, max_length=80, description="SR-0001"), Option(positional=True)]
HazardStatus = Literal["identified", "assessed", "mitigated", "verified", "obsolete"]
FunctionStatus = Literal["proposed", "allocated", "implemented", "verified", "obsolete"]


class ShowSafety(
    RegisterOperation,
    verb="req safety",
    summary="hazards, safety functions and safety requirements with their derived levels; or one in full",
    epilog="clew req safety\nclew req safety HAZ-0001 --json",
):
    """The safety case of the register, read only: what mitigates a hazard, what realizes that, and the integrity level
    that follows from the risk graph."""

    id: Annotated[str | None, Meta(description="Only this one, in full"), Option(positional=True)] = None

    def run(self, call: Call) -> SafetyReport:
        return safety_report(register_of(call).register, self.id)

    def render(self, result: SafetyReport) -> str:
        return texts.safety(result)


class Hazards(msgspec.Struct, frozen=True):
    count: int
    hazards: tuple[Object, ...]
    truncated: bool = False
    next_cursor: str | None = None


class SafetyFunctions(msgspec.Struct, frozen=True):
    count: int
    safety_functions: tuple[Object, ...]
    truncated: bool = False
    next_cursor: str | None = None


class SafetyRequirements(msgspec.Struct, frozen=True):
    count: int
    safety_requirements: tuple[Object, ...]
    truncated: bool = False
    next_cursor: str | None = None


class ListHazards(RegisterOperation, tool="req_hazard_list", verb="req hazard list", title="List hazards", later=True):
    """Hazards of the register with the integrity level that their parameters require: null while one is not assessed.
    Not for what answers them: req_trace has that."""

    sil: Level = None
    status: Annotated[HazardStatus | None, Meta(description="Only this status")] = None
    unmitigated: Annotated[bool, Meta(description="Only those that no safety function mitigates")] = False
    limit: Limit = None
    cursor: Cursor = None
    max_tokens: Size = None

    def run(self, call: Call) -> Hazards:
        return _listed(call, self, HAZARD, "required_sil", Hazards, FUNCTION if self.unmitigated else None)

    def render(self, result: Hazards) -> str:
        return _table(result.hazards, "required_sil")


class ListSafetyFunctions(
    RegisterOperation, tool="req_sf_list", verb="req sf list", title="List safety functions", later=True
):
    """Safety functions with the level allocated to each: the highest that a hazard which it mitigates requires."""

    sil: Level = None
    status: Annotated[FunctionStatus | None, Meta(description="Only this status")] = None
    unrealized: Annotated[bool, Meta(description="Only those that no safety requirement realizes")] = False
    limit: Limit = None
    cursor: Cursor = None
    max_tokens: Size = None

    def run(self, call: Call) -> SafetyFunctions:
        nothing = REQUIREMENT if self.unrealized else None
        return _listed(call, self, FUNCTION, "allocated_sil", SafetyFunctions, nothing)

    def render(self, result: SafetyFunctions) -> str:
        return _table(result.safety_functions, "allocated_sil")


class ListSafetyRequirements(
    RegisterOperation, tool="req_sreq_list", verb="req sreq list", title="List safety requirements", later=True
):
    """Safety requirements with the level that each inherits from the safety functions it realizes: null while none of
    them has one. req_sreq_show has one in full."""

    sil: Level = None
    status: Annotated[StatusWord | None, Meta(description="Only this status")] = None
    unverified: Annotated[bool, Meta(description="Only those that are not verified")] = False
    limit: Limit = None
    cursor: Cursor = None
    max_tokens: Size = None

    def run(self, call: Call) -> SafetyRequirements:
        return _listed(call, self, REQUIREMENT, "inherited_sil", SafetyRequirements, None)

    def render(self, result: SafetyRequirements) -> str:
        return _table(result.safety_requirements, "inherited_sil")


_List = TypeVar("_List", Hazards, SafetyFunctions, SafetyRequirements)


def _listed(call: Call, request: Any, kind: str, level: str, type_: type[_List], without: str | None) -> _List:
    """A page of the artefacts of a kind that fit; `without` is the kind that must not answer them."""
    now = register_of(call).snapshot()
    found = [
        {"id": row.id, "title": row.title, "status": row.status, level: row.level}
        for row in rows(now.register)
        if row.kind == kind and _fits(row, request) and not (without and citing(now.register, without, row.id))
    ]
    return paged(
        *(call, request, now.version, found),
        lambda page, more, cursor: type_(len(found), tuple(page), more, cursor),
    )


def _fits(row: SafetyRow, request: Any) -> bool:
    if request.status and row.status != request.status:
        return False
    if request.sil and (row.level or "").upper() != request.sil.upper():
        return False
    return not (getattr(request, "unverified", False) and row.status == "verified")


def _table(found: tuple[Object, ...], level: str) -> str:
    lines = [f"{each['id']}  {each['status']}  {each[level] or 'not assessed'}  {each['title']}" for each in found]
    return "\n".join(lines) or "None."


class HazardView(msgspec.Struct, frozen=True):
    hazard: Object
    """As the file has it."""
    required_sil: str | None
    mitigated_by: tuple[str, ...]


class SafetyFunctionView(msgspec.Struct, frozen=True):
    safety_function: Object
    """As the file has it."""
    allocated_sil: str | None
    realized_by: tuple[str, ...]


class SafetyRequirementView(msgspec.Struct, frozen=True):
    safety_requirement: Object
    """As the file has it."""
    inherited_sil: str | None


class ShowHazard(
    RegisterOperation,
    tool="req_hazard_show",
    verb="req hazard show",
    title="One hazard in full",
    later=True,
    whole=("hazard",),
):
    """One hazard as the file has it: harm, parameters of its risk, status and history, with the level that follows from
    them and the safety functions that mitigate it."""

    id: HazardId

    def run(self, call: Call) -> HazardView:
        register = register_of(call).register
        row = find(register, self.id, HAZARD)
        whole = dict(artefacts_of(register, HAZARD)[row.id])
        return HazardView(whole, row.level, citing(register, FUNCTION, row.id))


class ShowSafetyFunction(
    RegisterOperation,
    tool="req_sf_show",
    verb="req sf show",
    title="One safety function in full",
    later=True,
    whole=("safety_function",),
):
    """One safety function as the file has it, with the level allocated to it and the safety requirements that realize
    it."""

    id: FunctionId

    def run(self, call: Call) -> SafetyFunctionView:
        register = register_of(call).register
        row = find(register, self.id, FUNCTION)
        whole = dict(artefacts_of(register, FUNCTION)[row.id])
        return SafetyFunctionView(whole, row.level, citing(register, REQUIREMENT, row.id))


class ShowSafetyRequirement(
    RegisterOperation,
    tool="req_sreq_show",
    verb="req sreq show",
    title="One safety requirement in full",
    later=True,
    whole=("safety_requirement",),
):
    """One safety requirement as the file has it: statement, acceptance criteria, links, test records and history, with
    the level that it inherits."""

    id: RequirementId

    def run(self, call: Call) -> SafetyRequirementView:
        register = register_of(call).register
        row = find(register, self.id, REQUIREMENT)
        return SafetyRequirementView(dict(artefacts_of(register, REQUIREMENT)[row.id]), row.level)


class Cases(msgspec.Struct, frozen=True):
    cases: tuple[Case, ...]


class TraceSafety(
    RegisterOperation,
    tool="req_trace",
    verb="req trace",
    title="The safety case of a hazard",
    summary="the safety case of a hazard, and its gaps",
    later=True,
):
    """The safety case that an artefact (HAZ-, SF- or SR-) belongs to: the hazard, its safety functions and what
    realizes them, each with its derived level and evidence; whether it is adequate and complete, and what blocks it."""

    id: Annotated[
        str, Meta(min_length=1, max_length=80, description="HAZ-0001, SF-0001 or SR-0001"), Option(positional=True)
    ]

    def run(self, call: Call) -> Cases:
        return Cases(cases(register_of(call).register, self.id))

    def render(self, result: Cases) -> str:
        return "\n\n".join(map(texts.safety_case, result.cases)) or "It belongs to no hazard."
