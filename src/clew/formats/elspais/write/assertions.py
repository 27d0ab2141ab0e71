"""Giving a requirement other assertions: those that stay keep their place, their labels and their bytes."""

from collections.abc import Sequence

from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.records import Requirement
from clew.formats.elspais.write.blocks import with_assertion, with_assertion_text, without_assertion


def with_assertions(data: bytes, grammar: IdGrammar, record: Requirement, wanted: Sequence[tuple[str, str]]) -> bytes:
    """The requirement, whose record is given, with these labels and texts. One that is the same by its label, in the
    order of labels, gets another text where it stands."""
    from difflib import SequenceMatcher  # only for what is edited

    there = record.assertions
    labels = [each.label for each in there]
    changes = SequenceMatcher(None, labels, [label for label, _ in wanted], autojunk=False).get_opcodes()
    # From the last on, so that the lines of those before stay right.
    for _, start, end, begin, until in reversed(changes):
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
