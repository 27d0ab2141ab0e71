"""The rules of each language, by their name in facts."""

from clew.graph.code.languages.go import GoRules
from clew.graph.code.languages.java import JavaRules
from clew.graph.code.languages.python import PythonRules
from clew.graph.code.languages.rules import LanguageRules
from clew.graph.code.languages.rust import RustRules
from clew.graph.code.languages.script import ScriptRules

_RULES: dict[str, LanguageRules] = {
    rules.name: rules for rules in (PythonRules(), ScriptRules(), GoRules(), JavaRules(), RustRules())
}


def rules_of(name: str) -> LanguageRules | None:
    """The rules of a language; None for one of which only names are read."""
    return _RULES.get(name)
