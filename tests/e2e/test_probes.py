"""Rounds of probes end on all ranks together, when the difference is known precisely enough."""

from __future__ import annotations

from pathlib import Path

from launches import spec_of, succeeded
from scalestudy.measure.stopping import FEWEST_ROUNDS
from scalestudy.record.observation import PROBE_PHASES

MOST = 16


def test_probes_end_where_they_know_enough(tmp_path: Path) -> None:
    """Nearly any spread is within 99 % of a step, even beside other tests."""
    measure = {"probe_rounds": MOST, "probe_steps": 3, "half_width": 0.99, "warmup_steps": 2}
    blocks = succeeded(spec_of({"strategy": "ddp"}, measure=measure), tmp_path).blocks
    rounds = blocks[blocks["phase"].isin(PROBE_PHASES)].groupby(["rank", "phase"]).size().unstack("phase")
    assert set(rounds.columns) == set(PROBE_PHASES)
    assert (rounds.loc[0] == rounds.loc[1]).all()
    for with_, without in (("probe-sync", "probe-no-sync"), ("probe-arrival", "probe-arrival-no-sync")):
        assert (rounds[with_] == rounds[without]).all()
        assert rounds[with_].between(FEWEST_ROUNDS, MOST - 1).all()
