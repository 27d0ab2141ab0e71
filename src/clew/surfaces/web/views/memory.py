"""Memory: a list that can be searched, and one memory with why it is believed and whether what it cites changed."""

from clew.memory.model import Kind
from clew.memory.operations.commands import (
    ListMemories,
    RecallMemories,
    ShowHistory,
    ShowMemory,
    ShowMemoryStatus,
)
from clew.surfaces.web.visit import View, Visit

MOST = 100
KINDS = tuple(kind.value for kind in Kind)


def show_memories(visit: Visit) -> View:
    words, kind, about = visit.text("q").strip(), visit.choice("kind", ("", *KINDS), ""), visit.text("about").strip()
    forgotten = visit.flag("forgotten")
    found = listed = status = None
    if visit.project.memory.exists:
        status = visit.ask(ShowMemoryStatus)
        if words:
            given = {"about": about} if about else {}
            found = visit.ask(RecallMemories, query=words, limit=MOST, episodes=kind == "episode", **given)
        else:
            given = {name: value for name, value in (("kind", kind), ("about", about)) if value}
            listed = visit.ask(ListMemories, limit=MOST, forgotten=forgotten, **given)
    return View(
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


def show_memory(visit: Visit) -> View:
    history = visit.ask(ShowHistory, id=visit.name)
    memory = None if history.forgotten else visit.ask(ShowMemory, id=visit.name)
    return View(
        template="memory.html",
        title=memory.title if memory is not None else "A forgotten memory",
        section="memory",
        data={"memory": memory, "history": history},
        watches=("memory",),
    )
