"""Toolset core: one search over everything, and the question form of it."""

from typing import Annotated, Literal

from msgspec import Meta

from clew.operation.call import Call
from clew.operation.declare import HelpHeading, MaxTokens, Operation, Option, PageCursor, Toolset
from clew.text.terminal import coloured, note
from clew.trace.find.requests import SearchQuery
from clew.why.ask import NOT_SURE, NOTHING, UNMENTIONED, Answered, as_lines, ask
from clew.why.search import FoundItem, FoundItems, ProjectSearch, read_documents
from clew.why.search import as_lines as found_lines

Kind = Literal["requirement", "spec", "document", "code", "memory", "commit"]


class SearchEverything(
    Operation,
    tool="search_everything",
    toolset=Toolset.CORE,
    title="Search everything",
    outlined=True,
    trim=("results", "notes"),
    pages="results",
    example={"query": "tide table", "limit": 5},
):
    """For finding where something is said or done, by words, id, symbol or path. Returns requirements, specs,
    documents, code symbols, memories and commits in one ranking, each with kind and place; what is called exactly so
    comes first."""

    query: Annotated[str, Meta(min_length=1, max_length=4_096, description="Words, an id, a symbol or a path")]
    kind: Annotated[tuple[Kind, ...], Meta(description="Only these kinds; default all")] = ()
    limit: Annotated[int, Meta(ge=1, le=100, description="Results at most")] = 10
    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def answer_early(self, call: Call) -> None:
        read_documents(call)

    def run(self, call: Call) -> FoundItems:
        return ProjectSearch(call, self.kind).find(self.query, offset=call.offset, limit=self.limit)


class FindEverything(
    Operation,
    verb="search",
    served=True,
    command_of="search",
    toolset=Toolset.CORE,
    summary="search requirements, specs, documents, code, memories and commits, or requirements by a pattern",
    epilog='clew search tide table\nclew search "overdue OR late" --kind requirement\n'
    "clew search --regex '^REQ-d' --field id",
    pages="results",
):
    """Finds everything that has to do with some words."""

    query: Annotated[
        str,
        Meta(min_length=1, max_length=4_096),
        Option(positional=True, joined=True, about='words, an id, a symbol or a path; OR, "a phrase", -excluded'),
    ]
    kind: Annotated[tuple[Kind, ...], Meta(description="Only this kind; may be given several times")] = ()
    field: Annotated[
        Literal["all", "id", "title", "body", "keywords"], Meta(description="Where to look, in requirements")
    ] = "all"
    regex: Annotated[bool, Meta(description="The query is a regular expression, for requirements")] = False
    limit: Annotated[int, Meta(ge=1, le=500, description="Results at most"), Option(metavar="N")] = 20
    cursor: PageCursor = None

    def answer_early(self, call: Call) -> None:
        if not self.regex and self.field == "all" and self.kind != ("requirement",):
            read_documents(call)

    def run(self, call: Call) -> FoundItems:
        if not self.regex and self.field == "all":
            return ProjectSearch(call, self.kind).find(self.query, offset=call.offset, limit=self.limit)
        query = SearchQuery(query=self.query, field=self.field, regex=self.regex, limit=self.limit)
        page = call.project.trace.search(query, offset=call.offset, check=call.check)
        graph = call.project.graph
        nodes = [(item, graph.get_node(item.id)) for item in page.results]
        found = tuple(
            FoundItem("requirement", item.id, item.title, _place(node)) for item, node in nodes if node is not None
        )
        return FoundItems(found, page.total, page.truncated, None, page.notes, page.indexed)

    def render(self, result: FoundItems) -> str:
        return "\n".join(found_lines(result, coloured)) or self._nothing(result)

    def _nothing(self, result: FoundItems) -> str:
        """The answer if nothing was found, with a next step."""
        if result.total:
            return f"There are {result.total} results and no more on this page."
        if self.kind or self.regex or self.field != "all":
            return f"Nothing found for '{self.query}'. Without --kind, --field and --regex everything is searched."
        tried = "Try fewer words, or one of another spelling; `clew kb` says what is read."
        return f"Nothing found for '{self.query}'. {tried}"

    def messages(self, result: FoundItems) -> tuple[str, ...]:
        return tuple(map(note, result.notes))

    def exit_code(self, result: FoundItems) -> int:
        return 0 if result.results else 1


def _place(node: object) -> str:
    source = getattr(node, "source", None)
    return f"{source.path}:{source.line}" if source is not None else ""


class AskEverything(
    Operation,
    tool="ask",
    verb="ask",
    served=True,
    toolset=Toolset.ADDED,
    title="Ask the project",
    heading=HelpHeading.UNDERSTAND,
    summary="answer a question with quotes from the whole project",
    epilog='clew ask "when are ships warned?"',
    outlined=True,
    trim=("quotes", "nearest", "notes"),
    example={"question": "when are ships warned?"},
):
    """For a question in words about this project: how, where, when, why, which version. Returns quotes from documents,
    code, manifests, requirements, memories and history with their places, each sure, likely or unsure."""

    question: Annotated[
        str,
        Meta(min_length=1, max_length=4_096, description="The question, as you would ask a colleague"),
        Option(positional=True, joined=True, needed=("{command} needs a question.", 'Write `{command} "..."`.')),
    ]

    def answer_early(self, call: Call) -> None:
        read_documents(call)

    def run(self, call: Call) -> Answered:
        return ask(call, self.question)

    def text(self, result: Answered) -> str:
        return "\n".join((*as_lines(result), *self.messages(result)))

    def render(self, result: Answered) -> str:
        return "\n".join(as_lines(result))

    def messages(self, result: Answered) -> tuple[str, ...]:
        # What is said instead of quotes is there already.
        return tuple(note(each) for each in result.notes if not each.startswith((NOTHING, NOT_SURE, UNMENTIONED)))

    def exit_code(self, result: Answered) -> int:
        return 0 if result.quotes and NOT_SURE not in result.notes else 1
