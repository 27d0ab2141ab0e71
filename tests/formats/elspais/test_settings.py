"""`.elspais.toml` in every layout it has had, and what happens when it is wrong."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import ConfigError
from clew.formats.elspais.changelog import ChangelogSettings
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.settings import ElspaisSettings, Level, read_settings

VERSION_4 = b"""
version = 4

[project]
name = "lighthouse"
namespace = "LIT"

[id-patterns]
canonical = "{namespace}-{level.letter}{component}"
separators = ["-"]
prefix_optional = true

[id-patterns.aliases]
short = "{level.letter}{component}"

[id-patterns.component]
style = "numeric"
digits = 4
leading_zeros = true

[id-patterns.assertions]
label_style = "numeric_1based"
zero_pad = true
max_count = 40
separator = "/"
multi_separator = "&"

[levels.goal]
rank = 1
letter = "g"
display_name = "Goal"
implements = ["goal"]

[levels.work]
rank = 2
letter = "w"
implements = ["goal", "work"]

[scanning]
skip = ["build"]

[scanning.spec]
directories = ["specs", "more"]
file_patterns = ["*.md", "*.markdown"]
skip_files = ["OLD.md"]
skip_dirs = ["drafts"]

[scanning.code]
directories = ["lib"]
file_patterns = ["tools/*.py"]

[scanning.test]
enabled = true
directories = ["check"]
file_patterns = ["check_*.py"]
skip_dirs = ["data"]

[[scanning.test.targets]]
name = "unit"
cwd = "check"
results = "out/*.xml"

[scanning.result]
directories = ["reports", "."]
file_patterns = ["TEST-*.xml"]

[rules.format.status_roles]
active = ["Active", "Draft"]
retired = ["Gone"]

[validation]
hash_mode = "full-text"

[keywords]
min_length = 3
"""

FEBRUARY = b"""
[project]
name = "lighthouse"

[patterns]
id_template = "{prefix}-{type}{id}"
prefix = "LIT"
id_format = { style = "numeric", digits = 4, leading_zeros = true }

[patterns.types]
goal = { id = "g", name = "Goal", level = 1 }
work = { id = "w", name = "Work item", level = 2 }

[patterns.assertions]
label_style = "uppercase"
max_count = 12

[spec]
directories = ["specs"]
patterns = ["*.md"]
skip_files = ["OLD.md"]
skip_dirs = ["roadmap"]

[directories]
code = ["lib", "apps"]

[rules.hierarchy]
work = ["goal", "work"]
goal = ["goal"]

[testing]
enabled = true
test_dirs = ["check"]
patterns = ["*_check.py"]
result_files = ["reports/*.xml"]

[ignore]
global = ["build"]
spec = ["README.md", "drafts/**"]
test = ["data/**"]

[traceability]
scan_patterns = ["db/*.sql"]

[references.defaults]
separators = ["-", "_"]
multi_assertion_separator = "+"
"""


def test_defaults_are_those_of_a_project_without_settings() -> None:
    settings = ElspaisSettings()
    assert read_settings(b"") == (settings, ())
    assert settings.namespace == "REQ"
    assert [level.name for level in settings.levels] == ["prd", "ops", "dev"]
    assert (settings.spec_directories, settings.spec_patterns) == (("spec",), ("*.md",))
    assert settings.tests_enabled is None


# Verifies: REQ-d00008-D
def test_version_4_is_read() -> None:
    settings, diagnostics = read_settings(VERSION_4)
    assert diagnostics == ()
    assert settings == ElspaisSettings(
        project_name="lighthouse",
        namespace="LIT",
        id_separators=("-",),
        prefix_optional=True,
        component_digits=4,
        label_style="numeric_1based",
        label_zero_pad=True,
        label_max_count=40,
        label_separator="/",
        label_multi_separator="&",
        levels=(
            Level("goal", 1, "g", ("goal",), "Goal"),
            Level("work", 2, "w", ("goal", "work")),
        ),
        skip=("build",),
        spec_directories=("specs", "more"),
        spec_patterns=("*.md", "*.markdown"),
        spec_skip_files=("OLD.md",),
        spec_skip_dirs=("drafts",),
        code_directories=("lib",),
        code_patterns=("tools/*.py",),
        tests_enabled=True,
        test_directories=("check",),
        test_patterns=("check_*.py",),
        test_skip_dirs=("data",),
        result_files=("reports/TEST-*.xml", "TEST-*.xml", "check/out/*.xml"),
        status_roles=(
            ("active", ("Active", "Draft")),
            ("provisional", ()),
            ("aspirational", ()),
            ("retired", ("Gone",)),
        ),
        hash_mode="full-text",
        changelog=ChangelogSettings(hash_current=True),
    )


# Verifies: REQ-d00008-D
def test_the_layout_of_february_is_read() -> None:
    settings, diagnostics = read_settings(FEBRUARY)
    assert diagnostics == ()
    assert settings == ElspaisSettings(
        project_name="lighthouse",
        namespace="LIT",
        id_template="{namespace}-{level.letter}{component}",
        component_digits=4,
        label_max_count=12,
        levels=(
            Level("goal", 1, "g", ("goal",)),
            Level("work", 2, "w", ("goal", "work")),
        ),
        skip=("build",),
        spec_directories=("specs",),
        spec_skip_files=("OLD.md", "README.md", "drafts/**"),
        spec_skip_dirs=("roadmap",),
        code_directories=("lib", "apps"),
        code_patterns=("db/*.sql",),
        tests_enabled=True,
        test_directories=("check",),
        test_patterns=("*_check.py",),
        test_skip_files=("data/**",),
        result_files=("reports/*.xml",),
    )
    assert IdGrammar(settings).canonical("LIT-w7") == "LIT-w0007"


def test_the_layout_in_between_is_read() -> None:
    settings, diagnostics = read_settings(
        b"""
        [id-patterns]
        canonical = "{namespace}-{type.letter}{component}"
        aliases = { short = "{type.letter}{component}" }
        [id-patterns.types]
        prd = { level = 1, aliases = { letter = "p" } }
        dev = { level = 2, aliases = { letter = "d" } }
        [rules.hierarchy]
        allowed_implements = ["dev -> dev, prd", "prd -> prd"]
        [directories]
        spec = "requirements"
        """
    )
    assert diagnostics == ()
    assert settings.spec_directories == ("requirements",)
    assert settings.levels == (Level("prd", 1, "p", ("prd",)), Level("dev", 2, "d", ("dev", "prd")))


def test_local_settings_are_laid_on_top_table_by_table() -> None:
    settings, _ = read_settings(
        b'[project]\nname = "shared"\nnamespace = "LIT"\n[scanning.spec]\ndirectories = ["a"]\nskip_dirs = ["x"]\n',
        b'[project]\nname = "mine"\n[scanning.spec]\ndirectories = ["b"]\n',
    )
    assert (settings.project_name, settings.namespace) == ("mine", "LIT")
    assert (settings.spec_directories, settings.spec_skip_dirs) == (("b",), ("x",))


def test_unknown_keys_are_diagnostics() -> None:
    _, diagnostics = read_settings(b'colour = "red"\n[project]\nnmae = "x"\n[scanning.specs]\na = 1\n')
    assert {each.code for each in diagnostics} == {"elspais.unknown_setting"}
    assert [each.message.split("`")[1] for each in diagnostics] == ["colour", "project.nmae", "scanning.specs"]


# Verifies: REQ-d00019-D
def test_a_setting_that_is_not_obeyed_is_a_diagnostic() -> None:
    (diagnostic,) = read_settings(b"[keywords]\nmin_length = 5\n")[1]
    assert diagnostic.code == "elspais.setting_not_obeyed"
    assert "`keywords.min_length` is 5, which has no effect" in diagnostic.message


def test_levels_that_share_a_letter_are_reported() -> None:
    _, diagnostics = read_settings(b'[levels.one]\nletter = "a"\n[levels.two]\nletter = "a"\n')
    assert [each.code for each in diagnostics] == ["elspais.shared_letter"]


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"[project]\nname = \n", 2),
        (b"[project]\nname = 'x'\nname = 'y'\n", 3),
        (b"[project\n", 1),
        (b"a = [", 1),
        (b"[project]\nname = '\xff'\n", 2),
        (b"a = " + b"9" * 5000, 1),
    ],
)
def test_what_is_not_toml_is_refused_with_the_line(data: bytes, line: int) -> None:
    with pytest.raises(ConfigError, match=rf"^\.elspais\.toml line {line}\b"):
        read_settings(data)


def test_local_settings_that_are_not_toml_are_named() -> None:
    with pytest.raises(ConfigError, match=r"^\.elspais\.local\.toml line 1\b"):
        read_settings(b"", b"= 1")


def test_nesting_beyond_all_bounds_is_refused() -> None:
    for data in (b"a = " + b"[" * 100_000, b".".join([b"a"] * 300_000) + b" = 1\n"):
        with pytest.raises(ConfigError, match="too deeply"):
            read_settings(data)
    deep = b".".join([b"a"] * 60) + b" = 1\n"
    assert read_settings(deep, deep)[0] == ElspaisSettings()


def test_a_file_beyond_all_bounds_is_refused() -> None:
    with pytest.raises(ConfigError, match="bytes"):
        read_settings(b"#" * 2_000_000)


@pytest.mark.parametrize(
    ("toml", "key"),
    [
        ("project = 'x'", "project"),
        ("[project]\nname = 5", "project.name"),
        ("[project]\nnamespace = 'no blanks'", "project.namespace"),
        ("[project]\nnamespace = ''", "project.namespace"),
        ("[scanning]\nskip = [1]", "scanning.skip"),
        ("[scanning.spec]\ndirectories = {}", "scanning.spec.directories"),
        ("[scanning.test]\nenabled = 'yes'", "scanning.test.enabled"),
        ("[scanning.test]\ntargets = ['x']", "scanning.test.targets"),
        ("[[scanning.test.targets]]\nresults = 1", "results"),
        ("[id-patterns]\ncanonical = 'REQ'", "id-patterns.canonical"),
        ("[id-patterns]\ncanonical = '{component}{color}'", "id-patterns.canonical"),
        ("[id-patterns]\ncanonical = '{namespace}: {component}'", "id-patterns.canonical"),
        ("[id-patterns]\naliases = 'x'", "id-patterns.aliases"),
        ("[id-patterns.aliases]\nshort = 1", "id-patterns.aliases.short"),
        ("[id-patterns.component]\nstyle = 'roman'", "id-patterns.component.style"),
        ("[id-patterns.component]\ndigits = 1000", "id-patterns.component.digits"),
        ("[id-patterns.component]\ndigits = true", "id-patterns.component.digits"),
        ("[id-patterns.component]\nstyle = 'regex'", "id-patterns.component.pattern"),
        ("[id-patterns.component]\nstyle = 'regex'\npattern = '('", "id-patterns.component.pattern"),
        ("[id-patterns.component]\nstyle = 'regex'\npattern = '(?P<level>x)'", "id-patterns.component.pattern"),
        ("[id-patterns.assertions]\nlabel_style = 'greek'", "id-patterns.assertions.label_style"),
        ("[id-patterns.assertions]\nseparator = ':'", "id-patterns.assertions.separator"),
        ("[id-patterns.assertions]\nmax_count = 0", "id-patterns.assertions.max_count"),
        ("levels = []", "levels"),
        ("[levels]\nprd = 1", "levels.prd"),
        ("[levels.prd]\nletter = '.*'", "letter"),
        ("[levels.prd]\nrank = 'first'", "rank"),
        ("[validation]\nhash_mode = 'md5'", "validation.hash_mode"),
        ("[keywords]\nmin_length = 0", "keywords.min_length"),
        ("[rules]\nformat = 1", "rules.format"),
    ],
)
def test_a_value_that_breaks_a_rule_is_refused_by_key_and_rule(toml: str, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_settings(toml.encode())
    assert f"`{key}`" in caught.value.message
    assert "must be" in caught.value.message
    assert key in caught.value.hint


def test_a_level_is_found_by_name_or_letter_in_any_case() -> None:
    settings = ElspaisSettings()
    assert [settings.level(text).name for text in ("DEV", "d", "Dev", "D")] == ["dev"] * 4  # type: ignore[union-attr]
    assert settings.level("nobody") is None


def test_a_status_has_the_role_that_claims_it() -> None:
    settings = ElspaisSettings()
    assert [settings.status_role(text) for text in ("active", "Draft", "ROADMAP", "Superseded", "Odd")] == [
        "active",
        "provisional",
        "aspirational",
        "retired",
        "active",
    ]


def test_settings_survive_encoding() -> None:
    settings, _ = read_settings(VERSION_4)
    assert msgspec.json.decode(msgspec.json.encode(settings), type=ElspaisSettings) == settings


scalars = st.one_of(st.integers(-9, 99), st.booleans(), st.text(max_size=5), st.lists(st.integers(0, 3), max_size=2))
KEYS = ["project", "name", "namespace", "id-patterns", "canonical", "component", "style", "levels", "prd", "letter"]
KEYS += ["scanning", "spec", "directories", "test", "enabled", "targets", "patterns", "types", "rules", "hierarchy"]


def toml_of(tables: dict[str, dict[str, object]]) -> bytes:
    """The tables as TOML; JSON spells the values used here the same way."""
    lines = []
    for name, table in tables.items():
        lines.append(f"[{name}]")
        lines.extend(f"{key} = {json.dumps(value)}" for key, value in table.items())
    return "\n".join(lines).encode()


@given(st.dictionaries(st.sampled_from(KEYS), st.dictionaries(st.sampled_from(KEYS), scalars, max_size=4), max_size=4))
def test_any_toml_gives_settings_or_a_config_error(tables: dict[str, dict[str, object]]) -> None:
    try:
        settings, _ = read_settings(toml_of(tables))
    except ConfigError:
        return
    assert isinstance(settings, ElspaisSettings)


@given(st.binary(max_size=200))
def test_any_bytes_give_settings_or_a_config_error(data: bytes) -> None:
    try:
        settings, _ = read_settings(data)
    except ConfigError:
        return
    assert isinstance(settings, ElspaisSettings)
