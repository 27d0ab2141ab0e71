"""Statements of Rust, which are values too: blocks, loops, conditions and matches."""

from typing import Any

from clew.formats.code.facts.expressions import UNKNOWN
from clew.formats.code.facts.model import SiteKind
from clew.formats.code.rust.values import RustValues


class RustStatements(RustValues):
    def item(self, node: Any) -> bool:
        """Read a definition inside of a function; False for all else."""
        raise NotImplementedError

    def items_in(self, nodes: list[Any]) -> None:
        """Make the definitions of a block known before it is read."""
        raise NotImplementedError

    def _block(self, node: Any, kind: SiteKind, expected: int) -> int:
        self.scopes.append({})
        children = node.named_children
        self.items_in(children)
        found = UNKNOWN
        for each in children:
            if each.type.endswith("comment"):
                continue
            found = UNKNOWN if self.item(each) else self.visit(each)
            if each.type == "expression_statement" and self.text(each).endswith(";"):
                found = UNKNOWN
        self.scopes.pop()
        return found

    def _statement(self, node: Any, kind: SiteKind, expected: int) -> int:
        return self.visit(node.named_children[0]) if node.named_children else UNKNOWN

    def _let(self, node: Any, kind: SiteKind, expected: int) -> int:
        written, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        type = self.type(written) if written is not None else UNKNOWN
        given = self.visit(value) if value is not None else UNKNOWN
        other = node.child_by_field_name("alternative")
        if other is not None:
            self.visit(other)
        self.pattern(node.child_by_field_name("pattern"), self.writer.instance(type) if type else given)
        return UNKNOWN

    def _condition(self, node: Any, kind: SiteKind, expected: int) -> int:
        """`let PATTERN = VALUE` in a condition."""
        value = self.visit(node.child_by_field_name("value"))
        self.pattern(node.child_by_field_name("pattern"), value)
        return UNKNOWN

    def _if(self, node: Any, kind: SiteKind, expected: int) -> int:
        values = []
        while True:
            self.scopes.append({})
            self.visit(node.child_by_field_name("condition"))
            values.append(self.visit(node.child_by_field_name("consequence")))
            self.scopes.pop()
            rest = node.child_by_field_name("alternative")
            inner = rest.named_children[0] if rest is not None and rest.named_children else None
            if inner is None:
                break
            if inner.type != "if_expression":
                values.append(self.visit(inner))
                break
            node = inner
        return self.writer.union([each for each in values if each])

    def _match(self, node: Any, kind: SiteKind, expected: int) -> int:
        subject = self.visit(node.child_by_field_name("value"))
        body = node.child_by_field_name("body")
        values = []
        for arm in body.named_children if body is not None else ():
            pattern, value = arm.child_by_field_name("pattern"), arm.child_by_field_name("value")
            if pattern is None:
                continue
            self.scopes.append({})
            condition = pattern.child_by_field_name("condition")
            for each in pattern.named_children:
                if condition is None or each.id != condition.id:
                    self.pattern(each, subject)
            if condition is not None:
                self.visit(condition)
            values.append(self.visit(value) if value is not None else UNKNOWN)
            self.scopes.pop()
        return self.writer.union([each for each in values if each])

    def _for(self, node: Any, kind: SiteKind, expected: int) -> int:
        value = self.visit(node.child_by_field_name("value"))
        self.scopes.append({})
        self.pattern(node.child_by_field_name("pattern"), self.element(value))
        self.visit(node.child_by_field_name("body"))
        self.scopes.pop()
        return UNKNOWN

    def _while(self, node: Any, kind: SiteKind, expected: int) -> int:
        self.scopes.append({})
        for field in ("condition", "body"):
            part = node.child_by_field_name(field)
            if part is not None:
                self.visit(part)
        self.scopes.pop()
        return UNKNOWN


RustStatements._visits.update(
    {
        "block": RustStatements._block,
        "expression_statement": RustStatements._statement,
        "let_declaration": RustStatements._let,
        "let_condition": RustStatements._condition,
        "if_expression": RustStatements._if,
        "match_expression": RustStatements._match,
        "for_expression": RustStatements._for,
        "while_expression": RustStatements._while,
    }
)
