"""The search over everything, which the palette shows as somebody types, and why anything is there."""

from clew.errors import ClewError
from clew.surfaces.web import addresses
from clew.surfaces.web.visit import Moved, Shown, View, Visit
from clew.why.answer import TITLES
from clew.why.operations.search import AskEverything, SearchEverything
from clew.why.operations.thread import ShowWhy

MOST = 20
KINDS = ("", "requirement", "spec", "document", "code", "memory")


def search_all(visit: Visit) -> View:
    words = visit.text("q").strip()
    kind = visit.choice("kind", KINDS, "")
    fragment = visit.flag("fragment")
    found = (
        visit.ask(SearchEverything, query=words, limit=MOST, **({"kind": [kind]} if kind else {})) if words else None
    )
    answer = visit.tried(AskEverything, question=words) if words and visit.flag("ask") else None
    return View(
        template="found.html" if fragment else "search.html",
        title=f"Search for {words}" if words else "Search",
        data={"words": words, "kind": kind, "kinds": KINDS, "found": found, "answer": answer},
    )


def show_why(visit: Visit) -> View:
    target = visit.text("of").strip()
    thread = visit.ask(ShowWhy, target=target, max_tokens=8_000) if target else None
    return View(
        template="why.html",
        title=f"Why {target}" if target else "Why",
        data={"target": target, "thread": thread, "titles": TITLES},
    )


def go(visit: Visit) -> Shown:
    """Whatever is called so, at its own address."""
    name = visit.text("to").strip()
    with visit.reading() as project:
        node = project.graph.get_node(name)
        if node is not None:
            return Moved(addresses.of_node(node.id))
    try:
        thread = visit.ask(ShowWhy, target=name)
    except ClewError:
        return Moved(addresses.with_query("/search", {"q": name}))
    return Moved(addresses.of_place(thread.place) if thread.place else addresses.with_query("/why", {"of": name}))
