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
"""Part of a step -> its name, and its name over a column of a table."""
SPLIT, WHOLE = ("backward_compute_time", "exposed_span"), "backward_time"


def count(name: str, meaning: str, *, column: str = "", header: str = "") -> Column:
    """A number that is printed in full."""
    return Column(column or name, meaning, printed=Printed(name, rounding="count", header=header))


def time(
    name: str, meaning: str, *, limits: Limits = "interval", key: str = "", header: str = "", bars: bool = False
) -> Column:
    """A time of a step, in seconds, printed in milliseconds. bars: tables print its limits."""
    printed = Printed(f"{key or name}_ms", "ms", 1e3, header=header, with_limits=bars)
    return Column(f"{name}_s", meaning, "s", limits, printed)


def percent(
    name: str, meaning: str, *, column: str = "", limits: Limits = "none", share: bool = False, header: str = ""
) -> Column:
    """A fraction, printed in per cent. share: with one decimal, whatever is known of it."""
    printed = Printed(f"{name}_percent", "%", 100, "share" if share else "measured", header)
    return Column(column or name, meaning, limits=limits, printed=printed)


def whole_percent(name: str, meaning: str) -> Column:
    """A fraction, printed in whole per cent."""
    return Column(name, meaning, printed=Printed(f"{name}_percent", "%", 100, "count"))


def ratio(name: str, meaning: str, *, limits: Limits = "interval", header: str = "", bars: bool = True) -> Column:
    """A number without a unit."""
    return Column(name, meaning, limits=limits, printed=Printed(name, header=header, with_limits=bars))


def _parts() -> Iterator[Column]:
    """Each part of a step, and its share of them all."""
    for part, (name, header) in PARTS.items():
        yield time(part, f"{name}, mean over steady steps and ranks", header=header)
        yield percent(f"{part}_share", f"share of {name} in a step", share=True)


def _memory() -> Iterator[Column]:
    headers = {"peak_resident": "Peak resident", "peak_allocated": "Peak alloc."}
    headers |= {"mean_allocated": "Mean alloc.", "peak_reserved": "Peak reserved"}
    for kind in ("resident", "allocated", "reserved"):
        for statistic in ("peak", "mean"):
            name, header = f"{statistic}_{kind}_gib", headers.get(f"{statistic}_{kind}", "")
            meaning = f"{statistic} {kind} memory of the rank that has most"
            yield Column(name, meaning, "GiB", printed=Printed(name, "GiB", header=header))


def _same(
    name: str, meaning: str, unit: str, *, limits: Limits = "none", header: str = "", with_limits: bool = False
) -> Column:
    """Printed in its own unit."""
    return Column(name, meaning, unit, limits, Printed(name, unit, header=header, with_limits=with_limits))


def _scaled(name: str, meaning: str, unit: str = "", *, column: str = "", header: str = "") -> Column:
    return Column(column or name, meaning, unit, printed=Printed(name, unit, rounding="scaled", header=header))


_PRICE = "mean over ranks, as the difference of blocks with and without synchronisation"

POINT_COLUMNS: tuple[Column, ...] = (
    count("ranks", "number of ranks", column="world_size", header="Ranks"),
    count("nodes", "number of nodes", header="Nodes"),
    count("batch_per_rank", "samples of a step, of one rank", header="Batch per rank"),
    count("global_batch", "samples of a step, of all ranks", header="Global batch"),
    count("launches", "launches of this point"),
    count("launches_ok", "launches that came to their end", header="Launches"),
    count("launches_left_out", "launches of measurement protocols that are not comparable with that of the row"),
    time(
        "step_time", "step time of the slowest rank, geometric mean over launches", header="Step time", bars=True
    ),
    time("step_time_p50", "median step time, median over launches", limits="none", header="Median"),
    time("step_time_p95", "95th percentile of step times, median over launches", limits="none", header="p95"),
    time("step_time_p99", "99th percentile of step times, median over launches", limits="none", header="p99"),
    percent("step_time_cv", "scatter of steps, coefficient of variation, median over launches", share=True),
    percent("launch_cv", "scatter of launches, coefficient of variation", share=True),
    percent("half_width", "half-width of the step time's interval, over the step time", share=True),
    _same(
        "throughput_samples_per_s",
        "samples a second, of all ranks",
        "samples/s",
        limits="interval",
        header="Samples",
    ),
    _same(
        "energy_per_sample_j",
        "energy of a sample: of all GPUs, whole boards, geometric mean over launches",
        "J",
        limits="interval",
        header="Energy per sample",
    ),
    _same(
        "cpu_energy_per_sample_j",
        "energy of a sample: of all processor packages of the hosts, geometric mean over launches",
        "J",
        limits="interval",
        header="CPU energy",
    ),
    count("repeats_compared", "repeats that the speedup is made of"),
    count("launches_spoiled", "launches that something else on their host spoiled"),
    count(
        "repeats_spoiled",
        "repeats in which something else on the host spoiled a launch of this or of the base case",
    ),
    count("repeats_clean", "repeats in which nothing did"),
    count("spoiled_left_out", "of the spoiled repeats, those that the speedup leaves out"),
    ratio("speedup_with_spoiled", "speedup with all spoiled repeats, where there are any"),
    ratio("speedup_without_spoiled", "speedup without any spoiled repeat, where there are any"),
    time("step_time_with_spoiled", "step time with all spoiled launches, where there are any"),
    count(
        "repeats_apart",
        "repeats in which this point and its base case ran apart: in any of the next three ways",
    ),
    count("repeats_in_other_jobs", "of these, repeats whose two launches ran in different SLURM jobs"),
    count("repeats_on_other_nodes", "of these, repeats whose two launches had no node in common"),
    count("repeats_days_apart", "of these, repeats whose two launches were started more than a day apart"),
    ratio("speedup", "ratio of throughputs to the base case, as the study is judged by it", header="Speedup"),
    ratio("speedup_in_repeats", "ratio of throughputs to launches of the base case, within repeats"),
    ratio("speedup_in_launches", "ratio of throughputs to the base case in the same processes, within launches"),
    ratio("estimator_ratio", "speedup within launches over that within repeats"),
    percent(
        "shared_variance",
        "share of the variance between launches that this point and its base case share within a repeat",
        limits="interval",
    ),
    percent("efficiency", "speedup over ranks", limits="interval", header="Effic."),
    percent(
        "per_doubling_efficiency",
        "efficiency of one doubling of ranks, geometric mean from the base case on",
        header="Per doubling",
    ),
    ratio(
        "relative_throughput",
        "ratio of throughputs to the first variant at the same place",
        header="Relative throughput",
    ),
    _same(
        "device_hours_per_million_samples",
        "hours of all devices for a million samples",
        "h",
        limits="interval",
        header="Device-h per 1M",
    ),
    ratio(
        "karp_flatt", "serial fraction after Karp and Flatt", limits="none", header="Serial fraction", bars=False
    ),
    time("overhead", "step time less that of one process at equal batch per rank", header="Overhead", bars=True),
    percent("overhead_share", "overhead over step time", header="Overhead"),
    time("step_time_alone", "step time of one process at equal batch per rank"),
    *_parts(),
    time("parts_time", "all parts of a step, mean over ranks", limits="none", key="parts"),
    time("rank_skew", "slowest rank's step less the fastest one's, mean over steps", limits="none"),
    time("differential", f"synchronisation of gradients, {_PRICE}"),
    time(
        "wrapper_time",
        "of one process whose model is in a wrapper: what DDP does in its backward pass",
        key="wrapper",
    ),
    percent("wrapper_share", "the same over the step time", share=True),
    time("interference", "backward computation slowed by the communication that it overlaps with"),
    time("remainder", "differential less exposed communication and interference", key="synchronisation_remainder"),
    time("exposed_hook", "exposed communication by the timestamps of gradient buckets"),
    time("wait_time", "exposed communication by timestamps: waiting for the slowest rank"),
    time("transfer_time", "exposed communication by timestamps: from then to the end of the last bucket"),
    time("imbalance", "slowest rank's own work less the mean, without synchronisation"),
    time("hook_cost", "overhead of the bucket timestamps"),
    time(
        "lateness",
        "how much later the gradients of the latest rank come than those of the others",
        limits="none",
    ),
    whole_percent("late_share", "share of the gradient buckets for which the latest rank comes last"),
    whole_percent("lateness_share", "lateness of the latest rank over the step time"),
    Column(
        "all_reduce_latency_s",
        "latency of an idle all-reduce",
        "s",
        printed=Printed("all_reduce_latency_us", "us", 1e6),
    ),
    _same("all_reduce_gib_per_s", "bandwidth of the largest idle all-reduce", "GiB/s"),
    _same("all_reduce_bus_gib_per_s", "bus bandwidth of the largest idle all-reduce", "GiB/s"),
    _same("link_bus_gib_per_s", "bus bandwidth that the slowest link of the ring gives NCCL", "GiB/s"),
    *_memory(),
    percent(
        "accuracy",
        "validation accuracy after training, mean of launches",
        column="validation_accuracy",
        limits="range",
        header="Accuracy",
    ),
    Column(
        "accuracy_difference",
        "validation accuracy less the base case's",
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
    _scaled("flop_per_sample", "arithmetic of a sample", "FLOP", column="flops_per_sample"),
    _scaled("flop_per_s_per_rank", "arithmetic done by a rank", "FLOP/s"),
    Column(
        "bytes_sent_per_step",
        "sent by a rank in a step",
        "bytes",
        printed=Printed("sent_mib_per_step", "MiB", 2**-20),
    ),
)

QUANTITIES: dict[str, Column] = {column.printed.name: column for column in POINT_COLUMNS if column.printed}
"""By the name that is printed."""

FLOOR_COLUMNS: tuple[Column, ...] = (
    Column("workload", "name of the workload"),
    Column("variant", "variant of the base case, a single process"),
    Column("batch_per_rank", "samples of a step"),
    count("repeats_compared", "repeats with a good launch of the base case and of the same once more"),
    percent(
        "step_time_difference",
        "step time of the second launches of the base case over that of the first ones, less 1, within repeats",
        limits="interval",
    ),
    percent("half_width", "half-width of that interval on logarithms", share=True),
    Column(
        "shows", "slower, faster, no_difference or no_interval: what that interval shows of the second launches"
    ),
    percent(
        "smallest_difference",
        "smallest difference of step times that so many repeats show with a probability of 80 %; limits from the"
        " spread",
        limits="interval",
    ),
    count("most_repeats", "repeats at the most (`max_repeats`)"),
    percent("smallest_difference_at_most", "the same after that many repeats", limits="interval"),
    percent(
        "shared_variance",
        "share of the variance between launches that the two launches of a repeat share",
        limits="interval",
    ),
)

FLOOR_QUANTITIES: dict[str, Column] = {column.printed.name: column for column in FLOOR_COLUMNS if column.printed}
"""Of floors.csv, by the name that is printed."""

HEADLINE = ("step_time_ms", "throughput_samples_per_s", "speedup", "efficiency_percent")
"""What every point has; of one without a good launch the outcome stands in its place."""
