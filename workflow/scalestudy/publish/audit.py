"""An audit as it is printed: how the table was read, the recomputed and the printed values, and the remarks."""

from math import isnan, nan
from typing import Any

from scalestudy.analyse.published import held, settle
from scalestudy.analyse.published.held import Held
from scalestudy.analyse.published.table import Recomputed, Table
from scalestudy.diagnose.audit import Asked, Audit, AuditFile
from scalestudy.diagnose.audit_course import relative_to_another
from scalestudy.importers.devices.counted import counted_in, number_of
from scalestudy.importers.numbers.printed import Printed, plain
from scalestudy.importers.published import (
    MEASURED,
    OF_COLUMNS,
    PublishedFile,
    PublishedTable,
)
from scalestudy.publish.numbers.rounding import DASH
from scalestudy.publish.quantity import Quantity, quantity_of
from scalestudy.publish.words.columns import STATED_BY, columns_as_read

ABOUT = ("model", "hardware", "strategy", "precision", "source")
MOST_LINES = 5
"""Lines that a note names."""
RELATIVE = {
    held.BEFORE: "the row before",
    held.SERIAL: "the serial times beside them",
    held.TIME: "the times beside the throughput",
}


def audit_view(audits: list[Audit]) -> list[dict[str, Any]]:
    """Values for report/templates/audit.txt, one entry per case."""
    return [
        {
            "audit": audit,
            "about": _about(audit.table, audit.scaling, audit.source.scaling_by),
            "base": _base(audit.table, counted_in(audit.source)),
            "given": _given(audit),
            "relative": _relative(audit, audit.speedups),
            "relative_efficiency": _relative(audit, audit.efficiencies),
            "checked": _checked(audit),
            "quantity": quantity.header,
            "counted": counted_in(audit.source),
            "rows": [
                _row(
                    scale,
                    quantity,
                    strong=audit.strong,
                    other=other,
                    of_another=relative_to_another(audit.table) is not None,
                )
                for other in (False, True)
                for scale in audit.table.scales
                if (scale.row in audit.table.other_bases) == other
            ],
        }
        for audit, quantity in ((audit, quantity_of(audit)) for audit in audits)
    ]


def reading_view(file: PublishedFile, audits: list[Audit], asked: list[Asked]) -> list[dict[str, Any]]:
    """How each table of a file was read: its columns, what was not read, and notes."""
    settled = {id(audit.source): audit.settled for audit in audits}
    known = [table for table in file.tables if id(table) in settled or any(one.source is table for one in asked)]
    views: dict[int, dict[str, Any]] = {}
    for table in known:
        view = views.setdefault(
            table.line,
            {"line": table.line, "columns": {}, "unread": table.unread, "notes": {}, "example": _example(table)},
        )
        view["columns"] |= columns_as_read(table, settled.get(id(table)))
        view["notes"] |= dict.fromkeys(table.notes)
        left = {id(one): _left(one, audits) for one in known if one.line == table.line}
        several = len(set(map(tuple, left.values()))) > 1  # the lines are those of one column only
        of = next((plain(one.header) for one in table.columns if several and one.role in MEASURED), "")
        view["notes"] |= dict.fromkeys([_not_compared(left[id(table)], of)])
        view["notes"].pop("", None)
    return list(views.values())


def _left(table: PublishedTable, audits: list[Audit]) -> list[int]:
    """The lines of the rows that are in no case; none of a table without an audit."""
    mine = [audit for audit in audits if audit.source is table]
    used = {line for audit in mine for scale in audit.table.scales for line in scale.lines}
    used |= {row.line for audit in mine for row in audit.table.unusable}
    return sorted({row.line for row in table.rows} - used) if mine else []


def _not_compared(lines: list[int], of: str) -> str:
    """What is said of the lines of rows that are in no case; '' for none. of: the column whose rows they are."""
    if not lines:
        return ""
    named = ", ".join(map(str, lines[:MOST_LINES])) + (" and others" if len(lines) > MOST_LINES else "")
    where = f"line {named} was" if len(lines) == 1 else f"lines {named} were"
    where += f" not compared{f' for {of}' if of else ''}"
    return f"{where}: no other number of devices has the same labels and batch"


def _example(table: PublishedTable) -> str:
    """'line 6: GPUs 8, Time 0.5 s': what was read from the row with the most devices, in our own units."""
    row = max(table.rows, key=lambda one: one.gpus)
    parts = []
    for column in table.columns:
        number = float(row.gpus) if column.role == "gpus" else row.number(column.role)
        if number is not None:
            parts.append(f"{plain(column.header)} {number:.6g} {table.unit_of(column)}".rstrip())
    return f"line {row.line}: {', '.join(parts)}"


def _given(audit: Audit) -> str:
    """What the printed numbers that were checked follow from."""
    kinds = {one.kind for one in (audit.speedups, audit.efficiencies) if one.pairs}
    if held.TIME not in kinds:
        return audit.settled.given
    return "times" if kinds == {held.TIME} else f"{audit.settled.given} and times"


def audit_document(file: PublishedFile, audits: list[Audit]) -> AuditFile:
    """The remarks of all cases, and how the tables were read, as a file."""
    views = reading_view(file, audits, [])
    return AuditFile(
        cases={audit.case: audit.remarks for audit in audits},
        read={f"line {view['line']}": view["columns"] for view in views},
        not_read={f"line {view['line']}": view["unread"] for view in views if view["unread"]},
    )


def question_of(asked: Asked) -> str:
    """The question that a table has to be asked, and the options that answer it."""
    question = asked.question
    header = plain(question.header)
    where = f"line {asked.source.line}, {header}"
    ends = f"({question.first:g} to {question.last:g})"
    if question.kind == "throughput":
        text = f"{question.course} from {question.fewest} to {question.most} devices {ends}. Is this per device?"
        each, whole = f"--column '{header}=throughput_per_gpu'", f"--column '{header}=throughput'"
        return f"{where}: {text} Add {each} if it is, or {whole} if it is of all devices together"
    if question.kind in settle.TIMES:
        size = plain(asked.source.growing_size)
        how = "grows" if question.last > question.first else "falls" if size else "hardly falls"
        beside = f", and {size} grows too" if size else ""
        where_to = f"from {question.fewest} to {question.most} devices {ends}{beside}"
        text = f"{how} {where_to}. Is it the time of constant work?"
        return (
            f"{where}: {text} Add --scaling strong if it is, or --scaling weak if the work grows with the devices"
        )
    batch = asked.source.column("batch")
    if batch is not None:
        name = plain(batch.header)
        text = f"is {name} per device or of all devices?"
        either = f"--column '{name}=batch_per_gpu' or --column '{name}=global_batch'"
        return f"{where}: {text} Add {either}"
    return (
        f"{where}: is the batch per device constant, or the global batch? Add --scaling weak or --scaling strong"
    )


def _checked(audit: Audit) -> str:
    """'3 printed speedups and 2 efficiencies'; empty if no printed number could be checked."""
    counts = (
        (audit.checked.speedups, "speedup"),
        (audit.checked.efficiencies, "efficiency"),
        (audit.checked.precisions, "ratio of two columns"),
    )
    plural = {"speedup": "speedups", "efficiency": "efficiencies", "ratio of two columns": "ratios of two columns"}
    found = [f"{count} {name if count == 1 else plural[name]}" for count, name in counts if count]
    return " and ".join(filter(None, (", ".join(found[:-1]), *found[-1:])))


def _relative(audit: Audit, ratios: Held) -> str:
    """What printed speedups or efficiencies are relative to, if not to the baseline."""
    if ratios.kind == held.ROW and ratios.row is not None:
        column = ratios.row.label(OF_COLUMNS)
        own = {scale.row.label(OF_COLUMNS) for scale in audit.table.scales}
        return " in ".join(filter(None, ("" if column in own else column, f"line {ratios.row.line}")))
    return RELATIVE.get(ratios.kind, "")


def _about(table: Table, scaling: str, scaling_by: str) -> str:
    labels = (
        " and ".join(filter(None, dict.fromkeys(scale.row.label(name) for scale in table.scales)))
        for name in ABOUT
    )
    called = f"{scaling} scaling {STATED_BY[scaling_by]}" if scaling else ""
    return "; ".join(filter(None, (", ".join(filter(None, labels)), called)))


def _base(table: Table, counted: str) -> str:
    if table.base is None:
        return "none: no row has a throughput or a time"
    how = table.base.label("strategy")
    return f"{number_of(table.base.gpus, counted)}{f', {how}' if how else ''}"


def _row(scale: Recomputed, quantity: Quantity, *, strong: bool, other: bool, of_another: bool) -> dict[str, str]:
    """A row as text. strong: the global batch is fixed, as Karp and Flatt's serial fraction requires.

    other: it is a further baseline, which its strategy distinguishes. of_another: its speedup is over something
    else than fewer devices, so it has no efficiency.
    """
    row = scale.row
    shares = (nan, nan) if of_another else (scale.efficiency.value, scale.per_doubling_efficiency)
    efficiency, per_doubling = (_text(100 * share, ".1f") for share in shares)
    return {
        "gpus": str(row.gpus),
        "other": row.label("strategy") if other else "",
        "quantity": _text(quantity.of(scale), ".6g"),
        "speedup": _beside(_text(scale.speedup.value, ".2f"), row.printed_speedup, 1),
        "efficiency": _beside(efficiency, row.printed_efficiency, 100),
        "per_doubling": per_doubling,
        "karp_flatt": _text(scale.karp_flatt, ".3f") if strong else DASH,
    }


def _beside(computed: str, printed: Printed | None, factor: float) -> str:
    """'3.56 (3.8)': the recomputed and the published value."""
    return computed if printed is None else f"{computed} ({printed.value * factor:.4g})"


def _text(value: float, form: str) -> str:
    return DASH if isnan(value) else format(value, form)
