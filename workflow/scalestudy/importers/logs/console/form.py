"""The form of the rows of a console log: which lines they are, and where their numbers are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path

from scalestudy.importers.logs.console.durations import in_seconds, source_of
from scalestudy.importers.logs.console.phrase import Finder, Phrase
from scalestudy.importers.logs.console.phrases import PER_STEP, STAMP, of_all_steps, phrases, position_of
from scalestudy.importers.logs.console.progress import is_bar
from scalestudy.importers.logs.console.samples_done import shares_of
from scalestudy.importers.logs.lines import numbered_lines
from scalestudy.importers.logs.parts import parts_of
from scalestudy.importers.logs.stated import DEVICE, IN_BRACKETS, LABEL, RANK, TAGGED
from scalestudy.importers.logs.trainers import NUMBERED, Trainer, trainer_of

LEARNED_FROM = 20_000
"""First lines of which one has to be a row."""
ENOUGH = 20
"""Rows of one form from which the form is learned."""
LONGEST_ROW, WHERE_SAID = 4000, 60
"""Bytes of a row, and of its begin where it says that it is no row of the training."""
FEWEST_TO_SEE = 3
"""Rows that show what their numbers count."""
_ALIKE = bytes.maketrans(b"123456789", b"0" * 9)
"""Makes lines equal that differ in their digits only. If ENOUGH of them are no rows, the rest is not looked at."""
CLOCKED = "durations"
MEASURED = frozenset(("step_time_s", "work_per_s", "clock_s"))
_NOT_TRAINING = re.compile(
    rb"(?i)(?<![a-z])(?:val|valid|validation|validate|eval\w*|test|testing|inference)(?![a-z])"
)
"""Before the step number of a line that is not of the training."""
_REWARD = re.compile(rb"(?i)(?<![a-z])(?:rewards?|ep_rew\w*)(?![a-z])")
_MEAN, _MEAN_S = re.compile(rb" *\( *(?P<value>\d[\d.]*)"), re.compile(rb" *\( *(?P<value>\d[\d.]*)s[,)]")
OF_A_ROW = ("step_time_s", "work_per_s", "clock_s", "step")
REST = ("batch", "devices", "optimizer_step", "rate_of_device")


@dataclass(frozen=True)
class Form:
    """The form of a row."""

    trainer: Trainer
    key: bytes
    """A text that every row has."""
    fields: tuple[tuple[str, Finder, bool], ...]
    """(quantity, what finds its number after the one before, whether every row has it), in the order of a row."""
    rest: dict[str, Finder]
    """Quantity -> what finds its number anywhere in a row."""
    read: dict[str, Phrase]
    named: tuple[Phrase, ...]
    """All numbers that are looked for."""
    stamped: bool
    whole_epochs: bool
    """Whether a row is the end of an epoch and counts the steps of that epoch only."""
    of_epochs: bool = False
    """Whether the time of a row is that of all steps of its epoch."""
    durations: bool = False
    """Whether rows have times of several parts, such as `0:12:31`."""
    sources: tuple[bytes | None, ...] = ()
    """The pattern of each field, with the text in front of it, in a row as it is printed; None if it has none."""
    of_rest: tuple[bytes | None, ...] = ()
    """The same of each one in `rest`, from the begin of a row on."""
    mean_digits: int = 0
    """Digits behind the point of the running mean, in seconds."""
    stamp_later: bool = False
    """Whether a field comes before the time stamp."""
    learned_from: int = 0
    """Rows that showed the form."""
    shares: tuple[int, int] | None = None
    """Ranks that share the samples that rows count, and the samples of an epoch; None if they may count none."""
    rewarded: bool = False
    """Whether rows have a reward, as those of reinforcement learning do."""
    label: re.Pattern[bytes] | None = None
    """What finds the rank with which rows begin, as `0: `, `[1,0]<stdout>:` or `[GPU0]`, in its first group."""


def form_of(path: Path) -> Form | None:
    """Return the form of the rows of a log; None if no line has a step number and a time."""
    form = form_of_lines(islice(numbered_lines(path), LEARNED_FROM))
    if form and "step" in form.read:
        return form
    return form_of_lines(islice(_numbered(path), LEARNED_FROM), NUMBERED) or form


def _numbered(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield lines with their numbers that begin with a whole number, if it rises by as much from each to the next
    one."""
    found = [
        (number, line, int(match["value"]))
        for number, line in islice(numbered_lines(path), LEARNED_FROM)
        if NUMBERED.step and (match := NUMBERED.step.search(line))
    ]
    rises = {here[2] - before[2] for before, here in pairwise(found)}
    if len(found) >= FEWEST_TO_SEE and len(rises) == 1 and rises.pop() > 0:
        yield from ((number, line) for number, line, _ in found)


def timed_without_steps(path: Path) -> bytes | None:
    """Return the first line that begins with a whole number and has a time or a throughput; None if none has."""
    for _, line in islice(numbered_lines(path), LEARNED_FROM):
        if (
            NUMBERED.step
            and NUMBERED.step.search(line)
            and MEASURED & set(_quantities(line, NUMBERED, durations=False) or ())
        ):
            return line
    return None


def form_of_lines(lines: Iterable[tuple[int, bytes]], trainer: Trainer | None = None) -> Form | None:
    """Return the form of the rows among lines with their numbers; None if there is no row.

    trainer: what prints them; by default, what they show.
    """
    found: dict[tuple[str, ...], list[bytes]] = {}
    others: Counter[int] = Counter()
    """Hash of the form of a line -> how many such lines were no rows."""
    for _, line in lines:
        alike = hash(line.translate(_ALIKE))
        if others[alike] >= ENOUGH:
            continue
        others[alike] += 1
        for printed in parts_of(line):
            part = in_seconds(printed)
            known = _quantities(part, trainer or trainer_of(part), durations=part != printed)
            if known is not None:
                others[alike] = 0
                rows = found.setdefault(known, [])
                rows.append(printed)
                if len(rows) >= ENOUGH and MEASURED & set(known):
                    return _learn(rows, known, trainer)
    measured = {known: rows for known, rows in found.items() if MEASURED & set(known)}
    best = max((measured or found).items(), key=lambda item: (len(item[1]), len(item[0])), default=None)
    return _learn(best[1], best[0], trainer) if best else None


def is_no_training(begin: bytes) -> bool:
    """Return whether the begin of a line says that it is of a validation or test."""
    lower = begin.lower()
    if b"val" not in lower and b"test" not in lower and b"infer" not in lower:
        return False
    return _NOT_TRAINING.search(begin) is not None


def _quantities(line: bytes, trainer: Trainer, *, durations: bool) -> tuple[str, ...] | None:
    """The quantities of a line that is a row, sorted; None for other lines. durations: whether it has some."""
    if len(line) > LONGEST_ROW or is_bar(line):
        return None
    found = phrases(line, trainer)
    if "step" not in found and not (
        {"epoch", "step_time_s"} & set(found) == {"step_time_s"}
        and {"loss", "work_per_s"} & set(found)
        and found["step_time_s"].of_a_step
    ):
        return None
    if is_no_training(line[: found["step"].start if "step" in found else WHERE_SAID]):
        return None
    known = [*found, *(["stamp"] if STAMP.search(line) else []), *([CLOCKED] if durations else [])]
    return tuple(sorted(known)) if {*MEASURED, "stamp"} & set(known) else None


def _learn(rows: list[bytes], known: tuple[str, ...], trainer: Trainer | None) -> Form:
    """The form of rows as they are printed, by the last one of them."""
    first = in_seconds(rows[-1])
    trainer = trainer or trainer_of(first)
    found = phrases(first, trainer)
    of_epochs = False
    if "step" in found and found["step"].name:
        found["step"], of_epochs = _counted(found["step"], found.get("epoch"), [in_seconds(row) for row in rows])
    named = {name: found[name] for name in ("step", "epoch", *sorted(MEASURED)) if name in found}
    position = "step" in found and found["step"].position
    ends = [match for line in rows if (match := position_of(line))] if position else []
    at_ends = bool(ends) and all(match["step"] == match["total"] for match in ends)
    total = of_all_steps(rows) if at_ends and "step_time_s" in found else None
    if total:
        found["step_time_s"] = named["step_time_s"] = total
    if position:
        named.pop("epoch", None)
    optional = ["loss", "work"]
    if "step_time_s" not in found and found.get("steps_per_s") not in (None, found.get("work_per_s")):
        optional.append("steps_per_s")
    inner = named | {name: found[name] for name in optional if name in found}
    ordered = _located(first, sorted(inner.items(), key=lambda item: item[1].start))
    fields = [(name, one.finder(), name in named) for name, one in ordered]
    durations = CLOCKED in known
    timed = durations and "step_time_s" in found
    sources = [source_of(one, rows) if timed and name == "step_time_s" else one.source() for name, one in ordered]
    behind, mean, mean_digits = _mean_of(first, found)
    if mean:
        at = 1 + next(at for at, (name, _) in enumerate(ordered) if name == behind)
        fields.insert(at, ("mean", re.compile(mean).match, False))
        sources.insert(at, mean)
    stamp = STAMP.search(first)
    others = {name: found[name].located(first, 0) for name in REST if name in found}
    rest = {name: one.finder() for name, one in others.items()}
    key = PER_STEP if total else next((found[name].key for name in OF_A_ROW if name in found), b"")
    return Form(
        trainer,
        key,
        tuple(fields),
        rest,
        named,
        tuple(inner.values()) + tuple(found[name] for name in rest),
        stamped=stamp is not None,
        whole_epochs=of_epochs or ("step" in found and found["step"].since_row) or at_ends,
        of_epochs=total is not None,
        durations=durations,
        sources=tuple(sources),
        of_rest=tuple(one.source() for one in others.values()),
        mean_digits=mean_digits,
        stamp_later=stamp is not None and bool(ordered) and ordered[0][1].start < stamp.end(),
        learned_from=len(rows),
        shares=shares_of(rows) if position else None,
        rewarded=all(_REWARD.search(row) for row in rows),
        label=_label_of(rows, found.get("step")),
    )


def _label_of(rows: list[bytes], step: Phrase | None) -> re.Pattern[bytes] | None:
    """What finds the rank in front of the step of all rows: numbers of which several are the same, which count no
    rows. A number in brackets may be an epoch, unless it falls from row to row."""
    if TAGGED in rows[-1]:
        return RANK
    for label in (LABEL, DEVICE, IN_BRACKETS) if step is not None and step.start > 0 else ():
        found = [match for row in rows if (match := label.search(row))]
        if len(found) < len(rows) or (step is not None and found[-1].end() > step.start):
            continue
        numbers = [int(match[1]) for match in found]
        falls = any(after < before for before, after in pairwise(numbers))
        if len(set(numbers)) < len(numbers) and (falls or label is not IN_BRACKETS):
            return label
    return None


def _counted(step: Phrase, epoch: Phrase | None, rows: list[bytes]) -> tuple[Phrase, bool]:
    """(the number that counts steps, whether each row is the end of an epoch), by several rows.

    `Batch 0/100` has an epoch and a step if its second number rises and the first one does not. If the step stays
    the same and the epoch rises, a row is an epoch.
    """
    matches = [match for row in rows if (match := step.finder()(row))]
    values = [float(match["value"].replace(b",", b"")) for match in matches]
    totals = [match["total"] for match in matches]
    if len(values) < FEWEST_TO_SEE or len(set(values)) > 1:
        return step, False
    if None not in totals and sorted(set(map(int, totals))) == [int(total) for total in totals]:
        inner = rb"%b['\"]?[\s:=#\[]*(?P<epoch>\d{1,15}) */ *(?P<value>\d{1,15})" % re.escape(step.name.encode())
        return replace(step, pattern=re.compile(inner)), False
    epochs = [int(match["value"]) for row in rows if epoch and (match := epoch.finder()(row))]
    return step, len(epochs) == len(values) and sorted(set(epochs)) == epochs


def _located(line: bytes, ordered: list[tuple[str, Phrase]]) -> list[tuple[str, Phrase]]:
    """The numbers of a row, each with what distinguishes its name from that of a number in front of it."""
    made, at = [], 0
    for name, one in ordered:
        here = one.located(line, at)
        found = here.finder()(line, at)
        at = found.end() if found else at
        made.append((name, here))
    return made


def _mean_of(line: bytes, found: dict[str, Phrase]) -> tuple[str, bytes, int]:
    """(quantity behind which the running mean of the step time is in parentheses, its pattern, its digits).

    It is behind the time, `0.35 (0.50)`, or behind the throughput that follows it, `0.35s, 182/s (0.50s, 128/s)`.
    """
    time, rate = found.get("step_time_s"), found.get("work_per_s")
    if time and time.averaged and (mean := _MEAN.match(line, time.end)):
        return "step_time_s", _MEAN.pattern, time.digits(mean["value"])
    if time and rate and rate.averaged and rate.start > time.start and (mean := _MEAN_S.match(line, rate.end)):
        return "work_per_s", _MEAN_S.pattern, time.digits(mean["value"])
    return "", b"", 0
