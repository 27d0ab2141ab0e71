"""The file formats that feed the graph. A format is added by writing a reader and naming it here."""

from clew.config import Config
from clew.formats.elspais.ids import IdGrammar
from clew.graph.build import Reader
from clew.graph.readers.elspais import ElspaisReader
from clew.graph.readers.markers import MarkerReader


def readers_for(config: Config, grammar: IdGrammar) -> tuple[Reader, ...]:
    return (
        ElspaisReader(config.requirements, grammar, config.elspais),
        MarkerReader("tests", config.tests, grammar, config.elspais, is_test=True),
        MarkerReader("code", config.code, grammar, config.elspais, is_test=False, leave_out=config.tests),
    )
