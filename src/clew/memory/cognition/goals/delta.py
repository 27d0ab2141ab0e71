"""Novelty and coherence of a memory in each space, beside an earlier one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from clew.errors import InvalidArgument
from clew.memory.cognition.agreement import as_memory, is_text
from clew.memory.cognition.compare import Comparer, Values, rounded
from clew.memory.cognition.goals.requests import DeltaQuery
from clew.memory.cognition.records import INSUFFICIENT, SampledAnswer
from clew.memory.model import LONGEST_TEXT, Memory
from clew.memory.navigation.signature import SignatureNumbers, parts_of
from clew.memory.navigation.spaces import SPACES
from clew.memory.pulse import quadrant_of
from clew.memory.texts.admit import check_text

if TYPE_CHECKING:
    from clew.memory.service import MemoryView


class DeltaSC(SampledAnswer, frozen=True, kw_only=True):
    delta_s_per_embedder: Values
    """Distance of the new memory from its nearest ones."""
    delta_s_aggregate: float | None
    delta_c: float | None
    """.4 connectivity + .4 fit to its nearest + .2 freedom from contradiction; the mean over the spaces."""
    change_per_embedder: Values
    """1 minus the similarity of the old and the new one."""
    johari_quadrants: tuple[str | None, ...]
    johari_aggregate: str | None
    utl_learning_potential: float | None
    """Mean novelty times mean coherence."""
    diagnostics: dict[str, Any] | None = None


def delta_sc(view: "MemoryView", asked: DeltaQuery) -> DeltaSC:
    before, after = (
        _fingerprint(view, "old_fingerprint", asked.old_fingerprint),
        _fingerprint(view, "new_fingerprint", asked.new_fingerprint),
    )
    if asked.vertex_id is not None:
        view.library.get(asked.vertex_id)
    found = parts_of(view, after)
    parts = [found.get(space.id) for space in SPACES]
    present = [each for each in parts if each is not None]
    novelty = sum(each.delta_s for each in present) / len(present) if present else None
    fit = sum(each.delta_c for each in present) / len(present) if present else None
    return DeltaSC(
        sufficient_data=bool(present),
        samples=max((each.compared for each in present), default=0),
        note="Novelty and coherence of the new one among its nearest memories."
        if present
        else f"{INSUFFICIENT}: there are too few memories to compare it with.",
        delta_s_per_embedder=tuple(None if each is None else each.delta_s for each in parts),
        delta_s_aggregate=None if novelty is None else round(novelty, 4),
        delta_c=None if fit is None else round(fit, 4),
        change_per_embedder=_changes(view, before, after),
        johari_quadrants=tuple(
            None if e is None else quadrant_of(e.delta_s, e.delta_c, asked.johari_threshold) for e in parts
        ),
        johari_aggregate=None if novelty is None or fit is None else quadrant_of(novelty, fit, asked.johari_threshold),
        utl_learning_potential=None if novelty is None or fit is None else round(novelty * fit, 4),
        diagnostics=_diagnostics(parts) if asked.include_diagnostics else None,
    )


def _fingerprint(view: "MemoryView", name: str, given: object) -> Memory:
    """A memory by its id, or a text: `{"content": ...}` or `{"id": ...}`."""
    value = given
    if isinstance(given, Mapping):
        if not set(given) <= {"id", "node_id", "content"} or len(given) != 1:
            raise InvalidArgument(
                f"The argument '{name}' is an object with other fields than one of: id, content.",
                hint='Pass an id, {"id": "..."} or {"content": "..."}.',
            )
        if "content" in given:
            if not isinstance(given["content"], str):
                raise InvalidArgument(f"'{name}.content' is not text.", hint="Pass a text.")
            return as_memory(check_text(f"{name}.content", given["content"], LONGEST_TEXT), view.changes.now())
        value = next(iter(given.values()))
    if not isinstance(value, str):
        raise InvalidArgument(f"The argument '{name}' is neither an id nor an object.", hint="Pass an id.")
    return view.library.get(value)


def _changes(view: "MemoryView", before: Memory, after: Memory) -> Values:
    one, other = (
        as_memory(each.text, each.recorded_at, name) if is_text(each) else each
        for each, name in ((before, "old"), (after, "new"))
    )
    values = Comparer(view, [one, other]).values(one, other)
    return rounded(tuple(None if value is None else 1 - value for value in values))


def _diagnostics(parts: list[SignatureNumbers | None]) -> dict[str, Any]:
    return {
        "per_embedder": [
            {"space": space.id, "absent": True, "compared": 0}
            if each is None
            else {
                "space": space.id,
                "absent": False,
                "compared": each.compared,
                "delta_c_components": {
                    "connectivity": round(each.connectivity, 4),
                    "cluster_fit": round((each.silhouette + 1) / 2, 4),
                    "consistency": round(each.consistency, 4),
                },
                "cluster_fit_details": {
                    "silhouette": round(each.silhouette, 4),
                    "intra": round(each.intra, 4),
                    "inter": round(each.inter, 4),
                },
            }
            for space, each in zip(SPACES, parts, strict=True)
        ],
        "delta_c_weights": {"connectivity": 0.4, "cluster_fit": 0.4, "consistency": 0.2},
    }
