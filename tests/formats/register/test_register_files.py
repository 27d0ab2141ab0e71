"""Reading and writing register files."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from clew.errors import FormatError, NewerFormat, Tampered
from clew.formats.register.canonical import canonical, pretty
from clew.formats.register.directory import read_directory, write_directory
from clew.formats.register.model import RegisterLayout, RequirementKind
from clew.formats.register.single import migrate, read_single, write_single

Seal = Callable[[dict[str, Any]], bytes]


# Verifies: REQ-o00031-A, REQ-d00080-B
def test_the_real_register_is_verified_and_written_back_byte_for_byte(real: bytes) -> None:
    register = read_single(real)

    assert len(register.requirements) == 133
    assert len(register.hazards) == 1
    assert write_single(register) == real


# Verifies: REQ-d00080-A
def test_the_real_register_becomes_a_folder_and_a_file_again(real: bytes) -> None:
    register = read_single(real)

    folder = write_directory(msgspec.structs.replace(register, layout=RegisterLayout.DIRECTORY))
    back = msgspec.structs.replace(read_directory(folder), layout=RegisterLayout.SINGLE)

    assert len(folder) == 134
    assert write_single(back) == real


# Verifies: REQ-o00031-A
def test_a_file_is_pretty_sorted_json_without_a_line_feed_at_its_end(document: dict[str, Any], sealed: Seal) -> None:
    data = write_single(read_single(sealed(document)))

    expected = json.dumps(json.loads(data), indent=2, sort_keys=True, ensure_ascii=False)
    assert data.decode() == expected


# Verifies: REQ-d00080-B
def test_odd_signs_are_spelled_as_req_spells_them() -> None:
    odd = {"\U0001f600": 'a"\\\x01\x1f\b\t\n\f\r\x7f\u2028é', "z": [], "é": {}, "A": None}

    assert canonical(odd).decode() == json.dumps(odd, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert pretty(odd).decode() == json.dumps(odd, sort_keys=True, indent=2, ensure_ascii=False)


# Verifies: REQ-o00031-B
def test_unknown_keys_survive_at_every_level(document: dict[str, Any], sealed: Seal) -> None:
    requirement = document["requirements"]["REQ-0001"]
    document["later"] = {"b": [1, {"c": None}]}
    document["_config"] = {"gate": {"new": True}}
    document["hazards"] = {"HAZ-0001": {"id": "HAZ-0001", "anything": [1]}}
    requirement |= {"dossier": {"x": 1}, "extras": [2], "(unknown keys)": {"title": "no"}, "validation": {"plan": "p"}}
    requirement["links"] = [{"kind": "Parent", "target": "REQ-0001", "weight": 3}]
    requirement["history"][0]["signature"] = "abc"
    requirement["tests"] = [
        {"at": "t", "actor": "a", "commit": "c", "outcome": "Pass", "notes": "", "kind": "Automated", "took_ms": 7}
    ]
    data = sealed(document)

    written = json.loads(write_single(read_single(data)))

    assert {key: value for key, value in written.items() if key not in ("_warning", "_instructions")} == json.loads(
        data
    )


# Verifies: REQ-o00031-B
def test_unknown_keys_survive_in_a_folder(document: dict[str, Any], sealed: Seal) -> None:
    document["later"] = 1
    document["requirements"]["REQ-0001"]["history"][0]["signature"] = "abc"
    register = msgspec.structs.replace(read_single(sealed(document)), layout=RegisterLayout.DIRECTORY)

    assert read_directory(write_directory(register)).extras == {"later": 1}
    assert read_directory(write_directory(register)).requirements == register.requirements


# Verifies: REQ-d00080-D
def test_purpose_and_configuration_of_a_folder_survive(document: dict[str, Any], sealed: Seal) -> None:
    document |= {"_purpose": "Keep accounts safe", "_config": {"coverage": {"extensions": ["rs"]}}}
    register = msgspec.structs.replace(read_single(sealed(document)), layout=RegisterLayout.DIRECTORY)

    back = read_directory(write_directory(register))

    assert (back.purpose, back.config) == ("Keep accounts safe", {"coverage": {"extensions": ["rs"]}})


def test_a_requirement_in_a_folder_keeps_the_declared_order(document: dict[str, Any], sealed: Seal) -> None:
    register = msgspec.structs.replace(read_single(sealed(document)), layout=RegisterLayout.DIRECTORY)

    part = json.loads(write_directory(register)["requirements/REQ-0001.req"])

    assert list(part)[:4] == ["id", "title", "statement", "rationale"]
    assert list(part)[-2:] == ["history", "tests"]


# Verifies: REQ-d00080-A
@pytest.mark.parametrize("tag", ["req-v1", "req-v2"])
def test_older_formats_are_read_with_what_they_leave_out(document: dict[str, Any], sealed: Seal, tag: str) -> None:
    del document["requirements"]["REQ-0001"]["tests"]
    del document["requirements"]["REQ-0001"]["history"][0]["actor_kind"]

    register = read_single(sealed({**document, "_format": tag}))

    assert register.format_tag == tag
    assert register.requirements["REQ-0001"].kind is RequirementKind.NON_FUNCTIONAL
    assert read_single(write_single(register)).format_tag == "req-v3"
    assert json.loads(write_single(register))["requirements"]["REQ-0001"]["tests"] == []


# Verifies: REQ-d00080-A
def test_migration_renews_the_tag_and_keeps_the_rest(document: dict[str, Any], sealed: Seal) -> None:
    old = sealed({**document, "_format": "req-v1"})

    done = migrate(old)

    assert (done.before, done.after) == ("req-v1", "req-v3")
    assert done.data is not None
    assert json.loads(done.data) == {**json.loads(old), "_format": "req-v3"}
    assert migrate(done.data).data is None


# Verifies: REQ-d00081-A
def test_a_changed_value_is_refused_with_the_way_to_repair_it(document: dict[str, Any], sealed: Seal) -> None:
    data = sealed(document).replace(b"at once", b"at last")

    with pytest.raises(Tampered) as caught:
        read_single(data)

    assert "clew req repair --confirm-direct-edit" in caught.value.hint
    assert "git checkout" in caught.value.hint
    assert read_single(data, trusted=True).requirements["REQ-0001"].statement.endswith("at last.")
    with pytest.raises(Tampered):
        migrate(data.replace(b"req-v3", b"req-v1"))


# Verifies: REQ-d00081-A
def test_another_layout_of_the_same_json_is_no_change(document: dict[str, Any], sealed: Seal) -> None:
    data = sealed(document)
    assert read_single(json.dumps(json.loads(data)).encode()) == read_single(data)


# Verifies: REQ-d00081-A
def test_a_requirement_changed_in_a_folder_is_refused(document: dict[str, Any], sealed: Seal) -> None:
    files = write_directory(msgspec.structs.replace(read_single(sealed(document)), layout=RegisterLayout.DIRECTORY))
    files["requirements/REQ-0001.req"] = files["requirements/REQ-0001.req"].replace(b"at once", b"at last")

    with pytest.raises(Tampered):
        read_directory(files)


# Verifies: REQ-d00081-B
@pytest.mark.parametrize("change", [{"_format": "req-v4"}, {"_format": "req-v10"}, {"_schema_rev": 2}])
def test_what_a_newer_program_wrote_is_refused(document: dict[str, Any], sealed: Seal, change: dict[str, Any]) -> None:
    with pytest.raises(NewerFormat) as caught:
        read_single(sealed({**document, **change}))
    assert str(next(iter(change.values()))) in caught.value.message
    assert "Update Clew" in caught.value.hint


# Verifies: REQ-d00081-C
@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda data: data[: len(data) // 2], "not valid JSON"),
        (lambda data: b"", "not valid JSON"),
        (lambda data: b"\xef\xbb\xbf" + data, "not valid JSON"),
        (lambda data: b"[]", "not an object"),
        (lambda data: b"[" * 100_000, "not valid JSON"),
        (lambda data: data.replace(b'"name"', b'"name": "x", "name"'), "the key 'name' twice"),
        (lambda data: b"<<<<<<< HEAD\n" + data, "unresolved merge"),
        (lambda data: data.replace(b'"req-v3"', b'"other"'), "unknown format 'other'"),
        (lambda data: data.replace(b'"_format"', b'"_farmat"'), "no _format"),
        (lambda data: data.replace(b'"_integrity"', b'"_tegrity"'), "no _integrity"),
    ],
)
def test_each_damage_has_its_own_message(
    document: dict[str, Any], sealed: Seal, spoil: Callable[[bytes], bytes], says: str
) -> None:
    with pytest.raises(FormatError) as caught:
        read_single(spoil(sealed(document)))
    assert says in caught.value.message
    assert caught.value.hint


# Verifies: REQ-d00081-C
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"status": "Postponed"}, "Postponed"),
        ({"title": 7}, "title"),
        ({"links": ["REQ-0001"]}, "cannot be read"),
        ({"id": "REQ-0009"}, "calls itself REQ-0009"),
    ],
)
def test_a_requirement_of_the_wrong_shape_is_named(
    document: dict[str, Any], sealed: Seal, change: dict[str, Any], says: str
) -> None:
    document["requirements"]["REQ-0001"] |= change
    with pytest.raises(FormatError) as caught:
        read_single(sealed(document))
    assert "REQ-0001" in caught.value.message
    assert says in caught.value.message


def test_a_single_file_in_the_place_of_an_index_is_refused(document: dict[str, Any], sealed: Seal) -> None:
    with pytest.raises(FormatError, match="req-v1-dir"):
        read_directory({"index.req": sealed(document)})
