"""Texts on the method of measuring; names in braces are values of a study."""

DEFINITIONS = (
    "Speedup is the ratio of throughputs; efficiency is speedup divided by the number of ranks. Strong"
    " scaling keeps the global batch constant, weak scaling the batch per rank.",
    "A run is long enough when its step time is known to the study's target, or when its budget of steps"
    " is spent. The number of repeats of a point follows the same rule.",
    "Overhead is the step time minus the step time of one process at equal batch per rank, both as"
    " arithmetic means. It includes communication, skew between ranks and contention on the host.",
)
ENERGY = {
    "energy_per_sample_j": "GPU energy is read from NVML's counters of the whole boards, over the steady blocks of"
    " a run. It excludes the hosts.",
    "cpu_energy_per_sample_j": "CPU energy is read from RAPL for all processor packages of the hosts. It includes"
    " other processes and excludes memory and GPUs.",
}
"""By the quantity that a row has."""
RULES = (
    "Healthy: the whole interval of the efficiency is at or above {target_efficiency} per doubling of"
    " ranks, and that of the speedup is above 1. Negative scaling: the whole interval of the speedup is below 1."
    ' Without an interval only the value is judged, and the verdict is "by one run".',
    "Accuracy is kept if two one-sided tests on runs of equal seed show that it differs from the"
    " baseline's by less than {accuracy_margin}; with too few runs the tests are inconclusive. Time to an"
    " accuracy is the training time to the end of the first epoch that reaches it.",
    "The runs of each repeat are in random order, so that drift of the machine does not look like"
    " scaling. Each repeat has its own seed.",
)
OF_OUR_RUNS = (DEFINITIONS[1], RULES[1], RULES[2])
"""What does not hold for imported runs."""
