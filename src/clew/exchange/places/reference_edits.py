"""Changing what a requirement or a journey of a Markdown spec cites: what stays keeps its place and its spelling."""

from collections.abc import Callable, Sequence

from clew.exchange.model import Item, Relation
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.write.references import with_added, with_removed


def with_references(
    data: bytes, grammar: IdGrammar, kinds: Sequence[str], items: tuple[Item, Item], written: Callable[[Relation], str]
) -> bytes:
    """The block that cites what the second of two items cites, and not any more what only the first does. `written` is
    how a relation is written."""
    before, after = items
    for kind in kinds:
        former = [each for each in before.relations if each.kind == kind]
        wanted = [each for each in after.relations if each.kind == kind]
        gone = {each.target for each in former if each not in wanted}
        for target in sorted(gone):
            data = with_removed(data, grammar, kind, target)
        for each in wanted:
            if each not in former or each.target in gone:
                data = with_added(data, grammar, kind, written(each))
    return data
