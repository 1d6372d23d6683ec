"""Communication of DDP's gradients: in buckets, as the backward pass completes them, overlapping with the rest of
it.

The pipeline: a bucket starts when it is ready and the one before it has ended,

    end_k = max(ready_k, end_{k-1}) + cost_k,   exposed = max(0, end_K - backward),   T = compute + exposed,

with one collective at a time, as in NCCL and gloo on one communicator. Source: Li et al. (2020), "PyTorch
Distributed", VLDB 13, section 3.2; METHOD, "Models". It does not include interference: where communication slows
the computation that it overlaps with, as on hosts whose cores do both, the step is longer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from scalestudy.analyse.costs.collectives import RING, Link

MIB = 2**20
FIRST_BUCKET_BYTES = MIB
"""DDP's first bucket, small so that communication begins early (torch.distributed._DEFAULT_FIRST_BUCKET_BYTES)."""
BUCKET_CAP_MIB = 25.0
"""DDP's default of bucket_cap_mb."""


@dataclass(frozen=True)
class Bucket:
    """Gradients that are reduced together.

    Their size, and the time from the start of the backward pass until the last of them is ready.
    """

    size: float
    ready_s: float


def bucket_sizes(total: float) -> list[float]:
    """Returns the bytes of each of torch's buckets for this number of bytes of gradients."""
    if total <= FIRST_BUCKET_BYTES:
        return [total]
    cap = BUCKET_CAP_MIB * MIB
    rest = total - FIRST_BUCKET_BYTES
    count = ceil(rest / cap)
    return [float(FIRST_BUCKET_BYTES), *([cap] * (count - 1)), rest - cap * (count - 1)]


def exposed_s(buckets: Sequence[Bucket], backward_s: float, cost_s: Callable[[float], float]) -> float:
    """Returns the exposed seconds of communication; cost_s: seconds of a bucket by its bytes."""
    end = 0.0
    for bucket in buckets:
        end = max(bucket.ready_s, end) + cost_s(bucket.size)
    return max(0.0, end - backward_s)


def bandwidth_from_exposed(
    exposed: float, buckets: Sequence[Bucket], backward_s: float, *, ranks: int, latency_s: float = 0.0
) -> float:
    """Bandwidth in bytes/s of the link at which a ring all-reduce has this exposed time, fitted to one step.

    Raises ValueError if nothing is exposed, or if latency alone exceeds the exposed time.
    """
    if not exposed > 0:
        raise ValueError(
            f"the exposed time is {exposed:g} s: the bandwidth is unknown if all communication is hidden"
        )

    def too_much(log10_bandwidth: float) -> float:
        link = Link(latency_s, 10**log10_bandwidth)
        return exposed_s(buckets, backward_s, lambda size: RING.time_s(size, ranks, link)) - exposed

    slowest, fastest = 3.0, 15.0  # one kilobyte and one petabyte per second
    if too_much(fastest) > 0 or too_much(slowest) < 0:
        raise ValueError(
            f"no bandwidth gives {exposed:g} s of exposed communication: {ranks} ranks, latency {latency_s:g} s"
            f" per message, backward pass {backward_s:g} s"
        )
    from scipy.optimize import brentq

    return 10 ** brentq(too_much, slowest, fastest)
