"""Memory: a searchable list, and one memory with its reason, its origin and the state of its citations."""

from clew.memory.model import MemoryKind
from clew.memory.operations.commands import (
    ListMemories,
    RecallMemories,
    ShowHistory,
    ShowMemory,
    ShowMemoryStatus,
)
from clew.surfaces.web.page_request import PageRequest, TemplateView

MOST = 100
KINDS = tuple(kind.value for kind in MemoryKind)


def show_memories(request: PageRequest) -> TemplateView:
    words, kind, about = (
        request.text("q").strip(),
        request.choice("kind", ("", *KINDS), ""),
        request.text("about").strip(),
    )
    forgotten = request.flag("forgotten")
    found = listed = status = None
    if request.project.memory.exists:
        status = request.ask(ShowMemoryStatus)
        if words:
            given = {"about": about} if about else {}
            found = request.ask(RecallMemories, query=words, limit=MOST, episodes=kind == "episode", **given)
        else:
            given = {name: value for name, value in (("kind", kind), ("about", about)) if value}
            listed = request.ask(ListMemories, limit=MOST, forgotten=forgotten, **given)
    return TemplateView(
        template="memories.html",
        title="Memory",
        section="memory",
        data={
            "words": words,
            "kind": kind,
            "about": about,
            "forgotten": forgotten,
            "found": found,
            "listed": listed,
            "status": status,
            "pairs": status is not None and any(len(task.target_nodes) == 2 for task in status.curation_tasks),
            "kinds": KINDS,
        },
        watches=("memory",),
    )


def show_memory(request: PageRequest) -> TemplateView:
    history = request.ask(ShowHistory, id=request.name)
    memory = None if history.forgotten else request.ask(ShowMemory, id=request.name)
    return TemplateView(
        template="memory.html",
        title=memory.title if memory is not None else "A forgotten memory",
        section="memory",
        data={"memory": memory, "history": history},
        watches=("memory",),
    )
