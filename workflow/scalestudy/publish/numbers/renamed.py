"""Keys of numbers in scalestudy 0.1, with evidence in English and recommendations by rank, and their new keys."""

import re
from collections.abc import Iterator
from functools import cache

from scalestudy.publish.numbers.keys import evidence_key, operator_key, point_key, recommendation_key, slug
from scalestudy.publish.results import Results
from scalestudy.publish.words.points import PREDICTED

EVIDENCE = {
    "accuracy-against-the-base-case": "accuracy_difference",
    "allocated-memory": "allocated_memory",
    "bucket-cap-mb": "bucket_cap_mb",
    "buckets-a-step": "buckets",
    r"buckets-for-which-rank-\d+-came-last": "last_share",
    "bus-bandwidth-of-the-all-reduce-on-the-idle-network": "bus_bandwidth",
    "checkpoints": "checkpoint_time",
    "exposed-communication": "exposed_communication",
    "global-batch": "global_batch",
    "host-work-of-[a-z0-9-]+-beyond-that-of-the-others": "extra_host_work",
    "its-latency": "latency",
    "its-lateness": "lateness",
    "latencies-of-2-messages-a-layer": "message_latencies",
    "latency-of-the-all-reduce": "all_reduce_latency",
    "launches-of-which-it-holds": "affected_runs",
    "launches-out-of-memory": "runs_out_of_memory",
    "launches-that-grow": "growing_runs",
    "layers-that-take-statistics-over-all-ranks": "synchronised_layers",
    "logging": "logging_time",
    "lost-by-that-in-sending-the-gradients": "lost_time",
    "of-it-exposed-communication": "exposed_communication",
    "of-it-interference-with-computation": "interference",
    r"one-process-at-\d+-samples": "step_of_one_process",
    r"1-\d+-of-its-step-at-\d+-samples": "ideal_step",
    "overhead-per-step": "overhead",
    "parameters-without-a-gradient": "unused_parameters",
    "part-of-the-step-that-does-not-depend-on-the-batch": "fixed_share",
    "peak-memory-of-fsdp": "peak_memory_of_fsdp",
    r"peak-memory-of-([a-z0-9-]+)-which-fits": r"peak_memory_of_\1",
    "peak-memory-of-[a-z0-9-]+": "peak_memory_of_ddp",
    "peak-of-resident-memory": "peak_resident_memory",
    "reserved-memory": "reserved_memory",
    "retries-of-the-cuda-allocator": "allocation_retries",
    r"samples-of-rank-\d+-beyond-those-of-the-mean-rank": "excess_samples",
    "share-of-overhead-in-the-step": "overhead_share",
    "share-of-the-step": "share_of_step",
    "step-of-fsdp": "step_of_fsdp",
    "step-of-one-process-at-equal-batch-per-rank": "step_of_one_process",
    "step-of-[a-z0-9-]+": "step_of_ddp",
    "synchronisation-by-blocks-with-it-against-blocks-without": "synchronisation",
    "synchronisations-of-an-optimizer-step": "synchronisations",
    "their-broadcast-on-the-idle-network": "broadcast",
    "their-bytes-on-the-idle-network": "bucket_bytes",
    "their-latencies": "bucket_latencies",
    "threads-per-core": "threads_per_core",
    "waiting-for-data": "data_time",
    "waiting-for-the-latest-rank": "wait_for_latest_rank",
}
"""Pattern for the last word of an old key -> its present id; the first match counts."""


def new_key(key: str) -> str | None:
    """The present key of evidence; None for an unchanged key, or for another kind of key."""
    point, _, rest = key.partition(".finding.")
    cause, _, words = rest.partition(".")
    now = _id_of(words)
    return None if now is None else evidence_key(point, cause, now)


@cache
def _id_of(words: str) -> str | None:
    """The present form of the last word of a key. Cached, since the keys of all points share a few words."""
    found = ((re.fullmatch(old, words), new) for old, new in EVIDENCE.items())
    return next((match.expand(new) for match, new in found if match), None)


def renamed_keys(results: Results) -> dict[str, str]:
    """Key in 0.1 -> present key. Ranks, by gain or by time, are the ranks in these results."""
    return dict([*_of_evidence(results), *_of_ranks(results)])


def _of_evidence(results: Results) -> Iterator[tuple[str, str]]:
    for diagnosis in results.findings:
        point = point_key(vars(diagnosis))
        for finding in diagnosis.findings:
            for item in finding.evidence:
                now = evidence_key(point, finding.cause, item.id)
                for words in (*EVIDENCE, slug(item.name)):  # patterns that are plain words, and this name
                    was = evidence_key(point, finding.cause, words)
                    if new_key(was) == now:
                        yield was, now


def _of_ranks(results: Results) -> Iterator[tuple[str, str]]:
    for diagnosis in results.findings:
        point = point_key(vars(diagnosis))
        for rank, (cause, advice) in enumerate(diagnosis.recommendations, start=1):
            for name in PREDICTED:
                now = f"{recommendation_key(point, cause, advice.id)}.{name}"
                yield f"{point}.recommendation{rank}.{name}", now
    for trace in results.traces:
        for kind, items in (("operator", trace.summary.operators), ("collective", trace.summary.collectives)):
            for rank, item in enumerate(items, start=1):
                for name in ("time_ms", "calls", "share_percent"):
                    now = f"trace.{trace.run_id}.{operator_key(kind, item.name)}.{name}"
                    yield f"trace.{trace.run_id}.{kind}s{rank}.{name}", now
