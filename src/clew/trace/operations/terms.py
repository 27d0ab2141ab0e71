"""Toolset trace: the glossary, and its commands."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from clew.errors import NotFound
from clew.operation.call import Call
from clew.operation.declare import MaxTokens, Operation, Option, PageCursor, Toolset
from clew.trace.find.requests import Limit
from clew.trace.terms import Glossary, Term, glossary

PREVIEW = 200
"""Characters of a definition in a list."""


class TermSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    term: str
    definition_preview: str
    is_reference: bool
    ref_count: int
    namespace: str
    score: int = 0


class Terms(msgspec.Struct, frozen=True):
    terms: tuple[TermSummary, ...]
    total: int
    glossary_count: int
    reference_count: int
    truncated: bool = False
    next_cursor: str | None = None


class TermDetail(msgspec.Struct, frozen=True):
    term: str
    definition: str
    defined_in: str
    line: int
    namespace: str
    collection: bool
    indexed: bool
    is_reference: bool
    reference_fields: Mapping[str, str]
    reference_term: str
    reference_source: str
    definition_hash: str
    references: tuple[Mapping[str, Any], ...]
    """The places that use it, and for each if the use is marked."""
    truncated: bool = False


class FoundTerms(msgspec.Struct, frozen=True):
    results: tuple[TermSummary, ...]
    total: int
    truncated: bool = False
    next_cursor: str | None = None


def _all(call: Call) -> Glossary:
    return glossary(call.project.graph, call.project.context)


def _summary(call: Call, term: Term, score: int = 0) -> TermSummary:
    each = term.definition
    namespace = call.project.config.elspais.namespace
    return TermSummary(each.name, each.definition[:PREVIEW], each.is_reference, len(term.uses), namespace, score)


class GetTerms(
    Operation,
    tool="get_terms",
    toolset=Toolset.TRACE,
    title="All terms",
    later=True,
    trim=("terms",),
    pages="terms",
):
    """The terms that the project defines, with the beginning of each definition and how often it is used. At most
    `limit` a page. get_term_detail has one in full."""

    kind: Annotated[
        Literal["all", "glossary", "reference"], Meta(description="Own terms, documents of others, or both")
    ] = "all"
    limit: Limit = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> Terms:
        found = [each for each in _all(call).terms if self._is_wanted(each)]
        page = tuple(_summary(call, each) for each in found[call.offset : call.offset + self.limit])
        references = sum(each.definition.is_reference for each in found)
        return Terms(page, len(found), len(found) - references, references)

    def _is_wanted(self, term: Term) -> bool:
        return self.kind == "all" or term.definition.is_reference is (self.kind == "reference")


class GetTermDetail(
    Operation,
    tool="get_term_detail",
    toolset=Toolset.TRACE,
    title="One term",
    later=True,
    trim=("references",),
    whole=("definition",),
):
    """One term: its whole definition, where it stands, and every place that uses it, marked or not. To find one by
    words call search_terms."""

    term: Annotated[str, Meta(min_length=1, max_length=300, description="In any case")]
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> TermDetail:
        found = _all(call).find(self.term)
        if found is None:
            raise NotFound(f"Term '{self.term}' not found.", hint="get_terms lists those that are defined.")
        each, namespace = found.definition, call.project.config.elspais.namespace
        styles, graph = call.project.config.elspais.terms.markup_styles, call.project.graph
        return TermDetail(
            term=each.name,
            definition=each.definition,
            defined_in=f"file:{namespace}:{found.path}",
            line=each.line,
            namespace=namespace,
            collection=each.collection,
            indexed=each.indexed,
            is_reference=each.is_reference,
            reference_fields=dict(each.reference_fields),
            reference_term=each.reference_term,
            reference_source=each.reference_source,
            definition_hash=hashlib.sha256(each.definition.encode()).hexdigest()[:8],
            references=tuple(
                {
                    "node_id": use.node_id,
                    "title": node.title if (node := graph.get_node(use.node_id)) is not None else "",
                    "namespace": namespace,
                    "marked": use.marking in styles,
                    "wrong_marking": "" if use.marking in styles else use.marking,
                    "path": use.path,
                    "line": use.line,
                }
                for use in found.uses
            ),
        )


class SearchTerms(
    Operation,
    tool="search_terms",
    toolset=Toolset.TRACE,
    title="Find terms",
    later=True,
    trim=("results",),
    pages="results",
):
    """Finds terms whose name or definition has the words, those with them in the name first. At most `limit` a page.
    get_term_detail has one in full."""

    query: Annotated[str, Meta(min_length=1, max_length=300, description="In any case")]
    limit: Limit = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> FoundTerms:
        wanted = self.query.strip().casefold()
        scored = [(_score(each, wanted), each) for each in _all(call).terms]
        found = sorted(((score, each) for score, each in scored if score), key=lambda each: (-each[0], each[1].name))
        page = tuple(_summary(call, each, score) for score, each in found[call.offset : call.offset + self.limit])
        return FoundTerms(page, len(found))


def _score(term: Term, wanted: str) -> int:
    name = 100 if wanted in term.name.casefold() else 0
    return name + (10 if wanted in term.definition.definition.casefold() else 0)


class TermList(msgspec.Struct, frozen=True):
    terms: tuple[TermDetail, ...]


_MADE_BY = (
    "<!-- Auto-generated by: elspais fix -->",
    "<!-- Do not edit manually; changes will be overwritten. -->",
)
"""elspais writes the same file again, so it says the same."""


class OfGlossary(Operation, toolset=Toolset.TRACE, folder="argument"):
    """A document that is made of all terms."""

    output: Annotated[str | None, Option("-o", metavar="FILE", about="write it to a file")] = None

    def run(self, call: Call) -> TermList:
        return TermList(tuple(GetTermDetail(term=each.name).run(call) for each in _all(call).terms))

    def render(self, result: TermList) -> str:
        return self.document(result).rstrip("\n") if self.output is None else ""

    def lines(self, terms: tuple[TermDetail, ...]) -> Iterator[str]:
        raise NotImplementedError

    def document(self, result: TermList) -> str:
        return "\n".join((*_MADE_BY, *self.lines(result.terms))) + "\n"


class ShowGlossary(
    OfGlossary,
    verb="terms glossary",
    summary="the terms that the project defines, as Markdown",
    epilog="clew terms glossary\nclew terms glossary -o spec/glossary.md",
):
    """All terms with their definitions, by letter, as elspais writes them."""

    def lines(self, terms: tuple[TermDetail, ...]) -> Iterator[str]:
        yield "# Glossary"
        letter = ""
        for each in (term for term in terms if not term.is_reference):
            if each.term[:1].upper() != letter:
                letter = each.term[:1].upper()
                yield from ("", f"## {letter}")
            marks = " *(collection)*" * each.collection + " *(not indexed)*" * (not each.indexed)
            yield from ("", f"**{each.term}**{marks}", f": {each.definition}", _place(each))
        references = [term for term in terms if term.is_reference]
        if references:
            yield from ("", "# References")
        for each in references:
            fields = dict(each.reference_fields)
            yield from ("", f"**{each.term}**", f": {fields.get('title') or each.definition}")
            named = (("Version", "version"), ("Effective Date", "effective_date"))
            yield from (f": {title}: {fields[name]}" for title, name in named if name in fields)
            if "url" in fields:
                yield f": URL: <{fields['url']}>"
            yield _place(each)


def _place(term: TermDetail) -> str:
    return f"*Defined in: {term.defined_in} ({term.namespace})*"


class ShowTermIndex(
    OfGlossary,
    verb="terms index",
    summary="the uses of the terms, as Markdown",
    epilog="clew terms index -o spec/term-index.md",
):
    """Every indexed term with the places that use it, as elspais writes them."""

    def lines(self, terms: tuple[TermDetail, ...]) -> Iterator[str]:
        yield "# Term Index"
        for each in (term for term in terms if term.indexed):
            yield from ("", f"## {each.term}")
            places = dict.fromkeys(use["node_id"] for use in each.references)
            if places:
                yield from ("", f"**{each.namespace}:**", "")
            yield from (f"- {place}" for place in places)
