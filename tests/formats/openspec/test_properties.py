"""What holds for every file and every change, and how the work grows with the file."""

import sys
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.formats.openspec.apply.delta import apply_delta
from clew.formats.openspec.reader import read_delta, read_document, read_spec, write
from clew.formats.openspec.records import Delta, Requirement, SectionedFile, Spec
from clew.formats.openspec.rules.spec import validate_spec
from clew.formats.openspec.tasks import read_tasks
from clew.text.lines import Span

FRAGMENTS = [
    "# Title",
    "## Purpose",
    "## Requirements",
    "## ADDED Requirements",
    "## MODIFIED Requirements",
    "## REMOVED Requirements",
    "## RENAMED Requirements",
    "## Notes",
    "### Requirement: Burn",
    "### Requirement: Ärger → Öl €",
    "###requirement: 夜",
    "### Requirement:",
    "### Divider",
    "#### Scenario: Dusk",
    "#### scenario: Dawn ##",
    "#### Example",
    "##### Scenario: deep",
    "  #### Scenario: indented",
    "- **GIVEN** ä **WHEN** b **THEN** `c`",
    "- **WHEN** x",
    "* WHEN y THEN 日",
    "  - **AND** z",
    "- But w",
    "- FROM: `### Requirement: Burn`",
    "- TO: New",
    "- `### Requirement: Burn`",
    "**Reason**: none",
    "- [ ] 1.1 task",
    "```",
    "~~~~",
    "  ```json",
    "It SHALL.",
    "",
    "   ",
    "\ufeff",
    "\x0c",
    "a\u2028b",
    "\x00",
]
line_ends = st.sampled_from(["\n", "\r\n", "\r", "\n\n"])
documents = st.lists(st.tuples(st.sampled_from(FRAGMENTS), line_ends), max_size=40).map(
    lambda parts: "".join(line + end for line, end in parts).encode()
)
damaged = st.tuples(documents, st.binary(max_size=20), documents).map(b"".join)
with_bom = documents.map(lambda data: b"\xef\xbb\xbf" + data)
files = st.one_of(documents, damaged, with_bom, st.binary(max_size=400))


# Verifies: REQ-o00030-A
@given(data=files)
def test_reading_writing_and_reading_again_is_the_identity(data: bytes) -> None:
    spec, delta = read_spec(data, "x"), read_delta(data, "x")
    assert write(spec.document) == data
    assert write(delta.document) == data
    assert write(read_document(data)[0]) == data
    assert write(read_tasks(data).document) == data
    assert read_spec(write(spec.document), "x") == spec
    assert read_delta(write(delta.document), "x") == delta


# Verifies: REQ-o00030-A
@given(data=files)
def test_records_survive_the_cache(data: bytes) -> None:
    for records in (read_spec(data, "x"), read_delta(data, "x")):
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(records), type=type(records)) == records


# Verifies: REQ-o00030-B
@given(data=files)
def test_every_byte_belongs_to_exactly_one_part(data: bytes) -> None:
    document = read_spec(data, "x").document
    position = 0
    for section in document.sections:
        assert section.span.start == position
        position += size(section.head, document)
        for requirement in section.requirements:
            assert requirement.span.start == position or document.original is not None
            position = end_of(requirement, document)
        position = section.span.end
    assert position == len(data)


def size(text: str, document: SectionedFile) -> int:
    return len(text.encode()) if document.original is None else 0


def end_of(requirement: Requirement, document: SectionedFile) -> int:
    if document.original is None:
        position = requirement.span.start + len(requirement.head.encode())
        for part in sorted((*requirement.scenarios, *requirement.asides), key=lambda each: each.span.start):
            assert part.span.start == position
            position = part.span.end
        assert position == requirement.span.end
        for scenario in requirement.scenarios:
            position = scenario.span.start + len(scenario.head.encode())
            for step in scenario.steps:
                assert step.span.start == position
                position = step.span.end
            assert position == scenario.span.end
    return requirement.span.end


# Verifies: REQ-o00030-B
@given(data=documents)
def test_spans_give_back_the_text_and_lines_count_up(data: bytes) -> None:
    def check(span: Span, raw: str, around: Span) -> None:
        assert data[span.start : span.end].decode() == raw
        assert around.line <= span.line <= span.end_line <= max(around.end_line, span.line)

    document = read_spec(data, "x").document
    for section in document.sections:
        check(section.span, section.raw, section.span)
        for requirement in section.requirements:
            check(requirement.span, requirement.raw, section.span)
            for scenario in requirement.scenarios:
                check(scenario.span, scenario.raw, requirement.span)
                for step in scenario.steps:
                    check(step.span, step.raw, scenario.span)


@given(data=files)
def test_slugs_are_unique_among_siblings(data: bytes) -> None:
    requirements = read_spec(data, "x").requirements
    assert len({each.slug for each in requirements}) == len(requirements)
    for requirement in requirements:
        assert len({each.slug for each in requirement.scenarios}) == len(requirement.scenarios)


# Specs and changes that make sense

NAMES = ["Burn", "Stop", "Sound", "Ring", "Fill the tank", "Öl", "burn"]
bodies = st.tuples(
    st.sampled_from(
        ["It SHALL.", "It MUST\nhold.", "**Key**: v\n\nIt SHALL 夜.", "It SHALL.\n\n```\n### Requirement: x\n```"]
    ),
    st.lists(st.sampled_from(["A", "B", "C d"]), min_size=1, max_size=3, unique=True),
    st.sampled_from(["", "\n", "\n\n"]),
)


def requirement_text(name: str, body: tuple[str, list[str], str]) -> str:
    text, scenarios, space = body
    steps = "".join(f"\n#### Scenario: {each}\n- **WHEN** x\n- **THEN** y\n" for each in scenarios)
    return f"### Requirement: {name}\n{text}\n{steps}{space}"


@st.composite
def specs(draw: st.DrawFn) -> bytes:
    # Two names that differ only in case are told apart, but when one is gone the other looks like its misspelling.
    names = draw(st.lists(st.sampled_from(NAMES), unique_by=str.casefold, max_size=5))
    requirements = "\n".join(requirement_text(name, draw(bodies)) for name in names)
    before = draw(st.sampled_from(["", "# T\n\n", "\ufeff# T\n"]))
    after = draw(st.sampled_from(["", "\n## Notes\nOil.\n", "\n\n\n", "\n## Notes"]))
    text = f"{before}## Purpose\nWhy.\n\n## Requirements\n\n{requirements}{after}"
    text = text.rstrip() if draw(st.booleans()) else text
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"]))).encode()


@st.composite
def cases(draw: st.DrawFn) -> tuple[bytes | None, Delta]:
    """A spec and a delta. Most names are what they should be, so that many deltas can be applied and some cannot."""
    data = draw(st.one_of(st.none(), specs(), specs(), specs()))
    there = [each.name for each in read_spec(data or b"", "x").requirements]
    known = draw(st.permutations(there)) + draw(st.permutations(NAMES))
    absent = [name for name in draw(st.permutations(NAMES)) if name not in there] + known
    modified, removed, renamed = (draw(st.integers(0, 2 if data else 0)) for _ in range(3))
    added = draw(st.integers(0 if data else 1, 2))
    taken, news = iter(known), iter(absent)
    olds = [next(taken) for _ in range(renamed)]
    pairs = [(old, next(news)) for old in olds]
    parts = [part("ADDED", [requirement_text(next(news), draw(bodies)) for _ in range(added)])]
    whole = (draw(bodies)[0], ["A", "B", "C d"], "\n")
    names = [next(taken) for _ in range(modified)] + [new for _, new in pairs if draw(st.booleans())]
    parts.append(part("MODIFIED", [requirement_text(name, whole) for name in names]))
    parts.append(part("REMOVED", [f"### Requirement: {next(taken)}\n" for _ in range(removed)]))
    ends = [f"- FROM: `### Requirement: {old}`\n- TO: `### Requirement: {new}`\n" for old, new in pairs]
    parts.append(part("RENAMED", ends))
    return data, read_delta("\n".join(draw(st.permutations(parts))).encode(), "x")


def part(section: str, entries: list[str]) -> str:
    return f"## {section} Requirements\n\n" + "\n".join(entries) if entries else ""


# Verifies: REQ-d00074-B
@given(case=cases(), retire=st.booleans())
def test_applying_twice_is_applying_once(case: tuple[bytes | None, Delta], retire: bool) -> None:
    data, delta = case
    once = apply_delta(data, delta, retire=retire)
    if once.refusals:
        assert (once.after, once.edits, once.done) == (data, (), ())
        return
    twice = apply_delta(once.after, delta, retire=retire)
    assert (twice.refusals, twice.after) == ((), once.after)


# Verifies: REQ-d00074-A
@given(case=cases())
def test_requirements_that_a_change_does_not_name_keep_every_byte(case: tuple[bytes | None, Delta]) -> None:
    data, delta = case
    outcome = apply_delta(data, delta)
    named = {each.name for each in (*delta.added, *delta.modified, *delta.removed)}
    named |= {name for rename in delta.renamed for name in (rename.old, rename.new)}
    after = texts(read_spec(outcome.after or b"", "x"))
    assert {name: text for name, text in texts(read_spec(data or b"", "x")).items() if name not in named} == {
        name: text for name, text in after.items() if name not in named
    }


def texts(spec: Spec) -> dict[str, str]:
    return {requirement.name: requirement.raw.rstrip() for requirement in spec.requirements}


# How the work grows


def work(action: Callable[[], object]) -> int:
    """How many calls an action makes: a measure of work that no other process disturbs."""
    calls = 0

    def count(_frame: object, _event: str, _argument: object) -> None:
        nonlocal calls
        calls += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
    return calls


SHAPES: dict[str, Callable[[int], str]] = {
    "requirements": lambda n: "## Requirements\n" + "### Requirement: A\nMUST\n#### Scenario: S\n- **WHEN** x\n" * n,
    "scenarios": lambda n: "## Requirements\n### Requirement: A\n" + "#### Scenario: S\n" * n,
    "steps": lambda n: "## Requirements\n### Requirement: A\n#### Scenario: S\n" + "- **WHEN** x **THEN** y\n" * n,
    "one long step": lambda n: "## Requirements\n### Requirement: A\n#### Scenario: S\n- **WHEN** x\n" + "  - y\n" * n,
    "sections": lambda n: "## Notes\n" * n,
    "renames": lambda n: "## RENAMED Requirements\n" + "- FROM: A\n- TO: B\n" * n,
    "fences": lambda n: "```\n" * n,
    "asides": lambda n: "## Requirements\n### Requirement: A\n" + "### Aside\n" * n,
}


# Verifies: REQ-d00070-G
@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_file_is_at_most_twice_the_work(shape: str) -> None:
    once, twice = (SHAPES[shape](size).encode() for size in (300, 600))
    for read in (read_spec, read_delta):
        assert work(lambda read=read: read(twice, "x")) <= 2.1 * work(lambda read=read: read(once, "x")) + 500


# Verifies: REQ-d00070-G
@pytest.mark.parametrize(
    "text",
    [
        "`" * 500_000 + "x`",
        "#" * 500_000,
        "# " + "# " * 250_000 + "x",
        "- **" + "WHEN" * 100_000,
        "- **WHEN** " + "`" * 300_000,
        "- **WHEN** " + "` `` " * 60_000,
        " " * 500_000 + "WHEN",
        "**" * 250_000,
        "### Requirement:" + " " * 500_000 + "x",
        "- FROM: " + "`" * 500_000,
        "~" * 500_000,
    ],
    ids=lambda text: text[:16],
)
def test_long_hostile_lines_are_read(text: str) -> None:
    for data in (text.encode(), f"## Requirements\n### Requirement: A\n#### Scenario: S\n{text}\n{text}\n".encode()):
        spec = read_spec(data, "x")
        assert write(spec.document) == data
        validate_spec(spec)
