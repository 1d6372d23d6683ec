"""Reads an archive that may come from anyone. Nothing is unpacked before all of it was checked.

Links, devices, names that lead elsewhere, names that are equal on some system, overlapping files and sizes that no
study has are refused, then files that differ from their checksums. Nothing in it is run.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from scalestudy.deposit.layout import SUMS, refuse_unknown
from scalestudy.errors import UserError
from scalestudy.record.files import MOST_BYTES, failed, writing

MOST_FILES = 100_000
MOST_OF_ALL = 20 << 30
MOST_DIRECTORY = 32 << 20
MOST_RATIO, SMALL = 200, 16 << 20
"""Largest ratio of unpacked to packed bytes, of what is above SMALL. Files of a study have a ratio of 2 to 20."""
LONGEST_NAME, LONGEST_PART = 1024, 255
BLOCK = 1 << 20
_END, _END_64 = struct.Struct("<4s4H2LH"), struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_LOCAL = 30
"""Bytes of a file's header in front of its name."""
_FLAGS = 0x800 | 0x8 | 0x6
"""Flags of an ordinary file: UTF-8, sizes behind the data, level of compression."""
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error, ValueError)


@dataclass(frozen=True)
class Deposit:
    """An archive that was checked: its files by name, relative to its folder, and their checksums."""

    path: Path
    archive: zipfile.ZipFile
    entries: dict[str, zipfile.ZipInfo]
    sums: dict[str, str]

    def content(self, name: str, *, most: int = MOST_BYTES) -> bytes:
        """Return a file. Raises UserError if it is larger than `most`, or is not there."""
        entry = self.entries.get(name)
        if entry is None:
            raise UserError(f"{self.path}: has no {name}, so it is not a deposit of scalestudy")
        if entry.file_size > most:
            raise UserError(f"{self.path}: {name}: {entry.file_size} bytes, too large for such a file")
        with _explained(self.path):
            return self.archive.read(entry)

    def unpack(self, names: list[str], folder: Path) -> None:
        """Write files into a new folder. Raises UserError if one differs from its checksum."""
        for name in names:
            if name not in self.sums:
                raise UserError(f"{self.path}: has no {name}, so it is not a deposit of scalestudy")
            target = folder / name
            with writing(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                new = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
                with os.fdopen(new, "wb") as file:
                    digest = hashlib.sha256()
                    for block in _blocks(self.path, self.archive, self.entries[name]):
                        digest.update(block)
                        file.write(block)
            if digest.hexdigest() != self.sums[name]:
                raise UserError(f"{self.path}: {name}: changed while it was read")


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Deposit]:
    """Open an archive whose names, sizes and checksums are right. Raises UserError that names what is wrong."""
    file = _regular(path)
    with file, contextlib.ExitStack() as stack:
        _refuse_directory(path, file)
        with _explained(path):
            archive = stack.enter_context(zipfile.ZipFile(file))
        entries = _checked(path, archive)
        deposit = Deposit(path, archive, entries, {})
        sums = _sums(path, deposit.content(SUMS, most=MOST_DIRECTORY))
        _verify(path, archive, entries, sums)
        yield Deposit(path, archive, entries, sums)


def _regular(path: Path) -> BinaryIO:
    """Open a regular file; opening a pipe could wait forever."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise UserError(failed(error)) from None
    except ValueError:
        raise UserError(f"{str(path)!r}: not the name of a file") from None
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        kind = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
        raise UserError(f"{path}: is {kind}, not an archive; name the .zip file of `scalestudy deposit`")
    return os.fdopen(handle, "rb")


def _refuse_directory(path: Path, file: BinaryIO) -> None:
    """Refuse a directory that is too large to be read, or is not at the end of the file."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END.size))
    tail = file.read(_END.size)
    if len(tail) < _END.size or tail[:4] != b"PK\x05\x06":
        raise UserError(
            f"{path}: not a complete .zip archive, or with something behind its end; download it again, or name"
            " the file of `scalestudy deposit`"
        )
    _, disk, first_disk, here, count, length, offset, comment = _END.unpack(tail)
    end = size - _END.size
    if 0xFFFF in (count, here) or 0xFFFFFFFF in (length, offset):
        try:
            file.seek(end - _LOCATOR.size)
            sign, disk, where, disks = _LOCATOR.unpack(file.read(_LOCATOR.size))
            file.seek(where)
            sign_64, *_, disk, first_disk, here, count, length, offset = _END_64.unpack(file.read(_END_64.size))
        except (struct.error, OSError, ValueError):
            sign = b""
        if sign != b"PK\x06\x07" or sign_64 != b"PK\x06\x06" or disks != 1:
            raise UserError(f"{path}: its directory is damaged; download it again")
        end = where
    if disk or first_disk or here != count or comment:
        raise UserError(f"{path}: a part of an archive, or an archive with a comment, which no deposit is")
    if count > MOST_FILES or length > MOST_DIRECTORY:
        raise UserError(f"{path}: {count} files; a deposit has at most {MOST_FILES}")
    if offset + length != end:
        raise UserError(f"{path}: has data in front of its files or behind its directory, which no deposit has")


def _checked(path: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the files by name, without the folder that all are in. Raises UserError for a bad one."""
    entries: dict[str, zipfile.ZipInfo] = {}
    seen: dict[str, str] = {}
    tops: set[str] = set()
    packed = unpacked = 0
    for entry in archive.infolist():
        name = _name(path, entry)
        _refuse_kind(path, entry)
        if twin := seen.get(key := unicodedata.normalize("NFC", name).casefold()):
            raise UserError(f"{path}: {_quoted(name)}: there twice, also as {_quoted(twin)}")
        seen[key] = name
        unpacked, packed = unpacked + entry.file_size, packed + entry.compress_size
        if entry.file_size > MOST_BYTES or unpacked > MOST_OF_ALL:
            raise UserError(
                f"{path}: {_quoted(name)}: would unpack to {unpacked >> 20} MiB, more than a study has"
            )
        if unpacked - SMALL > packed * MOST_RATIO:
            raise UserError(f"{path}: would unpack to more than {MOST_RATIO} times its size, which no study does")
        top, _, rest = name.partition("/")
        tops.add(top)
        if not entry.is_dir():
            if not rest or len(tops) > 1:
                raise UserError(f"{path}: {_quoted(name)}: a deposit has one folder with all files")
            entries[rest] = entry
    if len(seen) > MOST_FILES:
        raise UserError(f"{path}: {len(seen)} files; a deposit has at most {MOST_FILES}")
    folders = {"/".join(name.split("/")[:depth]) for name in entries for depth in range(1, name.count("/") + 1)}
    if both := folders & entries.keys():
        raise UserError(f"{path}: {_quoted(min(both))}: is a file and a folder")
    _refuse_overlap(path, archive)
    for name in entries:
        refuse_unknown(name, path)
    return entries


def _name(path: Path, entry: zipfile.ZipInfo) -> str:
    """Return the name of an entry. Raises UserError for one that could lead elsewhere."""
    name = entry.filename
    parts = name.removesuffix("/").split("/")
    wrong = (
        "is absolute"
        if name.startswith(("/", "~")) or re.match(r"[A-Za-z]:", name)
        else "leads to another folder"
        if ".." in parts
        else "is not the name of a file"
        if {"", "."} & set(parts) or "\\" in name or entry.orig_filename != name
        else "has control characters"
        if any(unicodedata.category(letter) in ("Cc", "Cf", "Cs") for letter in name)
        else "is too long"
        if len(name) > LONGEST_NAME or max(len(part.encode()) for part in parts) > LONGEST_PART
        else ""
    )
    if wrong:
        raise UserError(f"{path}: {_quoted(entry.orig_filename)}: {wrong}; nothing was unpacked")
    return name


def _refuse_kind(path: Path, entry: zipfile.ZipInfo) -> None:
    """Refuse what is neither an ordinary file nor a folder."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    names = {stat.S_IFLNK: "a link", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    if kind not in (0, stat.S_IFDIR if entry.is_dir() else stat.S_IFREG):
        raise UserError(
            f"{path}: {_quoted(entry.filename)}: is {names.get(kind, 'a device or a folder')}, not a file"
        )
    if entry.is_dir() and entry.file_size:
        raise UserError(f"{path}: {_quoted(entry.filename)}: is a folder with content")
    if entry.flag_bits & 1:
        raise UserError(f"{path}: {_quoted(entry.filename)}: is encrypted")
    if entry.flag_bits & ~_FLAGS or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UserError(f"{path}: {_quoted(entry.filename)}: is packed in a way that no deposit uses")


def _refuse_overlap(path: Path, archive: zipfile.ZipFile) -> None:
    """Refuse files that share bytes: a small archive of these could unpack to any size."""
    entries = sorted(archive.infolist(), key=lambda entry: entry.header_offset)
    at = 0
    for entry in entries:
        if entry.header_offset < at:
            raise UserError(f"{path}: {_quoted(entry.filename)}: overlaps with another file")
        at = entry.header_offset + _LOCAL + len(entry.orig_filename.encode()) + entry.compress_size
    if at > archive.start_dir:
        raise UserError(f"{path}: {_quoted(entries[-1].filename)}: overlaps with the directory")


def _sums(path: Path, content: bytes) -> dict[str, str]:
    """Return the checksums by name."""
    found: dict[str, str] = {}
    for number, line in enumerate(content.decode("utf-8", errors="replace").splitlines(), 1):
        match = re.fullmatch(r"([0-9a-f]{64})  (.+)", line)
        if not match or match[2] in found:
            raise UserError(
                f"{path}: {SUMS}, line {number}: not a checksum and the name of a file, or there twice"
            )
        found[match[2]] = match[1]
    return found


def _verify(
    path: Path, archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], sums: dict[str, str]
) -> None:
    """Raise UserError unless the archive has exactly the files of SHA256SUMS, with these checksums."""
    names = entries.keys() - {SUMS}
    if other := sorted(names ^ sums.keys()):
        how = f"is missing, but {SUMS} has it" if other[0] in sums else f"has no checksum in {SUMS}"
        raise UserError(f"{path}: {_quoted(other[0])}: {how}; download the archive again")
    for name in sorted(names):
        digest = hashlib.sha256()
        for block in _blocks(path, archive, entries[name]):
            digest.update(block)
        if digest.hexdigest() != sums[name]:
            raise UserError(f"{path}: {_quoted(name)}: differs from its checksum in {SUMS}; download it again")


def _blocks(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the content of an entry: never more than its size in the directory."""
    with _explained(path), archive.open(entry) as file:
        while block := file.read(BLOCK):
            yield block


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn the errors of zipfile for a bad archive into a UserError."""
    try:
        yield
    except UserError:
        raise
    except _DAMAGE as error:
        raise UserError(f"{path}: damaged: {error}; download it again") from None


def _quoted(name: str) -> str:
    return repr(name[:200])


def empty(folder: Path, *, remove: bool) -> None:
    """Remove all that this process has unpacked into a folder, and the folder if this process has created it."""
    for path in folder.iterdir() if folder.exists() else ():
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()
    if remove:
        shutil.rmtree(folder, ignore_errors=True)
