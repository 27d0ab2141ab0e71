"""The facts of a script, read once from its syntax tree."""

from clew.formats.code.components import ENDINGS as COMPONENTS
from clew.formats.code.components import script_of
from clew.formats.code.facts.drafts import finished
from clew.formats.code.facts.model import Outline, Reading
from clew.formats.code.script.modules import Modules
from clew.formats.code.script.scopes import MODULE_SCOPE, UNTYPED
from clew.formats.code.trees.grammars import parsed
from clew.formats.code.trees.reading import is_generated

RULES = "script"


def grammar_of(path: str) -> str:
    """The grammar for a file, by its ending."""
    if path.endswith(UNTYPED):
        return "javascript"
    return "tsx" if path.endswith((".tsx", *COMPONENTS)) else "typescript"


def read(text: str, path: str) -> Reading:
    """Outline and facts of a file with LF line ends. SyntaxError if it is not a script; RecursionError if it is nested
    too deeply; ValueError if parsing takes too long."""
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    script = script_of(text, path) if path.endswith(COMPONENTS) else text
    reader = Modules(script, path)
    root = parsed(reader.source, grammar_of(path))
    if root.type == "ERROR":
        raise SyntaxError("it cannot be read as a script")
    reader.is_untyped = path.endswith(UNTYPED)
    nodes = root.named_children
    assert reader.scope.kind == MODULE_SCOPE  # noqa: S101 - how a reader begins
    reader.declare(nodes)
    reader.run(nodes)
    for local in reader.variables:
        reader.writer.fill(local.variable, 0, local.values)
    symbols = finished(reader.drafts, reader.writer, reader.rows)
    # Declarations are read before what calls import.
    imports = tuple(sorted(reader.declared_imports, key=lambda each: each.line))
    facts = reader.writer.facts(RULES, is_generated=is_generated(text))
    return Reading(Outline(symbols, imports, lines), facts)
