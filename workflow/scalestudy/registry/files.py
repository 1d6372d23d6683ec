"""Every table that a study writes: its file, the meaning of a row, and its columns, as in docs/columns.md."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scalestudy.registry.codes import LAUNCH_ENDS
from scalestudy.registry.column import Column
from scalestudy.registry.drawn import COMPARED, TIDY
from scalestudy.registry.figures import FIGURES
from scalestudy.registry.observation import BLOCKS, BUCKETS, CALLS, EPOCHS, STEPS
from scalestudy.registry.points import FLOOR_COLUMNS, POINT_COLUMNS
from scalestudy.registry.runs import (
    COMMUNICATION,
    KNOBS,
    MEMORY,
    MODEL,
    NOISE,
    PLACE,
    RANKS,
    RUNS,
    SCRIPT,
    SLOWDOWNS,
    STEADINESS,
    WHERE,
)
from scalestudy.registry.verified import VERIFIED_COLUMNS

_RUN_ID = RUNS[0]
_SCALING = Column(
    "scaling", "strong, weak, or reference: one process at the batch that a rank has in strong scaling"
)
_WITH_LIMITS = ("lateness_s", "checkpoint_apart_s", "all_reduce_latency_s", "buffer_broadcast_s")
"""Times that have an interval over runs but no interval within a run."""


def _of_a_point() -> tuple[Column, ...]:
    """Returns the columns of a point: printed columns as declared, the others as in runs.csv."""
    others = (
        *WHERE,
        _SCALING,
        *KNOBS,
        Column("is_base", "whether the point is the baseline of its workload and kind of scaling"),
        Column("protocol", "newest measurement protocol of the runs"),
        Column("base_variant", "variant that the point is compared with", text=True),
        Column("base_world_size", "ranks of the baseline: 1, or more where imported runs have no single process"),
        Column("limits", "what imported runs of the point cannot show; none for other runs"),
        *(
            Column(f"launches_{end}", f"runs that ended as {end}")
            for end in ("diverged", "failed", "too_short", "oom", "preempted", "timeout")
        ),
        Column("half_width_target", "relative half-width of the step time that the study aims for"),
        Column(
            "stopped_because",
            "why there are no more runs: target_reached, budget_ended (limit of runs), one_launch; with"
            " `until: decided` also decided, speedup_known, launches_ended, hours_ended, and serves, for a point"
            " that others are compared with",
        ),
        *STEADINESS,
        Column("launches_unsteady", "runs that a single step time does not describe"),
        Column("launches_throttled", "runs that became slower because the clock fell"),
        Column("launches_hot", "runs in which heat limited a GPU's clock in most readings"),
        *SLOWDOWNS,
        Column(
            "enqueue_share",
            "host time to queue a block's first step, divided by a step's time on the device",
        ),
        Column("launches_of_two_modes", "runs with two modes of step times"),
        Column(
            "interval",
            "t_within_repeats, t_within_launches or hierarchical_bootstrap: how the limits of the speedup were"
            " calculated",
        ),
        Column("launches_without_turns", "runs without memory for the turns of the baseline"),
        Column("launches_contended", "runs in which other processes used the cores in every round of turns"),
        Column("launches_not_watched", "runs whose host was not monitored, as in records of earlier releases"),
        Column(
            "spoiled_by", "none, or what disturbed runs of this point and of the baseline, the most frequent first"
        ),
        Column(
            "beside_variant",
            "first variant of the study with the same work at the same place, for comparison",
            text=True,
        ),
        *COMMUNICATION,
        Column("launches_probed", "runs whose communication was probed"),
        Column(
            "unresolved",
            "columns whose interval includes both no effect and 10 % of the step, as a JSON object: column ->"
            " repeats that would resolve it, null if unknown",
        ),
        Column("all_reduce_bus_gib_per_s_max", "largest bus bandwidth of a run", "GiB/s"),
        *MEMORY,
        Column("launches_growing", "runs whose memory grows"),
        Column("launches_memory_read", "runs with enough readings of memory to detect growth"),
        Column("accuracy_kept", "equivalent, lower, higher or not_shown: result of two one-sided tests"),
        Column(
            "accuracy_of_every_run",
            "lower or higher: the accuracy of every run is below or above that of every run of the baseline; empty"
            " otherwise",
        ),
        Column("launches_at_accuracy", "runs that reached the target accuracy"),
        *MODEL,
        *RANKS,
        *SCRIPT,
        *NOISE,
        *PLACE,
    )
    known = {column.name: column for column in others} | {column.name: column for column in POINT_COLUMNS}
    return tuple(
        replace(column, limits="interval") if column.name in _WITH_LIMITS else column for column in known.values()
    )


def _named(columns: Sequence[Column], *names: str) -> tuple[Column, ...]:
    known = {column.name: column for column in columns}
    return tuple(known[name] for name in names)


@dataclass(frozen=True)
class File:
    """A table on disk."""

    about: str
    """The meaning of a row."""
    columns: tuple[Column, ...]


POINTS = _of_a_point()
_FORECAST = (
    *_named(POINTS, "workload", "variant", "scaling"),
    Column("forecast_of", "scale, or batch at a scale that was measured"),
    *_named(POINTS, "nodes", "devices_per_node", "world_size", "batch_per_rank", "global_batch"),
    *_named(POINTS, "step_time_s", "throughput_samples_per_s", "speedup", "efficiency"),
    Column("from_scales", "scales that the forecast is based on, as a JSON list"),
    Column("from_batches", "batches of one process that the forecast is based on, as a JSON list"),
    Column(
        "overhead_model", "laws, laws_alike, as_measured or bucket_pipeline: how the overhead was extrapolated"
    ),
    *(
        Column(f"law_{law}_weight", f"weight of the growth model in which the overhead {grows}")
        for law, grows in {
            "constant": "is constant",
            "divided": "is divided by the number of ranks, as the computation is (strong scaling)",
            "share": "grows as 1 - 1/n, where n is the number of ranks",
            "logarithmic": "grows with the logarithm of the ranks",
            "linear": "grows linearly with the ranks",
            "usl": "follows the universal scalability law",
        }.items()
    ),
    Column("refused", "why there is no forecast; none if there is one"),
    Column("refused_value", "number in that reason"),
    Column("refused_limit", "limit in that reason"),
    Column("refused_scale", "scale in that reason"),
)
_COMPARED = (
    Column("study", "letter of the study: A is the first"),
    Column("name", "name of the study", text=True),
    *_named(POINTS, "workload", "variant"),
    Column("scaling", "strong, weak, or none for the plain model in one process"),
    *_named(POINTS, "nodes", "devices_per_node", "batch_per_rank", "global_batch", "world_size"),
    *_named(POINTS, "is_base", "base_variant", "launches", *(f"launches_{end}" for end in LAUNCH_ENDS)),
    *_named(POINTS, "step_time_s", "throughput_samples_per_s", "efficiency"),
    *_named(POINTS, "validation_accuracy"),
    *_named(POINTS, "launches_unsteady", *(column.name for column in STEADINESS), "parameters"),
    Column("throughput_ratio", "throughput divided by the first study's", limits="interval"),
    Column("throughput_shows", "faster, slower or no_difference: conclusion from that interval"),
    Column("efficiency_difference", "efficiency minus the first study's", limits="interval"),
    Column("efficiency_shows", "higher, lower or no_difference: conclusion from that interval"),
    Column("accuracy_difference", "accuracy minus the first study's, by seed", limits="interval"),
    Column("accuracy_shows", "equivalent, lower, higher or not_shown: result of two one-sided tests"),
    Column("pairs", "pairs of runs with the same seed in both studies"),
    Column(
        "smallest_difference",
        "the larger of the two studies' smallest differences (`measure.floor`)",
    ),
    Column("not_compared", "why there is no ratio; none if there is one"),
    Column("is_reference", "whether the point is one process at a batch that is not a baseline"),
)

FILES: dict[str, File] = {
    "comprehensive_summary.csv": File(
        "a point: the runs of a variant at a scale, compared with its baseline", POINTS
    ),
    "runs.csv": File("a run", RUNS),
    "epochs.csv": File(
        "an epoch of a run",
        (*_named(RUNS, "run_id", "workload", "variant", "world_size", "global_batch", "repeat"), *EPOCHS),
    ),
    "forecasts.csv": File("a scale or batch that was not measured", _FORECAST),
    "held_out_forecasts.csv": File(
        "a measured scale, predicted only from the smaller ones",
        (
            *_FORECAST,
            Column("measured_step_time_s", "measured step time at this scale", "s", "interval"),
            Column("measured_speedup", "measured speedup at this scale", limits="interval"),
        ),
    ),
    "floors.csv": File("a baseline that is run twice in each repeat (`measure.floor`)", FLOOR_COLUMNS),
    "efficiency_factors.csv": File(
        "a factor of the efficiency of a distributed point",
        (
            *_named(POINTS, "workload", "variant", "scaling", "nodes", "world_size", "batch_per_rank"),
            Column("factor", "name of the factor"),
            Column("level", "depth in the tree; factors of a level multiply to the factor above"),
            Column("share", "value of the factor: share of the time that remains", limits="interval"),
            Column("resolved", "False if the interval includes both no effect and an effect of 10 %"),
            Column(
                "repeats_to_resolve", "number of repeats that would resolve it, if it is not and this is known"
            ),
        ),
    ),
    "collectives.csv": File(
        "a collective and message size of a run, on the idle network",
        (
            Column("collective", "all-reduce, all-gather, reduce-scatter or broadcast"),
            Column("bytes", "size of the message", "bytes"),
            Column("calls", "number of measured calls"),
            Column("time_s", "median over calls of the maximum over ranks", "s"),
            Column("time_p95_s", "95th percentile over calls of the maximum over ranks", "s"),
            Column("bandwidth_gib_per_s", "bytes divided by time", "GiB/s"),
            Column("bus_bandwidth_gib_per_s", "bandwidth times the bus factor of nccl-tests", "GiB/s"),
            _RUN_ID,
        ),
    ),
    "step_quantiles.csv": File(
        "a quantile of the steady steps of a run",
        (
            Column("quantile", "share of the steps that took at most step_time_s"),
            Column("step_time_s", "step time of the slowest rank at this quantile", "s"),
            _RUN_ID,
        ),
    ),
    "verification.csv": File("a piece of tried advice (`scalestudy verify`)", VERIFIED_COLUMNS),
    "comparison.csv": File("a point in a study, of `scalestudy compare`", _COMPARED),
    "figures/FIGURE.csv": File("a point of a figure, drawn or missing", TIDY),
    **{
        f"figures/{'' if figure.of_study else 'WORKLOAD_'}{figure.name}.csv": File(
            "a point of the figure; these columns are in addition to those of every figure", figure.columns
        )
        for figure in FIGURES.values()
        if figure.columns
    },
    "figures/WORKLOAD_comparison.csv": File(
        "a point of the figure; these columns are in addition to those of every figure", COMPARED
    ),
    "runs/RUN/steps.parquet": File("a step of a rank", STEPS),
    "runs/RUN/blocks.parquet": File("a block of steps of a rank", BLOCKS),
    "runs/RUN/buckets.parquet": File("a gradient bucket in a step of a rank, in probes with timestamps", BUCKETS),
    "runs/RUN/collectives.parquet": File("a call of a rank in the micro-benchmark of the collectives", CALLS),
    "runs/RUN/epochs.csv": File("an epoch", EPOCHS),
}
