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
    """The code that is not test: folders of tests inside are left out, and where both share a folder, their names."""
    inside = tuple(f"/{folder}" for folder in tests.folders if _is_below(folder, code.folders))
    shared = any(
        folder in code.folders or _is_below(other, (folder,)) for folder in tests.folders for other in code.folders
    )
    return msgspec.structs.replace(code, skip=(*code.skip, *inside, *(tests.patterns if shared else ())))


def _is_below(folder: str, others: tuple[str, ...]) -> bool:
    return any(folder != other and (other == "." or folder.startswith(f"{other}/")) for other in others)
