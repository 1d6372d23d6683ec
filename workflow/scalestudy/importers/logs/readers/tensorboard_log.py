"""TensorBoard event files: records of TFRecord, each an Event, which the classes of the tensorboard package parse.

The scalars of a file become the columns of a table, by the names of their tags; each has its step and wall time.
A record is its length, a checksum of that, the event, and a checksum of the event (masked CRC-32C). The package's
own reader is not used: it reads 1 MB/s.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator, Mapping
from math import nan
from pathlib import Path
from pkgutil import resolve_name

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs.lines import opened
from scalestudy.importers.logs.model import Given, Log, Rows
from scalestudy.importers.logs.quantities import meaning_of
from scalestudy.importers.logs.tabular.columns import VALUES, Columns
from scalestudy.importers.logs.tabular.table import logs_from

KIND = "TensorBoard event file"
MARK = b"brain.Event:"
"""In the first record of each file: the version of the format."""
MOST_SCALARS, MOST_TAGS, MOST_OF_AN_EVENT = 12_000_000, 10_000, 1 << 26
LENGTH, CHECK = struct.Struct("<QI"), struct.Struct("<I")


def _table() -> list[int]:
    """CRC-32C of each byte (Castagnoli's polynomial, reflected)."""
    found = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        found.append(byte)
    return found


_CRC = _table()


def masked_crc(data: bytes) -> int:
    crc, table = 0xFFFFFFFF, _CRC
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def recognise(head: bytes) -> str:
    return KIND if MARK in head[:64] else ""


def records(path: Path) -> Iterator[bytes]:
    """Yield the events of a file; the last one, if it is cut off, is left out.

    Raises UserError that names the byte at which a record is damaged.
    """
    at = 0
    with opened(path) as file:
        while len(head := file.read(LENGTH.size)) == LENGTH.size:
            length, check = LENGTH.unpack(head)
            if length > MOST_OF_AN_EVENT or masked_crc(head[:8]) != check:
                raise UserError(f"{path}, byte {at}: a damaged record; export the scalars of the rest as CSV")
            event, end = file.read(length), file.read(CHECK.size)
            if len(end) < CHECK.size:
                return
            if CHECK.unpack(end)[0] != masked_crc(event):
                raise UserError(f"{path}, byte {at}: a damaged record; export the scalars of the rest as CSV")
            yield event
            at += LENGTH.size + length + CHECK.size


def read(path: Path, given: Given, *, kind: str = KIND) -> list[Log]:
    """Return the run. Raises UserError if the tensorboard package is missing, or no scalar has a time."""
    try:
        parse = resolve_name("tensorboard.compat.proto.event_pb2:Event").FromString
        as_array = resolve_name("tensorboard.util.tensor_util:make_ndarray")
    except ImportError:
        raise UserError(
            f"{path}: is a TensorBoard event file, which the package tensorboard reads; install it: pip install"
            " tensorboard. Or export the scalars as CSV"
        ) from None
    scalars: dict[str, _Scalar | None] = {}
    """By tag; None for one that is not read."""
    clock = _Scalar()
    for number, record in enumerate(records(path), 1):
        try:
            event = parse(record)
        except Exception as error:  # of protobuf, which has a class of its own for each implementation
            raise UserError(f"{path}, event {number}: not an event: {error}") from None
        for value in event.summary.value:
            tag = value.tag
            if tag not in scalars:
                if len(scalars) >= MOST_TAGS:
                    raise UserError(f"{path}, event {number}: more than {MOST_TAGS} tags; a log has fewer")
                scalars[tag] = _Scalar() if meaning_of(tag) else None
            scalar = scalars[tag]
            if value.HasField("simple_value"):
                amount = value.simple_value
            elif value.HasField("tensor") and not value.tensor.tensor_shape.dim:
                amount = float(as_array(value.tensor))
            else:
                continue
            clock.add(event.step, event.wall_time)
            if scalar is not None:
                scalar.add(event.step, amount)
            if len(clock.steps) > MOST_SCALARS:
                raise UserError(f"{path}: more than {MOST_SCALARS} scalars, which is too large for a log")
    steps = np.unique(np.frombuffer(clock.steps, dtype=np.int64)) if clock.steps else np.empty(0)
    if len(steps) < 2:
        raise UserError(
            f"{path}: {len(steps)} steps with scalars; the file is truncated, or the training logs nothing"
        )
    columns = Columns.of(path, ["wall_time", *scalars], given)
    return logs_from(kind, columns, {(): _rows(columns, steps, scalars | {"wall_time": clock})})


class _Scalar:
    """Values of a tag by step."""

    def __init__(self) -> None:
        self.steps, self.values = array("q"), array("d")

    def add(self, step: int, value: float) -> None:
        self.steps.append(step)
        self.values.append(value)


def _rows(columns: Columns, steps: np.ndarray, scalars: Mapping[str, _Scalar | None]) -> Rows:
    """A row for each step, with the last value of each tag at that step."""
    made = {name: np.full(len(steps), nan) for name in VALUES}
    for quantity in VALUES:
        scalar = scalars.get(columns.name(quantity) or "")
        if scalar is not None and len(scalar.steps):
            places = np.searchsorted(steps, np.frombuffer(scalar.steps, dtype=np.int64))
            made[quantity][places] = np.frombuffer(scalar.values) * (columns.read[quantity][1].factor or 1.0)
    rows = Rows(columns.path)
    rows.extend(made | {"step": steps.astype(float), "line": np.arange(1.0, len(steps) + 1)})
    return rows
