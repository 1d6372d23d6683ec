"""Writes an archive whose bytes depend only on its files: sorted names, one time for all, no owner.

The format is zip: its directory has the name and size of every file before anything is unpacked, each file can be
read without the others, every system opens it, and Zenodo lists what is in it.
"""

from __future__ import annotations

import hashlib
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

from scalestudy.deposit.layout import SUMS
from scalestudy.record.files import remove_left, temporary_of, writing

TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time that zip has."""
UNIX = 3
LEVEL = 6
STORED = (".png", ".gz", ".pdf")
"""Files that are compressed already."""


def sums_text(files: Mapping[str, str]) -> str:
    """Return SHA256SUMS as sha256sum(1) writes it, by name -> checksum."""
    return "".join(f"{files[name]}  {name}\n" for name in sorted(files))


def checksums(folder: Path, names: list[str]) -> dict[str, str]:
    """Return the SHA-256 of files by name, relative to a folder."""
    found = {}
    for name in names:
        with (folder / name).open("rb") as file:
            found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def write_archive(target: Path, folder: Path, names: list[str], *, top: str) -> dict[str, str]:
    """Write these files of a folder, and SHA256SUMS, under one folder `top` of an archive.

    Returns their checksums. The archive is written completely or not at all.
    """
    sums = checksums(folder, names)
    temporary = temporary_of(target)
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_left(target)
        try:
            with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
                for name in sorted([*names, SUMS]):
                    content = sums_text(sums).encode() if name == SUMS else (folder / name).read_bytes()
                    archive.writestr(_entry(f"{top}/{name}"), content)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    return sums


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, TIME)
    entry.create_system = UNIX
    entry.external_attr = (stat.S_IFREG | 0o644) << 16
    entry.compress_type = zipfile.ZIP_STORED if name.endswith(STORED) else zipfile.ZIP_DEFLATED
    return entry
