"""Statements of Go: the names that they give to values."""

from collections.abc import Callable
from typing import Any, ClassVar

from clew.formats.code.facts.expressions import UNKNOWN, Op
from clew.formats.code.facts.model import SiteKind
from clew.formats.code.go.values import GoValues

_TARGETS = frozenset({"identifier", "selector_expression"})


class GoStatements(GoValues):
    _runs: ClassVar[dict[str, Callable[[Any, Any], None]]] = {}

    def statements(self, node: Any) -> None:
        """Read a block in a scope of its own."""
        self.scopes.append({})
        for each in node.named_children:
            self.statement(each)
        self.scopes.pop()

    def statement(self, node: Any) -> None:
        run = self._runs.get(node.type)
        if run is not None:
            run(self, node)
        else:
            self.visit(node)

    def _all(self, node: Any) -> None:
        for each in node.named_children:
            self.statement(each)

    def give(self, node: Any, value: int) -> None:
        name = self.text(node)
        if name != "_":
            self.scopes[-1][name] = value

    def values_of(self, names: int, right: Any) -> list[int]:
        """The values for so many names on the left side."""
        nodes = [each for each in right.named_children if each.type != "comment"] if right is not None else []
        if right is not None and right.type != "expression_list":
            nodes = [right]
        values = [self.visit(each) for each in nodes]
        if len(values) == 1 < names:
            value = values[0]
            if nodes[0].type != "call_expression":
                # `v, ok := m[k]` and the like: the second only says whether there is one.
                return [value, *(UNKNOWN for _ in range(names - 1))]
            return [self.writer.expression(Op.UNPACKED, value, place) if value else UNKNOWN for place in range(names)]
        return [*values, *(UNKNOWN for _ in range(names - len(values)))]

    def _short(self, node: Any) -> None:
        left = node.child_by_field_name("left").named_children
        values = self.values_of(len(left), node.child_by_field_name("right"))
        for name, value in zip(left, values, strict=False):
            # A name that its own block has already keeps its type.
            if self.text(name) not in self.scopes[-1] or not self.scopes[-1][self.text(name)]:
                self.give(name, value)

    def _assignment(self, node: Any) -> None:
        left = node.child_by_field_name("left").named_children
        self.values_of(len(left), node.child_by_field_name("right"))
        for each in left:
            self._target(each)

    def _target(self, node: Any) -> None:
        if node.type in _TARGETS:
            self.visit(node, SiteKind.WRITE)
        else:
            self.visit(node)

    def _counted(self, node: Any) -> None:
        for each in node.named_children:
            self._target(each)

    def variables(self, node: Any) -> None:
        """`var x T = y` inside of a function."""
        for each in node.named_children:
            if each.type == "var_spec_list":
                self.variables(each)
            elif each.type in ("var_spec", "const_spec"):
                names = each.children_by_field_name("name")
                written = each.child_by_field_name("type")
                type = self.type(written) if written is not None else UNKNOWN
                values = self.values_of(len(names), each.child_by_field_name("value"))
                for name, value in zip(names, values, strict=False):
                    self.give(name, self.writer.instance(type) if type else value)

    def _if(self, node: Any) -> None:
        self.scopes.append({})
        first = node.child_by_field_name("initializer")
        if first is not None:
            self.statement(first)
        self.visit(node.child_by_field_name("condition"))
        self.statements(node.child_by_field_name("consequence"))
        rest = node.child_by_field_name("alternative")
        if rest is not None:
            self.statement(rest)
        self.scopes.pop()

    def _for(self, node: Any) -> None:
        self.scopes.append({})
        body = node.child_by_field_name("body")
        for each in node.named_children:
            if each.type == "range_clause":
                self._range(each)
            elif each.type == "for_clause":
                for field in ("initializer", "condition", "update"):
                    part = each.child_by_field_name(field)
                    if part is not None:
                        self.statement(part)
            elif body is None or each.id != body.id:
                self.visit(each)
        if body is not None:
            self.statements(body)
        self.scopes.pop()

    def _range(self, node: Any) -> None:
        value = self.visit(node.child_by_field_name("right"))
        left = node.child_by_field_name("left")
        names = left.named_children if left is not None else []
        at = self.writer.expression(Op.SUBSCRIPT, value, UNKNOWN) if value else UNKNOWN
        is_new = any(each.type == ":=" for each in node.children)
        for name, given in zip(names, (self.element(value), at), strict=False):
            if is_new:
                self.give(name, given)
            else:
                self._target(name)

    def _switch(self, node: Any) -> None:
        self.scopes.append({})
        first = node.child_by_field_name("initializer")
        if first is not None:
            self.statement(first)
        subject = node.child_by_field_name("value")
        value = self.visit(subject) if subject is not None else UNKNOWN
        alias = node.child_by_field_name("alias")
        for case in node.named_children:
            if case.type.endswith("_case"):
                self._case(case, alias.named_children[0] if alias is not None else None, value)
        self.scopes.pop()

    def _case(self, node: Any, alias: Any, value: int) -> None:
        self.scopes.append({})
        types = [self.type(each) for each in node.children_by_field_name("type")]
        heads = {each.id for field in ("type", "value") for each in node.children_by_field_name(field)}
        for each in node.children_by_field_name("value"):
            self.visit(each)
        if alias is not None:
            known = [each for each in types if each]
            self.give(alias, self.writer.instance(known[0]) if len(types) == 1 and known else value)
        for each in node.named_children:
            if each.id not in heads:
                self.statement(each)
        self.scopes.pop()

    def _select(self, node: Any) -> None:
        for case in node.named_children:
            self.scopes.append({})
            for each in case.named_children:
                self.statement(each)
            self.scopes.pop()

    def _received(self, node: Any) -> None:
        value = self.visit(node.child_by_field_name("right"))
        left = node.child_by_field_name("left")
        is_new = any(each.type == ":=" for each in node.children)
        for place, name in enumerate(left.named_children if left is not None else ()):
            if is_new:
                self.give(name, value if place == 0 else UNKNOWN)
            else:
                self._target(name)

    def _labeled(self, node: Any) -> None:
        for each in node.named_children:
            if each.type != "label_name":
                self.statement(each)

    def _declared_type(self, node: Any) -> None:
        """A type inside of a function: it is what it is made of."""
        for each in node.named_children:
            named, written = each.child_by_field_name("name"), each.child_by_field_name("type")
            if named is not None and written is not None:
                self.scopes[-1][self.text(named)] = self.type(written)


GoStatements._runs.update(
    {
        "block": GoStatements.statements,
        "statement_list": GoStatements._all,
        "short_var_declaration": GoStatements._short,
        "assignment_statement": GoStatements._assignment,
        "inc_statement": GoStatements._counted,
        "dec_statement": GoStatements._counted,
        "var_declaration": GoStatements.variables,
        "const_declaration": GoStatements.variables,
        "type_declaration": GoStatements._declared_type,
        "if_statement": GoStatements._if,
        "for_statement": GoStatements._for,
        "expression_switch_statement": GoStatements._switch,
        "type_switch_statement": GoStatements._switch,
        "select_statement": GoStatements._select,
        "receive_statement": GoStatements._received,
        "labeled_statement": GoStatements._labeled,
        "goto_statement": lambda self, node: None,
        "break_statement": lambda self, node: None,
        "continue_statement": lambda self, node: None,
        "comment": lambda self, node: None,
    }
)
