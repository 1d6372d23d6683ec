"""The kind of each column: what its values are, for tables with types (parquet, Table Schema, Croissant)."""

from typing import Literal

from scalestudy.registry.column import Column

Kind = Literal["text", "flag", "count", "number"]


def _words(text: str) -> list[str]:
    return text.split()


_TEXTS = frozenset(
    _words("""
    run_id workload variant scaling strategy precision settings outcome reason device hosts torch node_names
    slurm_job stopped_because memory_growth_kind record_sha256 fingerprint commit started_at limits
    steadiness methods late_by slowest_link slowest_link_name nccl_transport nccl_interfaces numa_ranks
    far_ranks wrapper seen spoiled spoiled_after turns base_variant interval spoiled_by beside_variant
    unresolved accuracy_kept accuracy_of_every_run forecast_of from_scales from_batches overhead_model refused
    refused_value refused_limit refused_scale shows factor collective cause advice change verdict ends_before
    ends_after trial study name throughput_shows efficiency_shows accuracy_shows not_compared x_name y_name
    series x kind run legend group base tick marker phase
""")
)
_FLAGS = frozenset(
    _words("""
    compile activation_checkpointing dirty memory_grows is_base resolved is_reference
""")
)
_COUNTS = frozenset(
    _words("""
    nodes devices_per_node world_size batch_per_rank global_batch micro_batch accumulation_steps repeat
    held_devices parameters synchronised_norms steps allocation_retries memory_growth_rank protocol
    warmup_steps steady_steps level_changed_after_steps level_changed_at_step late_rank buckets heaviest_rank
    alternating_blocks contended_rounds base_world_size epoch samples level repeats_to_resolve calls pairs
    rank block step bucket call first_step gpu_slowdown_reasons panel style ranks
""")
)


def kind_of(column: Column) -> Kind:
    """Return the kind of a column's values. Lists and settings are texts: JSON, or words between blanks."""
    if column.name in _TEXTS:
        return "text"
    if column.name in _FLAGS:
        return "flag"
    counted = column.name in _COUNTS or (column.name.startswith("launches_") and not column.unit)
    printed = column.printed is not None and column.printed.rounding == "count" and column.printed.factor == 1
    return "count" if (counted or printed) and column.limits == "none" else "number"
