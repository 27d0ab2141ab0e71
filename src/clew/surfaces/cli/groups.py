"""Groups of commands such as `clew req`: declarations for the group as a whole."""

from dataclasses import dataclass
from typing import Final

from clew.operation.declare import HelpHeading


@dataclass(frozen=True, slots=True)
class GroupOption:
    """An option that every command of a group has, although none of them declares it."""

    name: str
    """The key of the option in the options of a call."""
    metavar: str
    about: str

    @property
    def flag(self) -> str:
        return f"--{self.name}"


@dataclass(frozen=True, slots=True)
class CommandGroup:
    summary: str = ""
    heading: HelpHeading = HelpHeading.WORK
    """The heading under which `clew help` lists the group."""
    example: str = ""
    options: tuple[GroupOption, ...] = ()
    has_version: bool = False
    """True if `--version` may follow the name of the group, as users of req write it."""
    has_json_errors: bool = False
    """True if --json prints errors too: on standard output, in the form that the group's tools use."""
    tells_folder: bool = True
    """True if standard error names the project's folder where it is not the given one."""


GROUPS: Final = {
    "links": CommandGroup(
        "links of tests and code to requirements that are missing: suggest, apply, reject",
        HelpHeading.PROVE,
        "clew links suggest",
    ),
    "terms": CommandGroup(
        "the terms that requirements define: glossary, index", HelpHeading.PROVE, "clew terms glossary"
    ),
    "eval": CommandGroup(
        "measure retrieval, memory or suggested links on your own data",
        HelpHeading.MEASURE,
        "clew eval retrieval FOLDER",
    ),
    "specs": CommandGroup(
        summary="specs: dashboard, list, show, search, validate",
        example="""clew specs
clew specs show passage-windows
clew specs search "not enough water"
clew specs validate --strict""",
    ),
    "change": CommandGroup(
        summary="changes to specs: list, show, new, validate, conflicts, apply, archive",
        example="""clew change
clew change conflicts
clew change archive add-neap-warning --dry-run
clew change archive add-neap-warning --yes --take change""",
    ),
    "kb": CommandGroup(
        summary="documents: index, search, ask, show, and what they mention",
        example="""clew kb index
clew kb search "how is the margin set"
clew kb ask "what is the default margin?"
clew kb show docs/guide.md
clew kb graph REQ-d00001""",
    ),
    "memory": CommandGroup(
        "memories: list, edit, forget, restore, export, mirror, purge",
        HelpHeading.REMEMBER,
        "clew memory list",
    ),
    "req": CommandGroup(
        summary="managed requirements in project.req: add, list, validate, review and more",
        example="""clew req brief
clew req show 2
clew req coverage --by-req""",
        options=(GroupOption("file", "FILE", "the register (default: project.req, or REQ_FILE)"),),
        has_version=True,
        has_json_errors=True,
        tells_folder=False,
    ),
    "req test": CommandGroup("evidence from tests: record, run, list", example="clew req test list"),
}


def group_of(verb: str | None) -> CommandGroup:
    """The group of a command; an empty one for a command without a group."""
    return GROUPS.get((verb or "").partition(" ")[0], CommandGroup())
