"""Imports and exports of scripts, and calls that import or that are tests."""

import posixpath
from typing import Any

from clew.formats.code.declared_imports import Import
from clew.formats.code.facts.expressions import UNKNOWN, Op
from clew.formats.code.facts.model import CLASS, CONSTANT, FUNCTION, WHOLE, How, Imported, SiteKind
from clew.formats.code.script.functions import FUNCTIONS
from clew.formats.code.script.scopes import Local
from clew.formats.code.script.statements import ScriptStatements

DEFAULT = "default"
_ASSIGNED = "export="
"""The name of what `module.exports` is given."""
_ENDINGS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts")
_GROUPS = frozenset({"describe", "suite", "context"})
_TESTS = frozenset({"it", "test", "specify"})
_NO_TESTS = frozenset({"beforeEach", "afterEach", "beforeAll", "afterAll", "use", "setTimeout", "extend", "step"})
_MOCKING = frozenset({"mock", "unmock", "doMock", "requireActual", "importActual", "requireMock"})


class Modules(ScriptStatements):
    def __init__(self, text: str, path: str) -> None:
        super().__init__(text, path)
        self.declared_imports: dict[Import, None] = {}
        """Imports as lists show them: one for each name out of a module, or for the module itself."""
        self.own = f"/{path}"
        """The module of this file."""

    def named_module(self, source: Any) -> str:
        """The module that a literal names; empty for one that cannot be in the project."""
        text = source.named_children[0] if source is not None and source.named_children else None
        named = self.text(text) if text is not None else ""
        if named.startswith("."):
            module = "/" + posixpath.normpath(posixpath.join(posixpath.dirname(self.path), named)).removeprefix("./")
            module = "/" if module == "/." else module
        elif named and ":" not in named and named[0] != "/":
            module = f"?{named}"
        else:
            return f"?{named}" if named else ""
        stem, ending = posixpath.splitext(module)
        return stem if ending in _ENDINGS else module

    def imported(self, node: Any, module: str, name: str, alias: str, flags: int = 0) -> int:
        """Note an import; the expression of what it brings."""
        line = node.start_point[0] + 1
        self.writer.imports.append(Imported(line, module, name, alias, self.inside, int(flags)))
        return self.writer.expression(Op.IMPORT, len(self.writer.imports) - 1)

    def _listed(self, node: Any, module: str, names: list[str]) -> None:
        line = node.start_point[0] + 1
        for name in names or [""]:
            if module and ":" not in module:
                self.declared_imports[Import(line, module, name)] = None

    # Statements

    def imports(self, node: Any) -> None:
        """`import ... from "..."` in its forms."""
        clause = next((each for each in node.named_children if each.type.startswith("import_")), None)
        source = node.child_by_field_name("source")
        flags = How.TYPES if any(each.type == "type" for each in node.children[:2]) else 0
        if clause is not None and clause.type == "import_require_clause":
            module = self.named_module(clause.child_by_field_name("source"))
            name = clause.named_children[0]
            self._bring(name, name, module, "", flags)
            self._listed(node, module, [])
            return
        module = self.named_module(source)
        names: list[str] = []
        for each in clause.named_children if clause is not None else ():
            if each.type == "identifier":
                expression = self._bring(each, each, module, DEFAULT, flags)
                self.site(DEFAULT, each, SiteKind.IMPORT, expression)
            elif each.type == "namespace_import":
                inner = each.named_children[0]
                self._bring(inner, inner, module, "", flags)
            elif each.type == "named_imports":
                names += self._specifiers(each, module, flags)
        if module:
            self._listed(node, module, names)

    def _specifiers(self, node: Any, module: str, flags: int) -> list[str]:
        names = []
        for each in node.named_children:
            named = each.child_by_field_name("name") if each.type == "import_specifier" else None
            if named is not None:
                alias = each.child_by_field_name("alias")
                name = self.member_name(named)
                self._bring(named, alias if alias is not None else named, module, name, flags)
                names.append(name)
        return names

    def _bring(self, named: Any, alias: Any, module: str, name: str, flags: int) -> int:
        own = self.text(alias)
        expression = self.imported(named, module, name, own, flags)
        shown = name if name and name != DEFAULT else own
        self.site(shown, named, SiteKind.IMPORT, expression)
        self.scope.names[own] = Local(expression, is_symbol=True)
        return expression

    def _export(self, node: Any) -> bool:
        kinds = {each.type for each in node.children}
        source = node.child_by_field_name("source")
        if source is not None:
            self._passed_on(node, self.named_module(source), "*" in kinds)
            return False
        declaration = node.child_by_field_name("declaration")
        for each in node.named_children:
            if each.type == "decorator" and each.named_children:
                self.visit(each.named_children[0], SiteKind.DECORATOR)
        if declaration is not None:
            if DEFAULT in kinds:
                self._default(node, declaration)
            else:
                self.statement(declaration)
            return False
        for each in node.named_children:
            if each.type == "export_clause":
                self._exported_names(each)
        value = node.child_by_field_name("value")
        if value is None and "=" in kinds:
            value = next((each for each in node.named_children if each.type != "comment"), None)
        if value is not None:
            self._exported_value(node, value, DEFAULT if DEFAULT in kinds else _ASSIGNED)
        return False

    def _default(self, node: Any, declaration: Any) -> None:
        named = declaration.child_by_field_name("name")
        if named is not None:
            self.statement(declaration)
            self.imported(node, self.own, self.text(named), DEFAULT, How.EXPORTED)
            return
        self._exported_value(node, declaration, DEFAULT)

    def _exported_value(self, node: Any, value: Any, name: str) -> None:
        """Note the value that a file exports, as its default or as the whole module."""
        if value.type == "identifier":
            self.visit(value, SiteKind.EXPORT)
            self.imported(node, self.own, self.text(value), name, How.EXPORTED)
            return
        is_class = value.type in ("class", "class_declaration", "abstract_class_declaration")
        is_function = value.type in FUNCTIONS or value.type.endswith("function_declaration")
        kind = CLASS if is_class else FUNCTION if is_function else CONSTANT
        number = self.draft(name, kind, node, node, self.scope.symbol)
        if is_class:
            self.class_body(value, number)
        elif is_function:
            self.function(value, number)
        else:
            before, self.inside = self.inside, number
            self.drafts[number].give(self.visit(value))
            self.inside = before
        if name == _ASSIGNED:
            self.drafts[number].name = DEFAULT

    def _exported_names(self, node: Any) -> None:
        for each in node.named_children:
            named = each.child_by_field_name("name") if each.type == "export_specifier" else None
            if named is None:
                continue
            name, alias = self.text(named), each.child_by_field_name("alias")
            own = self.text(alias) if alias is not None else name
            local = self.lookup(name)
            found = local.expression if local is not None and local.is_symbol else self.type_name(name)[0]
            if self.writer.operation(found) in (Op.DEFINITION, Op.IMPORT):
                self.site(name, named, SiteKind.EXPORT, found)
            if own != name:
                self.imported(each, self.own, name, own, How.EXPORTED)

    def _passed_on(self, node: Any, module: str, is_all: bool) -> None:
        """`export ... from "..."`."""
        names: list[str] = []
        for each in node.named_children:
            if each.type == "namespace_export" and each.named_children:
                self.imported(each, module, "", self.text(each.named_children[0]), How.EXPORTED)
                is_all = False
            elif each.type == "export_clause":
                for one in each.named_children:
                    named = one.child_by_field_name("name") if one.type == "export_specifier" else None
                    if named is None:
                        continue
                    name, alias = self.text(named), one.child_by_field_name("alias")
                    own = self.text(alias) if alias is not None else name
                    expression = self.imported(one, module, name, own, How.EXPORTED)
                    self.site(name, named, SiteKind.REEXPORT, expression)
                    names.append(name)
        if is_all:
            self.imported(node, module, WHOLE, WHOLE, How.EXPORTED)
        if module:
            self._listed(node, module, names)

    # Calls

    def special_call(self, node: Any, callee: Any, given: Any) -> int | None:
        first = given.named_children[0] if given is not None and given.named_children else None
        if first is None or first.type not in ("string", "template_string"):
            return None
        kind = callee.type
        if kind == "import" and first.type == "string":
            module = self.named_module(first)
            self._listed(node, module, [])
            return self.promised(self.imported(node, module, "", "", How.CALLED))
        if kind == "identifier":
            name = self.text(callee)
            if name == "require" and first.type == "string" and self.lookup(name) is None:
                module = self.named_module(first)
                self._listed(node, module, [])
                return self._all_of(node, module)
        elif kind == "member_expression" and first.type == "string":
            prop = callee.child_by_field_name("property")
            if prop is not None and self.text(prop) in _MOCKING and (module := self.named_module(first)):
                self.imported(node, module, "", "", How.CALLED)
                return None
        return self._test_call(node, callee, given, first)

    def _all_of(self, node: Any, module: str) -> int:
        """The value of a required module: its names, or the value assigned to `module.exports`."""
        whole = self.imported(node, module, "", "", How.CALLED)
        return self.writer.union((self.imported(node, module, _ASSIGNED, "", How.CALLED), whole))

    def is_required(self, pattern: Any, value: Any) -> bool:
        if value is None or self._required_module(value) is None:
            return False
        return str(pattern.type) == ("identifier" if value.type == "member_expression" else "object_pattern")

    def _required_module(self, value: Any) -> Any:
        """The literal in `require("y")`, `require("y").name` or `await import("y")`."""
        call: Any = value
        if value.type == "member_expression":
            call = value.child_by_field_name("object")
        elif value.type == "await_expression" and value.named_children:
            call = value.named_children[0]
        callee: Any = call.child_by_field_name("function") if call.type == "call_expression" else None
        given = call.child_by_field_name("arguments") if callee is not None else None
        first = given.named_children[0] if given is not None and given.named_children else None
        if first is None or first.type != "string":
            return None
        if value.type == "await_expression":
            return first if callee.type == "import" else None
        is_require = callee.type == "identifier" and self.text(callee) == "require"
        return first if is_require and self.lookup("require") is None else None

    def required(self, node: Any, pattern: Any, value: Any) -> bool:
        """`const { a, b: c } = require("y")` brings names as an import does."""
        if not self.is_required(pattern, value):
            return False
        module = self.named_module(self._required_module(value))
        if value.type == "member_expression":
            member = self.text(value.child_by_field_name("property"))
            self._bring(pattern, pattern, module, member, How.CALLED)
            self._listed(node, module, [member])
            return True
        names = []
        for each in pattern.named_children:
            key, alias = each, each
            if each.type == "pair_pattern":
                key, alias = each.child_by_field_name("key"), each.child_by_field_name("value")
            if alias.type not in ("identifier", "shorthand_property_identifier_pattern"):
                continue
            name = self.member_name(key)
            self._bring(key, alias, module, name, How.CALLED)
            names.append(name)
        self._listed(node, module, names)
        return True

    def _test_call(self, node: Any, callee: Any, given: Any, first: Any) -> int | None:
        """`describe("bell", () => ...)` and `it("rings", () => ...)` are symbols; None for all other calls."""
        words = self._words(callee)
        if not words or words[0] not in _GROUPS | _TESTS or not _NO_TESTS.isdisjoint(words):
            return None
        body = next((each for each in given.named_children[1:] if each.type in FUNCTIONS), None)
        local = self.lookup(words[0])
        if body is None or (local is not None and self.writer.operation(self.meaning(local)) != Op.IMPORT):
            return None
        is_group = words[0] in _GROUPS or "describe" in words
        self.visit(callee, SiteKind.CALL)
        name = self.text(first)[1:-1].strip() or words[0]
        number = self.draft(name, CLASS if is_group else FUNCTION, node, first, self.inside)
        self.drafts[number].is_test = not is_group
        for each in given.named_children:
            if each is not first and each.id != body.id and each.id != first.id:
                self.visit(each)
        self.function(body, number)
        return UNKNOWN

    def _words(self, callee: Any) -> list[str]:
        """The names of a callee such as `test.each([...])`, from the left."""
        words: list[str] = []
        while True:
            if callee.type == "call_expression":
                callee = callee.child_by_field_name("function")
            elif callee.type == "member_expression":
                words.append(self.text(callee.child_by_field_name("property")))
                callee = callee.child_by_field_name("object")
            else:
                break
        return [*words, self.text(callee)][::-1] if callee is not None and callee.type == "identifier" else []

    def exported(self, left: Any, right: Any, value: int) -> bool:
        """`module.exports = x` and `exports.name = x`."""
        if left.type != "member_expression":
            return False
        words = self._words(left)
        if words == ["module", "exports"] and self.lookup("module") is None:
            self._give_out(left, right, value, _ASSIGNED)
            return True
        if words[:2] == ["module", "exports"] and len(words) == 3 and self.lookup("module") is None:
            self._give_out(left, right, value, words[2])
            return True
        if words[:1] == ["exports"] and len(words) == 2 and self.lookup("exports") is None:
            self._give_out(left, right, value, words[1])
            return True
        return False

    def _give_out(self, left: Any, right: Any, value: int, name: str) -> None:
        if right is not None and right.type == "identifier":
            self.imported(left, self.own, self.text(right), name, How.EXPORTED)
            return
        if name == _ASSIGNED:
            return
        named = left.child_by_field_name("property")
        kind = FUNCTION if right is not None and right.type in FUNCTIONS else CONSTANT
        number = self.draft(name, kind, left.parent, named, self.module.symbol)
        self.drafts[number].give(value)


Modules._runs.update({"export_statement": Modules._export, "import_statement": lambda self, node: False})
