"""Outline of a spec: names, counts and places, beside the whole spec in packed form.

A repository may hold thousands of scenarios, and a start needs the steps of none of them. So the records of a spec stay
packed until somebody looks into that spec.
"""

import msgspec

from clew.errors import StoreError
from clew.formats.openspec.records import Requirement, Scenario, Spec
from clew.text.hashing import content_hash
from clew.text.lines import Span


class ScenarioOutline(msgspec.Struct, frozen=True, gc=False, array_like=True):
    name: str
    slug: str
    steps: str
    """On one line: `WHEN ..., THEN ...`."""
    span: Span

    @property
    def sentence(self) -> str:
        """The scenario as one statement."""
        return f"{self.name}: {self.steps}" if self.steps else self.name


class RequirementOutline(msgspec.Struct, frozen=True, gc=False, array_like=True):
    name: str
    slug: str
    body: str
    """Everything below the heading."""
    scenarios: tuple[ScenarioOutline, ...]
    span: Span


class SpecOutline(msgspec.Struct, frozen=True, gc=False, array_like=True):
    id: str
    title: str
    purpose: str
    """On one line; empty where there is none."""
    requirements: tuple[RequirementOutline, ...]
    scenario_count: int
    problems: int
    """Errors and warnings that the rules give."""
    lines: int


def outline(spec: Spec, *, problems: int, lines: int) -> SpecOutline:
    requirements = tuple(map(_requirement, spec.requirements))
    return SpecOutline(
        id=spec.id,
        title=spec.title,
        purpose=" ".join(spec.purpose.text.split()) if spec.purpose is not None else "",
        requirements=requirements,
        scenario_count=sum(len(each.scenarios) for each in requirements),
        problems=problems,
        lines=lines,
    )


def _requirement(requirement: Requirement) -> RequirementOutline:
    body = requirement.raw.partition("\n")[2].strip()
    scenarios = tuple(map(_scenario, requirement.scenarios))
    return RequirementOutline(requirement.name, requirement.slug, body, scenarios, requirement.span)


def _scenario(scenario: Scenario) -> ScenarioOutline:
    steps = ", ".join([f"{step.keyword} {step.text}" for step in scenario.steps])
    return ScenarioOutline(scenario.name, scenario.slug, steps, scenario.span)


def sealed(spec: Spec) -> bytes:
    return msgspec.msgpack.encode(spec)


class LazySpec:
    """A spec that is unpacked when somebody first looks into it. Two are the same only if they are one."""

    __slots__ = ("_packed", "_spec", "outline")

    def __init__(self, outline: SpecOutline, packed: bytes) -> None:
        self.outline = outline
        self._packed = packed
        self._spec: Spec | None = None

    @property
    def fingerprint(self) -> str:
        """Names everything that the spec says."""
        return content_hash(self._packed)

    @property
    def spec(self) -> Spec:
        # Two threads may both unpack it; both get the same.
        if self._spec is None:
            try:
                self._spec = msgspec.msgpack.decode(self._packed, type=Spec)
            except msgspec.MsgspecError as error:
                raise StoreError(
                    f"What the cache holds of spec '{self.outline.id}' is damaged.",
                    hint="refresh_graph with full=true, or removing the folder .clew, reads everything again.",
                ) from error
        return self._spec
