"""Configuration: `clew.toml`, the user's own file, and the files of the systems that Clew replaces where they exist.

`.elspais.toml` (with `.elspais.local.toml`) gives the grammar of ids, levels and folders; `clew.toml` wins where both
say something. Documents, code and tests are read in the whole project, as far as neither file names their folders.
Which services, programs and keys are used is said by the user's own configuration, or by a project that the user
trusts.
"""

# Implements: REQ-d00019

import os
import threading
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from clew.errors import ConfigError, FormatError
from clew.formats.elspais.settings import Associate, ElspaisSettings, read_settings
from clew.formats.elspais.toml_values import parse_toml
from clew.text.choices import explained
from clew.text.database_address import Address
from clew.trust import ConfigurationTrust, records_file, trust_of, user_configuration, without
from clew.workspace.find import PRODUCTS, Selection, normal_folder
from clew.workspace.follow import FileContents
from clew.workspace.holding import RequirementFormat, formats_in
from clew.workspace.paths import is_glob
from clew.workspace.regular import SETTINGS_BYTES, contents
from clew.workspace.root import marked_above

CLEW_TOML = "clew.toml"
ELSPAIS_TOML = ".elspais.toml"
ELSPAIS_LOCAL_TOML = ".elspais.local.toml"

STORE_VARIABLE = "CLEW_STORE"
LOCAL_STORE = "local"

DEFAULT_MAX_FILE_BYTES = 16 * 1024 * 1024

_CODE_ENDINGS = """
    py pyi pyx js ts jsx tsx mjs cjs mts cts java groovy gradle kt kts scala c cc cpp cxx h hh hpp hxx m mm cs fs vb go
    rs rb rake sh bash zsh ps1 bat cmd sql lua dart swift php pl r jl ex exs erl hs elm ml clj lisp el scm nim cr d zig
    pas adb ads f90 f95 asm s v sv vhd vhdl sol proto graphql vue svelte astro html htm erb ejs hbs twig liquid cshtml
    css scss sass less tf tfvars hcl nix cmake mk j2 jinja2 yml yaml
"""
_CODE_NAMES = ("Dockerfile", "Makefile", "CMakeLists.txt", "Jenkinsfile")
CODE_PATTERNS = (*(f"*.{ending}" for ending in _CODE_ENDINGS.split()), *_CODE_NAMES)
_TEST_NAMES = """
    test_*.py *_test.py *_test.go *.test.js *.test.ts *.test.jsx *.test.tsx *.test.mjs *.test.cjs *.test.mts *.spec.js
    *.spec.ts *.spec.jsx *.spec.tsx *.spec.mjs *_test.dart *_test.rs *_tests.rs **/tests/*.rs *_spec.rb *_test.rb
    test_*.rb *Test.java *Tests.java *IT.java *Test.kt *Tests.kt *Spec.kt *Test.scala *Spec.scala *Spec.groovy *Test.cs
    *Tests.cs *Test.php *Tests.swift *_test.c *_test.cc *_test.cpp *_test.exs *_spec.lua *_test.lua test-*.R test_*.R
    *_test.zig *.bats *Tests.ps1 **/__tests__/**/*.js **/__tests__/**/*.jsx **/__tests__/**/*.ts **/__tests__/**/*.tsx
"""
TEST_PATTERNS = tuple(_TEST_NAMES.split())
_INTERFACES = (
    *(f"*{name}*.{ending}" for name in ("openapi", "swagger") for ending in ("yaml", "yml", "json")),
    *("*.graphql", "*.graphqls"),
    *(f"**/{folder}/*.[1-8]" for folder in ("man", "man[1-8]")),
)
"""Descriptions of interfaces: OpenAPI, schemas of GraphQL, and pages of the manual."""
DOCUMENT_PATTERNS = (
    *("*.md", "*.markdown", "*.mdx", "*.rst", "*.html", "*.htm", "*.txt", "*.ipynb"),
    *_INTERFACES,
)
_DOCUMENTS_ANYWHERE = (
    *("*.md", "*.markdown", "*.mdx", "*.rst", "*.ipynb"),
    *_INTERFACES,
    *(f"**/{folder}/**/*.{ending}" for folder in ("docs", "doc") for ending in ("html", "htm", "txt")),
)
"""Documents of a whole project. Pages and plain texts elsewhere than in a folder of documents are mostly something
else."""
_NO_DOCUMENTS = (
    "/spec",
    "openspec",
    "/specs/**/spec.md",
    "/test",
    "/tests",
    "__tests__",
    "__fixtures__",
    "fixtures",
    "testdata",
)
"""Folders of specs, and of texts made up for tests. They do not depend on the other configuration: a file that names
folders of requirements takes no document away."""
_TESTS_ONLY = ("/test", "/tests", "__tests__")
"""Folders in which nothing is code that only tests use."""
WHOLE_PROJECT = (".",)

_USUAL = ElspaisSettings()
_NAMES_A_SERVICE = frozenset({"kind", "folder", "url", "command", "model", "key_variable"})

ToolsetName = Literal[
    "default", "all", "core", "trace", "register", "specs", "kb", "graph", "memory", "cognition", "added"
]
NameStyleName = Literal["portable", "dotted"]
EnvironmentName = Literal["dev", "prod", "scratch"]
_Toml = TypeVar("_Toml", bound="_Table")


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of clew.toml."""


class ProjectTable(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str | None = None
    id: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    """The project's name in a team's store; without it, the first commit identifies the repository."""


class RequirementsTable(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    folders: tuple[str, ...] | None = None
    patterns: tuple[str, ...] | None = None
    skip: tuple[str, ...] | None = None
    namespace: str | None = None


class FoldersTable(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    folders: tuple[str, ...] | None = None
    patterns: tuple[str, ...] | None = None
    skip: tuple[str, ...] | None = None


class CodeTable(FoldersTable, frozen=True, kw_only=True, forbid_unknown_fields=True):
    scip: tuple[str, ...] = ()
    """Index files in the SCIP format, besides `index.scip` at the top."""


class TestsTable(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    folders: tuple[str, ...] | None = None
    patterns: tuple[str, ...] | None = None
    skip: tuple[str, ...] | None = None
    results: tuple[str, ...] | None = None


class ServerTable(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    toolsets: tuple[ToolsetName, ...] | None = None
    names: NameStyleName = "portable"
    read_only: bool = False


class GraphTable(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    auto_refresh: bool = True


class ReviewsTable(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    file: str = "clew.reviews"


class LimitsTable(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    max_file_bytes: Annotated[int, msgspec.Meta(gt=0)] = DEFAULT_MAX_FILE_BYTES


class SearchTable(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    background: bool = True
    engine: Literal["files", "database"] = "files"
    """The place of the index: files of this machine, or the team's database, where there is one."""
    patience_seconds: Annotated[float, msgspec.Meta(ge=0)] | None = None
    """Longest wait of an answer for changed documents and for the embedding of its query; by default 1 s and 2 s."""


class MemoryTable(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    keep: Literal["usual", "forever"] = "usual"
    """Expired memories are removed as usual (episodes after 90 days, forgotten ones after 30), or never."""


class KbTable(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The documents that may be searched. In a loaded configuration `project_id` and `repository` are always given."""

    project_id: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    environment: EnvironmentName | None = None
    repository: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    doc_tags: tuple[Annotated[str, msgspec.Meta(min_length=1)], ...] = ()
    tag_folder: Annotated[int, msgspec.Meta(ge=1)] | None = None
    scheme: Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9+.-]{0,31}$")] = "clew"
    graph: bool = True
    timeout_seconds: Annotated[float, msgspec.Meta(gt=0)] = 5.0
    calls_per_minute: Annotated[int, msgspec.Meta(ge=0)] = 60
    burst: Annotated[int, msgspec.Meta(ge=1)] = 10
    scratch_minutes: Annotated[float, msgspec.Meta(gt=0)] = 30.0
    scratch_mb: Annotated[int, msgspec.Meta(ge=1)] = 256
    session_scratch_mb: Annotated[int, msgspec.Meta(ge=1)] = 64


class EmbedSettings(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The embedder of texts."""

    kind: Literal["minilm", "folder", "endpoint", "none"] = "minilm"
    """The encoder that comes with Clew, a model in a local folder, an OpenAI-compatible service, or no vectors."""
    threads: int | None = None
    """The number of texts that are embedded at once; by default one for each processor, four at most."""

    folder: str | None = None
    """Holds tokenizer.json beside model.onnx or onnx/model.onnx."""
    sha256: str | None = None
    """Of the model file in the folder; another file is then refused."""

    url: str | None = None
    """Of the service, up to and with its version: /embeddings is added."""
    model: str | None = None
    dimensions: int | None = None
    """Asked for and expected from the service; without it, what the service gives."""
    key_variable: str | None = None
    """The environment variable that holds the service's key."""
    timeout_seconds: float = 30.0
    """For each request."""
    attempts: int = 3
    """The number of attempts for one request."""
    pause_seconds: float = 0.5
    """Before the second attempt, doubled for each further one."""
    texts_per_request: int = 64

    max_tokens: int | None = None
    """By default what the model's own files say; 512 for a service."""


class PushTable(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The sentences that hooks push to an agent around an edit, each kind with its switch."""

    requirements: bool = True
    memories: bool = True
    tests: bool = True
    history: bool = True
    """Words of commits; they need the grant `history` besides."""
    after: bool = True
    """After an edit: what became suspect, and the tests to run."""
    end: bool = True
    """At the end of a turn: obligations for which no test was run."""


class AiSettings(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The language model. Variables of the environment win over it."""

    command: str | None = None
    """A program with its arguments: it reads the question from standard input and prints the answer."""
    url: str | None = None
    """Or a service that speaks OpenAI's chat interface."""
    model: str | None = None
    key_variable: str | None = None
    """The environment variable that holds the service's key."""
    timeout_seconds: float | None = None


class RegisterTable(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    compat: Literal["safe", "strict"] = "safe"
    """`strict`: the tools of the register take what those of req take, over MCP."""
    logs: tuple[str, ...] = ()
    """Folders outside of the project whose test logs agents may name."""


class UserRegisterTable(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    logs: tuple[str, ...] = ()


class UserKbTable(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    timeout_seconds: Annotated[float, msgspec.Meta(gt=0)] | None = None


class UserToml(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The user's own configuration, for all projects."""

    store: str | None = None
    """The address of a team's PostgreSQL database, or `local`."""
    kb: UserKbTable = UserKbTable()
    push: PushTable = PushTable()
    search: SearchTable = SearchTable()
    embedder: EmbedSettings = EmbedSettings()
    ai: AiSettings = AiSettings()
    register: UserRegisterTable = UserRegisterTable()


class ClewToml(_Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    store: str | None = None
    """The address of a team's PostgreSQL database, or `local`."""
    project: ProjectTable = ProjectTable()
    requirements: RequirementsTable = RequirementsTable()
    code: CodeTable = CodeTable()
    tests: TestsTable = TestsTable()
    specs: FoldersTable = FoldersTable()
    docs: FoldersTable = FoldersTable()
    kb: KbTable = KbTable()
    register: RegisterTable = RegisterTable()
    memory: MemoryTable = MemoryTable()
    push: PushTable = PushTable()
    server: ServerTable = ServerTable()
    graph: GraphTable = GraphTable()
    search: SearchTable = SearchTable()
    embedder: EmbedSettings = EmbedSettings()
    ai: AiSettings = AiSettings()
    reviews: ReviewsTable = ReviewsTable()
    limits: LimitsTable = LimitsTable()


class Config(msgspec.Struct, frozen=True):
    root: Path
    files: tuple[str, ...]
    """Configuration files that were read, the leading one first."""
    name: str
    store: Address | None
    """A team's database; None where what is authored stays on this machine."""
    project_id: str | None
    """The project's name there, if configured."""
    elspais: ElspaisSettings
    requirements: Selection
    code: Selection
    tests: Selection
    results: tuple[str, ...]
    indexes: tuple[str, ...]
    """Index files of source code that other programs wrote."""
    specs: tuple[str, ...]
    documents: Selection
    kb: KbTable
    register: RegisterTable
    memory: MemoryTable
    push: PushTable
    server: ServerTable
    auto_refresh: bool
    search: SearchTable
    embedder: EmbedSettings
    ai: AiSettings
    trust: ConfigurationTrust
    """The user's trust in the project, and the keys that do not count without it."""
    reviews: str
    """The file of reviewed links, relative to the project."""
    max_file_bytes: int
    notes: tuple[str, ...]
    """Notes on problems of the configuration."""


def find_root(folder: Path) -> Path:
    """The project at or above a folder; the folder itself where there is none. `clew.workspace.root` says what makes a
    project."""
    start = os.path.realpath(folder)
    if not os.path.isdir(start):  # noqa: PTH112 - whenever a project is opened
        raise ConfigError(f"'{folder}' is not a folder.", hint="Pass the folder of a project.")
    return Path(marked_above(start) or start)


def load(folder: Path) -> Config:
    """The configuration of the project at or above a folder."""
    return _load(find_root(folder))


def formats_of(config: Config) -> frozenset[RequirementFormat]:
    """The formats of requirements that a project holds, by the names in its folder."""
    return formats_in(config.root, config.requirements.folders)


class LiveConfig:
    """A configuration whose keys that need trust are read again at each use: a server that runs for days must not go on
    with a grant that the user took back. All other keys stay as they were when the project was opened."""

    # Implements: REQ-d00261-F

    def __init__(self, config: Config) -> None:
        self._config = config
        self._file = config.root / CLEW_TOML
        self._lock = threading.Lock()
        self._contents = FileContents(config.max_file_bytes)
        self._seen: tuple[bytes | None, ...] = ()

    def now(self) -> Config:
        """ConfigError where a file of it cannot be read any more."""
        with self._lock:
            seen = tuple(map(self._content, (self._file, user_configuration(), records_file())))
            if seen != self._seen:
                fresh = _load(self._config.root)
                self._config = msgspec.structs.replace(
                    self._config,
                    trust=fresh.trust,
                    ai=fresh.ai,
                    embedder=fresh.embedder,
                    register=fresh.register,
                    notes=fresh.notes,
                )
                # What changed since it was seen is seen at the next call.
                self._seen = seen
            return self._config

    def embedder(self) -> EmbedSettings:
        """The present embedder; the kind `none` if the configuration cannot be read, because its service may not be
        trusted any more."""
        try:
            return self.now().embedder
        except ConfigError:
            return EmbedSettings(kind="none")

    def _content(self, file: Path) -> bytes | None:
        try:
            return self._contents.read(file)
        except (OSError, FormatError):
            return None


def _load(root: Path) -> Config:
    files: list[str] = []
    said = _clew_toml(root, files)
    trust = trust_of(root, said)
    toml = _table(_with_user(said, _user_toml(), trust), ClewToml, CLEW_TOML)
    elspais, elspais_notes = _elspais(root, files)
    return _composed(root, toml, trust, elspais, tuple(files), elspais_notes)


def load_defaults(folder: Path) -> Config:
    """The configuration of a project without any file, for commands that must run although a file cannot be read."""
    root = find_root(folder)
    return _composed(root, ClewToml(), trust_of(root, {}), ElspaisSettings(), (), ())


def _composed(
    root: Path,
    toml: ClewToml,
    trust: ConfigurationTrust,
    elspais: ElspaisSettings,
    files: tuple[str, ...],
    elspais_notes: tuple[str, ...],
) -> Config:
    if toml.requirements.namespace is not None:
        elspais = msgspec.structs.replace(elspais, namespace=toml.requirements.namespace)
    name = toml.project.name or elspais.project_name or root.name
    return Config(
        root=root,
        files=files,
        name=name,
        store=_store(toml.store),
        project_id=toml.project.id,
        elspais=elspais,
        requirements=_requirements(root, toml.requirements, elspais),
        code=_code(root, toml.code, elspais, named=ELSPAIS_TOML in files),
        tests=_tests(root, toml.tests, elspais, named=ELSPAIS_TOML in files),
        results=_results(_first(toml.tests.results, _results_of(elspais))),
        indexes=toml.code.scip,
        specs=_folders(root, toml.specs.folders or ()),
        documents=_documents(root, toml.docs),
        kb=_kb(toml.kb, name),
        register=_register(toml.register),
        memory=toml.memory,
        push=toml.push,
        server=toml.server,
        auto_refresh=toml.graph.auto_refresh,
        search=toml.search,
        embedder=_embedder(root, toml.embedder),
        ai=toml.ai,
        trust=trust,
        reviews=_reviews(root, toml.reviews.file),
        max_file_bytes=toml.limits.max_file_bytes,
        notes=(*((trust.note,) if trust.note else ()), *_not_obeyed(toml), *elspais_notes),
    )


def _register(table: RegisterTable) -> RegisterTable:
    folders = tuple(Path(folder).expanduser() for folder in table.logs)
    for folder in folders:
        if not folder.is_absolute():
            raise ConfigError(
                f"`register.logs` names '{folder}', which is not an absolute path.",
                hint="Write it from the root, or from ~.",
            )
    return msgspec.structs.replace(table, logs=tuple(map(str, folders)))


def _clew_toml(root: Path, files: list[str]) -> dict[str, Any]:
    """The content of clew.toml, checked as a whole: a key that does not count must be valid too."""
    path = root / CLEW_TOML
    if not path.exists():
        return {}
    files.append(CLEW_TOML)
    said = _read_toml(path, CLEW_TOML)
    _table(said, ClewToml, CLEW_TOML)
    return said


def _user_toml() -> dict[str, Any]:
    path = user_configuration()
    if not os.path.lexists(path):  # not there, or in a folder that this user may not enter
        return {}
    said = _read_toml(path, str(path))
    _table(said, UserToml, str(path))
    if isinstance(folder := said.get("embedder", {}).get("folder"), str):
        said["embedder"]["folder"] = str(path.parent / Path(folder).expanduser())
    return said


def _with_user(said: dict[str, Any], of_user: dict[str, Any], trust: ConfigurationTrust) -> dict[str, Any]:
    """A project's configuration on top of the user's. A table in which a trusted project names a service or a program
    counts alone: the user's key is for the user's service."""
    allowed = without(said, trust.ignored)
    named = [key.split(".") for key in trust.asked] if trust.is_trusted else []
    own = {table for table, *key in named if key and key[0] in _NAMES_A_SERVICE}
    for name, table in of_user.items():
        if not isinstance(table, dict):
            allowed.setdefault(name, table)
        elif name == "push":
            # What either of them switches off is off.
            off = {key: False for key, value in table.items() if value is False}
            allowed[name] = {**table, **allowed.get(name, {}), **off}
        elif name not in own:
            allowed[name] = {**table, **allowed.get(name, {})}
    return allowed


def _store(said: str | None) -> Address | None:
    """The address of the team's store. The environment wins, because it is the user's."""
    given = os.environ.get(STORE_VARIABLE) or said
    return Address(given) if given and given != LOCAL_STORE else None


def _read_toml(path: Path, shown: str) -> dict[str, Any]:
    try:
        return parse_toml(contents(path, SETTINGS_BYTES), shown)
    except OSError as error:
        raise _unreadable(shown, error) from error


def _unreadable(shown: str, error: OSError) -> ConfigError:
    return ConfigError(
        f"{shown} cannot be read: {error.strerror or error}.", hint="It has to be a file that this user may read."
    )


def _table(said: dict[str, Any], type: type[_Toml], shown: str) -> _Toml:
    try:
        return msgspec.convert(said, type)
    except msgspec.ValidationError as error:
        raise ConfigError(
            f"{shown}: {explained(error, type, said)}.",
            hint="docs/configuration.md lists every table, every key and its values.",
        ) from error


def _not_obeyed(toml: ClewToml) -> tuple[str, ...]:
    given = (("patterns", toml.specs.patterns), ("skip", toml.specs.skip))
    return tuple(
        f"{CLEW_TOML}: `specs.{key}` has no effect: a tree of specs is read as a whole. Remove it."
        for key, value in given
        if value is not None
    )


def _elspais(root: Path, files: list[str]) -> tuple[ElspaisSettings, tuple[str, ...]]:
    path = root / ELSPAIS_TOML
    if not path.exists():
        return ElspaisSettings(), ()
    files.append(ELSPAIS_TOML)
    local = root / ELSPAIS_LOCAL_TOML
    if local.exists():
        files.append(ELSPAIS_LOCAL_TOML)
    try:
        own = contents(path, SETTINGS_BYTES)
    except OSError as error:
        raise _unreadable(ELSPAIS_TOML, error) from error
    try:
        overriding = contents(local, SETTINGS_BYTES) if local.exists() else None
    except OSError as error:
        raise _unreadable(ELSPAIS_LOCAL_TOML, error) from error
    settings, diagnostics = read_settings(own, overriding)
    associates = tuple(_associate(root, each) for each in settings.associates)
    notes = [f"{ELSPAIS_TOML}: {item.message}" for item in diagnostics]
    notes += [
        f"{ELSPAIS_TOML}: the associate {each.name} is not read: {each.problem}." for each in associates if each.problem
    ]
    return msgspec.structs.replace(settings, associates=associates), tuple(notes)


def _associate(root: Path, associate: Associate) -> Associate:
    """An associate with its own settings. Only what lies in the project's folder is read."""
    place = (root / associate.path).resolve()
    if not associate.path:
        problem = f"no path is given for it; {ELSPAIS_LOCAL_TOML} may give one"
    elif not place.is_dir():
        problem = f"'{associate.path}' is not a folder"
    elif root not in place.parents:
        problem = f"'{associate.path}' lies outside of the project, where Clew reads nothing"
    elif not (place / ELSPAIS_TOML).is_file():
        problem = f"'{associate.path}' has no {ELSPAIS_TOML}"
    else:
        inside: list[str] = []
        settings, _ = _elspais(place, inside)
        return msgspec.structs.replace(associate, path=place.relative_to(root).as_posix(), settings=settings)
    return msgspec.structs.replace(associate, problem=problem)


def _requirements(root: Path, table: RequirementsTable, elspais: ElspaisSettings) -> Selection:
    """The selection of clew.toml, completed by what elspais would read; likewise below."""
    return Selection(
        folders=_folders(root, _first(table.folders, elspais.spec_directories)),
        patterns=_first(table.patterns, elspais.spec_patterns),
        skip=_first(table.skip, (*elspais.spec_skip_files, *elspais.spec_skip_dirs, *elspais.skip)),
        assumed=table.folders is None and elspais.spec_directories == _USUAL.spec_directories,
    )


def _code(root: Path, table: FoldersTable, elspais: ElspaisSettings, *, named: bool) -> Selection:
    """The selection of source files. `named` says whether folders of elspais count, as its users expect."""
    names = tuple(pattern for pattern in elspais.code_patterns if "/" not in pattern)
    skip = _first(table.skip, (*elspais.code_skip_files, *elspais.code_skip_dirs, *elspais.skip))
    patterns = _first(table.patterns, (*CODE_PATTERNS, *names))
    if table.folders is None and not named:
        return _whole_project(patterns, (*skip, *_TESTS_ONLY))
    return Selection(
        folders=_folders(root, _first(table.folders, elspais.code_directories)),
        patterns=patterns,
        skip=skip,
        gitignore=True,
        # To elspais these name files of the whole project, not only of the directories.
        globs=elspais.code_patterns if table.patterns is None else (),
        assumed=table.folders is None and elspais.code_directories == _USUAL.code_directories,
    )


def _tests(root: Path, table: TestsTable, elspais: ElspaisSettings, *, named: bool) -> Selection:
    skip = _first(table.skip, (*elspais.test_skip_files, *elspais.test_skip_dirs, *elspais.skip))
    patterns = _first(table.patterns, (*TEST_PATTERNS, *elspais.test_patterns))
    if table.folders is None and not named:
        return _whole_project(patterns, skip)
    return Selection(
        folders=_folders(root, _first(table.folders, elspais.test_directories if _are_tests_read(elspais) else ())),
        patterns=patterns,
        skip=skip,
        gitignore=True,
        assumed=table.folders is None and elspais.test_directories == _USUAL.test_directories,
    )


def _whole_project(patterns: tuple[str, ...], skip: tuple[str, ...]) -> Selection:
    """The selection of a kind of files whose folders are not configured."""
    return Selection(
        folders=WHOLE_PROJECT,
        patterns=patterns,
        skip=tuple(dict.fromkeys((*skip, *PRODUCTS))),
        gitignore=True,
        assumed=True,
        own_only=True,
    )


def _are_tests_read(elspais: ElspaisSettings) -> bool:
    """elspais reads tests only if a setting says so; Clew reads them unless a setting says no."""
    return elspais.tests_enabled is not False


def _results_of(elspais: ElspaisSettings) -> tuple[str, ...]:
    reports = elspais.result_files if _are_tests_read(elspais) else ()
    return (*reports, *filter(None, (elspais.journey_results,)))


def _documents(root: Path, table: FoldersTable) -> Selection:
    if table.folders is None:
        return _whole_project(_first(table.patterns, _DOCUMENTS_ANYWHERE), (*(table.skip or ()), *_NO_DOCUMENTS))
    return Selection(
        folders=_folders(root, table.folders),
        patterns=_first(table.patterns, DOCUMENT_PATTERNS),
        skip=table.skip or (),
        gitignore=True,
    )


def _kb(table: KbTable, name: str) -> KbTable:
    return msgspec.structs.replace(table, project_id=table.project_id or name, repository=table.repository or name)


def _results(given: tuple[str, ...]) -> tuple[str, ...]:
    """Globs of reports; the name of a folder stands for everything in it."""
    return tuple(
        glob if is_glob(glob) or "." in glob.rpartition("/")[2] else f"{glob.rstrip('/')}/**" for glob in given
    )


def _embedder(root: Path, given: EmbedSettings) -> EmbedSettings:
    """Like every folder, that of a model is relative to the project."""
    return given if given.folder is None else msgspec.structs.replace(given, folder=str(root / given.folder))


def _reviews(root: Path, given: str) -> str:
    path = normal_folder(given, root) if "\0" not in given else ".."
    if path == "." or path.startswith(("/", "..")) or is_glob(path):
        raise ConfigError(
            f"{CLEW_TOML}: reviews.file is {given!r}, which is not a file inside the project.",
            hint="Name one such as clew.reviews, relative to the project's folder.",
        )
    return path


def _folders(root: Path, given: tuple[str, ...]) -> tuple[str, ...]:
    """Each folder in its one spelling, once."""
    for folder in given:
        if "\0" in folder:
            raise ConfigError(
                f"The folder {folder!r} holds a NUL, which no name may.", hint="Correct the folder's name."
            )
    return tuple(dict.fromkeys(normal_folder(folder, root) for folder in given))


def _first(given: tuple[str, ...] | None, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(otherwise)) if given is None else given
