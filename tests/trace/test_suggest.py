"""Which requirements tests and code without a link belong to."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.project import Project
from clew.trace.links.match import prepare as suggest_prepare
from clew.trace.links.match.matching import Candidates
from clew.trace.links.requests import SuggestionQuery, SuggestionSearch

Ask = Callable[..., dict[str, Any]]
Plant = Callable[..., Project]

WORDS_ALONE = '[embedder]\nkind = "none"\n'

TITLES = {
    "d00001": "Reading a tide table",
    "d00002": "Exit codes of the program",
    "d00003": "Printing the plan in words",
    "d00004": "Refusing an expired session token",
    "d00005": "Limits of the upload queue",
    "d00006": "Rounding of prices",
}
ASSERTIONS = {
    "d00001": [
        "A tide table SHALL be read from a file of heights.",
        "A turn of the tide out of order SHALL be refused.",
    ],
    "d00002": ["The program SHALL exit with code 0 when a plan was printed.", "Bad options SHALL exit with code 2."],
    "d00003": ["The plan SHALL be printed as sentences of at most 72 characters."],
    "d00004": ["An expired session token SHALL be refused.", "A refused token SHALL be written to the audit log."],
    "d00005": ["The queue SHALL hold at most 100 uploads.", "An upload over the limit SHALL wait."],
    "d00006": ["Prices SHALL be rounded half to even.", "A negative price SHALL be refused."],
}

TESTS = '''"""Tests of sessions."""


def test_expired_session_tokens_are_refused():
    """A token that is too old opens nothing."""
    session = open_session(token="expired")
    assert session.refused


def test_prices_are_rounded_half_to_even():
    assert rounded("0.125") == "0.12"
'''


@pytest.fixture
def suggested(plant: Plant) -> Callable[..., Any]:
    """Plants the six requirements with some files and asks for suggestions."""

    def suggest(files: dict[str, str], path: str | None = None, **options: Any) -> Any:
        project = plant(
            dict.fromkeys(TITLES, ()),
            assertions=ASSERTIONS,
            titles=TITLES,
            files={"clew.toml": WORDS_ALONE, **files},
        )
        return project.links.suggest(SuggestionSearch(path, **options))

    return suggest


def best(page: Any) -> dict[str, str]:
    """The first suggestion for each test or piece of code."""
    found: dict[str, str] = {}
    for each in page.suggestions:
        found.setdefault(each.source_label, each.requirement_id)
    return found


# Verifies: REQ-o00023-A, REQ-d00055-A+E
def test_a_suggestion_names_source_requirement_confidence_assertion_and_reasons(suggested: Any) -> None:
    page = suggested({"tests/test_sessions.py": TESTS})

    first = page.suggestions[0]
    assert (first.source_id, first.source_kind) == (
        "test:tests/test_sessions.py::test_expired_session_tokens_are_refused",
        "test",
    )
    assert (first.file, first.line) == ("tests/test_sessions.py", 4)
    assert (first.requirement_id, first.requirement_title) == ("REQ-d00004", TITLES["d00004"])
    assert first.assertion_id == "REQ-d00004-A"
    assert 0.5 < first.confidence <= 1
    assert 0 < first.assertion_confidence <= first.confidence
    assert first.confidence_band == ("high" if first.confidence >= 0.8 else "medium")
    assert "expired" in first.reason
    assert first.reason in first.reasons
    assert (first.test_id, first.test_file) == (first.source_id, first.file)
    assert best(page)["test_prices_are_rounded_half_to_even"] == "REQ-d00006"
    assert [each.confidence for each in page.suggestions] == sorted(
        (each.confidence for each in page.suggestions), reverse=True
    )


# Verifies: REQ-d00055-A
@pytest.mark.parametrize(
    ("path", "code", "label"),
    [
        ("src/tokens.py", "def refuse_expired(session_token):\n    return False\n", "refuse_expired"),
        ("src/Tokens.java", "class TokenGate {\n  boolean refusesExpiredSession() { return true; }\n}\n", "TokenGate"),
        ("src/gate.js", "// An expired session token is refused here.\nfunction gate(x) {\n  return x\n}\n", "gate"),
        ("src/tokens.sql", "-- refuses tokens of an expired session\nSELECT 1;\n", "tokens.sql"),
    ],
)
def test_names_comments_and_parts_of_identifiers_tell_the_requirement(
    suggested: Any, path: str, code: str, label: str
) -> None:
    assert best(suggested({path: code}, path)) == {label: "REQ-d00004"}


# Verifies: REQ-d00055-B
def test_without_an_embedder_words_alone_are_compared_and_the_answer_says_so(suggested: Any) -> None:
    page = suggested({"tests/test_sessions.py": TESTS})

    assert page.with_meaning is False
    assert "keywords only" in page.notes[0]


# Verifies: REQ-d00055-B
def test_with_an_embedder_texts_without_a_common_word_find_each_other(plant: Plant, tmp_path: Path) -> None:
    code = "def reject_stale_login(credential):\n    raise PermissionError('login no longer valid')\n"
    project = plant(dict.fromkeys(TITLES, ()), assertions=ASSERTIONS, titles=TITLES, files={"src/login.py": code})

    page = project.links.suggest(SuggestionQuery("src/login.py"))

    assert page.with_meaning
    assert [note for note in page.notes if "not calibrated" not in note] == []
    assert best(page) == {"reject_stale_login": "REQ-d00004"}
    assert (tmp_path / ".clew" / "link-vectors").is_dir()


# Verifies: REQ-d00055-C
@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (
            {
                "src/depth.py": "# Implements: REQ-d00001-A\ndef sound(x):\n    return x\n",
                "tests/test_other.py": "def test_one():\n    assert sound(3) == 3\n",
            },
            "calls sound(), which implements it",
        ),
        (
            {
                "src/depth.py": "# Implements: REQ-d00001-A\ndef sound(x):\n    return x\n",
                "tests/test_other.py": "import src.depth\n\n\ndef test_one():\n    assert src\n",
            },
            "imports src/depth.py, which cites it",
        ),
        (
            {
                "src/depth.py": "# Implements: REQ-d00001-A\ndef sound(x):\n    return x\n",
                "tests/test_depth.py": "def test_one():\n    assert True\n",
            },
            "named after src/depth.py, which cites it",
        ),
        (
            {
                "tests/test_other.py": "# Verifies: REQ-d00001-A\ndef test_zero():\n    assert True\n\n\n"
                "def test_one():\n    assert True\n",
            },
            "1 of 1 citations in test_other.py go there",
        ),
        (
            {
                "tests/a/test_other.py": "# Verifies: REQ-d00001-A\ndef test_zero():\n    assert True\n",
                "tests/a/test_this.py": "def test_one():\n    assert True\n",
            },
            "1 in the same folder cite it",
        ),
    ],
)
def test_links_around_count(suggested: Any, files: dict[str, str], reason: str) -> None:
    page = suggested(files, "tests")

    found = {each.requirement_id: each for each in page.suggestions if each.source_label == "test_one"}
    assert "REQ-d00001" in found
    assert reason in found["REQ-d00001"].reasons


# Verifies: REQ-d00055-D
def test_what_is_linked_already_and_what_is_retired_is_left_out(plant: Plant, tmp_path: Path) -> None:
    project = plant(
        dict.fromkeys(TITLES, ()),
        assertions=ASSERTIONS,
        titles=TITLES,
        files={
            "clew.toml": WORDS_ALONE,
            "tests/test_sessions.py": TESTS.replace("def test_expired", "# Verifies: REQ-d00004-A\ndef test_expired"),
        },
    )
    linked = project.links.suggest()
    assert (linked.considered, best(linked)) == (1, {"test_prices_are_rounded_half_to_even": "REQ-d00006"})

    spec = tmp_path / "spec" / "all.md"
    before, rounding, after = spec.read_text().rpartition("REQ-d00006")
    spec.write_text(before + rounding + after.replace("Active", "Deprecated"))
    project.refresh()

    assert "REQ-d00006" not in {each.requirement_id for each in project.links.suggest().suggestions}


# Verifies: REQ-o00023-C
def test_suggesting_changes_neither_the_graph_nor_a_file(plant: Plant, tmp_path: Path) -> None:
    project = plant(
        dict.fromkeys(TITLES, ()),
        assertions=ASSERTIONS,
        titles=TITLES,
        files={"clew.toml": WORDS_ALONE, "tests/test_sessions.py": TESTS},
    )
    graph, files = project.graph.memory.snapshot(), _files(tmp_path)

    assert project.links.suggest().suggestions

    assert project.graph.memory.snapshot() == graph
    assert _files(tmp_path) == files


def _files(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".clew" not in path.parts
    }


def test_suggestions_come_in_pages_that_belong_together(plant: Plant, ask: Ask) -> None:
    project = plant(
        dict.fromkeys(TITLES, ()),
        assertions=ASSERTIONS,
        titles=TITLES,
        files={"clew.toml": WORDS_ALONE, "tests/test_sessions.py": TESTS},
    )
    whole = ask(project, "suggest_links")
    pairs = [(each["source_id"], each["requirement_id"]) for each in whole["suggestions"]]
    assert whole["total"] == len(pairs) > 1

    seen, cursor = [], None
    while True:
        page = ask(project, "suggest_links", limit=1, **({"cursor": cursor} if cursor else {}))
        seen += [(each["source_id"], each["requirement_id"]) for each in page["suggestions"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == pairs


def test_a_project_without_requirements_or_tests_gets_no_suggestions(plant: Plant, suggested: Any) -> None:
    assert suggested({}).suggestions == ()
    project = plant({}, files={"clew.toml": WORDS_ALONE, "tests/test_a.py": "def test_a():\n    pass\n"})
    assert (project.links.suggest().total, project.links.suggest().considered) == (0, 1)


def test_files_that_cannot_be_read_cost_only_themselves(suggested: Any, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_binary.py").write_bytes(b"def test_x():\0")
    (tmp_path / "tests" / "test_latin.py").write_bytes(b"def test_expired_session_token():\n    'caf\xe9'\n")

    page = suggested({"tests/test_broken.py": "def test_prices_rounded(:\n  )("})

    assert best(page)["test_expired_session_token"] == "REQ-d00004"


# Verifies: REQ-d00055-B, REQ-d00410-D
def test_nobody_waits_for_hundreds_of_texts_to_be_read_for_meaning(plant: Plant) -> None:
    many = "\n\n".join(f"def test_token_number_{number}():\n    assert {number}" for number in range(210))
    project = plant(
        dict.fromkeys(TITLES, ()), assertions=ASSERTIONS, titles=TITLES, files={"tests/test_many.py": many + "\n"}
    )

    page = project.links.suggest()

    assert (page.considered, page.with_meaning) == (210, False)
    assert "are being embedded in the background" in page.notes[0]
    # A command ends with its answer: nothing goes on behind it, and it says who would wait.
    assert "--wait computes them first" in project.links.suggest(SuggestionQuery("tests"), ends=True).notes[0]
    # Whoever waits gets the answer by meaning, and the next one has it at once.
    assert project.links.suggest(SuggestionSearch(wait=True)).with_meaning
    assert project.links.suggest().with_meaning


# Verifies: REQ-d00410-D
def test_nothing_is_read_for_meaning_behind_a_closed_project(plant: Plant) -> None:
    before = set(threading.enumerate())
    many = "\n\n".join(f"def test_token_number_{number}():\n    assert {number}" for number in range(210))
    project = plant(
        dict.fromkeys(TITLES, ()), assertions=ASSERTIONS, titles=TITLES, files={"tests/test_many.py": many + "\n"}
    )
    project.links.suggest()
    project.close()
    # A process that ends while the encoder works in a thread would crash.
    assert [thread.name for thread in set(threading.enumerate()) - before if thread.name == "clew-links"] == []


# Verifies: REQ-d00211-A
def test_texts_are_prepared_again_only_where_they_changed(
    plant: Plant, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    class Watched(Candidates):
        def __init__(self, *arguments: Any, **more: Any) -> None:
            made.append(len(arguments[0]))
            super().__init__(*arguments, **more)

    monkeypatch.setattr(suggest_prepare, "Candidates", Watched)
    files = {"clew.toml": WORDS_ALONE, "tests/test_sessions.py": TESTS}
    project = plant(dict.fromkeys(TITLES, ()), assertions=ASSERTIONS, titles=TITLES, files=files)
    before = ask(project, "suggest_links")["suggestions"]
    ask(project, "mutate_add_edge", source_id="REQ-d00002", target_id="REQ-d00001", edge_kind="refines")
    assert ask(project, "suggest_links")["suggestions"] == before
    assert made == [6]
    ask(project, "mutate_update_title", node_id="REQ-d00004", new_title="Refusing old tokens")
    assert ask(project, "suggest_links")["suggestions"][0]["requirement_title"] == "Refusing old tokens"
    assert made == [6, 6]
    ask(project, "mutate_delete_requirement", node_id="REQ-d00006", confirm=True)
    found = ask(project, "suggest_links")["suggestions"]
    assert "REQ-d00006" not in {each["requirement_id"] for each in found}
    assert made == [6, 6, 5]
