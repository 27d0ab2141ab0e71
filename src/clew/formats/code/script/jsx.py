"""Elements of JSX: each calls its component, and each attribute is a field that the component takes."""

from typing import Any

from clew.formats.code.facts.expressions import UNKNOWN, Op
from clew.formats.code.facts.model import SiteKind
from clew.formats.code.script.values import Values


class Elements(Values):
    def _element(self, node: Any, kind: SiteKind, expected: int) -> int:
        # Elements inside of each other are a deep tree: they are gone through without recursion.
        waiting = [node]
        while waiting:
            each = waiting.pop()
            what = each.type
            if what == "jsx_element":
                waiting += reversed(each.named_children)
            elif what in ("jsx_opening_element", "jsx_self_closing_element"):
                self._opening(each)
            elif what == "jsx_closing_element":
                self._component(each)
            elif what == "jsx_expression":
                for inner in each.named_children:
                    self.visit(inner)
        return UNKNOWN

    def _component(self, node: Any) -> int:
        name = node.child_by_field_name("name")
        if name is None or name.type == "jsx_namespace_name":
            return UNKNOWN
        if name.type == "identifier" and self.text(name)[:1].islower():
            return UNKNOWN
        return self.visit(name, SiteKind.CALL)

    def _opening(self, node: Any) -> None:
        component = self._component(node)
        component = self.with_arguments(component, node.child_by_field_name("type_arguments"))
        taken = self.writer.expression(Op.ARGUMENT, component, 0) if component else UNKNOWN
        for each in node.children_by_field_name("attribute"):
            if each.type != "jsx_attribute":
                for inner in each.named_children:
                    self.visit(inner, SiteKind.READ, taken)
                continue
            children = each.named_children
            name = self.text(children[0])
            member = self.writer.member(taken, name)
            if member:
                self.site(name, children[0], SiteKind.ARGUMENT, member)
            for value in children[1:]:
                inner = value.named_children if value.type == "jsx_expression" else [value]
                for one in inner:
                    self.visit(one, SiteKind.READ, member)


Elements._visits.update(
    {
        "jsx_element": Elements._element,
        "jsx_self_closing_element": Elements._element,
        "jsx_expression": Elements._element,
        "jsx_fragment": Elements._element,
    }
)
