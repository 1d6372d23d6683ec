"""The output files of a search: the study of the answer, and a table of all runs."""

from __future__ import annotations

from math import exp

import pandas as pd
import yaml

from scalestudy.registry.codes import Spoiled
from scalestudy.tune.model import Finalist, Launched
from scalestudy.tune.prior import log_worth
from scalestudy.tune.space import Space

COLUMNS = (
    *("run_id", "kind", "rung", "block", "repeat", "outcome", "reason"),
    *("throughput_samples_per_s", "sample_worth", "goodput_samples_per_s"),
    *("epoch_time_s", "validation_accuracy", "device_time_s", "spoiled"),
)


def answer_text(space: Space, name: str, won: Finalist, sentence: str) -> str:
    """A study file with the present setting and the winning one, side by side.

    Its runs are those of the final blocks, which have no probes, so the study has none either.
    """
    study = space.target.study
    content = space.target.content(
        [space.present, won.setting], space.present, name=name, description=sentence, repeats=1, whole=True
    )
    blocks = max(won.blocks, 1)
    content |= {"repeats": blocks, "max_repeats": max(blocks, study.most_repeats)}
    head = (
        "# Made by `scalestudy tune`: the present setting and the best setting that was found.\n"
        "# `scalestudy run --study` with this file keeps the runs of the final blocks and makes the other\n"
        "# runs of the study, such as baselines. `probe_rounds: 0` is part of the identity of these runs:\n"
        "# with another value, every run is measured again.\n"
    )
    return head + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)


def launches_frame(space: Space, launches: tuple[Launched, ...], noise_scale: float) -> pd.DataFrame:
    """A row for each run: the keys of the space, then COLUMNS. noise_scale: samples, nan if not used."""
    rows = []
    for one in launches:
        worth = exp(log_worth(space.target, one.setting, noise_scale))
        row = {knob.key: one.setting.get(knob.key) for knob in space.knobs}
        row |= {column: getattr(one, column) for column in COLUMNS if hasattr(one, column)}
        row["spoiled"] = " ".join(one.spoiled) or Spoiled.NONE.value
        row |= {"sample_worth": worth, "goodput_samples_per_s": one.throughput_samples_per_s * worth}
        rows.append(row)
    return pd.DataFrame(rows, columns=[*(knob.key for knob in space.knobs), *COLUMNS])
