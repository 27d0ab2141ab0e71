"""Targets of names in the imports of scripts: by the nearest `tsconfig.json` or `jsconfig.json`, by the `package.json`
of the file's own package, and by the names of the project's packages."""

# Implements: REQ-d00363

import posixpath
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property

from clew.formats.code.script_config import CONFIGS, PACKAGE, ScriptConfig, read_config, read_package

_DEEPEST = 32
"""Configurations that inherit from each other."""


class Aliases:
    """Of one state of the files; `configs` are the paths of the files that say something about names."""

    def __init__(self, configs: Iterable[str], read: Callable[[str], bytes | None]) -> None:
        self._configs = frozenset(configs)
        self._read = read
        self._completed: dict[str, ScriptConfig] = {}
        self.nearest = cache(self._nearest)

    def names_of(self, path: str) -> Iterator[str]:
        """Every name under which some file may import a path."""
        configs = {self._complete(each) for each in self._configs if posixpath.basename(each) in CONFIGS}
        for config in (*configs, self._packages[""], *self._packages.values()):
            yield from config.names_of(path)

    def leads_to(self, name: str, importing: str) -> Iterator[str]:
        """The paths that a name may mean in a file, and last the path from the project's root."""
        for config in self._known_to(importing):
            yield from config.leads_to(name)
        yield posixpath.normpath(name)

    def knows(self, name: str, importing: str) -> bool:
        """True if a settings file has a target for a name, whether or not the target exists."""
        return any(config.knows(name) for config in self._known_to(importing))

    def _known_to(self, importing: str) -> Iterator[ScriptConfig]:
        folder = posixpath.dirname(importing)
        yield self.nearest(folder)
        while folder and posixpath.join(folder, PACKAGE) not in self._configs:
            folder = posixpath.dirname(folder)
        yield self._packages.get(f"{folder}/", ScriptConfig())
        yield self._packages[""]

    @cached_property
    def _packages(self) -> dict[str, ScriptConfig]:
        """Names known in a package, by its folder with a slash; under the empty text the names known in all files."""
        found: dict[str, ScriptConfig] = {}
        outside: dict[str, tuple[str, ...]] = {}
        for path in sorted(self._configs):
            data = self._read(path) if posixpath.basename(path) == PACKAGE else None
            if data is not None:
                of_all, of_own = read_package(data, path)
                outside |= of_all.paths
                found[f"{posixpath.dirname(path)}/"] = of_own
        return {**found, "": ScriptConfig(paths=tuple(outside.items()))}

    def _nearest(self, folder: str) -> ScriptConfig:
        while True:
            for name in CONFIGS:
                path = posixpath.join(folder, name)
                if path in self._configs:
                    return self._complete(path)
            if not folder:
                return ScriptConfig()
            folder = posixpath.dirname(folder)

    def _complete(self, path: str, depth: int = 0) -> ScriptConfig:
        """With what it inherits, or what those say that it only names, as new projects of Vite have it."""
        if path not in self._completed:
            # One that leads back to itself says nothing there. Each is read once, however many name it.
            self._completed[path] = ScriptConfig()
            self._completed[path] = self._with_others(path, depth)
        return self._completed[path]

    def _with_others(self, path: str, depth: int) -> ScriptConfig:
        data = self._read(path)
        own = read_config(data, path) if data is not None else ScriptConfig()
        base, paths = own.base, own.paths
        for other in (*own.extends, *(() if paths else own.references)):
            if depth < _DEEPEST and (base is None or not paths):
                above = self._complete(self._file(other), depth + 1)
                base = above.base if base is None else base
                paths = paths or above.paths
        return ScriptConfig(base, paths)

    def _file(self, named: str) -> str:
        if named.endswith(".json"):
            return named
        folder = posixpath.join(named, CONFIGS[0])
        return folder if folder in self._configs else f"{named}.json"
