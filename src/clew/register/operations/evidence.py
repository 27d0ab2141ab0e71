"""Operations that record evidence: tests, other evidence, adoption, and new numbers."""

import shlex
import subprocess
from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument
from clew.formats.register.records import requirement_object
from clew.operation.call import Call
from clew.operation.declare import Option
from clew.operation.one_line import MANY_LINES
from clew.register import results
from clew.register.change.draft import author_of
from clew.register.operations.answers import RunView
from clew.register.operations.fields import RegisterOperation, read_input, register_of
from clew.register.requests import Adoption, Id, OtherEvidence, SavedRun, SingleTest


class RecordTest(
    SingleTest,
    RegisterOperation,
    tool="req_test_record",
    verb="req test record",
    title="Record a test",
    summary="record the outcome of one test",
    writes=True,
    idempotent=False,
):
    """Attaches the outcome of a test that you ran to a requirement, with the commit and the files that carry its id.
    For logs of test runs call req_test_run."""

    def run(self, call: Call) -> results.Recorded:
        return register_of(call).record_test(author_of(call), self)


class RecordTestRun(
    SavedRun,
    RegisterOperation,
    tool="req_test_run",
    title="Record a test run",
    writes=True,
    idempotent=False,
    trim=("results", "promoted", "not_promoted"),
):
    """Reads a saved log (cargo test, pytest -v, JUnit XML, pytest JSON) and attaches a record to each requirement whose
    id a test's name holds (req_0042_...). promote=true verifies what passes and is not retired. Runs nothing."""

    def run(self, call: Call) -> RunView:
        register = register_of(call)
        allowed = call.project.context.live.now().register.logs
        return _view(register.record_run(author_of(call), self, register.read_source(self.from_file, allowed)))


SavedLog = Annotated[str | None, Meta(description="The saved log"), Option(metavar="FILE", exclusive=True)]


class TestRunCommand(RecordTestRun, verb="req test run", summary="record the tests of a log", writes=True):
    """Records a log that is saved, or that a command prints."""

    __test__ = False  # keeps pytest from collecting the class itself

    from_file: SavedLog = None  # type: ignore[assignment]
    cmd: Annotated[
        str | None,
        Meta(description="The command that prints the log; it runs in the project"),
        MANY_LINES,
        Option(metavar="COMMAND", exclusive=True),
    ] = None
    map: Annotated[
        str | None, Meta(description="Names of tests as JSON, each with the ids it verifies"), Option(metavar="FILE")
    ] = None

    def run(self, call: Call) -> RunView:
        names = _names(self.map) if self.map else {}
        return _view(register_of(call).record_run(author_of(call), self, self._log(call), names))

    def _log(self, call: Call) -> bytes:
        if self.from_file:
            return read_input(self.from_file)
        if not self.cmd:
            raise InvalidArgument("`test run` needs --from-file or --cmd.", hint="For instance --cmd 'cargo test'.")
        try:
            # The exit code says only that some test failed; the log says which.
            done = subprocess.run(
                shlex.split(self.cmd),
                cwd=call.project.config.root,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
            )
        except (OSError, ValueError) as error:
            raise InvalidArgument(
                f"'{self.cmd}' cannot be run: {error}.", hint="Name a program and its options."
            ) from error
        return done.stdout


def _view(done: results.RunReport | None) -> RunView:
    nothing = {"matched": 0, "message": results.NO_MATCH}
    return cast("RunView", nothing if done is None else msgspec.to_builtins(done))


def _names(source: str) -> dict[str, tuple[str, ...]]:
    try:
        return msgspec.json.decode(read_input(source), type=dict[str, tuple[str, ...]])
    except msgspec.DecodeError as error:
        raise InvalidArgument(f"{source}: {error}.", hint="See `clew req schema test-map`.") from error


class ListTests(RegisterOperation, verb="req test list", summary="the test records of a requirement"):
    """Lists the test records of one requirement."""

    id: Id

    def run(self, call: Call) -> list[Any]:
        found: list[Any] = requirement_object(register_of(call).show(self.id))["tests"]
        return found


class VerifyRequirement(
    OtherEvidence,
    RegisterOperation,
    tool="req_verify",
    verb="req verify",
    title="Record other evidence",
    summary="record evidence by composition or inspection",
    writes=True,
    idempotent=False,
):
    """Records that a requirement holds by composition (tests of others cover it; cite them) or inspection (somebody
    looked). promote=true makes it verified where it is implemented."""

    def run(self, call: Call) -> results.Verified:
        return register_of(call).verify(author_of(call), self)

    def render(self, result: results.Verified) -> str:
        return f"{result.id}: {result.kind} recorded{', promoted to verified' if result.promoted else ''}."


class AdoptRequirements(
    Adoption, RegisterOperation, verb="req adopt", summary="take over requirements of what exists already", writes=True
):
    """Walks requirements of something that exists up to a status, one history entry for each step."""

    def run(self, call: Call) -> Any:
        if bool(self.ids) is self.all_drafts:
            raise InvalidArgument("Name what to adopt, or pass --all-drafts.", hint="One of the two.")
        return register_of(call).adopt(author_of(call), self)

    def render(self, result: Any) -> str:
        lines = [f"{each.id}  {' -> '.join(each.hops) or 'as far already'}" for each in result.adopted]
        return "\n".join(lines) or "There is nothing to adopt."


class RenumberRequirements(
    RegisterOperation,
    verb="req renumber",
    summary="give new ids to requirements whose ids mean others in a revision",
    writes=True,
):
    """Moves requirements out of the way of those that have the same ids in another revision."""

    base: Annotated[str, Meta(description="The revision whose ids stay"), Option(metavar="REF")]
    dry_run: Annotated[bool, Meta(description="Only say what would happen")] = False

    def run(self, call: Call) -> Any:
        return register_of(call).renumber(author_of(call), self.base, dry_run=self.dry_run)

    def render(self, result: Any) -> str:
        lines = [
            f"{old} -> {new}  {' '.join(result.markers.get(old, ()))}".rstrip()
            for old, new in result.renumbered.items()
        ]
        if result.markers:
            lines.append("The places named still say the old id: clew req coverage --remap OLD=NEW --apply.")
        return "\n".join(lines) or "No id means two requirements."
