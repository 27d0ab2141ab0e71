"""Classes, interfaces, enumerations, type aliases and namespaces of scripts."""

from typing import Any

from clew.formats.code.facts.expressions import UNKNOWN, Op
from clew.formats.code.facts.model import ATTRIBUTE, MEMBER, METHOD, PROPERTY, Form, SiteKind
from clew.formats.code.script.functions import FUNCTIONS, Functions
from clew.formats.code.script.scopes import CLASS_SCOPE, ScriptScope
from clew.formats.code.script.types import is_mapped

_METHODS = frozenset({"method_definition", "method_signature", "abstract_method_signature"})
_FIELDS = frozenset({"public_field_definition", "field_definition", "property_signature"})


class ScriptClasses(Functions):
    def __init__(self, text: str, path: str) -> None:
        super().__init__(text, path)
        self.members = {}

    def class_body(self, node: Any, number: int) -> None:
        """Read a class, interface or type with members."""
        before = self.scope, self.inside, self.known
        self.scope = ScriptScope(CLASS_SCOPE, self.scope, number)
        self.inside = number
        self.members.setdefault(number, {})
        draft = self.drafts[number]
        written = node.child_by_field_name("type_parameters")
        if written is not None:
            declared = self.parameters_with_defaults(written)
            draft.type_parameters = tuple(dict.fromkeys((*draft.type_parameters, *declared)))
            if any(declared.values()):
                draft.type_defaults = tuple(declared.get(name, UNKNOWN) for name in draft.type_parameters)
        for each in node.named_children:
            if each.type == "decorator":
                self.visit(_inner(each), SiteKind.DECORATOR)
            elif each.type == "class_heritage":
                self._heritage(each, number)
            elif each.type in ("extends_type_clause", "implements_clause"):
                self._above(each, number)
        if node.type == "type_alias_declaration":
            self._alias_parts(node.child_by_field_name("value"), number)
        else:
            body = node.child_by_field_name("body")
            if body is not None:
                self._members(body, number)
        self.scope, self.inside, self.known = before

    # What is above

    def _heritage(self, node: Any, number: int) -> None:
        for each in node.named_children:
            if each.type == "extends_clause":
                value = each.child_by_field_name("value")
                base = self.visit(value, SiteKind.INHERIT)
                self._base(self.with_arguments(base, each.child_by_field_name("type_arguments")), number)
            elif each.type == "implements_clause":
                self._above(each, number)
            else:
                self._base(self.visit(each, SiteKind.INHERIT), number)

    def _above(self, node: Any, number: int) -> None:
        for each in node.named_children:
            if each.type != "comment":
                self._base(self.base(each, SiteKind.INHERIT), number)

    def _base(self, base: int, number: int) -> None:
        if base:
            self.drafts[number].bases.append(base)

    def _alias_parts(self, node: Any, number: int) -> None:
        """The parts of an alias that has members of its own: other types are above it."""
        waiting = [node]
        while waiting:
            part = waiting.pop()
            if part.type == "object_type" and not is_mapped(part):
                self._members(part, number)
            elif part.type == "intersection_type" or (part.type == "parenthesized_type" and part.named_children):
                waiting += reversed([each for each in part.named_children if each.type != "comment"])
            elif part.type in ("type_identifier", "generic_type", "nested_type_identifier"):
                self._base(self.base(part, SiteKind.ANNOTATION), number)
            else:
                self._base(self.type(part), number)

    # Members

    def _members(self, body: Any, number: int) -> None:
        comment = None
        decorators: list[Any] = []
        for each in body.named_children:
            kind = each.type
            if kind == "comment":
                comment = each
                continue
            if kind == "decorator":
                decorators.append(each)
                continue
            first = decorators[0] if decorators else each
            about = self.about(comment, first)
            for one in decorators:
                self.visit(_inner(one), SiteKind.DECORATOR)
            decorators = []
            if kind in _METHODS:
                self._method(each, first, number, about)
            elif kind in _FIELDS:
                self._field(each, first, number, about)
            elif kind == "class_static_block":
                inner = each.child_by_field_name("body")
                if inner is not None:
                    self.statements_of(inner, self.writer.expression(Op.SELF_CLASS, number))
            elif kind == "call_signature":
                self.drafts[number].give(self._function(each))
            elif kind == "construct_signature":
                self._function(each)
            elif kind == "index_signature":
                self._index(each)
            comment = None

    def statements_of(self, body: Any, this: int) -> None:
        """Read a block that is a function of its own."""
        raise NotImplementedError

    def _method(self, node: Any, first: Any, number: int, about: str) -> None:
        named = node.child_by_field_name("name")
        name = self.member_name(named)
        kinds = {each.type for each in node.children[:8]}
        is_static = "static" in kinds
        receiver = self.writer.expression(Op.SELF_CLASS if is_static else Op.SELF, number)
        if not name:
            self.function(node, this=receiver)
            return
        is_accessor = "get" in kinds or "set" in kinds
        has_body = node.child_by_field_name("body") is not None
        members = self.members[number]
        key = f"static {name}" if is_static else name
        own = members.get(key)
        if own is None:
            own = members[key] = self.draft(name, PROPERTY if is_accessor else METHOD, first, named, number)
            draft = self.drafts[own]
            draft.form = int(Form.GETTER) if is_accessor else 0
        else:
            draft = self.drafts[own]
            # The body is shown, and of accessors the first.
            if has_body and not is_accessor and draft.kind == METHOD:
                draft.form |= Form.OVERLOADED
            self.again(own, first, named, shown=has_body and not is_accessor)
        if is_static:
            draft.form |= Form.STATIC
        if "abstract" in kinds or node.type == "abstract_method_signature":
            draft.form |= Form.ABSTRACT
        draft.about = draft.about or about
        if "set" in kinds and (draft.type or draft.values):
            self.function(node, this=receiver)
            return
        self.function(node, own, this=receiver)
        if "set" in kinds and draft.parameters:
            draft.type, draft.parameters, draft.values = draft.parameters[0][1], [], {}

    def _field(self, node: Any, first: Any, number: int, about: str) -> None:
        named = node.child_by_field_name("name") or node.child_by_field_name("property")
        if named is None:
            return
        name = self.member_name(named)
        for each in node.named_children:
            if each.type == "decorator":
                self.visit(_inner(each), SiteKind.DECORATOR)
        is_static = any(each.type == "static" for each in node.children[:6])
        receiver = self.writer.expression(Op.SELF_CLASS if is_static else Op.SELF, number)
        type = self.annotated(node)
        value = node.child_by_field_name("value")
        if not name:
            if value is not None:
                self.visit(value)
            return
        is_function = value is not None and value.type in FUNCTIONS
        members = self.members[number]
        key = f"static {name}" if is_static else name
        own = members.get(key)
        if own is None:
            own = members[key] = self.draft(name, METHOD if is_function else ATTRIBUTE, first, named, number)
        else:
            self.again(own, first, named, shown=False)
        draft = self.drafts[own]
        draft.form |= Form.STATIC if is_static else Form.INSTANCE
        draft.about = draft.about or about
        expected = self.writer.instance(type)
        before, this = self.scope.this, self.scope
        self.scope.this = receiver
        if is_function and value is not None:
            self.function(value, own, expected=expected, this=receiver)
        elif value is not None:
            # What stands there runs in the constructor, but belongs to the attribute.
            draft.give(self.visit(value, SiteKind.READ, expected))
        this.this = before
        if type and not is_function:
            draft.type = type

    def field_of_parameter(self, node: Any, pattern: Any, type: int, default: int) -> None:
        scope = self.scope.parent
        if scope is None or scope.kind != CLASS_SCOPE or pattern.type != "identifier":
            return
        if not any(each.type in ("accessibility_modifier", "override_modifier", "readonly") for each in node.children):
            return
        name = self.text(pattern)
        members = self.members[scope.symbol]
        if name not in members:
            number = members[name] = self.draft(name, ATTRIBUTE, node, pattern, scope.symbol)
            self.drafts[number].form = int(Form.INSTANCE)
            self.drafts[number].type = type
            self.drafts[number].give(default)
            # In the constructor, the name means the parameter and the attribute.
            local = self.scope.names[name]
            local.expression, local.is_symbol = self.definition(number), True

    # Enumerations

    def enumeration(self, node: Any, number: int) -> None:
        members = self.members.setdefault(number, {})
        body = node.child_by_field_name("body")
        before, self.inside = self.inside, number
        comment = None
        for each in body.named_children if body is not None else ():
            if each.type == "comment":
                comment = each
                continue
            named = each.child_by_field_name("name") if each.type == "enum_assignment" else each
            name = self.member_name(named)
            if name and name not in members:
                members[name] = self.draft(name, MEMBER, each, named, number)
                self.drafts[members[name]].about = self.about(comment, each)
            value = each.child_by_field_name("value") if each is not named else None
            if value is not None:
                self.visit(value)
            comment = None
        self.inside = before

    def _class_value(self, node: Any, kind: SiteKind, expected: int) -> int:
        """A class that stands where a value does."""
        from clew.formats.code.facts.model import CLASS

        named = node.child_by_field_name("name")
        name = self.text(named) if named is not None else "class"
        number = self.draft(name, CLASS, node, named if named is not None else node, self.inside)
        self.class_body(node, number)
        return self.definition(number)


def _inner(node: Any) -> Any:
    return node.named_children[0] if node.named_children else node


ScriptClasses._visits.update(
    {"class": ScriptClasses._class_value, "decorator": lambda self, node, kind, expected: UNKNOWN}
)
