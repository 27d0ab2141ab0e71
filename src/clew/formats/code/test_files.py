"""The rule for files of tests, one for every answer: from the project's own configuration and the names that tools
know."""

import configparser
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable

CONFIGS = ("pyproject.toml", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg")
"""Files of the project's folder that may name folders of tests."""

_FOLDER = re.compile(
    r"(?:^|/)(?:tests?|__tests__|__mocks__|e2e|src/(?:test|integrationTest|androidTest))/"
    r"|(?:^|/)specs?/.*\.(?:rb|cr|lua|php|coffee|[cm]?[jt]sx?)$"
)
"""In other languages a folder called `specs` holds specifications, or the code for them."""
_OWN = re.compile(r"^(?:t|xt)/")
"""Folders of tests at the top of a project only."""
_NAME = re.compile(
    r"(?:^|/)(?:test_[^/]*\.pyi?|[^/]*_test\.(?:py|go|exs|rb|c|cc|cpp|dart)|conftest\.py"
    r"|[^/]*[._-](?:test|spec|tests)\.\w+|[^/]*_spec\.rb"
    r"|[^/]*(?:Test|Tests|TestCase|Spec|IT)\.(?:java|kt|scala|groovy|cs|php|swift)|[^/]*\.t)$"
)


class TestFiles:
    """The rule with the folders that the configuration of a project names."""

    __test__ = False

    def __init__(self, folders: Iterable[str] = ()) -> None:
        cleaned = (posixpath.normpath(folder.strip()) for folder in folders if folder.strip())
        self.folders = tuple(f"{folder}/" for folder in cleaned if folder not in (".", "/") and ".." not in folder)

    def holds(self, path: str) -> bool:
        """True if a file is one of tests."""
        if path.startswith(self.folders) or _NAME.search(path) is not None:
            return True
        return _FOLDER.search(path) is not None or _OWN.match(path) is not None


def configured(read: Callable[[str], str | None]) -> TestFiles:
    """The rule of a project. `read` gives the text of a file in its folder, None where there is none."""
    found: list[str] = []
    for name in CONFIGS:
        text = read(name)
        if text is not None:
            found += _of_toml(text) if name.endswith(".toml") else _of_ini(text, name)
    return TestFiles(dict.fromkeys(found))


def _of_toml(text: str) -> list[str]:
    try:
        options = tomllib.loads(text).get("tool", {}).get("pytest", {}).get("ini_options", {})
        paths = options.get("testpaths", ())
    except (tomllib.TOMLDecodeError, AttributeError, RecursionError):
        return []
    if isinstance(paths, str):
        return paths.split()
    return [path for path in paths if isinstance(path, str)] if isinstance(paths, list) else []


def _of_ini(text: str, name: str) -> list[str]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
        section = "tool:pytest" if name == "setup.cfg" else "pytest"
        return parser.get(section, "testpaths", fallback="").split()
    except configparser.Error:
        return []
