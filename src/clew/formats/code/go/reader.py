"""The facts of a Go file, read once from its syntax tree."""

import re
from typing import Any

from clew.formats.code.declared_imports import Import
from clew.formats.code.facts.drafts import finished
from clew.formats.code.facts.expressions import UNKNOWN, Op
from clew.formats.code.facts.model import (
    ATTRIBUTE,
    CLASS,
    CONSTANT,
    FUNCTION,
    METHOD,
    MODULE,
    TYPE,
    VARIABLE,
    Facts,
    Form,
    Outline,
    Reading,
    SiteKind,
)
from clew.formats.code.go.statements import GoStatements
from clew.formats.code.trees.grammars import parsed
from clew.formats.code.trees.reading import LIST, is_generated

RULES = "go"
GRAMMAR = "go"
_MODULE = re.compile(r"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)
_TEST = re.compile(r"(?:Test|Benchmark|Example|Fuzz)(?![a-z])")
_MOST_PARAMETERS = 8


class GoReader(GoStatements):
    def __init__(self, text: str, path: str) -> None:
        super().__init__(text, path)
        self.package = ""
        self.is_test = path.endswith("_test.go")
        self._waiting: list[tuple[Any, int]] = []
        """Declarations with their symbols, which are read when all names of the file are known."""

    def file(self, root: Any) -> None:
        comment = None
        for node in root.named_children:
            kind = node.type
            if kind == "comment":
                comment = node
                continue
            about = self._about(comment, node)
            comment = None
            if kind == "package_clause" and node.named_children:
                self.package = self.text(node.named_children[0])
            elif kind == "import_declaration":
                self._imports(node)
            else:
                self._declare(node, kind, about)
        for node, number in self._waiting:
            if node.type == "method_declaration":
                self._method(node)
            else:
                self._read(node, number)

    def _imports(self, node: Any) -> None:
        for each in node.named_children:
            for spec in each.named_children if each.type == "import_spec_list" else [each]:
                if spec.type == "import_spec":
                    self.imported(spec)

    def _declare(self, node: Any, kind: str, about: str) -> None:
        if kind == "type_declaration":
            for each in node.named_children:
                self._name_type(each, node if len(node.named_children) == 1 else each, about)
        elif kind in ("const_declaration", "var_declaration"):
            self._name_values(node, CONSTANT if kind.startswith("const") else VARIABLE, about)
        elif kind == "function_declaration":
            named = node.child_by_field_name("name")
            self._name(named, FUNCTION, node, about)
            self.drafts[-1].is_test = self.is_test and _TEST.match(self.text(named)) is not None
        elif kind == "method_declaration":
            self._waiting.append((node, -1))

    def _about(self, comment: Any, node: Any) -> str:
        """The first line of the comment right above."""
        if comment is None or comment.end_point[0] + 1 < node.start_point[0]:
            return ""
        above, row = comment, comment.start_point[0]
        while (
            (before := above.prev_sibling) is not None and before.type == "comment" and before.end_point[0] + 1 == row
        ):
            above, row = before, before.start_point[0]
        return self.text(above).strip("/* \t").partition("\n")[0][:200]

    def _name(self, named: Any, kind: str, whole: Any, about: str) -> int:
        name = self.text(named)
        number = self.draft(name, kind, whole, named, MODULE)
        self.drafts[number].about = about
        if name not in ("_", "init"):
            self.top[name] = self.definition(number)
        self._waiting.append((whole if kind == FUNCTION else named.parent, number))
        return number

    def _name_type(self, node: Any, whole: Any, about: str) -> None:
        named = node.child_by_field_name("name")
        if named is not None:
            number = self._name(named, TYPE if node.type == "type_alias" else CLASS, whole, about)
            written = node.child_by_field_name("type")
            if node.type == "type_alias":
                self.drafts[number].form = int(Form.ALIAS)
            elif written is not None and written.type == "interface_type":
                self.drafts[number].form = int(Form.INTERFACE)

    def _name_values(self, node: Any, kind: str, about: str) -> None:
        for spec in node.named_children:
            if spec.type == "var_spec_list":
                self._name_values(spec, kind, about)
            elif spec.type in ("const_spec", "var_spec"):
                names = spec.children_by_field_name("name")
                numbers = []
                for named in names:
                    if (name := self.text(named)) != "_":
                        numbers.append(self.draft(name, kind, spec, named, MODULE))
                        self.drafts[-1].about = about
                        self.top[name] = self.definition(numbers[-1])
                self._waiting.append((spec, numbers[0] if numbers else MODULE))

    # Once all names are known

    def _read(self, node: Any, number: int) -> None:
        self.inside = number
        if node.type == "function_declaration":
            self._function(node, number)
        elif node.type in ("const_spec", "var_spec"):
            self._values(node, number)
        else:
            self._type(node, number)
        self.inside = MODULE

    def _values(self, node: Any, first: int) -> None:
        names = node.children_by_field_name("name")
        written = node.child_by_field_name("type")
        self.scopes = [{}]
        type = self.type(written) if written is not None else UNKNOWN
        values = self.values_of(len(names), node.child_by_field_name("value"))
        if node.type == "const_spec" and node.child_by_field_name("value") is None and first > 0:
            # In a list of constants, one without a value is of the type of the one before.
            type = type or self.drafts[first - 1].type
        number = first
        for name, value in zip(names, values, strict=False):
            if self.text(name) != "_":
                self.drafts[number].type = type
                self.drafts[number].give(value)
                number += 1

    def _type(self, node: Any, number: int) -> None:
        draft = self.drafts[number]
        self.scopes = [{}]
        draft.type_parameters = self.type_parameters(node.child_by_field_name("type_parameters"))
        written = node.child_by_field_name("type")
        if written is None:
            return
        if written.type == "struct_type":
            for fields in written.named_children:
                self._fields_of(fields, number)
        elif written.type == "interface_type":
            self._interface(written, number)
        elif draft.kind == TYPE or written.type == "function_type":
            draft.give(self.type(written))
        else:
            base = self.type(written)
            if base:
                draft.bases.append(base)

    def _fields_of(self, node: Any, number: int) -> None:
        for each in node.named_children:
            written = each.child_by_field_name("type") if each.type == "field_declaration" else None
            if written is None:
                continue
            names = each.children_by_field_name("name")
            type = self.type(written, SiteKind.ANNOTATION if names else SiteKind.INHERIT)
            if not names:
                # An embedded type: its members are members here, and it is a field of its own name.
                self.drafts[number].bases.append(type)
                names = [_last_name(written)]
            for named in names:
                own = self.draft(self.text(named), ATTRIBUTE, each, named, number)
                self.drafts[own].form = int(Form.INSTANCE)
                self.drafts[own].type = type

    def _interface(self, node: Any, number: int) -> None:
        for each in node.named_children:
            if each.type in ("method_elem", "method_spec"):
                named = each.child_by_field_name("name")
                own = self.draft(self.text(named), METHOD, each, named, number)
                self._sign(each, own)
            elif each.type in ("type_elem", "constraint_elem") and len(each.named_children) == 1:
                base = self.type(each.named_children[0], SiteKind.INHERIT)
                if base:
                    self.drafts[number].bases.append(base)
            elif each.type != "comment":
                self.type(each)

    def _sign(self, node: Any, number: int) -> list[tuple[str, int, int, int]]:
        taken = self.parameters(node.child_by_field_name("parameters"))
        draft = self.drafts[number]
        draft.parameters = taken[:_MOST_PARAMETERS]
        draft.type = self.result(node)
        return taken

    def _method(self, node: Any) -> None:
        named = node.child_by_field_name("name")
        receiver = next(
            (each for each in node.child_by_field_name("receiver").named_children if each.type != "comment"), None
        )
        written = receiver.child_by_field_name("type") if receiver is not None else None
        if named is None or written is None:
            return
        of = _last_name(written)
        found = self.top.get(self.text(of), UNKNOWN)
        parts = self.writer.parts(found)
        parent = parts[1] if parts[0] == Op.DEFINITION else MODULE
        number = self.draft(self.text(named), METHOD, node, named, parent)
        self.drafts[number].owner = self.text(of)
        before = node.prev_sibling
        self.drafts[number].about = self._about(
            before if before is not None and before.type == "comment" else None, node
        )
        self.inside = number
        self._function(node, number, receiver)
        self.inside = MODULE

    def _function(self, node: Any, number: int, receiver: Any = None) -> None:
        self.scopes = [{}]
        if receiver is not None:
            written = receiver.child_by_field_name("type")
            self._receiver_types(written)
            value = self.writer.instance(self.type(written))
            for name in receiver.children_by_field_name("name"):
                self.give(name, value)
        draft = self.drafts[number]
        draft.type_parameters = self.type_parameters(node.child_by_field_name("type_parameters"))
        taken = self._sign(node, number)
        for place, (name, type, _, gathers) in enumerate(taken):
            if name and place < _MOST_PARAMETERS and not gathers:
                self.scopes[-1][name] = self.writer.expression(Op.PARAMETER, number, place)
            elif name:
                self.scopes[-1][name] = self.writer.instance(self.of_sign(LIST, type) if gathers else type)
        self._named_results(node)
        body = node.child_by_field_name("body")
        if body is not None:
            self.statements(body)

    def _receiver_types(self, node: Any) -> None:
        """The type parameters that a receiver names."""
        while node.type in ("pointer_type", "parenthesized_type") and node.named_children:
            node = node.named_children[-1]
        written = node.child_by_field_name("type_arguments") if node.type == "generic_type" else None
        for each in written.named_children if written is not None else ():
            name = self.text(each)
            self.scopes[-1][name] = self.writer.expression(Op.TYPE_PARAMETER, self.writer.name(name))


def _last_name(node: Any) -> Any:
    """The node of the name of a type, without its package and its arguments."""
    while True:
        if node.type in ("pointer_type", "parenthesized_type") and node.named_children:
            node = node.named_children[-1]
        elif node.type == "generic_type":
            node = node.child_by_field_name("type")
        elif node.type == "qualified_type":
            return node.child_by_field_name("name")
        else:
            return node


def read(text: str, path: str) -> Reading:
    """Outline and facts of a file with LF line ends. SyntaxError if it is not Go; RecursionError if it is nested
    too deeply; ValueError if parsing takes too long."""
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    reader = GoReader(text, path)
    root = parsed(reader.source, GRAMMAR)
    if root.type == "ERROR":
        raise SyntaxError("it cannot be read as Go")
    reader.file(root)
    symbols = finished(reader.drafts, reader.writer, reader.rows)
    facts = reader.writer.facts(RULES, package=reader.package, is_generated=is_generated(text))
    imports = dict.fromkeys(Import(each.line, each.module) for each in facts.imports)
    return Reading(Outline(symbols, tuple(imports), lines), facts)


def read_module(text: str) -> Reading:
    """The record of a file that names the module of a folder: its package is the name of the module."""
    found = _MODULE.search(text)
    return Reading(Outline(package=found[1] if found is not None else ""), Facts())
