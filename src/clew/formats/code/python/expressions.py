"""Expressions of Python as expressions of facts, with a site for each name that may mean something outside a
function."""

import ast
import builtins
import re
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from clew.formats.code.facts.drafts import Draft
from clew.formats.code.facts.expressions import EXCLUDED, TOLD, UNKNOWN, Op
from clew.formats.code.facts.model import CLASS, How, Imported, SiteKind
from clew.formats.code.facts.writing import FactsWriter
from clew.formats.code.python.entry_points import ENTRY
from clew.formats.code.python.scopes import CLASS_SCOPE, FUNCTION_SCOPE, MODULE_SCOPE, WIDEST_FLOW, Flow, Scope

BUILT_IN = frozenset(dir(builtins))
_DOTTED = re.compile(
    r"[A-Za-z_]\w{0,99}(?:\.[A-Za-z_]\w{0,99})+(?::[A-Za-z_]\w{0,99}(?:\.[A-Za-z_]\w{0,99})*)?|"
    r"[A-Za-z_]\w{0,99}:[A-Za-z_]\w{0,99}"
)
_LONGEST_DOTTED = 200
_TELLING = re.compile(r"_{0,2}(?:is|has)_?[A-Za-z]")
"""Names of functions that may tell types apart."""
_REPLACING = frozenset({"patch", "setattr", "delattr"})
_REPLACING_MEMBER = frozenset({"object", "setattr", "delattr", "spy", "stub_method", "multiple"})
_MEMBER_BY_NAME = frozenset({"getattr", "setattr", "hasattr", "delattr"})
_IMPORTING = frozenset({"import_module", "__import__"})
_FIXTURES = frozenset({"usefixtures", "getfixturevalue"})
"""Calls that name fixtures of tests."""
_BINARY = {
    ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Div: "__truediv__", ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__", ast.Pow: "__pow__", ast.BitOr: "__or__", ast.BitAnd: "__and__", ast.BitXor: "__xor__",
    ast.LShift: "__lshift__", ast.RShift: "__rshift__", ast.MatMult: "__matmul__",
}  # fmt: skip
_ORDERING = frozenset({"sorted", "min", "max", "groupby", "nlargest", "nsmallest"})
"""Calls whose key is a function of what their argument holds."""
_SELECTING = frozenset({"map", "filter", "filterfalse", "takewhile", "dropwhile"})
"""Calls of a function with what their second argument holds."""
READ, CALL, WRITE, ANNOTATION = SiteKind.READ, SiteKind.CALL, SiteKind.WRITE, SiteKind.ANNOTATION


class Expressions:
    """Reads expressions in the order in which they are evaluated. What names are known to be at a point is in the flow
    of the current scope."""

    _visits: ClassVar[dict[type, Callable[[Any, Any, SiteKind], int]]] = {}

    def __init__(self, text: str, path: str) -> None:
        self.path = path
        self.rows = text.split("\n")
        self.is_ascii = text.isascii()
        self.writer = FactsWriter()
        self.drafts: list[Draft] = []
        self.module = Scope(MODULE_SCOPE, None, -1)
        self.scope = self.module
        self.flow: Flow = self.module.flow
        self.inside = -1
        self.named: set[tuple[str, int]] = set()
        """Names with expressions that they were given by a definition or an import, so that using them is a use of
        it."""
        self.is_for_types = False
        self.lambda_takes = UNKNOWN
        """The argument of the function without a name that is read next."""
        self.has_star = False

    # Names

    def visit(self, node: ast.expr, kind: SiteKind = READ) -> int:
        """The expression of a value; notes the sites in it. `kind` is what is done with the value."""
        return self._visits[type(node)](self, node, kind)

    def lookup(self, name: str) -> int:
        """The expression of a name at this point."""
        scope = self.scope
        if scope.kind == FUNCTION_SCOPE:
            found = self.flow.get(name)
            if found is not None:
                return found
            if name in scope.names and name not in scope.globals:
                return self._seen(scope, name)
        elif scope.kind == CLASS_SCOPE:
            found = scope.names.get(name)
            if found is not None:
                return found
        outer = scope.parent
        while outer is not None:
            if outer.kind == FUNCTION_SCOPE and name in outer.names and name not in outer.globals:
                return self._seen(outer, name)
            outer = outer.parent
        found = self.module.names.get(name)
        return found if found is not None else self.writer.expression(Op.GLOBAL, self.writer.name(name))

    def _seen(self, scope: Scope, name: str) -> int:
        """A name of a function apart from any point in it: all that it is ever given."""
        found = scope.closed.get(name)
        if found is None:
            values = scope.values.get(name, {})
            if len(values) == 1 and name not in scope.declared and self.scope is not scope:
                found = next(iter(values))
            else:
                variable = self.writer.variable(scope.declared.get(name, UNKNOWN), values)
                found = self.writer.expression(Op.VARIABLE, variable)
                if self.scope is scope:
                    self.late.append((scope, name, variable))
            scope.closed[name] = found
        return found

    late: list[tuple[Scope, str, int]]
    """Variables that are used before all their values were read."""

    def site(self, name: str, node: Any, kind: SiteKind, expression: int) -> None:
        self.writer.site(name, node.lineno, self._column(node.lineno, node.col_offset), kind, expression, self.inside)

    def _column(self, line: int, offset: int) -> int:
        if self.is_ascii or line > len(self.rows):
            return offset
        row = self.rows[line - 1]
        return offset if row.isascii() else len(row.encode()[:offset].decode("utf-8", "ignore"))

    def _name(self, node: ast.Name, kind: SiteKind) -> int:
        name = node.id
        found = self.lookup(name)
        if (name, found) in self.named or (
            self.writer.operation(found) == Op.GLOBAL and (self.has_star or name not in BUILT_IN)
        ):
            self.site(name, node, kind, found)
        return found if kind == ANNOTATION else self.flow.get(found, found)

    def _attribute(self, node: ast.Attribute, kind: SiteKind) -> int:
        value = self.visit(node.value)
        member = self.writer.member(value, node.attr)
        self.member_site(node, kind, member)
        return self.flow.get(member, member) if member else UNKNOWN

    def member_site(self, node: ast.Attribute, kind: SiteKind, member: int) -> None:
        line = node.end_lineno or node.lineno
        column = self._column(line, (node.end_col_offset or 0)) - len(node.attr)
        self.writer.site(node.attr, line, max(column, 0), kind, member, self.inside)

    def quiet(self, node: ast.expr) -> str | int | None:
        """The key of a name or of members of it in the flow; None for anything else."""
        if isinstance(node, ast.Name):
            return node.id if node.id in self.flow else self.lookup(node.id)
        if isinstance(node, ast.Attribute):
            key = self.quiet(node.value)
            if key is None:
                return None
            value = self.flow.get(key, key)
            return self.writer.member(value, node.attr) if isinstance(value, int) and value else None
        return None

    # Tests, which narrow what names are

    def test(self, node: ast.expr) -> tuple[Flow, Flow]:
        """Read a condition; what is known where it holds, and where it does not."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yes, no = self.test(node.operand)
            return no, yes
        if isinstance(node, ast.BoolOp):
            return self._all_or_any(node)[1]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2 and not node.keywords:
            if node.func.id == "isinstance":
                return self._narrowed(node.args[0], self.visit(node.args[0]), self.visit(node.args[1]))
        elif isinstance(node, ast.Call) and len(node.args) == 1 and _TELLING.match(_last_name(node.func)):
            return self._told(node), {}
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Is | ast.Eq):
            left = node.left
            if (
                isinstance(left, ast.Call)
                and isinstance(left.func, ast.Name)
                and left.func.id == "type"
                and len(left.args) == 1
            ):
                value, type_ = self.visit(left.args[0]), self.visit(node.comparators[0])
                # A value of a class below it is of another type.
                return self._narrowed(left.args[0], value, type_)[0], {}
        self.visit(node)
        return {}, {}

    def _told(self, node: ast.Call) -> Flow:
        """What a function that tells types apart says about its argument."""
        told = self.visit(node)
        key = self.quiet(node.args[0]) if told else None
        if key is None:
            return {}
        value = self.flow.get(key, key)
        known = isinstance(value, int) and value
        return {key: self.writer.expression(Op.NARROWED, int(value), told, TOLD)} if known else {}

    def _narrowed(self, node: ast.expr, value: int, type_: int) -> tuple[Flow, Flow]:
        if isinstance(node, ast.NamedExpr):
            node = node.target
        key = self.quiet(node)
        if key is None:
            return {}, {}
        without = self.writer.expression(Op.NARROWED, value, type_, EXCLUDED) if value and type_ else value
        return {key: self.writer.expression(Op.NARROWED, value, type_)}, {key: without}

    def _all_or_any(self, node: ast.BoolOp) -> tuple[int, tuple[Flow, Flow]]:
        is_and = isinstance(node.op, ast.And)
        before = self.flow
        yes: Flow = {}
        no: Flow = {}
        values = []
        for operand in node.values:
            if isinstance(operand, ast.Name | ast.Attribute | ast.Constant):
                values.append(self.visit(operand))
                continue
            if isinstance(operand, ast.BoolOp | ast.UnaryOp | ast.Compare) or self._is_instance_test(operand):
                its_yes, its_no = self.test(operand)
                values.append(self.writer.expression(Op.LITERAL, self.writer.name("bool")))
                known = its_yes if is_and else its_no
                if known:
                    (yes if is_and else no).update(known)
                    self.flow = self._with(known)
            else:
                values.append(self.visit(operand))
        if self.flow is not before:
            self.flow = self._restored(before)
        return self.writer.union(values), (yes, no)

    @staticmethod
    def _is_instance_test(node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"

    def _with(self, known: Flow) -> Flow:
        if not known or len(self.flow) > WIDEST_FLOW:
            return self.flow
        return {**self.flow, **known}

    def _restored(self, before: Flow) -> Flow:
        """The flow as it was, with the names that were bound meanwhile."""
        for key, value in self.flow.items():
            if key not in before:
                before[key] = value
        return before

    # Other expressions

    def _constant(self, node: ast.Constant, kind: SiteKind) -> int:
        value = node.value
        if value is None:
            return self.writer.expression(Op.NOTHING)
        if isinstance(value, str):
            if 2 < len(value) <= _LONGEST_DOTTED and ("." in value or ":" in value) and _DOTTED.fullmatch(value):
                self._dotted(node, value, SiteKind.STRING)
            elif 2 < len(value) <= _LONGEST_DOTTED and "=" in value and ":" in value:
                # An entry point: `ring = pack.bells:main`.
                entry = ENTRY.search(value, value.index("="))
                if entry is not None:
                    self._dotted(node, entry[0], SiteKind.STRING)
            return self.literal("str")
        return self.literal(type(value).__name__) if value is not ... else UNKNOWN

    def literal(self, name: str) -> int:
        return self.writer.expression(Op.LITERAL, self.writer.name(name))

    def _dotted(self, node: ast.Constant, value: str, kind: SiteKind) -> int:
        dotted = value.replace(":", ".")
        found = self.writer.expression(Op.DOTTED, self.writer.name(dotted))
        self.site(dotted.rpartition(".")[2], node, kind, found)
        return found

    def _call(self, node: ast.Call, kind: SiteKind) -> int:
        func = node.func
        if isinstance(func, ast.Name):
            name = func.id
            if name == "super" and (found := self._super(node)):
                return found
        else:
            name = func.attr if isinstance(func, ast.Attribute) else ""
        callee = self.visit(func, kind if kind == SiteKind.DECORATOR else CALL)
        given = node.args
        if given and isinstance(first := given[0], ast.Constant) and isinstance(first.value, str):
            special = self._with_text(node, name, first, callee)
            if special is not None:
                return special
        arguments = self._arguments(node, name)
        if name == "getattr" and len(given) > 1 and self.writer.operation(arguments[1]) == Op.MEMBER:
            return arguments[1]
        if node.keywords:
            self._keywords(node, name, callee, self._items(name, callee, arguments))
        return self.writer.expression(Op.CALL, callee, *arguments[:4]) if callee else UNKNOWN

    def _arguments(self, node: ast.Call, name: str) -> list[int]:
        """Read the arguments by position. A text that names a member of the first one is the member."""
        given = node.args
        if name in _SELECTING and len(given) == 2 and isinstance(given[0], ast.Lambda):
            items = self.visit(given[1])
            self.lambda_takes = self.element(items)
            return [self.visit(given[0]), items]
        found: list[int] = []
        for number, argument in enumerate(given):
            if (
                number == 1
                and isinstance(argument, ast.Constant)
                and isinstance(argument.value, str)
                and (name in _MEMBER_BY_NAME or name in _REPLACING_MEMBER)
                and argument.value.isidentifier()
            ):
                member = self.writer.member(found[0], argument.value)
                replaces = name in _REPLACING_MEMBER and isinstance(node.func, ast.Attribute)
                self.site(argument.value, argument, SiteKind.PATCH if replaces else SiteKind.STRING, member)
                found.append(member if name == "getattr" else self.literal("str"))
            else:
                found.append(self.visit(argument))
        return found

    def _items(self, name: str, callee: int, arguments: list[int]) -> int:
        """The values about which a call asks its key."""
        if name in _ORDERING:
            return self.element(arguments[0]) if len(arguments) == 1 else self.writer.union(arguments)
        is_method = name == "sort" and self.writer.operation(callee) == Op.MEMBER
        return self.element(self.writer.parts(callee)[1]) if is_method else UNKNOWN

    def _keywords(self, node: ast.Call, name: str, callee: int, items: int) -> None:
        """Read keyword arguments. `items` are what a key is asked about."""
        makes = name[:1].isupper() or (name[:1] == "_" and name[1:2].isupper()) or self._is_class(callee)
        # What a function gathers by names may be declared as the fields of a class.
        of = self.writer.instance(callee) if makes else callee
        for keyword in node.keywords:
            if keyword.arg is not None and callee:
                field = self.writer.member(of, keyword.arg)
                self.site(keyword.arg, keyword, SiteKind.ARGUMENT, field)
            self.lambda_takes = items if keyword.arg == "key" and isinstance(keyword.value, ast.Lambda) else UNKNOWN
            self.visit(keyword.value)

    def _is_class(self, callee: int) -> bool:
        parts = self.writer.parts(callee)
        return parts[0] == Op.SELF_CLASS or (parts[0] == Op.DEFINITION and self.drafts[parts[1]].kind == CLASS)

    def _with_text(self, node: ast.Call, name: str, first: ast.Constant, callee: int) -> int | None:
        """A call whose first argument is a literal text that names something; None for all others."""
        value = str(first.value)
        if name in _REPLACING and _DOTTED.fullmatch(value):
            self._dotted(first, value, SiteKind.PATCH)
        elif name in _IMPORTING and value.strip("."):
            number = self.imported(node.lineno, self._module_of(value, node), "", "", How.CALLED)
            self._rest(node)
            return number
        elif name in ("multiple", "dict") and self._is_patching(node.func) and _DOTTED.fullmatch(value):
            self._replaced_together(node, first, name)
        elif name == "cast" and len(node.args) == 2:
            type_ = self._written(first, SiteKind.STRING)
            self.visit(node.args[1])
            return self.writer.instance(type_)
        elif name == "TypeVar":
            return self._type_variable(node, callee)
        elif name in _FIXTURES:
            return self._fixtures_named(node)
        else:
            return None
        self._rest(node)
        return self.writer.expression(Op.CALL, callee) if callee else UNKNOWN

    def _module_of(self, value: str, node: ast.Call) -> str:
        """The module of a call that imports; one with dots in front is told from the package that is named behind."""
        name = value.lstrip(".")
        if name == value:
            return value
        package = node.args[1] if len(node.args) > 1 else None
        level = len(value) - len(name)
        if isinstance(package, ast.Constant) and isinstance(package.value, str):
            parts = package.value.split(".")
            return ".".join([*parts[: len(parts) - level + 1], name])
        return relative(name, self.path, level)

    @staticmethod
    def _is_patching(func: ast.expr) -> bool:
        of = func.value if isinstance(func, ast.Attribute) else None
        return (of.id if isinstance(of, ast.Name) else getattr(of, "attr", "")) == "patch"

    def _replaced_together(self, node: ast.Call, first: ast.Constant, name: str) -> None:
        """`patch.dict` of a dictionary, or `patch.multiple` with the names in a module as keywords."""
        if name == "dict":
            self._dotted(first, str(first.value), SiteKind.PATCH)
            return
        for keyword in node.keywords:
            if keyword.arg is not None:
                found = self.writer.expression(Op.DOTTED, self.writer.name(f"{first.value!s}.{keyword.arg}"))
                self.site(keyword.arg, keyword, SiteKind.PATCH, found)

    def _fixtures_named(self, node: ast.Call) -> int:
        """A call with the names of fixtures; what the first of them gives."""
        found = []
        for each in node.args:
            if isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value.isidentifier():
                found.append(self.writer.expression(Op.FIXTURE, self.writer.name(each.value), -1))
                self.site(each.value, each, SiteKind.FIXTURE, found[-1])
            else:
                self.visit(each)
        return found[0] if found else UNKNOWN

    def _type_variable(self, node: ast.Call, callee: int) -> int:
        """A type variable with its bound, or the types that it may be, as arguments."""
        types = [self.annotation(each) for each in node.args[1:]]
        types += [self.annotation(each.value) for each in node.keywords if each.arg == "bound"]
        bound = self.writer.union(types)
        return self.writer.expression(Op.CALL, callee, self.literal("str"), bound) if callee else UNKNOWN

    def _rest(self, node: ast.Call) -> None:
        for argument in node.args[1:]:
            self.visit(argument)
        for keyword in node.keywords:
            self.visit(keyword.value)

    def imported(self, line: int, module: str, name: str, alias: str, flags: int = 0) -> int:
        """Note an import; returns the expression of the imported name."""
        if self.is_for_types:
            flags |= How.TYPES
        self.writer.imports.append(Imported(line, module, name, alias, self.inside, int(flags)))
        return self.writer.expression(Op.IMPORT, len(self.writer.imports) - 1)

    def _super(self, node: ast.Call) -> int:
        scope: Scope | None = self.scope
        while scope is not None and scope.kind == FUNCTION_SCOPE and scope.owner < 0:
            scope = scope.parent
        if scope is None or scope.owner < 0 or (node.args and not isinstance(node.args[0], ast.Name)):
            return UNKNOWN
        for argument in node.args:
            self.visit(argument)
        if node.args and isinstance(node.args[0], ast.Name) and node.args[0].id != self.drafts[scope.owner].name:
            return UNKNOWN
        return self.writer.expression(Op.SUPER, scope.owner, int(scope.receives_class))

    def _subscript(self, node: ast.Subscript, kind: SiteKind) -> int:
        value = self.visit(node.value)
        index = node.slice
        arguments = []
        for each in index.elts if isinstance(index, ast.Tuple) else (index,):
            if isinstance(each, ast.Constant) and type(each.value) is int:
                arguments.append(self.writer.expression(Op.NUMBER, each.value))
            elif (
                isinstance(each, ast.UnaryOp)
                and isinstance(each.op, ast.USub)
                and isinstance(each.operand, ast.Constant)
                and type(each.operand.value) is int
            ):
                arguments.append(self.writer.expression(Op.NUMBER, -each.operand.value))
            else:
                arguments.append(self.visit(each))
        return self.writer.expression(Op.SUBSCRIPT, value, *arguments[:6]) if value else UNKNOWN

    def _slice(self, node: ast.Slice, kind: SiteKind) -> int:
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self.visit(part)
        return self.literal("slice")

    def _binary(self, node: ast.BinOp, kind: SiteKind) -> int:
        # A long sum is a deep tree: its left side is gone through without recursion.
        chain = [node]
        while isinstance(chain[-1].left, ast.BinOp):
            chain.append(chain[-1].left)
        found = self.visit(chain[-1].left)
        for each in reversed(chain):
            right = self.visit(each.right)
            name = self.writer.name(_BINARY[type(each.op)])
            found = self.writer.expression(Op.OPERATION, found, name, right) if found else UNKNOWN
        return found

    def _boolean(self, node: ast.BoolOp, kind: SiteKind) -> int:
        return self._all_or_any(node)[0]

    def _compare(self, node: ast.Compare, kind: SiteKind) -> int:
        self.visit(node.left)
        for each in node.comparators:
            self.visit(each)
        return self.literal("bool")

    def _unary(self, node: ast.UnaryOp, kind: SiteKind) -> int:
        found = self.visit(node.operand)
        return self.literal("bool") if isinstance(node.op, ast.Not) else found

    def _either(self, node: ast.IfExp, kind: SiteKind) -> int:
        yes, no = self.test(node.test)
        before = self.flow
        self.flow = self._with(yes)
        first = self.visit(node.body, kind if kind == CALL else READ)
        self.flow = self._restored(before) if self.flow is not before else before
        if no:
            self.flow = self._with(no)
        second = self.visit(node.orelse, kind if kind == CALL else READ)
        self.flow = self._restored(before) if self.flow is not before else before
        return self.writer.union((first, second))

    def _await(self, node: ast.Await, kind: SiteKind) -> int:
        value = self.visit(node.value)
        return self.writer.expression(Op.AWAITED, value) if value else UNKNOWN

    def _yield(self, node: ast.Yield, kind: SiteKind) -> int:
        self.scope.yields.append(self.visit(node.value) if node.value is not None else UNKNOWN)
        return UNKNOWN

    def _yield_from(self, node: ast.YieldFrom, kind: SiteKind) -> int:
        value = self.visit(node.value)
        self.scope.yields.append(self.element(value))
        return UNKNOWN

    def element(self, value: int) -> int:
        return self.writer.expression(Op.ELEMENT, value) if value else UNKNOWN

    def _collected(self, name: str, parts: Iterable[int]) -> int:
        return self.writer.expression(Op.COLLECTION, self.writer.name(name), *parts)

    def _tuple(self, node: ast.Tuple, kind: SiteKind) -> int:
        parts = [self.visit(each) for each in node.elts]
        if len(parts) > 8 or any(isinstance(each, ast.Starred) for each in node.elts):
            return self._collected("list", (self.writer.union(parts),))
        return self._collected("tuple", parts)

    def _list(self, node: ast.List | ast.Set, kind: SiteKind) -> int:
        name = "list" if isinstance(node, ast.List) else "set"
        parts = [
            self.element(self.visit(each.value)) if isinstance(each, ast.Starred) else self.visit(each)
            for each in node.elts
        ]
        return self._collected(name, (self.writer.union(parts),))

    def _dict(self, node: ast.Dict, kind: SiteKind) -> int:
        keys = []
        values = []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                keys.append(self.visit(key))
                values.append(self.visit(value))
            else:
                self.visit(value)
        return self._collected("dict", (self.writer.union(keys), self.writer.union(values)))

    def _starred(self, node: ast.Starred, kind: SiteKind) -> int:
        return self.element(self.visit(node.value))

    def _text(self, node: ast.JoinedStr, kind: SiteKind) -> int:
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                self.visit(each.value)
                if each.format_spec is not None:
                    self.visit(each.format_spec)
        return self.literal("str")

    def _formatted(self, node: ast.FormattedValue, kind: SiteKind) -> int:
        self.visit(node.value)
        return self.literal("str")

    def _walrus(self, node: ast.NamedExpr, kind: SiteKind) -> int:
        value = self.visit(node.value)
        self.assign_name(node.target, value)
        return value

    def assign_name(self, node: ast.Name, value: int) -> None:
        """Bind a name in the current scope; statements say how."""
        raise NotImplementedError

    def assign(self, target: ast.expr, value: int) -> None:
        """Bind what stands on the left side; statements say how."""
        raise NotImplementedError

    def _lambda(self, node: ast.Lambda, kind: SiteKind) -> int:
        arguments = node.args
        takes, self.lambda_takes = self.lambda_takes, UNKNOWN
        for default in (*arguments.defaults, *(each for each in arguments.kw_defaults if each is not None)):
            self.visit(default)
        names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        names += [each.arg for each in (arguments.vararg, arguments.kwarg) if each is not None]
        before = self._hide(names)
        if takes and names:
            self.flow[names[0]] = takes
        found = self.visit(node.body)
        self._show(before)
        return self.writer.expression(Op.FUNCTION, found)

    def _hide(self, names: Iterable[str]) -> tuple[Flow, Scope]:
        """Begin a scope of its own for names of which nothing is known; returns what `_show` puts back."""
        before = self.flow, self.scope
        if self.scope.kind == FUNCTION_SCOPE:
            self.flow = {**self.flow, **dict.fromkeys(names, UNKNOWN)}
        else:
            inner = Scope(FUNCTION_SCOPE, self.scope, self.scope.symbol)
            self.scope = inner
            inner.names = dict.fromkeys(names, 1)
            self.flow = {**self.flow, **dict.fromkeys(names, UNKNOWN)}
        return before

    def _show(self, before: tuple[Flow, Scope]) -> None:
        self.flow, self.scope = before

    def _comprehension(self, node: Any, kind: SiteKind) -> int:
        first = self.visit(node.generators[0].iter)
        before = self._hide(())
        for number, each in enumerate(node.generators):
            source = first if number == 0 else self.visit(each.iter)
            self._bind_in_comprehension(each.target, self.element(source))
            for condition in each.ifs:
                yes, _ = self.test(condition)
                self.flow.update(yes)
        if isinstance(node, ast.DictComp):
            found = self._collected("dict", (self.visit(node.key), self.visit(node.value)))
        else:
            name = {ast.ListComp: "list", ast.SetComp: "set"}.get(type(node), "Generator")
            found = self._collected(name, (self.visit(node.elt),))
        self._show(before)
        return found

    def _bind_in_comprehension(self, target: ast.expr, value: int) -> None:
        if isinstance(target, ast.Name):
            self.flow[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            for place, part in enumerate(target.elts):
                self._bind_in_comprehension(part, self.unpacked(value, place, part))
        elif isinstance(target, ast.Starred):
            self._bind_in_comprehension(target.value, value)
        else:
            self.assign(target, value)

    def unpacked(self, value: int, place: int, part: ast.expr) -> int:
        if isinstance(part, ast.Starred):
            place = -1
        return self.writer.expression(Op.UNPACKED, value, place) if value else UNKNOWN

    # Annotations

    def annotation(self, node: ast.expr) -> int:
        """The expression of a type that is written down, with its sites."""
        if isinstance(node, ast.Name | ast.Attribute):
            return self.visit(node, ANNOTATION)
        if isinstance(node, ast.Constant):
            if node.value is None:
                return self.writer.expression(Op.NOTHING)
            return self._written(node) if isinstance(node.value, str) else UNKNOWN
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.BitOr):
                return self.writer.union((self.annotation(node.left), self.annotation(node.right)))
            return self.visit(node)
        if isinstance(node, ast.Subscript):
            return self._generic(node)
        if isinstance(node, ast.List | ast.Tuple):
            return self._collected("tuple", [self.annotation(each) for each in node.elts][:8])
        if isinstance(node, ast.Starred):
            return self.annotation(node.value)
        return self.visit(node)

    def _generic(self, node: ast.Subscript) -> int:
        base = self.annotation(node.value)
        written = node.value
        name = written.id if isinstance(written, ast.Name) else getattr(written, "attr", "")
        if name == "Literal":
            first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
            return self.literal(type(first.value).__name__) if isinstance(first, ast.Constant) else UNKNOWN
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else (node.slice,)
        if name == "Annotated" and inner:
            found = self.annotation(inner[0])
            for each in inner[1:]:
                self.visit(each)
            return found
        parts = [
            self.literal("ellipsis") if isinstance(each, ast.Constant) and each.value is ... else self.annotation(each)
            for each in inner
        ]
        return self.writer.expression(Op.SUBSCRIPT, base, *parts[:8]) if base else UNKNOWN

    def _written(self, node: ast.Constant, kind: SiteKind = ANNOTATION) -> int:
        """A type that is written as a text; `kind` is what a name alone in it is."""
        text = str(node.value)
        if len(text) > 2_000:
            return UNKNOWN
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return UNKNOWN
        for inner in ast.walk(tree.body):
            if isinstance(inner, ast.expr):
                inner.lineno = inner.end_lineno = node.lineno
                inner.col_offset += node.col_offset + 1
                inner.end_col_offset = (inner.end_col_offset or 0) + node.col_offset + 1
        if kind != ANNOTATION and isinstance(tree.body, ast.Name | ast.Attribute):
            return self.visit(tree.body, kind)
        return self.annotation(tree.body)


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def relative(module: str, path: str, level: int) -> str:
    """A relative import as a path from the root of the project, with a slash in front."""
    parts = path.split("/")[:-1]
    folder = parts[: max(len(parts) - level + 1, 0)]
    return "/" + "/".join([*folder, *(module.split(".") if module else ())])


Expressions._visits.update(
    {
        ast.Name: Expressions._name,
        ast.Attribute: Expressions._attribute,
        ast.Call: Expressions._call,
        ast.Constant: Expressions._constant,
        ast.Subscript: Expressions._subscript,
        ast.Slice: Expressions._slice,
        ast.BinOp: Expressions._binary,
        ast.BoolOp: Expressions._boolean,
        ast.Compare: Expressions._compare,
        ast.UnaryOp: Expressions._unary,
        ast.IfExp: Expressions._either,
        ast.Await: Expressions._await,
        ast.Yield: Expressions._yield,
        ast.YieldFrom: Expressions._yield_from,
        ast.Tuple: Expressions._tuple,
        ast.List: Expressions._list,
        ast.Set: Expressions._list,
        ast.Dict: Expressions._dict,
        ast.Starred: Expressions._starred,
        ast.JoinedStr: Expressions._text,
        ast.FormattedValue: Expressions._formatted,
        ast.NamedExpr: Expressions._walrus,
        ast.Lambda: Expressions._lambda,
        ast.ListComp: Expressions._comprehension,
        ast.SetComp: Expressions._comprehension,
        ast.DictComp: Expressions._comprehension,
        ast.GeneratorExp: Expressions._comprehension,
    }
)
