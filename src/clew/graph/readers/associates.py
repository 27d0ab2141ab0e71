"""Readers of other repositories, as far as these lie in the project's folder: their requirements, code, tests and
results, each found where the repository's own settings say."""

from collections.abc import Iterator

import msgspec

from clew.config import CODE_PATTERNS, TEST_PATTERNS, Config
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.settings import ElspaisSettings
from clew.graph.build.reading import Reader
from clew.graph.readers.elspais import ElspaisReader
from clew.graph.readers.markers import MarkerReader
from clew.workspace.find import Selection


def associate_readers(config: Config) -> Iterator[Reader]:
    for each in config.elspais.associates:
        if each.settings is None:
            continue
        settings = msgspec.structs.replace(each.settings, namespace=each.namespace)
        grammar = IdGrammar(settings)
        name, place = each.name, each.path
        tests, code = _tests(settings, place), _code(settings, place)
        yield ElspaisReader(_requirements(settings, place), grammar, settings, associate=name)
        yield MarkerReader(f"tests:{name}", tests, grammar, settings, is_test=True, associate=name)
        yield MarkerReader(f"code:{name}", code, grammar, settings, is_test=False, associate=name)


def without_associates(selection: Selection, config: Config) -> Selection:
    """The files of the project itself, where a selection of it reaches into a repository that is read on its own."""
    places = [each.path for each in config.elspais.associates if each.settings is not None]
    if not places:
        return selection
    left_out = tuple(f"/{place}/**" for place in places)
    return msgspec.structs.replace(selection, skip=(*selection.skip, *left_out))


def results_of_associates(config: Config) -> tuple[str, ...]:
    """Globs of the reports on their tests."""
    return tuple(
        f"{each.path}/{report}"
        for each in config.elspais.associates
        if each.settings is not None and each.settings.tests_enabled is not False
        for report in each.settings.result_files
    )


def _requirements(settings: ElspaisSettings, place: str) -> Selection:
    return Selection(
        folders=_below(place, settings.spec_directories),
        patterns=settings.spec_patterns,
        skip=(*settings.spec_skip_files, *settings.spec_skip_dirs, *settings.skip),
    )


def _code(settings: ElspaisSettings, place: str) -> Selection:
    names = tuple(pattern for pattern in settings.code_patterns if "/" not in pattern)
    folders = _below(place, settings.test_directories if settings.tests_enabled is not False else ())
    return Selection(
        folders=_below(place, settings.code_directories),
        patterns=(*CODE_PATTERNS, *names),
        skip=(
            *(*settings.code_skip_files, *settings.code_skip_dirs, *settings.skip),
            *(f"/{folder}/**" for folder in folders),
        ),
        gitignore=True,
        globs=_below(place, settings.code_patterns),
        assumed=True,
    )


def _tests(settings: ElspaisSettings, place: str) -> Selection:
    return Selection(
        folders=_below(place, settings.test_directories if settings.tests_enabled is not False else ()),
        patterns=(*TEST_PATTERNS, *settings.test_patterns),
        skip=(*settings.test_skip_files, *settings.test_skip_dirs, *settings.skip),
        gitignore=True,
        assumed=True,
    )


def _below(place: str, paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(place if path in ("", ".") else f"{place}/{path}" for path in paths)
