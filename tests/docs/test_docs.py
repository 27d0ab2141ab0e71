"""The documentation is complete: whatever a user can type or meet is described, and every link leads somewhere."""

# Verifies: REQ-o00007-E

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import msgspec
import pytest
from tests.docs.markdown import anchors, links, sections

from clew.config import ClewToml
from clew.operation.listing import all_tools
from clew.operation.prepare import pages
from clew.surfaces.cli.main import OVERVIEW, all_commands, main
from clew.surfaces.cli.reference import overview, page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "spec/**/*.md", "examples/**/*.md", "benchmarks/**/*.md")
    for path in ROOT.glob(pattern)
)

CODE = re.compile(r"(?:trace|file|elspais|openspec|markers|results)\.[a-z][a-z0-9_]*")
"""What the code of a finding looks like."""
SHARING = ("elspais", "results")
"""The formats whose readers report through `formats/diagnostics.py`."""
SEVERITIES = ("error", "warning", "info")


# Verifies: REQ-o00007-E
@pytest.mark.parametrize("command", all_commands())
def test_every_command_and_option_is_described(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    written = (DOCS / "cli.md").read_text()
    assert f"[`clew {command}`](#clew-{command})" in written
    section = sections(written, 2).get(f"clew {command}")
    assert section is not None, f"docs/cli.md has no section '## clew {command}'"

    with pytest.raises(SystemExit):
        main([command, "--help"])

    missing = [option for option in _options(capsys.readouterr().out) if f"`{option}" not in section]
    assert not missing, f"docs/cli.md does not describe {missing} of clew {command}"


def _options(help_text: str) -> Iterator[str]:
    for line in help_text.splitlines():
        if line.startswith("  -"):
            names = line.strip().partition("  ")[0]
            yield from (name for name in re.findall(r"--?[A-Za-z][\w-]*", names) if name not in ("-h", "--help"))


# Verifies: REQ-o00007-D
def test_the_page_of_commands_is_the_one_that_the_parsers_give() -> None:
    assert (DOCS / "cli.md").read_text() == page(), "docs/cli.md is out of date: run `make docs`"
    assert Path(OVERVIEW).read_text() == overview(), "the overview of commands is out of date: run `make docs`"


@pytest.mark.parametrize("table", msgspec.structs.fields(ClewToml), ids=lambda table: table.name)
def test_every_key_of_clew_toml_is_described(table: msgspec.structs.FieldInfo) -> None:
    described = sections((DOCS / "configuration.md").read_text(), 3)
    if table.name == "store":
        assert described["store"]
        return
    text = "\n".join(text for heading, text in described.items() if f"[{table.name}]" in heading)
    assert text, f"docs/configuration.md has no section for [{table.name}]"

    missing = [field.name for field in msgspec.structs.fields(table.type) if f"`{field.name}`" not in text]
    assert not missing, f"docs/configuration.md does not describe {missing} of [{table.name}]"


def test_every_code_of_a_finding_is_described() -> None:
    described = {
        code
        for page in ("findings.md", "formats/elspais.md", "formats/openspec.md", "formats/results.md")
        for code in re.findall(f"`({CODE.pattern})`", (DOCS / page).read_text())
    }
    emitted = {code for path in (ROOT / "src" / "clew").rglob("*.py") for code in _codes(path)}

    assert {"trace.broken_reference", "file.unreadable"} <= emitted
    assert sorted(emitted - described) == [], "docs/findings.md or docs/formats/elspais.md has to describe these codes"
    assert sorted(described - emitted) == [], "the documentation describes codes that nothing emits"


def _codes(path: Path) -> Iterator[str]:
    """Codes that stand in the source as they are, and those that a reader adds to the name of its format."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
            yield node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SEVERITIES:
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and re.fullmatch(r"[a-z][a-z0-9_]*", str(first.value)):
                # What all formats share is emitted under the name of each.
                shared = path.name == "diagnostics.py"
                yield from (f"{name}.{first.value}" for name in (SHARING if shared else (path.parent.name,)))


# Verifies: REQ-o00007-D, REQ-o00004-A
def test_the_reference_pages_are_those_the_registry_gives() -> None:
    written = {path.name: path.read_text() for path in (DOCS / "tools").glob("*.md")}

    assert written == pages(all_tools()), "docs/tools is out of date: run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_inside_the_repository_leads_somewhere(page: Path) -> None:
    broken = [link for link in links(page.read_text()) if not _resolves(page, link)]

    assert not broken


# Verifies: REQ-o00007-F
def test_the_map_names_every_folder_of_the_source_and_nothing_else() -> None:
    source = ROOT / "src" / "clew"
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", sections((DOCS / "architecture.md").read_text(), 2)["The map"], re.M)
    first = [name for cell, _ in rows for name in re.findall(r"`([a-z_./*]+)`", cell)]
    inner = [name for _, cell in rows for name in re.findall(r"`([a-z_]+/[a-z_/]+)`", cell)]
    named = {name.rstrip("/") for name in (*first, *inner)}

    gone = {name for name in named - {"*/operations"} if not (source / name).exists()}
    folders = {path.parent.relative_to(source) for path in source.rglob("*.py")} - {Path()}
    unnamed = {str(folder) for folder in folders if folder.name != "operations"} - named

    assert gone == set()
    assert unnamed == set()


# Verifies: REQ-o00007-F
def test_the_page_on_architecture_is_short_besides_its_recipes() -> None:
    found = sections((DOCS / "architecture.md").read_text(encoding="utf-8"), 2)
    assert sum(len(text.split()) for heading, text in found.items() if not heading.startswith("Recipe")) <= 2000


# Verifies: REQ-o00007-F
def test_no_folder_of_the_source_holds_more_than_sixteen_modules() -> None:
    folders = {path.parent for path in (ROOT / "src").rglob("*.py")}
    assert {folder.name for folder in folders if len(list(folder.glob("[!_]*.py"))) > 16} == set()


def _resolves(page: Path, link: str) -> bool:
    if re.match(r"[a-z]+:", link):
        return True
    path, _, anchor = link.partition("#")
    target = page.parent / unquote(path) if path else page
    if not target.exists():
        return False
    return not anchor or target.suffix != ".md" or anchor in anchors(target.read_text())


# Verifies: REQ-d00520-F
def test_advice_to_install_names_the_distribution_and_an_extra_that_it_has() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = [*PAGES, *(ROOT / "src").rglob("*.py")]

    extras_of = re.compile(r"(?<![\w./-])(clew[\w-]*)\[([a-z,]+)\]")
    named = {found for path in texts for found in extras_of.findall(path.read_text())}
    extras = {extra for _, several in named for extra in several.split(",")}

    assert {distribution for distribution, _ in named} == {project["name"]}
    assert extras <= set(project["optional-dependencies"])


# Verifies: REQ-o00044-D
@pytest.mark.parametrize("system", ["elspais", "req", "openspec", "wekadocs", "context-graph"])
def test_a_page_for_each_system_says_what_is_the_same_better_and_different(system: str) -> None:
    told = sections((DOCS / "switching" / f"{system}.md").read_text(encoding="utf-8"), 2)
    assert list(told) == ["The same", "Better", "Different"]
    assert all(text.strip() for text in told.values())
