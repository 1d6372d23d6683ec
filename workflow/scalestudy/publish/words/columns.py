"""What the columns of a published table were read as, in words, and why."""

from scalestudy.analyse.published import settle
from scalestudy.analyse.published.growth import ends_low, falls, in_order, throughput_grows
from scalestudy.importers.headers.meaning import NAMELESS, PART, Meaning
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import (
    BY_SIZE,
    BY_TABLE,
    BY_TEXT,
    BY_USER,
    MEASURED,
    PublishedTable,
)
from scalestudy.importers.ratios.gains import SAVED

ROLES = {
    "gpus": "number of devices",
    "nodes": "number of nodes",
    "gpus_per_node": "devices per node",
    "batch_per_gpu": "batch per device",
    "global_batch": "global batch",
    "batch": "a batch; the table does not say whether per device or of all devices",
    "accumulation": "micro-batches per step (gradient accumulation)",
    "throughput": "throughput",
    "throughput_per_gpu": "throughput per device",
    "steps_per_s": "steps per time",
    "step_time_s": "time of a step",
    "total_time_s": "time of a whole run or epoch",
    "time_s": "a time",
    "serial_time_s": "time of a serial run, which speedups may be relative to",
    "printed_speedup": "speedup, as printed",
    "printed_efficiency": "efficiency, as printed",
    "utilization": "share of the peak FLOP/s",
    "precision_ratio": "speedup of one column over another, as printed",
    "throughput_unit": "unit of the throughput",
    "scaling": "weak or strong scaling, as printed",
}
WHOSE = {
    settle.PER_DEVICE: "per device",
    settle.TOGETHER: "of all devices together",
    settle.WEAK: "with a constant batch per device",
    settle.STRONG: "with a constant global batch",
}
STATED_BY = {
    BY_TABLE: "as printed",
    BY_TEXT: "as stated beside the table",
    BY_SIZE: "as a size of the work shows",
    BY_USER: "as --scaling says",
}


def columns_as_read(table: PublishedTable, settled: settle.Settled | None) -> dict[str, str]:
    """Return the headers of a table with what they were read as. settled: None before a question is answered."""
    return {
        plain(column.header).rstrip(" :\uff1a") or NAMELESS: _meaning(column, table, settled)
        for column in table.columns
    }


def _meaning(column: Meaning, table: PublishedTable, settled: settle.Settled | None) -> str:
    role = column.role
    if role == "scaling_ratio":
        stated = settled.stated if settled and settled.stated else "speedup"
        return f"{stated}, as printed{f'; called {column.scaling} scaling' if column.scaling else ''}"
    if role == "printed_speedup" and column.per == SAVED:
        return "share of the time that is saved, read as a speedup"
    of_nodes = role == "gpus" and column.unit == "nodes"
    words = "time of a part" if column.per == PART else ROLES.get("nodes" if of_nodes else role, "label")
    if settled is not None and role == settled.rate == "time_s" and settled.whose == settle.TOTAL:
        return f"{words} of work that is constant ({_why_constant(table, settled)})"
    if settled is not None and role == settled.rate and role != "throughput_per_gpu" and settled.whose in WHOSE:
        grown = role == "time_s" and settled.whose == settle.WEAK
        words += " of work that grows with the devices" if grown else f" {WHOSE[settled.whose]}"
        if settled.by_numbers:
            words += " (the printed ratios show it)"
        elif role == "throughput" and settled.whose == settle.PER_DEVICE:
            words += " (not stated; as another column shows)"
        elif role == "throughput" and column.per != "all":
            grows = throughput_grows(settled.series)
            words += f" (not stated; {'it grows with the devices' if grows else 'this is the usual meaning'})"
        elif role == "steps_per_s" and settled.whose == settle.STRONG and not (table.scaling or column.scaling):
            words += " (not stated; it grows with the devices)"
        elif role == "step_time_s" and not (table.scaling or column.scaling):
            shown = "; as another column shows" if table.column("utilization") else ""
            shown = f"; it falls {_where(settled, role)}" if settled.whose == settle.STRONG else shown
            words += f" (not stated{shown})"
    words += "; unit not stated" if role in table.unknown_units else ""
    if settled is not None and role in MEASURED and settled.rate not in ("", role):
        words += "; speedups are recomputed from another column"
    return words


def _why_constant(table: PublishedTable, settled: settle.Settled) -> str:
    """Why a time is read as that of constant work."""
    if settled.by_numbers:
        return "the printed ratios show it"
    if table.scaling == settle.STRONG:
        return "as the table says" if table.scaling_by == BY_TABLE else STATED_BY[table.scaling_by]
    known = [rows for one in settled.series if (rows := in_order(one.rows, "whole_time_s"))]
    if not any(falls(rows, "whole_time_s", 1.0) for rows in known):
        return "not stated; this is the usual meaning"
    return f"not stated; it falls {_where(settled, 'whole_time_s')}"


def _where(settled: settle.Settled, role: str) -> str:
    """Where a time falls."""
    known = [rows for one in settled.series if (rows := in_order(one.rows, role))]
    whole = all(ends_low(rows, role) for rows in known)
    return "as devices are added" if whole else "in some rows with more devices"
