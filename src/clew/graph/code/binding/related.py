"""Members of classes and interfaces that stand for each other, in languages that say so."""

from clew.derived.code_file import CodeFile
from clew.formats.code.facts.model import CLASS, Form
from clew.graph.code.aliases import Aliases
from clew.graph.code.binding.library import PREFIX
from clew.graph.code.binding.meaning import Meanings
from clew.graph.code.binding.namespaces import STATIC, Named
from clew.graph.code.binding.types import Ref


class RelatedMembers(Meanings):
    """Members that stand for each other, found once in a state of the project."""

    def __init__(self, file: CodeFile, aliases: Aliases | None = None) -> None:
        super().__init__(file, aliases)
        self._related: dict[Ref, frozenset[Ref]] = {}

    def are_related(self, target: Ref, other: Named) -> bool:
        """True if a member of a class or interface stands for another, as what implements it does."""
        if not isinstance(other, Ref):
            return False
        own = self.standing_for(target)
        return bool(own) and not own.isdisjoint(self.standing_for(other))

    def standing_for(self, ref: Ref) -> frozenset[Ref]:
        """A member with those of its name in all classes above; empty for all else, and where the language says that
        only the receiver's own class counts."""
        known = self._related.get(ref)
        if known is None:
            known = self._related[ref] = self._found_above(ref)
        return known

    def _found_above(self, ref: Ref) -> frozenset[Ref]:
        source = self.known_source(ref.path)
        symbol = source.symbol(ref.symbol)
        if source.rules is None or not source.rules.related or symbol.parent < 0:
            return frozenset()
        if source.symbol(symbol.parent).kind != CLASS or symbol.name == source.rules.constructor:
            return frozenset()
        is_static = self.shape(ref).form & Form.STATIC
        found = {ref}
        for above in self.order(Ref(ref.path, symbol.parent))[0][1:]:
            members = self.known_source(above.of.path).members(above.of.symbol)
            number = (members.get(STATIC + symbol.name) if is_static else None) or members.get(symbol.name)
            if number is not None and not above.of.path.startswith(PREFIX):
                other = Ref(above.of.path, number)
                if self.shape(other).form & Form.STATIC == is_static:
                    found.add(other)
        return frozenset(found)
