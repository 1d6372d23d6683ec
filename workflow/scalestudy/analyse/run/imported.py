"""Runs that were imported from logs: a row of their tables is a window of steps, and only its mean time is
known."""

from collections.abc import Iterable
from math import nan
from typing import Any

from scalestudy.analyse.run.steps import PERCENTILES
from scalestudy.record.observation import IMPORTED
from scalestudy.record.tables import Observation
from scalestudy.registry.codes import Limit, Steadiness
from scalestudy.study.spec import CommandSpec

IN_ROWS = ("warmup_steps", "steady_steps", "level_changed_at_step", "level_changed_after_steps")
OF_SINGLE_STEPS = (*PERCENTILES, "step_time_cv", "fast_mode_s", "slow_mode_s", "slow_mode_share")
"""Columns that means over several steps do not show."""
UNSEEN = ("remainder_time_s", "rank_skew_s")
"""Columns that no log shows."""


def limits_of(observation: Observation) -> str:
    """Returns what a run cannot show, codes separated by blanks; `none` if there is nothing."""
    record = observation.record
    if said := record.environment.get(IMPORTED):
        return str(said["limits"])
    unseen = isinstance(record.spec, CommandSpec) and record.totals.steps and not record.totals.samples
    return Limit.BATCH_UNSEEN if unseen else Limit.NONE


def limits_together(of_runs: Iterable[str]) -> str:
    """Returns what any of several runs cannot show, in the order of the codes; `none` if there is nothing."""
    known = {code for codes in of_runs for code in codes.split()}
    return " ".join(code for code in Limit if code in known and code != Limit.NONE) or Limit.NONE


def length_is_known(limits: str) -> bool:
    """Returns whether it is known how long a run took; not for a number of a published table."""
    return Limit.PRINTED not in limits.split()


def shows_single_steps(observation: Observation) -> bool:
    """Returns whether the rows of a run are single steps, and not means over several."""
    return not {Limit.AVERAGED, Limit.WHOLE_RUN, Limit.PRINTED} & set(limits_of(observation).split())


def as_imported(observation: Observation, steps: dict[str, Any]) -> dict[str, Any]:
    """Returns the columns of `describe` for a run that may be imported: rows become steps, and what they hide
    nan."""
    said = observation.record.environment.get(IMPORTED)
    if not said:
        return steps
    each = int(said["steps_per_row"])
    found = steps | {name: steps[name] * each for name in IN_ROWS} | dict.fromkeys(UNSEEN, nan)
    if not shows_single_steps(observation):
        found |= dict.fromkeys(OF_SINGLE_STEPS, nan)
        if found["steadiness"] == Steadiness.TWO_MODES:
            found["steadiness"] = Steadiness.STEADY
    return found
