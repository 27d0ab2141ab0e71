"""Scopes of a script: which names a block, function, class or module knows, and what each is."""

from clew.formats.code.facts.drafts import MOST_VALUES

UNTYPED = (".js", ".jsx", ".mjs", ".cjs")
"""Endings of files of JavaScript, in which no type is written."""
MODULE_SCOPE, FUNCTION_SCOPE, BLOCK_SCOPE, CLASS_SCOPE = 0, 1, 2, 3


class Local:
    """A name in its scope, with its values."""

    __slots__ = ("expression", "is_declared", "is_symbol", "values", "variable")

    def __init__(self, expression: int = 0, *, is_symbol: bool = False) -> None:
        self.expression = expression
        """What it means; 0 as long as that is not known."""
        self.is_symbol = is_symbol
        """A definition or an import, so that using the name is a use of it."""
        self.variable = -1
        """The number of its variable, where it may be given several values or is used before it gets one."""
        self.is_declared = False
        """Its type is written, so that no assignment changes what it is."""
        self.values: dict[int, None] = {}

    def give(self, value: int) -> None:
        if len(self.values) < MOST_VALUES:
            self.values[value] = None


class ScriptScope:
    __slots__ = ("expected", "is_static", "kind", "names", "parent", "returns", "symbol", "this", "types", "yields")

    def __init__(self, kind: int, parent: "ScriptScope | None", symbol: int) -> None:
        self.kind = kind
        self.parent = parent
        self.symbol = symbol
        self.names: dict[str, Local] = {}
        self.types: dict[str, int] = {}
        """Names of types alone: interfaces, type aliases, type parameters."""
        self.this = -1
        """Of a function: the expression of `this`; -1 where the function around it knows it."""
        self.is_static = False
        self.returns: list[int] = []
        self.yields: list[int] = []
        self.expected = 0
        """Of a function: what it should return, as far as something says so."""

    def function(self) -> "ScriptScope":
        """The function or module that the scope is in."""
        scope = self
        while scope.kind == BLOCK_SCOPE and scope.parent is not None:
            scope = scope.parent
        return scope
