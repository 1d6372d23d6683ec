"""checksums.json: sizes and checksums of a study's tables, which reveal a truncated or edited table."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from scalestudy.record.document import Document
from scalestudy.record.observation import FileDigest, digest_of


class ChecksumsFile(Document):
    """checksums.json. Every table that `scalestudy stage aggregate` wrote, with its size and checksum."""

    made_by: ClassVar[str] = "scalestudy stage aggregate"

    schema_version: Literal[1] = 1
    tables: dict[str, FileDigest]
    """By the name of the file in the results folder."""


def checksums_of(tables: Mapping[str, str]) -> ChecksumsFile:
    """Returns checksums of the text of tables, by the name of their file."""
    return ChecksumsFile(tables={name: digest_of(text.encode("utf-8")) for name, text in tables.items()})
