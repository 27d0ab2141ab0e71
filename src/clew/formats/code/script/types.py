"""Types of scripts as they are written."""

from collections.abc import Callable
from typing import Any, ClassVar

from clew.formats.code.facts.expressions import MOST_FIELDS, UNKNOWN, Op
from clew.formats.code.facts.model import SiteKind
from clew.formats.code.script.scopes import Local, ScriptScope
from clew.formats.code.trees.reading import TreeReader

ANNOTATION = SiteKind.ANNOTATION
_PREDEFINED = {
    "string": "String",
    "number": "Number",
    "boolean": "Boolean",
    "bigint": "Number",
    "symbol": "Symbol",
    "object": "Object",
}
_MOST_ARGUMENTS = 8


class Types(TreeReader):
    """Reads types, with a site for each name in them."""

    _types: ClassVar[dict[str, Callable[[Any, Any], int]]] = {}
    scope: ScriptScope

    def visit(self, node: Any, kind: SiteKind = SiteKind.READ, expected: int = UNKNOWN) -> int:
        raise NotImplementedError

    def lookup(self, name: str) -> Local | None:
        raise NotImplementedError

    def meaning(self, local: Local) -> int:
        raise NotImplementedError

    def type(self, node: Any) -> int:
        """The expression of a type."""
        read = self._types.get(node.type)
        if read is not None:
            return read(self, node)
        for child in node.named_children:
            self.type(child)
        return UNKNOWN

    def annotated(self, node: Any, field: str = "type") -> int:
        """The type that an annotation of a node writes; 0 for none."""
        written = node.child_by_field_name(field)
        return self.type(written) if written is not None else UNKNOWN

    def type_name(self, name: str) -> tuple[int, bool]:
        """The expression of a name where a type is written, and whether it is a definition or an import."""
        scope: ScriptScope | None = self.scope
        while scope is not None:
            found = scope.types.get(name)
            if found is not None:
                return found, self.writer.operation(found) in (Op.DEFINITION, Op.IMPORT)
            local = scope.names.get(name)
            if local is not None and local.is_symbol:
                return local.expression, True
            scope = scope.parent
        return self.built_in(name), False

    def _named(self, node: Any, kind: SiteKind = ANNOTATION) -> int:
        name = self.text(node)
        found, is_symbol = self.type_name(name)
        if is_symbol:
            self.site(name, node, kind, found)
        return found

    def _nested(self, node: Any, kind: SiteKind = ANNOTATION) -> int:
        module, name = node.child_by_field_name("module"), node.child_by_field_name("name")
        if module is None or name is None:
            return UNKNOWN
        of = self._nested(module) if module.type == "nested_identifier" else self._module_name(module)
        member = self.writer.member(of, self.text(name))
        self.site(self.text(name), name, kind, member)
        return member

    def _module_name(self, node: Any) -> int:
        if node.type == "nested_identifier":
            of, name = node.child_by_field_name("object"), node.child_by_field_name("property")
            member = self.writer.member(self._module_name(of), self.text(name))
            self.site(self.text(name), name, ANNOTATION, member)
            return member
        return self._named(node)

    def base(self, node: Any, kind: SiteKind) -> int:
        """A type in a list of those above, as a class value with its arguments."""
        if node.type == "generic_type":
            name = node.child_by_field_name("name")
            base = self.base(name, kind)
            return self.with_arguments(base, node.child_by_field_name("type_arguments"))
        if node.type == "type_identifier":
            return self._named(node, kind)
        if node.type == "nested_type_identifier":
            return self._nested(node, kind)
        return self.type(node)

    def with_arguments(self, of: int, node: Any) -> int:
        """A generic type or function with the types in brackets behind it."""
        if node is None:
            return of
        given = [self.type(each) for each in node.named_children if each.type != "comment"]
        return self.writer.expression(Op.SUBSCRIPT, of, *given[:_MOST_ARGUMENTS]) if of and given else of

    def _generic(self, node: Any) -> int:
        name, written = node.child_by_field_name("name"), node.child_by_field_name("type_arguments")
        said = self.text(name)
        inner = [each for each in written.named_children if each.type != "comment"] if written is not None else []
        if said in ("ReturnType", "InstanceType") and len(inner) == 1:
            value = self._value_of_type(inner[0])
            return self._type_of(self.writer.expression(Op.CALL, value)) if value else UNKNOWN
        if said == "Awaited" and inner:
            value = self.writer.instance(self.type(inner[0]))
            return self._type_of(self.writer.expression(Op.AWAITED, value)) if value else UNKNOWN
        if said == "Parameters" and inner:
            value = self._value_of_type(inner[0])
            taken = [self.writer.expression(Op.ARGUMENT, value, place) for place in range(3)] if value else []
            return self._collected("Tuple", [self._type_of(each) for each in taken])
        return self.with_arguments(self.type(name), written)

    def _value_of_type(self, node: Any) -> int:
        """A value of a type; of `typeof x`, `x` itself."""
        found = self.type(node)
        parts = self.writer.parts(found)
        return parts[1] if parts[0] == Op.TYPEOF else self.writer.instance(found)

    def _type_of(self, value: int) -> int:
        return self.writer.expression(Op.TYPEOF, value) if value else UNKNOWN

    def _collected(self, name: str, parts: list[int]) -> int:
        return self.writer.expression(Op.COLLECTION, self.writer.name(name), *parts[:_MOST_ARGUMENTS])

    def _predefined(self, node: Any) -> int:
        name = self.text(node)
        known = _PREDEFINED.get(name)
        if known is not None:
            return self.literal(known)
        return self.writer.expression(Op.NOTHING) if name in ("void", "never") else self.writer.anything()

    def _literal_type(self, node: Any) -> int:
        inner = node.named_children[0] if node.named_children else None
        kind = inner.type if inner is not None else ""
        if kind in ("string", "template_string"):
            return self.literal("String")
        if kind in ("number", "unary_expression"):
            return self.literal("Number")
        if kind in ("null", "undefined"):
            return self.writer.expression(Op.NOTHING)
        return self.literal("Boolean")

    def _inner(self, node: Any) -> int:
        children = node.named_children
        return self.type(children[-1]) if children else UNKNOWN

    def _union(self, node: Any) -> int:
        # A long union is a deep tree: its left side is gone through without recursion.
        parts: list[Any] = []
        while node.type in ("union_type", "intersection_type"):
            children = [each for each in node.named_children if each.type != "comment"]
            parts += reversed(children[1:])
            if not children:
                break
            node = children[0]
        else:
            parts.append(node)
        return self.writer.union([self.type(each) for each in reversed(parts)])

    def _array_type(self, node: Any) -> int:
        element = self._inner(node)
        return self.writer.expression(Op.SUBSCRIPT, self.built_in("Array"), element)

    def _tuple(self, node: Any) -> int:
        parts = []
        for each in node.named_children:
            written = each.child_by_field_name("type") if each.type.endswith("parameter") else None
            parts.append(self.type(written if written is not None else each))
        return self._collected("Tuple", parts)

    def _query(self, node: Any) -> int:
        inner = [each for each in node.named_children if each.type != "type_arguments"]
        if not inner or inner[0].type in ("call_expression", "import"):
            return UNKNOWN
        return self._type_of(self.visit(inner[0], ANNOTATION))

    def _lookup(self, node: Any) -> int:
        children = node.named_children
        of = self.writer.instance(self.type(children[0]))
        index = children[1] if len(children) > 1 else None
        if index is None or not of:
            return UNKNOWN
        if index.type == "literal_type" and (text := _text_in(index)) is not None:
            name = self.text(text)
            member = self.writer.member(of, name)
            self.site(name, text, SiteKind.READ, member)
            return self._type_of(member)
        self.type(index)
        return self._type_of(self.element(of))

    def _function(self, node: Any) -> int:
        with_types = self.open_types(node)
        parameters = node.child_by_field_name("parameters")
        taken = []
        for each in parameters.named_children if parameters is not None else ():
            if each.type.endswith("_parameter"):
                pattern = each.child_by_field_name("pattern")
                if pattern is None or pattern.type != "this":
                    taken.append(self.annotated(each))
        returned = node.child_by_field_name("return_type") or node.child_by_field_name("type")
        found = self.type(returned) if returned is not None else UNKNOWN
        self.scope = with_types
        return self.writer.expression(Op.FUNCTION, found, *taken[:_MOST_ARGUMENTS])

    def open_types(self, node: Any) -> ScriptScope:
        """Begin a scope for the type parameters of a node; the scope before it."""
        from clew.formats.code.script.scopes import BLOCK_SCOPE

        before = self.scope
        written = node.child_by_field_name("type_parameters")
        if written is not None:
            self.scope = ScriptScope(BLOCK_SCOPE, before, before.symbol)
            self.type_parameters(written)
        return before

    def type_parameters(self, node: Any) -> tuple[str, ...]:
        """Make the type parameters known in the scope; their names."""
        return tuple(self.parameters_with_defaults(node))

    def parameters_with_defaults(self, node: Any) -> dict[str, int]:
        """The type parameters that a node declares, each with its default; they are known in the scope then."""
        names: dict[str, int] = {}
        for each in node.named_children:
            named = each.child_by_field_name("name") if each.type == "type_parameter" else None
            if named is None:
                continue
            name = self.text(named)
            names[name] = UNKNOWN
            own = self.writer.expression(Op.TYPE_PARAMETER, self.writer.name(name))
            self.scope.types[name] = own
            bound = each.child_by_field_name("constraint")
            if bound is not None and (above := self._inner(bound)):
                self.scope.types[name] = self.writer.union((own, above))
            default = each.child_by_field_name("value")
            if default is not None:
                names[name] = self._inner(default)
        return names

    def _object_type(self, node: Any) -> int:
        """A type with named members that has no name itself."""
        pairs: list[int] = []
        if is_mapped(node):
            return self._mapped(node.named_children[0])
        for each in node.named_children:
            name = each.child_by_field_name("name")
            if each.type == "property_signature" and name is not None:
                pairs += (self.writer.name(self.member_name(name)), self.writer.instance(self.annotated(each)))
            elif each.type == "method_signature" and name is not None:
                pairs += (self.writer.name(self.member_name(name)), self.writer.instance(self._function(each)))
            elif each.type == "index_signature":
                self._index(each)
            elif each.type in ("call_signature", "construct_signature"):
                self._function(each)
        return self.writer.expression(Op.RECORD, *pairs[: MOST_FIELDS * 2])

    def _mapped(self, node: Any) -> int:
        """`[K in keyof T]: ...`: a type with the members of another."""
        self.annotated(node)
        return self._inner(node.named_children[0].child_by_field_name("type"))

    def _index(self, node: Any) -> int:
        for field in ("index_type", "type"):
            self.annotated(node, field)
        for each in node.named_children:
            if each.type == "mapped_type_clause":
                written = each.child_by_field_name("type")
                if written is not None:
                    self.type(written)
        return UNKNOWN

    def member_name(self, node: Any) -> str:
        """The name of a member; empty for one that is computed."""
        if node.type == "computed_property_name":
            for each in node.named_children:
                self.visit(each)
            return ""
        text = self.text(node)
        return text[1:-1] if node.type == "string" else text

    def _conditional(self, node: Any) -> int:
        for field in ("left", "right"):
            self.annotated(node, field)
        return self.writer.union([self.annotated(node, field) for field in ("consequence", "alternative")])

    def _predicate(self, node: Any) -> int:
        """`x is T`: what a function that tells types apart says."""
        if node.type in ("type_predicate_annotation", "asserts_annotation", "asserts"):
            inner = node.named_children
            return self.type(inner[0]) if inner else UNKNOWN
        written = node.child_by_field_name("type")
        if written is None:
            return UNKNOWN
        return self.writer.expression(Op.SUBSCRIPT, self.built_in("Predicate"), self.type(written))

    def _keys(self, node: Any) -> int:
        self._inner(node)
        return self.literal("String")

    def _this_type(self, node: Any) -> int:
        scope: ScriptScope | None = self.scope
        while scope is not None and scope.this < 0:
            scope = scope.parent
        parts = self.writer.parts(scope.this) if scope is not None else (Op.UNKNOWN,)
        return self.writer.expression(Op.SELF_CLASS, parts[1]) if parts[0] == Op.SELF else UNKNOWN


def is_mapped(node: Any) -> bool:
    """True for `{ [K in keyof T]: ... }`, which has the members of another type."""
    inner = node.named_children
    clause = inner[0].named_children if len(inner) == 1 and inner[0].type == "index_signature" else []
    of = clause[0].child_by_field_name("type") if clause and clause[0].type == "mapped_type_clause" else None
    return of is not None and of.type == "index_type_query"


def _text_in(node: Any) -> Any:
    """The text of a literal, without its quotes."""
    inner = node.named_children[0] if node.named_children else None
    if inner is None or inner.type != "string" or len(inner.named_children) != 1:
        return None
    return inner.named_children[0]


Types._types.update(
    {
        "type_annotation": Types._inner,
        "opting_type_annotation": Types._inner,
        "omitting_type_annotation": Types._inner,
        "type_identifier": Types._named,
        "identifier": Types._named,
        "nested_type_identifier": Types._nested,
        "generic_type": Types._generic,
        "predefined_type": Types._predefined,
        "literal_type": Types._literal_type,
        "template_literal_type": lambda self, node: self.literal("String"),
        "parenthesized_type": Types._inner,
        "readonly_type": Types._inner,
        "optional_type": Types._inner,
        "rest_type": Types._inner,
        "union_type": Types._union,
        "intersection_type": Types._union,
        "array_type": Types._array_type,
        "tuple_type": Types._tuple,
        "type_query": Types._query,
        "lookup_type": Types._lookup,
        "function_type": Types._function,
        "constructor_type": Types._function,
        "object_type": Types._object_type,
        "conditional_type": Types._conditional,
        "type_predicate_annotation": Types._predicate,
        "type_predicate": Types._predicate,
        "asserts_annotation": Types._predicate,
        "asserts": Types._predicate,
        "index_type_query": Types._keys,
        "this_type": Types._this_type,
        "this": Types._this_type,
        "string": lambda self, node: self.literal("String"),
        "comment": lambda self, node: UNKNOWN,
    }
)
