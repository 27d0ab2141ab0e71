"""Requirements are found through the words they hold; what is found must be what reading each of them would find."""

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from clew.errors import InvalidPattern
from clew.graph.model import NodeKind
from clew.project import Project
from clew.trace.find.patterns import needed_words
from clew.trace.find.query import compile_pattern, text_matcher
from clew.trace.operations.find import ScopedSearch

Open = Callable[[Path], Project]

WORDS = (
    *("Tide", "tide-table", "TIDES", "low_water", "3.5", "Straße", "ſand", "İstanbul", "ısı", "ﬂ"),
    *("naïve", "(see)", "a's", "e.g.", "—", "潮汐", "x", "b\u0323"),
)
SIGNS = (" ", " ", " ", "\n", "  ", ". ", ", ")
PATTERNS = (
    *("tide", "^tide", "water$", r"tide\s+low_water", r"(tide|x)\b", r"i", r"istanbul", r"isi", "s+and", r"\(see\)?"),
    *("tide.*tides", "(low|high)_water", r"[tx]ide", r"x{1,2}\n", r"\d\.\d", "(?:tide|x) (?=low)", r"[\s\S]*x"),
    *("ti?de", "^$", "x*", "TIDE|naïve", r"(a's|b)?tides", "潮", r"\w+-\w+", r"tides?\Z", "(x|y|)tide", "I"),
    *("((tide|tides) )+x", "x|y|z|tide|a|b|c", "(x|y){2}"),
)


@pytest.fixture
def project(tmp_path: Path, opened: Open) -> Project:
    (tmp_path / "clew.toml").write_text('[embedder]\nkind = "none"\n')
    (tmp_path / "spec").mkdir()
    chance = random.Random(5)
    for number in range(1, 61):
        write(tmp_path, number, text(chance, 2), text(chance, 25))
    return opened(tmp_path)


def write(root: Path, number: int, title: str, body: str) -> None:
    (root / "spec" / f"{number}.md").write_text(
        f"## REQ-d{number:05}: Rule {' '.join(title.split())}\n\n**Level**: DEV | **Status**: Active\n\n"
        f"It says {body}\n\n*End* *Rule*\n",
        encoding="utf-8",
    )


def text(chance: random.Random, words: int) -> str:
    return "".join(chance.choice(WORDS) + chance.choice(SIGNS) for _ in range(words))


def part(chance: random.Random, whole: str) -> str:
    start = chance.randrange(len(whole))
    return whole[start : start + chance.randrange(1, 12)].replace('"', "").strip() or "x"


def texts_of(project: Project) -> dict[str, str]:
    project.ensure_graph()
    nodes = project.graph.nodes_by_kind(NodeKind.REQUIREMENT)
    return {node.id: f"{node.id}\n{node.title}\n{node.get_field('body', '')}" for node in nodes}


def held(project: Project, query: str) -> set[str]:
    return {match.node.id for match in project.trace.search_matches(query).found}


# Verifies: REQ-d00202-A
def test_parts_of_texts_are_found_where_they_stand_and_nowhere_else(project: Project) -> None:
    texts = texts_of(project)
    assert len(texts) == 60
    chance = random.Random(9)
    found_any = 0
    for _ in range(400):
        wanted = [part(chance, chance.choice([*texts.values()])) for _ in range(chance.randrange(1, 3))]
        folded = {id: each.casefold() for id, each in texts.items()}
        expected = {id for id, each in folded.items() if all(one.casefold() in each for one in wanted)}
        found_any += bool(expected)
        assert held(project, " ".join(f'"{one}"' for one in wanted)) == expected, wanted
    assert found_any > 200


# Verifies: REQ-d00202-A
def test_what_a_file_says_now_is_found_and_what_it_said_is_not(project: Project) -> None:
    assert held(project, "quagga") == set()
    write(project.config.root, 7, "Quagga", "nothing else.")
    texts_of(project)
    assert held(project, "quagg") == {"REQ-d00007"}
    before = held(project, "tide")
    write(project.config.root, 7, "tide", "tide.")
    texts_of(project)
    assert held(project, "quagga") == set()
    assert held(project, "tide") == before | {"REQ-d00007"}


# Verifies: REQ-d00202-A
def test_a_scope_has_the_matches_of_all_that_lie_in_it_in_their_order(project: Project) -> None:
    inside = frozenset([*texts_of(project)][::3])
    for query in ("tide", "x", '"tide low_water"', "tide OR 潮汐", "tide -x", "=rule", "3.5 x"):
        everywhere = project.trace.search_matches(query).found
        scoped = project.trace.search_matches(query, within=inside).found
        assert list(scoped) == [match for match in everywhere if match.node.id in inside], query
    patterns = [project.trace.search_matches("tide", regex=True, within=each).found for each in (inside, None)]
    assert patterns[0] == [match for match in patterns[1] if match.node.id in inside]


# Verifies: REQ-d00400-E
def test_single_assertions_are_found_as_if_each_was_read(project: Project) -> None:
    chance = random.Random(11)
    for number in range(1, 31):
        said = [" ".join(text(chance, 6).split()) for _ in range(3)]
        lines = "\n".join(f"{label}. It SHALL {each}" for label, each in zip("ABC", said, strict=True))
        above = "" if number == 1 else " | **Implements**: REQ-d00001"
        (project.config.root / "spec" / f"{number}.md").write_text(
            f"## REQ-d{number:05}: Rule\n\n**Level**: DEV | **Status**: Active{above}\n\n"
            f"## Assertions\n\n{lines}\n\n*End* *Rule*\n",
            encoding="utf-8",
        )
    project.ensure_graph()
    parts = {node.id: node.title for node in project.graph.nodes_by_kind(NodeKind.ASSERTION)}
    assert len(parts) == 90
    queries = [(one, False) for one in ("tide", "x tide", '"low_water x"', "3.5 OR 潮汐", "tide -x", "=tide", "(see)")]
    for query, regex in (*queries, *((pattern, True) for pattern in PATTERNS)):
        question = ScopedSearch(query=query, scope_id="REQ-d00001", regex=regex, include_assertions=True)
        found = {part.id for each in project.trace.find.scoped_matches(question) for part in each.assertions}
        matches = text_matcher(query, regex=regex)
        assert found == {id for id, said in parts.items() if matches(said)}, query


# Verifies: REQ-d00037-A, REQ-d00202-A
def test_every_page_of_the_matches_is_a_part_of_the_whole_list(project: Project) -> None:
    texts_of(project)
    matches = project.trace.search_matches("tide x").found
    whole = list(matches)
    assert len(matches) == len(whole) > 20
    for start in range(0, len(whole) + 2, 7):
        assert matches[start : start + 7] == whole[start : start + 7]
    assert [matches[at] for at in (0, -1)] == [whole[0], whole[-1]]
    assert matches[3:] == whole[3:]
    assert matches[-2:1] == whole[-2:1]


# Verifies: REQ-d00202-B
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_matches_many_texts_as_it_matches_each(project: Project, pattern: str) -> None:
    texts = texts_of(project)
    expected = [id for id in sorted(texts) if compile_pattern(pattern)(texts[id])]
    found = project.trace.search_matches(pattern, regex=True).found
    assert [match.node.id for match in found] == expected


# Verifies: REQ-d00202-B
@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        ("tdes", (("tdes",),)),
        (r"SHALL (reject|refuse) every \w+", (("shall",), ("reject", "refuse"), ("every",))),
        ("colou?r", (("colo",), ("r",))),
        ("abc+d*e", (("abc",), ("e",))),
        ("(abc|x*)def", (("def",),)),
        ("(abc)?def", (("def",),)),
        ("(abc){2}def", (("def",),)),
        ("abc|def", (("abc", "def"),)),
        ("[abc]+def", (("def",),)),
        ("[]abc]def", (("def",),)),
        (r"a\x41b", ()),
        ("(?x) a b c", ()),
        ("abc|", ()),
        ("([[:alpha:]])def", ()),
        ("(" * 30 + "abc" + ")" * 30, ()),
    ],
)
def test_what_a_pattern_cannot_do_without_is_told(pattern: str, needed: object) -> None:
    assert needed_words(pattern) == needed


# Verifies: REQ-d00202-B
def test_nothing_is_needed_that_a_matching_text_lacks() -> None:
    chance = random.Random(3)
    pieces = [*"ab|()[]{}?*+.^$\\", "ab", "{2}", "{0,1}", r"\b", r"\w", "[^a]", "(a|b)", "B", "\\.", "+?", "i", "s"]
    tried = 0
    for _ in range(5_000):
        pattern = "".join(chance.choice(pieces) for _ in range(chance.randrange(1, 7)))
        sample = "".join(chance.choice(["a", "b", "A", " ", ".", "ı", "İ", "ſ", "s"]) for _ in range(8))
        try:
            matches = compile_pattern(pattern)(sample)
        except InvalidPattern:
            continue
        if matches:
            words = re.findall(r"[^\W_]+", sample.casefold())
            tried += 1
            for group in needed_words(pattern):
                assert any(each in word for each in group for word in words), (pattern, sample)
    assert tried > 400
