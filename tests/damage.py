"""Damaged files: truncated, with other content, or not files at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

Damage = Callable[[Path], None]


def damages(file: Path) -> dict[str, Damage]:
    """Return ways to damage a file, by name. Each changes the given path, which is a copy of the file."""
    content = file.read_bytes()
    whole = (
        content.rstrip() if file.suffix == ".json" else content
    )  # without the final newline a document is still complete
    lines = content.splitlines(keepends=True)
    found: dict[str, Damage] = {
        "missing": lambda path: path.unlink(),
        "empty": writing(b""),
        "a line end": writing(b"\n"),
        "binary": writing(bytes(range(256)) * 40),
        "text": writing(b"not what was here\n"),
        "UTF-16": writing(content.decode("utf-8", errors="replace").encode("utf-16")),
        "a NUL": writing(content[: len(content) // 2] + b"\0" + content[len(content) // 2 :]),
        "a directory": replaced(lambda path: path.mkdir()),
        "a link to nothing": replaced(lambda path: path.symlink_to("nothing")),
        "a link to itself": replaced(lambda path: path.symlink_to(path.name)),
        "a pipe": replaced(lambda path: os.mkfifo(path)),
        "a device": replaced(lambda path: path.symlink_to("/dev/zero")),
        "no bytes of a device": replaced(lambda path: path.symlink_to("/dev/null")),
    }
    for share in (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
        found[f"cut at {share:.0%}"] = writing(whole[: int(len(whole) * share)])
    found["without its end"] = writing(content.rstrip()[:-1])
    if len(lines) > 1:
        found["without its last line"] = writing(b"".join(lines[:-1]))
        found["its first line"] = writing(lines[0])
    if file.suffix == ".json":
        for text in (
            "[]",
            "{}",
            "null",
            "3",
            '"x"',
            '{"schema_version": 999}',
            '{"schema_version": 1}',
            "[" * 9999,
        ):
            found[f"JSON {text[:40]}"] = writing(text.encode())
        found["another document"] = writing(b'{"schema_version": 1, "cases": {}}')
    if file.suffix == ".csv" and len(lines) > 1:
        names = lines[0].split(b",")
        found["of another study"] = writing(lines[0] + lines[-1])
        for place in {1, len(names) // 2, len(names) - 1}:
            found[f"without column {place}"] = writing(_without_column(lines, place))
        found["words for numbers"] = writing(lines[0] + b",".join([b"word"] * len(names)) + b"\n")
        found["a field too many"] = writing(lines[0] + lines[1].rstrip(b"\r\n") + b",1\n")
    return found


def writing(content: bytes) -> Damage:
    """Return a function that replaces the content."""

    def damage(path: Path) -> None:
        path.write_bytes(content)

    return damage


def replaced(make: Damage) -> Damage:
    """Return a function that replaces the file by something else."""

    def damage(path: Path) -> None:
        path.unlink()
        make(path)

    return damage


def restore(path: Path, original: Path) -> None:
    """Restore the original, whatever is at the path."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    shutil.copy2(original, path)


def _without_column(lines: list[bytes], place: int) -> bytes:
    """Return a table without a column. If fields contain commas, the table is damaged in another way."""
    rows = [line.rstrip(b"\r\n").split(b",") for line in lines]
    return b"".join(b",".join(row[:place] + row[place + 1 :]) + b"\n" for row in rows)
