"""Which address shows which view, and which one does what."""

from collections.abc import Mapping

from clew.surfaces.web.actions import changes, memory, register, requirement, review
from clew.surfaces.web.views.activity import show_activity
from clew.surfaces.web.views.documents import show_document, show_documents
from clew.surfaces.web.views.drafts import show_drafts
from clew.surfaces.web.views.memory import show_memories, show_memory
from clew.surfaces.web.views.requirement import show_requirement
from clew.surfaces.web.views.requirements import show_requirements
from clew.surfaces.web.views.review import show_review
from clew.surfaces.web.views.search import go, search_all, show_why
from clew.surfaces.web.views.sources import show_source, show_sources
from clew.surfaces.web.views.specs import show_change, show_spec, show_specs
from clew.surfaces.web.views.today import show_today
from clew.surfaces.web.visit import ViewFunction

VIEWS: Mapping[str, ViewFunction] = {
    "/": show_today,
    "/requirements": show_requirements,
    "/r/{name:path}": show_requirement,
    "/specs": show_specs,
    "/specs/{name:path}": show_spec,
    "/changes/{name:path}": show_change,
    "/documents": show_documents,
    "/documents/{name:path}": show_document,
    "/sources": show_sources,
    "/sources/{name:path}": show_source,
    "/memory": show_memories,
    "/memory/{name}": show_memory,
    "/activity": show_activity,
    "/activity/drafts": show_drafts,
    "/activity/review": show_review,
    "/search": search_all,
    "/why": show_why,
    "/go": go,
}
ACTIONS: Mapping[str, ViewFunction] = {
    "/do/requirement/{name:path}": requirement.draft_requirement,
    "/do/accept/{name:path}": requirement.accept_text,
    "/do/save": requirement.save_drafts,
    "/do/undo": requirement.undo_draft,
    "/do/undo-to": requirement.undo_to,
    "/do/register/{name:path}": register.update_entry,
    "/do/task/{name:path}": changes.mark_task,
    "/do/archive/{name:path}": changes.archive,
    "/do/undo-files": changes.take_back,
    "/do/memory": memory.remember,
    "/do/memory/{name}/edit": memory.edit_memory,
    "/do/memory/{name}/supersede": memory.supersede_memory,
    "/do/memory/{name}/forget": memory.forget_memory,
    "/do/memory/{name}/restore": memory.restore_memory,
    "/do/review": review.decide,
    "/do/review-undo": review.take_back,
}
