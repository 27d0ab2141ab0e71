"""Values of Go: names, members, calls, literals."""

from collections.abc import Callable
from typing import Any, ClassVar

from clew.formats.code.facts.expressions import UNKNOWN, Op
from clew.formats.code.facts.model import SiteKind
from clew.formats.code.go.types import GoTypes
from clew.formats.code.trees.reading import LIST

READ, CALL, WRITE, ARGUMENT = SiteKind.READ, SiteKind.CALL, SiteKind.WRITE, SiteKind.ARGUMENT
_SIGNED = frozenset({"slice_type", "array_type", "implicit_length_array_type", "map_type"})
_TYPES = _SIGNED | {"pointer_type", "channel_type", "function_type", "struct_type", "interface_type", "qualified_type"}
_OF_FIRST = frozenset({"append", "min", "max"})
_MOST_ARGUMENTS = 5


class GoValues(GoTypes):
    _visits: ClassVar[dict[str, Callable[[Any, Any, SiteKind], int]]] = {}

    def visit(self, node: Any, kind: SiteKind = READ) -> int:
        """The expression of a value; notes the sites in it."""
        read = self._visits.get(node.type)
        if read is not None:
            return read(self, node, kind)
        if node.type in _TYPES:
            return self.type(node)
        for child in node.named_children:
            self.visit(child)
        return UNKNOWN

    def _selector(self, node: Any, kind: SiteKind) -> int:
        of, name = self.visit(node.child_by_field_name("operand")), node.child_by_field_name("field")
        member = self.writer.member(of, self.text(name))
        self.site(self.text(name), name, kind, member)
        return member

    def _call(self, node: Any, kind: SiteKind) -> int:
        callee, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        nodes = [each for each in given.named_children if each.type != "comment"] if given is not None else []
        name = self.text(callee) if callee.type == "identifier" else ""
        if name and self.local(name) is None and name not in self.top:
            if name in ("make", "new") and nodes:
                found = self.writer.instance(self.type(nodes[0]))
                for each in nodes[1:]:
                    self.visit(each)
                return found
            if name in _OF_FIRST and nodes:
                values = [self.visit(each) for each in nodes]
                return values[0]
        while callee.type == "parenthesized_expression" and len(callee.named_children) == 1:
            callee = callee.named_children[0]
        value = self.visit(callee, CALL)
        if (written := node.child_by_field_name("type_arguments")) is not None and value:
            value = self.writer.expression(Op.SUBSCRIPT, value, *[self.type(each) for each in written.named_children])
        arguments = [self.visit(each) for each in nodes]
        return self.writer.expression(Op.CALL, value, *arguments[:_MOST_ARGUMENTS]) if value else UNKNOWN

    def _converted(self, node: Any, kind: SiteKind) -> int:
        """`T(x)` and `f[T](x)`, which look alike: what is called decides."""
        written, operand = node.child_by_field_name("type"), node.child_by_field_name("operand")
        found = self.type(written, CALL)
        argument = self.visit(operand) if operand is not None else UNKNOWN
        if written.type in _SIGNED:
            return self.writer.instance(found)
        return self.writer.expression(Op.CALL, found, argument) if found else UNKNOWN

    def _index(self, node: Any, kind: SiteKind) -> int:
        of = self.visit(node.child_by_field_name("operand"))
        index = node.child_by_field_name("index")
        at = self.visit(index) if index is not None else UNKNOWN
        return self.writer.expression(Op.SUBSCRIPT, of, at) if of else UNKNOWN

    def _slice(self, node: Any, kind: SiteKind) -> int:
        found = self.visit(node.child_by_field_name("operand"))
        for field in ("start", "end", "capacity"):
            part = node.child_by_field_name(field)
            if part is not None:
                self.visit(part)
        return found

    def _unary(self, node: Any, kind: SiteKind) -> int:
        found = self.visit(node.child_by_field_name("operand"))
        operator = node.child_by_field_name("operator").type
        if operator == "<-":
            return self.element(found)
        return found if operator in ("*", "&") else UNKNOWN

    def _binary(self, node: Any, kind: SiteKind) -> int:
        # A long sum is a deep tree: its left side is gone through without recursion.
        found = UNKNOWN
        operands = []
        while node.type == "binary_expression":
            operands.append(node.child_by_field_name("right"))
            node = node.child_by_field_name("left")
        for each in (node, *reversed(operands)):
            found = self.visit(each)
        return UNKNOWN if operands else found

    def _asserted(self, node: Any, kind: SiteKind) -> int:
        self.visit(node.child_by_field_name("operand"))
        written = node.child_by_field_name("type")
        return self.writer.instance(self.type(written)) if written is not None else UNKNOWN

    def _inner(self, node: Any, kind: SiteKind) -> int:
        children = node.named_children
        return self.visit(children[0], kind) if children else UNKNOWN

    def _literal(self, node: Any, kind: SiteKind) -> int:
        written, body = node.child_by_field_name("type"), node.child_by_field_name("body")
        type = self.type(written, CALL if written.type not in _SIGNED else SiteKind.ANNOTATION)
        found = self.writer.instance(type)
        self._fields(body, found, has_fields=written.type not in _SIGNED)
        return found

    def _fields(self, body: Any, value: int, *, has_fields: bool) -> None:
        """The contents of a literal. Its keys are fields unless its type is a list or a table."""
        held = self.writer.expression(Op.SUBSCRIPT, value, UNKNOWN) if value else UNKNOWN
        for each in body.named_children:
            if each.type == "keyed_element":
                key, given = each.child_by_field_name("key"), each.child_by_field_name("value")
                inner = key.named_children[0] if key.named_children else key
                member = held
                if has_fields and inner.type == "identifier":
                    name = self.text(inner)
                    member = self.writer.member(value, name)
                    self.site(name, inner, ARGUMENT, member)
                else:
                    self._part(key, self.element(value))
                self._part(given, member)
            else:
                self._part(each, held)

    def _part(self, node: Any, wanted: int) -> None:
        """A part of a literal; one in braces alone is of the type that is expected."""
        inner = node.named_children[0] if node.type == "literal_element" and node.named_children else node
        if inner.type == "literal_value":
            self._fields(inner, wanted, has_fields=True)
        else:
            self.visit(inner)

    def _function_value(self, node: Any, kind: SiteKind) -> int:
        self.scopes.append({})
        taken = self.parameters(node.child_by_field_name("parameters"))
        for name, type, _, gathers in taken:
            if name:
                own = self.of_sign(LIST, type) if gathers else type
                self.scopes[-1][name] = self.writer.instance(own)
        result = self.result(node)
        self._named_results(node)
        body = node.child_by_field_name("body")
        if body is not None:
            self.statements(body)
        self.scopes.pop()
        return self.writer.expression(Op.FUNCTION, self.writer.instance(result), *[type for _, type, _, _ in taken][:8])

    def _named_results(self, node: Any) -> None:
        written = node.child_by_field_name("result")
        if written is not None and written.type == "parameter_list":
            for each in written.named_children:
                names = each.children_by_field_name("name")
                type = each.child_by_field_name("type") if names else None
                # The sites of the type are noted already.
                value = self._quiet(type) if type is not None else UNKNOWN
                for name in names:
                    self.scopes[-1][self.text(name)] = self.writer.instance(value)

    def _quiet(self, node: Any) -> int:
        """A type without its sites."""
        sites, self.writer.sites = self.writer.sites, {}
        found = self.type(node)
        self.writer.sites = sites
        return found

    def statements(self, node: Any) -> None:
        raise NotImplementedError


GoValues._visits.update(
    {
        "identifier": GoValues.named,
        "package_identifier": GoValues.named,
        "selector_expression": GoValues._selector,
        "call_expression": GoValues._call,
        "type_conversion_expression": GoValues._converted,
        "type_instantiation_expression": GoTypes._generic,
        "index_expression": GoValues._index,
        "slice_expression": GoValues._slice,
        "unary_expression": GoValues._unary,
        "binary_expression": GoValues._binary,
        "type_assertion_expression": GoValues._asserted,
        "parenthesized_expression": GoValues._inner,
        "composite_literal": GoValues._literal,
        "func_literal": GoValues._function_value,
        "generic_type": GoTypes._generic,
        "comment": lambda self, node, kind: UNKNOWN,
    }
)
