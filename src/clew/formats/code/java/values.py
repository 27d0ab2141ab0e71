"""Values of Java: names, members, calls, literals, functions without a name."""

from collections.abc import Callable
from typing import Any, ClassVar

from clew.formats.code.facts.expressions import UNKNOWN, Op
from clew.formats.code.facts.model import CALLED, SiteKind
from clew.formats.code.java.types import JavaTypes

READ, CALL, WRITE = SiteKind.READ, SiteKind.CALL, SiteKind.WRITE
_MOST_ARGUMENTS = 5
_LITERALS = {
    "string_literal": "String",
    "character_literal": "int",
    "decimal_integer_literal": "int",
    "hex_integer_literal": "int",
    "octal_integer_literal": "int",
    "binary_integer_literal": "int",
    "decimal_floating_point_literal": "int",
    "true": "int",
    "false": "int",
}


class JavaValues(JavaTypes):
    _visits: ClassVar[dict[str, Callable[[Any, Any, SiteKind, int], int]]] = {}

    def visit(self, node: Any, kind: SiteKind = READ, expected: int = UNKNOWN) -> int:
        """The expression of a value; notes the sites in it. `expected` is the value that something says should stand
        there."""
        read = self._visits.get(node.type)
        if read is not None:
            return read(self, node, kind, expected)
        if node.type in _LITERALS:
            return self.writer.instance(self.built_in(_LITERALS[node.type]))
        for child in node.named_children:
            self.visit(child)
        return UNKNOWN

    # Names

    def local(self, name: str) -> int | None:
        for scope in reversed(self.scopes):
            found = scope.get(name)
            if found is not None:
                return found
        return None

    def _identifier(self, node: Any, kind: SiteKind, expected: int) -> int:
        name = self.text(node)
        found = self.local(name)
        if found is not None:
            return found
        if name[:1].isupper() and not self._is_member(name):
            found = self.type_name(name)
            if self.writer.operation(found) == Op.GLOBAL:
                # A constant of a class above, or a class of the package.
                found = self.writer.union((found, *self.inherited(name)))
            self.site(name, node, kind, found)
            return found
        return self._own(name, node, kind)

    def _is_member(self, name: str) -> bool:
        around = self.current
        while around is not None:
            if name in around.members:
                return True
            around = around.parent
        return False

    def _own(self, name: str, node: Any, kind: SiteKind) -> int:
        """A member of a class around, by its name alone."""
        found = self.writer.union(self.inherited(name))
        if not found:
            found = self.top.get(name, UNKNOWN)
        if found:
            self.site(name, node, kind, found)
        return found

    def inherited(self, name: str) -> list[int]:
        """What a name may mean as a member of the classes around: the first that has it, and those that may inherit
        it."""
        found = []
        around = self.current
        while around is not None:
            if name in around.members or around.has_bases:
                found.append(self.writer.member(self.writer.expression(Op.SELF, around.number), name))
            if name in around.members:
                return found
            around = around.parent
        if (imported := name.removesuffix(CALLED)) in self.top:
            found.append(self.top[imported])
        return [*found, *(self.writer.member(each, name) for each in self.statics)]

    def _this(self, node: Any, kind: SiteKind, expected: int) -> int:
        return self.receiver()

    def _super(self, node: Any, kind: SiteKind, expected: int) -> int:
        return self.writer.expression(Op.SUPER, self.current.number, 0) if self.current is not None else UNKNOWN

    def _field(self, node: Any, kind: SiteKind, expected: int) -> int:
        of, named = node.child_by_field_name("object"), node.child_by_field_name("field")
        if named is None or of is None:
            return UNKNOWN
        if named.type == "this":
            return self._outer(of)
        if self._is_package(of):
            return self._with_package(node, self.text(node).split("."), kind)
        name = self.text(named)
        if name == "length" and of.type != "this":
            value = self.visit(of)
            member = self.writer.member(value, name)
            self.site(name, named, kind, member)
            return member
        member = self.writer.member(self.visit(of), name)
        self.site(name, named, kind, member)
        return member

    def _is_package(self, node: Any) -> bool:
        """True where a dotted name begins with a package."""
        while node is not None and node.type == "field_access":
            node = node.child_by_field_name("object")
        if node is None or node.type != "identifier":
            return False
        name = self.text(node)
        return name in ("java", "javax", "org", "com", "net", "io") and self.local(name) is None

    def _outer(self, node: Any) -> int:
        """`Outer.this`."""
        name = self.text(node)
        around = self.current
        while around is not None:
            if self.drafts[around.number].name == name:
                return self.writer.expression(Op.SELF, around.number)
            around = around.parent
        return UNKNOWN

    # Calls

    def _call(self, node: Any, kind: SiteKind, expected: int) -> int:
        of, named = node.child_by_field_name("object"), node.child_by_field_name("name")
        name = self.text(named)
        if of is None:
            callee = self.writer.union(self.inherited(name + CALLED))
        elif self._is_package(of):
            callee = self.writer.member(self._with_package(of, self.text(of).split("."), READ), name + CALLED)
        else:
            callee = self.writer.member(self.visit(of), name + CALLED)
        self.site(name, named, CALL, callee)
        return self._result(callee, node.child_by_field_name("arguments"))

    def _result(self, callee: int, given: Any) -> int:
        arguments: list[int] = []
        waiting: list[tuple[int, Any]] = []
        nodes = (
            [each for each in given.named_children if not each.type.endswith("comment")] if given is not None else []
        )
        for place, each in enumerate(nodes):
            if each.type == "lambda_expression":
                waiting.append((place, each))
                arguments.append(UNKNOWN)
            else:
                arguments.append(self.visit(each))
        known = arguments[:_MOST_ARGUMENTS]
        for place, each in waiting:
            wanted = UNKNOWN
            if callee:
                wanted = self.writer.expression(Op.ARGUMENT, callee, place, *(known if any(known) else ()))
            arguments[place] = self.visit(each, READ, wanted)
        return self.writer.expression(Op.CALL, callee, *arguments[:_MOST_ARGUMENTS]) if callee else UNKNOWN

    def _new(self, node: Any, kind: SiteKind, expected: int) -> int:
        written = node.child_by_field_name("type")
        type = self._constructed(written) if written is not None else UNKNOWN
        outer = next((each for each in node.named_children if each.type not in ("type_arguments", "annotation")), None)
        if outer is not None and written is not None and outer.id != written.id:
            self.visit(outer)
        result = self._result(type, node.child_by_field_name("arguments"))
        body = next((each for each in node.named_children if each.type == "class_body"), None)
        if body is not None:
            self.class_without_name(body, type)
        return result

    def _constructed(self, node: Any) -> int:
        """The class of `new X()`, which uses the class and its constructor."""
        if node.type == "generic_type":
            children = node.named_children
            of = self._constructed(children[0])
            given = [self.type(each) for each in children[-1].named_children] if len(children) > 1 else []
            return self.writer.expression(Op.SUBSCRIPT, of, *given[:_MOST_ARGUMENTS]) if of and given else of
        if node.type != "type_identifier":
            return self.type(node, CALL)
        name = self.text(node)
        found = self.type_name(name)
        self.site(name, node, CALL, self.writer.union((found, self.writer.member(found, name + CALLED))))
        return found

    def class_without_name(self, body: Any, above: int) -> None:
        raise NotImplementedError

    def _new_array(self, node: Any, kind: SiteKind, expected: int) -> int:
        written = node.child_by_field_name("type")
        element = self.type(written) if written is not None else UNKNOWN
        for each in node.named_children:
            if written is None or each.id != written.id:
                self.visit(each)
        return self.writer.instance(self.of_array(element))

    def _reference(self, node: Any, kind: SiteKind, expected: int) -> int:
        """`Bell::ring` and `Bell::new`."""
        children = [each for each in node.named_children if each.type != "type_arguments"]
        if not children:
            return UNKNOWN
        first = children[0]
        of = self.visit(first) if first.type not in ("generic_type", "array_type") else self.type(first)
        if len(children) < 2:
            return of
        name = self.text(children[-1])
        member = self.writer.member(of, name + CALLED)
        self.site(name, children[-1], READ, member)
        return member

    def _lambda(self, node: Any, kind: SiteKind, expected: int) -> int:
        self.scopes.append({})
        written, body = node.child_by_field_name("parameters"), node.child_by_field_name("body")
        place = 0
        for each in [written] if written is not None and written.type == "identifier" else written.named_children:
            named, type = each, UNKNOWN
            if each.type in ("formal_parameter", "spread_parameter"):
                named = each.child_by_field_name("name")
                declared = each.child_by_field_name("type")
                type = self.type(declared) if declared is not None and self.text(declared) != "var" else UNKNOWN
            if named is None or named.type != "identifier":
                continue
            value = self.writer.instance(type)
            if not type and expected:
                value = self.writer.expression(Op.ARGUMENT, expected, place)
            self.scopes[-1][self.text(named)] = value
            place += 1
        found = UNKNOWN
        if body is not None and body.type == "block":
            found = self.block_value(body)
        elif body is not None:
            found = self.visit(body)
        self.scopes.pop()
        return self.writer.expression(Op.FUNCTION, found)

    def block_value(self, node: Any) -> int:
        """Read a block; all that it returns."""
        raise NotImplementedError

    # Operators

    def _assignment(self, node: Any, kind: SiteKind, expected: int) -> int:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        value = self.visit(right) if right is not None else UNKNOWN
        self.visit(left, WRITE)
        return value

    def _update(self, node: Any, kind: SiteKind, expected: int) -> int:
        for each in node.named_children:
            self.visit(each, WRITE)
        return UNKNOWN

    def _binary(self, node: Any, kind: SiteKind, expected: int) -> int:
        # A long sum is a deep tree: its left side is gone through without recursion.
        operands = []
        while node.type == "binary_expression":
            operands.append(node.child_by_field_name("right"))
            node = node.child_by_field_name("left")
        for each in (node, *reversed(operands)):
            self.visit(each)
        return self.writer.instance(self.built_in("int"))

    def _instance_of(self, node: Any, kind: SiteKind, expected: int) -> int:
        self.visit(node.child_by_field_name("left"))
        right, named = node.child_by_field_name("right"), node.child_by_field_name("name")
        type = self.type(right) if right is not None else UNKNOWN
        if named is not None:
            self.scopes[-1][self.text(named)] = self.writer.instance(type)
        pattern = node.child_by_field_name("pattern")
        if pattern is not None:
            self.pattern(pattern)
        return self.writer.instance(self.built_in("int"))

    def pattern(self, node: Any) -> None:
        """Give the names in a pattern what they are."""
        waiting = [node]
        while waiting:
            each = waiting.pop()
            children = each.named_children
            if each.type in ("type_pattern", "record_pattern_component") and len(children) > 1:
                type = self.type(children[-2])
                self.scopes[-1][self.text(children[-1])] = self.writer.instance(type)
            elif each.type == "record_pattern" and children:
                self.type(children[0])
                waiting += children[1:]
            else:
                waiting += children

    def _cast(self, node: Any, kind: SiteKind, expected: int) -> int:
        written, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        type = self.type(written) if written is not None else UNKNOWN
        self.visit(value, READ, self.writer.instance(type))
        return self.writer.instance(type)

    def _index(self, node: Any, kind: SiteKind, expected: int) -> int:
        of, index = self.visit(node.child_by_field_name("array")), node.child_by_field_name("index")
        at = self.visit(index) if index is not None else UNKNOWN
        return self.writer.expression(Op.SUBSCRIPT, of, at) if of else UNKNOWN

    def _inner(self, node: Any, kind: SiteKind, expected: int) -> int:
        children = node.named_children
        return self.visit(children[0], kind, expected) if children else UNKNOWN

    def _either(self, node: Any, kind: SiteKind, expected: int) -> int:
        self.visit(node.child_by_field_name("condition"))
        parts = [node.child_by_field_name(field) for field in ("consequence", "alternative")]
        return self.writer.union([self.visit(each, READ, expected) for each in parts if each is not None])

    def _class_literal(self, node: Any, kind: SiteKind, expected: int) -> int:
        for each in node.named_children:
            self.type(each, READ)
        return self.writer.instance(self.built_in("Class"))


JavaValues._visits.update(
    {
        "identifier": JavaValues._identifier,
        "this": JavaValues._this,
        "super": JavaValues._super,
        "field_access": JavaValues._field,
        "method_invocation": JavaValues._call,
        "object_creation_expression": JavaValues._new,
        "array_creation_expression": JavaValues._new_array,
        "method_reference": JavaValues._reference,
        "lambda_expression": JavaValues._lambda,
        "assignment_expression": JavaValues._assignment,
        "update_expression": JavaValues._update,
        "binary_expression": JavaValues._binary,
        "instanceof_expression": JavaValues._instance_of,
        "cast_expression": JavaValues._cast,
        "array_access": JavaValues._index,
        "parenthesized_expression": JavaValues._inner,
        "ternary_expression": JavaValues._either,
        "class_literal": JavaValues._class_literal,
        "null_literal": lambda self, node, kind, expected: self.writer.expression(Op.NOTHING),
        "type_identifier": lambda self, node, kind, expected: self.type(node, kind),
        "generic_type": lambda self, node, kind, expected: self.type(node, kind),
        "array_type": lambda self, node, kind, expected: self.type(node, kind),
        "line_comment": lambda self, node, kind, expected: UNKNOWN,
        "block_comment": lambda self, node, kind, expected: UNKNOWN,
    }
)
