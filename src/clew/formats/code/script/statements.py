"""Statements of scripts: what they declare, and what is known after them."""

from collections.abc import Callable
from typing import Any, ClassVar

from clew.formats.code.facts.expressions import UNKNOWN, Op
from clew.formats.code.facts.model import CLASS, CONSTANT, FUNCTION, TYPE, VARIABLE, Form, SiteKind
from clew.formats.code.script.classes import ScriptClasses
from clew.formats.code.script.functions import FUNCTIONS
from clew.formats.code.script.scopes import BLOCK_SCOPE, FUNCTION_SCOPE, MODULE_SCOPE, Local, ScriptScope
from clew.formats.code.script.types import is_mapped

_CLASSES = frozenset({"class_declaration", "abstract_class_declaration"})
_CALLABLE = frozenset({"function_declaration", "generator_function_declaration", "function_signature"})
_VARIABLES = frozenset({"lexical_declaration", "variable_declaration"})
_TYPED = frozenset({"interface_declaration", "type_alias_declaration"})
_MODULES = frozenset({"internal_module", "module"})


class ScriptStatements(ScriptClasses):
    """Reads statements. Each returns True where what follows it is never reached."""

    _runs: ClassVar[dict[str, Callable[[Any, Any], bool | None]]] = {}

    def __init__(self, text: str, path: str) -> None:
        super().__init__(text, path)
        self.declared: dict[int, int] = {}
        """The symbols of declarations, by where their names begin."""

    # Declarations are known in all of their block, so they are looked for before it is read

    def declare(self, nodes: list[Any]) -> None:
        comment = None
        for node in nodes:
            if node.type == "comment":
                comment = node
                continue
            self._declare(node, node, comment)
            comment = None

    def _declare(self, node: Any, outer: Any, comment: Any) -> None:
        kind = node.type
        if kind == "export_statement":
            inner = node.child_by_field_name("declaration")
            if inner is not None:
                self._declare(inner, outer, comment)
        elif kind == "ambient_declaration":
            for each in node.named_children:
                self._declare(each, outer, comment)
        elif kind in _VARIABLES:
            self._declare_variables(node, outer, comment)
        elif kind in _CALLABLE:
            self._declare_named(node, outer, comment, FUNCTION)
        elif kind in _CLASSES or kind == "enum_declaration" or kind in _TYPED:
            self._declare_named(node, outer, comment, TYPE if self._is_alias(node) else CLASS)
        elif kind in _MODULES:
            named = node.child_by_field_name("name")
            if named is not None and named.type == "identifier":
                self._declare_named(node, outer, comment, CLASS)
        elif kind == "expression_statement" and node.named_children and node.named_children[0].type in _MODULES:
            self._declare(node.named_children[0], outer, comment)
        elif kind == "import_statement":
            self.imports(node)

    @staticmethod
    def _is_alias(node: Any) -> bool:
        """True where a type has a name alone, and no members."""
        if node.type != "type_alias_declaration":
            return False
        value = node.child_by_field_name("value")
        if value is None or value.type == "object_type":
            return value is not None and is_mapped(value)
        while value.type == "intersection_type" and value.named_children:
            if value.named_children[-1].type == "object_type" or value.named_children[0].type == "object_type":
                return False
            value = value.named_children[0]
        return True

    def _declare_named(self, node: Any, outer: Any, comment: Any, kind: str) -> None:
        named = node.child_by_field_name("name")
        if named is None:
            return
        name = self.text(named)
        is_type = node.type in _TYPED
        scope = self.scope
        about = self.about(comment, outer)
        number = self._before(name, kind, is_type)
        if number is None:
            number = self.draft(name, kind, outer, named, scope.symbol)
            draft = self.drafts[number]
            if node.type == "interface_declaration" or is_type:
                draft.form = int(Form.INTERFACE if kind == CLASS else Form.ALIAS)
            elif node.type == "enum_declaration":
                draft.form = int(Form.ENUMERATION)
            if is_type:
                scope.types[name] = self.definition(number)
            else:
                scope.names[name] = Local(self.definition(number), is_symbol=True)
        else:
            has_body = kind != FUNCTION or node.type != "function_signature"
            if kind == FUNCTION and has_body:
                self.drafts[number].form |= Form.OVERLOADED
            self.again(number, outer, named, shown=kind == FUNCTION and has_body)
        self.drafts[number].about = self.drafts[number].about or about
        self.declared[named.start_byte] = number

    def _before(self, name: str, kind: str, is_type: bool) -> int | None:
        """The symbol of the scope that a declaration adds to: an overload, an interface, a namespace."""
        scope = self.scope
        found = scope.types.get(name) if is_type else None
        if found is None and not (is_type and kind == TYPE):
            local = scope.names.get(name)
            found = local.expression if local is not None and local.is_symbol else scope.types.get(name)
        parts = self.writer.parts(found) if found is not None else (Op.UNKNOWN,)
        if parts[0] != Op.DEFINITION or self.drafts[parts[1]].kind != kind:
            return None
        if not is_type and kind == CLASS:
            scope.names[name] = Local(self.definition(parts[1]), is_symbol=True)
        return parts[1]

    def _declare_variables(self, node: Any, outer: Any, comment: Any) -> None:
        is_fixed = node.children[0].type == "const"
        scope = self.scope
        if node.type == "variable_declaration" and scope.kind == BLOCK_SCOPE:
            scope = scope.function()
        is_top = scope.kind == MODULE_SCOPE
        declarators = [each for each in node.named_children if each.type == "variable_declarator"]
        for each in declarators:
            pattern, value = each.child_by_field_name("name"), each.child_by_field_name("value")
            whole = outer if len(declarators) == 1 else each
            for named in self.names_in(pattern) if pattern is not None else ():
                name = self.text(named)
                kind = self._kind_of(
                    value if named is pattern or pattern.type == "identifier" else None, name, is_fixed
                )
                if (not is_top and kind not in (FUNCTION, CLASS)) or self.is_required(pattern, value):
                    scope.names[name] = Local()
                    continue
                number = self.draft(name, kind, whole, named, scope.symbol)
                self.drafts[number].about = self.about(comment, outer)
                self.declared[named.start_byte] = number
                scope.names[name] = Local(self.definition(number), is_symbol=True)

    def _kind_of(self, value: Any, name: str, is_fixed: bool) -> str:
        if value is not None and value.type in FUNCTIONS:
            return FUNCTION
        if value is not None and value.type == "class":
            return CLASS
        return CONSTANT if is_fixed else VARIABLE

    # Blocks

    def block(self, nodes: list[Any], scope: ScriptScope) -> bool:
        before, known = self.scope, self.known
        self.scope = scope
        self.declare(nodes)
        ended = self.run(nodes)
        self.scope, self.known = before, known
        return ended

    def run(self, nodes: list[Any]) -> bool:
        ended = False
        for node in nodes:
            ended = self.statement(node) or ended
        return ended

    def statement(self, node: Any) -> bool:
        run = self._runs.get(node.type)
        if run is not None:
            return bool(run(self, node))
        self.visit(node)
        return False

    def statements_of(self, body: Any, this: int) -> None:
        scope = ScriptScope(FUNCTION_SCOPE, self.scope, self.scope.symbol)
        scope.this = this
        self.block(body.named_children, scope)

    def _block(self, node: Any) -> bool:
        return self.block(node.named_children, ScriptScope(BLOCK_SCOPE, self.scope, self.scope.symbol))

    def _expression(self, node: Any) -> bool:
        for each in node.named_children:
            if each.type in _MODULES:
                self.statement(each)
            else:
                self.visit(each)
        return False

    def _variables(self, node: Any) -> bool:
        is_fixed = node.children[0].type == "const"
        for each in node.named_children:
            if each.type != "variable_declarator":
                continue
            pattern, value = each.child_by_field_name("name"), each.child_by_field_name("value")
            if pattern is None:
                continue
            declared = self.annotated(each)
            number = self.declared.get(pattern.start_byte) if pattern.type == "identifier" else None
            if value is not None and self.required(node, pattern, value):
                continue
            if number is not None and value is not None and self.drafts[number].kind in (FUNCTION, CLASS):
                if self.drafts[number].kind == CLASS:
                    self.class_body(value, number)
                else:
                    self.function(value, number, expected=self.writer.instance(declared))
                continue
            before = self.inside
            if number is not None:
                self.inside = number
            given = UNKNOWN
            if value is not None:
                given = self.visit(value, SiteKind.READ, self.writer.instance(declared))
            self.inside = before
            self.bind(pattern, given, is_fixed=is_fixed, declared=declared)
        return False

    def is_required(self, pattern: Any, value: Any) -> bool:
        """True where a declaration only brings names of another module."""
        raise NotImplementedError

    def required(self, node: Any, pattern: Any, value: Any) -> bool:
        """True where a declaration imports, as `const x = require("y")` does."""
        raise NotImplementedError

    def imports(self, node: Any) -> None:
        raise NotImplementedError

    def _declared_function(self, node: Any) -> bool:
        number = self._number(node)
        if number is not None:
            self.function(node, number)
        return False

    def _declared_class(self, node: Any) -> bool:
        number = self._number(node)
        if number is not None:
            self.class_body(node, number)
        return False

    def _declared_enumeration(self, node: Any) -> bool:
        number = self._number(node)
        if number is not None:
            self.enumeration(node, number)
        return False

    def _declared_type(self, node: Any) -> bool:
        number = self._number(node)
        if number is None:
            return False
        draft = self.drafts[number]
        if draft.kind == CLASS:
            self.class_body(node, number)
            return False
        before, inside = self.scope, self.inside
        self.scope, self.inside = ScriptScope(BLOCK_SCOPE, before, before.symbol), number
        written = node.child_by_field_name("type_parameters")
        declared = self.parameters_with_defaults(written) if written is not None else {}
        draft.type_parameters = tuple(declared)
        draft.type_defaults = tuple(declared.values()) if any(declared.values()) else ()
        draft.give(self.annotated(node, "value"))
        self.scope, self.inside = before, inside
        return False

    def _number(self, node: Any) -> int | None:
        named = node.child_by_field_name("name")
        return self.declared.get(named.start_byte) if named is not None else None

    def _module(self, node: Any) -> bool:
        """A namespace: what it holds are its members."""
        number, body = self._number(node), node.child_by_field_name("body")
        if body is None:
            return False
        before = self.inside
        scope = ScriptScope(MODULE_SCOPE, self.scope, number if number is not None else self.scope.symbol)
        self.inside = scope.symbol
        self.block(body.named_children, scope)
        self.inside = before
        return False

    def _ambient(self, node: Any) -> bool:
        for each in node.named_children:
            if each.type == "statement_block":
                # `declare global`: what it declares belongs to no name of this file.
                self.block(each.named_children, ScriptScope(MODULE_SCOPE, self.scope, self.scope.symbol))
            else:
                self.statement(each)
        return False

    # Flow

    def _if(self, node: Any) -> bool:
        ended = True
        before = self.known
        while True:
            yes, no = self.test(node.child_by_field_name("condition"))
            outer = self.known
            self.known = self.joined(yes)
            over = self.statement(node.child_by_field_name("consequence"))
            self.known = outer
            rest = node.child_by_field_name("alternative")
            if rest is None:
                # What the condition says when it does not hold is known afterwards, where it leads away.
                self.known = self.joined(no) if over and before is outer else before
                return False
            ended = ended and over
            self.known = self.joined(no)
            inner = [each for each in rest.named_children if each.type != "comment"]
            if len(inner) == 1 and inner[0].type == "if_statement":
                node = inner[0]
                continue
            for each in inner:
                ended = self.statement(each) and ended
            self.known = before
            return ended

    def _for(self, node: Any) -> bool:
        before = self.scope
        self.scope = ScriptScope(BLOCK_SCOPE, before, before.symbol)
        first = node.child_by_field_name("initializer")
        if first is not None:
            self.declare([first])
            self.statement(first)
        yes: dict[int, int] = {}
        for field in ("condition", "increment"):
            part = node.child_by_field_name(field)
            if part is not None and part.is_named:
                if field == "condition" and part.type != "expression_statement":
                    yes, _ = self.test(part)
                else:
                    self.statement(part)
        self._looped(node, yes)
        self.scope = before
        return False

    def _looped(self, node: Any, yes: dict[int, int]) -> None:
        known = self.known
        self.known = self.joined(yes)
        body = node.child_by_field_name("body")
        if body is not None:
            self.statement(body)
        self.known = known

    def _for_in(self, node: Any) -> bool:
        before = self.scope
        value = self.visit(node.child_by_field_name("right"))
        self.scope = ScriptScope(BLOCK_SCOPE, before, before.symbol)
        operator = node.child_by_field_name("operator")
        each = self.literal("String") if operator is not None and operator.type == "in" else self.element(value)
        if any(child.type == "await" for child in node.children[:3]):
            each = self.writer.expression(Op.ITERATED, value) if value else UNKNOWN
        left = node.child_by_field_name("left")
        if node.child_by_field_name("kind") is not None:
            for named in self.names_in(left):
                self.scope.names[self.text(named)] = Local()
            self.bind(left, each, is_fixed=True)
        else:
            self.assign(left, each)
        self._looped(node, {})
        self.scope = before
        return False

    def _while(self, node: Any) -> bool:
        yes, _ = self.test(node.child_by_field_name("condition"))
        self._looped(node, yes)
        return False

    def _do(self, node: Any) -> bool:
        self.statement(node.child_by_field_name("body"))
        self.visit(node.child_by_field_name("condition"))
        return False

    def _try(self, node: Any) -> bool:
        ended = self.statement(node.child_by_field_name("body"))
        handler, final = node.child_by_field_name("handler"), node.child_by_field_name("finalizer")
        if handler is not None:
            before = self.scope
            self.scope = ScriptScope(BLOCK_SCOPE, before, before.symbol)
            caught = handler.child_by_field_name("parameter")
            if caught is not None:
                for named in self.names_in(caught):
                    self.scope.names[self.text(named)] = Local()
                self.bind(caught, UNKNOWN, is_fixed=True)
            body = handler.child_by_field_name("body")
            ended = (self.statement(body) if body is not None else False) and ended
            self.scope = before
        if final is not None:
            for each in final.named_children:
                ended = self.statement(each) or ended
        return ended

    def _switch(self, node: Any) -> bool:
        self.visit(node.child_by_field_name("value"))
        body = node.child_by_field_name("body")
        before = self.scope
        self.scope = ScriptScope(BLOCK_SCOPE, before, before.symbol)
        cases = body.named_children if body is not None else []
        inner = [part for case in cases for part in case.children_by_field_name("body")]
        self.declare(inner)
        for case in cases:
            value = case.child_by_field_name("value")
            if value is not None:
                self.visit(value)
            self.run(case.children_by_field_name("body"))
        self.scope = before
        return False

    def _return(self, node: Any) -> bool:
        inner = [each for each in node.named_children if each.type != "comment"]
        scope = self.scope.function()
        nothing = self.writer.expression(Op.NOTHING)
        scope.returns.append(self.visit(inner[0], SiteKind.READ, scope.expected) if inner else nothing)
        return True

    def _throw(self, node: Any) -> bool:
        for each in node.named_children:
            self.visit(each)
        return True

    def _labeled(self, node: Any) -> bool:
        body = node.child_by_field_name("body")
        return self.statement(body) if body is not None else False


ScriptStatements._runs.update(
    {
        "comment": lambda self, node: False,
        "empty_statement": lambda self, node: False,
        "statement_block": ScriptStatements._block,
        "expression_statement": ScriptStatements._expression,
        "lexical_declaration": ScriptStatements._variables,
        "variable_declaration": ScriptStatements._variables,
        **dict.fromkeys(_CALLABLE, ScriptStatements._declared_function),
        **dict.fromkeys(_CLASSES, ScriptStatements._declared_class),
        **dict.fromkeys(_TYPED, ScriptStatements._declared_type),
        **dict.fromkeys(_MODULES, ScriptStatements._module),
        "enum_declaration": ScriptStatements._declared_enumeration,
        "ambient_declaration": ScriptStatements._ambient,
        "if_statement": ScriptStatements._if,
        "for_statement": ScriptStatements._for,
        "for_in_statement": ScriptStatements._for_in,
        "while_statement": ScriptStatements._while,
        "do_statement": ScriptStatements._do,
        "try_statement": ScriptStatements._try,
        "switch_statement": ScriptStatements._switch,
        "return_statement": ScriptStatements._return,
        "throw_statement": ScriptStatements._throw,
        "labeled_statement": ScriptStatements._labeled,
        "break_statement": lambda self, node: True,
        "continue_statement": lambda self, node: True,
    }
)
