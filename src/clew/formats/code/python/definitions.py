"""Functions and classes of Python."""

import ast
import posixpath
from functools import partial
from typing import Any

from clew.formats.code.facts.drafts import Draft
from clew.formats.code.facts.expressions import UNKNOWN, Op
from clew.formats.code.facts.model import CLASS, FUNCTION, METHOD, PROPERTY, VALUES, Form, How, Imported, SiteKind
from clew.formats.code.python.expressions import relative
from clew.formats.code.python.scopes import CLASS_SCOPE, FUNCTION_SCOPE, WIDEST_FLOW, BoundNames, Scope
from clew.formats.code.python.statements import Statements

_LONGEST_ABOUT = 200
_TYPING = frozenset({"typing", "typing_extensions", "abc", "functools", "contextlib", "dataclasses", "enum"})
_FORMS = {
    "staticmethod": Form.STATIC,
    "classmethod": Form.OF_CLASS,
    "property": Form.GETTER,
    "typing.overload": Form.OVERLOADED,
    "typing_extensions.overload": Form.OVERLOADED,
    "abc.abstractmethod": Form.ABSTRACT,
    "abc.abstractproperty": Form.GETTER,
    "abc.abstractclassmethod": Form.OF_CLASS,
    "abc.abstractstaticmethod": Form.STATIC,
    "functools.cached_property": Form.GETTER,
    "enum.property": Form.GETTER,
    "types.DynamicClassAttribute": Form.GETTER,
    "contextlib.contextmanager": Form.CONTEXT,
    "contextlib.asynccontextmanager": Form.CONTEXT,
    "pytest.fixture": Form.FIXTURE,
    "pytest_asyncio.fixture": Form.FIXTURE,
    "dataclasses.dataclass": Form.RECORD,
    "attr.s": Form.RECORD,
    "attr.attrs": Form.RECORD,
    "attr.dataclass": Form.RECORD,
    "attr.define": Form.RECORD,
    "attr.frozen": Form.RECORD,
    "attr.mutable": Form.RECORD,
    "attrs.define": Form.RECORD,
    "attrs.frozen": Form.RECORD,
    "attrs.mutable": Form.RECORD,
}
"""The forms that decorators of well-known modules give to the symbols they decorate."""
_KEEPING = frozenset(
    {
        "typing.final",
        "typing.override",
        "typing.no_type_check",
        "typing.runtime_checkable",
        "typing_extensions.final",
        "typing_extensions.override",
        "typing_extensions.deprecated",
        "typing_extensions.runtime_checkable",
        "warnings.deprecated",
        "functools.wraps",
        "functools.total_ordering",
        "functools.lru_cache",
        "functools.cache",
        "functools.singledispatch",
        "functools.singledispatchmethod",
        "enum.unique",
        "enum.verify",
    }
)
"""Decorators of well-known modules that keep the signature."""
_ENUMERATIONS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "Choices", "TextChoices", "IntegerChoices"})
_RECORDS = frozenset({"NamedTuple", "TypedDict"})
_OF_CLASS = frozenset({"__init_subclass__", "__class_getitem__", "__new__"})


class Definitions(Statements):
    def __init__(self, text: str, path: str) -> None:
        super().__init__(text, path)
        self.classes = {}
        self.fixture_names: list[str] = []
        """Names under which tests get the fixture that is read next, where they are not its own."""

    # Functions

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        scope = self.scope
        form, kept, accessor = self._decorators(node.decorator_list)
        if isinstance(node, ast.AsyncFunctionDef):
            form |= Form.ASYNCHRONOUS
        in_class = scope.kind == CLASS_SCOPE
        kind = FUNCTION if not in_class else PROPERTY if form & Form.GETTER else METHOD
        first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
        end = node.end_lineno or node.lineno
        draft = Draft(node.name, kind, first, end, node.lineno, scope.symbol)
        draft.form = form
        draft.decorators = kept
        draft.about = _about(node.body)
        draft.is_test = (
            node.name.startswith("test")
            and not form & Form.FIXTURE
            and (scope is self.module or (in_class and self.drafts[scope.symbol].is_test))
        )
        number = self._place(draft, scope, accessor)
        while self.fixture_names:
            module = relative(posixpath.basename(self.path).partition(".")[0], self.path, 1)
            late = Imported(node.lineno, module, node.name, self.fixture_names.pop(), self.inside, int(How.LATE))
            self.writer.imports.append(late)
        self._signature(node, draft, in_class)
        if scope.kind == FUNCTION_SCOPE and node.name not in scope.globals:
            self.bind(node.name, self.writer.expression(Op.DEFINITION, number))
        self.later.append(partial(self._body, node, draft, number, scope))
        return False

    def _place(self, draft: Draft, scope: Scope, accessor: bool) -> int:
        """The number of the symbol of a function: a new one, or the one that has this name already."""
        if scope.kind == FUNCTION_SCOPE:
            before = scope.members.get(draft.name)
            number = self._draft(draft) if before is None else self._again(before, draft, accessor)
            scope.members[draft.name] = number
            return number
        before = scope.members.get(draft.name)
        if before is None:
            number = scope.members[draft.name] = self._draft(draft)
        else:
            number = self._again(before, draft, accessor)
        if scope.names.get(draft.name) is None or before is None:
            self._name_of(scope, draft.name, number)
        return number

    def _again(self, number: int, draft: Draft, accessor: bool) -> int:
        """One symbol with several places: the last one is shown, except for the setter of a property."""
        first = self.drafts[number]
        if accessor or first.kind == CLASS:
            first.declared_again(draft.place)
            return number
        first.declared_again(first.place)
        overloads = first.form & Form.OVERLOADED
        first.kind, first.is_test = draft.kind, draft.is_test
        first.line, first.end_line, first.name_line = draft.line, draft.end_line, draft.name_line
        first.about = draft.about or first.about
        first.decorators, first.parameters = draft.decorators, []
        first.form = draft.form | overloads
        return number

    def _decorators(self, given: list[ast.expr]) -> tuple[int, list[int], bool]:
        """The form that decorators give, those that have to be asked about, and whether it is the setter of a
        property."""
        form = 0
        kept = []
        accessor = False
        for node in given:
            if isinstance(node, ast.Attribute) and node.attr in ("setter", "deleter", "getter"):
                self.visit(node.value, SiteKind.DECORATOR)
                accessor = True
                continue
            written = node.func if isinstance(node, ast.Call) else node
            name = self._known_name(written)
            found = self.visit(node, SiteKind.DECORATOR)
            known = _FORMS.get(name)
            if known is not None:
                form |= known
                if known is Form.FIXTURE and isinstance(node, ast.Call):
                    form |= Form.AUTOMATIC if _is_given(node, "autouse") else 0
                    self.fixture_names += _texts_given(node, "name")
            elif name not in _KEEPING:
                kept.append(found)
        return form, kept, accessor

    def _known_name(self, node: ast.expr) -> str:
        """The name of a decorator with that of its module, as far as the imports of this file tell it."""
        if isinstance(node, ast.Name):
            parts = self.writer.parts(self.lookup(node.id))
            if parts[0] == Op.GLOBAL:
                return node.id
            if parts[0] == Op.IMPORT:
                found = self.writer.imports[parts[1]]
                return f"{found.module}.{found.name}" if found.name else found.module
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            parts = self.writer.parts(self.lookup(node.value.id))
            if parts[0] == Op.IMPORT:
                found = self.writer.imports[parts[1]]
                module = found.module if not found.name else f"{found.module}.{found.name}"
                return f"{module}.{node.attr}"
        return ""

    def _signature(self, node: ast.FunctionDef | ast.AsyncFunctionDef, draft: Draft, in_class: bool) -> None:
        arguments = node.args
        draft.type_parameters = self._type_parameters(node)
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
        defaults += arguments.defaults
        receives = in_class and not draft.form & Form.STATIC and bool(positional)
        parameters = []
        for place, (each, default) in enumerate(zip(positional, defaults, strict=True)):
            type = self.annotation(each.annotation) if each.annotation is not None else UNKNOWN
            value = self.visit(default) if default is not None else UNKNOWN
            if not (receives and place == 0):
                parameters.append((each.arg, type, value, 0))
        if arguments.vararg is not None:
            parameters.append((arguments.vararg.arg, self._annotation_of(arguments.vararg), UNKNOWN, 1))
        for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            value = self.visit(default) if default is not None else UNKNOWN
            parameters.append((each.arg, self._annotation_of(each), value, 0))
        if arguments.kwarg is not None:
            parameters.append((arguments.kwarg.arg, self._annotation_of(arguments.kwarg), UNKNOWN, 2))
        returned = self.annotation(node.returns) if node.returns is not None else UNKNOWN
        target = self.drafts[self._number_of(draft)] if draft.name else draft
        target.parameters = parameters
        if draft.form & Form.OVERLOADED or target.form & Form.OVERLOADED:
            target.type = self.writer.union([each for each in (target.type, returned) if each])
        else:
            target.type = returned
        target.type_parameters = draft.type_parameters

    def _number_of(self, draft: Draft) -> int:
        scope = self.scope
        return scope.members[draft.name]

    def _annotation_of(self, argument: ast.arg) -> int:
        return self.annotation(argument.annotation) if argument.annotation is not None else UNKNOWN

    def _type_parameters(self, node: Any) -> tuple[str, ...]:
        """The type parameters that Python 3.12 writes in brackets."""
        found = []
        for each in getattr(node, "type_params", ()):
            found.append(each.name)
            if getattr(each, "bound", None) is not None:
                self.annotation(each.bound)
        return tuple(found)

    def _body(self, node: ast.FunctionDef | ast.AsyncFunctionDef, draft: Draft, number: int, around: Scope) -> None:
        scope = Scope(FUNCTION_SCOPE, around, number)
        bound = BoundNames(node.body)
        scope.names = bound.counts
        scope.globals = bound.globals | bound.nonlocals
        for name in bound.nonlocals:
            scope.closed[name] = 0
        self.scope, self.flow, self.inside = scope, scope.flow, number
        self._receive(node, draft, number, scope, around)
        for name in draft.type_parameters:
            self.flow[name] = self.writer.expression(Op.TYPE_PARAMETER, self.writer.name(name))
        ended = self.run(node.body)
        target = self.drafts[number]
        if scope.yields:
            target.form |= Form.GENERATOR
        self._fill_late(scope)
        if target.kind in VALUES or draft.form & Form.OVERLOADED:
            return
        for value in scope.yields or scope.returns:
            target.give(value)
        if not scope.yields and not ended:
            target.give(UNKNOWN if _is_stub(node.body) else self.writer.expression(Op.NOTHING))

    def _receive(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, draft: Draft, number: int, scope: Scope, around: Scope
    ) -> None:
        """Give the parameters their values."""
        arguments = node.args
        names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        if around.kind == CLASS_SCOPE:
            scope.owner = around.symbol
            if names and not draft.form & Form.STATIC:
                scope.receives_class = bool(draft.form & Form.OF_CLASS) or node.name in _OF_CLASS
                op = Op.SELF_CLASS if scope.receives_class else Op.SELF
                self._parameter(scope, names.pop(0), self.writer.expression(op, around.symbol))
        if arguments.vararg is not None:
            names.append(arguments.vararg.arg)
        names += [each.arg for each in arguments.kwonlyargs]
        if arguments.kwarg is not None:
            names.append(arguments.kwarg.arg)
        takes = draft.is_test or draft.form & Form.FIXTURE
        sites = {each.arg: each for each in (*arguments.args, *arguments.kwonlyargs)} if takes else {}
        for place, name in enumerate(names):
            value = self.writer.expression(Op.PARAMETER, number, place)
            self._parameter(scope, name, value)
            if name in sites:
                fixture = self.writer.expression(Op.FIXTURE, self.writer.name(name), number)
                self.site(name, sites[name], SiteKind.FIXTURE, fixture)

    def _parameter(self, scope: Scope, name: str, value: int) -> None:
        scope.names[name] = scope.names.get(name, 0) + 1
        scope.give(name, value)
        self.flow[name] = value

    def _fill_late(self, scope: Scope) -> None:
        rest = []
        for entry in self.late:
            if entry[0] is scope:
                self.writer.fill(entry[2], scope.declared.get(entry[1], UNKNOWN), scope.values.get(entry[1], {}))
            else:
                rest.append(entry)
        self.late = rest

    # Classes

    def _class(self, node: ast.ClassDef) -> bool:
        around = self.scope
        form, kept, _ = self._decorators(node.decorator_list)
        first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
        draft = Draft(node.name, CLASS, first, node.end_lineno or node.lineno, node.lineno, around.symbol)
        draft.about = _about(node.body)
        draft.decorators = kept
        draft.type_parameters = self._type_parameters(node)
        for base in node.bases:
            draft.bases.append(self._base(base))
        for keyword in node.keywords:
            value = self.visit(keyword.value)
            if keyword.arg == "metaclass":
                draft.metaclass = value
        names = {_last_name(base) for base in node.bases}
        if names & _ENUMERATIONS or any(name.endswith("Enum") for name in names):
            form |= Form.ENUMERATION
        if names & _RECORDS:
            form |= Form.RECORD
        if "Protocol" in names:
            form |= Form.INTERFACE
        draft.form = form
        draft.is_test = "test" in node.name.lower() or any("Test" in name for name in names)
        number = self._place_class(draft, around)
        scope = self.classes.setdefault(number, Scope(CLASS_SCOPE, around, number))
        scope.owner = number
        # A class in a function reads the names around it where it is defined.
        before = self.scope, self.flow, self.inside
        if around.kind == FUNCTION_SCOPE:
            scope.flow = dict(self.flow) if len(self.flow) <= WIDEST_FLOW else {}
            scope.names = {key: value for key, value in scope.flow.items() if isinstance(key, str)}
        self.scope, self.flow, self.inside = scope, scope.flow, number
        self.run(node.body)
        self.scope, self.flow, self.inside = before
        return False

    def _place_class(self, draft: Draft, around: Scope) -> int:
        before = around.members.get(draft.name)
        if before is not None and around.kind != FUNCTION_SCOPE and self.drafts[before].kind == CLASS:
            return self._class_again(before, draft)
        number = self._draft(draft)
        around.members[draft.name] = number
        expression = self.writer.expression(Op.DEFINITION, number)
        if around.kind == FUNCTION_SCOPE:
            self.bind(draft.name, expression)
        elif before is None:
            self._name_of(around, draft.name, number)
        else:
            self.bind(draft.name, expression)
        return number

    def _class_again(self, number: int, draft: Draft) -> int:
        """One class with several places, as in the branches of a condition: the first is shown."""
        first = self.drafts[number]
        first.declared_again(draft.place)
        first.bases += [each for each in draft.bases if each not in first.bases]
        first.decorators += [each for each in draft.decorators if each not in first.decorators]
        first.form |= draft.form
        first.about = first.about or draft.about
        first.is_test = first.is_test or draft.is_test
        return number

    def _base(self, node: ast.expr) -> int:
        if isinstance(node, ast.Name | ast.Attribute):
            return self.visit(node, SiteKind.INHERIT)
        if isinstance(node, ast.Subscript):
            base = self.visit(node.value, SiteKind.INHERIT)
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else (node.slice,)
            parts = [self.annotation(each) for each in inner]
            return self.writer.expression(Op.SUBSCRIPT, base, *parts[:8]) if base else UNKNOWN
        if isinstance(node, ast.Starred):
            self.visit(node.value)
            return UNKNOWN
        return self.visit(node)


def _about(body: list[ast.stmt]) -> str:
    """The first line of a docstring."""
    if body and isinstance(first := body[0], ast.Expr) and isinstance(text := first.value, ast.Constant):
        value = text.value
        if isinstance(value, str):
            return value.lstrip().partition("\n")[0].strip()[:_LONGEST_ABOUT]
    return ""


def _is_given(node: ast.Call, name: str) -> bool:
    """True if a call passes `True` for a keyword."""
    return any(
        each.arg == name and isinstance(each.value, ast.Constant) and each.value.value is True for each in node.keywords
    )


def _texts_given(node: ast.Call, name: str) -> list[str]:
    """The text that a call gives under a name, if it does."""
    given = [each.value for each in node.keywords if each.arg == name]
    return [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)]


def _is_stub(body: list[ast.stmt]) -> bool:
    """True if a body has only `pass`, `...` or a docstring."""
    return all(
        isinstance(each, ast.Pass) or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        for each in body
    )


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


Statements._runs.update(
    {
        ast.FunctionDef: Definitions._function,
        ast.AsyncFunctionDef: Definitions._function,
        ast.ClassDef: Definitions._class,
    }
)
