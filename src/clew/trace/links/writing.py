"""Writing a link into a file of the project, or refusing to before anything is touched."""

import msgspec

from clew.config import Config
from clew.edit.edits import FileEdit, check_writable
from clew.edit.transaction import Purpose, Transaction
from clew.errors import Conflict, InvalidArgument, NotFound, Refused
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.graph.graph import Graph
from clew.graph.model import Node
from clew.store.interface import Store
from clew.text.hashing import content_hash
from clew.text.shortening import shortened
from clew.trace.links.comment import LinkComment, Linked, Target
from clew.trace.links.match.sources import KnownFile, ProjectSources
from clew.trace.read.resolve import Resolver
from clew.workspace.files import path_inside, read_bytes, resolve

IMPLEMENTS, VERIFIES = "Implements", "Verifies"
KEYWORDS_OF_TESTS = (VERIFIES, "Validates", "Tests", IMPLEMENTS)
"""The words of a test's comment that are read as a link; another one in the configuration would bind nothing."""


class PlannedLink(msgspec.Struct, frozen=True):
    """A link that may be written: everything about it was looked at."""

    edit: FileEdit
    placed: Linked
    requirement: Node
    written: str
    """The reference as the comment spells it."""

    @property
    def version(self) -> str:
        """Of the file with the link."""
        return content_hash(self.placed.content)


class LinkWriter:
    def __init__(
        self, graph: Graph, config: Config, grammar: IdGrammar, sources: ProjectSources, store: Store | None
    ) -> None:
        self._config = config
        self._grammar = grammar
        self._sources = sources
        self._store = store
        self._resolver = Resolver(graph, grammar)

    def plan(self, path: str, line: int, requirement_id: str, *, if_version: str | None = None) -> PlannedLink:
        """Where and how the link would be written. Reads the graph and the file, writes nothing."""
        requirement, target = self.target(requirement_id)
        file = self._file(path)
        data = read_bytes(self._config.root, file.path, limit=self._config.max_file_bytes)
        if if_version is not None and if_version != content_hash(data):
            raise Conflict(
                f"'{file.path}' changed since it was read.",
                hint="Call suggest_links again: lines may have moved.",
                data={"provided_version": if_version, "current_version": content_hash(data)},
            )
        comment = LinkComment(data, file.path, self._grammar, lambda content: self._sources.records(file, content))
        placed = comment.place(line, self._keyword(file), target)
        edit = FileEdit(file.path, data, placed.content)
        check_writable(self._config.root, (edit,))
        return PlannedLink(edit, placed, requirement, comment.spelled(target))

    def write(self, link: PlannedLink, *, actor: str) -> None:
        """Replace the file by itself with the link, unless it changed since the plan was made."""
        if not link.placed.already_there:
            purpose = Purpose("apply_link", actor, {"requirement_id": link.requirement.id})
            Transaction(self._config.root, (link.edit,), purpose).commit(self._store)

    def target(self, requirement_id: str) -> tuple[Node, Target]:
        """The requirement that an id means and the assertions it names, which must all exist."""
        reference = self._grammar.parse_reference(requirement_id.strip())
        if reference is None:
            # An id of another grammar, such as that of a spec, names at most one assertion, and is spelled one way.
            node = self._resolver.find(requirement_id.strip())
            requirement = self._resolver.requirement(requirement_id.strip())
            return requirement, (requirement.id, () if node is requirement or node is None else (node.fields["label"],))
        requirement = self._resolver.requirement(reference.target)
        labels: tuple[str, ...] = requirement.get_field("labels", ())
        for label in reference.labels:
            if label not in labels:
                raise NotFound(
                    f"Requirement '{requirement.id}' has no assertion '{shortened(label)}'.",
                    hint=f"Its assertions are {', '.join(labels)}." if labels else "It has no assertions.",
                )
        return requirement, (requirement.id, reference.labels)

    def _file(self, path: str) -> KnownFile:
        real = resolve(self._config.root, path)
        if not real.exists():
            raise NotFound(f"There is no file '{path}'.", hint="Pass a path relative to the project's folder.")
        if not real.is_file():
            raise InvalidArgument(f"'{path}' is not a file.", hint="Pass the path of a file of tests or code.")
        known = self._sources.files().get(path_inside(self._config.root, path))
        if known is None:
            raise Refused(
                f"'{path}' is no file of tests or code, so a link in it would not be read.", hint=self._sources.where()
            )
        return known

    def _keyword(self, file: KnownFile) -> str:
        if not file.is_test:
            return IMPLEMENTS
        wanted = self._config.elspais.test_keyword.casefold()
        return next((word for word in KEYWORDS_OF_TESTS if word.casefold() == wanted), VERIFIES)
