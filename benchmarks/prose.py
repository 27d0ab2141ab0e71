"""Sentences for the generated project: deterministic, of realistic length, with common and rare words."""

import random


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


COMPONENTS = _words("""
    gateway scheduler ledger registry dispatcher archive console planner importer exporter notifier resolver
    session-store rate-limiter audit-trail billing-run work-queue search-index policy-engine device-agent
""")

VERBS = _words("""
    accept reject record publish return retain delete encrypt sign compare notify retry cancel archive display
    validate forward throttle reconcile export import refuse log restore
""")

OBJECTS = _words("""
    invoice payment request response message certificate reading measurement session credential document attachment
    shipment schedule address contract signature snapshot backup voucher subscription telemetry alarm permit
""")

ADJECTIVES = _words("""
    expired duplicate incomplete encrypted signed pending archived unknown oversized malformed scheduled anonymous
    overdue trusted external internal partial late
""")

CONDITIONS = (
    "within {n} seconds of the first attempt",
    "before the next {object} is accepted",
    "unless an operator has approved the {adjective} {object}",
    "when more than {n} attempts were made within one hour",
    "in the order in which the {component} received them",
    "and state the reason in the audit record",
    "without changing any other {object} of the same account",
    "for at least {n} days after the contract ended",
    "even if the {component} is restarted in between",
    "and never show the content of any {object} in a log",
)

STATEMENTS = (
    "Operators told us that any {adjective} {object} is the most frequent reason for a call to the help desk.",
    "Any {object} that reaches the {component} twice must not have two effects, whatever the network does.",
    "The {component} is the only place that knows whether any {object} is {adjective}, so the rule belongs here.",
    "Earlier releases let the {component} {verb} any {object} silently; {n} incidents were traced back to that.",
    "The limit of {n} is the largest value the {component} handled in the load test without losing any {object}.",
    "Whoever reads the audit record must be able to tell why the {component} chose to {verb} the {object}.",
    "Nothing in this requirement depends on how the {component} stores any {adjective} {object}.",
    "A regulator may ask for every {adjective} {object} of the last {n} months at short notice.",
    "The {component} and the {other} agree on this only through the signed {object}, never through shared state.",
)

TITLES = (
    "{Verb} any {adjective} {object}",
    "How the {component} may {verb} any {object}",
    "{Adjective} {object} in the {component}",
    "Limits of the {component} for any {adjective} {object}",
    "The {component} and the {other}",
)


class Prose:
    """A source of sentences. The same random numbers give the same text."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def title(self) -> str:
        return self._fill(self._rng.choice(TITLES))

    def assertion(self) -> str:
        rule = self._fill("The {component} SHALL {verb} every {adjective} {object}")
        return f"{rule} {self._fill(self._rng.choice(CONDITIONS))}."

    def paragraph(self, sentences: int) -> str:
        return " ".join(self._fill(self._rng.choice(STATEMENTS)) for _ in range(sentences))

    def _fill(self, pattern: str) -> str:
        verb, adjective = self._pick(VERBS), self._pick(ADJECTIVES)
        return pattern.format(
            component=self._pick(COMPONENTS),
            other=self._pick(COMPONENTS),
            verb=verb,
            Verb=verb.capitalize(),
            adjective=adjective,
            Adjective=adjective.capitalize(),
            object=self._pick(OBJECTS),
            n=self._rng.randint(2, 90),
        )

    def _pick(self, words: tuple[str, ...]) -> str:
        """The first words of a list are common and the last ones rare, as in real texts."""
        return words[int(len(words) * self._rng.random() ** 1.8)]
