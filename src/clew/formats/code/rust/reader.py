"""The facts of a Rust file, read once from its syntax tree."""

import re
from typing import Any

from clew.formats.code.declared_imports import Import
from clew.formats.code.declared_imports import rust as declared
from clew.formats.code.facts.drafts import finished
from clew.formats.code.facts.expressions import UNKNOWN, Op
from clew.formats.code.facts.model import (
    ATTRIBUTE,
    CLASS,
    CONSTANT,
    FUNCTION,
    MEMBER,
    METHOD,
    MODULE,
    TYPE,
    WHOLE,
    Facts,
    Form,
    Imported,
    Outline,
    Reading,
    SiteKind,
)
from clew.formats.code.rust.statements import RustStatements
from clew.formats.code.trees.grammars import parsed
from clew.formats.code.trees.reading import is_generated

RULES = "rust"
GRAMMAR = "rust"
_NAME = re.compile(r"^\[package\][^\[]*?^name\s*=\s*\"([\w-]+)\"", re.MULTILINE | re.DOTALL)
_KINDS = {
    "struct_item": CLASS,
    "union_item": CLASS,
    "enum_item": CLASS,
    "trait_item": CLASS,
    "type_item": TYPE,
    "function_item": FUNCTION,
    "function_signature_item": FUNCTION,
    "const_item": CONSTANT,
    "static_item": CONSTANT,
    "macro_definition": FUNCTION,
    "mod_item": CLASS,
}
_WORD = re.compile(r"\w+")
_MOST_PARAMETERS = 8


class RustReader(RustStatements):
    def __init__(self, text: str, path: str) -> None:
        super().__init__(text, path)
        self._numbers: dict[int, int] = {}
        """The symbols of definitions, by where these begin."""

    # Names of definitions, before anything that uses them is read

    def items_in(self, nodes: list[Any]) -> None:
        comment, is_test = None, False
        for node in nodes:
            kind = node.type
            if kind == "line_comment":
                comment = comment if comment is not None and comment.end_point[0] + 1 >= node.start_point[0] else node
                continue
            if kind == "attribute_item":
                is_test = is_test or re.search(r"\btest\b", self.text(node)) is not None
                continue
            named = node.child_by_field_name("name")
            if kind in _KINDS and named is not None and (kind != "mod_item" or node.child_by_field_name("body")):
                self._name(node, named, kind, comment, is_test)
            elif kind == "use_declaration":
                argument = node.child_by_field_name("argument")
                if argument is not None:
                    self._use(argument, ())
            elif kind == "extern_crate_declaration" and named is not None:
                alias = self.text(node.child_by_field_name("alias") or named)
                self.scopes[-1][alias] = self._import(node, (self.text(named),), "", alias)
            elif kind == "foreign_mod_item":
                body = node.child_by_field_name("body")
                self.items_in(body.named_children if body is not None else [])
            comment, is_test = None, False

    def _name(self, node: Any, named: Any, kind: str, comment: Any, is_test: bool) -> None:
        name = self.text(named)
        number = self.draft(name, _KINDS[kind], node, named, self.inside)
        draft = self.drafts[number]
        draft.is_test = is_test and draft.kind == FUNCTION
        if comment is not None and comment.start_point[0] + 30 > node.start_point[0]:
            said = self.text(comment).strip().lstrip("/!").strip().partition("\n")[0]
            draft.about = said[:200] if self.text(comment).startswith("///") else ""
        if kind == "trait_item":
            draft.form = int(Form.INTERFACE)
        elif kind == "type_item":
            draft.form = int(Form.ALIAS)
        self._numbers[node.start_byte] = number
        self.scopes[-1][f"{name}!" if kind == "macro_definition" else name] = self.definition(number)

    def _use(self, node: Any, before: tuple[str, ...]) -> None:
        kind = node.type
        if kind == "scoped_use_list":
            path = node.child_by_field_name("path")
            words = (*before, *self._words(path)) if path is not None else before
            for each in node.child_by_field_name("list").named_children:
                self._use(each, words)
        elif kind == "use_list":
            for each in node.named_children:
                self._use(each, before)
        elif kind == "use_wildcard":
            inner = node.named_children
            words = (*before, *(self._words(inner[0]) if inner else ()))
            self._import(node, words, WHOLE, WHOLE)
        elif kind == "use_as_clause":
            path, alias = node.child_by_field_name("path"), node.child_by_field_name("alias")
            self._bring(path, (*before, *self._words(path)), self.text(alias))
        elif kind in ("identifier", "scoped_identifier", "self", "crate", "super"):
            words = (*before, *self._words(node))
            self._bring(node, words, next((each for each in reversed(words) if each != "self"), ""))

    def _words(self, node: Any) -> list[str]:
        return [each.strip() for each in self.text(node).split("::") if each.strip()]

    def _import(self, node: Any, words: tuple[str, ...], name: str, alias: str) -> int:
        line = node.start_point[0] + 1
        self.writer.imports.append(Imported(line, "::".join(words), name, alias, self.inside))
        return self.writer.expression(Op.IMPORT, len(self.writer.imports) - 1)

    def _bring(self, node: Any, words: tuple[str, ...], alias: str) -> None:
        if words[-1] == "self":
            words = words[:-1]
        if not words or alias == "_":
            return
        at = next((place for place, word in enumerate(words) if word[:1].isupper()), len(words) - 1)
        if at == 0:
            at = len(words) - 1
        found = self._import(node, words[:at], words[at], alias if at == len(words) - 1 else "")
        last = node.child_by_field_name("name") if node.type == "scoped_identifier" else node
        if at < len(words) - 1:
            for word in words[at + 1 :]:
                found = self.writer.member(found, word)
            self.imported_members.add(found)
        self.site(words[-1], last, SiteKind.IMPORT, found)
        self.scopes[-1][alias] = found

    # Definitions

    def file(self, nodes: list[Any]) -> None:
        self.items_in(nodes)
        # Types before what is done with them: the members of a type are known to all that follows.
        for node in nodes:
            if node.type != "function_item":
                self.item(node)
        for node in nodes:
            if node.type == "function_item":
                self.item(node)

    def item(self, node: Any) -> bool:
        kind = node.type
        number = self._numbers.get(node.start_byte)
        if kind == "impl_item":
            self._impl(node)
        elif kind == "attribute_item" or kind.startswith("use_") or kind == "extern_crate_declaration":
            pass
        elif number is None and kind not in ("foreign_mod_item", "mod_item"):
            if kind == "macro_invocation":
                self.visit(node)
            return False
        elif kind == "mod_item":
            self._module(node, number)
        elif kind in ("function_item", "function_signature_item") and number is not None:
            self._function(node, number)
        elif number is not None:
            self._type(node, number, kind)
        return True

    def _module(self, node: Any, number: int | None) -> None:
        body = node.child_by_field_name("body")
        if body is None:
            return
        before = self.inside
        self.inside = number if number is not None else before
        self.scopes.append({})
        self.file(body.named_children)
        self.scopes.pop()
        self.inside = before

    def _type(self, node: Any, number: int, kind: str) -> None:
        before, own, self.inside = self.inside, self.own, number
        self.scopes.append({})
        draft = self.drafts[number]
        draft.type_parameters = self.type_parameters(node)
        if kind in ("struct_item", "union_item"):
            self.own = self.definition(number)
            self._fields(node.child_by_field_name("body"), number)
        elif kind == "enum_item":
            self._variants(node.child_by_field_name("body"), number)
        elif kind == "trait_item":
            self._trait(node, number)
        elif kind == "type_item":
            draft.give(self.type(node.child_by_field_name("type")))
        elif kind != "macro_definition":
            written, value = node.child_by_field_name("type"), node.child_by_field_name("value")
            draft.type = self.type(written) if written is not None else UNKNOWN
            if value is not None:
                draft.give(self.visit(value))
        self.scopes.pop()
        self.inside, self.own = before, own

    def _fields(self, body: Any, number: int) -> list[int]:
        """Read the fields of a structure; their types."""
        types = []
        for each in body.named_children if body is not None else ():
            if each.type == "field_declaration":
                named = each.child_by_field_name("name")
                own = self.draft(self.text(named), ATTRIBUTE, each, named, number)
                self.drafts[own].form = int(Form.INSTANCE)
                self.drafts[own].type = self.type(each.child_by_field_name("type"))
                types.append(self.drafts[own].type)
            elif each.type not in ("visibility_modifier", "attribute_item", "line_comment", "block_comment"):
                types.append(self.type(each))
        return types

    def _variants(self, body: Any, number: int) -> None:
        self.own = self.definition(number)
        for each in body.named_children if body is not None else ():
            named = each.child_by_field_name("name") if each.type == "enum_variant" else None
            if named is None:
                continue
            own = self.draft(self.text(named), MEMBER, each, named, number)
            self.variants[self.definition(number), self.text(named)] = self._fields(
                each.child_by_field_name("body"), own
            )

    def _trait(self, node: Any, number: int) -> None:
        self.own = self.writer.expression(Op.SELF_CLASS, number)
        bounds = node.child_by_field_name("bounds")
        for each in bounds.named_children if bounds is not None else ():
            base = self.type(each, SiteKind.INHERIT) if each.type != "lifetime" else UNKNOWN
            if base:
                self.drafts[number].bases.append(base)
        body = node.child_by_field_name("body")
        receiver = self.writer.expression(Op.SELF, number)
        self._members(body.named_children if body is not None else [], number, "", receiver)

    def _impl(self, node: Any) -> None:
        """`impl T` and `impl Trait for T`: members of a type, which may be in another file."""
        written, trait, body = (node.child_by_field_name(field) for field in ("type", "trait", "body"))
        if written is None:
            return
        before, own = self.inside, self.own
        self.scopes.append({})
        self.type_parameters(node)
        type = self.type(written)
        of = self.writer.parts(type)
        while of[0] == Op.SUBSCRIPT:
            of = self.writer.parts(of[1])
        number = of[1] if of[0] == Op.DEFINITION and self.drafts[of[1]].kind == CLASS else MODULE
        if trait is not None:
            base = self.type(trait, SiteKind.INHERIT)
            if base and number >= 0:
                self.drafts[number].bases.append(base)
        self.own = type
        words = _WORD.findall(self.text(written).partition("<")[0])
        named = words[-1] if words else ""
        self._members(body.named_children if body is not None else [], number, named, self.writer.instance(type))
        self.scopes.pop()
        self.inside, self.own = before, own

    def _members(self, nodes: list[Any], number: int, owner: str, receiver: int) -> None:
        comment, is_test = None, False
        for each in nodes:
            kind = each.type
            named = each.child_by_field_name("name")
            if kind == "line_comment":
                comment = each if comment is None else comment
                continue
            if kind == "attribute_item":
                continue
            if kind in ("function_item", "function_signature_item") and named is not None:
                before = self.inside
                own = self.draft(self.text(named), METHOD, each, named, number)
                self.drafts[own].owner = owner
                self.drafts[own].is_test = is_test
                if comment is not None and (said := self.text(comment).strip()).startswith("///"):
                    self.drafts[own].about = said.lstrip("/").strip()[:200]
                self.scopes.append({"self": receiver})
                self._function(each, own)
                self.scopes.pop()
                self.inside = before
            elif kind in ("const_item", "associated_type", "type_item") and named is not None:
                member = self.draft(self.text(named), TYPE if "type" in kind else CONSTANT, each, named, number)
                self.drafts[member].owner = owner
                written, value = each.child_by_field_name("type"), each.child_by_field_name("value")
                type = self.type(written) if written is not None else UNKNOWN
                if kind == "const_item":
                    self.drafts[member].type = type
                else:
                    self.drafts[member].give(type)
                if value is not None:
                    self.visit(value)
            elif kind == "macro_invocation":
                self.visit(each)
            comment = None

    def _function(self, node: Any, number: int) -> None:
        before, self.inside = self.inside, number
        self.scopes.append({})
        draft = self.drafts[number]
        draft.type_parameters = self.type_parameters(node)
        written = node.child_by_field_name("parameters")
        for each in written.named_children if written is not None else ():
            pattern, declared = each.child_by_field_name("pattern"), each.child_by_field_name("type")
            if each.type != "parameter" or pattern is None or declared is None:
                continue
            type = self.type(declared)
            place = len(draft.parameters)
            if place < _MOST_PARAMETERS:
                draft.parameters.append((self.text(pattern)[:80], type, UNKNOWN, 0))
            self.pattern(pattern, self.writer.instance(type))
        returned = node.child_by_field_name("return_type")
        draft.type = self.type(returned) if returned is not None else self.writer.expression(Op.NOTHING)
        body = node.child_by_field_name("body")
        if body is None:
            draft.form |= Form.ABSTRACT
        else:
            self.visit(body)
        self.scopes.pop()
        self.inside = before


def read(text: str, path: str) -> Reading:
    """The record of a file with LF line ends. SyntaxError where it is no Rust; RecursionError where it is nested too
    deeply; ValueError where parsing takes too long."""
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    reader = RustReader(text, path)
    root = parsed(reader.source, GRAMMAR)
    if root.type == "ERROR":
        raise SyntaxError("it cannot be read as Rust")
    reader.file(root.named_children)
    symbols = finished(reader.drafts, reader.writer, reader.rows)
    facts = reader.writer.facts(RULES, is_generated=is_generated(text))
    imports: dict[Import, None] = dict.fromkeys(declared(text, path))
    return Reading(Outline(symbols, tuple(imports), lines), facts)


def read_package(text: str) -> Reading:
    """The record of a file that names the package of a folder: its package is that name, with the ending that tells it
    from others."""
    found = _NAME.search(text)
    name = found[1].replace("-", "_") + "::" if found is not None else ""
    return Reading(Outline(package=name), Facts())
