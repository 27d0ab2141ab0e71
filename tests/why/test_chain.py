"""The chain behind lines follows each line by itself."""

from pathlib import Path

import pytest
from tests.why.asking import Servers
from tests.why.histories import BOB, Repository

from clew.why.story.asking import GitQuestions
from clew.why.story.chain import Chain, ChainWalk
from clew.workspace.git import history as git_history

WEIGH = """def weigh(cargo):
    first = the_weight_of_the_cargo_on_deck(cargo)
    second = the_weight_of_the_cargo_below(cargo)
    third = the_weight_of_the_ballast(cargo)
    return first + second + third
"""
PAINT = "def paint(ship):\n    colour = choose_a_colour(ship)\n    ship.colour = colour\n    return ship\n"


def chain_of(folder: Path, path: str, first: int, last: int, seconds: float = 60.0) -> Chain:
    blamed = git_history.blame(folder, path, [(first, last)])
    assert blamed is not None
    return ChainWalk(folder, (), lambda id: "", GitQuestions(seconds)).from_lines(blamed)


# Verifies: REQ-d00361-G
def test_a_line_that_a_commit_wrote_is_its_own_though_its_neighbours_moved(tmp_path: Path) -> None:
    repo = Repository(tmp_path)
    first = repo.commit("Weigh", {"ship.py": f"{WEIGH}\n\n{PAINT}"})
    changed = WEIGH.replace("    third = the_weight_of_the_ballast(cargo)\n", "    third = 2 * ballast_tank(cargo)\n")
    second = repo.commit("Weigh behind painting, and the tank twice", {"ship.py": f"{PAINT}\n\n{changed}"}, who=BOB)
    chain = chain_of(tmp_path, "ship.py", 7, 11)
    assert chain.decided == {first: 4, second: 1}
    assert [(step.action, step.lines) for step in chain.steps] == [("moved it inside the file", 4)]


# Verifies: REQ-d00361-G
def test_lines_that_a_formatter_joined_belong_to_who_changed_them_last(tmp_path: Path) -> None:
    repo = Repository(tmp_path)
    repo.commit("Load", {"load.py": "total = load(\n    the_first_ship,\n    the_second_ship,\n)\n"})
    second = repo.commit(
        "Another", {"load.py": "total = load(\n    the_first_ship,\n    the_third_ship,\n)\n"}, who=BOB
    )
    repo.commit("Run a formatter", {"load.py": "total = load(the_first_ship, the_third_ship)\n"})
    assert chain_of(tmp_path, "load.py", 1, 1).decided == {second: 1}


# Verifies: REQ-d00361-G
@pytest.mark.parametrize(
    "line", ["    return the_total_of_all", "    assert the_answer_of_the_port.status_code_of_it == 200"]
)
def test_a_common_line_was_not_moved(tmp_path: Path, line: str) -> None:
    repo = Repository(tmp_path)
    other = f"def other(x):\n    work(x)\n{line}\n"
    kept = "".join(f"KEPT_{number} = {number}\n" for number in range(9))
    begin = f"def begin(x):\n    start_it(x)\n{line}\n"
    repo.commit("Begin", {"port.py": f"{begin}{kept}{other}"})
    end = f"def finish(y):\n    end_it(y)\n{line}\n"
    second = repo.commit("Finish instead", {"port.py": f"{kept}{other}{kept.replace('KEPT', 'MORE')}{end}"}, who=BOB)
    last = (tmp_path / "port.py").read_text().count("\n")
    chain = chain_of(tmp_path, "port.py", last, last)
    assert (chain.decided, chain.steps) == ({second: 1}, ())


# Verifies: REQ-d00361-G
def test_a_short_line_moves_with_the_passage_around_it(tmp_path: Path) -> None:
    repo = Repository(tmp_path)
    kept = "".join(f"KEPT_{number} = {number}\n" for number in range(9))
    first = repo.commit("Begin", {"ship.py": f"{WEIGH}{kept}{PAINT}"})
    repo.commit("Weigh last", {"ship.py": f"{kept}{PAINT}{WEIGH}"}, who=BOB)
    last = (tmp_path / "ship.py").read_text().count("\n")
    assert chain_of(tmp_path, "ship.py", last, last).decided == {first: 1}


# Verifies: REQ-d00361-B
def test_only_what_stood_there_before_was_brought_back(tmp_path: Path) -> None:
    repo = Repository(tmp_path)
    kept = "A = 1\nB = 2\n"
    first = repo.commit("Limit the speed", {"speed.py": f"{kept}LIMIT_OF_SPEED = 5\n"})
    removed = repo.commit("No limit", {"speed.py": kept})
    message = f'Revert "No limit"\n\nThis reverts commit {removed}.'
    last = repo.commit(message, {"speed.py": f"{kept}LIMIT_OF_SPEED = 5\nLIMIT_AT_NIGHT = 3\n"})
    blamed = git_history.blame(tmp_path, "speed.py", [(3, 4)])
    assert blamed is not None
    chain = ChainWalk(tmp_path, (), {last: message}.get, GitQuestions(60.0)).from_lines(blamed)  # type: ignore[arg-type]
    assert chain.decided == {first: 1, last: 1}


# Verifies: REQ-d00361-G
def test_brackets_and_blanks_go_with_the_line_above(tmp_path: Path) -> None:
    repo = Repository(tmp_path)
    first = repo.commit("Load", {"load.js": "load(theFirstShip);\nload(theLastShip);\n"})
    repo.commit("Give it room", {"load.js": "load(\n  theFirstShip\n);\n\nload(theLastShip);\n"}, who=BOB)
    servers = Servers()
    try:
        data, _, _ = servers.why(tmp_path, "load.js:1-5")
    finally:
        servers.close()
    made = next(each for each in data["sections"] if each["name"] == "made_by")
    assert [fact["place"] for fact in made["facts"] if "lines: " in fact["text"]] == []
    assert made["facts"][0]["place"] == first[:12]


# Verifies: REQ-d00361-H
def test_a_walk_without_time_says_so(tmp_path: Path) -> None:
    repo = Repository(tmp_path)
    repo.commit("Load", {"load.py": "total = load(  the_first_ship )\n"})
    second = repo.commit("Run a formatter", {"load.py": "total = load(the_first_ship)\n"})
    chain = chain_of(tmp_path, "load.py", 1, 1, seconds=0.0)
    assert (chain.decided, chain.not_followed, chain.is_whole) == ({second: 1}, 1, False)


# Verifies: REQ-d00361-H
def test_a_partial_clone_says_that_contents_are_missing(tmp_path: Path) -> None:
    repo = Repository(tmp_path / "whole")
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.commit("Load", {"load.py": "total = load(  the_first_ship )\n"})
    repo.commit("Run a formatter", {"load.py": "total = load(the_first_ship)\n"})
    repo.git("clone", "-q", "--filter=blob:none", f"file://{tmp_path / 'whole'}", str(tmp_path / "part"))
    servers = Servers()
    try:
        data, _, _ = servers.why(tmp_path / "part", "load.py:1")
    finally:
        servers.close()
    made = next(each for each in data["sections"] if each["name"] == "made_by")
    assert "contents are not in this clone; these are the commits of the file" in made["note"]


# Verifies: REQ-d00361-C
def test_what_changed_with_the_commit_that_a_shallow_clone_begins_with_is_not_told(tmp_path: Path) -> None:
    repo = Repository(tmp_path / "whole")
    repo.commit("Load", {"load.py": "total = load(the_first_ship)\n", "docs/load.md": "# Load\n"})
    repo.commit("Go on", {"other.py": "X = 1\n"})
    repo.git("clone", "-q", "--depth", "1", f"file://{tmp_path / 'whole'}", str(tmp_path / "part"))
    servers = Servers()
    try:
        data, _, _ = servers.why(tmp_path / "part", "load.py:1")
    finally:
        servers.close()
    made = next(each for each in data["sections"] if each["name"] == "made_by")
    assert [fact["text"] for fact in made["facts"]] == [
        "this commit or an earlier one; the shallow clone begins with it"
    ]
