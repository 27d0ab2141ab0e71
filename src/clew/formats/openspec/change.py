"""A change: a proposal, its tasks, its design, and what it does to specs."""

import msgspec

from clew.formats.openspec.metadata import ChangeMetadata
from clew.formats.openspec.proposal import Proposal
from clew.formats.openspec.records import Delta
from clew.formats.openspec.tasks import Tasks


class Change(msgspec.Struct, frozen=True, array_like=True):
    id: str
    proposal: Proposal | None = None
    tasks: Tasks | None = None
    design: str | None = None
    deltas: tuple[Delta, ...] = ()
    """One for each spec it touches, sorted by the spec's id."""
    metadata: ChangeMetadata | None = None
    misplaced: bool = False
    """Whether a `spec.md` stands directly in its folder `specs`, where it belongs to no spec."""
    misnamed: tuple[str, ...] = ()
    """Other files below `specs` that hold sections of a delta, relative to the change; nobody applies them."""

    @property
    def title(self) -> str:
        """The title of the proposal; else the id in words."""
        title = self.proposal.document.title if self.proposal is not None else ""
        return title or self.id.rpartition("/")[2].replace("-", " ")

    @property
    def skips_specs(self) -> bool:
        return self.metadata is not None and self.metadata.skip_specs

    @property
    def retires(self) -> bool:
        return self.metadata is not None and self.metadata.retire_capabilities

    def delta(self, spec_id: str) -> Delta | None:
        return next((delta for delta in self.deltas if delta.spec_id == spec_id), None)
