"""The mutation that moves a requirement or journey to another file."""

from clew.errors import InvalidArgument
from clew.trace.edit.mutations.mutation import FileId, FileVersion, Id, Mutation, MutationEffect, Version, path_of_file
from clew.trace.edit.text.draft import ChangeDraft
from clew.trace.edit.text.insertion import insertion_point


class MoveNodeToFile(Mutation, frozen=True, kw_only=True):
    """Another file for a requirement or journey, which is moved to its end byte for byte."""

    operation = "move_node_to_file"

    node_id: Id
    target_file_id: FileId
    if_version: Version = None
    if_source_file_version: FileVersion = None
    if_target_version: FileVersion = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        node = draft.rules.authored(self.node_id)
        path, former = draft.files.checked(path_of_file(self.target_file_id)), node.source.path if node.source else ""
        if path == former:
            raise InvalidArgument(f"'{node.id}' is in '{path}' already.", hint="Name another file.")
        block = draft.block(node.id)
        spot = insertion_point(draft, path)
        data = block.data if block.data.endswith((b"\n", b"\r")) else block.data + spot.style.line_end.encode()
        draft.remove(block)
        draft.add(path, spot.position, spot.lead, data)
        settled, message = (
            self.settled(node_id=node.id, target_file_id=path),
            f"{node.id} moves to the end of {path}.",
        )
        return MutationEffect(settled, node.id, node.id, {"file_id": former}, {"file_id": path}, message)
