"""`clew init --memory`: hooks in the files of hosts, and out again."""

import json

import pytest

from clew.errors import InvalidArgument, Refused
from clew.memory.hooks.hosts import event_kind
from clew.setup.hooks import HOOK_FILES

SETTINGS = """{
  "permissions": {"allow": ["Bash"]},
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "say done"}]}
    ],
    "PostToolUse": []
  }
}
"""


@pytest.fixture
def small(plant, requirement):
    return plant({"spec/a.md": requirement})


# Verifies: REQ-d00314-A
@pytest.mark.parametrize("client", list(HOOK_FILES))
def test_every_event_gets_a_line_that_clew_understands(small, run_init, client, home):
    assert run_init("--client", client, "--memory").code == 0
    text = (small / HOOK_FILES[client].path).read_text()
    hooks = json.loads(text)["hooks"]
    assert list(hooks) == list(HOOK_FILES[client].events)
    assert all(event_kind(event) for event in hooks)
    for event, (line,) in hooks.items():
        hook = line["hooks"][0] if "hooks" in line else line
        assert hook["command"].endswith(f"hook {event} --host {client}")
    again = run_init("--client", client, "--memory")
    assert "Nothing changed" in again.out
    assert (small / HOOK_FILES[client].path).read_text() == text


# Verifies: REQ-d00314-A+B
def test_what_a_file_held_stays_and_comes_out_byte_by_byte(small, run_init):
    place = small / ".claude/settings.json"
    place.parent.mkdir()
    place.write_text(SETTINGS)
    run_init("--client", "claude-code")
    outcome = run_init("--client", "claude-code", "--memory")
    assert "added         .claude/settings.json (memory hooks)" in outcome.out
    settings = json.loads(place.read_text())
    assert settings["permissions"] == {"allow": ["Bash"]}
    assert settings["hooks"]["Stop"][0]["hooks"][0]["command"] == "say done"
    assert len(settings["hooks"]["Stop"]) == 2
    assert "removed" in run_init("--no-memory").out
    assert json.loads(place.read_text()) == {
        **json.loads(SETTINGS),
        "hooks": {"Stop": json.loads(SETTINGS)["hooks"]["Stop"]},
    }
    assert place.read_text().startswith(SETTINGS[: SETTINGS.index('    "PostToolUse"') - 2])


# Verifies: REQ-d00314-B
def test_files_that_only_clew_made_go_with_the_hooks(small, run_init, snapshot, home):
    for client in HOOK_FILES:
        run_init("--client", client)
    before = {path: data for path, data in snapshot(small).items() if not path.startswith(".clew/")}
    for client in HOOK_FILES:
        run_init("--client", client, "--memory")
    assert "inject_context" in (small / "AGENTS.md").read_text()
    run_init("--no-memory")
    assert {path: data for path, data in snapshot(small).items() if not path.startswith(".clew/")} == before


# Verifies: REQ-d00314-B
def test_lines_for_agents_leave_the_rest_of_the_file_alone(small, run_init):
    notes = small / "AGENTS.md"
    notes.write_text("# Rules\n\nBe brief.\n")
    run_init("--client", "cursor", "--memory")
    assert notes.read_text().startswith("# Rules\n\nBe brief.\n\n<!-- clew memory: begin -->")
    run_init("--client", "cursor", "--no-memory")
    assert notes.read_text() == "# Rules\n\nBe brief.\n"


# Verifies: REQ-d00314-A
def test_the_assistants_words_are_kept_only_where_the_line_says_so(small, run_init):
    run_init("--client", "claude-code", "--memory")
    assert "--answers" not in (small / ".claude/settings.json").read_text()
    run_init("--client", "claude-code", "--memory", "--answers")
    hooks = json.loads((small / ".claude/settings.json").read_text())["hooks"]
    with_answers = [event for event, lines in hooks.items() if "--answers" in json.dumps(lines)]
    assert with_answers == ["Stop"]


# Verifies: REQ-d00314-C
def test_what_cannot_be_edited_is_refused_before_anything_is_written(small, run_init, snapshot):
    place = small / ".claude/settings.json"
    place.parent.mkdir()
    place.write_text('{"hooks": [] nonsense\n}')
    before = snapshot(small)
    with pytest.raises(Refused, match="was not changed"):
        run_init("--client", "claude-code", "--memory")
    with pytest.raises(InvalidArgument, match="no hooks"):
        run_init("--client", "claude-desktop", "--memory")
    with pytest.raises(Refused, match="was not changed"):
        run_init("--memory")
    assert snapshot(small) == before


# Verifies: REQ-d00314-C
def test_hooks_need_a_client_that_has_any(small, run_init, snapshot):
    before = snapshot(small)
    with pytest.raises(InvalidArgument, match="needs a client"):
        run_init("--memory")
    (small / ".zed").mkdir()
    with pytest.raises(InvalidArgument, match="needs a client"):
        run_init("--memory")
    assert snapshot(small) == before
    (small / "CLAUDE.md").touch()
    run_init("--memory")
    assert (small / ".claude" / "settings.json").exists()
