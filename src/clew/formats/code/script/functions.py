"""Functions of scripts, with names and without."""

from typing import Any

from clew.formats.code.facts.expressions import UNKNOWN, Op
from clew.formats.code.facts.model import FUNCTION, METHOD, PROPERTY, Form, SiteKind
from clew.formats.code.script.bindings import Bindings
from clew.formats.code.script.scopes import FUNCTION_SCOPE, Local, ScriptScope

FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function", "function"})
"""Nodes of functions that are values."""
_MOST_PARAMETERS = 8
Taken = tuple[str, int, int, int]
"""A parameter: its name, the expressions of its type and default, and whether it gathers what follows."""


class Functions(Bindings):
    def block(self, nodes: list[Any], scope: ScriptScope) -> bool:
        """Read the statements of a block in a scope; True where what follows them is never reached."""
        raise NotImplementedError

    def function(self, node: Any, number: int = -1, *, expected: int = UNKNOWN, this: int = -1) -> int:
        """Read a function. `number` is its symbol, negative for none; `expected` is what should stand in its place, and
        `this` the expression of its receiver. Gives the expression of a function without a name."""
        before = self.scope, self.inside, self.known
        scope = ScriptScope(FUNCTION_SCOPE, self.scope, number if number >= 0 else self.scope.symbol)
        is_arrow = node.type == "arrow_function"
        scope.this = this if this >= 0 else -1 if is_arrow else UNKNOWN
        self.scope = scope
        if number >= 0:
            self.inside = number
        written = node.child_by_field_name("type_parameters")
        names = self.type_parameters(written) if written is not None else ()
        taken = self._parameters(node, number, expected)
        returned = self.annotated(node, "return_type")
        kinds = {each.type for each in node.children[:6]}
        is_async, is_generator = "async" in kinds, "*" in kinds or node.type.startswith("generator")
        self._expect(scope, returned, expected, is_async)
        value = self._body(node, scope, is_async, is_generator)
        self.scope, self.inside, self.known = before
        if number >= 0:
            self._sign(number, names, taken, returned, value, has_body=node.child_by_field_name("body") is not None)
            return self.definition(number)
        result = self.writer.instance(returned) if returned else value
        types = [each[1] for each in taken]
        while types and not types[-1]:
            types.pop()
        return self.writer.expression(Op.FUNCTION, result, *types)

    def _expect(self, scope: ScriptScope, returned: int, expected: int, is_async: bool) -> None:
        wanted = self.writer.instance(returned)
        if not wanted and expected:
            wanted = self.writer.expression(Op.CALL, expected)
        if wanted and is_async:
            wanted = self.writer.expression(Op.AWAITED, wanted)
        scope.expected = wanted

    def _body(self, node: Any, scope: ScriptScope, is_async: bool, is_generator: bool) -> int:
        """Read what a function does; all that it gives."""
        body = node.child_by_field_name("body")
        if body is None:
            return UNKNOWN
        if body.type == "statement_block":
            self.block(body.named_children, scope)
            values = scope.returns
        else:
            values = [self.visit(body, SiteKind.READ, scope.expected)]
        if is_generator:
            name = "AsyncGenerator" if is_async else "Generator"
            found = self.writer.union(scope.yields)
            return self.writer.expression(Op.COLLECTION, self.writer.name(f"{name}Of"), found)
        found = self.writer.union(values) if values else self.writer.expression(Op.NOTHING)
        return self.promised(found) if is_async else found

    def promised(self, value: int) -> int:
        """A promise of a value."""
        return self.writer.expression(Op.COLLECTION, self.writer.name("Promise"), value)

    def _parameters(self, node: Any, number: int, expected: int) -> list[Taken]:
        """Read the parameters of a function and give them their values."""
        single = node.child_by_field_name("parameter")
        written = node.child_by_field_name("parameters")
        nodes = [single] if single is not None else written.named_children if written is not None else []
        taken: list[Taken] = []
        for each in nodes:
            if each.type == "comment":
                continue
            self._parameter(each, number, expected, taken)
        return taken

    def _parameter(self, node: Any, number: int, expected: int, taken: list[Taken]) -> None:
        pattern, value = self._pattern_of(node)
        if pattern is None:
            return
        place = len(taken)
        written = node.child_by_field_name("type") if node.type.endswith("_parameter") else None
        type = self.type(written) if written is not None else UNKNOWN
        if pattern.type == "this":
            self.scope.this = self.writer.instance(type)
            return
        gathers = pattern.type == "rest_pattern"
        if gathers:
            pattern = next((each for each in pattern.named_children if each.type != "comment"), pattern)
        own = type
        if not type and expected:
            own = self.writer.expression(Op.TYPEOF, self.writer.expression(Op.ARGUMENT, expected, place))
        found = self.writer.instance(own) if own else UNKNOWN
        default = self.visit(value, SiteKind.READ, found) if value is not None else UNKNOWN
        if gathers and type:
            own = self.writer.expression(Op.TYPEOF, self.element(self.writer.instance(type)))
        if number >= 0 and place < _MOST_PARAMETERS and not (gathers and type):
            found = self.writer.expression(Op.PARAMETER, number, place)
        elif not own:
            found = default
        taken.append((self._receive(pattern, found), own, default, int(gathers)))
        self.field_of_parameter(node, pattern, type, default)

    def _receive(self, pattern: Any, value: int) -> str:
        """Give the names of a parameter what they are; its name, where it is only one."""
        for each in self.names_in(pattern):
            self.scope.names[self.text(each)] = Local()
        if pattern.type != "identifier":
            self.bind(pattern, value, is_fixed=True)
            return ""
        local = self.scope.names[self.text(pattern)]
        if value:
            local.expression, local.is_declared = value, True
        return self.text(pattern)

    def field_of_parameter(self, node: Any, pattern: Any, type: int, default: int) -> None:
        """A parameter of a constructor that is an attribute too."""
        raise NotImplementedError

    @staticmethod
    def _pattern_of(node: Any) -> tuple[Any, Any]:
        """The pattern of a parameter and the node of its default."""
        if node.type in ("required_parameter", "optional_parameter"):
            return node.child_by_field_name("pattern"), node.child_by_field_name("value")
        if node.type == "assignment_pattern":
            return node.child_by_field_name("left"), node.child_by_field_name("right")
        if node.type in ("identifier", "object_pattern", "array_pattern", "rest_pattern"):
            return node, None
        return None, None

    def _sign(
        self, number: int, names: tuple[str, ...], taken: list[Taken], returned: int, value: int, *, has_body: bool
    ) -> None:
        """Note what a function takes and gives. Of one with overloads these say it, and not what is written last."""
        draft = self.drafts[number]
        is_overloaded = bool(draft.form & Form.OVERLOADED)
        if is_overloaded and has_body:
            return
        if is_overloaded or (not has_body and draft.also):
            draft.type = self.writer.union([each for each in (draft.type, returned) if each])
            draft.parameters = self._merged(draft.parameters, taken[:_MOST_PARAMETERS])
            draft.type_parameters = tuple(dict.fromkeys((*draft.type_parameters, *names)))
        else:
            draft.type, draft.type_parameters = returned, names
            draft.parameters = taken[:_MOST_PARAMETERS]
        if not has_body:
            return
        if draft.kind in (FUNCTION, METHOD, PROPERTY):
            draft.give(value)

    def _merged(self, one: list[Taken], other: list[Taken]) -> list[Taken]:
        """The parameters of overloads, position by position."""
        if not one:
            return list(other)
        longer = one if len(one) >= len(other) else other
        merged = []
        for place, (name, type, default, gathers) in enumerate(longer):
            types = [each[place][1] for each in (one, other) if place < len(each) and each[place][1]]
            merged.append((name, self.writer.union(types) if types else type, default, gathers))
        return merged

    def _anonymous(self, node: Any, kind: SiteKind, expected: int) -> int:
        return self.function(node, expected=expected)

    def method_of_object(self, node: Any, name: str, expected: int) -> int:
        """A method of a literal: a symbol of its own where the name is written."""
        if not name:
            return self.function(node, expected=expected)
        kinds = {each.type for each in node.children[:4]}
        is_accessor = bool(kinds & {"get", "set"})
        named = node.child_by_field_name("name")
        number = self.draft(name, PROPERTY if is_accessor else METHOD, node, named, self.inside)
        if is_accessor:
            self.drafts[number].form = int(Form.GETTER)
        return self.function(node, number, expected=expected)


Functions._visits.update(dict.fromkeys(FUNCTIONS, Functions._anonymous))
