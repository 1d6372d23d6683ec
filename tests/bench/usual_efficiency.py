"""Prints the efficiency of published series in a node: the constants of scalestudy/diagnose/usual.py."""

from __future__ import annotations

import statistics
from collections import defaultdict

from scalestudy.diagnose.usual import PUBLISHED, Published
from scaling_series import DATA, efficiencies_in_a_node


def computed() -> dict[tuple[str, int], Published]:
    """Of the median of each source: quartiles over sources, in the form of PUBLISHED."""
    found: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for file in sorted(DATA.parent.glob("scaling_series*.csv")):
        for source, scaling, devices, efficiency in efficiencies_in_a_node(file):
            found[scaling, devices][source].append(efficiency)
    made = {}
    for key in PUBLISHED:
        of_sources = [statistics.median(values) for values in found[key].values()]
        quarters = statistics.quantiles(of_sources, n=4, method="inclusive")
        made[key] = Published(len(of_sources), *(round(value, 2) for value in quarters))
    return made


if __name__ == "__main__":
    for (scaling, devices), found in computed().items():
        print(f'("{scaling}", {devices}): {found},')
