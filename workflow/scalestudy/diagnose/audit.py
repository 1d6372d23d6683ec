"""Checks a published table: claims that its own numbers contradict, and information that it lacks.

A remark is made only if rounding cannot explain it: a printed number represents all values that are less than one
unit of its last digit away, or half a unit above it if another is rounded up. A table is only checked against its
own claims.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from scalestudy.analyse.published.alike import NEAR, is_of_each, proportional
from scalestudy.analyse.published.answers import answer_of_others
from scalestudy.analyse.published.bases import efficiencies_held, speedups_held
from scalestudy.analyse.published.batches import batch_per_gpu
from scalestudy.analyse.published.held import ROW, UNIT, Held
from scalestudy.analyse.published.rebased import first_beside, with_the_row_of_its_ratios
from scalestudy.analyse.published.series import NAMED_BASE, Series, series_of
from scalestudy.analyse.published.settle import (
    PER_DEVICE,
    STRONG,
    TOTAL,
    Question,
    Settled,
    settle,
)
from scalestudy.analyse.published.table import Table, rate_of, ratio, recompute
from scalestudy.diagnose.audit_course import course_remarks, one_scale, relative_to_another, unprinted
from scalestudy.diagnose.audit_ratios import ratio_remarks
from scalestudy.diagnose.audit_rows import (
    precision_held,
    precision_remarks,
    row_remarks,
    rows_left_out_or_twice,
    utilization_remarks,
)
from scalestudy.diagnose.audit_sentences import Case, sentence_remarks
from scalestudy.diagnose.audit_setups import (
    as_the_base,
    labelled,
    other_batches,
    other_names,
    other_setups,
    settings_of_some,
)
from scalestudy.diagnose.remark import KINDS, Remark
from scalestudy.importers.headers.meaning import PART
from scalestudy.importers.published import BY_USER, PublishedFile, PublishedRow, PublishedTable
from scalestudy.record.document import Document


@dataclass(frozen=True)
class Checked:
    """How many printed numbers of a case were held against others."""

    speedups: int = 0
    efficiencies: int = 0
    precisions: int = 0


@dataclass(frozen=True)
class Audit:
    """A case with the recomputed values and the remarks."""

    case: str
    table: Table
    remarks: tuple[Remark, ...]
    source: PublishedTable
    settled: Settled
    speedups: Held
    """What the printed speedups were held against."""
    efficiencies: Held
    """The same for the printed efficiencies."""
    checked: Checked
    scaling: str
    """'weak' or 'strong' as printed; empty if the table does not say it."""

    @property
    def strong(self) -> bool:
        """Whether the work is constant: by a batch per device that shrinks, or in a time without batches."""
        batches = {batch_per_gpu(scale.row) for scale in self.table.scales}
        return len(batches) > 1 or (batches == {None} and self.settled.whose in (TOTAL, STRONG))


@dataclass(frozen=True)
class Asked:
    """A table that cannot be audited before a question is answered."""

    source: PublishedTable
    question: Question


class AuditFile(Document):
    """The file that `scalestudy audit --out` writes."""

    made_by: ClassVar[str] = "scalestudy audit"
    schema_version: Literal[3] = 3
    cases: dict[str, tuple[Remark, ...]]
    read: dict[str, dict[str, str]]
    """Table -> header of a column -> what it was read as."""
    not_read: dict[str, tuple[str, ...]]
    """Table -> headers of the columns that were not read."""


def audit_file(file: PublishedFile, name: str) -> tuple[list[Audit], list[Asked]]:
    """The audits of all series of a file, and the tables that need an answer first. name: of a single case."""
    audits: list[Audit] = []
    asked: list[Asked] = []
    for table in file.tables:
        series = series_of(table)
        for group in [[one] for one in series] if table.by_case else [series]:
            known = [(audit.source, audit.settled.whose) for audit in audits]
            like = next((whose for other, whose in known if whose and proportional(table, other)), "")
            if any(proportional(table, other, ("throughput_per_gpu",), NEAR) for other, _ in known) or any(
                is_of_each(table, other) for other in file.tables
            ):
                like = PER_DEVICE
            settled = settle(table, group, answer=like)
            if isinstance(settled, Question):
                settled = settle(table, group, answer=answer_of_others(table, file, settled.kind))
            if isinstance(settled, Question):
                column = table.column(settled.kind)
                of_a_part = column is not None and column.per == PART  # the answer for the whole is also for it
                if not of_a_part and not any(_answers(one, table, settled) for one in asked):
                    asked.append(Asked(table, settled))
                continue
            rows = [row for one in series for row in one.rows if row.printed_speedup]
            printed = 2 * sum(row.printed_efficiency is not None for row in rows) > len(rows)
            whole = [with_the_row_of_its_ratios(one, settled, table) for one in settled.series]
            scaled = [one for one in whole if len({row.gpus for row in one.rows}) > 1]
            for one in scaled or whole:
                case = " ".join(filter(None, (table.name, one.name))) or name
                audits.append(_audit(case, one, table, settled, file, efficiency_printed=printed))
    return _with_sentences(audits, {one.source.line for one in asked}), asked


def _with_sentences(audits: list[Audit], asked: Collection[int]) -> list[Audit]:
    """The audits with remarks on the sentences beside their tables, but not where one waits for an answer.

    asked: the lines of the tables that do.
    """
    places = [at for at, one in enumerate(audits) if one.source.line not in asked]
    cases = [Case(audits[at].table, audits[at].settled, audits[at].source) for at in places]
    result = list(audits)
    for case, remark in sentence_remarks(cases):
        one = result[places[case]]
        result[places[case]] = replace(one, remarks=_in_order([*one.remarks, remark]))
    return result


def _in_order(remarks: Sequence[Remark]) -> tuple[Remark, ...]:
    return tuple(sorted(remarks, key=lambda remark: KINDS.index(remark.kind)))


def with_answer(file: PublishedFile, scaling: str) -> PublishedFile:
    """Return the file with the kind of scaling that the user says: for the tables that ask for it, if any does."""
    asked = audit_file(file, "")[1]
    return file.answered(scaling, {one.source.line for one in asked})


def _answers(asked: Asked, table: PublishedTable, question: Question) -> bool:
    """Whether the answer to a question is also that to another: of the same numbers, or of times of one table."""
    alike = asked.question.kind == question.kind != "throughput" and asked.source.line == table.line
    return alike or proportional(table, asked.source)


def _audit(
    case: str,
    series: Series,
    source: PublishedTable,
    settled: Settled,
    file: PublishedFile,
    *,
    efficiency_printed: bool,
) -> Audit:
    """The audit of a series. efficiency_printed: the table has efficiencies, so a missing one has a remark."""
    table = recompute(series.rows, source.rows)
    others = [row for one in settled.series if one is not series for row in one.rows]
    others += settled.outside
    speedups = speedups_held(table, others, source)
    if speedups.outside or speedups.kind == UNIT:
        beside = [*others, *first_beside(settled, source, file)]
        whole = speedups_held(table, beside, source)
        speedups, others = (whole, beside) if whole.kind == ROW and not whole.outside else (speedups, others)
    efficiencies = efficiencies_held(table, others, source)
    if len({row.gpus for row in series.rows}) < 2:  # its own size is not the baseline of a ratio other than 1
        speedups, efficiencies = speedups.without_outside(), efficiencies.without_outside()
    lines = {row.line for row in series.rows}
    ratios = [one for one in source.ratios if one.line in lines]
    mixed = list(other_setups(table))
    remarks = [
        *rows_left_out_or_twice(table),
        *_bases(table, source.rows),
        *row_remarks(series.rows, source),
        *precision_remarks(ratios),
    ]
    if not mixed:
        remarks += ratio_remarks(table, speedups, efficiencies, settled, source)
        remarks += utilization_remarks(series.rows)
        remarks += unprinted(table) if efficiency_printed else []
    elif own := as_the_base(table):
        part = recompute(own, source.rows)
        remarks += ratio_remarks(
            part,
            speedups_held(part, others, source),
            efficiencies_held(part, others, source),
            settled,
            source,
        )
    mixed += other_batches(table)
    partly = list(settings_of_some(table, source.rows))
    if not (speedups.pairs or efficiencies.pairs or mixed or partly):
        partly += other_names(table)
    scaling = _called(series.rows, source)
    course = [] if table.other_bases else course_remarks(table)  # of several baselines none is that of the others
    printed = scaling if source.scaling_by != BY_USER else set[str]()  # the table does not claim the answer
    labels = list(labelled(table, printed, source))
    other_work = bool(partly) or (bool(labels) and source.grows_as_devices)  # the course would be of constant work
    remarks += mixed or [*partly, *labels, *([] if other_work else course)]
    checked = Checked(len(speedups.pairs), len(efficiencies.pairs), len(precision_held(ratios)))
    word = next(iter(scaling)) if len(scaling) == 1 else ""
    return Audit(
        case,
        table,
        _in_order(remarks),
        source,
        settled,
        speedups,
        efficiencies,
        checked if not mixed else Checked(),
        word,
    )


def _called(rows: Sequence[PublishedRow], source: PublishedTable) -> set[str]:
    return {row.label("scaling") or source.scaling for row in rows} - {""}


def _bases(table: Table, rows: Sequence[PublishedRow]) -> Iterator[Remark]:
    """Baselines of the speedups: missing, too small, or several."""
    base = table.base
    if base is None:
        relative = relative_to_another(table)
        if relative is not None:
            unit = next((row for row in rows if row.gpus == 1 and row.number("printed_speedup") == 1), None)
            what = "something that the table does not have"
            what = what if unit is None else f"another run, as line {unit.line} with 1x is"
            text = f"printed as {relative:g}x on one device, so the printed speedups are relative to {what}"
            text += ": nothing can be recomputed"
            yield Remark("no base case", None, text)
        elif table.scales:
            devices = "one device" if table.base_gpus == 1 else f"{table.base_gpus} devices"
            own = [*(scale.row for scale in table.scales), *rows]  # those of the series first
            unit = next((row for row in own if row.number("printed_speedup") == 1), None)
            whose = f"assumed to be relative to {devices}"
            whose = whose if unit is None else f"relative to line {unit.line} with 1x"
            ratios = "speedups" if any(scale.row.printed_speedup for scale in table.scales) else "efficiencies"
            text = "no row has a throughput, or a step time with its batch: nothing can be recomputed, and the"
            yield Remark("no base case", None, f"{text} printed {ratios} are {whose}")
        return
    if len({scale.row.gpus for scale in table.scales}) < 2:
        yield one_scale(base)
        return
    largest = table.scales[-1]
    for other in (row for row in table.other_bases if not _is_printed_over(row, base)):
        over = ratio(largest.throughput, rate_of(other)).value * other.gpus / largest.row.gpus
        first, second = _how(base, other), _how(other, base)
        text = (
            f"the efficiency on {largest.row.gpus} devices is {largest.efficiency.value:.3f} relative to"
            f" {first} and {over:.3f} relative to {second}: a speedup must name its baseline"
        )
        yield Remark("two base cases", base.gpus, text)


def _is_printed_over(row: PublishedRow, base: PublishedRow) -> bool:
    """Whether the table itself names the baseline: by that word, or by 1x there and another speedup here."""
    if any(label.lower() == NAMED_BASE for label in base.labels.values()):
        return True
    own, of_base = row.printed_speedup, base.printed_speedup
    return own is not None and of_base is not None and of_base.value == 1 and not own.low <= 1 <= own.high


def _how(row: PublishedRow, other: PublishedRow) -> str:
    """'ddp on 1', or the line of a row without a strategy; what differs from another row of the same line."""
    labels = [row.label(name) for name in row.labels if row.label(name) != other.label(name)]
    named = row.label("strategy") or (next(filter(None, labels), "") if row.line == other.line else "")
    return f"{named or f'line {row.line}'} on {row.gpus}"
