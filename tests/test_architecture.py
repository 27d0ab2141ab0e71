"""The shape of the source tree."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "clew"
CONTRACT = Path(__file__).parent / "contract"

LAYERS = {
    "text": 0,
    "errors": 0,
    "formats": 1,
    "files": 1,
    "git": 1,
    "ignore": 0,
    "locking": 0,
    "paths": 0,
    "choices": 1,
    "paging": 1,
    "embedding": 0,
    "once": 0,
    "replacing": 0,
    "writing": 1,
    "config": 2,
    "detect": 2,
    "clients": 2,
    "store": 2,
    "search": 3,
    "graph": 3,
    "trace": 4,
    "register": 4,
    "specs": 4,
    "kb": 4,
    "memory": 4,
    "ai": 4,
    "links": 5,
    "project_index": 5,
    "project": 6,
    "surfaces": 7,
}
SERVICES = {"trace", "register", "specs", "kb", "memory"}
FORBIDDEN_WORDS = ("manager", "helper", "util", "base", "common")


def modules() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}


def runtime_imports(tree: ast.Module) -> set[str]:
    """Modules of Clew that are imported when the code runs; what only the type checker sees does not count."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("clew"):
            found.update({node.module} if node.module != "clew" else {f"clew.{name.name}" for name in node.names})
        elif isinstance(node, ast.Import):
            found.update(name.name for name in node.names if name.name.startswith("clew"))
    return found


def part_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and not parts[1].startswith("__") else None


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
            if LAYERS[other] > LAYERS[own] or (other in SERVICES and own in SERVICES):
                wrong.append(f"{path.relative_to(SOURCE)} imports {module}")
    assert wrong == []


# Verifies: REQ-o00007-B
def test_every_part_has_a_layer() -> None:
    parts = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in modules()}
    assert {part for part in parts if not part.startswith("__")} <= LAYERS.keys()


# Verifies: REQ-o00007-C
def test_no_source_file_is_longer_than_800_lines_and_none_has_a_name_that_says_nothing() -> None:
    assert [path.name for path in modules() if path.read_text(encoding="utf-8").count("\n") > 800] == []
    assert [path.name for path in modules() if any(word in path.stem.split("_") for word in FORBIDDEN_WORDS)] == []


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
