"""The readers of a project, also for other repositories in its folder: their requirements, code, tests and results are
found by each repository's own settings."""

from collections.abc import Iterator

import msgspec

from clew.config import CODE_PATTERNS, TEST_PATTERNS, WHOLE_PROJECT, Config
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.settings import ElspaisSettings
from clew.graph.build.reading import Reader
from clew.graph.readers.elspais import ElspaisReader
from clew.graph.readers.locations import RegisterLocations, globs_of, spec_roots
from clew.graph.readers.markers import MarkerReader
from clew.graph.readers.register import Refused, RegisterIntegrity, RegisterReader
from clew.graph.readers.results import ResultsReader
from clew.graph.readers.reviews import ReviewsReader
from clew.graph.readers.specs import SpecReader
from clew.workspace.find import PRODUCTS, Selection
from clew.workspace.paths import Glob


class ProjectReaders:
    """The readers of a project. They depend on what the project holds: its first register or first spec brings other
    ones."""

    def __init__(self, config: Config, grammar: IdGrammar) -> None:
        self._config = config
        self._grammar = grammar
        self._places = RegisterLocations(config.root)
        self._seals = RegisterIntegrity(config.root)
        self._held: tuple[bool, tuple[str, ...], Refused] | None = None
        self._readers: tuple[Reader, ...] = ()

    def now(self) -> tuple[Reader, ...]:
        """The readers for the present contents of the project; the same ones as before if nothing that matters
        changed."""
        places = self._places.found()
        held = has_specs(self._config), places, self._seals.refused(places)
        if held != self._held:
            self._held, self._readers = held, self._made(*held)
        return self._readers

    def _made(self, specs: bool, registers: tuple[str, ...], refused: Refused) -> tuple[Reader, ...]:
        config, grammar = self._config, self._grammar
        return (
            ElspaisReader(config.requirements, grammar, config.elspais, register=bool(registers)),
            *associate_readers(config),
            SpecReader(spec_roots(config), grammar, assumed=not config.specs, register=bool(registers)),
            *marker_readers(config, grammar, specs=specs, register=bool(registers)),
            RegisterReader(globs_of(registers, config.root), grammar, config.elspais, specs=specs, refused=refused),
            ResultsReader((*config.results, *results_of_associates(config))),
            ReviewsReader(config.reviews),
        )


def readers_for(config: Config, grammar: IdGrammar) -> tuple[Reader, ...]:
    return ProjectReaders(config, grammar).now()


def marker_readers(
    config: Config, grammar: IdGrammar, *, specs: bool, register: bool
) -> tuple[MarkerReader, MarkerReader]:
    """The readers of tests and of code. A project with a register and no configured code folders is read as a whole,
    because a register expects its markers anywhere."""
    tests = _everywhere(config.tests) if register else config.tests
    code = _without_tests(_everywhere(config.code) if register else config.code, tests)
    tests, code = without_associates(tests, config), without_associates(code, config)
    return (
        MarkerReader("tests", tests, grammar, config.elspais, is_test=True, specs=specs, register=register),
        MarkerReader("code", code, grammar, config.elspais, is_test=False, specs=specs, register=register),
    )


def has_specs(config: Config) -> bool:
    return any((config.root / root.specs).is_dir() for root in spec_roots(config))


def _everywhere(selection: Selection) -> Selection:
    if not selection.assumed or selection.folders == WHOLE_PROJECT:
        return selection
    return msgspec.structs.replace(selection, folders=WHOLE_PROJECT, skip=(*selection.skip, *PRODUCTS))


def _without_tests(code: Selection, tests: Selection) -> Selection:
    """The code that is not test: folders of tests inside are left out, and where code is read in a folder of tests, the
    tests there, by their names."""
    if code.folders == tests.folders == WHOLE_PROJECT:
        return msgspec.structs.replace(code, not_named=tests.patterns)
    places = (*code.folders, *(glob.rpartition("/")[0] for glob in code.globs))
    left_out: list[str] = []
    for folder in tests.folders:
        if not any(Glob.of(folder).covers(place) for place in places):
            left_out.append(f"/{folder}")
            continue
        # A pattern with a slash is a glob for the whole path, any other for a name; here they hold below the folder.
        below = "" if folder == "." else f"/{folder}"
        left_out += (f"{below}/{pattern if '/' in pattern else f'**/{pattern}'}" for pattern in tests.patterns)
    return msgspec.structs.replace(code, skip=(*code.skip, *left_out))


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
    """The files of the project itself, if a selection reaches into a repository that is read on its own."""
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
