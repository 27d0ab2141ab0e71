"""Guidance that agents ask elspais for before they write: rules of the project, questions and answers, pages on a
topic."""

from typing import TYPE_CHECKING

import msgspec

from clew.errors import ClewError
from clew.workspace.files import read_bytes

if TYPE_CHECKING:
    from clew.project import Project

LARGEST_RULES = 100_000
"""Bytes of a file of rules that are shown."""

PROTOCOL = """Drafts of several clients share one graph.
1. Read: get_requirement, get_node and get_versions tell the version of a node. That of an assertion or a section is the
   one of its requirement.
2. Change: pass it as if_version. Every answer has the new version, for the next change of the same node. Without
   if_version a change applies to what is there.
3. A conflict names the current version. Read the node again, see whether the change is still right, then repeat it.
4. undo_last_mutation, undo_to_mutation, save_mutations and restore_from_safety_branch take the newest mutation that you
   know of (current_tip of get_mutation_log) and refuse where there is a newer one.
5. Nothing is written before save_mutations, and nothing is lost when the server ends: drafts are kept."""

FAQ: tuple[tuple[str, str, str], ...] = (
    (
        "linking",
        "How do I link a test to a requirement?",
        "Write a comment above the test: `# Verifies: REQ-d00001-A`. Several: `REQ-d00001-A+B, REQ-d00002`. Any "
        "comment of the language is read. suggest_links proposes links, apply_link writes one.",
    ),
    (
        "linking",
        "How do I link code to a requirement?",
        "Write `# Implements: REQ-d00001-A` above the function or class. A citation of the whole requirement "
        "names no assertion.",
    ),
    (
        "linking",
        "Why does a test still count as unlinked?",
        "The id does not exist (get_broken_references), the folder is not read (get_workspace_info names those "
        "that are), or the citation is in prose.",
    ),
    (
        "coverage",
        "When is an assertion covered?",
        "When a test names it. A test that cites only the requirement proves no assertion in particular. "
        "get_uncovered_assertions lists the gaps, of journeys with source=uat.",
    ),
    (
        "coverage",
        "Which requirements count?",
        "Those whose status has the role active. Drafts are in the list of gaps and not in the figures; retired "
        "ones and assertions that begin with <RETIRED> do not count.",
    ),
    (
        "assertions",
        "How is an assertion written?",
        "`A. The system SHALL ...` below a heading Assertions, one sentence, a label each. Labels of deleted "
        "assertions stay free; do not use one again for something else.",
    ),
    (
        "hashes",
        "What is the hash in the End marker?",
        "It says for which text somebody reviewed the requirement. Saving a mutation writes it; after editing by "
        "hand look at what cites the requirement, then run `clew fix ID`.",
    ),
    (
        "satisfies",
        "What are templates?",
        "A requirement marked `**Template**` may be satisfied by others: `**Satisfies**: REQ-p00002`. Each of "
        "them has a copy, `REQ-d00001::REQ-p00002`, whose assertions are as covered as those of the template.",
    ),
    (
        "terms",
        "How is a term defined?",
        "A line with the term, then lines that begin with `: `. It is used as *Term* or **Term**. get_terms lists "
        "terms, `clew check` finds duplicate, unused, unmarked and undefined ones.",
    ),
    (
        "concurrency",
        "What are if_version and if_tip_mutation_id for?",
        "They refuse a change where somebody else was faster. They may be left out. agent_instructions has the "
        "protocol.",
    ),
)


class FaqEntry(msgspec.Struct, frozen=True):
    topic: str
    question: str
    answer: str


class Faq(msgspec.Struct, frozen=True):
    entries: tuple[FaqEntry, ...]
    count: int
    topics: tuple[str, ...]
    filter: str | None = None
    """The word that was asked for."""
    truncated: bool = False


class TopicPage(msgspec.Struct, frozen=True, omit_defaults=True):
    topics: tuple[str, ...] = ()
    topic: str = ""
    content: str = ""
    count: int = 0
    hint: str = ""
    truncated: bool = False


class ContentRule(msgspec.Struct, frozen=True):
    file: str
    content: str


class AuthoringRules(msgspec.Struct, frozen=True):
    instructions: tuple[ContentRule, ...]
    """The files that `rules.content_rules` of the project names."""
    count: int
    concurrency_protocol: str
    notes: tuple[str, ...] = ()
    truncated: bool = False


def faq(topic: str) -> Faq:
    """All questions, or those that have a word."""
    wanted = topic.strip().casefold()
    found = [FaqEntry(*each) for each in FAQ if wanted in " ".join(each).casefold()]
    return Faq(tuple(found), len(found), tuple(dict.fromkeys(each[0] for each in FAQ)), topic.strip() or None)


def page(topic: str) -> TopicPage:
    """One topic: its questions and answers, and the tools whose names or descriptions have the word."""
    from clew.operation.declare import Toolset
    from clew.operation.listing import all_tools

    topics = tuple(dict.fromkeys(each[0] for each in FAQ))
    wanted = topic.strip().casefold()
    if wanted in ("", "topics"):
        hint = "Call docs with a topic, the name of a tool, or any word."
        return TopicPage(topics=topics, count=len(topics), hint=hint)
    own = [each for each in FAQ if wanted == "all" or wanted in " ".join(each).casefold()]
    tools = [
        tool
        for tool in all_tools()
        if tool.toolset is Toolset.TRACE and wanted in f"{tool.name} {tool.description}".casefold()
    ]
    parts = [f"## {question}\n\n{answer}" for _, question, answer in own]
    parts += [f"## {tool.name}\n\n{tool.description}\n\nArguments: {tool.signature}." for tool in tools]
    content = "\n\n".join(parts) or "There is no page about this."
    return TopicPage(topic=topic.strip(), content=content, count=len(parts), hint=f"Topics are: {', '.join(topics)}.")


def instructions(project: "Project") -> AuthoringRules:
    """The rules that a project gives its authors."""
    found: list[ContentRule] = []
    notes: list[str] = []
    for path in project.config.elspais.content_rules:
        try:
            data = read_bytes(project.config.root, path, limit=LARGEST_RULES)
        except ClewError as error:
            notes.append(f"{path}: {error.message}")
        else:
            found.append(ContentRule(path, data.decode("utf-8", "replace")))
    return AuthoringRules(tuple(found), len(found), PROTOCOL, tuple(notes))
