"""Every table that a study writes: its file, what a row is, and its columns. docs/columns.md is made from this."""

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
    "scaling", "strong, weak, or reference for one process at a batch that strong scaling gives a rank"
)
_WITH_LIMITS = ("lateness_s", "checkpoint_apart_s", "all_reduce_latency_s", "buffer_broadcast_s")
"""Times that have an interval over launches, and none in a launch."""


def _of_a_point() -> tuple[Column, ...]:
    """The columns of a point: printed ones as they are declared, the others as in runs.csv."""
    others = (
        *WHERE,
        _SCALING,
        *KNOBS,
        Column("is_base", "whether the point is the base case of its workload and way of scaling"),
        Column("protocol", "newest measurement protocol of the launches"),
        Column("base_variant", "variant that the point is compared with"),
        *(
            Column(f"launches_{end}", f"launches that ended as {end}")
            for end in ("diverged", "failed", "too_short", "oom", "preempted", "timeout")
        ),
        Column("half_width_target", "half-width that the study asks for, over the step time"),
        Column(
            "stopped_because",
            "why no more launches were made: target_reached, budget_ended (of launches), one_launch; with"
            " `until: decided` also decided, speedup_known, launches_ended, hours_ended, and serves, where"
            " others are compared with it",
        ),
        *STEADINESS,
        Column("launches_unsteady", "launches that no single step time describes"),
        Column("launches_throttled", "launches that became slower with a clock that fell"),
        Column("launches_hot", "launches in which heat held a GPU's clock back in most readings"),
        *SLOWDOWNS,
        Column("enqueue_share", "time that the host takes to queue steps, over their time on the device"),
        Column("launches_of_two_modes", "launches with two modes of step times"),
        Column(
            "interval",
            "t_within_repeats, t_within_launches or hierarchical_bootstrap: how the limits of the speedup were"
            " calculated",
        ),
        Column("launches_without_turns", "launches without memory for the base case that was to take turns"),
        Column("launches_contended", "launches in which others had the cores in every round of turns"),
        Column("launches_not_watched", "launches whose host was not watched, as in records of earlier releases"),
        Column(
            "spoiled_by", "none, or what spoiled launches of this and of the base case, the most frequent first"
        ),
        Column("beside_variant", "first variant of the study with the same work at the same place"),
        *COMMUNICATION,
        Column("all_reduce_bus_gib_per_s_max", "largest bus bandwidth of a launch", "GiB/s"),
        *MEMORY,
        Column("launches_growing", "launches whose memory grows"),
        Column("launches_memory_read", "launches whose memory was read often enough to tell"),
        Column("accuracy_kept", "equivalent, lower, higher or not_shown: what two one-sided tests show"),
        Column("launches_at_accuracy", "launches that reached the target accuracy"),
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
    """What a row is."""
    columns: tuple[Column, ...]


POINTS = _of_a_point()
_FORECAST = (
    *_named(POINTS, "workload", "variant", "scaling"),
    Column("forecast_of", "scale, or batch at a scale that was measured"),
    *_named(POINTS, "nodes", "devices_per_node", "world_size", "batch_per_rank", "global_batch"),
    *_named(POINTS, "step_time_s", "throughput_samples_per_s", "speedup", "efficiency"),
    Column("from_scales", "scales that the forecast rests on, as a JSON list"),
    Column("from_batches", "batches of one process that the forecast rests on, as a JSON list"),
    Column(
        "overhead_model", "laws, laws_alike, as_measured or bucket_pipeline: how the overhead was extrapolated"
    ),
    *(
        Column(f"law_{law}_weight", f"weight of the law that the overhead {grows}")
        for law, grows in {
            "constant": "is constant",
            "share": "grows as 1 - 1/n, where n is the number of ranks",
            "logarithmic": "grows with the logarithm of the ranks",
            "linear": "grows linearly with the ranks",
            "usl": "follows the universal scalability law",
        }.items()
    ),
    Column("refused", "why there is no forecast; none where there is one"),
    Column("refused_value", "number that the refusal names"),
    Column("refused_limit", "limit that the refusal names"),
    Column("refused_scale", "scale that the refusal names"),
)
_COMPARED = (
    Column("study", "letter of the study: A is the first"),
    Column("name", "name of the study"),
    *_named(POINTS, "workload", "variant"),
    Column("scaling", "strong, weak, or none for the plain model in one process"),
    *_named(POINTS, "nodes", "devices_per_node", "batch_per_rank", "global_batch", "world_size"),
    *_named(POINTS, "is_base", "base_variant", "launches", *(f"launches_{end}" for end in LAUNCH_ENDS)),
    *_named(POINTS, "step_time_s", "throughput_samples_per_s", "efficiency"),
    *_named(POINTS, "validation_accuracy"),
    *_named(POINTS, "launches_unsteady", *(column.name for column in STEADINESS), "parameters"),
    Column("throughput_ratio", "throughput over that of the first study", limits="interval"),
    Column("throughput_shows", "faster, slower or no_difference: what that interval shows"),
    Column("efficiency_difference", "efficiency less that of the first study", limits="interval"),
    Column("efficiency_shows", "higher, lower or no_difference: what that interval shows"),
    Column("accuracy_difference", "accuracy less that of the first study, by seed", limits="interval"),
    Column("accuracy_shows", "equivalent, lower, higher or not_shown: what two one-sided tests show"),
    Column("pairs", "launches of one seed in both studies"),
    Column(
        "smallest_difference",
        "the larger of those that the two studies show of their base cases (`measure.floor`)",
    ),
    Column("not_compared", "why there is no ratio; none where there is one"),
    Column("is_reference", "whether it is one process at a batch that is nobody's base case"),
)

FILES: dict[str, File] = {
    "comprehensive_summary.csv": File(
        "a point: the launches of a variant at a scale, against its base case", POINTS
    ),
    "runs.csv": File("a launch", RUNS),
    "epochs.csv": File(
        "a launch and epoch",
        (*_named(RUNS, "run_id", "workload", "variant", "world_size", "global_batch", "repeat"), *EPOCHS),
    ),
    "forecasts.csv": File("a scale or batch that was not measured", _FORECAST),
    "held_out_forecasts.csv": File(
        "a measured scale, forecast from the smaller ones alone",
        (
            *_FORECAST,
            Column("measured_step_time_s", "step time that was measured there", "s", "interval"),
            Column("measured_speedup", "speedup that was measured there", limits="interval"),
        ),
    ),
    "floors.csv": File("a base case that was launched twice in each repeat (`measure.floor`)", FLOOR_COLUMNS),
    "efficiency_factors.csv": File(
        "a factor of the efficiency of a distributed point",
        (
            *_named(POINTS, "workload", "variant", "scaling", "nodes", "world_size", "batch_per_rank"),
            Column("factor", "name of the factor"),
            Column("level", "depth in the tree; factors of a level multiply to the one above"),
            Column("share", "share of the time that is kept", limits="interval"),
        ),
    ),
    "collectives.csv": File(
        "a launch, collective and message size on the idle network",
        (
            Column("collective", "all-reduce, all-gather, reduce-scatter or broadcast"),
            Column("bytes", "size of the message", "bytes"),
            Column("calls", "calls that were measured"),
            Column("time_s", "median over calls of the maximum over ranks", "s"),
            Column("time_p95_s", "95th percentile over calls of the maximum over ranks", "s"),
            Column("bandwidth_gib_per_s", "bytes over time", "GiB/s"),
            Column("bus_bandwidth_gib_per_s", "bandwidth times the bus factor of nccl-tests", "GiB/s"),
            _RUN_ID,
        ),
    ),
    "step_quantiles.csv": File(
        "a launch and quantile of its steady steps",
        (
            Column("quantile", "share of the steps that took no longer"),
            Column("step_time_s", "step time of the slowest rank at this quantile", "s"),
            _RUN_ID,
        ),
    ),
    "verification.csv": File("a piece of advice that was tried (`scalestudy verify`)", VERIFIED_COLUMNS),
    "comparison.csv": File("a point and study that has it, of `scalestudy compare`", _COMPARED),
    "figures/FIGURE.csv": File("a point of a figure, drawn or missing", TIDY),
    **{
        f"figures/{'' if figure.of_study else 'WORKLOAD_'}{figure.name}.csv": File(
            "the same as of every figure, with these columns on top", figure.columns
        )
        for figure in FIGURES.values()
        if figure.columns
    },
    "figures/WORKLOAD_comparison.csv": File("the same as of every figure, with these columns on top", COMPARED),
    "runs/RUN/steps.parquet": File("a rank and step", STEPS),
    "runs/RUN/blocks.parquet": File("a rank and block of steps", BLOCKS),
    "runs/RUN/buckets.parquet": File("a rank, step and gradient bucket, in probes with timestamps", BUCKETS),
    "runs/RUN/collectives.parquet": File("a rank and call of the collectives' micro-benchmark", CALLS),
    "runs/RUN/epochs.csv": File("an epoch", EPOCHS),
}
