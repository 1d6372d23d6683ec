"""The printed columns of comprehensive_summary.csv and of floors.csv, in the order of numbers.json."""

from collections.abc import Iterator

from scalestudy.registry.column import Column, Limits, Printed

# In the order of a step. Where communication was probed, the backward pass is shown as its two parts.
PARTS = {
    "data_time": ("data wait", "Data wait"),
    "h2d_time": ("host to device", "To device"),
    "forward_time": ("forward", "Forward"),
    "backward_time": ("backward", "Backward"),
    "backward_compute_time": ("backward computation", "Backward comp."),
    "exposed_span": ("exposed communication", "Exposed comm."),
    "optimizer_time": ("optimizer", "Optimizer"),
    "logging_time": ("logging", "Logging"),
    "checkpoint_time": ("checkpoint", "Checkp."),
    "remainder_time": ("remainder", "Rest"),
}
"""Part of a step -> its name, and its header in a table."""
SPLIT, WHOLE = ("backward_compute_time", "exposed_span"), "backward_time"


def count(name: str, meaning: str, *, column: str = "", header: str = "") -> Column:
    """Returns a column that is printed in full."""
    return Column(column or name, meaning, printed=Printed(name, rounding="count", header=header))


def time(
    name: str, meaning: str, *, limits: Limits = "interval", key: str = "", header: str = "", bars: bool = False
) -> Column:
    """Returns a time of a step, in seconds, printed in milliseconds. bars: tables print its limits."""
    printed = Printed(f"{key or name}_ms", "ms", 1e3, header=header, with_limits=bars)
    return Column(f"{name}_s", meaning, "s", limits, printed)


def percent(
    name: str, meaning: str, *, column: str = "", limits: Limits = "none", share: bool = False, header: str = ""
) -> Column:
    """Returns a fraction, printed in per cent. share: always with one decimal."""
    printed = Printed(f"{name}_percent", "%", 100, "share" if share else "measured", header)
    return Column(column or name, meaning, limits=limits, printed=printed)


def whole_percent(name: str, meaning: str) -> Column:
    """Returns a fraction, printed in whole per cent."""
    return Column(name, meaning, printed=Printed(f"{name}_percent", "%", 100, "count"))


def ratio(name: str, meaning: str, *, limits: Limits = "interval", header: str = "", bars: bool = True) -> Column:
    """Returns a number without a unit."""
    return Column(name, meaning, limits=limits, printed=Printed(name, header=header, with_limits=bars))


def _parts() -> Iterator[Column]:
    """Yields each part of a step, and its share of the sum of all parts."""
    for part, (name, header) in PARTS.items():
        yield time(part, f"{name}, mean over steady steps and ranks", header=header)
        yield percent(f"{part}_share", f"share of {name} in a step", share=True)


def _memory() -> Iterator[Column]:
    headers = {"peak_resident": "Peak resident", "peak_allocated": "Peak alloc."}
    headers |= {"mean_allocated": "Mean alloc.", "peak_reserved": "Peak reserved"}
    for kind in ("resident", "allocated", "reserved"):
        for statistic in ("peak", "mean"):
            name, header = f"{statistic}_{kind}_gib", headers.get(f"{statistic}_{kind}", "")
            meaning = f"{statistic} {kind} memory per rank, maximum over ranks"
            yield Column(name, meaning, "GiB", printed=Printed(name, "GiB", header=header))


def _same(
    name: str, meaning: str, unit: str, *, limits: Limits = "none", header: str = "", with_limits: bool = False
) -> Column:
    """Returns a column that is printed in its own unit."""
    return Column(name, meaning, unit, limits, Printed(name, unit, header=header, with_limits=with_limits))


def _scaled(name: str, meaning: str, unit: str = "", *, column: str = "", header: str = "") -> Column:
    return Column(column or name, meaning, unit, printed=Printed(name, unit, rounding="scaled", header=header))


_PRICE = "mean over ranks, difference between blocks with and without synchronisation"

POINT_COLUMNS: tuple[Column, ...] = (
    count("ranks", "number of ranks", column="world_size", header="Ranks"),
    count("nodes", "number of nodes", header="Nodes"),
    count("batch_per_rank", "samples per step of one rank", header="Batch per rank"),
    count("global_batch", "samples per step of all ranks", header="Global batch"),
    count("launches", "runs of this point"),
    count("launches_ok", "runs that completed", header="Runs"),
    count("launches_left_out", "runs with measurement protocols that are not comparable with the row's protocol"),
    time("step_time", "step time of the slowest rank, geometric mean over runs", header="Step time", bars=True),
    time("step_time_p50", "median step time, median over runs", limits="none", header="Median"),
    time("step_time_p95", "95th percentile of step times, median over runs", limits="none", header="p95"),
    time("step_time_p99", "99th percentile of step times, median over runs", limits="none", header="p99"),
    percent(
        "step_time_cv",
        "variation of step times within a run, coefficient of variation, median over runs",
        share=True,
    ),
    percent("launch_cv", "variation between runs, coefficient of variation", share=True),
    percent("half_width", "relative half-width of the step time's interval", share=True),
    _same(
        "throughput_samples_per_s",
        "samples per second of all ranks",
        "samples/s",
        limits="interval",
        header="Samples",
    ),
    _same(
        "energy_per_sample_j",
        "energy of all GPUs per sample, whole boards, geometric mean over runs",
        "J",
        limits="interval",
        header="Energy per sample",
    ),
    _same(
        "cpu_energy_per_sample_j",
        "energy of all processor packages of the hosts per sample, geometric mean over runs",
        "J",
        limits="interval",
        header="CPU energy",
    ),
    count("repeats_compared", "repeats in the speedup"),
    count("launches_spoiled", "runs disturbed by something else on their host"),
    count(
        "repeats_spoiled",
        "repeats in which something else on the host disturbed a run of this point or of the baseline",
    ),
    count("repeats_clean", "repeats without a disturbed run"),
    count("spoiled_left_out", "disturbed repeats that the speedup leaves out"),
    ratio("speedup_with_spoiled", "speedup with all disturbed repeats, if there are any"),
    ratio("speedup_without_spoiled", "speedup without disturbed repeats, if there are any"),
    time("step_time_with_spoiled", "step time with all disturbed runs, if there are any"),
    count(
        "repeats_apart",
        "repeats in which this point and its baseline ran apart, in any of the next three ways",
    ),
    count("repeats_in_other_jobs", "of these, repeats whose two runs ran in different SLURM jobs"),
    count("repeats_on_other_nodes", "of these, repeats whose two runs had no node in common"),
    count("repeats_days_apart", "of these, repeats whose two runs were started more than a day apart"),
    ratio("speedup", "ratio of throughputs to the baseline, as used for the verdict", header="Speedup"),
    ratio("speedup_in_repeats", "ratio of throughputs to separate runs of the baseline, within repeats"),
    ratio("speedup_in_launches", "ratio of throughputs to the baseline in the same processes, within runs"),
    ratio("estimator_ratio", "speedup within runs divided by speedup within repeats"),
    percent(
        "shared_variance",
        "share of the variance between runs that this point and its baseline have in common within a repeat",
        limits="interval",
    ),
    percent("efficiency", "speedup divided by ranks", limits="interval", header="Effic."),
    percent(
        "per_doubling_efficiency",
        "efficiency of one doubling of ranks, geometric mean from the baseline to this point",
        limits="interval",
        header="Per doubling",
    ),
    ratio(
        "relative_throughput",
        "ratio of throughputs to the first variant at the same place",
        header="Relative throughput",
    ),
    _same(
        "device_hours_per_million_samples",
        "device-hours for a million samples",
        "h",
        limits="interval",
        header="Device-h per 1M",
    ),
    ratio("karp_flatt", "serial fraction by Karp and Flatt", limits="none", header="Serial fraction", bars=False),
    time(
        "overhead",
        "step time minus the step time of one process at equal batch per rank",
        header="Overhead",
        bars=True,
    ),
    percent("overhead_share", "overhead divided by step time", header="Overhead"),
    time("step_time_alone", "step time of one process at equal batch per rank"),
    *_parts(),
    time("parts_time", "sum of all parts of a step, mean over ranks", limits="none", key="parts"),
    time("rank_skew", "step time of the slowest rank minus the fastest rank's, mean over steps", limits="none"),
    time("differential", f"total cost of gradient synchronisation, {_PRICE}"),
    time(
        "wrapper_time",
        "cost of the wrapper in a single process: DDP's work in the backward pass",
        key="wrapper",
    ),
    percent("wrapper_share", "the same divided by the step time", share=True),
    time("interference", "slowdown of the backward computation by the communication that it overlaps with"),
    time(
        "remainder", "differential minus exposed communication and interference", key="synchronisation_remainder"
    ),
    time("exposed_hook", "exposed communication by the timestamps of gradient buckets"),
    time("wait_time", "exposed communication by timestamps: waiting for the slowest rank"),
    time(
        "transfer_time",
        "exposed communication by timestamps: from the slowest rank being ready to the end of the last bucket",
    ),
    time("imbalance", "slowest rank's own work minus the mean over ranks, without synchronisation"),
    time("hook_cost", "overhead of the bucket timestamps"),
    time(
        "lateness",
        "delay of the latest rank's gradients relative to the mean of the other ranks",
        limits="none",
    ),
    whole_percent("late_share", "share of the gradient buckets for which the latest rank is last"),
    whole_percent("lateness_share", "lateness of the latest rank divided by the step time"),
    Column(
        "all_reduce_latency_s",
        "latency of the all-reduce on the idle network",
        "s",
        printed=Printed("all_reduce_latency_us", "us", 1e6),
    ),
    _same("all_reduce_gib_per_s", "bandwidth of the largest all-reduce on the idle network", "GiB/s"),
    _same("all_reduce_bus_gib_per_s", "bus bandwidth of the largest all-reduce on the idle network", "GiB/s"),
    _same("link_bus_gib_per_s", "bus bandwidth that NCCL assumes for the slowest link of the ring", "GiB/s"),
    *_memory(),
    percent(
        "accuracy",
        "validation accuracy after training, mean of runs",
        column="validation_accuracy",
        limits="range",
        header="Accuracy",
    ),
    Column(
        "accuracy_difference",
        "validation accuracy minus the baseline's",
        limits="interval",
        printed=Printed("accuracy_difference_points", "points", 100),
    ),
    _same(
        "time_to_accuracy_s",
        "training time to the target accuracy",
        "s",
        limits="interval",
        header="Time to acc.",
        with_limits=True,
    ),
    ratio("time_to_accuracy_speedup", "ratio of training times to the target accuracy"),
    _scaled("parameters", "trained parameters", header="Param."),
    _scaled("flop_per_sample", "floating-point operations per sample", "FLOP", column="flops_per_sample"),
    _scaled("flop_per_s_per_rank", "floating-point operations per second of a rank", "FLOP/s"),
    Column(
        "bytes_sent_per_step",
        "data sent by a rank per step",
        "bytes",
        printed=Printed("sent_mib_per_step", "MiB", 2**-20),
    ),
)

QUANTITIES: dict[str, Column] = {column.printed.name: column for column in POINT_COLUMNS if column.printed}
"""By the name that is printed."""

FLOOR_COLUMNS: tuple[Column, ...] = (
    Column("workload", "name of the workload", text=True),
    Column("variant", "variant of the baseline, a single process", text=True),
    Column("batch_per_rank", "samples per step"),
    count("repeats_compared", "repeats with good runs of the baseline and of its twin"),
    percent(
        "step_time_difference",
        "step time of the baseline's twin divided by the baseline's, minus 1, within repeats",
        limits="interval",
    ),
    percent("half_width", "half-width of that interval on the log scale", share=True),
    Column("shows", "slower, faster, no_difference or no_interval: conclusion from that interval about the twin"),
    percent(
        "smallest_difference",
        "smallest difference of step times that this number of repeats shows with a probability of 80 %; limits"
        " from the spread",
        limits="interval",
    ),
    count("most_repeats", "largest number of repeats (`max_repeats`)"),
    percent("smallest_difference_at_most", "the same after that many repeats", limits="interval"),
    percent(
        "shared_variance",
        "share of the variance between runs that the two runs of a repeat have in common",
        limits="interval",
    ),
)

FLOOR_QUANTITIES: dict[str, Column] = {column.printed.name: column for column in FLOOR_COLUMNS if column.printed}
"""Columns of floors.csv, by the name that is printed."""

HEADLINE = ("step_time_ms", "throughput_samples_per_s", "speedup", "efficiency_percent")
"""Columns of every point; a point without a good run has its outcome instead."""
