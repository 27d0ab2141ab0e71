"""The file for a new requirement."""

from clew.errors import InvalidArgument
from clew.graph.model import Node, NodeKind
from clew.trace.edit.text.draft import DraftContext
from clew.workspace.file_argument import folder_refused
from clew.workspace.files import path_inside, resolve
from clew.workspace.find import selects
from clew.workspace.paths import is_glob

NEW_FILE = "requirements.md"


class FileChoice:
    def __init__(self, context: DraftContext) -> None:
        self._root = context.root
        self._context = context
        self._selection = context.selection

    def choose(self, wanted: str | None, parent: Node | None, level: str) -> str:
        """The file asked for; else that of the parent; else the last one with a requirement of the level, or with any
        requirement; else a new one in the first folder of requirements."""
        if wanted is not None:
            return self.checked(wanted)
        beside = self._path_of(parent) if parent is not None else None
        if beside is not None:
            return beside
        found = self._last_of(level)
        if found is not None:
            return found
        folder = next((folder for folder in self._selection.folders if not is_glob(folder)), "spec")
        return self.checked(NEW_FILE if folder == "." else f"{folder}/{NEW_FILE}")

    def _last_of(self, level: str) -> str | None:
        """The file of the last requirement of a level, or else of any."""
        graph = self._context.graph
        other: str | None = None
        for id in sorted((node.id for node in graph.nodes_by_kind(NodeKind.REQUIREMENT)), reverse=True):
            node = graph.get_node(id)
            is_wanted = node is not None and node.fields.get("level") == level
            path = self._path_of(node) if node is not None and (is_wanted or other is None) else None
            if is_wanted and path is not None:
                return path
            other = other or path
        return other

    def _path_of(self, node: Node) -> str | None:
        """The file of a node, where it is one that requirements can be written to."""
        place = self._context.linker.place_of(node.id)
        return place[0] if place is not None and place[1] == self._context.reader.name else None

    def checked(self, path: str) -> str:
        """A path below the project that a reader of requirements would read."""
        resolve(self._root, path)
        spelled = path.replace("\\", "/").removeprefix("./")
        if ".." in spelled.split("/") or not selects(self._root, self._selection, spelled):
            folders, patterns = ", ".join(self._selection.folders), ", ".join(self._selection.patterns)
            raise InvalidArgument(
                f"'{path}' would not be read as a file of requirements.",
                hint=f"Pass a path in one of the folders {folders} whose name fits {patterns}.",
            )
        return spelled

    def inside(self, file: str) -> str:
        """The one spelling of a file of requirements, which may be new."""
        wanted = file.strip()
        path = path_inside(self._root, wanted)
        if resolve(self._root, wanted).is_dir():
            raise folder_refused(file, "Name a file, such as spec/moved.md.")
        if not selects(self._root, self._selection, path):
            raise InvalidArgument(
                f"'{path}' is not read as requirements, so the requirement would vanish from the graph.",
                hint=f"Folders are {', '.join(self._selection.folders)}; names are "
                f"{', '.join(self._selection.patterns)}.",
            )
        return path
