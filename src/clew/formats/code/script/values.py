"""Values of scripts: names, members, calls, literals, tests."""

from collections.abc import Callable
from typing import Any, ClassVar

from clew.formats.code.facts.expressions import EXCLUDED, MOST_FIELDS, UNKNOWN, Op
from clew.formats.code.facts.model import SiteKind
from clew.formats.code.script.scopes import Local, ScriptScope
from clew.formats.code.script.types import Types

READ, CALL, WRITE, ARGUMENT = SiteKind.READ, SiteKind.CALL, SiteKind.WRITE, SiteKind.ARGUMENT
Known = dict[int, int]
"""What is known of expressions at a point beside what they are: by expression."""
_WIDEST_KNOWN = 200
_HANDED_ON = frozenset({"parenthesized_expression", "non_null_expression"})
_TAKES_EXPECTED = frozenset(
    {
        "object",
        "array",
        "arrow_function",
        "function_expression",
        "generator_function",
        "parenthesized_expression",
        "ternary_expression",
        "binary_expression",
        "as_expression",
        "satisfies_expression",
        "await_expression",
    }
)
"""Nodes that make something of what is expected where they stand."""
_REPLACING = frozenset({"spyOn", "replaceProperty", "stub", "mockReturn"})
_MOST_ARGUMENTS = 5


class Values(Types):
    """Reads expressions. `expected` is the value that something says should stand there, where it says it."""

    _visits: ClassVar[dict[str, Callable[[Any, Any, SiteKind, int], int]]] = {}

    def __init__(self, text: str, path: str) -> None:
        super().__init__(text, path)
        self.module = ScriptScope(0, None, -1)
        self.scope = self.module
        self.known: Known = {}
        self.variables: list[Local] = []
        """Those that are filled when all was read."""

    def visit(self, node: Any, kind: SiteKind = READ, expected: int = UNKNOWN) -> int:
        """The expression of a value; notes the sites in it. `kind` is what is done with the value."""
        read = self._visits.get(node.type)
        if read is not None:
            return read(self, node, kind, expected)
        for child in node.named_children:
            self.visit(child)
        return UNKNOWN

    # Names

    def lookup(self, name: str) -> Local | None:
        scope: ScriptScope | None = self.scope
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def meaning(self, local: Local) -> int:
        """The expression of a name wherever it is read."""
        return local.expression or self.as_variable(local)

    def as_variable(self, local: Local) -> int:
        if local.variable < 0:
            local.variable = self.writer.variable()
            local.expression = self.writer.expression(Op.VARIABLE, local.variable)
            self.variables.append(local)
        return local.expression

    def _identifier(self, node: Any, kind: SiteKind, expected: int) -> int:
        name = self.text(node)
        local = self.lookup(name)
        if local is None:
            return self.writer.expression(Op.NOTHING) if name == "undefined" else self.built_in(name)
        found = self.meaning(local)
        if local.is_symbol:
            self.site(name, node, kind, found)
        return self.known.get(found, found)

    def _this(self, node: Any, kind: SiteKind, expected: int) -> int:
        scope: ScriptScope | None = self.scope
        while scope is not None:
            if scope.this >= 0:
                return scope.this
            scope = scope.parent
        return UNKNOWN

    def _super(self, node: Any, kind: SiteKind, expected: int) -> int:
        of = self.writer.parts(self._this(node, kind, expected))
        if of[0] not in (Op.SELF, Op.SELF_CLASS):
            return UNKNOWN
        return self.writer.expression(Op.SUPER, of[1], int(of[0] == Op.SELF_CLASS))

    def _member(self, node: Any, kind: SiteKind, expected: int) -> int:
        value, name = node.child_by_field_name("object"), node.child_by_field_name("property")
        if value is None or name is None:
            return UNKNOWN
        of = self.visit(value)
        said = self.text(name)
        member = self.writer.member(of, said)
        self.site(said, name, kind, member)
        return self.known.get(member, member) if member else UNKNOWN

    def quiet(self, node: Any) -> int:
        """The expression of a name or of members of it, without a site and without what is known of it."""
        kind = node.type
        if kind == "identifier":
            local = self.lookup(self.text(node))
            return self.meaning(local) if local is not None else UNKNOWN
        if kind == "this":
            return self._this(node, READ, UNKNOWN)
        if kind in _HANDED_ON:
            return self.quiet(node.named_children[0]) if node.named_children else UNKNOWN
        if kind == "member_expression":
            value, name = node.child_by_field_name("object"), node.child_by_field_name("property")
            of = self.quiet(value) if value is not None else UNKNOWN
            return self.writer.member(self.known.get(of, of), self.text(name)) if of and name is not None else UNKNOWN
        return UNKNOWN

    # Tests, which narrow what values are

    def test(self, node: Any) -> tuple[Known, Known]:
        """Read a condition; what is known where it holds, and where it does not."""
        kind = node.type
        if kind == "parenthesized_expression" and len(node.named_children) == 1:
            return self.test(node.named_children[0])
        if kind == "unary_expression" and node.children[0].type == "!":
            yes, no = self.test(node.child_by_field_name("argument"))
            return no, yes
        if kind == "binary_expression":
            operator = node.child_by_field_name("operator").type
            if operator in ("&&", "||"):
                return self._both(node)
            if operator == "instanceof":
                left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
                return self._told_apart(left, self.visit(left), self.visit(right))
        if kind == "call_expression":
            value = self.visit(node)
            given = node.child_by_field_name("arguments")
            first = given.named_children[0] if given is not None and given.named_children else None
            parts = self.writer.parts(value)
            if first is not None and parts[0] == Op.CALL and first.type in ("identifier", "member_expression"):
                key = self.quiet(first)
                return self._narrowed(first, self.known.get(key, key), value), {}
            return {}, {}
        self.visit(node)
        return {}, {}

    def _narrowed(self, node: Any, value: int, tested: int) -> Known:
        key = self.quiet(node)
        return {key: self.writer.expression(Op.NARROWED, value, tested)} if key and value and tested else {}

    def _told_apart(self, node: Any, value: int, tested: int) -> tuple[Known, Known]:
        """A value where it is of a class, and where it is not."""
        yes = self._narrowed(node, value, tested)
        return yes, {key: self.writer.expression(Op.NARROWED, value, tested, EXCLUDED) for key in yes}

    def _both(self, node: Any) -> tuple[Known, Known]:
        """All conditions of a chain of one operator, each read with what those before it say."""
        operator = node.child_by_field_name("operator").type
        chain = self._chain(node, operator)
        before = self.known
        found: Known = {}
        for each in chain:
            yes, no = self.test(each)
            told = yes if operator == "&&" else no
            if told:
                found.update(told)
                self.known = self.joined(told)
        self.known = before
        return (found, {}) if operator == "&&" else ({}, found)

    def _chain(self, node: Any, operator: str) -> list[Any]:
        """The operands of a chain of one operator, in their order; it is a tree that is deep on its left."""
        operands = []
        while node.type == "binary_expression" and node.child_by_field_name("operator").type == operator:
            operands.append(node.child_by_field_name("right"))
            node = node.child_by_field_name("left")
        operands.append(node)
        return operands[::-1]

    def joined(self, told: Known) -> Known:
        """The known values at this point, with some more."""
        return {**self.known, **told} if told and len(self.known) < _WIDEST_KNOWN else self.known

    # Operators

    def _binary(self, node: Any, kind: SiteKind, expected: int) -> int:
        operator = node.child_by_field_name("operator").type
        if operator in ("&&", "||"):
            before = self.known
            values: list[int] = []
            for each in self._chain(node, operator):
                if each.type in (
                    "call_expression",
                    "binary_expression",
                    "unary_expression",
                    "parenthesized_expression",
                ):
                    yes, no = self._tested(each, values, expected)
                    self.known = self.joined(yes if operator == "&&" else no)
                else:
                    values.append(self.visit(each, READ, expected))
            self.known = before
            return values[-1] if operator == "&&" else self.writer.union(values)
        operands = self._chain(node, operator)
        if operator == "??":
            return self.writer.union([self.visit(each, READ, expected) for each in operands])
        for each in operands:
            self.visit(each)
        return self.literal("Boolean" if operator in _COMPARING else "Number" if operator != "+" else "String")

    def _tested(self, node: Any, values: list[int], expected: int) -> tuple[Known, Known]:
        """A part of a condition that is used as a value too."""
        inner = node
        while inner.type == "parenthesized_expression" and len(inner.named_children) == 1:
            inner = inner.named_children[0]
        if inner.type in ("unary_expression", "call_expression"):
            found = self.test(inner)
            values.append(UNKNOWN)
            return found
        if inner.type == "binary_expression" and inner.child_by_field_name("operator").type in _TESTING:
            values.append(self.literal("Boolean"))
            return self.test(inner)
        values.append(self.visit(node, READ, expected))
        return {}, {}

    def _unary(self, node: Any, kind: SiteKind, expected: int) -> int:
        operator = node.children[0].type
        argument = node.child_by_field_name("argument")
        if operator == "!":
            self.test(argument)
            return self.literal("Boolean")
        self.visit(argument, SiteKind.DELETE if operator == "delete" else READ)
        return self.literal("String" if operator == "typeof" else "Number")

    def _ternary(self, node: Any, kind: SiteKind, expected: int) -> int:
        yes, no = self.test(node.child_by_field_name("condition"))
        before = self.known
        values = []
        for field, told in (("consequence", yes), ("alternative", no)):
            self.known = self.joined(told)
            part = node.child_by_field_name(field)
            values.append(self.visit(part, kind if kind == CALL else READ, expected) if part is not None else UNKNOWN)
            self.known = before
        return self.writer.union(values)

    def _handed_on(self, node: Any, kind: SiteKind, expected: int) -> int:
        children = node.named_children
        return self.visit(children[0], kind, expected) if children else UNKNOWN

    def _sequence(self, node: Any, kind: SiteKind, expected: int) -> int:
        found = UNKNOWN
        for each in node.named_children:
            found = self.visit(each)
        return found

    def _as(self, node: Any, kind: SiteKind, expected: int) -> int:
        children = [each for each in node.named_children if each.type != "comment"]
        if len(children) < 2:
            return self.visit(children[0], kind, expected) if children else UNKNOWN
        value, written = (children[1], children[0]) if node.type == "type_assertion" else children[:2]
        type = self._of_brackets(written) if written.type == "type_arguments" else self.type(written)
        found = self.visit(value, kind, self.writer.instance(type) or expected)
        return found if node.type == "satisfies_expression" or not type else self.writer.instance(type)

    def _of_brackets(self, node: Any) -> int:
        return self.type(node.named_children[0]) if node.named_children else UNKNOWN

    def _await(self, node: Any, kind: SiteKind, expected: int) -> int:
        inner = node.named_children
        value = self.visit(inner[0]) if inner else UNKNOWN
        return self.writer.expression(Op.AWAITED, value) if value else UNKNOWN

    def _yield(self, node: Any, kind: SiteKind, expected: int) -> int:
        inner = node.named_children
        value = self.visit(inner[0]) if inner else UNKNOWN
        is_all = any(each.type == "*" for each in node.children)
        self.scope.function().yields.append(self.element(value) if is_all else value)
        return UNKNOWN

    # Calls

    def _call(self, node: Any, kind: SiteKind, expected: int) -> int:
        callee, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if callee is None:
            return UNKNOWN
        special = self.special_call(node, callee, given)
        if special is not None:
            return special
        if callee.type == "super":
            value = UNKNOWN
            above = self._super(callee, READ, UNKNOWN)
            context = self.writer.member(above, "constructor")
        else:
            value = context = self.visit(callee, kind if kind == SiteKind.DECORATOR else CALL)
        if value:
            written = node.child_by_field_name("type_arguments")
            value = context = self.with_arguments(value, written)
        return self._result(value, context, given)

    def special_call(self, node: Any, callee: Any, given: Any) -> int | None:
        """A call that does more than to call, such as an import; None for all others."""
        raise NotImplementedError

    def _new(self, node: Any, kind: SiteKind, expected: int) -> int:
        callee = node.child_by_field_name("constructor")
        value = self.visit(callee, CALL) if callee is not None else UNKNOWN
        value = self.with_arguments(value, node.child_by_field_name("type_arguments"))
        return self._result(value, value, node.child_by_field_name("arguments"))

    def _result(self, callee: int, context: int, given: Any) -> int:
        """The expression of a call's result; its arguments are read."""
        arguments: list[int] = []
        if given is None:
            pass
        elif given.type == "template_string":
            self.visit(given)
        else:
            nodes = [each for each in given.named_children if each.type != "comment"]
            waiting = []
            for place, each in enumerate(nodes):
                if context and each.type in _TAKES_EXPECTED:
                    # What a function takes may depend on the other arguments: those are read first.
                    waiting.append((place, each))
                    arguments.append(UNKNOWN)
                else:
                    arguments.append(self._argument(each, place, nodes, arguments))
            known = arguments[:_MOST_ARGUMENTS]
            for place, each in waiting:
                wanted = self.writer.expression(Op.ARGUMENT, context, place, *(known if any(known) else ()))
                arguments[place] = self.visit(each, READ, wanted)
        return self.writer.expression(Op.CALL, callee, *arguments[:_MOST_ARGUMENTS]) if callee else UNKNOWN

    def _argument(self, node: Any, place: int, nodes: list[Any], before: list[int]) -> int:
        if place == 1 and node.type == "string" and before[0] and self._replaces(nodes[0]):
            text = node.named_children[0] if node.named_children else None
            if text is not None:
                name = self.text(text)
                self.site(name, text, SiteKind.PATCH, self.writer.member(before[0], name))
        return self.visit(node)

    def _replaces(self, node: Any) -> bool:
        """True where a call with this first argument replaces a member of it, as tests do."""
        call = node.parent.parent if node.parent is not None else None
        callee = call.child_by_field_name("function") if call is not None else None
        if callee is None or callee.type != "member_expression":
            return False
        return self.text(callee.child_by_field_name("property")) in _REPLACING

    def _subscript(self, node: Any, kind: SiteKind, expected: int) -> int:
        value, index = node.child_by_field_name("object"), node.child_by_field_name("index")
        of = self.visit(value) if value is not None else UNKNOWN
        if index is None:
            return UNKNOWN
        if index.type == "string" and len(index.named_children) == 1:
            text = index.named_children[0]
            name = self.text(text)
            member = self.writer.member(of, name)
            if member:
                self.site(name, text, kind, member)
            return self.known.get(member, member) if member else UNKNOWN
        if index.type == "number" and (written := self.text(index)).isdigit() and len(written) < 6:
            at = self.writer.expression(Op.NUMBER, int(written))
        else:
            at = self.visit(index)
        return self.writer.expression(Op.SUBSCRIPT, of, at) if of else UNKNOWN

    # Literals

    def _object(self, node: Any, kind: SiteKind, expected: int) -> int:
        pairs: list[int] = []
        for each in node.named_children:
            what = each.type
            if what == "pair":
                key = each.child_by_field_name("key")
                name = self.member_name(key)
                wanted = self.writer.member(expected, name) if name else self._any_of(expected)
                self._key(name, key, expected)
                value = self.visit(each.child_by_field_name("value"), READ, wanted)
            elif what == "shorthand_property_identifier":
                name = self.text(each)
                self._key(name, each, expected)
                value = self._identifier(each, READ, UNKNOWN)
            elif what == "method_definition":
                key = each.child_by_field_name("name")
                name = self.member_name(key)
                self._key(name, key, expected)
                value = self.method_of_object(each, name, self.writer.member(expected, name))
            else:
                self.visit(each, READ, expected)
                continue
            if name:
                pairs += (self.writer.name(name), value)
        return self.writer.expression(Op.RECORD, *pairs[: MOST_FIELDS * 2])

    def _any_of(self, expected: int) -> int:
        """The expected value under a computed key."""
        return self.writer.expression(Op.SUBSCRIPT, expected, UNKNOWN) if expected else UNKNOWN

    def _key(self, name: str, node: Any, expected: int) -> None:
        if name and expected:
            if node.type == "string" and node.named_children:
                node = node.named_children[0]
            self.site(name, node, ARGUMENT, self.writer.member(expected, name))

    def method_of_object(self, node: Any, name: str, expected: int) -> int:
        raise NotImplementedError

    def _array(self, node: Any, kind: SiteKind, expected: int) -> int:
        wanted = self.element(expected)
        parts = []
        for each in node.named_children:
            if each.type == "spread_element":
                inner = each.named_children
                parts.append(self.element(self.visit(inner[0], READ, expected)) if inner else UNKNOWN)
            elif each.type != "comment":
                parts.append(self.visit(each, READ, wanted))
        if 1 < len(parts) < 5 and len({self.writer.operation(each) for each in parts}) > 1:
            return self.writer.expression(Op.COLLECTION, self.writer.name("Tuple"), *parts)
        return self.writer.expression(Op.COLLECTION, self.writer.name("Array"), self.writer.union(parts))

    def _template(self, node: Any, kind: SiteKind, expected: int) -> int:
        for each in node.named_children:
            if each.type == "template_substitution":
                for inner in each.named_children:
                    self.visit(inner)
        return self.literal("String")

    def _spread(self, node: Any, kind: SiteKind, expected: int) -> int:
        for each in node.named_children:
            self.visit(each, READ, expected)
        return UNKNOWN


def _literal(name: str) -> Callable[[Values, Any, SiteKind, int], int]:
    return lambda self, node, kind, expected: self.literal(name)


_COMPARING = frozenset({"==", "===", "!=", "!==", "<", ">", "<=", ">=", "in", "instanceof"})
_TESTING = frozenset({"&&", "||", "instanceof"})
Values._visits.update(
    {
        "identifier": Values._identifier,
        "shorthand_property_identifier": Values._identifier,
        "undefined": lambda self, node, kind, expected: self.writer.expression(Op.NOTHING),
        "null": lambda self, node, kind, expected: self.writer.expression(Op.NOTHING),
        "this": Values._this,
        "super": Values._super,
        "member_expression": Values._member,
        "subscript_expression": Values._subscript,
        "call_expression": Values._call,
        "new_expression": Values._new,
        "binary_expression": Values._binary,
        "unary_expression": Values._unary,
        "ternary_expression": Values._ternary,
        "parenthesized_expression": Values._handed_on,
        "non_null_expression": Values._handed_on,
        "sequence_expression": Values._sequence,
        "as_expression": Values._as,
        "satisfies_expression": Values._as,
        "type_assertion": Values._as,
        "await_expression": Values._await,
        "yield_expression": Values._yield,
        "object": Values._object,
        "array": Values._array,
        "template_string": Values._template,
        "spread_element": Values._spread,
        "string": _literal("String"),
        "number": _literal("Number"),
        "true": _literal("Boolean"),
        "false": _literal("Boolean"),
        "regex": _literal("RegExp"),
        "comment": lambda self, node, kind, expected: UNKNOWN,
    }
)
