"""Reads a text file line by line, in constant memory, and refuses what is not text."""

from __future__ import annotations

import gzip
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from math import nan
from pathlib import Path
from typing import IO

from scalestudy.errors import UserError
from scalestudy.study.named_file import nearest

LONGEST_LINE = 1 << 20
HEAD = 1 << 20
"""Bytes at the beginning of a file from which its format is recognised, where this is enough."""
MOST_PIECES = 4
"""Lines that a row may go on in."""
IN_ONE_LINE = "If rows go on in the next line, import the log as it was written, with each row in one line"
WIDE = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"\x00\x00\xfe\xff": "UTF-32"}
ESCAPES = re.compile(rb"\x1b\[[0-9;]*m")
"""Codes that colour a terminal."""
PACKED = b"\x1f\x8b"
WHOLE, REAL = rb"\d{1,15}", rb"\d{1,15}(?:\.\d{0,20})?(?:[eE][-+]?\d{1,2})?"
"""Forms of printed numbers, for patterns: whatever matches can be converted."""


def opened(path: Path) -> IO[bytes]:
    """Open a file for reading, a gzipped one unpacked. Raises UserError if it is missing or is no file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise UserError(f"{path}: is not a file; name the log itself")
        file = os.fdopen(handle, "rb", buffering=1 << 20)
    except (OSError, ValueError) as error:
        why = (getattr(error, "strerror", None) or str(error)).lower()
        raise UserError(f"{path}: cannot be read: {why}{nearest(path)}") from None
    start = file.read(2)
    file.seek(0)
    if start == PACKED:
        return gzip.GzipFile(fileobj=file)  # type: ignore[return-value]
    return file


def head_of(path: Path) -> bytes:
    """Return the first bytes of a file. Raises UserError if it is empty, or text of an encoding that no log
    has."""
    with opened(path) as file:
        try:
            head = file.read(HEAD)
        except (OSError, EOFError, zlib.error) as error:
            raise UserError(f"{path}: not a complete gzip file ({error})") from None
    if not head.strip():
        raise UserError(f"{path}: is empty; the run has written no log")
    for mark, name in WIDE.items():
        if head.startswith(mark):
            raise UserError(f"{path}, line 1: is {name} text; convert it: iconv -f {name} -t UTF-8")
    return head


def numbered_lines(path: Path, *, whole: bool = True) -> Iterator[tuple[int, bytes]]:
    """Yield (number from 1, line) of a file. whole: leave out a last line without an end, which may be cut off,
    except for what a terminal has written over.

    Raises UserError with the line if one is too long for a log, or a gzipped file is truncated.
    """
    number = 0
    with opened(path) as file:
        read = file.readline
        try:
            while line := read(LONGEST_LINE):
                number += 1
                if line[-1] == 10:
                    yield number, line
                elif len(line) == LONGEST_LINE:
                    raise _too_long(path, number)
                elif not whole:
                    yield number, line
                elif drawn := line[: line.rfind(b"\r") + 1]:
                    yield number, drawn + b"\n"
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise _damaged(path, number + 1, error) from None


def joined(
    lines: Iterable[tuple[int, bytes]], begin: re.Pattern[bytes], is_cut: Callable[[bytes], bool]
) -> Iterator[tuple[int, bytes]]:
    """Yield lines with their numbers, a row that goes on in the next lines as one line if they complete it.

    begin: the begin of a row, which is not part of another one. is_cut: whether a line that has it lacks a part.
    """
    held: list[tuple[int, bytes]] = []
    for number, line in lines:
        begins = begin.search(line) is not None
        cut = begins and is_cut(line)
        if held and not begins:
            whole = b"".join([part.rstrip(b"\r\n") for _, part in held]) + line
            if not is_cut(whole):
                yield held[0][0], whole
                held = []
                continue
            if len(held) < MOST_PIECES:
                held.append((number, line))
                continue
        yield from held
        held = []
        if cut:
            held = [(number, line)]
        else:
            yield number, line
    yield from held


def lines_with(path: Path, text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (number from 1, line) of each complete line of a file that has a text.

    Raises UserError as numbered_lines does.
    """
    if not text:
        yield from numbered_lines(path)
        return
    for number, block in blocks(path):
        for here, line in enumerate(block.split(b"\n"), number):
            if text in line:
                yield here, line + b"\n"


def blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (number of the first line, complete lines) of a file, about a MiB at a time.

    Raises UserError as numbered_lines does.
    """
    number, rest = 1, b""
    with opened(path) as file:
        try:
            while read := file.read(LONGEST_LINE):
                block = rest + read
                end = block.rfind(b"\n") + 1
                if end:
                    yield number, block[:end]
                number += block.count(b"\n", 0, end)
                rest = block[end:]
                if len(rest) >= LONGEST_LINE:
                    raise _too_long(path, number)
            if drawn := rest[: rest.rfind(b"\r") + 1]:
                yield number, drawn + b"\n"
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise _damaged(path, number, error) from None


def _too_long(path: Path, number: int) -> UserError:
    return UserError(f"{path}, line {number}: longer than {LONGEST_LINE >> 20} MiB, which no line of a log is")


def _damaged(path: Path, number: int, error: Exception) -> UserError:
    return UserError(f"{path}, line {number}: the gzip file is truncated or damaged ({error})")


def text_of(path: Path, number: int, line: bytes) -> str:
    """Return a line as text. Raises UserError, naming the line and the byte, if it is not UTF-8."""
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}, line {number}: byte {error.start + 1} is not UTF-8; convert the file, such as with iconv -f"
            " ISO-8859-1 -t UTF-8"
        ) from None


@lru_cache(maxsize=4096)
def _seconds(stamp: str) -> float:
    for form in ("%Y-%m-%d %H:%M:%S", "%m/%d/%Y %H:%M:%S"):
        try:
            return datetime.strptime(stamp, form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    return nan


def real_or_nan(text: bytes) -> float:
    """Return a printed number; nan for anything else, such as `nan`."""
    try:
        return float(text)
    except ValueError:
        return nan


def clock_of(day: bytes, time: bytes, fraction: bytes | None = None) -> float:
    """Return a printed time of day as seconds since the epoch; nan if there is none. Its zone is unknown."""
    seconds = _seconds(f"{day.decode('ascii', 'replace')} {time.decode('ascii', 'replace')}")
    return seconds + (float(b"0." + fraction) if fraction else 0.0)


def seconds_of_stamp(day: bytes, time: bytes, fraction: bytes | None) -> float:
    """Return a printed time stamp in seconds; one without a year is counted from 1970, which is no date."""
    seconds = _of_day(day, time)
    return seconds + float(b"0." + fraction) if fraction else seconds


@lru_cache(maxsize=4096)
def _of_day(day: bytes, time: bytes) -> float:
    day = day.replace(b"/", b"-")
    if day.isdigit():  # `I0512` or `I20250512`
        day = b"-".join((day[:-4] or b"1970", day[-4:-2], day[-2:]))
    elif len(day) == 8:
        day = b"20" + day
    elif len(day) == 5:
        day = b"1970-" + day
    elif day[2:3] == b"-":  # month first
        day = day[6:] + b"-" + day[:5]
    return clock_of(day, time)


def iso_seconds(text: str) -> float:
    """Return an ISO time as seconds since the epoch, as UTC if it names no zone. Raises ValueError if it is
    none."""
    found = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
