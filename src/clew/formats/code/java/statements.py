"""Statements of Java: the names that they give to values."""

from collections.abc import Callable
from typing import Any, ClassVar

from clew.formats.code.facts.expressions import UNKNOWN, Op
from clew.formats.code.facts.model import SiteKind
from clew.formats.code.java.values import JavaValues


class JavaStatements(JavaValues):
    _runs: ClassVar[dict[str, Callable[[Any, Any], None]]] = {}

    def __init__(self, text: str, path: str) -> None:
        super().__init__(text, path)
        self.returned: list[int] = []
        """All that the function that is being read returns."""

    def block(self, node: Any) -> None:
        """Read a block in a scope of its own."""
        self.scopes.append({})
        for each in node.named_children:
            self.statement(each)
        self.scopes.pop()

    def block_value(self, node: Any) -> int:
        before, self.returned = self.returned, []
        self.block(node)
        found, self.returned = self.returned, before
        return self.writer.union(found) if found else self.writer.expression(Op.NOTHING)

    def statement(self, node: Any) -> None:
        run = self._runs.get(node.type)
        if run is not None:
            run(self, node)
        else:
            self._parts(node)

    def _parts(self, node: Any) -> None:
        """Statements that only hold others."""
        if node.type in self._visits or not node.type.endswith(_STATEMENTS):
            self.visit(node)
            return
        for each in node.named_children:
            self.statement(each)

    def _expression(self, node: Any) -> None:
        for each in node.named_children:
            self.visit(each)

    def _variables(self, node: Any) -> None:
        for each in node.named_children:
            if each.type == "modifiers":
                self.modifiers(each)
        written = node.child_by_field_name("type")
        type = self.type(written) if written is not None else UNKNOWN
        for each in node.children_by_field_name("declarator"):
            named, value = each.child_by_field_name("name"), each.child_by_field_name("value")
            declared = self.with_dimensions(type, each)
            given = self.visit(value, SiteKind.READ, self.writer.instance(declared)) if value is not None else UNKNOWN
            self.scopes[-1][self.text(named)] = self.writer.instance(declared) if declared else given

    def with_dimensions(self, type: int, node: Any) -> int:
        """The type of `x[]`, where the brackets stand behind the name."""
        return self.of_array(type) if type and node.child_by_field_name("dimensions") is not None else type

    def modifiers(self, node: Any) -> None:
        for each in node.named_children:
            if each.type.endswith("annotation"):
                self.annotation(each)

    def annotation(self, node: Any) -> None:
        named, given = node.child_by_field_name("name"), node.child_by_field_name("arguments")
        of = UNKNOWN
        if named is not None:
            of = self.type(named, SiteKind.DECORATOR) if named.type == "identifier" else UNKNOWN
        for each in given.named_children if given is not None else ():
            if each.type == "element_value_pair":
                key, value = each.child_by_field_name("key"), each.child_by_field_name("value")
                if of and key is not None:
                    self.site(self.text(key), key, SiteKind.ARGUMENT, self.writer.member(of, self.text(key)))
                if value is not None:
                    self.visit(value)
            else:
                self.visit(each)

    def _for(self, node: Any) -> None:
        self.scopes.append({})
        self._parts(node)
        self.scopes.pop()

    def _each(self, node: Any) -> None:
        self.scopes.append({})
        value = self.visit(node.child_by_field_name("value"))
        written, named = node.child_by_field_name("type"), node.child_by_field_name("name")
        type = self.type(written) if written is not None else UNKNOWN
        self.scopes[-1][self.text(named)] = self.writer.instance(type) if type else self.element(value)
        body = node.child_by_field_name("body")
        if body is not None:
            self.statement(body)
        self.scopes.pop()

    def _resource(self, node: Any) -> None:
        written, named = node.child_by_field_name("type"), node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        if written is None or named is None:
            self._expression(node)
            return
        type = self.type(written)
        given = self.visit(value) if value is not None else UNKNOWN
        self.scopes[-1][self.text(named)] = self.writer.instance(type) if type else given

    def _catch(self, node: Any) -> None:
        self.scopes.append({})
        for each in node.named_children:
            if each.type == "catch_formal_parameter":
                types = [type for one in each.named_children if one.type == "catch_type" for type in one.named_children]
                value = self.writer.union([self.writer.instance(self.type(type)) for type in types])
                named = each.child_by_field_name("name")
                if named is not None:
                    self.scopes[-1][self.text(named)] = value
            else:
                self.statement(each)
        self.scopes.pop()

    def _return(self, node: Any) -> None:
        for each in node.named_children:
            if not each.type.endswith("comment"):
                self.returned.append(self.visit(each))

    def _label(self, node: Any) -> None:
        for each in node.named_children:
            self.pattern(each) if each.type == "pattern" else self.visit(each)

    def _labeled(self, node: Any) -> None:
        for each in node.named_children[1:]:
            self.statement(each)

    def _local_class(self, node: Any) -> None:
        raise NotImplementedError


_STATEMENTS = (
    "_statement",
    "_clause",
    "_body",
    "block",
    "_block",
    "_rule",
    "_group",
    "_specification",
    "switch_expression",
    "_section",
)
JavaStatements._runs.update(
    {
        "block": JavaStatements.block,
        "constructor_body": JavaStatements.block,
        "switch_block": JavaStatements.block,
        "expression_statement": JavaStatements._expression,
        "local_variable_declaration": JavaStatements._variables,
        "for_statement": JavaStatements._for,
        "try_with_resources_statement": JavaStatements._for,
        "enhanced_for_statement": JavaStatements._each,
        "resource": JavaStatements._resource,
        "catch_clause": JavaStatements._catch,
        "return_statement": JavaStatements._return,
        "switch_label": JavaStatements._label,
        "labeled_statement": JavaStatements._labeled,
        "break_statement": lambda self, node: None,
        "continue_statement": lambda self, node: None,
        "line_comment": lambda self, node: None,
        "block_comment": lambda self, node: None,
        **dict.fromkeys(
            ("class_declaration", "interface_declaration", "enum_declaration", "record_declaration"),
            lambda self, node: self._local_class(node),
        ),
    }
)
