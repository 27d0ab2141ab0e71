"""Following links: what the words of a question do not lead to, inside its scope."""

from collections.abc import Sequence

import pytest

from clew.search.engine import SearchEngine
from clew.search.question import Question
from clew.search.units import Scope, Unit

SCOPE = Scope(parts=("page",))

PAGES = (
    Unit(id="book", part="page", title="The Long Walk", body="The novel was written by Ada Brook in winter."),
    Unit(id="author", part="page", title="Ada Brook", body="She was born in Port Hollow and never left."),
    Unit(id="town", part="page", title="Port Hollow", body="A small harbour with two lighthouses."),
    Unit(id="other", part="page", title="Garden", body="A way of growing beans."),
    Unit(id="hidden", part="draft", title="Ada Brook", body="Not for everybody."),
)


def ranked(engine: SearchEngine, recipe: str, scope: Scope = SCOPE) -> list[str]:
    question = Question(text="Who wrote the novel The Long Walk?", scope=scope, recipe=recipe)
    return [unit.id for unit in engine.rank(question).units]


# Verifies: REQ-d00033-A
def test_mentions_of_titles_lead_from_what_is_found_to_what_it_names(engine: SearchEngine) -> None:
    engine.units.put(PAGES)
    assert "author" not in ranked(engine, "default")
    found = ranked(engine, "linked")
    assert found[:2] == ["book", "author"]
    assert "town" in found
    signals = {
        unit.id: {part.signal for part in unit.why}
        for unit in engine.rank(Question(text="novel The Long Walk", scope=SCOPE, recipe="linked")).units
    }
    assert signals["author"] == {"pagerank"}


# Verifies: REQ-d00033-B
def test_a_walk_stays_inside_the_scope_of_the_question(engine: SearchEngine) -> None:
    engine.units.put(PAGES)
    assert "hidden" not in ranked(engine, "linked")
    assert "hidden" in ranked(engine, "linked", Scope(parts=("page", "draft")))
    question = Question(text="novel", scope=SCOPE, recipe="linked")
    leads = [("hidden", 1.0), ("town", 1.0), ("nowhere", 1.0)]
    found = engine.rank(question, adjacency=lambda ids: dict.fromkeys(ids, leads))
    assert {"town", "book"} <= {unit.id for unit in found.units}
    assert "hidden" not in {unit.id for unit in found.units}


# Verifies: REQ-d00033-A
def test_a_new_title_is_mentioned_as_soon_as_it_is_there(engine: SearchEngine) -> None:
    engine.units.put(PAGES[:1])
    assert ranked(engine, "linked") == ["book"]
    engine.units.put([PAGES[1]])
    assert ranked(engine, "linked") == ["book", "author"]
    engine.units.delete(["author"])
    assert ranked(engine, "linked") == ["book"]


# Verifies: REQ-d00411-A
@pytest.mark.parametrize("linked", [True, False])
def test_links_are_followed_where_texts_mention_each_other_and_the_answer_says_so(
    engine: SearchEngine, linked: bool
) -> None:
    names = ("Ada Quill", "Bo Tern", "Cy Marsh", "Di Lark", "Ed Wren")
    for place, name in enumerate(names):
        other = names[(place + 1) % len(names)] if linked else "somebody"
        body = f"The keeper of lamp {place} once met {other}."
        engine.units.put([Unit(id=name, part="person", title=name, body=body)])
    question = Question(text="keeper of lamp 2", scope=Scope(parts=("person",)), recipe="auto")
    found = engine.search(question)
    walked = [hit.id for hit in found.results if any(part.signal == "pagerank" for part in hit.why)]
    assert bool(walked) is linked
    share = "100%" if linked else "0%"
    assert any(f"{share} mention the title of another text" in note for note in found.notes)


# Verifies: REQ-d00411-B
def test_links_are_no_longer_followed_when_texts_stop_mentioning_each_other(engine: SearchEngine) -> None:
    names = ("Ada Quill", "Bo Tern", "Cy Marsh", "Di Lark", "Ed Wren")

    def share_after(others: Sequence[str]) -> str:
        engine.units.put(
            Unit(id=name, part="person", title=name, body=f"The keeper of the lamp once met {other}.")
            for name, other in zip(names, others, strict=True)
        )
        found = engine.search(Question(text="keeper", scope=Scope(parts=("person",)), recipe="auto"))
        return next(note for note in found.notes if note.endswith("mention the title of another text."))

    assert "100% mention" in share_after([*names[1:], names[0]])
    assert " 0% mention" in share_after(["somebody"] * 5)
    assert "40% mention" in share_after(["Bo Tern", "Ada Quill", *["somebody"] * 3])
