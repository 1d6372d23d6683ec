"""Reads JSON without holding it: the members of one large object, with the items of a large array one by one."""

from __future__ import annotations

import codecs
import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scalestudy.errors import UserError
from scalestudy.importers.logs.lines import LONGEST_LINE, numbered_lines, opened, text_of

PART = 1 << 18
MOST_OF_A_VALUE = 1 << 25
"""Characters of one value that is read as a whole; a longer one is refused."""
SPACE = " \t\r\n"
_decoder = json.JSONDecoder(strict=False)  # kineto may leave control characters in names


class _Text:
    """The text of a file, of which a part is in memory."""

    def __init__(self, path: Path) -> None:
        self.path, self._file = path, opened(path)
        self._decode = codecs.getincrementaldecoder("utf-8")()
        self.text, self.at, self.line, self.ended = "", 0, 1, False

    def __enter__(self) -> _Text:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def more(self, size: int = PART) -> bool:
        """Read on; what lies before `at` is forgotten. Returns False at the end of the file."""
        if self.ended:
            return False
        self.line += self.text.count("\n", 0, self.at)
        self.text, self.at = self.text[self.at :], 0
        try:
            part = self._file.read(size)
            self.text += self._decode.decode(part, final=not part)
        except UnicodeDecodeError:
            raise self.wrong("holds bytes that are not UTF-8") from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self.wrong(f"the gzip file is truncated or damaged ({error})") from None
        self.ended = not part
        return not self.ended

    def wrong(self, what: str) -> UserError:
        line = self.line + self.text.count("\n", 0, self.at)
        return UserError(f"{self.path}, line {line}: {what}")

    def next(self) -> str:
        """The next character that is no space, without taking it; '' at the end."""
        while True:
            while self.at < len(self.text):
                if self.text[self.at] not in SPACE:
                    return self.text[self.at]
                self.at += 1
            if not self.more():
                return ""

    def take(self, wanted: str) -> None:
        found = self.next()
        if found != wanted:
            raise self.wrong(
                f"{wanted!r} is expected" + (f", not {found!r}" if found else "; the file is truncated")
            )
        self.at += 1

    def value(self) -> Any:
        """The next value."""
        self.next()
        size = PART
        while True:
            try:
                found, end = _decoder.raw_decode(self.text, self.at)
                if end < len(self.text) or self.ended:  # a number may go on in the next part
                    self.at = end
                    return found
            except RecursionError:
                raise self.wrong("nested too deeply") from None
            except ValueError:
                if self.ended:
                    raise self.wrong("not JSON, or truncated") from None
            if len(self.text) - self.at > MOST_OF_A_VALUE:
                raise self.wrong(f"a value of more than {MOST_OF_A_VALUE >> 20} MiB, which no log has")
            size *= 2
            self.more(min(size, MOST_OF_A_VALUE + 1 - (len(self.text) - self.at)))


def members(path: Path, large: str) -> Iterator[tuple[str, int, Any]]:
    """Yield (name, line, value) of the members of the object in a file; of the array `large`, item by item.

    A file that is the array alone has the same items. Raises UserError, naming the line, for anything else than
    one complete object or array.
    """
    with _Text(path) as text:
        if text.next() == "[":
            yield from _items(text, large)
            return
        text.take("{")
        while text.next() != "}":
            name = text.value()
            if not isinstance(name, str):
                raise text.wrong("a name is expected")
            text.take(":")
            if name == large and text.next() == "[":
                yield from _items(text, name)
            else:
                yield name, text.line, text.value()
            if text.next() != "}":
                text.take(",")


def _items(text: _Text, name: str) -> Iterator[tuple[str, int, Any]]:
    """Yield (name, line, value) of the items of an array."""
    text.take("[")
    while text.next() != "]":
        value = text.value()
        yield name, text.line, value
        if text.next() != "]":
            text.take(",")
    text.at += 1


def json_lines(path: Path, *, prefix: bytes = b"") -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (number, object) of each line that has the prefix, wherever it stands in the line.

    After a prefix an object may also be indented over several lines, up to a brace at the start of a line. A last
    line without an end is left out if it is not complete. Raises UserError for another line that is no object.
    """
    begun, part = 0, b""  # an object over several lines
    for number, line in numbered_lines(path, whole=False):
        if part:
            part += line
            if len(part) > LONGEST_LINE:
                raise UserError(f"{path}, line {begun}: an object that does not end")
            if not line.startswith(b"}"):
                continue
            number, line, part = begun, part, b""
        elif prefix:
            _, found, line = line.partition(prefix)
            if not found:
                continue
            if line.strip() == b"{":
                begun, part = number, line
                continue
        elif not line.strip():
            continue
        whole = line[-1:] == b"\n"
        text = text_of(path, number, line) if whole else line.decode("utf-8", "replace")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            if not whole:
                return
            why = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
            raise UserError(f"{path}, line {number}: not JSON ({why})") from None
        if not isinstance(value, dict):
            raise UserError(f"{path}, line {number}: not a JSON object")
        yield number, value
