"""Statements of Python: what they bind, and what is known after them."""

import ast
from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar

from clew.formats.code.facts.drafts import Draft
from clew.formats.code.facts.expressions import EXCLUDED, UNKNOWN, Op
from clew.formats.code.facts.model import (
    ATTRIBUTE,
    CONSTANT,
    MEMBER,
    TYPE,
    VALUES,
    VARIABLE,
    WHOLE,
    Extent,
    Form,
    How,
    SiteKind,
)
from clew.formats.code.python.conditions import truth_of
from clew.formats.code.python.expressions import Expressions, relative
from clew.formats.code.python.scopes import FUNCTION_SCOPE, MODULE_SCOPE, WIDEST_FLOW, Flow, Scope

WRITE = SiteKind.WRITE
_MOST_EXPORTS = 20_000


class Statements(Expressions):
    """Reads statements. Each returns True where what follows it is never reached."""

    _runs: ClassVar[dict[type, Callable[[Any, Any], bool | None]]] = {}

    def __init__(self, text: str, path: str) -> None:
        super().__init__(text, path)
        self.late = []
        self.exports: list[ast.Constant] | None = None
        self.exports_more = False
        """The list of exports has parts that are no literals, such as the list of another module."""
        self.is_dead = False
        """In a branch that is not taken here, such as one for another platform."""
        self.dead_names: set[tuple[Scope, str]] = set()
        self.dead_drafts: set[int] = set()
        self.later: deque[Callable[[], None]] = deque()
        """Bodies of functions: they are read when all that is around them was."""

    def run(self, body: list[ast.stmt]) -> bool:
        ended = False
        for node in body:
            if self._runs[type(node)](self, node):
                # What is never reached is read too: pyright calls it unreachable, a person sees a use.
                ended = True
        return ended

    # Binding

    def bind(self, name: str, expression: int, *, is_direct: bool = True) -> None:
        """Give a name of the current scope to a definition or an import."""
        scope = self.scope
        if is_direct:
            self.named.add((name, expression))
        if scope.kind == FUNCTION_SCOPE and name not in scope.globals:
            self.flow[name] = expression
            scope.give(name, expression)
            return
        self._give_name(self.module if scope.kind == FUNCTION_SCOPE else scope, name, expression)

    def _give_name(self, scope: Scope, name: str, expression: int) -> None:
        """Add a meaning to those of a name of a module or class. A branch that is not taken gives one only where no
        other does."""
        before = scope.names.get(name)
        key = (scope, name)
        if before is None:
            if self.is_dead:
                self.dead_names.add(key)
        elif before != expression:
            if self.is_dead and key not in self.dead_names:
                return
            if not self.is_dead and key in self.dead_names:
                self.dead_names.discard(key)
            else:
                expression = self.writer.union((before, expression))
                self.named.add((name, expression))
        scope.names[name] = expression

    def assign(self, target: ast.expr, value: int) -> None:
        if isinstance(target, ast.Name):
            self.assign_name(target, value)
        elif isinstance(target, ast.Attribute):
            self._assign_member(target, value)
        elif isinstance(target, ast.Tuple | ast.List):
            for place, part in enumerate(target.elts):
                self.assign(part, self.unpacked(value, place, part))
        elif isinstance(target, ast.Starred):
            self.assign(target.value, value)
        else:
            self.visit(target)

    def assign_name(self, node: ast.Name, value: int, *, type: int = UNKNOWN, statement: Any = None) -> None:
        name, scope = node.id, self.scope
        if scope.kind == FUNCTION_SCOPE and name not in scope.globals:
            declared = type or scope.declared.get(name, UNKNOWN)
            if type:
                scope.declared[name] = type
            elif not declared:
                scope.give(name, value)
            known = self.writer.instance(declared) if declared else value
            self.flow[name] = known
            return
        if scope.kind == FUNCTION_SCOPE:
            scope = self._of_global(name)
            if scope.kind == FUNCTION_SCOPE:
                scope.give(name, value)
                return
        self._assign_symbol(scope, name, node, value, type, statement)

    def _of_global(self, name: str) -> Scope:
        """The scope of a name that is declared global or nonlocal."""
        outer = self.scope.parent
        while outer is not None:
            if outer.kind == FUNCTION_SCOPE and name in outer.names and name in self.scope.closed:
                return outer
            outer = outer.parent
        return self.module

    def _assign_symbol(self, scope: Scope, name: str, node: ast.Name, value: int, type: int, statement: Any) -> None:
        number = scope.members.get(name)
        if number is None:
            end = (statement or node).end_lineno or node.lineno
            kind = self._kind(scope, name)
            draft = Draft(name, kind, node.lineno, end, node.lineno, scope.symbol)
            number = self._draft(draft)
            scope.members[name] = number
            self._name_of(scope, name, number)
            if self.is_dead:
                self.dead_drafts.add(number)
        else:
            draft = self.drafts[number]
            if self.is_dead and number not in self.dead_drafts:
                value = type = UNKNOWN
            elif not self.is_dead and number in self.dead_drafts:
                self.dead_drafts.discard(number)
                draft.values, draft.type = {}, UNKNOWN
            self._note_value(scope, number, value)
            if node.lineno != draft.name_line:
                draft.declared_again(Extent(node.lineno, node.lineno, node.lineno))
                self.site(name, node, WRITE, self.writer.expression(Op.DEFINITION, number))
            if scope.names.get(name) is None:
                self._name_of(scope, name, number)
        if type and not draft.type:
            draft.type = type
        if draft.kind in VALUES:
            draft.give(value)

    def _note_value(self, scope: Scope, number: int, value: int) -> None:
        """Note what a name at the top of the file, which had another value before, is from here on."""
        key = self.writer.expression(Op.DEFINITION, number)
        is_clear = scope is self.module and not self.is_dead and len(self.flow) < WIDEST_FLOW
        if is_clear and value and not self.drafts[number].type:
            self.flow[key] = value
        else:
            self.flow.pop(key, None)

    def _name_of(self, scope: Scope, name: str, number: int) -> None:
        expression = self.writer.expression(Op.DEFINITION, number)
        self.named.add((name, expression))
        self._give_name(scope, name, expression)

    def _draft(self, draft: Draft) -> int:
        self.drafts.append(draft)
        return len(self.drafts) - 1

    def _kind(self, scope: Scope, name: str) -> str:
        if scope.kind == MODULE_SCOPE:
            return CONSTANT if name.isupper() else VARIABLE
        is_enumeration = self.drafts[scope.symbol].form & Form.ENUMERATION
        return MEMBER if is_enumeration and not name.startswith("_") else ATTRIBUTE

    def _assign_member(self, node: ast.Attribute, value: int | None, *, type: int = UNKNOWN) -> None:
        """Give a member a value; None where it keeps the kind of value that it has."""
        receiver = self.visit(node.value)
        member = self.writer.member(receiver, node.attr)
        parts = self.writer.parts(receiver)
        if member:
            self.flow.pop(member, None)
        if parts[0] not in (Op.SELF, Op.SELF_CLASS) or (scope := self.of_class(parts[1])) is None:
            self.member_site(node, WRITE, member)
            return
        number = scope.members.get(node.attr)
        line = node.end_lineno or node.lineno
        if number is None:
            draft = Draft(node.attr, ATTRIBUTE, line, line, line, parts[1])
            draft.form = Form.INSTANCE if parts[0] == Op.SELF else 0
            number = scope.members[node.attr] = self._draft(draft)
        else:
            draft = self.drafts[number]
            if line != draft.name_line:
                draft.declared_again(Extent(line, line, line))
            self.member_site(node, WRITE, member)
        if type and not draft.type:
            draft.type = type
        if value is not None and draft.kind in VALUES:
            draft.give(value)

    def of_class(self, symbol: int) -> Scope | None:
        """The scope of a class of this file."""
        return self.classes.get(symbol)

    classes: dict[int, Scope]

    # Simple statements

    def _expression(self, node: ast.Expr) -> bool:
        value = node.value
        if isinstance(value, ast.Constant):
            return False
        if (
            isinstance(value, ast.Call)
            and isinstance(func := value.func, ast.Attribute)
            and isinstance(func.value, ast.Name)
            and func.value.id == "__all__"
            and self.scope is self.module
        ):
            self._export(value.args[0] if value.args else None)
        self.visit(value)
        return False

    def _assignment(self, node: ast.Assign) -> bool:
        target = node.targets[0]
        if self.scope is self.module and isinstance(target, ast.Name) and target.id == "__all__":
            self.exports, self.exports_more = [], False
            self._export(node.value)
        value = self.visit(node.value)
        for each in node.targets:
            if isinstance(each, ast.Name):
                self.assign_name(each, value, statement=node)
            else:
                self.assign(each, value)
        return False

    def _augmented(self, node: ast.AugAssign) -> bool:
        target = node.target
        if self.scope is self.module and isinstance(target, ast.Name) and target.id == "__all__":
            self._export(node.value)
        value = self.visit(node.value)
        if isinstance(target, ast.Name):
            key = self.lookup(target.id)
            if (target.id, key) in self.named:
                self.site(target.id, target, WRITE, key)
            elif self.writer.operation(key) != Op.GLOBAL:
                self.assign_name(target, self.writer.union((key, value)))
        elif isinstance(target, ast.Attribute):
            self._assign_member(target, None)
        else:
            self.visit(target)
        return False

    def _annotated(self, node: ast.AnnAssign) -> bool:
        type = self.annotation(node.annotation)
        value = self.visit(node.value) if node.value is not None else UNKNOWN
        target = node.target
        if isinstance(target, ast.Name):
            self.assign_name(target, value, type=type, statement=node)
            written = node.annotation
            name = written.id if isinstance(written, ast.Name) else getattr(written, "attr", "")
            if name == "TypeAlias" and self.scope.kind == MODULE_SCOPE:
                draft = self.drafts[self.scope.members[target.id]]
                draft.kind, draft.type, draft.form = TYPE, UNKNOWN, draft.form | Form.ALIAS
            if node.value is None and self.scope.kind == FUNCTION_SCOPE:
                self.flow.pop(target.id, None)
        elif isinstance(target, ast.Attribute):
            self._assign_member(target, value, type=type)
        else:
            self.visit(target)
        return False

    def _alias(self, node: Any) -> bool:
        """The statement `type X = ...` of Python 3.12."""
        value = self.annotation(node.value)
        self.assign_name(node.name, value, statement=node)
        if self.scope.kind != FUNCTION_SCOPE:
            draft = self.drafts[self.scope.members[node.name.id]]
            draft.kind, draft.form = TYPE, draft.form | Form.ALIAS
        return False

    def _export(self, node: ast.expr | None) -> None:
        """Note the names of a list of what the module exports."""
        if isinstance(node, ast.BinOp):
            self._export(node.left)
            self._export(node.right)
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            texts = [each for each in node.elts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            self.exports = [*(self.exports or ()), *texts][:_MOST_EXPORTS]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.exports = [*(self.exports or ()), node][:_MOST_EXPORTS]
        elif node is not None:
            self.exports_more = True

    def _delete(self, node: ast.Delete) -> bool:
        for target in node.targets:
            if isinstance(target, ast.Name):
                key = self.lookup(target.id)
                if (target.id, key) in self.named:
                    self.site(target.id, target, SiteKind.DELETE, key)
                self.flow.pop(target.id, None)
            else:
                self.visit(target, SiteKind.DELETE)
        return False

    def _return(self, node: ast.Return) -> bool:
        nothing = self.writer.expression(Op.NOTHING)
        self.scope.returns.append(self.visit(node.value) if node.value is not None else nothing)
        return True

    def _raise(self, node: ast.Raise) -> bool:
        for part in (node.exc, node.cause):
            if part is not None:
                self.visit(part)
        return True

    def _assert(self, node: ast.Assert) -> bool:
        yes, _ = self.test(node.test)
        if node.msg is not None:
            self.visit(node.msg)
        if len(self.flow) <= WIDEST_FLOW:
            self.flow.update(yes)
        return False

    def _jump(self, node: ast.Break | ast.Continue) -> bool:
        return True

    def _nothing(self, node: ast.stmt) -> bool:
        return False

    # Imports

    def _import(self, node: ast.Import) -> bool:
        for alias in node.names:
            top = alias.asname is None and "." in alias.name
            name = alias.asname or alias.name.partition(".")[0]
            expression = self.imported(node.lineno, alias.name, "", name, How.TOP if top else 0)
            # The name of the module stands in the statement; it is a use of the module.
            tail = alias.name.rpartition(".")[2]
            line = getattr(alias, "lineno", node.lineno)
            self.writer.site(tail, line, alias.col_offset, SiteKind.IMPORT, expression, self.inside)
            self._bind_import(name, expression)
        return False

    def _import_from(self, node: ast.ImportFrom) -> bool:
        module = node.module or ""
        if node.level:
            module = relative(module, self.path, node.level)
        for alias in node.names:
            name = alias.asname or alias.name
            exported = How.EXPORTED if alias.asname == alias.name else 0
            expression = self.imported(node.lineno, module, alias.name, name, exported)
            if alias.name == WHOLE:
                self.has_star = True
                continue
            line = getattr(alias, "lineno", node.lineno)
            self.writer.site(alias.name, line, alias.col_offset, SiteKind.IMPORT, expression, self.inside)
            self._bind_import(name, expression)
        return False

    def _bind_import(self, name: str, expression: int) -> None:
        scope = self.module if name in self.scope.globals else self.scope
        if scope is not self.scope:
            scope.names[name] = expression
            self.named.add((name, expression))
            return
        before = None if scope.kind == FUNCTION_SCOPE else scope.names.get(name)
        if before is not None and self.writer.operation(before) == Op.IMPORT:
            # `import a.b` after `import a`: the same module under the same name.
            first = self.writer.imports[self.writer.parts(before)[1]]
            second = self.writer.imports[-1]
            top = second.module.partition(".")[0] if second.flags & How.TOP else ""
            if top and top == first.module.partition(".")[0] and not first.name:
                return
        self.bind(name, expression)

    # Flow

    def _join(self, flows: list[Flow]) -> Flow:
        """The values known where several branches meet."""
        if not flows:
            return self.flow
        first, *others = flows
        if not others:
            return first
        joined: Flow = {}
        for key in dict.fromkeys(key for flow in flows for key in flow):
            found = {flow[key]: None for flow in flows if key in flow}
            if len(found) == 1:
                if isinstance(key, str) or all(key in flow for flow in flows):
                    joined[key] = next(iter(found))
            elif isinstance(key, str) or all(key in flow for flow in flows):
                joined[key] = self.writer.union(found)
        return joined

    def _branch(self, known: Flow) -> Flow:
        if len(self.flow) > WIDEST_FLOW:
            return self.flow
        return {**self.flow, **known}

    def _if(self, node: ast.If) -> bool:
        for_types = _is_for_types(node.test)
        yes, no = self.test(node.test)
        truth = truth_of(node.test)
        if truth is not None and self.scope.kind != FUNCTION_SCOPE:
            return self._if_known(*((node.body, node.orelse) if truth else (node.orelse, node.body)))
        before = self.flow
        was, self.is_for_types = self.is_for_types, self.is_for_types or for_types
        self.flow = self._branch(yes)
        ended = self.run(node.body)
        first = self.flow
        self.is_for_types = was
        self.flow = before
        self.flow = self._branch(no)
        ended_else = self.run(node.orelse)
        second = self.flow
        if first is second:
            return False
        if truth is not None:
            self._go_on(before, first if truth else second)
            return ended if truth else ended_else
        ways = [flow for flow, is_over in ((first, ended), (second, ended_else)) if not is_over]
        self._go_on(before, self._join(ways or [first, second]))
        return ended and ended_else

    def _if_known(self, taken: list[ast.stmt], other: list[ast.stmt]) -> bool:
        was, self.is_dead = self.is_dead, True
        self.run(other)
        self.is_dead = was
        return self.run(taken)

    def _go_on(self, before: Flow, flow: Flow) -> None:
        """Put what is known into the one flow of the scope."""
        if flow is not before:
            before.clear()
            before.update(flow)
        self.flow = before

    def _begin_loop(self) -> dict[str, tuple[int, int]]:
        """Variables for the names that later rounds of a loop may find changed."""
        scope = self.scope
        if scope.kind != FUNCTION_SCOPE:
            # A later round may find every name of the file changed.
            for key in [key for key in self.flow if isinstance(key, int)]:
                del self.flow[key]
        if scope.kind != FUNCTION_SCOPE or len(self.flow) > WIDEST_FLOW:
            return {}
        changing = {}
        for name, count in scope.names.items():
            value = self.flow.get(name)
            if count > 1 and value is not None and name not in scope.declared:
                variable = self.writer.variable(UNKNOWN, (value,))
                changing[name] = variable, value
                self.flow[name] = self.writer.expression(Op.VARIABLE, variable)
        return changing

    def _end_loop(self, changing: dict[str, tuple[int, int]]) -> None:
        for name, (variable, value) in changing.items():
            last = self.flow.get(name)
            own = self.writer.expression(Op.VARIABLE, variable)
            if last is not None and last != own:
                self.writer.fill(variable, UNKNOWN, (value, last))
            elif last == own:
                # It never changes in the loop.
                self.flow[name] = value

    def _loop(
        self, body: list[ast.stmt], orelse: list[ast.stmt], known: Flow, target: tuple[ast.expr, int] | None
    ) -> None:
        before = self.flow
        changing = self._begin_loop()
        self.flow = self._branch(known)
        if target is not None:
            self.assign(*target)
        self.run(body)
        self._end_loop(changing)
        self._go_on(before, self._join([before, self.flow]) if self.flow is not before else self.flow)
        self.run(orelse)

    def _for(self, node: ast.For | ast.AsyncFor) -> bool:
        value = self.visit(node.iter)
        element = self.element(value)
        if isinstance(node, ast.AsyncFor):
            element = self.writer.expression(Op.ITERATED, value) if value else UNKNOWN
        self._loop(node.body, node.orelse, {}, (node.target, element))
        return False

    def _while(self, node: ast.While) -> bool:
        changing = self._begin_loop()
        yes, _ = self.test(node.test)
        before = self.flow
        self.flow = self._branch(yes)
        self.run(node.body)
        self._end_loop(changing)
        self._go_on(before, self._join([before, self.flow]) if self.flow is not before else self.flow)
        self.run(node.orelse)
        return False

    def _with_statement(self, node: ast.With | ast.AsyncWith) -> bool:
        for item in node.items:
            value = self.visit(item.context_expr)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, self.writer.expression(Op.ENTERED, value) if value else UNKNOWN)
        return self.run(node.body)

    def _try(self, node: Any) -> bool:
        before = self.flow
        self.flow = self._branch({})
        start = dict(self.flow) if node.handlers and self.flow is not before else self.flow
        ended = self.run(node.body)
        within = self.flow
        ended = self.run(node.orelse) or ended
        ways = [] if ended else [self.flow]
        is_over = ended
        at_handlers = self._join([start, within]) if within is not before and node.handlers else self.flow
        for handler in node.handlers:
            self.flow = dict(at_handlers) if at_handlers is not before else before
            if handler.type is not None:
                caught = self.visit(handler.type)
                if handler.name:
                    self._catch(handler, caught)
            if not self.run(handler.body):
                ways.append(self.flow)
                is_over = False
        self._go_on(before, self._join(ways or [self.flow]))
        return bool(self.run(node.finalbody)) or is_over

    def _catch(self, handler: ast.ExceptHandler, caught: int) -> None:
        parts = self.writer.parts(caught)
        types = parts[2:] if parts[0] == Op.COLLECTION else (caught,)
        value = self.writer.union(self.writer.instance(each) for each in types)
        if self.scope.kind == FUNCTION_SCOPE and handler.name not in self.scope.globals:
            self.flow[handler.name or ""] = value
            self.scope.give(handler.name or "", value)
        else:
            name = handler.name or ""
            self.scope.names[name] = value

    # Patterns

    def _match(self, node: ast.Match) -> bool:
        whole = subject = self.visit(node.subject)
        before = self.flow
        ways = [before]
        key = self.quiet(node.subject)
        for case in node.cases:
            self.flow = dict(before) if len(before) <= WIDEST_FLOW else before
            known = self._pattern(case.pattern, subject)
            if key is not None and known != whole:
                self.flow[key] = known
            if case.guard is not None:
                yes, _ = self.test(case.guard)
                self.flow.update(yes)
            if not self.run(case.body):
                ways.append(self.flow)
            if case.guard is None:
                subject = self._not_matched(case.pattern, subject)
        self._go_on(before, self._join([dict(each) for each in ways]))
        return False

    def _pattern(self, node: ast.pattern, value: int) -> int:
        """Bind what a pattern captures; the value as far as the pattern tells it."""
        if isinstance(node, ast.MatchAs):
            inner = self._pattern(node.pattern, value) if node.pattern is not None else value
            if node.name:
                self._capture(node, node.name, inner)
            return inner
        if isinstance(node, ast.MatchOr):
            return self.writer.union([self._pattern(each, value) for each in node.patterns])
        if isinstance(node, ast.MatchClass):
            return self._class_pattern(node, value)
        if isinstance(node, ast.MatchValue):
            self.visit(node.value)
        elif isinstance(node, ast.MatchSequence):
            for place, each in enumerate(node.patterns):
                star = isinstance(each, ast.MatchStar)
                part = self.writer.expression(Op.UNPACKED, value, -1 if star else place) if value else UNKNOWN
                self._pattern(each, part)
        elif isinstance(node, ast.MatchMapping):
            for key, each in zip(node.keys, node.patterns, strict=True):
                self.visit(key)
                key_type = self.literal("str")
                self._pattern(each, self.writer.expression(Op.SUBSCRIPT, value, key_type) if value else UNKNOWN)
            if node.rest:
                self._capture(node, node.rest, UNKNOWN)
        elif isinstance(node, ast.MatchStar) and node.name:
            self._capture(node, node.name, value)
        return value

    def _not_matched(self, node: ast.pattern, value: int) -> int:
        """The value as far as a pattern tells it that did not match."""
        for each in node.patterns if isinstance(node, ast.MatchOr) else (node,):
            if isinstance(each, ast.MatchClass) and not each.patterns and not each.kwd_patterns and value:
                class_ = self.quiet(each.cls)
                if isinstance(class_, int) and class_:
                    value = self.writer.expression(Op.NARROWED, value, class_, EXCLUDED)
        return value

    def _class_pattern(self, node: ast.MatchClass, value: int) -> int:
        class_ = self.visit(node.cls)
        known = self.writer.expression(Op.NARROWED, value, class_) if class_ else value
        for each in node.patterns:
            self._pattern(each, UNKNOWN)
        for name, each in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
            member = self.writer.member(self.writer.instance(class_), name)
            self.site(name, each, SiteKind.READ, member)
            self._pattern(each, member)
        return known

    def _capture(self, node: Any, name: str, value: int) -> None:
        target = ast.Name(name, ast.Store())
        target.lineno, target.col_offset, target.end_lineno = node.lineno, node.col_offset, node.end_lineno
        self.assign_name(target, value)


def _is_for_types(node: ast.expr) -> bool:
    return (isinstance(node, ast.Name) and node.id == "TYPE_CHECKING") or (
        isinstance(node, ast.Attribute) and node.attr == "TYPE_CHECKING"
    )


Statements._runs.update(
    {
        ast.Expr: Statements._expression,
        ast.Assign: Statements._assignment,
        ast.AugAssign: Statements._augmented,
        ast.AnnAssign: Statements._annotated,
        ast.Delete: Statements._delete,
        ast.Return: Statements._return,
        ast.Raise: Statements._raise,
        ast.Assert: Statements._assert,
        ast.Break: Statements._jump,
        ast.Continue: Statements._jump,
        ast.Pass: Statements._nothing,
        ast.Global: Statements._nothing,
        ast.Nonlocal: Statements._nothing,
        ast.Import: Statements._import,
        ast.ImportFrom: Statements._import_from,
        ast.If: Statements._if,
        ast.For: Statements._for,
        ast.AsyncFor: Statements._for,
        ast.While: Statements._while,
        ast.With: Statements._with_statement,
        ast.AsyncWith: Statements._with_statement,
        ast.Try: Statements._try,
        ast.Match: Statements._match,
    }
)
if hasattr(ast, "TryStar"):
    Statements._runs[ast.TryStar] = Statements._try
if hasattr(ast, "TypeAlias"):
    Statements._runs[ast.TypeAlias] = Statements._alias
