"""The file formats that feed the graph. A format is added by writing a reader and naming it here."""

import msgspec

from clew.config import Config
from clew.files import Selection
from clew.formats.elspais.ids import IdGrammar
from clew.graph.readers.elspais import ElspaisReader
from clew.graph.readers.markers import MarkerReader
from clew.graph.reading import Reader
from clew.paths import Glob


def readers_for(config: Config, grammar: IdGrammar) -> tuple[Reader, ...]:
    code = _without_tests(config.code, config.tests)
    return (
        ElspaisReader(config.requirements, grammar, config.elspais),
        MarkerReader("tests", config.tests, grammar, config.elspais, is_test=True),
        MarkerReader("code", code, grammar, config.elspais, is_test=False),
    )


def _without_tests(code: Selection, tests: Selection) -> Selection:
    """The code that is not test: folders of tests inside are left out, and where both share a folder, their names."""
    places = (*code.folders, *(glob.rpartition("/")[0] for glob in code.globs))
    inside: list[str] = []
    shared = False
    for folder in tests.folders:
        covered = [Glob.of(folder).covers(place) for place in places]
        shared = shared or any(covered)
        if not all(covered):
            inside.append(f"/{folder}")
    # A pattern with a slash is a glob for the whole path, here as there.
    names = (f"/{pattern}" if "/" in pattern else pattern for pattern in tests.patterns)
    return msgspec.structs.replace(code, skip=(*code.skip, *inside, *(names if shared else ())))
