"""Published scaling tables in our own terms: rows with the printed digits of every number."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from scalestudy.importers.headers.meaning import Meaning
from scalestudy.importers.headers.terms import ON_ONE_MACHINE
from scalestudy.importers.numbers.printed import Printed

MEASURED = ("throughput", "throughput_per_gpu", "step_time_s", "steps_per_s", "total_time_s", "time_s")
"""Roles of columns that a speedup can be computed from, the best first."""
RATES = ("throughput", "throughput_per_gpu")
TIMES = ("step_time_s", "total_time_s", "time_s")
SERIAL = "serial_time_s"
"""Time of a serial run beside that of each row, which the printed speedups are relative to."""
CLOCKED = (*TIMES, SERIAL)
"""Roles of columns whose numbers are times."""
UTILIZATION = "utilization"
"""Share of the peak FLOP/s (MFU) beside a throughput, which is proportional to that of a device."""
OF_STEPS = ("step_time_s", "steps_per_s")
OF_COLUMNS = "variant of columns"
"""Label of the columns that a row was read from; `variant` may be the header of a column."""
FOOTNOTE = "footnote"
"""Label of the rows that a footnote of the table is of, with its text."""
_OVER_ROW_BEFORE = re.compile(
    r"\b(?:vs\.?|versus|over|relative to|compared (?:to|with)|from|to)\W+(?:the )?(?:prev(?:ious)?|prior|last)"
    r"(?: (?:row|step|size|scale|line|count|number))?\b(?! ?[a-z])|"
    r"\b(?:row|step|size|line) (?:above|before)\b|\b(?:incremental|marginal)\b|"
    r"\b(?:per doubling|doubling (?:efficiency|speed-?up))\b|\b(?:vs\.?|versus|over) half\b"
)
"""Headers which say that each ratio is relative to the row before. `previous release` names other software."""
_QUANTILE = re.compile(r"\b(?:median|p\d\d|minimum|maximum|best|fastest|slowest|worst)\b")
BATCHES = ("batch", "batch_per_gpu", "global_batch", "accumulation")
"""Roles of columns with the samples or the micro-batches of a step."""
BY_TABLE, BY_TEXT, BY_SIZE, BY_USER = "table", "text", "size", "user"
STATED = ("printed_speedup", "printed_efficiency", "scaling_ratio")
"""Roles of columns that state a speedup or an efficiency."""


@dataclass(frozen=True)
class PublishedRow:
    """One row of a table. A number that the table does not have is None."""

    line: int
    """Line in the file; the first line is 1."""
    gpus: int
    numbers: Mapping[str, Printed]
    """Numbers by role; times in seconds, efficiencies as fractions."""
    labels: Mapping[str, str]
    """Text columns: strategy, precision, scaling, model, hardware ..."""
    unit: str = ""
    """Unit of its throughput, if the rows of its column have several."""

    def label(self, name: str) -> str:
        """Return the value of a text column; empty if the table does not have it."""
        return self.labels.get(name, "")

    def number(self, role: str) -> float | None:
        """Return a number without its digits."""
        found = self.numbers.get(role)
        return None if found is None else found.value

    def having(self, **numbers: Printed | None) -> PublishedRow:
        """Return the row with other numbers; None removes one."""
        changed = {role: number for role, number in {**self.numbers, **numbers}.items() if number is not None}
        return replace(self, numbers=changed)

    @property
    def gpus_per_node(self) -> int | None:
        """Devices of a node."""
        found = self.number("gpus_per_node")
        return None if found is None else int(found)

    @property
    def batch_per_gpu(self) -> float | None:
        """Samples per step on each device, as stated."""
        return self.number("batch_per_gpu")

    @property
    def global_batch(self) -> float | None:
        """Samples per step on all devices, as stated."""
        return self.number("global_batch")

    @property
    def step_time_s(self) -> Printed | None:
        """Time of a step; in any unit if the table does not state one."""
        return self.numbers.get("step_time_s")

    @property
    def throughput(self) -> Printed | None:
        """Throughput of all devices together."""
        return self.numbers.get("throughput")

    @property
    def printed_speedup(self) -> Printed | None:
        """The speedup as printed."""
        return self.numbers.get("printed_speedup")

    @property
    def printed_efficiency(self) -> Printed | None:
        """The efficiency as printed, as a fraction."""
        return self.numbers.get("printed_efficiency")


EQUAL, LEAST = "equal", "least"


@dataclass(frozen=True)
class Claim:
    """A speedup or an efficiency that a sentence beside a table states for a number of devices."""

    sentence: str
    of_efficiency: bool
    ratio: Printed
    """The speedup, or the efficiency as a fraction."""
    gpus: int
    bound: str
    """EQUAL, or LEAST if it says that the ratio is not smaller."""


@dataclass(frozen=True)
class PrecisionRatio:
    """A printed speedup of one precision over another, and the two numbers that it should follow from."""

    line: int
    gpus: int
    printed: Printed
    first: Printed
    second: Printed
    precisions: tuple[str, str]
    """Precisions of the two columns; empty if their headers name none."""
    times: bool
    """Whether the columns are times, of which the shorter is the faster."""


@dataclass(frozen=True)
class OddSize:
    """A size of the work that is another one for each device than in all other rows."""

    header: str
    gpus: int
    size: float
    usual: float
    """That of each device in the other rows."""


@dataclass(frozen=True)
class PublishedTable:
    """One table of a file, or its columns of one variant, such as a precision."""

    name: str
    """What tells it from the other tables of the file; empty if it is the only one."""
    line: int
    rows: tuple[PublishedRow, ...]
    columns: tuple[Meaning, ...]
    """The columns that were read."""
    unread: tuple[str, ...] = ()
    """Headers of the columns that were not."""
    scaling: str = ""
    """'weak' or 'strong' if its headers or headings say so."""
    scaling_by: str = BY_TABLE
    """What says it: BY_TABLE, BY_TEXT (a sentence on the batch), BY_SIZE (a size of the work) or BY_USER."""
    unknown_units: frozenset[str] = frozenset()
    """Roles of times whose unit is not stated. Ratios do not need it."""
    notes: tuple[str, ...] = ()
    ratios: tuple[PrecisionRatio, ...] = ()
    claims: tuple[Claim, ...] = ()
    """What the sentences beside it say of its speedups and efficiencies."""
    outside: tuple[PublishedRow, ...] = ()
    """Rows on no device, such as a CPU, which speedups may be relative to; their `gpus` is 0."""
    by_case: bool = False
    """Whether a column `case` says which rows belong together."""
    growing_size: str = ""
    """Header of a size of the work that grows with the devices; empty if there is none."""
    grows_as_devices: bool = False
    """Whether this size is the same for each device in all rows."""
    odd_size: OddSize | None = None
    """The only size of the work that is another one for each device than in all other rows."""

    def column(self, role: str) -> Meaning | None:
        """Return the column of a role."""
        return next((meaning for meaning in self.columns if meaning.role == role), None)

    def says_row_before(self, role: str) -> bool:
        """Return whether the header of the ratios of a role says that each is relative to the row before.

        It does not count if all rows on the fewest devices have another one than 1: `prior` is a system then.
        """
        column = self.column(role)
        fewest = min(row.gpus for row in self.rows)
        begins = any(row.number(role) in (None, 1) for row in self.rows if row.gpus == fewest)
        return column is not None and begins and bool(_OVER_ROW_BEFORE.search(column.header.lower()))

    def is_ladder(self, role: str) -> bool:
        """Return whether rows on the fewest devices are changes one after another, each with its own ratio."""
        fewest = min(row.gpus for row in self.rows)
        changed = any(row.number(role) not in (None, 1) for row in self.rows if row.gpus == fewest)
        return changed and self.says_row_before(role)

    def is_of_a_quantile(self, role: str) -> bool:
        """Return whether the column of a role is of a median or an extreme, which may be far from the mean."""
        column = self.column(role)
        return column is not None and bool(_QUANTILE.search(column.header.lower()))

    @property
    def on_one_machine(self) -> bool:
        """Whether the devices are threads or cores, which share a machine."""
        devices = self.column("gpus")
        return devices is not None and bool(ON_ONE_MACHINE.search(devices.header.lower()))

    def unit_of(self, column: Meaning) -> str:
        """Return the unit in which a column was read, if its header has another: samples/s of samples/hour."""
        if column.role in CLOCKED:
            return "" if column.role in self.unknown_units else "s"
        return column.unit if column.role in RATES and column.factor != 1 else ""


@dataclass(frozen=True)
class PublishedFile:
    """All tables of a file that show scaling, and the lines of the others."""

    tables: tuple[PublishedTable, ...]
    others: tuple[str, ...] = field(default=())
    """Tables without scaling, each with the reason why it was left out."""

    def answered(self, scaling: str, lines: Collection[int] = ()) -> PublishedFile:
        """Return the file with the kind of scaling that the user says for the tables that do not say it.

        lines: those of the tables that the answer is for; empty for all.
        """
        tables = [
            one
            if one.scaling or (lines and one.line not in lines)
            else replace(one, scaling=scaling, scaling_by=BY_USER)
            for one in self.tables
        ]
        return replace(self, tables=tuple(tables))


def by_scaling(table: PublishedTable) -> list[PublishedTable]:
    """Return the rows of a table that a column calls weak and those that it calls strong as two tables."""
    kinds = list(dict.fromkeys(row.label("scaling") for row in table.rows))
    if len(kinds) < 2 or not all(kinds) or table.by_case:
        return [table]
    return [
        replace(
            table,
            name=f"{table.name} {kind} scaling".strip(),
            rows=tuple(row for row in table.rows if row.label("scaling") == kind),
            scaling=kind,
        )
        for kind in kinds
    ]
