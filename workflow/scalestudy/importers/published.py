"""Published tables of scaling, as CSV: every number with the digits that it was printed with."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.study.named_file import nearest, read_named

# What a column may be called; the first name is the one in messages.
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
"""Of a table that is read."""
NUMBER = re.compile(r"[-+]?(\d{1,30}\.?\d{0,30}|\.\d{1,30})([eE][-+]?\d{1,2})?", re.ASCII)
"""What a number is printed as. Whatever is calculated from such numbers is finite."""
BLANK = ("", "-", "--", "n/a", "nan")


@dataclass(frozen=True)
class Printed:
    """A number as it was printed, and what one in its last digit is worth.

    Whether it was rounded or cut off nobody says, so it stands for all that is less than one last digit away.
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
        """In another unit; factor > 0."""
        return Printed(self.value * factor, self.last * factor)


@dataclass(frozen=True)
class PublishedRow:
    """One row; None where nothing was stated."""

    line: int
    """In the file; the header is line 1."""
    gpus: int
    gpus_per_node: int | None
    batch_per_gpu: float | None
    global_batch: float | None
    step_time_s: Printed | None
    throughput: Printed | None
    """Of all devices together, a second."""
    printed_speedup: Printed | None
    printed_efficiency: Printed | None
    """As a fraction."""
    labels: Mapping[str, str]
    """Columns of text: strategy, precision, scaling, model, hardware ..."""

    def label(self, name: str) -> str:
        """A column of text; empty where it is not there."""
        return self.labels.get(name, "")


def read_published(path: Path) -> dict[str, list[PublishedRow]]:
    """Rows by case (column `case`; without it the whole table is one), in the order of the file.

    Needs a column of GPUs, and throughput, step time or speedup; a unit of throughput that ends in /GPU is per
    device. Raises UserError naming the column, or the line and column, that is not as it should be.
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
        raise UserError(f"{path}: is larger than {MOST_BYTES // 2**20} MiB, which no published table is")
    found = _columns(names, path)
    if not rows:
        raise UserError(f"{path}: no rows under its header")
    cases: dict[str, list[PublishedRow]] = {}
    for place, row in enumerate(rows):
        cases.setdefault(row.get("case", path.stem), []).append(_row(row, found, line=place + 2, path=path))
    return cases


def _columns(names: list[str], path: Path) -> dict[str, str]:
    """Our names -> those of the file."""
    found = {
        ours: next(theirs for theirs in known if theirs in names)
        for ours, known in COLUMNS.items()
        if any(theirs in names for theirs in known)
    }
    has = f"it has {', '.join(names) or 'none'}"
    if "gpus" not in found:
        raise UserError(f"{path}: no column gpus (nor {' or '.join(COLUMNS['gpus'][1:])}); {has}")
    if not any(name in found for name in MEASURED):
        raise UserError(f"{path}: one of the columns {', '.join(MEASURED)} is needed; {has}")
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
            raise UserError(f"{path}, line {line}, {found[name]}: '{short}' is no number") from None

    def whole(name: str) -> int | None:
        number = printed(name)
        if number is not None and not (1 <= number.value <= MOST_GPUS and number.value.is_integer()):
            raise UserError(
                f"{path}, line {line}, {found[name]}: {number.value:g} is no whole number from 1 to {MOST_GPUS}"
            )
        return None if number is None else int(number.value)

    gpus = whole("gpus")
    if gpus is None:
        raise UserError(f"{path}, line {line}, {found['gpus']}: how many devices is not stated")
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
    """'7.60' -> 7.6, 0.01 in its last digit. Also '87.3%', '1.75x' and '12,369'; raises ValueError for others."""
    digits = text.strip().rstrip("%xX").strip().replace(",", "")
    if not NUMBER.fullmatch(digits):
        raise ValueError(f"{text} is no number")
    mantissa, _, exponent = digits.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return Printed(float(digits), 10.0 ** (int(exponent or 0) - decimals))
