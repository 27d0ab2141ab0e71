"""Correcting, superseding, forgetting and restoring memories; each leaves a hash that takes it back."""

from clew.memory.operations.commands import EditMemory, ForgetMemory, Remember, RestoreMemory, ShowMemory
from clew.surfaces.web.actions.confirming import confirm
from clew.surfaces.web.pictures.difference import of_texts
from clew.surfaces.web.visit import Moved, Shown, Visit


def edit_memory(visit: Visit) -> Shown:
    """Show how the text changes; with `confirm`, write it if the text is still the one that was edited."""
    memory = visit.ask(ShowMemory, id=visit.name)
    text, why = visit.field("text").strip(), visit.field("why", "").strip()
    back = f"/memory/{visit.name}"
    if text == memory.raw_content:
        return Moved(back, "Nothing was changed.")
    changed = visit.field("before") != memory.raw_content
    if visit.field("confirm", "") == "1" and not changed:
        visit.ask(EditMemory, id=visit.name, text=text, **({"why": why} if why else {}))
        return Moved(back, "The memory was corrected. What happened to it can be undone below.")
    return confirm(
        "This memory changed meanwhile" if changed else "Correct the memory",
        "memory",
        action=f"/do/memory/{visit.name}/edit",
        fields={"text": text, "why": why, "before": memory.raw_content},
        label="Correct it",
        back=back,
        lines=of_texts(memory.raw_content, text),
        sides=[("text", memory.raw_content, text)] if changed else [],
    )


def supersede_memory(visit: Visit) -> Shown:
    memory = visit.ask(ShowMemory, id=visit.name)
    why = visit.field("why", "").strip()
    stored = visit.ask(
        Remember,
        content=visit.field("text").strip(),
        supersedes=[visit.name],
        kind=memory.kind,
        about=[each.node for each in memory.cites],
        **({"why": why} if why else {}),
    )
    return Moved(f"/memory/{stored.node_id}", "It now stands in the place of the older one, which is kept.")


def forget_memory(visit: Visit) -> Shown:
    why = visit.field("why", "").strip()
    visit.ask(ForgetMemory, id=visit.name, **({"why": why} if why else {}))
    return Moved(f"/memory/{visit.name}", "It was forgotten. It can be restored for 30 days.")


def restore_memory(visit: Visit) -> Shown:
    restored = visit.ask(RestoreMemory, change=visit.field("change"))
    ids = restored.restored_node_ids
    return Moved(f"/memory/{ids[0]}" if ids else "/memory", "It is as it was before.")


def remember(visit: Visit) -> Shown:
    about = [place for place in visit.field("about", "").split() if place]
    stored = visit.ask(Remember, content=visit.field("text").strip(), about=about)
    return Moved(f"/memory/{stored.node_id}", "It is remembered.")
