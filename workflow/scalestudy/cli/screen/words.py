"""The lines of the screen: a run that ended, a decision, what is under way."""

from __future__ import annotations

from math import isnan

from scalestudy.analyse.study.decision_file import Comparison, DecisionFile
from scalestudy.cli.screen.study import Current
from scalestudy.publish.numbers.rounding import show
from scalestudy.publish.words.labels import counted, ranks
from scalestudy.record.observation import RunRecord
from scalestudy.registry.codes import Settled
from scalestudy.study.spec import RunSpec

MOST_COMPARISONS = 8
"""Lines of a decision; of more comparisons only the count is given."""


def duration(seconds: float) -> str:
    """'0:42', '12:07', '3:05:00'."""
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def run_name(spec: RunSpec) -> str:
    """'digits-mlp ddp 1x2, batch 16, repeat 1'."""
    scale = f"{spec.nodes}x{spec.devices_per_node}"
    return f"{spec.workload} {spec.variant} {scale}, batch {spec.batch_per_rank}, repeat {spec.repeat}"


def run_line(record: RunRecord, number: int, of: int) -> str:
    """A run that ended: its number, what it is, and how it ended."""
    failed = ": ".join(filter(None, (record.outcome, record.reason)))
    text = counted(record.totals.steps, "step") if record.outcome == "ok" else failed
    return f"[{number}/{of}] {run_name(record.spec)}: {text}, {record.totals.wall_time_s:.0f} s"


def decision_lines(decision: DecisionFile) -> list[str]:
    """What is known after some repeats, and how many runs follow."""
    after = f"after {counted(decision.after_repeats, 'repeat')}"
    settled = sum(one.settled != Settled.NO for one in decision.comparisons)
    more = f"{counted(len(decision.needed), 'run')} more" if decision.needed else "no more runs"
    head = f"{after}: {settled} of {counted(len(decision.comparisons), 'verdict')} decided; {more}"
    if len(decision.comparisons) > MOST_COMPARISONS:
        return [head]
    return [head, *(f"  {_comparison(one)}" for one in decision.comparisons)]


def _comparison(one: Comparison) -> str:
    where = f"{one.workload} {one.variant} {one.scaling} on {ranks(one.world_size)}"
    speedup = (
        "no speedup yet"
        if isnan(one.speedup)
        else f"speedup {show(one.speedup, one.speedup_low, one.speedup_high)}"
    )
    return f"{where}: {speedup}{'' if one.settled != Settled.NO else ', not decided'}"


def current_line(current: Current, name: str) -> str:
    """A run under way."""
    if not current.total:
        return f"{name}: starting"
    rate = f", {current.steps_per_s:.3g} steps/s" if current.steps_per_s else ""
    return f"{name}: step {current.done} of at most {current.total}{rate}"
