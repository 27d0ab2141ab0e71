"""The shape of the source tree."""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "clew"
CONTRACT = Path(__file__).parent / "contract"

LAYERS = (
    {"text", "errors", "once", "cache", "traffic"},
    {"workspace", "formats", "markup", "grants"},
    {"config", "trust", "edit"},
    {"store", "derived", "ai", "operation", "ipc"},
    {"graph", "search"},
    {"context"},
    {"trace", "register", "specs", "kb", "code", "memory", "exchange", "setup"},
    {"why", "compat", "project_index"},
    {"project"},
    {"surfaces"},
)
"""The rooms of the house from the bottom up. A room imports from the layers below it, never from above."""
SERVICES = LAYERS[6]
"""Services do not import each other either: they meet in `why`."""
FORBIDDEN_WORDS = ("manager", "helper", "util", "base", "common")


@cache
def modules() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Every node of a module: many tests look for something among them."""
    return tuple(ast.walk(tree))


def name_of_module(path: Path) -> str:
    return ".".join(("clew", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


@cache
def module_names() -> set[str]:
    return {name_of_module(path) for path in modules()}


def is_for_types(branch: ast.If) -> bool:
    """Whether only the type checker sees it."""
    return any(isinstance(node, ast.Name) and node.id == "TYPE_CHECKING" for node in ast.walk(branch.test))


def runtime_imports(tree: ast.Module) -> set[str]:
    """Modules of Clew that are imported when the code runs; what only the type checker sees does not count."""
    found: set[str] = set()
    checked = (node for node in nodes(tree) if isinstance(node, ast.If) and is_for_types(node))
    unseen = {inner for each in checked for statement in each.body for inner in ast.walk(statement)}
    for node in nodes(tree):
        if node in unseen:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("clew"):
            named = {f"{node.module}.{name.name}" for name in node.names} & module_names()
            found.update(named if node.module == "clew" else {node.module, *named})
        elif isinstance(node, ast.Import):
            found.update(name.name for name in node.names if name.name.startswith("clew"))
    return found


def part_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and not parts[1].startswith("__") else None


def layer_of(room: str) -> int:
    return next(number for number, rooms in enumerate(LAYERS) if room in rooms)


# Verifies: REQ-o00007-B
def test_imports_point_down_only() -> None:
    wrong = []
    for path, tree in modules().items():
        own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if own.startswith("__"):
            continue
        for module in runtime_imports(tree):
            other = part_of(module)
            if other is None or other == own:
                continue
            if layer_of(other) > layer_of(own) or (other in SERVICES and own in SERVICES):
                wrong.append(f"{path.relative_to(SOURCE)} imports {module}")
    assert not wrong


# Verifies: REQ-d00681-A
def test_services_do_not_know_their_operations() -> None:
    """Not even for types: a service owns its requests, and an operation inherits them."""
    wrong = [
        f"{path.relative_to(SOURCE)} imports {node.module}"
        for path, tree in modules().items()
        if path.relative_to(SOURCE).parts[0] in SERVICES and "operations" not in path.relative_to(SOURCE).parts
        for node in nodes(tree)
        if isinstance(node, ast.ImportFrom) and node.module and "operations" in node.module.split(".")
    ]
    assert not wrong


def imported_at_once(body: list[ast.stmt]) -> Iterator[str]:
    """What is imported when a module is; a function's imports wait until it is called."""
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.If) and is_for_types(node):
            yield from imported_at_once(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for block in ("body", "orelse", "finalbody", "handlers"):
                yield from imported_at_once(getattr(node, block, []))


# Two threads that import the two ends of a circle at the same time fail: one of them finds a module half made.
# Verifies: REQ-o00007-B
def test_no_import_leads_back_to_where_it_began() -> None:
    trees = {name_of_module(path): tree for path, tree in modules().items()}
    needs = {}
    for name, tree in trees.items():
        wanted = {*imported_at_once(tree.body), name}
        # A package is imported before what is in it.
        packages = {each.rsplit(".", up)[0] for each in wanted for up in range(each.count(".") + 1)}
        needs[name] = (packages & trees.keys()) - {name}
    assert len(tuple(TopologicalSorter(needs).static_order())) == len(trees)


def imports_between_packages() -> dict[str, dict[str, set[str]]]:
    """Imports of the packages of each folder, with all that is in them, from their siblings."""
    packages = {name_of_module(path) for path in modules() if path.name == "__init__.py"}
    found: dict[str, dict[str, set[str]]] = {}
    for path, tree in modules().items():
        own = name_of_module(path).split(".")
        for module in runtime_imports(tree):
            other = module.split(".")
            shared = next((at for at, (a, b) in enumerate(zip(own, other, strict=False)) if a != b), 0)
            sides = [".".join(parts[: shared + 1]) for parts in (own, other)]
            # The rooms themselves have layers.
            if shared > 1 and packages.issuperset(sides):
                found.setdefault(".".join(own[1:shared]), {}).setdefault(sides[0], set()).add(sides[1])
    return found


# Verifies: REQ-d00681-D
def test_packages_beside_each_other_import_one_way() -> None:
    circles = {}
    for folder, needs in imports_between_packages().items():
        try:
            TopologicalSorter(needs).prepare()
        except CycleError as error:
            circles[folder] = " -> ".join(error.args[1])
    assert circles == {}


# Verifies: REQ-d00681-E
def test_every_room_says_what_it_may_import_and_what_it_must_not() -> None:
    wrong = [
        path.parent.name
        for path, tree in modules().items()
        if path.name == "__init__.py" and path.parent.parent == SOURCE
        for said in [" ".join((ast.get_docstring(tree) or "").split())]
        if "may import" not in said or "must not" not in said
    ]
    assert wrong == []


# Verifies: REQ-o00007-B
def test_every_part_has_a_layer() -> None:
    parts = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in modules()}
    assert {part for part in parts if not part.startswith("__")} <= set().union(*LAYERS)


@cache
def called(tree: ast.Module) -> set[str]:
    return {ast.unparse(call.func) for call in calls(tree)}


# Verifies: REQ-o00007-B
def test_only_the_store_and_derived_data_open_sqlite() -> None:
    rooms = {path.relative_to(SOURCE).parts[0] for path, tree in modules().items() if "sqlite3.connect" in called(tree)}
    assert rooms == {"store", "derived"}


# Verifies: REQ-o00007-C
def test_no_source_file_is_longer_than_800_lines_and_none_has_a_name_that_says_nothing() -> None:
    assert [path.name for path in modules() if path.read_text(encoding="utf-8").count("\n") > 800] == []
    assert [path.name for path in modules() if any(word in path.stem.split("_") for word in FORBIDDEN_WORDS)] == []


def writes_to_disk(tree: ast.Module) -> set[str]:
    """Calls that replace or move files, sync them, or make temporary ones that have a name."""
    found: set[str] = set()
    for node in calls(tree):
        if not isinstance(node.func, ast.Attribute):
            continue
        name, of_os = node.func.attr, isinstance(node.func.value, ast.Name) and node.func.value.id == "os"
        # One argument: `Path.replace` and `Path.rename`. `str.replace` has two, others have names.
        is_move = name in {"replace", "rename"} and (of_os or (len(node.args) == 1 and not node.keywords))
        if is_move or name in {"fsync", "fdatasync", "renames", "mkstemp", "NamedTemporaryFile"}:
            found.add(name)
    return found


# Verifies: REQ-o00007-B
def test_files_are_replaced_and_synced_in_one_room() -> None:
    rooms = {path.relative_to(SOURCE).as_posix() for path, tree in modules().items() if writes_to_disk(tree)}
    assert {room for room in rooms if not room.startswith("edit/")} == set()


# Verifies: REQ-o00007-B
def test_contract_tests_reach_clew_through_its_public_doors_only() -> None:
    """They use `Project`, an MCP client or the command line, so that they hold whatever is rebuilt inside."""
    allowed = {"clew.project", "clew.errors"}
    wrong = [
        f"{path.name} imports {module}"
        for path in sorted(CONTRACT.rglob("*.py"))
        for module in sorted(runtime_imports(ast.parse(path.read_text(encoding="utf-8"))) - allowed)
    ]
    assert wrong == []


@cache
def calls(tree: ast.Module) -> tuple[ast.Call, ...]:
    return tuple(node for node in nodes(tree) if isinstance(node, ast.Call))


def name_of(call: ast.Call) -> str:
    """The last part of what is called; empty where it has no name."""
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def starts_git(call: ast.Call) -> bool:
    """Whether a list or tuple that begins with "git" is passed on, or the program of that name is looked for."""
    if name_of(call).endswith("which") and call.args and ast.unparse(call.args[0]) == "'git'":
        return True
    commands = [node for node in call.args if isinstance(node, ast.List | ast.Tuple) and node.elts]
    return any(isinstance(first := node.elts[0], ast.Constant) and first.value == "git" for node in commands)


# Verifies: REQ-o00007-B
def test_git_is_started_in_one_place() -> None:
    found = {
        path.relative_to(SOURCE).as_posix()
        for path, tree in modules().items()
        for call in calls(tree)
        if starts_git(call)
    }
    assert found == {"workspace/git/run.py"}


# Verifies: REQ-o00007-B
def test_only_the_workspace_lists_folders() -> None:
    listing = {"scandir", "listdir", "iterdir", "rglob", "glob", "iglob"}
    found = set()
    for path, tree in modules().items():
        room = path.relative_to(SOURCE).parts[0]
        for call in calls(tree):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            walks = name == "walk" and ast.unparse(call.func) == "os.walk"
            lists = name in listing
            if (walks or lists) and room != "workspace":
                found.add(f"{path.relative_to(SOURCE)}: {ast.unparse(call)[:80]}")
    assert found == set()


# Verifies: REQ-o00007-B
def test_what_a_cache_forgets_is_decided_in_one_place() -> None:
    """The order of the last use, and leaving from its old end, belong to `clew.cache`. Nothing is emptied because it is
    full: a pure function has `functools.lru_cache`."""
    found = {
        path.relative_to(SOURCE).as_posix()
        for path, tree in modules().items()
        if {"OrderedDict", "cachetools"} & imported(tree)
        or any(drops_the_oldest(call) for call in calls(tree))
        or any(isinstance(node, ast.If) and empties_what_is_full(node) for node in nodes(tree))
    }
    assert found == {"cache.py"}


def drops_the_oldest(call: ast.Call) -> bool:
    return name_of(call) == "popitem" and ast.unparse(call).endswith(".popitem(last=False)")


def empties_what_is_full(branch: ast.If) -> bool:
    """Whether it is `if len(kept) >= size: kept.clear()`."""
    if not (isinstance(branch.test, ast.Compare) and isinstance(branch.test.ops[0], ast.Gt | ast.GtE)):
        return False
    cleared = {
        ast.unparse(call.func.value)
        for statement in branch.body
        for call in ast.walk(statement)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "clear"
    }
    return ast.unparse(branch.test.left) in {f"len({kept})" for kept in cleared}


def imported(tree: ast.Module) -> set[str]:
    """Modules that are imported, and names from them, wherever the import stands."""
    found: set[str] = set()
    for node in nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.update(name.name for name in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


# Verifies: REQ-o00007-B
def test_contents_are_hashed_in_one_place() -> None:
    found = {
        path.relative_to(SOURCE).as_posix() for path, tree in modules().items() if "hashlib.blake2b" in called(tree)
    }
    assert found == {"text/hashing.py", "operation/paging.py"}


# Verifies: REQ-o00007-B
def test_cursors_are_signed_in_one_place() -> None:
    found = {
        path.relative_to(SOURCE).as_posix() for path, tree in modules().items() for call in calls(tree) if signs(call)
    }
    # The page signs its cookies and forms, and the user's key what is believed of a folder.
    assert found == {"edit/stamp.py", "operation/paging.py", "surfaces/web/admission.py"}


def signs(call: ast.Call) -> bool:
    """Whether a hash is made with a key."""
    name = name_of(call)
    with_key = name in {"blake2b", "blake2s"} and any(argument.arg == "key" for argument in call.keywords)
    of_hmac = name in {"new", "digest", "HMAC"} and ast.unparse(call.func).startswith("hmac.")
    return with_key or of_hmac


READ_OTHERWISE = {
    "workspace/regular.py": "the function itself",
    "edit": "what it wrote, its journals, and locks",
    "store": "databases and their copies, and the system's own files",
    "workspace/git/staged.py": "git's index, mapped where it is a plain file",
    "grants.py": "the user's own state",
    "trust.py": "the user's own state",
    "operation/listing.py": "part of the package",
    "trace/reports/matrix_html.py": "part of the package",
    "surfaces/web/page.py": "part of the package",
    "surfaces/cli/help.py": "part of the package",
    "surfaces/cli/main.py": "stands in for closed streams",
    "surfaces/lsp/server.py": "its own streams",
    "surfaces/mcp/transports/stdio.py": "its own streams",
    "surfaces/mcp/audit.py": "appends to what the user names",
    "memory/hooks/client.py": "its own streams",
    "search/dense": "vectors and a lock below .clew",
    "search/eval/collection.py": "lines of a file that is open already",
    "setup/tokens.py": "a lock in the user's own state",
    "register/change/transaction.py": "the lock of a register",
}
"""Modules and rooms that open files by themselves, and what these are."""


def opens_files(tree: ast.Module) -> set[str]:
    found = {ast.unparse(call.func) for call in calls(tree) if ast.unparse(call.func) in {"open", "os.open", "io.open"}}
    for call in calls(tree):
        if isinstance(call.func, ast.Attribute) and call.func.attr in {"read_bytes", "read_text"}:
            found.add(call.func.attr)
        # `Path.open` has a mode or an encoding; other things that open have neither.
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "open":
            mode = call.args[0] if call.args else None
            is_mode = (
                isinstance(mode, ast.Constant) and isinstance(mode.value, str) and set(mode.value) <= set("rwxab+")
            )
            if is_mode or any(keyword.arg in {"mode", "encoding"} for keyword in call.keywords):
                found.add("Path.open")
    return found


# Verifies: REQ-d00651-C
def test_one_function_reads_what_others_may_have_written() -> None:
    opening = {path.relative_to(SOURCE).as_posix() for path, tree in modules().items() if opens_files(tree)}
    exempt = {
        path: next((name for name in READ_OTHERWISE if f"{path}/".startswith(f"{name}/")), None) for path in opening
    }
    assert [path for path, name in exempt.items() if name is None] == []
    assert READ_OTHERWISE.keys() - set(exempt.values()) == set()


SHARED_CLASS_NAMES = {
    "Calls",
    "Citation",
    "Connection",
    "Declined",
    "Definition",
    "Draft",
    "Listener",
    "Member",
    "Record",
    "Requirement",
    "RequirementReader",
    "Scope",
    "Source",
    "Use",
}
"""Public class names that stand for several classes, since each is the word of its field for all of them."""


# Verifies: REQ-o00007-G
def test_a_public_class_name_stands_for_one_class_unless_it_is_listed() -> None:
    found = Counter(
        node.name
        for tree in modules().values()
        for node in nodes(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name, times in found.items() if times > 1} == SHARED_CLASS_NAMES
    assert len(SHARED_CLASS_NAMES) <= 30


QUESTION_WORDS = {"What", "Whether", "How", "Where", "Which", "Why", "Who", "Those"}


# Verifies: REQ-o00007-H
def test_docstrings_are_statements() -> None:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = [
        ast.get_docstring(node) or ""
        for tree in modules().values()
        for node in nodes(tree)
        if isinstance(node, documented)
    ]
    first = [text.split()[0].strip(",.:;") for text in found if text]
    assert len(first) > 5_000
    assert sum(word in QUESTION_WORDS for word in first) * 20 <= len(first)
