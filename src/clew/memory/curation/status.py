"""State of the memory: figures that are counted, never guessed."""

import math
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from clew.memory.curation.expiry import Due, Expiry
from clew.memory.curation.gaps import CurationTask, curation_tasks
from clew.memory.model import EDGE_TYPES, MemoryLinkKind
from clew.memory.navigation.balance import CANCER_DEGREE, CANCER_ENTROPY, CANCER_IMPORTANCE, neighbour_entropies
from clew.memory.navigation.spaces import SPACES
from clew.memory.pulse import BOUNDARY
from clew.memory.scope import MemoryFilters
from clew.memory.views import NamedMemory, shown_as
from clew.memory.writing.reward import STAGE_WEIGHTS, stage_of

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

SETPOINT = 0.5
_MOST_CHECKED = 50
_ACTIVE = 5


class MemeticStatus(msgspec.Struct, frozen=True, kw_only=True):
    coherence_score: float
    entropy_level: float
    exchanges: int
    """Number of exchanges that the two are averages of; with none they are 0.5 and mean nothing."""
    top_active_concepts: tuple[NamedMemory, ...]
    suggested_action: Literal["consolidate", "explore", "clarify", "curate", "ready"]
    dream_available: bool
    """True if trigger_dream would start one now: none runs, and the last one ended more than a minute ago."""
    curation_tasks: tuple[CurationTask, ...]
    phase: str
    node_count: int
    kinds: dict[str, int]
    forgotten: int
    embedder: str | None
    storage: dict[str, Any]
    expiry: Due
    """Memories and events that the next run of the expiry job will remove."""
    truncated: bool = False


class UtlStatus(msgspec.Struct, frozen=True, kw_only=True):
    lifecycle_phase: str
    node_count: int
    interaction_count: int
    entropy: float
    coherence: float
    learning_score: float
    johari_quadrant: str
    suggested_action: str
    thresholds: dict[str, float]
    lambda_weights: dict[str, float]
    """Weights of novelty and fit in the reward of a store, at this stage."""
    sufficient_data: bool


class ImportanceState(msgspec.Struct, frozen=True, kw_only=True):
    count: int
    mean: float | None
    sd: float | None
    setpoint: float
    scale_factor: float | None
    """By what importances would be multiplied to bring their mean to the setpoint; stored values stay."""


class Cancer(msgspec.Struct, frozen=True):
    node_id: str
    importance: float
    neighbour_entropy: float
    degree: int


class Quarantined(msgspec.Struct, frozen=True):
    node_id: str
    since: str
    reason: str


class Homeostasis(msgspec.Struct, frozen=True, kw_only=True):
    importance: ImportanceState
    semantic_cancer: tuple[Cancer, ...]
    quarantine: tuple[Quarantined, ...]
    last_run: str | None = None
    """Null: importances are stored as they were given, and nothing rescales them."""
    sufficient_data: bool
    truncated: bool = False


class SpaceState(msgspec.Struct, frozen=True):
    id: str
    name: str
    purpose: str
    present: bool


class GraphManifest(msgspec.Struct, frozen=True, kw_only=True):
    about: str
    repository: str
    node_count: int
    kinds: dict[str, int]
    domains: dict[str, int]
    layers: dict[str, str]
    spaces: tuple[SpaceState, ...]
    edge_types: dict[str, str]
    quadrants: tuple[str, ...]
    embedder: str | None


def memetic_status(view: "MemoryView") -> MemeticStatus:
    index, viewer = view.library.index, view.viewer
    pulse = view.service.pulses.get(viewer.session)
    count = index.count(viewer)
    tasks = curation_tasks(view)
    active = view.library.latest(_ACTIVE)
    home = view.service.home
    return MemeticStatus(
        coherence_score=pulse.coherence,
        entropy_level=pulse.entropy,
        exchanges=pulse.samples,
        top_active_concepts=tuple(shown_as(NamedMemory, memory) for memory, _ in active),
        suggested_action=_suggested(count, pulse.samples, pulse.entropy, pulse.coherence, tasks),
        dream_available=view.service.dreams.is_available(view),
        curation_tasks=tuple(tasks),
        phase=stage_of(count),
        node_count=count,
        kinds=index.counts("kind", viewer),
        forgotten=index.count(viewer, MemoryFilters(forgotten=True)),
        embedder=_embedder(view),
        storage={"engine": "sqlite", "location": str(home.path), "bytes": home.size()},
        expiry=Expiry(view).due(),
    )


def _suggested(
    count: int, samples: int, entropy: float, coherence: float, tasks: list[CurationTask]
) -> Literal["consolidate", "explore", "clarify", "curate", "ready"]:
    if any(task.task_type == "conflict" for task in tasks):
        return "clarify"
    if tasks:
        return "curate"
    if not count or not samples:
        return "ready"
    if entropy > 0.7:
        return "explore" if coherence > BOUNDARY else "consolidate"
    return "ready"


def utl_status(view: "MemoryView") -> UtlStatus:
    pulse = view.service.pulses.get(view.viewer.session)
    count = view.library.index.count(view.viewer)
    for_novelty, for_fit = STAGE_WEIGHTS[stage_of(count)]
    return UtlStatus(
        lifecycle_phase=stage_of(count),
        node_count=count,
        interaction_count=pulse.samples,
        entropy=pulse.entropy,
        coherence=pulse.coherence,
        learning_score=pulse.learning_score,
        johari_quadrant=pulse.quadrant,
        suggested_action=pulse.suggested_action,
        thresholds={"entropy": BOUNDARY, "coherence": BOUNDARY},
        lambda_weights={"delta_s": for_novelty, "delta_c": for_fit},
        sufficient_data=pulse.samples > 0,
    )


def homeostasis(view: "MemoryView") -> Homeostasis:
    index, viewer = view.library.index, view.viewer
    count, mean, square = index.importance(viewer)
    cancers: list[Cancer] = []
    heaviest = index.heaviest(viewer, CANCER_IMPORTANCE, _MOST_CHECKED)
    mixed = neighbour_entropies(view.library, [[row.id] for row in heaviest])
    for row, (entropy, degree) in zip(heaviest, mixed, strict=True):
        if entropy > CANCER_ENTROPY and degree >= CANCER_DEGREE:
            cancers.append(Cancer(row.id, row.importance, entropy, degree))
    flagged = index.flagged(viewer)
    return Homeostasis(
        importance=ImportanceState(
            count=count,
            mean=round(mean, 4) if count else None,
            sd=round(math.sqrt(max(square - mean * mean, 0.0)), 4) if count else None,
            setpoint=SETPOINT,
            scale_factor=round(SETPOINT / mean, 4) if count and mean else None,
        ),
        semantic_cancer=tuple(cancers),
        quarantine=tuple(Quarantined(row.id, row.recorded_at, "reads like an instruction") for row in flagged),
        sufficient_data=count > 0,
    )


def manifest(view: "MemoryView") -> GraphManifest:
    index, viewer = view.library.index, view.viewer
    embedder = _embedder(view)
    absent = {"E10"} | (set() if embedder else {"E1"})
    return GraphManifest(
        about="What agents and people learned about this repository, each note with its reason, its origin and what it"
        " cites. Notes are superseded and forgotten, never changed silently; every change can be undone for 30 days.",
        repository=view.service.home.repository,
        node_count=index.count(viewer),
        kinds=index.counts("kind", viewer),
        domains=index.counts("domain", viewer),
        layers={
            "sensing": "secrets are taken out, repeats and duplicates are noticed",
            "reflex": "exact ids, citation tags and places",
            "memory": "records, events and tombstones in one store; links in one index",
            "learning": "each store is judged against the nearest memories and rewarded",
            "coherence": "contradictions, stale citations and curation tasks",
        },
        spaces=tuple(SpaceState(each.id, each.name, each.purpose, each.id not in absent) for each in SPACES),
        edge_types={kind.value: type_ for kind, type_ in EDGE_TYPES.items() if kind is not MemoryLinkKind.CITES},
        quadrants=("Open", "Blind", "Hidden", "Unknown"),
        embedder=embedder,
    )


def _embedder(view: "MemoryView") -> str | None:
    engine = view.service.context.parts.engine()
    return engine.state().embedder if engine is not None else None
