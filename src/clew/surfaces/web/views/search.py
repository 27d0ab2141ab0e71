"""The search over everything, also as the palette shows it while somebody types, and the page that answers why."""

from clew.errors import ClewError
from clew.surfaces.web import addresses
from clew.surfaces.web.page_request import PageRequest, Redirect, TemplateView, ViewResult
from clew.why.answer import TITLES
from clew.why.operations.search import AskEverything, SearchEverything
from clew.why.operations.thread import ShowWhy

MOST = 20
KINDS = ("", "requirement", "spec", "document", "code", "memory")


def search_all(request: PageRequest) -> TemplateView:
    words = request.text("q").strip()
    kind = request.choice("kind", KINDS, "")
    fragment = request.flag("fragment")
    found = (
        request.ask(SearchEverything, query=words, limit=MOST, **({"kind": [kind]} if kind else {})) if words else None
    )
    answer = request.tried(AskEverything, question=words) if words and request.flag("ask") else None
    return TemplateView(
        template="found.html" if fragment else "search.html",
        title=f"Search for {words}" if words else "Search",
        data={"words": words, "kind": kind, "kinds": KINDS, "found": found, "answer": answer},
    )


def show_why(request: PageRequest) -> TemplateView:
    target = request.text("of").strip()
    thread = request.ask(ShowWhy, target=target, max_tokens=8_000) if target else None
    return TemplateView(
        template="why.html",
        title=f"Why {target}" if target else "Why",
        data={"target": target, "thread": thread, "titles": TITLES},
    )


def go(request: PageRequest) -> ViewResult:
    """Redirect to the page of a name."""
    name = request.text("to").strip()
    with request.reading() as project:
        node = project.graph.get_node(name)
        if node is not None:
            return Redirect(addresses.of_node(node.id))
    try:
        thread = request.ask(ShowWhy, target=name)
    except ClewError:
        return Redirect(addresses.with_query("/search", {"q": name}))
    return Redirect(addresses.of_place(thread.place) if thread.place else addresses.with_query("/why", {"of": name}))
