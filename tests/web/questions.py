"""The questions that each view answers, as docs/page.md names them, and what is read as the answer on two projects."""

from typing import NamedTuple


class Question(NamedTuple):
    asked: str
    """As the documentation says it."""
    address: str
    """`MEMORY` stands for the id of the memory that is listed first."""
    answers: tuple[str, ...]


Q = Question

ON_THE_DEMO = {
    "Today": (
        Q("What needs attention, and what do I do about it?", "/",
          ("1 broken reference error", "REQ-d00008 implements REQ-o00009", "Open the first")),
        Q("How far is the project proved?", "/", ("43 of 44 assertions tested", "Proof by level")),
        Q("What was decided last?", "/", ("Remembered last", "half a cosine because the harbour master")),
    ),
    "Requirements": (
        Q("How many are there, and how far are they proved?", "/requirements",
          ("23 of 23 requirements: 43 of 44 assertions tested, 43 passed.", "elspais 15", "openspec 5", "register 3")),
        Q("Which have gaps?", "/requirements?proof=partial", ("1 of 23 requirements", "REQ-d00006", "2 of 3")),
        Q("What is below what?", "/requirements?view=tree&open=REQ-p00001",
          ("REQ-p00001 Crossing the bar safely proved 2 below", "REQ-o00001 A plan for one day proved 3 below")),
    ),
    "One requirement": (
        Q("Is each assertion proved?", "/r/REQ-d00006",
          ("A The plan in words SHALL have one line", "proved: its tests passed", "no test")),
        Q("Which code and tests answer to it?", "/r/REQ-d00006",
          ("test_the_first_line_says_what_the_answer_rests_on", "def as_text(")),
        Q("Who asked for it, and how did it change?", "/r/REQ-d00006",
          ("implements REQ-o00001-B", 'written by "Plan a passage", Ada')),
    ),
    "Specs and changes": (
        Q("What is about to change, and what does that mean?", "/changes/add-neap-warning",
          ("added Short windows are marked", "modified Windows of a day", "and the height to spare")),
        Q("How far is it?", "/specs", ("add neap warning", "+2 added ~1 modified −0 removed", "1 of 8 tasks done")),
        Q("What stands in its way?", "/specs", ("No two changes touch the same requirement",)),
    ),
    "Documents": (
        Q("What do the documents say about this?", "/documents?q=what+is+the+default+margin",
          ("0.5", "margin")),
        Q("How sure is that?", "/documents?q=what+is+the+default+margin", ("sure",)),
        Q("Where is it said?", "/documents?q=what+is+the+default+margin",
          ("docs/reference.md:",)),
    ),
    "Sources": (
        Q("Which files answer to requirements?", "/sources?in=src/fairwater",
          ("8 files: 12 of 30 functions and classes cite a requirement.",)),
        Q("Why is this line there?", "/sources/src/fairwater/tables.py?line=40",
          ("answers to REQ-d00001, REQ-o00002", "Why line 40 is there", "in function read_table")),
        Q("What proves it?", "/sources/src/fairwater/tables.py?line=40",
          ("test_a_table_of_plain_lines_is_read_and_remarks_are_skipped uses it on line 11",)),
    ),
    "Memory": (
        Q("What is remembered, about what?", "/memory",
          ("2 memories", "Tide tables are in harbour time", "about REQ-d00002")),
        Q("Why is it believed?", "/memory/MEMORY", ("Why it is believed decided on the quay",)),
        Q("Does it still hold?", "/memory/MEMORY", ("holds", "What it cites fresh")),
    ),
    "Activity": (
        Q("What do agents do now?", "/activity", ("0 calls to this server", "Calls of agents")),
        Q("What waits to be saved?", "/activity", ("0 drafts to save",)),
        Q("What was written last?", "/activity", ("Written last", "memory: store Tide tables are in harbour time")),
    ),
}  # fmt: skip

WITHOUT_SPECS = {
    "Today": (
        Q("What needs attention, and what do I do about it?", "/",
          ("Needs attention No requirements yet.", "Ask a question about the project above.")),
        Q("How far is the project proved?", "/", ("This project has no requirements yet", "1 test", "1 document")),
        Q("What was decided last?", "/", ("Remembered last pitfall Roses are watered in the evening",)),
    ),
    "Requirements": (
        Q("How many are there, and how far are they proved?", "/requirements", ("0 of 0 requirements",)),
        Q("Which have gaps?", "/requirements", ("There are no requirements yet.",)),
        Q("What is below what?", "/requirements?view=tree", ("There are no requirements yet.", "clew init")),
    ),
    "One requirement": (
        Q("Is each assertion proved?", "/r/REQ-d00001", ("Requirement 'REQ-d00001' not found.",)),
        Q("Which code and tests answer to it?", "/r/REQ-d00001", ("Search for REQ-d00001",)),
        Q("Who asked for it, and how did it change?", "/search?q=REQ-d00001", ("Nothing found.",)),
    ),
    "Specs and changes": (
        Q("What is about to change, and what does that mean?", "/specs",
          ("0 specs in force, 0 open changes", "openspec/specs")),
        Q("How far is it?", "/specs", ("No open changes. clew change new NAME creates one.",)),
        Q("What stands in its way?", "/specs", ("No two changes touch the same requirement",)),
    ),
    "Documents": (
        Q("What do the documents say about this?", "/documents?q=who+waters+the+roses",
          ("The gardener waters the roses every evening",)),
        Q("How sure is that?", "/documents?q=who+waters+the+roses", ("sure",)),
        Q("Where is it said?", "/documents?q=who+waters+the+roses", ("Garden > Roses README.md:3",)),
    ),
    "Sources": (
        Q("Which files answer to requirements?", "/sources",
          ("0 of 2 functions and classes cite a requirement", "Files without requirements garden.py")),
        Q("Why is this line there?", "/sources/garden.py?line=2",
          ("Why line 2 is there", "in function water", "Because: leaves burn at noon")),
        Q("What proves it?", "/sources/garden.py?line=2", ("Tested by test_water uses it on line 5",)),
    ),
    "Memory": (
        Q("What is remembered, about what?", "/memory",
          ("1 memory", "Roses are watered in the evening", "about garden.py")),
        Q("Why is it believed?", "/memory/MEMORY", ("Why it is believed leaves burn at noon",)),
        Q("Does it still hold?", "/memory/MEMORY", ("holds", "What it cites fresh")),
    ),
    "Activity": (
        Q("What do agents do now?", "/activity", ("No agent has called this server yet",)),
        Q("What waits to be saved?", "/activity", ("0 drafts to save",)),
        Q("What was written last?", "/activity",
          ("memory: store Roses are watered in the evening, never at noon. leaves burn at noon",)),
    ),
}  # fmt: skip
