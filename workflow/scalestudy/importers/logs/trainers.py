"""What the documentation of widely used trainers says of their lines, and the lines do not say themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from scalestudy.importers.logs.quantities import Meaning

_TIME = Meaning("step_time_s")
OF_THE_LAST_STEP = "each row has the time of its last step; it counts for all steps since the row before"


@dataclass(frozen=True)
class Trainer:
    """A trainer, which a text in its rows shows."""

    kind: str
    mark: re.Pattern[bytes]
    names: dict[str, Meaning | None] = field(default_factory=dict)
    """Name of a number -> what it is; None if it is not read."""
    unit: str = ""
    """Unit of its throughput."""
    per: str = ""
    each: str = "mean"
    """As Log.each; `running` for a mean since the start."""
    remark: str = ""
    window: int = 0
    """Steps of which a time is the mean, whatever the number of steps between rows; 0 for those between rows."""
    of_rows: bool = False
    """Whether a time is that of all steps since the row before."""
    step: re.Pattern[bytes] | None = None
    """What finds the step, as `value`, where it has no name."""
    counts_samples: bool = False
    """Whether the position in brackets counts samples."""


def _mark(text: str) -> re.Pattern[bytes]:
    return re.compile(text.encode())


_RUNNING = "its times are means since the start of the training: that of the last row counts"
TRAINERS = (
    Trainer(
        "MMEngine or MMCV console log",
        _mark(
            r"mmengine - INFO - (?:Epoch ?(?:\(train\))? *\[\d+\]|Iter ?(?:\(train\))? *)\[ *\d+/\d+\].*?"
            r"\btime: [\d.]+,? +data_time: "
        ),
        {"time": _TIME},
        window=10,
    ),
    Trainer(
        "MMEngine or MMCV console log",
        _mark(
            r"(?:Epoch ?(?:\(train\))? *\[\d+\]|Iter ?(?:\(train\))? *)\[ *\d+/\d+\].*?"
            r"\btime: [\d.]+,? +data_time: "
        ),
        {"time": _TIME},
    ),
    Trainer(
        "Detectron2 console log",
        _mark(r"d2\.utils\.events.*?\biter: \d+ .*?last_time: "),
        {"last_time": _TIME, "time": None},
        each="last",
    ),
    Trainer(
        "Detectron2 console log",
        _mark(r"d2\.utils\.events.*?\biter: \d+ "),
        {"time": _TIME},
        each="running",
        remark=_RUNNING,
    ),
    Trainer(
        "console log of PyTorch's ImageNet example",
        _mark(r"Epoch: \[\d+\]\[ *\d+/\d+\]\s+(?:Batch )?Time:? +[\d.]+ \( *[\d.]+\)\s+Data"),
        {"time": _TIME, "batch time": _TIME},
        each="last",
        remark=OF_THE_LAST_STEP,
    ),
    Trainer(
        "console log of torchvision's references",
        _mark(r"\[ *\d+/\d+\] +eta: .*?\btime: [\d.]+ +data: "),
        {"time": _TIME, "img/s": None},
        remark="its times are means over the last 20 steps",
        window=20,
    ),
    Trainer(
        "timm console log",
        _mark(r"Train: \d+ \[ *\d+/\d+ .*?Time: +[\d.]+s, +[\d.]+/s "),
        {"time": _TIME},
        unit="samples",
        per="all",
        each="last",
        remark=OF_THE_LAST_STEP,
    ),
    Trainer(
        "OpenCLIP console log",
        _mark(r"Train Epoch: \d+ \[ *\d+/\d+ \(\d+%\)\].*?Batch \(t\): "),
        {"batch (t)": _TIME},
        unit="samples",
        per="all",
        each="last",
        remark=OF_THE_LAST_STEP,
        counts_samples=True,
    ),
    Trainer(
        "nanoGPT console log",
        _mark(r"^iter \d+: loss [\d.]+, time [\d.]+ms"),
        {"time": _TIME},
        each="last",
        remark=OF_THE_LAST_STEP,
    ),
    Trainer(
        "MaxText console log",
        _mark(r"completed step: \d+, seconds: "),
        {"seconds": _TIME},
        unit="tokens",
        per="device",
    ),
    Trainer(
        "modded-nanogpt console log",
        _mark(r"step:\d+/\d+ .*?train_time:\d+ms step_avg:"),
        {"train_time": Meaning("clock_s"), "step_avg": None},
    ),
    Trainer(
        "TensorFlow Estimator console log",
        _mark(r"loss = [^,]+, step = \d+ \([\d.]+ sec\)"),
        of_rows=True,
    ),
    Trainer(
        "ESPnet console log",
        _mark(r"\d+epoch:train:\d+-\d+batch: "),
        {"iter_time": None, "train_time": None},
        step=re.compile(rb"(?P<epoch>\d{1,9})epoch:train:\d{1,12}-(?P<value>\d{1,12})batch: "),
    ),
    Trainer(
        "console log of Flax and other users of clu",
        _mark(r"logging_writer\.py:\d+\] \[\d+\] "),
        step=re.compile(rb"logging_writer\.py:\d+\] \[(?P<value>\d{1,12})\] "),
    ),
    Trainer(
        "console log of tf_cnn_benchmarks",
        _mark(r"^\d+\timages/sec: [\d.]+ \+/- "),
        unit="samples",
        per="all",
        each="running",
        remark=_RUNNING.replace("times", "rates"),
        step=re.compile(rb"^(?P<value>\d{1,9})(?=\timages/sec: )"),
    ),
    Trainer(
        "Composer console log",
        _mark(r"\[batch=\d+/\d+\]:? .*\bthroughput/"),
        {
            f"{front}time/{work}": None
            for front in ("", "train ")
            for work in ("batch", "sample", "token", "epoch")
        },
    ),
    Trainer(
        "PaddlePaddle console log",
        _mark(r"\b(?:batch_cost[:=]? ?[\d.]+|ips[:=]? ?[\d.]+)"),
        {
            "batch_cost": _TIME,
            "avg_batch_cost": _TIME,
            "ips": Meaning("work_per_s"),
            "avg_ips": Meaning("work_per_s"),
        },
    ),
)
ANY = Trainer("console log", _mark(r""))
NUMBERED = Trainer(
    "console log", ANY.mark, step=re.compile(rb"^\s*[\[(|#]?\s*(?P<value>\d{1,9})(?![\d./-]|:\d)(?=[\])|:,;\s])")
)
"""A trainer whose rows begin with a step that has no name."""


def trainer_of(line: bytes) -> Trainer:
    """Return the trainer that prints a row; ANY if it is none of those that are known."""
    return next((one for one in TRAINERS if one.mark.search(line)), ANY)
