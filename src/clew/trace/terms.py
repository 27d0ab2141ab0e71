"""The glossary of a project: its terms, and where its requirements, its journeys and the comments of its code use them.

Terms are read from the files as they are, without unsaved drafts. A project that defines none costs a look at the texts
in memory. Of a source file its uses are kept, by its content and the names, so that only changed ones are opened again.
"""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch

import msgspec

from clew.cache import Cache
from clew.context import Context
from clew.errors import ClewError
from clew.formats.code.comments import DOCSTRING, comments, family_for
from clew.formats.elspais.terms import GlossaryEntry, Sentence, TermsOfFile, name_pattern, read_terms, uses
from clew.graph.graph import Graph
from clew.graph.model import NodeKind
from clew.graph.readers.markers import MarkerReader
from clew.text.hashing import content_hash
from clew.workspace.find import selects

MOST_KEPT = 2_000
"""Files whose terms are kept."""

MOST_USES_KEPT = 500_000
"""Uses in comments that are kept; a file without any counts as one."""

_kept: Cache[str, TermsOfFile] = Cache(MOST_KEPT)
_kept_uses: Cache[str, "tuple[tuple[int, str, str], ...]"] = Cache(MOST_USES_KEPT, size_of=lambda found: len(found) + 1)
"""Line, what is written and the signs around it, of each use in the comments of a file."""


class TermUse(msgspec.Struct, frozen=True):
    node_id: str
    path: str
    line: int
    written: str
    marking: str
    """The signs around it; empty for none."""


class Term(msgspec.Struct, frozen=True):
    definition: GlossaryEntry
    path: str
    uses: tuple[TermUse, ...]

    @property
    def name(self) -> str:
        return self.definition.name


class Glossary(msgspec.Struct, frozen=True):
    terms: tuple[Term, ...] = ()
    """By name; each once, as its first definition has it."""
    repeated: tuple[tuple[GlossaryEntry, str, Term], ...] = ()
    """Further definitions, with their file, and the one that counts."""
    undefined: tuple[TermUse, ...] = ()
    """Texts that are marked like a term and are none."""

    def find(self, name: str) -> Term | None:
        wanted = name.strip().casefold()
        return next((each for each in self.terms if each.name.casefold() == wanted), None)


def glossary(graph: Graph, context: Context) -> Glossary:
    """All terms, computed once for each state of the files."""
    return graph.derived("glossary", lambda graph: _glossary(graph, context))


def _glossary(graph: Graph, context: Context) -> Glossary:
    files = _files(graph, context)
    first: dict[str, tuple[GlossaryEntry, str]] = {}
    every = [(each, path) for path, found in files for each in found.definitions]
    repeated = [each for each in every if first.setdefault(each[0].name.casefold(), each) is not each]
    if not first:
        return Glossary()
    by_name: dict[str, list[TermUse]] = {name: [] for name in first}
    undefined: list[TermUse] = []
    pattern = name_pattern(each.name for each, _ in first.values() if each.indexed)
    styles, known = context.config.elspais.terms.markup_styles, frozenset(first)
    for path, sentence in ((path, each) for path, found in files for each in found.sentences):
        for use in uses(sentence.text, known, pattern):
            made = TermUse(sentence.owner, path, sentence.line, use.written, use.marking)
            if (name := use.written.casefold()) in by_name:
                by_name[name].append(made)
            elif use.marking in styles and _may_be_term(use.written, sentence):
                undefined.append(made)
    for path, line, written, marking in _in_comments(context, [each.name for each, _ in first.values()], pattern):
        owner = f"file:{context.config.elspais.namespace}:{path}"
        by_name[written.casefold()].append(TermUse(owner, path, line, written, marking))
    terms = {name: Term(each, path, tuple(by_name[name])) for name, (each, path) in first.items()}
    ordered = tuple(sorted(terms.values(), key=lambda each: each.name.casefold()))
    doubled = tuple((each, path, terms[each.name.casefold()]) for each, path in repeated)
    return Glossary(ordered, doubled, tuple(undefined))


def _in_comments(
    context: Context, names: Sequence[str], indexed: re.Pattern[str] | None
) -> Iterator[tuple[str, int, str, str]]:
    """The uses in comments of the project's own code and tests. Docstrings are not read, as elspais does not."""
    any_name, known = name_pattern(names), frozenset(name.casefold() for name in names)
    if any_name is None:
        return
    spelled = "\n".join((*sorted(names), indexed.pattern if indexed else ""))
    state = content_hash(spelled.encode(), size=16)
    for path, file_hash in _source_files(context):
        key = f"{path} {file_hash} {state}"
        if (found := _kept_uses.get(key)) is None:
            if (found := _of_source(context, path, any_name, known, indexed)) is None:
                continue
            _kept_uses.put(key, found)
        for line, written, marking in found:
            yield path, line, written, marking


def _source_files(context: Context) -> list[tuple[str, str]]:
    """The code and tests of the project itself that were read, each with the hash of its content."""
    readers = {each.name for each in context.builder.readers if isinstance(each, MarkerReader) and not each.associate}
    states, left_out = context.builder.follower.states, context.config.elspais.terms.exclude_files
    found = {path: state.content_hash for (path, reader), state in states.items() if reader in readers}
    return sorted(each for each in found.items() if not any(fnmatch(each[0], left) for left in left_out))


def _of_source(
    context: Context, path: str, any_name: re.Pattern[str], known: frozenset[str], indexed: re.Pattern[str] | None
) -> tuple[tuple[int, str, str], ...] | None:
    """None where the file changes right now: the next state of the graph has it."""
    family = family_for(path)
    try:
        text = "" if family is None else context.builder.original(path).decode("utf-8", "replace")
    except ClewError:
        return None
    if family is None or any_name.search(text) is None:
        return ()
    return tuple(
        (line, use.written, use.marking)
        for comment in comments(text, family)
        if comment.kind != DOCSTRING
        for line, said in enumerate(comment.text.split("\n"), comment.line)
        for use in uses(said, known, indexed)
        if use.written.casefold() in known
    )


def _may_be_term(written: str, sentence: Sentence) -> bool:
    """A line that is nothing but emphasis is a heading, and a label with a colon a field."""
    return not written.endswith((":", ".", "?", "!")) and sentence.text.strip(" *_") != written


def _files(graph: Graph, context: Context) -> Sequence[tuple[str, TermsOfFile]]:
    """The files of requirements by path, where any of them defines a term."""
    if not any(_has_definition(text) for text in _texts(graph)):
        return ()
    rules, config = context.config.elspais.terms, context.config
    found: list[tuple[str, TermsOfFile]] = []
    for path in sorted(graph.memory.files()):
        is_made = path.startswith(f"{rules.output_dir.rstrip('/')}/")
        if is_made or any(fnmatch(path, each) for each in rules.exclude_files):
            continue
        if selects(context.root, config.requirements, path) and (terms := _of_file(context, path)) is not None:
            found.append((path, terms))
    return found


def _of_file(context: Context, path: str) -> TermsOfFile | None:
    try:
        data = context.builder.original(path)
    except ClewError:
        return None  # it changes right now, and the next state of the graph has it
    key = f"{path} {content_hash(data, size=16)}"
    terms = _kept.get(key)
    if terms is None:
        terms = read_terms(data, path, context.grammar)
        _kept.put(key, terms)
    return terms


def _texts(graph: Graph) -> Iterator[str]:
    for kind, field in ((NodeKind.REMAINDER, "text"), (NodeKind.REQUIREMENT, "body"), (NodeKind.USER_JOURNEY, "body")):
        for node in graph.nodes_by_kind(kind):
            yield node.get_field(field, "") or ""


def _has_definition(text: str) -> bool:
    return "\n: " in text or "\n:\t" in text
