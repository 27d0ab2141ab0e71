"""ONNX model files: the nodes and constants of their graph, read and written without the ONNX library."""

import struct
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum

import msgspec

_MODEL_IR_VERSION, _MODEL_GRAPH, _MODEL_OPSET = 1, 7, 8
_GRAPH_NODE, _GRAPH_NAME, _GRAPH_CONSTANT, _GRAPH_INPUT, _GRAPH_OUTPUT = 1, 2, 5, 11, 12
_NODE_INPUT, _NODE_OUTPUT, _NODE_OPERATION, _NODE_ATTRIBUTE, _NODE_DOMAIN = 1, 2, 4, 5, 7
_CONSTANT_DIMENSION, _CONSTANT_TYPE, _CONSTANT_NAME, _CONSTANT_BYTES = 1, 2, 8, 9
_ATTRIBUTE_NAME, _ATTRIBUTE_FLOAT, _ATTRIBUTE_NUMBER, _ATTRIBUTE_NUMBERS, _ATTRIBUTE_TYPE = 1, 2, 3, 8, 20
_IS_FLOAT, _IS_NUMBER, _IS_NUMBERS = 1, 2, 7

CONTRIBUTED = "com.microsoft"
"""The operators that onnxruntime adds to those of ONNX."""
NONE = ""
"""In the place of an input that is left out."""


class Element(IntEnum):
    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    INT32 = 6
    INT64 = 7


class OnnxNode(msgspec.Struct, frozen=True):
    operation: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    encoded: bytes


class Constant(msgspec.Struct, frozen=True):
    """A constant; the values stay where the file is."""

    name: str
    element: int
    shape: tuple[int, ...]
    values: memoryview


class OnnxModel(msgspec.Struct, frozen=True):
    nodes: tuple[OnnxNode, ...]
    constants: dict[str, Constant]
    rest_of_graph: tuple[memoryview, ...]
    """Every encoded field of the graph but the nodes."""
    rest: tuple[memoryview, ...]
    """Every encoded field of the file but the graph."""


def read_model(data: bytes) -> OnnxModel:
    """ValueError where the bytes are no model."""
    rest: list[memoryview] = []
    graph = memoryview(b"")
    for number, value, encoded in fields(memoryview(data)):
        if number == _MODEL_GRAPH and isinstance(value, memoryview):
            graph = value
        else:
            rest.append(encoded)
    nodes: list[OnnxNode] = []
    constants: dict[str, Constant] = {}
    rest_of_graph: list[memoryview] = []
    for number, value, encoded in fields(graph):
        if number == _GRAPH_NODE and isinstance(value, memoryview):
            nodes.append(_read_node(value, encoded))
            continue
        rest_of_graph.append(encoded)
        if number == _GRAPH_CONSTANT and isinstance(value, memoryview):
            constant = _read_constant(value)
            constants[constant.name] = constant
    return OnnxModel(tuple(nodes), constants, tuple(rest_of_graph), tuple(rest))


def _read_node(body: memoryview, encoded: memoryview) -> OnnxNode:
    texts: dict[int, list[str]] = {_NODE_INPUT: [], _NODE_OUTPUT: [], _NODE_OPERATION: []}
    for number, value, _ in fields(body):
        if number in texts and isinstance(value, memoryview):
            texts[number].append(bytes(value).decode())
    operation = "".join(texts[_NODE_OPERATION])
    return OnnxNode(operation, tuple(texts[_NODE_INPUT]), tuple(texts[_NODE_OUTPUT]), bytes(encoded))


def _read_constant(body: memoryview) -> Constant:
    name, element, values = "", 0, memoryview(b"")
    shape: list[int] = []
    for number, value, _ in fields(body):
        if number == _CONSTANT_NAME and isinstance(value, memoryview):
            name = bytes(value).decode()
        elif number == _CONSTANT_BYTES and isinstance(value, memoryview):
            values = value
        elif number == _CONSTANT_TYPE and isinstance(value, int):
            element = value
        elif number == _CONSTANT_DIMENSION:
            # Either one number in a field of its own, or several packed into one field.
            shape += [value] if isinstance(value, int) else list(value)
    return Constant(name, element, tuple(shape), values)


def rewritten(model: OnnxModel, nodes: Iterable[bytes], constants: Iterable[bytes], opset: bytes) -> bytes:
    """The model with other nodes, and with more constants and operators."""
    graph: list[bytes | memoryview] = [*nodes, *model.rest_of_graph, *constants]
    start = head(_MODEL_GRAPH, sum(map(len, graph)))
    opsets = () if opset in model.rest else (opset,)
    return b"".join((*model.rest, *opsets, start, *graph))


def new_model(nodes: Iterable[bytes], constants: Iterable[bytes], *, inputs: bytes, outputs: bytes) -> bytes:
    graph = b"".join([*nodes, field(_GRAPH_NAME, "graph"), *constants, inputs, outputs])
    return field(_MODEL_IR_VERSION, 8) + field(_MODEL_GRAPH, graph) + opset("", 17)


def opset(domain: str, version: int) -> bytes:
    return field(_MODEL_OPSET, field(1, domain) + field(2, version))


def graph_input(name: str, element: Element) -> bytes:
    return field(_GRAPH_INPUT, _port(name, element))


def graph_output(name: str, element: Element) -> bytes:
    return field(_GRAPH_OUTPUT, _port(name, element))


def _port(name: str, element: Element) -> bytes:
    return field(1, name) + field(2, field(1, field(1, element)))


def new_node(
    operation: str, inputs: Sequence[str], outputs: Sequence[str], *attributes: bytes, domain: str = ""
) -> OnnxNode:
    encoded = node(operation, inputs, outputs, *attributes, domain=domain)
    return OnnxNode(operation, tuple(inputs), tuple(outputs), encoded)


def node(operation: str, inputs: Sequence[str], outputs: Sequence[str], *attributes: bytes, domain: str = "") -> bytes:
    body = [field(_NODE_INPUT, name) for name in inputs]
    body += [field(_NODE_OUTPUT, name) for name in outputs]
    body += [field(_NODE_OPERATION, operation)]
    body += [field(_NODE_ATTRIBUTE, value) for value in attributes]
    body += [field(_NODE_DOMAIN, domain)] if domain else []
    return field(_GRAPH_NODE, b"".join(body))


def attribute(name: str, value: float | Sequence[int]) -> bytes:
    if isinstance(value, float):
        number = _encoded(_ATTRIBUTE_FLOAT << 3 | FIXED32) + struct.pack("<f", value)
        return field(_ATTRIBUTE_NAME, name) + number + field(_ATTRIBUTE_TYPE, _IS_FLOAT)
    if isinstance(value, int):
        return field(_ATTRIBUTE_NAME, name) + field(_ATTRIBUTE_NUMBER, value) + field(_ATTRIBUTE_TYPE, _IS_NUMBER)
    numbers = b"".join(field(_ATTRIBUTE_NUMBERS, number) for number in value)
    return field(_ATTRIBUTE_NAME, name) + numbers + field(_ATTRIBUTE_TYPE, _IS_NUMBERS)


def constant(name: str, element: Element, values: bytes, shape: Sequence[int] = ()) -> bytes:
    body = [field(_CONSTANT_DIMENSION, size) for size in shape]
    body += [field(_CONSTANT_TYPE, element), field(_CONSTANT_NAME, name), field(_CONSTANT_BYTES, values)]
    return field(_GRAPH_CONSTANT, b"".join(body))


VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def fields(message: memoryview) -> Iterator[tuple[int, int | memoryview, memoryview]]:
    """Number, value and raw bytes of each field in order. ValueError where the message is malformed."""
    at = 0
    while at < len(message):
        start = at
        key, at = _varint(message, at)
        kind = key & 7
        value: int | memoryview
        if kind == VARINT:
            value, at = _varint(message, at)
        else:
            if kind == BYTES:
                size, at = _varint(message, at)
            elif kind in (FIXED64, FIXED32):
                size = 8 if kind == FIXED64 else 4
            else:
                raise ValueError(f"wire type {kind} is not known")
            value, at = message[at : at + size], at + size
            if at > len(message):
                raise ValueError("a field ends beyond its message")
        yield key >> 3, value, message[start:at]


def field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _encoded(number << 3 | VARINT) + _encoded(value)
    payload = value.encode() if isinstance(value, str) else value
    return head(number, len(payload)) + payload


def head(number: int, size: int) -> bytes:
    """The bytes before a field of `size` bytes: its number, its type and its size."""
    return _encoded(number << 3 | BYTES) + _encoded(size)


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    result = shift = 0
    while at < len(message) and shift < 64:
        byte = message[at]
        at += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, at
        shift += 7
    raise ValueError("a number has no end")


def _encoded(number: int) -> bytes:
    number &= 2**64 - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
