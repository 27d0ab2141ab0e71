"""The file of reviewed links, as one node that carries them.

As part of the graph it is noticed when it changes, comes from the cache when it does not, and belongs to the state that
answers are computed from.
"""

from typing import Any

from clew.formats.diagnostics import Diagnostic
from clew.formats.reviews import REVIEWS_VERSION, Review, ReviewRecords, read_reviews
from clew.graph.build.link import Contribution, Definition
from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind, Source
from clew.workspace.find import Selection

_ID = "reviews"


class ReviewsReader:
    name = "reviews"
    version = str(REVIEWS_VERSION)
    records_type: Any = ReviewRecords

    def __init__(self, path: str) -> None:
        self.selection = Selection(folders=(), patterns=(), globs=(path,))

    def read(self, data: bytes, path: str) -> ReviewRecords:
        return read_reviews(data)

    def diagnose(self, records: ReviewRecords) -> tuple[Diagnostic, ...]:
        return records.diagnostics

    def contribute(self, records: ReviewRecords, path: str) -> Contribution:
        source = Source(path, 1, max(len(records.reviews), 1))
        fields = {"reviews": records.reviews, "text": ""}
        return Contribution((Definition(Node(_ID, NodeKind.REMAINDER, "Reviewed links", fields, source)),))


def recorded_reviews(graph: Graph) -> tuple[Review, ...]:
    """Reviews in the file of reviews; none if there is no such file."""
    node = graph.get_node(_ID)
    return () if node is None else node.get_field("reviews", ())
