"""Kinds of links: nominal bandwidth, and the share of it that published all-reduces reach.

The shares are bus bandwidths of tests/data/published_links.csv over nominal bandwidth: the median over sources
and the standard deviation of their logarithms, by family. `python -m bench.estimates --shares` in tests/
computes them. Nominal bandwidth is in one direction: all NVLinks of a device, 16 lanes of PCIe, all adapters of
a node. Bus bandwidth is that of a ring, as in nccl-tests; with a reduction in the switch it can exceed the
nominal one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt

GB = 1e9


@dataclass(frozen=True)
class Share:
    """Share of a bandwidth that all-reduces reach: log-normal over sources."""

    median: float
    spread: float
    """Standard deviation of the logarithm over sources."""
    sources: int

    @property
    def predictive(self) -> float:
        """Standard deviation of the logarithm for a further source: wider, the fewer sources there are.

        The 95 % quantile of Student's t replaces that of the normal distribution.
        """
        from scipy.stats import t

        return float(self.spread * sqrt(1 + 1 / self.sources) * t.ppf(0.95, self.sources - 1) / Z95)

    @property
    def limits(self) -> tuple[float, float]:
        """Limits between which 90 % of further sources are expected."""
        width = exp(Z95 * self.predictive)
        return self.median / width, self.median * width


Z95 = 1.6448536269514722
SHARES = {
    "nvlink": Share(0.743, 0.473, 12),
    "pcie": Share(0.419, 0.248, 5),
    "rdma": Share(0.612, 0.472, 13),
    "ethernet": Share(0.442, 0.226, 6),
    "any": Share(0.612, 0.445, 31),
    "measured": Share(1.0, 0.15, 1000),
}
"""`any` is of all families but PCIe. `measured` is of a bandwidth that was measured on these ranks: its spread is
an assumption, because few published steps come with a measured bandwidth."""


@dataclass(frozen=True)
class Kind:
    """A kind of link, as a user names it."""

    name: str
    label: str
    family: str
    nominal_bytes_per_s: float | None = None
    """Of one device, where the kind determines it."""


KINDS = {
    kind.name: kind
    for kind in (
        Kind("nvlink1", "NVLink 1", "nvlink", 80 * GB),
        Kind("nvlink2", "NVLink 2", "nvlink", 150 * GB),
        Kind("nvlink3", "NVLink 3", "nvlink", 300 * GB),
        Kind("nvlink4", "NVLink 4", "nvlink", 450 * GB),
        Kind("nvlink5", "NVLink 5", "nvlink", 900 * GB),
        Kind("pcie3", "PCIe 3", "pcie", 15.75 * GB),
        Kind("pcie4", "PCIe 4", "pcie", 31.5 * GB),
        Kind("pcie5", "PCIe 5", "pcie", 63 * GB),
        Kind("infiniband", "InfiniBand", "rdma"),
        Kind("roce", "RDMA over Ethernet", "rdma"),
        Kind("ethernet", "Ethernet with TCP", "ethernet"),
    )
}


def family_of(bandwidth_bytes_per_s: float) -> str:
    """Returns the family of links that a nominal bandwidth suggests: `pcie`, or `any`.

    16 lanes of PCIe 3, 4 and 5 have 15.75, 31.5 and 63 GB/s, and are often given as 16, 32 and 64.
    """
    lanes = [kind.nominal_bytes_per_s for kind in KINDS.values() if kind.family == "pcie"]
    is_pcie = any(value and 0.99 <= bandwidth_bytes_per_s / value <= 1.02 for value in lanes)
    return "pcie" if is_pcie else "any"
