"""Taking back what is in the files already: a draft that puts their former content in place of the present one."""

from collections.abc import Iterable
from uuid import uuid4

from clew.edit.edits import Inverse
from clew.errors import FileChanged, NotFound
from clew.graph.build.builder import Builder
from clew.graph.changes import Change, Redefinition, Rewriting
from clew.text.hashing import content_hash
from clew.trace.edit.drafts import REVERT, DraftLog, DraftRecord, SavedMutation
from clew.trace.edit.text.draft import DraftContext
from clew.trace.edit.text.reverting import redrafted


class Reverts:
    def __init__(self, drafting: DraftContext, builder: Builder, drafts: DraftLog) -> None:
        self._drafting = drafting
        self._builder = builder
        self._drafts = drafts

    def next(self, pending: Iterable[DraftRecord]) -> SavedMutation:
        """The newest saved mutation that no draft and no saved mutation took back."""
        reverted = {draft.arguments["mutation_id"] for draft in pending if draft.operation == REVERT}
        for saved in self._drafts.saved():
            if saved.draft.operation == REVERT:
                reverted.add(saved.draft.arguments["mutation_id"])
            elif saved.draft.id not in reverted:
                return saved
        raise NotFound("There is no mutation to undo.", hint="get_mutation_log shows what is pending.")

    def change(self, mutation_id: str) -> Change:
        """The change that takes a saved mutation back. FileChanged where a file is no longer as it left it."""
        saved = next((each for each in self._drafts.saved() if each.draft.id == mutation_id), None)
        if saved is None:
            raise NotFound(f"No saved mutation has the id '{mutation_id}'.", hint="It may be another process's.")
        definitions: list[Redefinition] = []
        texts: list[Rewriting] = []
        for file in saved.files:
            readers = self._builder.readers_of(file.path)
            redefinitions, rewritings = redrafted(self._drafting, readers, file.path, self._former(file))
            definitions += redefinitions
            texts += rewritings
        return Change(uuid4().hex, REVERT, saved.draft.target_id, tuple(definitions), tuple(texts))

    def _former(self, file: Inverse) -> bytes:
        """The content of a file before the mutation."""
        data = self._drafting.original(file.path)
        present = self._drafting.history.patches.written(file.path, data)
        if content_hash(present) != file.after:
            raise FileChanged(
                f"'{file.path}' is no longer as the mutation left it, so the mutation cannot be taken back.",
                hint="Take back what was done to the file since, or edit it.",
                data={"path": file.path},
            )
        return file.applied(present)
