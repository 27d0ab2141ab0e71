"""Recording of the truth: `python -m benchmarks.code.record --servers FOLDER [NAME ...]`.

FOLDER is one where `npm install pyright@1.1.414 typescript@5.9.3` ran. This was done once; the benchmark reads what is
frozen in `truth/`, and a new recording belongs to a new table of figures.
"""

import argparse
import ast
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from benchmarks.code.drawing import Drawn, draw, symbols_of
from benchmarks.code.language_server import LanguageServer
from benchmarks.code.projects import SOURCES, Source, unpacked
from benchmarks.code.truth import FOLDER, Place, Recorded, Truth, grouped, write

EVERYTHING = {
    "include": ["."],
    "exclude": ["**/node_modules", "**/__pycache__", "**/.*"],
    "pythonVersion": "3.13",
    "pythonPlatform": "All",
    "typeCheckingMode": "off",
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--servers", type=Path, required=True)
    parser.add_argument("--clones", type=Path, default=None)
    parser.add_argument("--to", type=Path, default=FOLDER)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    for source in SOURCES:
        if options.names and source.name not in options.names:
            continue
        with tempfile.TemporaryDirectory(prefix="clew-truth-") as folder:
            began = time.perf_counter()
            root = unpacked(source, Path(folder).resolve() / source.name, options.clones)
            recorded = (_python if source.language == "python" else _typescript)(source, root, options.servers)
            found = write(recorded, options.to)
        lines = sum(len(each) for truth in recorded.truths for each in truth.references.values())
        used = sum(bool(truth.references) for truth in recorded.truths)
        seconds = time.perf_counter() - began
        print(
            f"{source.name}: {len(recorded.truths)} symbols, {used} used, {lines} lines, {seconds:.0f} s, {found}",
            flush=True,
        )


def _python(source: Source, root: Path, servers: Path) -> Recorded:
    symbols = draw(source.name, symbols_of(root, source.defining))
    package = json.loads((servers / "node_modules/pyright/package.json").read_text())
    with tempfile.TemporaryDirectory(prefix="clew-python-") as folder:
        program, packages = _environment(source, Path(folder))
        analysis = {"diagnosticMode": "openFilesOnly", "useLibraryCodeForTypes": True, "autoSearchPaths": True}
        # A project's own settings leave out its tests; here every file is part of it, on every platform.
        (root / "pyrightconfig.json").write_text(json.dumps(EVERYTHING), encoding="utf-8")
        script = servers / "node_modules/pyright/langserver.index.js"
        command = ("node", "--max-old-space-size=6000", str(script), "--stdio")
        server = LanguageServer(command, root, {"python": {"pythonPath": str(program), "analysis": analysis}})
        try:
            server.wait_for("source file")
            truths = tuple(_asked(server, root, symbol) for symbol in symbols)
        finally:
            server.close()
    return Recorded(source.name, source.version, f"pyright {package['version']}", truths, packages)


def _environment(source: Source, folder: Path) -> tuple[Path, tuple[str, ...]]:
    """A Python with what the project depends on, and pytest: without it the server knows no inherited member and no
    type of a decorator that comes from there."""
    if source.origin == "here":
        program = Path(sys.executable)
    else:
        subprocess.run((sys.executable, "-m", "venv", str(folder)), check=True)
        program = folder / "bin" / "python"
        install = (str(program), "-m", "pip", "--quiet", "--disable-pip-version-check")
        # Whatever Python runs this: what is installed is read, not run.
        wanted = ("--ignore-requires-python", f"{source.name}=={source.version}", "pytest")
        subprocess.run((*install, "install", *wanted), check=True)
        if source.name != "pytest":
            # The project is the files that were unpacked.
            subprocess.run((*install, "uninstall", "--yes", source.name), check=True)
    listed = subprocess.run(
        (str(program), "-m", "pip", "freeze", "--exclude-editable"), check=True, capture_output=True
    )
    return program, tuple(line for line in listed.stdout.decode().split() if "==" in line)


def _asked(server: LanguageServer, root: Path, symbol: Drawn) -> Truth:
    # The file is not opened: the server would look for mistakes in it first.
    document = {"uri": (root / symbol.path).as_uri()}
    position = {"line": symbol.line - 1, "character": symbol.column}
    found: list[set[Place]] = []
    for declared in (False, True):
        asked = {"textDocument": document, "position": position, "context": {"includeDeclaration": declared}}
        answer = server.ask("textDocument/references", asked) or []
        found.append({place for each in answer if (place := _place(root, each)) is not None})
    uses, everything = found
    imports = {place for place in everything if place[1] in _import_lines(root / place[0])}
    return Truth(symbol, grouped(uses - imports), grouped((everything - uses) | imports | {(symbol.path, symbol.line)}))


def _place(root: Path, location: dict) -> Place | None:  # type: ignore[type-arg]
    """None for a place in the server's own stubs."""
    path = Path(unquote(urlsplit(location["uri"]).path)).resolve()
    inside = path.relative_to(root).as_posix() if path.is_relative_to(root) else None
    return None if inside is None else (inside, location["range"]["start"]["line"] + 1)


_known: dict[Path, set[int]] = {}


def _import_lines(file: Path) -> set[int]:
    if file not in _known:
        try:
            tree = ast.parse(file.read_bytes())
        except SyntaxError:
            return set()
        _known[file] = {
            line
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
    return _known[file]


def _typescript(source: Source, root: Path, servers: Path) -> Recorded:
    library = servers / "node_modules/typescript"
    version = json.loads((library / "package.json").read_text())["version"]
    script = Path(__file__).with_name("references.cjs")
    common = ("node", "--max-old-space-size=6000", str(script), str(library), str(root), source.config)
    listed = subprocess.run((*common, "symbols", source.defining), check=True, capture_output=True).stdout
    symbols = draw(source.name, msgspec.json.decode(listed, type=list[Drawn]))
    places = json.dumps([{"path": each.path, "line": each.line, "column": each.column} for each in symbols])
    answer = subprocess.run((*common, "references"), check=True, capture_output=True, input=places.encode()).stdout
    truths = []
    for symbol, found in zip(symbols, json.loads(answer), strict=True):
        uses = {(path, line) for path, line, is_definition, is_import in found if not is_definition and not is_import}
        aside = {(path, line) for path, line, *_ in found} - uses
        truths.append(Truth(symbol, grouped(uses), grouped(aside | {(symbol.path, symbol.line)})))
    return Recorded(source.name, source.version, f"typescript {version}", tuple(truths))


if __name__ == "__main__":
    main()
