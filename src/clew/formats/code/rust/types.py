"""Types of Rust as they are written, paths, and the names that a place knows."""

from collections.abc import Callable
from typing import Any, ClassVar

from clew.formats.code.facts.expressions import UNKNOWN, Op
from clew.formats.code.facts.model import CALLED, Imported, SiteKind
from clew.formats.code.trees.reading import LIST, TreeReader

"""The type of arrays and slices, as `graph/code/binding` describes it."""
_SEEN_THROUGH = frozenset({"Box", "Rc", "Arc", "Cow", "Pin", "Ref", "RefMut", "MutexGuard", "Cell", "RefCell"})
"""Types whose members are mostly those of what they hold."""
_FROM = frozenset({"crate", "self", "super"})
_MOST_ARGUMENTS = 8


class RustTypes(TreeReader):
    _types: ClassVar[dict[str, Callable[[Any, Any, SiteKind], int]]] = {}

    def __init__(self, text: str, path: str) -> None:
        super().__init__(text, path)
        self.scopes: list[dict[str, int]] = [{}]
        """Names, those of the file first, each with what it is."""
        self.own = UNKNOWN
        """The expression of the type that is being read, `Self`."""

    def visit(self, node: Any, kind: SiteKind = SiteKind.READ, expected: int = UNKNOWN) -> int:
        raise NotImplementedError

    # Names

    def known(self, name: str) -> int | None:
        for scope in reversed(self.scopes):
            found = scope.get(name)
            if found is not None:
                return found
        return None

    def named(self, node: Any, kind: SiteKind) -> int:
        """The expression of a name, with its site where it is a definition or an import."""
        name = self.text(node)
        if name == "Self":
            return self.own
        found = self.known(name)
        if found is None:
            return self.built_in(name)
        if self.writer.operation(found) in (Op.DEFINITION, Op.IMPORT) or (
            self.writer.operation(found) == Op.MEMBER and found in self.imported_members
        ):
            self.site(name, node, kind, found)
        return found

    imported_members: set[int]
    """Expressions of names that a use brings out of a type."""

    def path_value(self, node: Any, kind: SiteKind) -> int:
        """`a::b::C`: a name of a module, a type or a value."""
        before, named = node.child_by_field_name("path"), node.child_by_field_name("name")
        if named is None:
            return UNKNOWN
        name = self.text(named)
        of = self._before(before)
        member = self.writer.member(of, name + CALLED if kind == SiteKind.CALL and not name[:1].isupper() else name)
        if member:
            self.site(name, named, kind, member)
        return member

    def _before(self, node: Any) -> int:
        """The module or type in front of a name."""
        if node is None:
            return UNKNOWN
        kind = node.type
        if kind in _FROM:
            return self.module(kind, node)
        if kind in ("scoped_identifier", "scoped_type_identifier"):
            written = self.text(node)
            if _FROM.issuperset(written.split("::")):
                return self.module(written, node)
            return self.path_value(node, SiteKind.READ)
        if kind in ("identifier", "type_identifier"):
            name = self.text(node)
            if self.known(name) is None and name != "Self" and not name[:1].isupper():
                return self.module(name, node)
            return self.named(node, SiteKind.READ)
        if kind == "bracketed_type":
            inner = node.named_children[0] if node.named_children else None
            if inner is not None and inner.type == "qualified_type":
                alias = inner.child_by_field_name("alias")
                self.type(inner.child_by_field_name("type"))
                return self.type(alias) if alias is not None else UNKNOWN
            return self.type(inner) if inner is not None else UNKNOWN
        return self.type(node)

    def module(self, written: str, node: Any) -> int:
        """A module by its path."""
        self.writer.imports.append(Imported(node.start_point[0] + 1, written))
        return self.writer.expression(Op.IMPORT, len(self.writer.imports) - 1)

    # Types

    def type(self, node: Any, kind: SiteKind = SiteKind.ANNOTATION) -> int:
        read = self._types.get(node.type)
        if read is not None:
            return read(self, node, kind)
        for child in node.named_children:
            self.type(child)
        return UNKNOWN

    def _generic(self, node: Any, kind: SiteKind) -> int:
        named, written = node.child_by_field_name("type"), node.child_by_field_name("type_arguments")
        nodes = [each for each in written.named_children if each.type != "lifetime"] if written is not None else []
        is_known = named.type != "type_identifier" or self.known(self.text(named)) is not None
        of = self.type(named, kind)
        given = [self.type(each) for each in nodes if each.type != "type_binding"]
        if named.type == "type_identifier" and self.text(named) in _SEEN_THROUGH and given:
            parts = self.writer.parts(of)
            if not is_known or parts[0] == Op.IMPORT:
                return given[-1]
        return self.writer.expression(Op.SUBSCRIPT, of, *given[:_MOST_ARGUMENTS]) if of and given else of

    def _inner(self, node: Any, kind: SiteKind) -> int:
        written = node.child_by_field_name("type") or node.child_by_field_name("trait")
        return self.type(written, kind) if written is not None else UNKNOWN

    def _list(self, node: Any, kind: SiteKind) -> int:
        written = node.child_by_field_name("element") or (node.named_children[0] if node.named_children else None)
        element = self.type(written) if written is not None else UNKNOWN
        return self.writer.expression(Op.SUBSCRIPT, self.built_in(LIST), element)

    def _tuple(self, node: Any, kind: SiteKind) -> int:
        types = [self.type(each) for each in node.named_children]
        return self.writer.expression(Op.COLLECTION, self.writer.name("tuple"), *types[:_MOST_ARGUMENTS])

    def _function_type(self, node: Any, kind: SiteKind) -> int:
        written = node.child_by_field_name("parameters")
        types = [self.type(each) for each in written.named_children] if written is not None else []
        returned = node.child_by_field_name("return_type")
        found = self.type(returned) if returned is not None else UNKNOWN
        return self.writer.expression(Op.FUNCTION, found, *types[:_MOST_ARGUMENTS])

    def _bounds(self, node: Any, kind: SiteKind) -> int:
        found = [self.type(each, kind) for each in node.named_children if each.type != "lifetime"]
        return self.writer.union([each for each in found if each])

    def type_parameters(self, node: Any) -> tuple[str, ...]:
        """Make the type parameters of an item known in the innermost scope; their names."""
        names = []
        written = node.child_by_field_name("type_parameters")
        for each in written.named_children if written is not None else ():
            named = each.child_by_field_name("name") if each.type == "type_parameter" else None
            if named is None:
                continue
            name = self.text(named)
            names.append(name)
            self._bound(name, each.child_by_field_name("bounds"))
        for each in node.named_children:
            if each.type == "where_clause":
                for one in each.named_children:
                    left = one.child_by_field_name("left")
                    if left is not None and left.type == "type_identifier" and self.text(left) in names:
                        self._bound(self.text(left), one.child_by_field_name("bounds"))
                    elif left is not None:
                        self.type(one)
        return tuple(names)

    def _bound(self, name: str, node: Any) -> None:
        own = self.writer.expression(Op.TYPE_PARAMETER, self.writer.name(name))
        above = self._bounds(node, SiteKind.ANNOTATION) if node is not None else UNKNOWN
        self.scopes[-1][name] = self.writer.union((own, above)) if above else own


RustTypes._types.update(
    {
        "type_identifier": RustTypes.named,
        "identifier": RustTypes.named,
        "scoped_type_identifier": RustTypes.path_value,
        "scoped_identifier": RustTypes.path_value,
        "generic_type": RustTypes._generic,
        "reference_type": RustTypes._inner,
        "pointer_type": RustTypes._inner,
        "dynamic_type": RustTypes._inner,
        "abstract_type": RustTypes._inner,
        "array_type": RustTypes._list,
        "slice_type": RustTypes._list,
        "tuple_type": RustTypes._tuple,
        "function_type": RustTypes._function_type,
        "trait_bounds": RustTypes._bounds,
        "bounded_type": RustTypes._bounds,
        "primitive_type": lambda self, node, kind: self.built_in("str"),
        "unit_type": lambda self, node, kind: self.writer.expression(Op.NOTHING),
        "never_type": lambda self, node, kind: self.writer.expression(Op.NOTHING),
        "lifetime": lambda self, node, kind: UNKNOWN,
        "line_comment": lambda self, node, kind: UNKNOWN,
        "block_comment": lambda self, node, kind: UNKNOWN,
    }
)
