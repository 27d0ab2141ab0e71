"""`clew eval retrieval`, on folders that are as they should be, and on others."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clew.errors import InvalidArgument, NotFound
from clew.search.eval.collection import read_collection

DOCUMENTS = {
    "loans": ("Loans", "A member may renew a loan twice."),
    "fines": ("Fines", "Late returns cost a fee per day."),
    "hours": ("Hours", "The building opens at nine in the morning."),
}
QUERIES = {"q1": "renew a loan", "q2": "late fee", "q3": "nobody answers this"}
JUDGEMENTS = "query-id\tcorpus-id\tscore\nq1\tloans\t1\nq2\tfines\t2\nq2\thours\t0\nq9\tloans\t1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "questions"
    made.mkdir()
    documents = [{"_id": id, "title": title, "text": text} for id, (title, text) in DOCUMENTS.items()]
    (made / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)))
    (made / "queries.jsonl").write_text(
        "\n".join(json.dumps({"_id": id, "text": text, "metadata": {}}) for id, text in QUERIES.items())
    )
    (made / "qrels.tsv").write_text(JUDGEMENTS)
    return made


def evaluate(folder: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    command = [str(Path(sys.executable).parent / "clew"), "eval", "retrieval", str(folder), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def data(folder: Path, *options: str) -> Any:
    done = evaluate(folder, "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# Verifies: REQ-d00036-A
def test_signals_and_recipes_are_measured_and_nothing_else_is_touched(folder: Path) -> None:
    before = sorted(path.name for path in folder.parent.rglob("*"))
    measured = data(folder)
    assert set(measured["signals"]) == {"lexical", "dense"}
    assert {"default", "linked"} <= set(measured["recipes"])
    for values in (*measured["signals"].values(), *measured["recipes"].values()):
        assert set(values) >= {"ndcg@10", "recall@2", "recall@5", "recall@10", "recall@20", "mrr", "p50_ms", "p95_ms"}
        assert values["ndcg@10"] == values["recall@2"] == values["mrr"] == 1.0
    assert (measured["documents"], measured["queries"]) == (3, 2)
    assert any("1 judgements" in note for note in measured["notes"])
    assert sorted(path.name for path in folder.parent.rglob("*")) == before


# Verifies: REQ-d00036-A
def test_chosen_recipes_are_measured_by_words_alone_where_that_is_asked(folder: Path) -> None:
    measured = data(folder, "--recipe", "lexical", "--words-only")
    assert list(measured["recipes"]) == ["lexical"]
    assert list(measured["signals"]) == ["lexical"]
    assert measured["embedder"] is None
    shown = evaluate(folder, "--words-only")
    assert "recipe default" in shown.stdout


# Verifies: REQ-d00036-B
def test_one_query_is_explained_signal_by_signal(folder: Path) -> None:
    explained = data(folder, "--words-only", "--recipe", "default", "--explain", "q1")
    first = explained["recipes"]["default"][0]
    assert (first["id"], first["relevant"]) == ("loans", True)
    assert [part["signal"] for part in first["why"]] == ["lexical"]
    assert evaluate(folder, "--words-only", "--explain", "q1").stdout.count("lexical") >= 1
    assert evaluate(folder, "--words-only", "--explain", "q3").returncode == 1


# Verifies: REQ-d00036-C
def test_a_folder_that_cannot_be_used_is_refused_with_file_line_and_rule(folder: Path) -> None:
    assert "No recipe is called 'defalt'" in evaluate(folder, "--recipe", "defalt").stderr
    (folder / "qrels.tsv").write_text("q1\tloans\t1\nq2 fines 1\n")
    with pytest.raises(InvalidArgument, match=r"qrels.tsv, line 2"):
        read_collection(folder)
    (folder / "qrels.tsv").write_text("q1\tloans\t0\n")
    with pytest.raises(InvalidArgument, match="no relevant document"):
        read_collection(folder)
    (folder / "qrels.tsv").write_text(JUDGEMENTS)
    with (folder / "corpus.jsonl").open("a") as file:
        file.write('\n{"title": "no id"}\n')
    with pytest.raises(InvalidArgument, match=r"corpus.jsonl, line 4"):
        read_collection(folder)
    (folder / "corpus.jsonl").unlink()
    with pytest.raises(NotFound, match=r"no corpus.jsonl"):
        read_collection(folder)


# Verifies: REQ-d00036-A
def test_judgements_of_trec_with_four_columns_are_read(folder: Path) -> None:
    (folder / "qrels.tsv").write_text("q1\t0\tloans\t1\n")
    assert read_collection(folder).grades == {"q1": {"loans": 1.0}}


# Verifies: REQ-d00036-A+C
def test_marks_of_editors_missing_titles_and_repeated_ids_are_borne_and_the_rest_is_refused(folder: Path) -> None:
    corpus = (folder / "corpus.jsonl").read_bytes()
    (folder / "corpus.jsonl").write_bytes(
        b"\xef\xbb\xbf" + corpus + b'\r\n{"_id": "bare", "title": null}\r\n{"_id": "bare", "text": "again"}\r\n'
    )
    (folder / "qrels.tsv").write_bytes(b"\xef\xbb\xbfq1\tloans\t1\r\n")
    read = read_collection(folder)
    assert {document.id: document.title for document in read.documents}["bare"] is None
    assert any("1 ids again" in note for note in read.notes)
    assert read.grades == {"q1": {"loans": 1.0}}
    for broken in (b"q1\tloans\n", b"q1\tloans\tinf\n", b"q1\tlo\xffans\t1\n"):
        (folder / "qrels.tsv").write_bytes(broken)
        with pytest.raises(InvalidArgument, match=r"qrels.tsv, line 1"):
            read_collection(folder)


# Verifies: REQ-d00032-A, REQ-d00036-A
def test_a_recipe_of_ones_own_is_measured(folder: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "mine.json"
    recipe.write_text('{"name": "mine", "version": 1, "signals": [{"name": "lexical", "depth": 5}]}')
    assert list(data(folder, "--words-only", "--recipe", str(recipe))["recipes"]) == ["mine"]
    recipe.write_text('{"name": "mine", "version": 1, "signals": []}')
    assert "at least one signal" in evaluate(folder, "--words-only", "--recipe", str(recipe)).stderr
