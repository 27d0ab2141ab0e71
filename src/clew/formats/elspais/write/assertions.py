"""Giving a requirement other assertions: those that stay keep their place, their labels and their bytes."""

from collections.abc import Sequence

from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.records import AssertionRecord, Requirement
from clew.formats.elspais.write.blocks import with_assertion, with_assertion_text, without_assertion


def with_assertions(data: bytes, grammar: IdGrammar, record: Requirement, wanted: Sequence[tuple[str, str]]) -> bytes:
    """The requirement, whose record is given, with these labels and texts. One that is the same by its label, in the
    order of labels, gets another text where it stands."""
    there = record.assertions
    # From the last on, so that the lines of those before stay right.
    for start, end, begin, until in reversed(_changes(record, [label for label, _ in wanted])):
        common = min(end - start, until - begin)
        for label, text in reversed(wanted[begin + common : until]):
            data = with_assertion(data, grammar, record, label, text, at=start + common)
        for each in reversed(there[start + common : end]):
            data = without_assertion(data, grammar, each)
        for each, (label, text) in reversed(list(zip(there[start:end], wanted[begin:until], strict=False))):
            if (each.label, each.text) != (label, text):
                new = label if label != each.label else None
                data = with_assertion_text(data, grammar, each, text, label=new)
    return data


def places_taken(record: Requirement, labels: Sequence[str]) -> list[AssertionRecord | None]:
    """The assertions in whose places those with these labels will stand; None for one that is inserted."""
    found: list[AssertionRecord | None] = []
    for start, end, begin, until in _changes(record, labels):
        found += record.assertions[start : min(end, start + until - begin)]
        found += [None] * (until - len(found))
    return found


def _changes(record: Requirement, labels: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """Which of the assertions, from and to, give way to which of the labels."""
    from difflib import SequenceMatcher  # only for what is edited

    there = [each.label for each in record.assertions]
    return [change[1:] for change in SequenceMatcher(None, there, labels, autojunk=False).get_opcodes()]
