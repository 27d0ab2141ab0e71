"""What is in the history alone: what was looked through is said, and nothing is kept of what git did not answer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.why.asking import Servers
from tests.why.histories import BOB, Repository, gone, merged, released

from clew.why import inquiry
from clew.why.story import patient


@pytest.fixture
def servers() -> Iterator[Servers]:
    servers = Servers()
    yield servers
    servers.close()


def sections(servers: Servers, folder: Path, target: str) -> dict[str, dict[str, Any]]:
    data, text, is_error = servers.why(folder, target)
    assert not is_error, text
    return {each["name"]: each for each in data["sections"]}


def told(section: dict[str, Any]) -> str:
    facts = (f"{fact['text']} {fact.get('place', '')}" for fact in section.get("facts", ()))
    return "\n".join([*facts, section.get("note", "")])


def two_projects(folder: Path) -> Repository:
    """A repository with two projects, which had definitions of the same name."""
    repo = Repository(folder)
    begin = {"clew.toml": "", "bell.py": "def ring_the_bell():\n    return 1\n\n\nSTRIKES = 3\n"}
    repo.commit("Ring in the harbour (#4)", {f"harbour/{name}": text for name, text in begin.items()})
    repo.commit("Ring in the town (#4)", {f"town/{name}": text for name, text in begin.items()})
    repo.commit("No bell in the harbour\n\nThe gulls were scared.", {"harbour/bell.py": "STRIKES = 3\n"})
    repo.commit("No bell in the town\n\nNobody slept.", {"town/bell.py": "STRIKES = 3\n"}, who=BOB)
    repo.commit("Two strikes in the town", {"town/bell.py": "STRIKES = 2\n"}, who=BOB)
    return repo


# Verifies: REQ-d00757-E
def test_a_project_in_a_folder_of_its_repository_is_told_about_itself(servers: Servers, tmp_path: Path) -> None:
    two_projects(tmp_path)
    harbour = tmp_path / "harbour"
    name = sections(servers, harbour, "ring_the_bell")
    assert "The gulls were scared." in told(name["reason"])
    assert "removed from bell.py:1" in told(name["made_by"])
    assert "town" not in told(name["made_by"])
    client = servers.client(harbour)
    text = client.result("why", target="STRIKES = 2", history=True).text
    assert "No commit added or removed this text. Looked through the 5 commits" in text
    assert "for the files of this folder" in text
    between = told(sections(servers, harbour, "HEAD~3..HEAD")["made_by"])
    assert ("No bell in the harbour" in between, "town" in between) == (True, False)
    number = told(sections(servers, harbour, "#4")["made_by"])
    assert ("Ring in the harbour" in number, "Ring in the town" in number) == (True, False)


# Verifies: REQ-d00757-E
def test_a_move_inside_a_project_is_told_with_the_paths_of_the_project(servers: Servers, tmp_path: Path) -> None:
    repo = Repository(tmp_path)
    body = "".join(f"    total = total + weight_of_the_sample_number_{n} * scale\n" for n in range(6))
    weigh = f"def weigh(total, scale):\n{body}    return total\n"
    kept = "def report():\n    return 'nothing yet'\n"
    repo.commit("Weigh", {"lab/a.py": weigh, "lab/b.py": kept, "lab/clew.toml": ""})
    repo.commit("Put it beside the report", {"lab/a.py": "", "lab/b.py": f"{kept}\n\n{weigh}"})
    assert "moved or copied it from a.py:" in told(sections(servers, tmp_path / "lab", "b.py:7")["made_by"])


# Verifies: REQ-d00757-C
@pytest.mark.parametrize("path", ["nowhere.py", "../elsewhere", "/etc"])
def test_a_path_that_never_was_is_named(servers: Servers, tmp_path: Path, path: str) -> None:
    gone(tmp_path / "project")
    _, text, is_error = servers.why(tmp_path / "project", f"HEAD~2..HEAD {path}")
    assert is_error
    assert path in text
    removed = sections(servers, tmp_path / "project", "HEAD~2..HEAD harbour")
    assert "The sand moved them." in told(removed["made_by"])


# Verifies: REQ-d00757-F
def test_a_name_that_never_was_says_how_many_commits_were_looked_through(servers: Servers, tmp_path: Path) -> None:
    gone(tmp_path / "project")
    _, text, is_error = servers.why(tmp_path / "project", "light_the_moon")
    assert is_error
    assert "none of 5 commits has a definition of it" in text


# Verifies: REQ-d00757-A, REQ-d00757-D
@pytest.mark.parametrize("target", ["light_lamp", "WICK_LENGTH = 3"])
def test_a_search_that_had_no_time_says_so_and_goes_on(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    gone(tmp_path / "project")
    client = servers.client(tmp_path / "project")
    is_text = " " in target
    with monkeypatch.context() as patched:
        patched.setattr(patient, "MOST_SECONDS", 0.0)
        assert "Not known yet" in client.result("why", target=target, history=is_text).text
    found = client.result("why", target=target, history=is_text)
    assert not found.is_error
    assert "Not known yet" not in found.text
    assert "Looked through the 5 commits" in found.text


# Verifies: REQ-d00361-H
def test_what_git_had_no_time_to_say_is_asked_again(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    merged(tmp_path / "project")
    servers.why(tmp_path / "project", "a.py")
    with monkeypatch.context() as patched:
        patched.setattr(inquiry, "DEADLINE_SECONDS", 0.0)
        patched.setattr(inquiry, "LAST_SECONDS", 0.0)
        _, text, _ = servers.why(tmp_path / "project", "HEAD^2")
        assert "Git did not answer everything" in text
    _, text, _ = servers.why(tmp_path / "project", "HEAD^2")
    assert "#77" in text
    assert "Git did not answer everything" not in text


# Verifies: REQ-d00361-F
def test_an_entry_of_the_changelog_is_told_at_its_place_now(servers: Servers, tmp_path: Path) -> None:
    released(tmp_path / "project")
    file = tmp_path / "project" / "CHANGES.md"
    assert "CHANGES.md:5" in told(sections(servers, tmp_path / "project", "tide.py:5")["made_by"])
    file.write_text(file.read_text().replace("## 1.1", "## 1.2\n\n- More.\n\n## 1.1"))
    assert "CHANGES.md:9" in told(sections(servers, tmp_path / "project", "tide.py:5")["made_by"])


# Verifies: REQ-d00361-F
def test_the_merge_is_the_one_that_brought_the_commit_in(servers: Servers, tmp_path: Path) -> None:
    repo = Repository(tmp_path / "project")
    repo.commit("Begin", {"a.py": "one = 1\n"})
    repo.git("checkout", "-q", "-b", "local")
    repo.commit("On a copy", {"local.py": "local = 1\n"})
    repo.git("checkout", "-q", "main")
    repo.git("checkout", "-q", "-b", "feature")
    repo.commit("Warn of low water", {"warn.py": "def warn():\n    return 'low'\n"}, who=BOB)
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge pull request #77 from bob/feature", "feature")
    written = repo.commit("Straight on it", {"straight.py": "straight = 1\n"})
    repo.git("checkout", "-q", "local")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge branch 'main' of example.org:harbour", "main")
    assert "#77" in told(sections(servers, tmp_path / "project", "warn.py:2")["made_by"])
    assert "merged by" not in told(sections(servers, tmp_path / "project", written)["made_by"])


# Verifies: REQ-d00361-F
def test_an_entry_is_told_where_it_is_now_in_a_changelog_of_another_name_and_markup(
    servers: Servers, tmp_path: Path
) -> None:
    repo = Repository(tmp_path / "project")
    repo.commit("Begin", {"README.md": "# Bells\n"})
    old = "Version 2.0\n-----------\n\n-   ``sound_bell`` rings twice at noon. :issue:`12`\n"
    repo.commit("Ring twice", {"bell.py": "def sound_bell():\n    return 2\n", "CHANGES.rst": old})
    new = (
        "# Changes\n\n## Version 2.1\n\n- More.\n\n## Version 2.0\n\n- `sound_bell` rings twice at noon. {issue}`12`\n"
    )
    repo.commit("Write it in Markdown", {"CHANGES.rst": None, "CHANGES.md": new})
    assert "CHANGES.md:9" in told(sections(servers, tmp_path / "project", "bell.py:2")["made_by"])


# Verifies: REQ-d00361-I
def test_several_definitions_are_told_with_the_commit_that_made_them(servers: Servers, tmp_path: Path) -> None:
    repo = Repository(tmp_path / "project")
    one = "def sound_the_bell(times):\n    return times\n"
    made = repo.commit(
        "Ring everywhere (#9)\n\nBoth towers must ring, because fog hides one.",
        {"east/bell.py": one, "west/bell.py": one},
    )
    found = sections(servers, tmp_path / "project", "sound_the_bell")
    assert "Both towers must ring" in told(found["reason"])
    assert [made[:12] in fact["text"] and "#9" in fact["text"] for fact in found["definitions"]["facts"]] == [
        True,
        True,
    ]
    other = repo.commit("Twice in the west", {"west/bell.py": one.replace("return times", "return 2 * times")}, who=BOB)
    repo.commit(
        "And four times", {"west/bell.py": one.replace("(times)", "(count)").replace("return times", "return 4")}
    )
    found = sections(servers, tmp_path / "project", "sound_the_bell")
    assert "reason" not in found
    assert (made[:12] in told(found["definitions"]), other[:12] in told(found["definitions"])) == (True, False)


# Verifies: REQ-d00361-I
def test_a_function_that_was_written_again_is_told_with_its_beginning(servers: Servers, tmp_path: Path) -> None:
    repo = Repository(tmp_path / "project")
    repo.commit("Measure the tide (#3)", {"tide.js": "function tideNow(port) {\n  return port.level;\n}\n"})
    repo.git("tag", "v1.0")
    repo.commit("Measure twice", {"tide.js": "function tideNow(port, unit) {\n  return unit.of(port.level * 2);\n}\n"})
    made = told(sections(servers, tmp_path / "project", "tide.js:2")["made_by"])
    assert 'tideNow began with "Measure the tide (#3)"' in made
    assert "First in v1.0." in made


# Verifies: REQ-d00757-A
def test_a_new_name_that_a_message_tells_is_told_with_its_place(servers: Servers, tmp_path: Path) -> None:
    repo = Repository(tmp_path / "project")
    repo.commit("Light it", {"lamp.py": "def light_lamp(oil):\n    return oil\n"})
    new = {"lamp.py": "OIL = 1\n", "gas.py": "GAS = 1\n\n\ndef ignite_lamp(gas, wick):\n    return gas\n"}
    repo.commit("Rename light_lamp() to ignite_lamp()", new)
    what = told(sections(servers, tmp_path / "project", "light_lamp")["what"])
    assert "called ignite_lamp since" in what
    assert "now at gas.py:4" in what
