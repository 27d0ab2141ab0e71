"""Toolset memory: what happened to memories."""

from clew.memory.arguments import NodeId
from clew.memory.operations import lines
from clew.memory.operations.operation import LatestMemoryOperation, MemoryOperation, PagedMemoryOperation
from clew.memory.storage.history import Lineage, Logs, Tombstones
from clew.memory.storage.requests import LogQuery, TombstoneQuery
from clew.operation.call import Call
from clew.operation.declare import PageCursor


class GetNodeLineage(
    MemoryOperation,
    tool="get_node_lineage",
    title="The history of a memory",
    trim=("events",),
):
    """Everything that happened to a memory, also to a forgotten one: stored, annotated, boosted, merged, superseded,
    deleted, restored, each with time, actor, reason and the reversal_hash that undoes it; and what it came from and
    became."""

    node_id: NodeId

    def run(self, call: Call) -> Lineage:
        return call.project.memory.view(call).history.lineage(self.node_id)


class SearchTombstones(
    TombstoneQuery,
    PagedMemoryOperation,
    tool="search_tombstones",
    outlined=True,
    title="Forgotten memories",
    trim=("tombstones",),
    pages="tombstones",
    total="count",
    example={"limit": 5},
):
    """Memories that were forgotten or merged away and can be restored, the latest first, with reason and reversal_hash.
    query keeps those with all its words. restore_from_hash brings one back."""

    cursor: PageCursor = None

    def run(self, call: Call) -> Tombstones:
        return call.project.memory.view(call).history.tombstones(self, call.offset)

    def text(self, result: Tombstones) -> str:
        return lines.forgotten(result)


class GetSystemLogs(
    LogQuery,
    LatestMemoryOperation,
    tool="get_system_logs",
    outlined=True,
    title="What the memory did",
    trim=("entries",),
    pages="entries",
    example={"limit": 5},
):
    """Changes and recalls of the memory, the latest first, with reasons and what can be undone: why something is not
    remembered. level debug shows every recall."""

    cursor: PageCursor = None

    def run(self, call: Call) -> Logs:
        return call.project.memory.view(call).history.logs(self, call.offset)

    def text(self, result: Logs) -> str:
        return lines.happened(result)
