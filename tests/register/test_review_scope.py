"""What a review, a check and an import look at, however it is asked for."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.register.served import GOOD, Served, make_project


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = make_project(tmp_path / "project")
    made.add()
    made.commit("begin")
    yield made
    made.close()


# Verifies: REQ-d00236-A
def test_a_folder_means_the_same_in_every_spelling(served: Served) -> None:
    served.write("src/bare.rs", "fn bare() {}\n")
    served.write("other/bare.rs", "fn bare() {}\n")
    served.git("add", "--all")
    for spelled in ("src", "./src", "src/", "src/../src", str(served.root / "src")):
        assert served.call("req_check", base="HEAD", path=spelled)["changed_files"] == ["src/bare.rs"]
        for staged in (True, False):
            found = served.call("req_review", base="HEAD", path=spelled, staged=staged)
            assert found["coverage"]["markerless_changed_source"] == ["src/bare.rs"]


# Verifies: REQ-d00236-B
def test_a_review_names_the_base_it_found_and_outside_of_git_no_gate_passes(served: Served, tmp_path: Path) -> None:
    found = served.call("req_review")
    assert (found["base"], found["audit"]["commits_in_range"]) == ("main", 0)
    served.add(title="Tell the owner")
    served.git("checkout", "-q", "-b", "work")
    served.commit("more")
    audit = served.call("req_review")["audit"]
    assert (audit["commits_in_range"], audit["last_author"], audit["last_status"]) == (1, "Ann", "no-signature")
    bare = make_project(tmp_path / "bare", git=False)
    assert bare.error("req_review", staged=True, gate=True)["code"] == "REQ-E-INVALID-INPUT"


# Verifies: REQ-d00236-C
def test_an_item_of_the_wrong_type_is_told_and_the_others_are_imported(served: Served) -> None:
    served.write("in.json", json.dumps([{**GOOD, "title": 5}, "text", {**GOOD, "title": "Tell the owner"}]))

    done = served.call("req_import", format="json", source="in.json")

    assert [item["title"] for item in done["accepted"]] == ["Tell the owner"]
    assert [item["title"] for item in done["rejected"]] == ["5", "item 2"]
    assert "Item 2 is not a requirement" in done["rejected"][1]["errors"][0]
    assert served.error("req_import", format="json", source="in.json", strict=True)["code"] == "REQ-E-REFUSED"


# Verifies: REQ-d00236-D
def test_a_link_to_another_format_is_answered_with_the_way_to_cite_it(served: Served) -> None:
    refused = served.error("req_link", from_="1", to="REQ-d00001", kind="refines")
    assert refused["code"] == "REQ-E-NOT-FOUND"
    assert "`Implements: REQ-d00001` into the rationale with req_update" in refused["hint"]
