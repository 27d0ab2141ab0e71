"""Merging into TOML: comments, order and layout of everything else stay."""

import tempfile
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.errors import Refused
from clew.setup.clients.configure import client_config, write_plan
from clew.setup.clients.toml_text import toml_value

# Verifies: REQ-d00018-C

FRAGMENTS = [
    "# a comment with [brackets]",
    "[profiles.fast]\nmodel = 'small' # why",
    '[mcp_servers.docs]\ncommand = "npx"\nargs = [\n  "-y", # yes\n  "docs",\n]',
    "[mcp_servers.docs.env]\nTOKEN = '''\n[mcp_servers.clew]\n'''",
    "[[history]]\nname = 1",
    "[[history]]\nname = 1979-05-27",
    "",
]


@settings(max_examples=examples(100))
@given(
    top=st.sampled_from(["", 'model = "x"\n', "model = 'x'\nnested.key = 1\n"]),
    fragments=st.lists(st.sampled_from(FRAGMENTS), unique=True),
    newline=st.sampled_from(["\n", "\r\n"]),
    ends=st.booleans(),
)
def test_merging_keeps_every_line_and_is_done_once(top, fragments, newline, ends):
    before = (top + "\n".join(fragments) + ("\n" if ends else "")).replace("\n", newline)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("CODEX_HOME", folder)
        path = Path(folder) / "config.toml"
        path.write_bytes(before.encode())

        write_plan(client_config("codex", Path(folder), ("clew",)))
        after = path.read_bytes().decode()
        again = client_config("codex", Path(folder), ("clew",))
        expected = {"command": "clew", "args": ["serve", str(Path(folder).resolve())]}

    merged = tomllib.loads(after)
    assert merged["mcp_servers"].pop("clew") == expected
    assert merged == {"mcp_servers": {}, **tomllib.loads(before)}
    if before.strip():
        assert after.startswith(before)
        assert "\n" not in after.replace("\r\n", "") or "\r\n" not in before
    assert again.state == "same"


@pytest.fixture
def codex(home: Path) -> Path:
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    return path


def test_force_replaces_only_the_two_keys_of_the_entry(project, codex):
    codex.write_text(
        "# top\n[mcp_servers.clew] # mine\n# how it starts\ncommand = 'old'\nargs = [\n  'a', # first\n  'b',\n]\n"
        "startup_timeout_sec = 30\n\n[mcp_servers.clew.env]\nA = '1'\n\n[other]\nx = 1\n"
    )

    assert client_config("codex", project, ("clew",)).state == "differs"
    plan = client_config("codex", project, ("clew",), force=True)

    assert plan.after == (
        f'# top\n[mcp_servers.clew] # mine\n# how it starts\ncommand = "clew"\n'
        f'args = ["serve", {toml_value(str(project))}]\n'
        "startup_timeout_sec = 30\n\n[mcp_servers.clew.env]\nA = '1'\n\n[other]\nx = 1\n"
    )


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = { docs = { command = 'x' } } # all\n",
        "[mcp_servers]\nclew = { command = 'x', env = {} } # all\n",
        "mcp_servers.clew.command = 'x' # all\nother = 1\n",
    ],
)
def test_tables_on_one_line_and_dotted_keys_are_extended_where_they_stand(project, codex, text, newline):
    codex.write_bytes(text.replace("\n", newline).encode())

    plan = client_config("codex", project, ("clew",), force=True)

    expected = tomllib.loads(text)
    own = expected["mcp_servers"].setdefault("clew", {})
    own |= {"command": "clew", "args": ["serve", str(project)]}
    assert tomllib.loads(plan.after) == expected
    assert plan.after.count(newline) == plan.after.count("\n")
    assert " # all" in plan.after


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("model = \n", "not valid TOML"),
        ("mcp_servers = 1\n", "not a table"),
        ("[mcp_servers.clew]\nurl = 'https://example.com/mcp'\n", "remote server"),
        ("[[mcp_servers]]\nname = 'x'\n", "not a table"),
    ],
)
def test_what_cannot_be_extended_is_refused_with_the_lines_to_paste(project, codex, text, reason):
    codex.write_text(text)

    with pytest.raises(Refused, match=reason) as caught:
        client_config("codex", project, ("clew",), force=True)

    assert tomllib.loads(caught.value.hint.partition("\n")[2])["mcp_servers"]["clew"]["command"] == "clew"
    assert codex.read_text() == text


@given(st.text() | st.lists(st.text(), max_size=3))
def test_any_text_survives_quoting(value):
    assert tomllib.loads(f"x = {toml_value(value)}")["x"] == value
