"""The default listing: the tools that a server lists where nobody chose any.

Every conversation pays for the listing, so that it holds what agents use at almost every task, and for each format of
requirements that the folder holds what shows and changes them. Everything else is one call of `tools_search` away.
"""

# Implements: REQ-d00850

from collections.abc import Collection

from clew.workspace.holding import RequirementFormat

ALWAYS = (
    "context",
    "why",
    "ask",
    "search_everything",
    "find_uses",
    "store_memory",
    "tools_search",
    "tools_call",
)
OF_FORMAT = {
    RequirementFormat.MARKDOWN: (
        "get_requirement",
        "mutate_update_assertion",
        "save_mutations",
        "undo_last_mutation",
    ),
    RequirementFormat.OPENSPEC: ("list_changes", "validate_change"),
    RequirementFormat.REGISTER: ("req_add", "req_next"),
}
KEPT_IN_VIEW = ("context", "why", "search_everything")
"""A host that shows a model only the names of tools until it asks for them is told to show these whole."""

ALL_FORMATS = frozenset(RequirementFormat)


def default_names(formats: Collection[RequirementFormat]) -> frozenset[str]:
    """The names of the tools that are listed in a folder with these formats."""
    return frozenset((*ALWAYS, *(name for each in formats for name in OF_FORMAT[each])))


def listed_where(name: str) -> str:
    """The folders in which a tool is listed by default, for the reference page."""
    if name in ALWAYS:
        return "yes"
    formats = [each.value for each, names in OF_FORMAT.items() if name in names]
    return f"where the folder holds {' or '.join(formats)}" if formats else "no"
