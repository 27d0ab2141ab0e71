"""The files that describe Clew to registries and hosts: the entry of the MCP registry, the bundle for desktop
applications, and the plugins of Claude Code, Codex and Gemini CLI, each with server, hooks and skills. `make docs`
writes all of it.

Who publishes Clew under another name changes it in `PUBLISHER`.
"""

# Implements: REQ-d00530

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from clew import __version__
from clew.operation.listing import all_tools
from clew.operation.toolsets import Choice, choose
from clew.setup.clients.configure import BY_UVX, SERVER_NAME
from clew.setup.hooks import with_hooks
from clew.setup.tasks import TASKS, AgentTask
from clew.workspace.own_program import DISTRIBUTION

PUBLISHER: Final = "io.github.clew-mcp"
"""The namespace of the MCP registry that the publisher has proved to own."""
REGISTRY_NAME: Final = f"{PUBLISHER}/{SERVER_NAME}"
AUTHOR: Final = {"name": "The Clew authors"}
TITLE: Final = "Clew"
DESCRIPTION: Final = "Requirements, specs, docs, code, tests and memory of a project as one graph for agents"
"""At most 100 characters, as the registry asks."""
LICENSE: Final = "Apache-2.0"
KEYWORDS: Final = ["requirements", "traceability", "specs", "memory", "documentation"]
REGISTRY_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def files() -> dict[str, str]:
    """Every file by its path in the repository."""
    written = {
        "server.json": _json(registry_entry()),
        ".claude-plugin/marketplace.json": _json(_claude_marketplace()),
        ".agents/plugins/marketplace.json": _json(_codex_marketplace()),
        **{f"plugins/claude-code/{path}": text for path, text in _claude_code()},
        **{f"plugins/codex/{path}": text for path, text in _codex()},
        **{f"plugins/gemini/{path}": text for path, text in _gemini()},
        **{f"plugins/mcpb/{path}": text for path, text in bundle().items()},
    }
    return dict(sorted(written.items()))


def registry_entry() -> dict[str, Any]:
    """`server.json` of the MCP registry."""
    return {
        "$schema": REGISTRY_SCHEMA,
        "name": REGISTRY_NAME,
        "title": TITLE,
        "description": DESCRIPTION,
        "version": __version__,
        "packages": [
            {
                "registryType": "pypi",
                "identifier": DISTRIBUTION,
                "version": __version__,
                "runtimeHint": "uvx",
                "transport": {"type": "stdio"},
                "packageArguments": [
                    {
                        "type": "positional",
                        "valueHint": "folder",
                        "description": "The folder of the project",
                        "default": ".",
                        "format": "filepath",
                    }
                ],
            }
        ],
    }


def bundle() -> dict[str, str]:
    """The files of `clew.mcpb`. Its host installs the packages of pyproject.toml for its own platform."""
    manifest = {
        "manifest_version": "0.4",
        "name": SERVER_NAME,
        "display_name": TITLE,
        "version": __version__,
        "description": DESCRIPTION,
        "author": AUTHOR,
        "license": LICENSE,
        "keywords": KEYWORDS,
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "server.py", "${user_config.folder}"],
            },
        },
        "tools": [{"name": tool.name, "description": tool.title} for tool in choose(all_tools(), Choice(), {}).shown],
        "tools_generated": True,
        "prompts_generated": True,
        "compatibility": {"platforms": ["darwin", "linux", "win32"], "runtimes": {"python": ">=3.11"}},
        "user_config": {
            "folder": {
                "type": "directory",
                "title": "Project",
                "description": "The folder of the project that Clew serves",
                "required": True,
            }
        },
    }
    project = (
        f'[project]\nname = "clew-bundle"\nversion = "{__version__}"\nrequires-python = ">=3.11"\n'
        f'dependencies = ["{DISTRIBUTION}=={__version__}"]\n'
    )
    script = (
        '"""Serves the project whose folder is the argument."""\n\n'
        "from clew.surfaces.cli.main import serve_entry\n\nserve_entry()\n"
    )
    return {"manifest.json": _json(manifest), "pyproject.toml": project, "server.py": script}


# The hosts


def _claude_code() -> Iterator[tuple[str, str]]:
    manifest = {**_about(), "author": AUTHOR, "license": LICENSE, "keywords": KEYWORDS}
    yield ".claude-plugin/plugin.json", _json(manifest)
    yield ".mcp.json", _json({"mcpServers": {SERVER_NAME: _server()}})
    yield from _hooks_and_skills("claude-code")


def _codex() -> Iterator[tuple[str, str]]:
    manifest = {
        **_about(),
        "author": AUTHOR,
        "license": LICENSE,
        "keywords": KEYWORDS,
        "skills": "./skills/",
        "mcpServers": "./.mcp.json",
        "hooks": "./hooks/hooks.json",
        "interface": {
            "displayName": TITLE,
            "shortDescription": DESCRIPTION,
            "developerName": AUTHOR["name"],
            "category": "Developer Tools",
        },
    }
    yield ".codex-plugin/plugin.json", _json(manifest)
    yield ".mcp.json", _json({"mcpServers": {SERVER_NAME: _server()}})
    yield from _hooks_and_skills("codex")


def _gemini() -> Iterator[tuple[str, str]]:
    server = _server("serve", "${workspacePath}")
    yield "gemini-extension.json", _json({**_about(), "mcpServers": {SERVER_NAME: server}})
    yield from _hooks_and_skills("gemini")


def _about() -> dict[str, Any]:
    return {"name": SERVER_NAME, "version": __version__, "description": DESCRIPTION}


def _server(*arguments: str) -> dict[str, Any]:
    command, *first = BY_UVX
    return {"command": command, "args": [*first, *arguments]}


def _hooks_and_skills(client: str) -> Iterator[tuple[str, str]]:
    yield "hooks/hooks.json", with_hooks(client, None, BY_UVX)
    for task in TASKS:
        if task.is_skill:
            yield f"skills/{skill_name(task)}/SKILL.md", skill(task)


def skill_name(task: AgentTask) -> str:
    return task.name.replace("_", "-")


def skill(task: AgentTask) -> str:
    """A task as a skill: when to use it, then the steps. The tools are those of the server named clew."""
    head = f"---\nname: {skill_name(task)}\ndescription: {json.dumps(task.description)}\n---\n"
    where = f"The tools are those of the MCP server `{SERVER_NAME}`; `clew COMMAND` does the same in a shell."
    return f"{head}\n# {task.title}\n\n{where}\n\n{task.filled({})}"


def _claude_marketplace() -> dict[str, Any]:
    listed = {**_about(), "source": "./plugins/claude-code"}
    return {"name": SERVER_NAME, "owner": AUTHOR, "metadata": {"description": DESCRIPTION}, "plugins": [listed]}


def _codex_marketplace() -> dict[str, Any]:
    source = {"source": "local", "path": "./plugins/codex"}
    policy = {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
    listed = {"name": SERVER_NAME, "source": source, "policy": policy, "category": "Developer Tools"}
    return {"name": SERVER_NAME, "interface": {"displayName": TITLE}, "plugins": [listed]}


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    root = Path(sys.argv[1])
    for path, text in files().items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="\n")
        sys.stdout.write(f"{place}\n")
