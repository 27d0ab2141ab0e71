"""JUnit XML as test runners write it: what each dialect says about a test."""

import pytest

from clew.formats.results.reader import read_results
from clew.formats.results.records import Outcome, ResultRecords

PYTEST = """<?xml version="1.0" encoding="utf-8"?>
<testsuites name="pytest tests">
  <testsuite name="pytest" errors="1" failures="1" skipped="1" tests="5" timestamp="2026-11-15T10:00:00">
    <testcase classname="tests.test_bell" name="test_rings" time="0.125" />
    <testcase classname="tests.test_bell.TestNight" name="test_is_quiet[22-True]" time="0.5">
      <properties><property name="priority" value="high" /></properties>
    </testcase>
    <testcase classname="tests.test_bell" name="test_fails" time="0.001">
      <failure message="AssertionError: assert 1 == 2">def test_fails():
        assert 1 == 2</failure>
      <system-out>printed &lt;failure&gt;</system-out>
    </testcase>
    <testcase classname="tests.test_bell" name="test_skips" time="0.0">
      <skipped type="pytest.skip" message="no bell" />
    </testcase>
    <testcase classname="" name="tests.test_broken" time="0.000">
      <error message="collection failure">E   SyntaxError</error>
    </testcase>
  </testsuite>
</testsuites>
"""


def read(text: str | bytes) -> ResultRecords:
    return read_results(text if isinstance(text, bytes) else text.encode())


def case(inside: str, suite: str = "<testsuite name='s'>") -> Outcome:
    records = read(f"{suite}{inside}</testsuite>")
    assert records.diagnostics == ()
    (outcome,) = records.outcomes
    return outcome


# Verifies: REQ-d00040-A
def test_a_report_of_pytest_gives_every_test_with_status_line_and_parameters() -> None:
    records = read(PYTEST)
    assert records.format == "junit"
    assert records.diagnostics == ()
    found = [(each.classname, each.name, each.parameters, each.status, each.line) for each in records.outcomes]
    assert found == [
        ("tests.test_bell", "test_rings", "", "passed", 4),
        ("tests.test_bell.TestNight", "test_is_quiet", "[22-True]", "passed", 5),
        ("tests.test_bell", "test_fails", "", "failed", 8),
        ("tests.test_bell", "test_skips", "", "skipped", 13),
        ("", "tests.test_broken", "", "error", 16),
    ]
    assert [each.seconds for each in records.outcomes] == [0.125, 0.5, 0.001, 0.0, 0.0]
    assert [each.whole_file for each in records.outcomes] == [False, False, False, False, True]
    assert records.outcomes[1].properties == (("priority", "high"),)
    assert records.outcomes[2].message == "AssertionError: assert 1 == 2"
    assert {each.suite for each in records.outcomes} == {"pytest"}


# Verifies: REQ-d00040-A
def test_a_report_of_pytest_in_its_older_family_gives_file_and_line() -> None:
    found = case(
        '<testcase classname="tests.test_bell" name="test_rings" file="tests/test_bell.py" line="11" time="1"/>'
    )
    assert (found.file, found.test_line) == ("tests/test_bell.py", 12)


# Verifies: REQ-d00040-A
def test_surefire_repeats_count_by_how_the_last_one_ended() -> None:
    flaky = case(
        '<testcase name="rings()" classname="org.bell.BellTest" time="1,234.5">'
        '<flakyFailure message="first"><stackTrace>at x</stackTrace><system-out>text</system-out></flakyFailure>'
        "</testcase>"
    )
    assert (flaky.name, flaky.status, flaky.seconds) == ("rings()", "passed", 1234.5)
    failed = case(
        '<testcase name="rings" classname="org.bell.BellTest"><failure type="AssertionError">expected 1</failure>'
        '<rerunFailure message="second"/></testcase>'
    )
    assert (failed.status, failed.message) == ("failed", "expected 1")


# Verifies: REQ-d00040-A
def test_suites_may_stand_in_suites_and_name_the_file_of_their_tests() -> None:
    records = read(
        "<testsuites><testsuite name='outer' file='spec/outer.js'><testcase name='first'/>"
        "<testsuite name='inner'><properties><property name='a' value='b'/></properties>"
        "<testcase name='second'/></testsuite>"
        "<testcase name='third'/></testsuite></testsuites>"
    )
    assert [(each.name, each.suite, each.file) for each in records.outcomes] == [
        ("first", "outer", "spec/outer.js"),
        ("second", "inner", "spec/outer.js"),
        ("third", "outer", "spec/outer.js"),
    ]
    assert all(each.properties == () for each in records.outcomes)


# Verifies: REQ-d00040-A
@pytest.mark.parametrize(
    ("attributes", "status"),
    [
        ('status="run" result="completed"', "passed"),
        ('status="notrun" result="suppressed"', "skipped"),
        ('status="disabled"', "skipped"),
        ('status="fail"', "failed"),
        ('result="skipped"', "skipped"),
        ("", "passed"),
    ],
)
def test_googletest_and_ctest_say_the_status_in_an_attribute(attributes: str, status: str) -> None:
    assert case(f'<testcase name="Rings" classname="Bell" {attributes}/>').status == status


# Verifies: REQ-d00040-A
def test_a_failure_and_an_error_of_one_test_are_an_error() -> None:
    found = case('<testcase name="a"><failure message="first"/><error message="in teardown"/></testcase>')
    assert (found.status, found.message) == ("error", "in teardown")
    turned = case('<testcase name="a"><error message="in teardown"/><failure message="first"/></testcase>')
    assert (turned.status, turned.message) == ("error", "in teardown")


# Verifies: REQ-d00040-A
@pytest.mark.parametrize(
    ("xml", "name", "classname"),
    [
        ('<testcase classname="bell/rope" name="TestRings/at_noon" time="0.01"/>', "TestRings/at_noon", "bell/rope"),
        ('<testcase name="tests::rings" classname="bell::lib" timestamp="now"/>', "tests::rings", "bell::lib"),
        ('<testcase classname="bell rings" name="bell rings"/>', "bell rings", "bell rings"),
        ('<testcase classname="src/bell.test.ts" name="bell &gt; rings"/>', "bell > rings", "src/bell.test.ts"),
        ('<j:testcase xmlns:j="urn:j" name="rings" class="Bell"/>', "rings", "Bell"),
    ],
)
def test_names_of_other_runners_are_kept_as_they_are(xml: str, name: str, classname: str) -> None:
    found = case(xml)
    assert (found.name, found.classname) == (name, classname)


# Verifies: REQ-d00040-D
def test_what_precedes_a_fault_is_kept_and_the_fault_has_its_line() -> None:
    records = read(PYTEST[: PYTEST.index("<failure")])
    assert [each.name for each in records.outcomes] == ["test_rings", "test_is_quiet"]
    (problem,) = records.diagnostics
    assert (problem.code, problem.severity, problem.line) == ("results.broken", "error", 9)
    assert "2 results before it were read" in problem.message


# Verifies: REQ-d00040-E
def test_a_report_that_declares_entities_is_refused() -> None:
    entities = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    records = read(f'{entities}<testsuite><testcase name="&b;"/></testsuite>')
    assert records.outcomes == ()
    assert [each.code for each in records.diagnostics] == ["results.entities"]
    assert "'a'" in records.diagnostics[0].message


# Verifies: REQ-d00040-E
def test_nothing_outside_the_report_is_fetched(tmp_path) -> None:
    secret = tmp_path / "secret.dtd"
    secret.write_text('<!ENTITY leaked "leaked">')
    records = read(f'<!DOCTYPE x SYSTEM "{secret.as_uri()}"><testsuite><testcase name="a&leaked;b"/></testsuite>')
    assert "leaked" not in str(records.outcomes)


# Verifies: REQ-d00040-E
def test_output_of_tests_is_not_kept() -> None:
    noise = "x" * 200_000
    inside = f"<system-out>{noise}</system-out><failure>{noise}</failure>"
    (outcome,) = read(f"<testsuite><testcase name='a'>{inside}</testcase></testsuite>").outcomes
    assert outcome.status == "failed"
    assert len(outcome.message) == 200


# Verifies: REQ-d00040-D
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            '<?xml version="1.0" encoding="utf-16"?><testsuite><testcase name="grün"/></testsuite>'.encode("utf-16"),
            "grün",
        ),
        (
            '<?xml version="1.0" encoding="iso-8859-1"?><testsuite><testcase name="grün"/></testsuite>'.encode(
                "latin-1"
            ),
            "grün",
        ),
        (b"\xef\xbb\xbf<testsuite><testcase name='gr\xc3\xbcn'/></testsuite>", "grün"),
        (
            b"<testsuite><testcase name='gr\xc3\xbcn'><system-out>\x1b[31m\x00</system-out></testcase></testsuite>",
            "grün",
        ),
        (b'\n\n<?xml version="1.0"?>\n<testsuite><testcase name="gr\xc3\xbcn"/></testsuite>', "grün"),
    ],
)
def test_encodings_and_control_characters_do_not_stop_the_reader(data: bytes, expected: str) -> None:
    records = read(data)
    assert [each.name for each in records.outcomes] == [expected]
    assert records.diagnostics == ()


# Verifies: REQ-d00040-D
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('<?xml version="1.0" encoding="nonsense"?><testsuite/>', "results.broken"),
        ('<?xml version="1.0" encoding="gbk"?><testsuite/>', "results.broken"),
        ("<testsuite><testcase name='a&b'/></testsuite>", "results.broken"),
        ("<testsuite></testsuites>", "results.broken"),
        ("<testsuite><testcase classname='a'/></testsuite>", "results.unnamed"),
        ("<testsuite tests='0'/>", "results.empty"),
        ("<coverage line-rate='1'/>", "results.unknown_format"),
        ("<html></html>", "results.unknown_format"),
    ],
)
def test_what_is_no_whole_report_gives_a_diagnostic(text: str, code: str) -> None:
    records = read(text)
    assert records.outcomes == ()
    assert [each.code for each in records.diagnostics] == [code]


# Verifies: REQ-d00040-D
def test_many_faults_of_one_kind_are_counted_rather_than_listed() -> None:
    records = read("<testsuite>" + "<testcase/>" * 250 + "</testsuite>")
    assert len(records.diagnostics) == 101
    assert records.diagnostics[-1].code == "results.more"
    assert records.diagnostics[-1].message.startswith("150 more")
