"""The facts of a Java file, read once from its syntax tree."""

from typing import Any

from clew.formats.code.declared_imports import Import
from clew.formats.code.facts.drafts import finished
from clew.formats.code.facts.expressions import UNKNOWN, Op
from clew.formats.code.facts.model import (
    ATTRIBUTE,
    CALLED,
    CLASS,
    CONSTANT,
    MEMBER,
    METHOD,
    MODULE,
    Form,
    Outline,
    Reading,
    SiteKind,
)
from clew.formats.code.java.statements import JavaStatements
from clew.formats.code.java.types import JavaClass
from clew.formats.code.trees.grammars import parsed
from clew.formats.code.trees.reading import is_generated

RULES = "java"
GRAMMAR = "java"
_CLASSES = frozenset(
    {
        "class_declaration",
        "interface_declaration",
        "enum_declaration",
        "record_declaration",
        "annotation_type_declaration",
    }
)
_METHODS = frozenset(
    {
        "method_declaration",
        "constructor_declaration",
        "compact_constructor_declaration",
        "annotation_type_element_declaration",
    }
)
_FIELDS = frozenset({"field_declaration", "constant_declaration"})
_TESTS = frozenset({"Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate"})
_MOST_PARAMETERS = 8


class JavaReader(JavaStatements):
    def __init__(self, text: str, path: str) -> None:
        super().__init__(text, path)
        self.package = ""
        self._numbers: dict[int, int] = {}
        """The symbols of declarations, by where these begin."""

    def file(self, root: Any) -> None:
        comment = None
        for node in root.named_children:
            if node.type == "block_comment":
                comment = node
                continue
            if node.type == "package_declaration":
                inner = [each for each in node.named_children if each.type.endswith("identifier")]
                self.package = self.text(inner[-1]) if inner else ""
            elif node.type == "import_declaration":
                self.imported(node)
            elif node.type in _CLASSES:
                number = self._name_class(node, MODULE, None, comment)
                if number is not None:
                    self.top[self.drafts[number].name] = self.definition(number)
            comment = None
        for node in root.named_children:
            if node.type in _CLASSES:
                self._class(node)

    # Names of classes and members, before anything that uses them is read

    def _name_class(self, node: Any, parent: int, around: JavaClass | None, comment: Any) -> int | None:
        named = node.child_by_field_name("name")
        if named is None:
            return None
        number = self.draft(self.text(named), CLASS, node, named, parent)
        draft = self.drafts[number]
        draft.about = self.about(comment, node)
        if node.type in ("interface_declaration", "annotation_type_declaration"):
            draft.form = int(Form.INTERFACE)
        elif node.type == "enum_declaration":
            draft.form = int(Form.ENUMERATION)
        elif node.type == "record_declaration":
            draft.form = int(Form.RECORD)
        self._numbers[node.start_byte] = number
        found = self.classes[number] = JavaClass(number, around)
        if around is not None:
            around.types[draft.name] = self.definition(number)
        found.has_bases = any(
            each.type in ("superclass", "super_interfaces", "extends_interfaces") for each in node.named_children
        )
        for each in self._record_fields(node):
            self._name_field(each, each.child_by_field_name("name"), found, ATTRIBUTE)
        body = node.child_by_field_name("body")
        if body is not None:
            self._name_members(body, found)
        return number

    def _record_fields(self, node: Any) -> list[Any]:
        written = node.child_by_field_name("parameters") if node.type == "record_declaration" else None
        return (
            [each for each in written.named_children if each.type == "formal_parameter"] if written is not None else []
        )

    def _name_members(self, body: Any, of: JavaClass) -> None:
        comment = None
        for each in body.named_children:
            kind = each.type
            if kind == "block_comment":
                comment = each
                continue
            if kind in _CLASSES:
                self._name_class(each, of.number, of, comment)
            elif kind in _METHODS:
                self._name_method(each, of, comment)
            elif kind in _FIELDS:
                words = self._words(each)
                is_fixed = kind == "constant_declaration" or {"static", "final"} <= words
                for one in each.children_by_field_name("declarator"):
                    number = self._name_field(
                        each, one.child_by_field_name("name"), of, CONSTANT if is_fixed else ATTRIBUTE
                    )
                    self.drafts[number].about = self.about(comment, each)
            elif kind == "enum_constant":
                named = each.child_by_field_name("name")
                of.members[self.text(named)] = self.draft(self.text(named), MEMBER, each, named, of.number)
            elif kind == "enum_body_declarations":
                self._name_members(each, of)
            comment = None

    def _name_field(self, node: Any, named: Any, of: JavaClass, kind: str) -> int:
        number = of.members[self.text(named)] = self.draft(self.text(named), kind, node, named, of.number)
        self.drafts[number].form = int(Form.INSTANCE)
        return number

    def _name_method(self, node: Any, of: JavaClass, comment: Any) -> None:
        named = node.child_by_field_name("name")
        name = self.text(named)
        number = of.members.get(name + CALLED)
        if number is None:
            number = of.members[name + CALLED] = self.draft(name, METHOD, node, named, of.number)
            self.drafts[number].about = self.about(comment, node)
            self.drafts[number].is_test = self._is_test(node)
        else:
            self.drafts[number].form |= Form.OVERLOADED
            self.again(number, node, named, shown=False)
        if "static" in self._words(node):
            self.drafts[number].form |= Form.STATIC
        self._numbers[node.start_byte] = number

    def _words(self, node: Any) -> set[str]:
        written = next((each for each in node.named_children if each.type == "modifiers"), None)
        return {each.type for each in written.children} if written is not None else set()

    def _is_test(self, node: Any) -> bool:
        for each in node.named_children:
            if each.type == "modifiers":
                names = (one.child_by_field_name("name") for one in each.named_children)
                return any(name is not None and self.text(name) in _TESTS for name in names)
        return self.path.endswith("Test.java") and self.text(node.child_by_field_name("name")).startswith("test")

    # Classes

    def _class(self, node: Any) -> None:
        number = self._numbers.get(node.start_byte)
        if number is None:
            return
        before = self.current, self.inside, self.scopes
        self.current, self.inside = self.classes[number], number
        if self.current.parent is None or before[0] is None:
            self.scopes = [{}]
        draft = self.drafts[number]
        written = node.child_by_field_name("type_parameters")
        draft.type_parameters = self.type_parameters(written, self.current.types)
        for each in node.named_children:
            if each.type == "modifiers":
                self.modifiers(each)
            elif each.type == "superclass":
                self._bases(each.named_children, number)
            elif each.type in ("super_interfaces", "extends_interfaces"):
                for one in each.named_children:
                    self._bases(one.named_children, number)
        for each in self._record_fields(node):
            self._typed(self.current.members[self.text(each.child_by_field_name("name"))], each)
        body = node.child_by_field_name("body")
        if body is not None:
            self._members(body, self.current)
        if draft.form & Form.INTERFACE:
            self._callable(self.current)
        self.current, self.inside, self.scopes = before

    def _bases(self, nodes: list[Any], number: int) -> None:
        for each in nodes:
            base = self.type(each, SiteKind.INHERIT)
            if base:
                self.drafts[number].bases.append(base)

    def _callable(self, of: JavaClass) -> None:
        """An interface with one method that has no body is what a function without a name may stand for."""
        methods = [self.drafts[number] for number in of.members.values() if self.drafts[number].kind == METHOD]
        methods = [each for each in methods if each.form & Form.ABSTRACT]
        if len(methods) == 1:
            taken = [type for _, type, _, _ in methods[0].parameters]
            self.drafts[of.number].give(self.writer.expression(Op.FUNCTION, methods[0].type, *taken))

    def _typed(self, number: int, node: Any) -> int:
        written = node.child_by_field_name("type")
        type = self.type(written) if written is not None else UNKNOWN
        self.drafts[number].type = self.drafts[number].type or type
        return type

    def _members(self, body: Any, of: JavaClass) -> None:
        for each in body.named_children:
            kind = each.type
            if kind in _CLASSES:
                self._class(each)
            elif kind in _METHODS:
                self._method(each)
            elif kind in _FIELDS:
                self._fields(each, of)
            elif kind == "enum_constant":
                self._constant(each, of)
            elif kind == "enum_body_declarations":
                self._members(each, of)
            elif kind in ("static_initializer", "block"):
                self.statement(each if kind == "block" else each.named_children[-1])

    def _constant(self, node: Any, of: JavaClass) -> None:
        given = node.child_by_field_name("arguments")
        for each in given.named_children if given is not None else ():
            self.visit(each)
        body = node.child_by_field_name("body")
        if body is not None:
            self.class_without_name(body, self.definition(of.number))

    def _fields(self, node: Any, of: JavaClass) -> None:
        for each in node.named_children:
            if each.type == "modifiers":
                self.modifiers(each)
        written = node.child_by_field_name("type")
        type = self.type(written) if written is not None else UNKNOWN
        for each in node.children_by_field_name("declarator"):
            number = of.members[self.text(each.child_by_field_name("name"))]
            draft = self.drafts[number]
            draft.type = self.with_dimensions(type, each)
            value = each.child_by_field_name("value")
            before, self.inside = self.inside, number
            if value is not None:
                self.visit(value, SiteKind.READ, self.writer.instance(draft.type))
            self.inside = before

    def _method(self, node: Any) -> None:
        number = self._numbers.get(node.start_byte)
        if number is None:
            return
        before, scopes, returned = self.inside, self.scopes, self.returned
        self.inside, self.scopes, self.returned = number, [*self.scopes, {}], []
        draft = self.drafts[number]
        body = node.child_by_field_name("body")
        for each in node.named_children:
            if each.type == "modifiers":
                self.modifiers(each)
            elif each.type == "throws":
                for one in each.named_children:
                    self.type(one)
        names = self.type_parameters(node.child_by_field_name("type_parameters"), self.scopes[-1], prefix="class ")
        written = node.child_by_field_name("type")
        result = self.type(written) if written is not None else UNKNOWN
        taken = self._parameters(node.child_by_field_name("parameters"))
        if draft.form & Form.OVERLOADED:
            # Of several with one name, what a call gives is one of what they give.
            draft.type = self.writer.union([each for each in (draft.type, result) if each])
            draft.parameters = draft.parameters if len(draft.parameters) >= len(taken) else taken
        else:
            draft.type, draft.parameters = result, taken
        draft.type_parameters = tuple(dict.fromkeys((*draft.type_parameters, *names)))
        if body is None:
            draft.form |= Form.ABSTRACT
        else:
            self.statement(body)
        value = node.child_by_field_name("value")
        if value is not None:
            self.visit(value)
        self.inside, self.scopes, self.returned = before, scopes, returned

    def _parameters(self, node: Any) -> list[tuple[str, int, int, int]]:
        taken: list[tuple[str, int, int, int]] = []
        for each in node.named_children if node is not None else ():
            if each.type not in ("formal_parameter", "spread_parameter"):
                continue
            for one in each.named_children:
                if one.type == "modifiers":
                    self.modifiers(one)
            written, named = each.child_by_field_name("type"), each.child_by_field_name("name")
            gathers = each.type == "spread_parameter"
            if gathers:
                inner = [one for one in each.named_children if one.type != "modifiers"]
                written, named = inner[0], inner[-1].child_by_field_name("name")
            if written is None or named is None:
                continue
            type = self.with_dimensions(self.type(written), each)
            name = self.text(named)
            self.scopes[-1][name] = self.writer.instance(self.of_array(type) if gathers else type)
            if len(taken) < _MOST_PARAMETERS:
                taken.append((name, type, UNKNOWN, int(gathers)))
        return taken

    # Classes inside of methods

    def class_without_name(self, body: Any, above: int) -> None:
        number = self.draft("class", CLASS, body, body, self.inside)
        if above:
            self.drafts[number].bases.append(above)
        of = self.classes[number] = JavaClass(number, self.current)
        of.has_bases = True
        self._name_members(body, of)
        before = self.current, self.inside
        self.current, self.inside = of, number
        self._members(body, of)
        self.current, self.inside = before

    def _local_class(self, node: Any) -> None:
        number = self._name_class(node, self.inside, self.current, None)
        if number is not None:
            self.scopes[-1][f"class {self.drafts[number].name}"] = self.definition(number)
            self._class(node)


def read(text: str, path: str) -> Reading:
    """The record of a file with LF line ends. SyntaxError where it is no Java; RecursionError where it is nested too
    deeply; ValueError where parsing takes too long."""
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    reader = JavaReader(text, path)
    root = parsed(reader.source, GRAMMAR)
    if root.type == "ERROR":
        raise SyntaxError("it cannot be read as Java")
    reader.file(root)
    symbols = finished(reader.drafts, reader.writer, reader.rows)
    facts = reader.writer.facts(RULES, package=reader.package, is_generated=is_generated(text))
    imports = dict.fromkeys(
        Import(each.line, each.module, "" if each.name == "*" else each.name)
        for each in facts.imports
        if each.name != "*"
    )
    return Reading(Outline(symbols, tuple(imports), lines, reader.package), facts)
