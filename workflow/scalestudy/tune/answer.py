"""The files that a search ends with: the study of the answer, and a table of all launches."""

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

    Its runs are those of the final blocks, so it leaves out the probes that these did not make.
    """
    study = space.target.study
    content = space.target.content(
        [space.present, won.setting], space.present, name=name, description=sentence, repeats=1, whole=True
    )
    blocks = max(won.blocks, 1)
    content |= {"repeats": blocks, "max_repeats": max(blocks, study.most_repeats)}
    head = (
        "# Made by `scalestudy tune`: the present setting beside the best one that was found.\n"
        "# `scalestudy run --study` with this file keeps the launches of the final blocks and launches what\n"
        "# else the study has, such as base cases. `probe_rounds: 0` is part of these launches: with\n"
        "# another value every run is another one, and is measured again.\n"
    )
    return head + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)


def launches_frame(space: Space, launches: tuple[Launched, ...], noise_scale: float) -> pd.DataFrame:
    """A row for each launch: the keys of the space, then COLUMNS. noise_scale: samples, nan if not used."""
    rows = []
    for one in launches:
        worth = exp(log_worth(space.target, one.setting, noise_scale))
        row = {knob.key: one.setting.get(knob.key) for knob in space.knobs}
        row |= {column: getattr(one, column) for column in COLUMNS if hasattr(one, column)}
        row["spoiled"] = " ".join(one.spoiled) or Spoiled.NONE.value
        row |= {"sample_worth": worth, "goodput_samples_per_s": one.throughput_samples_per_s * worth}
        rows.append(row)
    return pd.DataFrame(rows, columns=[*(knob.key for knob in space.knobs), *COLUMNS])
