"""The requests of questions about source code."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from clew.operation.declare import Option

UseKind = Literal[
    "call",
    "read",
    "write",
    "import",
    "reexport",
    "inherit",
    "override",
    "patch",
    "annotation",
    "decorator",
    "fixture",
    "string",
    "export",
    "argument",
    "delete",
]
Basis = Literal["exact", "index", "inferred", "name"]
SymbolName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=1_000,
        description="NAME, Class.name, module.name, FILE::qualname or FILE:LINE",
    ),
    Option(
        positional=True,
        metavar="TARGET",
        needed=("{command} needs to know of what.", "Write `{command} NAME`, Class.name, FILE::name or FILE:LINE."),
    ),
]


class UsesQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The uses of a symbol."""

    target: SymbolName
    kind: Annotated[
        tuple[UseKind, ...], Meta(description="Only these kinds"), Option(metavar="KIND", about="only this kind")
    ] = ()
    basis: Annotated[
        tuple[Basis, ...],
        Meta(description="Only those known so"),
        Option(metavar="BASIS", about="only those that are exact, from an index, inferred or known by name"),
    ] = ()
    tests: Annotated[
        bool | None,
        Meta(description="true: only uses in tests; false: none of them"),
        Option(about="only uses in tests; --no-tests: only uses outside of tests"),
    ] = None
    limit: Annotated[int, Meta(ge=1, le=500, description="Uses at most"), Option(metavar="N", default=40)] = 30
