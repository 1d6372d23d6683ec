"""Cost of a collective on a link: time, and bytes over the busiest device, by algorithm.

The link model is Hockney's: a message of m bytes takes latency + m / bandwidth. Sources: Hockney (1994), Parallel
Computing 20; Thakur, Rabenseifner and Gropp (2005), "Optimization of Collective Communication Operations in
MPICH", IJHPCA 19; Patarasuk and Yuan (2009), JPDC 69 (a ring sends the minimum amount of data for an all-reduce).
For parameter servers Li et al. (2014), OSDI.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log2


@dataclass(frozen=True)
class Link:
    """A link between two devices: seconds before the first byte, and bytes per second afterwards."""

    latency_s: float
    bandwidth_bytes_per_s: float

    def __post_init__(self) -> None:
        if self.latency_s < 0 or not self.bandwidth_bytes_per_s > 0:
            raise ValueError(
                f"a link must have a latency of at least 0 s and a bandwidth above 0 bytes/s, not"
                f" {self.latency_s:g} s and {self.bandwidth_bytes_per_s:g} bytes/s"
            )


@dataclass(frozen=True)
class Algorithm:
    """An algorithm for the all-reduce of `size` bytes over n ranks."""

    name: str
    steps: Callable[[int], float]
    """Number of consecutive messages on the longest path."""
    volume: Callable[[int], float]
    """Bytes over the busiest device per reduced byte; they are sent one after another."""
    complexity: str

    def time_s(self, size: float, ranks: int, link: Link) -> float:
        """Returns the seconds of an all-reduce of `size` bytes; 0 for one rank."""
        if ranks < 1:
            raise ValueError(f"an all-reduce needs at least one rank, not {ranks}")
        if ranks == 1:
            return 0.0
        return self.steps(ranks) * link.latency_s + self.volume(ranks) * size / link.bandwidth_bytes_per_s


# Reduce-scatter and all-gather around a ring; minimum bytes.
RING = Algorithm(
    "ring",
    steps=lambda n: 2 * (n - 1),
    volume=lambda n: 2 * (n - 1) / n,
    complexity="2(n-1) a + 2(n-1)/n m/B",
)
# Reduce to a root and broadcast, both by halving; minimum steps, and with pipelining at most twice the bytes.
TREE = Algorithm(
    "tree",
    steps=lambda n: 2 * ceil(log2(n)),
    volume=lambda n: 2.0,
    complexity="2 log2(n) a + 2 m/B",
)
# Every rank sends everything to every other rank.
NAIVE = Algorithm(
    "naive",
    steps=lambda n: n - 1,
    volume=lambda n: float(n - 1),
    complexity="(n-1) a + (n-1) m/B",
)
# All ranks send to one server, and fetch the sum from it.
PARAMETER_SERVER = Algorithm(
    "parameter server",
    steps=lambda n: 2.0,
    volume=lambda n: 2.0 * n,
    complexity="2 a + 2n m/B",
)
ALGORITHMS = (RING, TREE, NAIVE, PARAMETER_SERVER)
