"""The columns of verification.csv: tried advice, with values before it, as predicted and after it."""

from scalestudy.registry.column import Column, Printed
from scalestudy.registry.points import QUANTITIES

EPOCH_TIME = Column(
    "epoch_time_s",
    "training time of an epoch, validation excluded: mean of a run, geometric mean over runs",
    "s",
    "interval",
    Printed("epoch_time_s", "s"),
)
TIME_TO_ACCURACY = QUANTITIES["time_to_accuracy_s"]
TRIED: tuple[Column, ...] = (
    QUANTITIES["step_time_ms"],
    QUANTITIES["speedup"],
    QUANTITIES["efficiency_percent"],
    EPOCH_TIME,
    TIME_TO_ACCURACY,
    QUANTITIES["accuracy_percent"],
)
"""Quantities of a point before and after advice, in the order of the report."""
GAIN = Column(
    "gain", "throughput after the advice divided by throughput before", limits="interval", printed=Printed("gain")
)
ACCURACY_DIFFERENCE = Column(
    "accuracy_difference",
    "accuracy after the advice minus accuracy before, by seed",
    limits="interval",
    printed=Printed("accuracy_difference_points", "points", 100),
)
SIDES = {
    "before": "before the advice, in the runs of the trial",
    "predicted": "prediction for after the advice",
    "after": "after the advice, in the runs of the trial",
}

VERIFIED_COLUMNS: tuple[Column, ...] = (
    Column("workload", "name of the workload that the advice is for", text=True),
    Column("variant", "variant that the advice is for", text=True),
    Column("scaling", "strong or weak"),
    Column("nodes", "number of nodes"),
    Column("devices_per_node", "ranks of each node"),
    Column("cause", "cause that led to the advice"),
    Column("advice", "id of the advice"),
    Column("change", "the advice in words"),
    Column("verdict", "confirmed, partly, refuted or undecided"),
    Column(
        "gain_predicted", "predicted throughput after the advice divided by throughput before", limits="interval"
    ),
    Column(
        "gain_measured",
        "throughput after the advice divided by throughput before, within repeats of the trial",
        limits="interval",
    ),
    *(
        Column(f"{column.name}_{side}", f"{column.meaning}; {said}", column.unit, column.limits)
        for column in TRIED
        for side, said in SIDES.items()
    ),
    ACCURACY_DIFFERENCE,
    Column("accuracy_kept", "equivalent, lower, higher or not_shown: result of two one-sided tests"),
    Column("ends_before", "outcomes of the runs before the advice"),
    Column("ends_after", "outcomes of the runs after the advice"),
    Column("trial", "name of the study in which the advice was tried"),
)
