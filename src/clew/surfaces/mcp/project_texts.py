"""Specs, changes and requirements as texts: what resources and prompts of the protocol show.

An address is `clew://spec/ID`, `clew://change/ID` or `clew://requirement/ID`, with the scheme of the profile. A text is
what the files say, whole.
"""

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote, unquote

from clew.errors import InvalidArgument, NotFound
from clew.formats.register.records import requirement_object
from clew.graph.model import NodeKind
from clew.operation.declare import Toolset
from clew.operation.toolsets import ToolListing
from clew.project import Project
from clew.text.controls import pretty_json
from clew.workspace.files import read_bytes

SPEC, CHANGE, REQUIREMENT = "spec", "change", "requirement"
_MARKDOWN, _JSON, _PLAIN = "text/markdown", "application/json", "text/plain"
_TYPES = {"md": _MARKDOWN, "req": _JSON}


class ListedResource(NamedTuple):
    """Something that has an address."""

    uri: str
    name: str
    title: str
    mime_type: str


class ResourceText(NamedTuple):
    uri: str
    text: str
    mime_type: str


class ProjectTexts:
    """The specs and requirements that a listing of tools is about."""

    def __init__(self, project: Project, listing: ToolListing) -> None:
        self._project = project
        self._scheme = listing.scheme or project.config.kb.scheme
        shown = {tool.toolset for tool in listing.callable}
        self.has_specs = Toolset.SPECS in shown
        self.has_requirements = bool(shown & {Toolset.TRACE, Toolset.REGISTER})

    def kinds(self) -> tuple[str, ...]:
        """The kinds of texts that have addresses here."""
        specs = (SPEC, CHANGE) if self.has_specs else ()
        return (*specs, *((REQUIREMENT,) if self.has_requirements else ()))

    def template(self, kind: str) -> str:
        return f"{self._scheme}://{kind}/{{+id}}"

    def known(self) -> list[ListedResource]:
        """Everything that has an address, specs and changes before requirements."""
        if not self.kinds():
            return []
        self._project.ensure_graph()
        with self._project.context.lock.reading():
            return [*self._specs(), *self._requirements()]

    def _specs(self) -> Iterator[ListedResource]:
        if not self.has_specs:
            return
        library = self._project.specs.library
        for id, spec in library.specs.items():
            yield ListedResource(self._uri(SPEC, id), id, spec.outline.title or id, _MARKDOWN)
        for id in library.changes:
            yield ListedResource(self._uri(CHANGE, id), id, f"Open change {id}", _MARKDOWN)

    def _requirements(self) -> Iterator[ListedResource]:
        if not self.has_requirements:
            return
        nodes = self._project.graph.nodes_by_kind(NodeKind.REQUIREMENT)
        for node in sorted(nodes, key=lambda node: node.id):
            path = node.source.path if node.source is not None else ""
            yield ListedResource(self._uri(REQUIREMENT, node.id), node.id, node.title, _type_of(path))

    def read(self, uri: str) -> ResourceText:
        """The text at an address, from the files; raises NotFound if there is none."""
        scheme, _, rest = uri.partition("://")
        kind, _, written = rest.partition("/")
        if scheme != self._scheme or kind not in self.kinds() or not written:
            addresses = ", ".join(map(self.template, self.kinds()))
            raise InvalidArgument(
                f"'{uri[:120]}' is not an address.", hint=f"Addresses are: {addresses}.", data={"reason": "invalid_uri"}
            )
        return self.text(kind, unquote(written))

    def text(self, kind: str, id: str) -> ResourceText:
        self._project.ensure_graph()
        with self._project.context.lock.reading():
            if kind == SPEC:
                return ResourceText(
                    self._uri(SPEC, id), self._file(self._project.specs.library.spec(id).path), _MARKDOWN
                )
            return self._change(id) if kind == CHANGE else self._requirement(id)

    def _change(self, id: str) -> ResourceText:
        """The files of an open change, one below the other."""
        entry = self._project.specs.library.change(id)
        own = [f"{entry.folder}/{name}.md" for name in ("proposal", "design", "tasks")]
        paths = [path for path in (*own[:2], *entry.delta_paths.values(), own[2]) if self._is_there(path)]
        parts = (f"<!-- {path} -->\n\n{self._file(path).strip()}\n" for path in paths)
        return ResourceText(self._uri(CHANGE, id), "\n".join(parts), _MARKDOWN)

    def _requirement(self, id: str) -> ResourceText:
        node = self._project.graph.get_node(id) or self._project.graph.get_node(id.strip().upper())
        if node is None or node.kind is not NodeKind.REQUIREMENT or node.source is None:
            raise NotFound(f"There is no requirement '{id[:120]}'.", hint="resources/list shows all of them.")
        if _type_of(node.source.path) == _JSON:
            whole = pretty_json(requirement_object(self._project.register.show(node.id)))
            return ResourceText(self._uri(REQUIREMENT, node.id), f"{whole}\n", _JSON)
        lines = self._file(node.source.path).splitlines()
        shown = lines[node.source.line - 1 : node.source.end_line]
        return ResourceText(self._uri(REQUIREMENT, node.id), "\n".join(shown) + "\n", _type_of(node.source.path))

    def _is_there(self, path: str) -> bool:
        return (self._project.config.root / path).is_file()

    def _file(self, path: str) -> str:
        config = self._project.config
        return read_bytes(config.root, path, limit=config.max_file_bytes).decode("utf-8", "replace")

    def _uri(self, kind: str, id: str) -> str:
        return f"{self._scheme}://{kind}/{quote(id, safe='/')}"


def _type_of(path: str) -> str:
    return _TYPES.get(path.rpartition(".")[2], _PLAIN)
