"""Declarations in a settings file: changed in its text, with every other byte as it was."""

import tomllib

import pytest

from clew.errors import AlreadyExists, NotFound, Refused
from clew.formats.elspais.write.declarations import add, declared, remove, rename, spelled, update

FILE = ".elspais.toml"
HEAD = b'# ours\r\n[project]\r\nname = "clock"\r\n'
TEXT = b"""[project]
name = "clock"  # [scopes.no]

# what the sponsor sees
[scopes.sponsor]  # read by the sponsor
level = ["prd"]  # product
not_status = [
    "Deprecated",  # gone
]
# why it is so

# what the auditor sees
[scopes."auditor"]
level = ["prd", "ops"]
"""


# Verifies: REQ-d00399-B
def test_a_declaration_is_added_at_the_end() -> None:
    made = add(HEAD, FILE, "board", {"level": ["prd"], "match_status_roles": True})
    assert made == HEAD + b'\r\n[scopes.board]\r\nlevel = ["prd"]\r\nmatch_status_roles = true\r\n'
    assert declared(made, FILE) == {"board": {"level": ["prd"], "match_status_roles": True}}
    assert add(b"a = 1", FILE, "b", {}) == b"a = 1\n\n[scopes.b]\n"
    assert add(b"", FILE, "b", {}) == b"[scopes.b]\n"


# Verifies: REQ-d00399-B
def test_a_changed_declaration_keeps_what_was_not_changed() -> None:
    made = update(TEXT, FILE, "sponsor", {"level": ["ops"], "not_status": ["Deprecated"], "values": ["tested"]})
    assert made == TEXT.replace(b'level = ["prd"]  #', b'level = ["ops"]  #').replace(
        b"]\n# why", b']\nvalues = ["tested"]\n# why'
    )
    gone = update(TEXT, FILE, "sponsor", {"status": ["Active"]})
    assert b'[scopes.sponsor]  # read by the sponsor\nstatus = ["Active"]\n# why it is so\n' in gone
    assert update(TEXT, FILE, "sponsor", dict(declared(TEXT, FILE)["sponsor"])) == TEXT
    assert update(TEXT, FILE, "auditor", {}).endswith(b'[scopes."auditor"]\n')
    several = update(TEXT, FILE, "sponsor", {"level": ["prd"], "not_status": ["Old"]})
    assert b'level = ["prd"]  # product\nnot_status = ["Old"]\n# why' in several


# Verifies: REQ-d00399-B
def test_a_declaration_is_renamed_in_its_place() -> None:
    assert rename(TEXT, FILE, "auditor", "Reader") == TEXT.replace(b'"auditor"', b"Reader")
    assert rename(TEXT, FILE, "sponsor", "Sponsor") == TEXT.replace(b"scopes.sponsor", b"scopes.Sponsor")
    with pytest.raises(AlreadyExists, match=r"\[scopes.auditor\] already"):
        rename(TEXT, FILE, "sponsor", "AUDITOR")


# Verifies: REQ-d00399-B
def test_a_removed_declaration_leaves_the_comments_of_others() -> None:
    before, _, rest = TEXT.partition(b"[scopes.sponsor]")
    assert remove(TEXT, FILE, "sponsor") == before + rest[rest.index(b"# why") :]
    last = remove(TEXT, FILE, "auditor")
    assert last.endswith(b"# what the auditor sees\n")
    assert remove(add(HEAD, FILE, "board", {}), FILE, "board") == HEAD


# Verifies: REQ-d00399-C
@pytest.mark.parametrize("name", ["1st", "a b", "a.b", "ä", "-a", 'a"]\nx = 1'])
def test_a_name_that_elspais_refuses_is_refused(name: str) -> None:
    with pytest.raises(Refused, match="cannot be the name"):
        add(TEXT, FILE, name, {})
    with pytest.raises(Refused, match="cannot be the name"):
        rename(TEXT, FILE, "sponsor", name)


# Verifies: REQ-d00399-C
@pytest.mark.parametrize(
    "data",
    [
        b'scopes = { board = { level = ["prd"] } }\n',
        b'[scopes]\nboard.level = ["prd"]\n',
        b'[scopes]\nboard = { level = ["prd"] }\n',
        b'text = """\n[scopes.board]\n"""\n[scopes]\nboard.level = ["prd"]\n',
    ],
)
def test_what_is_written_otherwise_is_left_alone(data: bytes) -> None:
    for change in (lambda: update(data, FILE, "board", {}), lambda: remove(data, FILE, "board")):
        with pytest.raises(Refused, match=FILE.replace(".", r"\.")):
            change()


# Verifies: REQ-d00399-C
def test_case_does_not_count_and_unknown_names_are_told() -> None:
    assert spelled(TEXT, FILE, "SPONSOR") == "sponsor"
    with pytest.raises(AlreadyExists):
        add(TEXT, FILE, "Sponsor", {})
    with pytest.raises(NotFound, match=r"declares no \[scopes.board\]") as failure:
        spelled(TEXT, FILE, "board")
    assert failure.value.hint == "It declares: sponsor, auditor."


# Verifies: REQ-d00399-B
@pytest.mark.parametrize(
    "value",
    [
        '["a", "b"]  # [ " {',
        "[  # \"first\n  [\"a # ]\", '\"'],\n  ['b\\'],\n]  # last",
        '"""\n[scopes.x]\nlevel = 1 # \\""" "" """""',
        "'''\n] \\\n'''",
        '"\\" # ]" # said',
        '{ a = "}", b = [1] }',
        '"a\u2028b" # c\u2028level = 2',
        "true",
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n# end\n[other]\nlevel = 1\n"])
def test_a_value_ends_where_toml_says(value: str, newline: str, end: str) -> None:
    def written(text: str) -> bytes:
        return text.replace("\n", newline).encode()

    text = f"[scopes.x]\nfirst = 1\nlevel = {value}\nlast = 2 # z{end}"
    tomllib.loads(text)
    whole = dict(declared(written(text), FILE)["x"])
    made = update(written(text), FILE, "x", {**whole, "last": 3})
    assert made == written(text.replace("last = 2", "last = 3") + ("" if end else "\n"))
    del whole["level"]
    assert update(written(text), FILE, "x", whole) == written(f"[scopes.x]\nfirst = 1\nlast = 2 # z{end}")


# Verifies: REQ-d00399-B
def test_a_long_value_is_not_parsed_for_each_of_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    loads = tomllib.loads
    monkeypatch.setattr("tomllib.loads", lambda text: parsed.append(text) or loads(text))
    rows = "".join(f'  "{number}", # {number}\n' for number in range(100))
    update(f"[scopes.x]\nlevel = [\n{rows}] # all\n".encode(), FILE, "x", {"level": ["a"]})
    assert len(parsed) < 10
