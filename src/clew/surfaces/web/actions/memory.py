"""Making, correcting, superseding, forgetting and restoring memories: shown first, and each can be taken back."""

from clew.memory.operations.commands import EditMemory, ForgetMemory, Remember, RestoreMemory, ShowMemory
from clew.surfaces.web.actions.confirming import confirm
from clew.surfaces.web.pictures.difference import of_texts
from clew.surfaces.web.visit import Moved, Shown, Visit


def edit_memory(visit: Visit) -> Shown:
    """Show how the text changes; with `confirm`, write it if the text is still the one that was edited."""
    memory = visit.ask(ShowMemory, id=visit.name)
    text = visit.field("text").strip()
    back = f"/memory/{visit.name}"
    if text == memory.raw_content:
        return Moved(back, "Nothing was changed.")
    changed = visit.field("before") != memory.raw_content
    if _is_confirmed(visit) and not changed:
        visit.ask(EditMemory, id=visit.name, text=text, **_why(visit))
        return Moved(back, "The memory was corrected. What happened to it can be undone below.")
    return confirm(
        "This memory changed meanwhile" if changed else "Correct the memory",
        "memory",
        action=f"/do/memory/{visit.name}/edit",
        fields={"text": text, "before": memory.raw_content, **_why(visit)},
        label="Correct it",
        back=back,
        lines=of_texts(memory.raw_content, text),
        sides=[("text", memory.raw_content, text)] if changed else [],
    )


def supersede_memory(visit: Visit) -> Shown:
    """Show what stands in the place of what; with `confirm`, remember it, if the older one is still what was shown."""
    memory = visit.ask(ShowMemory, id=visit.name)
    text, before = visit.field("text").strip(), visit.field("before", memory.raw_content)
    changed = before != memory.raw_content
    if _is_confirmed(visit) and not changed:
        about = [each.node for each in memory.cites]
        given = {"content": text, "supersedes": [visit.name], "kind": memory.kind, "about": about, **_why(visit)}
        stored = visit.ask(Remember, **given)
        return Moved(f"/memory/{stored.node_id}", "It now stands in the place of the older one, which is kept.")
    return confirm(
        "This memory changed meanwhile" if changed else "Replace the memory by another",
        "memory",
        action=f"/do/memory/{visit.name}/supersede",
        fields={"text": text, "before": memory.raw_content, **_why(visit)},
        label="Let it supersede this one",
        back=f"/memory/{visit.name}",
        lines=of_texts(memory.raw_content, text),
        sides=[("text", memory.raw_content, before)] if changed else [],
    )


def forget_memory(visit: Visit) -> Shown:
    """Show the text that would be gone; with `confirm`, forget it."""
    memory = visit.ask(ShowMemory, id=visit.name)
    if _is_confirmed(visit):
        visit.ask(ForgetMemory, id=visit.name, **_why(visit))
        return Moved(f"/memory/{visit.name}", "It was forgotten. It can be restored for 30 days.")
    return confirm(
        "Forget the memory",
        "memory",
        action=f"/do/memory/{visit.name}/forget",
        fields=_why(visit),
        label="Forget it",
        back=f"/memory/{visit.name}",
        lines=of_texts(memory.raw_content, ""),
    )


def restore_memory(visit: Visit) -> Shown:
    restored = visit.ask(RestoreMemory, change=visit.field("change"))
    ids = restored.restored_node_ids
    return Moved(f"/memory/{ids[0]}" if ids else "/memory", "It is as it was before.")


def remember(visit: Visit) -> Shown:
    """Show what would be remembered, about what; with `confirm`, remember it."""
    text, about = visit.field("text").strip(), visit.field("about", "").split()
    if _is_confirmed(visit):
        stored = visit.ask(Remember, content=text, about=about)
        return Moved(f"/memory/{stored.node_id}", "It is remembered.")
    return confirm(
        f"Remember this about {', '.join(about)}" if about else "Remember this",
        "memory",
        action="/do/memory",
        fields={"text": text, "about": " ".join(about)},
        label="Remember it",
        back="/memory",
        lines=of_texts("", text),
    )


def _is_confirmed(visit: Visit) -> bool:
    return visit.field("confirm", "") == "1"


def _why(visit: Visit) -> dict[str, str]:
    why = visit.field("why", "").strip()
    return {"why": why} if why else {}
