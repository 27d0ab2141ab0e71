"""The shape of the source tree."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "clew"
CONTRACT = Path(__file__).parent / "contract"

LAYERS = (
    {"text", "errors", "once", "cache"},
    {"workspace", "formats"},
    {"config", "edit"},
    {"store", "derived", "ai", "operation"},
    {"graph", "search"},
    {"context"},
    {"trace", "register", "specs", "kb", "memory", "exchange", "setup"},
    {"why", "compat", "project_index"},
    {"project"},
    {"surfaces"},
)
"""The rooms of the house from the bottom up. A room imports from the layers below it, never from above."""
SERVICES = LAYERS[6]
"""Services do not import each other either: they meet in `why`."""
PENDING = {
    "edit/files_write.py imports clew.store.interface",
    "edit/saving.py imports clew.graph.build.reading",
    "edit/saving.py imports clew.trace.edit.sessions",
    "graph/circles.py imports clew.trace.edit.text.author",
}
"""Imports that still point the wrong way."""
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
    assert set(wrong) == PENDING


# Verifies: REQ-o00007-B
def test_every_part_has_a_layer() -> None:
    parts = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in modules()}
    assert {part for part in parts if not part.startswith("__")} <= set().union(*LAYERS)


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
