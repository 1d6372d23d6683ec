"""The columns of verification.csv: advice that was tried, with what was before, predicted and after."""

from scalestudy.registry.column import Column, Printed
from scalestudy.registry.points import QUANTITIES

EPOCH_TIME = Column(
    "epoch_time_s",
    "training time of an epoch, validation excluded: mean of a launch, geometric mean over launches",
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
"""What is told of a point before and after advice, in this order."""
GAIN = Column("gain", "throughput after over throughput before", limits="interval", printed=Printed("gain"))
ACCURACY_DIFFERENCE = Column(
    "accuracy_difference",
    "accuracy after less accuracy before, by seed",
    limits="interval",
    printed=Printed("accuracy_difference_points", "points", 100),
)
SIDES = {
    "before": "before the advice, in the launches of the trial",
    "predicted": "as predicted for after the advice",
    "after": "after the advice, in the launches of the trial",
}

VERIFIED_COLUMNS: tuple[Column, ...] = (
    Column("workload", "name of the workload that was advised"),
    Column("variant", "variant that was advised"),
    Column("scaling", "strong or weak"),
    Column("nodes", "number of nodes"),
    Column("devices_per_node", "ranks of each node"),
    Column("cause", "cause that led to the advice"),
    Column("advice", "id of the advice"),
    Column("change", "the advice in words"),
    Column("verdict", "confirmed, partly, refuted or undecided"),
    Column("gain_predicted", "predicted throughput after the advice over that before", limits="interval"),
    Column("gain_measured", "throughput after over that before, within repeats of the trial", limits="interval"),
    *(
        Column(f"{column.name}_{side}", f"{column.meaning}; {said}", column.unit, column.limits)
        for column in TRIED
        for side, said in SIDES.items()
    ),
    ACCURACY_DIFFERENCE,
    Column("accuracy_kept", "equivalent, lower, higher or not_shown: what two one-sided tests show"),
    Column("ends_before", "how the launches before the advice ended"),
    Column("ends_after", "how the launches after the advice ended"),
    Column("trial", "name of the study in which it was tried"),
)
