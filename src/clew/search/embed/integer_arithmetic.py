"""Lets an ONNX model whose weights are stored in 8 bits also compute in 8 bits.

A model exported with 8-bit weights often widens them to floats first (Cast, then Mul by a scale for each column), and
multiplies floats. Processors multiply bytes two to four times as fast. So each of those products is replaced:

    MatMul(x, Mul(Cast(w), scale))   ->   MatMulIntegerToFloat(bytes of x, w, scale) * step of x

Each row of x, that is each token, has its own step. So a token's result does not depend on what else is in the batch,
and sums of bytes are exact in any order: a text has the same vector alone and among others.

Rows that are looked up are widened after that, not the whole table before: tables of words are the largest part of a
model, and widening one takes longer than all else that loading does, and four times its room.

    Gather(Mul(Cast(w), scale), ids)   ->   Mul(Cast(Gather(w, ids)), Gather(scale, ids))

Some processors add two products of bytes in 16 bits and cut off what does not fit. `trial()` tells; there x is given
7 bits, which always fit.
"""

import struct
from collections.abc import Iterator, Mapping

import msgspec

from clew.search.embed import onnx_graph
from clew.search.embed.onnx_graph import CONTRIBUTED, Constant, Element, OnnxNode, attribute, constant, node

LEVELS, LEVELS_IF_SUMS_ARE_CUT = 127, 63
"""Steps of x on each side of zero: 8 bits, or 7."""
TRIAL_SIZE = 64

# Constants that are added to the graph.
_ONE, _ZERO, _TINY, _SHARE = "clew.one", "clew.zero", "clew.tiny", "clew.share"
_MIDDLE, _MIDDLE_BYTE, _FLAT, _ROWS = "clew.middle", "clew.middle_byte", "clew.flat", "clew.rows"


class _Widened(msgspec.Struct, frozen=True):
    """A matrix of bytes that the graph widens before use."""

    weights: Constant
    scale: str
    halfway: str
    """Its name between the two steps."""
    by_row: bool
    """True if each row has a scale of its own; otherwise each column has."""


def with_integer_arithmetic(data: bytes, levels: int = LEVELS) -> bytes:
    """The model with its products done in bytes. ValueError where it has none of the kind described above."""
    model = onnx_graph.read_model(data)
    widened = _widened(model.nodes, model.constants)
    products = [widened[item.inputs[1]] for item in model.nodes if _is_product(item, widened)]
    if not products:
        raise ValueError("the graph has no product with widened 8-bit weights")
    tables = [widened[item.inputs[0]] for item in model.nodes if _is_lookup(item, widened)]
    return onnx_graph.rewritten(
        model,
        nodes=_in_bytes(model.nodes, widened, {matrix.halfway for matrix in products + tables}),
        constants=_constants(levels, {matrix.weights.shape[0] for matrix in products}),
        opset=onnx_graph.opset(CONTRIBUTED, 1),
    )


def trial() -> bytes:
    """A model that adds products of the largest bytes: its input `x` of bytes times a matrix full of 127."""
    size = (TRIAL_SIZE, TRIAL_SIZE)
    return onnx_graph.new_model(
        [node("MatMulInteger", ["x", "w"], ["y"])],
        [constant("w", Element.INT8, bytes([127]) * TRIAL_SIZE**2, size)],
        inputs=onnx_graph.graph_input("x", Element.UINT8),
        outputs=onnx_graph.graph_output("y", Element.INT32),
    )


def _widened(nodes: tuple[OnnxNode, ...], constants: Mapping[str, Constant]) -> dict[str, _Widened]:
    casts: dict[str, Constant] = {}
    found: dict[str, _Widened] = {}
    for item in nodes:
        first = item.inputs[0] if item.inputs else ""
        if item.operation == "Cast" and first in constants and constants[first].element == Element.INT8:
            casts[item.outputs[0]] = constants[first]
        elif item.operation == "Mul" and first in casts:
            weights, scale = casts[first], constants.get(item.inputs[1])
            if scale is not None and scale.shape in ((1, *weights.shape[1:]), (*weights.shape[:1], 1)):
                found[item.outputs[0]] = _Widened(weights, scale.name, first, by_row=scale.shape[0] != 1)
    return found


def _is_product(item: OnnxNode, widened: Mapping[str, _Widened]) -> bool:
    return item.operation == "MatMul" and item.inputs[1] in widened and not widened[item.inputs[1]].by_row


def _is_lookup(item: OnnxNode, widened: Mapping[str, _Widened]) -> bool:
    return item.operation == "Gather" and item.inputs[0] in widened and widened[item.inputs[0]].by_row


def _in_bytes(nodes: tuple[OnnxNode, ...], widened: Mapping[str, _Widened], needless: set[str]) -> Iterator[bytes]:
    in_bytes: set[str] = set()
    for item in nodes:
        if _is_lookup(item, widened):
            rows, y, matrix = item.inputs[1], item.outputs[0], widened[item.inputs[0]]
            yield node("Gather", [matrix.weights.name, rows], [f"{y}.bytes"])
            yield node("Cast", [f"{y}.bytes"], [f"{y}.steps"], attribute("to", Element.FLOAT))
            yield node("Gather", [matrix.scale, rows], [f"{y}.scale"])
            yield node("Mul", [f"{y}.steps", f"{y}.scale"], [y])
        elif _is_product(item, widened):
            x, y, matrix = item.inputs[0], item.outputs[0], widened[item.inputs[1]]
            if x not in in_bytes:
                in_bytes.add(x)
                yield from _bytes_of(x, matrix.weights.shape[0])
            yield node("Reshape", [matrix.scale, _FLAT], [f"{y}.scale"])
            inputs = [f"{x}.bytes", matrix.weights.name, _ONE, f"{y}.scale", _MIDDLE_BYTE]
            yield node("MatMulIntegerToFloat", inputs, [f"{y}.steps"], domain=CONTRIBUTED)
            yield node("Mul", [f"{y}.steps", f"{x}.step"], [y])
        elif needless.isdisjoint((*item.inputs, *item.outputs)):
            yield item.encoded


def _bytes_of(x: str, width: int) -> Iterator[bytes]:
    """x in bytes around the middle, and the step between two bytes in each row."""
    along_row = attribute("axes", [-1]), attribute("keepdims", 1)
    yield node("ReduceMax", [x], [f"{x}.highest"], *along_row)
    yield node("ReduceMin", [x], [f"{x}.lowest"], *along_row)
    yield node("Neg", [f"{x}.lowest"], [f"{x}.depth"])
    yield node("Max", [f"{x}.highest", f"{x}.depth", _TINY], [f"{x}.reach"])
    yield node("Mul", [f"{x}.reach", _SHARE], [f"{x}.step"])
    # QuantizeLinear takes a step and a middle for each row, but only of a flat list of rows.
    yield node("Reshape", [f"{x}.step", _FLAT], [f"{x}.list_step"])
    yield node("Mul", [f"{x}.list_step", _ZERO], [f"{x}.list_zero"])
    yield node("Add", [f"{x}.list_zero", _MIDDLE], [f"{x}.list_middle"])
    yield node("Cast", [f"{x}.list_middle"], [f"{x}.list_middle_byte"], attribute("to", Element.UINT8))
    yield node("Reshape", [x, f"{_ROWS}.{width}"], [f"{x}.list"])
    quantized = [f"{x}.list", f"{x}.list_step", f"{x}.list_middle_byte"]
    yield node("QuantizeLinear", quantized, [f"{x}.list_bytes"], attribute("axis", 0))
    yield node("Shape", [x], [f"{x}.shape"])
    yield node("Reshape", [f"{x}.list_bytes", f"{x}.shape"], [f"{x}.bytes"])


def _constants(levels: int, widths: set[int]) -> Iterator[bytes]:
    middle = levels + 1
    for name, number in ((_ONE, 1), (_ZERO, 0), (_TINY, 1e-9), (_SHARE, 1 / levels), (_MIDDLE, middle)):
        yield constant(name, Element.FLOAT, struct.pack("<f", number))
    yield constant(_MIDDLE_BYTE, Element.UINT8, bytes([middle]))
    yield constant(_FLAT, Element.INT64, struct.pack("<q", -1), [1])
    for width in sorted(widths):
        yield constant(f"{_ROWS}.{width}", Element.INT64, struct.pack("<2q", -1, width), [2])
