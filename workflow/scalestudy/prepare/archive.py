"""Reads the files of a distribution, from its unpacked folder or directly from its archive.

Nothing is unpacked to disk: names in an archive are compared but never used as paths. A tar archive is read in one
pass. A reader gets either everything that it requested or an error: `tarfile` does not detect a truncated archive,
and training on half a data set would go unnoticed.
"""

import contextlib
import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import BinaryIO

from scalestudy.errors import UserError

BLOCK = 1 << 20
_DAMAGE = (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError)
Member = tuple[str, Callable[[], bytes]]


def read_files(source: Path, wanted: Sequence[str], *, root: str) -> dict[str, bytes]:
    """Return name -> content of all files that match one of the patterns `wanted`, sorted by name.

    The patterns are relative to the folder `root` of the distribution. source: its archive, that folder itself or
    the parent folder. Raises UserError if a pattern has no match, since the distribution is then incomplete.
    """
    with _explained(source):
        found = dict(_folder_files(source, wanted, root) if source.is_dir() else _archive_files(source, wanted))
    files = {name: found[name] for name in sorted(found)}
    for pattern in wanted:
        if not any(_matches(name.split("/"), pattern) for name in files):
            raise UserError(f"{source}: has no {pattern}, which is part of the distribution {root}")
    return files


def read_single_file(source: Path) -> bytes:
    """Return the content of the only file in an archive."""
    found: dict[str, bytes] = {}
    with _explained(source):
        for name, read in _members(source):
            if _is_hidden(name.split("/")):
                continue
            if found:
                raise UserError(f"{source}: has several files ({next(iter(found))}, {name}); it must have one")
            found[name] = read()
    if not found:
        raise UserError(f"{source}: the archive has no file; it must have one")
    return next(iter(found.values()))


def is_archive(path: Path) -> bool:
    return _format(path) is not None


def as_text(content: bytes, where: str) -> str:
    """Decode UTF-8 text. Raises UserError with the position of the first invalid byte."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{where}: not UTF-8 text: byte {error.start} is {content[error.start]:#04x}") from None


def _folder_files(source: Path, wanted: Sequence[str], root: str) -> Iterator[tuple[str, bytes]]:
    base = source / root if (source / root).is_dir() else source
    for pattern in wanted:
        for path in base.glob(pattern):
            if path.is_file() and not path.name.startswith("."):
                yield path.relative_to(base).as_posix(), path.read_bytes()


def _archive_files(source: Path, wanted: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the members that match, under any folder, which must be the same for all."""
    folder = None
    for name, read in _members(source):
        parts = [part for part in name.split("/") if part not in ("", ".")]
        pattern = next((pattern for pattern in wanted if _matches(parts, pattern)), None)
        if pattern is None or _is_hidden(parts):
            continue
        depth = pattern.count("/") + 1
        here = "/".join(parts[:-depth])
        if folder is None:
            folder = here
        elif here != folder:
            raise UserError(f"{source}: contains the distribution twice: under '{folder}/' and under '{here}/'")
        yield "/".join(parts[-depth:]), read()


def _matches(parts: Sequence[str], pattern: str) -> bool:
    """Return whether the end of a path matches a pattern, folder by folder."""
    patterns = pattern.split("/")
    return len(parts) >= len(patterns) and all(
        fnmatchcase(part, pattern) for part, pattern in zip(reversed(parts), reversed(patterns), strict=False)
    )


def _is_hidden(parts: Sequence[str]) -> bool:
    """Return whether a file is hidden, such as `._train.csv`, which macOS adds to `train.csv`."""
    return parts[-1].startswith(".")


def _members(source: Path) -> Iterator[Member]:
    """Yield (name, function that reads the file) for an archive. Read each file before taking the next."""
    kind = _format(source)
    if kind is None:
        raise UserError(f"{source}: neither a folder nor a .tar.gz, .tgz, .tar or .zip archive")
    if kind == "zip":
        with zipfile.ZipFile(source) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    yield info.filename, partial(archive.read, info)
        return
    with gzip.open(source) if kind == "gzip" else source.open("rb") as stream:
        yield from _stream_members(stream)
        if kind == "tar":
            # Every archive ends with zeros, unless it was truncated between two files, which tarfile does not
            # detect.
            stream.seek(-min(512, source.stat().st_size), 2)
            if stream.read().strip(b"\0"):
                raise tarfile.ReadError("no end mark")


@contextlib.contextmanager
def _explained(source: Path) -> Iterator[None]:
    """Turn the libraries' errors for a bad archive into a UserError that names it."""
    try:
        yield
    except _DAMAGE as error:
        reason = str(error) or type(error).__name__
        raise UserError(f"{source}: truncated or damaged, or not an archive: {reason}") from None
    except (OSError, RuntimeError) as error:  # RuntimeError: a zip archive with a password
        raise UserError(f"{source}: cannot be read: {error}") from None


def _format(path: Path) -> str | None:
    """Return 'zip', 'gzip', 'tar' or None, by content: a fetched file may have any name."""
    try:
        with path.open("rb") as handle:
            start = handle.read(512)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    if start[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return "zip"
    if start[:2] == b"\x1f\x8b":
        return "gzip"
    return "tar" if start[257:262] == b"ustar" or path.suffix == ".tar" else None


def _stream_members(stream: BinaryIO | gzip.GzipFile) -> Iterator[Member]:
    """Yield the members, then read the rest of the stream, so that gzip verifies its checksum."""
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            if member.isfile():
                yield member.name, partial(_content, archive, member)
        while rest := archive.fileobj.read(BLOCK):
            if rest.strip(b"\0"):
                raise tarfile.ReadError("unexpected data after the last file")


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    assert file is not None, "only links and folders have no content"
    return file.read()
