"""Making, correcting, superseding, forgetting and restoring memories: shown first, and each can be taken back."""

from clew.memory.operations.commands import EditMemory, ForgetMemory, Remember, RestoreMemory, ShowMemory
from clew.surfaces.web.actions.confirming import confirm
from clew.surfaces.web.page_request import PageRequest, Redirect, ViewResult
from clew.surfaces.web.pictures.difference import of_texts


def edit_memory(request: PageRequest) -> ViewResult:
    """Show how the text changes; with `confirm`, write it if the text is still the one that was edited."""
    memory = request.ask(ShowMemory, id=request.name)
    text = request.field("text").strip()
    back = f"/memory/{request.name}"
    if text == memory.raw_content:
        return Redirect(back, "Nothing was changed.")
    changed = request.field("before") != memory.raw_content
    if _is_confirmed(request) and not changed:
        request.ask(EditMemory, id=request.name, text=text, **_why(request))
        return Redirect(back, "The memory was corrected. What happened to it can be undone below.")
    return confirm(
        "This memory changed meanwhile" if changed else "Correct the memory",
        "memory",
        action=f"/do/memory/{request.name}/edit",
        fields={"text": text, "before": memory.raw_content, **_why(request)},
        label="Correct it",
        back=back,
        lines=of_texts(memory.raw_content, text),
        sides=[("text", memory.raw_content, text)] if changed else [],
    )


def supersede_memory(request: PageRequest) -> ViewResult:
    """Show both memories; with `confirm`, replace the older one, if it did not change since it was shown."""
    memory = request.ask(ShowMemory, id=request.name)
    text, before = request.field("text").strip(), request.field("before", memory.raw_content)
    changed = before != memory.raw_content
    if _is_confirmed(request) and not changed:
        about = [each.node for each in memory.cites]
        given = {"content": text, "supersedes": [request.name], "kind": memory.kind, "about": about, **_why(request)}
        stored = request.ask(Remember, **given)
        return Redirect(f"/memory/{stored.node_id}", "It replaces the older one, which is kept.")
    return confirm(
        "This memory changed meanwhile" if changed else "Replace the memory by another",
        "memory",
        action=f"/do/memory/{request.name}/supersede",
        fields={"text": text, "before": memory.raw_content, **_why(request)},
        label="Let it supersede this one",
        back=f"/memory/{request.name}",
        lines=of_texts(memory.raw_content, text),
        sides=[("text", memory.raw_content, before)] if changed else [],
    )


def forget_memory(request: PageRequest) -> ViewResult:
    """Show the text that would be gone; with `confirm`, forget it."""
    memory = request.ask(ShowMemory, id=request.name)
    if _is_confirmed(request):
        request.ask(ForgetMemory, id=request.name, **_why(request))
        return Redirect(f"/memory/{request.name}", "It was forgotten. It can be restored for 30 days.")
    return confirm(
        "Forget the memory",
        "memory",
        action=f"/do/memory/{request.name}/forget",
        fields=_why(request),
        label="Forget it",
        back=f"/memory/{request.name}",
        lines=of_texts(memory.raw_content, ""),
    )


def restore_memory(request: PageRequest) -> ViewResult:
    restored = request.ask(RestoreMemory, change=request.field("change"))
    ids = restored.restored_node_ids
    return Redirect(f"/memory/{ids[0]}" if ids else "/memory", "It is as it was before.")


def remember(request: PageRequest) -> ViewResult:
    """Show the memory that would be stored; with `confirm`, store it."""
    text, about = request.field("text").strip(), request.field("about", "").split()
    if _is_confirmed(request):
        stored = request.ask(Remember, content=text, about=about)
        return Redirect(f"/memory/{stored.node_id}", "It is remembered.")
    return confirm(
        f"Remember this about {', '.join(about)}" if about else "Remember this",
        "memory",
        action="/do/memory",
        fields={"text": text, "about": " ".join(about)},
        label="Remember it",
        back="/memory",
        lines=of_texts("", text),
    )


def _is_confirmed(request: PageRequest) -> bool:
    return request.field("confirm", "") == "1"


def _why(request: PageRequest) -> dict[str, str]:
    why = request.field("why", "").strip()
    return {"why": why} if why else {}
