"""Messages of commits in the search index: each commit that says something is one text."""

# Implements: REQ-d00758

from typing import TYPE_CHECKING

from clew.derived.history import Commit, CommitHistory
from clew.search.units import Unit, unit_id
from clew.why.story.reason import body_of, says_nothing

if TYPE_CHECKING:
    from clew.search.engine import SearchEngine

PART = "commit"
MOST_COMMITS = 20_000
"""The newest are found by their words; `why --history` looks through all."""
_LONGEST_BODY = 4_000


def sync(history: CommitHistory, engine: "SearchEngine") -> None:
    """Bring the index in step with the commits that are read; cheap if neither changed."""
    state = history.state()
    name = f"units {engine.writes()[0]}"
    now = f"{state.head} {state.total - state.unread}"
    if history.mark(name) == now:
        return
    there = set(engine.units.hashes(PART))
    commits = history.latest(MOST_COMMITS)
    wanted = {unit_id(PART, each.id): each for each in commits}
    engine.units.put(_unit(id, each) for id, each in wanted.items() if id not in there and _says_something(each))
    engine.units.delete(id for id in there if id not in wanted)
    history.set_mark(name, now)


def _says_something(commit: Commit) -> bool:
    return len(commit.parents) < 2 and not (says_nothing(commit.subject) and not body_of(commit.message))


def _unit(id: str, commit: Commit) -> Unit:
    body = f"{commit.subject}\n\n{body_of(commit.message)}".strip()
    return Unit(
        id=id,
        part=PART,
        title=commit.subject[:300],
        body=body[:_LONGEST_BODY],
        links=(commit.id,),
    )
