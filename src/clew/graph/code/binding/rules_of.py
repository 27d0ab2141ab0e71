"""The rules of each language, by their name in facts."""

from clew.graph.code.binding.go_rules import GoRules
from clew.graph.code.binding.java_rules import JavaRules
from clew.graph.code.binding.python_rules import PythonRules
from clew.graph.code.binding.rules import LanguageRules
from clew.graph.code.binding.rust_rules import RustRules
from clew.graph.code.binding.script_rules import ScriptRules

_RULES: dict[str, LanguageRules] = {
    rules.name: rules for rules in (PythonRules(), ScriptRules(), GoRules(), JavaRules(), RustRules())
}


def rules_of(name: str) -> LanguageRules | None:
    """The rules of a language; None for one of which only names are read."""
    return _RULES.get(name)
