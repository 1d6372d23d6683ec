"""Reads published scaling tables from CSV, and keeps the printed digits of every number."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.study.named_file import nearest, read_named

# Possible names of a column; messages use the first.
COLUMNS = {
    "gpus": ("gpus", "ranks", "world_size"),
    "gpus_per_node": ("gpus_per_node", "devices_per_node"),
    "batch_per_gpu": ("batch_per_gpu", "batch_per_rank"),
    "global_batch": ("global_batch",),
    "step_time_ms": ("step_time_ms",),
    "step_time_s": ("step_time_s",),
    "throughput": ("throughput", "throughput_samples_per_s"),
    "printed_speedup": ("printed_speedup", "speedup"),
    "printed_efficiency": ("printed_efficiency", "efficiency"),
}
MEASURED = ("throughput", "step_time_ms", "step_time_s", "printed_speedup", "printed_efficiency")
MOST_GPUS = 10**8
MOST_BYTES = 16 * 2**20
"""Largest size of a table."""
NUMBER = re.compile(r"[-+]?(\d{1,30}\.?\d{0,30}|\.\d{1,30})([eE][-+]?\d{1,2})?", re.ASCII)
"""Accepted forms of a number. Everything that is calculated from such numbers is finite."""
BLANK = ("", "-", "--", "n/a", "nan")


@dataclass(frozen=True)
class Printed:
    """A number as printed, and the value of one unit in its last digit.

    It may have been rounded or truncated, so it represents all numbers less than one such unit away.
    """

    value: float
    last: float = 0.0

    @property
    def low(self) -> float:
        return self.value - self.last

    @property
    def high(self) -> float:
        return self.value + self.last

    def times(self, factor: float) -> Printed:
        """Return the number in another unit; factor > 0."""
        return Printed(self.value * factor, self.last * factor)


@dataclass(frozen=True)
class PublishedRow:
    """One row of a table; None where no value was stated."""

    line: int
    """Line in the file; the header is line 1."""
    gpus: int
    gpus_per_node: int | None
    batch_per_gpu: float | None
    global_batch: float | None
    step_time_s: Printed | None
    throughput: Printed | None
    """Throughput of all devices together, per second."""
    printed_speedup: Printed | None
    printed_efficiency: Printed | None
    """As a fraction."""
    labels: Mapping[str, str]
    """Text columns: strategy, precision, scaling, model, hardware ..."""

    def label(self, name: str) -> str:
        """Return the value of a text column; empty if the table does not have it."""
        return self.labels.get(name, "")


def read_published(path: Path) -> dict[str, list[PublishedRow]]:
    """Return the rows by case (column `case`; without it the table is one case), in the order of the file.

    A table needs a column of GPUs, and throughput, step time or speedup. Throughput is per device if its unit ends
    in /GPU. Raises UserError that names the wrong column, or the line and column of a wrong value.
    """
    try:
        text = read_named(path, most=MOST_BYTES + 1).decode("utf-8-sig")
        reader = csv.DictReader(io.StringIO(text, newline=""))
        names = [name.strip() for name in reader.fieldnames or []]
        rows = [dict(zip(names, (value or "" for value in row.values()), strict=False)) for row in reader]
    except OSError as error:
        raise UserError(f"{path}: {(error.strerror or 'unreadable').lower()}{nearest(path)}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: cannot be read as CSV: {error}") from None
    if len(text) > MOST_BYTES:
        raise UserError(f"{path}: larger than {MOST_BYTES // 2**20} MiB, which is too large for a published table")
    found = _columns(names, path)
    if not rows:
        raise UserError(f"{path}: no rows below the header")
    cases: dict[str, list[PublishedRow]] = {}
    for place, row in enumerate(rows):
        cases.setdefault(row.get("case", path.stem), []).append(_row(row, found, line=place + 2, path=path))
    return cases


def _columns(names: list[str], path: Path) -> dict[str, str]:
    """Return our column names -> the file's column names."""
    found = {
        ours: next(theirs for theirs in known if theirs in names)
        for ours, known in COLUMNS.items()
        if any(theirs in names for theirs in known)
    }
    has = f"its columns are {', '.join(names)}" if names else "it has no columns"
    if "gpus" not in found:
        raise UserError(f"{path}: no column gpus (or {' or '.join(COLUMNS['gpus'][1:])}); {has}")
    if not any(name in found for name in MEASURED):
        raise UserError(f"{path}: needs one of the columns {', '.join(MEASURED)}; {has}")
    return found


def _row(row: Mapping[str, str], found: Mapping[str, str], *, line: int, path: Path) -> PublishedRow:
    def printed(name: str) -> Printed | None:
        text = row.get(found.get(name, ""), "").strip()
        if text.lower() in BLANK:
            return None
        short = text if len(text) <= 60 else f"{text[:60]}..."
        try:
            return read_printed(text)
        except ValueError:
            raise UserError(f"{path}, line {line}, {found[name]}: '{short}' is not a number") from None

    def whole(name: str) -> int | None:
        number = printed(name)
        if number is not None and not (1 <= number.value <= MOST_GPUS and number.value.is_integer()):
            raise UserError(
                f"{path}, line {line}, {found[name]}: {number.value:g} is not a whole number from 1 to {MOST_GPUS}"
            )
        return None if number is None else int(number.value)

    gpus = whole("gpus")
    if gpus is None:
        raise UserError(f"{path}, line {line}, {found['gpus']}: no value; state the number of devices")
    throughput, step_ms = printed("throughput"), printed("step_time_ms")
    if throughput is not None and row.get("throughput_unit", "").strip().lower().endswith("/gpu"):
        throughput = throughput.times(gpus)
    batch, whole_batch = printed("batch_per_gpu"), printed("global_batch")
    efficiency = printed("printed_efficiency")
    if efficiency is not None and efficiency.value > 2:  # in per cent
        efficiency = efficiency.times(0.01)
    return PublishedRow(
        line=line,
        gpus=gpus,
        gpus_per_node=whole("gpus_per_node"),
        batch_per_gpu=batch.value if batch else None,
        global_batch=whole_batch.value if whole_batch else None,
        step_time_s=step_ms.times(1e-3) if step_ms else printed("step_time_s"),
        throughput=throughput,
        printed_speedup=printed("printed_speedup"),
        printed_efficiency=efficiency,
        labels={name: value.strip() for name, value in row.items() if name not in found.values()},
    )


def read_printed(text: str) -> Printed:
    """Return '7.60' as 7.6 with last digit 0.01. Also reads '87.3%', '1.75x', '12,369'; else ValueError."""
    digits = text.strip().rstrip("%xX").strip().replace(",", "")
    if not NUMBER.fullmatch(digits):
        raise ValueError(f"{text} is not a number")
    mantissa, _, exponent = digits.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return Printed(float(digits), 10.0 ** (int(exponent or 0) - decimals))
