"""Values of Rust: names, members, calls, literals, patterns, what stands in macros."""

from collections.abc import Callable
from typing import Any, ClassVar

from clew.formats.code.facts.expressions import UNKNOWN, Op
from clew.formats.code.facts.model import CALLED, SiteKind
from clew.formats.code.rust.types import RustTypes
from clew.formats.code.trees.reading import LIST

READ, CALL, WRITE, ARGUMENT = SiteKind.READ, SiteKind.CALL, SiteKind.WRITE, SiteKind.ARGUMENT
_MOST_ARGUMENTS = 5
_HELD = {"Some": "unwrap()", "Ok": "unwrap()", "Err": "unwrap_err()"}
"""Variants of the language, and what gives the value that each of them holds."""
_SAME_VALUE = frozenset(
    {"mut_pattern", "ref_pattern", "reference_pattern", "match_pattern", "or_pattern", "captured_pattern"}
)
_NAMES = frozenset({"identifier", "self", "crate", "super"})


class RustValues(RustTypes):
    _visits: ClassVar[dict[str, Callable[[Any, Any, SiteKind, int], int]]] = {}

    def __init__(self, text: str, path: str) -> None:
        super().__init__(text, path)
        self.imported_members = set()
        self.variants: dict[tuple[int, str], list[int]] = {}
        """Types that the variants of enumerations of this file hold, by the expression of the enumeration."""

    def visit(self, node: Any, kind: SiteKind = READ, expected: int = UNKNOWN) -> int:
        """The expression of a value; notes the sites in it."""
        read = self._visits.get(node.type)
        if read is not None:
            return read(self, node, kind, expected)
        found = UNKNOWN
        for child in node.named_children:
            found = self.visit(child)
        return found if node.type in _HANDING_ON else UNKNOWN

    def _identifier(self, node: Any, kind: SiteKind, expected: int) -> int:
        return self.named(node, kind)

    def _path(self, node: Any, kind: SiteKind, expected: int) -> int:
        return self.path_value(node, kind)

    def _self(self, node: Any, kind: SiteKind, expected: int) -> int:
        return self.known("self") or UNKNOWN

    def _field(self, node: Any, kind: SiteKind, expected: int) -> int:
        of, named = self.visit(node.child_by_field_name("value")), node.child_by_field_name("field")
        name = self.text(named)
        if named.type == "integer_literal":
            return self.writer.expression(Op.UNPACKED, of, int(name)) if of and name.isdigit() and len(name) < 4 else 0
        member = self.writer.member(of, name + CALLED if kind == CALL else name)
        self.site(name, named, kind, member)
        return member

    # Calls

    def _call(self, node: Any, kind: SiteKind, expected: int) -> int:
        callee, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        written = callee
        while written.type == "generic_function":
            for each in written.child_by_field_name("type_arguments").named_children:
                self.type(each)
            written = written.child_by_field_name("function")
        value = self.visit(written, CALL)
        nodes = given.named_children if given is not None else []
        arguments: list[int] = []
        waiting: list[tuple[int, Any]] = []
        for place, each in enumerate(nodes):
            if each.type == "closure_expression":
                waiting.append((place, each))
                arguments.append(UNKNOWN)
            else:
                arguments.append(self.visit(each))
        for place, each in waiting:
            wanted = self.writer.expression(Op.ARGUMENT, value, place) if value else UNKNOWN
            arguments[place] = self.visit(each, READ, wanted)
        if written.type == "identifier" and self.text(written) in ("Some", "Ok") and arguments:
            name = "Option" if self.text(written) == "Some" else "Result"
            return self.writer.expression(Op.COLLECTION, self.writer.name(name), arguments[0])
        if self._is_variant(written):
            return value
        return self.writer.expression(Op.CALL, value, *arguments[:_MOST_ARGUMENTS]) if value else UNKNOWN

    def _is_variant(self, node: Any) -> bool:
        """True for `Tone::High`: a variant of an enumeration, which is a value of it."""
        if node.type != "scoped_identifier":
            return False
        before = node.child_by_field_name("path")
        words = (self.text(node.child_by_field_name("name")), self.text(before).rpartition("::")[2] if before else "")
        return all(word[:1].isupper() for word in words)

    def _closure(self, node: Any, kind: SiteKind, expected: int) -> int:
        self.scopes.append({})
        written = node.child_by_field_name("parameters")
        for place, each in enumerate(written.named_children if written is not None else ()):
            pattern, type = each, UNKNOWN
            if each.type == "parameter":
                pattern, declared = each.child_by_field_name("pattern"), each.child_by_field_name("type")
                type = self.type(declared) if declared is not None else UNKNOWN
            value = self.writer.instance(type)
            if not type and expected:
                value = self.writer.expression(Op.ARGUMENT, expected, place)
            self.pattern(pattern, value)
        body = node.child_by_field_name("body")
        found = self.visit(body) if body is not None else UNKNOWN
        self.scopes.pop()
        return self.writer.expression(Op.FUNCTION, found)

    def _try(self, node: Any, kind: SiteKind, expected: int) -> int:
        value = self.visit(node.named_children[0]) if node.named_children else UNKNOWN
        return self._called(value, "unwrap()")

    def _called(self, value: int, name: str) -> int:
        return self.writer.expression(Op.CALL, self.writer.member(value, name)) if value else UNKNOWN

    # Literals

    def _struct(self, node: Any, kind: SiteKind, expected: int) -> int:
        written, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        type = self.type(written, CALL)
        value = self.writer.instance(type)
        for each in body.named_children if body is not None else ():
            named = each.child_by_field_name("field")
            if each.type == "shorthand_field_initializer" and each.named_children:
                named = each.named_children[-1]
                self.visit(named)
            if named is not None:
                name = self.text(named)
                self.site(name, named, ARGUMENT, self.writer.member(value, name))
            given = each.child_by_field_name("value")
            if given is not None:
                self.visit(given)
            elif each.type == "base_field_initializer":
                for one in each.named_children:
                    self.visit(one)
        return value

    def _array(self, node: Any, kind: SiteKind, expected: int) -> int:
        parts = [self.visit(each) for each in node.named_children]
        element = next((each for each in parts if each), UNKNOWN)
        return self.writer.expression(Op.COLLECTION, self.writer.name(LIST), element)

    def _tuple_value(self, node: Any, kind: SiteKind, expected: int) -> int:
        parts = [self.visit(each) for each in node.named_children]
        return self.writer.expression(Op.COLLECTION, self.writer.name("tuple"), *parts[:8])

    # Operators

    def _assignment(self, node: Any, kind: SiteKind, expected: int) -> int:
        right = node.child_by_field_name("right")
        if right is not None:
            self.visit(right)
        self.visit(node.child_by_field_name("left"), WRITE)
        return UNKNOWN

    def _binary(self, node: Any, kind: SiteKind, expected: int) -> int:
        # A long sum is a deep tree: its left side is gone through without recursion.
        operands = []
        while node.type == "binary_expression":
            operands.append(node.child_by_field_name("right"))
            node = node.child_by_field_name("left")
        for each in (node, *reversed(operands)):
            self.visit(each)
        return self.writer.instance(self.built_in("str"))

    def _index(self, node: Any, kind: SiteKind, expected: int) -> int:
        parts = [self.visit(each) for each in node.named_children]
        return self.writer.expression(Op.SUBSCRIPT, parts[0], UNKNOWN) if parts and parts[0] else UNKNOWN

    def _cast(self, node: Any, kind: SiteKind, expected: int) -> int:
        self.visit(node.child_by_field_name("value"))
        return self.writer.instance(self.type(node.child_by_field_name("type")))

    # Patterns

    def pattern(self, node: Any, value: int) -> None:
        """Give the names in a pattern what they are."""
        kind = node.type
        if kind in ("identifier", "shorthand_field_identifier"):
            name = self.text(node)
            if name[:1].isupper():
                self.named(node, READ)
            else:
                self.scopes[-1][name] = value
        elif kind in _SAME_VALUE:
            for each in node.named_children:
                self.pattern(each, value)
        elif kind in ("tuple_pattern", "slice_pattern"):
            for place, each in enumerate(node.named_children):
                part = self.writer.expression(Op.UNPACKED, value, place) if value else UNKNOWN
                self.pattern(each, self.element(value) if kind == "slice_pattern" else part)
        elif kind == "tuple_struct_pattern":
            self._tuple_struct(node, value)
        elif kind == "struct_pattern":
            self._struct_pattern(node)
        elif kind in ("scoped_identifier", "range_pattern"):
            self.visit(node)

    def _tuple_struct(self, node: Any, value: int) -> None:
        named, *inner = node.named_children
        held = _HELD.get(self.text(named))
        if held is not None:
            for each in inner:
                self.pattern(each, self._called(value, held))
            return
        of = self.visit(named) if named.type != "identifier" else self.named(named, READ)
        parts = self.writer.parts(of)
        types = self.variants.get((parts[1], self.text(named).rpartition("::")[2]), []) if parts[0] == Op.MEMBER else []
        for place, each in enumerate(inner):
            self.pattern(each, self.writer.instance(types[place]) if place < len(types) else UNKNOWN)

    def _struct_pattern(self, node: Any) -> None:
        type = self.type(node.child_by_field_name("type"), READ)
        value = self.writer.instance(type)
        for each in node.named_children:
            named = each.child_by_field_name("name") if each.type == "field_pattern" else None
            if named is None:
                continue
            name = self.text(named)
            member = self.writer.member(value, name)
            self.site(name, named, READ, member)
            inner = each.child_by_field_name("pattern")
            self.pattern(inner if inner is not None else named, member)

    # Macros

    def _macro(self, node: Any, kind: SiteKind, expected: int) -> int:
        named = node.child_by_field_name("macro")
        if named is not None and named.type == "identifier" and self.known(f"{self.text(named)}!") is not None:
            self.site(self.text(named), named, CALL, self.known(f"{self.text(named)}!") or UNKNOWN)
        for each in node.named_children:
            if each.type == "token_tree":
                self._tokens(each)
        return UNKNOWN

    def _tokens(self, node: Any) -> None:
        """What stands in a macro is no tree: names and members are read from their signs."""
        children = node.children
        value, at = UNKNOWN, 0
        while at < len(children):
            each = children[at]
            following = children[at + 1] if at + 1 < len(children) else None
            is_call = following is not None and following.type == "token_tree" and self.text(following).startswith("(")
            before = children[at - 1].type if at else ""
            if each.type == "token_tree":
                inner_value = value
                self._tokens(each)
                is_called = before in _NAMES and self.text(each).startswith("(")
                value = self.writer.expression(Op.CALL, inner_value) if is_called and inner_value else UNKNOWN
            elif each.type in _NAMES:
                value = self._token(each, before, value, is_call=is_call)
            elif each.type not in (".", "::", "?", "&"):
                value = UNKNOWN
            at += 1

    def _token(self, node: Any, before: str, value: int, *, is_call: bool) -> int:
        name = self.text(node)
        if before in (".", "::"):
            suffix = CALLED if is_call and not name[:1].isupper() else ""
            member = self.writer.member(value, name + suffix)
            if member or before == ".":
                self.site(name, node, CALL if is_call else READ, member)
            return member
        if node.type == "self":
            return self.known("self") or UNKNOWN
        if node.type in ("crate", "super"):
            return self.module(node.type, node)
        found = self.known(name)
        return self.named(node, CALL if is_call else READ) if found is not None or name == "Self" else UNKNOWN


_HANDING_ON = frozenset(
    {"parenthesized_expression", "reference_expression", "unary_expression", "await_expression", "unsafe_block"}
)


def _value(name: str) -> Callable[[RustValues, Any, SiteKind, int], int]:
    return lambda self, node, kind, expected: self.writer.instance(self.built_in(name))


RustValues._visits.update(
    {
        "identifier": RustValues._identifier,
        "type_identifier": RustValues._identifier,
        "scoped_identifier": RustValues._path,
        "self": RustValues._self,
        "field_expression": RustValues._field,
        "call_expression": RustValues._call,
        "closure_expression": RustValues._closure,
        "try_expression": RustValues._try,
        "struct_expression": RustValues._struct,
        "array_expression": RustValues._array,
        "tuple_expression": RustValues._tuple_value,
        "assignment_expression": RustValues._assignment,
        "compound_assignment_expr": RustValues._assignment,
        "binary_expression": RustValues._binary,
        "index_expression": RustValues._index,
        "type_cast_expression": RustValues._cast,
        "macro_invocation": RustValues._macro,
        "string_literal": _value("str"),
        "integer_literal": _value("str"),
        "boolean_literal": _value("str"),
        "line_comment": lambda self, node, kind, expected: UNKNOWN,
        "block_comment": lambda self, node, kind, expected: UNKNOWN,
    }
)
