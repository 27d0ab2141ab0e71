"""In and out again: what `clew init` wrote goes, and nothing else."""

import json

import pytest

from clew.setup.clients.configure import CLIENTS
from clew.setup.clients.json_text import read_object, with_item, with_member, without
from clew.setup.hooks import HOOK_FILES
from clew.surfaces.cli.main import main

MINE = {
    ".mcp.json": '{\n  "mcpServers": {\n    "other": {"command": "other"}\n  }\n}\n',
    ".zed/settings.json": '// mine\n{\n  "tab_size": 2, // two\n  "context_servers": {\n    // none yet\n  },\n}\n',
    ".vscode/mcp.json": '{\n\t// one\n\t"inputs": [],\n}\n',
    ".claude/settings.json": '{\n  "hooks": {\n    "Stop": [{"hooks": [{"command": "say"}]}] // mine\n  }\n}\n',
    "AGENTS.md": "# Ours\n\nBe kind.\n",
    "README.md": "# Harbour\n",
}
IN_PROJECT = [name for name, client in CLIENTS.items() if client.in_project]


# Verifies: REQ-d00862-A
@pytest.mark.parametrize("files", [MINE, {}], ids=["beside other settings", "alone"])
def test_what_init_wrote_goes_and_every_other_byte_stays(plant, run_init, snapshot, files):
    project = plant(files)
    before = snapshot(project)
    for name in IN_PROJECT:
        memory = ("--memory",) if name in HOOK_FILES else ()
        run_init("--client", name, *memory)
    assert len(snapshot(project)) > len(before) + 5
    would = run_init("--remove", "--dry-run").out
    assert "would be" in would
    done = run_init("--remove")
    assert done.code == 0
    left = {path: data for path, data in snapshot(project).items() if not path.startswith(".clew/")}
    assert "stays: .clew/ holds" in done.out
    comments = (".zed/settings.json", ".vscode/mcp.json", ".claude/settings.json")
    assert {path: data for path, data in left.items() if path not in comments} == {
        path: data for path, data in before.items() if path not in comments
    }
    for path in comments:
        assert (path in left) == (path in before)
        if path in left:
            assert read_object(left[path].decode()).get("tab_size") == read_object(before[path].decode()).get(
                "tab_size"
            )
            for comment in ("// mine", "// two", "// one"):
                assert (comment in left[path].decode()) == (comment in before[path].decode()), path
    assert "Nothing of Clew's was found" in run_init("--remove").out


# Verifies: REQ-d00862-C
def test_what_is_not_of_clew_stays_and_is_named(plant, run_init):
    foreign = '{"mcpServers": {"clew": {"command": "rope", "args": ["pull"]}}}'
    project = plant({".mcp.json": foreign, "clew.toml": '[project]\nname = "harbour"\n', ".cursor/mcp.json": "{"})
    said = run_init("--remove").out
    assert (project / ".mcp.json").read_text() == foreign
    assert "kept: .mcp.json, because its server clew does not start Clew" in said
    assert "kept: clew.toml, because it is not what init would write here" in said
    assert "kept: .cursor/mcp.json, because it cannot be read" in said


# Verifies: REQ-d00862-B
def test_uninstall_takes_the_server_out_of_the_configuration_of_the_user(project, home, run_init, capsys):
    codex = home / ".codex" / "config.toml"
    codex.parent.mkdir()
    codex.write_text('# mine\nmodel = "x"\n')
    run_init("--client", "codex", "--client", "claude-desktop")
    assert "clew" in codex.read_text()
    assert main(["uninstall", "--json"]) == 0
    states = {each["path"].rpartition("/")[2]: each["state"] for each in json.loads(capsys.readouterr().out)["files"]}
    assert states == {"config.toml": "changed", "claude_desktop_config.json": "removed"}
    assert codex.read_text().strip() == '# mine\nmodel = "x"'
    assert not any(path.name == "claude_desktop_config.json" for path in home.rglob("*.json"))


# Verifies: REQ-d00862-E
@pytest.mark.parametrize(
    "text",
    [
        '{\n  // theme\n  "theme": "One", // dark\n  "n": [1, 2,], /* x */\n}\n',
        '{\r\n  "a": "b // c \\" /*", // one\r\n}\r\n',
        '// head\n{\n  "servers": {\n    // none yet\n  },\n}\n// tail\n',
        '{"a": 1 /* last */}',
        '{\n  "servers": {\n    "x": {"u": "http://x"} // mine\n  }\n}\n',
    ],
)
def test_json_with_comments_is_edited_in_place(text):
    before = read_object(text)
    comments = [
        each
        for each in (
            "// theme",
            "// dark",
            "/* x */",
            "// one",
            "// head",
            "// none yet",
            "// tail",
            "/* last */",
            "// mine",
        )
        if each in text
    ]
    made = with_member(text, "servers", "clew", {"command": "clew"})
    assert read_object(made) == {**before, "servers": {**before.get("servers", {}), "clew": {"command": "clew"}}}
    assert [each for each in comments if each in made] == comments
    assert made.count("\r\n") >= text.count("\r\n")
    back = without(made, ("servers", "clew"))
    assert read_object(back) == {**before, "servers": before.get("servers", {})}
    assert [each for each in comments if each in back] == [
        each for each in comments if each != "// none yet" or each in back
    ]
    listed = with_item(text, "hooks", "Stop", {"command": "clew"})
    assert read_object(listed)["hooks"] == {"Stop": [{"command": "clew"}]}
    assert [each for each in comments if each in listed] == comments


# Verifies: REQ-d00862-F
def test_init_writes_for_the_clients_that_are_used_here_and_names_the_commands_for_the_rest(plant, run_init):
    project = plant({"CLAUDE.md": "# Ours\n", ".zed/settings.json": "{}", "GEMINI.txt": "no"})
    said = run_init().out
    assert read_object((project / ".mcp.json").read_text())["mcpServers"]["clew"]["command"] == "clew"
    assert "context_servers" in (project / ".zed" / "settings.json").read_text()
    for path in (".cursor", ".vscode", ".gemini", ".github", "opencode.json"):
        assert not (project / path).exists()
    assert "--client cursor" in said
    assert "--client claude-code  " not in said
    assert "Nothing changed" in run_init().out
