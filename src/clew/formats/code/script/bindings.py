"""Names that patterns bind, and what assignments give."""

from collections.abc import Iterator
from typing import Any

from clew.formats.code.facts.expressions import UNKNOWN, Op
from clew.formats.code.facts.model import ATTRIBUTE, VALUES, Form, SiteKind
from clew.formats.code.script.jsx import Elements
from clew.formats.code.script.scopes import Local

_PATTERNS = frozenset(
    {"object_pattern", "array_pattern", "assignment_pattern", "rest_pattern", "object_assignment_pattern"}
)


class Bindings(Elements):
    members: dict[int, dict[str, int]]
    """Of each class of the file: its members by their names."""

    def names_in(self, node: Any) -> Iterator[Any]:
        """The nodes of the names that a pattern binds."""
        waiting = [node]
        while waiting:
            each = waiting.pop()
            kind = each.type
            if kind in ("identifier", "shorthand_property_identifier_pattern"):
                yield each
            elif kind == "pair_pattern":
                waiting.append(each.child_by_field_name("value"))
            elif kind in ("assignment_pattern", "object_assignment_pattern"):
                waiting.append(each.child_by_field_name("left"))
            elif kind in ("object_pattern", "array_pattern", "rest_pattern"):
                waiting += reversed(each.named_children)

    def bind(self, node: Any, value: int, *, is_fixed: bool, declared: int = UNKNOWN) -> None:
        """Give the names of a pattern what they are. `is_fixed` says that they never get another value; `declared` is
        the expression of the type that is written for all of it."""
        kind = node.type
        if kind in ("identifier", "shorthand_property_identifier_pattern"):
            local = self.scope.names.get(self.text(node)) or self.lookup(self.text(node))
            if local is not None:
                self.give(local, value, is_fixed=is_fixed, declared=declared)
            return
        if declared:
            value = self.writer.instance(declared)
        if kind in ("assignment_pattern", "object_assignment_pattern"):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            default = self.visit(right, SiteKind.READ, value) if right is not None else UNKNOWN
            if left.type == "shorthand_property_identifier_pattern":
                self._of_member(left, self.text(left), value, is_fixed, default)
            else:
                self.bind(left, self.writer.union((value, default)) if value else default, is_fixed=is_fixed)
        elif kind == "object_pattern":
            for each in node.named_children:
                self._property(each, value, is_fixed)
        elif kind == "array_pattern":
            self._positions(node, value, is_fixed)
        elif kind == "rest_pattern":
            for each in node.named_children:
                self.bind(each, value, is_fixed=is_fixed)
        elif kind != "comment":
            self.assign(node, value)

    def _property(self, node: Any, value: int, is_fixed: bool) -> None:
        kind = node.type
        if kind == "shorthand_property_identifier_pattern":
            self._of_member(node, self.text(node), value, is_fixed, UNKNOWN)
        elif kind == "pair_pattern":
            key = node.child_by_field_name("key")
            name = self.member_name(key)
            member = self.writer.member(value, name) if name else UNKNOWN
            if name:
                self.site(name, key, SiteKind.READ, member)
            self.bind(node.child_by_field_name("value"), member, is_fixed=is_fixed)
        else:
            self.bind(node, value, is_fixed=is_fixed)

    def _of_member(self, node: Any, name: str, value: int, is_fixed: bool, default: int) -> None:
        member = self.writer.member(value, name)
        self.site(name, node, SiteKind.READ, member)
        self.bind(
            node, self.writer.union((member, default)) if default and member else member or default, is_fixed=is_fixed
        )

    def _positions(self, node: Any, value: int, is_fixed: bool) -> None:
        place = 0
        for each in node.children:
            if each.type == ",":
                place += 1
            elif each.is_named and each.type != "comment":
                at = -1 if each.type == "rest_pattern" else place
                part = self.writer.expression(Op.UNPACKED, value, at) if value else UNKNOWN
                self.bind(each, part, is_fixed=is_fixed)

    def give(self, local: Local, value: int, *, is_fixed: bool, declared: int = UNKNOWN) -> None:
        if local.is_symbol:
            self._give_symbol(local, value, declared)
        elif declared:
            local.is_declared = True
            if local.variable < 0:
                local.expression = self.writer.instance(declared)
            else:
                local.values = {self.writer.instance(declared): None}
        elif is_fixed and local.variable < 0 and value:
            local.expression = value
        elif not local.is_declared:
            self.as_variable(local)
            local.give(value)

    def _give_symbol(self, local: Local, value: int, declared: int) -> None:
        parts = self.writer.parts(local.expression)
        if parts[0] == Op.DEFINITION:
            draft = self.drafts[parts[1]]
            draft.type = draft.type or declared
            if value and draft.kind in VALUES:
                draft.give(value)

    # Assignments

    def assign(self, node: Any, value: int) -> None:
        """Read what stands on the left side of an assignment."""
        kind = node.type
        if kind == "identifier":
            local = self.lookup(self.text(node))
            if local is None:
                return
            if local.is_symbol:
                self.site(self.text(node), node, SiteKind.WRITE, local.expression)
                self._give_symbol(local, value, UNKNOWN)
            elif not local.is_declared:
                self.give(local, value, is_fixed=False)
        elif kind == "member_expression":
            self._assign_member(node, value)
        elif kind in _PATTERNS or kind in ("object", "array"):
            self.bind(node, value, is_fixed=False)
        else:
            self.visit(node, SiteKind.WRITE)

    def _assign_member(self, node: Any, value: int) -> None:
        of, named = node.child_by_field_name("object"), node.child_by_field_name("property")
        receiver = self.visit(of)
        name = self.text(named)
        member = self.writer.member(receiver, name)
        parts = self.writer.parts(receiver)
        members = self.members.get(parts[1]) if parts[0] == Op.SELF else None
        if members is not None and name not in members and self.is_untyped:
            number = self.draft(name, ATTRIBUTE, node, named, parts[1])
            self.drafts[number].form = int(Form.INSTANCE)
            self.drafts[number].give(value)
            members[name] = number
            return
        if members is not None and name in members and (draft := self.drafts[members[name]]).kind in VALUES:
            draft.give(value)
        self.site(name, named, SiteKind.WRITE, member)

    is_untyped: bool
    """True for a file of JavaScript, where assigning to `this` declares an attribute."""

    def _assignment(self, node: Any, kind: SiteKind, expected: int) -> int:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        wanted = self.quiet(left) if left.type in ("identifier", "member_expression") else UNKNOWN
        value = self.visit(right, SiteKind.READ, wanted) if right is not None else UNKNOWN
        if node.type == "assignment_expression" and self.exported(left, right, value):
            return value
        self.assign(left, value if node.type == "assignment_expression" else UNKNOWN)
        return value

    def exported(self, left: Any, right: Any, value: int) -> bool:
        """True where an assignment says what the file gives to others."""
        raise NotImplementedError

    def _update(self, node: Any, kind: SiteKind, expected: int) -> int:
        argument = node.child_by_field_name("argument")
        if argument is not None:
            self.assign(argument, UNKNOWN)
        return self.literal("Number")


Bindings._visits.update(
    {
        "assignment_expression": Bindings._assignment,
        "augmented_assignment_expression": Bindings._assignment,
        "update_expression": Bindings._update,
    }
)
