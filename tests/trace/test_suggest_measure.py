"""How good suggestions are where the true links are known."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from clew.errors import ClewError, FormatError, InvalidArgument, NotFound
from clew.search.eval.metrics import average_precision
from clew.text.keywords import STOP_WORDS
from clew.text.stem import stem
from clew.text.words import split
from clew.trace.links.confidence import Calibration, band, calibrated, logits
from clew.trace.links.match.matching import Candidates, in_order
from clew.trace.links.match.meaning import mean_of_best
from clew.trace.links.match.texts import (
    LinkableText,
    fielded_counts,
    method_texts,
    passages,
    readable,
    spoken_parts,
    statements,
    term_counts,
)
from clew.trace.links.measure import INSUFFICIENT, LinkSet, calibration, judge, measure, read_link_set

WARC = Path(__file__).parents[3] / "shared" / "data" / "traceability" / "warc"
needs_warc = pytest.mark.skipif(not WARC.is_dir(), reason="the development data is not here")

TOPICS = ("tides", "tokens", "prices", "queues", "invoices", "bridges", "engines", "letters", "gardens", "clocks")

Write = Callable[[dict[str, str | bytes]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_files(files: dict[str, str | bytes]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path

    return write_files


def ten_topics() -> dict[str, str | bytes]:
    """Ten requirements, each with a test and a class about the same thing."""
    files: dict[str, str | bytes] = {}
    links = ["source,target"]
    for number, topic in enumerate(TOPICS, start=1):
        files[f"sources/UC{number}.txt"] = f"UC {number}: The system shall keep {topic} and report lost {topic}."
        files[f"targets/{topic}/{topic.title()}Keeper.java"] = f"class {topic.title()}Keeper {{ void report() {{}} }}\n"
        files[f"targets/TC{number}.txt"] = f"Lose one of the {topic}, then look at the report."
        links += [f"UC{number},{topic.title()}Keeper", f"UC{number}.txt,TC{number}.txt"]
    files["answers.csv"] = "\n".join(links) + "\n"
    return files


# Verifies: REQ-d00056-A+C
def test_a_folder_of_texts_and_code_is_measured(write: Write) -> None:
    links = read_link_set(write(ten_topics()))
    assert (len(links.sources), len(links.targets), len(links.answers)) == (10, 20, 10)

    found = measure(links, None)

    assert found.map > 0.9
    assert found.f1 > 0.6
    assert (found.links, found.with_meaning, found.notes) == (20, False, ())


# Verifies: REQ-d00056-C
def test_files_are_found_by_path_or_name_with_or_without_ending_in_any_encoding(write: Write) -> None:
    folder = write(
        {
            "sources/a.md": b"\xef\xbb\xbfthe tide turns\r\n",
            "sources/b.md": b"caf\xe9 and prices",
            "targets/x/one.py": "def tide(): pass\n",
            "targets/y/one.py": "def price(): pass\n",
            "targets/z/two.py": "def cafe(): pass\n",
            "targets/z/picture.png": b"\x89PNG\0\0",
            "targets/.hidden": "no",
            "answers.csv": b"\xef\xbb\xbfrequirement;code\r\na;x/one\r\nb.md;y/one.py\r\nb;two\r\n\r\nb;one\r\n",
        }
    )

    links = read_link_set(folder)

    assert dict(links.answers) == {"a.md": {"x/one.py"}, "b.md": {"y/one.py", "z/two.py"}}
    assert [target.id for target in links.targets] == ["x/one.py", "y/one.py", "z/two.py"]
    assert "1 of 4 links" in links.notes[0], "`one` could be either file"


# Verifies: REQ-d00056-D
@pytest.mark.parametrize(
    ("missing", "error", "says"),
    [
        ("sources", NotFound, "sources"),
        ("targets", NotFound, "targets"),
        ("answers.csv", NotFound, "answers.csv"),
    ],
)
def test_a_folder_without_one_of_its_parts_is_refused(
    write: Write, missing: str, error: type[ClewError], says: str
) -> None:
    files = {name: text for name, text in ten_topics().items() if not name.startswith(missing)}

    with pytest.raises(error, match=says) as refused:
        read_link_set(write(files))
    assert refused.value.hint


# Verifies: REQ-d00056-D
@pytest.mark.parametrize(
    ("answers", "error", "says"),
    [
        ("source,target\nnobody,nothing\n", InvalidArgument, "names a file"),
        ("UC1\n", FormatError, "Line 1"),
        ("UC1,TC1\nUC2,\n", FormatError, "Line 2"),
        ("", InvalidArgument, "names a file"),
    ],
)
def test_answers_that_say_nothing_are_refused(write: Write, answers: str, error: type[ClewError], says: str) -> None:
    with pytest.raises(error, match=says):
        read_link_set(write({**ten_topics(), "answers.csv": answers}))


# Verifies: REQ-d00056-D
def test_a_folder_that_does_not_exist_or_holds_no_texts_is_refused(write: Write, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        read_link_set(tmp_path / "nowhere")
    with pytest.raises(InvalidArgument, match="no text files"):
        read_link_set(write({"sources/a.bin": b"\0\0", "targets/b.txt": "b", "answers.csv": "a,b"}))


# Verifies: REQ-d00056-B
def test_calibration_tells_what_was_said_and_what_was_right_or_that_there_is_too_little() -> None:
    said = np.array([0.85] * 40 + [0.25] * 60, np.float32)
    right = np.array(([True] * 4 + [False]) * 8 + ([True] + [False] * 3) * 15)

    low, high = calibration(said, right)

    assert (low.least, low.below, low.count, low.said, low.right) == (0.2, 0.3, 60, 0.25, 0.25)
    assert (high.least, high.count, high.said, high.right) == (0.8, 40, 0.85, 0.8)
    assert calibration(said[:30], right[:30]) == INSUFFICIENT


# Verifies: REQ-o00023-B, REQ-d00410-B
@needs_warc
def test_a_few_decisions_of_a_project_make_its_confidences_probabilities() -> None:
    links = read_link_set(WARC, sources="high", targets="low", answers="answer.csv")
    said, right = logits(Candidates(links.targets, links.sources).compare(links.sources)), links.labels()
    judged, others = range(0, len(said), 4), [row for row in range(len(said)) if row % 4]
    shown = {row: np.argsort(-said[row])[:3] for row in range(len(said))}
    decided = [(float(said[row, place]), bool(right[row, place])) for row in judged for place in shown[row]]

    fitted = calibrated(decided)

    assert fitted.is_calibrated
    pairs = [(row, place) for row in others for place in shown[row]]
    expected = sum(fitted.confidence(float(said[pair])) for pair in pairs)
    assert abs(expected - sum(right[pair] for pair in pairs)) < 0.12 * len(pairs)


# Verifies: REQ-d00410-B
def test_decisions_move_confidences_little_by_little_and_keep_their_order() -> None:
    assert calibrated([]) == Calibration()
    assert not calibrated([(1.0, True)]).is_calibrated
    for accepted, logit in ((True, 0.5), (False, 0.5), (True, -4.0), (False, 4.0), (False, 9.0)):
        before = Calibration().confidence(logit)
        for count in (1, 3, 10, 100):
            now = calibrated([(logit, accepted)] * count).confidence(logit)
            assert now > before if accepted else now < before
            before = now
    fitted = calibrated([(-3.0, True), (-1.0, True), (1.0, False), (3.0, False)] * 20)
    assert fitted.confidence(-1.0) < fitted.confidence(1.0)


# Verifies: REQ-d00056-E
@needs_warc
def test_suggestions_on_requirements_linked_by_hand_are_better_than_plain_tf_idf() -> None:
    links = read_link_set(WARC, sources="high", targets="low", answers="answer.csv")

    assert measure(links, None).map > 0.7
    assert measure(links.reversed(), None).map > 0.66


# Verifies: REQ-d00055-F
def test_that_many_want_the_same_candidate_is_not_held_against_it() -> None:
    candidates = [
        LinkableText(topic, topic, f"The system shall keep {topic} and report lost {topic}.") for topic in TOPICS
    ]
    asking = LinkableText("one", "", "Lost tides are reported, and so are lost tokens.")
    crowd = [
        LinkableText(f"other {number}", "", f"Lost tides number {number} are in the report.") for number in range(30)
    ]
    alone = Candidates(candidates, [asking]).compare([asking]).scores[0]
    beside = Candidates(candidates, [asking]).compare([asking, *crowd]).scores[0]

    assert set(np.argsort(-alone)[:2]) == {TOPICS.index("tides"), TOPICS.index("tokens")}
    assert (np.argsort(-alone, kind="stable") == np.argsort(-beside, kind="stable")).all()


# Verifies: REQ-d00056-G
def test_links_are_suggested_from_one_threshold_on() -> None:
    found = np.array([[0.9, 0.8, 0.1, 0.05]], np.float32)
    links = LinkSet(
        (LinkableText("a", "", "x"),),
        tuple(LinkableText(id, "", "y") for id in "wxyz"),
        {"a": frozenset({"w", "y"})},
    )

    measured = judge(links, found, with_meaning=False)

    assert (measured.precision, measured.recall, measured.f1, measured.suggested) == (0.5, 0.5, 0.5, 2)
    assert measured.map == pytest.approx((1 + 2 / 3) / 2, abs=1e-4)
    assert measured.calibration == INSUFFICIENT


def test_average_precision_is_that_of_the_textbook() -> None:
    assert average_precision(["a", "x", "b", "y"], {"a", "b"}) == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision(["x", "y"], {"a"}) == 0
    assert average_precision(["a", "a", "b"], {"a", "b"}) == 1
    with pytest.raises(InvalidArgument):
        average_precision(["a"], ())


@pytest.mark.parametrize(("confidence", "name"), [(0.8, "high"), (0.79, "medium"), (0.5, "medium"), (0.49, "low")])
def test_bands_are_those_of_elspais(confidence: float, name: str) -> None:
    assert band(confidence) == name


# Verifies: REQ-d00055-A
def test_terms_are_stems_of_the_parts_of_identifiers_without_numbers_and_stop_words() -> None:
    counts = term_counts(LinkableText("x", "TideTable", "getTideTables reads the tables of 2026"))

    assert counts["tabl"] == 3, "once in the name, and twice in the text"
    assert not {"the", "of", "2026", "tables"} & counts.keys()
    for chunk in ("turn_table", "self.tide.comes_in", "abcdef", "feed_v", "i.o"):
        words = split(chunk).words
        assert term_counts(LinkableText("x", "", chunk)) == Counter(
            stem(word) for word in words if word not in STOP_WORDS
        )
    code = "// a tide comes\nvoid turnTable() { return tide; }\n"
    fielded = fielded_counts(LinkableText("x", "Clock", code, "Clock.java", is_file=True))
    assert (fielded["clock"], fielded["come"], fielded["tide"], fielded["turn"]) == (3, 2, 3, 3)


# Verifies: REQ-d00055-F
def test_requirements_are_compared_sentence_by_sentence_with_methods_and_comments() -> None:
    rule = LinkableText("r", "Bells", "A bell SHALL ring. The lamp SHALL glow.")
    assert statements(rule) == ("bells", "a bell shall ring", "the lamp shall glow")
    code = "class Tower {\n  // rings the bell\n  void ring() { hammer(); }\n  void glow() { lamp(); }\n}\n"
    tower = LinkableText("c", "Tower", code, "Tower.java", is_file=True)
    assert "tower ring rings the bell" in spoken_parts(tower)
    assert any("lamp" in each and "hammer" not in each for each in method_texts(tower))


# Verifies: REQ-d00055-I
def test_a_large_file_is_compared_by_all_its_methods_and_judged_by_the_best_of_them() -> None:
    code = "class Tower {\n" + "".join(f"  void turn{number}() {{ wheel(); }}\n" for number in range(60)) + "}\n"
    tower = LinkableText("c", "Tower", code, "Tower.java", is_file=True)
    assert any("turn 59" in each for each in method_texts(tower))

    near = np.array([[0.9], [0.9], [0.9], [0.1], [0.1], [0.6], [0.2]], np.float32)
    starts = np.array([0, 5], np.intp)
    assert mean_of_best(near, starts, 3).ravel().tolist() == pytest.approx([0.9, 0.4])
    assert mean_of_best(near, starts, None).ravel().tolist() == pytest.approx([0.58, 0.4])


# Verifies: REQ-d00055-J
def test_the_order_of_two_sides_counts_where_it_means_something() -> None:
    numbers = np.arange(40)
    noise = np.random.default_rng(3).normal(size=(40, 40)).astype(np.float32)
    same_order = noise + 4 * (np.abs(numbers[:, None] - numbers) < 2)
    blurred = same_order.astype(np.float32)
    blurred[20] = noise[20]
    assert (in_order(blurred) - blurred)[20].argmax() in range(18, 23)
    shuffled = np.random.default_rng(5).permutation(40)
    any_order = same_order[shuffled][:, shuffled[::-1]].astype(np.float32)
    assert (in_order(any_order).argmax(axis=1) == any_order.argmax(axis=1)).all()
    few = noise[:5, :5]
    assert (in_order(few) == few).all()


# Verifies: REQ-d00056-F
def test_a_name_that_is_a_number_says_nothing(write: Write) -> None:
    folder = write(
        {
            "sources/UC07.txt": "UC 7 - The bell rings.",
            "sources/FR-2.1.txt": "FR-2.1: It glows.",
            "sources/Bells.txt": "Bells ring.",
            "targets/Md5.java": "class Md5 {}",
            "answers.csv": "UC07,Md5\n",
        }
    )
    links = read_link_set(folder)
    said = {artefact.id: (artefact.name, artefact.text) for artefact in (*links.sources, *links.targets)}
    assert said["UC07.txt"] == ("", "The bell rings.")
    assert said["FR-2.1.txt"] == ("", "It glows.")
    assert said["Bells.txt"] == ("Bells", "Bells ring.")
    assert said["Md5.java"][0] == "Md5"


def test_licences_and_imports_say_nothing_about_a_file() -> None:
    java = (
        "/* Copyright by many,\n * all rights reserved. */\nimport java.util.List;\n\n// keeps time\nclass Clock {}\n"
    )
    assert readable(java, "Clock.java").split() == ["//", "keeps", "time", "class", "Clock", "{}"]
    prose = "Copyright is a subject.\nimport duties are another.\n"
    assert readable(prose, "law.txt") == prose


def test_a_long_text_is_compared_by_its_beginning_and_passages_of_all_its_parts() -> None:
    text = " ".join(f"word{number}" for number in range(3_000))
    parts = passages(LinkableText("x", "", text))
    assert len(parts) == 7
    assert parts[0].startswith("word0 ") or parts[0].startswith("word 0")
    assert "2999" in parts[-1]
    assert passages(LinkableText("x", "", "short text")) == ("short text",)


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (3, 0), (1, 1), (1, 4), (4, 1)])
def test_sides_of_any_size_can_be_compared(rows: int, columns: int) -> None:
    asking = [LinkableText(str(number), "", f"tide {TOPICS[number]}") for number in range(rows)]
    there = [LinkableText(str(number), "", f"tide {TOPICS[number]}") for number in range(columns)]

    comparison = Candidates(there, asking).compare(asking)

    assert comparison.scores.shape == (rows, columns)
    assert np.isfinite(comparison.scores).all()


def test_texts_that_say_nothing_match_nothing() -> None:
    silent = [LinkableText("a", "", ""), LinkableText("b", "", "the of and"), LinkableText("c", "", "12 34")]
    comparison = Candidates(silent, silent).compare(silent)
    assert np.isfinite(comparison.scores).all()
