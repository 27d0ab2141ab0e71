"""Putting a file together again from the blocks that were read of it."""

from clew.formats.elspais.records import FileRecords


def restored(records: FileRecords, data: bytes) -> bytes:
    """What the blocks cover, one after the other. Where the file is UTF-8, their text is the same."""
    covered = b"".join(data[block.span.start : block.span.end] for block in records.blocks)
    if all(each.code != "elspais.not_utf8" for each in records.diagnostics):
        assert "".join(block.raw for block in records.blocks).encode() == covered
    return covered
