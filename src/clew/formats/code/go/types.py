"""Types of Go as they are written, and the names that a place knows."""

import posixpath
import re
from collections.abc import Callable
from typing import Any, ClassVar

from clew.formats.code.facts.expressions import UNKNOWN, Op
from clew.formats.code.facts.model import Imported, SiteKind
from clew.formats.code.trees.reading import LIST, TreeReader

_WORDS = (
    "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint "
    "uint8 uint16 uint32 uint64 uintptr true false iota nil append cap clear close complex copy delete imag len make "
    "max min new panic print println real recover"
)
PREDECLARED = frozenset(_WORDS.split(" "))
TABLE, CHANNEL = "__table__", "__channel__"
"""Types that the language writes with signs, as `graph/code/binding` describes them."""
_VERSION = re.compile(r"v\d+")
_MOST_ARGUMENTS = 8


class GoTypes(TreeReader):
    _types: ClassVar[dict[str, Callable[[Any, Any, SiteKind], int]]] = {}

    def __init__(self, text: str, path: str) -> None:
        super().__init__(text, path)
        self.top: dict[str, int] = {}
        """Names of the whole file: definitions and imports."""
        self.scopes: list[dict[str, int]] = []
        """Names of functions and blocks, the innermost last, each with what it is."""

    def visit(self, node: Any, kind: SiteKind = SiteKind.READ) -> int:
        raise NotImplementedError

    # Names

    def local(self, name: str) -> int | None:
        for scope in reversed(self.scopes):
            found = scope.get(name)
            if found is not None:
                return found
        return None

    def named(self, node: Any, kind: SiteKind) -> int:
        """The expression of a name, with its site where it is one of the file or its package."""
        name = self.text(node)
        if name == "_":
            return UNKNOWN
        found = self.local(name)
        if found is not None:
            if self.writer.operation(found) == Op.DEFINITION:
                self.site(name, node, kind, found)
            return found
        found = self.top.get(name)
        if found is None:
            if name in PREDECLARED:
                nothing = self.writer.expression(Op.NOTHING) if name == "nil" else UNKNOWN
                return nothing if name in ("nil", "any") else self.built_in(name)
            found = self.built_in(name)
        self.site(name, node, kind, found)
        return found

    def imported(self, node: Any) -> None:
        """One import."""
        written = node.child_by_field_name("path")
        module = self.text(written).strip('"`') if written is not None else ""
        alias = node.child_by_field_name("name")
        name = self.text(alias) if alias is not None else _package_of(module)
        if not module or name == "_":
            return
        line = node.start_point[0] + 1
        whole = "*" if name == "." else ""
        self.writer.imports.append(Imported(line, module, whole, whole or name))
        if not whole:
            found = self.writer.expression(Op.IMPORT, len(self.writer.imports) - 1)
            self.top.setdefault(name, found)
            self.site(name, written, SiteKind.IMPORT, found)

    # Types

    def type(self, node: Any, kind: SiteKind = SiteKind.ANNOTATION) -> int:
        read = self._types.get(node.type)
        if read is not None:
            return read(self, node, kind)
        for child in node.named_children:
            self.type(child)
        return UNKNOWN

    def _qualified(self, node: Any, kind: SiteKind) -> int:
        package, name = node.child_by_field_name("package"), node.child_by_field_name("name")
        of = self.named(package, SiteKind.READ)
        member = self.writer.member(of, self.text(name))
        self.site(self.text(name), name, kind, member)
        return member

    def _generic(self, node: Any, kind: SiteKind) -> int:
        of = self.type(node.child_by_field_name("type"), kind)
        written = node.child_by_field_name("type_arguments")
        given = [self.type(each) for each in written.named_children] if written is not None else []
        return self.writer.expression(Op.SUBSCRIPT, of, *given[:_MOST_ARGUMENTS]) if of else UNKNOWN

    def _inner(self, node: Any, kind: SiteKind) -> int:
        children = [each for each in node.named_children if each.type != "comment"]
        return self.type(children[-1], kind) if children else UNKNOWN

    def _list(self, node: Any, kind: SiteKind) -> int:
        length = node.child_by_field_name("length")
        if length is not None:
            self.visit(length)
        return self.of_sign(LIST, self.type(node.child_by_field_name("element")))

    def of_sign(self, name: str, *arguments: int) -> int:
        return self.writer.expression(Op.SUBSCRIPT, self.built_in(name), *arguments)

    def _table(self, node: Any, kind: SiteKind) -> int:
        key, value = (self.type(node.child_by_field_name(field)) for field in ("key", "value"))
        return self.of_sign(TABLE, key, value)

    def _channel(self, node: Any, kind: SiteKind) -> int:
        return self.of_sign(CHANNEL, self.type(node.child_by_field_name("value")))

    def _function_type(self, node: Any, kind: SiteKind) -> int:
        taken = [type for _, type, _, _ in self.parameters(node.child_by_field_name("parameters"))]
        return self.writer.expression(Op.FUNCTION, self.result(node), *taken[:_MOST_ARGUMENTS])

    def parameters(self, node: Any) -> list[tuple[str, int, int, int]]:
        """Names and types of parameters, with 1 for one that gathers what follows."""
        found: list[tuple[str, int, int, int]] = []
        for each in node.named_children if node is not None else ():
            if not each.type.endswith("parameter_declaration"):
                continue
            written = each.child_by_field_name("type")
            type = self.type(written) if written is not None else UNKNOWN
            gathers = int(each.type.startswith("variadic"))
            names = each.children_by_field_name("name")
            found += [(self.text(name), type, UNKNOWN, gathers) for name in names] or [("", type, UNKNOWN, gathers)]
        return found

    def result(self, node: Any) -> int:
        """The type of what a function gives; of several a tuple."""
        written = node.child_by_field_name("result")
        if written is None:
            return UNKNOWN
        if written.type != "parameter_list":
            return self.type(written)
        types = [type for _, type, _, _ in self.parameters(written)]
        if len(types) == 1:
            return types[0]
        return self.writer.expression(Op.COLLECTION, self.writer.name("tuple"), *types[:_MOST_ARGUMENTS])

    def _struct(self, node: Any, kind: SiteKind) -> int:
        """A structure without a name."""
        pairs: list[int] = []
        for fields in node.named_children:
            for each in fields.named_children:
                written = each.child_by_field_name("type") if each.type == "field_declaration" else None
                if written is not None:
                    type = self.writer.instance(self.type(written))
                    for name in each.children_by_field_name("name"):
                        pairs += (self.writer.name(self.text(name)), type)
        return self.writer.expression(Op.RECORD, *pairs[:80])

    def type_parameters(self, node: Any) -> tuple[str, ...]:
        """Make type parameters known in the innermost scope; their names."""
        names: list[str] = []
        for each in node.named_children if node is not None else ():
            for named in each.children_by_field_name("name"):
                name = self.text(named)
                names.append(name)
                self.scopes[-1][name] = self.writer.expression(Op.TYPE_PARAMETER, self.writer.name(name))
            bound = each.child_by_field_name("type")
            found = self.type(bound) if bound is not None else UNKNOWN
            if found and self.writer.operation(found) != Op.UNION:
                for named in each.children_by_field_name("name"):
                    own = self.writer.expression(Op.TYPE_PARAMETER, self.writer.name(self.text(named)))
                    self.scopes[-1][self.text(named)] = self.writer.union((own, found))
        return tuple(names)


def _package_of(module: str) -> str:
    """The name by which a file knows a package that it imports, by custom."""
    name = posixpath.basename(module)
    if _VERSION.fullmatch(name) and "/" in module:
        name = posixpath.basename(posixpath.dirname(module))
    name = name.partition(".")[0]
    return name.removeprefix("go-").removesuffix("-go").replace("-", "_")


GoTypes._types.update(
    {
        "type_identifier": GoTypes.named,
        "identifier": GoTypes.named,
        "qualified_type": GoTypes._qualified,
        "generic_type": GoTypes._generic,
        "pointer_type": GoTypes._inner,
        "parenthesized_type": GoTypes._inner,
        "type_elem": GoTypes._inner,
        "type_constraint": GoTypes._inner,
        "negated_type": GoTypes._inner,
        "slice_type": GoTypes._list,
        "array_type": GoTypes._list,
        "implicit_length_array_type": GoTypes._list,
        "map_type": GoTypes._table,
        "channel_type": GoTypes._channel,
        "function_type": GoTypes._function_type,
        "struct_type": GoTypes._struct,
        "comment": lambda self, node, kind: UNKNOWN,
    }
)
