"""`clew index`, and what a search says while there is no index."""

import json
from pathlib import Path
from typing import Any

from tests import in_process


def clew(*arguments: str) -> in_process.Done:
    return in_process.run(Path.cwd(), *arguments)


def data(*arguments: str) -> Any:
    done = clew(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def counts(state: Any) -> tuple[int, int, str]:
    return state["index"]["units"], state["index"]["embedded"], state["index"]["state"]


# Verifies: REQ-d00037-D
def test_the_index_is_made_completed_described_and_made_anew(small: Path) -> None:
    folder = str(small)
    assert counts(data("index", "--status", folder)) == (0, 0, "complete")
    made = data("index", folder)
    assert counts(made) == (2, 2, "complete")
    assert (made["written"]["added"], made["vectors"]["embedded"]) == (2, 2)
    again = data("index", folder)
    assert (again["written"]["added"], again["vectors"]["embedded"]) == (0, 0)
    assert counts(data("index", "--status", folder)) == (2, 2, "complete")
    rebuilt = data("index", "--rebuild", folder)
    assert (rebuilt["written"]["added"], rebuilt["vectors"]["embedded"]) == (2, 2)
    assert data("index", "--stop", folder)["stopped"] == []
    assert "requirements: 0 added, 0 changed, 0 removed" in clew("index", folder).stdout
    shown = clew("index", "--status", folder).stdout
    assert "indexed: 2 texts (2 requirement), 2 with embeddings" in shown


# Verifies: REQ-d00037-C
def test_an_edited_file_is_found_by_its_new_words_and_only_it_is_embedded_again(small: Path) -> None:
    data("index", str(small))
    file = small / "spec" / "small.md"
    file.write_text(file.read_text().replace("Hours go from 0 to 23.", "Hours are counted in marmalade."))
    found = data("search", "marmalade jars", "-C", str(small))
    assert [result["id"] for result in found["results"]] == ["REQ-d00001"]
    assert found["indexed"] == "2 texts indexed, 1 with embeddings"
    again = data("index", str(small))
    assert (again["written"]["changed"], again["vectors"]["embedded"]) == (0, 1)


# Verifies: REQ-d00037-E
def test_the_brief_says_how_much_can_be_found(small: Path) -> None:
    assert data("brief", str(small))["index"].startswith("nothing indexed yet")
    data("index", str(small))
    assert data("brief", str(small))["index"] == "2 texts indexed, 2 with embeddings (complete)"
    assert "Search        2 texts indexed, 2 with embeddings (complete)" in clew("brief", str(small)).stdout


# Verifies: REQ-d00037-F, REQ-d00035-G
def test_without_an_encoder_and_without_an_index_exact_matches_are_found(small: Path) -> None:
    (small / "clew.toml").write_text('[embedder]\nkind = "none"\n')
    found = data("search", "hour", "-C", str(small))
    assert {result["id"] for result in found["results"]} == {"REQ-p00001", "REQ-d00001"}
    assert found["indexed"] == "2 texts indexed, without embeddings"
    (small / "elsewhere").mkdir()
    (small / ".clew").rename(small / "elsewhere" / "clew")
    (small / ".clew").write_text("a file where the folder should be")
    found = data("search", "hour", "-C", str(small))
    assert {result["id"] for result in found["results"]} == {"REQ-p00001", "REQ-d00001"}
    assert found["indexed"] is None
    assert "There is no search index" in " ".join(found["notes"])
    state = data("index", "--status", str(small))
    assert state["index"] is None
    assert "There is no search index" in state["problem"]
