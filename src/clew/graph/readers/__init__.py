"""The file formats that feed the graph. A format is added by writing a reader and naming it here."""

import msgspec

from clew.config import Config
from clew.files import Selection
from clew.formats.elspais.ids import IdGrammar
from clew.graph.build import Reader
from clew.graph.readers.elspais import ElspaisReader
from clew.graph.readers.markers import MarkerReader


def readers_for(config: Config, grammar: IdGrammar) -> tuple[Reader, ...]:
    code = _without_tests(config.code, config.tests)
    return (
        ElspaisReader(config.requirements, grammar, config.elspais),
        MarkerReader("tests", config.tests, grammar, config.elspais, is_test=True),
        MarkerReader("code", code, grammar, config.elspais, is_test=False),
    )


def _without_tests(code: Selection, tests: Selection) -> Selection:
    """The code that is not test: a folder of tests inside is left out, and where both share a folder, their names."""
    apart = tuple(folder for folder in tests.folders if not any(_holds(folder, other) for other in code.folders))
    names = tests.patterns if len(apart) < len(tests.folders) else ()
    return msgspec.structs.replace(code, skip=(*code.skip, *apart, *names))


def _holds(folder: str, other: str) -> bool:
    """Whether a folder is the other one or holds it."""
    return folder in (".", other) or other.startswith(f"{folder}/")
