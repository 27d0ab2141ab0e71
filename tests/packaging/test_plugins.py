"""What registries and hosts read: made from one description, in the formats of their documentation.

`make clients` lets the programs of the hosts themselves check and install these files."""

import json
import re
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from tests.packaging.bundle import write_bundle
from tests.packaging.tools import PROJECT

from clew import __version__
from clew.operation.listing import all_tools
from clew.operation.names import portable
from clew.setup.hooks import HOOK_FILES
from clew.setup.plugins import REGISTRY_NAME, files
from clew.setup.tasks import TASKS

SKILLS = {"trace-change", "write-requirement", "answer-from-memory"}


def text(**more: Any) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, **more}


def strict(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


VERSION = text(pattern=r"^\d+\.\d+\.\d+$")
KEBAB = text(pattern="^[a-z0-9]+(-[a-z0-9]+)*$")
AUTHOR = strict({"name": text(), "email": text(), "url": text()}, "name")
SERVER = strict({"command": text(), "args": {"type": "array", "items": text()}, "env": {}, "cwd": text()}, "command")
SERVERS = strict({"mcpServers": {"type": "object", "minProperties": 1, "additionalProperties": SERVER}}, "mcpServers")
HOOK = strict(
    {"type": {"const": "command"}, "command": text(), "timeout": {"type": "integer", "minimum": 1}}, "type", "command"
)
GROUP = strict({"matcher": text(), "hooks": {"type": "array", "minItems": 1, "items": HOOK}}, "hooks")
HOOKS = strict({"hooks": {"type": "object", "additionalProperties": {"type": "array", "items": GROUP}}}, "hooks")
ARGUMENT = strict(
    {
        "type": {"const": "positional"},
        "valueHint": text(pattern="^[a-z_]+$"),
        "description": text(),
        "default": text(),
        "format": {"enum": ["string", "number", "boolean", "filepath"]},
    },
    "type",
)
PACKAGE = strict(
    {
        "registryType": {"const": "pypi"},
        "identifier": {"const": "clew-mcp"},
        "version": {"const": __version__},
        "runtimeHint": {"const": "uvx"},
        "transport": {"const": {"type": "stdio"}},
        "packageArguments": {"type": "array", "items": ARGUMENT},
    },
    "registryType",
    "identifier",
    "version",
    "transport",
)
REGISTRY = strict(
    {
        "$schema": text(
            pattern=r"^https://static\.modelcontextprotocol\.io/schemas/\d{4}-\d\d-\d\d/server\.schema\.json$"
        ),
        "name": text(pattern="^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", maxLength=200),
        "title": text(maxLength=100),
        "description": text(maxLength=100),
        "version": VERSION,
        "packages": {"type": "array", "minItems": 1, "items": PACKAGE},
    },
    "name",
    "description",
    "version",
)
BUNDLE = strict(
    {
        "manifest_version": {"const": "0.4"},
        "name": KEBAB,
        "display_name": text(),
        "version": VERSION,
        "description": text(),
        "author": AUTHOR,
        "license": text(),
        "keywords": {"type": "array", "items": text()},
        "server": strict(
            {
                "type": {"enum": ["python", "node", "binary", "uv"]},
                "entry_point": text(),
                "mcp_config": strict({"command": text(), "args": {"type": "array", "items": text()}}, "command"),
            },
            *("type", "entry_point", "mcp_config"),
        ),
        "tools": {"type": "array", "items": strict({"name": text(), "description": text()}, "name")},
        "tools_generated": {"type": "boolean"},
        "prompts_generated": {"type": "boolean"},
        "compatibility": strict({"platforms": {"type": "array"}, "runtimes": strict({"python": text()})}),
        "user_config": {
            "type": "object",
            "additionalProperties": strict(
                {
                    "type": {"enum": ["string", "number", "boolean", "directory", "file"]},
                    "title": text(),
                    "description": text(),
                    "required": {"type": "boolean"},
                },
                *("type", "title", "description"),
            ),
        },
    },
    *("name", "version", "description", "author", "server"),
)
ABOUT = {
    "name": KEBAB,
    "version": VERSION,
    "description": text(),
    "author": AUTHOR,
    "license": text(),
    "keywords": {"type": "array", "items": text()},
}
INSIDE = text(pattern=r"^\./")
CODEX = strict(
    {**ABOUT, "skills": INSIDE, "mcpServers": INSIDE, "hooks": INSIDE, "interface": {"type": "object"}}, "name"
)
GEMINI = strict({**ABOUT, "mcpServers": SERVERS["properties"]["mcpServers"]}, "name", "version")
CLAUDE_MARKETPLACE = strict(
    {
        "name": KEBAB,
        "owner": AUTHOR,
        "metadata": strict({"description": text()}),
        "plugins": {"type": "array", "minItems": 1, "items": strict({**ABOUT, "source": INSIDE}, "name", "source")},
    },
    *("name", "owner", "plugins"),
)
CODEX_SOURCE = strict({"source": {"const": "local"}, "path": text(pattern=r"^\./.+")}, "source", "path")
CODEX_MARKETPLACE = strict(
    {
        "name": KEBAB,
        "interface": strict({"displayName": text()}),
        "plugins": {
            "type": "array",
            "items": strict(
                {"name": KEBAB, "source": CODEX_SOURCE, "policy": {"type": "object"}, "category": text()},
                *("name", "source", "policy", "category"),
            ),
        },
    },
    *("name", "plugins"),
)
FORMATS = {
    "server.json": REGISTRY,
    ".claude-plugin/marketplace.json": CLAUDE_MARKETPLACE,
    ".agents/plugins/marketplace.json": CODEX_MARKETPLACE,
    "plugins/claude-code/.claude-plugin/plugin.json": strict(ABOUT, "name"),
    "plugins/claude-code/.mcp.json": SERVERS,
    "plugins/claude-code/hooks/hooks.json": HOOKS,
    "plugins/codex/.codex-plugin/plugin.json": CODEX,
    "plugins/codex/.mcp.json": SERVERS,
    "plugins/codex/hooks/hooks.json": HOOKS,
    "plugins/gemini/gemini-extension.json": GEMINI,
    "plugins/gemini/hooks/hooks.json": HOOKS,
    "plugins/mcpb/manifest.json": BUNDLE,
}
"""The keys that the documentation of each format has and that are used; no file may have another one."""


def read(path: str) -> Any:
    return json.loads((PROJECT / path).read_text(encoding="utf-8"))


# Verifies: REQ-d00530-A
def test_every_file_is_what_make_docs_writes() -> None:
    for path, written in files().items():
        assert (PROJECT / path).read_text(encoding="utf-8") == written, f"{path}: run `make docs`"
    made = {path.relative_to(PROJECT).as_posix() for path in (PROJECT / "plugins").rglob("*") if path.is_file()}
    assert made == {path for path in files() if path.startswith("plugins/")}, "nothing else is in the folder"


# Verifies: REQ-d00530-A
@pytest.mark.parametrize("path", FORMATS)
def test_every_file_follows_the_format_of_who_reads_it(path: str) -> None:
    jsonschema.validate(read(path), FORMATS[path])


# Verifies: REQ-d00530-A
def test_every_json_file_has_a_format() -> None:
    assert {path for path in files() if path.endswith(".json")} == FORMATS.keys()


# Verifies: REQ-d00530-B
@pytest.mark.parametrize(("host", "folder"), [("claude-code", "claude-code"), ("codex", "codex"), ("gemini", "gemini")])
def test_a_plugin_has_the_server_the_hooks_and_three_skills(host: str, folder: str) -> None:
    manifest = "gemini-extension.json" if host == "gemini" else ".mcp.json"
    server = read(f"plugins/{folder}/{manifest}")["mcpServers"]["clew"]
    assert (server["command"], server["args"][0]) == ("uvx", "clew-mcp")
    hooks = read(f"plugins/{folder}/hooks/hooks.json")["hooks"]
    assert list(hooks) == list(HOOK_FILES[host].events)
    for event, groups in hooks.items():
        assert groups[0]["hooks"][0]["command"] == f"uvx clew-mcp hook {event} --host {host}"
    skills = {path.parent.name: path for path in (PROJECT / "plugins" / folder / "skills").glob("*/SKILL.md")}
    assert skills.keys() == SKILLS
    for name, path in skills.items():
        _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
        about = yaml.safe_load(head)
        assert about.keys() == {"name", "description"}
        assert about["name"] == name
        assert len(about["description"]) <= 1_024
        assert "{" not in body


# Verifies: REQ-d00530-B
def test_skills_and_prompts_have_one_text() -> None:
    for task in TASKS:
        if task.is_skill:
            skill = files()[f"plugins/codex/skills/{task.name.replace('_', '-')}/SKILL.md"]
            assert task.filled({}) in skill


# Verifies: REQ-d00530-C
def test_the_readme_names_the_entry_of_the_registry() -> None:
    assert f"mcp-name: {REGISTRY_NAME} " in (PROJECT / "README.md").read_text(encoding="utf-8")
    assert read("server.json")["name"] == REGISTRY_NAME


# Verifies: REQ-d00530-D
def test_the_bundle_is_an_archive_of_its_files_and_always_the_same(tmp_path: Path) -> None:
    first, second = write_bundle(tmp_path / "a.mcpb"), write_bundle(tmp_path / "b.mcpb")
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        names = archive.namelist()
        manifest = json.loads(archive.read("manifest.json"))
        project = tomllib.loads(archive.read("pyproject.toml").decode())
        compile(archive.read("server.py"), "server.py", "exec")
    assert names == ["manifest.json", "pyproject.toml", "server.py"]
    assert manifest["server"]["entry_point"] in names
    assert project["project"]["dependencies"] == [f"clew-mcp=={__version__}"]
    assert "${user_config.folder}" in manifest["server"]["mcp_config"]["args"]


# Verifies: REQ-o00070-B
def test_names_of_tools_pass_where_models_are_asked() -> None:
    accepted = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
    listed = [tool["name"] for tool in read("plugins/mcpb/manifest.json")["tools"]]
    named = [*listed, *(portable(tool.name) for tool in all_tools()), *(task.name for task in TASKS)]
    assert len(named) > 200
    assert [name for name in named if not accepted.fullmatch(name)] == []
