"""Types of Java as they are written, and the names that a place knows."""

from collections.abc import Callable
from typing import Any, ClassVar

from clew.formats.code.facts.expressions import UNKNOWN, Op
from clew.formats.code.facts.model import MODULE, Imported, SiteKind
from clew.formats.code.trees.reading import LIST, TreeReader

"""The type of arrays, as `graph/code/binding` describes it."""
_PRIMITIVE = frozenset({"integral_type", "floating_point_type", "boolean_type"})
_MOST_ARGUMENTS = 8


class JavaClass:
    """A class that is being read: the names that its members have."""

    __slots__ = ("has_bases", "is_static", "members", "number", "parent", "types")

    def __init__(self, number: int, parent: "JavaClass | None") -> None:
        self.number = number
        self.parent = parent
        self.members: dict[str, int] = {}
        self.types: dict[str, int] = {}
        """Type parameters, and classes inside of it."""
        self.has_bases = False
        self.is_static = False
        """The member that is being read belongs to the class itself."""


class JavaTypes(TreeReader):
    _types: ClassVar[dict[str, Callable[[Any, Any, SiteKind], int]]] = {}

    def __init__(self, text: str, path: str) -> None:
        super().__init__(text, path)
        self.top: dict[str, int] = {}
        """Classes and imports of the whole file."""
        self.statics: list[int] = []
        """Classes all of whose members an import brings."""
        self.scopes: list[dict[str, int]] = [{}]
        """Local names, the innermost scope last, each with what it is."""
        self.classes: dict[int, JavaClass] = {}
        self.current: JavaClass | None = None

    # Imports

    def imported(self, node: Any) -> None:
        """One import. A name with a capital letter is a class, and what follows it is inside of it."""
        written = next((each for each in node.named_children if each.type.endswith("identifier")), None)
        if written is None:
            return
        parts = self.text(written).split(".")
        is_all = any(each.type == "asterisk" for each in node.named_children)
        is_static = any(each.type == "static" for each in node.children)
        at = next((place for place, part in enumerate(parts) if part[:1].isupper()), len(parts))
        if is_all and at == len(parts):
            self._note(node, ".".join(parts), "*", "*")
            return
        at = min(at, len(parts) - 1)
        found = self._note(node, ".".join(parts[:at]), parts[at], parts[at] if at == len(parts) - 1 else "")
        named = self._nodes(written)
        self.site(parts[at], named[at], SiteKind.IMPORT, found)
        for part, each in zip(parts[at + 1 :], named[at + 1 :], strict=False):
            found = self.writer.member(found, part)
            self.site(part, each, SiteKind.IMPORT, found)
        if is_all:
            self.statics.append(found)
        elif not is_static or parts[-1] not in self.top:
            self.top[parts[-1]] = found

    def _note(self, node: Any, module: str, name: str, alias: str) -> int:
        self.writer.imports.append(Imported(node.start_point[0] + 1, module, name, alias))
        return self.writer.expression(Op.IMPORT, len(self.writer.imports) - 1)

    def _nodes(self, node: Any) -> list[Any]:
        """The nodes of a dotted name, from the left."""
        found: list[Any] = []
        while node is not None and node.type == "scoped_identifier":
            found.append(node.child_by_field_name("name"))
            node = node.child_by_field_name("scope")
        return [node, *reversed(found)]

    # Types

    def type(self, node: Any, kind: SiteKind = SiteKind.ANNOTATION) -> int:
        read = self._types.get(node.type)
        if read is not None:
            return read(self, node, kind)
        if node.type in _PRIMITIVE:
            return self.built_in("int")
        for child in node.named_children:
            self.type(child)
        return UNKNOWN

    def type_name(self, name: str) -> int:
        """The expression of a class or type parameter."""
        for scope in reversed(self.scopes):
            found = scope.get(f"class {name}")
            if found is not None:
                return found
        around = self.current
        while around is not None:
            if name in around.types:
                return around.types[name]
            around = around.parent
        found = self.top.get(name)
        return found if found is not None else self.built_in(name)

    def _named(self, node: Any, kind: SiteKind) -> int:
        name = self.text(node)
        if name == "var":
            return UNKNOWN
        found = self.type_name(name)
        if self.writer.operation(found) not in (Op.TYPE_PARAMETER, Op.UNION):
            self.site(name, node, kind, found)
        return found

    def _scoped(self, node: Any, kind: SiteKind) -> int:
        """`Outer.Inner`, or a class with its package."""
        inner = [each for each in node.named_children if each.type.endswith("identifier")]
        if len(inner) < 2:
            return UNKNOWN
        words = self.text(node).split(".")
        if words[0][:1].islower():
            return self._with_package(node, words, kind)
        of = self.type(inner[0])
        name = self.text(inner[-1])
        member = self.writer.member(of, name)
        self.site(name, inner[-1], kind, member)
        return member

    def _with_package(self, node: Any, words: list[str], kind: SiteKind) -> int:
        at = next((place for place, word in enumerate(words) if word[:1].isupper()), len(words) - 1)
        found = self._note(node, ".".join(words[:at]), words[at], "")
        for word in words[at + 1 :]:
            found = self.writer.member(found, word)
        self.site(words[-1], node.named_children[-1], kind, found)
        return found

    def _generic(self, node: Any, kind: SiteKind) -> int:
        children = node.named_children
        of = self.type(children[0], kind)
        written = children[-1] if children[-1].type == "type_arguments" else None
        given = [self.type(each) for each in written.named_children] if written is not None else []
        return self.writer.expression(Op.SUBSCRIPT, of, *given[:_MOST_ARGUMENTS]) if of and given else of

    def _wildcard(self, node: Any, kind: SiteKind) -> int:
        found = [self.type(each) for each in node.named_children if each.type != "super"]
        return found[-1] if found else UNKNOWN

    def _array(self, node: Any, kind: SiteKind) -> int:
        return self.of_array(self.type(node.child_by_field_name("element")))

    def of_array(self, element: int) -> int:
        return self.writer.expression(Op.SUBSCRIPT, self.built_in(LIST), element)

    def _annotated(self, node: Any, kind: SiteKind) -> int:
        found = UNKNOWN
        for each in node.named_children:
            if each.type.endswith("annotation"):
                self.annotation(each)
            else:
                found = self.type(each, kind)
        return found

    def annotation(self, node: Any) -> None:
        raise NotImplementedError

    def type_parameters(self, node: Any, into: dict[str, int], *, prefix: str = "") -> tuple[str, ...]:
        """Make type parameters known; their names."""
        names: list[str] = []
        for each in node.named_children if node is not None else ():
            named = next((one for one in each.named_children if one.type == "type_identifier"), None)
            if each.type != "type_parameter" or named is None:
                continue
            name = self.text(named)
            names.append(name)
            own = self.writer.expression(Op.TYPE_PARAMETER, self.writer.name(name))
            into[prefix + name] = own
            bounds = [one for one in each.named_children if one.type == "type_bound"]
            above = [self.type(one) for bound in bounds for one in bound.named_children]
            if above:
                into[prefix + name] = self.writer.union((own, *above))
        return tuple(names)

    def receiver(self) -> int:
        """The expression of `this`."""
        if self.current is None or self.current.number == MODULE:
            return UNKNOWN
        return self.writer.expression(Op.SELF_CLASS if self.current.is_static else Op.SELF, self.current.number)


JavaTypes._types.update(
    {
        "type_identifier": JavaTypes._named,
        "identifier": JavaTypes._named,
        "scoped_type_identifier": JavaTypes._scoped,
        "generic_type": JavaTypes._generic,
        "array_type": JavaTypes._array,
        "wildcard": JavaTypes._wildcard,
        "annotated_type": JavaTypes._annotated,
        "void_type": lambda self, node, kind: self.writer.expression(Op.NOTHING),
        "line_comment": lambda self, node, kind: UNKNOWN,
        "block_comment": lambda self, node, kind: UNKNOWN,
        "dimensions": lambda self, node, kind: UNKNOWN,
    }
)
