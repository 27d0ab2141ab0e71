"""Toolset memory: what happened to memories."""

from clew.memory.arguments import NodeId
from clew.memory.operations.operation import MemoryOperation
from clew.memory.storage.history import Lineage, Logs, Tombstones
from clew.memory.storage.requests import LogQuery, TombstoneQuery
from clew.operation.call import Call


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
    MemoryOperation,
    tool="search_tombstones",
    title="Forgotten memories",
    trim=("tombstones",),
    example={"limit": 5},
):
    """Memories that were forgotten or merged away and can still be restored, the latest first, with the reason and the
    reversal_hash. query keeps those that hold all its words. restore_from_hash brings one back."""

    def run(self, call: Call) -> Tombstones:
        return call.project.memory.view(call).history.tombstones(self)


class GetSystemLogs(
    LogQuery,
    MemoryOperation,
    tool="get_system_logs",
    title="What the memory did",
    trim=("entries",),
    example={"limit": 5},
):
    """The latest changes and recalls of the memory, the latest first, with reasons and what can be undone. Use it when
    somebody asks why something is not remembered. level debug shows every recall."""

    def run(self, call: Call) -> Logs:
        return call.project.memory.view(call).history.logs(self)
