"""Answers from documents that are right, quoted, or absent: through a client, and on a terminal."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.contract.conftest import Documents
from tests.sourced import sourced

Make = Callable[..., Documents]

SETTINGS = """========
Settings
========

.. contents::

.. setting:: PILOT_COUNT

PILOT_COUNT
-----------

.. versionadded:: 2.1

Default: ``4``

How many pilots are kept ready. See :ref:`the list of pilots <pilots>` and :setting:`BUOY_COLOUR`.

.. note::
   :class: wide

   Fewer than two pilots are refused by :py:func:`~port.pilots.check`.

.. code-block:: ini
   :linenos:

   PILOT_COUNT = 6

.. _buoys:

Buoys
-----

.. setting:: BUOY_COLOUR

BUOY_COLOUR
~~~~~~~~~~~

The colour of the outer buoy, such as::

    BUOY_COLOUR = red
"""
MARKUP = ("..", "::", ":ref:", ":setting:", ":py:", "----", "~~~~", "====", ":class:", ":linenos:", "``")


def quotes(answer: dict[str, Any]) -> str:
    return "\n".join(quote["quote"] for quote in answer["quotes"])


# Verifies: REQ-d00401-B+C+D
def test_restructured_text_is_quoted_as_it_is_read_from_the_section_it_belongs_to(kb: Make) -> None:
    call = kb()
    (call.root / "docs/settings.rst").write_text(SETTINGS, encoding="utf-8")
    answer = call("kb.retrieve_evidence", question="How many pilots are kept ready by PILOT_COUNT?")
    shown = quotes(answer)
    assert "How many pilots are kept ready. See the list of pilots and `BUOY_COLOUR`." in shown
    assert "Added in version 2.1" in shown
    assert "`check`" in shown
    assert not [mark for mark in MARKUP if mark in shown.replace("```", "")]
    assert sourced(answer)[0]["section_id"] == "doc:docs/settings.rst#PILOT_COUNT"
    line = answer["quotes"][0]["line"]
    assert SETTINGS.splitlines()[line - 1 : line + 1] == ["PILOT_COUNT", "-----------"]
    buoy = call("kb.search", query="BUOY_COLOUR")["results"][0]
    assert buoy["section_id"] == "doc:docs/settings.rst#buoys/BUOY_COLOUR"
    assert "BUOY_COLOUR = red" in buoy["preview"]
    titles = {each["section_id"]: each["preview"] for each in call("kb.search", query="buoys", top_k=20)["results"]}
    assert titles["doc:docs/settings.rst#buoys"] == "Sections below: BUOY_COLOUR"


# Verifies: REQ-d00403-A+B+C+E, REQ-d00402-B, REQ-o00045-B
def test_a_question_that_nothing_answers_gets_what_is_nearest_and_is_told_so(kb: Make) -> None:
    call = kb()
    known = call("kb.retrieve_evidence", question="What is the default margin of the harbour?")
    assert "0.5 metres" in known["quotes"][0]["quote"]
    confidences = [quote["confidence"] for quote in known["quotes"]]
    assert 1 >= confidences[0] >= confidences[-1] > 0
    assert "nearest" not in known
    unknown = call.answer("kb.retrieve_evidence", question="What is the default margin of the Frobnicator?")
    assert unknown.data["quotes"] == unknown.data["sources"] == []
    assert unknown.data["next_cursor"] is None
    assert "do not mention 'Frobnicator'" in unknown.data["notes"][0]
    assert unknown.data["nearest"][0]["section_id"] == "doc:docs/harbour.md#margin"
    assert "Nearest" in unknown.text
    assert "docs/harbour.md" in unknown.text
    assert "0.5 metres" not in unknown.text
    far = call("kb.retrieve_evidence", question="Which of several old kings wanted bread every morning?")
    assert {quote["certainty"] for quote in far["quotes"]} <= {"unsure"}
    assert "for sure" in far["notes"][0] or "do not mention" in far["notes"][0]
    # The nearest are quoted behind the sentence that nothing answers, each with its passage.
    question = "Why would an old king bring bread to the tide every morning?"
    weak = call.answer("kb.retrieve_evidence", question=question)
    assert weak.text.startswith("Nothing in the documents answers this for sure.")
    assert 0 < len(weak.data["quotes"]) <= 3
    assert {quote["certainty"] for quote in weak.data["quotes"]} == {"unsure"}
    assert all(quote["passage_id"] in weak.text for quote in sourced(weak.data))
    read = call("kb.retrieve_evidence", question=question, cursor=weak.data["next_cursor"])
    assert read["quotes"]
    assert {quote["certainty"] for quote in read["quotes"]} == {"unsure"}
    # A name may stand in another form, and a filter decides which documents are asked.
    assert call("kb.retrieve_evidence", question="Which Pilots are taken aboard?")["quotes"]
    inside = {"path_prefix": "docs/tides.md"}
    assert not call("kb.retrieve_evidence", question="What does PORT_MARGIN change?", filters=inside)["quotes"]


# Verifies: REQ-d00405-B
def test_tags_follow_the_first_folder_in_which_documents_differ(kb: Make) -> None:
    call = kb()
    for path in ("docs/v1/user/a.md", "docs/v1/admin/b.md", "docs/v1/c.md"):
        place: Path = call.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("# Gangway\n\nA gangway is laid out.\n", encoding="utf-8")

    def tags() -> set[str]:
        return {each["doc_tag"] for each in call("kb.search", query="gangway", top_k=9)["results"]}

    # The documents of the harbour lie beside the folder.
    assert tags() == {"v1"}
    for name in ("harbour.md", "tides.md", "notes.md"):
        (call.root / "docs" / name).unlink(missing_ok=True)
    assert tags() == {"user", "admin", "c"}


# Verifies: REQ-d00405-C
def test_a_passage_of_a_deleted_document_says_that_it_was_deleted(kb: Make) -> None:
    call = kb()
    id = call("kb.search", query="keel margin")["results"][0]["passage_id"]
    (call.root / "docs/harbour.md").unlink()
    answer = call("kb.read_excerpt", passage_id=id)
    assert "0.5 metres" in answer["excerpt"]
    assert answer["notes"] == ["docs/harbour.md was deleted after this was found; what is shown is what it said."]
